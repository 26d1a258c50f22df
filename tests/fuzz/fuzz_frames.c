/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Input from another manager: frames in pieces, and the payload of each kind of frame. The first
 * byte is the size of the pieces. ha/wire.h. */
#include "ha/wire.h"

#include "tests/fuzz/fuzz.h"

static struct frame_in in;

static void take_changes(const struct frame *frame)
{
	struct arena *arena = arena_new();
	struct wire_changes changes;
	struct wire_change change;
	char why[FRAME_WHY_SIZE];

	if (!changes_open(frame, &changes))
		while (changes_next(&changes, arena, &change, why) > 0)
			;
	arena_free(arena);
}

static bool take(void *ctx, const struct frame *frame)
{
	struct hello hello;
	uint64_t numbers[4];
	bool must;
	char why[FRAME_WHY_SIZE];

	(void)ctx;
	take_changes(frame);
	for (size_t i = 1; i <= 4; i++)
		frame_numbers(frame, i, numbers);
	if (!hello_get(frame, &hello, why))
		hello_differs("!a = 1;\nb = 2;\n", hello.config, &must, why);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece = size ? data[0] + 1u : 1;

	in.have = 0;
	for (size_t at = 1; at < size; at += piece)
		if (frame_take(&in, data + at, size - at < piece ? size - at : piece, take, NULL))
			break;
	return 0;
}

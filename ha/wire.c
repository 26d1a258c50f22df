/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Frames as bytes and back. The shape of the registry's formats is a number in each HELLO, so two
 * versions whose records differ do not misread each other. */
#include "ha/wire.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ha/copies.h"
#include "lib/be.h"
#include "lib/hash.h"
#include "mad/attr.h"
#include "store/registry_check.h"

enum {
	HELLO_FIXED = 44,   /* magic, version, role, shape, GUID, incarnation, number */
	HELLO_VERSION = 10, /* magic and version, which every version of the protocol has */
	CHANGES_FIXED = 16, /* first, count, flags */
	ENDS = 1,	    /* a flag */
	PUT = 1,
	DROP = 2,
	SKIP = 3,	 /* a change without its record: only its number counts */
	WIRE_MAX = 1024, /* bytes of any record */
};

static const char magic[8] = {'w', 'e', 'f', 't', 'r', 'e', 'p', 'l'};

/* Writing */

void frame_begin(struct frame_out *out, enum frame_type type)
{
	be32_store(out->bytes + 4, type);
	out->size = FRAME_HEAD_SIZE;
}

uint8_t *frame_room(struct frame_out *out, size_t size)
{
	uint8_t *room = out->bytes + out->size;

	assert(size <= sizeof(out->bytes) - out->size);
	out->size += size;
	return room;
}

void frame_number(struct frame_out *out, uint64_t number)
{
	be64_store(frame_room(out, sizeof(number)), number);
}

void frame_bytes(struct frame_out *out, const void *bytes, size_t size)
{
	memcpy(frame_room(out, size), bytes, size);
}

void frame_end(struct frame_out *out)
{
	be32_store(out->bytes, (uint32_t)(out->size - FRAME_HEAD_SIZE));
}

/* Reading */

/* The allowed sizes of the body of each type. No body is empty. */
static const struct {
	uint32_t min, max;
} body_sizes[FRAME_TYPES] = {
	[FRAME_HELLO] = {HELLO_VERSION, FRAME_BODY_MAX},
	[FRAME_REFUSE] = {1, FRAME_BODY_MAX},
	[FRAME_SNAPSHOT] = {8, 8},
	[FRAME_RECORDS] = {CHANGES_FIXED, FRAME_BODY_MAX},
	[FRAME_CHANGES] = {CHANGES_FIXED, FRAME_BODY_MAX},
	[FRAME_WHOLE] = {16, 16},
	[FRAME_TABLE] = {1, FRAME_BODY_MAX},
	[FRAME_HEARTBEAT] = {16, 16},
	[FRAME_ACK] = {16, 16},
};

static bool is_head(const uint8_t *head)
{
	uint32_t size = be32_load(head), type = be32_load(head + 4);

	return type >= FRAME_HELLO && type < FRAME_TYPES && size >= body_sizes[type].min &&
	       size <= body_sizes[type].max;
}

/* The number of bytes that are missing before the next check. */
static size_t frame_bytes_wanted(const struct frame_in *in)
{
	if (in->have < FRAME_HEAD_SIZE)
		return FRAME_HEAD_SIZE - in->have;
	return FRAME_HEAD_SIZE + be32_load(in->bytes) - in->have;
}

int frame_take(struct frame_in *in, const uint8_t *bytes, size_t size,
	       bool (*take)(void *ctx, const struct frame *frame), void *ctx)
{
	while (size) {
		size_t part = frame_bytes_wanted(in) < size ? frame_bytes_wanted(in) : size;
		struct frame frame;

		memcpy(in->bytes + in->have, bytes, part);
		in->have += part;
		bytes += part;
		size -= part;
		if (in->have < FRAME_HEAD_SIZE)
			continue;
		if (!is_head(in->bytes))
			return -EPROTO;
		if (frame_bytes_wanted(in))
			continue;
		frame = (struct frame){.type = be32_load(in->bytes + 4),
				       .body = in->bytes + FRAME_HEAD_SIZE,
				       .size = in->have - FRAME_HEAD_SIZE};
		in->have = 0;
		if (!take(ctx, &frame))
			break;
	}
	return 0;
}

bool frame_numbers(const struct frame *frame, size_t count, uint64_t *numbers)
{
	if (frame->size != count * sizeof(*numbers))
		return false;
	for (size_t i = 0; i < count; i++)
		numbers[i] = be64_load(frame->body + i * sizeof(*numbers));
	return true;
}

/* HELLO */

/* A hash of all formats: kinds, keys, and each row. */
static uint64_t shape(void)
{
	uint64_t hash = HASH_SEED;

	for (unsigned kind = REGISTRY_LID; kind < REGISTRY_KINDS; kind++) {
		const struct registry_table *table = &registry_tables[kind];
		uint8_t head[3] = {(uint8_t)kind, table->key_rows, (uint8_t)table->key_bytes};

		hash = hash_bytes(hash, head, sizeof(head));
		for (unsigned row = 0; row < table->format->count; row++) {
			const struct field *field = &table->format->fields[row];
			uint8_t place[5] = {field->kind};

			be16_store(place + 1, field->bit);
			be16_store(place + 3, field->width);
			hash = hash_bytes(hash, place, sizeof(place));
			hash = hash_bytes(hash, field->name, strlen(field->name));
		}
	}
	return hash;
}

void hello_put(struct frame_out *out, const struct hello *hello)
{
	frame_begin(out, FRAME_HELLO);
	frame_bytes(out, magic, sizeof(magic));
	be16_store(frame_room(out, 2), FRAME_VERSION);
	be16_store(frame_room(out, 2), (uint16_t)(hello->copies << 8 | hello->role));
	frame_number(out, shape());
	frame_number(out, hello->guid);
	frame_number(out, hello->incarnation);
	frame_number(out, hello->number);
	frame_bytes(out, hello->config, strnlen(hello->config, FRAME_CONFIG_MAX - 1));
	frame_end(out);
}

int hello_get(const struct frame *frame, struct hello *hello, char why[FRAME_WHY_SIZE])
{
	const uint8_t *at = frame->body + sizeof(magic);
	size_t text;

	if (frame->type != FRAME_HELLO || frame->size < sizeof(magic) + 2 ||
	    memcmp(frame->body, magic, sizeof(magic)) != 0) {
		snprintf(why, FRAME_WHY_SIZE, "the peer is not a weftd");
		return -EPROTO;
	}
	if (be16_load(at) != FRAME_VERSION) {
		snprintf(why, FRAME_WHY_SIZE,
			 "it has version %u of the replication protocol, and this weftd has "
			 "version %d (run the same weftd on both)",
			 be16_load(at), FRAME_VERSION);
		return -EPROTONOSUPPORT;
	}
	text = frame->size - HELLO_FIXED;
	if (frame->size < HELLO_FIXED || text >= FRAME_CONFIG_MAX || at[3] > SM_MASTER ||
	    at[2] >= HA_COPIES) {
		snprintf(why, FRAME_WHY_SIZE, "its greeting is malformed");
		return -EPROTO;
	}
	if (be64_load(at + 4) != shape()) {
		snprintf(why, FRAME_WHY_SIZE,
			 "its records have another version (run the same weftd on both)");
		return -EPROTONOSUPPORT;
	}
	*hello = (struct hello){.role = at[3],
				.copies = at[2],
				.guid = be64_load(at + 12),
				.incarnation = be64_load(at + 20),
				.number = be64_load(at + 28)};
	memcpy(hello->config, frame->body + HELLO_FIXED, text);
	return 0;
}

void wire_clean(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7F)
			*text = '?';
}

/* The line of text at *at, without its end; moves *at behind the line. */
static size_t wire_next_line(const char **at)
{
	size_t length = strcspn(*at, "\n");

	*at += length + ((*at)[length] == '\n');
	return length;
}

bool hello_differs(const char *ours, const char *theirs, bool *must, char why[FRAME_WHY_SIZE])
{
	bool differs = false;

	*must = false;
	while (!*must && (*ours || *theirs)) {
		const char *a = ours, *b = theirs;
		size_t a_length = wire_next_line(&ours), b_length = wire_next_line(&theirs);

		if (a_length == b_length && !memcmp(a, b, a_length))
			continue;
		*must = *a == '!' || *b == '!';
		if (differs && !*must)
			continue;
		differs = true;
		a_length -= *a == '!';
		b_length -= *b == '!';
		snprintf(why, FRAME_WHY_SIZE, "here \"%.*s\", there \"%.*s\"",
			 a_length < 100 ? (int)a_length : 100, a + (*a == '!'),
			 b_length < 100 ? (int)b_length : 100, b + (*b == '!'));
		wire_clean(why);
	}
	return differs;
}

/* RECORDS and CHANGES */

void changes_begin(struct frame_out *out, enum frame_type type, uint64_t first)
{
	frame_begin(out, type);
	frame_number(out, first);
	memset(frame_room(out, CHANGES_FIXED - sizeof(first)), 0, CHANGES_FIXED - sizeof(first));
}

bool changes_add(struct frame_out *out, const struct wire_change *change)
{
	const struct registry_table *table = &registry_tables[change->kind];
	size_t size = change->skipped ? 0
		      : change->drop  ? table->key_bytes
				      : table->format->wire_size;
	uint8_t *count = out->bytes + FRAME_HEAD_SIZE + 8, *at;
	uint8_t wire[WIRE_MAX] = {0};

	if (out->size + 2 + size > sizeof(out->bytes) || be32_load(count) == FRAME_CHANGES_MAX)
		return false;
	if (!change->skipped) {
		assert(table->format->wire_size <= sizeof(wire));
		format_encode(table->format, change->record, wire);
	}
	at = frame_room(out, 2 + size);
	at[0] = change->skipped ? 0 : (uint8_t)change->kind;
	at[1] = change->skipped ? SKIP : change->drop ? DROP : PUT;
	memcpy(at + 2, wire, size);
	be32_store(count, be32_load(count) + 1);
	return true;
}

void changes_end(struct frame_out *out, bool ends)
{
	be32_store(out->bytes + FRAME_HEAD_SIZE + 12, ends ? ENDS : 0);
	frame_end(out);
}

int changes_open(const struct frame *frame, struct wire_changes *changes)
{
	uint32_t count, flags;

	if (frame->size < CHANGES_FIXED)
		return -EPROTO;
	count = be32_load(frame->body + 8);
	flags = be32_load(frame->body + 12);
	if (count > FRAME_CHANGES_MAX || flags > ENDS)
		return -EPROTO;
	*changes = (struct wire_changes){.first = be64_load(frame->body),
					 .count = count,
					 .ends = flags & ENDS,
					 .frame = frame,
					 .at = CHANGES_FIXED};
	return 0;
}

static int garbled(char why[FRAME_WHY_SIZE])
{
	snprintf(why, FRAME_WHY_SIZE, "a change is malformed");
	return -EPROTO;
}

int changes_next(struct wire_changes *changes, struct arena *arena, struct wire_change *out,
		 char why[FRAME_WHY_SIZE])
{
	const uint8_t *at = changes->frame->body + changes->at;
	size_t left = changes->frame->size - changes->at, size;
	const struct registry_table *table;
	uint8_t wire[WIRE_MAX] = {0};
	const char *field = "", *wrong;
	void *record;

	if (left >= 2 && !at[0] && at[1] == SKIP) {
		*out = (struct wire_change){.skipped = true};
		changes->at += 2;
		return 0;
	}
	if (left < 2 || at[0] < REGISTRY_LID || at[0] >= REGISTRY_KINDS ||
	    (at[1] != PUT && at[1] != DROP))
		return garbled(why);
	table = &registry_tables[at[0]];
	size = at[1] == DROP ? table->key_bytes : table->format->wire_size;
	if (left - 2 < size)
		return garbled(why);
	memcpy(wire, at + 2, size);
	record = arena_alloc(arena, table->format->struct_size);
	format_decode(table->format, wire, record);
	wrong = at[1] == DROP ? NULL : registry_check(at[0], record, &field);
	if (wrong) {
		snprintf(why, FRAME_WHY_SIZE, "invalid record: %s: %s: %s", table->name, field,
			 wrong);
		return -EPROTO;
	}
	*out = (struct wire_change){.kind = at[0], .drop = at[1] == DROP, .record = record};
	changes->at += 2 + size;
	return 0;
}

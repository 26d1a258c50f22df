/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Gives a harness files, one after the other, as libFuzzer does with those that it is given: so
 * that the corpus is played by each `make check`, with any compiler. Says how many; a crash is the
 * only failure.
 */
#include "lib/mem.h"
#include "tests/fuzz/fuzz.h"

enum { INPUT_MAX = 1 << 20 };

int main(int argc, char **argv)
{
	uint8_t *bytes = mem_alloc(INPUT_MAX);

	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");
		uint8_t *input;
		size_t size;

		if (!file) {
			perror(argv[i]);
			return 1;
		}
		size = fread(bytes, 1, INPUT_MAX, file);
		fclose(file);
		input = mem_alloc(size + 1); /* of its own size, for whoever looks behind it */
		memcpy(input, bytes, size);
		LLVMFuzzerTestOneInput(input, size);
		free(input);
	}
	free(bytes);
	printf("%d files\n", argc - 1);
	return argc > 1 ? 0 : 1;
}

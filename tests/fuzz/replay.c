/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Feeds files to a harness, one after the other, as libFuzzer does with files on its command line.
 * With this, `make check` plays the corpus with any compiler. Prints their number; only a crash is
 * a failure.
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
		input = mem_alloc(size + 1); /* exact, so that sanitizers notice reads beyond it */
		memcpy(input, bytes, size);
		LLVMFuzzerTestOneInput(input, size);
		free(input);
	}
	free(bytes);
	printf("%d files\n", argc - 1);
	return argc > 1 ? 0 : 1;
}

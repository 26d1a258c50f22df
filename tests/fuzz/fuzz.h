/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What every harness of tests/fuzz stands on: bytes that are taken one after the other, zeros when
 * there are none left, and the beds of tests/unit. What these assert is about devices and programs
 * that behave; here they do not, and only what a sanitizer finds counts, so assertions are looked
 * at no further. Only what a bed itself needs in order to go on ends the run.
 *
 * A harness is one function, for libFuzzer (`make fuzz`), or for replay.c, which gives it files.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TESTS_UNIT_FIXTURES_UNIT_H
#define CU_ASSERT(holds) ((void)(holds))
#define CU_ASSERT_TRUE(holds) ((void)(holds))
#define CU_ASSERT_FALSE(holds) ((void)(holds))
#define CU_ASSERT_EQUAL(a, b) ((void)((a) == (b)))
#define CU_ASSERT_PTR_EQUAL(a, b) ((void)((a) == (b)))
#define CU_ASSERT_FATAL(holds) ((holds) ? (void)0 : abort())
#define CU_ASSERT_EQUAL_FATAL(a, b) CU_ASSERT_FATAL((a) == (b))
#define CU_ASSERT_PTR_NOT_NULL_FATAL(pointer) CU_ASSERT_FATAL((pointer) != NULL)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_bytes {
	const uint8_t *at;
	size_t left;
};

/* As many as there are, up to size; how many. */
static inline size_t fuzz_take(struct fuzz_bytes *bytes, void *to, size_t size)
{
	size_t taken = bytes->left < size ? bytes->left : size;

	memset(to, 0, size);
	if (taken)
		memcpy(to, bytes->at, taken);
	bytes->at += taken;
	bytes->left -= taken;
	return taken;
}

static inline uint8_t fuzz_byte(struct fuzz_bytes *bytes)
{
	uint8_t byte;

	fuzz_take(bytes, &byte, 1);
	return byte;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What every harness of tests/fuzz stands on: bytes that are taken one after the other, zeros when
 * there are none left, and the fixtures of tests/unit. Their assertions are about devices and
 * programs that behave: assert.c counts none here, and only what a sanitizer finds is a failure.
 *
 * A harness is one function, for libFuzzer (`make fuzz`), or for replay.c, which gives it files.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <CUnit/CUnit.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

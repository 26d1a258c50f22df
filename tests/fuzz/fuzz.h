/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Common parts of the harnesses in tests/fuzz: a reader of input bytes, which gives zeros at the
 * end of the input, and the fixtures of tests/unit. The assertions of the fixtures assume correct
 * devices and programs. assert.c ignores them, so only a sanitizer's report is a failure.
 *
 * A harness is one function, for libFuzzer (`make fuzz`) or for replay.c, which feeds it files.
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

/* Copies at most size bytes; returns how many. */
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

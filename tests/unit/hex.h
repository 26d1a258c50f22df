/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Bytes as a person writes them down from the description of a format: hexadecimal digits, with
 * blanks anywhere between bytes, and ".N" followed by a blank for N bytes of zero. For tests whose
 * subject writes and reads a format: a mistake of both would not show in what comes back.
 */
#ifndef TESTS_UNIT_HEX_H
#define TESTS_UNIT_HEX_H

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns how many bytes text stands for; aborts when they are more than room, or when it is none
 * of this kind. */
static inline size_t hex_bytes(const char *text, uint8_t *out, size_t room)
{
	size_t size = 0;

	while (*text) {
		size_t zeros = 0;
		unsigned byte = 0;
		int length = 0;

		if (isspace((unsigned char)*text)) {
			text++;
			continue;
		}
		if (sscanf(text, ".%zu%n", &zeros, &length) != 1 &&
		    sscanf(text, "%2x%n", &byte, &length) != 1)
			abort();
		if (size + (zeros ? zeros : 1) > room)
			abort();
		if (zeros)
			memset(out + size, 0, zeros);
		else
			out[size] = (uint8_t)byte;
		size += zeros ? zeros : 1;
		text += length;
	}
	return size;
}

#endif

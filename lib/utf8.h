/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which bytes are printable UTF-8: for output of text that remote nodes chose. */
#ifndef LIB_UTF8_H
#define LIB_UTF8_H

#include <stddef.h>

/* Length in bytes of the printable UTF-8 character at text, at most size; 0 if there is none.
 * Control characters (also U+0080 to U+009F), overlong forms, surrogates and broken sequences do
 * not count. For a string size may be SIZE_MAX: its end is no character. The bounds of the second
 * byte are those of table 3-7 of the Unicode standard. */
static inline size_t utf8_printable(const unsigned char *text, size_t size)
{
	static const struct {
		unsigned char first, last, low, high;
		size_t length;
	} forms[] = {
		{0xC2, 0xC2, 0xA0, 0xBF, 2}, {0xC3, 0xDF, 0x80, 0xBF, 2},
		{0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
		{0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
		{0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4},
		{0xF4, 0xF4, 0x80, 0x8F, 4},
	};

	if (*text < 0x80)
		return *text >= ' ' && *text < 0x7F;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (*text < forms[i].first || *text > forms[i].last)
			continue;
		if (forms[i].length > size || text[1] < forms[i].low || text[1] > forms[i].high)
			return 0;
		for (size_t k = 2; k < forms[i].length; k++) {
			if ((text[k] & 0xC0) != 0x80)
				return 0;
		}
		return forms[i].length;
	}
	return 0;
}

#endif

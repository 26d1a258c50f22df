/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A SPEC of weftsim: sim/spec.h. No number has more than two digits, because large fabrics take
 * long to build. */
#include "sim/spec.h"

#include "tests/fuzz/fuzz.h"

enum { TEXT = 128 };

static bool has_long_number(const char *text)
{
	size_t digits = 0;

	for (; *text && digits < 3; text++)
		digits = *text >= '0' && *text <= '9' ? digits + 1 : 0;
	return digits == 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct net *net = NULL;
	char text[TEXT] = "", *error = NULL;

	memcpy(text, data, size < TEXT ? size : TEXT - 1);
	if (has_long_number(text))
		return 0;
	if (spec_build(text, &net, &error))
		free(error);
	else
		net_free(net);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Net files: read, checked and printed. The printed text is read again. formats/net.h. */
#include "formats/net.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct net *net = NULL, *again = NULL;
	struct net_error error;
	char *text = NULL;
	size_t length;
	FILE *file;

	if (net_parse("input", (const char *)data, size, &net, &error))
		return 0;
	net_validate(net, &error);
	file = open_memstream(&text, &length);
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	net_print(file, net);
	fclose(file);
	if (net_parse("printed", text, length, &again, &error)) {
		fprintf(stderr, "cannot read the printed net file\n%s", text);
		abort();
	}
	net_free(again);
	net_free(net);
	free(text);
	return 0;
}

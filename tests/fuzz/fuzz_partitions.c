/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Partition files, read with both meanings of members that are limited and full:
 * formats/partitions.h. */
#include "formats/partitions.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int both = 0; both < 2; both++) {
		struct partitions *partitions = NULL;
		char *error = NULL;

		if (partitions_parse("input", (const char *)data, size, both, &partitions,
				     &error)) {
			free(error);
			continue;
		}
		for (uint32_t i = 0; i < partitions->count; i++)
			partition_membership(&partitions->partitions[i], 1, 1, true, both);
		partitions_free(partitions);
	}
	return 0;
}

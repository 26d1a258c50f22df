/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A record of a saved document for `weftctl restore`, and the same record saved again:
 * store/save.h. */
#include "store/save.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t record[SAVE_RECORD_MAX / sizeof(uint64_t)] = {0};
	json_t *object = json_loadb((const char *)data, size, 0, NULL);
	enum registry_kind kind;
	char why[SAVE_WHY_SIZE];

	if (object && !save_parse(object, &kind, record, why)) {
		json_t *again = save_record(kind, record);

		if (save_parse(again, &kind, record, why)) {
			fprintf(stderr, "cannot restore the saved record: %s\n", why);
			abort();
		}
		json_decref(again);
	}
	json_decref(object);
	return 0;
}

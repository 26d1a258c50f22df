/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files of GUIDs, LFT dumps, opensm.conf and guid2lid. The first byte selects the format, the rest
 * is the file. formats/guid_file.h, formats/opensm_conf.h. */
#include "formats/guid_file.h"
#include "formats/opensm_conf.h"
#include "tests/fuzz/fuzz.h"

static void guids(const char *text, size_t size, char **error)
{
	guid_t *list = NULL;
	uint32_t count;

	guid_file_parse("input", text, size, &list, &count, error);
	free(list);
}

static void guid_rows(const char *text, size_t size, char **error)
{
	struct guid_row *list = NULL;
	uint32_t count;

	guid_rows_parse("input", text, size, 1, 20, "GUID PORT...", &list, &count, error);
	free(list);
}

static void prefixes(const char *text, size_t size, char **error)
{
	struct prefix_row *list = NULL;
	uint32_t count;

	prefix_rows_parse("input", text, size, &list, &count, error);
	free(list);
}

static void keys(const char *text, size_t size, char **error)
{
	struct key_row *list = NULL;
	uint32_t count;

	key_rows_parse("input", text, size, &list, &count, error);
	free(list);
}

static void dump(const char *text, size_t size, char **error)
{
	struct dump_table *tables = NULL;
	uint32_t count = 0;

	if (!dump_parse("input", text, size, &tables, &count, error))
		dump_free(tables, count);
}

static void option(void *ctx, unsigned line, const char *name, const char *value)
{
	const struct opensm_row *row = opensm_row_find(name);
	char ours[OPENSM_VALUE_SIZE], lost[OPENSM_VALUE_SIZE];

	(void)ctx;
	(void)line;
	if (row && row->ours)
		opensm_translate(row, value, "180", ours, lost);
	if (row)
		opensm_value_same(row->preset, value);
}

static void conf(const char *text, size_t size, char **error)
{
	opensm_conf_parse("input", text, size, option, NULL, error);
}

static void lid(void *ctx, guid_t guid, lid_t number, unsigned lmc)
{
	(void)ctx;
	(void)guid;
	(void)number;
	(void)lmc;
}

static void lids(const char *text, size_t size, char **error)
{
	opensm_lids_parse("input", text, size, lid, NULL, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const parsers[])(const char *text, size_t size, char **error) = {
		guids, guid_rows, prefixes, keys, dump, conf, lids};
	char *error = NULL;

	if (!size)
		return 0;
	parsers[(uint8_t)(data[0] - '0') % (sizeof(parsers) / sizeof(parsers[0]))](
		(const char *)data + 1, size - 1, &error);
	free(error);
	return 0;
}

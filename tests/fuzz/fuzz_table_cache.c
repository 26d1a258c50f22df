/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Rows of the table cache, from another manager, and from a file that has such a row twice,
 * followed by the input. A row has a checksum, which random bytes would not match. So the harness
 * computes it, for a kind (1 byte), a top (2) and a body. fabric/table_cache.h. */
#include "fabric/table_cache.c"

#include "tests/fuzz/fuzz.h"

static void read_as_file(const uint8_t *row, size_t row_size, const uint8_t *data, size_t size)
{
	struct table_cache cache = {.path = "input"};
	uint8_t *file = mem_alloc(HEAD_SIZE + 2 * row_size + size), *at = file + HEAD_SIZE;

	log_set_level(NULL, LOG_EMERG);
	map_init(&cache.read);
	memcpy(file, magic, sizeof(magic));
	be32_store(file + 8, VERSION);
	be32_store(file + 12, 3);
	memcpy(at, row, row_size);
	memcpy(at + row_size, row, row_size);
	memcpy(at + 2 * row_size, data, size);
	table_cache_read_rows(&cache, file, HEAD_SIZE + 2 * row_size + size);
	table_cache_forget(&cache);
	table_cache_read_rows(&cache, data, size);
	table_cache_forget(&cache);
	free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes in = {data, size};
	uint8_t kind = fuzz_byte(&in), top[2], *row = mem_alloc(ROW_HEAD_SIZE + size);
	struct table_cache_row out = {0};
	size_t bytes;

	table_cache_row_get(data, size, &out); /* the input unchanged */
	table_cache_row_done(&out);
	fuzz_take(&in, top, sizeof(top));
	bytes = fuzz_take(&in, row + ROW_HEAD_SIZE, size);
	row_head(1, kind, be16_load(top), bytes, row);
	out = (struct table_cache_row){0};
	table_cache_row_get(row, ROW_HEAD_SIZE + bytes, &out);
	table_cache_row_done(&out);
	read_as_file(row, ROW_HEAD_SIZE + bytes, data, size);
	free(row);
	return 0;
}

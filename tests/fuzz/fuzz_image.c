/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Rows of the image of tables, from the file or from another manager. A row has a checksum, which
 * no chance would meet: it is made here, for a kind (1 byte), a top (2) and a body. sm/image.h. */
// LINK: fabric/mft.o fabric/registry.o fabric/tree.o fabric/m_key.o fabric/fabric.o fabric/detour.o
// LINK: fabric/facts.o fabric/have.o fabric/snapshot.o fabric/tables.o mad/window.o mad/rtt.o
// LINK: mad/txn.o mad/mad.o sma/attr.o mad/field.o lib/*.o fabric/link_news.o
// LIBS: -lsystemd -ljansson
#include "sm/image.c"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes in = {data, size};
	uint8_t kind = fuzz_byte(&in), top[2], *row = mem_alloc(ROW_HEAD_SIZE + size);
	struct image_row out = {0};
	size_t bytes;

	image_row_get(data, size, &out); /* as it is */
	image_row_done(&out);
	fuzz_take(&in, top, sizeof(top));
	bytes = fuzz_take(&in, row + ROW_HEAD_SIZE, size);
	row_head(1, kind, be16_load(top), bytes, row);
	out = (struct image_row){0};
	image_row_get(row, ROW_HEAD_SIZE + bytes, &out);
	image_row_done(&out);
	free(row);
	return 0;
}

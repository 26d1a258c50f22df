/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lists of records, in parts: records.h. */
#include "sm/control/records.h"

#include <stdlib.h>

#include "lib/mem.h"
#include "sm/context.h"

enum {
	ROWS_A_PART = 32,
	RECORDS_A_PART = 1024, /* that are looked at */
};

struct records {
	const struct sm *sm;
	struct registry_cursor cursor;
	const char *rows;
	records_row *row;
	void *ctx;
	void (*free_ctx)(void *ctx);
	bool noted;
};

bool records_note(const struct sm *sm, bool *noted, struct buffer *part)
{
	json_t *standing = *noted ? NULL : sm_standing(sm);

	*noted = true;
	if (standing)
		row_json(part, "note", standing);
	return standing;
}

static enum stream_step records_next(void *source, struct buffer *part)
{
	struct records *records = source;
	const void *record = NULL;
	unsigned rows = 0;

	if (records_note(records->sm, &records->noted, part))
		return STREAM_PART;
	row_begin(part, records->rows, '[');
	for (unsigned i = 0; i < RECORDS_A_PART && rows < ROWS_A_PART; i++) {
		record = registry_walk_next(&records->cursor);
		if (!record)
			break;
		rows += records->row(records->ctx, record, part);
	}
	row_end(part, ']');
	return record || rows ? STREAM_PART : STREAM_END;
}

static void records_finish(void *source)
{
	struct records *records = source;

	registry_walk_end(&records->cursor);
	if (records->free_ctx)
		records->free_ctx(records->ctx);
	free(records);
}

void records_stream(const struct sm *sm, struct control_request *request, enum registry_kind kind,
		    const char *rows, records_row *row, void *ctx, void (*free_ctx)(void *ctx))
{
	struct records *records = mem_zalloc(sizeof(*records));

	records->sm = sm;
	records->rows = rows;
	records->row = row;
	records->ctx = ctx;
	records->free_ctx = free_ctx;
	registry_walk(sm->registry, kind, -1, NULL, &records->cursor);
	control_stream(request, records_next, records_finish, records);
}

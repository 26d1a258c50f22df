/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Commands for M_Keys. Keys go from a file to the daemon; the daemon never sends keys.
 */
#include "ctl/handlers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/file.h"
#include "ctl/text.h"
#include "formats/guid_file.h"
#include "lib/guid.h"

enum { ROWS_A_PIECE = 200 };

static void print_offenders(const json_t *offenders, FILE *out)
{
	static const struct column columns[] = {
		COLUMN("WRONG-KEYS", "count", COLUMN_NUMBER),
		COLUMN("FROM", "guid", COLUMN_TEXT),
		COLUMN("LID", "lid", COLUMN_NUMBER),
		COLUMN_FORMAT("LAST", "{method}({attribute})", COLUMN_TEXT),
		COLUMN("AT", "at", COLUMN_TEXT),
		COLUMN("NAME", "description", COLUMN_NAME),
		{.name = NULL},
	};

	columns_print(columns, NULL, offenders, out);
}

void print_keys(const json_t *data, FILE *out)
{
	text_put(out, data,
		 "Mode        {mode}, protection level {protection_level:d}, lease "
		 "{lease_period_s:d} s\n");
	if (json_is_true(json_object_get(data, "held_back")))
		fprintf(out, "Held back   a standby would not get the keys: see weftctl health\n");
	text_put(out, data,
		 "Ports       {ports:d}, {protected:d} with their key, {changing:d} that may hold "
		 "an earlier key\n"
		 "Recorded    keys of {recorded:d} ports, {secrets:d} secrets\n"
		 "Violations  {violations:d}, {own_violations:d} of them by this manager\n");
	if (json_array_size(json_object_get(data, "offenders")))
		print_offenders(json_object_get(data, "offenders"), out);
}

int keys_rotate_perform(const char *socket, const json_t *request, json_t **result, char **refusal)
{
	json_t *answer = NULL;
	int error =
		file_call(socket, json_pack("{s:s}", "command", "config reload"), &answer, refusal);

	(void)request;
	if (error)
		return error;
	json_decref(answer);
	return file_call(socket, json_pack("{s:s,s:s}", "command", "sweep", "kind", "heavy"),
			 result, refusal);
}

/* import */

static json_t *keys_piece(const struct key_row *rows, uint32_t from, uint32_t count)
{
	json_t *piece = json_array();
	char guid[GUID_TEXT], key[GUID_TEXT];

	for (uint32_t i = from; i < count && i < from + ROWS_A_PIECE; i++)
		json_array_append_new(piece, json_pack("[s,s]", guid_text(rows[i].guid, guid),
						       guid_text(rows[i].key, key)));
	return piece;
}

static int send_rows(const char *socket, const struct key_row *rows, uint32_t count,
		     json_t **result, char **refusal)
{
	long long taken = 0;

	for (uint32_t i = 0; i < count; i += ROWS_A_PIECE) {
		json_t *answer = NULL;
		int error = file_call(socket,
				      json_pack("{s:s,s:o}", "command", "keys import", "rows",
						keys_piece(rows, i, count)),
				      &answer, refusal);

		if (error)
			return error;
		taken += number_member(answer, "taken");
		json_decref(answer);
	}
	*result = json_pack("{s:I,s:I}", "rows", (json_int_t)count, "taken", (json_int_t)taken);
	return 0;
}

int keys_import_perform(const char *socket, const json_t *request, json_t **result, char **refusal)
{
	const char *path = text_member(request, "file");
	struct key_row *rows = NULL;
	uint32_t count = 0;
	size_t size = 0;
	char *text = file_read(path, &size);
	int error;

	if (!text)
		return file_refuse(refusal, path, strerror(errno));
	error = key_rows_parse(path, text, size, &rows, &count, refusal);
	explicit_bzero(text, size);
	free(text);
	if (error)
		return -EREMOTEIO;
	error = send_rows(socket, rows, count, result, refusal);
	if (rows)
		explicit_bzero(rows, count * sizeof(*rows));
	free(rows);
	return error;
}

void print_imported(const json_t *data, FILE *out)
{
	text_put(out, data, "{rows:d} keys, {taken:d} of them of ports whose key was not known\n");
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Partition commands. A file goes to the daemon in pieces that are far smaller than the longest
 * request that the daemon accepts.
 */
#include "ctl/handlers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/file.h"
#include "ctl/note.h"
#include "ctl/text.h"
#include "formats/partitions.h"
#include "lib/control.h"
#include "lib/mem.h"

static void print_head(const json_t *row, FILE *out)
{
	text_put(out, row, "{p_key:x4} \"{name}\", by {by}{ipoib:?, ipoib}{indx0:?, indx0}");
	if (number_member(row, "mtu"))
		fprintf(out, ", MTU %lld, rate %g Gb/s", (long long)number_member(row, "mtu"),
			(double)number_member(row, "rate_mbps") / 1000);
	if (number_member(row, "q_key"))
		fprintf(out, ", Q_Key 0x%llx", (unsigned long long)number_member(row, "q_key"));
	fputc('\n', out);
}

enum { PIECE_BYTES = 128 * 1024 };

const struct column partition_columns[] = {
	COLUMN("P_KEY", "p_key", COLUMN_P_KEY),
	COLUMN("SOURCE", "by", COLUMN_TEXT),
	COLUMN("IPOIB", "ipoib", COLUMN_FLAG),
	COLUMN("INDX0", "indx0", COLUMN_FLAG, .drop = 1),
	COLUMN("FILE-RULES", "rules", COLUMN_NUMBER, .drop = 2),
	COLUMN("RUN-TIME-MEMBERS", "run_time_members", COLUMN_NUMBER),
	COLUMN("NAME", "name", COLUMN_NAME),
	{.name = NULL},
};

static void partition_print_ports(const json_t *ports, FILE *out)
{
	static const struct column columns[] = {
		COLUMN("GUID", "guid", COLUMN_TEXT),
		COLUMN("MEMBERSHIP", "membership", COLUMN_TEXT),
		COLUMN("SOURCE", "by", COLUMN_TEXT),
		COLUMN("OWNER", "owner", COLUMN_TEXT),
		COLUMN("STATUS", "status", COLUMN_TEXT),
		COLUMN("PORT", "port", COLUMN_NUMBER),
		COLUMN("NODE", "description", COLUMN_NAME),
		{.name = NULL},
	};

	if (json_array_size(ports))
		columns_print(columns, NULL, ports, out);
}

void print_partition(const json_t *data, FILE *out)
{
	print_head(json_object_get(data, "partition"), out);
	partition_print_ports(json_object_get(data, "ports"), out);
}

/* done is the text about a partition that changed; alone is the text if no port is affected. */
static void print_change(const json_t *data, const char *done, const char *alone, FILE *out)
{
	json_t *counts = json_object_get(data, "counts"), *count;
	bool is_changed = flag_member(data, "changed");
	const char *status;
	unsigned kinds = 0;

	text_put(out, data, "{p_key:x4}");
	if (json_string_length(json_object_get(data, "name")))
		text_put(out, data, " \"{name}\"");
	fputs(is_changed ? done : " is unchanged", out);
	json_object_foreach (counts, status, count) {
		fprintf(out, "%s%lld %s", kinds++ ? ", " : ": ", json_integer_value(count), status);
	}
	fprintf(out, "%s\n", kinds || !is_changed ? "" : alone);
	if (!flag_member(data, "durable"))
		fputs("  not durable yet: the store has not confirmed it, and a restart may undo "
		      "it; see weftctl status\n",
		      out);
	if (number_member(data, "waiting"))
		text_put(out, data,
			 "  {waiting:d} port{waiting:# has|s have} not acknowledged it yet; weftd "
			 "tries again; see weftctl partition show {p_key:x4}\n");
	if (!flag_member(data, "shown"))
		fputs("  the SA does not use it yet\n", out);
	if (flag_member(data, "no_full_member"))
		fputs("  note: it has no full member, and limited members do not reach each other: "
		      "add a member with --full\n",
		      out);
	text_put_list(out, json_object_get(data, "warnings"), "  warning: {}\n", "");
	partition_print_ports(json_object_get(data, "ports"), out);
}

void print_partition_added(const json_t *data, FILE *out)
{
	print_change(data, " is made",
		     number_member(data, "p_key") == PKEY_DEFAULT_LIMITED
			     ? "; a port that it does not name is a limited member"
			     : "; it has no members yet",
		     out);
}

void print_partition_removed(const json_t *data, FILE *out)
{
	print_change(data, ", made at run time, is removed", "", out);
}

void print_partition_set(const json_t *data, FILE *out)
{
	print_change(data, " is changed", "", out);
}

void print_members_changed(const json_t *data, FILE *out)
{
	print_change(data, " is changed", ": no port is affected", out);
}

/* Members of a file */

/* Appends the words of a line to the list; "#" begins a comment. */
static int take_line(const char *line, json_t *members)
{
	static const char blanks[] = " \t\r\n";

	for (line += strspn(line, blanks); *line && *line != '#'; line += strspn(line, blanks)) {
		size_t length = strcspn(line, blanks);

		if (json_array_append_new(members, json_stringn(line, length)))
			return -EINVAL;
		line += length;
	}
	return 0;
}

static int read_members(const char *path, json_t *members, char **refusal)
{
	FILE *file = strcmp(path, "-") != 0 ? fopen(path, "re") : stdin;
	char *line = NULL;
	size_t room = 0;
	int error = 0;

	if (!file)
		return file_refuse(refusal, path, strerror(errno));
	while (!error && getline(&line, &room, file) > 0)
		if (take_line(line, members))
			error = file_refuse(refusal, path, "not UTF-8 text");
	if (!error && ferror(file))
		error = file_refuse(refusal, path, strerror(errno));
	free(line);
	if (file != stdin)
		fclose(file);
	return error;
}

int members_perform(const char *socket, const json_t *request, json_t **result, char **refusal)
{
	json_t *members = json_array(), *copy = json_copy((json_t *)request);
	const json_t *given = json_object_get(request, "members");
	const char *path = json_string_value(json_object_get(request, "file"));
	int error = 0;

	if (json_is_string(given))
		json_array_append_new(members, json_string(json_string_value(given)));
	json_array_extend(members, (json_t *)given);
	json_object_del(copy, "file");
	if (path)
		error = read_members(path, members, refusal);
	json_object_set_new(copy, "members", members);
	if (error) {
		json_decref(copy);
		return error;
	}
	return file_call(socket, copy, result, refusal);
}

void print_partitions_accepted(const json_t *data, FILE *out)
{
	if (json_is_string(json_object_get(data, "loss")))
		text_put(out, data,
			 "accepted: {at_run_time:d} partition{at_run_time:#|s} made at run time, "
			 "with {run_time_members:d} member{run_time_members:#|s}; ports get their "
			 "P_Keys now\n");
	else
		fputs("no partitions are missing: nothing to accept\n", out);
}

bool partition_change_failed(const json_t *data)
{
	const json_t *counts = json_object_get(data, "counts");

	return number_member(counts, "failed") || number_member(counts, "refused") ||
	       number_member(counts, "no room") || number_member(data, "waiting") ||
	       !flag_member(data, "durable") || !flag_member(data, "shown") ||
	       json_array_size(json_object_get(data, "warnings"));
}

/* check */

/* base: the members of each request but those of the piece. */
static int send_piece(const char *socket, const json_t *base, const char *path, json_t *text,
		      long long token, bool more, json_t **result, char **refusal)
{
	json_t *piece = json_pack("{s:s,s:o,s:I,s:b}", "name", path, "text", text, "token",
				  (json_int_t)token, "more", more);
	json_t *request;

	if (!piece)
		return file_refuse(refusal, path, "the name is not UTF-8");
	request = json_copy((json_t *)base);
	json_object_update_new(request, piece);
	return file_call(socket, request, result, refusal);
}

/* Bytes that are not text are sent as one character each. */
static json_t *piece_text(const char *bytes, size_t size)
{
	json_t *text = json_stringn(bytes, size);

	return text ? text : json_null();
}

/* The size of the next piece, which ends at a line end, so that no character is cut. 0: a line is
 * too long. */
static size_t piece_size(const char *text, size_t size)
{
	const char *end = size > PIECE_BYTES ? memrchr(text, '\n', PIECE_BYTES) : text + size - 1;

	return end ? (size_t)(end - text) + 1 : 0;
}

static int send_pieces(const char *socket, const json_t *base, const char *path, const char *text,
		       size_t size, json_t **result, char **refusal)
{
	long long token = 0;
	int error = 0;

	do {
		size_t piece = size ? piece_size(text, size) : 0;
		json_t *answer = NULL;

		if (size && !piece)
			return file_refuse(refusal, path, "it has a line of more than 128 KiB");
		error = send_piece(socket, base, path, piece_text(text, piece), token, piece < size,
				   &answer, refusal);
		token = number_member(answer, "token");
		text += piece;
		size -= piece;
		if (!error && !size)
			*result = json_incref(answer);
		json_decref(answer);
	} while (!error && size);
	return error;
}

/* Checks the text alone. It may use "both", because the option that allows it is not known. */
static int check_alone(const char *path, const char *text, size_t size, json_t **result,
		       char **refusal)
{
	struct partitions *partitions;

	if (partitions_parse_all(path, text, size, true, &partitions, refusal))
		return -EREMOTEIO;
	*result =
		json_pack("{s:i,s:n,s:n,s:[],s:o}", "partitions", (int)partitions->count, "changed",
			  "ports_in_all", "ports", "notes", control_lines(partitions->notes));
	partitions_free(partitions);
	return 0;
}

int partition_check(const char *socket, const json_t *request, json_t **result, char **refusal)
{
	const char *path = text_member(request, "file");
	size_t size = 0;
	char *text = file_read(path, &size);
	json_t *base;
	int error;

	if (!text)
		return file_refuse(refusal, path, strerror(errno));
	base = json_pack("{s:s}", "command", "partition check");
	error = send_pieces(socket, base, path, text, size, result, refusal);
	json_decref(base);
	if (error == -ENOENT || error == -ECONNREFUSED)
		error = check_alone(path, text, size, result, refusal);
	free(text);
	return error;
}

void print_partition_check(const json_t *data, FILE *out)
{
	const json_t *ports = json_object_get(data, "ports");
	long long more = number_member(data, "changed") - (long long)json_array_size(ports);

	text_put_list(out, json_object_get(data, "notes"), "{}\n", "");
	if (json_is_null(json_object_get(data, "changed"))) {
		text_put(out, data,
			 "{partitions:d} partition{partitions:#|s}, no errors in the text; no "
			 "weftd answers, so the changes to ports and allow_both_pkeys are not "
			 "known (\"both\" is accepted)\n");
		return;
	}
	text_put(out, data,
		 "{partitions:d} partition{partitions:#|s}; it would change the P_Keys of "
		 "{changed:d} of {ports_in_all:d} port{ports_in_all:#|s}\n");
	text_put_list(out, ports, "  {guid} {description}: gains {gains}; loses {loses}\n", "");
	if (more > 0)
		fprintf(out, "  and %lld more\n", more);
}

/* apply */

int partition_apply(const char *socket, const json_t *request, json_t **result, char **refusal)
{
	const char *path = text_member(request, "file");
	json_t *base = json_copy((json_t *)request);
	size_t size = 0;
	char *text = file_read(path, &size);
	int error;

	json_object_del(base, "file");
	error = text ? send_pieces(socket, base, path, text, size, result, refusal)
		     : file_refuse(refusal, path, strerror(errno));
	json_decref(base);
	free(text);
	return error;
}

void print_partition_applied(const json_t *data, FILE *out)
{
	static const struct column columns[] = {
		COLUMN("CHANGE", "kind", COLUMN_TEXT),	    COLUMN("P_KEY", "p_key", COLUMN_P_KEY),
		COLUMN("GUID", "guid", COLUMN_TEXT),	    COLUMN("BEFORE", "before", COLUMN_TEXT),
		COLUMN("AFTER", "after", COLUMN_TEXT),	    COLUMN("OWNER", "owner", COLUMN_TEXT),
		COLUMN("NODE", "description", COLUMN_NAME), {.name = NULL},
	};
	const json_t *rows = json_object_get(data, "differences");
	long long all = number_member(data, "num_changed") + number_member(data, "kept");

	if (json_array_size(rows))
		columns_print(columns, NULL, rows, out);
	if (all > (long long)json_array_size(rows))
		fprintf(out, "and %lld more\n", all - (long long)json_array_size(rows));
	if (!flag_member(data, "changed"))
		text_put(out, data,
			 "unchanged: {owner} has {members:#this|these} {members:d} "
			 "member{members:#|s}\n");
	else if (flag_member(data, "dry_run"))
		text_put(
			out, data,
			"dry run: {num_changed:d} change{num_changed:#|s} for {owner}; nothing was "
			"changed\n");
	else
		text_put(out, data,
			 "changed: {num_changed:d} change{num_changed:#|s} for {owner}\n");
	if (number_member(data, "kept"))
		text_put(out, data,
			 "kept: {kept:d} entr{kept:#y|ies} of other owners differ{kept:#s|}\n");
	if (json_is_string(json_object_get(data, "danger")) && flag_member(data, "dry_run"))
		text_put(out, data, "needs --force: {danger}\n");
	text_put(out, data, "state: {state}\n");
}

/* list */

struct part_rows {
	const char *member;
	json_t *rows;
};

static void take_part_rows(void *ctx, json_t *part)
{
	struct part_rows *taken = ctx;
	json_t *rows = json_object_get(part, taken->member);

	if (json_is_array(rows))
		json_array_extend(taken->rows, rows);
	else
		note_take(part);
}

/* *rows gets the rows of all parts, a new reference, also after an error. Takes the reference to
 * the request. */
static int call_for_rows(const char *socket, json_t *request, const char *member, json_t **rows,
			 char **refusal)
{
	struct part_rows taken = {member, json_array()};
	json_t *result = NULL;
	int error = control_call(socket, request, take_part_rows, &taken, &result, refusal);

	json_decref(result);
	json_decref(request);
	*rows = taken.rows;
	return error;
}

/* A partition that is removed in the meantime has no members. */
static int add_ports(const char *socket, json_t *row, char **refusal)
{
	char p_key[8];
	json_t *ports;
	int error;

	snprintf(p_key, sizeof(p_key), "0x%04x", (unsigned)number_member(row, "p_key") & 0x7fff);
	error = call_for_rows(socket,
			      json_pack("{s:s,s:s}", "command", "partition show", "p_key", p_key),
			      "ports", &ports, refusal);
	if (error == -EREMOTEIO) {
		free(*refusal);
		*refusal = NULL;
		error = 0;
	}
	json_object_set_new(row, "ports", ports);
	return error;
}

int partition_list(const char *socket, const json_t *request, json_t **result, char **refusal)
{
	json_t *rows, *row;
	size_t i;
	int error = call_for_rows(socket, json_pack("{s:s}", "command", "partition list"),
				  "partitions", &rows, refusal);

	json_array_foreach (rows, i, row) {
		if (error || !flag_member(request, "members"))
			break;
		error = add_ports(socket, row, refusal);
	}
	if (error)
		json_decref(rows);
	else
		*result = rows;
	return error;
}

void print_partitions(const json_t *data, FILE *out)
{
	const json_t *row;
	size_t i;

	json_array_foreach (data, i, row) {
		print_head(row, out);
		partition_print_ports(json_object_get(row, "ports"), out);
	}
}

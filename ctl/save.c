/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Saves and restores documents. Records are written as they arrive, so that a large registry needs
 * no memory here. A restore sends them in requests far smaller than the limit of the daemon.
 */
#include "ctl/handlers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/file.h"
#include "ctl/text.h"
#include "lib/mem.h"

enum { RECORDS_A_PIECE = 200 };

struct saved {
	char *path, *part; /* NULL: standard output */
	FILE *out;
	unsigned long long records;
	int error; /* the first error, or 0 */
};

/* Does not use an existing partial file again, because others may be able to read it. */
static FILE *open_part(const char *part)
{
	int fd;

	unlink(part);
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? NULL : fdopen(fd, "w");
}

static void *save_open(const json_t *request, char error[CTL_ERROR_SIZE])
{
	const char *path = text_member(request, "file");
	struct saved *saved = mem_zalloc(sizeof(*saved));

	saved->out = stdout;
	if (strcmp(path, "-") != 0) {
		saved->path = mem_strdup(path);
		saved->part = mem_printf("%s.part", path);
		saved->out = open_part(saved->part);
	}
	if (saved->out)
		return saved;
	snprintf(error, CTL_ERROR_SIZE, "cannot write %.120s: %s", saved->part, strerror(errno));
	free(saved->path);
	free(saved->part);
	free(saved);
	return NULL;
}

static void save_part(void *sink, const json_t *part)
{
	struct saved *saved = sink;
	const json_t *record;
	size_t i;

	json_array_foreach (json_object_get(part, "records"), i, record) {
		if (saved->records++)
			fputs(",\n", saved->out);
		else
			fprintf(saved->out, "{\"version\": %lld, \"records\": [\n",
				number_member(part, "version"));
		if (json_dumpf(record, saved->out, JSON_SORT_KEYS | JSON_ENSURE_ASCII))
			file_note_error(&saved->error);
	}
}

/* The file is on the disk before it gets its name. */
static void name_file(struct saved *saved, bool whole)
{
	if (fflush(saved->out) || (saved->part && fsync(fileno(saved->out))))
		file_note_error(&saved->error);
	if (!saved->part)
		return;
	if (fclose(saved->out))
		file_note_error(&saved->error);
	if (whole && !saved->error && rename(saved->part, saved->path))
		file_note_error(&saved->error);
	if (!whole || saved->error)
		unlink(saved->part);
}

static int save_close(void *sink, bool whole, json_t **data, char error[CTL_ERROR_SIZE])
{
	struct saved *saved = sink;
	int result;

	if (whole)
		fputs(saved->records ? "\n]}\n" : "{\"version\": 1, \"records\": []}\n",
		      saved->out);
	name_file(saved, whole);
	result = saved->error;
	if (result)
		snprintf(error, CTL_ERROR_SIZE, "cannot write %.120s: %s",
			 saved->path ? saved->path : "the document", strerror(-result));
	else if (whole && saved->path)
		*data = json_pack("{s:s,s:I}", "file", saved->path, "records",
				  (json_int_t)saved->records);
	else
		*data = json_null();
	free(saved->path);
	free(saved->part);
	free(saved);
	return result;
}

const struct ctl_sink save_sink = {.open = save_open, .part = save_part, .close = save_close};

void print_saved(const json_t *data, FILE *out)
{
	text_put(out, data, "{file}: {records:d} record{records:#|s}\n");
}

/* restore */

static int read_document(const char *path, json_t **out, char **refusal)
{
	json_error_t error;
	json_t *document;

	errno = 0;
	document = strcmp(path, "-") != 0 ? json_load_file(path, JSON_REJECT_DUPLICATES, &error)
					  : json_loadf(stdin, JSON_REJECT_DUPLICATES, &error);
	if (!document && error.line > 0) {
		*refusal = mem_printf("%s:%d: %s", path, error.line, error.text);
		return -EREMOTEIO;
	}
	if (!document)
		return file_refuse(refusal, path, errno ? strerror(errno) : error.text);
	if (!json_is_array(json_object_get(document, "records")) ||
	    !json_is_integer(json_object_get(document, "version"))) {
		json_decref(document);
		return file_refuse(refusal, path, "not a document of weftctl save");
	}
	*out = document;
	return 0;
}

static json_t *save_piece(const json_t *records, size_t from)
{
	json_t *piece = json_array();

	for (size_t i = from; i < from + RECORDS_A_PIECE && i < json_array_size(records); i++)
		json_array_append(piece, json_array_get(records, i));
	return piece;
}

static int send_document(const char *socket, const json_t *document, bool force, json_t **result,
			 char **refusal)
{
	const json_t *records = json_object_get(document, "records");
	json_t *answer = NULL;
	long long token;
	int error = file_call(socket,
			      json_pack("{s:s,s:b,s:O}", "command", "restore", "begin", 1,
					"version", json_object_get(document, "version")),
			      &answer, refusal);

	if (error)
		return error;
	token = number_member(answer, "token");
	json_decref(answer);
	for (size_t i = 0; i < json_array_size(records); i += RECORDS_A_PIECE) {
		error = file_call(socket,
				  json_pack("{s:s,s:I,s:o}", "command", "restore", "token",
					    (json_int_t)token, "records", save_piece(records, i)),
				  &answer, refusal);
		if (error)
			return error;
		json_decref(answer);
	}
	return file_call(socket,
			 json_pack("{s:s,s:I,s:b}", "command", "restore", "token",
				   (json_int_t)token, "force", force),
			 result, refusal);
}

int restore_perform(const char *socket, const json_t *request, json_t **result, char **refusal)
{
	json_t *document = NULL;
	int error = read_document(text_member(request, "file"), &document, refusal);

	if (!error)
		error = send_document(socket, document,
				      json_is_true(json_object_get(request, "force")), result,
				      refusal);
	json_decref(document);
	return error;
}

void print_restored(const json_t *data, FILE *out)
{
	text_put(out, data, "{records:d} record{records:#|s}, {changed:d} changes\n");
}

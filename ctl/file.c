/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads files with a limit on the size, because the user may name any file. */
#include "ctl/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

enum { FILE_MAX_BYTES = 256 << 20, READ_BYTES = 1 << 20 };

char *file_read(const char *path, size_t *size)
{
	FILE *stream = strcmp(path, "-") != 0 ? fopen(path, "re") : stdin;
	char *text = NULL;
	size_t got = 1;

	if (!stream)
		return NULL;
	for (*size = 0; got && *size <= FILE_MAX_BYTES; *size += got) {
		text = mem_resize(text, *size + READ_BYTES, 1);
		got = fread(text + *size, 1, READ_BYTES, stream);
	}
	if (ferror(stream) || *size > FILE_MAX_BYTES) {
		errno = ferror(stream) ? errno : EFBIG;
		free(text);
		text = NULL;
	}
	if (stream != stdin)
		fclose(stream);
	return text;
}

void file_note_error(int *error)
{
	if (!*error)
		*error = errno ? -errno : -EIO;
}

int file_refuse(char **refusal, const char *path, const char *why)
{
	*refusal = mem_printf("%s: %s", path, why);
	return -EREMOTEIO;
}

int file_call(const char *socket, json_t *request, json_t **result, char **refusal)
{
	int error = control_call(socket, request, NULL, NULL, result, refusal);

	json_decref(request);
	return error;
}

static void take_running_options(void *ctx, json_t *part)
{
	json_array_extend(ctx, json_object_get(part, "options"));
}

int file_running_options(const char *socket, json_t **out, char **refusal)
{
	json_t *request = json_pack("{s:s}", "command", "config show"), *result = NULL;
	int error;

	*out = json_array();
	error = control_call(socket, request, take_running_options, *out, &result, refusal);
	json_decref(result);
	json_decref(request);
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads a file whole: weftd/file_text.h. */
#include "weftd/file_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

static int cannot(const char *option, const char *path, const char *why, int errnum,
		  char error[CONF_ERROR_SIZE])
{
	snprintf(error, CONF_ERROR_SIZE, "%s: %.255s: %s", option, path, why);
	return errnum;
}

int file_read_text(const char *option, const char *path, size_t most_bytes, char **text,
		   size_t *length, char error[CONF_ERROR_SIZE])
{
	FILE *file = fopen(path, "re");
	size_t room = 64 * 1024, used = 0;
	int errnum = 0;
	char *buffer;

	if (!file)
		return cannot(option, path, strerror(errno), -errno, error);
	buffer = mem_alloc(room);
	errno = 0;
	while ((used += fread(buffer + used, 1, room - used, file)) == room && used <= most_bytes)
		buffer = mem_resize(buffer, room *= 2, 1);
	if (ferror(file))
		errnum = cannot(option, path, strerror(errno), errno ? -errno : -EIO, error);
	else if (used > most_bytes)
		errnum = cannot(option, path, "too large for such a file", -EFBIG, error);
	fclose(file);
	if (errnum) {
		free(buffer);
		return errnum;
	}
	*text = buffer;
	*length = used;
	return 0;
}

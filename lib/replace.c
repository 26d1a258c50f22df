/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Replacing a file as a whole (replace.h). */
#include "lib/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/mem.h"

int file_replace(const char *path, const char *part, int (*write)(FILE *file, const void *what),
		 const void *what)
{
	int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	int error;

	if (!file)
		return -errno;
	error = write(file, what);
	if (!error && (fflush(file) || fsync(fd)))
		error = -errno;
	if (fclose(file) && !error)
		error = -errno;
	if (!error && rename(part, path))
		error = -errno;
	if (error)
		unlink(part);
	return error;
}

int file_sync_name(const char *path)
{
	char *copy = mem_strdup(path);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;

	free(copy);
	if (fd < 0)
		return -errno;
	if (fsync(fd))
		error = -errno;
	close(fd);
	return error;
}

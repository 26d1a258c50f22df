/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads a file that holds a secret (lib/secret_file.h). The checks apply to the open descriptor,
 * because the name may lead to another file a moment later. O_NONBLOCK, since opening a pipe would
 * block until a writer opens it.
 */
#include "lib/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/path.h"

enum { OTHERS = S_IRWXG | S_IRWXO, FOLDER_MAX_BYTES = 80 };

#define CHOWN_IT "chown it to the user that runs weftd (weft under systemd)"

/* Destination of refusals: a long path must leave room for the reason. */
struct refusal {
	const char *path;
	char *why;
	size_t size;
};

static int secret_file_refuse(const struct refusal *refusal, int result, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static int secret_file_refuse(const struct refusal *refusal, int result, const char *format, ...)
{
	int length = snprintf(refusal->why, refusal->size, "%.*s: ", (int)(refusal->size / 2),
			      refusal->path);
	va_list args;

	va_start(args, format);
	vsnprintf(refusal->why + length, refusal->size - (size_t)length, format, args);
	va_end(args);
	return result;
}

static int refuse_unread(const struct refusal *refusal, int error)
{
	char folder[FOLDER_MAX_BYTES];
	const char *remedy = error == EACCES || error == EPERM ? CHOWN_IT
			     : error == ENOENT ? "write the secret into it, or name another file"
					       : "resolve this error, or name another file";

	if (error == EACCES && path_is_barred(refusal->path, sizeof(folder), folder))
		return secret_file_refuse(
			refusal, -error,
			"it cannot be read: %s: the directory %s may not be passed by the user "
			"that runs weftd: move the file",
			strerror(error), folder);
	return secret_file_refuse(refusal, -error, "it cannot be read: %s: %s", strerror(error),
				  remedy);
}

static int check_rights(int fd, const struct refusal *refusal)
{
	struct stat file;

	if (fstat(fd, &file))
		return refuse_unread(refusal, errno);
	if (!S_ISREG(file.st_mode))
		return secret_file_refuse(refusal, -EINVAL,
					  "it is no regular file: name one that is");
	if (file.st_uid && file.st_uid != geteuid())
		return secret_file_refuse(refusal, -EPERM, "its owner is another user: " CHOWN_IT);
	if (file.st_mode & OTHERS)
		return secret_file_refuse(refusal, -EPERM,
					  "others may read or write it: chmod 600 it");
	return 0;
}

static int read_all(int fd, const struct refusal *refusal, size_t room, char *text, size_t *size)
{
	size_t length = 0;
	ssize_t got;

	do {
		got = read(fd, text + length, room - length);
		length += got > 0 ? (size_t)got : 0;
	} while (length < room && (got > 0 || (got < 0 && errno == EINTR)));
	if (got < 0)
		return refuse_unread(refusal, errno);
	if (length == room)
		return secret_file_refuse(
			refusal, -EFBIG, "it is longer than %zu bytes: leave only the secret in it",
			room - 1);
	*size = length;
	return 0;
}

int secret_file_read(const char *path, size_t room, char *text, size_t *size, size_t why_size,
		     char *why)
{
	const struct refusal refusal = {.path = path, .why = why, .size = why_size};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result;

	*size = 0;
	if (fd < 0)
		return refuse_unread(&refusal, errno);
	result = check_rights(fd, &refusal);
	if (!result)
		result = read_all(fd, &refusal, room, text, size);
	close(fd);
	if (result)
		explicit_bzero(text, room);
	return result;
}

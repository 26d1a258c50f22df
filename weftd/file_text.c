/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads a whole file: weftd/file_text.h. O_NONBLOCK, because opening a pipe would block the daemon
 * until the other end is opened.
 */
#include "weftd/file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/path.h"

enum { WHY_SIZE = 221, NAME_MAX_BYTES = 32, FOLDER_MAX_BYTES = 100 };

/* The names for error messages, and their destination. */
struct subject {
	const char *option; /* NULL: the path alone */
	const char *path;
	char *error;
};

static int cannot(const struct subject *subject, int result, const char *why)
{
	snprintf(subject->error, CONF_ERROR_SIZE, "%s%s%.255s: %.220s",
		 subject->option ? subject->option : "", subject->option ? ": " : "", subject->path,
		 why);
	return result;
}

/* Reports that access was denied, with the user and the remedy. */
static int denied(const struct subject *subject)
{
	const struct passwd *user = getpwuid(geteuid());
	const struct group *group = getgrgid(getegid());
	char folder[FOLDER_MAX_BYTES], why[WHY_SIZE], user_name[NAME_MAX_BYTES],
		group_name[NAME_MAX_BYTES];

	snprintf(user_name, sizeof(user_name), "%s", user ? user->pw_name : "of this process");
	snprintf(group_name, sizeof(group_name), "%s", group ? group->gr_name : "its group");
	if (path_is_barred(subject->path, sizeof(folder), folder))
		snprintf(why, sizeof(why),
			 "permission denied: user %s cannot enter directory %s (move the file)",
			 user_name, folder);
	else
		snprintf(why, sizeof(why),
			 "permission denied: user %s cannot read it (chgrp %s it and chmod 640 it)",
			 user_name, group_name);
	return cannot(subject, -EACCES, why);
}

/* Opens a file that is no pipe. Returns its descriptor, or -errno. */
static int file_text_open(const struct subject *subject)
{
	int fd = open(subject->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat file;

	if (fd < 0)
		return errno == EACCES ? denied(subject) : cannot(subject, -errno, strerror(errno));
	if (fstat(fd, &file) || S_ISFIFO(file.st_mode)) {
		close(fd);
		return cannot(subject, -EINVAL,
			      "it is a pipe, which cannot be read again (name a file)");
	}
	return fd;
}

static int too_large(const struct subject *subject, size_t most_bytes)
{
	char why[WHY_SIZE];

	snprintf(why, sizeof(why), "it is larger than the limit of %zu KiB", most_bytes / 1024);
	return cannot(subject, -EFBIG, why);
}

int file_open_text(const char *option, const char *path, char error[CONF_ERROR_SIZE])
{
	return file_text_open(&(struct subject){option, path, error});
}

int file_read_opened(int fd, const char *option, const char *path, size_t most_bytes, char **text,
		     size_t *length, char error[CONF_ERROR_SIZE])
{
	const struct subject subject = {option, path, error};
	size_t room = 64 * 1024, used = 0;
	char *buffer = mem_alloc(room);
	ssize_t got = 1;
	int errnum = 0;

	while (got > 0 && used <= most_bytes) {
		if (used == room)
			buffer = mem_resize(buffer, room *= 2, 1);
		got = read(fd, buffer + used, room - used);
		used += got > 0 ? (size_t)got : 0;
	}
	if (got < 0)
		errnum = cannot(&subject, -errno, strerror(errno));
	else if (used > most_bytes)
		errnum = too_large(&subject, most_bytes);
	close(fd);
	if (errnum) {
		free(buffer);
		return errnum;
	}
	*text = buffer;
	*length = used;
	return 0;
}

int file_read_text(const char *option, const char *path, size_t most_bytes, char **text,
		   size_t *length, char error[CONF_ERROR_SIZE])
{
	int fd = file_open_text(option, path, error);

	return fd < 0 ? fd : file_read_opened(fd, option, path, most_bytes, text, length, error);
}

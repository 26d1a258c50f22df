/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The owner of the files may write during the copy. So the copy counts only if no file has changed
 * during it; the store also has checksums (store/db.h).
 */
#include "weftd/preview_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/mem.h"

enum { ATTEMPTS = 50, BUFFER = 1 << 16 };

static const char *const state_files[] = {"weft.db", "weft.db-wal", "weft-copy.db",
					  "weft-copy.db-wal", "tables.img"};

/* A number that differs if a file was written in between; 0: there are none. */
static uint64_t stamp(const char *dir)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(state_files); i++) {
		char *path = mem_printf("%s/%s", dir, state_files[i]);
		struct stat st;

		if (!stat(path, &st))
			sum = sum * 0x9E3779B97F4A7C15 + (uint64_t)st.st_size +
			      (uint64_t)st.st_mtim.tv_sec * 1000000000 +
			      (uint64_t)st.st_mtim.tv_nsec + i;
		free(path);
	}
	return sum;
}

static int copy_bytes(int in, int out)
{
	static char buffer[BUFFER];
	ssize_t got;

	while ((got = read(in, buffer, sizeof(buffer))) > 0)
		if (write(out, buffer, (size_t)got) != got)
			return errno ? -errno : -ENOSPC;
	return got < 0 ? -errno : 0;
}

static int copy_file(const char *dir, const char *copy, const char *name)
{
	char *from = mem_printf("%s/%s", dir, name), *to = mem_printf("%s/%s", copy, name);
	int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
	int error = in < 0 ? -errno : 0;

	if (!error) {
		out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		error = out < 0 ? -errno : copy_bytes(in, out);
	}
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	if (error == -ENOENT) { /* nor in the copy of the attempt before */
		unlink(to);
		error = 0;
	}
	free(from);
	free(to);
	return error;
}

static int copy_files(const char *dir, const char *copy)
{
	int error = 0;

	for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
		uint64_t before = stamp(dir);

		for (size_t i = 0; i < ARRAY_SIZE(state_files) && !error; i++)
			error = copy_file(dir, copy, state_files[i]);
		if (error || stamp(dir) == before)
			return error;
	}
	return -EBUSY;
}

int preview_state_copy(const char *dir, char *copy, size_t copy_size, char *why, size_t why_size)
{
	const char *place = access("/dev/shm", W_OK) ? getenv("TMPDIR") : "/dev/shm";
	int error;

	snprintf(copy, copy_size, "%s/weft-preview.XXXXXX", place && *place ? place : "/tmp");
	if (!mkdtemp(copy)) {
		error = -errno;
		snprintf(why, why_size, "cannot create %s: %s (set TMPDIR)", copy,
			 strerror(-error));
		*copy = '\0';
		return error;
	}
	error = access(dir, R_OK | X_OK) ? -errno : copy_files(dir, copy);
	if (!error || error == -ENOENT) /* no weftd has run here */
		return 0;
	snprintf(why, why_size, "cannot copy the state in %s: %s (%s)", dir, strerror(-error),
		 error == -EACCES ? "run the preview as root or as the user of weftd"
				  : "try again, or set another --state-dir");
	preview_state_remove(copy);
	*copy = '\0';
	return error;
}

void preview_state_remove(const char *copy)
{
	DIR *dir = *copy ? opendir(copy) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (*copy)
		rmdir(copy);
}

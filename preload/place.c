/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The paths of the simulation, and the folder with their files. The folder belongs to the server:
 * it is made for a connection of kind WIRE_FILES, and updated while any process holds that
 * connection. The library requests it when a program first uses such a path, and shares it with
 * child processes. It requests it again when the program closed the connection (daemons close
 * unknown descriptors) or the server ended. Values are real files in a real folder, so all other
 * functions work as usual: a descriptor, a FILE, readdir(), a shell.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/next.h"
#include "preload/server.h"

/* A program's own descriptors are below this number if its limit allows. */
enum { PLACE_FD_MIN = 900 };

struct folder {
	int fd;
	ino_t inode; /* of the socket: shows whether fd is still this socket */
	size_t length;
	char path[WIRE_PATH_SIZE];
};

/* The newest folder. Older folders are never freed, because a thread may read them; there are
 * few. */
static _Atomic(struct folder *) current;

/* infiniband_verbs belongs to the simulation, too, and is empty, so that a real device does not
 * appear. */
static const char *const places[] = {
	"/sys/class/infiniband",
	"/sys/class/infiniband_mad",
	"/sys/class/infiniband_verbs",
	"/dev/infiniband",
};

/* Whether path is this place or inside it. */
static bool within(const char *path, const char *place)
{
	size_t length = strlen(place);

	return !strncmp(path, place, length) && (path[length] == '/' || path[length] == '\0');
}

static bool place_is_ours(const char *path)
{
	size_t i;

	if (path[0] != '/' || (path[1] != 's' && path[1] != 'd'))
		return false;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (within(path, places[i]))
			return true;
	return false;
}

/* Whether the descriptor is still the folder's. */
static bool folder_is_held(const struct folder *folder)
{
	struct stat st;

	return !fstat(folder->fd, &st) && st.st_ino == folder->inode && S_ISSOCK(st.st_mode);
}

static bool is_served(const struct folder *folder)
{
	struct pollfd ready = {.fd = folder->fd};

	return poll(&ready, 1, 0) >= 0 && !(ready.revents & (POLLHUP | POLLERR | POLLNVAL));
}

static int folder_attach(struct folder **made)
{
	struct wire_welcome welcome = {0};
	struct folder *folder;
	struct stat st;
	int fd = server_connect(WIRE_FILES, 0, false, &welcome, NULL), high;

	if (fd < 0)
		return fd;
	high = next()->fcntl(fd, F_DUPFD_CLOEXEC, PLACE_FD_MIN);
	if (high >= 0) {
		next()->close(fd);
		fd = high;
	}
	folder = malloc(sizeof(*folder));
	if (!folder || fstat(fd, &st)) {
		free(folder);
		next()->close(fd);
		return -ENOMEM;
	}
	folder->fd = fd;
	folder->inode = st.st_ino;
	memcpy(folder->path, welcome.folder, sizeof(folder->path));
	folder->length = strlen(folder->path);
	*made = folder;
	return 0;
}

static int folder_get(struct folder **found)
{
	struct folder *folder = atomic_load(&current), *made;
	int err;

	if (folder && folder_is_held(folder) && is_served(folder)) {
		*found = folder;
		return 0;
	}
	err = folder_attach(&made);
	if (err)
		return err;
	/* If two threads request a folder at once, that of one thread is discarded. */
	if (!atomic_compare_exchange_strong(&current, &folder, made)) {
		next()->close(made->fd);
		free(made);
		*found = folder;
		return 0;
	}
	if (folder && folder_is_held(folder))
		next()->close(folder->fd);
	*found = made;
	return 0;
}

int place_find(const char **path, char place[static PLACE_SIZE])
{
	struct folder *folder;
	int err, before = errno;
	size_t length;

	if (!*path || !place_is_ours(*path))
		return 0;
	err = folder_get(&folder);
	if (err)
		return -ENOENT;
	length = strlen(*path);
	if (folder->length + length >= PLACE_SIZE)
		return -ENAMETOOLONG;
	memcpy(place, folder->path, folder->length);
	memcpy(place + folder->length, *path, length + 1);
	*path = place;
	errno = before;
	return 0;
}

bool place_is_device(const char *path, enum wire_kind *kind, unsigned *minor)
{
	static const struct {
		const char *name;
		enum wire_kind kind;
	} devices[] = {{"/dev/infiniband/umad", WIRE_UMAD}, {"/dev/infiniband/issm", WIRE_ISSM}};
	const char *number;
	unsigned long value;
	char *end;
	size_t i;

	for (i = 0; path && i < sizeof(devices) / sizeof(devices[0]); i++) {
		if (strncmp(path, devices[i].name, strlen(devices[i].name)))
			continue;
		number = path + strlen(devices[i].name);
		value = strtoul(number, &end, 10);
		if (*number < '0' || *number > '9' || *end || value > 255)
			continue;
		*kind = devices[i].kind;
		*minor = value;
		return true;
	}
	return false;
}

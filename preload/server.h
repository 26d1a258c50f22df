/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Requests to the server (sim/wire.h), and the two kinds of connections of a program: the folder in
 * place of /sys and /dev, and an open device. Any thread may call these functions, also between
 * fork() and exec().
 */
#ifndef PRELOAD_SERVER_H
#define PRELOAD_SERVER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/wire.h"

/* Connects with this kind to the server that the environment names (WEFTSIM_SOCKET, WEFTSIM_NODE).
 * Returns a blocking close-on-exec descriptor after the welcome; *file (if file is not NULL) is the
 * file that came with it, or -1. -ENOENT: there is no server, which is reported on stderr once;
 * another -errno is the server's. */
int server_connect(enum wire_kind kind, unsigned minor, bool nonblock, struct wire_welcome *welcome,
		   int *file);
/* Makes a call for a device. given is a file to send, or -1; *taken (if taken is not NULL) is the
 * file that comes back. Returns 0, or -errno of the call itself. answer has the server's result,
 * also a refusal: see its error. */
int server_call(const struct wire_call *call, int given, struct wire_return *answer, int *taken);

enum { PLACE_SIZE = PATH_MAX };

/* Replaces *path, if it is one of the simulation's, by the file in its place, built in place.
 * -ENOENT: it is such a path, but there is no server. In this case, and for other paths, *path is
 * unchanged. */
int place_find(const char **path, char place[static PLACE_SIZE]);

/* Whether a path names a device file; then *kind and *minor are set. */
bool place_is_device(const char *path, enum wire_kind *kind, unsigned *minor);

#endif

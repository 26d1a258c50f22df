/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Talking to the server (sim/wire.h), and the two things that a connection can be for a program:
 * the folder that stands for /sys and /dev, and an open device. Everything here may be called from
 * any thread and between fork() and exec().
 */
#ifndef PRELOAD_SERVER_H
#define PRELOAD_SERVER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/wire.h"

/* A connection of this kind to the server that the environment names (WEFTSIM_SOCKET,
 * WEFTSIM_NODE), blocking and close-on-exec, after its welcome; with file, the one that came with
 * that, or -1. -errno: -ENOENT when there is no server, which is said on stderr once; else what the
 * server says.
 */
int server_connect(enum wire_kind kind, unsigned minor, bool nonblock, struct wire_welcome *welcome,
		   int *file);
/* A call about a device, with a file to go there (or -1) and, where taken is not NULL, one to come
 * back: 0 or -errno of the call itself. What comes back (also a refusal: see its error) is in
 * answer.
 */
int server_call(const struct wire_call *call, int given, struct wire_return *answer, int *taken);

enum { PLACE_SIZE = PATH_MAX };

/* If *path is one of those that the simulation has, it is replaced by the file that stands for it,
 * built in place. -ENOENT: it has this path, but there is no server; *path is untouched then, as it
 * is for a path that is not ours. */
int place_find(const char **path, char place[static PLACE_SIZE]);

/* Whether a path names a device file; then its kind and number. */
bool place_is_device(const char *path, enum wire_kind *kind, unsigned *minor);

#endif

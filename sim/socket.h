/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The place of a weftsim server: the name of its socket, the listening end with the folder beside
 * it, and the clients' end. error gets one line, of SOCKET_ERROR_SIZE bytes at most.
 */
#ifndef SIM_SOCKET_H
#define SIM_SOCKET_H

#include <stddef.h>
#include <sys/un.h>

#include "sim/wire.h"

enum { SOCKET_ERROR_SIZE = 512 };

struct socket_place {
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* of the socket, absolute */
	char folder[WIRE_PATH_SIZE]; /* with the files in place of /sys and /dev */
	int listen_fd, folder_fd;
};

/* The default socket: $WEFTSIM_SOCKET, $XDG_RUNTIME_DIR/weftsim.sock or /tmp/weftsim-UID.sock.
 * Returns 0, or -ENAMETOOLONG. */
int socket_default(char *path, size_t size, char *error);

/* Takes the lock, empties the folder and listens. Files of a dead server are removed; with a live
 * server it returns -EADDRINUSE. */
int socket_listen(struct socket_place *place, const char *path, char *error);
/* Removes socket and folder, and releases the lock. */
void socket_close(struct socket_place *place);

/* Connects and sends the hello, whose magic and version it fills in; returns the descriptor, or
 * -errno. file gets the descriptor that arrived with the welcome, or -1; NULL: none is expected. */
int socket_connect(const char *path, struct wire_hello *hello, struct wire_welcome *welcome,
		   int *file, char *error);

#endif

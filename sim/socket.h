/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Where a weftsim server is: the name of its socket, the listening end with the folder beside it,
 * and the clients' end. Errors are one line for people.
 */
#ifndef SIM_SOCKET_H
#define SIM_SOCKET_H

#include <stddef.h>
#include <sys/un.h>

#include "sim/wire.h"

enum { SOCKET_ERROR_SIZE = 512 };

struct socket_place {
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* of the socket, absolute */
	char folder[WIRE_PATH_SIZE]; /* for what programs take for /sys and /dev */
	int listen_fd, folder_fd;
};

/* The socket that is meant when none is named: $WEFTSIM_SOCKET, $XDG_RUNTIME_DIR/weftsim.sock or
 * /tmp/weftsim-UID.sock. 0, or -ENAMETOOLONG. */
int socket_default(char *path, size_t size, char *error);

/* Takes the place, empties the folder and listens. What a server that died left is taken over; a
 * live one is not: -EADDRINUSE. */
int socket_listen(struct socket_place *place, const char *path, char *error);
/* Removes socket and folder. */
void socket_close(struct socket_place *place);

/* Connects and sends the hello, whose magic and version it fills in; the descriptor, or -errno. */
int socket_connect(const char *path, struct wire_hello *hello, struct wire_welcome *welcome,
		   char *error);

#endif

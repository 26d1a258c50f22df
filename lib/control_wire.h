/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The address, for both ends of the control socket. Private to control.c and control_client.c. */
#ifndef LIB_CONTROL_WIRE_H
#define LIB_CONTROL_WIRE_H

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "lib/buffer.h"

#ifndef WEFT_VERSION
#define WEFT_VERSION "0.0.0"
#endif

/* 0, or -ENAMETOOLONG for a path that does not fit, -ENOENT for an empty one. */
static inline int control_address(const char *path, struct sockaddr_un *address)
{
	size_t length = strlen(path);

	if (length >= sizeof(address->sun_path))
		return -ENAMETOOLONG;
	if (!length)
		return -ENOENT;
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path, path, length);
	return 0;
}

#endif

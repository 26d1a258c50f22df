/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What people call a node or an end port of a world: a name of the net file, a GUID (0x and 16
 * digits; a port's, too) or a LID, and behind a colon an adapter's port. Used by `weftsim do` and
 * by the server for the node that a program sits on.
 */
#ifndef SIM_FIND_H
#define SIM_FIND_H

#include "sim/world.h"

enum { FIND_ERROR_SIZE = 256 };

/* 0, or -ENOENT and one line, with what may have been meant. */
int find_node(const struct world *world, const char *text, struct device **out,
	      char error[FIND_ERROR_SIZE]);
/* NODE or NODE:PORT; port is -1 where neither that nor a port's GUID is given. An empty text is the
 * first adapter. */
int find_place(const struct world *world, const char *text, struct device **out, int *port,
	       char error[FIND_ERROR_SIZE]);
/* The end port that is meant: a switch's 0, an adapter's 1 where none is given. */
int find_end_port(const struct world *world, const char *text, struct device_port **out,
		  char error[FIND_ERROR_SIZE]);
/* A port of a device by its number. */
int find_port(struct device *device, const char *text, struct device_port **out,
	      char error[FIND_ERROR_SIZE]);

/* The name of a node, for people and for asking again. */
const char *find_name(const struct device *device);

#endif

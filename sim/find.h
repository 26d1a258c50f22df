/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Finds a node or an end port of a world by the words of a user. These are a name of the net file,
 * a GUID of a node or port (0x and 16 digits), or a LID. An adapter's port follows after a colon.
 * Used by `weftsim do`, and by the server for the node of a program.
 */
#ifndef SIM_FIND_H
#define SIM_FIND_H

#include "sim/world.h"

enum { FIND_ERROR_SIZE = 256 };

/* Returns 0, or -ENOENT with one line in error, which suggests similar names. */
int find_node(const struct world *world, const char *text, struct device **out,
	      char error[FIND_ERROR_SIZE]);
/* NODE or NODE:PORT; port is -1 if text has neither a port nor a port's GUID. An empty text is the
 * first adapter. */
int find_place(const struct world *world, const char *text, struct device **out, int *port,
	       char error[FIND_ERROR_SIZE]);
/* The end port: a switch's port 0; port 1 of an adapter if text has no port. */
int find_end_port(const struct world *world, const char *text, struct device_port **out,
		  char error[FIND_ERROR_SIZE]);
/* A port of a device by its number. Errors as above. */
int find_port(struct device *device, const char *text, struct device_port **out,
	      char error[FIND_ERROR_SIZE]);

/* The name of a node, for output; find_node() accepts it. */
const char *find_name(const struct device *device);

#endif

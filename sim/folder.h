/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a program finds at its node in place of /sys/class/infiniband, /sys/class/infiniband_mad and
 * /dev/infiniband: real files in a folder beside the server's socket, one for each NODE or
 * NODE:PORT in use, with the values that Linux prints. They are made when the first program asks,
 * follow the agents' state, and stay until the server ends, for a shell may remember their names.
 */
#ifndef SIM_FOLDER_H
#define SIM_FOLDER_H

#include "sim/kernel.h"
#include "sim/wire.h"

struct folders;

/* Below a folder that exists, by name and descriptor (borrowed); errors of writing are told on
 * stderr, once. kernel says which devices there are. */
struct folders *folders_new(const char *root, int root_fd, const struct kernel *kernel);
void folders_free(struct folders *folders); /* the files stay: they go with the root */
/* The folder of a node, or of one port when port is not -1. -errno, and why in error. */
int folders_get(struct folders *folders, struct device *device, int port, char path[WIRE_PATH_SIZE],
		char error[2 * WIRE_NAME_SIZE]);

/* Something of the device may have changed: cheap, and for every device there is. */
void folders_touch(struct folders *folders, const struct device *device);
void folders_touch_all(struct folders *folders);
/* Writes what differs in those that were touched. */
void folders_refresh(struct folders *folders);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The files that a program finds in place of /sys/class/infiniband, /sys/class/infiniband_mad and
 * /dev/infiniband. They are real files in a folder beside the server's socket, for each NODE or
 * NODE:PORT in use, with the values that Linux prints. The first program causes their creation.
 * They follow the agents' state, and stay until the server ends, because a shell may remember their
 * names.
 */
#ifndef SIM_FOLDER_H
#define SIM_FOLDER_H

#include "sim/kernel.h"
#include "sim/wire.h"

struct folders;

/* root is an existing folder, root_fd its descriptor (borrowed). The first write error is reported
 * on stderr. kernel has the devices. */
struct folders *folders_new(const char *root, int root_fd, const struct kernel *kernel);
void folders_free(struct folders *folders); /* the files stay; the root's owner removes them */
/* The folder of a node, or of one port if port is not -1. Returns 0, or -errno with the reason in
 * error. */
int folders_get(struct folders *folders, struct device *device, int port, char path[WIRE_PATH_SIZE],
		char error[2 * WIRE_NAME_SIZE]);

/* The device may have changed: cheap; call it for any device. */
void folders_touch(struct folders *folders, const struct device *device);
/* The same for all devices. */
void folders_touch_all(struct folders *folders);
/* Writes the changed files of devices that were touched. */
void folders_refresh(struct folders *folders);

#endif

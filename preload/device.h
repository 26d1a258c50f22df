/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The open devices of this process: which descriptors are umad and issm files, and their read(),
 * write() and ioctl(). A descriptor is the connection to the server itself, so poll(), select() and
 * epoll work on it. Any thread. The only locks are those of a device, and no call blocks while it
 * holds them.
 */
#ifndef PRELOAD_DEVICE_H
#define PRELOAD_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim/wire.h"

enum { DEVICE_AGENTS_MAX = 32 };

/* The locks that threads, and a program and its children, hold while they use a device's rings.
 * They lie in the memory of the rings, which all of these share. A lock stays usable if its holder
 * dies. */
struct device_locks {
	pthread_mutex_t reading, writing;
};

/* An open file, shared by the descriptors that are copies of each other. */
struct device {
	atomic_bool taken;
	atomic_uint descriptors;
	enum wire_kind kind;
	uint32_t id; /* the server's number of the connection */
	/* Bits by agent number: registered agents, those with RMPP, and those whose RMPP is the
	 * kernel's. */
	atomic_uint agents, with_rmpp, rmpp_agents;
	atomic_bool used;	  /* an agent was registered */
	atomic_bool has_pkey;	  /* the header has 64 bytes, not 56 */
	atomic_uint gone;	  /* number of errors that its program got since the server ended */
	struct wire_rings *rings; /* WIRE_UMAD; once mapped it stays readable */
};

static inline struct device_locks *device_locks(const struct device *device)
{
	_Static_assert(sizeof(struct device_locks) <= sizeof(device->rings->program), "room");
	return (struct device_locks *)device->rings->program;
}

/* As open() of a device file: the descriptor, or -1 and errno. */
int device_open(enum wire_kind kind, unsigned minor, int flags);

/* The device of a descriptor; NULL: it is no device. */
struct device *device_find(int fd);

/* Call it before a descriptor closes. */
void device_forget(int fd);
/* The same for descriptors from to to. */
void device_forget_range(unsigned from, unsigned to);
/* A copy of a descriptor was made by dup() or similar; harmless if fd is no device. */
void device_copied(int fd, int copy);

/* As read(): a record, or -1 and errno. */
ssize_t device_read(struct device *device, int fd, void *buf, size_t count);
/* As write(): a record, or -1 and errno. */
ssize_t device_write(struct device *device, int fd, const void *buf, size_t count);
/* As ioctl() of ib_umad: 0, or -1 and errno. */
int device_ioctl(struct device *device, int fd, unsigned long request, void *argument);

#endif

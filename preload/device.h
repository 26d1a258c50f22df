/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The open devices of this process: which descriptors are umad and issm files, and what reading,
 * writing and ioctl() do to them. A descriptor is the connection to the server itself, so poll(),
 * select() and epoll see it as it is. Any thread; no locks but a device's own, which are never held
 * while something is waited for.
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

/* What threads, and a program and its children, hold while they use a device's rings. It lies
 * beside them, for that is what all of these share; who dies with one leaves it usable. */
struct device_locks {
	pthread_mutex_t reading, writing;
};

/* One open file, shared by the descriptors that are copies of each other. */
struct device {
	atomic_bool taken;
	atomic_uint descriptors;
	enum wire_kind kind;
	uint32_t id; /* the connection's name at the server */
	/* By agent number: those that are registered, and those whose RMPP is the kernel's. */
	atomic_uint agents, rmpp_agents;
	atomic_bool used;	  /* an agent has been registered */
	atomic_bool has_pkey;	  /* the header has 64 bytes, not 56 */
	atomic_uint gone;	  /* how often its program was told so */
	struct wire_rings *rings; /* WIRE_UMAD; once there it stays readable */
};

static inline struct device_locks *device_locks(const struct device *device)
{
	_Static_assert(sizeof(struct device_locks) <= sizeof(device->rings->program), "room");
	return (struct device_locks *)device->rings->program;
}

/* As open() of a device file: the descriptor, or -1 and errno. */
int device_open(enum wire_kind kind, unsigned minor, int flags);

/* The device that a descriptor is, NULL when it is something else. */
struct device *device_find(int fd);

/* A descriptor is about to close; descriptors from..to are. */
void device_forget(int fd);
void device_forget_range(unsigned from, unsigned to);
/* A copy of a descriptor was made by dup() or the like; fds of something else too. */
void device_copied(int fd, int copy);

/* As read(), write() and ioctl(), with -1 and errno. */
ssize_t device_read(struct device *device, int fd, void *buf, size_t count);
ssize_t device_write(struct device *device, int fd, const void *buf, size_t count);
int device_ioctl(struct device *device, int fd, unsigned long request, void *argument);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The kernel's part between a program and the port of a node: ib_umad's files with their agents and
 * queues, ib_mad's matching of answers, time-outs, retries and RMPP. A kernel_port is an end port
 * of the world and one world_client; the files open at it share it. Refusals, limits and drops are
 * those of Linux (drivers/infiniband/core/user_mad.c, mad.c, mad_rmpp.c), and are counted.
 *
 * It owns no clock: as with a world, the caller asks for the time of the next event and supplies
 * the time. The callbacks of a file may open and close files of the same kernel. One thread.
 */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/world.h"

struct kernel; /* all ports of a world that are in use */
struct kernel_port;
struct kernel_file; /* an open umad device */

enum {
	KERNEL_HEADER_SIZE = 64,    /* struct ib_user_mad_hdr, with pkey_index */
	KERNEL_AGENTS_MAX = 32,	    /* for each file */
	KERNEL_UNREAD_MAX = 200000, /* MADs of a file; further MADs are dropped */
	/* Limits of a file where Linux is limited by memory: MADs that wait for an answer (further
	 * MADs time out at once), and bytes of RMPP messages. */
	KERNEL_SENDS_MAX = 200000,
	KERNEL_MESSAGE_BYTES_MAX = 256 << 20,
	KERNEL_AGENT_FLAGS = 1, /* known flags of a registration: user RMPP */
};

struct kernel_stats {
	uint64_t sent, received, timed_out, retried;
	uint64_t refused;	       /* writes with an error, which the writer gets as errno */
	uint64_t unmatched, unclaimed; /* answers without a request; requests without an agent */
	uint64_t dropped_unread;       /* the queue of the reader is full */
	uint64_t rmpp_sent, rmpp_received, rmpp_resent, rmpp_aborted, rmpp_malformed;
};

/* world must outlive the kernel. */
struct kernel *kernel_new(struct world *world);
void kernel_free(struct kernel *kernel); /* closes all files */

/* When a time-out is due next; UINT64_MAX: none. */
uint64_t kernel_next_us(const struct kernel *kernel);
/* Runs all time-outs that are due. Call it after world_advance(). */
void kernel_advance(struct kernel *kernel, uint64_t now_us);

/* Removes a device, as when its driver is unloaded, or adds it again. The server of programs then
 * closes the open files and opens no others. The port and its agents continue. */
void kernel_remove_device(struct kernel *kernel, const struct device *device, bool removed);
/* False after kernel_remove_device(). */
bool kernel_has_device(const struct kernel *kernel, const struct device *device);

/* The kernel of an end port, made by the first call; NULL if device has no such end port. */
struct kernel_port *kernel_port_get(struct kernel *kernel, struct device *device, uint8_t port);
/* The port in the world. */
struct device_port *kernel_port_device(const struct kernel_port *port);
/* Since the start or the last kernel_reset_stats(); borrowed. */
const struct kernel_stats *kernel_port_stats(const struct kernel_port *port);
/* The sum over all ports. */
void kernel_sum_stats(const struct kernel *kernel, struct kernel_stats *out);
/* Sets the counters of all ports to 0. */
void kernel_reset_stats(struct kernel *kernel);

/* A MAD for the program: umad is header and MAD, borrowed; size may exceed KERNEL_HEADER_SIZE +
 * MAD_SIZE. The file's owner queues it; if it returns false, the MAD is dropped and counted as
 * unread: the queue is full. */
typedef bool kernel_readable_fn(void *ctx, const uint8_t *umad, size_t size);

/* A MAD of the program that has a time-out has ended: it was answered, refused or dropped, or timed
 * out. tid: the lower half of its TID. */
typedef void kernel_ended_fn(void *ctx, uint32_t tid);

/* Opens a umad device. ended may be NULL. Never NULL. */
struct kernel_file *kernel_file_open(struct kernel_port *port, kernel_readable_fn *readable,
				     kernel_ended_fn *ended, void *ctx);
/* Unregisters its agents and drops their requests. */
void kernel_file_close(struct kernel_file *file);

/* Removes the subnet management interface (QP0) from the ports of this device, as for an adapter
 * whose SMI is a separate device; or adds it again. Registered agents stay. */
void kernel_set_smi(struct kernel *kernel, const struct device *device, bool has_smi);

/* An agent to register. kernel_file_register() returns 0 and its number, or an error as Linux does.
 * -EPROTONOSUPPORT: no QP0. -EINVAL: class and QP do not match, the class has no RMPP, or another
 * agent at the port has one of the methods. -ENOMEM: more than KERNEL_AGENTS_MAX. */
struct kernel_agent_request {
	unsigned qpn, mgmt_class, mgmt_class_version, rmpp_version;
	uint32_t flags; /* 1: IB_USER_MAD_USER_RMPP */
	uint32_t oui;
	uint64_t method_mask[2];
};
/* *agent is the number for writes and for kernel_file_unregister(). */
int kernel_file_register(struct kernel_file *file, const struct kernel_agent_request *request,
			 uint32_t *agent);
/* Drops the agent's requests without an answer. -EINVAL: the file has no such agent. */
int kernel_file_unregister(struct kernel_file *file, uint32_t agent);
/* The file that blocked the last refused registration; its owner may know that it is closing. */
struct kernel_file *kernel_port_conflict(const struct kernel_port *port);

/* A write(): header and MAD. Returns 0, -EINVAL as Linux refuses it, or -ENOMEM. Never blocks. */
int kernel_file_write(struct kernel_file *file, const uint8_t *umad, size_t size);
/* The same for a mapping of size bytes (mmap(2)) that cannot change any more. A message is sent
 * from it without a copy. Takes the mapping, also when it refuses the write. */
int kernel_file_write_mapped(struct kernel_file *file, void *umad, size_t size);

/* Takes the issm device of a port, which has one holder, and sets IsSM. -EBUSY: it is taken. */
int kernel_port_take_issm(struct kernel_port *port);
/* Releases the device and clears IsSM. */
void kernel_port_release_issm(struct kernel_port *port);

#endif

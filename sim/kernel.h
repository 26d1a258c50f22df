/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the kernel does between a program and the port of a node: ib_umad's files with their agents
 * and queues, ib_mad's matching of answers, time-outs, retries and RMPP. One kernel_port stands for
 * an end port of the world and is one world_client; the files open at it share it. What is refused,
 * limited or dropped is what Linux refuses, limits or drops (drivers/infiniband/core/user_mad.c,
 * mad.c, mad_rmpp.c), and it is counted.
 *
 * It owns no clock: like a world it is asked when something happens next and told the time. The
 * callbacks of a file may open and close files of the same kernel. One thread.
 */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/world.h"

struct kernel; /* all ports of a world that have one */
struct kernel_port;
struct kernel_file; /* an open umad device */

enum {
	KERNEL_HEADER_SIZE = 64,    /* struct ib_user_mad_hdr, with pkey_index */
	KERNEL_AGENTS_MAX = 32,	    /* of a file */
	KERNEL_UNREAD_MAX = 200000, /* MADs of a file; then they are dropped */
	/* What a file may have under way, where Linux takes memory while it has some: MADs that
	 * wait for an answer, more of which come back at once as timed out, and bytes of RMPP
	 * messages. */
	KERNEL_SENDS_MAX = 200000,
	KERNEL_MESSAGE_BYTES_MAX = 256 << 20,
	KERNEL_AGENT_FLAGS = 1, /* those of a registration that are known: user RMPP */
};

struct kernel_stats {
	uint64_t sent, received, timed_out, retried;
	uint64_t refused; /* writes with an error; the same number is the writer's errno */
	uint64_t unmatched, unclaimed; /* answers to nothing; requests without an agent */
	uint64_t dropped_unread;       /* the reader does not read */
	uint64_t rmpp_sent, rmpp_received, rmpp_resent, rmpp_aborted, rmpp_malformed;
};

struct kernel *kernel_new(struct world *world);
void kernel_free(struct kernel *kernel); /* closes everything */

/* When a time-out is due next (UINT64_MAX: never), and doing all that is due. Call it after
 * world_advance(). */
uint64_t kernel_next_us(const struct kernel *kernel);
void kernel_advance(struct kernel *kernel, uint64_t now_us);

/* A device that is removed has no files any more, as when its driver is unloaded: who serves
 * programs closes those that are open and opens none. The port and its agents live on. */
void kernel_remove_device(struct kernel *kernel, const struct device *device, bool removed);
bool kernel_has_device(const struct kernel *kernel, const struct device *device);

/* The kernel of an end port, made when it is first asked for; NULL when port is none of device. */
struct kernel_port *kernel_port_get(struct kernel *kernel, struct device *device, uint8_t port);
struct device_port *kernel_port_device(const struct kernel_port *port);
const struct kernel_stats *kernel_port_stats(const struct kernel_port *port);
/* All ports together, and from 0 again. */
void kernel_sum_stats(const struct kernel *kernel, struct kernel_stats *out);
void kernel_reset_stats(struct kernel *kernel);

/* Something to read: umad is header and MAD, borrowed; size may be above KERNEL_HEADER_SIZE +
 * MAD_SIZE. The file's owner queues it for the program; returning false drops it (and counts it as
 * unread): the queue is full. */
typedef bool kernel_readable_fn(void *ctx, const uint8_t *umad, size_t size);

struct kernel_file *kernel_file_open(struct kernel_port *port, kernel_readable_fn *readable,
				     void *ctx);
void kernel_file_close(struct kernel_file *file); /* its agents go, and what they had under way */

/* The ports of this device have no subnet management interface (QP0), as those of an adapter whose
 * SMI is a device of its own; or they have it again. Agents that are registered stay. */
void kernel_set_smi(struct kernel *kernel, const struct device *device, bool has_smi);

/* Registers an agent: 0 and its number, -EPROTONOSUPPORT (no QP0), or -EINVAL (as Linux: class and
 * QP that do not fit, RMPP on a class without, methods that another agent at the port has), -ENOMEM
 * above KERNEL_AGENTS_MAX. */
struct kernel_agent_request {
	unsigned qpn, mgmt_class, mgmt_class_version, rmpp_version;
	uint32_t flags; /* 1: IB_USER_MAD_USER_RMPP */
	uint32_t oui;
	uint64_t method_mask[2];
};
int kernel_file_register(struct kernel_file *file, const struct kernel_agent_request *request,
			 uint32_t *agent);
int kernel_file_unregister(struct kernel_file *file, uint32_t agent);
/* In whose way the last refused registration was: a file that an owner may know to be closing. */
struct kernel_file *kernel_port_conflict(const struct kernel_port *port);

/* A write(): header and MAD. 0, -EINVAL as Linux refuses it, or -ENOMEM. Never blocks. */
int kernel_file_write(struct kernel_file *file, const uint8_t *umad, size_t size);

/* The issm device of a port: one holder. -EBUSY while another has it. */
int kernel_port_take_issm(struct kernel_port *port);
void kernel_port_release_issm(struct kernel_port *port);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the files of the kernel of a simulated node. sim/kernel.c has ports, time and received
 * MADs, sim/kernel_file.c files and agents, sim/kernel_send.c writes and their results.
 * sim/kernel_rmpp_send.c and sim/kernel_rmpp_receive.c have the two halves of RMPP (chapter 13.6).
 *
 * A send is on its agent's list and in its port's table from write() until its answer, its last
 * time-out or the end of its agent. A function that calls a program's readable function does so as
 * its last action. The program may close any file in this call, and the agent may be gone when it
 * returns.
 */
#ifndef SIM_KERNEL_PARTS_H
#define SIM_KERNEL_PARTS_H

#include <rdma/ib_user_mad.h>

#include "lib/list.h"
#include "lib/map.h"
#include "lib/timers.h"
#include "mad/mad.h"
#include "sim/kernel.h"

/* Files always use the header with pkey_index. */
_Static_assert(sizeof(struct ib_user_mad_hdr) == KERNEL_HEADER_SIZE, "the header with pkey_index");

/* Offsets in a MAD. */
enum {
	MAD_CLASS = 1,
	MAD_VERSION = 2,
	MAD_METHOD = 3,
	MAD_STATUS = 4,
	MAD_HOP_POINTER = 6, /* of a directed SMP */
	MAD_HOP_COUNT = 7,
	MAD_TID = 8,
	MAD_ATTR_MOD = 20,
	RMPP_VERSION = 24,
	RMPP_TYPE = 25,
	RMPP_FLAGS = 26, /* the upper five bits are the response time */
	RMPP_STATUS = 27,
	RMPP_SEGMENT = 28,
	/* Of data: the payload's length; of an ACK: the last segment that may be sent. */
	RMPP_LENGTH = 32,
	RMPP_HEADER_END = 36,
	VENDOR_OUI = 37,
};

/* Entries of a table; several may have the same key. */
struct kernel_key {
	struct kernel_key *next;
	uint64_t key;
};

/* Adds an entry that the caller owns. */
void kernel_key_add(struct map *table, struct kernel_key *key);
/* Removes an entry, which must be in the table. */
void kernel_key_remove(struct map *table, struct kernel_key *key);

struct kernel {
	struct world *world;
	uint64_t now_us; /* time of the last kernel_advance() */
	struct timers timers;
	struct map ports;		 /* by the address of the world's port */
	struct map removed, without_smi; /* devices, by their address */
	struct kernel_key *spare;	 /* sends */
};

struct kernel_port {
	struct kernel *kernel;
	struct device_port *at;
	struct world_client *client;
	struct list files;
	struct map agents; /* by number */
	/* Agents by the requests that they receive: kernel_claim_key(). */
	struct map claims;
	struct map sends, receives; /* tables of kernel_key */
	struct kernel_stats stats;
	uint32_t last_number; /* given to an agent */
	struct kernel_file *conflict;
	bool issm;
};

struct kernel_file {
	struct list link;
	struct kernel_port *port;
	kernel_readable_fn *readable;
	kernel_ended_fn *ended;
	void *ctx;
	unsigned sends; /* of all its agents */
	size_t message_bytes;
	struct kernel_agent *agent[KERNEL_AGENTS_MAX];
};

struct kernel_agent {
	struct kernel_file *file;
	struct kernel_port *port;
	uint32_t id;	 /* in its file */
	uint32_t number; /* the upper half of its requests' TIDs */
	struct kernel_agent_request claim;
	bool does_rmpp;	       /* for the program, which gets whole messages */
	unsigned requests_max; /* under way; 0: any number */
	unsigned requests;     /* under way, of those that are limited */
	struct list sends;
	struct list backlog;	   /* limited sends that wait for a place */
	struct list partial, done; /* incomplete messages, and those completed lately */
	unsigned receives;	   /* on both lists */
	size_t partial_bytes;
};

/* A received MAD. */
struct kernel_arrival {
	const struct mad_addr *from;
	const uint8_t *mad; /* MAD_SIZE bytes; a message may have more */
	uint64_t tid;
	bool is_response;
};

/* Bytes from malloc(), or a mapping. */
struct kernel_block {
	uint8_t *bytes;
	size_t mapped; /* the size of the mapping; 0: from malloc() */
};

/* A MAD or message that was written and has not ended. */
struct kernel_send {
	struct kernel_key key;
	struct list link;    /* agent->sends */
	struct list waiting; /* agent->backlog */
	struct kernel_agent *agent;
	struct loop_timer timer;
	struct ib_user_mad_hdr header; /* as written */
	uint64_t tid;
	uint32_t retries_left;
	bool is_response;
	bool is_limited;
	/* RMPP: a message has at least one segment; 0: no RMPP. */
	const uint8_t *message; /* size bytes in storage, behind the headers */
	size_t size;
	struct kernel_block storage;
	uint32_t segments, sent, acked;
	uint32_t window;       /* the last segment that may be sent */
	uint8_t mad[MAD_SIZE]; /* of a message: its headers */
};

/* sim/kernel.c */
/* The key of a class, version and method, and in the vendor range of an OUI: its requests belong to
 * one agent. */
uint64_t kernel_claim_key(uint8_t mgmt_class, uint8_t version, uint32_t oui, uint8_t method);
bool kernel_is_vendor2(uint8_t mgmt_class); /* a class in the range that has an OUI */
uint64_t kernel_now_us(const struct kernel *kernel);
/* Sends a MAD by the port. Errors are ignored, as a lost MAD. */
void kernel_transmit(struct kernel_port *port, const struct mad_addr *to,
		     const uint8_t mad[MAD_SIZE]);
/* The address for the reply to a MAD from this address. */
struct mad_addr kernel_reply_to(const struct kernel_port *port, const struct mad_addr *from);
/* Delivers a whole MAD or message to an agent. umad has KERNEL_HEADER_SIZE bytes, which this fills,
 * and then the MAD, of size bytes. */
void kernel_take(struct kernel_agent *agent, const struct kernel_arrival *in, uint8_t *umad,
		 size_t size);
/* Whether 13.4.5 and ib_mad treat the MAD as an answer to a request. */
bool kernel_is_response(const uint8_t *mad);
/* Whether MADs of this class may be RMPP. */
bool kernel_class_has_rmpp(uint8_t mgmt_class);
/* Offset of the data in MADs of the class, after its own header. */
size_t kernel_data_offset(uint8_t mgmt_class);

static inline bool kernel_rmpp_active(const uint8_t *mad)
{
	enum { ACTIVE = 1 };

	return kernel_class_has_rmpp(mad[MAD_CLASS]) && mad[RMPP_FLAGS] & ACTIVE;
}

/* Ends the port's directed request of this TID without a word to its program. */
void kernel_send_forget(struct kernel_port *port, uint64_t tid);
/* sim/kernel_send.c */
struct kernel_send *kernel_send_find(struct kernel_agent *agent, const struct kernel_arrival *in);
/* Starts the timer of an attempt. */
void kernel_send_arm(struct kernel_send *send, uint32_t timeout_ms);
/* Ends the send without an event for the program, and starts the next send that waits. */
void kernel_send_end(struct kernel_send *send);
/* Ends all sends of an agent in this way. */
void kernel_sends_cancel(struct kernel_agent *agent);
void kernel_sends_done(struct kernel *kernel); /* frees the spare sends */
struct mad_addr kernel_send_address(const struct kernel_send *send);
/* False if the QP at the other end discards it: QP0 accepts only SMPs, and the other QPs none. */
bool kernel_send_reaches(const struct kernel_send *send);

/* sim/kernel_rmpp_send.c */
enum rmpp_type { RMPP_DATA = 1, RMPP_ACK = 2, RMPP_STOP = 3, RMPP_ABORT = 4 };
enum rmpp_status {
	RMPP_OK = 0,
	RMPP_NO_RESOURCES = 1,
	RMPP_ABORT_MIN = 118,
	RMPP_TOO_LONG_TIME = 118,
	RMPP_BAD_SEGMENT = 120, /* First and the segment's number do not fit */
	RMPP_BAD_TYPE = 121,
	RMPP_WINDOW_TOO_SMALL = 122,
	RMPP_SEGMENT_TOO_BIG = 123,
	RMPP_BAD_STATUS = 124,
	RMPP_BAD_VERSION = 125,
	RMPP_ABORT_MAX = 127,
};
enum { RMPP_OUR_VERSION = 1 };

/* Begins a message of size bytes: a send that is on its lists and has its headers in mad. Copies
 * the rest, unless send->storage has the message. */
void kernel_rmpp_begin(struct kernel_send *send, const uint8_t *message, size_t size);
/* From the first segment that was not acknowledged. */
void kernel_rmpp_resend(struct kernel_send *send);
/* Handles an ACK: sends the next segments, or ends the send. */
void kernel_rmpp_ack_received(struct kernel_agent *agent, const struct kernel_arrival *in);
/* The receiver aborted; the program gets no event. */
void kernel_rmpp_send_aborted(struct kernel_agent *agent, const struct kernel_arrival *in);
/* Answers a segment with another type, including its headers. */
void kernel_rmpp_answer(struct kernel_port *port, const struct kernel_arrival *in,
			enum rmpp_type type, uint8_t status, uint32_t segment, uint32_t length);

/* sim/kernel_rmpp_receive.c */
void kernel_rmpp_received(struct kernel_agent *agent, const struct kernel_arrival *in);
void kernel_rmpp_cancel(struct kernel_agent *agent); /* all messages, complete or not */
/* Double-sided transfer (13.6.4): the requester acknowledged our last acknowledgement and opened a
 * window for the answer. */
void kernel_rmpp_window_opened(struct kernel_agent *agent, const struct kernel_arrival *in,
			       uint32_t window);
/* The window for an answer; 1 if the requester opened none. */
uint32_t kernel_rmpp_answer_window(const struct kernel_send *send);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Writes of programs: checks, TIDs, the limit on requests under way, time-outs with retries, and
 * the search for the request of an answer. Sends come from a list of spare sends and are found by
 * their TID in one look-up, because every MAD of a simulation passes here. A MAD that expects no
 * answer and is no RMPP leaves at once and is not kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "sim/kernel_parts.h"
#include "sim/route_smp.h"

enum { US_PER_MS = 1000, MESSAGE_MAX = 64 << 20 };

/* Finding */

/* Programs answer many requesters with equal TIDs: so the destination of an answer is part of its
 * key. */
static uint64_t response_key(uint64_t tid, bool has_grh, lid_t lid, const uint8_t *gid)
{
	uint64_t to = has_grh ? be64_load(gid + sizeof(guid_t)) : lid;

	return tid ^ to * UINT64_C(0x9E3779B97F4A7C15);
}

static uint64_t send_key(uint64_t tid, bool is_response, const struct ib_user_mad_hdr *header)
{
	return is_response
		       ? response_key(tid, header->grh_present, be16toh(header->lid), header->gid)
		       : tid;
}

/* Whether the source of the answer is the destination of our request, and one answers the other.
 * Not checked for directed SMPs. */
static bool is_counterpart(const struct kernel_send *send, const struct kernel_arrival *in)
{
	const struct port_info *info = &send->agent->port->at->info;
	const struct mad_addr *from = in->from;
	guid_t own;

	if (send->is_response == in->is_response || send->header.grh_present != from->has_grh)
		return false;
	if (send->is_response)
		return from->has_grh ? !memcmp(send->header.gid, from->grh.sgid, GID_SIZE)
				     : send->header.lid == htobe16(from->lid);
	if (!from->has_grh)
		return !((send->header.path_bits ^ from->path_bits) & ((1u << info->lmc) - 1));
	own = device_guid(send->agent->port->at, send->header.gid_index);
	return be64_load(from->grh.dgid + sizeof(guid_t)) == own;
}

struct kernel_send *kernel_send_find(struct kernel_agent *agent, const struct kernel_arrival *in)
{
	const struct mad_addr *from = in->from;
	uint8_t mgmt_class = in->mad[MAD_CLASS];
	uint64_t key = in->is_response
			       ? in->tid
			       : response_key(in->tid, from->has_grh, from->lid, from->grh.sgid);
	struct kernel_key *at = map_get(&agent->port->sends, key);

	for (; at; at = at->next) {
		struct kernel_send *send = container_of(at, struct kernel_send, key);

		if (send->agent == agent && send->tid == in->tid &&
		    send->mad[MAD_CLASS] == mgmt_class &&
		    (mgmt_class == CLASS_SUBN_DIRECTED || is_counterpart(send, in)))
			return send;
	}
	return NULL;
}

/* Addresses */

static struct mad_addr address_of(const struct ib_user_mad_hdr *header)
{
	struct mad_addr to = {
		.lid = be16toh(header->lid),
		.qpn = be32toh(header->qpn),
		.sl = header->sl,
		.path_bits = header->path_bits,
		.pkey_index = header->pkey_index,
		.has_grh = header->grh_present,
	};

	if (header->grh_present) {
		to.grh.sgid_index = header->gid_index;
		to.grh.hop_limit = header->hop_limit;
		to.grh.traffic_class = header->traffic_class;
		to.grh.flow_label = be32toh(header->flow_label);
		memcpy(to.grh.dgid, header->gid, sizeof(to.grh.dgid));
	}
	return to;
}

struct mad_addr kernel_send_address(const struct kernel_send *send)
{
	return address_of(&send->header);
}

static bool reaches(const struct kernel_agent *agent, const struct ib_user_mad_hdr *header,
		    uint8_t mgmt_class)
{
	bool is_smp = mgmt_class == CLASS_SUBN_LID || mgmt_class == CLASS_SUBN_DIRECTED;
	uint32_t qpn = is_smp ? 0 : 1;

	if (mgmt_class == CLASS_SUBN_LID && be16toh(header->lid) == LID_PERMISSIVE)
		return false; /* it leaves the port, and no switch forwards it */
	return agent->claim.qpn == qpn && be32toh(header->qpn) == qpn;
}

bool kernel_send_reaches(const struct kernel_send *send)
{
	return reaches(send->agent, &send->header, send->mad[MAD_CLASS]);
}

/* Time */

void kernel_send_arm(struct kernel_send *send, uint32_t timeout_ms)
{
	struct kernel *kernel = send->agent->port->kernel;

	timers_arm(&kernel->timers, &send->timer,
		   kernel_now_us(kernel) + (uint64_t)timeout_ms * US_PER_MS);
}

static void transmit(struct kernel_send *send)
{
	struct mad_addr to = kernel_send_address(send);

	if (kernel_send_reaches(send))
		kernel_transmit(send->agent->port, &to, send->mad);
	kernel_send_arm(send, send->header.timeout_ms);
}

static void queue(struct kernel_send *send)
{
	list_push(&send->agent->backlog, &send->waiting);
}

static void send_pump(struct kernel_agent *agent)
{
	while (agent->requests < agent->requests_max && !list_empty(&agent->backlog)) {
		agent->requests++;
		transmit(container_of(list_pop(&agent->backlog), struct kernel_send, waiting));
	}
}

/* The program gets back its own MAD, cut after the header. */
static void send_give_up(struct kernel_send *send)
{
	struct kernel_file *file = send->agent->file;
	struct kernel_port *port = file->port;
	uint8_t umad[KERNEL_HEADER_SIZE + MAD_HEADER_SIZE];

	send->header.status = ETIMEDOUT;
	memcpy(umad, &send->header, KERNEL_HEADER_SIZE);
	memcpy(umad + KERNEL_HEADER_SIZE, send->mad, MAD_HEADER_SIZE);
	port->stats.timed_out++;
	kernel_send_end(send);
	if (!file->readable(file->ctx, umad, sizeof(umad)))
		port->stats.dropped_unread++;
}

/* A message that was transferred completely is not sent again, even without an answer. Retries
 * queue behind first attempts. */
static void send_timed_out(void *arg)
{
	struct kernel_send *send = arg;
	struct kernel_agent *agent = send->agent;

	if (!send->retries_left || (send->segments && send->acked == send->segments)) {
		send_give_up(send);
		return;
	}
	send->retries_left--;
	agent->port->stats.retried++;
	if (send->segments) {
		kernel_rmpp_resend(send);
	} else if (send->is_limited && !list_empty(&agent->backlog)) {
		agent->requests--;
		queue(send);
		send_pump(agent);
	} else {
		transmit(send);
	}
}

/* Sends */

static void block_free(struct kernel_block *block)
{
	if (block->mapped)
		munmap(block->bytes, block->mapped);
	else
		free(block->bytes);
}

static struct kernel_send *send_new(struct kernel_agent *agent)
{
	struct kernel *kernel = agent->port->kernel;
	struct kernel_send *send;

	if (kernel->spare) {
		send = container_of(kernel->spare, struct kernel_send, key);
		kernel->spare = kernel->spare->next;
	} else {
		send = mem_alloc(sizeof(*send));
	}
	memset(send, 0, offsetof(struct kernel_send, mad));
	send->agent = agent;
	send->timer = (struct loop_timer){.name = "send", .fn = send_timed_out, .arg = send};
	list_init(&send->waiting);
	list_push(&agent->sends, &send->link);
	agent->file->sends++;
	return send;
}

static void report_end(const struct kernel_file *file, const struct ib_user_mad_hdr *header,
		       uint64_t tid)
{
	if (header->timeout_ms && file->ended)
		file->ended(file->ctx, (uint32_t)tid);
}

static void send_free(struct kernel_send *send)
{
	struct kernel_file *file = send->agent->file;
	struct kernel_port *port = send->agent->port;
	struct kernel *kernel = port->kernel;

	report_end(file, &send->header, send->tid);
	file->sends--;
	file->message_bytes -= send->size;
	timers_disarm(&kernel->timers, &send->timer);
	list_del(&send->link);
	list_del(&send->waiting);
	kernel_key_remove(&port->sends, &send->key);
	block_free(&send->storage);
	send->key.next = kernel->spare;
	kernel->spare = &send->key;
}

void kernel_send_end(struct kernel_send *send)
{
	struct kernel_agent *agent = send->agent;

	if (send->is_limited && list_empty(&send->waiting))
		agent->requests--;
	send_free(send);
	send_pump(agent);
}

void kernel_send_forget(struct kernel_port *port, uint64_t tid)
{
	struct kernel_key *at = map_get(&port->sends, tid);

	for (; at; at = at->next) {
		struct kernel_send *send = container_of(at, struct kernel_send, key);

		if (send->tid == tid && send->mad[MAD_CLASS] == CLASS_SUBN_DIRECTED) {
			kernel_send_end(send);
			return;
		}
	}
}

void kernel_sends_cancel(struct kernel_agent *agent)
{
	list_for_each (link, &agent->sends)
		send_free(container_of(link, struct kernel_send, link));
}

void kernel_sends_done(struct kernel *kernel)
{
	while (kernel->spare) {
		struct kernel_send *send = container_of(kernel->spare, struct kernel_send, key);

		kernel->spare = send->key.next;
		free(send);
	}
}

/* Classes with a limit, except RMPP messages. */
static bool is_limited(const struct kernel_agent *agent, const uint8_t *mad)
{
	enum { CLASS_CM = 0x07 };
	uint8_t mgmt_class = mad[MAD_CLASS];

	if (!agent->requests_max || (agent->claim.rmpp_version && kernel_rmpp_active(mad)))
		return false;
	return mgmt_class == CLASS_SUBN_LID || mgmt_class == CLASS_SUBN_DIRECTED ||
	       mgmt_class == CLASS_SUBN_ADM || mgmt_class == CLASS_CM;
}

/* For a directed SMP that begins its route here, the first port must be this port. */
static bool is_bad_route(const struct kernel_port *port, const uint8_t *mad)
{
	bool back = mad[MAD_STATUS] & 0x80; /* the D bit */
	uint8_t copy[MAD_SIZE], out_port;
	lid_t lid;

	if (mad[MAD_CLASS] != CLASS_SUBN_DIRECTED ||
	    be16_load(mad + (back ? SMP_DR_DLID_OFFSET : SMP_DR_SLID_OFFSET)) != LID_PERMISSIVE)
		return false;
	memcpy(copy, mad, MAD_SIZE);
	return directed_step(copy, device_is_switch(port->at->device), port->at->num, &out_port,
			     &lid) == SMP_BAD;
}

/* The parts of a write. */
struct written {
	struct kernel_agent *agent;
	struct ib_user_mad_hdr header;
	uint8_t mad[MAD_SIZE]; /* with the TID as sent; the first part of a message */
	uint64_t tid;
	bool is_response;
	const uint8_t *message; /* size bytes from its first header on; NULL: a single MAD */
	size_t size;
};

static int send_parse(const struct kernel_file *file, const uint8_t *umad, size_t size,
		      struct written *out)
{
	const uint8_t *mad = umad + KERNEL_HEADER_SIZE;

	if (size < KERNEL_HEADER_SIZE + RMPP_HEADER_END)
		return -EINVAL;
	size -= KERNEL_HEADER_SIZE;
	memcpy(&out->header, umad, sizeof(out->header));
	out->tid = be64_load(mad + MAD_TID);
	out->header.grh_present = !!out->header.grh_present;
	out->agent = out->header.id < KERNEL_AGENTS_MAX ? file->agent[out->header.id] : NULL;
	if (!out->agent && out->header.id < KERNEL_AGENTS_MAX)
		return -EIO;
	if (!out->agent || size < kernel_data_offset(mad[MAD_CLASS]))
		return -EINVAL;
	out->message = out->agent->does_rmpp && kernel_rmpp_active(mad) ? mad : NULL;
	out->size = size;
	if (size > MAD_SIZE && !out->message)
		return -EINVAL;
	if (size > MESSAGE_MAX ||
	    (out->message && size > KERNEL_MESSAGE_BYTES_MAX - file->message_bytes))
		return -ENOMEM;
	if (size > MAD_SIZE)
		size = MAD_SIZE;
	memcpy(out->mad, mad, size);
	memset(out->mad + size, 0, MAD_SIZE - size);
	out->is_response = kernel_is_response(mad);
	if (!out->is_response)
		out->tid = (uint64_t)out->agent->number << 32 | (uint32_t)out->tid;
	be64_store(out->mad + MAD_TID, out->tid);
	return 0;
}

static bool same_destination(const struct ib_user_mad_hdr *a, const struct ib_user_mad_hdr *b)
{
	if (a->grh_present != b->grh_present)
		return false;
	return a->grh_present ? !memcmp(a->gid, b->gid, sizeof(a->gid)) : a->lid == b->lid;
}

/* Two requests of one TID and class would be indistinguishable; so would two answers of one TID to
 * one port. */
static bool is_duplicate(const struct written *written)
{
	const struct kernel_agent *agent = written->agent;
	struct kernel_key *at =
		map_get(&agent->port->sends,
			send_key(written->tid, written->is_response, &written->header));

	for (; at; at = at->next) {
		const struct kernel_send *send = container_of(at, struct kernel_send, key);

		if (send->agent->file == agent->file && send->tid == written->tid &&
		    send->mad[MAD_CLASS] == written->mad[MAD_CLASS] &&
		    send->is_response == written->is_response &&
		    (!send->is_response || same_destination(&send->header, &written->header)))
			return true;
	}
	return false;
}

/* A program that does RMPP by itself sends a message's segments with one TID. An agent with RMPP
 * sends only classes that have it (ib_post_send_mad() in drivers/infiniband/core/mad.c). */
static int send_check(const struct kernel_port *port, const struct written *written)
{
	uint8_t gid_index = written->header.gid_index;

	if (written->agent->claim.rmpp_version && !kernel_class_has_rmpp(written->mad[MAD_CLASS]))
		return -EINVAL;
	if (written->header.grh_present && !device_guid(port->at, gid_index))
		return gid_index < port->at->info.guid_cap ? -ENODATA : -EINVAL;
	if ((written->agent->does_rmpp || !kernel_rmpp_active(written->mad)) &&
	    is_duplicate(written))
		return -EINVAL;
	return is_bad_route(port, written->mad) ? -EINVAL : 0;
}

/* A message takes the storage. */
static void send_begin(const struct written *written, struct kernel_block *storage)
{
	struct kernel_agent *agent = written->agent;
	struct kernel_send *send = send_new(agent);

	memcpy(send->mad, written->mad, MAD_SIZE);
	send->header = written->header;
	send->tid = written->tid;
	send->is_response = written->is_response;
	send->key.key = send_key(send->tid, send->is_response, &send->header);
	send->retries_left = send->header.retries;
	kernel_key_add(&agent->port->sends, &send->key);
	if (written->message) {
		send->storage = *storage;
		*storage = (struct kernel_block){0};
	}
	if (agent->file->sends > KERNEL_SENDS_MAX) {
		send_give_up(send);
		return;
	}
	if (written->message) {
		kernel_rmpp_begin(send, written->message, written->size);
		return;
	}
	send->is_limited = is_limited(agent, send->mad);
	if (send->is_limited) {
		queue(send);
		send_pump(agent);
	} else {
		transmit(send);
	}
}

static int file_write(struct kernel_file *file, const uint8_t *umad, size_t size,
		      struct kernel_block *storage)
{
	struct written written = {.header = {0}};
	int status = send_parse(file, umad, size, &written);

	if (!status)
		status = send_check(file->port, &written);
	if (status) {
		file->port->stats.refused++;
		report_end(file, &written.header, written.tid);
	} else if (written.message || written.header.timeout_ms) {
		send_begin(&written, storage);
	} else if (reaches(written.agent, &written.header, written.mad[MAD_CLASS])) {
		struct mad_addr to = address_of(&written.header);

		kernel_transmit(file->port, &to, written.mad);
	}
	return status;
}

int kernel_file_write(struct kernel_file *file, const uint8_t *umad, size_t size)
{
	return file_write(file, umad, size, &(struct kernel_block){0});
}

int kernel_file_write_mapped(struct kernel_file *file, void *umad, size_t size)
{
	struct kernel_block storage = {umad, size};
	int status = file_write(file, umad, size, &storage);

	block_free(&storage);
	return status;
}

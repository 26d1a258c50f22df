/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The kernels of a world: one for each end port in use, all with one heap of timers. This file has
 * the parts that do not depend on a program: time, the agent for a received MAD, the answer if
 * there is no agent, and the issm device. Called by the server of programs, and by the world for
 * received MADs. A port that was made stays until the end.
 */
#include "sim/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sim/kernel_parts.h"

/* Tables whose keys repeat: a map to chains. */

void kernel_key_add(struct map *table, struct kernel_key *key)
{
	key->next = map_put(table, key->key, key);
}

void kernel_key_remove(struct map *table, struct kernel_key *key)
{
	struct kernel_key *at = map_get(table, key->key);

	if (at != key) {
		while (at->next != key)
			at = at->next;
		at->next = key->next;
	} else if (key->next) {
		map_put(table, key->key, key->next);
	} else {
		map_remove(table, key->key);
	}
}

/* Properties of classes */

enum { CLASS_DEVICE_MGMT = 0x06, CLASS_DEVICE_ADM = 0x10, CLASS_BIS = 0x12, CLASS_BM = 0x05 };
enum { CLASS_VENDOR2_MIN = 0x30, CLASS_VENDOR2_MAX = 0x4F }; /* the range with an OUI */
enum { DEVICE_HEADER_SIZE = 64, VENDOR_HEADER_SIZE = 40 };
enum { BM_RESPONSE = 1 }; /* in the modifier: class 0x05 has no R bit in its answers */

bool kernel_is_vendor2(uint8_t mgmt_class)
{
	return mgmt_class >= CLASS_VENDOR2_MIN && mgmt_class <= CLASS_VENDOR2_MAX;
}

size_t kernel_data_offset(uint8_t mgmt_class)
{
	switch (mgmt_class) {
	case CLASS_SUBN_ADM:
		return SUBN_ADM_HEADER_SIZE;
	case CLASS_DEVICE_MGMT:
	case CLASS_DEVICE_ADM:
	case CLASS_BIS:
		return DEVICE_HEADER_SIZE;
	default:
		return kernel_is_vendor2(mgmt_class) ? VENDOR_HEADER_SIZE : MAD_HEADER_SIZE;
	}
}

bool kernel_class_has_rmpp(uint8_t mgmt_class)
{
	return kernel_data_offset(mgmt_class) != MAD_HEADER_SIZE;
}

bool kernel_is_response(const uint8_t *mad)
{
	return mad[MAD_METHOD] & METHOD_RESPONSE || mad[MAD_METHOD] == METHOD_TRAP_REPRESS ||
	       (mad[MAD_CLASS] == CLASS_BM && be32_load(mad + MAD_ATTR_MOD) & BM_RESPONSE);
}

uint64_t kernel_claim_key(uint8_t mgmt_class, uint8_t version, uint32_t oui, uint8_t method)
{
	if (!kernel_is_vendor2(mgmt_class))
		oui = 0;
	return (uint64_t)oui << 24 | mgmt_class << 16 | version << 8 | method;
}

/* Received MADs */

static struct kernel_agent *claimant(const struct kernel_port *port, const uint8_t *mad)
{
	uint32_t oui = be32_load(mad + VENDOR_OUI - 1) & 0xFFFFFF;
	uint8_t method = mad[MAD_METHOD] & ~METHOD_RESPONSE;

	return map_get(&port->claims,
		       kernel_claim_key(mad[MAD_CLASS], mad[MAD_VERSION], oui, method));
}

/* A directed SMP without hops stays in the kernel: handle_outgoing_dr_smp() in
 * drivers/infiniband/core/mad.c. */
static bool stays_here(const uint8_t *mad)
{
	return mad[MAD_CLASS] == CLASS_SUBN_DIRECTED && !mad[MAD_HOP_COUNT];
}

/* A Get() or Set() without an agent gets the answer "not supported". One that stays here gets none,
 * and its request ends as sent. */
static void unclaimed(struct kernel_port *port, const struct kernel_arrival *in)
{
	struct mad_addr to = kernel_reply_to(port, in->from);
	uint16_t status = STATUS_UNSUP_METHOD_ATTR;
	uint8_t answer[MAD_SIZE];

	port->stats.unclaimed++;
	if (in->mad[MAD_METHOD] != METHOD_GET && in->mad[MAD_METHOD] != METHOD_SET)
		return;
	if (stays_here(in->mad)) {
		kernel_send_forget(port, in->tid);
		return;
	}
	if (in->mad[MAD_CLASS] == CLASS_SUBN_DIRECTED)
		status |= 0x8000; /* the D bit */
	memcpy(answer, in->mad, MAD_SIZE);
	answer[MAD_METHOD] = METHOD_GET_RESP;
	be16_store(answer + MAD_STATUS, status);
	kernel_transmit(port, &to, answer);
}

/* Segments of an answer need a waiting request; so an answer after the time-out is never
 * acknowledged, nor one that is complete (is_kernel_rmpp_data_response() in mad.c of Linux). */
static bool is_unexpected_segment(struct kernel_agent *agent, const struct kernel_arrival *in)
{
	return in->is_response && in->mad[RMPP_TYPE] == RMPP_DATA && !kernel_send_find(agent, in);
}

static void kernel_received(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size)
{
	struct kernel_port *port = ctx;
	const struct kernel_arrival in = {from, mad, be64_load(mad + MAD_TID),
					  kernel_is_response(mad)};
	struct kernel_agent *agent =
		in.is_response ? map_get(&port->agents, in.tid >> 32) : claimant(port, mad);
	uint8_t umad[KERNEL_HEADER_SIZE + MAD_SIZE];

	(void)size; /* always MAD_SIZE */
	port->stats.received++;
	if (!agent) {
		if (in.is_response)
			port->stats.unmatched++;
		else
			unclaimed(port, &in);
	} else if (agent->does_rmpp && kernel_rmpp_active(mad)) {
		if (is_unexpected_segment(agent, &in))
			port->stats.unmatched++;
		else
			kernel_rmpp_received(agent, &in);
	} else {
		memcpy(umad + KERNEL_HEADER_SIZE, mad, MAD_SIZE);
		if (in.is_response && stays_here(mad))
			umad[KERNEL_HEADER_SIZE + MAD_HOP_POINTER] = 1; /* no SMI took it back */
		kernel_take(agent, &in, umad, MAD_SIZE);
	}
}

/* The index of one of the port's own GIDs. */
static uint8_t gid_index(const struct device_port *port, const uint8_t *gid)
{
	guid_t guid = be64_load(gid + sizeof(guid_t));

	for (unsigned i = 0; i < port->info.guid_cap; i++) {
		if (device_guid(port, i) == guid)
			return i;
	}
	return 0;
}

static void fill_header(const struct kernel_agent *agent, const struct mad_addr *from,
			uint8_t *umad, size_t size)
{
	enum { HOP_LIMIT_MAX = 255 };
	struct ib_user_mad_hdr header = {
		.id = agent->id,
		.length = size,
		.qpn = htobe32(from->qpn),
		.lid = htobe16(from->lid),
		.sl = from->sl,
		.path_bits = from->path_bits,
		.pkey_index = from->pkey_index,
	};

	if (from->has_grh) {
		header.grh_present = 1;
		header.gid_index = gid_index(agent->port->at, from->grh.dgid);
		header.hop_limit = HOP_LIMIT_MAX;
		header.traffic_class = from->grh.traffic_class;
		header.flow_label = htobe32(from->grh.flow_label);
		memcpy(header.gid, from->grh.sgid, sizeof(header.gid));
	}
	memcpy(umad, &header, sizeof(header));
}

/* An answer needs a waiting request, unless the program does RMPP by itself: of such a message,
 * only the first segment has one. */
void kernel_take(struct kernel_agent *agent, const struct kernel_arrival *in, uint8_t *umad,
		 size_t size)
{
	struct kernel_file *file = agent->file;
	struct kernel_port *port = agent->port;
	struct kernel_send *send = in->is_response ? kernel_send_find(agent, in) : NULL;

	if (in->is_response && !send && (agent->does_rmpp || !kernel_rmpp_active(in->mad))) {
		port->stats.unmatched++;
		return;
	}
	fill_header(agent, in->from, umad, KERNEL_HEADER_SIZE + size);
	if (send)
		kernel_send_end(send);
	if (!file->readable(file->ctx, umad, KERNEL_HEADER_SIZE + size))
		port->stats.dropped_unread++;
}

/* Sent MADs */

struct mad_addr kernel_reply_to(const struct kernel_port *port, const struct mad_addr *from)
{
	struct mad_addr to = *from;

	if (from->has_grh) {
		memcpy(to.grh.dgid, from->grh.sgid, sizeof(to.grh.dgid));
		to.grh.sgid_index = gid_index(port->at, from->grh.dgid);
	}
	return to;
}

void kernel_transmit(struct kernel_port *port, const struct mad_addr *to,
		     const uint8_t mad[MAD_SIZE])
{
	port->stats.sent++;
	world_send(port->client, to, mad, MAD_SIZE);
}

/* Ports */

struct kernel *kernel_new(struct world *world)
{
	struct kernel *kernel = mem_zalloc(sizeof(*kernel));

	kernel->world = world;
	timers_init(&kernel->timers);
	map_init(&kernel->ports);
	map_init(&kernel->removed);
	map_init(&kernel->without_smi);
	return kernel;
}

void kernel_remove_device(struct kernel *kernel, const struct device *device, bool removed)
{
	if (removed)
		map_put(&kernel->removed, (uintptr_t)device, kernel);
	else
		map_remove(&kernel->removed, (uintptr_t)device);
}

void kernel_set_smi(struct kernel *kernel, const struct device *device, bool has_smi)
{
	if (has_smi)
		map_remove(&kernel->without_smi, (uintptr_t)device);
	else
		map_put(&kernel->without_smi, (uintptr_t)device, kernel);
}

bool kernel_has_device(const struct kernel *kernel, const struct device *device)
{
	return !map_get(&kernel->removed, (uintptr_t)device);
}

struct kernel_port *kernel_port_get(struct kernel *kernel, struct device *device, uint8_t num)
{
	struct device_port *at = device_port(device, num);
	struct kernel_port *port = at ? map_get(&kernel->ports, (uintptr_t)at) : NULL;

	if (port || !at || !device_port_is_end(at))
		return port;
	port = mem_zalloc(sizeof(*port));
	port->kernel = kernel;
	port->at = at;
	list_init(&port->files);
	map_init(&port->agents);
	map_init(&port->claims);
	map_init(&port->sends);
	map_init(&port->receives);
	port->client = world_attach(kernel->world, device, num, kernel_received, port);
	world_hear_all(port->client);
	map_put(&kernel->ports, (uintptr_t)at, port);
	return port;
}

static void port_free(struct kernel_port *port)
{
	list_for_each (link, &port->files)
		kernel_file_close(container_of(link, struct kernel_file, link));
	world_detach(port->client);
	map_done(&port->agents);
	map_done(&port->claims);
	map_done(&port->sends);
	map_done(&port->receives);
	free(port);
}

void kernel_free(struct kernel *kernel)
{
	struct kernel_port *port;
	size_t position = 0;

	if (!kernel)
		return;
	while ((port = map_next(&kernel->ports, &position)))
		port_free(port);
	map_done(&kernel->ports);
	map_done(&kernel->removed);
	map_done(&kernel->without_smi);
	kernel_sends_done(kernel);
	timers_done(&kernel->timers);
	free(kernel);
}

struct device_port *kernel_port_device(const struct kernel_port *port)
{
	return port->at;
}

const struct kernel_stats *kernel_port_stats(const struct kernel_port *port)
{
	return &port->stats;
}

/* All of its members are counters. */
void kernel_sum_stats(const struct kernel *kernel, struct kernel_stats *out)
{
	enum { COUNTERS = sizeof(*out) / sizeof(uint64_t) };
	uint64_t sum[COUNTERS] = {0}, one[COUNTERS];
	const struct kernel_port *port;
	size_t position = 0;

	while ((port = map_next(&kernel->ports, &position))) {
		memcpy(one, &port->stats, sizeof(one));
		for (unsigned i = 0; i < COUNTERS; i++)
			sum[i] += one[i];
	}
	memcpy(out, sum, sizeof(sum));
}

void kernel_reset_stats(struct kernel *kernel)
{
	struct kernel_port *port;
	size_t position = 0;

	while ((port = map_next(&kernel->ports, &position)))
		port->stats = (struct kernel_stats){0};
}

struct kernel_file *kernel_port_conflict(const struct kernel_port *port)
{
	return port->conflict;
}

int kernel_port_take_issm(struct kernel_port *port)
{
	if (port->issm)
		return -EBUSY;
	port->issm = true;
	world_set_issm(port->client, true);
	return 0;
}

void kernel_port_release_issm(struct kernel_port *port)
{
	port->issm = false;
	world_set_issm(port->client, false);
}

/* Time */

uint64_t kernel_now_us(const struct kernel *kernel)
{
	uint64_t world_us = world_now_us(kernel->world);

	return world_us > kernel->now_us ? world_us : kernel->now_us;
}

uint64_t kernel_next_us(const struct kernel *kernel)
{
	const struct loop_timer *first = timers_first(&kernel->timers);

	return first ? first->due_us : UINT64_MAX;
}

void kernel_advance(struct kernel *kernel, uint64_t now_us)
{
	struct loop_timer *timer;

	kernel->now_us = now_us;
	while ((timer = timers_first(&kernel->timers)) && timer->due_us <= now_us) {
		timers_disarm(&kernel->timers, timer);
		timer->fn(timer->arg);
	}
}

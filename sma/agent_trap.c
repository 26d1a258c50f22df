/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Notices of an end port to its manager (13.4.9, 14.3.1). After an event its trap is sent at once,
 * and repeats until a TrapRepress() with its TID arrives. The interval between two traps of a port
 * is at least SubnetTimeOut, so several kinds take turns. Each kind waits once: a further event
 * gives it a new TID, so that a TrapRepress() of the old TID does not hide the new event. While no
 * manager is known, events are dropped.
 *
 * The agent has no clock: times come with device_tick(), and a waiting trap only has the earliest
 * time at which it may be sent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "mad/notice.h"
#include "sma/agent.h"
#include "sma/agent_parts.h"

/* Lower bound for any SubnetTimeOut: an agent needs some time for other work. */
enum { TRAP_INTERVAL_MIN_US = 1000, TID_OFFSET = 8 };

struct device_traps {
	uint64_t not_before_us;
	uint32_t tid[TRAP_KINDS];	    /* 0: this kind does not wait */
	uint16_t changes;		    /* of trap 144, until it is repressed */
	uint8_t turn;			    /* the kind whose turn is next */
	uint8_t about;			    /* the subject of a trap 129-131 */
	struct notice_bad_key p_key, q_key; /* the last refused packets */
	struct notice_bad_m_key m_key;
	struct notice_switch_bad_p_key switch_p_key;
};

/* Fill the details of each kind from the state at the time of sending. */

static void fill_link_state(const struct device_port *port, union notice_details *details)
{
	details->link_state = (struct notice_link_state){.lid = port->info.lid};
}

static void fill_local_changes(const struct device_port *port, union notice_details *details)
{
	details->local_changes = (struct notice_local_changes){
		.lid = port->info.lid,
		.other_local_changes = port->traps->changes != 0,
		.capability_mask = port->info.capability_mask,
		.change_flags = port->traps->changes,
		.capability_mask2 = port->info.capability_mask2,
	};
}

static void fill_system_image(const struct device_port *port, union notice_details *details)
{
	details->system_image = (struct notice_system_image_guid){
		.lid = port->info.lid,
		.system_image_guid = port->device->system_image_guid,
	};
}

static void fill_threshold(const struct device_port *port, union notice_details *details)
{
	details->threshold = (struct notice_threshold){
		.lid = port->info.lid,
		.port_num = port->traps->about,
	};
}

static void fill_bad_m_key(const struct device_port *port, union notice_details *details)
{
	details->bad_m_key = port->traps->m_key;
}

static void fill_bad_p_key(const struct device_port *port, union notice_details *details)
{
	details->bad_key = port->traps->p_key;
}

static void fill_bad_q_key(const struct device_port *port, union notice_details *details)
{
	details->bad_key = port->traps->q_key;
}

static void fill_switch_bad_p_key(const struct device_port *port, union notice_details *details)
{
	details->switch_bad_p_key = port->traps->switch_p_key;
	details->switch_bad_p_key.switch_lid = port->info.lid;
}

static const struct kind {
	uint16_t number;
	void (*fill)(const struct device_port *port, union notice_details *details);
} kinds[TRAP_KINDS] = {
	[TRAP_KIND_LINK_STATE] = {TRAP_LINK_STATE, fill_link_state},
	[TRAP_KIND_LOCAL_CHANGES] = {TRAP_LOCAL_CHANGES, fill_local_changes},
	[TRAP_KIND_SYSTEM_IMAGE] = {TRAP_SYSTEM_IMAGE_GUID, fill_system_image},
	[TRAP_KIND_LINK_INTEGRITY] = {TRAP_LOCAL_LINK_INTEGRITY, fill_threshold},
	[TRAP_KIND_BUFFER_OVERRUN] = {TRAP_BUFFER_OVERRUN, fill_threshold},
	[TRAP_KIND_FLOW_CONTROL] = {TRAP_FLOW_CONTROL, fill_threshold},
	[TRAP_KIND_BAD_M_KEY] = {TRAP_BAD_M_KEY, fill_bad_m_key},
	[TRAP_KIND_BAD_P_KEY] = {TRAP_BAD_P_KEY, fill_bad_p_key},
	[TRAP_KIND_BAD_Q_KEY] = {TRAP_BAD_Q_KEY, fill_bad_q_key},
	[TRAP_KIND_SWITCH_BAD_P_KEY] = {TRAP_SWITCH_BAD_P_KEY, fill_switch_bad_p_key},
};

static unsigned traps_waiting(const struct device_traps *traps)
{
	unsigned count = 0;

	for (unsigned kind = 0; kind < TRAP_KINDS; kind++)
		count += traps->tid[kind] != 0;
	return count;
}

/* The kind whose turn it is; at least one must wait. */
static enum trap_kind next_kind(const struct device_traps *traps)
{
	unsigned kind = traps->turn;

	while (!traps->tid[kind])
		kind = (kind + 1) % TRAP_KINDS;
	return kind;
}

static void notice_of(const struct device_port *port, enum trap_kind kind, struct notice *notice)
{
	union notice_details details;

	kinds[kind].fill(port, &details);
	notice_fill(notice, kinds[kind].number, port->device->type, port->info.lid, &details);
}

void traps_reset(struct device_port *port)
{
	free(port->traps);
	port->traps = NULL;
}

void trap_raise(struct device_port *port, enum trap_kind kind, uint16_t local_changes)
{
	const struct device_events *events = port->device->events;

	if (!port->info.lid || !port->info.master_sm_lid)
		return;
	if (!port->traps)
		port->traps = mem_zalloc(sizeof(*port->traps));
	port->traps->changes |= local_changes;
	if (!++port->device->trap_tid)
		port->device->trap_tid = 1;
	port->traps->tid[kind] = port->device->trap_tid;
	if (events->due)
		events->due(events->ctx, port->device);
}

void trap_bad_key(struct device_port *port, enum trap_kind kind,
		  const union notice_details *details)
{
	trap_raise(port, kind, 0);
	if (!port->traps)
		return;
	if (kind == TRAP_KIND_BAD_M_KEY)
		port->traps->m_key = details->bad_m_key;
	else if (kind == TRAP_KIND_BAD_P_KEY)
		port->traps->p_key = details->bad_key;
	else if (kind == TRAP_KIND_BAD_Q_KEY)
		port->traps->q_key = details->bad_key;
	else
		port->traps->switch_p_key = details->switch_bad_p_key;
}

/* Traps 129-131 may be about any port of a switch; its port 0 sends them. */
static bool names_a_port(enum trap_kind kind)
{
	return kinds[kind].fill == fill_threshold || kinds[kind].fill == fill_switch_bad_p_key;
}

/* For a trap without a packet, only the address of the port is in the details. */
static void trap_raise_bad_key(struct device_port *sender, enum trap_kind kind, uint8_t about)
{
	union notice_details details = {.bad_key = {.lid2 = sender->info.lid}};

	if (kind < TRAP_KIND_BAD_M_KEY) {
		trap_raise(sender, kind, 0);
		if (sender->traps)
			sender->traps->about = about;
		return;
	}
	if (kind == TRAP_KIND_BAD_M_KEY)
		details.bad_m_key = (struct notice_bad_m_key){.lid = sender->info.lid};
	if (kind == TRAP_KIND_SWITCH_BAD_P_KEY)
		details.switch_bad_p_key = (struct notice_switch_bad_p_key){.port_num = about};
	trap_bad_key(sender, kind, &details);
}

int device_raise(struct device_port *port, uint16_t trap_number)
{
	struct device_port *sender = device_is_switch(port->device) ? &port->device->port[0] : port;

	for (unsigned kind = 0; kind < TRAP_KINDS; kind++) {
		if (kinds[kind].number != trap_number || (port != sender && !names_a_port(kind)) ||
		    (kind == TRAP_KIND_SWITCH_BAD_P_KEY && !device_is_switch(port->device)))
			continue;
		trap_raise_bad_key(sender, kind, port->num);
		return 0;
	}
	return -EINVAL;
}

/* A TrapRepress() is the Trap() with another method and the port's key, which was checked before
 * (m_key_admits()). Its TID and number must be those of our trap. */
void trap_repressed(struct device *device, struct device_port *in, const uint8_t *mad)
{
	struct device_port *port = device_is_switch(device) ? &device->port[0] : in;
	uint64_t tid = be64_load(mad + TID_OFFSET);
	struct notice notice;

	if (!port->traps || !tid)
		return;
	attr_decode(&notice_format, mad + SMP_DATA_OFFSET, &notice);
	for (unsigned kind = 0; kind < TRAP_KINDS; kind++) {
		if (port->traps->tid[kind] != tid || kinds[kind].number != notice.trap_number)
			continue;
		port->traps->tid[kind] = 0;
		if (kind == TRAP_KIND_LOCAL_CHANGES)
			port->traps->changes = 0;
	}
}

/* SubnetTimeOut is 4.096 us times a power of two. */
static uint64_t trap_interval_us(const struct device_port *port)
{
	uint8_t fixed = port->device->quirks.subnet_timeout_fixed;
	uint64_t us = (UINT64_C(4096) << (fixed ? fixed : port->info.subnet_timeout)) / 1000;

	return us > TRAP_INTERVAL_MIN_US ? us : TRAP_INTERVAL_MIN_US;
}

/* A Trap() carries M_Key 0, also if the port has a key: compliance statement o14-1, as the drivers
 * qib (qib_send_trap()) and hfi1 quote it. */
static void send(struct device_port *port, enum trap_kind kind)
{
	const struct device_events *events = port->device->events;
	struct notice notice;
	uint8_t data[SMP_DATA_SIZE] = {0}, mad[MAD_SIZE];

	notice_of(port, kind, &notice);
	format_encode(&notice_format, &notice, data);
	subn_build(mad, METHOD_TRAP, ATTR_NOTICE, 0, 0, NULL, data);
	be64_store(mad + TID_OFFSET, port->traps->tid[kind]);
	if (events->trap && !port->device->quirks.silent)
		events->trap(events->ctx, port->device, port->num, port->info.master_sm_lid, mad);
}

static bool has_waiting(const struct device_port *port)
{
	return port->traps && traps_waiting(port->traps);
}

/* Port 0 sends a switch's notices; each port of an adapter sends its own. */
static unsigned last_end(const struct device *device)
{
	return device_is_switch(device) ? 0 : device->num_ports;
}

uint64_t device_next_us(const struct device *device)
{
	uint64_t next_us = link_next_us(device);

	for (unsigned num = 0; num <= last_end(device); num++) {
		const struct device_port *port = &device->port[num];

		if (has_waiting(port) && port->traps->not_before_us < next_us)
			next_us = port->traps->not_before_us;
		if (m_key_next_us(port) < next_us)
			next_us = m_key_next_us(port);
	}
	return next_us;
}

void device_tick(struct device *device, uint64_t now_us)
{
	link_tick(device, now_us);
	for (unsigned num = 0; num <= last_end(device); num++) {
		struct device_port *port = &device->port[num];
		enum trap_kind kind;

		m_key_tick(port, now_us);
		if (!has_waiting(port) || port->traps->not_before_us > now_us)
			continue;
		kind = next_kind(port->traps);
		port->traps->turn = (kind + 1) % TRAP_KINDS;
		port->traps->not_before_us = now_us + trap_interval_us(port);
		send(port, kind);
	}
}

/* Get(Notice): the notice that is sent next, or an empty notice (13.4.8.2). */
uint16_t notice_get(struct agent_request *request)
{
	const struct device_port *port =
		device_is_switch(request->device) ? &request->device->port[0] : request->in;
	struct notice notice = {.type = NOTICE_EMPTY};

	if (has_waiting(port)) {
		notice_of(port, next_kind(port->traps), &notice);
		notice.count = traps_waiting(port->traps);
	}
	format_encode(&notice_format, &notice, request->data);
	return STATUS_OK;
}

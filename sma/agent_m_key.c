/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * M_Keys (14.2.4): which requests may read and write an agent. An end port has a key, a switch at
 * its port 0. It has no effect while it is 0. Otherwise a Set() or a TrapRepress() must carry it,
 * and for a Get() the protection level decides. At 0 and 1 the key is not needed, but at 1 PortInfo
 * hides the key from a Get() without it. At 2 and 3 it is needed. A request without the needed key
 * is dropped without an answer. It counts as a violation, and trap 256 informs the manager. Called
 * by agent.c, on one thread.
 *
 * The first violation also starts the lease timer, if the key has a lease. When it expires, the
 * level falls to 0, so that a manager that lost the key can read it. Any SMP with the right key
 * stops the timer.
 */
#include <string.h>

#include "lib/be.h"
#include "sma/agent.h"
#include "sma/agent_parts.h"

enum {
	HIDES_KEY = 1, /* protection levels */
	GUARDS_GETS = 2,
	S_US = 1000000,
};

/* As check_mkey() of the kernel's drivers qib and hfi1, also for TrapRepress(). */
static bool needs_key(const struct device_port *port, uint8_t method)
{
	switch (method) {
	case METHOD_GET:
		return port->info.m_key_protect_bits >= GUARDS_GETS;
	case METHOD_SET:
	case METHOD_TRAP_REPRESS:
		return true;
	default:
		return false;
	}
}

static bool is_checked(uint8_t method)
{
	return method == METHOD_GET || method == METHOD_SET || method == METHOD_TRAP_REPRESS;
}

/* The return path's first byte is not used, as in the SMP itself. */
static void m_key_describe_violation(const struct device_port *port,
				     const struct mad_header *header, const uint8_t *mad,
				     struct notice_bad_m_key *out)
{
	unsigned hops = header->hop_count;

	*out = (struct notice_bad_m_key){
		.lid = port->device->smp_slid ? port->device->smp_slid : port->info.lid,
		.method = header->method,
		.attr_id = header->attr_id,
		.attr_mod = header->attr_mod,
		.m_key = be64_load(mad + SMP_M_KEY_OFFSET),
	};
	if (header->mgmt_class != CLASS_SUBN_DIRECTED)
		return;
	out->lid = port->info.lid;
	out->dr_slid = be16_load(mad + SMP_DR_SLID_OFFSET);
	out->dr_notice = 1;
	out->dr_path_truncated = hops >= sizeof(out->dr_return_path);
	if (out->dr_path_truncated)
		hops = sizeof(out->dr_return_path) - 1;
	out->dr_hop_count = hops;
	memcpy(out->dr_return_path, mad + SMP_RETURN_PATH_OFFSET, hops + 1);
}

static void violated(struct device_port *port, const struct mad_header *header, const uint8_t *mad)
{
	const struct device_events *events = port->device->events;
	union notice_details details;

	port->info.m_key_violations += port->info.m_key_violations != UINT16_MAX;
	if (port->info.m_key_lease_period && !port->m_key_lease_us) {
		port->m_key_lease_us = STARTS_NOW;
		if (events->due)
			events->due(events->ctx, port->device);
	}
	m_key_describe_violation(port, header, mad, &details.bad_m_key);
	trap_bad_key(port, TRAP_KIND_BAD_M_KEY, &details);
}

bool m_key_admits(struct agent_request *request, const struct mad_header *header,
		  const uint8_t *mad)
{
	struct device_port *port =
		device_is_switch(request->device) ? &request->device->port[0] : request->in;
	const struct port_info *info = &port->info;

	if (!is_checked(header->method) || request->device->quirks.no_mkey)
		return true;
	if (!info->m_key || info->m_key == be64_load(mad + SMP_M_KEY_OFFSET)) {
		port->m_key_lease_us = 0;
		return true;
	}
	if (needs_key(port, header->method)) {
		violated(port, header, mad);
		return false;
	}
	request->hides_m_key = info->m_key_protect_bits == HIDES_KEY;
	return true;
}

void m_key_reset(struct device_port *port)
{
	port->m_key_lease_us = 0;
}

uint64_t m_key_next_us(const struct device_port *port)
{
	return port->m_key_lease_us ? port->m_key_lease_us : UINT64_MAX;
}

void m_key_tick(struct device_port *port, uint64_t now_us)
{
	if (port->m_key_lease_us == STARTS_NOW) {
		port->m_key_lease_us = now_us + (uint64_t)port->info.m_key_lease_period * S_US;
	} else if (port->m_key_lease_us && port->m_key_lease_us <= now_us) {
		port->m_key_lease_us = 0;
		port->info.m_key_protect_bits = 0;
	}
}

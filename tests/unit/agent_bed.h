/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A few software agents with cables between them, and ways to ask them, for the tests of the agent:
 * two switches, an adapter and a router. What the agents tell their owner is noted in the bed.
 */
#ifndef TESTS_UNIT_AGENT_BED_H
#define TESTS_UNIT_AGENT_BED_H

#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sma/agent.h"
#include "tests/unit/unit.h"

enum { LEAF_PORTS = 20 };

/* Two switches, the second with an enhanced port 0, an adapter of two ports and a router:
 * leaf port 1 - host port 1, leaf port 2 - spine port 1, spine port 2 - router port 1. */
struct bed {
	struct device *leaf, *spine, *host, *router;
	uint64_t now_us;
	unsigned traps, changes, sets;
	uint8_t trap[MAD_SIZE], trap_port;
	lid_t trap_dlid;
	uint8_t set_port;
	uint16_t set_attr;
	uint64_t due_us;
	struct device_port *training;
	struct device_events events;
};

static inline void on_trap(void *ctx, struct device *device, uint8_t port, lid_t dlid,
			   const uint8_t *mad)
{
	struct bed *bed = ctx;

	(void)device;
	bed->traps++;
	bed->trap_port = port;
	bed->trap_dlid = dlid;
	memcpy(bed->trap, mad, MAD_SIZE);
}

static inline void on_changed(void *ctx, struct device *device, uint8_t port)
{
	(void)device;
	(void)port;
	((struct bed *)ctx)->changes++;
}

static inline void on_set(void *ctx, struct device *device, uint8_t port, uint16_t attr_id,
			  uint32_t attr_mod)
{
	struct bed *bed = ctx;

	(void)device;
	(void)attr_mod;
	bed->sets++;
	bed->set_port = port;
	bed->set_attr = attr_id;
}

static inline void on_training(void *ctx, struct device_port *port)
{
	((struct bed *)ctx)->training = port;
}

static inline void on_due(void *ctx, struct device *device)
{
	((struct bed *)ctx)->due_us = device_next_us(device);
}

static inline void agent_bed_open(struct bed *bed)
{
	struct device_config leaf = {.type = NODE_SWITCH,
				     .description = "leaf",
				     .num_ports = LEAF_PORTS,
				     .node_guid = 0x100,
				     .system_image_guid = 0x101,
				     .port_guid = 0x102,
				     .vendor_id = 0x2C9,
				     .device_id = 7,
				     .lft_cap = 1000,
				     .mft_cap = 100};
	struct device_config spine = {.type = NODE_SWITCH,
				      .num_ports = 3,
				      .node_guid = 0x200,
				      .port_guid = 0x200,
				      .enhanced_port0 = true};
	struct device_config host = {.type = NODE_CA,
				     .description = "host",
				     .num_ports = 2,
				     .node_guid = 0x300,
				     .port_guid = 0x301};
	struct device_config router = {
		.type = NODE_ROUTER, .num_ports = 1, .node_guid = 0x400, .port_guid = 0x401};

	*bed = (struct bed){.events = {.trap = on_trap,
				       .port_changed = on_changed,
				       .set = on_set,
				       .due = on_due,
				       .ctx = bed}};
	bed->leaf = device_new(&leaf, &bed->events);
	bed->spine = device_new(&spine, &bed->events);
	bed->host = device_new(&host, &bed->events);
	bed->router = device_new(&router, &bed->events);
	device_cable(&bed->leaf->port[1], &bed->host->port[1]);
	device_cable(&bed->leaf->port[2], &bed->spine->port[1]);
	device_cable(&bed->spine->port[2], &bed->router->port[1]);
}

static inline void agent_bed_close(struct bed *bed)
{
	device_free(bed->leaf);
	device_free(bed->host);
	device_free(bed->spine);
	device_free(bed->router);
}

/* One SMP with 64 bytes of data in and out, and with the right M_Key; the status word, or -1 when
 * there is no answer. */
static inline int agent_smp(struct device *device, uint8_t in_port, uint8_t method,
			    uint16_t attr_id, uint32_t attr_mod, uint8_t data[SMP_DATA_SIZE])
{
	const struct device_port *port =
		device_is_switch(device) ? &device->port[0] : device_port(device, in_port);
	struct mad_header header;
	uint8_t mad[MAD_SIZE];

	subn_build(mad, method, attr_id, attr_mod, port ? port->info.m_key : 0, NULL, data);
	if (!device_handle(device, in_port, mad))
		return -1;
	header_decode(mad, &header);
	memcpy(data, mad + SMP_DATA_OFFSET, SMP_DATA_SIZE);
	return header.method == METHOD_GET_RESP ? header.status : -2;
}

/* The same with a struct in host order. */
static inline int agent_ask(struct device *device, uint8_t in_port, uint8_t method,
			    uint16_t attr_id, uint32_t attr_mod, void *object)
{
	const struct format *format = attr_format(attr_id);
	uint8_t data[SMP_DATA_SIZE] = {0};
	int status;

	format_encode(format, object, data);
	status = agent_smp(device, in_port, method, attr_id, attr_mod, data);
	attr_decode(format, data, object);
	return status;
}

static inline int agent_get_port(struct device *device, uint8_t port, struct port_info *info)
{
	uint8_t in = device_is_switch(device) ? 1 : port;

	return agent_ask(device, in, METHOD_GET, ATTR_PORT_INFO, PORT_INFO_EXTENDED_SPEEDS | port,
			 info);
}

static inline int agent_set_port(struct device *device, uint8_t port, struct port_info *info)
{
	uint8_t in = device_is_switch(device) ? 1 : port;

	return agent_ask(device, in, METHOD_SET, ATTR_PORT_INFO, PORT_INFO_EXTENDED_SPEEDS | port,
			 info);
}

/* As it is, with nothing to be done. */
static inline struct port_info agent_unchanged(const struct device_port *port)
{
	struct port_info info = port->info;

	info.port_state = info.port_physical_state = 0;
	return info;
}

static inline int agent_set_state(struct device_port *port, uint8_t state, uint8_t physical)
{
	struct port_info info = agent_unchanged(port);

	info.port_state = state;
	info.port_physical_state = physical;
	return agent_set_port(port->device, port->num, &info);
}

static inline void agent_set_address(struct device_port *port, lid_t lid, lid_t sm_lid,
				     uint8_t timeout)
{
	struct port_info info = agent_unchanged(port);

	info.lid = lid;
	info.master_sm_lid = sm_lid;
	info.subnet_timeout = timeout;
	CU_ASSERT_EQUAL(agent_set_port(port->device, port->num, &info), STATUS_OK);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The flow of a world as it is now: its switches with copies of their tables, its adapter ports,
 * and the links that carry data. The P_Keys of senders become classes, so that a port has one bit
 * for each instead of a table.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "sim/load.h"
#include "sim/world_parts.h"

enum { KEY_BITS = 64 };

/* Data rates of a lane in Mb/s: the signalling rate less the coding, 8b/10b up to QDR and 64b/66b
 * above; HDR and later have their nominal rate. Bits as in PortInfo. */
static const struct speed {
	uint8_t bit;
	uint32_t mbps;
} speeds[] = {{1, 2000}, {2, 4000}, {4, 8000}},
  speeds_ext[] = {{1, 13636}, {2, 25000}, {4, 50000}, {8, 100000}};

enum { FDR10_MBPS = 10000, XDR_MBPS = 200000 };

static uint32_t speed_find(const struct speed *rows, size_t count, uint8_t active)
{
	for (size_t i = 0; i < count; i++) {
		if (rows[i].bit == active)
			return rows[i].mbps;
	}
	return 0;
}

static uint32_t port_mbps(const struct device_port *port)
{
	const struct port_info *info = &port->info;
	uint32_t mbps = speed_find(speeds, ARRAY_SIZE(speeds), info->link_speed_active);

	if (info->link_speed_ext_active2)
		mbps = XDR_MBPS;
	else if (info->link_speed_ext_active)
		mbps = speed_find(speeds_ext, ARRAY_SIZE(speeds_ext), info->link_speed_ext_active);
	else if (port->ext.link_speed_active & MLNX_FDR10)
		mbps = FDR10_MBPS;
	return mbps * port_lanes(info);
}

/* P_Keys */

struct key_classes {
	pkey_t *key;
	size_t count, words; /* words: of a set of classes */
};

static uint16_t key_class(struct key_classes *classes, pkey_t key)
{
	for (size_t i = classes->count; i--;) {
		if (classes->key[i] == key)
			return (uint16_t)i;
	}
	classes->key = mem_grow(classes->key, classes->count, sizeof(*classes->key));
	classes->key[classes->count] = key;
	return (uint16_t)classes->count++;
}

static pkey_t sender_key(const struct load *load, const struct device_port *port)
{
	return load->spec.p_key ? (pkey_t)load->spec.p_key : device_p_key(port, 0);
}

/* The classes that a port admits; NULL: all. */
static const uint64_t *load_keys_of(struct load *load, const struct key_classes *classes,
				    const struct device_port *port, bool inbound)
{
	uint64_t *set = mem_array(classes->words, sizeof(*set)), *kept;
	bool is_end = device_port_is_end(port);
	size_t admitted = 0;

	for (size_t i = 0; i < classes->count; i++) {
		if (is_end ? device_p_key_match(port, classes->key[i]) < 0
			   : !device_port_admits(port, classes->key[i], inbound))
			continue;
		set[i / KEY_BITS] |= UINT64_C(1) << i % KEY_BITS;
		admitted++;
	}
	kept = admitted == classes->count
		       ? NULL
		       : flow_keep(load->flow, set, classes->words * sizeof(*set));
	free(set);
	return kept;
}

/* Nodes */

/* The number of a device's port 1, by the device's place in the world. */
static uint32_t *load_first_ports(const struct load *load, size_t *ports, size_t *hosts)
{
	uint32_t *first = mem_array(load->world->count + 1, sizeof(*first));

	*ports = *hosts = 0;
	for (size_t i = 0; i < load->world->count; i++) {
		const struct device *device = load->world->devices[i];

		first[i] = (uint32_t)*ports;
		*ports += device->num_ports;
		*hosts += device_is_switch(device) ? 0 : device->num_ports;
	}
	return first;
}

static void load_add_switch(struct load *load, const struct device *device)
{
	uint32_t size = device->sw.linear_fdb_top + 1u;
	const uint8_t *lft = NULL;

	if (size > device->lft_size)
		size = device->lft_size;
	if (size)
		lft = flow_keep(load->flow, device->lft, size);
	flow_add_switch(load->flow, device->num_ports,
			load->spec.life == FLOW_NEVER ? device->sw.life_time_value
						      : (uint8_t)load->spec.life,
			lft, size);
}

static void load_add_adapter(struct load *load, struct key_classes *classes,
			     const struct device *device)
{
	for (unsigned p = 1; p <= device->num_ports; p++) {
		const struct device_port *port = &device->port[p];
		const struct flow_host host = {
			.lid = port->info.lid,
			.key = key_class(classes, sender_key(load, port)),
			.accepts = load_keys_of(load, classes, port, true),
		};

		flow_add_host(load->flow, &host);
	}
}

/* All classes are known before any set of them is made. */
static void find_classes(const struct load *load, struct key_classes *classes)
{
	for (size_t i = 0; i < load->world->count; i++) {
		const struct device *device = load->world->devices[i];

		for (unsigned p = 1; p <= device->num_ports && !device_is_switch(device); p++)
			key_class(classes, sender_key(load, &device->port[p]));
	}
	classes->words = classes->count / KEY_BITS + 1;
}

/* Links */

static void link_fill(struct load *load, const struct key_classes *classes,
		      const struct device_port *port, uint32_t peer, struct flow_link *link)
{
	const struct port_info *info = &port->info;
	bool is_switch = device_is_switch(port->device);
	enum { PAIR = 2, ROW = 8 };
	size_t low = info->vl_arbitration_low_cap, high = info->vl_arbitration_high_cap;
	const uint8_t *weights = NULL;

	if (port->vl_arbitration)
		weights = flow_keep(load->flow, port->vl_arbitration, (low + high) * PAIR);
	*link = (struct flow_link){
		.peer = peer,
		.mbps = port_mbps(port),
		.mtu = (uint16_t)mtu_bytes(info->neighbor_mtu),
		.vls = (uint8_t)vls_of(info->operational_vls),
		.vl_cap = (uint8_t)vls_of(info->vl_cap),
		.hoq_life =
			load->spec.life == FLOW_NEVER ? info->hoq_life : (uint8_t)load->spec.life,
		.vl_stall_count = info->vl_stall_count,
		.vl_low = weights,
		.vl_low_count = weights ? (uint8_t)low : 0,
		.vl_high = weights ? weights + low * PAIR : NULL,
		.vl_high_count = weights ? (uint8_t)high : 0,
		.vl_high_limit = info->vl_high_limit,
	};
	if (!is_switch)
		return;
	if (port->sl_to_vl)
		link->sl_to_vl =
			flow_keep(load->flow, port->sl_to_vl, (port->device->num_ports + 1u) * ROW);
	link->keys_in = load_keys_of(load, classes, port, true);
	link->keys_out = load_keys_of(load, classes, port, false);
}

static void load_add_links(struct load *load, const struct key_classes *classes,
			   const uint32_t *first)
{
	for (size_t i = 0; i < load->world->count; i++) {
		struct device *device = load->world->devices[i];

		for (unsigned p = 1; p <= device->num_ports; p++) {
			struct device_port *port = &device->port[p], *peer = port->peer;
			uint32_t number = first[i] + p - 1;

			load->port[number] = port;
			if (!device_port_passes(port) || peer == port)
				continue;
			link_fill(load, classes, port,
				  first[world_node_of(peer->device) - load->world->nodes] +
					  peer->num - 1,
				  flow_link(load->flow, number));
		}
	}
}

/* The hosts of the pattern */

static bool host_is_active(const struct device_port *port)
{
	return port->info.lid && device_port_passes(port);
}

static int load_fail_host(const struct device_port *port, char *error)
{
	snprintf(error, LOAD_ERROR_SIZE, "load: port %u of %s cannot take part: %s", port->num,
		 world_node_of(port->device)->id,
		 port->info.lid ? "its link carries no data" : "it has no LID");
	return -EINVAL;
}

uint32_t load_host_number(const struct load *load, const struct device_port *port)
{
	return load->first_host[world_node_of(port->device) - load->world->nodes] + port->num - 1u;
}

static int load_choose_hosts(struct load *load, size_t hosts, char *error)
{
	const struct load_spec *spec = &load->spec;

	load->who = mem_array(hosts + 1, sizeof(*load->who));
	for (size_t i = 0; i < spec->num_hosts; i++) {
		if (!host_is_active(spec->hosts[i]))
			return load_fail_host(spec->hosts[i], error);
		load->who[load->num_who++] = load_host_number(load, spec->hosts[i]);
	}
	for (uint32_t h = 0; h < hosts && !spec->hosts; h++) {
		if (host_is_active(load->host[h]))
			load->who[load->num_who++] = h;
	}
	for (size_t i = 0; i < spec->num_pairs; i++) {
		const struct load_pair *pair = &spec->pairs[i];

		if (!host_is_active(pair->from) || !host_is_active(pair->to))
			return load_fail_host(host_is_active(pair->from) ? pair->to : pair->from,
					      error);
	}
	if (spec->target && !host_is_active(spec->target))
		return load_fail_host(spec->target, error);
	if (load->num_who >= 2)
		return 0;
	snprintf(error, LOAD_ERROR_SIZE,
		 "load: %zu adapter port%s ACTIVE with a LID: at least two are needed",
		 load->num_who, load->num_who == 1 ? " is" : "s are");
	return -EINVAL;
}

int load_build(struct load *load, char error[LOAD_ERROR_SIZE])
{
	const struct load_spec *spec = &load->spec;
	const struct flow_options options = {
		.seed = spec->seed,
		.buffer_bytes = (uint32_t)spec->buffer_bytes,
		.switch_ps = spec->switch_ps,
		.link_ps = spec->link_ps,
		.duration_ps = spec->duration_ps,
		.warmup_ps = spec->warmup_ps,
	};
	struct key_classes classes = {0};
	size_t ports, hosts, host = 0;
	uint32_t *first = load_first_ports(load, &ports, &hosts);

	load->flow = flow_new(&options);
	load->port = mem_array(ports + 1, sizeof(struct device_port *));
	load->host = mem_array(hosts + 1, sizeof(struct device_port *));
	load->first_host = mem_array(load->world->count + 1, sizeof(*load->first_host));
	find_classes(load, &classes);
	for (size_t i = 0; i < load->world->count; i++) {
		struct device *device = load->world->devices[i];

		load->first_host[i] = (uint32_t)host;
		if (device_is_switch(device)) {
			load_add_switch(load, device);
			continue;
		}
		load_add_adapter(load, &classes, device);
		for (unsigned p = 1; p <= device->num_ports; p++)
			load->host[host++] = &device->port[p];
	}
	load_add_links(load, &classes, first);
	free(classes.key);
	free(first);
	return load_choose_hosts(load, hosts, error);
}

void load_done(struct load *load)
{
	flow_free(load->flow);
	free(load->port);
	free(load->host);
	free(load->first_host);
	free(load->who);
	load_spec_done(&load->spec);
	*load = (struct load){0};
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A cable counts for an MLID when one of its ends sends to it, whichever. So what is looked for is
 * stricter than a packet's way, and simpler: in the part of the fabric that is joined to a switch
 * by such cables there are fewer cables than switches.
 */
#include "tests/sim/forest.h"

#include <stdlib.h>
#include <string.h>

#include "include/iba.h"
#include "lib/be.h"
#include "lib/map.h"
#include "lib/mem.h"
#include "tests/sim/trace.h"

enum { SWITCHES_MAX = 4096, BLOCK_MASK = 0x1FF, STEPS_MAX = 100000, RUNS_FOR_EVER = 1000000 };

static bool joins(const struct device_port *port, lid_t mlid)
{
	return port->peer && device_is_switch(port->peer->device) && device_port_passes(port) &&
	       port->peer->device != port->device &&
	       (device_mft_has(port->device, mlid, port->num) ||
		device_mft_has(port->peer->device, mlid, port->peer->num));
}

static bool closes_circle(const struct device *begin, lid_t mlid)
{
	const struct device **list = mem_array(SWITCHES_MAX, sizeof(*list));
	size_t tail = 0, ends = 0;
	struct map seen;

	map_init(&seen);
	map_put(&seen, begin->node_guid, (void *)begin);
	list[tail++] = begin;
	for (size_t head = 0; head < tail; head++) {
		for (unsigned p = 1; p <= list[head]->num_ports; p++) {
			const struct device_port *port = &list[head]->port[p];

			if (!joins(port, mlid))
				continue;
			ends++;
			if (tail == SWITCHES_MAX || map_get(&seen, port->peer->device->node_guid))
				continue;
			map_put(&seen, port->peer->device->node_guid, port->peer->device);
			list[tail++] = port->peer->device;
		}
	}
	map_done(&seen);
	free(list);
	return ends / 2 >= tail;
}

static bool sends(const struct device *device, lid_t mlid)
{
	for (unsigned p = 0; p <= device->num_ports; p++) {
		if (device_mft_has(device, mlid, (uint8_t)p))
			return true;
	}
	return false;
}

lid_t forest_after_set(const struct device *device, uint16_t attr_id, uint32_t attr_mod)
{
	unsigned first = LID_MULTICAST_MIN, end = LID_MULTICAST_MIN + device->sw.multicast_fdb_cap;

	if (!device_is_switch(device) || !device->mft ||
	    (attr_id != ATTR_MULTICAST_FORWARDING_TABLE && attr_id != ATTR_SWITCH_INFO &&
	     attr_id != ATTR_PORT_INFO))
		return LID_NONE;
	if (attr_id == ATTR_MULTICAST_FORWARDING_TABLE) {
		first += (attr_mod & BLOCK_MASK) * MFT_BLOCK_LIDS;
		end = first + MFT_BLOCK_LIDS;
	}
	for (unsigned mlid = first; mlid < end; mlid++) {
		if (sends(device, (lid_t)mlid) && closes_circle(device, (lid_t)mlid))
			return (lid_t)mlid;
	}
	return LID_NONE;
}

struct sending {
	lid_t mlid;
	const struct device_port **out;
	size_t room, count;
	unsigned steps;
};

static void arrive(struct sending *sending, const struct device_port *in)
{
	const struct device *device = in->device;

	if (!device_is_switch(device)) {
		if (sending->count < sending->room)
			sending->out[sending->count] = in;
		sending->count++;
		return;
	}
	if (sending->steps++ > STEPS_MAX) {
		sending->count = RUNS_FOR_EVER;
		return;
	}
	for (unsigned p = 0; p <= device->num_ports; p++) {
		const struct device_port *port = &device->port[p];

		if (p == in->num || !device_mft_has(device, sending->mlid, (uint8_t)p))
			continue;
		if (p && port->peer && device_port_passes(port))
			arrive(sending, port->peer);
	}
}

size_t forest_send(const struct device_port *from, lid_t mlid, const struct device_port **out,
		   size_t room)
{
	struct sending sending = {.mlid = mlid, .out = out, .room = room};

	if (from->peer && device_port_passes(from))
		arrive(&sending, from->peer);
	return sending.count;
}

bool forest_holds(const struct world *world, lid_t mlid)
{
	struct device *const *devices;
	size_t count = world_devices(world, &devices);

	for (size_t i = 0; i < count; i++) {
		if (device_is_switch(devices[i]) && sends(devices[i], mlid))
			return true;
	}
	return false;
}

/* Of the first 16 ports. */
void forest_garble(struct world *world, const char *node, lid_t mlid, uint8_t add, uint8_t remove)
{
	struct device *const *devices;
	size_t count = world_devices(world, &devices);

	for (size_t i = 0; i < count; i++) {
		uint8_t *mask = devices[i]->mft;

		if (!mask || strcmp(trace_name(devices[i]), node))
			continue;
		mask += (size_t)(mlid - LID_MULTICAST_MIN) * sizeof(uint16_t);
		be16_store(mask, (uint16_t)((be16_load(mask) | 1u << add) & ~(1u << remove)));
	}
}

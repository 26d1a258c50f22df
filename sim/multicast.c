/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast packets. A switch sends copies by its masks and cannot detect loops. So all copies of a
 * packet form one flight, which records each port by which a copy entered a switch. A copy that
 * enters by the same port again ends there, and is counted. The walk at the end of the file finds
 * the receivers from the tables, with the same rule, without sending. On the world's thread.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/mem.h"
#include "sim/world_parts.h"

/* Flights */

/* False if the port is a member already. */
static bool spread_enter(struct map *entered, const struct device_port *port)
{
	return !map_put(entered, (uintptr_t)port, (void *)port);
}

bool flight_enter(struct world *world, struct packet *packet)
{
	struct flight *flight = packet->flight;

	if (!flight) {
		flight = packet->flight = mem_zalloc(sizeof(*flight));
		flight->copies = 1;
		map_init(&flight->entered);
		list_push(&world->flights, &flight->link);
	}
	return spread_enter(&flight->entered, packet->at);
}

static void spread_flight_free(struct flight *flight)
{
	list_del(&flight->link);
	map_done(&flight->entered);
	free(flight);
}

void flight_leave(struct packet *packet)
{
	if (packet->flight && !--packet->flight->copies)
		spread_flight_free(packet->flight);
	packet->flight = NULL;
}

void flights_done(struct world *world)
{
	list_for_each (link, &world->flights)
		spread_flight_free(container_of(link, struct flight, link));
}

/* Looking */

struct spread {
	lid_t mlid;
	struct map entered, received;
	const struct device_port **at; /* ports by which it entered switches, in order */
	size_t count, capacity;
	void (*receives)(void *ctx, const struct device_port *port);
	void *ctx;
	struct world_spread result;
};

static void spread_receive(struct spread *spread, const struct device_port *port)
{
	if (spread_enter(&spread->received, port))
		spread->result.receivers++;
	else
		spread->result.again++;
	if (spread->receives)
		spread->receives(spread->ctx, port);
}

static void come(struct spread *spread, const struct device_port *port)
{
	if (!device_is_switch(port->device)) {
		spread_receive(spread, port);
		return;
	}
	if (!spread_enter(&spread->entered, port)) {
		spread->result.circles++;
		return;
	}
	if (spread->count == spread->capacity) {
		spread->capacity = spread->capacity ? 2 * spread->capacity : 64;
		spread->at = mem_resize(spread->at, spread->capacity, sizeof(*spread->at));
	}
	spread->at[spread->count++] = port;
}

/* Port 0 is the switch itself. */
static void pass_switch(struct spread *spread, const struct device_port *in)
{
	const struct device *device = in->device;

	for (unsigned num = 0; num <= device->num_ports; num++) {
		const struct device_port *out = &device->port[num];

		if (!device_mft_forwards(device, spread->mlid, in->num, num))
			continue;
		if (!num)
			spread_receive(spread, out);
		else if (device_port_passes(out))
			come(spread, out->peer);
	}
}

int world_multicast(const struct world *world, const struct device *from, uint8_t port, lid_t mlid,
		    void (*receives)(void *ctx, const struct device_port *port), void *ctx,
		    struct world_spread *out)
{
	const struct device_port *at = &from->port[port];
	struct spread spread = {.mlid = mlid, .receives = receives, .ctx = ctx};

	(void)world;
	if (port > from->num_ports || (port ? !device_port_passes(at) : !device_is_switch(from)))
		return -EHOSTUNREACH;
	map_init(&spread.entered);
	map_init(&spread.received);
	come(&spread, port ? at->peer : at);
	for (size_t i = 0; i < spread.count; i++)
		pass_switch(&spread, spread.at[i]);
	map_done(&spread.entered);
	map_done(&spread.received);
	free(spread.at);
	*out = spread.result;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The subnet management interface of a node: it handles one SMP at a time, and a small VL15 buffer
 * holds SMPs that wait. It handles SMPs for its own agent, and at a switch each directed SMP that
 * passes, on its way out and on its way back. The input port hands such an SMP to the receive queue
 * of port 0's SMI, which also serves the agent (InfiniBand specification, volume 1, 14.2.2 and
 * 18.2.4.3). Linux does the same, in handle_smi() of drivers/infiniband/core/mad.c: one queue pair
 * and one work queue for forwarded SMPs and its agent's answers. An SMP by LID passes in the
 * crossbar and does not come here.
 *
 * A node whose SMI takes no time for an SMP, and is idle, serves it at once, within the same event.
 */
#include "sim/world_parts.h"

enum { NS_PER_US = 1000 };

static void served(void *ctx, void *what, uint32_t number);

static void begin_service(struct world *world, struct packet *packet)
{
	world_node_of(packet->at->device)->busy = true;
	events_add(&world->events, world->now_ns + (uint64_t)packet->service_us * NS_PER_US, served,
		   packet, 0);
}

static void served(void *ctx, void *what, uint32_t number)
{
	struct world *world = ctx;
	struct packet *packet = what;
	struct world_node *node = world_node_of(packet->at->device);
	struct packet *next = node->first;

	(void)number;
	node->busy = false;
	if (next) {
		node->first = next->next;
		node->waiting--;
		begin_service(world, next);
	}
	packet->served(world, packet);
}

static void wait_in_buffer(struct world_node *node, struct packet *packet)
{
	packet->next = NULL;
	if (node->first)
		node->last->next = packet;
	else
		node->first = packet;
	node->last = packet;
	node->waiting++;
}

void smi_give(struct world *world, struct packet *packet, unsigned service_us,
	      void (*fn)(struct world *world, struct packet *packet))
{
	struct world_node *node = world_node_of(packet->at->device);
	unsigned depth = world->options.vl15_depth;

	packet->service_us = service_us;
	packet->served = fn;
	if (!node->busy && !service_us) {
		fn(world, packet);
	} else if (!node->busy) {
		begin_service(world, packet);
	} else if (!depth || node->waiting < depth) {
		wait_in_buffer(node, packet);
	} else {
		port_count_error(&packet->at->counts, ERROR_VL15_DROPPED);
		packet_drop(world, packet, &world->stats.dropped_vl15);
	}
}

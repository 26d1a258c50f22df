/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The order of Sets: which Sets are safe now, so that no packet enters a forwarding loop, not even
 * between two Sets. Unicast has no hop limit inside a subnet. Pure functions over the live model,
 * called before each write. Loop thread only.
 *
 * Only three kinds of Set() open new paths for packets: an entry that changes, a LinearFDBTop that
 * rises, and a cable between switches that goes ACTIVE. Each is checked alone: the path of a packet
 * is followed from there, by the known tables of the switches at this moment, and must not return.
 * Where the path is unknown, because a block is unknown or a Set() of it is under way, the result
 * is to wait. So two Sets that are only safe alone are never under way together. An entry above the
 * top, or into a cable that does not pass packets, ends the path: the Set() that activates it is
 * checked in turn. Cables of a switch that has reported changes since it was read count as unknown,
 * and a sweep of that switch follows.
 *
 * Lossless order is a stricter rule, kept as long as possible. An entry that replaces a working
 * entry is written when every later switch on the new route holds its new entry. New routes have no
 * loops, so for each LID there is always a next switch.
 */
#include "sm/program/parts.h"

/* Whether packets may pass a cable. Both ends ARMED are enough: the answer to Set(ACTIVE) may
 * have been lost, and the first packet of a neighbour makes an ARMED port ACTIVE. */
static bool order_may_pass(const struct port *port)
{
	return port_cabled(port) && port_state_of(port) >= PORT_ARMED &&
	       port_state_of(port->peer) >= PORT_ARMED;
}

/* Whether a port to another switch is on its way to ACTIVE. */
static bool is_coming_up(const struct port *port)
{
	return port_cabled(port) && port_of_switch(port->peer) && port->peer->node != port->node &&
	       port_state_of(port) < PORT_ACTIVE && !port->program.failed &&
	       !port->peer->program.failed && !port_held(port) && !port_drained(port);
}

bool order_tops_unknown(const struct node *node)
{
	return node->silent && node->sw->tops_unread;
}

/* The highest LID that the switch may forward, also while a Set() of the top has no answer. */
static lid_t top_of(const struct node *node)
{
	const struct switch_state *sw = node->sw;
	lid_t top = node->facts->sw.linear_fdb_top;

	if (order_tops_unknown(node))
		return LID_UNICAST_MAX;
	return sw->lft.want && (sw->busy || sw->failed || sw->verify.unanswered) &&
			       sw->lft.want->top > top
		       ? sw->lft.want->top
		       : top;
}

/* Whether the far end of a port is known: it was found, both ends were read, and neither switch has
 * reported changed links since. */
static bool is_known_cable(const struct port *port)
{
	const struct port *peer = port->peer;

	return peer && !port_is_stale(port) && !port_is_stale(peer) &&
	       !port->node->sw->links_changed && !(peer->node->sw && peer->node->sw->links_changed);
}

bool order_may_send(const struct port *port)
{
	return port_state_of(port) >= PORT_ARMED || port_is_stale(port) || port->node->silent;
}

/* The cable to another switch for this entry; NULL: the path ends here. */
static struct port *port_onwards(struct node *node, uint8_t out)
{
	struct port *port = out && out <= node->num_ports ? &node->port[out] : NULL;

	if (!port || !order_may_send(port))
		return NULL;
	if (is_known_cable(port) && !(port_of_switch(port->peer) && order_may_pass(port)))
		return NULL;
	return port;
}

/* The entry of a switch for lid; false: unknown, or a Set() is under way. */
static bool known_entry(const struct node *node, lid_t lid, uint8_t *out)
{
	const struct switch_state *sw = node->sw;
	uint16_t block = lid / LFT_BLOCK_LIDS;
	const uint8_t *held = lft_have_block(&sw->lft.have, block);

	if (!held || sw->lost)
		return false;
	*out = held[lid % LFT_BLOCK_LIDS];
	return *out == lft_port(sw->lft.want, lid) || !sw->lft.compared ||
	       block_is_dirty(sw, block);
}

/*
 * Follows a packet for lid that leaves node by a port, as though its cable passed packets. Returns
 * the switch to wait for: the first switch with an unknown entry, or, if the path returns to node,
 * the first switch on it whose entry has to change. NULL: the path ends. lossless: also returns the
 * first switch that would drop the packet or does not use the new route.
 */
static struct node *blocker_beyond(struct node *node, struct port *port, lid_t lid, bool lossless)
{
	struct node *unfinished = NULL, *at = node;
	uint8_t out;

	for (unsigned hops = 0; hops <= HOPS_MAX; hops++) {
		if (!is_known_cable(port))
			return at;
		at = port->peer->node;
		if (at == node)
			break;
		if (lid > top_of(at))
			return lossless && lft_port(at->sw->lft.want, lid) != LFT_NO_PORT ? at
											  : NULL;
		if (!known_entry(at, lid, &out))
			return at;
		if (out != lft_port(at->sw->lft.want, lid)) {
			if (lossless)
				return at;
			unfinished = unfinished ? unfinished : at;
		}
		if (lossless && out && out <= at->num_ports && is_coming_up(&at->port[out]))
			return at;
		port = port_onwards(at, out);
		if (!port)
			return NULL;
	}
	return unfinished ? unfinished : at;
}

bool order_matters(const struct program *program)
{
	return program->stale || program->epoch != program->sweep_epoch;
}

bool order_ends(struct node *node, uint8_t out)
{
	return out && (out > node->num_ports || !order_may_pass(&node->port[out])) &&
	       !port_onwards(node, out);
}

bool order_comes_back(struct node *node, uint8_t out, lid_t lid)
{
	struct port *port = port_onwards(node, out);

	/* Also by cables that may have been moved: it is safer to drop these packets. */
	for (unsigned hops = 0;
	     port && port->peer && port_of_switch(port->peer) && hops <= HOPS_MAX; hops++) {
		struct node *at = port->peer->node;

		if (at == node)
			return true;
		if (lid > top_of(at) || !known_entry(at, lid, &out))
			return false;
		port = port_onwards(at, out);
	}
	return false;
}

struct node *order_entry_blocker(struct node *node, lid_t lid, bool lossless)
{
	uint8_t out = lft_port(node->sw->lft.want, lid);
	struct port *port;

	if (lid > top_of(node))
		return NULL;
	if (lossless && out && out <= node->num_ports && is_coming_up(&node->port[out]))
		return node;
	port = port_onwards(node, out);
	return port ? blocker_beyond(node, port, lid, lossless) : NULL;
}

struct node *order_top_blocker(struct node *node)
{
	lid_t top = node->facts->sw.linear_fdb_top;

	for (unsigned lid = top + 1u; lid <= node->sw->lft.want->top; lid++) {
		struct port *port = port_onwards(node, lft_port(node->sw->lft.want, (lid_t)lid));
		struct node *blocker = port ? blocker_beyond(node, port, (lid_t)lid, false) : NULL;

		if (blocker)
			return blocker;
	}
	return NULL;
}

/* For one end of a cable: packets that its switch sends into it must be wanted there, and must
 * not return. */
static struct node *end_blocker(struct port *port)
{
	struct node *node = port->node;
	lid_t top = top_of(node);

	for (unsigned lid = LID_UNICAST_MIN; lid <= top; lid++) {
		uint8_t want = lft_port(node->sw->lft.want, (lid_t)lid), out;
		struct node *blocker;

		if (!known_entry(node, (lid_t)lid, &out))
			return node;
		if (out != port->num)
			continue;
		if (want != out)
			return node;
		blocker = blocker_beyond(node, port, (lid_t)lid, false);
		if (blocker)
			return blocker;
	}
	return NULL;
}

struct node *order_cable_blocker(struct port *port)
{
	struct node *blocker = end_blocker(port);

	return blocker ? blocker : end_blocker(port->peer);
}

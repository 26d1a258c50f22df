/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The order of forwarding: what may be written now so that no packet runs in a circle, not even
 * for the time of one Set(). Unicast has no hop limit inside a subnet. Pure functions over the live
 * model, asked by ports.c and switch.c before they write. Loop thread only.
 *
 * Only three kinds of Set() let packets go where they could not go before: an entry that changes, a
 * LinearFDBTop that rises, a cable between switches that goes ACTIVE. Each is judged by itself: the
 * way of a packet is followed from there on, by what the switches are known to hold at this moment,
 * and must not come back. Where it cannot be followed, because a block is unknown or a Set() of it
 * is under way, the answer is to wait: so two acts that would be harmless one by one never meet.
 * An entry above the top, or into a cable that does not pass, ends the way: what brings it to life
 * is judged in its turn. Cables of a switch that has told of changes since it was read are not
 * known: a sweep of that switch follows.
 *
 * That nothing is lost either is a stricter demand, made as long as it can be met: an entry that
 * replaces a working one is written when every switch after it on the new route holds its new
 * entry. New routes are free of circles, so for one LID there always is a switch that may be next.
 */
#include "sm/program/parts.h"

/* Whether packets may pass a cable. Both ends ARMED suffice: the answer to the Set(ACTIVE) may have
 * been lost, and the first packet of a neighbour makes an ARMED port ACTIVE. */
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
	       !port->peer->program.failed && !port_held(port);
}

bool order_tops_unknown(const struct node *node)
{
	return node->silent && node->sw->tops_unread;
}

/* The highest LID for which the switch may forward, while a Set() of the top is in doubt too. */
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

/* Nobody knows what is behind a port whose far end was not found, whether it passes when one of its
 * ends did not tell, nor, when one of its switches has told of changed links since it was read,
 * whether the cable leads elsewhere by now. */
static bool is_known_cable(const struct port *port)
{
	const struct port *peer = port->peer;

	return peer && !port_is_stale(port) && !port_is_stale(peer) &&
	       !port->node->sw->links_changed && !(peer->node->sw && peer->node->sw->links_changed);
}

/* The cable to another switch that an entry leads into; NULL: the way ends here. */
static struct port *port_onwards(struct node *node, uint8_t out)
{
	struct port *port = out && out <= node->num_ports ? &node->port[out] : NULL;

	if (!port || (port_state_of(port) < PORT_ARMED && !port_is_stale(port)))
		return NULL;
	if (is_known_cable(port) && !(port_of_switch(port->peer) && order_may_pass(port)))
		return NULL;
	return port;
}

/* What a switch's table says for lid; false: not known, or about to change. */
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
 * Follows a packet for lid that leaves node by a port, as though its cable passed, and returns the
 * switch to wait for: the first that cannot be seen through, or, when the way comes back to node,
 * the first on it whose entry has to change; NULL when the way ends. lossless: the first too that
 * would lose the packet or does not send it along the new route.
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

	for (unsigned hops = 0; port && is_known_cable(port) && hops <= HOPS_MAX; hops++) {
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

/* One end of a cable: what its switch sends into it must be wanted there, and not come back. */
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

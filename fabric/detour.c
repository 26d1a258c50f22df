/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Directed routes for further attempts. The first attempt follows the tree (fabric.c). If it is
 * lost, a link on that way may lose MADs, unreported. So every other attempt takes another way. The
 * second attempt climbs, at each switch, by another cable to a switch that is nearer to the
 * manager, which costs little. If there is none on the whole way, and for the fourth attempt, a
 * search finds the shortest way that shares no cable between switches with the tree's way.
 *
 * The same search is used if the tree has no way, because a cable on it was cut and the tree was
 * not yet rebuilt. Ways are found when they are needed and not stored. They use only cables that
 * the last heavy pass of discovery, or a later pass, has read. They avoid cables whose switches
 * have both reported changed links and were not read since. Any of these cables may lead elsewhere
 * now, and another device that answers there would be taken for the target. A route over a cable of
 * which one switch has reported changes is doubtful: discovery confirms its answers. The tree's own
 * cables do not count, because a node is read by the route on which it was found. But after a read
 * was lost, discovery confirms the answers over the tree's route, too: the cable may have been
 * moved during the read. Loop thread only.
 */
#include <stdlib.h>

#include "fabric/fabric.h"
#include "lib/mem.h"

/* A way, from its far end: the output port at each node. */
struct way {
	uint8_t ports[HOPS_MAX];
	unsigned count;
};

static bool way_add(struct way *way, const struct port *out_of)
{
	if (way->count == HOPS_MAX)
		return false;
	way->ports[way->count++] = out_of->num;
	return true;
}

static void way_finish(const struct way *way, struct route_path *out)
{
	out->hops = (uint8_t)way->count;
	out->port[0] = 0;
	for (unsigned i = 0; i < way->count; i++)
		out->port[i + 1] = way->ports[way->count - 1 - i];
}

/* The switch where ways begin: the manager's own, or the switch at its port. */
static struct node *detour_first_switch(const struct fabric *fabric)
{
	struct port *port = fabric->sm_port;

	if (!port_of_switch(port))
		port = port->peer;
	return port && port_of_switch(port) ? port->node : NULL;
}

static bool way_begin(const struct fabric *fabric, struct way *way)
{
	return port_of_switch(fabric->sm_port) || way_add(way, fabric->sm_port);
}

static bool detour_leads_to_switch(const struct fabric *fabric, const struct port *port)
{
	const struct port *peer = port->peer;

	return peer && port_of_switch(peer) && port->discovery.link_pass >= fabric->trusted_pass &&
	       !(port->node->sw->links_changed && peer->node->sw->links_changed);
}

/* The port of a nearer switch that leads to node: its uplink or, for turns above 0, another. */
static const struct port *uplink_turned(const struct fabric *fabric, const struct node *node,
					unsigned turns)
{
	const struct port *found = node->uplink;
	unsigned at = found && found->peer ? found->peer->num : 0;

	for (unsigned i = 1; turns && i < node->num_ports; i++) {
		unsigned num = 1 + (at - 1 + i + node->num_ports) % node->num_ports;

		if (detour_leads_to_switch(fabric, &node->port[num]) &&
		    node->port[num].peer->node->hops < node->hops) {
			found = node->port[num].peer;
			turns--;
		}
	}
	return found;
}

/* Climbs from a switch to the first switch. *turned: whether it could leave the tree's way. */
static bool detour_climb(const struct fabric *fabric, const struct node *node, unsigned turns,
			 struct way *way, bool *turned)
{
	const struct node *first = detour_first_switch(fabric);

	while (node != first) {
		const struct port *out_of = uplink_turned(fabric, node, turns);

		if (!out_of || !way_add(way, out_of))
			return false;
		*turned |= out_of != node->uplink;
		node = out_of->node;
	}
	return way_begin(fabric, way);
}

/* Whether the cable is on the tree's way to target. */
static bool on_way(const struct node *target, const struct port *port)
{
	const struct node *node = target;

	for (unsigned hops = 0; node->uplink && hops <= HOPS_MAX; hops++) {
		if (node->uplink == port || node->uplink->peer == port)
			return true;
		node = node->uplink->node;
	}
	return false;
}

/* A reached switch, and its port towards the target. */
struct step {
	struct node *node;
	struct port *out_of;
};

/* Steps with equal detours, last in, first out. */
struct steps {
	struct step *step;
	size_t count, room;
};

static void step_add(struct steps *steps, struct node *node, struct port *out_of)
{
	if (steps->count == steps->room) {
		steps->room = 2 * steps->room + node->num_ports;
		steps->step = mem_resize(steps->step, steps->room, sizeof(*steps->step));
	}
	steps->step[steps->count++] = (struct step){node, out_of};
}

/* The detour of a step compared with a step along the tree: 0, 1 or 2 hops. */
static unsigned step_cost(const struct node *from, const struct node *to)
{
	return to->hops < from->hops ? 0 : to->hops == from->hops ? 1 : 2;
}

/* Searches from the target to the first switch, in the order of the length beyond that of the
 * tree's way. While there are ways as short as that, only switches on these are visited. The tree's
 * numbers of hops may be outdated: then the way is longer. */
static bool detour_run_search(struct fabric *fabric, struct node *target)
{
	enum { COSTS = 3 };
	struct steps steps[COSTS] = {0};
	const struct node *first = detour_first_switch(fabric);
	unsigned cost = 0, empty = 0;

	fabric->detour_searches++;
	step_add(&steps[0], target, NULL);
	while (empty < COSTS && first->detour_search != fabric->detour_searches) {
		struct steps *cheapest = &steps[cost % COSTS];
		struct step step;

		if (!cheapest->count) {
			cost++;
			empty++;
			continue;
		}
		empty = 0;
		step = cheapest->step[--cheapest->count];
		if (step.node->detour_search == fabric->detour_searches)
			continue;
		step.node->detour_search = fabric->detour_searches;
		step.node->detour = step.out_of;
		for (unsigned i = 1; i <= step.node->num_ports; i++) {
			struct port *out_of = step.node->port[i].peer;

			if (!out_of || !port_of_switch(out_of) ||
			    out_of->node->detour_search == fabric->detour_searches ||
			    !detour_leads_to_switch(fabric, out_of) || on_way(target, out_of))
				continue;
			step_add(&steps[(cost + step_cost(step.node, out_of->node)) % COSTS],
				 out_of->node, out_of);
		}
	}
	for (unsigned i = 0; i < COSTS; i++)
		free(steps[i].step);
	return first->detour_search == fabric->detour_searches;
}

/* way begins at its far end, and the search leads there. */
static bool search_way(struct fabric *fabric, struct node *target, struct way *way)
{
	const struct node *node = detour_first_switch(fabric);
	struct way from_first = {0};

	if (!detour_run_search(fabric, target))
		return false;
	for (; node != target; node = node->detour->peer->node) {
		if (!way_add(&from_first, node->detour))
			return false;
	}
	while (from_first.count) {
		if (way->count == HOPS_MAX)
			return false;
		way->ports[way->count++] = from_first.ports[--from_first.count];
	}
	return way_begin(fabric, way);
}

/* way has the part after the switch. */
static bool detour_reach(struct fabric *fabric, struct node *node, unsigned attempt,
			 struct way *way, struct route_path *out)
{
	struct way climbed = *way, found = *way;
	bool turned = false, has_way, wants_other = attempt % 2;

	has_way = detour_climb(fabric, node, wants_other ? attempt / 2 + 1 : 0, &climbed, &turned);
	if ((!has_way || (wants_other && !turned) || attempt % 4 == 3) &&
	    search_way(fabric, node, &found)) {
		way_finish(&found, out);
		return true;
	}
	if (has_way)
		way_finish(&climbed, out);
	return has_way;
}

bool fabric_way(struct fabric *fabric, struct node *node, unsigned attempt, struct route_path *out)
{
	struct way way = {.count = 0};

	return fabric->sm_port && detour_first_switch(fabric) &&
	       detour_reach(fabric, node, attempt, &way, out);
}

bool port_route_beyond(struct fabric *fabric, const struct port *port, unsigned attempt,
		       struct route_path *out)
{
	struct way way = {.count = 0};

	if (!fabric->sm_port || !way_add(&way, port))
		return false;
	if (port == fabric->sm_port) {
		way_finish(&way, out);
		return true;
	}
	return port_of_switch(port) && detour_first_switch(fabric) &&
	       detour_reach(fabric, port->node, attempt, &way, out);
}

/* The port by which a route leaves a node at hop i; NULL: the model has no cable there. */
static const struct port *way_hop(const struct node *node, const struct route_path *path,
				  unsigned i)
{
	unsigned num = path->port[i];

	return num && num <= node->num_ports && node->port[num].peer ? &node->port[num] : NULL;
}

const struct port *fabric_way_ends(const struct fabric *fabric, const struct route_path *path)
{
	const struct port *at = fabric->sm_port;

	for (unsigned i = 1; at && i <= path->hops; i++) {
		const struct port *out = way_hop(at->node, path, i);

		at = out ? out->peer : NULL;
	}
	return at;
}

/* Whether the link was down since its cable was verified, or may have been. */
static bool may_be_moved(const struct port *port)
{
	const struct node *node = port->node;

	return port->discovery.link == LINK_LOST || node->sw->links_changed ||
	       port->discovery.read_pass < node->sw->changed_pass;
}

bool fabric_way_is_doubtful(const struct fabric *fabric, const struct route_path *path,
			    const struct node *to)
{
	const struct port *at = fabric->sm_port;

	for (unsigned i = 1; at && i <= path->hops; i++) {
		const struct node *node = at->node;
		const struct port *out = way_hop(node, path, i);

		at = out ? out->peer : NULL;
		if (at && node->sw && at->node->sw && at->node->uplink != out &&
		    (may_be_moved(out) || may_be_moved(at)))
			return true;
	}
	return !at || at->node != to;
}

uint8_t fabric_subtree(const struct fabric *fabric, const struct route_path *path)
{
	unsigned hop = port_of_switch(fabric->sm_port) ? 1 : 2;

	return path->hops >= hop ? path->port[hop] : 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rule of paths (path.h), in two halves: a walk along the routes that notes the least MTU and
 * rate of all that it passes, and the comparison of the result with what was asked for. It believes
 * the routes of the view, not what it would have them be: an entry that leads to the wrong port is
 * no path.
 */
#include "sa/path.h"

#include <errno.h>
#include <stddef.h>

#include "fabric/walk.h"

enum {
	MTU_256 = 1,
	MTU_4096 = 5,
	RATE_2_5_GBPS = 2,
	ENCODED_MAX = 63, /* six bits */
};

/* The least on the way so far, 0 while nothing was met. */
struct measure {
	const struct snapshot *topology;
	uint8_t mtu, rate;
	bool unknown; /* a port on the way was never read */
};

/* NeighborMTU is what the port sends at most; before ARMED it may still be left over from before,
 * and port 0 has no neighbour. */
static uint8_t port_mtu(const struct port_info *info, uint8_t num)
{
	uint8_t mtu = info->mtu_cap;

	if (num && info->port_state >= PORT_ARMED && info->neighbor_mtu >= MTU_256 &&
	    info->neighbor_mtu < mtu)
		mtu = info->neighbor_mtu;
	return mtu >= MTU_256 && mtu <= MTU_4096 ? mtu : 0;
}

static void measure_port(struct measure *measure, const struct node_facts *facts, uint8_t num)
{
	const struct port_info *info = facts_port_info(facts, num);
	uint8_t mtu, rate;

	if (!info) {
		measure->unknown = true;
		return;
	}
	mtu = port_mtu(info, num);
	rate = port_rate(info);
	if (mtu && (!measure->mtu || mtu < measure->mtu))
		measure->mtu = mtu;
	if (rate && (!measure->rate || rate_deci_gbps(rate) < rate_deci_gbps(measure->rate)))
		measure->rate = rate;
}

/* A switch's port 0 has an MTU but no link whose rate could be the path's. */
static void measure_port0(struct measure *measure, const struct node_facts *facts)
{
	uint8_t rate = measure->rate;

	measure_port(measure, facts, 0);
	measure->rate = rate;
}

/* Both ends of the link that leaves a switch there, or the switch's own port 0. */
static void measure_hop(void *ctx, uint32_t sw, uint8_t port)
{
	struct measure *measure = ctx;
	const struct snapshot *topology = measure->topology;
	const struct snap_link *link = snap_link(topology, sw, port);

	if (port == 0) {
		measure_port0(measure, topology->switches[sw].facts);
		return;
	}
	measure_port(measure, topology->switches[sw].facts, port);
	if (link->sw >= 0)
		measure_port(measure, topology->switches[link->sw].facts, link->port);
	else if (link->end >= 0)
		measure_port(measure, topology->ends[link->end].facts,
			     topology->ends[link->end].port);
}

/* Adds what a packet meets from one end port to a LID of another. 0 or -EHOSTUNREACH. */
static int measure_way(struct measure *measure, const struct routes *routes,
		       const struct endport *from, const struct endport *to, lid_t dlid)
{
	struct endport next = *from;
	uint8_t next_num;
	int rc;

	if (endport_same(from, to)) {
		measure_port(measure, from->facts, from->num);
	} else if (from->at.sw >= 0) {
		measure_port0(measure, from->facts);
	} else if (endport_cable(measure->topology, from, from->num, &next, &next_num)) {
		measure_port(measure, from->facts, from->num);
		measure_port(measure, next.facts, next_num);
	}
	if (endport_same(&next, to))
		rc = 0; /* the same port, or cabled to it without a switch */
	else if (next.at.sw < 0)
		rc = -EHOSTUNREACH;
	else
		rc = table_walk(measure->topology, routes, (uint32_t)next.at.sw, dlid, measure_hop,
				measure);
	return rc < 0 || measure->unknown ? -EHOSTUNREACH : 0;
}

/* How encoded values compare: those of rates are not in order. 0: no such value. */
static unsigned mtu_order(uint8_t mtu)
{
	return mtu <= MTU_4096 ? mtu : 0;
}

static unsigned rate_order(uint8_t rate)
{
	return rate_deci_gbps(rate);
}

/* A path may be used at less than it can do: LESS gives the most below the value, EXACTLY the value
 * when the path can do it. False when the path cannot be as asked. */
static bool limit_capacity(const struct path_limit *limit, unsigned (*order)(uint8_t),
			   uint8_t *value)
{
	unsigned wanted = order(limit->value), have = order(*value);
	uint8_t best = 0;

	switch (limit->selector) {
	case SELECT_GREATER:
		return have > wanted;
	case SELECT_LESS:
		for (uint8_t v = 1; v <= ENCODED_MAX; v++)
			if (order(v) < wanted && order(v) <= have && order(v) > order(best))
				best = v;
		*value = best;
		return best != 0;
	case SELECT_EXACTLY:
		*value = limit->value;
		return wanted && wanted <= have;
	default:
		return true;
	}
}

/* A life time that is longer than it need be is true as well; a shorter one would make connections
 * break off before the fabric has recovered. */
static bool limit_life_time(const struct path_limit *limit, uint8_t *value)
{
	switch (limit->selector) {
	case SELECT_GREATER:
		if (*value <= limit->value)
			*value = limit->value + 1;
		return *value <= ENCODED_MAX;
	case SELECT_LESS:
		return *value < limit->value;
	case SELECT_EXACTLY:
		if (*value > limit->value)
			return false;
		*value = limit->value;
		return true;
	default:
		return true;
	}
}

int path_resolve(const struct view *view, uint8_t life_time, const struct path_ends *ends,
		 const struct path_query *query, struct path *out)
{
	const struct endport *source = ends->source, *destination = ends->destination;
	struct measure there = {.topology = view->topology}, both;
	struct path path = {.sl = PATH_SL_DEFAULT};

	if (!query->p_key)
		path.p_key = endports_share(source, destination);
	else if (endports_share_key(source, destination, query->p_key))
		path.p_key = query->p_key;
	if (!path.p_key)
		return -EACCES;
	if (measure_way(&there, view->routes, source, destination, ends->dlid))
		return -EHOSTUNREACH;
	both = there;
	path.reversible = !measure_way(&both, view->routes, destination, source, ends->slid);
	if (path.reversible)
		there = both;
	path.mtu = there.mtu ? there.mtu : MTU_256;
	path.rate = there.rate ? there.rate : RATE_2_5_GBPS;
	path.life_time = endport_same(source, destination) ? 0 : life_time;
	if ((query->reversible && !path.reversible) ||
	    !limit_capacity(&query->mtu, mtu_order, &path.mtu) ||
	    !limit_capacity(&query->rate, rate_order, &path.rate) ||
	    !limit_life_time(&query->life_time, &path.life_time))
		return -ENOENT;
	*out = path;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The walk along forwarding tables, with which the SA measures paths. Tables are not trusted: an
 * entry may name a missing port, lead to the wrong host, or be part of a loop.
 */
#include "fabric/walk.h"

#include <errno.h>
#include <stddef.h>

int table_walk(const struct snapshot *snapshot, const struct routes *routes, uint32_t from,
	       lid_t lid, walk_hop_fn *hop, void *ctx)
{
	struct snap_owner owner = snap_owner(snapshot, lid);
	uint32_t sw = from;

	if (!routes || routes->num_switches != snapshot->num_switches)
		return -EHOSTUNREACH;
	for (uint32_t passed = 1; passed <= snapshot->num_switches; passed++) {
		uint8_t port = lft_port(routes->lft[sw], lid);
		const struct snap_link *link;

		/* LFT_NO_PORT, or a port that the switch does not have. */
		if (port > snapshot->switches[sw].num_ports)
			return -EHOSTUNREACH;
		if (hop)
			hop(ctx, sw, port);
		if (port == 0)
			return owner.sw == (int32_t)sw ? (int)passed : -EHOSTUNREACH;
		link = snap_link(snapshot, sw, port);
		if (link->end >= 0)
			return owner.end == link->end ? (int)passed : -EHOSTUNREACH;
		if (link->sw < 0)
			return -EHOSTUNREACH;
		sw = (uint32_t)link->sw;
	}
	return -ELOOP;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A fabric of one switch with so many hosts, as a view: for answers that are long. Host h has the
 * PortGUID 100 + h, stands at the switch's port h + 1 and has the LIDs from (h + 1) << lmc on; the
 * switch has GUID and LID 1, and is the manager.
 */
#ifndef TESTS_UNIT_STAR_H
#define TESTS_UNIT_STAR_H

#include "tests/unit/two_switches.h"

static inline struct view *star(unsigned hosts, uint8_t lmc)
{
	const struct node_info sw_info = {.node_type = NODE_SWITCH, .num_ports = (uint8_t)hosts};
	const struct node_info host_info = {.node_type = NODE_CA, .num_ports = 1};
	const struct view_sm manager = {.lid = 1, .info.guid = 1};
	struct snapshot *snapshot = snapshot_new(1, hosts, hosts + 1);
	struct node_facts *sw = facts_new(&sw_info);
	struct routes *routes = routes_new(1, 1, "by hand");

	snapshot->switches[0] =
		(struct snap_switch){.guid = 1, .lid = 1, .num_ports = (uint8_t)hosts, .facts = sw};
	two_switches_port(sw, 0, 1, 0, MTU_4096, 0);
	sw->port[0].pkeys = two_switches_keys((const pkey_t[2]){PKEY_DEFAULT_FULL});
	for (unsigned h = 0; h < hosts; h++) {
		struct node_facts *host = facts_new(&host_info);
		uint8_t port = (uint8_t)(h + 1);

		two_switches_port(sw, port, 4, 2, MTU_4096, MTU_4096);
		two_switches_port(host, 1, 4, 2, MTU_4096, MTU_4096);
		host->port[1].pkeys = pkey_list_ref(sw->port[0].pkeys);
		snapshot->ends[h] = (struct snap_end){.guid = 100 + h,
						      .lid = (lid_t)((h + 1u) << lmc),
						      .lmc = lmc,
						      .port = 1,
						      .sw_port = port,
						      .peer = -1,
						      .facts = host};
		snapshot->links[port] = (struct snap_link){.sw = -1, .end = (int32_t)h, .port = 1};
	}
	snapshot_index(snapshot);
	routes->lft[0] = lft_new(snapshot->lid_top);
	routes->lft[0]->port[1] = 0;
	for (unsigned lid = 1u << lmc; lid <= snapshot->lid_top; lid++)
		routes->lft[0]->port[lid] = (uint8_t)(lid >> lmc);
	return view_new(1, snapshot, routes, &manager, 1);
}

#endif

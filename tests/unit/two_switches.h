/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A fabric of two switches and four hosts as a view, small enough that what the SA should say of it
 * can be worked out by hand:
 *
 *   A  LIDs 16-19, 4x EDR -- 1 S1 3 == 4x FDR, MTU 2048 == 3 S2 1 -- C  LIDs 24-25, 4x QDR
 *   B  LIDs 20-23, 4x EDR -- 2    4 == 4x EDR, MTU 4096 == 4    2 -- D  LID 28, 4x EDR, MTU 1024
 *
 * S1 has LID 1 and S2 LID 2. What goes to an even LID crosses by the ports 3, to an odd one by the
 * ports 4. All ports can do an MTU of 4096 but those of the FDR link; D's link was set to 1024.
 * A and C are full members of the default partition, B is a limited one; B is a full and C a
 * limited member of partition 1. The tables of D and the switches were never read. D is the master
 * SM, A a standby.
 *
 * Of A all tables are known: 16 GUIDs of which the second is an alias, SLtoVL, and VL arbitration
 * blocks 1 and 3. S1 knows SLtoVL to its port 1, the same from all ports, and to its port 3, where
 * it has one for each port, and of the latter arbitration block 2. The rest was not read.
 */
#ifndef TESTS_UNIT_TWO_SWITCHES_H
#define TESTS_UNIT_TWO_SWITCHES_H

#include <stdio.h>

#include "fabric/view.h"
#include "lib/mem.h"

enum { A, B, C, D, HOSTS };
enum { S1, S2, SWITCHES };
enum { SWITCH_PORTS = 4, HOST_PORTS = 2 };

enum { MTU_1024 = 3, MTU_2048 = 4, MTU_4096 = 5 };
enum { RATE_40 = 7, RATE_56 = 12, RATE_100 = 16 };

#define SWITCH_GUID(s) (UINT64_C(0x5000) + (s))
#define HOST_GUID(h) (UINT64_C(0xA000) + 16 * (h)) /* of the node */
#define PORT_GUID(h) (HOST_GUID(h) + 1)
#define HOST_M_KEY(h) (UINT64_C(0x4B4559) + (h))
enum { SWITCH_LID = 1 }; /* S1; S2 follows */

static const struct two_switches_host {
	const char *name;
	lid_t lid;
	uint8_t lmc;
	uint8_t sw, sw_port;
	uint8_t speed, speed_ext; /* LinkSpeedActive, LinkSpeedExtActive */
	uint8_t neighbor_mtu;
	pkey_t p_keys[2]; /* none: never read */
} two_switches_hosts[HOSTS] = {
	[A] = {"host A", 16, 2, S1, 1, 4, 2, MTU_4096, {0xFFFF}},
	[B] = {"host B", 20, 2, S1, 2, 4, 2, MTU_4096, {0x7FFF, 0x8001}},
	[C] = {"host C", 24, 1, S2, 1, 4, 0, MTU_4096, {0xFFFF, 0x0001}},
	[D] = {"host D", 28, 0, S2, 2, 4, 2, MTU_1024, {0xFFFF}},
};

static inline void two_switches_port(struct node_facts *facts, uint8_t num, uint8_t speed,
				     uint8_t speed_ext, uint8_t mtu_cap, uint8_t neighbor_mtu)
{
	facts->port[num].known = true;
	facts->port[num].info = (struct port_info){
		.gid_prefix = GID_PREFIX_DEFAULT,
		.local_port_num = num,
		.link_width_active = 2,
		.link_speed_active = speed,
		.link_speed_ext_active = speed_ext,
		.mtu_cap = mtu_cap,
		.neighbor_mtu = neighbor_mtu,
		.port_state = PORT_ACTIVE,
		.port_physical_state = PHYS_LINK_UP,
	};
}

static inline struct pkey_list *two_switches_keys(const pkey_t keys[2])
{
	struct pkey_list *list = NULL;

	if (keys[0]) {
		list = pkey_list_new(PKEY_BLOCK_KEYS);
		/* Not at the begin: empty slots are no keys. */
		list->key[1] = keys[0];
		list->key[PKEY_BLOCK_KEYS - 1] = keys[1];
	}
	return list;
}

#define ALIAS_GUID UINT64_C(0x0014050000000001)

/* SL 0 leads to this VL from an input port. */
static inline struct port_tables *two_switches_tables(uint16_t guids, uint16_t inputs,
						      uint8_t blocks)
{
	struct port_tables *tables = port_tables_new(guids, inputs);

	if (guids)
		tables->guid[1] = ALIAS_GUID;
	for (unsigned in = 0; in < inputs; in++)
		tables->sl_to_vl[in].vl[0] = (uint8_t)(in + 1);
	tables->vl_arbitration_known = blocks;
	for (unsigned block = 0; block < VLARB_BLOCKS; block++)
		tables->vl_arbitration[block].entry[0].weight = (uint8_t)(block + 1);
	return tables;
}

static inline struct node_facts *two_switches_host_facts(unsigned h)
{
	const struct two_switches_host *host = &two_switches_hosts[h];
	const struct node_info info = {
		.base_version = 1,
		.class_version = 1,
		.node_type = NODE_CA,
		.num_ports = HOST_PORTS,
		.node_guid = HOST_GUID(h),
		.port_guid = HOST_GUID(h) + 2, /* it was asked by its other port */
		.local_port_num = 2,
		.device_id = (uint16_t)(0x1000 + h),
	};
	struct node_facts *facts = facts_new(&info);
	struct port_info *port = &facts->port[1].info;

	snprintf(facts->reported, sizeof(facts->reported), "%s", host->name);
	snprintf(facts->description, sizeof(facts->description), "%s", host->name);
	two_switches_port(facts, 1, host->speed, host->speed_ext, MTU_4096, host->neighbor_mtu);
	port->lid = host->lid;
	port->lmc = host->lmc;
	port->m_key = HOST_M_KEY(h);
	port->capability_mask = h == D ? CAP_IS_SM | CAP_IS_TRAP : CAP_IS_TRAP;
	port->capability_mask2 = h == A ? 3 : 1;
	facts->port[1].guid = PORT_GUID(h);
	facts->port[1].pkeys = two_switches_keys(host->p_keys);
	if (h == A) {
		port->guid_cap = 16;
		facts->port[1].tables = two_switches_tables(16, 1, 1 << 0 | 1 << 2);
	}
	return facts;
}

static inline struct node_facts *two_switches_switch_facts(unsigned s)
{
	const struct node_info info = {
		.base_version = 1,
		.class_version = 1,
		.node_type = NODE_SWITCH,
		.num_ports = SWITCH_PORTS,
		.node_guid = SWITCH_GUID(s),
		.port_guid = SWITCH_GUID(s),
		.local_port_num = 3,
	};
	struct node_facts *facts = facts_new(&info);

	snprintf(facts->reported, sizeof(facts->reported), "switch S%u", s + 1);
	snprintf(facts->description, sizeof(facts->description), "switch S%u", s + 1);
	two_switches_port(facts, 0, 1, 0, MTU_4096, 0);
	two_switches_port(facts, 3, 4, 1, MTU_2048, MTU_2048);
	two_switches_port(facts, 4, 4, 2, MTU_4096, MTU_4096);
	facts->port[0].guid = SWITCH_GUID(s);
	facts->port[0].pkeys = two_switches_keys((const pkey_t[2]){PKEY_DEFAULT_FULL});
	facts->port[0].info.lid = (lid_t)(SWITCH_LID + s);
	facts->sw.linear_fdb_cap = (uint16_t)(1024 * (s + 1));
	if (s == S1) {
		facts->port[1].tables = two_switches_tables(0, 1, 0);
		facts->port[3].tables = two_switches_tables(0, SWITCH_PORTS + 1, 1 << 1);
	}
	for (unsigned h = 0; h < HOSTS; h++) {
		const struct two_switches_host *host = &two_switches_hosts[h];

		if (host->sw == s)
			two_switches_port(facts, host->sw_port, host->speed, host->speed_ext,
					  MTU_4096, host->neighbor_mtu);
	}
	return facts;
}

static inline struct snapshot *two_switches_snapshot(void)
{
	struct snapshot *snapshot = snapshot_new(SWITCHES, HOSTS, SWITCHES * (SWITCH_PORTS + 1));

	for (unsigned s = 0; s < SWITCHES; s++) {
		struct snap_switch *sw = &snapshot->switches[s];

		sw->guid = SWITCH_GUID(s);
		sw->lid = (lid_t)(SWITCH_LID + s);
		sw->num_ports = SWITCH_PORTS;
		sw->first_link = s * (SWITCH_PORTS + 1);
		sw->facts = two_switches_switch_facts(s);
		for (uint8_t port = 3; port <= 4; port++)
			snapshot->links[sw->first_link + port] =
				(struct snap_link){.sw = (int32_t)!s, .end = -1, .port = port};
	}
	for (unsigned h = 0; h < HOSTS; h++) {
		const struct two_switches_host *host = &two_switches_hosts[h];
		struct snap_end *end = &snapshot->ends[h];

		end->guid = PORT_GUID(h);
		end->lid = host->lid;
		end->lmc = host->lmc;
		end->port = 1;
		end->sw = host->sw;
		end->sw_port = host->sw_port;
		end->facts = two_switches_host_facts(h);
		snapshot->links[snapshot->switches[host->sw].first_link + host->sw_port] =
			(struct snap_link){.sw = -1, .end = (int32_t)h, .port = 1};
	}
	snapshot->sm_end = D;
	snapshot_index(snapshot);
	return snapshot;
}

static inline struct routes *two_switches_routes(const struct snapshot *snapshot)
{
	struct routes *routes = routes_new(1, SWITCHES, "by hand");

	for (uint32_t s = 0; s < SWITCHES; s++) {
		routes->lft[s] = lft_new(snapshot->lid_top);
		for (lid_t lid = 1; lid <= snapshot->lid_top; lid++) {
			struct snap_owner owner = snap_owner(snapshot, lid);
			uint8_t across = lid % 2 ? 4 : 3;

			if (owner.sw >= 0)
				routes->lft[s]->port[lid] = owner.sw == (int32_t)s ? 0 : across;
			else if (owner.end >= 0)
				routes->lft[s]->port[lid] =
					snapshot->ends[owner.end].sw == (int32_t)s
						? snapshot->ends[owner.end].sw_port
						: across;
		}
	}
	return routes;
}

static inline struct view *two_switches_view(void)
{
	const struct view_sm sms[] = {
		{28,
		 {.guid = PORT_GUID(D),
		  .sm_key = 77,
		  .act_count = 9,
		  .priority = 5,
		  .state = SM_MASTER}},
		{16, {.guid = PORT_GUID(A), .priority = 3, .state = SM_STANDBY}},
	};
	struct snapshot *snapshot = two_switches_snapshot();

	return view_new(1, snapshot, two_switches_routes(snapshot), sms, ARRAY_SIZE(sms));
}

#endif

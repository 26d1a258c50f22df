/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The values that a port should have, by its kind, and when they differ from those that it has:
 * sm/program/want.h. */
#include "sm/program/want.h"
#include "store/registry.h"
#include "tests/unit/fixtures/model.h"
#include "tests/unit/fixtures/unit.h"

static const struct sm_options options = {
	.subnet_prefix = GID_PREFIX_DEFAULT,
	.subnet_timeout = 17,
	.hoq_life = 12,
	.leaf_hoq_life = 10,
	.vl_stall_count = 6,
	.leaf_vl_stall_count = 5,
	.phy_errors_threshold = 8,
	.overrun_errors_threshold = 9,
	.max_op_vls = 3,
};

enum { SM_LID = 9, ROUTER_LID = 11, END_LID = 16, END_LMC = 2 };

/* switch 0 (base port 0) and 1 (enhanced), hosts 2 (ours) and 3 on them, router 4 on the first */
static struct model model;
static struct net *net;

static void begin(void)
{
	net = net_new();
	net_put(net, NODE_SWITCH, "base", 0, 4);
	net_put(net, NODE_SWITCH, "enhanced", 1, 4);
	net->nodes[1].enhanced_port0 = true;
	net_put_hosts(net, 0, 1);
	net_put_hosts(net, 1, 1);
	net_cable(net, 0, 1);
	net_put(net, NODE_ROUTER, "router", 2, 1);
	net_cable(net, 0, 4);
	model_init(&model);
	model_fill(&model, net, 0, 1, 2, 1);
	port_set_lid(model.fabric, model.fabric->sm_port, SM_LID, 0);
	port_set_lid(model.fabric, model_port(&model, net, 3, 1), END_LID, END_LMC);
	port_set_lid(model.fabric, model_port(&model, net, 4, 1), ROUTER_LID, 0);
	port_set_lid(model.fabric, model_port(&model, net, 0, 0), 1, 0);
	port_set_lid(model.fabric, model_port(&model, net, 1, 0), 2, 0);
}

static void end(void)
{
	model_done(&model);
	net_free(net);
}

static void change(struct port *port, void (*how)(struct port_info *info))
{
	struct port_info info = *port_info(port);

	how(&info);
	port_set_info(model.fabric, port, &info);
}

static void new_mtu(struct port_info *info)
{
	info->neighbor_mtu++;
}

static void new_lid(struct port_info *info)
{
	info->lid++;
}

static void new_hoq_life(struct port_info *info)
{
	info->hoq_life++;
}

static void new_violations(struct port_info *info)
{
	info->p_key_violations++;
	info->m_key_violations++;
	info->link_round_trip_latency++;
}

static void new_physical_state(struct port_info *info)
{
	info->port_physical_state = PHYS_ERROR_RECOVERY;
}

static void new_capabilities(struct port_info *info)
{
	info->capability_mask ^= CAP_COMMUNICATION_MANAGEMENT;
}

/* A field that the manager writes differs if a newer report shows another value. */
static void test_governed(void)
{
	static const struct {
		unsigned node, port;
		void (*how)(struct port_info *info);
		bool same;
	} rows[] = {
		{3, 1, new_lid, false},		{3, 1, new_mtu, false},
		{3, 1, new_hoq_life, true},	{0, 1, new_hoq_life, false},
		{0, 1, new_lid, true},		{0, 0, new_lid, false},
		{3, 1, new_violations, true},	{3, 1, new_physical_state, true},
		{3, 1, new_capabilities, true}, {0, 1, new_physical_state, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct port *port;
		struct port_info shown;

		begin();
		port = model_port(&model, net, rows[i].node, rows[i].port);
		shown = *port_info(port);
		CU_ASSERT(port_governed_is_same(port, &shown));
		rows[i].how(&shown);
		CU_ASSERT_EQUAL(port_governed_is_same(port, &shown), rows[i].same);
		end();
	}
}

static void test_kinds(void)
{
	static const struct {
		unsigned node, port;
		bool end, external, thresholds;
		lid_t lid;
		uint8_t lmc, hoq_life, stall;
	} rows[] = {
		{3, 1, true, false, true, END_LID, END_LMC, 0, 0},
		{2, 1, true, false, true, SM_LID, 0, 0, 0},
		{0, 0, true, false, false, 1, 0, 0, 0},
		{1, 0, true, false, true, 2, 0, 0, 0},
		{0, 1, false, true, true, 0, 0, 10, 5}, /* to a host */
		{0, 2, false, true, true, 0, 0, 12, 6}, /* to a switch */
		{0, 3, false, true, true, 0, 0, 10, 5}, /* to a router */
		{0, 4, false, true, true, 0, 0, 12, 6}, /* to nothing */
		{4, 1, true, false, true, ROUTER_LID, 0, 10, 0},
	};

	begin();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct port *port = model_port(&model, net, rows[i].node, rows[i].port);
		struct port_info want;

		port_want(model.fabric, &options, port, &want);
		CU_ASSERT_EQUAL(want.lid, rows[i].lid);
		CU_ASSERT_EQUAL(want.lmc, rows[i].lmc);
		CU_ASSERT_EQUAL(want.gid_prefix, rows[i].end ? GID_PREFIX_DEFAULT : 0);
		CU_ASSERT_EQUAL(want.master_sm_lid, rows[i].end ? SM_LID : 0);
		CU_ASSERT_EQUAL(want.subnet_timeout, rows[i].end ? 17 : 0);
		CU_ASSERT_EQUAL(want.hoq_life, rows[i].hoq_life);
		CU_ASSERT_EQUAL(want.vl_stall_count, rows[i].stall);
		CU_ASSERT_EQUAL(want.local_phy_errors, rows[i].thresholds ? 8 : 0);
		CU_ASSERT_EQUAL(want.overrun_errors, rows[i].thresholds ? 9 : 0);
		CU_ASSERT_TRUE(port_differs(port, &want));
		CU_ASSERT_EQUAL(want.m_key, 0);
		CU_ASSERT_EQUAL(want.m_key_protect_bits, 0);
	}
	end();
}

/* A key comes from its record, independent of the key that the port showed, and sets level and
 * lease. */
static void test_m_key(void)
{
	struct sm_options protecting = options;
	struct m_key_entry entry = {.m_key = 0x1234, .previous = 0x99};
	struct registry *registry = registry_new();
	struct port_info want;
	struct port *port;

	begin();
	protecting.m_key_protection_level = 2;
	protecting.m_key_lease_s = 60;
	port = model_port(&model, net, 3, 1);
	entry.guid = port_facts(port)->guid;
	registry_put(registry, REGISTRY_M_KEY, &entry);
	model.fabric->registry = registry;
	port_want(model.fabric, &protecting, port, &want);
	CU_ASSERT_EQUAL(want.m_key, 0x1234);
	CU_ASSERT_EQUAL(want.m_key_protect_bits, 2);
	CU_ASSERT_EQUAL(want.m_key_lease_period, 60);
	/* Another port has no record. */
	port_want(model.fabric, &protecting, model_port(&model, net, 0, 0), &want);
	CU_ASSERT_EQUAL(want.m_key, 0);
	CU_ASSERT_EQUAL(want.m_key_protect_bits, 0);
	end();
	registry_free(registry);
}

/* Fields for which the record carries the no-change value, independent of the values read. */
static void all_set(struct port_info *info)
{
	info->port_state = PORT_ACTIVE;
	info->port_physical_state = PHYS_LINK_UP;
	info->link_down_default_state = 2;
	info->link_width_enabled = 2;
	info->link_speed_enabled = 7;
	info->link_speed_ext_enabled = 3;
	info->link_speed_ext_enabled2 = 1;
	info->client_reregister = 1;
	info->vl_high_limit = 4;
	info->m_key_violations = 77;
}

static void test_no_change_values(void)
{
	begin();
	for (unsigned n = 0; n < 4; n++) {
		struct port *port = model_port(&model, net, n, 1);
		struct port_info want;

		change(port, all_set);
		port_want(model.fabric, &options, port, &want);
		CU_ASSERT_EQUAL(want.port_state, PORT_NO_CHANGE);
		CU_ASSERT_EQUAL(want.port_physical_state, PHYS_NO_CHANGE);
		CU_ASSERT_EQUAL(want.link_down_default_state, PHYS_POLLING);
		CU_ASSERT_EQUAL(want.link_width_enabled, 0);
		CU_ASSERT_EQUAL(want.link_speed_enabled, 0);
		CU_ASSERT_EQUAL(want.link_speed_ext_enabled, 0);
		CU_ASSERT_EQUAL(want.link_speed_ext_enabled2, 0);
		CU_ASSERT_EQUAL(want.client_reregister, 0);
		CU_ASSERT_EQUAL(want.vl_high_limit, 4); /* written as it was read */
	}
	end();
}

/* MTU and VLs: supported by both ends, at most the option. An ACTIVE link keeps its values. */
static uint8_t mtu_here, vl_here, state_here, mtu_held, vls_held;
static void capabilities(struct port_info *info)
{
	info->mtu_cap = mtu_here;
	info->vl_cap = vl_here;
	info->port_state = state_here;
	info->neighbor_mtu = 2;
	info->operational_vls = 2;
}

static void test_link_values(void)
{
	static const struct {
		uint8_t mtu_cap, peer_mtu_cap, vl_cap, peer_vl_cap, state;
		uint8_t mtu, vls;
		bool mismatch;
	} rows[] = {
		{5, 5, 4, 4, PORT_INIT, 5, 3, false},	{4, 5, 4, 4, PORT_INIT, 4, 3, false},
		{5, 3, 4, 4, PORT_ARMED, 3, 3, false},	{5, 5, 2, 4, PORT_INIT, 5, 2, false},
		{5, 5, 4, 1, PORT_INIT, 5, 1, false},	{5, 5, 4, 4, PORT_ACTIVE, 2, 2, true},
		{2, 5, 2, 4, PORT_ACTIVE, 2, 2, false}, {0, 0, 4, 4, PORT_INIT, 2, 3, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct port *port, *peer;
		struct port_info want;
		uint8_t mtu, vls;

		begin();
		port = model_port(&model, net, 0, 2);
		peer = port->peer;
		mtu_here = rows[i].mtu_cap;
		vl_here = rows[i].vl_cap;
		state_here = rows[i].state;
		change(port, capabilities);
		mtu_here = rows[i].peer_mtu_cap;
		vl_here = rows[i].peer_vl_cap;
		change(peer, capabilities);
		port_want(model.fabric, &options, port, &want);
		CU_ASSERT_EQUAL(want.neighbor_mtu, rows[i].mtu);
		CU_ASSERT_EQUAL(want.operational_vls, rows[i].vls);
		CU_ASSERT_EQUAL(port_link_mismatch(&options, port, &mtu, &vls), rows[i].mismatch);
		end();
	}
}

static void with_mtu(struct port_info *info)
{
	capabilities(info);
	info->neighbor_mtu = mtu_held;
}

/* The ends of an ACTIVE link hold different MTUs: both get the MTU that both support. The VLs stay.
 */
static void test_ends_differ(void)
{
	static const struct {
		uint8_t state, mtu, peer_mtu, want;
	} rows[] = {
		{PORT_ACTIVE, 1, 5, 5}, {PORT_ACTIVE, 5, 1, 5}, {PORT_ACTIVE, 4, 3, 5},
		{PORT_ACTIVE, 1, 1, 1}, {PORT_ACTIVE, 4, 4, 4},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct port *port;
		struct port_info want;

		begin();
		port = model_port(&model, net, 3, 1);
		mtu_here = 5;
		vl_here = 4;
		state_here = rows[i].state;
		mtu_held = rows[i].mtu;
		change(port, with_mtu);
		mtu_held = rows[i].peer_mtu;
		change(port->peer, with_mtu);
		port_want(model.fabric, &options, port, &want);
		CU_ASSERT_EQUAL(want.neighbor_mtu, rows[i].want);
		CU_ASSERT_EQUAL(want.operational_vls, 2);
		end();
	}
}

/* When a link goes through Down for its MTU or VLs. It never does where a host can be using it: one
 * end is ACTIVE, and the adapter has a LID and knows a manager. */
static lid_t lid_held, manager_held;
static void a_host(struct port_info *info)
{
	info->mtu_cap = info->vl_cap = 4;
	info->port_state = state_here;
	info->neighbor_mtu = mtu_held;
	info->operational_vls = vls_held;
	info->lid = lid_held;
	info->master_sm_lid = manager_held;
}

static void test_restarts(void)
{
	enum { HOST = 3, OURS = 2, ROUTER = 4, SWITCH = 0 };
	enum { BY_US = 1, BEFORE = 2 }; /* it was ARMED by us; it was restarted before */
	static const struct {
		unsigned node, port;
		uint8_t state, peer_state, mtu, vls;
		lid_t lid, manager;
		unsigned flags;
		bool restarts;
	} rows[] = {
		/* The values of both are written in INIT, without. */
		{HOST, 1, PORT_INIT, PORT_INIT, 2, 3, 0, 0, 0, false},
		{HOST, 1, PORT_ARMED, PORT_ARMED, 2, 3, 0, 0, 0, true},
		{HOST, 1, PORT_ARMED, PORT_ARMED, 4, 2, 0, 0, 0, true},
		{HOST, 1, PORT_ARMED, PORT_ARMED, 4, 3, 0, 0, 0, false},
		/* No packet passes it, so it does not matter which manager has ARMED it. */
		{HOST, 1, PORT_ARMED, PORT_ARMED, 2, 3, 70, 7, 0, true},
		{HOST, 1, PORT_ARMED, PORT_INIT, 2, 3, 70, 7, 0, true},
		{ROUTER, 1, PORT_ARMED, PORT_ARMED, 2, 3, 0, 0, 0, true},
		{HOST, 1, PORT_ARMED, PORT_ARMED, 2, 3, 0, 0, BY_US, false},
		{HOST, 1, PORT_ARMED, PORT_ARMED, 2, 3, 0, 0, BEFORE, false},
		/* The first packet makes it ACTIVE, too. */
		{HOST, 1, PORT_ARMED, PORT_ACTIVE, 2, 3, 70, 7, 0, false},
		{HOST, 1, PORT_ACTIVE, PORT_ACTIVE, 2, 2, 70, 7, 0, false},
		{HOST, 1, PORT_ACTIVE, PORT_ACTIVE, 2, 2, 70, SM_LID, 0, false},
		{HOST, 1, PORT_ACTIVE, PORT_ACTIVE, 2, 3, 0, 7, 0, true},
		{HOST, 1, PORT_ACTIVE, PORT_ACTIVE, 2, 3, 70, 0, 0, true},
		{HOST, 1, PORT_ACTIVE, PORT_ACTIVE, 4, 3, 0, 0, 0, false},
		/* Our own link, and switches' ports. */
		{OURS, 1, PORT_ARMED, PORT_ARMED, 2, 3, 0, 0, 0, false},
		{SWITCH, 2, PORT_ARMED, PORT_ARMED, 2, 3, 0, 0, 0, false},
		{SWITCH, 1, PORT_ARMED, PORT_ARMED, 2, 3, 0, 0, 0, false},
		{SWITCH, 0, PORT_ARMED, PORT_ARMED, 2, 3, 0, 0, 0, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct port_info want = {0};
		struct port *port;
		bool restarts;

		begin();
		port = model_port(&model, net, rows[i].node, rows[i].port);
		lid_held = rows[i].lid;
		manager_held = rows[i].manager;
		mtu_held = rows[i].mtu;
		vls_held = rows[i].vls;
		state_here = rows[i].state;
		change(port, a_host);
		state_here = rows[i].peer_state;
		if (port->peer)
			change(port->peer, a_host);
		port->program.armed = rows[i].flags & BY_US;
		port->program.restarted = rows[i].flags & BEFORE;
		restarts = port_link_restarts(model.fabric, &options, port, &want);
		CU_ASSERT_EQUAL(restarts, rows[i].restarts);
		if (restarts != rows[i].restarts)
			printf("    row %zu\n", i);
		CU_ASSERT_EQUAL(want.neighbor_mtu, restarts ? 4 : 0);
		CU_ASSERT_EQUAL(want.operational_vls, restarts ? 3 : 0);
		end();
	}
}

/* A device without a valid VLCap: no change, rather than 0 that is never reached. */
static void test_unknown_vl_cap(void)
{
	struct port *port;
	struct port_info want;
	uint8_t mtu, vls;

	begin();
	port = model_port(&model, net, 0, 2);
	mtu_here = 5;
	vl_here = 0;
	state_here = PORT_INIT;
	change(port, capabilities);
	port_want(model.fabric, &options, port, &want);
	CU_ASSERT_EQUAL(want.operational_vls, 2);
	state_here = PORT_ACTIVE;
	change(port, capabilities);
	CU_ASSERT_FALSE(port_link_mismatch(&options, port, &mtu, &vls) && vls == 0);
	end();
}

static lid_t sm_lid_here;
static void reregisters(struct port_info *info)
{
	info->capability_mask |= CAP_CLIENT_REREGISTER;
	info->master_sm_lid = sm_lid_here;
}

static void test_reregister(void)
{
	static const struct {
		unsigned node, port;
		lid_t sm_lid;
		bool capable, unheard, wanted;
	} rows[] = {
		{3, 1, SM_LID + 1, true, false, true},	 {3, 1, SM_LID, true, false, false},
		{3, 1, SM_LID, true, true, true},	 {3, 1, SM_LID, false, true, false},
		{3, 1, SM_LID + 1, false, false, false}, {0, 0, SM_LID + 1, true, false, true},
		{0, 0, SM_LID, true, false, false},	 {0, 0, SM_LID, true, true, true},
		{0, 2, SM_LID + 1, true, false, false},	 {0, 2, SM_LID, true, true, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct port_info want;
		struct port *port;

		begin();
		port = model_port(&model, net, rows[i].node, rows[i].port);
		sm_lid_here = rows[i].sm_lid;
		if (rows[i].capable)
			change(port, reregisters);
		port->rereg_epoch = rows[i].unheard ? 0 : model.fabric->rereg_epoch;
		port_want(model.fabric, &options, port, &want);
		CU_ASSERT_EQUAL(want.client_reregister, rows[i].wanted);
		/* A command is no difference. */
		port_set_info(model.fabric, port, &want);
		want.client_reregister ^= 1;
		CU_ASSERT_FALSE(port_differs(port, &want));
		end();
	}
}

/* The fields that count at each kind of port: changed one by one. */
static void test_governed_fields(void)
{
	/* adapter, base 0, enhanced 0, external, router; any end port with a cable */
	enum { A = 1, B = 2, H = 4, X = 8, R = 16, E = A | R };
	static const struct {
		const char *name;
		unsigned kinds;
	} rows[] = {
		{"M_Key", E | B | H},
		{"GidPrefix", E | B | H},
		{"LID", E | B | H},
		{"MasterSMLID", E | B | H},
		{"MasterSMSL", E | B | H},
		{"M_KeyLeasePeriod", E | B | H},
		{"M_KeyProtectBits", E | B | H},
		{"SubnetTimeOut", E | B | H},
		{"LMC", E | H},
		{"NeighborMTU", E | H | X},
		{"OperationalVLs", E | X},
		{"HOQLife", X | R},
		{"VLStallCount", X},
		{"PartitionEnforcementInbound", X},
		{"PartitionEnforcementOutbound", X},
		{"LocalPhyErrors", E | H | X},
		{"OverrunErrors", E | H | X},
		{"LinkDownDefaultState", E | X},
		{"LinkWidthEnabled", E | X},
		{"LinkSpeedEnabled", E | X},
		{"LinkSpeedExtEnabled", E | X},
	};
	static const struct {
		unsigned kind, node, port;
	} ports[] = {{A, 3, 1}, {B, 0, 0}, {H, 1, 0}, {X, 0, 2}, {R, 4, 1}};

	begin();
	for (size_t p = 0; p < ARRAY_SIZE(ports); p++) {
		struct port *port = model_port(&model, net, ports[p].node, ports[p].port);
		unsigned found = 0, expected = 0;

		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			expected += (rows[i].kinds & ports[p].kind) != 0;
		for (size_t f = 0; f < port_info_format.count; f++) {
			const struct field *field = &port_info_format.fields[f];
			struct port_info want = *port_info(port);
			unsigned kinds = 0;

			if (field->kind != FIELD_UINT)
				continue;
			for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
				if (strcmp(rows[i].name, field->name) == 0)
					kinds = rows[i].kinds;
			}
			CU_ASSERT_FALSE(port_differs(port, &want));
			format_put(&port_info_format, f, &want,
				   format_get(&port_info_format, f, &want) ^ 1);
			CU_ASSERT_EQUAL(port_differs(port, &want), (kinds & ports[p].kind) != 0);
			if (port_differs(port, &want) != ((kinds & ports[p].kind) != 0))
				printf("    %s, kind %u\n", field->name, ports[p].kind);
			found += port_differs(port, &want);
		}
		CU_ASSERT_EQUAL(found, expected);
	}
	end();
}

/* A switch's enhanced port 0 has no neighbour, but hosts ask for paths to it: osm_lid_mgr.c sets
 * NeighborMTU to MTUCap there, in every port state. */
static uint8_t mtu_cap_here;
static void enhanced(struct port_info *info)
{
	info->mtu_cap = mtu_cap_here;
	info->port_state = state_here;
	info->neighbor_mtu = 1;
}

static void test_port0_mtu(void)
{
	static const struct {
		unsigned node;
		uint8_t mtu_cap, state, mtu;
	} rows[] = {
		{1, 5, PORT_ACTIVE, 5}, {1, 4, PORT_INIT, 4},	{1, 5, PORT_DOWN, 5},
		{1, 0, PORT_ACTIVE, 1}, {0, 5, PORT_ACTIVE, 1}, /* base: not its member */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct port_info want;
		struct port *port;

		begin();
		port = model_port(&model, net, rows[i].node, 0);
		mtu_cap_here = rows[i].mtu_cap;
		state_here = rows[i].state;
		change(port, enhanced);
		port_want(model.fabric, &options, port, &want);
		CU_ASSERT_EQUAL(want.neighbor_mtu, rows[i].mtu);
		end();
	}
}

/* The widths and speeds that the ports at both ends of a link support and have enabled. */
static struct {
	uint8_t supported, enabled;
	bool extended, knows_2x;
} link_here;

static void a_link(struct port_info *info)
{
	info->link_width_supported = info->link_speed_supported = info->link_speed_ext_supported =
		link_here.supported;
	info->link_width_enabled = info->link_speed_enabled = info->link_speed_ext_enabled =
		link_here.enabled;
	info->capability_mask = link_here.extended ? CAP_EXTENDED_SPEEDS | CAP_MASK2 : CAP_MASK2;
	info->capability_mask2 = link_here.knows_2x ? CAP2_LINK_WIDTH_2X : 0;
}

/* Port 0 of a switch shows the abilities of its ports. */
static void put_link(struct port *port)
{
	change(port, a_link);
	if (port_of_switch(port))
		change(&port->node->port[0], a_link);
}

/* The values of OpenSM's options, as in osm_link_mgr.c: 0 is not written, and "all" is written if
 * not all is enabled. Unsupported values are not written; OpenSM writes them, and the port refuses
 * them. */
static void test_force_links(void)
{
	enum member { WIDTH, SPEED, EXTENDED };
	enum { BOTH, HERE, NEITHER }; /* which ends know extended speeds */
	static const struct {
		enum member member;
		uint8_t option, supported, enabled, ends;
		bool knows_2x;
		uint8_t want;
		uint8_t held; /* after the Set(), as the agent shows it */
	} rows[] = {
		{WIDTH, 0, 3, 1, BOTH, false, 0, 1},
		{WIDTH, 255, 3, 1, BOTH, false, 255, 3},
		{WIDTH, 255, 3, 3, BOTH, false, 0, 3},
		{WIDTH, 1, 3, 3, BOTH, false, 1, 1},
		{WIDTH, 2, 3, 3, BOTH, false, 2, 2},
		{WIDTH, 2, 3, 2, BOTH, false, 0, 2},
		{WIDTH, 8, 3, 3, BOTH, false, 0, 3},	 /* 12x, of which it has nothing */
		{WIDTH, 11, 3, 1, BOTH, false, 3, 3},	 /* 1x, 4x or 12x */
		{WIDTH, 16, 19, 19, BOTH, true, 16, 16}, /* 2x */
		{WIDTH, 16, 19, 19, BOTH, false, 0, 19}, /* an encoding that it does not know */
		{WIDTH, 18, 19, 19, BOTH, false, 2, 2},
		{SPEED, 0, 7, 1, BOTH, false, 0, 1},
		{SPEED, 15, 7, 1, BOTH, false, 15, 7},
		{SPEED, 15, 7, 7, BOTH, false, 0, 7},
		{SPEED, 3, 7, 7, BOTH, false, 3, 3},
		{SPEED, 7, 3, 1, BOTH, false, 3, 3},
		{SPEED, 1, 7, 7, NEITHER, false, 1, 1},
		{EXTENDED, 0, 7, 1, BOTH, false, 0, 1},
		{EXTENDED, 31, 7, 3, BOTH, false, 31, 7},
		{EXTENDED, 31, 7, 7, BOTH, false, 0, 7},
		{EXTENDED, 30, 7, 7, BOTH, false, 30, 30},
		{EXTENDED, 30, 7, 30, BOTH, false, 0, 30},
		{EXTENDED, 3, 7, 7, BOTH, false, 3, 3},
		{EXTENDED, 8, 7, 7, BOTH, false, 0, 7},
		{EXTENDED, 3, 7, 7, HERE, false, 0, 7},
		{EXTENDED, 3, 7, 7, NEITHER, false, 0, 7},
	};
	static const struct {
		unsigned node, port;
	} ports[] = {{3, 1}, {0, 2}, {4, 1}};

	for (size_t i = 0; i < ARRAY_SIZE(rows) * ARRAY_SIZE(ports); i++) {
		size_t r = i % ARRAY_SIZE(rows), p = i / ARRAY_SIZE(rows);
		struct sm_options forcing = options;
		struct port_info want = {0}, held = {0};
		struct port *port;
		uint8_t *enabled[] = {&want.link_width_enabled, &want.link_speed_enabled,
				      &want.link_speed_ext_enabled};
		uint8_t *shown[] = {&held.link_width_enabled, &held.link_speed_enabled,
				    &held.link_speed_ext_enabled};

		forcing.force_link_width = rows[r].member == WIDTH ? rows[r].option : 0;
		forcing.force_link_speed = rows[r].member == SPEED ? rows[r].option : 0;
		forcing.force_link_speed_ext = rows[r].member == EXTENDED ? rows[r].option : 0;
		begin();
		port = model_port(&model, net, ports[p].node, ports[p].port);
		link_here.supported = rows[r].supported;
		link_here.enabled = rows[r].enabled;
		link_here.knows_2x = rows[r].knows_2x;
		link_here.extended = rows[r].ends != NEITHER;
		put_link(port);
		link_here.extended = rows[r].ends == BOTH;
		put_link(port->peer);
		port_want(model.fabric, &forcing, port, &want);
		for (unsigned m = WIDTH; m <= EXTENDED; m++)
			CU_ASSERT_EQUAL(*enabled[m], m == rows[r].member ? rows[r].want : 0);
		/* When the port has it there is no difference, and no note of a refusal. */
		held = want;
		for (unsigned m = WIDTH; m <= EXTENDED; m++)
			*shown[m] = m == rows[r].member ? rows[r].held : rows[r].enabled;
		port_note_echo(port, &want, &held);
		CU_ASSERT_PTR_NULL(port->program.echo);
		port_set_info(model.fabric, port, &held);
		CU_ASSERT_FALSE(port_differs(port, &want));
		port_want(model.fabric, &forcing, port, &want);
		CU_ASSERT_EQUAL(*enabled[rows[r].member], 0);
		end();
	}
}

/* No port 0 has a link to force. */
static void test_force_port0(void)
{
	struct sm_options forcing = options;

	forcing.force_link_width = forcing.force_link_speed = forcing.force_link_speed_ext = 1;
	begin();
	link_here.supported = link_here.enabled = 7;
	link_here.extended = true;
	for (unsigned n = 0; n < 2; n++) {
		struct port *port = model_port(&model, net, n, 0);
		struct port_info want;

		change(port, a_link);
		port_want(model.fabric, &forcing, port, &want);
		CU_ASSERT_EQUAL(want.link_width_enabled, 0);
		CU_ASSERT_EQUAL(want.link_speed_enabled, 0);
		CU_ASSERT_EQUAL(want.link_speed_ext_enabled, 0);
		CU_ASSERT_EQUAL(want.link_down_default_state, 0);
	}
	end();
}

static void test_echo(void)
{
	struct port_info want, held, other;
	struct port *port;

	begin();
	port = model_port(&model, net, 3, 1);
	port_want(model.fabric, &options, port, &want);
	held = want;
	port_note_echo(port, &want, &held);
	CU_ASSERT_PTR_NULL(port->program.echo); /* it took all */
	held.subnet_timeout = 5;
	held.port_state = PORT_ARMED;
	port_set_info(model.fabric, port, &held);
	CU_ASSERT_TRUE(port_differs(port, &want));
	port_note_echo(port, &want, &held);
	CU_ASSERT_PTR_NOT_NULL(port->program.echo);
	CU_ASSERT_FALSE(port_differs(port, &want)); /* it will not take it */
	other = want;
	other.subnet_timeout = 16; /* something else is wanted */
	CU_ASSERT_TRUE(port_differs(port, &other));
	other = want;
	other.lid = 48; /* another field */
	CU_ASSERT_TRUE(port_differs(port, &other));
	held.subnet_timeout = 6; /* it holds something else now */
	port_set_info(model.fabric, port, &held);
	CU_ASSERT_TRUE(port_differs(port, &want));
	held.subnet_timeout = 5;
	port_set_info(model.fabric, port, &held);
	CU_ASSERT_FALSE(port_differs(port, &want));
	/* It passes INIT: it gets the value again. */
	held.port_state = PORT_INIT;
	port_set_info(model.fabric, port, &held);
	CU_ASSERT_PTR_NULL(port->program.echo);
	CU_ASSERT_TRUE(port_differs(port, &want));
	/* Of a field that is not governed here, no answer is remembered. */
	held = want;
	held.hoq_life ^= 1;
	held.diag_code = 3;
	port_note_echo(port, &want, &held);
	CU_ASSERT_PTR_NULL(port->program.echo);
	end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"kinds", test_kinds},
		{"a newer report with other values", test_governed},
		{"M_Keys", test_m_key},
		{"no-change values", test_no_change_values},
		{"link values", test_link_values},
		{"ends of a link that differ", test_ends_differ},
		{"links that restart", test_restarts},
		{"unknown VLCap", test_unknown_vl_cap},
		{"reregister", test_reregister},
		{"governed fields", test_governed_fields},
		{"MTU of port 0", test_port0_mtu},
		{"forced widths and speeds", test_force_links},
		{"none at port 0", test_force_port0},
		{"echo", test_echo},
		CU_TEST_INFO_NULL,
	};

	return unit_main("want", tests);
}

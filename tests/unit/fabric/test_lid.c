/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Assignment of LIDs: fabric/lid.h. */
#include "fabric/lid.h"
#include "store/registry.h"
#include "tests/unit/fixtures/model.h"
#include "tests/unit/fixtures/unit.h"

static struct net *net_of(const char *spec)
{
	struct net *net;
	char *error;

	if (spec_build(spec, &net, &error))
		abort();
	return net;
}

static unsigned own_port(const struct net *net, unsigned node)
{
	return net->nodes[node].type == NODE_SWITCH ? 0 : 1;
}

static lid_t lid_of(const struct model *model, const struct net *net, unsigned node)
{
	return model_port(model, net, node, own_port(net, node))->lid;
}

static bool lmc_esp0; /* enhanced ports 0 have the LMC, too */

/* LIDs that are missing, not aligned, out of range, shared, or not in the index. */
static unsigned faults(const struct model *model, const struct net *net, uint8_t lmc, lid_t max)
{
	static bool taken[LID_UNICAST_MAX + 1];
	unsigned count = 0;

	memset(taken, 0, sizeof(taken));
	for (unsigned n = 0; n < net->count; n++) {
		const struct port *port = model_port(model, net, n, own_port(net, n));
		bool one = net->nodes[n].type == NODE_SWITCH &&
			   !(lmc_esp0 && net->nodes[n].enhanced_port0);
		uint8_t want = one ? 0 : lmc;

		count += port->lmc != want;
		count += !port->lid || port->lid % (1u << want);
		count += port->lid + (1u << want) - 1 > max;
		for (unsigned i = 0; i < 1u << want && port->lid + i <= LID_UNICAST_MAX; i++) {
			count += taken[port->lid + i];
			taken[port->lid + i] = true;
			count += model->fabric->lids[port->lid + i] != port;
		}
	}
	return count;
}

static void test_every_lmc(void)
{
	for (uint8_t lmc = 0; lmc <= LMC_MAX; lmc++) {
		struct net *net = net_of("fattree:radix=8,levels=2");
		struct lid_report report;
		struct model model;

		model_init(&model);
		model_fill(&model, net, 0, 1, 0, 1);
		lid_assign(model.fabric, lmc, &report);
		CU_ASSERT_EQUAL(faults(&model, net, lmc, LID_UNICAST_MAX), 0);
		CU_ASSERT_EQUAL(report.given, net->count);
		CU_ASSERT_EQUAL(report.kept + report.conflicts + report.exhausted, 0);
		lid_assign(model.fabric, lmc, &report); /* again: nothing to do */
		CU_ASSERT_EQUAL(report.given + report.kept + report.conflicts, 0);
		/* LMC changes at run time, in both directions. */
		lid_assign(model.fabric, LMC_MAX - lmc, &report);
		CU_ASSERT_EQUAL(faults(&model, net, LMC_MAX - lmc, LID_UNICAST_MAX), 0);
		model_done(&model);
		net_free(net);
	}
}

/* Switches have blocks of their own, the hosts of a leaf share one. */
static void test_blocks(void)
{
	struct net *net = net_of("fattree:radix=16,levels=2");
	int block_of_leaf[512];
	struct lid_report report;
	struct model model;

	model_init(&model);
	model_fill(&model, net, 0, 1, 0, 1);
	lid_assign(model.fabric, 0, &report);
	memset(block_of_leaf, -1, sizeof(block_of_leaf));
	for (unsigned n = 0; n < net->count; n++) {
		int block = lid_of(&model, net, n) / LFT_BLOCK_LIDS;
		int leaf;

		if (net->nodes[n].type == NODE_SWITCH) {
			CU_ASSERT_EQUAL(block, 0);
			continue;
		}
		leaf = net->nodes[n].port[1].peer;
		CU_ASSERT_TRUE(block > 0);
		if (block_of_leaf[leaf] < 0)
			block_of_leaf[leaf] = block;
		CU_ASSERT_EQUAL(block_of_leaf[leaf], block);
	}
	model_done(&model);
	net_free(net);
}

static void test_any_order_of_discovery(void)
{
	struct net *net = net_of("fattree:radix=8,levels=2");
	lid_t first[512] = {0};

	for (unsigned order = 0; order < 4; order++) {
		static const unsigned steps[] = {1, 1, 5, 7};
		struct lid_report report;
		struct model model;

		CU_ASSERT_NOT_EQUAL_FATAL(net->count % steps[order] == 0 && steps[order] > 1, 1);
		model_init(&model);
		model_fill(&model, net, order * 7, steps[order], 3, 1);
		lid_assign(model.fabric, 1, &report);
		for (unsigned n = 0; n < net->count; n++) {
			if (order == 0)
				first[n] = lid_of(&model, net, n);
			CU_ASSERT_EQUAL(lid_of(&model, net, n), first[n]);
		}
		model_done(&model);
	}
	net_free(net);
}

static void test_kept_and_conflicts(void)
{
	static const struct {
		lid_t found[4];	  /* on the hosts; host 0 is the manager's */
		uint8_t state[4]; /* 0: INIT */
		uint8_t lmc;
		bool kept[4];
		unsigned conflicts, resized;
	} rows[] = {
		{{10, 20, 30, 40}, {0}, 0, {true, true, true, true}, 0, 0},
		{{10, 10, 10, 40}, {0}, 0, {true, false, false, true}, 2, 0},
		/* The manager's own before all, ACTIVE ones before others, then by GUID. */
		{{10, 10, 30, 30},
		 {0, PORT_ACTIVE, 0, PORT_ACTIVE},
		 0,
		 {true, false, false, true},
		 2,
		 0},
		{{0, 30, 30, 30},
		 {0, 0, PORT_ACTIVE, PORT_ACTIVE},
		 0,
		 {false, false, true, false},
		 2,
		 0},
		{{8, 17, 24, 26}, {0}, 3, {true, false, true, false}, 1, 1}, /* not aligned */
		{{8, 16, 0xBFF8, 0xBFFF}, {0}, 3, {true, true, true, false}, 1, 0},
		{{0xC000, 0xFFFF, 0xFFFE, 0xBFFF}, {0}, 0, {false, false, false, true}, 3, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct net *net = net_of("single:hosts=4");
		struct lid_report report;
		struct model model;
		unsigned kept = 0;

		model_init(&model);
		model_fill(&model, net, 0, 1, 0, 1);
		for (unsigned h = 0; h < 4; h++) {
			struct port *port = model_port(&model, net, h, 1);
			struct port_info info = *port_info(port);

			info.lid = rows[i].found[h];
			info.port_state = rows[i].state[h] ? rows[i].state[h] : PORT_INIT;
			port_set_info(model.fabric, port, &info);
			kept += rows[i].kept[h];
		}
		lid_assign(model.fabric, rows[i].lmc, &report);
		for (unsigned h = 0; h < 4; h++)
			CU_ASSERT_EQUAL(lid_of(&model, net, h) == rows[i].found[h],
					rows[i].kept[h]);
		CU_ASSERT_EQUAL(report.kept, kept);
		CU_ASSERT_EQUAL(report.conflicts, rows[i].conflicts);
		CU_ASSERT_EQUAL(report.resized, rows[i].resized);
		CU_ASSERT_EQUAL(report.conflict_example != NULL, rows[i].conflicts > 0);
		CU_ASSERT_EQUAL(faults(&model, net, rows[i].lmc, LID_UNICAST_MAX), 0);
		model_done(&model);
		net_free(net);
	}
}

/* A new port that holds a LID in use gets another LID. The present owner keeps it. */
static void test_newcomer(void)
{
	struct net *net = net_of("single:hosts=3");
	struct lid_report report;
	struct port_info info;
	struct model model;
	struct port *late;
	lid_t before[4];

	model_init(&model);
	model_fill(&model, net, 0, 1, 0, 1);
	late = model_port(&model, net, 2, 1);
	info = *port_info(late);
	fabric_unlink(model.fabric, late);
	fabric_build_tree(model.fabric);
	lid_assign(model.fabric, 0, &report);
	CU_ASSERT_EQUAL(late->lid, LID_NONE); /* it cannot be reached */
	CU_ASSERT_EQUAL(report.exhausted, 0);
	for (unsigned n = 0; n < 4; n++)
		before[n] = lid_of(&model, net, n);
	info.lid = before[1];
	port_set_info(model.fabric, late, &info);
	fabric_link(model.fabric, late,
		    model_port(&model, net, 3, net->nodes[2].port[1].peer_port));
	fabric_build_tree(model.fabric);
	lid_assign(model.fabric, 0, &report);
	CU_ASSERT_EQUAL(report.conflicts, 1);
	CU_ASSERT_PTR_EQUAL(report.conflict_example, late);
	CU_ASSERT_EQUAL(report.conflict_lid, before[1]);
	CU_ASSERT_EQUAL(faults(&model, net, 0, LID_UNICAST_MAX), 0);
	for (unsigned n = 0; n < 4; n++)
		CU_ASSERT_TRUE(n == 2 || lid_of(&model, net, n) == before[n]);
	model_done(&model);
	net_free(net);
}

static void set_cap(struct model *model, const struct net *net, unsigned node, uint16_t cap)
{
	struct switch_info sw = {.linear_fdb_cap = cap};

	node_set_switch_info(model->fabric, model_port(model, net, node, 0)->node, &sw);
}

/* The smallest table bounds the LIDs. Ports without a LID are reported. */
static void test_small_tables(void)
{
	static const struct {
		uint16_t cap;
		uint8_t lmc;
		unsigned given;
	} rows[] = {
		{64, 0, 33}, {34, 0, 33}, {33, 0, 32}, {2, 0, 1},   {1, 0, 0},
		{64, 1, 32}, {64, 3, 8},  {128, 7, 1}, {256, 7, 2}, {UINT16_MAX, 7, 33},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct net *net = net_of("single:hosts=32");
		struct lid_report report;
		struct model model;

		model_init(&model);
		model_fill(&model, net, 0, 1, 0, 1);
		set_cap(&model, net, 32, rows[i].cap);
		lid_assign(model.fabric, rows[i].lmc, &report);
		CU_ASSERT_EQUAL(report.given, rows[i].given);
		CU_ASSERT_EQUAL(report.exhausted, 33 - rows[i].given);
		CU_ASSERT_EQUAL(report.exhausted_example != NULL, report.exhausted > 0);
		for (unsigned lid = rows[i].cap; lid <= LID_UNICAST_MAX; lid++)
			CU_ASSERT_PTR_NULL(model.fabric->lids[lid]);
		if (report.given != rows[i].given)
			printf("    row %zu: %u given\n", i, report.given);
		model_done(&model);
		net_free(net);
	}
}

/* A switch with a smaller table comes later: LIDs beyond it cannot stay. */
static void test_table_becomes_smaller(void)
{
	struct net *net = net_of("single:hosts=4");
	struct lid_report report;
	struct port_info info;
	struct model model;

	model_init(&model);
	model_fill(&model, net, 0, 1, 0, 1);
	info = *port_info(model_port(&model, net, 1, 1));
	info.lid = 5000;
	port_set_info(model.fabric, model_port(&model, net, 1, 1), &info);
	lid_assign(model.fabric, 0, &report);
	CU_ASSERT_EQUAL(lid_of(&model, net, 1), 5000);
	set_cap(&model, net, 4, 1024);
	lid_assign(model.fabric, 0, &report);
	CU_ASSERT_EQUAL(faults(&model, net, 0, 1023), 0);
	model_done(&model);
	net_free(net);
}

/* One leaf, with four hosts, or one spine has a smaller table than the others. */
static void test_small_among_large(void)
{
	static const struct {
		uint16_t cap;
		lid_t found; /* on a working host */
		bool spine, all;
		bool fits;
	} rows[] = {
		{48, 0, false, false, true}, /* 44 LIDs are needed */
		{45, 0, false, false, true},
		{44, 0, true, false, true},
		{43, 0, true, false, false},
		{40, 0, false, false, true}, /* four LIDs too few, five devices behind it */
		{39, 0, false, false, false},
		{16, 0, false, false, false},
		{1024, 5000, false, false, false}, /* a working host keeps its LID */
		{1024, 1023, false, false, true},
		/* Not for one LID, when the tables of all others are small. */
		{1024, 5000, false, true, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct net *net = net_of("fattree:radix=8,levels=2");
		struct lid_report report;
		unsigned small = 0;
		struct model model;

		model_init(&model);
		model_fill(&model, net, 0, 1, 0, 1);
		for (unsigned n = 0; n < net->count; n++) {
			bool leaf = net->nodes[n].type == NODE_SWITCH &&
				    strncmp(net->nodes[n].description, "leaf", 4) == 0;

			if (net->nodes[n].type == NODE_SWITCH && leaf != rows[i].spine)
				small = n;
		}
		for (unsigned n = 0; n < net->count; n++) {
			if (net->nodes[n].type == NODE_SWITCH && (n == small || rows[i].all) &&
			    !(rows[i].all && n == small - 1))
				set_cap(&model, net, n, rows[i].cap);
		}
		if (rows[i].found) {
			struct port *port = model_port(&model, net, 1, 1);
			struct port_info info = *port_info(port);

			info.lid = rows[i].found;
			info.port_state = PORT_ACTIVE;
			port_set_info(model.fabric, port, &info);
		}
		lid_assign(model.fabric, 0, &report);
		CU_ASSERT_EQUAL(
			lid_fits_switch(model.fabric, model_port(&model, net, small, 0)->node),
			rows[i].fits);
		if (rows[i].found && !rows[i].all)
			CU_ASSERT_EQUAL(lid_of(&model, net, 1), rows[i].found);
		if (lid_fits_switch(model.fabric, model_port(&model, net, small, 0)->node) !=
		    rows[i].fits)
			printf("    row %zu\n", i);
		model_done(&model);
		net_free(net);
	}
}

/* 49,151 LIDs are all there are. */
static void test_all_lids(void)
{
	struct net *net = net_of("fattree:radix=16,levels=2");
	unsigned hosts = 0, switches = 0;
	struct lid_report report;
	struct model model;

	for (unsigned n = 0; n < net->count; n++)
		*(net->nodes[n].type == NODE_SWITCH ? &switches : &hosts) += 1;
	model_init(&model);
	model_fill(&model, net, 0, 1, 0, 1);
	/* Others hold all but some. */
	for (unsigned lid = 1; lid <= LID_UNICAST_MAX - 50; lid++)
		model.fabric->lids[lid] = model_port(&model, net, 0, 1);
	lid_assign(model.fabric, 0, &report);
	CU_ASSERT_EQUAL(report.given, 50);
	CU_ASSERT_EQUAL(report.exhausted, hosts + switches - 50);
	memset(model.fabric->lids, 0, sizeof(model.fabric->lids));
	for (unsigned n = 0; n < net->count; n++)
		model_port(&model, net, n, own_port(net, n))->lid = LID_NONE;
	model_done(&model);
	net_free(net);
}

static void test_hosts_without_switch(void)
{
	struct net *net = net_new();
	struct lid_report report;
	struct model model;

	net_put(net, NODE_CA, "host", 0, 2);
	net_put(net, NODE_CA, "host", 1, 2);
	net_cable(net, 0, 1);
	model_init(&model);
	model_fill(&model, net, 0, 1, 0, 1);
	lid_assign(model.fabric, 2, &report);
	CU_ASSERT_EQUAL(report.given, 2);
	CU_ASSERT_EQUAL(faults(&model, net, 2, LID_UNICAST_MAX), 0);
	model_done(&model);
	net_free(net);
}

/* A fabric that comes up without LIDs, and the registry. */
static void bring_up(struct model *model, struct net *net, struct registry *registry,
		     struct lid_report *report)
{
	model_init(model);
	model->fabric->registry = registry;
	model_fill(model, net, 0, 1, 0, 1);
	lid_assign(model->fabric, 0, report);
}

static const struct lid_entry *remembered(const struct registry *registry, guid_t guid)
{
	return registry_find(registry, REGISTRY_LID, &guid);
}

/* The registry restores LIDs that no new assignment would choose. The LID of an absent port is
 * given to no other port. */
static void test_registry_remembers(void)
{
	struct registry *registry = registry_new();
	struct net *small = net_of("single:hosts=4"), *large = net_of("single:hosts=8");
	guid_t last = net_port_guid(large, 7, 1);
	struct lid_report report;
	struct model model;
	lid_t lids[9];

	for (unsigned n = 0; n < 8; n++) {
		struct lid_entry entry = {.guid = net_port_guid(large, n, 1),
					  .lid = (lid_t)(3 + n)};

		registry_put(registry, REGISTRY_LID, &entry);
	}
	bring_up(&model, large, registry, &report);
	CU_ASSERT_EQUAL(report.kept, 8);
	CU_ASSERT_EQUAL(report.given, 1); /* the switch */
	for (unsigned n = 0; n <= 8; n++)
		lids[n] = lid_of(&model, large, n);
	CU_ASSERT_EQUAL(lids[7], 10);
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_LID), 9);
	model_done(&model);

	bring_up(&model, small, registry, &report);
	for (unsigned n = 0; n < 4; n++)
		CU_ASSERT_EQUAL(lid_of(&model, small, n), lids[n]);
	CU_ASSERT_EQUAL(remembered(registry, last)->lid, lids[7]);
	CU_ASSERT_EQUAL(remembered(registry, last)->gone, 4); /* all at once: by their GUIDs */
	CU_ASSERT_EQUAL(remembered(registry, net_port_guid(small, 0, 1))->gone, 0);
	model_done(&model);

	bring_up(&model, large, registry, &report);
	for (unsigned n = 0; n <= 8; n++)
		CU_ASSERT_EQUAL(lid_of(&model, large, n), lids[n]);
	CU_ASSERT_EQUAL(remembered(registry, last)->gone, 0);
	CU_ASSERT_EQUAL(faults(&model, large, 0, LID_UNICAST_MAX), 0);
	model_done(&model);
	net_free(large);
	net_free(small);
	registry_free(registry);
}

/* The LID that a port holds has precedence over the registry. A port that holds the LID of an
 * absent port keeps it. */
static void test_ports_come_first(void)
{
	struct registry *registry = registry_new();
	struct net *net = net_of("single:hosts=4");
	struct lid_entry entry = {.guid = 0xdead, .lid = 40};
	struct lid_report report;
	struct model model;

	registry_put(registry, REGISTRY_LID, &entry);
	entry = (struct lid_entry){.guid = net_port_guid(net, 1, 1), .lid = 30};
	registry_put(registry, REGISTRY_LID, &entry);
	model_init(&model);
	model.fabric->registry = registry;
	net->nodes[1].port[1].lid = 40;
	net->nodes[2].port[1].lid = 30;
	model_fill(&model, net, 0, 1, 0, 1);
	lid_assign(model.fabric, 0, &report);
	CU_ASSERT_EQUAL(lid_of(&model, net, 1), 40);
	CU_ASSERT_EQUAL(lid_of(&model, net, 2), 30);
	CU_ASSERT_PTR_NULL(remembered(registry, 0xdead));
	CU_ASSERT_EQUAL(remembered(registry, net_port_guid(net, 1, 1))->lid, 40);
	model_done(&model);
	net_free(net);
	registry_free(registry);
}

/* A port that was discovered, but not read yet, gets no LID, because it may hold one. */
static void test_unread_ports_wait(void)
{
	struct registry *registry = registry_new();
	struct net *net = net_of("single:hosts=4");
	struct lid_entry entry = {.guid = net_port_guid(net, 2, 1), .lid = 700};
	struct lid_report report;
	struct model model;
	struct node *node;

	registry_put(registry, REGISTRY_LID, &entry);
	model_init(&model);
	model.fabric->registry = registry;
	model_fill(&model, net, 0, 1, 0, 1);
	node = model_port(&model, net, 2, 1)->node;
	facts_own(&node->facts)->port[1].known = false;
	lid_assign(model.fabric, 0, &report);
	CU_ASSERT_EQUAL(report.given, 4);
	CU_ASSERT_EQUAL(node->port[1].lid, 0);
	facts_own(&node->facts)->port[1].known = true;
	lid_assign(model.fabric, 0, &report);
	CU_ASSERT_EQUAL(report.given, 0);
	CU_ASSERT_EQUAL(node->port[1].lid, 700);
	model_done(&model);
	net_free(net);
	registry_free(registry);
}

/* If no other LIDs are free, the ports that left first lose theirs first. */
static void test_longest_gone_first(void)
{
	struct registry *registry = registry_new();
	struct net *net = net_of("single:hosts=8");
	struct lid_report report;
	struct model model;
	unsigned left = 0;

	for (unsigned lid = 1; lid < 16; lid++) { /* went in the order 15, 14, ... */
		struct lid_entry entry = {.guid = lid, .lid = (lid_t)lid, .gone = 16 - lid};

		registry_put(registry, REGISTRY_LID, &entry);
	}
	model_init(&model);
	model.fabric->registry = registry;
	model_fill(&model, net, 0, 1, 0, 1);
	set_cap(&model, net, 8, 16);
	lid_assign(model.fabric, 0, &report);
	CU_ASSERT_EQUAL(report.given, 9);
	CU_ASSERT_EQUAL(report.exhausted, 0);
	CU_ASSERT_EQUAL(faults(&model, net, 0, 15), 0);
	for (unsigned lid = 1; lid < 16; lid++) {
		CU_ASSERT_EQUAL(remembered(registry, lid) != NULL, lid < 7);
		left += remembered(registry, lid) != NULL;
	}
	CU_ASSERT_EQUAL(left, 6);
	model_done(&model);
	net_free(net);
	registry_free(registry);
}

static void assign_with(struct model *model, uint8_t lmc, lid_t sm_lid, struct lid_report *report)
{
	struct lid_work *work = lid_work_new(model->fabric, lmc, lmc_esp0, sm_lid);

	slices_at_once(&lid_plan, work);
	*report = *lid_work_report(work);
	lid_work_free(work);
}

/* Our own port gets the LID of the MASTER. Its previous LID is kept for it and recorded as its own.
 * A port without a LID also gets one to keep. Without sm_lid the port has this LID again. */
static void test_sm_lid(void)
{
	enum { SM_LID = 500, HOSTS = 4 };

	for (unsigned fresh = 0; fresh < 2; fresh++) {
		struct registry *registry = registry_new();
		struct net *net = net_of("single:hosts=4");
		guid_t own = net_port_guid(net, 0, 1);
		struct lid_report report;
		struct model model;
		lid_t kept;

		model_init(&model);
		model.fabric->registry = registry;
		model_fill(&model, net, 0, 1, 0, 1);
		if (!fresh)
			lid_assign(model.fabric, 0, &report);
		kept = model.fabric->sm_port->lid;
		for (unsigned again = 0; again < 2; again++) {
			assign_with(&model, 0, SM_LID, &report);
			CU_ASSERT_PTR_NULL(report.sm_lid_why);
			CU_ASSERT_EQUAL(report.conflicts, 0);
			CU_ASSERT_EQUAL(faults(&model, net, 0, LID_UNICAST_MAX), 0);
			CU_ASSERT_EQUAL(model.fabric->sm_port->lid, SM_LID);
			if (fresh && !again)
				kept = model.fabric->sm_kept_lid;
			CU_ASSERT(kept && kept != SM_LID);
			CU_ASSERT_EQUAL(model.fabric->sm_kept_lid, kept);
			CU_ASSERT_PTR_NULL(model.fabric->lids[kept]);
			CU_ASSERT_EQUAL(remembered(registry, own)->lid, kept);
			CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_LID), HOSTS + 1);
		}
		assign_with(&model, 0, LID_NONE, &report);
		CU_ASSERT_EQUAL(model.fabric->sm_kept_lid, LID_NONE);
		CU_ASSERT_EQUAL(remembered(registry, own)->lid, model.fabric->sm_port->lid);
		model_done(&model);
		net_free(net);
		registry_free(registry);
	}
}

/* The previous MASTER still holds the LID, and gets its recorded LID. */
static void test_sm_lid_moves(void)
{
	enum { SM_LID = 500, OWN = 70, THEIRS = 90 };
	struct net *net = net_of("single:hosts=4");

	for (unsigned master = 0; master < 2; master++) {
		struct registry *registry = registry_new();
		struct lid_entry entry = {.guid = net_port_guid(net, 1, 1), .lid = THEIRS};
		struct port_info info;
		struct lid_report report;
		struct model model;
		struct port *before;

		model_init(&model);
		model.fabric->registry = registry;
		model_fill(&model, net, 0, 1, 0, 1);
		registry_put(registry, REGISTRY_LID, &entry);
		before = model_port(&model, net, 1, 1);
		info = *port_info(before);
		info.lid = SM_LID;
		port_set_info(model.fabric, before, &info);
		info = *port_info(model.fabric->sm_port);
		info.lid = OWN;
		info.master_sm_lid = master ? SM_LID : OWN;
		port_set_info(model.fabric, model.fabric->sm_port, &info);
		assign_with(&model, 0, SM_LID, &report);
		CU_ASSERT_EQUAL(faults(&model, net, 0, LID_UNICAST_MAX), 0);
		CU_ASSERT_EQUAL(!report.sm_lid_why, master);
		CU_ASSERT_EQUAL(report.conflicts, 0);
		CU_ASSERT_EQUAL(model.fabric->sm_port->lid, master ? SM_LID : OWN);
		CU_ASSERT_EQUAL(model.fabric->sm_kept_lid, master ? OWN : LID_NONE);
		CU_ASSERT_EQUAL(before->lid, master ? THEIRS : SM_LID);
		model_done(&model);
		registry_free(registry);
	}
	net_free(net);
}

/* Our port and another port hold the LID, and our port shows the MasterSMLID of another manager.
 * Our port keeps the LID in any case. So it is the LID of the MASTER at once, and not only in the
 * next sweep. */
static void test_sm_lid_of_both(void)
{
	enum { SM_LID = 500, ANOTHER = 8 };
	struct registry *registry = registry_new();
	struct net *net = net_of("single:hosts=4");
	struct lid_report report;
	struct port_info info;
	struct model model;
	struct port *both[2];
	lid_t kept;

	model_init(&model);
	model.fabric->registry = registry;
	model_fill(&model, net, 0, 1, 0, 1);
	both[0] = model.fabric->sm_port;
	both[1] = model_port(&model, net, 1, 1);
	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		info = *port_info(both[i]);
		info.lid = SM_LID;
		info.master_sm_lid = ANOTHER;
		port_set_info(model.fabric, both[i], &info);
	}
	assign_with(&model, 0, SM_LID, &report);
	CU_ASSERT_PTR_NULL(report.sm_lid_why);
	CU_ASSERT_EQUAL(faults(&model, net, 0, LID_UNICAST_MAX), 0);
	CU_ASSERT_EQUAL(both[0]->lid, SM_LID);
	CU_ASSERT_NOT_EQUAL(both[1]->lid, SM_LID);
	kept = model.fabric->sm_kept_lid;
	CU_ASSERT(kept && kept != SM_LID);
	info = *port_info(both[1]);
	info.lid = both[1]->lid;
	port_set_info(model.fabric, both[1], &info);
	assign_with(&model, 0, SM_LID, &report);
	CU_ASSERT_PTR_NULL(report.sm_lid_why);
	CU_ASSERT_EQUAL(model.fabric->sm_kept_lid, kept);
	model_done(&model);
	net_free(net);
	registry_free(registry);
}

/* If sm_lid cannot be used, the port has a LID of its own, and the report has the reason. */
static void test_no_sm_lid(void)
{
	static const struct {
		lid_t lid; /* 0: that of another host */
		uint8_t lmc;
		bool on_switch, small;
		const char *why;
	} rows[] = {
		{500, 0, true, false, "a switch's"},
		{501, 1, false, false, "no multiple"},
		{500, 0, false, true, "too small"},
		{0, 0, false, false, "another port has it"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct net *net = net_of("single:hosts=4");
		struct lid_report report;
		struct model model;

		model_init(&model);
		model_fill(&model, net, 0, 1, rows[i].on_switch ? 4 : 0, !rows[i].on_switch);
		if (rows[i].small)
			set_cap(&model, net, 4, 400);
		lid_assign(model.fabric, rows[i].lmc, &report);
		assign_with(&model, rows[i].lmc, rows[i].lid ? rows[i].lid : lid_of(&model, net, 2),
			    &report);
		CU_ASSERT_PTR_NOT_NULL_FATAL(report.sm_lid_why);
		CU_ASSERT_PTR_NOT_NULL(strstr(report.sm_lid_why, rows[i].why));
		CU_ASSERT_NOT_EQUAL(model.fabric->sm_port->lid, rows[i].lid);
		CU_ASSERT_EQUAL(model.fabric->sm_kept_lid, LID_NONE);
		CU_ASSERT_EQUAL(faults(&model, net, rows[i].lmc, LID_UNICAST_MAX), 0);
		model_done(&model);
		net_free(net);
	}
}

/* A snapshot keeps routes to the recorded LID of the host behind a port. It keeps no earlier LID of
 * that host, and none above the limit. */
static void test_kept_in_snapshots(void)
{
	enum { LIMIT = 100, GONE = 3 };
	static const struct {
		lid_t recorded, kept; /* LID_NONE: there is no record any more */
		uint8_t lmc;
	} rows[] = {
		{70, 70, 0}, {LID_NONE, LID_NONE, 0}, {99, 99, 0}, {100, LID_NONE, 0},
		{96, 96, 2}, {99, LID_NONE, 1},
	};
	struct registry *registry = registry_new();
	struct net *net = net_of("single:hosts=4");
	struct lid_report report;
	struct snapshot *snapshot;
	struct model model;
	struct port *place;

	model_init(&model);
	model.fabric->registry = registry;
	model_fill(&model, net, 0, 1, 0, 1);
	lid_assign(model.fabric, 0, &report);
	place = model_port(&model, net, GONE, 1)->peer;
	CU_ASSERT(place->peer->lid && place->peer->lid < LIMIT);
	fabric_unlink(model.fabric, place);
	fabric_build_tree(model.fabric);
	model.fabric->lid_limit = LIMIT;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lid_entry entry = {.guid = net_port_guid(net, GONE, 1),
					  .lid = rows[i].recorded,
					  .lmc = rows[i].lmc};

		if (entry.lid)
			registry_put(registry, REGISTRY_LID, &entry);
		else
			registry_drop(registry, REGISTRY_LID, &entry);
		snapshot = fabric_freeze(model.fabric, false);
		CU_ASSERT_EQUAL(snap_cable(snapshot, 0, place->num)->guid, entry.guid);
		CU_ASSERT_EQUAL(snap_cable(snapshot, 0, place->num)->lid, rows[i].kept);
		snapshot_unref(snapshot);
	}
	model_done(&model);
	net_free(net);
	registry_free(registry);
}

/* With the option, an enhanced port 0 gets 2^lmc LIDs; a base port 0 never does. One fabric has
 * both, and the option changes. The LIDs of a port are recorded with its LMC and restored. */
static void test_lmc_esp0(void)
{
	struct net *net = net_of("fattree:radix=4,levels=2");

	for (unsigned n = 0; n < net->count; n++)
		net->nodes[n].enhanced_port0 = net->nodes[n].type == NODE_SWITCH && n % 2;
	for (uint8_t lmc = 0; lmc <= LMC_MAX; lmc++) {
		struct registry *registry = registry_new();
		struct lid_report report;
		struct model model;
		struct port *esp0;
		lid_t lid;
		unsigned at = 0;

		while (!net->nodes[at].enhanced_port0)
			at++;
		model_init(&model);
		model.fabric->registry = registry;
		model_fill(&model, net, 0, 1, net->count - 1, 1);
		for (unsigned step = 0; step < 4; step++) {
			lmc_esp0 = step % 3 > 0; /* off, on, on, off */
			assign_with(&model, lmc, LID_NONE, &report);
			CU_ASSERT_EQUAL(faults(&model, net, lmc, LID_UNICAST_MAX), 0);
			CU_ASSERT_EQUAL(report.exhausted, 0);
			CU_ASSERT_EQUAL(report.conflicts, 0);
			if (step == 2)
				CU_ASSERT_EQUAL(report.given, 0);
		}
		lmc_esp0 = true;
		assign_with(&model, lmc, LID_NONE, &report);
		esp0 = model_port(&model, net, at, 0);
		lid = esp0->lid;
		CU_ASSERT_EQUAL(remembered(registry, port_facts(esp0)->guid)->lmc, lmc);
		port_set_lid(model.fabric, esp0, LID_NONE, 0);
		assign_with(&model, lmc, LID_NONE, &report);
		CU_ASSERT_EQUAL(esp0->lid, lid);
		lmc_esp0 = false;
		model_done(&model);
		registry_free(registry);
	}
	net_free(net);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"every LMC", test_every_lmc},
		{"blocks", test_blocks},
		{"any order of discovery", test_any_order_of_discovery},
		{"kept and conflicts", test_kept_and_conflicts},
		{"newcomer", test_newcomer},
		{"small tables", test_small_tables},
		{"a table becomes smaller", test_table_becomes_smaller},
		{"a small table among large ones", test_small_among_large},
		{"all LIDs", test_all_lids},
		{"hosts without switch", test_hosts_without_switch},
		{"the registry remembers", test_registry_remembers},
		{"kept in snapshots", test_kept_in_snapshots},
		{"ports come first", test_ports_come_first},
		{"unread ports wait", test_unread_ports_wait},
		{"the longest gone first", test_longest_gone_first},
		{"LMC of enhanced ports 0", test_lmc_esp0},
		{"the LID of the MASTER", test_sm_lid},
		{"it moves", test_sm_lid_moves},
		{"another port holds it, too", test_sm_lid_of_both},
		{"it cannot be", test_no_sm_lid},
		CU_TEST_INFO_NULL,
	};

	return unit_main("lid", tests);
}

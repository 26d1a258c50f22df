/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The tables of ports that no bring-up needs: the queries of each device, the effect of answers and
 * of losses, and the queries to a device that refuses. Equal tables are stored once.
 */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include "fabric/table_pool.h"
#include "lib/be.h"
#include "sm/read_tables.h"
#include "tests/unit/fixtures/sm_world.h"

enum { HOSTS = 3, PORTS = HOSTS + 2, GUIDS = 20, CAP_LOW = 40, CAP_HIGH = 8 };

/* The pool */

static struct port_tables *some(uint16_t guids, uint16_t rows, uint8_t vl, uint8_t blocks)
{
	struct port_tables *tables = port_tables_new(guids, rows);

	for (unsigned i = 0; i < rows; i++)
		tables->sl_to_vl[i].vl[3] = vl;
	tables->vl_arbitration_known = blocks;
	return tables;
}

static void test_pool(void)
{
	struct table_pool pool;
	struct port_tables *a, *b, *other[4];

	table_pool_init(&pool);
	a = table_pool_share(&pool, some(8, 5, 2, 1));
	b = table_pool_share(&pool, some(8, 5, 2, 1));
	other[0] = table_pool_share(&pool, some(8, 5, 3, 1));
	other[1] = table_pool_share(&pool, some(8, 5, 2, 3));
	other[2] = table_pool_share(&pool, some(16, 5, 2, 1));
	other[3] = table_pool_share(&pool, some(0, 0, 0, 0));
	CU_ASSERT_PTR_EQUAL(a, b);
	CU_ASSERT_EQUAL(a->num_sl_to_vl, 1);
	CU_ASSERT_EQUAL(a->refs, 3);
	for (unsigned i = 0; i < 4; i++) {
		CU_ASSERT_PTR_NOT_EQUAL(other[i], a);
		CU_ASSERT_EQUAL(other[i]->refs, 2);
		port_tables_unref(other[i]);
	}
	CU_ASSERT_EQUAL(pool.tables.count, 5);
	table_pool_trim(&pool);
	CU_ASSERT_EQUAL(pool.tables.count, 1);
	CU_ASSERT_PTR_EQUAL(table_pool_share(&pool, some(8, 5, 2, 1)), a);
	for (unsigned i = 0; i < 3; i++)
		port_tables_unref(a);
	table_pool_done(&pool);
}

/* Reading: host-1 is the manager's, host-2 answers for its tables, host-3 refuses them. */

static struct net *star(void)
{
	struct net *net = net_new();

	net_put(net, NODE_SWITCH, "leaf", 0, PORTS);
	net_put_hosts(net, 0, HOSTS);
	return net;
}

static struct world *begin(unsigned readback_s)
{
	struct sm_options options = sm_world_options();
	struct world *world;

	options.readback_s = readback_s;
	world = sm_world_new(star(), 1, 1, &options);
	for (unsigned n = 0; n < world->fake->num_nodes; n++) {
		struct fake_node *node = world->fake->nodes[n];

		node->has_tables = node != sm_world_node(world, "host-3");
		for (unsigned p = 0; p <= node->info.num_ports; p++) {
			struct port_info *info = &node->port[p].info;

			info->vl_cap = 4;
			info->guid_cap = GUIDS;
			info->vl_arbitration_low_cap = CAP_LOW;
			info->vl_arbitration_high_cap = CAP_HIGH;
		}
	}
	sm_world_node(world, "host-1")->port[1].info.vl_cap = 1;
	return world;
}

static const struct port *known(const struct world *world, const char *id, unsigned num)
{
	guid_t guid = sm_world_node(world, id)->info.node_guid;

	return &fabric_find_node(world->sm->fabric, guid)->port[num];
}

static bool all_read(const struct world *world)
{
	return world->sm->readback.rounds >= 3;
}

/* The number of SMPs of each port. The cost of a round is based on it. */
static const struct {
	const char *node;
	unsigned port, cost;
} costs[] = {
	{"host-1", 1, 3 /* GUIDs; it has one lane */},
	{"host-2", 1, 3 + 1 + 3},
	{"leaf-0", 0, 3 /* a base port 0 */},
	{"leaf-0", 1, PORTS + 1 + 3},
	{"leaf-0", 4, 0 /* no cable */},
};

static void test_reads(void)
{
	struct world *world = begin(1);
	const struct port_tables *tables;
	const struct snapshot *topology;

	CU_ASSERT_TRUE(sm_world_up(world));
	for (size_t i = 0; i < ARRAY_SIZE(costs); i++)
		CU_ASSERT_EQUAL(tables_cost(known(world, costs[i].node, costs[i].port)),
				costs[i].cost);
	CU_ASSERT_TRUE(sm_world_run(world, all_read));

	tables = port_facts(known(world, "host-1", 1))->tables;
	CU_ASSERT_PTR_NOT_NULL_FATAL(tables);
	CU_ASSERT_EQUAL(tables->num_guids, 24);
	CU_ASSERT_EQUAL(tables->guid[0], 0);
	CU_ASSERT_EQUAL(tables->guid[8], UINT64_C(0x0100000001000000));
	CU_ASSERT_EQUAL(tables->num_sl_to_vl, 0);
	CU_ASSERT_EQUAL(tables->vl_arbitration_known, 0);

	tables = port_facts(known(world, "host-2", 1))->tables;
	CU_ASSERT_PTR_NOT_NULL_FATAL(tables);
	CU_ASSERT_EQUAL(tables->num_sl_to_vl, 1);
	CU_ASSERT_EQUAL(tables->vl_arbitration_known, 7);
	CU_ASSERT_EQUAL(tables->vl_arbitration[1].entry[1].vl, 2);

	tables = port_facts(known(world, "leaf-0", 2))->tables;
	CU_ASSERT_PTR_NOT_NULL_FATAL(tables);
	CU_ASSERT_EQUAL(tables->num_guids, 0);
	CU_ASSERT_EQUAL(tables->num_sl_to_vl, PORTS + 1);
	for (unsigned in = 0; in <= PORTS; in++) {
		CU_ASSERT_EQUAL(tables->sl_to_vl[in].vl[1], 2);
		CU_ASSERT_EQUAL(tables->sl_to_vl[in].vl[3], in);
	}
	CU_ASSERT_PTR_NULL(port_facts(known(world, "leaf-0", 4))->tables);

	/* And the view has them. */
	topology = world->sm->view->topology;
	CU_ASSERT_PTR_EQUAL(topology->switches[0].facts->port[2].tables, tables);
	for (uint32_t e = 0; e < topology->num_ends; e++)
		CU_ASSERT_PTR_NOT_NULL(topology->ends[e].facts->port[1].tables);
	sm_world_free(world);
}

static unsigned asked; /* for tables, by the manager */
static const struct fake_node *counted;

static enum fake_fate count(void *ctx, struct fake_node *node, const struct mad_header *header)
{
	(void)ctx;
	asked += node == counted &&
		 (header->attr_id == ATTR_GUID_INFO || header->attr_id == ATTR_SL_TO_VL ||
		  header->attr_id == ATTR_VL_ARBITRATION);
	return FAKE_ANSWER;
}

/* A device that refuses is queried once, and again after its port was in INIT. */
static void test_refused(void)
{
	struct world *world = begin(1);
	const struct port *port;

	asked = 0;
	counted = sm_world_node(world, "host-3");
	world->fake->fate = count;
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_TRUE(sm_world_run(world, all_read));
	port = known(world, "host-3", 1);
	CU_ASSERT_EQUAL(asked, 3 + 1 + 3);
	CU_ASSERT_EQUAL(port->refuses,
			PORT_REFUSES_GUIDS | PORT_REFUSES_SL_TO_VL | PORT_REFUSES_VL_ARBITRATION);
	CU_ASSERT_EQUAL(tables_cost(port), 0);
	CU_ASSERT_EQUAL(port_facts(port)->tables->num_guids, 0);

	fake_link(&sm_world_node(world, "host-3")->port[1], false);
	sm_world_sweep(world, DISCOVER_HEAVY);
	fake_link(&sm_world_node(world, "host-3")->port[1], true);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(known(world, "host-3", 1)->refuses, 0);
	sm_world_free(world);
}

/* P_Keys of switches' ports before hosts */

enum { FRONT = 2, STALE = 0x8009 }; /* the port before host-2, and an old key in its table */

static unsigned key_gets;

static enum fake_fate count_key_gets(void *ctx, struct fake_node *node,
				     const struct mad_header *header)
{
	(void)ctx;
	key_gets += node == counted && header->attr_id == ATTR_PKEY_TABLE &&
		    header->method == METHOD_GET && header->attr_mod >> 16;
	return FAKE_ANSWER;
}

static bool is_enforced(const struct world *world)
{
	for (unsigned num = 1; num <= HOSTS; num++)
		if (!known(world, "leaf-0", (uint8_t)num)->partition.enforce)
			return false;
	return true;
}

static bool fronts_known(const struct world *world)
{
	for (unsigned num = 1; num <= HOSTS; num++)
		if (!port_facts(known(world, "leaf-0", num))->pkeys)
			return false;
	return sm_world_is_quiet(world);
}

static bool hosts_acknowledged(const struct world *world)
{
	for (unsigned num = 1; num <= HOSTS; num++)
		if (program_pkeys_status(world->sm->program,
					 known(world, "leaf-0", (uint8_t)num)->peer,
					 PKEY_DEFAULT_LIMITED) != PKEYS_ACKNOWLEDGED)
			return false;
	return true;
}

/* No partition restricts the hosts, so no bring-up reads the P_Keys of switch ports. The readback
 * reads them with the tables of the hosts behind them, and a first partition sends no Get(). A host
 * that needs no Set() still counts as acknowledged. The keys are forgotten with the link, and read
 * again. */
static void test_fronts(void)
{
	const struct partition_entry partition = {.p_key = 5, .mtu = 4, .rate = 3, .scope = 2};
	struct world *world = begin(1);
	struct fake_node *leaf = sm_world_node(world, "leaf-0");
	const struct pkey_list *list;

	counted = leaf;
	world->fake->fate = count_key_gets;
	leaf->sw.partition_enforcement_cap = FAKE_KEYS;
	leaf->sw.inbound_enforcement_cap = leaf->sw.outbound_enforcement_cap = 1;
	leaf->port[FRONT].p_key[3] = leaf->port[FRONT].p_key[FAKE_KEYS - 1] = STALE;
	key_gets = 0;
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_TRUE(sm_world_run(world, fronts_known));
	CU_ASSERT_TRUE(hosts_acknowledged(world));
	CU_ASSERT_EQUAL(key_gets, HOSTS * FAKE_KEYS / PKEY_BLOCK_KEYS);
	list = port_facts(known(world, "leaf-0", FRONT))->pkeys;
	CU_ASSERT_PTR_NOT_NULL_FATAL(list);
	CU_ASSERT_EQUAL_FATAL(list->count, FAKE_KEYS);
	CU_ASSERT_EQUAL(memcmp(list->key, leaf->port[FRONT].p_key, sizeof(leaf->port[0].p_key)), 0);

	key_gets = 0;
	fake_link(&leaf->port[FRONT], false);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_PTR_NULL(port_facts(known(world, "leaf-0", FRONT))->pkeys);
	fake_link(&leaf->port[FRONT], true);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_TRUE(sm_world_run(world, fronts_known));
	CU_ASSERT_EQUAL(key_gets, FAKE_KEYS / PKEY_BLOCK_KEYS);

	key_gets = 0;
	registry_put(world->registry, REGISTRY_PARTITION, &partition);
	CU_ASSERT_TRUE(sm_world_run(world, is_enforced));
	CU_ASSERT_EQUAL(key_gets, 0);
	CU_ASSERT_EQUAL(leaf->port[FRONT].p_key[3], 0);
	CU_ASSERT_EQUAL(leaf->port[FRONT].p_key[FAKE_KEYS - 1], 0);
	sm_world_free(world);
}

/* Aliases */

static guid_t alias_held(const struct world *world, const char *id, unsigned index)
{
	const struct fake_port *port = &sm_world_node(world, id)->port[1];

	return port->guids_set >> index / 8 & 1 ? be64_load(port->guids[index / 8] + index % 8 * 8)
						: 0;
}

static void put_alias(struct world *world, const char *id, unsigned index, guid_t guid)
{
	const struct alias_entry alias = {.port_guid = port_facts(known(world, id, 1))->guid,
					  .index = (uint16_t)index,
					  .guid = guid};

	if (guid)
		registry_put(world->registry, REGISTRY_ALIAS, &alias);
	else
		registry_drop(world->registry, REGISTRY_ALIAS, &alias);
}

static unsigned guid_sets(const struct world *world)
{
	unsigned sets = 0;

	for (size_t i = 0; i < world->fake->num_sets; i++)
		sets += world->fake->sets[i].attr_id == ATTR_GUID_INFO;
	return sets;
}

static bool tables_known(const struct world *world)
{
	return sm_world_is_quiet(world) && port_facts(known(world, "host-2", 1))->tables;
}

static bool host_2_settled(const struct world *world)
{
	struct guid_info want;
	unsigned block;

	return tables_known(world) &&
	       !guids_differ(&world->sm->guids, known(world, "host-2", 1), &block, &want);
}

/* A registered alias is written, and an alias that was found there stays. A deleted alias is
 * removed, and an alias that the port lost is written again. */
static void test_aliases(void)
{
	struct world *world = begin(1);
	struct fake_port *host = &sm_world_node(world, "host-2")->port[1];

	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_TRUE(sm_world_run(world, tables_known));
	put_alias(world, "host-2", 1, 0xA1);
	put_alias(world, "host-2", 9, 0xA9);
	CU_ASSERT_TRUE(sm_world_run(world, host_2_settled));
	CU_ASSERT_EQUAL(alias_held(world, "host-2", 0),
			port_facts(known(world, "host-2", 1))->guid);
	CU_ASSERT_EQUAL(alias_held(world, "host-2", 1), 0xA1);
	CU_ASSERT_EQUAL(alias_held(world, "host-2", 8), UINT64_C(0x0100000001000000));
	CU_ASSERT_EQUAL(alias_held(world, "host-2", 9), 0xA9);
	CU_ASSERT_EQUAL(guid_sets(world), 2);

	put_alias(world, "host-2", 1, 0);
	CU_ASSERT_TRUE(sm_world_run(world, host_2_settled));
	CU_ASSERT_EQUAL(alias_held(world, "host-2", 1), 0);
	CU_ASSERT_EQUAL(alias_held(world, "host-2", 9), 0xA9);
	CU_ASSERT_EQUAL(world->sm->guids.num_taken_back, 0);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(guid_sets(world), 0);

	fake_link(host, false);
	host->guids_set = 0;
	sm_world_sweep(world, DISCOVER_HEAVY);
	fake_link(host, true);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_TRUE(sm_world_run(world, host_2_settled));
	CU_ASSERT_EQUAL(alias_held(world, "host-2", 9), 0xA9);
	sm_world_free(world);
}

/* A device that ignores a Set() of aliases gets it once, and again with other aliases. */
static void test_ignored_aliases(void)
{
	struct world *world = begin(1);

	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_TRUE(sm_world_run(world, tables_known));
	sm_world_node(world, "host-2")->ignores_guids = true;
	put_alias(world, "host-2", 1, 0xA1);
	CU_ASSERT_TRUE(sm_world_run(world, host_2_settled));
	CU_ASSERT_EQUAL(guid_sets(world), 1);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(guid_sets(world), 0);
	put_alias(world, "host-2", 1, 0xA2);
	CU_ASSERT_TRUE(sm_world_run(world, host_2_settled));
	CU_ASSERT_EQUAL(guid_sets(world), 1);
	sm_world_free(world);
}

/* A device that was busy gets the Set() again in another sweep. */
static void test_aliases_of_the_busy(void)
{
	struct world *world = begin(1);

	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_TRUE(sm_world_run(world, tables_known));
	sm_world_node(world, "host-2")->busy_guids = 2;
	put_alias(world, "host-2", 1, 0xA1);
	CU_ASSERT_TRUE(sm_world_run(world, host_2_settled));
	CU_ASSERT_EQUAL(alias_held(world, "host-2", 1), 0xA1);
	CU_ASSERT_EQUAL(known(world, "host-2", 1)->refuses, 0);
	CU_ASSERT_EQUAL(program_refused_values(world->sm->program), 0);
	sm_world_free(world);
}

/* Nothing is read where nothing is to be read back. */
static void test_not_at_all(void)
{
	struct world *world = begin(0);

	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(world->sm->readback.reads, 0);
	CU_ASSERT_PTR_NULL(port_facts(known(world, "host-2", 1))->tables);
	sm_world_free(world);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"equal tables are held once", test_pool},
		{"P_Keys of switches' ports", test_fronts},
		{"tables of each kind of port", test_reads},
		{"a device that refuses", test_refused},
		{"aliases", test_aliases},
		{"aliases that are not taken", test_ignored_aliases},
		{"aliases of a busy device", test_aliases_of_the_busy},
		{"no read back, no tables", test_not_at_all},
		CU_TEST_INFO_NULL,
	};

	return unit_main("read_tables", tests);
}

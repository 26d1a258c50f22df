/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The cost of the SA's answers in process, from the bytes of a request to the bytes for the
 * transport. Measured are single paths by LID and by GID, of random pairs and of a job of a
 * thousand hosts; the path table of one source; all nodes; and the memory of many registrations.
 * CPU time of the thread. Prints figures for scripts/bench and judges nothing.
 *
 *
 *	bench_sa [SPEC]...     these fabrics in turn; default: 11,664 hosts
 */
#include <inttypes.h>
#include <malloc.h>
#include <string.h>
#include <time.h>

#include "lib/be.h"
#include "lib/work.h"
#include "route/engine.h"
#include "sa/record.h"
#include "sa/sa.h"
#include "tests/unit/fixtures/snapshot_from.h"

enum { ROUNDS = 2000000, QUICK_ROUNDS = 200000, JOB_HOSTS = 1000, TABLES = 100, KEY_SLOTS = 128 };
enum { SERVICES = 100000, MEMBERS = 10000, SUBSCRIPTIONS = 10000, PORTS = 1000 };

static unsigned rounds = ROUNDS;

static struct bench {
	struct loop *loop;
	struct transport transport;
	struct registry *registry;
	struct event_hub events;
	struct txn_table *txns;
	struct view *view;
	struct sa *server;
	uint64_t answers, bytes;
	uint16_t status;
} bench;

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static int take(struct transport *transport, const struct mad_addr *to, const uint8_t *mad,
		size_t size, unsigned timeout_ms)
{
	(void)transport;
	(void)to;
	(void)timeout_ms;
	bench.answers++;
	bench.bytes += size;
	bench.status |= be16_load(mad + 4);
	return 0;
}

static const struct transport_ops ops = {.send = take};

/* 4x EDR everywhere, and a P_Key table of 128 slots in each adapter's port. */
static void port_fill(struct node_facts *facts, unsigned num)
{
	facts->port[num].known = true;
	facts->port[num].info = (struct port_info){
		.local_port_num = (uint8_t)num,
		.link_width_active = 2,
		.link_speed_active = 4,
		.link_speed_ext_active = 2,
		.mtu_cap = 5,
		.neighbor_mtu = 5,
		.port_state = PORT_ACTIVE,
		.port_physical_state = PHYS_LINK_UP,
		.guid_cap = 8,
	};
}

static struct node_facts *facts_make(uint8_t type, unsigned ports, guid_t guid)
{
	const struct node_info info = {.base_version = 1,
				       .class_version = 1,
				       .node_type = type,
				       .num_ports = (uint8_t)ports,
				       .node_guid = guid,
				       .port_guid = guid};
	struct node_facts *facts = facts_new(&info);

	for (unsigned p = type == NODE_SWITCH ? 0 : 1; p <= ports; p++)
		port_fill(facts, p);
	snprintf(facts->description, sizeof(facts->description), "node %" PRIx64, guid);
	return facts;
}

static struct view *view_build(const char *spec)
{
	struct work_pool *pool = work_pool_new(bench.loop, 0);
	struct snapshot *snapshot = snapshot_from_spec(spec, 0);
	char why[ROUTE_WHY_SIZE];
	struct routes *routes;

	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		snapshot->switches[s].facts = facts_make(
			NODE_SWITCH, snapshot->switches[s].num_ports, snapshot->switches[s].guid);
	for (uint32_t e = 0; e < snapshot->num_ends; e++) {
		struct snap_end *end = &snapshot->ends[e];

		end->facts = facts_make(NODE_CA, end->port, end->guid);
		end->facts->port[end->port].pkeys = pkey_list_new(KEY_SLOTS);
		end->facts->port[end->port].pkeys->key[0] = PKEY_DEFAULT_FULL;
	}
	routes = routes_new(snapshot->generation, snapshot->num_switches, "minhop");
	if (route_engine_find("minhop")->compute(snapshot, NULL, pool, routes, why)) {
		fprintf(stderr, "%s: %s\n", spec, why);
		exit(EXIT_FAILURE);
	}
	work_pool_free(pool);
	return view_new(1, snapshot, routes, NULL, 0);
}

static void request_send(uint8_t method, uint16_t attr_id, uint64_t mask,
			 const struct path_record *wanted, lid_t from_lid)
{
	const struct mad_header header = {.base_version = 1,
					  .mgmt_class = CLASS_SUBN_ADM,
					  .class_version = 2,
					  .method = method,
					  .tid = 1,
					  .attr_id = attr_id};
	const struct sa_header sa_header = {.component_mask = mask};
	const struct mad_addr from = {.lid = from_lid, .qpn = 1};
	uint8_t mad[MAD_SIZE] = {0};

	header_encode(&header, mad);
	sa_header_encode(&sa_header, mad);
	if (wanted)
		path_record_encode(wanted, mad + SUBN_ADM_HEADER_SIZE);
	bench.transport.user.received(bench.transport.user.ctx, &from, mad, sizeof(mad));
}

static void stop(void *arg)
{
	(void)arg;
	loop_stop(bench.loop, 0);
}

/* Turns of the loop until all answers have arrived. */
static void finish(void)
{
	while (sa_waiting(bench.server)) {
		struct loop_timer timer;

		loop_timer_init(&timer, bench.loop, "a turn of the bench", stop, NULL);
		loop_timer_arm(&timer, 0);
		loop_run(bench.loop);
	}
	if (!bench.status)
		return;
	fprintf(stderr, "an answer has status 0x%04x\n", bench.status);
	exit(EXIT_FAILURE);
}

static uint32_t random_end(uint32_t count)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((state >> 33) % count);
}

static void ask_pair(const struct snap_end *source, const struct snap_end *destination, bool by_gid)
{
	const uint64_t by_lids = COMPONENT(PATH_SLID) | COMPONENT(PATH_DLID);
	const uint64_t by_gids = COMPONENT(PATH_SGID) | COMPONENT(PATH_DGID) |
				 COMPONENT(PATH_REVERSIBLE) | COMPONENT(PATH_NUMB_PATH) |
				 COMPONENT(PATH_P_KEY);
	struct path_record wanted = {.slid = source->lid,
				     .dlid = destination->lid,
				     .reversible = 1,
				     .numb_path = 1,
				     .p_key = PKEY_DEFAULT_FULL};

	be64_store(wanted.sgid, GID_PREFIX_DEFAULT);
	be64_store(wanted.sgid + 8, source->guid);
	be64_store(wanted.dgid, GID_PREFIX_DEFAULT);
	be64_store(wanted.dgid + 8, destination->guid);
	request_send(METHOD_GET, RECORD_PATH, by_gid ? by_gids : by_lids, &wanted, source->lid);
}

static void bench_gets(const char *what, uint32_t hosts, bool by_gid)
{
	const struct snapshot *snapshot = bench.view->topology;
	double begin_s = cpu_s(), used_s;

	if (hosts > snapshot->num_ends)
		hosts = snapshot->num_ends;
	for (unsigned i = 0; i < rounds; i++)
		ask_pair(&snapshot->ends[random_end(hosts)], &snapshot->ends[random_end(hosts)],
			 by_gid);
	finish();
	used_s = cpu_s() - begin_s;
	printf("SubnAdmGet(PathRecord), %s\t%.2f million/s\t%.2f us each\n", what,
	       rounds / used_s / 1e6, used_s / rounds * 1e6);
}

static void bench_table(const char *what, uint16_t attr_id, size_t record_bytes, unsigned tables,
			bool of_one)
{
	const struct snapshot *snapshot = bench.view->topology;
	uint64_t bytes = bench.bytes, records, slow = loop_slow_turns(bench.loop);
	double begin_s = cpu_s(), used_s;

	for (unsigned i = 0; i < tables; i++) {
		uint32_t end = random_end(snapshot->num_ends);
		const struct path_record wanted = {.slid = snapshot->ends[end].lid};

		request_send(METHOD_GET_TABLE, attr_id, of_one ? COMPONENT(PATH_SLID) : 0,
			     of_one ? &wanted : NULL, wanted.slid);
		finish();
	}
	used_s = cpu_s() - begin_s;
	records = (bench.bytes - bytes) / record_bytes;
	printf("%s\t%.2f ms\t%" PRIu64 " records, %.2f million/s; %" PRIu64 " turns above 2 ms\n",
	       what, used_s / tables * 1e3, records / tables, records / used_s / 1e6,
	       loop_slow_turns(bench.loop) - slow);
}

/* Memory of the registry, and of the indexes of the SA. */
static void told_memory(const char *what, unsigned count, const struct mallinfo2 *before,
			double began_s)
{
	double used_s = cpu_s() - began_s;
	struct mallinfo2 now = mallinfo2();
	size_t bytes = now.uordblks + now.hblkhd - before->uordblks - before->hblkhd;

	printf("%s, memory\t%.1f MB\t%zu bytes each, %.2f us to register\n", what, bytes / 1e6,
	       bytes / count, used_s * 1e6 / count);
}

static void bench_registrations(void)
{
	struct mallinfo2 before = mallinfo2();
	double began_s = cpu_s();

	for (unsigned i = 0; i < SERVICES; i++) {
		const struct service_entry service = {
			.service_id = i, .gid_guid = 1 + i % PORTS, .p_key = PKEY_DEFAULT_FULL};

		registry_put(bench.registry, REGISTRY_SERVICE, &service);
	}
	told_memory("100,000 services", SERVICES, &before, began_s);
	before = mallinfo2();
	began_s = cpu_s();
	for (unsigned i = 0; i < MEMBERS; i++) {
		struct group_entry group = {.mgid = {0xFF, 0x12}, .mlid = LID_MULTICAST_MIN};
		struct member_entry member = {.port_guid = 1 + i % PORTS, .join_state = JOIN_FULL};

		group.mgid[15] = (uint8_t)(i / PORTS);
		memcpy(member.mgid, group.mgid, GID_SIZE);
		registry_put(bench.registry, REGISTRY_GROUP, &group);
		registry_put(bench.registry, REGISTRY_MEMBER, &member);
	}
	told_memory("10,000 joins of 1,000 ports", MEMBERS, &before, began_s);
	before = mallinfo2();
	began_s = cpu_s();
	for (unsigned i = 0; i < SUBSCRIPTIONS; i++) {
		const struct subscription_entry subscription = {
			.subscriber = 1 + i % PORTS, .number = (uint16_t)(i / PORTS), .qpn = 1};

		registry_put(bench.registry, REGISTRY_SUBSCRIPTION, &subscription);
	}
	told_memory("10,000 subscriptions", SUBSCRIPTIONS, &before, began_s);
}

static void bench_fabric(const char *spec)
{
	static const struct sa_options options = {
		.subnet_prefix = GID_PREFIX_DEFAULT, .packet_life_time = 18, .max_rate_enum = 63};

	bench = (struct bench){.loop = loop_new()};
	bench.transport.ops = &ops;
	bench.txns = txn_table_new(bench.loop, &bench.transport);
	bench.view = view_build(spec);
	bench.registry = registry_new();
	event_hub_init(&bench.events);
	bench.server = sa_new(bench.loop, bench.txns, &bench.view, bench.registry, &bench.events,
			      &options);
	printf("the fabric is %s\t%u hosts\t%u switches\n", spec, bench.view->topology->num_ends,
	       bench.view->topology->num_switches);
	bench_table("a table of one source's paths, the first", RECORD_PATH, 64, 1, true);
	bench_table("a table of one source's paths, others", RECORD_PATH, 64, TABLES, true);
	bench_table("all nodes", RECORD_NODE, 112, 10, false);
	bench_gets("any pair by LID", UINT32_MAX, false);
	bench_gets("any pair by GID", UINT32_MAX, true);
	bench_gets("1,000 hosts by GID", JOB_HOSTS, true);
	bench_registrations();
	sa_free(bench.server);
	registry_free(bench.registry);
	txn_table_free(bench.txns);
	view_publish(&bench.view, NULL);
	loop_free(bench.loop);
}

int main(int argc, char **argv)
{
	const char *quick = getenv("QUICK");

	if (quick && *quick)
		rounds = QUICK_ROUNDS;
	for (int i = 1; i < argc; i++)
		bench_fabric(argv[i]);
	if (argc < 2)
		bench_fabric("fattree:radix=36,levels=3");
	return EXIT_SUCCESS;
}

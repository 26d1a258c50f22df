/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The events that a whole subnet manager raises: ports that come, go and are forgotten, traps. */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include "tests/unit/fixtures/sm_world.h"

enum { LOG_MAX = 64 };

static struct {
	struct event_reader reader;
	struct event event[LOG_MAX];
	struct notice notice[LOG_MAX];
	unsigned count, of[EVENT_NOT_MASTER + 1];
} seen;

static const struct fake_port *newcomer; /* or NULL */

static void happened(void *ctx, const struct event *event)
{
	if (event->kind == EVENT_PKEYS)
		return; /* sm/partition/partitions.h reports all ports, too */
	(void)ctx;
	if (newcomer && event->kind == EVENT_PORT_IN)
		CU_ASSERT_EQUAL(newcomer->info.port_state, PORT_ACTIVE);
	CU_ASSERT_FATAL(seen.count < LOG_MAX);
	seen.of[event->kind]++;
	seen.event[seen.count] = *event;
	if (event->notice)
		seen.notice[seen.count] = *event->notice;
	seen.count++;
}

static struct world *listen(const struct sm_options *options)
{
	struct world *world = sm_world_new(net_tree2(1, 3, 1, 1), 2, 1, options);

	memset(&seen, 0, sizeof(seen));
	seen.reader.happened = happened;
	event_read(&world->events, &seen.reader);
	return world;
}

static guid_t guid_of(const struct fake_port *port)
{
	return port->node->info.port_guid + port->num;
}

static void hush(struct world *world)
{
	event_unread(&seen.reader);
	sm_world_free(world);
}

static bool is_forgotten(const struct world *world)
{
	(void)world;
	return seen.of[EVENT_PORT_FORGOTTEN] != 0;
}

static void judge(unsigned index, enum event_kind kind, guid_t guid, lid_t lid)
{
	CU_ASSERT_TRUE(seen.count > index);
	CU_ASSERT_EQUAL(seen.event[index].kind, kind);
	CU_ASSERT_EQUAL(seen.event[index].guid, guid);
	CU_ASSERT_EQUAL(seen.event[index].lid, lid);
}

/* Without a grace, a missing port is forgotten at once, and its return is reported. */
static void test_goes_and_comes(void)
{
	struct world *world = listen(NULL);
	struct fake_port *host;
	guid_t guid;
	lid_t lid;

	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(seen.count, 1); /* not each port that was there */
	judge(0, EVENT_MASTER, 0, 0);
	host = &sm_world_node(world, "host-4")->port[1];
	guid = guid_of(host);
	lid = host->info.lid;
	fake_link(host, false);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(seen.count, 3);
	judge(1, EVENT_PORT_OUT, guid, lid);
	judge(2, EVENT_PORT_FORGOTTEN, guid, LID_NONE);
	fake_link(host, true);
	newcomer = host; /* its link is up when the event is raised */
	sm_world_sweep(world, DISCOVER_HEAVY);
	newcomer = NULL;
	CU_ASSERT_EQUAL(seen.count, 4);
	judge(3, EVENT_PORT_IN, guid, host->info.lid);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(seen.count, 4);
	hush(world);
}

/* A grace in which the port returns, and a grace that ends. */
static void test_grace(void)
{
	struct sm_options options = sm_world_options();
	struct world *world;
	struct fake_port *host;

	options.grace_s = 3600;
	world = listen(&options);
	CU_ASSERT_TRUE(sm_world_up(world));
	host = &sm_world_node(world, "host-4")->port[1];
	fake_link(host, false);
	sm_world_sweep(world, DISCOVER_HEAVY);
	judge(1, EVENT_PORT_OUT, guid_of(host), host->info.lid);
	fake_link(host, true);
	sm_world_sweep(world, DISCOVER_HEAVY);
	judge(2, EVENT_PORT_IN, guid_of(host), host->info.lid);
	options.grace_s = 0;
	sm_set_options(world->sm, &options);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(seen.count, 3); /* it is back: nothing is forgotten */
	options.grace_s = 3600;
	sm_set_options(world->sm, &options);
	fake_link(host, false);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(seen.of[EVENT_PORT_FORGOTTEN], 0);
	options.grace_s = 1; /* of which some may be over */
	sm_set_options(world->sm, &options);
	sm_world_sweep(world, DISCOVER_HEAVY);
	sm_world_run(world, is_forgotten);
	judge(4, EVENT_PORT_FORGOTTEN, guid_of(host), LID_NONE);
	hush(world);
}

/* A port that is only in the registry, because it left while no manager ran, is forgotten, too. A
 * port that is present with another LID is not. */
static void test_went_unseen(void)
{
	struct world *world = listen(NULL);
	const struct lid_entry gone = {.guid = 0xDEAD, .lid = 77};
	struct lid_entry here = {.lid = 78};

	here.guid = guid_of(&sm_world_node(world, "host-3")->port[1]);
	registry_put(world->registry, REGISTRY_LID, &gone);
	registry_put(world->registry, REGISTRY_LID, &here);
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(seen.count, 2);
	judge(1, EVENT_PORT_FORGOTTEN, gone.guid, LID_NONE);
	peers_port_down(world->sm->peers, "test");
	CU_ASSERT_EQUAL(seen.count, 3);
	judge(2, EVENT_NOT_MASTER, 0, 0);
	hush(world);
}

/* A world whose registry has, before its manager starts, the records of an earlier manager on the
 * same net. */
static struct world *again(void)
{
	struct world *before = sm_world_new(net_tree2(1, 3, 1, 1), 2, 1, NULL),
		     *world = listen(NULL);
	const struct lid_entry *entry;

	CU_ASSERT_TRUE(sm_world_up(before));
	for (entry = registry_first(before->registry, REGISTRY_LID, -1, NULL); entry;
	     entry = registry_next(before->registry, REGISTRY_LID, -1, entry))
		registry_put(world->registry, REGISTRY_LID, entry);
	sm_world_free(before);
	return world;
}

/* As sm_new() does with a store that holds what the registry does. */
static void read_registry(struct world *world)
{
	port_events_done(&world->sm->port_events);
	port_events_init(&world->sm->port_events, world->loop, &world->events, world->registry,
			 &world->sm->options);
}

/* A port that came or left while weftd did not run is reported once, when the links are up. A port
 * that had left before that is not reported. */
static void test_unseen(void)
{
	const struct lid_entry gone = {.guid = 0xDEAD, .lid = 77},
			       before = {.guid = 0xBEEF, .lid = 78, .gone = 1};
	struct world *world = again();
	struct fake_port *host = &sm_world_node(world, "host-4")->port[1];
	const struct lid_entry came = {.guid = guid_of(host)};
	struct lid_entry back = {.gone = 2, .lid = 79};

	back.guid = guid_of(&sm_world_node(world, "host-3")->port[1]);
	CU_ASSERT_TRUE(registry_drop(world->registry, REGISTRY_LID, &came));
	registry_put(world->registry, REGISTRY_LID, &back);
	registry_put(world->registry, REGISTRY_LID, &gone);
	registry_put(world->registry, REGISTRY_LID, &before);
	read_registry(world);
	newcomer = host;
	CU_ASSERT_TRUE(sm_world_up(world));
	newcomer = NULL;
	CU_ASSERT_EQUAL(seen.of[EVENT_PORT_OUT], 1);
	CU_ASSERT_EQUAL(seen.of[EVENT_PORT_IN], 2);
	CU_ASSERT_EQUAL(seen.of[EVENT_PORT_FORGOTTEN], 2);
	CU_ASSERT_EQUAL(seen.count, 6);
	judge(3, EVENT_PORT_OUT, gone.guid, gone.lid);
	CU_ASSERT_PTR_NULL(seen.event[3].facts);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(seen.count, 6);
	read_registry(world); /* a restart after which all is as it was */
	port_events_published(&world->sm->port_events, NULL, world->sm->view);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(seen.of[EVENT_MASTER], 2);
	CU_ASSERT_EQUAL(seen.of[EVENT_PORT_OUT], 1);
	CU_ASSERT_EQUAL(seen.of[EVENT_PORT_IN], 2);
	hush(world);
}

/* If no other port of the store is present, the store is of another fabric: no port is reported as
 * new or gone. */
static void test_another_fabric(void)
{
	struct lid_entry own = {.lid = 5};
	const struct lid_entry other = {.guid = 0xDEAD, .lid = 77};
	struct world *world = listen(NULL);

	own.guid = guid_of(world->fake->local);
	registry_put(world->registry, REGISTRY_LID, &own);
	registry_put(world->registry, REGISTRY_LID, &other);
	read_registry(world);
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(seen.of[EVENT_PORT_OUT] + seen.of[EVENT_PORT_IN], 0);
	CU_ASSERT_EQUAL(seen.of[EVENT_PORT_FORGOTTEN], 1);
	hush(world);
}

/* The same if another manager has been MASTER since: that manager has reported the changes. */
static void test_after_another_master(void)
{
	const struct lid_entry gone = {.guid = 0xDEAD, .lid = 77};
	struct world *world = again();

	registry_put(world->registry, REGISTRY_LID, &gone);
	read_registry(world);
	port_events_published(&world->sm->port_events, NULL, NULL); /* STANDBY */
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(seen.of[EVENT_PORT_OUT] + seen.of[EVENT_PORT_IN], 0);
	hush(world);
}

/* A port that only has registrations is forgotten, too, once. The registrations of an alias belong
 * to its port. */
static void test_only_registered(void)
{
	const struct member_entry member = {.mgid = {0xFF, 1}, .port_guid = 0xDEAD1},
				  again = {.mgid = {0xFF, 2}, .port_guid = 0xDEAD1};
	const struct service_entry service = {.service_id = 1, .gid_guid = 0xDEAD2};
	const struct subscription_entry subscription = {.subscriber = 0xDEAD3};
	const struct alias_entry orphan = {.port_guid = 0xDEAD4, .index = 1, .guid = 0xA11A5};
	struct world *world = listen(NULL);
	struct alias_entry alias = {.index = 1, .guid = 0xA11A6};
	struct member_entry of_alias = {.mgid = {0xFF, 1}, .port_guid = 0xA11A6}, here = member;
	guid_t gone[] = {orphan.port_guid, member.port_guid, service.gid_guid,
			 subscription.subscriber};

	alias.port_guid = here.port_guid = guid_of(&sm_world_node(world, "host-3")->port[1]);
	registry_put(world->registry, REGISTRY_MEMBER, &member);
	registry_put(world->registry, REGISTRY_MEMBER, &again);
	registry_put(world->registry, REGISTRY_MEMBER, &here);
	registry_put(world->registry, REGISTRY_MEMBER, &of_alias);
	registry_put(world->registry, REGISTRY_SERVICE, &service);
	registry_put(world->registry, REGISTRY_SUBSCRIPTION, &subscription);
	registry_put(world->registry, REGISTRY_ALIAS, &orphan);
	registry_put(world->registry, REGISTRY_ALIAS, &alias);
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(seen.count, 1 + ARRAY_SIZE(gone));
	for (unsigned i = 0; i < ARRAY_SIZE(gone); i++)
		judge(1 + i, EVENT_PORT_FORGOTTEN, gone[i], LID_NONE);
	hush(world);
}

/* A trap of each kind is reported once, known or not, with the GID of its sender. */
static void test_traps(void)
{
	static const uint16_t numbers[] = {TRAP_LINK_STATE, TRAP_LOCAL_CHANGES, TRAP_BAD_M_KEY};
	struct world *world = listen(NULL);
	union notice_details details = {0};
	struct notice vendor = {.producer_type = 0x2C9, .trap_number = 1};
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};
	struct fake_port *host = &sm_world_node(world, "host-3")->port[1];

	fake_trap(world->fake, 3, TRAP_LINK_STATE, &details, 1, 0);
	CU_ASSERT_EQUAL(seen.count, 0); /* not MASTER */
	CU_ASSERT_TRUE(sm_world_up(world));
	for (unsigned i = 0; i < ARRAY_SIZE(numbers); i++) {
		for (unsigned again = 0; again < 2; again++)
			fake_trap(world->fake, host->info.lid, numbers[i], &details, i + 1, 0);
		judge(1 + i, EVENT_TRAP, guid_of(host), host->info.lid);
		CU_ASSERT_EQUAL(seen.notice[1 + i].trap_number, numbers[i]);
		CU_ASSERT_EQUAL(be64_load(seen.notice[1 + i].issuer_gid), GID_PREFIX_DEFAULT);
		CU_ASSERT_EQUAL(be64_load(seen.notice[1 + i].issuer_gid + 8), guid_of(host));
	}
	for (unsigned again = 0; again < 2; again++) /* no TID: each is one more */
		fake_trap(world->fake, host->info.lid, TRAP_BAD_M_KEY, &details, 0, 0);
	CU_ASSERT_EQUAL(seen.of[EVENT_TRAP], ARRAY_SIZE(numbers) + 2);

	vendor.issuer_lid = 0xBFFF; /* of no port */
	format_encode(&notice_format, &vendor, data);
	subn_build(mad, METHOD_TRAP, ATTR_NOTICE, 0, 0, NULL, data);
	be64_store(mad + 8, 9);
	fake_receive(world->fake, 0xBFFF, mad, MAD_SIZE);
	judge(seen.count - 1, EVENT_TRAP, 0, LID_NONE);
	CU_ASSERT_EQUAL(seen.notice[seen.count - 1].producer_type, 0x2C9);
	CU_ASSERT_EQUAL(be64_load(seen.notice[seen.count - 1].issuer_gid), 0);
	hush(world);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"goes and comes", test_goes_and_comes},
		{"grace", test_grace},
		{"went unseen", test_went_unseen},
		{"unseen changes", test_unseen},
		{"another fabric", test_another_fabric},
		{"another master in between", test_after_another_master},
		{"a port with registrations only", test_only_registered},
		{"traps", test_traps},
		CU_TEST_INFO_NULL,
	};

	return unit_main("herald", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Traps and their senders: the traps that a MASTER accepts, its reaction to others, and when a
 * complaint has an effect. Flows over time are scenarios of tests/sim.
 */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include "sm/traps.h"
#include "tests/sim/loop_virtual.h"
#include "tests/unit/fixtures/sm_world.h"

enum { UNKNOWN_LID = 4000, OFFENSES = 12 };

/* host-3 (the manager's) - leaf-0 = spine-0 = leaf-1 - host-4, with two cables each way. */
struct bed {
	struct world *world;
	struct event_reader reader;
	unsigned told;
	guid_t told_guid;
	struct notice told_notice;
	lid_t sm, victim_switch, host;
};

static void happened(void *ctx, const struct event *event)
{
	struct bed *bed = ctx;

	if (event->kind != EVENT_TRAP)
		return;
	bed->told++;
	bed->told_guid = event->guid;
	bed->told_notice = *event->notice;
}

static void begin(struct bed *bed, const struct sm_options *options)
{
	memset(bed, 0, sizeof(*bed));
	bed->world = sm_world_new(net_tree2(2, 1, 1, 2), 3, 1, options);
	bed->reader = (struct event_reader){.happened = happened, .ctx = bed};
	event_read(&bed->world->events, &bed->reader);
	CU_ASSERT_TRUE_FATAL(sm_world_up(bed->world));
	bed->sm = sm_world_node(bed->world, "host-3")->port[1].info.lid;
	bed->victim_switch = sm_world_node(bed->world, "leaf-1")->port[0].info.lid;
	bed->host = sm_world_node(bed->world, "host-4")->port[1].info.lid;
}

static void end(struct bed *bed)
{
	event_unread(&bed->reader);
	sm_world_free(bed->world);
}

static struct node *known(const struct bed *bed, const char *id)
{
	return fabric_find_node(bed->world->sm->fabric,
				sm_world_node(bed->world, id)->info.node_guid);
}

static void settle(struct bed *bed)
{
	bed->world->reports = 0;
	sm_world_run(bed->world, sm_world_is_quiet);
}

/* Which LIDs a notice names */

enum who { NOBODY, SM, SWITCH, HOST, STRANGER };

static lid_t lid_of(const struct bed *bed, enum who who)
{
	const lid_t lids[] = {[NOBODY] = LID_NONE,
			      [SM] = bed->sm,
			      [SWITCH] = bed->victim_switch,
			      [HOST] = bed->host,
			      [STRANGER] = UNKNOWN_LID};

	return lids[who];
}

static union notice_details details_of(uint16_t number, lid_t lid)
{
	union notice_details details = {0};

	switch (number) {
	case TRAP_LINK_STATE:
		details.link_state.lid = lid;
		break;
	case TRAP_LOCAL_CHANGES:
		details.local_changes.lid = lid;
		break;
	case TRAP_SYSTEM_IMAGE_GUID:
		details.system_image.lid = lid;
		break;
	case TRAP_BAD_M_KEY:
		details.bad_m_key.lid = lid;
		break;
	case TRAP_BAD_P_KEY:
	case TRAP_BAD_Q_KEY:
		details.bad_key.lid1 = details.bad_key.lid2 = lid;
		break;
	case TRAP_SWITCH_BAD_P_KEY:
		details.switch_bad_p_key.switch_lid = lid;
		break;
	default:
		details.threshold = (struct notice_threshold){.lid = lid, .port_num = 1};
	}
	return details;
}

/* The read of this GUID that the next sweep will do, as enum discover_look. */
static unsigned wanted(const struct bed *bed, guid_t guid)
{
	const struct trigger *trigger = &bed->world->sm->trigger;

	for (unsigned i = 0; i < trigger->num_targets; i++) {
		if (trigger->targets[i].guid == guid)
			return trigger->targets[i].what;
	}
	return 0;
}

static const struct row {
	uint16_t number;
	enum who slid, issuer, details;
	bool mismatch;
} rows[] = {
	/* Its own. */
	{TRAP_LINK_STATE, SWITCH, SWITCH, SWITCH, false},
	{TRAP_LINK_STATE, SWITCH, SWITCH, NOBODY, false}, /* left zero */
	{TRAP_LOCAL_CHANGES, HOST, HOST, HOST, false},
	{TRAP_SYSTEM_IMAGE_GUID, HOST, HOST, HOST, false},
	{TRAP_LOCAL_LINK_INTEGRITY, HOST, HOST, HOST, false},
	{TRAP_SWITCH_BAD_P_KEY, SWITCH, SWITCH, SWITCH, false},
	/* The details name the ends of a packet. */
	{TRAP_BAD_M_KEY, HOST, HOST, SWITCH, false},
	{TRAP_BAD_P_KEY, HOST, HOST, SWITCH, false},
	{TRAP_BAD_Q_KEY, HOST, HOST, SM, false},
	/* Another issuer. */
	{TRAP_LINK_STATE, HOST, SWITCH, SWITCH, true},
	{TRAP_LOCAL_CHANGES, HOST, SM, SM, true},
	{TRAP_LOCAL_LINK_INTEGRITY, HOST, SWITCH, SWITCH, true},
	{TRAP_BAD_M_KEY, HOST, SWITCH, HOST, true},
	{TRAP_BAD_P_KEY, HOST, SWITCH, HOST, true},
	{TRAP_LINK_STATE, HOST, STRANGER, HOST, true},
	{TRAP_LINK_STATE, STRANGER, SWITCH, SWITCH, true},
	/* Another port in the details. */
	{TRAP_LINK_STATE, HOST, HOST, SWITCH, true},
	{TRAP_LOCAL_LINK_INTEGRITY, HOST, HOST, SWITCH, true},
	{TRAP_BUFFER_OVERRUN, HOST, HOST, SWITCH, true},
	{TRAP_FLOW_CONTROL, HOST, HOST, SWITCH, true},
	{TRAP_LOCAL_CHANGES, HOST, HOST, SWITCH, true},
	{TRAP_SYSTEM_IMAGE_GUID, HOST, HOST, SM, true},
	{TRAP_SWITCH_BAD_P_KEY, HOST, HOST, SWITCH, true},
	{TRAP_LINK_STATE, SWITCH, SWITCH, STRANGER, true},
	/* The manager's own notices. */
	{TRAP_GID_IN_SERVICE, HOST, SM, NOBODY, true},
	{TRAP_GID_OUT_OF_SERVICE, HOST, SM, NOBODY, true},
	{TRAP_MC_GROUP_CREATED, HOST, HOST, NOBODY, true},
	{TRAP_MC_GROUP_DELETED, SM, SM, NOBODY, true},
	{TRAP_GID_OUT_OF_SERVICE, NOBODY, SM, NOBODY, true},
	/* No LID as the issuer: the agent has none yet. */
	{TRAP_LOCAL_CHANGES, HOST, NOBODY, HOST, false},
	{TRAP_LINK_STATE, SWITCH, NOBODY, NOBODY, false},
	{TRAP_LOCAL_CHANGES, STRANGER, NOBODY, NOBODY, false},
	{TRAP_LOCAL_CHANGES, HOST, NOBODY, SWITCH, true},
	/* From our own port to itself, or from a device without a LID: no source LID. */
	{TRAP_LOCAL_CHANGES, NOBODY, SM, SM, false},
	{TRAP_LOCAL_CHANGES, NOBODY, NOBODY, NOBODY, false},
	{TRAP_LOCAL_CHANGES, NOBODY, HOST, HOST, true},
	{TRAP_LOCAL_CHANGES, NOBODY, NOBODY, HOST, true},
	{TRAP_LOCAL_CHANGES, NOBODY, SM, HOST, true},
	{TRAP_BAD_P_KEY, NOBODY, HOST, SM, true},
	{TRAP_LINK_STATE, NOBODY, SWITCH, SWITCH, true},
	{TRAP_LINK_STATE, NOBODY, STRANGER, NOBODY, true},
};

static const char *world_node_of(enum who who)
{
	return who == NOBODY || who == SM ? "host-3" : who == SWITCH ? "leaf-1" : "host-4";
}

/* Each trap is repressed. A trap that does not concern its sender is counted, goes to no
 * subscriber, and makes the manager read only the sender. */
static void check_row(const struct row *row)
{
	struct bed bed;
	union notice_details details;
	struct sm_counts before;
	struct node *switch_node, *sender;

	begin(&bed, NULL);
	before = bed.world->sm->counts;
	details = details_of(row->number, lid_of(&bed, row->details));
	fake_trap_of(bed.world->fake, lid_of(&bed, row->slid), lid_of(&bed, row->issuer),
		     row->number, &details, 77, 0);
	CU_ASSERT_EQUAL(bed.world->sm->counts.repressed, before.repressed + 1);
	CU_ASSERT_EQUAL(bed.world->sm->counts.mismatched, before.mismatched + row->mismatch);
	CU_ASSERT_EQUAL(bed.told, !row->mismatch);
	switch_node = known(&bed, "leaf-1");
	sender = known(&bed, world_node_of(row->slid));
	if (row->slid != STRANGER && !row->mismatch) {
		CU_ASSERT_EQUAL(bed.told_guid, port_facts(&sender->port[sender->sw ? 0 : 1])->guid);
		CU_ASSERT_EQUAL(bed.told_notice.issuer_lid,
				lid_of(&bed, row->slid == NOBODY ? SM : row->slid));
	}
	if (row->slid != SWITCH)
		CU_ASSERT_EQUAL(wanted(&bed, switch_node->guid), 0);
	CU_ASSERT_EQUAL(switch_node->sw->links_changed,
			row->number == TRAP_LINK_STATE && row->slid == SWITCH && !row->mismatch);
	if (row->mismatch && row->slid == HOST)
		CU_ASSERT_EQUAL(wanted(&bed, port_facts(&sender->port[1])->guid), LOOK_PORT);
	if (row->mismatch && row->slid == SWITCH)
		CU_ASSERT_TRUE(wanted(&bed, switch_node->guid) & LOOK_NODE);
	end(&bed);
}

static void test_senders(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned failures = CU_get_number_of_failures();

		check_row(&rows[i]);
		if (CU_get_number_of_failures() != failures)
			printf("row %zu, trap %u\n", i, rows[i].number);
	}
}

/* With an LMC each LID of the port is its own, the LID after its last is not. */
static void test_lmc(void)
{
	struct sm_options options = sm_world_options();
	union notice_details details = {0};
	struct bed bed;

	options.lmc = 2;
	begin(&bed, &options);
	details.local_changes.lid = bed.host + 2;
	fake_trap_of(bed.world->fake, bed.host + 3, bed.host, TRAP_LOCAL_CHANGES, &details, 1, 0);
	fake_trap_of(bed.world->fake, bed.host, bed.host + 3, TRAP_LOCAL_CHANGES, &details, 2, 0);
	CU_ASSERT_EQUAL(bed.world->sm->counts.mismatched, 0);
	fake_trap_of(bed.world->fake, bed.host, bed.host + 4, TRAP_LOCAL_CHANGES, &details, 3, 0);
	CU_ASSERT_EQUAL(bed.world->sm->counts.mismatched, 1);
	details.local_changes.lid = bed.host - 1;
	fake_trap_of(bed.world->fake, bed.host, bed.host, TRAP_LOCAL_CHANGES, &details, 4, 0);
	CU_ASSERT_EQUAL(bed.world->sm->counts.mismatched, 2);
	end(&bed);
}

/* Between the decision that a port gets another LID and the answer of its agent, both LIDs are its
 * own. The next owner of the previous LID is not mistaken for the port. */
static void test_lid_changes(void)
{
	union notice_details details = {0};
	struct fabric *fabric;
	struct port *host, *sw;
	lid_t next = UNKNOWN_LID, before;
	struct bed bed;

	begin(&bed, NULL);
	fabric = bed.world->sm->fabric;
	host = &known(&bed, "host-4")->port[1];
	sw = &known(&bed, "leaf-1")->port[0];
	before = bed.host;
	port_set_lid(fabric, host, next, 0);
	for (unsigned i = 0; i < 4; i++) {
		details.local_changes.lid = i & 1 ? next : before;
		fake_trap_of(bed.world->fake, i & 1 ? next : before, i & 2 ? next : before,
			     TRAP_LOCAL_CHANGES, &details, 10 + i, 0);
		CU_ASSERT_EQUAL(bed.told_guid, port_facts(host)->guid);
	}
	CU_ASSERT_EQUAL(bed.world->sm->counts.mismatched, 0);
	port_set_lid(fabric, sw, before, 0);
	details.local_changes.lid = before;
	fake_trap(bed.world->fake, before, TRAP_LOCAL_CHANGES, &details, 20, 0);
	CU_ASSERT_EQUAL(bed.told_guid, port_facts(host)->guid);
	CU_ASSERT_EQUAL(bed.told, 5);
	end(&bed);
}

/* A notice of a vendor has an issuer, too; its details mean nothing here. */
static void test_vendor(void)
{
	struct notice notice = {.is_generic = 0, .type = NOTICE_URGENT, .trap_number = 65};
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE];
	struct bed bed;

	begin(&bed, NULL);
	for (unsigned i = 0; i < 2; i++) {
		memset(data, 0, sizeof(data));
		notice.issuer_lid = i ? bed.sm : bed.host;
		format_encode(&notice_format, &notice, data);
		subn_build(mad, METHOD_TRAP, ATTR_NOTICE, 0, 0, NULL, data);
		fake_receive(bed.world->fake, bed.host, mad, MAD_SIZE);
		CU_ASSERT_EQUAL(bed.world->sm->counts.mismatched, i);
		CU_ASSERT_EQUAL(bed.told, 1);
	}
	end(&bed);
}

/* A directed trap has the LID of the switch at which its directed part ended. */
static void test_directed(void)
{
	enum { SWITCH_KEY = 0x2222 };
	static const struct route_path route = {.hops = 1, .port = {0, 1}};
	static const uint16_t numbers[] = {TRAP_LINK_STATE, TRAP_LOCAL_LINK_INTEGRITY,
					   TRAP_SWITCH_BAD_P_KEY, TRAP_BAD_M_KEY};
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE];
	union notice_details details;
	const struct fake_net *fake;
	struct notice notice;
	struct node *leaf;
	struct bed bed;

	begin(&bed, NULL);
	fake = bed.world->fake;
	leaf = known(&bed, "leaf-1");
	leaf->port[0].agent->m_key = (struct m_key_have){.key = SWITCH_KEY, .known = true};
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		size_t before = fake->num_sent;

		details = details_of(numbers[i], bed.victim_switch);
		notice_fill(&notice, numbers[i], NODE_SWITCH, bed.victim_switch, &details);
		memset(data, 0, sizeof(data));
		format_encode(&notice_format, &notice, data);
		subn_build(mad, METHOD_TRAP, ATTR_NOTICE, 0, 0, &route, data);
		mad[15] = (uint8_t)(1 + i); /* its TID */
		fake_receive(bed.world->fake, bed.victim_switch, mad, MAD_SIZE);
		CU_ASSERT_EQUAL(bed.world->sm->counts.mismatched, i + 1);
		CU_ASSERT_EQUAL_FATAL(fake->num_sent, before + 1);
		CU_ASSERT_EQUAL(be64_load(fake->sent[before] + SMP_M_KEY_OFFSET), 0);
	}
	CU_ASSERT_EQUAL(bed.told, 0);
	CU_ASSERT_EQUAL(wanted(&bed, leaf->guid), 0);
	CU_ASSERT_FALSE(leaf->sw->links_changed);
	end(&bed);
}

/* M_Keys */

/* The M_Key of the TrapRepress() to this sender, whose trap names its own LID. */
static uint64_t key_for(const struct bed *bed, lid_t slid, uint64_t tid)
{
	const struct fake_net *fake = bed->world->fake;
	union notice_details details = {.local_changes = {.lid = slid}};
	size_t before = fake->num_sent;

	fake_trap(bed->world->fake, slid, TRAP_LOCAL_CHANGES, &details, tid, 0x4B4559);
	CU_ASSERT_EQUAL_FATAL(fake->num_sent, before + 1);
	CU_ASSERT_EQUAL(fake->sent[before][3], METHOD_TRAP_REPRESS);
	return be64_load(fake->sent[before] + SMP_M_KEY_OFFSET);
}

/* Each sender gets the key of its own port, never the key in the Trap(). */
static void test_keys(void)
{
	enum { HOST_KEY = 0x1111, SWITCH_KEY = 0x2222, NEXT_KEY = 0x3333 };
	struct agent *host, *sw;
	struct bed bed;

	begin(&bed, NULL);
	host = known(&bed, "host-4")->port[1].agent;
	sw = known(&bed, "leaf-1")->port[0].agent;
	CU_ASSERT_EQUAL(key_for(&bed, bed.host, 1), 0);
	host->m_key = (struct m_key_have){.key = HOST_KEY, .known = true};
	sw->m_key = (struct m_key_have){.key = SWITCH_KEY, .known = true};
	CU_ASSERT_EQUAL(key_for(&bed, bed.host, 2), HOST_KEY);
	CU_ASSERT_EQUAL(key_for(&bed, bed.host, 2), HOST_KEY); /* again */
	CU_ASSERT_EQUAL(key_for(&bed, bed.victim_switch, 3), SWITCH_KEY);
	CU_ASSERT_EQUAL(key_for(&bed, UNKNOWN_LID, 4), 0);
	/* While the key changes, a repetition tries the other key. */
	host->m_key = (struct m_key_have){
		.key = HOST_KEY, .next = NEXT_KEY, .known = true, .changing = true};
	CU_ASSERT_EQUAL(key_for(&bed, bed.host, 5), HOST_KEY);
	CU_ASSERT_EQUAL(key_for(&bed, bed.host, 5), NEXT_KEY);
	/* A LID that is no known port's gets no key, also where all ports have the same. */
	bed.world->sm->options.m_key = NEXT_KEY;
	bed.world->sm->options.m_key_mode = M_KEY_PORT;
	CU_ASSERT_EQUAL(key_for(&bed, UNKNOWN_LID, 6), 0);
	bed.world->sm->options.m_key_mode = M_KEY_SUBNET;
	CU_ASSERT_EQUAL(key_for(&bed, UNKNOWN_LID, 7), 0);
	bed.world->sm->options.m_key_mode = M_KEY_NONE;
	end(&bed);
}

/* Where the TrapRepress() goes: to the sender, from our own port to that. Before it has a LID
 * nothing can be sent to it. */
static void test_destination(void)
{
	union notice_details details = {0};
	struct fabric *fabric;
	struct bed bed;
	size_t before;

	begin(&bed, NULL);
	fabric = bed.world->sm->fabric;
	fake_trap_of(bed.world->fake, bed.host, bed.host, TRAP_LOCAL_CHANGES, &details, 1, 0);
	CU_ASSERT_EQUAL(bed.world->fake->last_sent_to, bed.host);
	fake_trap_of(bed.world->fake, LID_NONE, bed.sm, TRAP_LOCAL_CHANGES, &details, 2, 0);
	CU_ASSERT_EQUAL(bed.world->fake->last_sent_to, bed.sm);
	CU_ASSERT_EQUAL(bed.told_guid, port_facts(fabric->sm_port)->guid);
	before = bed.world->fake->num_sent;
	fabric->sm_port = NULL;
	fake_trap_of(bed.world->fake, LID_NONE, bed.sm, TRAP_LOCAL_CHANGES, &details, 3, 0);
	CU_ASSERT_EQUAL(bed.world->fake->num_sent, before);
	fabric->sm_port = &known(&bed, "host-3")->port[1];
	end(&bed);
}

/* Complaints */

static struct sm_options disabling(void)
{
	struct sm_options options = sm_world_options();

	options.babble_policy = BABBLE_DISABLE;
	options.babble_threshold = 10;
	return options;
}

static void complain(struct bed *bed, lid_t slid, lid_t about, uint8_t num, unsigned times)
{
	union notice_details details = {.threshold = {.lid = about, .port_num = num}};

	for (unsigned i = 0; i < times; i++)
		fake_trap_of(bed->world->fake, slid, about, TRAP_LOCAL_LINK_INTEGRITY, &details,
			     100 + i, 0);
}

/* The port of leaf-1 that leads to a host, or to the spine. */
static uint8_t port_to(const struct bed *bed, bool host)
{
	const struct node *leaf = known(bed, "leaf-1");

	for (uint8_t i = 1; i <= leaf->num_ports; i++) {
		const struct port *peer = leaf->port[i].peer;

		if (peer && host == !port_of_switch(peer))
			return i;
	}
	CU_FAIL("no such port");
	return 0;
}

static bool is_disabled(const struct bed *bed, uint8_t num)
{
	const struct fake_net *fake = bed->world->fake;
	const struct fake_port *port = &sm_world_node(bed->world, "leaf-1")->port[num];

	for (size_t i = 0; i < fake->num_sets; i++) {
		struct port_info want;

		if (fake->sets[i].attr_id != ATTR_PORT_INFO || fake->sets[i].port != port)
			continue;
		attr_decode(&port_info_format, fake->sets[i].data, &want);
		if (want.port_physical_state == PHYS_DISABLED)
			return true;
	}
	return false;
}

/* A complaint whose TrapRepress() was lost comes again with its TID, and is one complaint. */
static void test_repeated_complaint(void)
{
	struct sm_options options = disabling();
	union notice_details details = {0};
	struct bed bed;

	options.babble_policy = BABBLE_NOTE;
	begin(&bed, &options);
	details.threshold = (struct notice_threshold){.lid = bed.victim_switch, .port_num = 2};
	for (unsigned i = 0; i < 100; i++)
		fake_trap(bed.world->fake, bed.victim_switch, TRAP_LOCAL_LINK_INTEGRITY, &details,
			  7, 0);
	CU_ASSERT_EQUAL(bed.world->sm->trigger.num_targets, 0);
	for (unsigned i = 0; i < 100; i++)
		fake_trap(bed.world->fake, bed.victim_switch, TRAP_LOCAL_LINK_INTEGRITY, &details,
			  8 + i, 0);
	CU_ASSERT_EQUAL(bed.world->sm->hold.babbling, 0); /* not before the port is read */
	settle(&bed);
	CU_ASSERT_EQUAL(bed.world->sm->hold.babbling, 1);
	end(&bed);
}

/* The sender of complaints, the port that they concern, and whether its link to a host is disabled.
 */
static void test_disable(void)
{
	static const struct {
		enum who slid;
		bool about_switch, to_host, silent, disabled;
	} cases[] = {
		{SWITCH, true, true, false, true},
		{SWITCH, true, false, false, false}, /* a cable to another switch */
		{SWITCH, true, true, true, false},   /* no read confirms it */
		{HOST, true, true, false, false},    /* forged */
		{HOST, false, true, false, true},    /* an adapter about itself */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sm_options options = disabling();
		struct bed bed;
		uint8_t num;

		begin(&bed, &options);
		num = port_to(&bed, cases[i].to_host);
		sm_world_node(bed.world, "leaf-1")->silent = cases[i].silent;
		complain(&bed, lid_of(&bed, cases[i].slid),
			 cases[i].about_switch ? bed.victim_switch : bed.host,
			 cases[i].about_switch ? num : 1, OFFENSES);
		settle(&bed);
		CU_ASSERT_EQUAL(is_disabled(&bed, num), cases[i].disabled);
		CU_ASSERT_EQUAL(bed.world->sm->hold.babbling,
				!cases[i].silent && (cases[i].disabled || !cases[i].to_host));
		end(&bed);
	}
}

/* An adapter's port complains of no other port, a port that does not exist is ignored. */
static void test_ports(void)
{
	struct sm_options options = disabling();
	struct bed bed;

	begin(&bed, &options);
	complain(&bed, bed.host, bed.host, 2, OFFENSES);
	complain(&bed, bed.host, bed.host, 0, OFFENSES);
	complain(&bed, bed.victim_switch, bed.victim_switch, 255, OFFENSES);
	CU_ASSERT_EQUAL(bed.world->sm->trigger.num_targets, 0);
	CU_ASSERT_EQUAL(bed.world->sm->counts.mismatched, 0);
	end(&bed);
}

/* The pace */

static void test_pause(void)
{
	static const struct {
		unsigned empty, seconds;
	} pauses[] = {{0, 1}, {1, 1}, {3, 1}, {4, 2}, {5, 4}, {6, 8}, {7, 8}, {1000000, 8}};

	for (size_t i = 0; i < ARRAY_SIZE(pauses); i++)
		CU_ASSERT_EQUAL(trap_pause_us(pauses[i].empty),
				pauses[i].seconds * UINT64_C(1000000));
}

/* A flood from a host starts one sweep at once. A trap of a switch during the flood also starts a
 * sweep at once. */
static void test_flood(void)
{
	struct bed bed;
	union notice_details details = {0};
	uint64_t number;

	begin(&bed, NULL);
	number = bed.world->sm->sweep.last.number;
	for (unsigned round = 0; round < 5; round++) {
		for (unsigned i = 0; i < 200; i++) {
			details.link_state.lid = (lid_t)(1 + i % 5);
			fake_trap_of(bed.world->fake, bed.host, details.link_state.lid,
				     TRAP_LINK_STATE, &details, 1000 * round + i, 0);
		}
		if (round == 0)
			settle(&bed);
	}
	CU_ASSERT_EQUAL(bed.world->sm->sweep.last.number, number + 1);
	CU_ASSERT_FALSE(bed.world->sm->trigger.wanted);
	fake_link(&sm_world_node(bed.world, "host-4")->port[1], false);
	details.link_state.lid = bed.victim_switch;
	fake_trap(bed.world->fake, bed.victim_switch, TRAP_LINK_STATE, &details, 5, 0);
	CU_ASSERT_TRUE(bed.world->sm->trigger.wanted);
	settle(&bed);
	CU_ASSERT_PTR_NULL(known(&bed, "host-4"));
	CU_ASSERT_EQUAL(bed.world->sm->counts.repressed, 1001);
	end(&bed);
}

static uint64_t awaited_sweep;

static bool has_swept(const struct world *world)
{
	return world->sm->sweep.last.number >= awaited_sweep;
}

/* A switch sends this trap, each time with the next TID or with the same, and reads show no change.
 * Then a link goes down: the trap about it causes a read soon. */
static void link_after(uint16_t number, bool next_tid)
{
	union notice_details details = {.link_state.lid = 0};
	uint64_t began_us;
	struct bed bed;

	begin(&bed, NULL);
	if (number == TRAP_LINK_STATE)
		details.link_state.lid = bed.victim_switch;
	for (unsigned looks = 0; looks < 8; looks++) {
		began_us = loop_now_us(bed.world->loop);
		awaited_sweep = bed.world->sm->sweep.last.number + 1;
		fake_trap(bed.world->fake, bed.victim_switch, number, &details,
			  1 + (next_tid ? looks : 0), 0);
		sm_world_run(bed.world, has_swept);
	}
	CU_ASSERT_TRUE(loop_now_us(bed.world->loop) - began_us > 2500000);
	began_us = loop_now_us(bed.world->loop);
	awaited_sweep = bed.world->sm->sweep.last.number + 1;
	fake_link(&sm_world_node(bed.world, "host-4")->port[1], false);
	details.link_state.lid = bed.victim_switch;
	fake_trap(bed.world->fake, bed.victim_switch, TRAP_LINK_STATE, &details, 100, 0);
	sm_world_run(bed.world, has_swept);
	CU_ASSERT_TRUE(loop_now_us(bed.world->loop) - began_us < 2500000);
	CU_ASSERT_PTR_NULL(known(&bed, "host-4"));
	end(&bed);
}

/* A host can make a switch complain of M_Keys. A switch may repeat a trap although the TrapRepress
 * was sent. That makes looks rare, but not those for its links. */
static void test_link_after_complaints(void)
{
	link_after(TRAP_BAD_M_KEY, true);
	link_after(TRAP_LINK_STATE, false);
}

/* A read that shows one more violation, as after each trap 256, is no change. */
static void test_violations_are_no_news(void)
{
	union notice_details details = {0};
	struct port_info *info;
	uint64_t revision;
	struct node *node;
	struct bed bed;

	begin(&bed, NULL);
	node = known(&bed, "host-4");
	info = &sm_world_node(bed.world, "host-4")->port[1].info;
	revision = node->revision;
	info->m_key_violations++;
	info->p_key_violations++;
	info->q_key_violations++;
	fake_trap(bed.world->fake, bed.host, TRAP_BAD_M_KEY, &details, 1, 0);
	settle(&bed);
	CU_ASSERT_EQUAL(port_info(&node->port[1])->m_key_violations, info->m_key_violations);
	CU_ASSERT_EQUAL(node->revision, revision);
	info->capability_mask ^= CAP_IS_SM;
	awaited_sweep = bed.world->sm->sweep.last.number + 1;
	fake_trap(bed.world->fake, bed.host, TRAP_BAD_M_KEY, &details, 2, 0);
	sm_world_run(bed.world, has_swept);
	CU_ASSERT_NOT_EQUAL(node->revision, revision);
	end(&bed);
}

/* Valid traps of one port, each different, are reported up to the share of the port. Traps of
 * another port during the flood are reported. */
static void test_reported_share(void)
{
	enum { FLOOD = 1000 };
	struct bed bed;
	union notice_details details = {0};

	begin(&bed, NULL);
	details.local_changes.lid = bed.host;
	for (unsigned i = 0; i < FLOOD; i++)
		fake_trap(bed.world->fake, bed.host, TRAP_LOCAL_CHANGES, &details, 1000 + i, 0);
	CU_ASSERT_TRUE(bed.told >= TRAPS_TOLD_BURST && bed.told < TRAPS_TOLD_BURST + 10);
	CU_ASSERT_EQUAL(bed.world->sm->counts.untold, FLOOD - bed.told);
	details.link_state.lid = bed.victim_switch;
	fake_trap(bed.world->fake, bed.victim_switch, TRAP_LINK_STATE, &details, 5, 0);
	CU_ASSERT_EQUAL(bed.told_notice.trap_number, TRAP_LINK_STATE);
	CU_ASSERT_EQUAL(bed.world->sm->counts.repressed, FLOOD + 1);
	end(&bed);
}

enum { SLOW_US = 12000 };

/* Each SMP is followed by a trap 128 with a new TID: from an unknown place, or in the name of a
 * switch. */
static struct {
	bool is_inside;
	lid_t slid; /* LID_PERMISSIVE: by a directed route */
	uint64_t tid;
	const struct fake_node *slow; /* a SMP to it takes SLOW_US; NULL: none */
} each_smp;

static enum fake_fate trap_with_each_smp(void *ctx, struct fake_node *node,
					 const struct mad_header *header)
{
	union notice_details details = {.link_state.lid = each_smp.slid};
	struct route_path path = {.hops = 2, .port = {0, 1, 1}};
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};
	const struct world *world = ctx;
	struct notice notice;

	(void)header;
	if (each_smp.is_inside)
		return FAKE_ANSWER;
	each_smp.is_inside = true;
	if (node == each_smp.slow)
		loop_set_now(world->loop, loop_now_us(world->loop) + SLOW_US);
	each_smp.tid++;
	if (each_smp.slid != LID_PERMISSIVE) {
		fake_trap(world->fake, each_smp.slid, TRAP_LINK_STATE, &details, each_smp.tid, 0);
	} else {
		notice_fill(&notice, TRAP_LINK_STATE, NODE_SWITCH, 0, &details);
		format_encode(&notice_format, &notice, data);
		subn_build(mad, METHOD_TRAP, ATTR_NOTICE, 0, 0, &path, data);
		be64_store(mad + 8, each_smp.tid);
		fake_receive(world->fake, LID_PERMISSIVE, mad, MAD_SIZE);
	}
	each_smp.is_inside = false;
	return FAKE_ANSWER;
}

static bool tables_are_right(const struct world *world)
{
	return world->sm->sweep.last.number && !world->sm->sweep.running &&
	       !sm_world_wrong_rows(world);
}

/* A flood of traps does not keep weftd from writing tables: a switch that lost its table gets it
 * back, from unknown places also while the flood lasts. If SMPs are slow, the traps come slowly,
 * too: each check of the switch is followed by a trap. */
static void test_flood_of_epochs(void)
{
	static const struct {
		bool known, slow;
	} floods[] = {{false, false}, {true, false}, {false, true}, {true, true}};

	for (size_t i = 0; i < ARRAY_SIZE(floods); i++) {
		bool known = floods[i].known;
		struct fake_node *leaf;
		struct bed bed;

		begin(&bed, NULL);
		leaf = sm_world_node(bed.world, "leaf-1");
		memset(leaf->lft, LFT_NO_PORT, sizeof(leaf->lft));
		leaf->sw.linear_fdb_top = 0;
		leaf->port[0].info.lid = 0;
		each_smp.slid = known ? lid_of(&bed, SWITCH) : LID_PERMISSIVE;
		each_smp.slow = floods[i].slow ? leaf : NULL;
		bed.world->fake->fate = trap_with_each_smp;
		trigger_heavy(&bed.world->sm->trigger, "test");
		if (known) /* the ports of that switch are in doubt until the flood ends */
			sm_world_sweep(bed.world, DISCOVER_HEAVY);
		else
			CU_ASSERT_TRUE(sm_world_run(bed.world, tables_are_right));
		bed.world->fake->fate = NULL;
		CU_ASSERT_TRUE(sm_world_run(bed.world, tables_are_right));
		end(&bed);
	}
}

static uint64_t awaited_us;

static bool has_passed(const struct world *world)
{
	return loop_now_us(world->loop) >= awaited_us;
}

/* Searches that a limit holds back are not log lines, so they are not counted as suppressed lines.
 */
static void test_limits_are_no_lines(void)
{
	enum { FLOOD = 1000, SEARCHES_AGAIN_US = 30000 };
	struct unit_capture capture;
	char text[4096];
	struct bed bed;
	union notice_details details = {0};

	begin(&bed, NULL);
	for (unsigned i = 0; i < FLOOD; i++)
		fake_trap(bed.world->fake, UNKNOWN_LID, TRAP_LOCAL_CHANGES, &details, 1000 + i, 0);
	awaited_us = loop_now_us(bed.world->loop) + SEARCHES_AGAIN_US;
	sm_world_run(bed.world, has_passed);
	fake_trap(bed.world->fake, UNKNOWN_LID, TRAP_LOCAL_CHANGES, &details, 5, 0);
	unit_capture_begin(&capture);
	log_write(LOG_CRIT, LOG_COMPONENT, NULL, "another line");
	unit_capture_end(&capture, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "CRITICAL test: another line\n");
	end(&bed);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"senders", test_senders},
		{"all LIDs of a port", test_lmc},
		{"while LIDs change", test_lid_changes},
		{"a vendor's notice", test_vendor},
		{"a directed trap", test_directed},
		{"whose M_Key a TrapRepress has", test_keys},
		{"where a TrapRepress goes", test_destination},
		{"a complaint that comes again", test_repeated_complaint},
		{"which complaints disable a port", test_disable},
		{"which ports a complaint may name", test_ports},
		{"the pause after a look", test_pause},
		{"a flood does not stop Sets", test_flood_of_epochs},
		{"a flood from one sender", test_flood},
		{"violations are no news", test_violations_are_no_news},
		{"a link after many complaints", test_link_after_complaints},
		{"share of a port in reported traps", test_reported_share},
		{"a limit of traps is none of lines", test_limits_are_no_lines},
		CU_TEST_INFO_NULL,
	};

	return unit_main("traps", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The subnet manager among others: election, standby and polling, handover, control packets, and
 * its answers in each role. The other managers are fake agents with an SMInfo.
 */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include <limits.h>

#include "include/message_id.h"
#include "lib/log.h"
#include "sm/election/parts.h"
#include "tests/unit/fixtures/managers.h"

static size_t sets_sent(const struct world *world)
{
	return world->fake->num_sets;
}

static void test_election(void)
{
	static const struct {
		uint8_t priority;
		enum sm_state state;
		uint64_t sm_key;
		int guid_step; /* of the other against ours */
		enum sm_state role;
	} rows[] = {
		{PRIORITY - 1, SM_DISCOVERING, 0, 1, SM_MASTER},
		{PRIORITY - 1, SM_STANDBY, 0, 1, SM_MASTER},
		{PRIORITY - 1, SM_MASTER, 0, 1, SM_STANDBY},
		{PRIORITY + 1, SM_DISCOVERING, 0, 1, SM_STANDBY},
		{PRIORITY + 1, SM_MASTER, 0, 1, SM_STANDBY},
		{PRIORITY + 1, SM_MASTER, SM_KEY_DEFAULT, 1, SM_STANDBY},
		{PRIORITY + 1, SM_MASTER, SM_KEY_DEFAULT + 1, 1, SM_MASTER}, /* no peer */
		{PRIORITY + 1, SM_NOTACTIVE, 0, 1, SM_MASTER},
		{PRIORITY, SM_DISCOVERING, 0, 1, SM_MASTER},
		{PRIORITY, SM_DISCOVERING, 0, -1, SM_STANDBY},
		{PRIORITY, SM_MASTER, 0, 1, SM_STANDBY},
		{15, SM_DISCOVERING, 0, 1, SM_STANDBY},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world *world = three_hosts(false);
		struct fake_node *other =
			add_manager(world, "host-2", rows[i].priority, rows[i].state);

		other->sm.sm_key = rows[i].sm_key;
		if (rows[i].guid_step < 0) {
			other->info.port_guid = world->fake->transport.port.port_guid - 16;
			other->sm.guid = other->info.port_guid + 1;
		}
		CU_ASSERT_TRUE(sm_world_up(world));
		CU_ASSERT_EQUAL(role(world), rows[i].role);
		CU_ASSERT_TRUE(world->fake->issm);
		CU_ASSERT_EQUAL(world->error, rows[i].role == SM_MASTER ? 0 : -EALREADY);
		CU_ASSERT_EQUAL(*sm_view(world->sm) != NULL, rows[i].role == SM_MASTER);
		if (rows[i].role == SM_STANDBY)
			CU_ASSERT_EQUAL(sets_sent(world), 0);
		sm_world_free(world);
	}
}

static bool master_elsewhere_dead(const struct world *world)
{
	return is_master(world);
}

static void test_master_dies(void)
{
	/* Its agent is silent; no manager runs there any more; the port has another manager. */
	for (unsigned how = 0; how < 4; how++) {
		struct world *world = three_hosts(false);
		struct fake_node *other = add_manager(world, "host-2", PRIORITY + 1, SM_MASTER);

		other->port[1].info.lid = 9;
		CU_ASSERT_TRUE(sm_world_up(world));
		CU_ASSERT_EQUAL(role(world), SM_STANDBY);
		if (how == 0)
			other->silent = true;
		if (how == 1)
			other->has_sm = false;
		if (how == 2)
			other->sm.state = SM_NOTACTIVE;
		if (how == 3)
			fake_link(&other->port[1], false);
		CU_ASSERT_TRUE(sm_world_run(world, master_elsewhere_dead));
		CU_ASSERT_EQUAL(world->error, 0);
		CU_ASSERT_NOT_EQUAL(sets_sent(world), 0);
		sm_world_check_orders(world);
		sm_world_free(world);
	}
}

/* The SA of a new master answers before the multicast tables of all switches are read. */
static unsigned reads_before_answers, reads_after;
static enum fake_fate note_read(void *ctx, struct fake_node *node, const struct mad_header *header)
{
	const struct world *world = ctx;

	(void)node;
	if (header->attr_id == ATTR_MULTICAST_FORWARDING_TABLE)
		++*(*sm_view(world->sm) ? &reads_after : &reads_before_answers);
	return FAKE_ANSWER;
}

static void test_answers_first(void)
{
	struct world *world = sm_world_new(net_tree2(4, 4, 2, 1), 8, 1, NULL);

	for (unsigned n = 0; n < 8; n++) /* as another manager left them */
		world->fake->nodes[n]->sw.linear_fdb_top = 1;
	world->fake->fate = note_read;
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(reads_before_answers, 0);
	CU_ASSERT_NOT_EQUAL(reads_after, 0);
	sm_world_check_up(world);
	sm_world_free(world);
}

static size_t polls_wanted;
static bool polled_often(const struct world *world)
{
	return world->fake->requests >= polls_wanted;
}

static void test_standby_polls(void)
{
	struct world *world = three_hosts(false);
	struct fake_node *other = add_manager(world, "host-2", PRIORITY + 1, SM_MASTER);

	other->port[1].info.lid = 9;
	CU_ASSERT_TRUE(sm_world_up(world));
	polls_wanted = world->fake->requests + 8;
	CU_ASSERT_TRUE(sm_world_run(world, polled_often));
	CU_ASSERT_EQUAL(role(world), SM_STANDBY);
	CU_ASSERT_EQUAL(sets_sent(world), 0);
	sm_world_free(world);
}

/* A master that ranks lower is notified by trap 144 with the priority change. */
static void test_tells_lower_master(void)
{
	for (unsigned lower = 0; lower < 2; lower++) {
		struct world *world = three_hosts(false);
		struct fake_node *other = add_manager(
			world, "host-2", lower ? PRIORITY - 1 : PRIORITY + 1, SM_MASTER);
		struct mad_header header;
		struct notice notice;
		union notice_details details;

		other->port[1].info.lid = 9;
		world->fake->local->info.lid = 12;
		CU_ASSERT_TRUE(sm_world_up(world));
		CU_ASSERT_EQUAL_FATAL(world->fake->num_sent, lower);
		if (lower) {
			header_decode(world->fake->sent[0], &header);
			CU_ASSERT_EQUAL(header.method, METHOD_TRAP);
			attr_decode(&notice_format, world->fake->sent[0] + SMP_DATA_OFFSET,
				    &notice);
			CU_ASSERT_TRUE_FATAL(notice_details_decode(&notice, &details));
			CU_ASSERT_EQUAL(notice.trap_number, TRAP_LOCAL_CHANGES);
			CU_ASSERT_EQUAL(details.local_changes.lid, 12);
			CU_ASSERT_EQUAL(details.local_changes.change_flags, CHANGE_SM_PRIORITY);
		}
		sm_world_free(world);
	}
}

/* Handing over */

static void test_hands_over(void)
{
	struct world *world = three_hosts(false);
	struct fake_node *other;

	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	other = add_manager(world, "host-2", PRIORITY + 1, SM_STANDBY);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(role(world), SM_STANDBY);
	CU_ASSERT_EQUAL(other->sm.state, SM_MASTER);
	CU_ASSERT_PTR_NULL(*sm_view(world->sm));

	/* A sweep in STANDBY sends no Set(), also after changes. */
	fake_link(&sm_world_node(world, "host-3")->port[1], true);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(sets_sent(world), 0);
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(sets_sent(world), 0);
	CU_ASSERT_EQUAL(role(world), SM_STANDBY);
	CU_ASSERT_EQUAL(sm_world_node(world, "leaf-0")->sw.port_state_change, 1);

	/* The other manager fails. */
	other->silent = true;
	CU_ASSERT_TRUE(sm_world_run(world, is_master));
	CU_ASSERT_EQUAL(sm_world_node(world, "host-3")->port[1].info.port_state, PORT_ACTIVE);
	sm_world_check_orders(world);
	sm_world_free(world);
}

static void test_handover_is_refused(void)
{
	struct world *world = three_hosts(false);
	struct fake_node *other;

	CU_ASSERT_TRUE(sm_world_up(world));
	other = add_manager(world, "host-2", PRIORITY + 1, SM_STANDBY);
	other->sm_control_status = STATUS_INVALID_VALUE;
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	CU_ASSERT_PTR_NOT_NULL(*sm_view(world->sm));
	sm_world_free(world);
}

/* Of two higher-ranking managers the highest gets the role, independent of the order of discovery.
 */
static void test_hands_over_to_the_highest(void)
{
	for (unsigned swap = 0; swap < 2; swap++) {
		struct world *world = three_hosts(false);
		struct fake_node *high, *middle;

		CU_ASSERT_TRUE(sm_world_up(world));
		high = add_manager(world, swap ? "host-2" : "host-3", PRIORITY + 2, SM_STANDBY);
		middle = add_manager(world, swap ? "host-3" : "host-2", PRIORITY + 1, SM_STANDBY);
		sm_world_sweep(world, DISCOVER_HEAVY);
		CU_ASSERT_EQUAL(role(world), SM_STANDBY);
		CU_ASSERT_EQUAL(high->sm.state, SM_MASTER);
		CU_ASSERT_EQUAL(middle->sm.state, SM_STANDBY);
		sm_world_free(world);
	}
}

static struct fake_port *host_port(const struct world *world, const char *id)
{
	return &sm_world_node(world, id)->port[1];
}

/* Writes an entry of the switch's table without the manager's knowledge. */
static void spoil_table(struct world *world)
{
	struct fake_node *leaf = sm_world_node(world, "leaf-0");

	leaf->lft[host_port(world, "host-3")->info.lid] = LFT_NO_PORT;
}

/* Entries that a lower-ranking MASTER wrote before it gave up are read and corrected. */
static void test_lower_master_gives_up(void)
{
	struct world *world = three_hosts(false);
	struct fake_node *lower;

	CU_ASSERT_TRUE(sm_world_up(world));
	lower = add_manager(world, "host-2", PRIORITY - 1, SM_MASTER);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	CU_ASSERT_EQUAL(world->error, -EALREADY);
	CU_ASSERT_EQUAL(sets_sent(world), 0);
	spoil_table(world);
	CU_ASSERT_NOT_EQUAL(sm_world_wrong_rows(world), 0);
	lower->sm.state = SM_STANDBY;
	sm_world_sweep(world, DISCOVER_LIGHT);
	sm_world_check_up(world);
	sm_world_free(world);
}

/* A master that has our LID cannot be notified before it has another LID. The sweep does not wait
 * for that. */
static void test_lower_master_has_our_lid(void)
{
	struct world *world = three_hosts(false);
	struct fake_node *lower;

	CU_ASSERT_TRUE(sm_world_up(world));
	lower = add_manager(world, "host-2", PRIORITY - 1, SM_MASTER);
	lower->port[1].info.lid = host_port(world, "host-1")->info.lid;
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(sm_world_faults(world), 0);
	CU_ASSERT_NOT_EQUAL(lower->port[1].info.lid, host_port(world, "host-1")->info.lid);
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(world->error, -EALREADY);
	sm_world_free(world);
}

/* Another MASTER was there in between: one port with its LIDs is enough to read everything again.
 */
static void test_another_master_was_here(void)
{
	for (unsigned how = 0; how < 2; how++) {
		struct world *world = three_hosts(false);
		struct port_info *own;

		CU_ASSERT_TRUE(sm_world_up(world));
		own = &host_port(world, "host-1")->info;
		*(how ? &own->lid : &own->master_sm_lid) = 99;
		spoil_table(world);
		sm_world_sweep(world, DISCOVER_LIGHT);
		sm_world_check_up(world);
		sm_world_free(world);
	}
}

/* Our link was down and is up again: another MASTER may have written in between. */
static void test_own_link_bounces(void)
{
	struct world *world = three_hosts(false);

	CU_ASSERT_TRUE(sm_world_up(world));
	fake_link(host_port(world, "host-1"), false);
	fake_link(host_port(world, "host-1"), true);
	spoil_table(world);
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_TRUE(sm_world_run(world, is_master));
	sm_world_check_up(world);
	sm_world_free(world);
}

static void test_lower_standby_changes_nothing(void)
{
	struct world *world = three_hosts(false);

	CU_ASSERT_TRUE(sm_world_up(world));
	add_manager(world, "host-2", PRIORITY - 1, SM_STANDBY);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	CU_ASSERT_EQUAL(sets_sent(world), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(*sm_view(world->sm));
	CU_ASSERT_EQUAL((*sm_view(world->sm))->num_sms, 2);
	sm_world_free(world);
}

/* A manager appears that may have been MASTER out of reach. It may have cleared PortStateChange of
 * a switch after it had written a port and a table, so all ports and tables are read again. */
static void test_newcomer(void)
{
	struct sm_options options = sm_world_options();
	struct world *world;
	struct fake_port *host;

	options.priority = PRIORITY;
	world = sm_world_new(net_tree2(2, 2, 1, 1), 3, 1, &options);
	CU_ASSERT_TRUE(sm_world_up(world));
	add_manager(world, "host-4", PRIORITY - 1, SM_STANDBY); /* on the same switch as ours */
	fake_link(host_port(world, "host-4"), true);		/* a light sweep reads it */
	host = host_port(world, "host-6");
	host->info.port_state = host->peer->info.port_state = PORT_INIT; /* no light sweep does */
	sm_world_node(world, "leaf-1")->lft[host_port(world, "host-4")->info.lid] = LFT_NO_PORT;
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	sm_world_check_up(world);
	sm_world_free(world);
}

static bool no_longer_master;
static unsigned lost, late;

static enum fake_fate lose_sets(void *ctx, struct fake_node *node, const struct mad_header *header)
{
	const struct fake_node *host = sm_world_node(ctx, "host-3");
	bool set =
		node == host && header->method == METHOD_SET && header->attr_id == ATTR_PORT_INFO;

	lost += set;
	late += set && no_longer_master;
	return set || no_longer_master ? FAKE_LOSE_REQUEST : FAKE_ANSWER;
}

static bool has_lost(const struct world *world)
{
	(void)world;
	return lost;
}

static uint64_t passed_us;

static bool has_passed(const struct world *world)
{
	return loop_now_us(world->loop) >= passed_us;
}

/* A world of two leaves, MASTER and quiet. The manager of host-4 is a STANDBY that ranks lower. */
static struct world *with_standby(void)
{
	struct sm_options options = sm_world_options();
	struct world *world;

	options.priority = PRIORITY;
	world = sm_world_new(net_tree2(2, 2, 1, 1), 3, 1, &options);
	CU_ASSERT_TRUE(sm_world_up(world));
	add_manager(world, "host-4", PRIORITY - 1, SM_STANDBY);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(world->error, 0);
	return world;
}

/* Changes a port and a table as another MASTER does that also clears PortStateChange. */
static void write_as_another_master(const struct world *world)
{
	struct fake_port *host = host_port(world, "host-6");

	host->info.port_state = host->peer->info.port_state = PORT_INIT;
	sm_world_node(world, "leaf-1")->lft[host_port(world, "host-4")->info.lid] = LFT_NO_PORT;
}

/* The manager of host-4 is MASTER in the first answers of each period. */
static struct {
	unsigned answers, master, period;
	unsigned heavy; /* reads of host-6, which only a heavy sweep reads */
	bool all_news;	/* each of its answers to polls may cause a survey */
} rival;

static enum fake_fate rival_answers(void *ctx, struct fake_node *node,
				    const struct mad_header *header)
{
	struct world *world = ctx;

	if (node == sm_world_node(ctx, "host-4") && header->attr_id == ATTR_SM_INFO &&
	    header->method == METHOD_GET)
		node->sm.state =
			rival.answers++ % rival.period < rival.master ? SM_MASTER : SM_STANDBY;
	if (rival.all_news)
		port_agent(map_get(&world->sm->fabric->ports, guid_of(world, "host-4")))
			->survey.news.used = 0;
	rival.heavy += node == sm_world_node(ctx, "host-6") && header->attr_id == ATTR_NODE_INFO;
	return FAKE_ANSWER;
}

static bool host_6_was_read(const struct world *world)
{
	return rival.heavy && sm_world_is_quiet(world);
}

/* Another manager is MASTER in one answer only: what it wrote is read. */
static void test_short_master(void)
{
	struct world *world = with_standby();

	write_as_another_master(world);
	rival.answers = rival.heavy = 0;
	rival.master = 1;
	rival.period = UINT_MAX;
	world->fake->fate = rival_answers;
	CU_ASSERT_TRUE(sm_world_run(world, host_6_was_read));
	sm_world_check_up(world);
	sm_world_free(world);
}

static bool is_quiet_beside_master(const struct world *world)
{
	return rival.answers > 8 && sm_world_is_quiet(world);
}

/* A MASTER that ranks higher refuses the handover, and ends: what it wrote is read. */
static void test_master_beside_ends(void)
{
	struct world *world = with_standby();
	struct fake_node *other = sm_world_node(world, "host-4");

	other->sm.priority = PRIORITY + 1;
	other->sm_control_status = STATUS_INVALID_VALUE;
	rival.answers = rival.heavy = 0;
	rival.master = rival.period = 1;
	world->fake->fate = rival_answers;
	CU_ASSERT_TRUE(sm_world_run(world, is_quiet_beside_master));
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	write_as_another_master(world);
	other->has_sm = false;
	rival.heavy = 0;
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_NOT_EQUAL(rival.heavy, 0);
	sm_world_check_up(world);
	sm_world_free(world);
}

/* The first answers of each period say MASTER, the others STANDBY. */
static void alternate(struct world *world, unsigned master, unsigned period, bool all_news)
{
	rival.answers = rival.heavy = 0;
	rival.all_news = all_news;
	rival.master = master;
	rival.period = period;
	world->fake->fate = rival_answers;
}

static bool has_alternated(const struct world *world)
{
	return rival.answers >= 100 && sm_world_is_quiet(world);
}

/* A host that alternates between MASTER and STANDBY causes no more heavy sweeps than are allowed.
 * Until the next is allowed, nothing is written. Then all that it wrote is read. */
static void test_alternating_master(void)
{
	enum { ALLOWED = 3 };
	struct world *world = with_standby();
	struct rate *rate = &world->sm->peer_rate[PEERS_HAVE_WRITTEN];

	*rate = (struct rate){.burst = ALLOWED};
	alternate(world, 2, 4, true);
	CU_ASSERT_TRUE(sm_world_run(world, has_alternated));
	CU_ASSERT_EQUAL(rival.heavy, ALLOWED);
	rival.master = 0;
	write_as_another_master(world);
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(rival.heavy, ALLOWED);
	CU_ASSERT_EQUAL(sets_sent(world), 0);
	CU_ASSERT_EQUAL(world->error, -EALREADY);
	CU_ASSERT_PTR_NOT_NULL(strstr(world->text, "other managers become MASTER again and again"));
	/* The sweep after that comes without a request, as soon as the rate allows it. */
	rate->interval_us = 100000;
	rate->last_us = loop_now_us(world->loop);
	sm_world_sweep(world, DISCOVER_LIGHT);
	rival.heavy = 0;
	CU_ASSERT_TRUE(sm_world_run(world, host_6_was_read));
	sm_world_check_up(world);
	sm_world_free(world);
}

/* Each answer of a host shows another state: the sweeps that follow are limited. */
static void test_surveys_are_limited(void)
{
	enum { AT_ONCE = 8 };
	struct world *world = with_standby();
	uint64_t sweeps = world->sm->sweep.last.number;

	alternate(world, 1, 2, false);
	CU_ASSERT_TRUE(sm_world_run(world, has_alternated));
	/* Each may be followed by the heavy sweep that it causes. */
	CU_ASSERT(world->sm->sweep.last.number - sweeps <= 2 * AT_ONCE + 4);
	sm_world_free(world);
}

/* An unanswered Set() is not sent again after the manager is no longer MASTER. */
static void test_repeats_nothing(void)
{
	enum { WAIT_US = 300000 }; /* several attempts */
	struct world *world = three_hosts(false);

	CU_ASSERT_TRUE(sm_world_up(world));
	lost = late = 0;
	no_longer_master = false;
	world->fake->fate = lose_sets;
	fake_link(host_port(world, "host-3"), true);
	trigger_light(&world->sm->trigger, "test");
	CU_ASSERT_TRUE(sm_world_run(world, has_lost));
	peers_port_down(world->sm->peers, "test");
	no_longer_master = true;
	passed_us = loop_now_us(world->loop) + WAIT_US;
	CU_ASSERT_TRUE(sm_world_run(world, has_passed));
	CU_ASSERT_EQUAL(late, 0);
	sm_world_free(world);
}

/* Hosts that hold up or mislead the survey */

static enum fake_fate mute_manager(void *ctx, struct fake_node *node,
				   const struct mad_header *header)
{
	return node == sm_world_node(ctx, "host-4") && header->attr_id == ATTR_SM_INFO
		       ? FAKE_LOSE_REQUEST
		       : FAKE_ANSWER;
}

static bool has_found_another(const struct world *world)
{
	const struct peer *list;

	return peers_list(world->sm->peers, &list) && sm_world_is_quiet(world);
}

/* A host has IsSM, and its manager never answers: only the first sweep waits for it. When it
 * answers again, it is found. */
static void test_mute_manager(void)
{
	struct world *world = with_standby();
	const struct peer *list;
	uint64_t first_us;

	world->fake->fate = mute_manager;
	sm_world_sweep(world, DISCOVER_LIGHT);
	first_us = world->sm->sweep.last.duration_us;
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT(world->sm->sweep.last.duration_us * 4 < first_us);
	passed_us = loop_now_us(world->loop) + 200000;
	CU_ASSERT_TRUE(sm_world_run(world, has_passed));
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(peers_list(world->sm->peers, &list), 0);
	world->fake->fate = NULL;
	CU_ASSERT_TRUE(sm_world_run(world, has_found_another));
	sm_world_free(world);
}

static void count_pretenders(void *ctx, int level, const struct log_subject *subject,
			     const char *text)
{
	unsigned *count = ctx;

	*count += level == LOG_WARNING && !strcmp(subject->message_id, MESSAGE_FOREIGN_MANAGER) &&
		  strstr(text, "pretends to be a manager");
}

/* The SMInfo requests to host-4 that are lost. With those by a directed route it answers only
 * polls. */
static enum { LOSE_NONE, LOSE_DIRECTED, LOSE_ALL } losses;

static enum fake_fate lose_directed(void *ctx, struct fake_node *node,
				    const struct mad_header *header)
{
	bool is_lost = losses == LOSE_ALL ||
		       (losses == LOSE_DIRECTED && header->mgmt_class == CLASS_SUBN_DIRECTED);

	return is_lost && node == sm_world_node(ctx, "host-4") && header->attr_id == ATTR_SM_INFO
		       ? FAKE_LOSE_REQUEST
		       : FAKE_ANSWER;
}

static bool is_contested(const struct world *world)
{
	return world->sm->sweep.contested_us && sm_world_is_quiet(world);
}

/* Another MASTER, for which this one waits, does not answer a survey: it answers polls, or nothing
 * during the first survey, or polls only for ever. This one still waits, in one sweep right after
 * another. */
static void test_lost_survey_of_a_master(void)
{
	static const struct {
		unsigned first, then;
	} rows[] = {
		{LOSE_DIRECTED, LOSE_NONE},
		{LOSE_ALL, LOSE_NONE},
		{LOSE_DIRECTED, LOSE_DIRECTED},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world *world = with_standby();
		struct fake_node *other = sm_world_node(world, "host-4");

		other->sm.state = SM_MASTER;
		CU_ASSERT_TRUE(sm_world_run(world, is_contested));
		losses = rows[i].first;
		world->fake->fate = lose_directed;
		write_as_another_master(world);
		passed_us = loop_now_us(world->loop) + 300000; /* many polls */
		while (!has_passed(world)) {
			sm_world_sweep(world, DISCOVER_HEAVY);
			losses = rows[i].then;
			CU_ASSERT_EQUAL(sets_sent(world), 0);
			CU_ASSERT_EQUAL(world->error, -EALREADY);
		}
		other->sm.state = SM_STANDBY;
		world->fake->fate = NULL;
		passed_us = loop_now_us(world->loop) + 500000;
		CU_ASSERT_TRUE(sm_world_run(world, has_passed));
		sm_world_check_up(world);
		sm_world_free(world);
	}
}

/* The same if the LID of that MASTER was that of our port, or is that of a port without a manager.
 */
static void test_lost_survey_by_lid(void)
{
	for (unsigned own = 0; own < 2; own++) {
		struct world *world = with_standby();
		struct fake_node *other = sm_world_node(world, "host-4");
		struct fake_port *port =
			own ? host_port(world, "host-3") : &sm_world_node(world, "leaf-1")->port[0];

		other->port[1].info.lid = port->info.lid;
		other->sm.state = SM_MASTER;
		losses = LOSE_NONE;
		world->fake->fate = lose_directed;
		sm_world_sweep(world, DISCOVER_HEAVY);
		if (own) /* it has got another LID, and is found there */
			CU_ASSERT_NOT_EQUAL(other->port[1].info.lid, port->info.lid);
		losses = LOSE_ALL;
		for (unsigned i = 0; i < 4; i++) {
			sm_world_sweep(world, DISCOVER_HEAVY);
			losses = LOSE_NONE;
			CU_ASSERT_EQUAL(sets_sent(world), 0);
			CU_ASSERT_EQUAL(world->error, -EALREADY);
			passed_us = loop_now_us(world->loop) + 100000; /* polls */
			CU_ASSERT_TRUE(sm_world_run(world, has_passed));
		}
		sm_world_free(world);
	}
}

/* A manager that answers polls and no survey causes neither one sweep after another, nor long
 * sweeps. */
static void test_answers_polls_only(void)
{
	struct world *world = with_standby();
	uint64_t sweeps, first_us;

	losses = LOSE_DIRECTED;
	world->fake->fate = lose_directed;
	sm_world_sweep(world, DISCOVER_LIGHT);
	first_us = world->sm->sweep.last.duration_us;
	for (unsigned i = 0; i < 4; i++) {
		sm_world_sweep(world, DISCOVER_LIGHT);
		CU_ASSERT(world->sm->sweep.last.duration_us * 4 < first_us);
	}
	sweeps = world->sm->sweep.last.number;
	passed_us = loop_now_us(world->loop) + 5000000;
	CU_ASSERT_TRUE(sm_world_run(world, has_passed));
	CU_ASSERT(world->sm->sweep.last.number - sweeps <= 2);
	CU_ASSERT_TRUE(has_found_another(world)); /* the polls show it */
	sm_world_free(world);
}

/* A host answers as if it were the manager of another host, with a higher priority: neither gets a
 * handover. */
static void test_impersonates(void)
{
	struct world *world = with_standby();
	struct fake_node *honest = sm_world_node(world, "host-4");
	struct fake_node *other = add_manager(world, "host-6", PRIORITY + 1, SM_STANDBY);
	unsigned pretenders = 0;

	other->sm.guid = honest->sm.guid;
	log_watch(count_pretenders, &pretenders);
	sm_world_sweep(world, DISCOVER_HEAVY);
	log_watch(NULL, NULL);
	CU_ASSERT_EQUAL(pretenders, 1);
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	CU_ASSERT_EQUAL(honest->sm.state, SM_STANDBY);
	CU_ASSERT_EQUAL(other->sm.state, SM_STANDBY);
	sm_world_free(world);
}

/* A control packet with the return path of the master, from the LID of another port: refused, also
 * if only the master is allowed. */
static void test_forged_return_path(void)
{
	struct sm_info master = {.sm_key = SM_KEY_DEFAULT, .state = SM_MASTER, .act_count = 1000};
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};
	struct route_path path = {.hops = 2, .port = {0, 1, 1}};

	for (unsigned from_master = 0; from_master < 2; from_master++) {
		struct world *world = in_role(SM_STANDBY);
		struct fake_port *other = host_port(world, "host-2");

		master.guid = guid_of(world, "host-2");
		world->sm->options.allowed_sm_guids[0] = master.guid;
		format_encode(&sm_info_format, &master, data);
		subn_build(mad, METHOD_SET, ATTR_SM_INFO, SM_CONTROL_DISABLE, 0, &path, data);
		mad[SMP_RETURN_PATH_OFFSET + 2] = 1;
		mad[SMP_RETURN_PATH_OFFSET + 1] = other->peer->num;
		fake_receive(world->fake, from_master ? other->info.lid : 77, mad, MAD_SIZE);
		CU_ASSERT_EQUAL(role(world), from_master ? SM_NOTACTIVE : SM_STANDBY);
		sm_world_free(world);
	}
}

/* Requests from outside */

static void test_answers_in_every_role(void)
{
	for (unsigned state = SM_NOTACTIVE; state <= SM_MASTER; state++) {
		struct world *world = in_role(state);
		union notice_details details = {.link_state.lid = 3};
		struct mad_header header;
		struct sm_info info = {0};
		size_t before;

		CU_ASSERT_EQUAL(managers_ask(world, METHOD_GET, 0, NULL, &info), STATUS_OK);
		CU_ASSERT_EQUAL(info.state, state);
		CU_ASSERT_EQUAL(info.priority, PRIORITY);
		CU_ASSERT_EQUAL(info.guid, world->fake->transport.port.port_guid);
		CU_ASSERT_EQUAL(info.sm_key, SM_KEY_DEFAULT);
		before = world->fake->num_sent;
		fake_trap(world->fake, 3, TRAP_LINK_STATE, &details, 0x1122334455667788, 99);
		CU_ASSERT_EQUAL_FATAL(world->fake->num_sent, before + 1);
		header_decode(world->fake->sent[before], &header);
		CU_ASSERT_EQUAL(header.method, METHOD_TRAP_REPRESS);
		CU_ASSERT_EQUAL(header.tid, 0x1122334455667788);
		/* That of its port, which has none. */
		CU_ASSERT_EQUAL(be64_load(world->fake->sent[before] + SMP_M_KEY_OFFSET), 0);
		/* Only a master acts on it. */
		CU_ASSERT_EQUAL(world->sm->trigger.wanted, state == SM_MASTER);
		sm_world_free(world);
	}
}

static void test_control_packets(void)
{
	static const struct {
		enum sm_state role;
		uint32_t control;
		uint64_t sm_key;
		enum sm_state sender;
		uint16_t status;
		enum sm_state after;
	} rows[] = {
		{SM_STANDBY, SM_CONTROL_HANDOVER, 1, SM_MASTER, STATUS_OK, SM_MASTER},
		{SM_STANDBY, SM_CONTROL_HANDOVER, 2, SM_MASTER, STATUS_INVALID_VALUE, SM_STANDBY},
		/* OpenSM hands over to a STANDBY with the key 0. */
		{SM_STANDBY, SM_CONTROL_HANDOVER, 0, SM_MASTER, STATUS_OK, SM_MASTER},
		{SM_STANDBY, SM_CONTROL_DISABLE, 0, SM_MASTER, STATUS_INVALID_VALUE, SM_STANDBY},
		{SM_MASTER, SM_CONTROL_HANDOVER, 0, SM_MASTER, STATUS_INVALID_VALUE, SM_MASTER},
		{SM_STANDBY, SM_CONTROL_HANDOVER, 1, SM_STANDBY, STATUS_INVALID_VALUE, SM_STANDBY},
		{SM_STANDBY, SM_CONTROL_HANDOVER, 1, SM_DISCOVERING, STATUS_INVALID_VALUE,
		 SM_STANDBY},
		{SM_NOTACTIVE, SM_CONTROL_HANDOVER, 1, SM_MASTER, STATUS_INVALID_VALUE,
		 SM_NOTACTIVE},
		{SM_MASTER, SM_CONTROL_HANDOVER, 1, SM_MASTER, STATUS_OK, SM_MASTER},
		{SM_MASTER, SM_CONTROL_HANDOVER, 2, SM_MASTER, STATUS_INVALID_VALUE, SM_MASTER},
		{SM_MASTER, SM_CONTROL_DISABLE, 1, SM_MASTER, STATUS_INVALID_VALUE, SM_MASTER},
		{SM_MASTER, SM_CONTROL_STANDBY, 1, SM_MASTER, STATUS_INVALID_VALUE, SM_MASTER},
		{SM_MASTER, SM_CONTROL_DISCOVER, 1, SM_MASTER, STATUS_INVALID_VALUE, SM_MASTER},
		{SM_STANDBY, SM_CONTROL_DISABLE, 1, SM_MASTER, STATUS_OK, SM_NOTACTIVE},
		{SM_STANDBY, SM_CONTROL_DISABLE, 2, SM_MASTER, STATUS_INVALID_VALUE, SM_STANDBY},
		/* Only a master controls others (chapter 14.4.1.3). */
		{SM_STANDBY, SM_CONTROL_DISABLE, 1, SM_STANDBY, STATUS_INVALID_VALUE, SM_STANDBY},
		{SM_STANDBY, SM_CONTROL_DISCOVER, 1, SM_MASTER, STATUS_OK, SM_DISCOVERING},
		/* It is that already: an order that is repeated is obeyed. */
		{SM_STANDBY, SM_CONTROL_STANDBY, 1, SM_MASTER, STATUS_OK, SM_STANDBY},
		{SM_NOTACTIVE, SM_CONTROL_STANDBY, 1, SM_MASTER, STATUS_OK, SM_STANDBY},
		{SM_NOTACTIVE, SM_CONTROL_DISCOVER, 1, SM_MASTER, STATUS_INVALID_VALUE,
		 SM_NOTACTIVE},
		{SM_DISCOVERING, SM_CONTROL_HANDOVER, 1, SM_MASTER, STATUS_INVALID_VALUE,
		 SM_DISCOVERING}, /* standby-only */
		{SM_STANDBY, 0, 1, SM_MASTER, STATUS_INVALID_VALUE, SM_STANDBY},
		{SM_STANDBY, 6, 1, SM_MASTER, STATUS_INVALID_VALUE, SM_STANDBY},
		{SM_MASTER, SM_CONTROL_ACKNOWLEDGE, 1, SM_MASTER, STATUS_OK, SM_MASTER},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world *world = in_role(rows[i].role);
		struct sm_info sender = {.guid = guid_of(world, "host-2"),
					 .sm_key = rows[i].sm_key,
					 .priority = 3,
					 .state = (uint8_t)rows[i].sender},
			       answer;
		uint16_t status =
			managers_ask(world, METHOD_SET, rows[i].control, &sender, &answer);

		CU_ASSERT_EQUAL(status, rows[i].status);
		CU_ASSERT_EQUAL(role(world), rows[i].after);
		if (status != rows[i].status || role(world) != rows[i].after)
			printf("    control row %zu: status %x, %s\n", i, status,
			       sm_state_name(role(world)));
		sm_world_free(world);
	}
}

static void test_takes_a_handover(void)
{
	struct sm_info sender = {.sm_key = SM_KEY_DEFAULT, .state = SM_MASTER}, answer = {0};
	struct world *world = in_role(SM_STANDBY);
	uint64_t sweeps = world->sm->sweep.last.number;

	sender.guid = guid_of(world, "host-2");
	sm_world_node(world, "host-2")->sm.state = SM_STANDBY;
	sm_world_node(world, "host-2")->sm.priority = 0;
	world->reports = 0;
	CU_ASSERT_EQUAL(managers_ask(world, METHOD_SET, SM_CONTROL_HANDOVER, &sender, &answer),
			STATUS_OK);
	CU_ASSERT_TRUE(sm_world_run(world, is_master));
	CU_ASSERT_STRING_EQUAL(world->text, "subnet up");
	/* No sweep reads again what host-2 wrote before. */
	CU_ASSERT_EQUAL(world->sm->sweep.last.number, sweeps + 1);
	sm_world_check_up(world);
	sm_world_free(world);
}

/* Standby-only */

static void test_standby_only(void)
{
	static const struct {
		bool other;
		uint8_t priority;
		enum sm_state state, role;
	} rows[] = {
		{false, 0, SM_NOTACTIVE, SM_DISCOVERING},
		{true, PRIORITY - 1, SM_STANDBY, SM_DISCOVERING},
		{true, PRIORITY - 1, SM_MASTER, SM_STANDBY},
		{true, PRIORITY + 1, SM_MASTER, SM_STANDBY},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world *world = three_hosts(true);
		struct fake_node *other = NULL;

		if (rows[i].other)
			other = add_manager(world, "host-2", rows[i].priority, rows[i].state);
		CU_ASSERT_TRUE(sm_world_up(world));
		CU_ASSERT_EQUAL(role(world), rows[i].role);
		sm_world_sweep(world, DISCOVER_HEAVY);
		sm_world_sweep(world, DISCOVER_LIGHT);
		CU_ASSERT_EQUAL(role(world), rows[i].role);
		CU_ASSERT_FALSE(world->fake->issm);
		CU_ASSERT_EQUAL(sets_sent(world), 0);
		CU_ASSERT_EQUAL(world->fake->num_sent, 0);
		CU_ASSERT_PTR_NULL(*sm_view(world->sm));
		if (rows[i].role == SM_STANDBY) { /* its master dies */
			world->reports = 0;
			other->silent = true;
			CU_ASSERT_TRUE(sm_world_run(world, sm_world_is_quiet));
			CU_ASSERT_EQUAL(role(world), SM_DISCOVERING);
			CU_ASSERT_EQUAL(sets_sent(world), 0);
		}
		sm_world_free(world);
	}
}

static void test_stops_and_hides(void)
{
	struct world *world = three_hosts(false);

	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_TRUE(world->fake->issm);
	sm_stop(world->sm);
	CU_ASSERT_FALSE(world->fake->issm);
	sm_world_free(world);
}

static void test_standby_stays_with_its_master(void)
{
	struct world *world = three_hosts(false);
	struct fake_node *other = add_manager(world, "host-2", PRIORITY + 1, SM_DISCOVERING);

	/* It ranks higher, discovers first, and becomes the master. */
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(role(world), SM_STANDBY);
	other->sm.state = SM_MASTER;
	polls_wanted = world->fake->requests + 4;
	CU_ASSERT_TRUE(sm_world_run(world, polled_often));
	CU_ASSERT_TRUE(is_standby(world));
	sm_world_free(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"election", test_election},
		{"master dies", test_master_dies},
		{"the SA answers first", test_answers_first},
		{"standby polls", test_standby_polls},
		{"tells a lower master", test_tells_lower_master},
		{"hands over", test_hands_over},
		{"handover is refused", test_handover_is_refused},
		{"hands over to the highest", test_hands_over_to_the_highest},
		{"lower master gives up", test_lower_master_gives_up},
		{"lower master has our LID", test_lower_master_has_our_lid},
		{"another master was here", test_another_master_was_here},
		{"own link bounces", test_own_link_bounces},
		{"lower standby changes nothing", test_lower_standby_changes_nothing},
		{"a newcomer", test_newcomer},
		{"a short master", test_short_master},
		{"a master beside ours ends", test_master_beside_ends},
		{"an alternating master", test_alternating_master},
		{"surveys are limited", test_surveys_are_limited},
		{"a mute manager", test_mute_manager},
		{"a lost survey of a master", test_lost_survey_of_a_master},
		{"a lost survey by LID", test_lost_survey_by_lid},
		{"it answers polls only", test_answers_polls_only},
		{"a host answers for another", test_impersonates},
		{"a forged return path", test_forged_return_path},
		{"it repeats nothing", test_repeats_nothing},
		{"answers in every role", test_answers_in_every_role},
		{"control packets", test_control_packets},
		{"takes a handover", test_takes_a_handover},
		{"standby-only", test_standby_only},
		{"stops and hides", test_stops_and_hides},
		{"standby stays with its master", test_standby_stays_with_its_master},
		CU_TEST_INFO_NULL,
	};

	return unit_main("sm_role", tests);
}

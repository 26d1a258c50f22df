/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Trust in other managers: which node may be a manager, offers of a role that the sender does not
 * have, impossible values. Also how soon the manager notices that a master is gone or has appeared,
 * and the raised priority of a master. The other managers are fake agents with an SMInfo.
 */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include "include/message_id.h"
#include "lib/log.h"
#include "sm/election/parts.h"
#include "tests/unit/fixtures/managers.h"

enum { LID_OF_OTHER = 9, SLOW_POLL_MS = 5000, MANY_MISSES = 100 };

/* Our manager starts with these options. The other manager is at host-2, MASTER or not, and has LID
 * 9. */
static struct world *with_other(void (*choose)(struct sm_options *options), uint8_t priority,
				enum sm_state state, struct fake_node **other)
{
	struct world *world = three_hosts(false);

	if (choose)
		choose(&world->sm->options);
	*other = add_manager(world, "host-2", priority, state);
	(*other)->port[1].info.lid = LID_OF_OTHER;
	CU_ASSERT_TRUE(sm_world_up(world));
	return world;
}

static void allow_others(struct sm_options *options)
{
	options->allowed_sm_guids[0] = 4711;
}

static void raise_master(struct sm_options *options)
{
	options->master_priority = 14;
}

static void poll_seldom(struct sm_options *options)
{
	options->poll_interval_ms = SLOW_POLL_MS;
}

/* Which nodes may be managers */

/* A manager that is not allowed has no say, even as MASTER with a higher rank. */
static void test_not_allowed(void)
{
	struct sm_info sender = {.sm_key = SM_KEY_DEFAULT, .state = SM_MASTER}, answer;
	struct fake_node *other;
	struct world *world = with_other(allow_others, PRIORITY + 1, SM_MASTER, &other);
	const struct peer *list;

	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	CU_ASSERT_EQUAL(peers_list(world->sm->peers, &list), 0);
	other->sm.state = SM_STANDBY; /* nor is it handed anything */
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	CU_ASSERT_EQUAL(other->sm.state, SM_STANDBY);
	sender.guid = guid_of(world, "host-2");
	CU_ASSERT_EQUAL(managers_ask(world, METHOD_SET, SM_CONTROL_HANDOVER, &sender, &answer),
			STATUS_INVALID_VALUE);
	CU_ASSERT_FALSE(world->sm->trigger.wanted);
	sm_world_free(world);
}

static void test_allowed(void)
{
	struct world *world = three_hosts(false);
	struct fake_node *other = add_manager(world, "host-2", PRIORITY + 1, SM_MASTER);

	allow_others(&world->sm->options);
	world->sm->options.allowed_sm_guids[1] = other->sm.guid;
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(role(world), SM_STANDBY);
	sm_world_free(world);
}

/* A port that may not be a manager uses the GUID of an allowed manager. */
static void test_pretends_to_be_allowed(void)
{
	struct world *world = three_hosts(false);
	struct fake_node *other = add_manager(world, "host-2", PRIORITY + 1, SM_MASTER);

	allow_others(&world->sm->options);
	other->sm.guid = world->sm->options.allowed_sm_guids[0];
	CU_ASSERT_TRUE(sm_world_up(world));
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	sm_world_free(world);
}

/* No GUID, ours, or a state that does not exist; counters of any value mean nothing. */
static void test_impossible(void)
{
	static const struct {
		unsigned guid; /* 0: none, 1: ours, 2: its own */
		uint8_t state;
		uint32_t act_count;
		enum sm_state role;
	} rows[] = {
		{0, SM_MASTER, 1, SM_MASTER},  {1, SM_MASTER, 1, SM_MASTER},
		{2, 4, 1, SM_MASTER},	       {2, 15, 1, SM_MASTER},
		{2, SM_MASTER, 0, SM_STANDBY}, {2, SM_MASTER, UINT32_MAX, SM_STANDBY},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world *world = three_hosts(false);
		struct fake_node *other = add_manager(world, "host-2", PRIORITY + 1, rows[i].state);

		other->sm.act_count = rows[i].act_count;
		if (rows[i].guid < 2)
			other->sm.guid = rows[i].guid ? world->fake->transport.port.port_guid : 0;
		CU_ASSERT_TRUE(sm_world_up(world));
		CU_ASSERT_EQUAL(role(world), rows[i].role);
		sm_world_free(world);
	}
}

/* The last line about a manager that is none; its MESSAGE_ID makes an event of it. */
static struct {
	char text[256];
	int level;
} line;

static void hear(void *ctx, int level, const struct log_subject *subject, const char *text)
{
	(void)ctx;
	if (strcmp(subject->message_id, MESSAGE_FOREIGN_MANAGER) != 0)
		return;
	snprintf(line.text, sizeof(line.text), "%s", text);
	line.level = level;
}

static bool has_logged(const char *what)
{
	bool told = line.level == LOG_WARNING && strstr(line.text, what);

	line.text[0] = '\0';
	return told;
}

/* Nodes that are not accepted as managers, by the SMInfo of their port in a survey. Each is
 * reported as an event. */
static void test_untrusted_are_logged(void)
{
	static const struct {
		uint8_t state;
		uint64_t sm_key;
		bool allowed;
		const char *what; /* NULL: accepted */
	} rows[] = {
		{SM_MASTER, 0, true, NULL}, /* it does not show its key */
		{SM_MASTER, SM_KEY_DEFAULT, true, NULL},
		{SM_MASTER, 4711, true, "its SM_Key differs"},
		{SM_MASTER, SM_KEY_DEFAULT, false, "is not in allowed_sm_guids"},
		{4, SM_KEY_DEFAULT, true, "its SMInfo is impossible"},
		{15, SM_KEY_DEFAULT, true, "its SMInfo is impossible"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world *world = three_hosts(false);
		struct fake_node *other = add_manager(world, "host-2", PRIORITY + 1, rows[i].state);

		other->sm.sm_key = rows[i].sm_key;
		if (!rows[i].allowed)
			allow_others(&world->sm->options);
		log_watch(hear, NULL);
		CU_ASSERT_TRUE(sm_world_up(world));
		CU_ASSERT_EQUAL(role(world), rows[i].what ? SM_MASTER : SM_STANDBY);
		if (rows[i].what)
			CU_ASSERT_TRUE(has_logged(rows[i].what));
		log_watch(NULL, NULL);
		sm_world_free(world);
	}
}

/* A master that loses trust is followed no longer, and reported. */
static void test_master_loses_trust(void)
{
	for (unsigned how = 0; how < 2; how++) {
		struct fake_node *other;
		struct world *world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);

		CU_ASSERT_EQUAL(role(world), SM_STANDBY);
		log_watch(hear, NULL);
		if (how)
			other->sm.state = 15;
		else
			other->sm.sm_key = 4711;
		CU_ASSERT_TRUE(sm_world_run(world, is_master));
		CU_ASSERT_TRUE(has_logged(how ? "its SMInfo is impossible" : "its SM_Key differs"));
		log_watch(NULL, NULL);
		sm_world_free(world);
	}
}

/* Control packets of senders that do not know the key, use another manager's GUID, or offer a role
 * that they do not have. */
static void test_forged_orders_are_logged(void)
{
	static const struct {
		uint64_t sm_key;
		const char *named; /* the GUID in the packet; it comes from host-3 */
		const char *what;
	} rows[] = {
		{4711, "host-2", "its SM_Key differs"},
		{SM_KEY_DEFAULT, "host-2", "it claims to be manager"},
		{SM_KEY_DEFAULT, "host-3", "refused the handover from manager"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sm_info sender = {.sm_key = rows[i].sm_key, .state = SM_MASTER}, answer;
		struct fake_node *other;
		struct world *world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);

		sm_world_node(world, "host-3")->port[1].info.lid = 7;
		sm_world_sweep(world, DISCOVER_HEAVY);
		sender.guid = guid_of(world, rows[i].named);
		log_watch(hear, NULL);
		CU_ASSERT_EQUAL(managers_ask_from(world, 7, METHOD_SET, SM_CONTROL_HANDOVER,
						  &sender, &answer),
				STATUS_INVALID_VALUE);
		CU_ASSERT_TRUE(has_logged(rows[i].what));
		CU_ASSERT_EQUAL(role(world), SM_STANDBY);
		log_watch(NULL, NULL);
		sm_world_free(world);
	}
}

/* Chapter 14.4.1: only a MASTER gives orders. */
static void test_orders_of_no_master_are_logged(void)
{
	static const struct {
		uint32_t control;
		enum sm_state state;
		bool told;
	} rows[] = {
		{SM_CONTROL_HANDOVER, SM_STANDBY, true},
		{SM_CONTROL_HANDOVER, SM_DISCOVERING, true},
		{SM_CONTROL_HANDOVER, SM_NOTACTIVE, true},
		{SM_CONTROL_DISABLE, SM_STANDBY, true},
		{SM_CONTROL_STANDBY, SM_STANDBY, true},
		{SM_CONTROL_DISCOVER, SM_STANDBY, true},
		{SM_CONTROL_ACKNOWLEDGE, SM_STANDBY, false}, /* a STANDBY's */
	};
	struct fake_node *other;
	struct world *world;
	struct sm_info sender = {.sm_key = SM_KEY_DEFAULT}, answer;
	unsigned told = 0;

	log_watch(hear, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);
		sender.guid = guid_of(world, "host-2");
		sender.state = rows[i].state;
		CU_ASSERT_EQUAL(managers_ask(world, METHOD_SET, rows[i].control, &sender, &answer),
				rows[i].told ? STATUS_INVALID_VALUE : STATUS_OK);
		CU_ASSERT_EQUAL(has_logged("that manager is not MASTER"), rows[i].told);
		CU_ASSERT_EQUAL(role(world), SM_STANDBY);
		sm_world_free(world);
	}
	world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);
	sender.state = SM_STANDBY;
	for (unsigned i = 0; i < 50; i++) { /* a flood cannot fill the log */
		managers_ask(world, METHOD_SET, SM_CONTROL_HANDOVER, &sender, &answer);
		told += has_logged("that manager is not MASTER");
	}
	CU_ASSERT(told > 0 && told < 10);
	log_watch(NULL, NULL);
	sm_world_free(world);
}

static size_t polls_wanted;
static bool polled_often(const struct world *world)
{
	return world->fake->requests >= polls_wanted;
}

static unsigned polls_by_lid;
static uint64_t wait_until_us;

static enum fake_fate count_polls(void *ctx, struct fake_node *node,
				  const struct mad_header *header)
{
	(void)ctx;
	polls_by_lid += node->has_sm && header->mgmt_class == CLASS_SUBN_LID &&
			header->attr_id == ATTR_SM_INFO;
	return FAKE_ANSWER;
}

static bool is_late(const struct world *world)
{
	return loop_now_us(world->loop) >= wait_until_us;
}

static void poll_often(struct sm_options *options)
{
	options->poll_interval_ms = 60;
}

/* A MASTER polls the others also if it surveys them more often than once in poll_interval. */
static void test_polls_over_surveys(void)
{
	struct fake_node *other;
	struct world *world = with_other(poll_often, PRIORITY - 1, SM_STANDBY, &other);

	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	world->fake->fate = count_polls;
	world->fake->ctx = world;
	polls_by_lid = 0;
	for (unsigned i = 0; i < 15; i++) {
		wait_until_us = loop_now_us(world->loop) + 20000;
		CU_ASSERT_TRUE(sm_world_run(world, is_late));
		sm_world_sweep(world, DISCOVER_HEAVY);
	}
	CU_ASSERT(polls_by_lid >= 2);
	sm_world_free(world);
}

/* Its counter stands still, or runs backwards: it answers, so it is alive. */
static void test_counter_runs_backwards(void)
{
	struct fake_node *other;
	struct world *world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);

	for (unsigned i = 0; i < 4; i++) {
		other->sm.act_count = i % 2 ? 0 : UINT32_MAX;
		polls_wanted = world->fake->requests + 2;
		CU_ASSERT_TRUE(sm_world_run(world, polled_often));
	}
	CU_ASSERT_EQUAL(role(world), SM_STANDBY);
	sm_world_free(world);
}

/* Forged orders */

static void test_forged_orders(void)
{
	static const uint32_t controls[] = {SM_CONTROL_HANDOVER, SM_CONTROL_DISABLE,
					    SM_CONTROL_DISCOVER};

	for (size_t i = 0; i < ARRAY_SIZE(controls); i++) {
		struct sm_info sender = {.sm_key = SM_KEY_DEFAULT, .state = SM_MASTER}, answer;
		struct fake_node *other;
		struct world *world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);

		sm_world_node(world, "host-3")->port[1].info.lid = 7;
		sm_world_sweep(world, DISCOVER_HEAVY);
		/* From a port that is not our master, under its own name. */
		sender.guid = guid_of(world, "host-3");
		CU_ASSERT_EQUAL(
			managers_ask_from(world, 7, METHOD_SET, controls[i], &sender, &answer),
			STATUS_INVALID_VALUE);
		CU_ASSERT_EQUAL(role(world), SM_STANDBY);
		/* And under our master's. */
		sender.guid = guid_of(world, "host-2");
		CU_ASSERT_EQUAL(
			managers_ask_from(world, 7, METHOD_SET, controls[i], &sender, &answer),
			STATUS_INVALID_VALUE);
		CU_ASSERT_EQUAL(role(world), SM_STANDBY);
		CU_ASSERT_EQUAL(managers_ask(world, METHOD_SET, controls[i], &sender, &answer),
				STATUS_OK);
		CU_ASSERT_NOT_EQUAL(role(world), SM_STANDBY);
		sm_world_free(world);
	}
}

/* Chapter 13.4.6.2: a sender that has lost our answer sends its order again. The order is already
 * carried out, so the answer is success. Another manager that sends the same order is refused. */
static void test_repeated_orders(void)
{
	enum { OTHERS = 0x100, REFUSED = 0x200 }; /* by host-3, which is a MASTER too */
	static const struct {
		uint32_t orders[4];
		enum sm_state role;
	} rows[] = {
		{{SM_CONTROL_DISABLE, SM_CONTROL_DISABLE, SM_CONTROL_DISABLE}, SM_NOTACTIVE},
		{{SM_CONTROL_DISABLE, SM_CONTROL_STANDBY, SM_CONTROL_STANDBY}, SM_STANDBY},
		{{SM_CONTROL_STANDBY, SM_CONTROL_STANDBY}, SM_STANDBY},
		{{SM_CONTROL_DISCOVER, SM_CONTROL_DISCOVER}, SM_DISCOVERING},
		{{SM_CONTROL_HANDOVER, SM_CONTROL_HANDOVER, SM_CONTROL_HANDOVER}, SM_MASTER},
		{{SM_CONTROL_DISABLE, SM_CONTROL_DISCOVER | REFUSED, SM_CONTROL_DISABLE},
		 SM_NOTACTIVE},
		{{SM_CONTROL_DISABLE, SM_CONTROL_HANDOVER | REFUSED}, SM_NOTACTIVE},
		{{SM_CONTROL_DISCOVER, SM_CONTROL_DISABLE | REFUSED}, SM_DISCOVERING},
		{{SM_CONTROL_HANDOVER, SM_CONTROL_DISABLE | REFUSED}, SM_MASTER},
		{{SM_CONTROL_DISABLE, SM_CONTROL_DISABLE | OTHERS | REFUSED}, SM_NOTACTIVE},
		{{SM_CONTROL_STANDBY | OTHERS | REFUSED}, SM_STANDBY},
		{{SM_CONTROL_DISCOVER, SM_CONTROL_DISCOVER | OTHERS | REFUSED}, SM_DISCOVERING},
		{{SM_CONTROL_DISABLE, SM_CONTROL_STANDBY | OTHERS, SM_CONTROL_STANDBY | OTHERS,
		  SM_CONTROL_STANDBY | REFUSED},
		 SM_STANDBY},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fake_node *other;
		struct world *world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);

		sm_world_node(world, "host-3")->port[1].info.lid = 7;
		sm_world_sweep(world, DISCOVER_HEAVY);
		for (size_t k = 0; k < ARRAY_SIZE(rows[i].orders) && rows[i].orders[k]; k++) {
			bool others = rows[i].orders[k] & OTHERS;
			struct sm_info answer,
				sender = {.sm_key = SM_KEY_DEFAULT,
					  .state = SM_MASTER,
					  .guid = guid_of(world, others ? "host-3" : "host-2")};
			enum mad_status status =
				others ? managers_ask_from(world, 7, METHOD_SET,
							   rows[i].orders[k] & 0xFF, &sender,
							   &answer)
				       : managers_ask(world, METHOD_SET, rows[i].orders[k] & 0xFF,
						      &sender, &answer);

			CU_ASSERT_EQUAL(status, rows[i].orders[k] & REFUSED ? STATUS_INVALID_VALUE
									    : STATUS_OK);
		}
		CU_ASSERT_EQUAL(role(world), rows[i].role);
		sm_world_free(world);
	}
}

static uint64_t awaited_us;

static bool has_passed(const struct world *world)
{
	return loop_now_us(world->loop) >= awaited_us;
}

/* A delayed or duplicate order, which is older than the last order of its sender, is refused.
 * ActCount gives the order, and may wrap. A sender that has restarted counts from 0, as its answers
 * show. */
static void test_late_orders(void)
{
	enum { REFUSED = 0x100, ASKED = 0x200 };
	static const struct {
		struct {
			uint32_t act_count, control; /* ASKED: it answers with that ActCount */
		} orders[5];
		enum sm_state role;
	} rows[] = {
		{{{10, SM_CONTROL_DISABLE},
		  {12, SM_CONTROL_STANDBY},
		  {10, SM_CONTROL_DISABLE | REFUSED},
		  {12, SM_CONTROL_STANDBY},
		  {13, SM_CONTROL_DISABLE}},
		 SM_NOTACTIVE},
		{{{10, SM_CONTROL_DISABLE},
		  {12, SM_CONTROL_STANDBY},
		  {14, SM_CONTROL_DISABLE},
		  {12, SM_CONTROL_STANDBY | REFUSED}},
		 SM_NOTACTIVE},
		{{{10, SM_CONTROL_DISABLE},
		  {12, SM_CONTROL_STANDBY},
		  {9, SM_CONTROL_HANDOVER | REFUSED},
		  {9, SM_CONTROL_DISCOVER | REFUSED},
		  {9, SM_CONTROL_ACKNOWLEDGE | REFUSED}},
		 SM_STANDBY},
		{{{UINT32_MAX, SM_CONTROL_DISABLE},
		  {1, SM_CONTROL_STANDBY},
		  {UINT32_MAX, SM_CONTROL_DISABLE | REFUSED}},
		 SM_STANDBY},
		{{{1000, SM_CONTROL_DISABLE},
		  {1002, SM_CONTROL_STANDBY},
		  {5, ASKED},
		  {6, SM_CONTROL_DISABLE}},
		 SM_NOTACTIVE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fake_node *other;
		struct world *world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);

		for (size_t k = 0; k < ARRAY_SIZE(rows[i].orders); k++) {
			uint32_t control = rows[i].orders[k].control;
			struct sm_info answer, sender = {.sm_key = SM_KEY_DEFAULT,
							 .state = SM_MASTER,
							 .guid = guid_of(world, "host-2"),
							 .act_count = rows[i].orders[k].act_count};

			other->sm.act_count = sender.act_count;
			if (control == ASKED) {
				awaited_us = loop_now_us(world->loop) +
					     3000 * world->sm->options.poll_interval_ms;
				sm_world_run(world, has_passed);
			} else if (control) {
				CU_ASSERT_EQUAL(managers_ask(world, METHOD_SET, control & 0xFF,
							     &sender, &answer),
						control & REFUSED ? STATUS_INVALID_VALUE
								  : STATUS_OK);
			}
		}
		CU_ASSERT_EQUAL(role(world), rows[i].role);
		sm_world_free(world);
	}
}

/* The role of MASTER is handed to us and back: a late copy of the HANDOVER makes no second master.
 */
static void test_late_handover(void)
{
	struct fake_node *other;
	struct world *world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);
	struct sm_info answer, sender = {.sm_key = SM_KEY_DEFAULT,
					 .state = SM_MASTER,
					 .guid = guid_of(world, "host-2"),
					 .act_count = 10};

	CU_ASSERT_EQUAL(managers_ask(world, METHOD_SET, SM_CONTROL_HANDOVER, &sender, &answer),
			STATUS_OK);
	other->sm.state = SM_STANDBY;
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	world->sm->peers->handover_target = sender.guid;
	world->sm->peers->master = (struct peer){.lid = LID_OF_OTHER, .info = sender};
	sender.state = SM_STANDBY;
	sender.act_count = 20;
	CU_ASSERT_EQUAL(managers_ask(world, METHOD_SET, SM_CONTROL_ACKNOWLEDGE, &sender, &answer),
			STATUS_OK);
	CU_ASSERT_EQUAL(role(world), SM_STANDBY);
	sender.state = SM_MASTER;
	sender.act_count = 10;
	CU_ASSERT_EQUAL(managers_ask(world, METHOD_SET, SM_CONTROL_HANDOVER, &sender, &answer),
			STATUS_INVALID_VALUE);
	CU_ASSERT_EQUAL(role(world), SM_STANDBY);
	sm_world_free(world);
}

/* A host that appeared after the last survey has no known LID, so it cannot act with the GUID of
 * our master. Its packet only starts a survey. */
static void test_orders_from_unknown(void)
{
	static const uint32_t controls[] = {SM_CONTROL_HANDOVER, SM_CONTROL_DISABLE,
					    SM_CONTROL_DISCOVER};
	enum { LATE_LID = 4711 };

	for (size_t i = 0; i < ARRAY_SIZE(controls); i++) {
		struct fake_node *other;
		struct world *world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);
		struct sm_info sender = {.sm_key = SM_KEY_DEFAULT,
					 .state = SM_MASTER,
					 .guid = guid_of(world, "host-2")},
			       answer;

		CU_ASSERT_FALSE(world->sm->trigger.wanted);
		CU_ASSERT_EQUAL(managers_ask_from(world, LATE_LID, METHOD_SET, controls[i], &sender,
						  &answer),
				STATUS_INVALID_VALUE);
		CU_ASSERT_EQUAL(role(world), SM_STANDBY);
		CU_ASSERT_TRUE(world->sm->trigger.wanted);
		CU_ASSERT_EQUAL(managers_ask(world, METHOD_SET, controls[i], &sender, &answer),
				STATUS_OK);
		sm_world_free(world);
	}
}

/* Whether an order of the master with this M_Key is answered. */
static bool order_is_answered(struct world *world, uint64_t m_key)
{
	struct sm_info sender = {
		.sm_key = SM_KEY_DEFAULT, .state = SM_MASTER, .guid = guid_of(world, "host-2")};
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};
	size_t before = world->fake->num_sent;

	format_encode(&sm_info_format, &sender, data);
	subn_build(mad, METHOD_SET, ATTR_SM_INFO, SM_CONTROL_DISABLE, m_key, NULL, data);
	be64_store(mad + 8, 77);
	fake_receive(world->fake, LID_OF_OTHER, mad, MAD_SIZE);
	return world->fake->num_sent != before;
}

/* A Set(SMInfo) needs the M_Key of our port, as any Set() does. The key may be the key that the
 * port has shown, the key that it is about to have, or the key of the policy. */
static void test_orders_need_the_m_key(void)
{
	static const struct {
		struct m_key_have have;
		uint64_t policy, sent;
		bool heard;
	} rows[] = {
		{{.known = true}, 0, 0, true},
		{{.known = true}, 0, 5, true},
		{{.key = 7, .known = true}, 0, 0, false},
		{{.key = 7, .known = true}, 0, 5, false},
		{{.key = 7, .known = true}, 0, 7, true},
		{{.key = 7, .known = true}, 5, 5, true},
		{{.key = 7, .known = true, .changing = true, .next = 8}, 0, 8, true},
		{{.key = 7, .known = true, .next = 8}, 0, 8, false},
		{{.key = 7}, 0, 0, false},
		{{.known = false}, 0, 5, true},
		{{.known = false}, 6, 5, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fake_node *other;
		struct world *world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);
		bool heard;

		world->sm->options.m_key_mode = rows[i].policy ? M_KEY_SUBNET : M_KEY_NONE;
		world->sm->options.m_key = rows[i].policy;
		port_agent(world->sm->fabric->sm_port)->m_key = rows[i].have;
		heard = order_is_answered(world, rows[i].sent);
		CU_ASSERT_EQUAL(heard, rows[i].heard);
		CU_ASSERT_EQUAL(role(world), heard ? SM_NOTACTIVE : SM_STANDBY);
		sm_world_free(world);
	}
}

/* The SM_Key in the answer to a Get(SMInfo) with this M_Key. */
static uint64_t sm_key_shown(struct world *world, uint64_t m_key)
{
	uint8_t mad[MAD_SIZE];
	struct sm_info answer = {0};
	size_t before = world->fake->num_sent;

	subn_build(mad, METHOD_GET, ATTR_SM_INFO, 0, m_key, NULL, NULL);
	be64_store(mad + 8, 78);
	fake_receive(world->fake, LID_OF_OTHER, mad, MAD_SIZE);
	CU_ASSERT_EQUAL_FATAL(world->fake->num_sent, before + 1);
	attr_decode(&sm_info_format, world->fake->sent[before] + SMP_DATA_OFFSET, &answer);
	CU_ASSERT_EQUAL(answer.state, SM_STANDBY); /* the rest is for all */
	CU_ASSERT_EQUAL(answer.priority, PRIORITY);
	CU_ASSERT_EQUAL(answer.guid, world->fake->transport.port.port_guid);
	return answer.sm_key;
}

/* If a Get() needs the M_Key of our port, only a sender that knows it gets the SM_Key. */
static void test_sm_key_needs_the_m_key(void)
{
	static const struct {
		struct m_key_have have;
		uint8_t level;
		uint64_t policy, sent;
		bool shown;
	} rows[] = {
		{{.known = true}, 0, 0, 0, true}, /* there is none */
		{{.known = true}, 2, 0, 5, true},
		{{.key = 7, .known = true}, 0, 0, 0, true}, /* the sender may read it */
		{{.key = 7, .known = true}, 0, 0, 5, true},
		{{.key = 7, .known = true}, 1, 0, 0, true}, /* else two are MASTER */
		{{.key = 7, .known = true}, 1, 0, 5, true},
		{{.key = 7, .known = true}, 1, 0, 7, true},
		{{.key = 7, .known = true}, 2, 0, 0, false},
		{{.key = 7, .known = true}, 2, 0, 5, false},
		{{.key = 7, .known = true}, 2, 0, 7, true},
		{{.key = 7, .known = true}, 3, 0, 5, false},
		{{.key = 7, .known = true}, 3, 5, 5, true}, /* another manager gave it */
		{{.key = 7, .known = true, .changing = true, .next = 8}, 2, 0, 8, true},
		{{.known = false}, 2, 6, 0, false},
		{{.known = false}, 2, 6, 6, true},
	};
	struct fake_node *other;
	struct world *world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct port *port = world->sm->fabric->sm_port;
		struct port_info info = *port_info(port);
		uint64_t shown;

		info.m_key_protect_bits = rows[i].level;
		port_set_info(world->sm->fabric, port, &info);
		world->sm->options.m_key_mode = rows[i].policy ? M_KEY_SUBNET : M_KEY_NONE;
		world->sm->options.m_key = rows[i].policy;
		port_agent(port)->m_key = rows[i].have;
		shown = sm_key_shown(world, rows[i].sent);
		CU_ASSERT_EQUAL(shown, rows[i].shown ? SM_KEY_DEFAULT : 0);
		if (shown != (rows[i].shown ? SM_KEY_DEFAULT : 0))
			printf("    row %zu\n", i);
	}
	sm_world_free(world);
}

/* A MASTER that gets a HANDOVER searches for the sender, but at a limited rate. */
static void test_handovers_do_not_keep_busy(void)
{
	struct sm_info sender = {.sm_key = SM_KEY_DEFAULT, .state = SM_MASTER, .guid = 4711},
		       answer;
	struct world *world = three_hosts(false);
	unsigned sweeps = 0;

	CU_ASSERT_TRUE(sm_world_up(world));
	for (unsigned i = 0; i < 20; i++) {
		managers_ask(world, METHOD_SET, SM_CONTROL_HANDOVER, &sender, &answer);
		sweeps += world->sm->trigger.wanted;
		if (world->sm->trigger.wanted)
			sm_world_sweep(world, DISCOVER_HEAVY);
	}
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	CU_ASSERT_TRUE(sweeps >= 1 && sweeps <= 2);
	sm_world_check_up(world);
	sm_world_free(world);
}

/* How soon */

static bool is_not_standby(const struct world *world)
{
	return role(world) != SM_STANDBY;
}

/* A status reports that no manager is there: one more request, and no wait for misses. */
static void test_gone_is_confirmed_once(void)
{
	struct fake_node *other;
	struct world *world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);
	size_t before;

	world->sm->options.poll_misses = MANY_MISSES;
	before = world->fake->requests;
	other->has_sm = false;
	CU_ASSERT_TRUE(sm_world_run(world, is_not_standby));
	CU_ASSERT_TRUE(world->fake->requests - before >= 2);
	CU_ASSERT_TRUE(world->fake->requests - before < MANY_MISSES); /* a sweep begins at once */
	sm_world_free(world);
}

static size_t intervals_wanted;
static bool polled_long(const struct world *world)
{
	return role(world) != SM_STANDBY || world->fake->requests >= intervals_wanted;
}

/* The port of the master has a new M_Key, and its SMA drops SMInfo requests without it. Before the
 * standby takes over, it tries the other keys that the port may have. */
static void test_poll_doubts_its_key(void)
{
	for (unsigned known = 0; known < 2; known++) {
		struct fake_node *other;
		struct world *world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);
		struct port *port = map_get(&world->sm->fabric->ports, guid_of(world, "host-2"));

		CU_ASSERT_PTR_NOT_NULL_FATAL(port);
		port_agent(port)->m_key = (struct m_key_have){.key = 7, .known = true};
		world->sm->options.m_key_mode = M_KEY_SUBNET;
		world->sm->options.m_key = known ? 8 : 9; /* 9: the new key is unknown here */
		other->sm_m_key = 8;
		intervals_wanted = world->fake->requests + 20;
		CU_ASSERT_TRUE(sm_world_run(world, polled_long));
		CU_ASSERT_EQUAL(role(world) == SM_STANDBY, known);
		sm_world_free(world);
	}
}

/* If the connection closes, the manager is polled at once, before its turn. */
static void test_closed_connection(void)
{
	for (unsigned alive = 0; alive < 2; alive++) {
		struct fake_node *other;
		struct world *world = with_other(poll_seldom, PRIORITY + 1, SM_MASTER, &other);
		size_t before = world->fake->requests;

		other->has_sm = alive;
		peers_master_closed(world->sm->peers);
		polls_wanted = before + 1 + !alive;
		CU_ASSERT_TRUE(sm_world_run(world, alive ? polled_often : is_not_standby));
		CU_ASSERT_EQUAL(role(world) == SM_STANDBY, alive);
		sm_world_free(world);
	}
}

/* By LID our own SMInfo answers, as for an sm_lid that the master has not taken over yet. */
static enum fake_fate lid_is_ours(void *ctx, struct fake_node *node,
				  const struct mad_header *header)
{
	const struct world *world = ctx;

	if (node->has_sm)
		node->sm.guid = header->mgmt_class == CLASS_SUBN_LID
					? world->fake->transport.port.port_guid
					: guid_of(world, "host-2");
	return FAKE_ANSWER;
}

static void test_polls_itself(void)
{
	struct fake_node *other;
	struct world *world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);
	uint64_t sweep = world->sm->sweep.last.number;

	world->fake->fate = lid_is_ours;
	world->fake->ctx = world;
	polls_wanted = world->fake->requests + 8;
	CU_ASSERT_TRUE(sm_world_run(world, polled_often));
	CU_ASSERT_EQUAL(role(world), SM_STANDBY);
	CU_ASSERT_EQUAL(world->sm->sweep.last.number, sweep); /* it has not looked for another */
	CU_ASSERT_FALSE(world->sm->sweep.running);
	other->has_sm = false;
	CU_ASSERT_TRUE(sm_world_run(world, is_not_standby));
	sm_world_free(world);
}

/* Polls update the list of managers without another survey. They also find a manager that takes the
 * role of MASTER. */

static const struct fake_node *heard;
static bool is_listed(const struct world *world)
{
	const struct peer *list;

	return peers_list(world->sm->peers, &list) == 1 && list[0].info.guid == heard->sm.guid &&
	       list[0].lid == LID_OF_OTHER && list[0].info.state == heard->sm.state &&
	       list[0].info.priority == heard->sm.priority && !list[0].info.sm_key;
}

static void test_list_follows_polls(void)
{
	static const enum sm_state states[] = {SM_STANDBY, SM_NOTACTIVE, SM_DISCOVERING};
	struct fake_node *other;
	struct world *world = with_other(NULL, PRIORITY - 1, SM_DISCOVERING, &other);
	uint64_t sweeps = world->sm->sweep.last.number;

	heard = other;
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		other->sm.state = states[i];
		other->sm.priority = (uint8_t)i;
		CU_ASSERT_FALSE(is_listed(world));
		CU_ASSERT_TRUE(sm_world_run(world, is_listed));
	}
	CU_ASSERT_EQUAL(world->sm->sweep.last.number, sweeps);
	other->has_sm = false;
	other->port[1].info.capability_mask &= ~CAP_IS_SM;
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(peers_list(world->sm->peers, &(const struct peer *){NULL}), 0);
	sm_world_free(world);
}

static void test_list_of_a_standby(void)
{
	struct fake_node *other;
	struct world *world = with_other(NULL, PRIORITY + 1, SM_STANDBY, &other);

	heard = other;
	CU_ASSERT_EQUAL(role(world), SM_STANDBY);
	CU_ASSERT_TRUE(is_listed(world));
	other->sm.state = SM_MASTER;
	other->sm.priority++;
	CU_ASSERT_FALSE(is_listed(world));
	CU_ASSERT_TRUE(sm_world_run(world, is_listed));
	sm_world_free(world);
}

/* The LID of the master changes. Polls also use the directed route, so this standby notices it only
 * by a sweep, which an unanswered message causes once for each LID. */
static void test_lid_of_the_master(void)
{
	enum { LATER = LID_OF_OTHER + 2 };
	struct fake_node *other;
	struct world *world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);
	guid_t guid = guid_of(world, "host-2");
	struct mad_addr at = {.lid = 0};

	CU_ASSERT_TRUE(sm_find_manager(world->sm, guid, &at));
	CU_ASSERT_EQUAL(at.lid, LID_OF_OTHER);
	other->port[1].info.lid = LATER;
	sm_doubt_manager(world->sm, guid);
	CU_ASSERT_TRUE(world->sm->trigger.wanted);
	CU_ASSERT_TRUE(sm_world_run(world, is_standby));
	CU_ASSERT_TRUE(sm_find_manager(world->sm, guid, &at));
	CU_ASSERT_EQUAL(at.lid, LATER);
	sm_doubt_manager(world->sm, guid);
	CU_ASSERT_TRUE(world->sm->trigger.wanted);
	CU_ASSERT_TRUE(sm_world_run(world, is_standby));
	sm_doubt_manager(world->sm, guid);
	CU_ASSERT_FALSE(world->sm->trigger.wanted);
	/* If it answered in between, its address or our P_Keys may have changed again. */
	sm_believe_manager(world->sm, guid);
	world->sm->stranger_rate = (struct rate){.burst = 1, .interval_us = 60000000};
	sm_doubt_manager(world->sm, guid);
	CU_ASSERT_TRUE(world->sm->trigger.wanted);
	sm_world_free(world);
}

/* A partition with indx0 has index 0 of this port: the message goes with the P_Key of the default
 * partition, which the other manager has, too. */
static void test_p_key_of_messages(void)
{
	static const pkey_t tables[][2] = {{0x8011, PKEY_DEFAULT_LIMITED},
					   {0x8011, PKEY_DEFAULT_FULL},
					   {PKEY_DEFAULT_FULL, 0x8011}};
	static const uint16_t index[] = {1, 1, 0};
	struct fake_node *other;
	struct world *world = with_other(NULL, PRIORITY + 1, SM_MASTER, &other);
	struct port *own = world->sm->fabric->sm_port;
	struct mad_addr at;

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		struct pkey_list *keys = pkey_list_new(2);

		memcpy(keys->key, tables[i], sizeof(tables[i]));
		port_set_pkeys(world->sm->fabric, own, keys);
		CU_ASSERT_TRUE(sm_find_manager(world->sm, guid_of(world, "host-2"), &at));
		CU_ASSERT_EQUAL(at.pkey_index, index[i]);
	}
	port_set_pkeys(world->sm->fabric, own, NULL);
	CU_ASSERT_TRUE(sm_find_manager(world->sm, guid_of(world, "host-2"), &at));
	CU_ASSERT_EQUAL(at.pkey_index, 0);
	sm_world_free(world);
}

/* A host reports the LID of a standby as its own. Messages from this LID are still those of the
 * standby. */
static void test_claimed_lid(void)
{
	struct fake_node *rogue, *standby;
	struct world *world = with_other(NULL, PRIORITY - 1, SM_STANDBY, &rogue);
	const struct peer *list;
	lid_t lid;

	standby = add_manager(world, "host-3", PRIORITY - 1, SM_STANDBY);
	sm_world_sweep(world, DISCOVER_HEAVY);
	lid = standby->port[1].info.lid;
	CU_ASSERT_EQUAL(sm_admits(world->sm, lid), guid_of(world, "host-3"));
	CU_ASSERT_EQUAL(sm_admits(world->sm, LID_OF_OTHER), guid_of(world, "host-2"));
	rogue->port[1].info.lid = lid;
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL_FATAL(peers_list(world->sm->peers, &list), 2);
	CU_ASSERT_EQUAL(list[0].info.guid, guid_of(world, "host-2"));
	CU_ASSERT_EQUAL(list[0].lid, lid);
	CU_ASSERT_EQUAL(standby->port[1].info.lid, lid);
	CU_ASSERT_EQUAL(sm_admits(world->sm, lid), guid_of(world, "host-3"));
	CU_ASSERT_EQUAL(sm_admits(world->sm, LID_NONE), 0);
	sm_world_free(world);
}

static bool is_standby_now(const struct world *world)
{
	return role(world) == SM_STANDBY;
}

/* A second MASTER, which sees no other manager, is found between two sweeps. */
static void test_meets_a_new_master(void)
{
	struct fake_node *other;
	struct world *world = with_other(NULL, PRIORITY - 1, SM_STANDBY, &other);

	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	other->sm.priority = PRIORITY + 1;
	other->sm.state = SM_MASTER;
	CU_ASSERT_TRUE(sm_world_run(world, is_standby_now));
	sm_world_free(world);
}

static void tell_all(struct sm_options *options)
{
	options->rereg_rate = 1000;
}

static bool is_contested(const struct world *world)
{
	return world->sm->sweep.contested_us && sm_world_is_quiet(world);
}

static struct fake_port *teller;
static bool tells_again(const struct world *world)
{
	return teller->reregisters && sm_world_is_quiet(world);
}

/* Another MASTER, which ranks lower, dies before it hands over: hosts that know our LID all the
 * time, as with sm_lid, may have registered with it. */
static void test_other_master_dies(void)
{
	struct fake_node *other;
	struct world *world = with_other(tell_all, PRIORITY - 1, SM_STANDBY, &other);

	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	teller = &sm_world_node(world, "host-3")->port[1];
	sm_world_sweep(world, DISCOVER_HEAVY);
	teller->reregisters = 0;
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(teller->reregisters, 0);
	other->sm.state = SM_MASTER;
	CU_ASSERT_TRUE(sm_world_run(world, is_contested));
	CU_ASSERT_EQUAL(teller->reregisters, 0);
	other->has_sm = false;
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_TRUE(sm_world_run(world, tells_again));
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	sm_world_free(world);
}

static void count_two_masters(void *ctx, int level, const struct log_subject *subject,
			      const char *text)
{
	unsigned *told = ctx;

	*told += level == LOG_WARNING && !strcmp(subject->message_id, MESSAGE_TWO_MASTERS) &&
		 strstr(text, "priority 4") && strstr(text, "allowed_sm_guids");
}

/* Another MASTER, which ranks lower, stays MASTER: this is logged once, after it has lasted for
 * some time. */
static void test_other_master_stays(void)
{
	enum { HALF_A_MINUTE_US = 30000000 };
	struct fake_node *other;
	struct world *world = with_other(NULL, PRIORITY - 1, SM_STANDBY, &other);
	uint64_t *since_us = &world->sm->sweep.contested_us;
	unsigned told = 0;

	log_watch(count_two_masters, &told);
	for (unsigned time = 1; time <= 2; time++) {
		other->sm.state = SM_MASTER;
		CU_ASSERT_TRUE(sm_world_run(world, is_contested));
		sm_world_sweep(world, DISCOVER_LIGHT);
		CU_ASSERT_EQUAL(told, time - 1);
		*since_us -= HALF_A_MINUTE_US;
		for (unsigned i = 0; i < 3; i++)
			sm_world_sweep(world, DISCOVER_LIGHT);
		CU_ASSERT_EQUAL(told, time);
		other->sm.state = SM_STANDBY;
		sm_world_sweep(world, DISCOVER_LIGHT);
		CU_ASSERT_FALSE(world->sm->sweep.contested_us);
	}
	log_watch(NULL, NULL);
	sm_world_free(world);
}

/* The raised priority */

static void test_sticky_master(void)
{
	struct fake_node *other;
	struct world *world = with_other(raise_master, PRIORITY - 1, SM_STANDBY, &other);
	struct sm_info info;

	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	peers_own_info(world->sm->peers, &info);
	CU_ASSERT_EQUAL(info.priority, 14);
	other->sm.priority = 13; /* the old master is back */
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	other->sm.priority = 15;
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(role(world), SM_STANDBY);
	peers_own_info(world->sm->peers, &info);
	CU_ASSERT_EQUAL(info.priority, PRIORITY);
	sm_world_free(world);
}

/* Both ways of a handover */

/* The node that received a control packet of ours; NULL: none. */
static const struct fake_node *taker(const struct world *world, uint32_t control)
{
	const struct fake_node *found = NULL;

	for (size_t i = 0; i < world->fake->num_sets; i++)
		if (world->fake->sets[i].attr_id == ATTR_SM_INFO &&
		    world->fake->sets[i].attr_mod == control)
			found = world->fake->sets[i].node;
	return found;
}

static bool has_acknowledged(const struct world *world)
{
	return taker(world, SM_CONTROL_ACKNOWLEDGE) && role(world) == SM_MASTER;
}

static void test_acknowledges(void)
{
	struct sm_info sender = {.sm_key = SM_KEY_DEFAULT, .state = SM_MASTER}, answer;
	struct fake_node *other;
	struct world *world = with_other(NULL, PRIORITY - 1, SM_MASTER, &other);

	sender.guid = guid_of(world, "host-2");
	other->sm.state = SM_STANDBY;
	CU_ASSERT_EQUAL(managers_ask(world, METHOD_SET, SM_CONTROL_HANDOVER, &sender, &answer),
			STATUS_OK);
	CU_ASSERT_TRUE(sm_world_run(world, has_acknowledged));
	sm_world_free(world);
}

static enum fake_fate lose_answers(void *ctx, struct fake_node *node,
				   const struct mad_header *header)
{
	(void)ctx;
	(void)node;
	return header->method == METHOD_SET && header->attr_id == ATTR_SM_INFO ? FAKE_LOSE_ANSWER
									       : FAKE_ANSWER;
}

static bool has_offered(const struct world *world)
{
	return taker(world, SM_CONTROL_HANDOVER);
}

/* The answer to our HANDOVER is lost, the ACKNOWLEDGE comes. */
static void test_is_acknowledged(void)
{
	struct sm_info sender = {.sm_key = SM_KEY_DEFAULT, .state = SM_MASTER}, answer;
	struct fake_node *other;
	struct world *world = with_other(NULL, PRIORITY - 1, SM_STANDBY, &other);

	other->sm.priority = PRIORITY + 1;
	world->fake->fate = lose_answers;
	trigger_heavy(&world->sm->trigger, "test");
	CU_ASSERT_TRUE(sm_world_run(world, has_offered));
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	sender.guid = guid_of(world, "host-3"); /* it got no offer */
	managers_ask_from(world, LID_PERMISSIVE, METHOD_SET, SM_CONTROL_ACKNOWLEDGE, &sender,
			  &answer);
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	sender.guid = guid_of(world, "host-2");
	managers_ask_from(world, LID_PERMISSIVE, METHOD_SET, SM_CONTROL_ACKNOWLEDGE, &sender,
			  &answer);
	CU_ASSERT_EQUAL(role(world), SM_STANDBY);
	sm_world_free(world);
}

/* A manager that stops offers its role to the highest-ranking manager. */
static void test_leaves_to_the_highest(void)
{
	struct world *world = three_hosts(false);
	struct fake_node *high = add_manager(world, "host-3", PRIORITY - 1, SM_STANDBY);

	add_manager(world, "host-2", PRIORITY - 2, SM_STANDBY);
	CU_ASSERT_TRUE(sm_world_up(world));
	sm_world_sweep(world, DISCOVER_LIGHT); /* both have LIDs now */
	sm_stop(world->sm);
	CU_ASSERT_TRUE(sm_world_run(world, has_offered));
	CU_ASSERT_PTR_EQUAL(taker(world, SM_CONTROL_HANDOVER), high);
	CU_ASSERT_EQUAL(high->sm.state, SM_MASTER);
	sm_world_free(world);
}

/* Our own port */

static struct fake_port *local_port(const struct world *world)
{
	return world->fake->local;
}

static bool has_given_up(const struct world *world)
{
	return role(world) == SM_DISCOVERING && sm_world_is_quiet(world);
}

static bool is_up_again(const struct world *world)
{
	return role(world) == SM_MASTER && sm_world_is_quiet(world) && !world->error;
}

/* While the local link is down, no node counts as gone: none is forgotten or reported. */
static void test_own_link_is_down(void)
{
	struct world *world = three_hosts(false);
	unsigned switches, adapters;

	CU_ASSERT_TRUE(sm_world_up(world));
	switches = world->sm->fabric->num_switches;
	adapters = world->sm->fabric->num_adapters;
	fake_link(local_port(world), false);
	world->reports = 0;
	CU_ASSERT_TRUE(sm_world_run(world, has_given_up));
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(world->error, -ENETDOWN);
	CU_ASSERT_EQUAL(sm_is_master(world->sm), false);
	CU_ASSERT_EQUAL(world->sm->fabric->num_switches, switches);
	CU_ASSERT_EQUAL(world->sm->fabric->num_adapters, adapters);
	CU_ASSERT_PTR_NULL(*sm_view(world->sm));
	/* Nodes that left in the meantime are found after the link is up. */
	fake_link(&sm_world_node(world, "host-3")->port[1], false);
	fake_link(local_port(world), true);
	world->reports = 0;
	CU_ASSERT_TRUE(sm_world_run(world, is_up_again));
	CU_ASSERT_EQUAL(world->sm->fabric->num_adapters, adapters - 1);
	sm_world_check_up(world);
	sm_world_free(world);
}

static bool has_its_lid(const struct world *world)
{
	const struct port_info *info = &local_port(world)->info;

	return is_up_again(world) && info->lid == world->sm->fabric->sm_port->lid &&
	       info->master_sm_lid == info->lid;
}

/* A foreign write to our port is found between two sweeps. */
static void test_own_lid_changes(void)
{
	for (unsigned how = 0; how < 2; how++) {
		struct world *world = three_hosts(false);
		struct port_info *info = &local_port(world)->info;

		CU_ASSERT_TRUE(sm_world_up(world));
		*(how ? &info->lid : &info->master_sm_lid) = 77;
		CU_ASSERT_FALSE(has_its_lid(world));
		world->reports = 0;
		CU_ASSERT_TRUE(sm_world_run(world, has_its_lid));
		sm_world_check_up(world);
		sm_world_free(world);
	}
}

/* Giving the subnet away */

static struct {
	guid_t to;
	unsigned done;
	int error;
	uint16_t status;
} handover;

static guid_t choose(void *ctx, const struct peer *list, size_t count)
{
	(void)ctx;
	(void)list;
	CU_ASSERT_EQUAL(count, 1);
	return handover.to;
}

static void handover_done(void *ctx, int error, uint16_t status)
{
	(void)ctx;
	handover.done++;
	handover.error = error;
	handover.status = status;
}

static bool handover_is_done(const struct world *world)
{
	return handover.done && sm_world_is_quiet(world);
}

static void give_to(struct world *world, guid_t guid)
{
	memset(&handover, 0, sizeof(handover));
	handover.to = guid;
	peers_request_handover(world->sm->peers,
			       &(struct peers_handover){choose, handover_done, NULL});
	trigger_light(&world->sm->trigger, "test");
	CU_ASSERT_TRUE(sm_world_run(world, handover_is_done));
	CU_ASSERT_EQUAL(handover.done, 1);
}

/* After a handover by command the manager ranks last until its target is gone. A refused handover
 * changes nothing. */
static void test_gives_away(void)
{
	struct fake_node *other;
	struct world *world = with_other(NULL, PRIORITY - 1, SM_STANDBY, &other);
	const struct peer *list;
	struct sm_info own;

	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	other->sm_control_status = STATUS_BUSY;
	give_to(world, other->sm.guid);
	CU_ASSERT_EQUAL(handover.error, 0);
	CU_ASSERT_EQUAL(handover.status, STATUS_BUSY);
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	peers_own_info(world->sm->peers, &own);
	CU_ASSERT_EQUAL(own.priority, PRIORITY);
	other->sm_control_status = STATUS_OK;
	memset(&handover, 0, sizeof(handover)); /* no target */
	peers_request_handover(world->sm->peers,
			       &(struct peers_handover){choose, handover_done, NULL});
	sm_world_sweep(world, DISCOVER_LIGHT);
	CU_ASSERT_EQUAL(handover.done, 0);
	CU_ASSERT_EQUAL(role(world), SM_MASTER);
	give_to(world, other->sm.guid);
	CU_ASSERT_EQUAL(handover.error, 0);
	CU_ASSERT_EQUAL(handover.status, STATUS_OK);
	CU_ASSERT_EQUAL(role(world), SM_STANDBY);
	CU_ASSERT_EQUAL(peers_list(world->sm->peers, &list), 1);
	CU_ASSERT_EQUAL(list[0].info.state, SM_MASTER);
	CU_ASSERT_EQUAL(other->sm_heard.priority, PRIORITY); /* in HANDOVER */
	peers_own_info(world->sm->peers, &own);
	CU_ASSERT_EQUAL(own.priority, 0);
	other->has_sm = false;
	CU_ASSERT_TRUE(sm_world_run(world, is_master));
	peers_own_info(world->sm->peers, &own);
	CU_ASSERT_EQUAL(own.priority, PRIORITY);
	sm_world_free(world);
}

static bool has_polled(const struct world *world)
{
	const struct peer *list;

	return peers_list(world->sm->peers, &list) && list->heard_us;
}

static void count_contests(void *ctx, int level, const struct log_subject *subject,
			   const char *text)
{
	unsigned *contests = ctx;

	(void)level;
	(void)subject;
	*contests += strstr(text, "another manager is no longer MASTER") != NULL;
}

/* A manager that receives the role from a higher-ranking manager has the same rank while it is
 * MASTER. This holds only if the previous master stays: it may be stopping. */
static void test_inherits(void)
{
	static const struct {
		uint8_t priority; /* of the previous master */
		bool stays;
		int above; /* GUID of the previous master, relative to ours */
		uint8_t shown;
		bool is_restarted; /* and there again at once */
	} rows[] = {
		{PRIORITY + 3, true, 1, PRIORITY, true},
		{PRIORITY + 3, true, 1, PRIORITY + 3, false},
		{PRIORITY + 3, true, -1, PRIORITY + 4, false},
		{PRIORITY + 3, false, -1, PRIORITY, false},
		{PRIORITY - 1, true, -1, PRIORITY, false},
		{15, true, -1, 15, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world *world = three_hosts(false);
		struct fake_node *other = add_manager(world, "host-2", rows[i].priority, SM_MASTER);
		struct sm_info sender, answer, own;
		unsigned contests = 0;

		if (rows[i].above < 0) {
			other->info.port_guid = world->fake->transport.port.port_guid - 16;
			other->sm.guid = other->info.port_guid + 1;
		}
		other->port[1].info.lid = 9;
		CU_ASSERT_TRUE(sm_world_up(world));
		CU_ASSERT_EQUAL(role(world), SM_STANDBY);
		CU_ASSERT_TRUE(sm_world_run(world, has_polled));
		sender = other->sm;
		sender.sm_key = SM_KEY_DEFAULT;
		sender.act_count = 100;
		other->sm.act_count = rows[i].is_restarted ? 1 : 100;
		other->sm.state = SM_STANDBY;
		other->sm.priority = 0;
		other->has_sm = rows[i].stays;
		CU_ASSERT_EQUAL(
			managers_ask(world, METHOD_SET, SM_CONTROL_HANDOVER, &sender, &answer),
			STATUS_OK);
		log_watch(count_contests, &contests);
		CU_ASSERT_TRUE(sm_world_run(world, is_master));
		log_watch(NULL, NULL);
		CU_ASSERT_EQUAL(contests, 0); /* it was not MASTER beside this one */
		peers_own_info(world->sm->peers, &own);
		CU_ASSERT_EQUAL(own.priority, rows[i].shown);
		sm_world_free(world);
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"not allowed", test_not_allowed},
		{"allowed", test_allowed},
		{"pretends to be allowed", test_pretends_to_be_allowed},
		{"impossible", test_impossible},
		{"untrusted managers are logged", test_untrusted_are_logged},
		{"a master loses trust", test_master_loses_trust},
		{"forged orders are logged", test_forged_orders_are_logged},
		{"counter runs backwards", test_counter_runs_backwards},
		{"forged orders", test_forged_orders},
		{"repeated orders", test_repeated_orders},
		{"orders that come late", test_late_orders},
		{"a handover that comes late", test_late_handover},
		{"orders from unknown ports", test_orders_from_unknown},
		{"orders need the M_Key", test_orders_need_the_m_key},
		{"SM_Key needs the M_Key", test_sm_key_needs_the_m_key},
		{"orders of no MASTER are logged", test_orders_of_no_master_are_logged},
		{"a poll doubts its M_Key", test_poll_doubts_its_key},
		{"handovers do not keep busy", test_handovers_do_not_keep_busy},
		{"gone is confirmed once", test_gone_is_confirmed_once},
		{"closed connection", test_closed_connection},
		{"polls itself by LID", test_polls_itself},
		{"polls over surveys", test_polls_over_surveys},
		{"list follows polls", test_list_follows_polls},
		{"list of a standby", test_list_of_a_standby},
		{"meets a new master", test_meets_a_new_master},
		{"other master dies", test_other_master_dies},
		{"other master stays", test_other_master_stays},
		{"the LID of the master", test_lid_of_the_master},
		{"the P_Key of messages to the master", test_p_key_of_messages},
		{"a claimed LID", test_claimed_lid},
		{"sticky master", test_sticky_master},
		{"acknowledges", test_acknowledges},
		{"is acknowledged", test_is_acknowledged},
		{"leaves to the highest", test_leaves_to_the_highest},
		{"own link is down", test_own_link_is_down},
		{"own LID changes", test_own_lid_changes},
		{"gives the subnet away by command", test_gives_away},
		{"inherits the rank of the previous master", test_inherits},
		CU_TEST_INFO_NULL,
	};

	return unit_main("sm_peers", tests);
}

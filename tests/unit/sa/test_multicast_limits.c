/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Limits of one port on multicast groups, on the fabric of two_switches.h. The tests cover the
 * memberships that count for a port, the groups that it may make, and the MLIDs that are left for
 * others. Join states and rates are compared with models.
 */
#include "include/message_id.h"
#include "lib/log.h"
#include "sa/groups.h"
#include "tests/unit/fixtures/member_client.h"

/* A port joins a group to which another port has joined it before: the membership is then its own,
 * and the answer says so. No other port can end it, but an administrator can. */
static void test_own_join_after_proxy(void)
{
	struct mc_member_record record = usual(A, 1);

	for (unsigned trusted = 0; trusted < 2; trusted++) {
		begin();
		CU_ASSERT_EQUAL(set(C, CREATE, &record), STATUS_OK);
		CU_ASSERT_EQUAL(told.proxy_join, 1);
		CU_ASSERT_EQUAL(set(A, JOIN, &record), STATUS_OK);
		CU_ASSERT_EQUAL(told.proxy_join, 0);
		CU_ASSERT_EQUAL(told.join_state, JOIN_FULL);
		CU_ASSERT_EQUAL(leave(C, &record), SA_REQ_INVALID);
		CU_ASSERT_EQUAL(set(C, JOIN, &record), SA_REQ_INVALID);
		CU_ASSERT_EQUAL(members(), 1);
		CU_ASSERT_EQUAL(ask_member(METHOD_DELETE, lids[trusted ? C : A],
					   trusted ? SA_KEY : 0, JOIN, &record),
				STATUS_OK);
		CU_ASSERT_EQUAL(members(), 0);
		end();
	}
}

/* saquery and other tools send the default SA_Key unasked, so it must not end memberships. */
static void test_default_key(void)
{
	struct mc_member_record record = usual(A, 1);
	struct sa_options known = options;

	known.sa_key = SA_KEY_DEFAULT;
	begin();
	sa_set_options(sa.server, &known);
	CU_ASSERT_EQUAL(set(A, CREATE, &record), STATUS_OK);
	CU_ASSERT_EQUAL(ask_member(METHOD_DELETE, lids[C], SA_KEY_DEFAULT, JOIN, &record),
			SA_REQ_INVALID);
	CU_ASSERT_EQUAL(ask_member(METHOD_SET, lids[C], SA_KEY_DEFAULT, JOIN, &record),
			SA_REQ_INVALID);
	CU_ASSERT_EQUAL(members(), 1);
	end();
}

static void limit(uint32_t registrations, uint32_t most_groups)
{
	struct sa_options limited = options;

	limited.registrations_per_port = registrations;
	limited.groups_per_port = most_groups;
	sa_set_options(sa.server, &limited);
}

static void expect_over_limit(uint64_t registrations, uint64_t most_groups, uint64_t mlids)
{
	const uint64_t *over = sa_stats(sa.server)->over_limit;

	CU_ASSERT_EQUAL(over[SA_LIMIT_REGISTRATIONS], registrations);
	CU_ASSERT_EQUAL(over[SA_LIMIT_GROUPS], most_groups);
	CU_ASSERT_EQUAL(over[SA_LIMIT_MLIDS], mlids);
}

/* A membership for another port counts for the requester, until the other port joins. */
static void test_proxies_count(void)
{
	enum { MOST = 5 };
	struct mc_member_record record = usual(A, 1);
	struct unit_capture capture;
	char log[2048];

	begin();
	limit(MOST, 100);
	for (uint32_t i = 1; i <= MOST; i++) {
		set_mgid(record.mgid, i);
		CU_ASSERT_EQUAL(set(C, CREATE, &record), STATUS_OK);
	}
	unit_capture_begin(&capture);
	set_mgid(record.mgid, MOST + 1);
	CU_ASSERT_EQUAL(set(C, CREATE, &record), SA_NO_RESOURCES);
	CU_ASSERT_EQUAL(join(C, MOST + 1, JOIN_FULL), SA_NO_RESOURCES);
	expect_over_limit(2, 0, 0);
	for (uint32_t i = MOST + 1; i < 2 * MOST; i++) /* nothing counts for A */
		CU_ASSERT_EQUAL(join(A, i, JOIN_FULL), STATUS_OK);
	set_mgid(record.mgid, 1); /* one of C's counts for A now */
	CU_ASSERT_EQUAL(set(A, JOIN, &record), STATUS_OK);
	CU_ASSERT_EQUAL(join(C, 2 * MOST, JOIN_FULL), STATUS_OK);
	set_mgid(record.mgid, 2); /* and this would be one too many */
	CU_ASSERT_EQUAL(set(A, JOIN, &record), SA_NO_RESOURCES);
	set_mgid(record.mgid, 1); /* a counted membership may change */
	record.join_state = JOIN_NON_MEMBER;
	CU_ASSERT_EQUAL(set(A, JOIN, &record), STATUS_OK);
	CU_ASSERT_EQUAL(told.join_state, JOIN_FULL | JOIN_NON_MEMBER);
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_PTR_NOT_NULL(strstr(log, "the requester has registered as much"));
	end();
}

static struct log_subject noted;

static void note_limit(void *ctx, int level, const struct log_subject *subject, const char *text)
{
	(void)ctx, (void)level, (void)text;
	if (!strcmp(subject->message_id, MESSAGE_SA_LIMIT))
		noted = *subject;
}

/* A group counts for the port that made it as long as the port has a membership in it. */
static void test_groups_count(void)
{
	enum { MOST = 4 };
	struct mc_member_record record = usual(C, 2);
	struct unit_capture capture;
	char log[2048];

	begin();
	limit(1000, MOST);
	CU_ASSERT_EQUAL(join(A, 1, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(set(A, CREATE, &record), STATUS_OK); /* C is in it, A made it */
	CU_ASSERT_EQUAL(join(A, 3, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(A, 4, JOIN_FULL), STATUS_OK);
	log_watch(note_limit, NULL);
	unit_capture_begin(&capture);
	CU_ASSERT_EQUAL(join(A, 5, JOIN_FULL), SA_NO_RESOURCES);
	unit_capture_end(&capture, log, sizeof(log));
	log_watch(NULL, NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(log, "groups_per_port"));
	CU_ASSERT_EQUAL(noted.lid, lids[A]);
	CU_ASSERT_EQUAL(noted.node_guid, sa.view->topology->ends[A].facts->info.node_guid);
	CU_ASSERT_EQUAL(noted.port, 1);
	expect_over_limit(0, 1, 0);
	/* Existing groups may be joined, also those of others, and other ports may make groups. */
	CU_ASSERT_EQUAL(join(C, 5, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(A, 5, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(C, 1, JOIN_FULL), STATUS_OK);
	/* A leaves its first group, in which C stays: it counts for C. */
	unit_capture_begin(&capture);
	CU_ASSERT_EQUAL(quit(A, 1, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(A, 6, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(A, 7, JOIN_FULL), SA_NO_RESOURCES);
	/* C joins by itself where A has joined it, which was A's last part in that group. */
	CU_ASSERT_EQUAL(set(C, JOIN, &record), STATUS_OK);
	CU_ASSERT_EQUAL(join(A, 7, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(A, 9, JOIN_FULL), SA_NO_RESOURCES);
	/* To come back does not make the group A's. */
	CU_ASSERT_EQUAL(join(A, 1, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(quit(A, 1, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(A, 9, JOIN_FULL), SA_NO_RESOURCES);
	/* C made group 5, and has taken over 1 and 2. */
	CU_ASSERT_EQUAL(join(C, 10, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(C, 13, JOIN_FULL), SA_NO_RESOURCES);
	CU_ASSERT_EQUAL(quit(C, 10, JOIN_FULL), STATUS_OK);
	unit_capture_end(&capture, log, sizeof(log));
	/* A manager that starts with these records counts the same. */
	sa_free(sa.server);
	sa.server = sa_new(sa.loop, sa.txns, &sa.view, sa.registry, &sa.events, &options);
	limit(1000, MOST);
	unit_capture_begin(&capture);
	CU_ASSERT_EQUAL(join(A, 8, JOIN_FULL), SA_NO_RESOURCES);
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_EQUAL(join(C, 8, JOIN_FULL), STATUS_OK);
	end();
}

static unsigned groups_there(void)
{
	return (unsigned)registry_count(sa.registry, REGISTRY_GROUP);
}

/* A makes so many groups, which C joins with this state and B as a full member, and leaves them.
 * Returns how many A could make. */
static unsigned hand_on(uint32_t first, uint32_t count, uint8_t join_state)
{
	unsigned made = 0;

	for (uint32_t i = first; i < first + count; i++) {
		if (join(A, i, JOIN_FULL) != STATUS_OK)
			continue;
		made++;
		CU_ASSERT_EQUAL(join(C, i, join_state), STATUS_OK);
		CU_ASSERT_EQUAL(join(B, i, JOIN_FULL), STATUS_OK);
		CU_ASSERT_EQUAL(quit(A, i, JOIN_FULL), STATUS_OK);
	}
	return made;
}

/* Three ports cannot keep more groups than all may: A makes groups that others join, and leaves
 * them. No group ends while a full member is in it. */
static void test_groups_of_others(void)
{
	enum { MOST = 4 };
	struct unit_capture capture;
	unsigned before;
	char log[8192];

	begin();
	limit(1000, MOST);
	before = groups_there();
	unit_capture_begin(&capture);
	CU_ASSERT_EQUAL(hand_on(1, 5 * MOST, JOIN_FULL), 3 * MOST);
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_EQUAL(groups_there() - before, 3 * MOST);
	CU_ASSERT_EQUAL(members(), 6 * MOST);
	end();
}

/* A group counts for a port that keeps it, not for a port that only sends or listens. */
static void test_heirs(void)
{
	enum { MOST = 4 };
	struct unit_capture capture;
	char log[4096];

	begin();
	limit(1000, MOST);
	CU_ASSERT_EQUAL(hand_on(1, MOST, JOIN_NON_MEMBER), MOST);
	unit_capture_begin(&capture);
	CU_ASSERT_EQUAL(join(C, 100, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(B, 101, JOIN_FULL), SA_NO_RESOURCES);
	unit_capture_end(&capture, log, sizeof(log));
	end();
}

/* A port does not take over more than its share while MLIDs are scarce. */
static void test_share_of_heirs(void)
{
	enum { ENTRIES = 64, MOST = 40, SHARE = MOST / 4 };
	struct unit_capture capture;
	unsigned before;
	char log[8192];

	begin();
	limit(1000, MOST);
	view_publish(&sa.view, two_switches_view_with_mfts(ENTRIES, ENTRIES));
	for (uint32_t i = 1; i < ENTRIES / 2; i++) /* more than the share of B */
		CU_ASSERT_EQUAL(join(B, i, JOIN_FULL), STATUS_OK);
	before = groups_there();
	unit_capture_begin(&capture);
	CU_ASSERT_EQUAL(hand_on(100, 3 * SHARE, JOIN_FULL), 2 * SHARE);
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_EQUAL(groups_there() - before, 2 * SHARE);
	end();
}

/* Virtual functions of A, which share its LID, have GUIDs of their own. A group counts for A until
 * the last of them that is in it leaves, whichever of them has made it. */
static void test_groups_of_functions(void)
{
	enum { FUNCTIONS = 3 };
	struct mc_member_record record = usual(A, 1);
	struct unit_capture capture;
	char log[2048];

	begin();
	limit(1000, 1);
	for (uint16_t i = 1; i <= FUNCTIONS; i++) {
		const struct alias_entry alias = {
			.port_guid = PORT_GUID(A), .index = i, .guid = 0x8000u + i};

		registry_put(sa.registry, REGISTRY_ALIAS, &alias);
		set_gid(record.port_gid, options.subnet_prefix, alias.guid);
		CU_ASSERT_EQUAL(set(A, CREATE | MTU_BITS | RATE_BITS, &record), STATUS_OK);
	}
	CU_ASSERT_EQUAL(join(C, 1, JOIN_FULL), STATUS_OK);
	unit_capture_begin(&capture);
	for (unsigned i = 1; i <= FUNCTIONS; i++) {
		CU_ASSERT_EQUAL(join(A, 2, JOIN_FULL), SA_NO_RESOURCES);
		set_gid(record.port_gid, options.subnet_prefix, 0x8000 + i);
		CU_ASSERT_EQUAL(leave(A, &record), STATUS_OK);
	}
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_EQUAL(members(), 1);
	CU_ASSERT_EQUAL(join(A, 2, JOIN_FULL), STATUS_OK);
	end();
}

/* A port alone gets half of the MLIDs, and others still get a quarter of their limit. */
static void test_share_of_mlids(void)
{
	enum { ENTRIES = 64, MOST = 40, SHARE = MOST / 4 };
	static const struct {
		unsigned host, expected;
	} rows[] = {{A, ENTRIES / 2 - 1}, {C, SHARE}, {B, SHARE}, {A, 0}};
	struct unit_capture capture;
	uint64_t refused = 0;
	char log[4096];

	begin();
	limit(1000, MOST);
	view_publish(&sa.view, two_switches_view_with_mfts(ENTRIES, ENTRIES));
	unit_capture_begin(&capture);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned made = 0;

		for (uint32_t number = 1; number <= ENTRIES; number++)
			made += join(rows[i].host, 100 * i + number, JOIN_FULL) == STATUS_OK;
		CU_ASSERT_EQUAL(made, rows[i].expected);
		refused += ENTRIES - made;
	}
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_PTR_NOT_NULL(strstr(log, "half of the MLIDs are in use"));
	expect_over_limit(0, refused, 0);
	end();
}

/* Clients do not get the last MLIDs: a partition that is made later has its group. */
static void test_kept_mlids(void)
{
	enum { ENTRIES = 64, KEPT = ENTRIES / MLIDS_KEPT_SHARE };
	struct group_entry configured[1 + KEPT + 1];
	struct unit_capture capture;
	unsigned made = 0;
	char log[4096];

	begin();
	view_publish(&sa.view, two_switches_view_with_mfts(ENTRIES, ENTRIES));
	unit_capture_begin(&capture);
	for (uint32_t i = 1; i <= ENTRIES; i++)
		made += join(i % 2 ? A : C, i, JOIN_FULL) == STATUS_OK;
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_EQUAL(made, ENTRIES - 1 - KEPT);
	expect_over_limit(0, 0, ENTRIES - made);
	CU_ASSERT_PTR_NOT_NULL(strstr(log, "no MLID is left for a group of clients"));
	for (unsigned i = 0; i < ARRAY_SIZE(configured); i++) {
		configured[i] = default_group;
		configured[i].mgid[5] = (uint8_t)(0xFF - i);
	}
	sa_set_groups(sa.server, configured, 1 + KEPT);
	CU_ASSERT_EQUAL(groups(), 1 + made + KEPT);
	/* No MLID is left, and groups of clients do not get the MLIDs that are freed. */
	unit_capture_begin(&capture);
	sa_set_groups(sa.server, configured, ARRAY_SIZE(configured));
	CU_ASSERT_EQUAL(groups(), 1 + made + KEPT);
	CU_ASSERT_EQUAL(quit(A, 1, JOIN_FULL), STATUS_OK);
	turn();
	CU_ASSERT_EQUAL(groups(), 1 + made + KEPT);
	CU_ASSERT_EQUAL(quit(C, 2, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(C, 2, JOIN_FULL), SA_NO_RESOURCES);
	unit_capture_end(&capture, log, sizeof(log));
	end();
}

/* A client has made a group with an MGID that a partition's group gets later. The client is not a
 * member of the partition's group. */
static void test_taken_mgid(void)
{
	struct group_entry configured[2] = {default_group, default_group}, key;
	struct mc_member_record record = usual(A, 1);
	const struct group_entry *group;

	begin();
	configured[1].p_key = 0x8001;
	set_mgid(configured[1].mgid, 7); /* no IPoIB MGID: any partition may use it */
	memcpy(record.mgid, configured[1].mgid, GID_SIZE);
	key = configured[1];
	CU_ASSERT_EQUAL(set(A, CREATE, &record), STATUS_OK);
	sa_set_groups(sa.server, configured, ARRAY_SIZE(configured));
	turn();
	group = registry_find(sa.registry, REGISTRY_GROUP, &key);
	CU_ASSERT_PTR_NOT_NULL_FATAL(group);
	CU_ASSERT_EQUAL(group->p_key, 0x8001);
	CU_ASSERT_EQUAL(members(), 0);
	/* Members of the partition stay, also when its group changes. */
	memcpy(record.mgid, default_group.mgid, GID_SIZE);
	CU_ASSERT_EQUAL(set(A, JOIN, &record), STATUS_OK);
	configured[0].q_key++;
	sa_set_groups(sa.server, configured, ARRAY_SIZE(configured));
	CU_ASSERT_EQUAL(members(), 1);
	end();
}

/* The expected memberships and groups, by the rules alone. */
enum { MODEL_HOSTS = 3, MODEL_GROUPS = 4, MODEL_STEPS = 20000 };
static struct {
	uint8_t state[MODEL_HOSTS]; /* 0: is no member */
	bool own[MODEL_HOSTS];
	bool there;
} model[MODEL_GROUPS];

static unsigned draw(unsigned below)
{
	static uint64_t state = 0x853C49E6748FEA9B;

	state = state * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(state >> 33) % below;
}

static bool model_keeps(unsigned group)
{
	for (unsigned host = 0; host < MODEL_HOSTS; host++)
		if (model[group].state[host] & (JOIN_FULL | JOIN_SEND_ONLY_FULL))
			return true;
	return false;
}

/* The group exists when it is joined as a full or a send-only full member (o15-0.1.9 and .14), and
 * a port's own join is its own affair (o15-0.2.1). */
static int model_join(unsigned group, unsigned host, bool own, uint8_t state)
{
	if (!state || (!model[group].there && !(state & (JOIN_FULL | JOIN_SEND_ONLY_FULL))) ||
	    (model[group].state[host] && model[group].own[host] && !own))
		return SA_REQ_INVALID;
	model[group].there = true;
	model[group].own[host] |= own;
	model[group].state[host] |= state;
	return STATUS_OK;
}

static int model_leave(unsigned group, unsigned host, bool own, uint8_t state)
{
	if (!state || state & ~model[group].state[host] || (model[group].own[host] && !own))
		return SA_REQ_INVALID;
	model[group].state[host] &= (uint8_t)~state;
	if (!model_keeps(group))
		memset(&model[group], 0, sizeof(model[group]));
	if (!model[group].state[host])
		model[group].own[host] = false;
	return STATUS_OK;
}

static void compare_with_model(void)
{
	unsigned number_of_groups = 1, number_of_members = 0;

	for (unsigned group = 0; group < MODEL_GROUPS; group++) {
		number_of_groups += model[group].there;
		for (unsigned host = 0; host < MODEL_HOSTS; host++) {
			struct member_entry key = {.port_prefix = options.subnet_prefix,
						   .port_guid = PORT_GUID(host)};
			const struct member_entry *member;

			set_mgid(key.mgid, group + 1);
			member = registry_find(sa.registry, REGISTRY_MEMBER, &key);
			number_of_members += model[group].state[host] != 0;
			CU_ASSERT_EQUAL(member ? member->join_state : 0, model[group].state[host]);
			if (member)
				CU_ASSERT_EQUAL(!member->proxy_join, model[group].own[host]);
		}
	}
	CU_ASSERT_EQUAL(groups(), number_of_groups);
	CU_ASSERT_EQUAL(members(), number_of_members);
}

/* Three ports join each other and themselves to groups, as everything, and leave them. */
static void test_states_by_model(void)
{
	begin();
	memset(model, 0, sizeof(model));
	for (unsigned step = 0; step < MODEL_STEPS; step++) {
		unsigned group = draw(MODEL_GROUPS), host = draw(MODEL_HOSTS);
		unsigned asks = draw(2) ? host : draw(MODEL_HOSTS);
		struct mc_member_record record = usual(host, group + 1);

		bool adds = draw(2), own = asks == host;
		int status;

		record.join_state = (uint8_t)draw(16);
		status = adds ? set(asks, CREATE | MTU_BITS | RATE_BITS, &record)
			      : leave(asks, &record);

		CU_ASSERT_EQUAL(status, adds ? model_join(group, host, own, record.join_state)
					     : model_leave(group, host, own, record.join_state));
		compare_with_model();
	}
	end();
}

/* A membership by an alias counts as the port's own. */
static void test_alias_limit(void)
{
	const struct alias_entry alias = {.port_guid = PORT_GUID(A), .index = 1, .guid = 0x8001};
	struct mc_member_record record = usual(A, 1);
	struct unit_capture capture;
	unsigned accepted = 0;
	char log[4096];

	begin();
	limit(options.registrations_per_port, UINT32_MAX);
	registry_put(sa.registry, REGISTRY_ALIAS, &alias);
	unit_capture_begin(&capture);
	for (unsigned i = 0; i < 2 * options.registrations_per_port; i++) {
		set_mgid(record.mgid, i + 1);
		set_gid(record.port_gid, options.subnet_prefix, i & 1 ? alias.guid : PORT_GUID(A));
		accepted += set(A, CREATE, &record) == STATUS_OK;
	}
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_EQUAL(accepted, options.registrations_per_port - 1); /* the alias is one, too */
	end();
}

/* A million joins from one port: it gets its limit of groups, and no more. */
static void test_million(void)
{
	enum { JOINS = 1000000 };
	struct mc_member_record record = usual(A, 1);
	struct unit_capture capture;
	unsigned accepted = 0;
	char log[4096];

	begin();
	limit(options.registrations_per_port, UINT32_MAX);
	unit_capture_begin(&capture);
	for (unsigned i = 0; i < JOINS; i++) {
		set_mgid(record.mgid, i + 1);
		accepted += set(A, CREATE, &record) == STATUS_OK;
	}
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_EQUAL(accepted, options.registrations_per_port);
	CU_ASSERT_EQUAL(members(), options.registrations_per_port);
	CU_ASSERT_EQUAL(groups(), options.registrations_per_port + 1);
	expect_over_limit(JOINS - options.registrations_per_port, 0, 0);
	CU_ASSERT_EQUAL(sa.header.status, SA_NO_RESOURCES);
	CU_ASSERT_PTR_NOT_NULL(strstr(log, "registrations_per_port"));
	CU_ASSERT_TRUE(strlen(log) < 2048); /* some lines, not a million */
	set_mgid(record.mgid, 1);
	record.join_state = JOIN_NON_MEMBER;
	CU_ASSERT_EQUAL(set(A, JOIN, &record), STATUS_OK);	 /* a membership may change */
	CU_ASSERT_EQUAL(join(C, 2000000, JOIN_FULL), STATUS_OK); /* other ports are not affected */
	CU_ASSERT_EQUAL(quit(A, 7, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(A, 2000001, JOIN_FULL), STATUS_OK);
	end();
}

/* Links, by the width and speed members of PortInfo, and their rates. Encodings and speeds of rates
 * are those of enum ibv_rate (rdma-core, libibverbs/verbs.h) and of ibv_rate_to_mbps(). Widths and
 * speeds are those of libibmad's mad_dump_linkwidth() and mad_dump_linkspeedext(). */
static const struct {
	uint8_t width, speed, speed_ext;
	uint8_t rate;
	unsigned mbps;
} links[] = {
	{1, 1, 0, 2, 2500},    {1, 2, 0, 5, 5000},    {2, 1, 0, 3, 10000},    {2, 2, 0, 6, 20000},
	{8, 1, 0, 4, 30000},   {2, 4, 0, 7, 40000},   {8, 2, 0, 8, 60000},    {4, 4, 0, 9, 80000},
	{8, 4, 0, 10, 120000}, {1, 4, 1, 11, 14062},  {2, 4, 1, 12, 56250},   {4, 4, 1, 13, 112500},
	{8, 4, 1, 14, 168750}, {1, 4, 2, 15, 25781},  {2, 4, 2, 16, 103125},  {4, 4, 2, 17, 206250},
	{8, 4, 2, 18, 309375}, {16, 4, 1, 19, 28125}, {1, 4, 4, 20, 53125},   {2, 4, 8, 21, 425000},
	{8, 4, 4, 22, 637500}, {4, 4, 8, 23, 850000}, {8, 4, 8, 24, 1275000},
};

/* A port joins a group exactly if its link carries the group's rate: all rates of links against all
 * rates of groups. */
static void test_rates(void)
{
	enum { A_PORT = 1 };

	for (size_t link = 0; link < ARRAY_SIZE(links); link++) {
		struct view *view;
		struct port_info *info;

		begin();
		view = two_switches_view();
		info = &((struct node_facts *)view->topology->ends[A].facts)->port[A_PORT].info;
		info->link_width_active = links[link].width;
		info->link_speed_active = links[link].speed;
		info->link_speed_ext_active = links[link].speed_ext;
		view_publish(&sa.view, view);
		for (size_t rate = 0; rate < ARRAY_SIZE(links); rate++) {
			struct mc_member_record record = usual(A, (uint32_t)rate + 1);
			struct group_entry group = {.mlid = (lid_t)(0xC100 + rate),
						    .p_key = 0xFFFF,
						    .mtu = MTU_2048,
						    .rate = links[rate].rate,
						    .scope = 2,
						    .permanent = 1};
			bool can = links[link].mbps >= links[rate].mbps;

			memcpy(group.mgid, record.mgid, GID_SIZE);
			registry_put(sa.registry, REGISTRY_GROUP, &group);
			CU_ASSERT_EQUAL(set(A, JOIN, &record), can ? STATUS_OK : SA_REQ_INVALID);
		}
		end();
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"for oneself after another port", test_own_join_after_proxy},
		{"the default SA_Key ends no membership", test_default_key},
		{"memberships for others count for the requester", test_proxies_count},
		{"groups count for their makers", test_groups_count},
		{"ports keep groups of others", test_groups_of_others},
		{"a group counts for a port that keeps it", test_heirs},
		{"the share of groups of others", test_share_of_heirs},
		{"groups of virtual functions", test_groups_of_functions},
		{"the share of MLIDs", test_share_of_mlids},
		{"MLIDs kept for partitions", test_kept_mlids},
		{"an MGID that a partition needs", test_taken_mgid},
		{"join states by a model", test_states_by_model},
		{"rates of all links", test_rates},
		{"a million joins", test_million},
		{"joins by an alias count", test_alias_limit},
		CU_TEST_INFO_NULL,
	};

	return unit_main("multicast_limits", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The P_Keys that each port should have: by the file and the run-time commands together, the
 * resulting groups, and the log lines about tables that are too small. A small fabric gives the
 * ports of managers and the aliases.
 */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include "tests/unit/fixtures/sm_world.h"

#include <string.h>

#include "formats/partitions.h"
#include "sim/spec.h"
#include "sm/partition/partitions.h"
#include "store/partition_state.h"
#include "store/setting.h"

enum { KEYS = 6, MEMBERS = 3, GUID = 0x77 };

static struct world *world;

static void say(pkey_t p_key, guid_t guid, uint8_t membership)
{
	const struct partition_member_entry member = {p_key, guid, membership};

	registry_put(world->registry, REGISTRY_PARTITION_MEMBER, &member);
}

static void make(pkey_t p_key, bool ipoib, bool index0)
{
	const struct partition_entry entry = {
		.p_key = p_key, .ipoib = ipoib, .index0 = index0, .mtu = 4, .rate = 3, .scope = 2};

	registry_put(world->registry, REGISTRY_PARTITION, &entry);
}

static void read_file(struct policy *policy, const char *text)
{
	struct partitions *partitions = NULL;
	char *error;

	if (!text) {
		policy_set_file(policy, PARTITIONS_NO_FILE, NULL);
		return;
	}
	if (partitions_parse("f", text, strlen(text), policy->options->allow_both, &partitions,
			     &error)) {
		free(error);
		policy_set_file(policy, PARTITIONS_BAD_FILE, NULL);
		return;
	}
	policy_set_file(policy, PARTITIONS_FILE, partitions);
}

static const struct {
	const char *what, *file; /* NULL: there is none */
	struct {
		pkey_t p_key;
		guid_t guid; /* 0: makes the partition */
		uint8_t membership;
	} run_time[MEMBERS];
	bool both, self;
	pkey_t keys[KEYS], index0;
} cases[] = {
	{"nothing at all", NULL, {{0}}, false, false, {0xFFFF}, 0},
	{"a partition at run time leaves the default one open",
	 NULL,
	 {{5, 0, 0}, {5, GUID, 2}},
	 false,
	 false,
	 {0xFFFF, 0x8005},
	 0},
	{"that of the default partition closes it",
	 NULL,
	 {{0x7FFF, 0, 0}},
	 false,
	 false,
	 {0x7FFF},
	 0},
	{"but for the manager", NULL, {{0x7FFF, 0, 0}}, false, true, {0xFFFF}, 0},
	{"and its named members",
	 NULL,
	 {{0x7FFF, 0, 0}, {0x7FFF, GUID, 2}},
	 false,
	 false,
	 {0xFFFF},
	 0},
	{"a member of the default partition, without more",
	 NULL,
	 {{0x7FFF, GUID, 1}},
	 false,
	 false,
	 {0x7FFF},
	 0},
	{"an empty file", "", {{0}}, false, false, {0x7FFF}, 0},
	{"an empty file, the manager", "", {{0}}, false, true, {0xFFFF}, 0},
	{"a bad file", "x", {{0}}, false, false, {0x7FFF}, 0},
	{"a bad file, the manager", "x", {{0}}, false, true, {0xFFFF}, 0},
	{"a bad file, and run time",
	 "x",
	 {{5, 0, 0}, {5, GUID, 2}},
	 false,
	 false,
	 {0x7FFF, 0x8005},
	 0},
	{"the later rule holds",
	 "a=1: ALL=full, 0x77=limited; b=2: 0x77=limited, ALL=full;",
	 {{0}},
	 false,
	 false,
	 {0x7FFF, 0x0001, 0x8002},
	 0},
	{"definitions of one partition are one",
	 "a=1: 0x77=limited; b=2: 0x77; a=1: 0x70-0x7f=full;",
	 {{0}},
	 false,
	 false,
	 {0x7FFF, 0x8001, 0x0002},
	 0},
	{"both add up",
	 "a=1: 0x77=limited, ALL=full;",
	 {{0}},
	 true,
	 false,
	 {0x7FFF, 0x8001, 0x0001},
	 0},
	{"run time holds", "a=1: 0x77=full;", {{1, GUID, 1}}, false, false, {0x7FFF, 0x0001}, 0},
	{"run time adds to the file",
	 "a=1: 0x78=full;",
	 {{1, GUID, 2}, {9, 0, 0}, {9, GUID, 1}},
	 false,
	 false,
	 {0x7FFF, 0x8001, 0x0009},
	 0},
	{"a member of a missing partition", "", {{4, GUID, 2}}, false, false, {0x7FFF}, 0},
	{"the manager always is in",
	 "Default=0x7fff: ALL=limited;",
	 {{0x7FFF, GUID, 1}},
	 false,
	 true,
	 {0xFFFF},
	 0},
	{"indx0", "a=1, indx0: 0x77;", {{0}}, false, false, {0x7FFF, 0x0001}, 1},
	{"types",
	 "a=1: ALL_SWITCHES=full; b=2: ALL_CAS=full; c=3: SELF=full;",
	 {{0}},
	 false,
	 false,
	 {0x7FFF, 0x8002},
	 0},
};

static void test_keys(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct policy *policy;
		struct port_keys keys;
		unsigned count = 0;
		bool good;

		world = sm_world_new(net_tree2(1, 3, 1, 1), 2, 1, NULL);
		policy = &world->sm->policy;
		world->sm->options.allow_both = cases[i].both;
		read_file(policy, cases[i].file);
		for (unsigned m = 0; m < MEMBERS && cases[i].run_time[m].p_key; m++) {
			if (cases[i].run_time[m].guid)
				say(cases[i].run_time[m].p_key, cases[i].run_time[m].guid,
				    cases[i].run_time[m].membership);
			else
				make(cases[i].run_time[m].p_key, false, false);
		}
		while (count < KEYS && cases[i].keys[count])
			count++;
		keys = policy_keys(policy, policy->file, GUID, NODE_CA, cases[i].self);
		good = keys.count == count && keys.index0 == cases[i].index0 &&
		       !memcmp(keys.key, cases[i].keys, count * sizeof(*keys.key));
		CU_ASSERT_TRUE(good);
		if (!good)
			printf("    %s\n", cases[i].what);
		sm_world_free(world);
	}
}

/* A port with a granted alias has the memberships of both GUIDs. */
static void test_aliases(void)
{
	const struct alias_entry alias = {
		.port_guid = GUID, .index = 1, .guid = 0xA1, .granted = ALIAS_BY_ADMINISTRATOR};
	struct policy *policy;
	struct port_keys keys;

	world = sm_world_new(net_tree2(1, 3, 1, 1), 2, 1, NULL);
	policy = &world->sm->policy;
	read_file(policy, "a=1: 0xa1=full; b=2: 0x77=full; c=3: 0xa1=full, 0x77=limited;");
	keys = policy_keys(policy, policy->file, GUID, NODE_CA, false);
	CU_ASSERT_EQUAL(keys.count, 3);
	registry_put(world->registry, REGISTRY_ALIAS, &alias);
	say(2, 0xA1, MEMBERSHIP_LIMITED);
	keys = policy_keys(policy, policy->file, GUID, NODE_CA, false);
	CU_ASSERT_EQUAL_FATAL(keys.count, 4);
	CU_ASSERT_EQUAL(keys.key[1], 0x8001);
	CU_ASSERT_EQUAL(keys.key[2], 0x8002);
	CU_ASSERT_EQUAL(keys.key[3], 0x8003); /* both is not allowed: the wider membership */
	CU_ASSERT_EQUAL(policy_owner(policy, 0xA1), GUID);
	sm_world_free(world);
}

/* An alias gives P_Keys by any grant, and none without one: it is then no GUID of its port. */
static void test_grants(void)
{
	static const struct {
		uint8_t granted;
		struct alias_range list;
		bool counts;
	} grants[] = {
		{ALIAS_NOT_GRANTED, {0}, false},
		{ALIAS_BY_ADMINISTRATOR, {0}, true},
		{ALIAS_BY_SA_KEY, {0}, true},
		{ALIAS_NOT_GRANTED, {GUID, GUID, 0xA1, 0xA1}, true},
		{ALIAS_NOT_GRANTED, {GUID - 1, GUID + 1, 0xA0, 0xA2}, true},
		{ALIAS_NOT_GRANTED, {GUID, GUID, 0xA2, 0xA3}, false},
		{ALIAS_NOT_GRANTED, {GUID, GUID, 0x9F, 0xA0}, false},
		{ALIAS_NOT_GRANTED, {GUID + 1, GUID + 2, 0xA1, 0xA1}, false},
		{ALIAS_NOT_GRANTED, {GUID - 2, GUID - 1, 0xA1, 0xA1}, false},
	};
	struct policy *policy;

	world = sm_world_new(net_tree2(1, 3, 1, 1), 2, 1, NULL);
	policy = &world->sm->policy;
	read_file(policy, "a=1: 0xa1=full; b=2: 0xa0-0xa2=limited;");
	say(3, 0xA1, MEMBERSHIP_FULL);
	make(3, false, false);
	for (size_t i = 0; i < ARRAY_SIZE(grants); i++) {
		const struct alias_entry alias = {
			.port_guid = GUID, .index = 1, .guid = 0xA1, .granted = grants[i].granted};
		struct port_keys keys;

		world->sm->options.alias_guids[0] = grants[i].list;
		registry_put(world->registry, REGISTRY_ALIAS, &alias);
		keys = policy_keys(policy, policy->file, GUID, NODE_CA, false);
		CU_ASSERT_EQUAL_FATAL(keys.count, grants[i].counts ? 4 : 1);
		CU_ASSERT_EQUAL(keys.key[0], 0x7FFF);
		CU_ASSERT_TRUE(!grants[i].counts || keys.key[1] == 0x8001);
		CU_ASSERT_TRUE(!grants[i].counts || keys.key[2] == 0x0002);
		CU_ASSERT_TRUE(!grants[i].counts || keys.key[3] == 0x8003);
		CU_ASSERT_EQUAL(policy_owner(policy, 0xA1), grants[i].counts ? GUID : 0xA1);
		CU_ASSERT_EQUAL(sm_wants_key(world->sm, GUID, 0x8001), grants[i].counts);
	}
	sm_world_free(world);
}

/* Evidence for or against an alias: first the list, then present ports and nodes, remembered ports,
 * and the GUIDs that partitions name. */
static void test_claims(void)
{
	const struct lid_entry away = {.guid = 0xAAAA, .lid = 77};
	static const struct {
		guid_t guid;
		enum alias_claim claim;
	} claims[] = {
		{0x1234, ALIAS_UNCLAIMED}, {0xAAAA, ALIAS_CLAIMED}, {0xA1, ALIAS_CLAIMED},
		{0xA3, ALIAS_CLAIMED},	   {0xA5, ALIAS_CLAIMED},   {0xA6, ALIAS_UNCLAIMED},
		{0xB0, ALIAS_CLAIMED},	   {0xC0, ALIAS_LISTED},    {0xC1, ALIAS_LISTED},
		{0xC2, ALIAS_UNCLAIMED},
	};
	const struct port *own;

	world = sm_world_new(net_tree2(1, 3, 1, 1), 2, 1, NULL);
	sm_world_up(world);
	read_file(&world->sm->policy, "a=1: 0xa1=full, 0xa3-0xa5=full, 0xc1=full, ALL=limited;");
	say(3, 0xB0, MEMBERSHIP_FULL);
	registry_put(world->registry, REGISTRY_LID, &away);
	world->sm->options.alias_guids[0] = (struct alias_range){GUID, GUID, 0xC0, 0xC1};
	for (size_t i = 0; i < ARRAY_SIZE(claims); i++)
		CU_ASSERT_EQUAL(sm_alias_claim(world->sm, GUID, claims[i].guid), claims[i].claim);
	own = world->sm->fabric->sm_port;
	CU_ASSERT_EQUAL(sm_alias_claim(world->sm, GUID, port_facts(own)->guid), ALIAS_CLAIMED);
	CU_ASSERT_EQUAL(sm_alias_claim(world->sm, GUID, own->node->guid), ALIAS_CLAIMED);
	sm_world_free(world);
}

/* Two limited members do not communicate. A port that is not named is a limited member. */
static void test_share_default(void)
{
	struct policy *policy;

	world = sm_world_new(net_tree2(1, 3, 1, 1), 2, 1, NULL);
	policy = &world->sm->policy;
	CU_ASSERT_TRUE(policy_share_default(policy, 0x71, 0x72)); /* without partitions */
	read_file(policy, "Default=0x7fff: 0x71=limited, 0x72=limited, 0x73=full; a=1: 0x74=full;");
	CU_ASSERT_FALSE(policy_share_default(policy, 0x71, 0x72));
	CU_ASSERT_TRUE(policy_share_default(policy, 0x71, 0x71));
	CU_ASSERT_TRUE(policy_share_default(policy, 0x71, 0x73));
	CU_ASSERT_TRUE(policy_share_default(policy, 0x73, 0x72));
	CU_ASSERT_TRUE(policy_share_default(policy, 0x73, 0x74));
	CU_ASSERT_FALSE(policy_share_default(policy, 0x71, 0x74));
	sm_world_free(world);
}

/* A change counts before any port, or the view, has it. While a document is half applied, keys that
 * the whole document may give are not denied. */
static void test_wants(void)
{
	const struct partition_member_entry member = {.p_key = 5, .guid = GUID};
	struct policy *policy;

	world = sm_world_new(net_tree2(1, 3, 1, 1), 2, 1, NULL);
	policy = &world->sm->policy;
	CU_ASSERT_TRUE(sm_wants_key(world->sm, GUID, 0xFFFF));
	CU_ASSERT_TRUE(sm_wants_key(world->sm, GUID, 0x7FFF));
	CU_ASSERT_FALSE(sm_wants_key(world->sm, GUID, 0x8005));
	make(5, false, false);
	say(5, GUID, MEMBERSHIP_LIMITED);
	CU_ASSERT_TRUE(policy_is_judging(policy));
	CU_ASSERT_TRUE(sm_wants_key(world->sm, GUID, 0x8005));
	CU_ASSERT_FALSE(sm_wants_key(world->sm, GUID + 1, 0x8005));
	registry_drop(world->registry, REGISTRY_PARTITION_MEMBER, &member);
	CU_ASSERT_FALSE(sm_wants_key(world->sm, GUID, 0x8005));
	registry_together(world->registry, true);
	CU_ASSERT_TRUE(sm_wants_key(world->sm, GUID, 0x8005));
	registry_together(world->registry, false);
	CU_ASSERT_FALSE(sm_wants_key(world->sm, GUID, 0x8005));
	read_file(policy, "a=6: 0x77=full;");
	CU_ASSERT_TRUE(sm_wants_key(world->sm, GUID, 0x0006));
	read_file(policy, "a=6: 0x78=full;");
	CU_ASSERT_FALSE(sm_wants_key(world->sm, GUID, 0x0006));
	sm_world_free(world);
}

static const struct setting_entry mark_key = {.name = "partition_file"};

static bool is_marked(const struct world *at)
{
	return registry_find(at->registry, REGISTRY_SETTING, &mark_key);
}

static bool is_not_marked(const struct world *at)
{
	return !is_marked(at);
}

static bool is_kept(const struct world *at)
{
	return at->sm->policy.source == PARTITIONS_KEPT_FILE;
}

static bool is_frozen(const struct world *at)
{
	return policy_is_frozen(&at->sm->policy);
}

static bool is_open(const struct world *at)
{
	return !policy_is_closed(&at->sm->policy);
}

/* The keys that the policy has for a port that was never seen. */
static bool has_keys(struct policy *policy, pkey_t first, pkey_t second)
{
	struct port_keys keys = policy_guid_keys(policy, GUID);

	return keys.key[0] == first && keys.count == (second ? 2 : 1) &&
	       (!second || keys.key[1] == second);
}

/* A file that was in force stays so when it is bad or missing, also in a later life, until the
 * configuration says that there is to be none. Without its text nothing is opened. */
static void test_kept_file(void)
{
	static const enum partition_source sources[] = {PARTITIONS_BAD_FILE, PARTITIONS_NO_FILE};
	static const char file[] = "Default=0x7fff, ipoib: ALL=limited; a=1: 0x77=full;\n# end";
	struct policy *policy;
	const char *remedy;
	char *problem, *alone;

	world = sm_world_new(net_tree2(1, 3, 1, 1), 2, 1, NULL);
	log_set_level(NULL, LOG_EMERG);
	policy = &world->sm->policy;
	policy_set_file(policy, PARTITIONS_NO_FILE, NULL);
	CU_ASSERT_TRUE(is_open(world));
	CU_ASSERT_TRUE(has_keys(policy, 0xFFFF, 0));
	read_file(policy, file);
	CU_ASSERT_FALSE(is_marked(world)); /* a standby has put nothing in force */
	sm_world_up(world);
	sm_world_run(world, is_marked);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		policy_set_problem(policy, "f:1: why");
		policy_set_file(policy, sources[i], NULL);
		CU_ASSERT_TRUE(is_kept(world));
		CU_ASSERT_FALSE(is_frozen(world));
		CU_ASSERT_TRUE(has_keys(policy, 0x7FFF, 0x8001));
		problem = policy_problem(policy);
		CU_ASSERT_PTR_NOT_NULL_FATAL(problem);
		CU_ASSERT_PTR_NOT_NULL(strstr(problem, i ? "f: the partition file that was in force"
							 : "f:1: why; the last good file, of "));
		alone = policy_problem_alone(policy, &remedy);
		CU_ASSERT_EQUAL(strncmp(problem, alone, strlen(alone)), 0);
		CU_ASSERT_EQUAL(strlen(problem), strlen(alone) + strlen(": ") + strlen(remedy));
		CU_ASSERT_PTR_NULL(strstr(alone, "config reload"));
		free(alone);
		free(problem);
	}
	policy_set_file(policy, PARTITIONS_UNWANTED, NULL);
	CU_ASSERT_TRUE(is_open(world));
	sm_world_run(world, is_not_marked);
	CU_ASSERT_EQUAL(registry_count(world->registry, REGISTRY_PARTITION_TEXT), 0);
	policy_set_file(policy, PARTITIONS_NO_FILE, NULL);
	CU_ASSERT_TRUE(is_open(world));
	CU_ASSERT_PTR_NULL(policy_problem(policy));
	/* A restored document, or a store that is opened late, names a file whose text is not
	 * there. */
	registry_put(world->registry, REGISTRY_SETTING, &mark_key);
	sm_world_run(world, is_frozen);
	CU_ASSERT_TRUE(has_keys(policy, 0x7FFF, 0));
	registry_drop(world->registry, REGISTRY_SETTING, &mark_key);
	sm_world_run(world, is_open);
	CU_ASSERT_TRUE(is_open(world));
	sm_world_free(world);
}

/* Texts of all sizes come back; those that are not whole do not. */
static void test_kept_text(void)
{
	static const size_t sizes[] = {0, 1, 479, 480, 481, 5000};
	struct partitions partitions = {.name = (char *)"/etc/weft/f"}, *kept;
	struct partition_text_entry piece = {.number = 0}, missing = {.number = 3};
	struct registry *registry = registry_new();
	char text[5001], when[KEPT_WHEN_SIZE];

	for (size_t i = 0; i < 2 * ARRAY_SIZE(sizes); i++) { /* longer, then shorter */
		size_t n = i < ARRAY_SIZE(sizes) ? i : 2 * ARRAY_SIZE(sizes) - 1 - i;

		memset(text, '#', sizeof(text));
		text[0] = '\n';
		partitions.text = text;
		partitions.length = sizes[n];
		partition_kept_put(registry, &partitions, 1000000000);
		CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_PARTITION_TEXT),
				(sizes[n] + PARTITION_TEXT_SIZE - 1) / PARTITION_TEXT_SIZE);
		kept = partition_kept_get(registry, false, when);
		CU_ASSERT_PTR_NOT_NULL_FATAL(kept);
		CU_ASSERT_EQUAL(kept->length, sizes[n]);
		CU_ASSERT_EQUAL(memcmp(kept->text, text, sizes[n]), 0);
		CU_ASSERT_STRING_EQUAL(kept->name, "/etc/weft/f");
		CU_ASSERT_EQUAL(strncmp(when, "2001-09-", 8), 0);
		partitions_free(kept);
	}
	partitions.length = 5000;
	partition_kept_put(registry, &partitions, 1000000000);
	registry_drop(registry, REGISTRY_PARTITION_TEXT, &missing);
	CU_ASSERT_PTR_NULL(partition_kept_get(registry, false, when));
	partition_kept_put(registry, &partitions, 1000000000);
	piece = *(const struct partition_text_entry *)registry_find(
		registry, REGISTRY_PARTITION_TEXT, &piece);
	piece.text[7] = '\n';
	registry_put(registry, REGISTRY_PARTITION_TEXT, &piece);
	CU_ASSERT_PTR_NULL(partition_kept_get(registry, false, when));
	partition_kept_clear(registry);
	CU_ASSERT_PTR_NULL(partition_kept_get(registry, false, when));
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_SETTING), 0);
	registry_free(registry);
}

static bool is_judged(const struct world *at)
{
	return !policy_is_judging(&at->sm->policy);
}

/* Whether this is logged when this file is read. */
static bool reading_logs(struct policy *policy, const char *file, const char *words)
{
	static char text[4096];
	struct unit_capture capture;

	log_set_level(NULL, LOG_NOTICE);
	unit_capture_begin(&capture);
	read_file(policy, file);
	sm_world_run(world, is_judged);
	unit_capture_end(&capture, text, sizeof(text));
	log_set_level(NULL, LOG_CRIT);
	return strstr(text, words);
}

/* A standby compares its file with the digest of the master's file, and logs each difference once.
 */
static void test_other_file_than_the_master(void)
{
	static const char *const files[] = {"a=1:ALL;", "b=2:ALL;\na=1:ALL;", NULL, "x"};
	struct policy *policy;
	char master[SETTING_VALUE_SIZE];

	world = sm_world_new(net_tree2(1, 3, 1, 1), 2, 1, NULL);
	policy = &world->sm->policy;
	read_file(policy, "a=1:ALL; b=2:ALL;");
	CU_ASSERT_TRUE(sm_world_up(world)); /* as a MASTER it publishes the digest of its file */
	sm_world_run(world, is_judged);
	CU_ASSERT_PTR_NOT_NULL_FATAL(setting_get(world->registry, "partition digest"));
	strcpy(master, setting_get(world->registry, "partition digest"));
	CU_ASSERT_FALSE(policy_is_unlike(policy));
	policy_set_live(policy, false);
	registry_follow(world->registry, true);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		bool same = i > 0; /* without a valid file the master's last good file counts */

		CU_ASSERT_EQUAL(reading_logs(policy, files[i], "differs from the master"), i == 0);
		CU_ASSERT_EQUAL(policy_is_unlike(policy), !same);
		CU_ASSERT_STRING_EQUAL(setting_get(world->registry, "partition digest"), master);
	}
	/* The master's file differs and is invalid. */
	setting_put(world->registry, "partition digest", "0x0000000000000000");
	partition_kept_clear(world->registry);
	CU_ASSERT_FALSE(reading_logs(policy, "", "is now equal to the master's"));
	CU_ASSERT_TRUE(reading_logs(policy, NULL, "is now equal to the master's"));
	setting_put(world->registry, "partition digest", NULL); /* no digest: an earlier version */
	CU_ASSERT_FALSE(reading_logs(policy, "a=1:ALL;", "differs from the master"));
	setting_put(world->registry, "partition digest", master);
	CU_ASSERT_TRUE(reading_logs(policy, "a=1:ALL;", "differs from the master"));
	registry_follow(world->registry, false); /* it is MASTER now */
	CU_ASSERT_FALSE(policy_is_unlike(policy));
	sm_world_free(world);
}

static void test_groups(void)
{
	static const struct {
		const char *file;
		size_t count;
		pkey_t p_key;
	} rows[] = {
		{NULL, 2, 0xFFFF},
		{"", 1, 0x8005},
		{"x", 1, 0x8005},
		{"Default=0x7fff, ipoib: ALL=full;", 2, 0xFFFF},
		{"a=1, ipoib, scope=2, scope=5: ALL;", 3, 0x8001},
		{"a=1:\nmgid=ff12:401b::707, Q_Key=0x11\n;", 2, 0x8001},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct group_entry *groups;
		size_t count;

		world = sm_world_new(net_tree2(1, 3, 1, 1), 2, 1, NULL);
		read_file(&world->sm->policy, rows[i].file);
		make(5, true, false);
		count = policy_groups(&world->sm->policy, &groups);
		CU_ASSERT_EQUAL(count, rows[i].count);
		CU_ASSERT_EQUAL(groups[0].p_key, rows[i].p_key);
		CU_ASSERT_EQUAL(groups[0].permanent, 1);
		CU_ASSERT_EQUAL(groups[count - 1].p_key, 0x8005);
		CU_ASSERT_EQUAL(groups[count - 1].q_key, 0x0B1B);
		free(groups);
		sm_world_free(world);
	}
}

/* A later file defines a partition that was made at run time (5, with scope 2 and an MTU of 4). */
static void test_both_define(void)
{
	static const struct {
		const char *file;
		uint8_t mtu[2], scope[2]; /* of the groups; 0: none */
	} rows[] = {
		{"", {4}, {2}},
		{"a=5: 0x77=limited;", {4}, {2}},
		{"a=5, ipoib, mtu=5: 0x78;", {5}, {2}},
		{"a=5, ipoib, mtu=5, scope=2, scope=5: ALL;", {5, 5}, {2, 5}},
		{"a=5, ipoib, mtu=5, scope=5: ALL;", {5, 4}, {5, 2}},
		{"a=5:\nmgid=ff12:401b::ffff:ffff, Q_Key=7\n;", {4}, {2}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct group_entry *groups;
		struct policy *policy;
		struct port_keys keys;
		size_t count;

		world = sm_world_new(net_tree2(1, 3, 1, 1), 2, 1, NULL);
		policy = &world->sm->policy;
		make(5, true, true);
		say(5, GUID, MEMBERSHIP_FULL);
		read_file(policy, rows[i].file);
		count = policy_groups(policy, &groups);
		CU_ASSERT_EQUAL_FATAL(count, 1u + !!rows[i].mtu[1]);
		for (size_t g = 0; g < count; g++) {
			CU_ASSERT_EQUAL(groups[g].mtu, rows[i].mtu[g]);
			CU_ASSERT_EQUAL(groups[g].scope, rows[i].scope[g]);
			CU_ASSERT_EQUAL(groups[g].p_key, 0x8005);
		}
		/* Members and indx0 add up, independent of other lines of the file. */
		keys = policy_keys(policy, policy->file, GUID, NODE_CA, false);
		CU_ASSERT_EQUAL_FATAL(keys.count, 2);
		CU_ASSERT_EQUAL(keys.key[1], 0x8005);
		CU_ASSERT_EQUAL(keys.index0, 5);
		free(groups);
		sm_world_free(world);
	}
}

/* Tables that are too small */

static void begin_single(void)
{
	struct net *net;
	char *error;

	CU_ASSERT_EQUAL_FATAL(spec_build("single:hosts=3", &net, &error), 0);
	world = sm_world_new(net, net_find(net, "host-0001"), 1, NULL);
}

static guid_t port_guid(const char *host)
{
	const struct node *node =
		fabric_find_node(world->sm->fabric, sm_world_node(world, host)->info.node_guid);

	return port_facts(&node->port[1])->guid;
}

static bool is_written(const struct world *at)
{
	struct policy *policy = &at->sm->policy;
	const struct port *port = policy_port(policy, port_guid("host-0002"));

	return !policy_is_judging(policy) && port->partition.good == policy->state &&
	       !port->partition.busy && !port->peer->partition.busy;
}

/* The partitions are unknown: ports that are up keep their keys until an administrator decides. */
static void test_frozen(void)
{
	struct policy *policy;
	struct fake_port *two;

	begin_single();
	log_set_level(NULL, LOG_EMERG);
	policy = &world->sm->policy;
	two = &sm_world_node(world, "host-0002")->port[1];
	make(0x7FFF, true, false);
	make(5, true, false);
	CU_ASSERT_TRUE(sm_world_up(world));
	say(5, port_guid("host-0002"), MEMBERSHIP_FULL);
	sm_world_run(world, is_written);
	CU_ASSERT_EQUAL(two->p_key[1], 0x8005);
	partition_state_put(world->registry, PARTITIONS_LOST, "then", "a test");
	CU_ASSERT_TRUE(policy_is_frozen(policy)); /* at once */
	CU_ASSERT_TRUE(policy_is_closed(policy));
	sm_world_run(world, is_judged);
	registry_drop(world->registry, REGISTRY_PARTITION_MEMBER,
		      &(struct partition_member_entry){.p_key = 5, .guid = port_guid("host-0002")});
	registry_drop(world->registry, REGISTRY_PARTITION,
		      &(struct partition_entry){.p_key = 0x7FFF});
	say(5, port_guid("host-0003"), MEMBERSHIP_FULL);
	sm_world_run(world, is_judged);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(two->p_key[0], 0x7FFF);
	CU_ASSERT_EQUAL(two->p_key[1], 0x8005);
	CU_ASSERT_EQUAL(sm_world_node(world, "host-0003")->port[1].p_key[1], 0);
	CU_ASSERT_TRUE(policy_wants(policy, port_guid("host-0002"), 0x8005));
	CU_ASSERT_EQUAL(policy_guid_keys(policy, 0x99).key[0], 0x7FFF); /* a new port */
	policy_accept(policy);
	CU_ASSERT_FALSE(policy_is_frozen(policy));
	sm_world_run(world, is_judged);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(two->p_key[1], 0);
	CU_ASSERT_EQUAL(sm_world_node(world, "host-0003")->port[1].p_key[1], 0x8005);
	sm_world_free(world);
}

/* The lines that are logged until the tables of the port and of the switch port before it are
 * written. */
static void logged(char *text, size_t size)
{
	struct unit_capture capture;

	log_set_level(NULL, LOG_WARNING);
	unit_capture_begin(&capture);
	sm_world_run(world, is_written);
	unit_capture_end(&capture, text, size);
	log_set_level(NULL, LOG_CRIT);
}

static void expect_full(const char *what, const char *room)
{
	char text[2048], line[512];

	snprintf(line, sizeof(line), "%s no room for %s", what, room);
	logged(text, sizeof(text));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, line));
	if (!strstr(text, line))
		printf("    %s: %s\n", line, text);
}

static void expect_silence(void)
{
	char text[2048];

	logged(text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "");
}

/* The line names the port, the size of its table and the keys without a place. It comes once, and
 * again if these keys change. Keys in the table are never removed to make room. */
static void test_full(void)
{
	static const char what[] = "\"host-0002\" port 1: its P_Key table of 3 has";
	struct fake_node *host;
	guid_t guid;

	begin_single();
	host = sm_world_node(world, "host-0002");
	host->info.partition_cap = 3;
	sm_world_up(world);
	guid = port_guid("host-0002");
	for (pkey_t p_key = 5; p_key <= 9; p_key++)
		make(p_key, false, false);
	say(8, guid, MEMBERSHIP_FULL);
	say(9, guid, MEMBERSHIP_LIMITED);
	expect_silence();
	say(5, guid, MEMBERSHIP_FULL);
	say(6, guid, MEMBERSHIP_LIMITED);
	expect_full(what, "0x8005, 0x0006: ");
	say(7, port_guid("host-0003"), MEMBERSHIP_FULL); /* of another port: nothing new */
	policy_options_changed(&world->sm->policy);
	expect_silence();
	say(7, guid, MEMBERSHIP_FULL);
	expect_full(what, "0x8005, 0x0006, 0x8007: ");
	CU_ASSERT_EQUAL(host->port[1].p_key[0], 0xFFFF);
	CU_ASSERT_EQUAL(host->port[1].p_key[1], 0x8008);
	CU_ASSERT_EQUAL(host->port[1].p_key[2], 0x0009);
	say(8, guid, MEMBERSHIP_NONE);
	expect_full(what, "0x0006, 0x8007: ");
	CU_ASSERT_EQUAL(host->port[1].p_key[1], 0x8005);
	sm_world_free(world);
}

/* A switch that cannot hold all of them enforces nothing there, and says so. */
static void test_full_front(void)
{
	struct fake_node *leaf;
	char what[256];
	guid_t guid;

	begin_single();
	leaf = sm_world_node(world, "host-0002")->port[1].peer->node;
	leaf->sw.partition_enforcement_cap = 2;
	leaf->sw.inbound_enforcement_cap = leaf->sw.outbound_enforcement_cap = 1;
	sm_world_up(world);
	guid = port_guid("host-0002");
	snprintf(what, sizeof(what),
		 "\"%s\" port %u does not enforce partitions: its P_Key table of 2 has",
		 leaf->description, sm_world_node(world, "host-0002")->port[1].peer->num);
	for (pkey_t p_key = 5; p_key <= 7; p_key++) {
		make(p_key, false, false);
		say(p_key, guid, MEMBERSHIP_FULL);
	}
	expect_full(what, "0x8006, 0x8007 of its peer \"host-0002\" port 1 (");
	CU_ASSERT_EQUAL(sm_world_node(world, "host-0002")->port[1].p_key[3], 0x8007);
	sm_world_free(world);
}

/* The direction of enforcement at a port: as configured, if its switch supports it. */
static void test_enforcement(void)
{
	static const struct {
		enum part_enforce configured;
		bool able_in, able_out, in, out;
	} ways[] = {
		{ENFORCE_BOTH, true, true, true, true},	  {ENFORCE_IN, true, true, true, false},
		{ENFORCE_OUT, true, true, false, true},	  {ENFORCE_OFF, true, true, false, false},
		{ENFORCE_BOTH, true, false, true, false}, {ENFORCE_BOTH, false, true, false, true},
		{ENFORCE_IN, false, true, false, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct fake_port *front;

		begin_single();
		front = sm_world_node(world, "host-0002")->port[1].peer;
		front->node->sw.partition_enforcement_cap = 8;
		front->node->sw.inbound_enforcement_cap = ways[i].able_in;
		front->node->sw.outbound_enforcement_cap = ways[i].able_out;
		world->sm->options.part_enforce = ways[i].configured;
		sm_world_up(world);
		CU_ASSERT_EQUAL(front->info.partition_enforcement_inbound, 0);
		CU_ASSERT_EQUAL(front->info.partition_enforcement_outbound, 0);
		make(5, false, false);
		say(5, port_guid("host-0002"), MEMBERSHIP_FULL);
		CU_ASSERT_TRUE(sm_world_run(world, is_written));
		CU_ASSERT_EQUAL(front->info.partition_enforcement_inbound, ways[i].in);
		CU_ASSERT_EQUAL(front->info.partition_enforcement_outbound, ways[i].out);
		sm_world_free(world);
	}
}

/* P_Keys of another manager */

static unsigned key_sets, untold_key_sets;

static void count_key_sets(void *ctx, const struct fake_set *set)
{
	const struct world *at = ctx;

	if (set->attr_id == ATTR_PKEY_TABLE) {
		key_sets++;
		untold_key_sets += !at->sm->unmanaged_pkeys.told;
	}
	sm_world_before_set(ctx, set);
}

/* This manager takes over a fabric in which two hosts hold no keys, or 5 and 6, and 5 and the
 * default partition as a limited member. Returns the log up to the end of the first bring-up.
 * former: the file that was in force by the store; now no file is configured. */
static void come_to(const char *file, const char *former, bool run_time, bool foreign, char *text,
		    size_t size)
{
	struct unit_capture capture;
	struct fake_port *two, *three;

	begin_single();
	world->fake->before_set = count_key_sets;
	key_sets = untold_key_sets = 0;
	two = &sm_world_node(world, "host-0002")->port[1];
	three = &sm_world_node(world, "host-0003")->port[1];
	if (foreign) {
		two->p_key[1] = 0x8005;
		two->p_key[3] = 0x0006;
		three->p_key[0] = 0x7FFF;
		three->p_key[1] = 0x8005;
	}
	read_file(&world->sm->policy, file);
	if (former) {
		setting_put(world->registry, (const char *)mark_key.name, former);
		policy_set_file(&world->sm->policy, PARTITIONS_UNWANTED, NULL);
	}
	if (run_time)
		make(7, false, false);
	log_set_level(NULL, LOG_WARNING);
	unit_capture_begin(&capture);
	sm_world_up(world);
	sm_world_run(world, is_written);
	unit_capture_end(&capture, text, size);
	log_set_level(NULL, LOG_CRIT);
	CU_ASSERT_EQUAL(two->p_key[0] & PKEY_DEFAULT_LIMITED, PKEY_DEFAULT_LIMITED);
	CU_ASSERT_EQUAL(two->p_key[1], 0);
	CU_ASSERT_EQUAL(two->p_key[3], 0);
}

static bool is_logged(const char *text)
{
	return strstr(text, "P_Keys that this configuration does not contain");
}

/* A manager without any definition of partitions logs once which keys it will remove, before it
 * does so. A manager with a definition applies it. */
static void test_foreign(void)
{
	char text[2048];

	come_to(NULL, NULL, false, true, text, sizeof(text));
	CU_ASSERT_PTR_NOT_NULL_FATAL(strstr(text,
					    "2 ports hold P_Keys that this "
					    "configuration does not contain, 3 different keys"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "(\"host-0002\" port 1: 0x8005, 0x0006)"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "use the partitions.conf"));
	CU_ASSERT_PTR_EQUAL(strstr(strstr(text, "REMOVES THESE") + 1, "REMOVES THESE"), NULL);
	CU_ASSERT_EQUAL(world->sm->unmanaged_pkeys.ports, 2);
	CU_ASSERT_EQUAL(world->sm->unmanaged_pkeys.keys, 3);
	CU_ASSERT_EQUAL(key_sets, 2);
	CU_ASSERT_EQUAL(untold_key_sets, 0);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT_EQUAL(world->sm->unmanaged_pkeys.ports, 2); /* status goes on saying it */
	CU_ASSERT_EQUAL(key_sets, 2);
	sm_world_free(world);

	come_to(NULL, "/etc/weft/old.conf", false, true, text, sizeof(text));
	CU_ASSERT_TRUE(is_logged(text));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "in force here, /etc/weft/old.conf"));
	CU_ASSERT_PTR_NULL(strstr(text, "use the partitions.conf"));
	CU_ASSERT_EQUAL(key_sets, 2);
	sm_world_free(world);

	come_to(NULL, NULL, false, false, text, sizeof(text));
	CU_ASSERT_FALSE(is_logged(text));
	CU_ASSERT_EQUAL(world->sm->unmanaged_pkeys.ports, 0);
	CU_ASSERT_EQUAL(key_sets, 0);
	sm_world_free(world);

	come_to("Default=0x7fff: ALL=full;", NULL, false, true, text, sizeof(text));
	CU_ASSERT_FALSE(is_logged(text));
	sm_world_free(world);

	come_to(NULL, NULL, true, true, text, sizeof(text));
	CU_ASSERT_FALSE(is_logged(text));
	sm_world_free(world);
}

/* The state of partitions as the store has it: its text is on disks and never changes. */
static void test_state_on_disk(void)
{
	static const struct {
		const char *text;
		enum partition_state state;
	} rows[] = {
		{"lost since 2026-01-02 03:04:05 UTC: the files are damaged", PARTITIONS_LOST},
		{"unread since 2026-01-02 03:04:05 UTC: no access", PARTITIONS_UNREAD},
		{"", PARTITIONS_LOST}, /* nothing is opened by a text that is not understood */
		{"complete", PARTITIONS_LOST},
		{NULL, PARTITIONS_COMPLETE},
	};
	struct registry *registry = registry_new();
	struct setting_entry entry = {.name = "partition state"};
	char why[200];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		setting_put(registry, "partition state", rows[i].text);
		CU_ASSERT_EQUAL(partition_state(registry), rows[i].state);
	}
	partition_state_put(registry, PARTITIONS_LOST, "then", "a test");
	CU_ASSERT_STRING_EQUAL(setting_get(registry, "partition state"), "lost since then: a test");
	partition_state_put(registry, PARTITIONS_UNREAD, "then", "a test");
	CU_ASSERT_STRING_EQUAL(setting_get(registry, "partition state"),
			       "unread since then: a test");
	CU_ASSERT_STRING_EQUAL(partition_state_text(registry), "unread since then: a test");
	memset(why, 'x', sizeof(why) - 1);
	why[sizeof(why) - 1] = '\0';
	partition_state_put(registry, PARTITIONS_LOST, "then", why);
	CU_ASSERT_EQUAL(strlen(partition_state_text(registry)), strlen("lost since then: ") + 120);
	partition_state_put(registry, PARTITIONS_COMPLETE, NULL, NULL);
	CU_ASSERT_PTR_NULL(setting_get(registry, "partition state"));
	CU_ASSERT_TRUE(is_partition_state(REGISTRY_SETTING, &entry));
	CU_ASSERT_FALSE(is_partition_state(REGISTRY_GROUP, &entry));
	entry.name[0] = 'P';
	CU_ASSERT_FALSE(is_partition_state(REGISTRY_SETTING, &entry));
	registry_free(registry);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"keys", test_keys},
		{"aliases", test_aliases},
		{"grants of aliases", test_grants},
		{"claims on aliases", test_claims},
		{"wants", test_wants},
		{"default partition", test_share_default},
		{"kept file", test_kept_file},
		{"kept text", test_kept_text},
		{"frozen", test_frozen},
		{"kept text", test_kept_text},
		{"frozen", test_frozen},
		{"another file than the master's", test_other_file_than_the_master},
		{"groups", test_groups},
		{"both define", test_both_define},
		{"P_Keys of another manager", test_foreign},
		{"a table that is full", test_full},
		{"a switch's table that is too small", test_full_front},
		{"which way is enforced", test_enforcement},
		{"the state as it is on disk", test_state_on_disk},
		CU_TEST_INFO_NULL,
	};

	return unit_main("policy", tests);
}

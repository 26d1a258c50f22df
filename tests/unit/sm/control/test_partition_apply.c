/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * partition apply inside the manager: a table of steps, each a text that an owner applies, and the
 * members of partition 5 that follow. Then dangers, the expected state, limits, and the end of the
 * daemon. Clients use a real control socket in the same thread.
 */
#include <inttypes.h>

#include "sm/control/partition_apply.h"
#include "sm/partition/owner.h"
#include "tests/unit/fixtures/control_world.h"

enum { MEMBERS = 100000, FIRST = 0x100000, GUIDS = 0x30 };

/* A request with a text, in which \n is an escape already. more: further members of the request. */
static void apply(struct world *world, const char *text, const char *more)
{
	char request[1024];

	snprintf(request, sizeof(request),
		 "{\"command\":\"partition apply\",\"name\":\"f\",\"text\":\"%s\"%s}\n", text,
		 more);
	control_ask(world, request);
}

/* The members with the GUIDs of the steps: "71 full site, 72 limited admin". */
static void list_members(const struct world *world, char *out, size_t size)
{
	static const char *const words[] = {"-", "limited", "full", "both"};
	size_t used = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < 2 * GUIDS; i++) {
		pkey_t p_key = 5 + i / GUIDS;
		guid_t guid = 0x70 + i % GUIDS;
		const struct partition_member_entry *member =
			policy_member(&world->sm->policy, p_key, guid);

		if (member)
			used += (size_t)snprintf(out + used, size - used, "%s%" PRIx64 " %s %s",
						 used ? ", " : "", guid, words[member->membership],
						 partition_owner(world->registry, p_key, guid));
	}
}

#define SITE ",\"owner\":\"site\""
#define GATEWAY ",\"owner\":\"gateway:gw1\""
#define DRY ",\"dry-run\":true"

/* Each step continues the one before. */
static const struct {
	const char *what, *text, *more, *words, *members;
} steps[] = {
	{"the first text of an owner", "a=5: 0x71=full, 0x72=limited;", SITE, "\"num_changed\":3",
	 "71 full site, 72 limited site"},
	{"the same again", "a=5: 0x71=full, 0x72=limited;", SITE, "\"changed\":false",
	 "71 full site, 72 limited site"},
	{"a dry run changes nothing", "a=5: 0x73=full;", SITE DRY, "\"num_changed\":3",
	 "71 full site, 72 limited site"},
	{"another owner adds its own", "a=5: 0x71=limited, 0x81=full;", GATEWAY, "\"kept\":1",
	 "71 full site, 72 limited site, 81 full gateway:gw1"},
	{"the kept member is named with its owner", "a=5: 0x71=limited, 0x81=full;", GATEWAY,
	 "\"owner\":\"site\"", "71 full site, 72 limited site, 81 full gateway:gw1"},
	{"a member changes, and one is removed", "a=5: 0x71=limited;", SITE, "\"num_changed\":2",
	 "71 limited site, 81 full gateway:gw1"},
	{"a range, of which the last rule counts", "a=5: 0x71-0x73=full, 0x72=limited;", SITE,
	 "\"members\":3", "71 full site, 72 limited site, 73 full site, 81 full gateway:gw1"},
	{"an owner's last member leaves the partition of another", "", GATEWAY, "\"num_changed\":1",
	 "71 full site, 72 limited site, 73 full site"},
	{"admin is the owner without a name", "b=6: 0x91=full;", "", "\"owner\":\"admin\"",
	 "71 full site, 72 limited site, 73 full site, 91 full admin"},
	{"a partition with members of others stays", "", SITE, "\"num_changed\":4",
	 "91 full admin"},
	{"what ALL means changes", "b=6: ALL=full;", "", "belong into the partition file",
	 "91 full admin"},
	{"a bad text", "b=6: 0x92=ful", "", "\"ok\":false", "91 full admin"},
	{"two names of one P_Key", "c=7: 0x1=full; b=8: 0x2=full;", SITE, "has the name",
	 "91 full admin"},
	{"a bad owner", "", ",\"owner\":\"file\"", "is no owner", "91 full admin"},
	{"groups of the file", "c=7: mgid=ff12:401b::1 0x1=full;", SITE, "\"ok\":false",
	 "91 full admin"},
};

static void test_steps(void)
{
	struct world *world = control_start("single:hosts=3");
	char members[1024];

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		apply(world, steps[i].text, steps[i].more);
		list_members(world, members, sizeof(members));
		CU_ASSERT(control_has(0, steps[i].words));
		if (strcmp(members, steps[i].members) != 0)
			fprintf(stderr, "%s: %s\n", steps[i].what, members);
		CU_ASSERT_STRING_EQUAL(members, steps[i].members);
	}
	CU_ASSERT_PTR_NULL(policy_at_run_time(&world->sm->policy, 5));
	control_end(world);
}

static bool has_settled(const struct world *world)
{
	return sm_world_is_quiet(world) && !policy_is_judging(&world->sm->policy);
}

static void set_file(struct world *world, const char *text)
{
	struct partitions *file = NULL;
	char *error;

	CU_ASSERT_EQUAL_FATAL(partitions_parse("p", text, strlen(text), false, &file, &error), 0);
	policy_set_file(&world->sm->policy, PARTITIONS_FILE, file);
}

/* The memberships and parameters of the partition file stay. */
static void test_file(void)
{
	static const char text[] = "Default=0x7fff: ALL=full; a=5: 0x71=full, 0x72=limited;";
	struct world *world = control_start("single:hosts=3");
	char members[256];

	set_file(world, text);
	sm_world_run(world, has_settled);
	apply(world, "a=5, ipoib: 0x71=limited, 0x72=limited, 0x73=full;", SITE);
	CU_ASSERT(control_has(0, "\"num_changed\":1") && control_has(0, "\"kept\":1"));
	list_members(world, members, sizeof(members));
	CU_ASSERT_STRING_EQUAL(members, "73 full site");
	CU_ASSERT_PTR_NULL(policy_at_run_time(&world->sm->policy, 5));
	control_end(world);
}

static void test_dangers(void)
{
	struct world *world = control_start("single:hosts=3");
	char text[256], members[256];
	guid_t guid[3];

	for (unsigned i = 0; i < 3; i++) {
		char name[16];

		snprintf(name, sizeof(name), "host-%04u", i + 1);
		guid[i] = port_facts(&fabric_find_node(world->sm->fabric,
						       sm_world_node(world, name)->info.node_guid)
					      ->port[1])
				  ->guid;
	}
	world->sm->options.partition_confirm_ports = 1;
	snprintf(text, sizeof(text),
		 "a=5: 0x%" PRIx64 "=full, 0x%" PRIx64 "=full, 0x%" PRIx64 "=limited;", guid[0],
		 guid[1], guid[2]);
	apply(world, text, SITE);
	CU_ASSERT(control_has(0, "\"num_changed\":4"));
	apply(world, "", SITE);
	CU_ASSERT(control_has(0, "it takes 3 memberships from ports that are present "
				 "(partition_confirm_ports is 1): see --dry-run, and add --force; "
				 "nothing was changed"));
	apply(world, "", SITE DRY);
	CU_ASSERT(control_has(0, "\"danger\":\"it takes 3 memberships"));
	/* One membership, but the last full member. */
	snprintf(text, sizeof(text), "a=5: 0x%" PRIx64 "=full, 0x%" PRIx64 "=limited;", guid[0],
		 guid[2]);
	apply(world, text, SITE);
	CU_ASSERT(control_has(0, "\"num_changed\":1"));
	snprintf(text, sizeof(text), "a=5: 0x%" PRIx64 "=limited, 0x%" PRIx64 "=limited;", guid[0],
		 guid[2]);
	apply(world, text, SITE);
	CU_ASSERT(control_has(0, "2 limited members could reach no port in it"));
	apply(world, text, SITE ",\"force\":true");
	CU_ASSERT(control_has(0, "\"num_changed\":1"));
	/* Absent ports lose nothing. The default partition shuts the fabric when it is defined. */
	apply(world, "a=5: 0x71-0x79=full;", SITE ",\"force\":true");
	apply(world, "a=5: ;", SITE);
	list_members(world, members, sizeof(members));
	CU_ASSERT(control_has(0, "\"num_changed\":9"));
	CU_ASSERT_STRING_EQUAL(members, "");
	apply(world, "Default=0x7fff: 0x71=full;", SITE);
	CU_ASSERT(control_has(0, "3 ports would lose 0x7fff or full membership in it"));
	control_end(world);
}

/* Copies the state of the last answer. */
static void take_state(char state[32])
{
	const char *at = strstr(control_bed.clients[0].text, "\"state\":\"");

	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	snprintf(state, 32, "%.18s", at + strlen("\"state\":\""));
}

/* A change by another administrator since the dry run is refused. */
static void test_state(void)
{
	struct world *world = control_start("single:hosts=3");
	char state[32], later[32], more[128];

	apply(world, "a=5: 0x71=full;", SITE DRY);
	take_state(state);
	control_ask(world, "{\"command\":\"partition add\",\"p_key\":\"6\"}\n");
	snprintf(more, sizeof(more), SITE ",\"if-state\":\"%s\"", state);
	apply(world, "a=5: 0x71=full;", more);
	CU_ASSERT(control_has(0, "partitions were changed since state 0x") &&
		  control_has(0, "nothing was changed"));
	CU_ASSERT_EQUAL(registry_count(world->registry, REGISTRY_PARTITION_MEMBER), 0);
	apply(world, "a=5: 0x71=full;", SITE DRY);
	take_state(later);
	CU_ASSERT_STRING_NOT_EQUAL(state, later);
	snprintf(more, sizeof(more), SITE ",\"if-state\":\"%s\"", later);
	apply(world, "a=5: 0x71=full;", more);
	CU_ASSERT(control_has(0, "\"num_changed\":2"));
	/* The owner alone is a part of the state, too, which follows the changes. */
	take_state(later);
	apply(world, "", GATEWAY DRY);
	take_state(state);
	CU_ASSERT_STRING_EQUAL(state, later);
	partition_owner_put(world->registry, 5, 0x71, "gateway:gw1");
	apply(world, "", GATEWAY DRY);
	take_state(later);
	CU_ASSERT_STRING_NOT_EQUAL(state, later);
	control_end(world);
}

/* Sends a text of so many members in ranges and single GUIDs. */
static void apply_many(struct world *world, unsigned members)
{
	char text[256];

	snprintf(text, sizeof(text), "a=5: 0x%x-0x%x=full;", FIRST, FIRST + members - 1);
	apply(world, text, SITE);
}

static void test_limit(void)
{
	struct world *world = control_start("single:hosts=3");

	apply_many(world, MEMBERS + 1);
	CU_ASSERT(control_has(0, "partition apply takes at most 100000 members; nothing was "
				 "changed"));
	CU_ASSERT_EQUAL(registry_count(world->registry, REGISTRY_PARTITION_MEMBER), 0);
	apply_many(world, MEMBERS);
	CU_ASSERT(control_has(0, "\"num_changed\":100001"));
	CU_ASSERT_EQUAL(registry_count(world->registry, REGISTRY_PARTITION_MEMBER), MEMBERS);
	apply_many(world, MEMBERS);
	CU_ASSERT(control_has(0, "\"changed\":false"));
	control_end(world);
}

/* What happens in each round of deferred calls, while a client waits. */
static struct {
	struct loop_deferred round;
	struct world *world;
	unsigned rounds;
	bool has_begun;
	enum application_phase phase; /* in which act() is called, once */
	uint64_t number, most;	      /* changes of the registry, and the most in a round */
	void (*act)(struct world *world);
} watch;

/* Whether the first application does this, and has begun it. */
static bool has_reached(const struct world *world, enum application_phase phase)
{
	const struct list *first = world->sm->commands->applications.next;
	const struct application *a = container_of(first, struct application, link);

	return !list_empty(&world->sm->commands->applications) && a->phase == phase &&
	       (a->slices.stage || a->slices.at);
}

static void watch_round(void *arg)
{
	uint64_t number = registry_number(watch.world->registry);

	(void)arg;
	if (number - watch.number > watch.most)
		watch.most = number - watch.number;
	watch.number = number;
	watch.rounds++;
	if (watch.act && has_reached(watch.world, watch.phase)) {
		watch.act(watch.world);
		watch.act = NULL;
	}
	watch.has_begun |= !list_empty(&watch.world->sm->commands->applications);
	if (!watch.has_begun || !list_empty(&watch.world->sm->commands->applications))
		loop_defer(&watch.round);
}

/* Client 0 applies members. act: in this phase; or NULL. */
static void watch_apply(struct world *world, unsigned members, enum application_phase phase,
			void (*act)(struct world *world))
{
	char request[256];

	watch.world = world;
	watch.rounds = 0;
	watch.has_begun = false;
	watch.most = 0;
	watch.phase = phase;
	watch.act = act;
	watch.number = registry_number(world->registry);
	loop_deferred_init(&watch.round, world->loop, "watch", watch_round, NULL);
	snprintf(request, sizeof(request),
		 "{\"command\":\"partition apply\",\"name\":\"f\",\"text\":\"a=5: "
		 "0x%x-0x%x=full;\"" SITE "}\n",
		 FIRST, FIRST + members - 1);
	loop_defer(&watch.round);
	control_say(0, request);
}

enum { CHANGES_A_TURN_MAX = 500 };

/* No turn makes many changes, and the store gets them as one unit. */
static void test_slices(void)
{
	struct world *world = control_start("single:hosts=3");

	watch_apply(world, MEMBERS, IS_DONE, NULL);
	sm_world_run(world, control_all_answered);
	CU_ASSERT(control_has(0, "\"num_changed\":100001"));
	CU_ASSERT(watch.rounds > 2 * MEMBERS / CHANGES_A_TURN_MAX);
	CU_ASSERT(watch.most > 0 && watch.most <= CHANGES_A_TURN_MAX);
	CU_ASSERT_FALSE(registry_is_together(world->registry));
	control_end(world);
}

static void add_by_hand(struct world *world)
{
	const struct partition_member_entry member = {5, FIRST, MEMBERSHIP_LIMITED};

	CU_ASSERT_EQUAL(registry_count(world->registry, REGISTRY_PARTITION_MEMBER), 0);
	registry_put(world->registry, REGISTRY_PARTITION_MEMBER, &member);
}

/* A member that another administrator adds during the comparison stays. */
static void test_change_during_comparison(void)
{
	struct world *world = control_start("single:hosts=3");

	watch_apply(world, 2000, COMPARES, add_by_hand);
	sm_world_run(world, control_all_answered);
	CU_ASSERT(control_has(0, "\"num_changed\":2000") && control_has(0, "\"kept\":1"));
	CU_ASSERT_EQUAL(policy_member(&world->sm->policy, 5, FIRST)->membership,
			MEMBERSHIP_LIMITED);
	control_end(world);
}

static void read_file(struct world *world)
{
	set_file(world, "Default=0x7fff: ALL=full; a=5: 0x100000=limited;");
}

/* A reload of the partition file changes no record, but the memberships. */
static void test_file_during_comparison(void)
{
	struct world *world = control_start("single:hosts=3");

	watch_apply(world, 2000, COMPARES, read_file);
	sm_world_run(world, control_all_answered);
	CU_ASSERT(control_has(0, "\"kept\":1"));
	control_end(world);
}

static bool has_begun(const struct world *world)
{
	(void)world;
	return watch.has_begun;
}

/* Two at once: the second compares after the changes of the first. */
static void test_two(void)
{
	struct world *world = control_start("single:hosts=3");

	watch_apply(world, 5000, IS_DONE, NULL);
	sm_world_run(world, has_begun);
	control_say(1, "{\"command\":\"partition apply\",\"name\":\"f\",\"text\":\"a=5: "
		       "0x100000=limited;\"" GATEWAY "}\n");
	control_say(2, "{\"command\":\"partition apply\",\"name\":\"f\",\"text\":\"a=5: "
		       "0x100000=full;\"" SITE "}\n");
	sm_world_run(world, control_all_answered);
	CU_ASSERT(control_has(0, "\"num_changed\":5001"));
	CU_ASSERT(control_has(1, "\"kept\":1") && control_has(1, "\"changed\":false"));
	CU_ASSERT(control_has(2, "\"num_changed\":4999"));
	CU_ASSERT_EQUAL(registry_count(world->registry, REGISTRY_PARTITION_MEMBER), 1);
	control_end(world);
}

static bool is_under_way;

static void stop_now(struct world *world)
{
	is_under_way = registry_is_together(world->registry);
	sm_commands_stop(world->sm->commands);
}

/* The end of the daemon completes the changes that have begun, and no others. */
static void test_stop(void)
{
	static const struct {
		enum application_phase phase;
		const char *words;
		size_t members;
	} rows[] = {{COMPARES, "the daemon is stopping; nothing was changed", 0},
		    {CHANGES, "the daemon is stopping; the changes were made", MEMBERS}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world *world = control_start("single:hosts=3");

		watch_apply(world, MEMBERS, rows[i].phase, stop_now);
		sm_world_run(world, control_all_answered);
		CU_ASSERT_EQUAL(is_under_way, i > 0);
		CU_ASSERT(control_has(0, rows[i].words));
		CU_ASSERT_EQUAL(registry_count(world->registry, REGISTRY_PARTITION_MEMBER),
				rows[i].members);
		CU_ASSERT_FALSE(registry_is_together(world->registry));
		control_end(world);
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"steps", test_steps},
		{"members of the file", test_file},
		{"dangers", test_dangers},
		{"the expected state", test_state},
		{"limits", test_limit},
		{"slices", test_slices},
		{"a change during the comparison", test_change_during_comparison},
		{"a partition file during the comparison", test_file_during_comparison},
		{"two at once", test_two},
		{"the end of the daemon", test_stop},
		CU_TEST_INFO_NULL,
	};

	return unit_main("partition apply", tests);
}

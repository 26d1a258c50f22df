/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What partition files would take from ports: counts of ports and pairs, and the limit. */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include "tests/unit/fixtures/sm_world.h"

#include <string.h>

#include "formats/partitions.h"
#include "sm/partition/losses.h"

enum { PORTS = 7 }; /* four hosts and three switches */

static struct partitions *parse(const char *text)
{
	struct partitions *partitions = NULL;
	char *error = NULL;

	if (text)
		CU_ASSERT_EQUAL_FATAL(
			partitions_parse("f", text, strlen(text), false, &partitions, &error), 0);
	return partitions;
}

#define OPEN "Default=0x7fff: ALL=full;"
#define SHUT "Default=0x7fff: ALL=limited, SELF=full;"

static const struct {
	const char *what, *before, *after; /* NULL: no file */
	uint64_t ports;
	pkey_t p_key;
	uint64_t ports_of_p_key, pairs;
} loss_rows[] = {
	{"the same file", OPEN "a=5: ALL=full;", OPEN "a=5: ALL=full;", 0, 0, 0, 0},
	{"a partition is removed", OPEN "a=5: ALL=full;", OPEN, PORTS, 5, PORTS,
	 PORTS *(PORTS - 1) / 2},
	{"members become limited", OPEN "a=5: ALL=full;", OPEN "a=5: ALL=limited, SELF=full;",
	 PORTS - 1, 5, PORTS - 1, PORTS *(PORTS - 1) / 2 - (PORTS - 1)},
	{"members become full", OPEN "a=5: ALL=limited;", OPEN "a=5: ALL=full;", 0, 0, 0, 0},
	{"a partition is added", OPEN, OPEN "a=5: ALL=full;", 0, 0, 0, 0},
	{"the manager alone loses one", OPEN "a=5: SELF=full;", OPEN, 1, 5, 1, 0},
	{"the first file shuts the fabric", NULL, SHUT, PORTS - 1, 0x7FFF, PORTS - 1,
	 PORTS *(PORTS - 1) / 2 - (PORTS - 1)},
	{"the end of the file opens it", SHUT, NULL, 0, 0, 0, 0},
	{"the end of the file ends a partition", SHUT "a=5: ALL=full;", NULL, PORTS, 5, PORTS,
	 PORTS *(PORTS - 1) / 2},
	{"the largest of two", OPEN "a=5: SELF=full;b=6: ALL=full;", OPEN, PORTS, 6, PORTS,
	 PORTS *(PORTS - 1) / 2},
};

static bool has_settled(const struct world *world)
{
	return sm_world_is_quiet(world) && !policy_is_judging(&world->sm->policy);
}

static void test_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(loss_rows); i++) {
		struct world *world = sm_world_new(net_tree2(2, 2, 1, 1), 2, 1, NULL);
		struct policy *policy = &world->sm->policy;
		struct partitions *before = parse(loss_rows[i].before);
		struct partitions *after = parse(loss_rows[i].after);
		struct policy_losses losses;
		char *reason;

		policy_set_file(policy, before ? PARTITIONS_FILE : PARTITIONS_UNWANTED, before);
		sm_world_up(world);
		sm_world_run(world, has_settled);
		CU_ASSERT_EQUAL(world->sm->fabric->ports.count, PORTS);
		for (unsigned present = 0; present < 2; present++) {
			losses = policy_losses(policy, after, present);
			if (losses.ports != loss_rows[i].ports)
				fprintf(stderr, "%s\n", loss_rows[i].what);
			CU_ASSERT_EQUAL(losses.ports, loss_rows[i].ports);
			CU_ASSERT_EQUAL(losses.p_key, loss_rows[i].p_key);
			CU_ASSERT_EQUAL(losses.ports_of_p_key, loss_rows[i].ports_of_p_key);
			CU_ASSERT_EQUAL(losses.pairs, loss_rows[i].pairs);
		}
		/* The limit is the number that is still accepted. */
		CU_ASSERT_PTR_NULL(
			policy_needs_confirmation(policy, after, (unsigned)loss_rows[i].ports));
		if (loss_rows[i].ports) {
			reason = policy_needs_confirmation(policy, after,
							   (unsigned)loss_rows[i].ports - 1);
			CU_ASSERT_PTR_NOT_NULL_FATAL(reason);
			CU_ASSERT_PTR_NOT_NULL(strstr(reason, "takes P_Keys from"));
			free(reason);
		}
		partitions_free(after);
		sm_world_free(world);
	}
}

enum { KNOWN = 2000, PORTS_A_TURN_MAX = 64 };

/* The rounds of deferred calls until the comparison ends. */
static struct {
	struct loop_deferred round;
	unsigned rounds, changes_at; /* changes_at: the round in which partitions change */
	struct policy *policy;
	bool is_over;
	char *danger;
} counted;

static void count_round(void *arg)
{
	struct partitions *file;

	(void)arg;
	if (counted.is_over)
		return;
	if (++counted.rounds == counted.changes_at) {
		file = parse(OPEN "a=5: ALL=full; b=6: ALL=full;");
		policy_set_file(counted.policy, PARTITIONS_FILE, file);
	}
	loop_defer(&counted.round);
}

static void comparison_is_over(void *ctx, char *danger)
{
	(void)ctx;
	counted.is_over = true;
	counted.danger = danger;
}

static bool is_compared(const struct world *world)
{
	(void)world;
	return counted.is_over;
}

/* A manager that is no MASTER yet, and knows many ports. */
static struct world *world_of_known_ports(void)
{
	struct world *world = sm_world_new(net_tree2(2, 2, 1, 1), 2, 1, NULL);

	policy_set_file(&world->sm->policy, PARTITIONS_FILE, parse(OPEN "a=5: ALL=full;"));
	for (unsigned i = 1; i <= KNOWN; i++) {
		const struct lid_entry entry = {.guid = 0x9000 + i, .lid = (lid_t)i};

		registry_put(world->registry, REGISTRY_LID, &entry);
	}
	memset(&counted, 0, sizeof(counted));
	counted.policy = &world->sm->policy;
	loop_deferred_init(&counted.round, world->loop, "count", count_round, NULL);
	return world;
}

/* No turn compares many ports, and a change of the partitions during that counts. */
static void test_slices(void)
{
	for (unsigned changes = 0; changes < 2; changes++) {
		struct world *world = world_of_known_ports();
		struct partitions *after = parse(OPEN);

		counted.changes_at = changes * (KNOWN / PORTS_A_TURN_MAX / 2);
		policy_judge_file(counted.policy, after, 10, comparison_is_over, NULL);
		loop_defer(&counted.round);
		sm_world_run(world, is_compared);
		CU_ASSERT(counted.rounds >= KNOWN / PORTS_A_TURN_MAX * (changes ? 3 : 2) / 2);
		CU_ASSERT_PTR_NOT_NULL_FATAL(counted.danger);
		CU_ASSERT_PTR_NOT_NULL(strstr(counted.danger, "takes P_Keys from 2000 ports"));
		CU_ASSERT_PTR_NOT_NULL(
			strstr(counted.danger, "among them 0x0005 (a) from 2000 ports"));
		free(counted.danger);
		partitions_free(after);
		sm_world_free(world);
	}
}

static void test_cancel(void)
{
	struct world *world = world_of_known_ports();
	struct partitions *after = parse(OPEN);

	policy_judge_cancel(policy_judge_file(counted.policy, after, 10, comparison_is_over, NULL));
	sm_world_up(world);
	CU_ASSERT_FALSE(counted.is_over);
	policy_judge_cancel(NULL);
	partitions_free(after);
	sm_world_free(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {{"losses of ports", test_rows},
					    {"slices", test_slices},
					    {"cancelled", test_cancel},
					    CU_TEST_INFO_NULL};

	return unit_main("partition losses", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * CPU time of computations that the loop thread does at once, at the size of the largest fabrics:
 * finding nodes of a snapshot by name, and comparing partition files. Prints a line for each
 * figure, in the format of scripts/bench. With QUICK in the environment the sizes are smaller.
 */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include <time.h>

#include "fabric/named.h"
#include "formats/partitions.h"
#include "lib/buffer.h"
#include "sm/partition/losses.h"
#include "tests/unit/fixtures/sm_world.h"
#include "tests/unit/fixtures/snapshot_from.h"

static FILE *figures;
static bool quick;

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return 1000.0 * (double)now.tv_sec + (double)now.tv_nsec / 1e6;
}

static void show(const char *what, double since)
{
	fprintf(figures, "%s\t%.2f ms\n", what, cpu_ms() - since);
}

/* Not freed: the program ends soon. */
static struct node_facts *facts_of(uint8_t type, const char *format, unsigned number)
{
	static guid_t guid = 0x10;
	char name[32];

	snprintf(name, sizeof(name), format, number + 1);
	return named_facts(type, guid++, name);
}

static void bench_names(void)
{
	struct snapshot *snapshot = snapshot_from_spec(
		quick ? "fattree:radix=24,levels=3" : "fattree:radix=54,levels=3", 0);
	char error[SNAP_NAMED_ERROR_SIZE], list[64];
	struct map nodes = {0};
	double at;

	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		snapshot->switches[s].facts = facts_of(NODE_SWITCH, "switch-%05u", s);
	for (uint32_t e = 0; e < snapshot->num_ends; e++)
		snapshot->ends[e].facts = facts_of(NODE_CA, "host-%05u", e);
	fprintf(figures, "nodes\t%u\n", node_count(snapshot));
	at = cpu_ms();
	snapshot_find_named(snapshot, "host-00017");
	show("find one name", at);
	at = cpu_ms();
	snapshot_find_named(snapshot, "hots-00017");
	show("find one name, with two letters swapped", at);
	at = cpu_ms();
	snapshot_find_named(snapshot, "xk-ab17");
	show("find one name, unlike all names", at);
	at = cpu_ms();
	snprintf(list, sizeof(list), "host-[00001-%05u]", snapshot->num_ends);
	snapshot_find_named(snapshot, list);
	show("find one node by a list of all", at);
	at = cpu_ms();
	snapshot_find_listed(snapshot, list, &nodes, error);
	show("find all nodes by a list (on a worker)", at);
	map_done(&nodes);
	snapshot_unref(snapshot);
}

static void bench_losses(void)
{
	struct world *world = sm_world_new(net_tree2(2, 2, 1, 1), 2, 1, NULL);
	struct policy_file *index;
	struct partitions *file;
	unsigned ports = quick ? 4000 : 40000;
	char *error, *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	double at;

	for (unsigned i = 1; i <= ports; i++) {
		struct lid_entry entry = {.guid = 0x100000 + i, .lid = (lid_t)i};
		registry_put(world->registry, REGISTRY_LID, &entry);
	}
	fprintf(out, "Default=0x7fff: ALL=limited, SELF=full;\n");
	for (unsigned p = 1; p <= 100; p++) {
		fprintf(out, "p%u=0x%x: ALL=limited", p, p);
		for (unsigned i = 1; i <= ports / 20; i++)
			fprintf(out, ", 0x%x=full", 0x100000 + (p * 397 + i * 20) % ports);
		fprintf(out, ";\n");
	}
	fclose(out);
	at = cpu_ms();
	CU_ASSERT_EQUAL_FATAL(partitions_parse("f", text, size, false, &file, &error), 0);
	show("parse a partition file", at);
	at = cpu_ms();
	index = policy_file_new(file);
	show("index it", at);
	index->partitions = NULL;
	policy_file_free(index);
	at = cpu_ms();
	policy_losses(&world->sm->policy, file, false);
	show("compare it with the file in force (in slices)", at);
	partitions_free(file);
	free(text);
	sm_world_free(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"names", bench_names}, {"losses", bench_losses}, CU_TEST_INFO_NULL};

	quick = getenv("QUICK");
	figures = fdopen(dup(1), "w");
	setvbuf(figures, NULL, _IONBF, 0);
	return unit_main("names", tests);
}

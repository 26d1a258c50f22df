/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * CPU time of the comparison with a planned topology (sm/planned_gaps.h), and of reading its net
 * file. Workers do both, except for the reading at a start. Prints a line for each figure, in the
 * format of scripts/bench. With QUICK in the environment the fabric is smaller.
 */
#include <time.h>

#include "sm/planned_gaps.h"
#include "tests/unit/fixtures/snapshot_from.h"

static FILE *figures;

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

/* Facts with the GUID, the name and the number of ports of the plan. Not freed: the program ends
 * soon. */
static struct node_facts *facts_of_node(const struct net *net, unsigned index)
{
	const struct net_node *node = &net->nodes[index];
	const struct node_info info = {.node_type = (uint8_t)node->type,
				       .node_guid = net_node_guid(net, index),
				       .num_ports = node->ports,
				       .local_port_num = 1};
	struct node_facts *facts = facts_new(&info);

	snprintf(facts->description, sizeof(facts->description), "%s", node->description);
	return facts;
}

static void name_all(struct snapshot *snapshot, const struct net *net)
{
	for (unsigned i = 0; i < net->count; i++) {
		int32_t s = snapshot_find_switch(snapshot, net_node_guid(net, i));

		if (s >= 0)
			snapshot->switches[s].facts = facts_of_node(net, i);
		for (unsigned p = 1; s < 0 && p <= net->nodes[i].ports; p++) {
			int32_t e = snapshot_find_end(snapshot, net_port_guid(net, i, p));

			if (e >= 0)
				snapshot->ends[e].facts = facts_of_node(net, i);
		}
	}
}

static void compare_once(const char *what, const struct net *plan, const struct snapshot *snapshot)
{
	struct planned_gaps gaps;
	double at = cpu_ms();

	planned_gaps_find(plan, snapshot, &gaps);
	show(what, at);
	fprintf(figures, "gaps\t%zu\n", gaps.count);
	planned_gaps_done(&gaps);
}

int main(void)
{
	const char *quick = getenv("QUICK"), *spec = quick && *quick ? "fattree:radix=12,levels=3"
								     : "fattree:radix=36,levels=3";
	struct net *plan = net_from_spec(spec), *read = NULL;
	struct snapshot *snapshot = snapshot_from_net(plan, 0);
	struct net_error error;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	double at;

	figures = stdout;
	name_all(snapshot, plan);
	fprintf(figures, "hosts\t%u\n", snapshot->num_ends);
	compare_once("compare, as planned (on a worker)", plan, snapshot);
	snapshot_cut(snapshot, 0, 1);
	compare_once("compare, a cable pulled (on a worker)", plan, snapshot);
	net_print(stream, plan);
	fclose(stream);
	at = cpu_ms();
	if (net_parse("plan.net", text, size, &read, &error))
		abort();
	show("read the net file (on a worker, in a reload)", at);
	fprintf(figures, "bytes of the net file\t%zu\n", size);
	net_free(read);
	for (unsigned i = 0; i < plan->count; i++) {
		plan->nodes[i].guid = 0;
		plan->nodes[i].description = "other";
	}
	compare_once("compare, nothing as planned (on a worker)", plan, snapshot);
	free(text);
	net_free(plan);
	return 0;
}

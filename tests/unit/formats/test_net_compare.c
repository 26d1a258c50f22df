/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Planned and found nets: the reported differences and their texts, one change at a time. A net
 * equals itself in any order of its nodes. Then the exact output for Graphviz and SLURM.
 */
#include <string.h>

#include "formats/net_compare.h"
#include "formats/net_export.h"
#include "lib/mem.h"
#include "sim/spec.h"
#include "tests/unit/fixtures/unit.h"

/* Hosts h1, h2 on a; h3 on b; two cables a - s, one b - s. Ids are not names. */
static const char plan[] = "switchguid=0x10\n"
			   "Switch 8 \"S-a\" # \"a\" base port 0 lid 1 lmc 0\n"
			   "[1] \"H-1\"[1] # \"h1\" lid 4 4xEDR\n"
			   "[2] \"H-2\"[1] # \"h2\" lid 5 4xEDR\n"
			   "[5] \"S-s\"[1] # \"s\" lid 3 4xEDR\n"
			   "[6] \"S-s\"[2] # \"s\" lid 3 4xEDR\n"
			   "\n"
			   "switchguid=0x20\n"
			   "Switch 8 \"S-b\" # \"b\" base port 0 lid 2 lmc 0\n"
			   "[1] \"H-3\"[1] # \"h3\" lid 6 4xEDR\n"
			   "[5] \"S-s\"[3] # \"s\" lid 3 4xEDR\n"
			   "\n"
			   "switchguid=0x30\n"
			   "Switch 8 \"S-s\" # \"s\" base port 0 lid 3 lmc 0\n"
			   "\n"
			   "caguid=0x101\n"
			   "Ca 1 \"H-1\" # \"h1 mlx5_0\"\n"
			   "\n"
			   "caguid=0x102\n"
			   "Ca 1 \"H-2\" # \"h2 mlx5_0\"\n"
			   "\n"
			   "caguid=0x103\n"
			   "Ca 1 \"H-3\" # \"h3 mlx5_0\"\n";

static struct net *parsed(const char *text)
{
	struct net_error error = {0};
	struct net *net = NULL;

	if (net_parse("plan", text, strlen(text), &net, &error))
		printf("\n%s\n", error.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(net);
	return net;
}

/* text with the first `from` in it replaced; to be freed. */
static char *edited(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);

	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	return mem_printf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void write_line(void *ctx, const struct net_difference *difference)
{
	fprintf(ctx, "%s: %s\n", difference->kind, difference->text);
}

/* To be freed. */
static char *differences(const struct net *planned, const struct net *found)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	unsigned told = net_compare(planned, found, write_line, stream), lines = 0;

	fclose(stream);
	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	CU_ASSERT_EQUAL(told, lines);
	return text;
}

static void test_changes(void)
{
	static const struct {
		const char *from, *to, *told;
	} rows[] = {
		{"4xEDR", "4xEDR", ""},
		{"[6] \"S-s\"[2] # \"s\" lid 3 4xEDR\n", "",
		 "missing cable: a port 6 - s port 2: there is no link\n"},
		{"[6] \"S-s\"[2]", "[6] \"S-s\"[4]",
		 "moved cable: a port 6 - s port 2: a port 6 leads to s port 4, s port 2 to "
		 "nowhere\n"},
		{"[6] \"S-s\"[2] # \"s\" lid 3 4xEDR\n", "[6] \"S-s\"[2] # \"s\" lid 3 4xFDR\n",
		 "other rate: a port 6 - s port 2: runs at 4xFDR, not 4xEDR\n"},
		{"[6] \"S-s\"[2] # \"s\" lid 3 4xEDR\n", "[6] \"S-s\"[2] # \"s\" lid 3 1xEDR\n",
		 "other rate: a port 6 - s port 2: runs at 1xEDR, not 4xEDR\n"},
		{"[5] \"S-s\"[3]", "[8] \"S-s\"[8] # \"s\" lid 3 4xEDR\n[5] \"S-s\"[3]",
		 "unplanned cable: b port 8 - s port 8: is not in the plan\n"},
		{"0x10\n", "0x11\n",
		 "replaced node: switch a (0x0000000000000010) is another device: its GUID is "
		 "0x0000000000000011\n"},
		{"Switch 8 \"S-b\"", "Switch 12 \"S-b\"",
		 "other node: switch b (0x0000000000000020) has 12 ports, not 8\n"},
		{"\"h1 mlx5_0\"", "\"h9 mlx5_0\"",
		 "renamed node: adapter h1 mlx5_0 (0x0000000000000101) is called \"h9 mlx5_0\"\n"},
	};
	struct net *planned = parsed(plan);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = edited(plan, rows[i].from, rows[i].to), *told;
		struct net *found = parsed(text);

		told = differences(planned, found);
		if (strcmp(told, rows[i].told))
			printf("\nrow %zu: expected\n%sgot\n%s", i, rows[i].told, told);
		CU_ASSERT_STRING_EQUAL(told, rows[i].told);
		free(told);
		net_free(found);
		free(text);
	}
	net_free(planned);
}

/* The line of a missing or unplanned node has its cables. */
static void test_nodes(void)
{
	char *without = edited(plan, "caguid=0x102\nCa 1 \"H-2\" # \"h2 mlx5_0\"\n", ""), *fewer;
	struct net *planned, *found;
	char *told;

	fewer = edited(without, "[2] \"H-2\"[1] # \"h2\" lid 5 4xEDR\n", "");
	planned = parsed(plan);
	found = parsed(fewer);
	told = differences(planned, found);
	CU_ASSERT_STRING_EQUAL(told, "missing node: adapter h2 mlx5_0 (0x0000000000000102) is not "
				     "there, nor its 1 cable\n");
	free(told);
	told = differences(found, planned);
	CU_ASSERT_STRING_EQUAL(told, "unplanned node: adapter h2 mlx5_0 (0x0000000000000102) is "
				     "not in the plan, nor its 1 cable\n");
	free(told);
	net_free(found);
	net_free(planned);
	free(fewer);
	free(without);
}

/* A plan without GUIDs and without rates, as one writes by hand; two hosts of one name are not
 * guessed at. */
static void test_by_name(void)
{
	static const char by_hand[] = "Switch 8 \"a\"\n[5] \"s\"[1]\n[6] \"s\"[2]\n\n"
				      "Switch 8 \"b\"\n[5] \"s\"[3]\n\n"
				      "Switch 8 \"s\"\n";
	struct net *planned = parsed(by_hand), *found = parsed(plan);
	char *told = differences(planned, found);

	CU_ASSERT_PTR_NULL(strstr(told, "switch"));
	CU_ASSERT_PTR_NULL(strstr(told, "cable: "));
	CU_ASSERT_PTR_NULL(strstr(told, "rate"));
	CU_ASSERT_PTR_NOT_NULL(strstr(told, "unplanned node: adapter h1 mlx5_0"));
	free(told);
	net_free(planned);
	planned = parsed("Switch 8 \"x1\" # \"a\"\n\nSwitch 8 \"x2\" # \"a\"\n");
	told = differences(planned, found);
	CU_ASSERT_PTR_NOT_NULL(strstr(told, "missing node: switch a is not there"));
	CU_ASSERT_PTR_NOT_NULL(strstr(told, "unplanned node: switch a (0x"));
	free(told);
	net_free(found);
	net_free(planned);
}

/* A line for each part of the plan that is lost: its ends in the plan, and the nodes found there.
 */
static void write_loss(void *ctx, const struct net_difference *difference)
{
	static const char *const names[] = {[NET_NODE_MISSING] = "node",
					    [NET_CABLE_MISSING] = "cable",
					    [NET_CABLE_MOVED] = "moved"};
	const struct net *planned = *(const struct net *const *)ctx;
	FILE *stream = ((FILE **)ctx)[1];

	if (difference->loss == NET_NOTHING_LOST)
		return;
	fputs(names[difference->loss], stream);
	for (unsigned i = 0; i < 2 && difference->planned[i].node; i++)
		fprintf(stream, " %s:%u:%d", difference->planned[i].node->id,
			difference->planned[i].port,
			difference->found_of[difference->planned[i].node - planned->nodes]);
	fputc('\n', stream);
}

static void test_losses(void)
{
	static const struct {
		const char *from, *to, *lost;
	} rows[] = {
		{"0x10\n", "0x11\n", ""}, /* a replaced switch has its cables */
		{"\"h1 mlx5_0\"", "\"h9 mlx5_0\"", ""},
		{"lid 3 4xEDR\n", "lid 3 4xFDR\n", ""},
		{"[6] \"S-s\"[2] # \"s\" lid 3 4xEDR\n", "", "cable S-a:6:0 S-s:2:2\n"},
		{"[6] \"S-s\"[2]", "[6] \"S-s\"[4]", "moved S-a:6:0 S-s:2:2\n"},
		{"caguid=0x102\nCa 1 \"H-2\" # \"h2 mlx5_0\"\n",
		 "caguid=0x109\nCa 1 \"H-2\" # \"h7 mlx5_0\"\n", "node H-2:0:-1\n"},
	};
	struct net *planned = parsed(plan);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = edited(plan, rows[i].from, rows[i].to), *lost = NULL;
		struct net *found = parsed(text);
		size_t size;
		FILE *stream = open_memstream(&lost, &size);
		void *const both[] = {planned, stream};

		net_compare(planned, found, write_loss, (void *)both);
		fclose(stream);
		if (strcmp(lost, rows[i].lost))
			printf("\nrow %zu: expected\n%sgot\n%s", i, rows[i].lost, lost);
		CU_ASSERT_STRING_EQUAL(lost, rows[i].lost);
		free(lost);
		net_free(found);
		free(text);
	}
	net_free(planned);
}

static char *exported(void (*print)(FILE *, const struct net *), const struct net *net)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	print(stream, net);
	fclose(stream);
	return text;
}

static void test_dot(void)
{
	char *quoted = edited(plan, "# \"h1 mlx5_0\"", "# \"h1 \\ mlx5_0\"");
	struct net *net = parsed(quoted);
	char *text = exported(net_print_dot, net);

	CU_ASSERT_EQUAL(strncmp(text, "graph fabric {\n", 15), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\t\"S-a\" [label=\"a\", shape=box];\n"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(text, "\t\"H-1\" [label=\"h1 \\\\ mlx5_0\", shape=ellipse];\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\t\"S-a\" -- \"S-s\" [taillabel=\"6\", "
					    "headlabel=\"2\", label=\"4xEDR\"];\n"));
	CU_ASSERT_PTR_NULL(strstr(text, "\"S-s\" --"));
	free(text);
	net_free(net);
	free(quoted);
}

static void test_slurm(void)
{
	static const struct {
		const char *spec, *text;
	} rows[] = {
		{"single:hosts=3", "SwitchName=sw-01 Nodes=host-[0001-0003]\n"},
		{"fattree:radix=4,levels=2", "SwitchName=leaf-01 Nodes=host-[0001-0002]\n"
					     "SwitchName=leaf-02 Nodes=host-[0003-0004]\n"
					     "SwitchName=leaf-03 Nodes=host-[0005-0006]\n"
					     "SwitchName=leaf-04 Nodes=host-[0007-0008]\n"
					     "SwitchName=spine-01 Switches=leaf-[01-04]\n"},
		{"fattree:radix=4,levels=3,pods=2",
		 "SwitchName=leaf-p01-01 Nodes=host-[0001-0002]\n"
		 "SwitchName=leaf-p01-02 Nodes=host-[0003-0004]\n"
		 "SwitchName=leaf-p02-01 Nodes=host-[0005-0006]\n"
		 "SwitchName=leaf-p02-02 Nodes=host-[0007-0008]\n"
		 "SwitchName=agg-p01-01 Switches=leaf-p01-[01-02]\n"
		 "SwitchName=agg-p02-01 Switches=leaf-p02-[01-02]\n"
		 "SwitchName=core-01 Switches=agg-p01-01,agg-p02-01\n"},
		{"ring:switches=3,hosts=1", "SwitchName=sw-01 Nodes=host-0001\n"
					    "SwitchName=sw-02 Nodes=host-0002\n"
					    "SwitchName=sw-03 Nodes=host-0003\n"
					    "SwitchName=joined-1 Switches=sw-[01-03]\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct net *net = NULL;
		char *error = NULL, *text;

		CU_ASSERT_EQUAL_FATAL(spec_build(rows[i].spec, &net, &error), 0);
		text = exported(net_print_slurm, net);
		if (strcmp(text, rows[i].text))
			printf("\n%s: expected\n%sgot\n%s", rows[i].spec, rows[i].text, text);
		CU_ASSERT_STRING_EQUAL(text, rows[i].text);
		free(text);
		net_free(net);
	}
}

/* Characters of names that SLURM cannot read are replaced. A host with two adapters appears once.
 * Names of switches differ.
 */
static void test_slurm_names(void)
{
	static const char text[] = "Switch 8 \"x\" # \"rack 1 [left]\"\n"
				   "[1] \"A\"[1]\n[2] \"B\"[1]\n[3] \"C\"[1]\n[4] \"E\"[1]\n\n"
				   "Switch 8 \"y\" # \"rack,2\"\n[1] \"A2\"[1]\n\n"
				   "Ca 1 \"A\" # \"n7 mlx5_0\"\n\nCa 1 \"A2\" # \"n7 mlx5_1\"\n\n"
				   "Ca 1 \"B\" # \"n8\"\n\nCa 1 \"C\" # \"n10\"\n\n"
				   "Ca 1 \"E\" # \"n12 x\"\n\n"
				   "switchguid=0x7a\nSwitch 8 \"z\" # \"rack 2\"\n[1] \"F\"[1]\n\n"
				   "Ca 1 \"F\" # \"n13\"\n";
	struct net *net = parsed(text);
	char *made = exported(net_print_slurm, net);

	CU_ASSERT_STRING_EQUAL(made, "SwitchName=rack Nodes=n[7-8],n[10,12]\n"
				     "SwitchName=rack_2\n"
				     "SwitchName=rack-000000000000007a Nodes=n13\n");
	free(made);
	net_free(net);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"one change", test_changes},
		{"nodes", test_nodes},
		{"by name", test_by_name},
		{"lost parts of the plan", test_losses},
		{"dot", test_dot},
		{"slurm", test_slurm},
		{"slurm's names", test_slurm_names},
		CU_TEST_INFO_NULL,
	};

	return unit_main("net_compare", tests);
}

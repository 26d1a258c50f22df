/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of `weftsim do` without a server: the splitting of words, and the output of path,
 * multicast and check. The test writes the tables of three switches in a ring with two hosts each.
 */
#include "sim/do.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "sim/find.h"
#include "sma/personality.h"
#include "tests/unit/fixtures/ring_net.h"
#include "tests/unit/fixtures/unit.h"

enum { HOST_LID = 1, SWITCH_LID = 20, MTU_2048 = 4, VLS_4 = 3, MGROUP = 0xC005 };

struct bed {
	struct world *world;
	struct kernel *kernel;
	struct device *host[HOSTS], *sw[SWITCHES];
	char *text; /* output of the last command */
	char error[DO_ERROR_SIZE];
};

/* Where the table of a switch sends a host's LID: round the ring, one way. */
static uint8_t *entry(struct bed *bed, unsigned sw, unsigned host)
{
	return &bed->sw[sw]->lft[HOST_LID + host];
}

static void activate(struct device *device)
{
	for (unsigned p = 1; p <= device->num_ports; p++) {
		device->port[p].info.port_state = PORT_ACTIVE;
		device->port[p].info.neighbor_mtu = MTU_2048;
		device->port[p].info.operational_vls = VLS_4;
	}
}

static void program(struct bed *bed)
{
	for (unsigned h = 0; h < HOSTS; h++) {
		activate(bed->host[h]);
		bed->host[h]->port[1].info.lid = HOST_LID + h;
	}
	for (unsigned s = 0; s < SWITCHES; s++) {
		struct device *sw = bed->sw[s];

		activate(sw);
		sw->port[0].info.lid = SWITCH_LID + s;
		sw->lft_size = LFT_BLOCK_LIDS;
		sw->lft = mem_alloc(LFT_BLOCK_LIDS);
		memset(sw->lft, LFT_NO_PORT, LFT_BLOCK_LIDS);
		sw->sw.linear_fdb_top = LFT_BLOCK_LIDS - 1;
		for (unsigned h = 0; h < HOSTS; h++)
			*entry(bed, s, h) = h / HOSTS_EACH == s ? 1 + h % HOSTS_EACH : NEXT;
	}
}

static void bed_open(struct bed *bed)
{
	static const struct world_options options = {.seed = 1};
	struct net *net = ring_net();
	char name[16], error[128];

	*bed = (struct bed){0};
	if (world_new(net, &options, &bed->world, error, sizeof(error)))
		abort();
	net_free(net);
	bed->kernel = kernel_new(bed->world);
	for (unsigned h = 0; h < HOSTS; h++) {
		snprintf(name, sizeof(name), "host-%u", h);
		bed->host[h] = world_device(bed->world, name);
	}
	for (unsigned s = 0; s < SWITCHES; s++) {
		snprintf(name, sizeof(name), "sw-%u", s);
		bed->sw[s] = world_device(bed->world, name);
	}
	program(bed);
}

static void bed_close(struct bed *bed)
{
	free(bed->text);
	kernel_free(bed->kernel);
	world_free(bed->world);
}

static int run(struct bed *bed, const char *text)
{
	struct do_call call = {.world = bed->world, .kernel = bed->kernel};
	size_t size = 0;
	int r = do_parse(&call, text);

	free(bed->text);
	bed->text = NULL;
	call.out = open_memstream(&bed->text, &size);
	if (!r) {
		do {
			r = call.command->run(&call);
		} while (r == DO_AGAIN);
		do_done(&call);
	}
	fclose(call.out);
	strcpy(bed->error, call.error);
	return r;
}

static void expect(struct bed *bed, const char *text, int status, const char *printed,
		   const char *error)
{
	CU_ASSERT_EQUAL(run(bed, text), status);
	if (!strstr(bed->text, printed) || !strstr(bed->error, error)) {
		printf("\n%s: \"%s\" \"%s\"", text, bed->text, bed->error);
		CU_FAIL("other words");
	}
}

static void test_words(void)
{
	static const struct {
		const char *text;
		const char *error; /* NULL: it is right */
		const char *word;  /* the first behind the command */
	} cases[] = {
		{"show host-1", NULL, "host-1"},
		{"  show\t host-1  ", NULL, "host-1"},
		{"show \"a name with blanks\"", NULL, "a name with blanks"},
		{"check", NULL, NULL},
		{"", "is empty", NULL},
		{"   ", "is empty", NULL},
		{"show", "show has 0 arguments; usage: 'show NODE'", NULL},
		{"show a b", "show has 2 arguments", NULL},
		{"chekc", "did you mean check?", NULL},
		{"xyzzy", "see weftsim do --help", NULL},
		{"show \"a", "not closed", NULL},
		{"show 1 2 3 4 5 6 7 8 9 a b c d e f g h i j k l m n o", "at most 24 words", NULL},
	};
	char text[2 * DO_TEXT_SIZE];
	struct do_call call = {0};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int r = do_parse(&call, cases[i].text);

		CU_ASSERT_EQUAL(r, cases[i].error ? -EINVAL : 0);
		CU_ASSERT(!cases[i].error || strstr(call.error, cases[i].error));
		CU_ASSERT(!cases[i].word || !strcmp(call.words[0], cases[i].word));
		CU_ASSERT(cases[i].error || cases[i].word || !call.words[0]);
	}
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	CU_ASSERT_EQUAL(do_parse(&call, text), -EINVAL);
}

static void test_names(void)
{
	static const struct {
		const char *text;
		int status, port;
		const char *name;
	} cases[] = {
		{"", 0, 1, "host-0"},		{"host-3", 0, 1, "host-3"},
		{"host-3:1", 0, 1, "host-3"},	{"sw-1", 0, 0, "sw-1"},
		{"sw-1:0", 0, 0, "sw-1"},	{"sw-1:1", -ENOENT, 0, NULL},
		{"host-3:2", -ENOENT, 0, NULL}, {"host-9", -ENOENT, 0, NULL},
		{"2", 0, 1, "host-1"},		{"21", 0, 0, "sw-1"},
		{"0", -ENOENT, 0, NULL},	{"0x100002", 0, 1, "host-1"},
		{"0x", -ENOENT, 0, NULL},	{"-1", -ENOENT, 0, NULL},
		{"0x100003", 0, 1, "host-1"},	{"a switch", -ENOENT, 0, NULL},
	};
	char error[FIND_ERROR_SIZE];
	struct bed bed;

	bed_open(&bed);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct device_port *port = NULL;
		int r = find_end_port(bed.world, cases[i].text, &port, error);

		CU_ASSERT_EQUAL(r, cases[i].status);
		CU_ASSERT(r || (port->num == cases[i].port &&
				!strcmp(find_name(port->device), cases[i].name)));
	}
	bed_close(&bed);
}

static void test_path(void)
{
	struct bed bed;

	bed_open(&bed);
	expect(&bed, "path host-0 host-5", 0, "sw-0 [1] -> [3]\nsw-1 [4] -> [3]\nsw-2 [4] -> [2]\n",
	       "");
	expect(&bed, "path host-0 host-5", 0, "host-5 [1], LID 6: 3 switches\n", "");
	expect(&bed, "path host-2 host-2", 0, "0 switches", "");
	*entry(&bed, 1, 5) = LFT_NO_PORT;
	expect(&bed, "path host-0 host-5", -EINVAL, "sw-0", "ends at sw-1: no entry for LID 6");
	*entry(&bed, 1, 5) = PREVIOUS;
	expect(&bed, "path host-0 host-5", -EINVAL, "", "circle");
	*entry(&bed, 1, 5) = 1;
	expect(&bed, "path host-0 host-5", -EINVAL, "", "ends at host-2, which is not it");
	bed.sw[0]->port[NEXT].info.port_state = PORT_ARMED;
	expect(&bed, "path host-0 host-5", -EINVAL, "", "port 3 carries no data");
	bed_close(&bed);
}

/* 6 ports, 30 pairs. */
static void test_check(void)
{
	struct bed bed;

	bed_open(&bed);
	expect(&bed, "check", 0, "ports=6 pairs=30 reached=30 unreached=0 loops=0", "");
	*entry(&bed, 1, 5) = LFT_NO_PORT; /* for the hosts at sw-0 and sw-1 */
	expect(&bed, "check", -EINVAL, "pairs=30 reached=26 unreached=4 loops=0", "not all reach");
	expect(&bed, "check", -EINVAL, "no way from sw-0 to host-5 port 1, LID 6\n", "");
	*entry(&bed, 1, 5) = PREVIOUS;
	expect(&bed, "check", -EINVAL, "reached=26 unreached=0 loops=4", "");
	*entry(&bed, 1, 5) = 2; /* another host */
	expect(&bed, "check", -EINVAL, "reached=26 unreached=4 loops=0", "");
	*entry(&bed, 1, 5) = NEXT;
	bed.host[2]->port[1].info.lid = 0;
	expect(&bed, "check", -EINVAL, "reached=25 unreached=5 loops=0", "");
	bed.host[2]->port[1].info.lid = HOST_LID + 2;
	bed.host[2]->port[1].info.port_state = PORT_INIT; /* then it does not count */
	expect(&bed, "check", 0, "ports=5 pairs=20 reached=20", "");
	bed.host[2]->port[1].info.port_state = PORT_ACTIVE;
	bed.host[2]->port[1].info.neighbor_mtu = 1; /* active, and carries nothing */
	expect(&bed, "check", -EINVAL, "pairs=30 reached=20 unreached=10", "");
	for (unsigned h = 0; h < HOSTS; h++)
		bed.host[h]->port[1].info.port_state = PORT_INIT;
	expect(&bed, "check", -EINVAL, "", "no adapter port is ACTIVE");
	bed_close(&bed);
}

static void join(struct device *sw, unsigned ports)
{
	if (!sw->mft)
		sw->mft = mem_array(1, sizeof(uint16_t) * sw->sw.multicast_fdb_cap);
	be16_store(sw->mft + sizeof(uint16_t) * (MGROUP - LID_MULTICAST_MIN), ports);
}

static void test_multicast(void)
{
	struct bed bed;

	bed_open(&bed);
	expect(&bed, "multicast 0xC005 host-0", 0, "0 received it", "");
	join(bed.sw[0], 1 << 1 | 1 << 2 | 1 << NEXT);
	join(bed.sw[1], 1 << 0 | 1 << 2 | 1 << PREVIOUS);
	expect(&bed, "multicast 0xC005 host-0", 0,
	       "host-1 [1]\nsw-1 [0]\nhost-3 [1]\n3 received it\n", "");
	expect(&bed, "multicast 49157 host-3", 0, "host-0 [1]\nhost-1 [1]\n", "");
	expect(&bed, "mft sw-0", 0, "0xc005  1 2 3\n", "");
	join(bed.sw[0], 1 << 1 | 1 << NEXT | 1 << PREVIOUS);
	join(bed.sw[1], 1 << NEXT | 1 << PREVIOUS);
	join(bed.sw[2], 1 << NEXT | 1 << PREVIOUS);
	expect(&bed, "multicast 0xC005 host-0", -EINVAL, "", "in circles");
	expect(&bed, "multicast 0xBFFF host-0", -EINVAL, "", "no multicast LID");
	bed_close(&bed);
}

static void test_faults(void)
{
	struct bed bed;
	const struct world_faults *faults;

	bed_open(&bed);
	expect(&bed, "drop 2.5%", 0, "", "");
	expect(&bed, "delay 300us", 0, "", "");
	expect(&bed, "duplicate 1", 0, "", "");
	faults = world_faults(bed.world, NULL);
	CU_ASSERT_EQUAL(faults->drop_ppm, 25000);
	CU_ASSERT_EQUAL(faults->delay_us, 300);
	CU_ASSERT_EQUAL(faults->duplicate_ppm, 10000);
	/* One node: its other faults stay. */
	expect(&bed, "drop 100 sw-1", 0, "", "");
	faults = world_faults(bed.world, bed.sw[1]);
	CU_ASSERT_EQUAL(faults->drop_ppm, 1000000);
	CU_ASSERT_EQUAL(faults->delay_us, 300);
	CU_ASSERT_EQUAL(world_faults(bed.world, bed.sw[0])->drop_ppm, 25000);
	expect(&bed, "drop nan", -EINVAL, "", "no number");
	expect(&bed, "drop -1", -EINVAL, "", "no number");
	expect(&bed, "drop 1x", -EINVAL, "", "no number");
	expect(&bed, "delay 1e9", -EINVAL, "", "no number of 0 to 60000000");
	expect(&bed, "drop 5 sw-7", -EINVAL, "", "no node");
	expect(&bed, "drop 5 \"a switch\"", -EINVAL, "", "3 nodes have the name");
	bed_close(&bed);
}

static void test_behave(void)
{
	struct bed bed;

	bed_open(&bed);
	expect(&bed, "behave list", 0, "busy-driver", "");
	for (const struct personality *row = personalities; row->name; row++) {
		char text[64];

		snprintf(text, sizeof(text), "behave %s sw-1", row->name);
		expect(&bed, text, 0, "", "");
		CU_ASSERT(!memcmp(&bed.sw[1]->quirks, &row->quirks, sizeof(row->quirks)));
		CU_ASSERT(!memcmp(&bed.sw[0]->quirks, &(struct device_quirks){0},
				  sizeof(row->quirks)));
	}
	expect(&bed, "behave restless", 0, "", "");
	CU_ASSERT(bed.sw[1]->quirks.restless && bed.host[3]->quirks.restless);
	expect(&bed, "behave truthful", 0, "", "");
	CU_ASSERT(!bed.host[3]->quirks.restless);
	expect(&bed, "behave restles", -EINVAL, "", "did you mean restless");
	expect(&bed, "behave nothing-like-it", -EINVAL, "", "is no habit");
	expect(&bed, "behave restless sw-7", -EINVAL, "", "no node");
	bed_close(&bed);
}

static void test_clients(void)
{
	struct bed bed;

	bed_open(&bed);
	for (unsigned h = 0; h < HOSTS; h++)
		bed.host[h]->port[1].info.master_sm_lid = h < 4 ? 7 : 9;
	bed.host[0]->port[1].info.port_state = PORT_ARMED; /* then it does not count */
	bed.host[1]->port[1].reregistrations = 1;
	bed.host[2]->port[1].reregistrations = 2;
	expect(&bed, "clients", 0, "\n          7      3      2\n          9      2      0\n", "");
	expect(&bed, "stats reset", 0, "", "");
	expect(&bed, "clients", 0, "\n          7      3      0\n          9      2      0\n", "");
	bed_close(&bed);
}

static CU_TestInfo tests[] = {
	{"words", test_words},
	{"names of nodes and ports", test_names},
	{"path", test_path},
	{"check", test_check},
	{"multicast", test_multicast},
	{"faults", test_faults},
	{"clients", test_clients},
	{"behave", test_behave},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return unit_main("do", tests);
}

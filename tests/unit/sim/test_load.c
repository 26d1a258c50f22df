/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * `load` of `weftsim do` on worlds whose tables a routing engine has computed: words, patterns,
 * counters of the agents. The main part compares the verdict of the routing checker about credit
 * loops with the behaviour: tables without a loop never block, whatever the load, and for tables
 * with a loop the test builds the load that blocks from the cycle.
 */
#include "sim/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "route/credit.h"
#include "sim/do.h"
#include "sim/find.h"
#include "sim/flow_parts.h"
#include "tests/unit/fixtures/routed_world.h"
#include "tests/unit/fixtures/unit.h"

enum { WORDS = 128, WORD = 64, HOP_BYTES = 4096 + FLOW_HEADER_BYTES };

struct bed {
	struct routed_world routed;
	struct world *world; /* of routed, as the next two */
	struct snapshot *snapshot;
	struct routes *routes;
	struct load load;
	char error[LOAD_ERROR_SIZE];
};

static void bed_open(struct bed *bed, const char *spec, const char *engine)
{
	*bed = (struct bed){0};
	routed_world_init(&bed->routed, spec, engine);
	bed->world = bed->routed.world;
	bed->snapshot = bed->routed.snapshot;
	bed->routes = bed->routed.routes;
}

static void bed_close(struct bed *bed)
{
	load_done(&bed->load);
	routed_world_done(&bed->routed);
}

/* The words, which blanks separate, and more words. */
static int prepare(struct bed *bed, const char *text, const char *const *more)
{
	char buffer[512], *next = buffer;
	const char *words[WORDS] = {0};
	size_t count = 0;
	int r;

	load_done(&bed->load);
	snprintf(buffer, sizeof(buffer), "%s", text);
	while (next)
		words[count++] = strsep(&next, " ");
	while (more && *more)
		words[count++] = *more++;
	bed->load.world = bed->world;
	r = load_spec_read(&bed->load.spec, bed->world, words, bed->error);
	if (!r)
		r = load_build(&bed->load, bed->error);
	return r ? r : load_start(&bed->load, bed->error);
}

static enum flow_end run_load(struct bed *bed, const char *text, const char *const *more)
{
	enum flow_end end;
	int r = prepare(bed, text, more);

	CU_ASSERT_EQUAL(r, 0);
	if (r) {
		printf("\n%s: %s", text, bed->error);
		return FLOW_GOES_ON;
	}
	do {
		end = flow_run(bed->load.flow, 5000);
	} while (end == FLOW_GOES_ON);
	CU_ASSERT(flow_is_consistent(bed->load.flow));
	return end;
}

/* Words */

static void test_words(void)
{
	static const struct {
		const char *text;
		const char *error; /* NULL: it is right */
	} cases[] = {
		{"uniform", NULL},
		{"shift=1 size=64KiB mtu=2048 rate=50% duration=1ms warmup=0us", NULL},
		{"hosts=host-000[1-3] all-to-all buffer=8KiB latency=0ns delay=1us", NULL},
		{"pair=host-0001,host-0002 pair=host-0003,host-0002,1 sl=0", NULL},
		{"incast=host-0002 sl=0-1 seed=0x10 links=0 life=20 pkey=0xffff", NULL},
		{"bytes=1MiB permutation rate=0.5", NULL},
		{"size=64", "a pattern is needed"},
		{"unifrom", "did you mean uniform?"},
		{"uniform durations=1us", "did you mean duration?"},
		{"uniform xyzzy", "see 'load help'"},
		{"uniform shift=1", "a second pattern after uniform"},
		{"uniform=3", "the pattern is uniform"},
		{"shift", "the pattern is shift=N"},
		{"shift=", "the pattern is shift=N"},
		{"shift=0", "too small"},
		{"shift=x", "no number"},
		{"uniform size=0", "too small"},
		{"uniform size=-1", "no size"},
		{"uniform size=1e400", "no size"},
		{"uniform size=2GiB", "too large"},
		{"uniform size", "no size"},
		{"uniform mtu=5000", "too large"},
		{"uniform rate=101", "too large"},
		{"uniform rate=0", "too small"},
		{"uniform rate=nan", "no percentage"},
		{"uniform duration=10", "no time"},
		{"uniform duration=1us warmup=1us", "not shorter"},
		{"uniform buffer=1MiB", "too large"},
		{"uniform buffer=64", "no host can send"},
		{"uniform sl=16", "neither an SL"},
		{"uniform sl=3-1", "neither an SL"},
		{"uniform sl=1-", "neither an SL"},
		{"uniform sl=-1", "neither an SL"},
		{"uniform seed=18446744073709551616", "no number"},
		{"uniform hosts=host-0001", "at least two"},
		{"uniform hosts=host-0001,host-0001", "twice"},
		{"uniform hosts=host-0001,leaf-01", "is a switch"},
		{"uniform hosts=host-[0001-", "hosts="},
		{"uniform hosts=host-0001,nobody", "no node"},
		{"incast=leaf-01", "is a switch"},
		{"incast=nobody", "no node"},
		{"pair=host-0001", "a pair is two nodes"},
		{"pair=host-0001,host-0001", "to itself"},
		{"pair=host-0001,host-0002,16", "no SL"},
		{"pair=host-0001,host-0002,1,2", "more than two"},
		{"pair=host-0001,host-0002 hosts=host-0003", "no hosts="},
		{"pairs=here", "no absolute path"},
		{"pairs=/nowhere/at/all", "cannot read"},
		{"pairs=/dev/null", "no regular file"},
		{"shift=8 ", "no host sends"},
	};
	struct bed bed;

	bed_open(&bed, "fattree:radix=4,levels=2", "ftree");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[200];
		int r;

		snprintf(text, sizeof(text), "%s", cases[i].text);
		text[strcspn(text, " ") + strlen(text + strcspn(text, " "))] = '\0';
		if (text[strlen(text) - 1] == ' ')
			text[strlen(text) - 1] = '\0';
		bed.error[0] = '\0';
		r = prepare(&bed, text, NULL);
		CU_ASSERT_EQUAL(r, cases[i].error ? -EINVAL : 0);
		if (cases[i].error ? !strstr(bed.error, cases[i].error) : r) {
			printf("\n%s: \"%s\"", cases[i].text, bed.error);
			CU_FAIL("another error");
		}
	}
	bed_close(&bed);
}

static void test_files(void)
{
	static const struct {
		const char *text, *error;
		size_t pairs;
	} cases[] = {
		{"host-0001 host-0002\n\n# a comment\nhost-0003\thost-0004 1 # more\n", NULL, 2},
		{"", "has no pair", 0},
		{"host-0001 host-0002\nhost-0001 nobody\n", "line 2: load: no node", 0},
	};
	char path[] = "/tmp/test_load.XXXXXX", word[64];
	int fd = mkstemp(path);
	struct bed bed;

	bed_open(&bed, "fattree:radix=4,levels=2", "ftree");
	snprintf(word, sizeof(word), "pairs=%s", path);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CU_ASSERT_EQUAL(ftruncate(fd, 0), 0);
		CU_ASSERT_EQUAL(pwrite(fd, cases[i].text, strlen(cases[i].text), 0),
				(ssize_t)strlen(cases[i].text));
		CU_ASSERT_EQUAL(prepare(&bed, word, NULL), cases[i].error ? -EINVAL : 0);
		CU_ASSERT(!cases[i].error || strstr(bed.error, cases[i].error));
		CU_ASSERT(cases[i].error || bed.load.spec.num_pairs == cases[i].pairs);
	}
	close(fd);
	unlink(path);
	bed_close(&bed);
}

/* Patterns: to is by sender, UINT32_MAX where it sends nothing. */

static void destinations(const struct bed *bed, uint32_t *to, size_t hosts)
{
	const struct flow *flow = bed->load.flow;

	for (size_t h = 0; h < hosts; h++)
		to[h] = UINT32_MAX;
	for (size_t s = 0; s < flow->num_streams; s++)
		to[flow->streams[s].set.from] = flow->streams[s].set.to;
}

static void test_patterns(void)
{
	enum { HOSTS = 8 };
	uint32_t to[HOSTS];
	bool met[HOSTS] = {0};
	unsigned steps = 0;
	struct bed bed;

	bed_open(&bed, "fattree:radix=4,levels=2", "ftree");
	CU_ASSERT_EQUAL(prepare(&bed, "shift=3", NULL), 0);
	destinations(&bed, to, HOSTS);
	for (uint32_t h = 0; h < HOSTS; h++)
		CU_ASSERT_EQUAL(to[h], (h + 3) % HOSTS);
	CU_ASSERT_EQUAL(prepare(&bed, "bit-reverse", NULL), 0);
	destinations(&bed, to, HOSTS);
	CU_ASSERT_EQUAL(to[0], UINT32_MAX);
	CU_ASSERT_EQUAL(to[1], 4);
	CU_ASSERT_EQUAL(to[3], 6);
	CU_ASSERT_EQUAL(to[7], UINT32_MAX);
	CU_ASSERT_EQUAL(prepare(&bed, "permutation seed=3", NULL), 0);
	destinations(&bed, to, HOSTS);
	for (uint32_t h = 0; h < HOSTS; h++) {
		CU_ASSERT(to[h] < HOSTS && to[h] != h && !met[to[h]]);
		met[to[h] % HOSTS] = true;
		steps += (to[h] + HOSTS - h) % HOSTS == 1;
	}
	CU_ASSERT(steps < HOSTS);
	CU_ASSERT_EQUAL(prepare(&bed, "bisection", NULL), 0);
	destinations(&bed, to, HOSTS);
	for (uint32_t h = 0; h < HOSTS; h++)
		CU_ASSERT(to[h] != h && to[to[h]] == h);
	CU_ASSERT_EQUAL(prepare(&bed, "incast=host-0003", NULL), 0);
	destinations(&bed, to, HOSTS);
	for (uint32_t h = 0; h < HOSTS; h++)
		CU_ASSERT_EQUAL(to[h], h == 2 ? UINT32_MAX : 2);
	CU_ASSERT_EQUAL(prepare(&bed, "shift=1 hosts=host-0007,host-0002,host-0004", NULL), 0);
	destinations(&bed, to, HOSTS);
	CU_ASSERT_EQUAL(to[6], 1);
	CU_ASSERT_EQUAL(to[1], 3);
	CU_ASSERT_EQUAL(to[3], 6);
	CU_ASSERT_EQUAL(bed.load.num_senders, 3);
	bed_close(&bed);
}

static void use_8_vls(struct bed *bed)
{
	enum { VL_0_TO_7 = 4 };

	for (size_t d = 0; d < bed->world->count; d++) {
		struct device *device = bed->world->devices[d];

		for (unsigned p = 1; p <= device->num_ports; p++) {
			device->port[p].info.vl_cap = VL_0_TO_7;
			device->port[p].info.operational_vls = VL_0_TO_7;
		}
	}
}

/* The SLs of streams, and what the streams of a host share: its bytes and its rate. */
static void test_shares(void)
{
	const struct flow_stream_state *stream;
	uint64_t interval_ps;
	struct bed bed;

	bed_open(&bed, "single:hosts=6", "minhop");
	use_8_vls(&bed);
	CU_ASSERT_EQUAL(prepare(&bed, "shift=1 sl=2-4", NULL), 0);
	for (size_t s = 0; s < 6; s++) {
		stream = &bed.load.flow->streams[s];
		CU_ASSERT_EQUAL(stream->set.sl, 2 + (stream->set.from + stream->set.to) % 3);
	}
	CU_ASSERT_EQUAL(prepare(&bed, "incast=host-0006 sl=1-4", NULL), 0);
	for (size_t s = 0; s < 5; s++)
		CU_ASSERT_EQUAL(bed.load.flow->streams[s].set.sl, 1 + s % 4);
	CU_ASSERT_EQUAL(prepare(&bed,
				"pair=host-0001,host-0002,5 pair=host-0003,host-0002 "
				"pair=host-0004,host-0002 sl=1-2",
				NULL),
			0);
	CU_ASSERT_EQUAL(bed.load.flow->streams[0].set.sl, 5);
	CU_ASSERT_EQUAL(bed.load.flow->streams[1].set.sl, 2);
	CU_ASSERT_EQUAL(bed.load.flow->streams[2].set.sl, 1);
	CU_ASSERT_EQUAL(prepare(&bed, "uniform rate=50 bytes=1000", NULL), 0);
	interval_ps = bed.load.flow->streams[0].set.interval_ps;
	CU_ASSERT_EQUAL(prepare(&bed, "uniform rate=50 bytes=1000 sl=1-3", NULL), 0);
	CU_ASSERT_EQUAL(bed.load.flow->num_streams, 18);
	for (size_t s = 0; s < 18; s++) {
		stream = &bed.load.flow->streams[s];
		CU_ASSERT_EQUAL(stream->set.sl, 1 + s % 3);
		CU_ASSERT_EQUAL(stream->set.bytes, 334);
		CU_ASSERT_EQUAL(stream->set.interval_ps, 3 * interval_ps);
	}
	bed_close(&bed);
}

/* A rate is that of packets with their headers: 282 bytes each 45.12 ns are 50 Gb/s. */
static void test_offered(void)
{
	struct bed bed;

	bed_open(&bed, "single:hosts=2", "minhop");
	CU_ASSERT_EQUAL(run_load(&bed, "shift=1 size=256 rate=50 warmup=0ns", NULL),
			FLOW_TIME_OVER);
	CU_ASSERT_DOUBLE_EQUAL((double)flow_host_sent(bed.load.flow, 0), 625000.0, 282.0);
	CU_ASSERT_EQUAL(bed.load.offered_mbps, 100000);
	bed_close(&bed);
}

static void set_mtu(struct device_port *port, uint8_t mtu)
{
	port->info.neighbor_mtu = port->peer->info.neighbor_mtu = mtu;
}

/* The payload of packets is the smallest MTU of the hosts. */
static void test_payload(void)
{
	enum { MTU_1024 = 3, MTU_2048 = 4 };
	struct bed bed;

	bed_open(&bed, "single:hosts=4", "minhop");
	set_mtu(&world_device(bed.world, "host-0002")->port[1], MTU_1024);
	set_mtu(&world_device(bed.world, "host-0003")->port[1], MTU_2048);
	CU_ASSERT_EQUAL(prepare(&bed, "uniform", NULL), 0);
	CU_ASSERT_EQUAL(bed.load.flow->streams[0].set.mtu, 1024);
	CU_ASSERT_EQUAL(bed.load.flow->streams[0].set.message_bytes, 1024);
	CU_ASSERT_EQUAL(prepare(&bed, "uniform hosts=host-0003,host-0001", NULL), 0);
	CU_ASSERT_EQUAL(bed.load.flow->streams[0].set.mtu, 2048);
	CU_ASSERT_EQUAL(prepare(&bed, "uniform mtu=512 size=4KiB", NULL), 0);
	CU_ASSERT_EQUAL(bed.load.flow->streams[0].set.mtu, 512);
	CU_ASSERT_EQUAL(bed.load.flow->streams[0].set.message_bytes, 4096);
	bed_close(&bed);
}

/* Hosts without a LID or an ACTIVE link do not take part, and cannot be named. */
static void test_inactive(void)
{
	static const struct {
		const char *words, *error;
	} cases[] = {
		{"uniform hosts=host-0001,host-0002",
		 "port 1 of host-0002 cannot take part: it has no LID"},
		{"pair=host-0002,host-0001", "port 1 of host-0002 cannot take part: it has no LID"},
		{"pair=host-0001,host-0003",
		 "port 1 of host-0003 cannot take part: its link carries no data"},
		{"incast=host-0003",
		 "port 1 of host-0003 cannot take part: its link carries no data"},
	};
	struct bed bed;

	bed_open(&bed, "single:hosts=4", "minhop");
	world_device(bed.world, "host-0002")->port[1].info.lid = LID_NONE;
	world_device(bed.world, "host-0003")->port[1].info.port_state = PORT_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CU_ASSERT_EQUAL(prepare(&bed, cases[i].words, NULL), -EINVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(bed.error, cases[i].error));
	}
	CU_ASSERT_EQUAL(prepare(&bed, "uniform", NULL), 0);
	CU_ASSERT_EQUAL(bed.load.num_senders, 2);
	world_device(bed.world, "host-0004")->port[1].info.lid = LID_NONE;
	CU_ASSERT_EQUAL(prepare(&bed, "uniform", NULL), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.error, "1 adapter port is ACTIVE"));
	bed_close(&bed);
}

/* All others get the same number of messages; a uniform load reaches all others. */
static void test_destinations(void)
{
	struct bed bed;

	bed_open(&bed, "single:hosts=4", "minhop");
	CU_ASSERT_EQUAL(run_load(&bed, "all-to-all bytes=12288", NULL), FLOW_DELIVERED);
	for (uint32_t h = 0; h < 4; h++)
		CU_ASSERT_EQUAL(flow_host_received(bed.load.flow, h), 3 * HOP_BYTES);
	CU_ASSERT_EQUAL(run_load(&bed, "uniform bytes=1228800", NULL), FLOW_DELIVERED);
	for (uint32_t h = 0; h < 4; h++)
		CU_ASSERT_DOUBLE_EQUAL((double)flow_host_received(bed.load.flow, h),
				       300.0 * HOP_BYTES, 60.0 * HOP_BYTES);
	bed_close(&bed);
}

/* A good fat tree has no contention for any shift. */
static void test_shifts(void)
{
	char text[64];
	struct bed bed;

	bed_open(&bed, "fattree:radix=8,levels=2", "ftree");
	for (unsigned shift = 1; shift < 32; shift++) {
		uint64_t most = 0, least = UINT64_MAX;

		snprintf(text, sizeof(text), "shift=%u duration=50us warmup=5us", shift);
		CU_ASSERT_EQUAL(run_load(&bed, text, NULL), FLOW_TIME_OVER);
		for (uint32_t h = 0; h < 32; h++) {
			uint64_t bytes = flow_host_received(bed.load.flow, h);

			most = bytes > most ? bytes : most;
			least = bytes < least ? bytes : least;
		}
		/* 45 us at 100 Gb/s are 562,500 bytes: 136.5 packets. */
		CU_ASSERT(least >= 136 * HOP_BYTES && most <= 137 * HOP_BYTES);
	}
	bed_close(&bed);
}

/* Counters */

static void test_counters(void)
{
	struct port_counts *counts;
	uint64_t sent = 0, received = 0, hops;
	struct bed bed;

	bed_open(&bed, "fattree:radix=4,levels=2", "ftree");
	counts = &world_device(bed.world, "host-0001")->port[1].counts;
	counts->traffic[TRAFFIC_XMIT_PKTS] = 1000;
	counts->error[ERROR_XMIT_DISCARD] = UINT64_MAX;
	CU_ASSERT_EQUAL(run_load(&bed, "incast=host-0008 bytes=409600 life=20", NULL),
			FLOW_DELIVERED);
	load_count(&bed.load);
	CU_ASSERT_EQUAL(counts->traffic[TRAFFIC_XMIT_PKTS], 1100);
	CU_ASSERT_EQUAL(counts->traffic[TRAFFIC_XMIT_UNICAST], 100);
	CU_ASSERT_EQUAL(counts->traffic[TRAFFIC_XMIT_DATA], 100 * (HOP_BYTES - 2) / 4);
	CU_ASSERT_EQUAL(counts->traffic[TRAFFIC_RCV_PKTS], 0);
	CU_ASSERT_EQUAL(counts->error[ERROR_XMIT_DISCARD], UINT64_MAX);
	CU_ASSERT(counts->xmit_wait > 10 * (HOP_BYTES - 2) / 4);
	CU_ASSERT(counts->xmit_wait < 700 * HOP_BYTES / 4);
	counts = &world_device(bed.world, "host-0008")->port[1].counts;
	CU_ASSERT_EQUAL(counts->traffic[TRAFFIC_RCV_PKTS], 700);
	CU_ASSERT_EQUAL(counts->traffic[TRAFFIC_RCV_DATA], 700 * (HOP_BYTES - 2) / 4);
	hops = flow_totals(bed.load.flow)->hops;
	for (size_t i = 0; i < bed.world->count; i++) {
		const struct device *device = bed.world->devices[i];

		for (unsigned p = 1; p <= device->num_ports; p++) {
			sent += device->port[p].counts.traffic[TRAFFIC_XMIT_PKTS];
			received += device->port[p].counts.traffic[TRAFFIC_RCV_PKTS];
		}
	}
	CU_ASSERT_EQUAL(sent, hops + 1000);
	CU_ASSERT_EQUAL(received, hops);
	bed_close(&bed);
}

/* P_Keys: as at the senders' index 0, and as switches enforce them. */
static void test_p_keys(void)
{
	struct device *leaf;
	struct bed bed;

	bed_open(&bed, "fattree:radix=4,levels=2", "ftree");
	CU_ASSERT_EQUAL(run_load(&bed, "shift=4 bytes=4096 pkey=0x8001", NULL), FLOW_DELIVERED);
	CU_ASSERT_EQUAL(flow_totals(bed.load.flow)->discards[FLOW_HOST_KEY], 8);
	leaf = world_device(bed.world, "leaf-01");
	leaf->port[1].info.partition_enforcement_inbound = 1;
	leaf->port[2].info.partition_enforcement_outbound = 1;
	CU_ASSERT_EQUAL(run_load(&bed, "shift=4 bytes=4096 pkey=0x8001", NULL), FLOW_DELIVERED);
	load_count(&bed.load);
	CU_ASSERT_EQUAL(flow_totals(bed.load.flow)->discards[FLOW_KEY_IN], 1);
	CU_ASSERT_EQUAL(flow_totals(bed.load.flow)->discards[FLOW_KEY_OUT], 1);
	CU_ASSERT_EQUAL(leaf->port[1].counts.error[ERROR_RCV_CONSTRAINT], 1);
	CU_ASSERT_EQUAL(leaf->port[2].counts.error[ERROR_XMIT_CONSTRAINT], 1);
	CU_ASSERT_EQUAL(run_load(&bed, "shift=4 bytes=4096", NULL), FLOW_DELIVERED);
	CU_ASSERT_EQUAL(flow_totals(bed.load.flow)->delivered, 8);
	bed_close(&bed);
}

/* A link between switches uses VL0 only, so packets with SL 1 end before it. */
static void test_vls(void)
{
	struct device *leaf, *spine;
	struct bed bed;

	bed_open(&bed, "fattree:radix=4,levels=2", "ftree");
	leaf = world_device(bed.world, "leaf-01");
	for (unsigned p = 3; p <= 4; p++) {
		leaf->port[p].info.operational_vls = 1;
		leaf->port[p].peer->info.operational_vls = 1;
	}
	CU_ASSERT_EQUAL(run_load(&bed, "shift=2 bytes=4096 sl=1 life=20", NULL), FLOW_DELIVERED);
	load_count(&bed.load);
	CU_ASSERT_EQUAL(flow_totals(bed.load.flow)->delivered, 4);
	CU_ASSERT_EQUAL(flow_totals(bed.load.flow)->discards[FLOW_BAD_VL], 4);
	CU_ASSERT_EQUAL(leaf->port[1].counts.error[ERROR_RCV_SWITCH_RELAY], 1);
	spine = world_device(bed.world, "spine-01");
	CU_ASSERT_EQUAL(spine->port[4].counts.error[ERROR_RCV_SWITCH_RELAY], 1);
	CU_ASSERT_EQUAL(run_load(&bed, "shift=2 bytes=4096 life=20", NULL), FLOW_DELIVERED);
	CU_ASSERT_EQUAL(flow_totals(bed.load.flow)->delivered, 8);
	bed_close(&bed);
}

/* Data rates of links, from the width and the speeds of PortInfo. */
static void test_rates(void)
{
	enum { X1 = 1, X4 = 2, X12 = 8 };
	static const struct {
		uint8_t width, speed, ext, ext2, fdr10;
		uint32_t mbps;
	} cases[] = {
		{X1, 1, 0, 0, 0, 2000},	   {X4, 1, 0, 0, 0, 8000},   {X4, 2, 0, 0, 0, 16000},
		{X4, 4, 0, 0, 0, 32000},   {X4, 4, 0, 0, 1, 40000},  {X4, 4, 1, 0, 0, 54544},
		{X4, 4, 2, 0, 0, 100000},  {X4, 4, 4, 0, 0, 200000}, {X4, 4, 8, 0, 0, 400000},
		{X12, 4, 2, 0, 0, 300000}, {X1, 4, 4, 0, 0, 50000},  {X4, 4, 0, 1, 0, 800000},
	};
	struct device_port *port;
	struct bed bed;

	bed_open(&bed, "single:hosts=2", "minhop");
	port = &world_device(bed.world, "host-0002")->port[1];
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		port->info.link_width_active = cases[i].width;
		port->info.link_speed_active = cases[i].speed;
		port->info.link_speed_ext_active = cases[i].ext;
		port->info.link_speed_ext_active2 = cases[i].ext2;
		port->ext.link_speed_active = cases[i].fdr10;
		CU_ASSERT_EQUAL(prepare(&bed, "uniform", NULL), 0);
		CU_ASSERT_EQUAL(flow_link(bed.load.flow, flow_host_port(bed.load.flow, 1))->mbps,
				cases[i].mbps);
	}
	bed_close(&bed);
}

/* Sets all lifetimes of switches to infinite. */
static void live_forever(struct bed *bed)
{
	enum { NEVER = 20 };

	for (size_t d = 0; d < bed->world->count; d++) {
		struct device *device = bed->world->devices[d];

		device->sw.life_time_value = NEVER;
		for (unsigned p = 1; p <= device->num_ports; p++)
			device->port[p].info.hoq_life = NEVER;
	}
}

/* After a reset HOQLife is 4 us, so packets of an incast are lost. */
static void test_life(void)
{
	struct bed bed;

	bed_open(&bed, "fattree:radix=4,levels=2", "ftree");
	CU_ASSERT_EQUAL(run_load(&bed, "incast=host-0008 bytes=409600", NULL), FLOW_DELIVERED);
	CU_ASSERT(flow_totals(bed.load.flow)->discarded > 0);
	live_forever(&bed);
	CU_ASSERT_EQUAL(run_load(&bed, "incast=host-0008 bytes=409600", NULL), FLOW_DELIVERED);
	CU_ASSERT_EQUAL(flow_totals(bed.load.flow)->delivered, 700);
	bed_close(&bed);
}

/* Changes a setting of an uplink, so that no packet passes it. */
static void obstruct(struct device_port *port, enum flow_discard reason)
{
	enum { MTU_2048 = 4, ROWS = 5, ROW = 8, PAIR = 2 };
	size_t entries = port->info.vl_arbitration_low_cap + port->info.vl_arbitration_high_cap;

	if (reason == FLOW_TOO_LONG)
		port->info.neighbor_mtu = port->peer->info.neighbor_mtu = MTU_2048;
	if (reason == FLOW_BAD_VL)
		port->sl_to_vl = memset(mem_alloc(ROWS * ROW), 0xFF, ROWS * ROW);
	if (reason == FLOW_NO_WEIGHT) { /* only the last entry of the high table has one: VL1 */
		port->vl_arbitration = mem_array(entries, PAIR);
		port->vl_arbitration[PAIR * (entries - 1)] = 1;
		port->vl_arbitration[PAIR * (entries - 1) + 1] = 9;
	}
}

/* Reasons for discards from the settings of a switch, and their counters at it. */
static void test_settings(void)
{
	enum { FIRST = 3 /* of the uplinks */, PORTS = 4, PACKETS = 20, TOP = 4 };
	static const char load[] = "pair=host-0001,host-0005 pair=host-0002,host-0006 bytes=40960";
	static const struct {
		enum flow_discard reason;
		enum port_error counter;
		bool at_input; /* the counter is that of the port to the host */
	} cases[] = {
		{FLOW_TOO_LONG, ERROR_XMIT_DISCARD, false},
		{FLOW_NO_WEIGHT, ERROR_XMIT_DISCARD, false},
		{FLOW_BAD_VL, ERROR_RCV_SWITCH_RELAY, true},
		{FLOW_NO_ROUTE, ERROR_RCV_SWITCH_RELAY, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t counted = 0;
		struct device *leaf;
		struct bed bed;

		bed_open(&bed, "fattree:radix=4,levels=2", "ftree");
		leaf = world_device(bed.world, "leaf-01");
		CU_ASSERT_EQUAL(run_load(&bed, load, NULL), FLOW_DELIVERED);
		CU_ASSERT_EQUAL(flow_totals(bed.load.flow)->delivered, PACKETS);
		for (unsigned p = FIRST; p <= PORTS; p++)
			obstruct(&leaf->port[p], cases[i].reason);
		if (cases[i].reason == FLOW_NO_ROUTE)
			leaf->sw.linear_fdb_top = TOP; /* the receivers' LIDs are above */
		CU_ASSERT_EQUAL(run_load(&bed, load, NULL), FLOW_DELIVERED);
		load_count(&bed.load);
		CU_ASSERT_EQUAL(flow_totals(bed.load.flow)->discards[cases[i].reason], PACKETS);
		for (unsigned p = 1; p <= PORTS; p++) {
			if (cases[i].at_input == (p < FIRST))
				counted += leaf->port[p].counts.error[cases[i].counter];
			else
				CU_ASSERT_EQUAL(leaf->port[p].counts.error[cases[i].counter], 0);
		}
		CU_ASSERT_EQUAL(counted, PACKETS);
		bed_close(&bed);
	}
}

static uint32_t port_number(const struct bed *bed, const struct device_port *port)
{
	uint32_t number = 0;

	while (bed->load.port[number] != port)
		number++;
	return number;
}

/* The flow has the settings of each port of a switch, and its forwarding table up to its top. */
static void test_links(void)
{
	enum { VL_0_1 = 2, PAIR = 2 };
	struct device_port *port;
	struct port_info *info;
	const struct flow_node *node;
	const struct flow_link *link;
	struct bed bed;
	uint32_t number;

	bed_open(&bed, "single:hosts=2", "minhop");
	port = world_device(bed.world, "host-0002")->port[1].peer;
	info = &port->info;
	info->vl_high_limit = 7;
	info->vl_stall_count = 5;
	info->hoq_life = 12;
	info->operational_vls = port->peer->info.operational_vls = VL_0_1;
	port->vl_arbitration =
		mem_array(info->vl_arbitration_low_cap + info->vl_arbitration_high_cap, PAIR);
	port->vl_arbitration[0] = 1;
	port->vl_arbitration[PAIR * info->vl_arbitration_low_cap] = 3;
	port->device->sw.life_time_value = 13;
	port->device->sw.linear_fdb_top = port->peer->info.lid;
	CU_ASSERT_EQUAL(prepare(&bed, "shift=1", NULL), 0);
	number = port_number(&bed, port);
	link = flow_link(bed.load.flow, number);
	node = &bed.load.flow->nodes[bed.load.flow->ports[number].node];
	CU_ASSERT_EQUAL(link->vl_high_limit, 7);
	CU_ASSERT_EQUAL(link->vl_stall_count, 5);
	CU_ASSERT_EQUAL(link->hoq_life, 12);
	CU_ASSERT_EQUAL(link->vls, 2);
	CU_ASSERT_EQUAL(link->vl_low[0], 1);
	CU_ASSERT_EQUAL(link->vl_low_count, info->vl_arbitration_low_cap);
	CU_ASSERT_EQUAL(link->vl_high[0], 3);
	CU_ASSERT_EQUAL(link->vl_high_count, info->vl_arbitration_high_cap);
	CU_ASSERT_EQUAL(node->life_ps, UINT64_C(4096000) << 13);
	CU_ASSERT_EQUAL(node->lft_size, port->peer->info.lid + 1u);
	CU_ASSERT_EQUAL(prepare(&bed, "shift=1 life=4", NULL), 0);
	CU_ASSERT_EQUAL(flow_link(bed.load.flow, number)->hoq_life, 4);
	node = &bed.load.flow->nodes[bed.load.flow->ports[number].node];
	CU_ASSERT_EQUAL(node->life_ps, UINT64_C(4096000) << 4);
	bed_close(&bed);
}

/* The fabric may change while a load runs: the load does not see it. */
static void test_copies(void)
{
	struct device *leaf;
	uint64_t delivered;
	struct bed bed;

	bed_open(&bed, "fattree:radix=4,levels=2", "ftree");
	run_load(&bed, "uniform", NULL);
	delivered = flow_totals(bed.load.flow)->delivered;
	CU_ASSERT_EQUAL(prepare(&bed, "uniform", NULL), 0);
	leaf = world_device(bed.world, "leaf-01");
	memset(leaf->lft, LFT_NO_PORT, leaf->lft_size);
	world_reboot(bed.world, leaf);
	while (flow_run(bed.load.flow, 100) == FLOW_GOES_ON)
		;
	CU_ASSERT_EQUAL(flow_totals(bed.load.flow)->delivered, delivered);
	/* The next one does. */
	CU_ASSERT_EQUAL(prepare(&bed, "uniform", NULL), 0);
	CU_ASSERT_EQUAL(bed.load.num_senders, 6);
	bed_close(&bed);
}

/* Two hosts with links of 25 Gb/s send to one: rates after the warm-up, of the hosts that send or
 * receive, and the link that is loaded most. */
static void test_report(void)
{
	static const char *const hosts[] = {"host-0001", "host-0003", "host-0002"};
	double total, mean, least, most, percent, load;
	const char *line;
	char *text = NULL;
	size_t size = 0, count;
	FILE *out = open_memstream(&text, &size);
	struct bed bed;

	bed_open(&bed, "single:hosts=4", "minhop");
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++) {
		struct device_port *port = &world_device(bed.world, hosts[i])->port[1];

		port->info.link_width_active = port->peer->info.link_width_active = 1;
	}
	live_forever(&bed);
	CU_ASSERT_EQUAL(run_load(&bed,
				 "incast=host-0002 hosts=host-0001,host-0003 duration=1ms "
				 "warmup=400us links=1",
				 NULL),
			FLOW_TIME_OVER);
	load_report(&bed.load, FLOW_TIME_OVER, out);
	fflush(out);
	line = strstr(text, "\ninjected ");
	CU_ASSERT_FATAL(line != NULL);
	CU_ASSERT_EQUAL(sscanf(line, " injected %lf %zu %lf %lf %lf %lf", &total, &count, &mean,
			       &least, &most, &percent),
			6);
	CU_ASSERT_EQUAL(count, 2);
	CU_ASSERT_DOUBLE_EQUAL(total, 25, 0.2);
	CU_ASSERT_DOUBLE_EQUAL(mean, 12.5, 0.1);
	CU_ASSERT_DOUBLE_EQUAL(least, 12.5, 0.1);
	CU_ASSERT_DOUBLE_EQUAL(most, 12.5, 0.1);
	CU_ASSERT_DOUBLE_EQUAL(percent, 50, 0.5);
	line = strstr(text, "\ndelivered ");
	CU_ASSERT_FATAL(line != NULL);
	CU_ASSERT_EQUAL(sscanf(line, " delivered %lf %zu %lf %lf %lf %lf", &total, &count, &mean,
			       &least, &most, &percent),
			6);
	CU_ASSERT_EQUAL(count, 1);
	CU_ASSERT_DOUBLE_EQUAL(least, 25, 0.2);
	CU_ASSERT_DOUBLE_EQUAL(percent, 100, 1);
	line = strstr(text, "\nlinks ");
	CU_ASSERT_FATAL(line != NULL);
	CU_ASSERT_EQUAL(sscanf(line, " links %lf", &load), 1);
	CU_ASSERT_DOUBLE_EQUAL(load, 100, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(line, " [2] -> host-0002 [1]\n"));
	fclose(out);
	free(text);
	bed_close(&bed);
}

/* The command prints a report and ends; its state is freed also before the end. */
static void test_command(void)
{
	struct do_call call = {0};
	char *text = NULL;
	size_t size = 0;
	struct bed bed;
	int r;

	bed_open(&bed, "ring:switches=5,hosts=2", "minhop");
	call.world = bed.world;
	call.out = open_memstream(&text, &size);
	CU_ASSERT_EQUAL(do_parse(&call, "load shift=4 buffer=4160 life=20"), 0);
	do {
		r = call.command->run(&call);
	} while (r == DO_AGAIN);
	do_done(&call);
	CU_ASSERT_EQUAL(r, 0);
	fflush(call.out);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "deadlock     packets wait for each other forever"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nload end=blocked hosts=10 offered_gbps=1000.000 "));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, " deadlock=5 "));
	CU_ASSERT_EQUAL(do_parse(&call, "load uniform"), 0);
	CU_ASSERT_EQUAL(call.command->run(&call), DO_AGAIN);
	CU_ASSERT_EQUAL(call.command->run(&call), DO_AGAIN);
	do_done(&call);
	CU_ASSERT_EQUAL(do_parse(&call, "load uniform rate=no"), 0);
	CU_ASSERT_EQUAL(call.command->run(&call), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(call.error, "no percentage"));
	do_done(&call);
	CU_ASSERT_EQUAL(do_parse(&call, "load help"), 0);
	CU_ASSERT_EQUAL(call.command->run(&call), 0);
	fclose(call.out);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "incast=NODE"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "  buffer=BYTES"));
	free(text);
	bed_close(&bed);
}

/*
 * The verdict about credit loops. A cycle of channels (slots of links between switches) is found
 * in the paths between hosts only, because hosts alone send; the checker also has paths to and from
 * switches. For each pair of channels in sequence there is a host at the first switch whose packets
 * take both.
 */

struct turn {
	int32_t from, to; /* a host's end, -1: no path has the turn */
};

struct graph {
	const struct snapshot *snapshot;
	uint32_t slots;
	struct turn *turn; /* [channel][channel] */
};

static int32_t host_at(const struct snapshot *snapshot, uint32_t sw, int32_t other)
{
	for (uint32_t e = 0; e < snapshot->num_ends; e++) {
		if (snapshot->ends[e].sw == (int32_t)sw && (int32_t)e != other)
			return (int32_t)e;
	}
	return -1;
}

/* The channel by which a switch sends to a LID, or -1. */
static int64_t channel_to(const struct bed *bed, uint32_t sw, lid_t lid)
{
	const struct snap_switch *at = &bed->snapshot->switches[sw];
	uint8_t port = lft_port(bed->routes->lft[sw], lid);

	if (!port || port > at->num_ports || bed->snapshot->links[at->first_link + port].sw < 0)
		return -1;
	return at->first_link + port;
}

static struct graph graph_of(const struct bed *bed)
{
	const struct snapshot *snapshot = bed->snapshot;
	struct graph graph = {snapshot, snapshot->num_links, NULL};

	graph.turn = mem_alloc((size_t)graph.slots * graph.slots * sizeof(*graph.turn));
	memset(graph.turn, 0xFF, (size_t)graph.slots * graph.slots * sizeof(*graph.turn));
	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		for (uint32_t e = 0; e < snapshot->num_ends; e++) {
			lid_t lid = snapshot->ends[e].lid;
			int64_t first = channel_to(bed, s, lid), next;
			int32_t from = host_at(snapshot, s, (int32_t)e);

			if (first < 0 || from < 0)
				continue;
			next = channel_to(bed, (uint32_t)snapshot->links[first].sw, lid);
			if (next >= 0)
				graph.turn[first * graph.slots + next] =
					(struct turn){from, (int32_t)e};
		}
	}
	return graph;
}

/* A shortest cycle; returns its length, 0: none. */
static uint32_t graph_cycle(const struct graph *graph, uint32_t *cycle)
{
	uint32_t *came = mem_array(graph->slots, sizeof(*came));
	uint32_t *queue = mem_array(graph->slots, sizeof(*queue)), best = 0;

	for (uint32_t start = 0; start < graph->slots; start++) {
		uint32_t head = 0, tail = 0, last = UINT32_MAX, length = 1;

		for (uint32_t c = 0; c < graph->slots; c++)
			came[c] = UINT32_MAX;
		queue[tail++] = start;
		while (head < tail && last == UINT32_MAX) {
			uint32_t at = queue[head++];

			for (uint32_t to = 0; to < graph->slots; to++) {
				if (graph->turn[at * graph->slots + to].from < 0)
					continue;
				if (to == start)
					last = at;
				if (to == start || came[to] != UINT32_MAX)
					continue;
				came[to] = at;
				queue[tail++] = to;
			}
		}
		if (last == UINT32_MAX)
			continue;
		for (uint32_t at = last; at != start; at = came[at])
			length++;
		if (best && length >= best)
			continue;
		best = length;
		for (uint32_t i = length; i--; last = came[last])
			cycle[i] = last;
	}
	free(queue);
	free(came);
	return best;
}

static const char *end_name(const struct bed *bed, int32_t end)
{
	for (size_t i = 0; i < bed->world->count; i++) {
		if (bed->world->devices[i]->port[1].guid == bed->snapshot->ends[end].guid &&
		    !device_is_switch(bed->world->devices[i]))
			return find_name(bed->world->devices[i]);
	}
	return "?";
}

/* The load of a cycle blocks forever with infinite lifetimes, at a cycle at most as long. With
 * finite lifetimes packets are discarded and the hosts go on. */
static void check_cyclic(struct bed *bed, const struct graph *graph, const uint32_t *cycle,
			 uint32_t length)
{
	char text[WORDS][WORD];
	const char *words[WORDS] = {0};
	struct flow_deadlock deadlock;

	for (uint32_t i = 0; i < length; i++) {
		const struct turn *turn =
			&graph->turn[cycle[i] * graph->slots + cycle[(i + 1) % length]];

		snprintf(text[i], WORD, "pair=%s,%s", end_name(bed, turn->from),
			 end_name(bed, turn->to));
		words[i] = text[i];
	}
	CU_ASSERT_EQUAL(run_load(bed, "buffer=4160 life=20 duration=1ms", words), FLOW_BLOCKED);
	flow_find_deadlock(bed->load.flow, true, &deadlock);
	CU_ASSERT(deadlock.length > 0 && deadlock.length <= length);
	free(deadlock.cycle);
	CU_ASSERT_EQUAL(run_load(bed, "buffer=4160 life=3 duration=5ms", words), FLOW_TIME_OVER);
	CU_ASSERT(flow_totals(bed->load.flow)->discards[FLOW_SWITCH_LIFE] +
			  flow_totals(bed->load.flow)->discards[FLOW_HOQ_LIFE] >=
		  100);
}

static void check_acyclic(struct bed *bed)
{
	static const char *const loads[] = {"uniform",	 "all-to-all",	     "permutation",
					    "bisection", "uniform size=300", "incast=host-0001"};

	for (size_t i = 0; i < ARRAY_SIZE(loads); i++) {
		char text[128];
		struct flow_deadlock deadlock;

		snprintf(text, sizeof(text), "%s buffer=4160 life=20 duration=100us seed=%zu",
			 loads[i], i);
		CU_ASSERT_EQUAL(run_load(bed, text, NULL), FLOW_TIME_OVER);
		flow_find_deadlock(bed->load.flow, false, &deadlock);
		CU_ASSERT_EQUAL(deadlock.stuck, 0);
		CU_ASSERT_EQUAL(flow_totals(bed->load.flow)->discarded, 0);
	}
}

static void test_verdicts(void)
{
	static const struct {
		const char *spec, *engine;
	} cases[] = {
		{"ring:switches=5,hosts=2", "minhop"},
		{"ring:switches=5,hosts=2", "updn"},
		{"ring:switches=8,hosts=2", "minhop"},
		{"torus:dims=4x4,hosts=2", "minhop"},
		{"torus:dims=4x4,hosts=2", "updn"},
		{"torus:dims=5x5,hosts=1", "minhop"},
		{"torus:dims=3x3x3,hosts=2", "minhop"},
		{"torus:dims=3x3x3,hosts=2", "updn"},
		{"mesh:dims=4x4,hosts=2", "minhop"},
		{"mesh:dims=4x4,hosts=2", "updn"},
		{"hypercube:dim=4,hosts=2", "minhop"},
		{"hypercube:dim=4,hosts=2", "updn"},
		{"random:switches=16,degree=4,hosts=2,seed=1", "minhop"},
		{"random:switches=16,degree=4,hosts=2,seed=2", "minhop"},
		{"random:switches=16,degree=4,hosts=2,seed=2", "updn"},
		{"random:switches=24,degree=3,hosts=2,seed=3", "minhop"},
		{"random:switches=24,degree=3,hosts=2,seed=3", "updn"},
		{"dragonfly:a=4,h=2,p=2", "minhop"},
		{"hyperx:dims=4x4,hosts=2", "updn"},
		{"fattree:radix=8,levels=2", "ftree"},
		{"fattree:radix=4,levels=3", "ftree"},
		{"fattree:radix=8,levels=2,lose_links=20%,seed=4", "ftree"},
	};
	unsigned cyclic = 0, acyclic = 0;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct credit_report report;
		struct graph graph;
		uint32_t *cycle, length;
		struct bed bed;

		bed_open(&bed, cases[i].spec, cases[i].engine);
		credit_check(bed.snapshot, bed.routes, NULL, &report);
		graph = graph_of(&bed);
		cycle = mem_array(graph.slots, sizeof(*cycle));
		length = graph_cycle(&graph, cycle);
		CU_ASSERT(!length || report.loops);
		if (length) {
			cyclic++;
			check_cyclic(&bed, &graph, cycle, length);
		}
		if (!report.loops) {
			acyclic++;
			check_acyclic(&bed);
		}
		free(cycle);
		free(graph.turn);
		bed_close(&bed);
	}
	CU_ASSERT(cyclic >= 7);
	CU_ASSERT(acyclic >= 10);
}

static CU_TestInfo tests[] = {
	{"words", test_words},
	{"files of pairs", test_files},
	{"patterns", test_patterns},
	{"shares of streams", test_shares},
	{"offered rates", test_offered},
	{"payload", test_payload},
	{"inactive hosts", test_inactive},
	{"destinations", test_destinations},
	{"shifts on a fat tree", test_shifts},
	{"counters", test_counters},
	{"P_Keys", test_p_keys},
	{"VLs", test_vls},
	{"rates of links", test_rates},
	{"lifetimes", test_life},
	{"settings of switches", test_settings},
	{"settings of links", test_links},
	{"copies of the tables", test_copies},
	{"the report", test_report},
	{"the command", test_command},
	{"verdicts of the checker", test_verdicts},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return unit_main("load", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Partitions and multicast in the world of agents: which GMPs pass which ports, and the counters
 * and the trap of a violation. Also the copies of a packet for a group, and packets in a loop. The
 * fabric is three switches in a ring with two hosts each; the test writes tables and states into
 * the agents.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "mad/notice.h"
#include "sim/world.h"
#include "tests/unit/fixtures/ring_net.h"
#include "tests/unit/fixtures/unit.h"

enum { HOST_LID = 1, SWITCH_LID = 20, SM = 1, MTU_2048 = 4, VLS_4 = 3, MGROUP = 0xC005 };

struct program {
	struct world_client *client;
	unsigned heard;
	struct mad_addr from;
	uint8_t mad[MAD_SIZE];
};

struct bed {
	struct world *world;
	struct device *host[HOSTS], *sw[SWITCHES];
	struct program program[HOSTS];
	/* The last trap that the manager, on the first host, was sent; it represses all. */
	unsigned traps;
	struct notice notice;
	union notice_details details;
};

static void received(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size)
{
	struct program *program = ctx;

	CU_ASSERT_EQUAL(size, MAD_SIZE);
	program->heard++;
	program->from = *from;
	memcpy(program->mad, mad, MAD_SIZE);
}

static void managed(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size)
{
	struct bed *bed = ctx;
	uint8_t repress[MAD_SIZE];

	if (mad[3] != METHOD_TRAP || mad[1] != CLASS_SUBN_LID) {
		received(&bed->program[0], from, mad, size);
		return;
	}
	bed->traps++;
	attr_decode(&notice_format, mad + SMP_DATA_OFFSET, &bed->notice);
	CU_ASSERT(notice_details_decode(&bed->notice, &bed->details));
	memcpy(repress, mad, MAD_SIZE);
	repress[3] = METHOD_TRAP_REPRESS;
	CU_ASSERT_EQUAL(world_send(bed->program[0].client, from, repress, MAD_SIZE), 0);
}

static void activate(struct device *device, lid_t lid)
{
	for (unsigned p = 0; p <= device->num_ports; p++) {
		struct port_info *info = &device->port[p].info;

		info->port_state = PORT_ACTIVE;
		info->neighbor_mtu = MTU_2048;
		info->operational_vls = VLS_4;
		if (device_port_is_end(&device->port[p])) {
			info->lid = lid;
			info->master_sm_lid = SM;
		}
	}
}

/* Unicast goes round the ring, one way. */
static void program(struct bed *bed)
{
	for (unsigned h = 0; h < HOSTS; h++)
		activate(bed->host[h], HOST_LID + h);
	for (unsigned s = 0; s < SWITCHES; s++) {
		struct device *sw = bed->sw[s];

		activate(sw, SWITCH_LID + s);
		sw->sw.port_state_change = 0;
		sw->lft_size = LFT_BLOCK_LIDS;
		sw->lft = mem_alloc(LFT_BLOCK_LIDS);
		memset(sw->lft, LFT_NO_PORT, LFT_BLOCK_LIDS);
		sw->sw.linear_fdb_top = LFT_BLOCK_LIDS - 1;
		for (unsigned h = 0; h < HOSTS; h++)
			sw->lft[HOST_LID + h] = h / HOSTS_EACH == s ? 1 + h % HOSTS_EACH : NEXT;
		for (unsigned other = 0; other < SWITCHES; other++)
			sw->lft[SWITCH_LID + other] = other == s ? 0 : NEXT;
	}
}

static void bed_open(struct bed *bed)
{
	static const struct world_options options = {.seed = 1, .hop_ns = 200};
	struct net *net = ring_net();
	char name[16], error[256];

	*bed = (struct bed){0};
	CU_ASSERT_EQUAL_FATAL(world_new(net, &options, &bed->world, error, sizeof(error)), 0);
	net_free(net);
	for (unsigned s = 0; s < SWITCHES; s++) {
		snprintf(name, sizeof(name), "sw-%u", s);
		bed->sw[s] = world_device(bed->world, name);
	}
	for (unsigned h = 0; h < HOSTS; h++) {
		snprintf(name, sizeof(name), "host-%u", h);
		bed->host[h] = world_device(bed->world, name);
		bed->program[h].client =
			h ? world_attach(bed->world, bed->host[h], 1, received, &bed->program[h])
			  : world_attach(bed->world, bed->host[0], 1, managed, bed);
	}
	program(bed);
	world_set_issm(bed->program[0].client, true);
	world_advance(bed->world, 10 * 1000000);
	bed->traps = 0;
}

static void bed_close(struct bed *bed)
{
	world_free(bed->world);
}

static void pass(struct bed *bed)
{
	world_advance(bed->world, world_now_us(bed->world) + 10 * 1000000);
}

static uint64_t us_of(unsigned ms)
{
	return (uint64_t)ms * 1000;
}

static void set_p_keys(struct device *device, uint8_t port, const pkey_t *keys, unsigned count)
{
	uint32_t mod = device_is_switch(device) ? (uint32_t)port << 16 : 0;
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};

	for (unsigned i = 0; i < count; i++)
		be16_store(data + sizeof(pkey_t) * i, keys[i]);
	subn_build(mad, METHOD_SET, ATTR_PKEY_TABLE, mod, 0, NULL, data);
	CU_ASSERT(device_handle(device, 1, mad));
	CU_ASSERT_EQUAL(mad[5], STATUS_OK);
}

static void set_p_key(struct device *device, uint8_t port, pkey_t key)
{
	set_p_keys(device, port, &key, 1);
}

/* A program's MAD of a class that no agent answers. */
static void send_to(struct bed *bed, unsigned from, lid_t dlid, unsigned pkey_index)
{
	enum { CLASS_VENDOR = 0x32 };
	const uint8_t mad[MAD_SIZE] = {1, CLASS_VENDOR, 1, METHOD_SEND};
	const struct mad_addr to = {
		.lid = dlid, .qpn = 1, .sl = 3, .pkey_index = (uint16_t)pkey_index};

	CU_ASSERT_EQUAL(world_send(bed->program[from].client, &to, mad, sizeof(mad)), 0);
	pass(bed);
}

/* Adapters */

static void test_end_ports(void)
{
	static const struct {
		pkey_t from, to;
		bool passes;
	} cases[] = {
		{0xFFFF, 0xFFFF, true},	 {0x8001, 0x8001, true},  {0x8001, 0x0001, true},
		{0x0001, 0x8001, true},	 {0x0001, 0x0001, false}, {0x8001, 0x8002, false},
		{0x8001, 0x0002, false}, {0x8000, 0x8000, false}, {0x0000, 0x8000, false},
		{0x7FFF, 0xFFFF, true},	 {0x7FFF, 0x7FFF, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bed bed;

		bed_open(&bed);
		set_p_key(bed.host[1], 1, cases[i].from);
		set_p_key(bed.host[4], 1, cases[i].to);
		send_to(&bed, 1, HOST_LID + 4, 0);
		CU_ASSERT_EQUAL(bed.program[4].heard, cases[i].passes);
		CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_p_key, !cases[i].passes);
		CU_ASSERT_EQUAL(bed.host[4]->port[1].info.p_key_violations, !cases[i].passes);
		CU_ASSERT_EQUAL(bed.traps, !cases[i].passes);
		bed_close(&bed);
	}
}

/* Any entry will do; the first that does is the index that the receiver sees. */
static void test_indexes(void)
{
	static const pkey_t keys[] = {0x7FFF, 0x0001, 0x8001, 0x8002};
	struct bed bed;

	bed_open(&bed);
	set_p_keys(bed.host[1], 1, keys, ARRAY_SIZE(keys));
	set_p_keys(bed.host[4], 1, keys, ARRAY_SIZE(keys));
	send_to(&bed, 1, HOST_LID + 4, 3);
	CU_ASSERT_EQUAL(bed.program[4].heard, 1);
	CU_ASSERT_EQUAL(bed.program[4].from.pkey_index, 3);
	send_to(&bed, 1, HOST_LID + 4, 1); /* limited, which meets the full one */
	CU_ASSERT_EQUAL(bed.program[4].heard, 2);
	CU_ASSERT_EQUAL(bed.program[4].from.pkey_index, 2);
	send_to(&bed, 1, HOST_LID + 4, 0);
	send_to(&bed, 1, HOST_LID + 4, 4);   /* nothing there */
	send_to(&bed, 1, HOST_LID + 4, 500); /* beyond the table */
	CU_ASSERT_EQUAL(bed.program[4].heard, 2);
	CU_ASSERT_EQUAL(bed.host[4]->port[1].info.p_key_violations, 3);
	bed_close(&bed);
}

/* SMPs have no P_Keys: a host with wrong P_Keys can be repaired. */
static void test_smps_pass(void)
{
	const struct mad_addr to = {.lid = HOST_LID + 4};
	uint8_t mad[MAD_SIZE];
	struct bed bed;

	bed_open(&bed);
	set_p_key(bed.host[4], 1, 0x0005);
	set_p_key(bed.sw[2], 1, 0x0006);
	bed.sw[2]->port[1].info.partition_enforcement_outbound = 1;
	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0, NULL, NULL);
	CU_ASSERT_EQUAL(world_send(bed.program[1].client, &to, mad, MAD_SIZE), 0);
	pass(&bed);
	CU_ASSERT_EQUAL(bed.program[1].heard, 1);
	CU_ASSERT_EQUAL(bed.traps, 0);
	bed_close(&bed);
}

/* An agent answers with the P_Key of the request, as its own port has it. */
static void test_answer_of_an_agent(void)
{
	static const pkey_t full[] = {0x7FFF, 0x8001}, limited[] = {0x7FFF, 0x0001};
	struct mad_addr to = {.lid = HOST_LID + 4, .qpn = 1, .pkey_index = 1};
	uint8_t mad[MAD_SIZE] = {1, CLASS_PERF, 1, METHOD_GET};
	struct bed bed;

	be16_store(mad + 16, ATTR_CLASS_PORT_INFO);
	bed_open(&bed);
	set_p_keys(bed.host[1], 1, full, 2);
	set_p_keys(bed.host[4], 1, limited, 2);
	CU_ASSERT_EQUAL(world_send(bed.program[1].client, &to, mad, MAD_SIZE), 0);
	pass(&bed);
	CU_ASSERT_EQUAL(bed.program[1].heard, 1);
	CU_ASSERT_EQUAL(bed.program[1].from.pkey_index, 1);
	to.pkey_index = 0;
	CU_ASSERT_EQUAL(world_send(bed.program[1].client, &to, mad, MAD_SIZE), 0);
	pass(&bed);
	CU_ASSERT_EQUAL(bed.program[1].heard, 1);
	bed_close(&bed);
}

static void test_bad_p_key(void)
{
	struct bed bed;

	bed_open(&bed);
	set_p_key(bed.host[1], 1, 0x0012);
	bed.host[4]->port[1].info.p_key_violations = UINT16_MAX - 1;
	send_to(&bed, 1, HOST_LID + 4, 0);
	CU_ASSERT_EQUAL(bed.traps, 1);
	CU_ASSERT_EQUAL(bed.notice.trap_number, TRAP_BAD_P_KEY);
	CU_ASSERT_EQUAL(bed.notice.producer_type, NODE_CA);
	CU_ASSERT_EQUAL(bed.notice.issuer_lid, HOST_LID + 4);
	CU_ASSERT_EQUAL(bed.details.bad_key.lid1, HOST_LID + 1);
	CU_ASSERT_EQUAL(bed.details.bad_key.lid2, HOST_LID + 4);
	CU_ASSERT_EQUAL(bed.details.bad_key.key, 0x0012);
	CU_ASSERT_EQUAL(bed.details.bad_key.sl, 3);
	CU_ASSERT_EQUAL(bed.details.bad_key.qp1, 1);
	CU_ASSERT_EQUAL(bed.details.bad_key.qp2, 1);
	send_to(&bed, 1, HOST_LID + 4, 0);
	CU_ASSERT_EQUAL(bed.traps, 2);
	CU_ASSERT_EQUAL(bed.host[4]->port[1].info.p_key_violations, UINT16_MAX); /* and stays */
	bed_close(&bed);
}

static void test_bad_q_key(void)
{
	struct bed bed;

	bed_open(&bed);
	world_set_q_key(bed.program[1].client, 0x0B1B);
	send_to(&bed, 1, HOST_LID + 4, 0);
	CU_ASSERT_EQUAL(bed.program[4].heard, 0);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_q_key, 1);
	CU_ASSERT_EQUAL(bed.host[4]->port[1].info.q_key_violations, 1);
	CU_ASSERT_EQUAL(bed.host[4]->port[1].info.p_key_violations, 0);
	CU_ASSERT_EQUAL(bed.notice.trap_number, TRAP_BAD_Q_KEY);
	CU_ASSERT_EQUAL(bed.details.bad_key.key, 0x0B1B);
	bed_close(&bed);
}

/* A storm of bad packets is a trap for each SubnetTimeOut, about the last of them. */
static void test_storm(void)
{
	enum { STORM_MS = 100, TIMEOUT = 14 /* 67 ms */, DATA_VLS = 4 };
	struct bed bed;

	bed_open(&bed);
	set_p_key(bed.host[1], 1, 0x0012);
	bed.host[4]->port[1].info.subnet_timeout = TIMEOUT;
	for (unsigned ms = 0; ms < STORM_MS; ms++) {
		const uint8_t mad[MAD_SIZE] = {1, 0x32, 1, METHOD_SEND};
		const struct mad_addr to = {.lid = HOST_LID + 4, .qpn = 1, .sl = ms % DATA_VLS};

		CU_ASSERT_EQUAL(world_send(bed.program[1].client, &to, mad, MAD_SIZE), 0);
		world_advance(bed.world, world_now_us(bed.world) + us_of(1));
	}
	CU_ASSERT_EQUAL(bed.traps, 2);
	pass(&bed);
	CU_ASSERT_EQUAL(bed.traps, 3); /* covers the violations since the second */
	CU_ASSERT_EQUAL(bed.details.bad_key.sl, (STORM_MS - 1) % DATA_VLS);
	CU_ASSERT_EQUAL(bed.host[4]->port[1].info.p_key_violations, STORM_MS);
	bed_close(&bed);
}

/* Switches */

static void test_switch_ports(void)
{
	static const struct {
		pkey_t packet, table;
		uint8_t inbound,
			outbound; /* of the switch's ports to the sender and the receiver */
		bool passes;
	} cases[] = {
		{0x8001, 0x8002, 0, 0, true},  {0x8001, 0x8002, 1, 0, false},
		{0x8001, 0x8002, 0, 1, false}, {0x8001, 0x8001, 1, 1, true},
		{0x0001, 0x0001, 1, 1, true}, /* only the partition counts */
		{0x8001, 0x0001, 1, 1, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		static const pkey_t both[] = {0x8001, 0x0001};
		struct port_counts *in, *out;
		struct bed bed;

		bed_open(&bed);
		in = &bed.sw[0]->port[2].counts;
		out = &bed.sw[2]->port[1].counts;
		set_p_key(bed.host[1], 1, cases[i].packet);
		set_p_keys(bed.host[4], 1, both, 2);
		set_p_key(bed.sw[0], 2, cases[i].table);
		set_p_key(bed.sw[2], 1, cases[i].table);
		bed.sw[0]->port[2].info.partition_enforcement_inbound = cases[i].inbound;
		bed.sw[2]->port[1].info.partition_enforcement_outbound = cases[i].outbound;
		send_to(&bed, 1, HOST_LID + 4, 0);
		CU_ASSERT_EQUAL(bed.program[4].heard, cases[i].passes);
		CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_p_key, !cases[i].passes);
		CU_ASSERT_EQUAL(in->error[ERROR_RCV_CONSTRAINT],
				!cases[i].passes && cases[i].inbound);
		CU_ASSERT_EQUAL(out->error[ERROR_XMIT_CONSTRAINT],
				!cases[i].passes && cases[i].outbound);
		CU_ASSERT_EQUAL(out->error[ERROR_XMIT_DISCARD], 0);
		CU_ASSERT_EQUAL(bed.host[4]->port[1].info.p_key_violations, 0);
		CU_ASSERT_EQUAL(bed.traps, !cases[i].passes);
		bed_close(&bed);
	}
}

static void test_switch_bad_p_key(void)
{
	struct bed bed;

	bed_open(&bed);
	set_p_key(bed.host[1], 1, 0x0012);
	set_p_key(bed.sw[0], 2, 0x8013);
	bed.sw[0]->port[2].info.partition_enforcement_inbound = 1;
	send_to(&bed, 1, HOST_LID + 4, 0);
	CU_ASSERT_EQUAL(bed.notice.trap_number, TRAP_SWITCH_BAD_P_KEY);
	CU_ASSERT_EQUAL(bed.notice.producer_type, NODE_SWITCH);
	CU_ASSERT_EQUAL(bed.details.switch_bad_p_key.data_valid, 0xFC00); /* all but the GIDs */
	CU_ASSERT_EQUAL(bed.details.switch_bad_p_key.lid1, HOST_LID + 1);
	CU_ASSERT_EQUAL(bed.details.switch_bad_p_key.lid2, HOST_LID + 4);
	CU_ASSERT_EQUAL(bed.details.switch_bad_p_key.p_key, 0x0012);
	CU_ASSERT_EQUAL(bed.details.switch_bad_p_key.switch_lid, SWITCH_LID);
	CU_ASSERT_EQUAL(bed.details.switch_bad_p_key.port_num, 2);
	bed_close(&bed);
}

/* A switch that cannot enforce does not hold the bits. */
static void test_enforcement_cap(void)
{
	struct port_info info;
	struct bed bed;

	bed_open(&bed);
	for (uint8_t cap = 0; cap < 2; cap++) {
		uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};

		bed.sw[0]->sw.inbound_enforcement_cap = cap;
		bed.sw[0]->sw.outbound_enforcement_cap = !cap;
		info = bed.sw[0]->port[1].info;
		info.port_state = info.port_physical_state = 0;
		info.partition_enforcement_inbound = info.partition_enforcement_outbound = 1;
		format_encode(&port_info_format, &info, data);
		subn_build(mad, METHOD_SET, ATTR_PORT_INFO, PORT_INFO_EXTENDED_SPEEDS | 1, 0, NULL,
			   data);
		CU_ASSERT(device_handle(bed.sw[0], 1, mad));
		attr_decode(&port_info_format, mad + SMP_DATA_OFFSET, &info);
		CU_ASSERT_EQUAL(info.partition_enforcement_inbound, cap);
		CU_ASSERT_EQUAL(info.partition_enforcement_outbound, !cap);
	}
	bed_close(&bed);
}

/* Multicast */

static void set_mask(struct device *sw, unsigned ports)
{
	if (!sw->mft)
		sw->mft = mem_array(1, sizeof(uint16_t) * sw->sw.multicast_fdb_cap);
	be16_store(sw->mft + sizeof(uint16_t) * (MGROUP - LID_MULTICAST_MIN), ports);
}

/* Hosts 1, 2 and 3 and the second switch itself, as a tree. */
static void make_tree(struct bed *bed)
{
	set_mask(bed->sw[0], 1 << 2 | 1 << NEXT);
	set_mask(bed->sw[1], 1 << 0 | 1 << 1 | 1 << 2 | 1 << PREVIOUS);
}

/* The number of MADs that each host received, as digits. */
static unsigned heard(const struct bed *bed)
{
	unsigned digits = 0;

	for (unsigned h = 0; h < HOSTS; h++)
		digits = 10 * digits + bed->program[h].heard;
	return digits;
}

static void test_multicast(void)
{
	struct world_spread spread = {0};
	struct bed bed;

	bed_open(&bed);
	make_tree(&bed);
	send_to(&bed, 0, MGROUP, 0); /* no member */
	CU_ASSERT_EQUAL(heard(&bed), 11100);
	CU_ASSERT_EQUAL(bed.program[3].from.lid, HOST_LID);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_no_client, 1); /* on the switch */
	send_to(&bed, 2, MGROUP, 0);
	CU_ASSERT_EQUAL(heard(&bed), 21200); /* not to itself */
	CU_ASSERT_EQUAL(world_stats(bed.world)->gmps, 5);
	CU_ASSERT_EQUAL(world_multicast(bed.world, bed.host[0], 1, MGROUP, NULL, NULL, &spread), 0);
	CU_ASSERT_EQUAL(spread.receivers, 4);
	CU_ASSERT_EQUAL(spread.again, 0);
	CU_ASSERT_EQUAL(spread.circles, 0);
	/* A switch in whose table the group is empty. */
	send_to(&bed, 4, MGROUP, 0);
	CU_ASSERT_EQUAL(heard(&bed), 21200);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_no_route, 1);
	CU_ASSERT_EQUAL(bed.sw[2]->port[1].counts.error[ERROR_RCV_SWITCH_RELAY], 1);
	/* Each link of the tree carried it once; multicast has counters of its own. */
	CU_ASSERT_EQUAL(bed.sw[0]->port[NEXT].counts.traffic[TRAFFIC_XMIT_MULTICAST], 1);
	CU_ASSERT_EQUAL(bed.sw[0]->port[NEXT].counts.traffic[TRAFFIC_RCV_MULTICAST], 1);
	bed.sw[0]->port[NEXT].info.port_state = PORT_INIT;
	send_to(&bed, 0, MGROUP, 0);
	CU_ASSERT_EQUAL(heard(&bed), 31200);
	CU_ASSERT_EQUAL(bed.sw[0]->port[NEXT].counts.error[ERROR_XMIT_DISCARD], 1);
	CU_ASSERT_EQUAL(bed.traps, 0);
	bed_close(&bed);
}

static void test_multicast_p_keys(void)
{
	struct bed bed;

	bed_open(&bed);
	make_tree(&bed);
	set_p_key(bed.host[0], 1, 0x8001);
	set_p_key(bed.host[1], 1, 0x0001);
	set_p_key(bed.host[2], 1, 0x8001);
	set_p_key(bed.sw[1], 2, 0x8005);
	bed.sw[1]->port[2].info.partition_enforcement_outbound = 1;
	send_to(&bed, 0, MGROUP, 0);
	CU_ASSERT_EQUAL(heard(&bed), 11000);
	CU_ASSERT_EQUAL(bed.sw[1]->port[2].counts.error[ERROR_XMIT_CONSTRAINT], 1);
	CU_ASSERT_EQUAL(bed.traps,
			2); /* of the enforcing switch, and of its port 0, default only */
	CU_ASSERT_EQUAL(bed.sw[1]->port[0].info.p_key_violations, 0); /* a base one counts none */
	bed_close(&bed);
}

/* An agent that receives a request by multicast answers as itself. */
static void test_multicast_to_agents(void)
{
	struct mad_addr to = {.lid = MGROUP, .qpn = 1, .has_grh = true};
	uint8_t mad[MAD_SIZE] = {1, CLASS_PERF, 1, METHOD_GET};
	struct bed bed;

	be16_store(mad + 16, ATTR_CLASS_PORT_INFO);
	bed_open(&bed);
	set_mask(bed.sw[0], 1 << 1 | 1 << 2);
	memset(to.grh.dgid, 0xFF, GID_SIZE);
	CU_ASSERT_EQUAL(world_send(bed.program[0].client, &to, mad, MAD_SIZE), 0);
	pass(&bed);
	CU_ASSERT_EQUAL(bed.program[0].heard, 1);
	CU_ASSERT_EQUAL(bed.program[0].from.lid, HOST_LID + 1);
	CU_ASSERT_EQUAL(be64_load(bed.program[0].from.grh.sgid + 8), bed.host[1]->port[1].guid);
	bed_close(&bed);
}

/* A packet in a loop ends where it came from, and copies do not multiply forever. */
static void test_multicast_circles(void)
{
	struct world_spread spread = {0};
	struct bed bed;

	bed_open(&bed);
	for (unsigned s = 0; s < SWITCHES; s++)
		set_mask(bed.sw[s], 1 << 2 | 1 << NEXT | 1 << PREVIOUS);
	send_to(&bed, 0, MGROUP, 0);
	/* Both ways round: each member has it from both sides, the first also from the host. */
	CU_ASSERT_EQUAL(heard(&bed), 30202);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_circle, 2);
	CU_ASSERT_EQUAL(world_multicast(bed.world, bed.host[0], 1, MGROUP, NULL, NULL, &spread), 0);
	CU_ASSERT_EQUAL(spread.receivers, 3);
	CU_ASSERT_EQUAL(spread.again, 4);
	CU_ASSERT_EQUAL(spread.circles, 2);
	/* The world ends while copies are on their way. */
	send_to(&bed, 0, MGROUP, 0);
	world_advance(bed.world, world_now_us(bed.world));
	bed_close(&bed);
}

/* MLIDs that the table does not cover: default ports, 14.2.5.4. */
static void test_default_ports(void)
{
	static const struct {
		lid_t mlid;
		unsigned from, heard;
	} cases[] = {
		{0xC006, 0, 10000},	   /* above the top, to the primary port */
		{0xC006, 1, 100000},	   /* and from there to the other */
		{0xC000 + 1024, 0, 10000}, /* beyond the table */
		{MGROUP, 0, 10000},	   /* covered: only the mask counts */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bed bed;

		bed_open(&bed);
		set_mask(bed.sw[0], 1 << 2);
		bed.sw[0]->sw.multicast_fdb_top = MGROUP;
		bed.sw[0]->sw.default_multicast_primary_port = 2;
		bed.sw[0]->sw.default_multicast_not_primary_port = 1;
		send_to(&bed, cases[i].from, cases[i].mlid, 0);
		CU_ASSERT_EQUAL(heard(&bed), cases[i].heard);
		CU_ASSERT_EQUAL(device_mft_spreads(bed.sw[0], cases[i].mlid, 1),
				cases[i].mlid != MGROUP);
		CU_ASSERT_TRUE(device_mft_spreads(bed.sw[0], cases[i].mlid, 2));
		bed.sw[0]->sw.default_multicast_primary_port = 0;
		bed.sw[0]->sw.default_multicast_not_primary_port = LFT_NO_PORT;
		send_to(&bed, cases[i].from, cases[i].mlid, 0);
		CU_ASSERT_EQUAL(heard(&bed),
				cases[i].mlid == MGROUP ? 2 * cases[i].heard : cases[i].heard);
		CU_ASSERT_FALSE(device_mft_spreads(bed.sw[0], cases[i].mlid, 1));
		CU_ASSERT_FALSE(device_mft_spreads(bed.sw[0], cases[i].mlid, 0));
		CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_no_client, 0);
		bed_close(&bed);
	}
}

/* VL15 knows no groups. */
static void test_no_multicast_smps(void)
{
	const struct mad_addr to = {.lid = MGROUP};
	uint8_t mad[MAD_SIZE];
	struct bed bed;

	bed_open(&bed);
	make_tree(&bed);
	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0, NULL, NULL);
	CU_ASSERT_EQUAL(world_send(bed.program[1].client, &to, mad, MAD_SIZE), 0);
	pass(&bed);
	CU_ASSERT_EQUAL(bed.program[1].heard, 0);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_no_route, 1);
	bed_close(&bed);
}

static const CU_TestInfo tests[] = {
	{"P_Keys at end ports", test_end_ports},
	{"indexes of P_Keys", test_indexes},
	{"SMPs have no P_Key", test_smps_pass},
	{"P_Key of an answer", test_answer_of_an_agent},
	{"trap 257", test_bad_p_key},
	{"trap 258", test_bad_q_key},
	{"a storm of bad packets", test_storm},
	{"P_Keys at switches", test_switch_ports},
	{"trap 259", test_switch_bad_p_key},
	{"enforcement that a switch lacks", test_enforcement_cap},
	{"multicast", test_multicast},
	{"multicast and P_Keys", test_multicast_p_keys},
	{"multicast to agents", test_multicast_to_agents},
	{"multicast in circles", test_multicast_circles},
	{"default multicast ports", test_default_ports},
	{"no multicast SMPs", test_no_multicast_smps},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return unit_main("world_keys", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Virtual HCAs and their packets: the ways through three switches in a ring, every reason for which
 * a packet is dropped, copies of multicast, what the hardware refuses, and the MADs of a host. The
 * test writes tables and states into the agents. It writes and reads packets with functions of its
 * own.
 */
#include "sim/hca.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "mad/notice.h"
#include "sim/capture.h"
#include "sim/find.h"
#include "sim/world_parts.h"
#include "tests/unit/fixtures/ring_net.h"
#include "tests/unit/fixtures/unit.h"

enum {
	HOST_LID = 1,
	SWITCH_LID = 20,
	SM = 1,
	MTU_2048 = 4,
	MTU_256 = 1,
	VLS_4 = 3,
	MLID = 0xC005,
	QP = 0x48,
	MY_QP = 0x4A,
	Q_KEY = 0x0B1B,
	ROOM = 8 + 40 + 12 + 28 + 4096,
	HEADERS = 8 + 12 + 8,
	GRH = 40,
};

struct guest {
	struct hca *hca;
	unsigned heard, changes;
	bool deaf;
	uint8_t port;
	size_t size;
	uint8_t packet[ROOM]; /* the last */
};

struct bed {
	struct world *world;
	struct device *host[HOSTS], *sw[SWITCHES];
	struct guest guest[HOSTS]; /* all but the first */
	/* The manager, a program on the first host. */
	struct world_client *manager;
	unsigned heard, traps;
	struct mad_addr from;
	struct notice notice;
	union notice_details details;
};

static bool packet_heard(void *ctx, uint8_t port, const uint8_t *packet, size_t size)
{
	struct guest *guest = ctx;

	if (guest->deaf)
		return false;
	guest->heard++;
	guest->port = port;
	guest->size = size;
	memcpy(guest->packet, packet, size);
	return true;
}

static void changed(void *ctx)
{
	struct guest *guest = ctx;

	guest->changes++;
}

static void managed(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size)
{
	struct bed *bed = ctx;
	uint8_t repress[MAD_SIZE];

	CU_ASSERT_EQUAL(size, MAD_SIZE);
	bed->heard++;
	bed->from = *from;
	if (mad[3] != METHOD_TRAP || mad[1] != CLASS_SUBN_LID)
		return;
	bed->traps++;
	attr_decode(&notice_format, mad + SMP_DATA_OFFSET, &bed->notice);
	CU_ASSERT(notice_details_decode(&bed->notice, &bed->details));
	memcpy(repress, mad, MAD_SIZE);
	repress[3] = METHOD_TRAP_REPRESS;
	CU_ASSERT_EQUAL(world_send(bed->manager, from, repress, MAD_SIZE), 0);
}

static void pass(struct bed *bed)
{
	world_advance(bed->world, world_now_us(bed->world) + 10 * 1000000);
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
		free(sw->lft);
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
		const struct hca_user user = {packet_heard, changed, &bed->guest[h]};

		snprintf(name, sizeof(name), "host-%u", h);
		bed->host[h] = world_device(bed->world, name);
		if (!h)
			continue;
		bed->guest[h].hca = hca_attach(bed->world, bed->host[h], &user);
		hca_start(bed->guest[h].hca);
	}
	bed->manager = world_attach(bed->world, bed->host[0], 1, managed, bed);
	pass(bed); /* links train */
	program(bed);
	world_set_issm(bed->manager, true);
	pass(bed);
	bed->traps = bed->heard = 0;
	world_reset_stats(bed->world);
}

static void bed_close(struct bed *bed)
{
	world_free(bed->world);
}

static void set_p_key(struct device *device, uint8_t port, pkey_t key)
{
	uint32_t mod = device_is_switch(device) ? (uint32_t)port << 16 : 0;
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};

	be16_store(data, key);
	subn_build(mad, METHOD_SET, ATTR_PKEY_TABLE, mod, 0, NULL, data);
	CU_ASSERT(device_handle(device, 1, mad));
	CU_ASSERT_EQUAL(mad[5], STATUS_OK);
}

/* Packets by hand */

struct datagram {
	lid_t slid, dlid;
	uint8_t vl, sl;
	uint32_t dst_qp, src_qp, q_key;
	pkey_t p_key;
	const uint8_t *dgid; /* NULL: no GRH */
	guid_t sguid;
	unsigned size; /* of the payload */
	uint8_t mgmt_class, method;
	uint16_t attr_id;
};

static size_t build(const struct datagram *datagram, uint8_t out[ROOM])
{
	unsigned pad = -datagram->size & 3;
	size_t routing = datagram->dgid ? 8 + GRH : 8, size = routing + 20 + datagram->size + pad;
	uint8_t *at = out + routing;

	memset(out, 0, ROOM);
	out[0] = (uint8_t)(datagram->vl << 4);
	out[1] = (uint8_t)(datagram->sl << 4 | (datagram->dgid ? 3 : 2));
	be16_store(out + 2, datagram->dlid);
	be16_store(out + 4, (uint16_t)((size + 4) / 4));
	be16_store(out + 6, datagram->slid);
	if (datagram->dgid) {
		out[8] = 0x60;
		be16_store(out + 12, (uint16_t)(size - routing + 4));
		out[14] = 0x1B;
		out[15] = 1;
		be64_store(out + 16, GID_PREFIX_DEFAULT);
		be64_store(out + 24, datagram->sguid);
		memcpy(out + 32, datagram->dgid, GID_SIZE);
	}
	at[0] = 0x64;
	at[1] = (uint8_t)(pad << 4);
	be16_store(at + 2, datagram->p_key);
	be32_store(at + 4, datagram->dst_qp);
	be32_store(at + 12, datagram->q_key);
	be32_store(at + 16, datagram->src_qp);
	for (unsigned i = 0; i < datagram->size; i++)
		at[20 + i] = (uint8_t)i;
	if (datagram->mgmt_class) {
		memset(at + 20, 0, datagram->size);
		at[20] = 1;
		at[21] = datagram->mgmt_class;
		at[22] = 1;
		at[23] = datagram->method;
		be16_store(at + 20 + 16, datagram->attr_id);
	}
	return size;
}

static struct datagram datagram_to(unsigned from, unsigned to)
{
	return (struct datagram){.slid = (lid_t)(HOST_LID + from),
				 .dlid = (lid_t)(HOST_LID + to),
				 .dst_qp = QP,
				 .src_qp = MY_QP,
				 .q_key = Q_KEY,
				 .p_key = 0xFFFF,
				 .size = 101};
}

/* PerfGet(ClassPortInfo) to the performance agent. */
static struct datagram query_to(unsigned from, lid_t to)
{
	struct datagram query = datagram_to(from, 0);

	query.dlid = to;
	query.dst_qp = 1;
	query.q_key = QP1_Q_KEY;
	query.size = MAD_SIZE;
	query.mgmt_class = CLASS_PERF;
	query.method = METHOD_GET;
	query.attr_id = ATTR_CLASS_PORT_INFO;
	return query;
}

static enum hca_refusal send_it(struct bed *bed, unsigned from, const struct datagram *datagram)
{
	uint8_t packet[ROOM];
	size_t size = build(datagram, packet);
	enum hca_refusal refusal = hca_send(bed->guest[from].hca, 1, packet, size);

	pass(bed);
	return refusal;
}

static uint64_t drops(const struct bed *bed)
{
	const struct world_stats *stats = world_stats(bed->world);

	return stats->dropped_no_route + stats->dropped_link_down + stats->dropped_hop_limit +
	       stats->dropped_no_client + stats->dropped_malformed + stats->dropped_mismatch +
	       stats->dropped_p_key + stats->dropped_q_key + stats->dropped_circle +
	       stats->dropped_vl + stats->dropped_mtu + stats->dropped_no_qp +
	       stats->dropped_unread + stats->dropped_by_fault;
}

/* Ways */

/* Host 1 and host 4 have all three switches between them. Each link counts true words. */
static void test_unicast(void)
{
	struct datagram datagram = datagram_to(1, 4);
	uint8_t packet[ROOM];
	size_t size = build(&datagram, packet);
	struct bed bed;

	bed_open(&bed);
	CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_ACCEPTED);
	CU_ASSERT_EQUAL(bed.guest[4].heard, 1);
	CU_ASSERT_EQUAL(bed.guest[4].port, 1);
	CU_ASSERT_EQUAL_FATAL(bed.guest[4].size, size);
	CU_ASSERT(!memcmp(bed.guest[4].packet, packet, size));
	CU_ASSERT_EQUAL(world_stats(bed.world)->data, 1);
	CU_ASSERT_EQUAL(drops(&bed), 0);
	for (unsigned s = 0; s < SWITCHES; s++) {
		struct port_counts *out = &bed.sw[s]->port[s == 2 ? 1 : NEXT].counts;

		CU_ASSERT_EQUAL(out->traffic[TRAFFIC_XMIT_DATA], (size + 4) / 4);
		CU_ASSERT_EQUAL(out->traffic[TRAFFIC_XMIT_PKTS], 1);
		CU_ASSERT_EQUAL(out->traffic[TRAFFIC_XMIT_UNICAST], 1);
		CU_ASSERT_EQUAL(out->traffic[TRAFFIC_XMIT_MULTICAST], 0);
	}
	CU_ASSERT_EQUAL(bed.host[4]->port[1].counts.traffic[TRAFFIC_RCV_DATA], (size + 4) / 4);
	CU_ASSERT_EQUAL(hca_counts(bed.guest[1].hca)->sent, 1);
	CU_ASSERT_EQUAL(hca_counts(bed.guest[4].hca)->received, 1);
	bed_close(&bed);
}

static const uint8_t group[GID_SIZE] = {0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF, [15] = 0xFF};

static void test_grh(void)
{
	struct datagram datagram = datagram_to(1, 4);
	uint8_t packet[ROOM];
	struct bed bed;

	bed_open(&bed);
	datagram.dgid = group;
	datagram.sguid = bed.host[1]->port[1].guid;
	CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_ACCEPTED);
	CU_ASSERT_EQUAL_FATAL(bed.guest[4].size, build(&datagram, packet));
	CU_ASSERT(!memcmp(bed.guest[4].packet, packet, bed.guest[4].size));
	CU_ASSERT_EQUAL(bed.host[4]->port[1].counts.traffic[TRAFFIC_RCV_DATA],
			(bed.guest[4].size + 4) / 4);
	bed_close(&bed);
}

/* To itself, without a link. */
static void test_loopback(void)
{
	struct datagram datagram = datagram_to(1, 1);
	struct bed bed;

	bed_open(&bed);
	CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_ACCEPTED);
	CU_ASSERT_EQUAL(bed.guest[1].heard, 1);
	CU_ASSERT_EQUAL(bed.host[1]->port[1].counts.traffic[TRAFFIC_XMIT_PKTS], 0);
	bed_close(&bed);
}

/* SL 1 to 3 map to VLs 3 to 1 at the output ports of the switches, and to itself at the host. */
static void set_vls(struct device *device, unsigned port, uint8_t first)
{
	struct device_port *out = &device->port[port];
	unsigned rows = device_is_switch(device) ? device->num_ports + 1u : 1;

	free(out->sl_to_vl);
	out->sl_to_vl = mem_array(rows, 8);
	for (unsigned i = 0; i < rows; i++) {
		out->sl_to_vl[8 * i] = first;
		out->sl_to_vl[8 * i + 1] = 0x21;
		memset(out->sl_to_vl + 8 * i + 2, 0xFF, 6); /* VL15 discards */
	}
}

static void test_vls(void)
{
	static const struct {
		uint8_t sl, vl;
		bool passes;
	} cases[] = {
		{0, 0, true}, {1, 3, true}, {2, 2, true}, {3, 1, true}, {4, 15, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct datagram datagram = datagram_to(1, 4);
		struct port_counts *in;
		struct bed bed;

		bed_open(&bed);
		set_vls(bed.sw[2], 1, 0x03);
		for (unsigned input = 0; input <= bed.sw[2]->num_ports;
		     input++) { /* other input ports */
			if (input != PREVIOUS)
				memset(bed.sw[2]->port[1].sl_to_vl + 8 * input, 0xFF, 8);
		}
		in = &bed.sw[2]->port[PREVIOUS].counts;
		datagram.sl = cases[i].sl;
		bed.host[1]->port[1].info.operational_vls =
			bed.sw[0]->port[2].info.operational_vls = 4;
		bed.sw[0]->port[NEXT].info.operational_vls =
			bed.sw[1]->port[PREVIOUS].info.operational_vls = 4;
		bed.sw[1]->port[NEXT].info.operational_vls =
			bed.sw[2]->port[PREVIOUS].info.operational_vls = 4;
		CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_ACCEPTED);
		CU_ASSERT_EQUAL(bed.guest[4].heard, cases[i].passes);
		CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_vl, !cases[i].passes);
		CU_ASSERT_EQUAL(in->error[ERROR_RCV_SWITCH_RELAY], !cases[i].passes);
		CU_ASSERT_EQUAL(bed.sw[2]->port[1].counts.error[ERROR_XMIT_DISCARD], 0);
		if (cases[i].passes)
			CU_ASSERT_EQUAL(bed.guest[4].packet[0] >> 4, cases[i].vl);
		bed_close(&bed);
	}
}

/* A GMP has a VL, too. */
static void test_gmp_vl(void)
{
	const uint8_t mad[MAD_SIZE] = {1, 0x32, 1, METHOD_SEND};
	struct mad_addr to = {.lid = HOST_LID + 4, .qpn = 1, .sl = 1};
	struct bed bed;

	bed_open(&bed);
	set_vls(bed.sw[2], 1, 0x0F);
	CU_ASSERT_EQUAL(world_send(bed.manager, &to, mad, MAD_SIZE), 0);
	pass(&bed);
	CU_ASSERT_EQUAL(bed.guest[4].heard, 0);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_vl, 1);
	to.sl = 3;
	CU_ASSERT_EQUAL(world_send(bed.manager, &to, mad, MAD_SIZE), 0);
	pass(&bed);
	CU_ASSERT_EQUAL(bed.guest[4].heard, 1);
	CU_ASSERT_EQUAL(bed.guest[4].packet[0] >> 4, 1);
	CU_ASSERT(!memcmp(bed.guest[4].packet + HEADERS, mad, MAD_SIZE));
	bed_close(&bed);
}

/* The answer of a switch's agent comes from port 0, whatever the port of the request. */
static void test_answer_vl(void)
{
	struct datagram datagram = query_to(4, SWITCH_LID + 2);
	struct bed bed;

	bed_open(&bed);
	set_vls(bed.sw[2], 1, 0x00);
	bed.sw[2]->port[1].sl_to_vl[0] = 0x20; /* from port 0 */
	CU_ASSERT_EQUAL(send_it(&bed, 4, &datagram), HCA_ACCEPTED);
	CU_ASSERT_EQUAL_FATAL(bed.guest[4].heard, 1);
	CU_ASSERT_EQUAL(bed.guest[4].packet[0] >> 4, 2);
	bed_close(&bed);
}

/* Reasons to drop a packet: each changes the fabric, and names its counter and that of the port. */

static void no_entry(struct bed *bed)
{
	bed->sw[1]->lft[HOST_LID + 4] = LFT_NO_PORT;
}

static void no_such_port(struct bed *bed)
{
	bed->sw[1]->lft[HOST_LID + 4] = 99;
}

static void beyond_top(struct bed *bed)
{
	bed->sw[1]->sw.linear_fdb_top = HOST_LID + 3;
}

static void turned_back(struct bed *bed)
{
	bed->sw[1]->lft[HOST_LID + 4] = PREVIOUS;
}

static void looped(struct bed *bed)
{
	bed->sw[2]->lft[HOST_LID + 4] = NEXT;
}

/* The switches send no traps, which would be dropped, too. */
static void unplugged(struct bed *bed)
{
	bed->sw[1]->port[0].info.master_sm_lid = bed->sw[2]->port[0].info.master_sm_lid = 0;
	device_pull(&bed->sw[1]->port[NEXT], true);
}

static void armed(struct bed *bed)
{
	bed->sw[1]->port[NEXT].info.port_state = PORT_ARMED;
}

static void other_vls(struct bed *bed)
{
	bed->sw[1]->port[NEXT].info.operational_vls = 2;
}

static void few_vls(struct bed *bed)
{
	set_vls(bed->sw[1], NEXT, 0x40); /* VL4, of four */
}

static void short_mtu(struct bed *bed)
{
	bed->sw[1]->port[NEXT].info.neighbor_mtu = bed->sw[2]->port[PREVIOUS].info.neighbor_mtu =
		MTU_256;
}

static void keys_in(struct bed *bed)
{
	set_p_key(bed->sw[1], PREVIOUS, 0x8001);
	bed->sw[1]->port[PREVIOUS].info.partition_enforcement_inbound = 1;
}

static void keys_out(struct bed *bed)
{
	set_p_key(bed->sw[1], NEXT, 0x8001);
	bed->sw[1]->port[NEXT].info.partition_enforcement_outbound = 1;
}

static void eaten(struct bed *bed)
{
	world_eat(bed->world, &bed->sw[1]->port[NEXT]);
}

static void no_hca(struct bed *bed)
{
	hca_detach(bed->guest[4].hca);
	world_reboot(bed->world, bed->host[4]);
	pass(bed);
	program(bed);
}

static void deaf(struct bed *bed)
{
	bed->guest[4].deaf = true;
}

static void driver_ended(struct bed *bed)
{
	hca_stop(bed->guest[4].hca);
}

static void test_drops(void)
{
	static const struct {
		void (*prepare)(struct bed *bed);
		size_t counter; /* of struct world_stats */
		unsigned sw, port;
		int error; /* of that port; -1: none */
		bool trap;
	} cases[] = {
#define STAT(name) offsetof(struct world_stats, dropped_##name)
		{no_entry, STAT(no_route), 1, PREVIOUS, ERROR_RCV_SWITCH_RELAY, false},
		{no_such_port, STAT(no_route), 1, PREVIOUS, ERROR_RCV_SWITCH_RELAY, false},
		{beyond_top, STAT(no_route), 1, PREVIOUS, ERROR_RCV_SWITCH_RELAY, false},
		{turned_back, STAT(no_route), 1, PREVIOUS, ERROR_RCV_SWITCH_RELAY, false},
		{looped, STAT(hop_limit), 0, NEXT, ERROR_XMIT_DISCARD, false},
		{unplugged, STAT(link_down), 1, NEXT, ERROR_XMIT_DISCARD, false},
		{armed, STAT(link_down), 1, NEXT, ERROR_XMIT_DISCARD, false},
		{other_vls, STAT(mismatch), 1, NEXT, ERROR_XMIT_DISCARD, false},
		{few_vls, STAT(vl), 1, PREVIOUS, ERROR_RCV_SWITCH_RELAY, false},
		{short_mtu, STAT(mtu), 1, NEXT, ERROR_XMIT_DISCARD, false},
		{keys_in, STAT(p_key), 1, PREVIOUS, ERROR_RCV_CONSTRAINT, true},
		{keys_out, STAT(p_key), 1, NEXT, ERROR_XMIT_CONSTRAINT, true},
		{eaten, STAT(by_fault), 1, NEXT, ERROR_XMIT_DISCARD, false},
		{no_hca, STAT(no_qp), 1, NEXT, -1, false},
		{deaf, STAT(unread), 1, NEXT, -1, false},
		{driver_ended, STAT(link_down), 2, 1, ERROR_XMIT_DISCARD, false},
#undef STAT
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct datagram datagram = datagram_to(1, 4);
		const struct port_counts *counts;
		const struct world_stats *stats;
		struct bed bed;

		bed_open(&bed);
		stats = world_stats(bed.world);
		counts = &bed.sw[cases[i].sw]->port[cases[i].port].counts;
		cases[i].prepare(&bed);
		pass(&bed);
		bed.traps = 0;
		world_reset_stats(bed.world);
		datagram.size = 257;
		CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_ACCEPTED);
		CU_ASSERT_EQUAL(bed.guest[4].heard, 0);
		CU_ASSERT_EQUAL(drops(&bed), 1);
		CU_ASSERT_EQUAL(*(const uint64_t *)((const char *)stats + cases[i].counter), 1);
		if (cases[i].error >= 0)
			CU_ASSERT_EQUAL(counts->error[cases[i].error], 1);
		CU_ASSERT_EQUAL(bed.traps, cases[i].trap);
		if (cases[i].trap) {
			CU_ASSERT_EQUAL(bed.notice.trap_number, TRAP_SWITCH_BAD_P_KEY);
			CU_ASSERT_EQUAL(bed.details.switch_bad_p_key.qp1, MY_QP);
			CU_ASSERT_EQUAL(bed.details.switch_bad_p_key.qp2, QP);
			CU_ASSERT_EQUAL(bed.details.switch_bad_p_key.lid1, HOST_LID + 1);
			CU_ASSERT_EQUAL(bed.details.switch_bad_p_key.lid2, HOST_LID + 4);
		}
		/* The other hosts are not affected. */
		datagram = datagram_to(3, 2);
		CU_ASSERT_EQUAL(send_it(&bed, 3, &datagram), HCA_ACCEPTED);
		CU_ASSERT_EQUAL(bed.guest[2].heard, 1);
		bed_close(&bed);
	}
}

/* A packet of exactly the MTU passes. */
static void test_mtu(void)
{
	struct datagram datagram = datagram_to(1, 4);
	struct bed bed;

	bed_open(&bed);
	for (unsigned more = 0; more < 2; more++) {
		datagram.size = 2048 + more;
		CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_ACCEPTED);
		CU_ASSERT_EQUAL(bed.guest[4].heard, 1);
	}
	CU_ASSERT_EQUAL(bed.host[1]->port[1].counts.error[ERROR_XMIT_DISCARD], 1);
	bed_close(&bed);
}

/* Multicast */

static void set_mask(struct device *sw, unsigned ports)
{
	if (!sw->mft)
		sw->mft = mem_array(1, sizeof(uint16_t) * sw->sw.multicast_fdb_cap);
	be16_store(sw->mft + sizeof(uint16_t) * (MLID - LID_MULTICAST_MIN), ports);
}

static unsigned heard(const struct bed *bed)
{
	unsigned digits = 0;

	for (unsigned h = 0; h < HOSTS; h++)
		digits = 10 * digits + bed->guest[h].heard;
	return digits;
}

static struct datagram datagram_to_group(const struct bed *bed, unsigned from)
{
	struct datagram datagram = datagram_to(from, 0);

	datagram.dlid = MLID;
	datagram.dst_qp = 0xFFFFFF;
	datagram.dgid = group;
	datagram.sguid = bed->host[from]->port[1].guid;
	return datagram;
}

/* The sender does not hear itself: its driver has done that. */
static void test_multicast(void)
{
	struct datagram datagram;
	uint8_t packet[ROOM];
	struct bed bed;
	size_t size;

	bed_open(&bed);
	set_mask(bed.sw[0], 1 << 2 | 1 << NEXT);
	set_mask(bed.sw[1], 1 << 1 | 1 << 2 | 1 << PREVIOUS | 1 << NEXT);
	set_mask(bed.sw[2], 1 << 2 | 1 << PREVIOUS);
	datagram = datagram_to_group(&bed, 1);
	size = build(&datagram, packet);
	CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_ACCEPTED);
	CU_ASSERT_EQUAL(heard(&bed), 1101);
	for (unsigned h = 2; h < HOSTS; h++) {
		if (h == 4)
			continue;
		CU_ASSERT_EQUAL(bed.guest[h].size, size);
		CU_ASSERT(!memcmp(bed.guest[h].packet, packet, size));
	}
	CU_ASSERT_EQUAL(bed.sw[1]->port[NEXT].counts.traffic[TRAFFIC_XMIT_MULTICAST], 1);
	CU_ASSERT_EQUAL(bed.sw[1]->port[NEXT].counts.traffic[TRAFFIC_XMIT_UNICAST], 0);
	CU_ASSERT_EQUAL(bed.sw[1]->port[NEXT].counts.traffic[TRAFFIC_XMIT_DATA], (size + 4) / 4);
	CU_ASSERT_EQUAL(drops(&bed), 0);
	/* Copies are dropped one by one. */
	bed.guest[2].deaf = true;
	set_p_key(bed.sw[1], 2, 0x8001);
	bed.sw[1]->port[2].info.partition_enforcement_outbound = 1;
	CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_ACCEPTED);
	CU_ASSERT_EQUAL(heard(&bed), 1102);
	CU_ASSERT_EQUAL(drops(&bed), 2);
	CU_ASSERT_EQUAL(bed.traps, 1);
	/* An input port refuses all of them. */
	set_p_key(bed.sw[1], PREVIOUS, 0x8001);
	bed.sw[1]->port[PREVIOUS].info.partition_enforcement_inbound = 1;
	CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_ACCEPTED);
	CU_ASSERT_EQUAL(heard(&bed), 1102);
	CU_ASSERT_EQUAL(drops(&bed), 3);
	CU_ASSERT_EQUAL(bed.sw[1]->port[PREVIOUS].counts.error[ERROR_RCV_CONSTRAINT], 1);
	CU_ASSERT_EQUAL(world_node_of(bed.host[1])->data, 0);
	bed_close(&bed);
}

static void test_multicast_circle(void)
{
	struct datagram datagram;
	struct bed bed;

	bed_open(&bed);
	for (unsigned s = 0; s < SWITCHES; s++)
		set_mask(bed.sw[s], 1 << 2 | 1 << NEXT | 1 << PREVIOUS);
	datagram = datagram_to_group(&bed, 1);
	CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_ACCEPTED);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_circle, 2);
	/* The world ends while copies are on their way. */
	build(&datagram, bed.guest[0].packet);
	CU_ASSERT_EQUAL(hca_send(bed.guest[1].hca, 1, bed.guest[0].packet,
				 build(&datagram, bed.guest[0].packet)),
			HCA_ACCEPTED);
	world_advance(bed.world, world_now_us(bed.world));
	bed_close(&bed);
}

/* A flood into a group does not multiply without end; the copies of another sender arrive. */
static void test_multicast_flood(void)
{
	enum { PACKETS = 20000, ALL = 1 << 1 | 1 << 2 | 1 << NEXT };
	struct datagram datagram;
	uint8_t packet[ROOM];
	unsigned others;
	struct bed bed;
	size_t size;

	bed_open(&bed);
	set_mask(bed.sw[0], ALL);
	set_mask(bed.sw[1], ALL | 1 << PREVIOUS);
	set_mask(bed.sw[2], 1 << 1 | 1 << 2 | 1 << PREVIOUS);
	datagram = datagram_to_group(&bed, 1);
	size = build(&datagram, packet);
	for (unsigned i = 0; i < PACKETS; i++)
		CU_ASSERT_EQUAL(hca_send(bed.guest[1].hca, 1, packet, size), HCA_ACCEPTED);
	datagram = datagram_to_group(&bed, 2);
	CU_ASSERT_EQUAL(send_it(&bed, 2, &datagram), HCA_ACCEPTED);
	CU_ASSERT_EQUAL(bed.guest[1].heard, 1); /* from host 2 */
	CU_ASSERT(world_stats(bed.world)->dropped_copies >= PACKETS);
	others = bed.guest[4].heard;
	CU_ASSERT(others >= 1 && others < PACKETS);
	CU_ASSERT(bed.guest[2].heard > PACKETS / 2);
	datagram = datagram_to_group(&bed, 1);
	CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_ACCEPTED);
	CU_ASSERT_EQUAL(bed.guest[4].heard, others + 1);
	bed_close(&bed);
}

/* A capture has a packet once for each link that it passes, or only on the links of a device; the
 * system test shows the file to tshark. */
static void test_capture(void)
{
	struct datagram datagram = datagram_to(1, 4);
	uint8_t packet[ROOM], record[ROOM];
	size_t size = build(&datagram, packet);
	int pipe_ends[2];
	struct bed bed;

	bed_open(&bed);
	for (unsigned only = 0; only < 2; only++) {
		int fd = memfd_create("capture", MFD_CLOEXEC), copy = dup(fd);
		const struct device *device = only ? bed.sw[1] : NULL;
		unsigned links = only ? 2 : 4;
		uint64_t packets = 0;

		CU_ASSERT_EQUAL(world_capture_begin(bed.world, fd, device, 0, 0), 0);
		CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_ACCEPTED);
		CU_ASSERT_EQUAL(world_capture_end(bed.world, &packets), 0);
		CU_ASSERT_EQUAL(packets, links);
		CU_ASSERT_EQUAL(lseek(copy, 0, SEEK_END), (off_t)(24 + links * (size + 38)));
		CU_ASSERT_EQUAL(pread(copy, record, size, 24 + 32), (ssize_t)size);
		CU_ASSERT(!memcmp(record, packet, size));
		close(copy);
	}
	CU_ASSERT_EQUAL(world_capture_end(bed.world, NULL), -ENOENT);
	CU_ASSERT_EQUAL_FATAL(pipe(pipe_ends), 0);
	CU_ASSERT_EQUAL(world_capture_begin(bed.world, pipe_ends[1], NULL, 0, 0), -EINVAL);
	close(pipe_ends[0]);
	CU_ASSERT_EQUAL(world_capture_begin(bed.world, -1, NULL, 0, 0), -EINVAL);
	/* The world ends with a capture. */
	CU_ASSERT_EQUAL(
		world_capture_begin(bed.world, memfd_create("capture", MFD_CLOEXEC), NULL, 0, 0),
		0);
	bed_close(&bed);
}

/* The hardware refuses */

static void test_refused(void)
{
	static const struct {
		struct datagram datagram;
		enum hca_refusal refusal;
	} cases[] = {
		/* The LID, LID 0, a LID of another host; a GUID of another host. */
		{{2, 5, 0, 0, QP, MY_QP, 0, 0xFFFF, NULL, 0, 8, 0, 0, 0}, HCA_ACCEPTED},
		{{0, 5, 0, 0, QP, MY_QP, 0, 0xFFFF, NULL, 0, 8, 0, 0, 0}, HCA_BAD_SOURCE},
		{{3, 5, 0, 0, QP, MY_QP, 0, 0xFFFF, NULL, 0, 8, 0, 0, 0}, HCA_BAD_SOURCE},
		{{0xFFFF, 5, 0, 0, QP, MY_QP, 0, 0xFFFF, NULL, 0, 8, 0, 0, 0}, HCA_BAD_SOURCE},
		{{2, 5, 0, 0, QP, MY_QP, 0, 0xFFFF, group, 0x1234, 8, 0, 0, 0}, HCA_BAD_SOURCE},
		{{2, 5, 0, 0, QP, MY_QP, 0, 0xFFFF, group, 0, 8, 0, 0, 0}, HCA_BAD_SOURCE},
		/* P_Keys that are not in the table, as a limited member, and 0. */
		{{2, 5, 0, 0, QP, MY_QP, 0, 0x8001, NULL, 0, 8, 0, 0, 0}, HCA_BAD_P_KEY},
		{{2, 5, 0, 0, QP, MY_QP, 0, 0x7FFF, NULL, 0, 8, 0, 0, 0}, HCA_BAD_P_KEY},
		{{2, 5, 0, 0, QP, MY_QP, 0, 0, NULL, 0, 8, 0, 0, 0}, HCA_BAD_P_KEY},
		/* VL15, and QP0 as source or destination of another packet. */
		{{2, 5, 15, 0, QP, MY_QP, 0, 0xFFFF, NULL, 0, 8, 0, 0, 0}, HCA_VL15},
		{{2, 5, 0, 0, 0, MY_QP, 0, 0xFFFF, NULL, 0, 8, 0, 0, 0}, HCA_VL15},
		{{2, 5, 0, 0, QP, 0, 0, 0xFFFF, NULL, 0, 8, 0, 0, 0}, HCA_VL15},
		{{2, 5, 0, 0, 0, 0, 0, 0xFFFF, NULL, 0, 256, 1, 1, 0x11}, HCA_VL15},
		{{2, 5, 15, 0, 0, MY_QP, 0, 0xFFFF, NULL, 0, 256, 1, 1, 0x11}, HCA_VL15},
		{{2, 5, 15, 0, 0, 0, 0, 0xFFFF, group, 0, 256, 1, 1, 0x11}, HCA_VL15},
		{{2, 5, 15, 0, 0, 0, 0, 0xFFFF, NULL, 0, 255, 1, 1, 0x11}, HCA_VL15},
		{{2, 5, 15, 0, 0, 0, 0, 0xFFFF, NULL, 0, 256, 3, 1, 0x11}, HCA_VL15},
		{{2, 5, 15, 0, 0, 0, 0, 0xFFFF, NULL, 0, 256, 1, 1, 0x11}, HCA_ACCEPTED},
		{{3, 5, 15, 0, 0, 0, 0, 0xFFFF, NULL, 0, 256, 1, 1, 0x11}, HCA_BAD_SOURCE},
		{{0xFFFF, 5, 15, 0, 0, 0, 0, 0xFFFF, NULL, 0, 256, 1, 1, 0x11}, HCA_BAD_SOURCE},
		{{2, 0xFFFF, 15, 0, 0, 0, 0, 0xFFFF, NULL, 0, 256, 1, 1, 0x11}, HCA_BAD_DLID},
		{{2, 0xC000, 15, 0, 0, 0, 0, 0xFFFF, NULL, 0, 256, 1, 1, 0x11}, HCA_BAD_DLID},
		/* Destinations. */
		{{2, 0, 0, 0, QP, MY_QP, 0, 0xFFFF, NULL, 0, 8, 0, 0, 0}, HCA_BAD_DLID},
		{{2, 0xFFFF, 0, 0, QP, MY_QP, 0, 0xFFFF, NULL, 0, 8, 0, 0, 0}, HCA_BAD_DLID},
		{{2, MLID, 0, 0, QP, MY_QP, 0, 0xFFFF, group, 0, 8, 0, 0, 0}, HCA_BAD_DLID},
		{{2, MLID, 0, 0, 0xFFFFFF, MY_QP, 0, 0xFFFF, NULL, 0, 8, 0, 0, 0}, HCA_BAD_DLID},
		{{2, 5, 0, 0, 0xFFFFFF, MY_QP, 0, 0xFFFF, group, 0, 8, 0, 0, 0}, HCA_BAD_DLID},
		/* QP1. */
		{{2, 5, 0, 0, 1, MY_QP, 0, 0xFFFF, NULL, 0, 252, 0, 0, 0}, HCA_BAD_MAD},
		{{2, 5, 0, 0, 1, 1, 0, 0xFFFF, NULL, 0, 256, 0x81, 1, 0x11}, HCA_BAD_MAD},
		{{2, 5, 0, 0, 1, 1, 0x80010000, 0xFFFF, NULL, 0, 256, 3, 1, 0x11}, HCA_ACCEPTED},
	};
	struct bed bed;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct hca_counts *counts;
		enum hca_refusal refusal;

		bed_open(&bed);
		counts = hca_counts(bed.guest[1].hca);
		refusal = send_it(&bed, 1, &cases[i].datagram);
		if (refusal != cases[i].refusal) {
			printf("case %zu: %s\n", i, hca_refusal_name(refusal));
			CU_FAIL("refusal");
		}
		CU_ASSERT_EQUAL(counts->sent, refusal == HCA_ACCEPTED);
		CU_ASSERT_EQUAL(counts->refused[refusal], refusal != HCA_ACCEPTED);
		if (refusal)
			CU_ASSERT_EQUAL(heard(&bed) + bed.heard, 0);
		bed_close(&bed);
	}
}

static void test_refused_at_all(void)
{
	struct datagram datagram = datagram_to(1, 4);
	uint8_t packet[ROOM];
	size_t size = build(&datagram, packet);
	struct bed bed;

	bed_open(&bed);
	CU_ASSERT_EQUAL(hca_send(bed.guest[1].hca, 0, packet, size), HCA_NO_PORT);
	CU_ASSERT_EQUAL(hca_send(bed.guest[1].hca, 2, packet, size), HCA_NO_PORT);
	CU_ASSERT_EQUAL(hca_send(bed.guest[1].hca, 1, packet, size - 4), HCA_MALFORMED);
	hca_stop(bed.guest[1].hca);
	CU_ASSERT_EQUAL(hca_send(bed.guest[1].hca, 1, packet, size), HCA_NO_PORT);
	CU_ASSERT_FALSE(hca_modify(bed.guest[1].hca, 1, CAP_IS_SM, 0));
	CU_ASSERT_FALSE(hca_violation(bed.guest[1].hca, 1, false, packet, size));
	CU_ASSERT_FALSE(hca_mad(bed.guest[1].hca, 1, packet));
	pass(&bed);
	CU_ASSERT_EQUAL(bed.guest[4].heard, 0);
	bed_close(&bed);
}

/* A fault that delays packets does not use memory without end, and other adapters still send. */
static void test_no_buffer(void)
{
	const struct world_faults faults = {.delay_ppm = 1000000, .delay_us = 60000000};
	struct datagram datagram = datagram_to(1, 4);
	uint8_t packet[ROOM];
	size_t size = build(&datagram, packet);
	unsigned sent = 0;
	struct bed bed;

	bed_open(&bed);
	world_set_faults(bed.world, NULL, &faults);
	while (sent < 100000 && !hca_send(bed.guest[1].hca, 1, packet, size)) {
		world_advance(bed.world, world_now_us(bed.world) + 1);
		sent++;
	}
	CU_ASSERT_EQUAL(sent - bed.guest[4].heard, 32768); /* some have arrived */
	CU_ASSERT_EQUAL(hca_counts(bed.guest[1].hca)->refused[HCA_NO_BUFFER], 1);
	datagram.slid = HOST_LID + 2;
	CU_ASSERT_EQUAL(hca_send(bed.guest[2].hca, 1, packet, build(&datagram, packet)),
			HCA_ACCEPTED);
	datagram.slid = HOST_LID + 1;
	build(&datagram, packet);
	world_advance(bed.world, world_now_us(bed.world) + 61 * 1000000);
	CU_ASSERT_EQUAL(bed.guest[4].heard, sent + 1);
	CU_ASSERT_EQUAL(hca_send(bed.guest[1].hca, 1, packet, size), HCA_ACCEPTED);
	bed_close(&bed);
}

/* SMPs that wait at a slow agent without a limit of its own. */
static void test_slow_agent(void)
{
	struct datagram smp = {.slid = HOST_LID + 1,
			       .dlid = SWITCH_LID,
			       .vl = 15,
			       .p_key = 0xFFFF,
			       .size = MAD_SIZE,
			       .mgmt_class = CLASS_SUBN_LID,
			       .method = METHOD_GET,
			       .attr_id = ATTR_NODE_INFO};
	uint8_t packet[ROOM];
	size_t size = build(&smp, packet);
	unsigned sent = 0;
	struct bed bed;

	bed_open(&bed);
	bed.sw[0]->quirks.service_us = 100;
	while (sent < 10000 && !hca_send(bed.guest[1].hca, 1, packet, size))
		sent++;
	CU_ASSERT_EQUAL(sent, 1024);
	smp.slid = HOST_LID + 2;
	CU_ASSERT_EQUAL(hca_send(bed.guest[2].hca, 1, packet, build(&smp, packet)), HCA_ACCEPTED);
	pass(&bed);
	CU_ASSERT_EQUAL(bed.guest[1].heard, sent);
	CU_ASSERT_EQUAL(bed.guest[2].heard, 1);
	smp.slid = HOST_LID + 1;
	CU_ASSERT_EQUAL(send_it(&bed, 1, &smp), HCA_ACCEPTED);
	CU_ASSERT_EQUAL(bed.guest[1].heard, sent + 1);
	bed_close(&bed);
}

/* LIDs with LMC, and GIDs of the subnet's prefix and of other GUIDs. */
static void test_accepted(void)
{
	struct datagram datagram = datagram_to(1, 4);
	struct device_port *port;
	uint8_t packet[ROOM];
	struct bed bed;

	bed_open(&bed);
	port = &bed.host[1]->port[1];
	port->info.lid = datagram.slid = LID_NONE;
	CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_BAD_SOURCE);
	port->info.lid = 40;
	port->info.lmc = 1;
	port->info.gid_prefix = 0xFEC0 * UINT64_C(1) << 48;
	port->guids = mem_array(8, 64);
	be64_store(port->guids + 8 * 9, 0x4711);
	datagram.slid = 41;
	CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_ACCEPTED);
	datagram.slid = 42;
	CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_BAD_SOURCE);
	datagram.slid = 40;
	datagram.dgid = group;
	datagram.sguid = 0x4711;
	CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_ACCEPTED);
	build(&datagram, packet);
	be64_store(packet + 16, port->info.gid_prefix);
	CU_ASSERT_EQUAL(hca_send(bed.guest[1].hca, 1, packet, build(&datagram, packet)),
			HCA_ACCEPTED);
	be64_store(packet + 16, 0xFEC1 * UINT64_C(1) << 48);
	CU_ASSERT_EQUAL(hca_send(bed.guest[1].hca, 1, packet, 8 + GRH + 20 + 104), HCA_BAD_SOURCE);
	bed_close(&bed);
}

/* MADs */

static const uint8_t *mad_of(const struct guest *guest)
{
	return guest->packet + HEADERS;
}

/* On the wire, the sender's SMI has made the first step: 14.2.2. */
static void test_directed(void)
{
	struct datagram datagram = {.slid = 0xFFFF,
				    .dlid = 0xFFFF,
				    .vl = 15,
				    .p_key = 0xFFFF,
				    .size = MAD_SIZE,
				    .mgmt_class = CLASS_SUBN_DIRECTED,
				    .method = METHOD_GET,
				    .attr_id = ATTR_NODE_INFO};
	uint8_t packet[ROOM], *mad = packet + HEADERS;
	const uint8_t *answer;
	struct bed bed;
	size_t size = build(&datagram, packet);

	bed_open(&bed);
	mad[6] = 1;
	mad[7] = 2;
	be16_store(mad + 32, LID_PERMISSIVE);
	be16_store(mad + 34, LID_PERMISSIVE);
	mad[SMP_INITIAL_PATH_OFFSET + 1] = 1;
	mad[SMP_INITIAL_PATH_OFFSET + 2] = NEXT;
	CU_ASSERT_EQUAL(hca_send(bed.guest[1].hca, 1, packet, size), HCA_ACCEPTED);
	pass(&bed);
	CU_ASSERT_EQUAL_FATAL(bed.guest[1].heard, 1);
	answer = mad_of(&bed.guest[1]);
	CU_ASSERT_EQUAL(bed.guest[1].packet[0] >> 4, 15);
	CU_ASSERT_EQUAL(be16_load(bed.guest[1].packet + 2), LID_PERMISSIVE);
	CU_ASSERT_EQUAL(be16_load(bed.guest[1].packet + 6), LID_PERMISSIVE);
	CU_ASSERT_EQUAL(answer[3], METHOD_GET_RESP);
	CU_ASSERT_EQUAL(be16_load(answer + 4), 0x8000);
	CU_ASSERT_EQUAL(answer[6], 1);
	CU_ASSERT_EQUAL(be64_load(answer + SMP_DATA_OFFSET + 12), bed.sw[1]->node_guid);
	bed_close(&bed);
}

/* SMInfo is for the host if it has IsSM, and for the agent otherwise. */
static void test_sm_info(void)
{
	struct route_path route = {.hops = 2, .port = {0, 1, 2}};
	const struct mad_addr to = {.lid = LID_PERMISSIVE};
	uint8_t mad[MAD_SIZE];
	struct bed bed;

	bed_open(&bed);
	subn_build(mad, METHOD_GET, ATTR_SM_INFO, 0, 0, &route, NULL);
	CU_ASSERT_EQUAL(world_send(bed.manager, &to, mad, MAD_SIZE), 0);
	pass(&bed);
	CU_ASSERT_EQUAL(bed.guest[1].heard, 0);
	CU_ASSERT_EQUAL(bed.heard, 1); /* the agent refuses it */
	CU_ASSERT(hca_modify(bed.guest[1].hca, 1, CAP_IS_SM, 0));
	CU_ASSERT(bed.guest[1].changes > 0);
	pass(&bed);
	bed.heard = 0;
	CU_ASSERT_EQUAL(world_send(bed.manager, &to, mad, MAD_SIZE), 0);
	pass(&bed);
	CU_ASSERT_EQUAL(bed.heard, 0);
	CU_ASSERT_EQUAL_FATAL(bed.guest[1].heard, 1);
	CU_ASSERT_EQUAL(mad_of(&bed.guest[1])[3], METHOD_GET);
	CU_ASSERT_EQUAL(mad_of(&bed.guest[1])[6], 2); /* as on the last link */
	/* Its answer returns on the route: the host's SMI has counted the pointer up and down. */
	bed.guest[1].packet[HEADERS + 3] = METHOD_GET_RESP;
	bed.guest[1].packet[HEADERS + 4] = 0x80;
	CU_ASSERT_EQUAL(hca_send(bed.guest[1].hca, 1, bed.guest[1].packet, bed.guest[1].size),
			HCA_ACCEPTED);
	pass(&bed);
	CU_ASSERT_EQUAL(bed.heard, 1);
	CU_ASSERT_EQUAL(bed.from.lid, LID_PERMISSIVE);
	/* And the host's own request reaches no agent. */
	subn_build(mad, METHOD_GET, ATTR_SM_INFO, 0, 0, NULL, NULL);
	CU_ASSERT_FALSE(hca_mad(bed.guest[1].hca, 1, mad));
	bed_close(&bed);
}

static void test_own_agent(void)
{
	uint8_t mad[MAD_SIZE];
	struct bed bed;

	bed_open(&bed);
	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0, NULL, NULL);
	CU_ASSERT(hca_mad(bed.guest[1].hca, 1, mad));
	CU_ASSERT_EQUAL(mad[3], METHOD_GET_RESP);
	CU_ASSERT_EQUAL(be64_load(mad + SMP_DATA_OFFSET + 12), bed.host[1]->node_guid);
	bed_close(&bed);
}

/* A host with a queue pair of its own queries QP1 of another, and gets the answer there. */
static void test_other_qp(void)
{
	struct datagram datagram = query_to(1, HOST_LID + 4);
	struct mad_addr to = {.lid = HOST_LID + 1, .qpn = MY_QP};
	uint8_t mad[MAD_SIZE] = {1, 0x32, 1, METHOD_SEND};
	struct bed bed;

	bed_open(&bed);
	CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_ACCEPTED);
	CU_ASSERT_EQUAL(bed.guest[4].heard, 0); /* the agent answers */
	CU_ASSERT_EQUAL_FATAL(bed.guest[1].heard, 1);
	CU_ASSERT_EQUAL(be32_load(bed.guest[1].packet + 12), MY_QP);
	CU_ASSERT_EQUAL(be32_load(bed.guest[1].packet + 24), 1);
	CU_ASSERT_EQUAL(mad_of(&bed.guest[1])[3], METHOD_GET_RESP);
	datagram.dlid = HOST_LID;
	datagram.mgmt_class = 0x32;
	CU_ASSERT_EQUAL(send_it(&bed, 1, &datagram), HCA_ACCEPTED);
	CU_ASSERT_EQUAL(bed.from.qpn, MY_QP);
	CU_ASSERT_EQUAL(world_send(bed.manager, &to, mad, MAD_SIZE), 0);
	pass(&bed);
	CU_ASSERT_EQUAL(bed.guest[1].heard, 2);
	CU_ASSERT_EQUAL(be32_load(bed.guest[1].packet + 12), MY_QP);
	bed_close(&bed);
}

static void test_violations(void)
{
	struct datagram datagram = datagram_to(4, 1);
	uint8_t packet[ROOM];
	struct bed bed;

	bed_open(&bed);
	build(&datagram, packet);
	CU_ASSERT(hca_violation(bed.guest[1].hca, 1, false, packet, HEADERS));
	pass(&bed);
	CU_ASSERT_EQUAL(bed.traps, 1);
	CU_ASSERT_EQUAL(bed.notice.trap_number, TRAP_BAD_P_KEY);
	CU_ASSERT_EQUAL(bed.details.bad_key.key, 0xFFFF);
	CU_ASSERT_EQUAL(bed.details.bad_key.lid1, HOST_LID + 4);
	CU_ASSERT_EQUAL(bed.details.bad_key.qp1, MY_QP);
	CU_ASSERT_EQUAL(bed.details.bad_key.qp2, QP);
	CU_ASSERT_EQUAL(bed.host[1]->port[1].info.p_key_violations, 1);
	CU_ASSERT(hca_violation(bed.guest[1].hca, 1, true, packet, HEADERS));
	pass(&bed);
	CU_ASSERT_EQUAL(bed.notice.trap_number, TRAP_BAD_Q_KEY);
	CU_ASSERT_EQUAL(bed.details.bad_key.key, Q_KEY);
	CU_ASSERT_EQUAL(bed.host[1]->port[1].info.q_key_violations, 1);
	/* Not about packets for others, and not about half a header. */
	CU_ASSERT_FALSE(hca_violation(bed.guest[2].hca, 1, true, packet, HEADERS));
	CU_ASSERT_FALSE(hca_violation(bed.guest[1].hca, 1, true, packet, HEADERS - 1));
	pass(&bed);
	CU_ASSERT_EQUAL(bed.traps, 2);
	bed_close(&bed);
}

/* The driver */

static void test_driver(void)
{
	enum { CM = 1 << 16 };
	static const uint8_t name[NODE_DESC_SIZE] = "a new name";
	const struct hca_user user = {packet_heard, changed, NULL};
	struct device_port *port, *peer;
	struct bed bed;

	bed_open(&bed);
	port = &bed.host[1]->port[1];
	peer = port->peer;
	CU_ASSERT_PTR_NULL(hca_attach(bed.world, bed.host[1], &user));
	CU_ASSERT(hca_modify(bed.guest[1].hca, 1, CM | CAP_IS_TRAP, 0));
	hca_describe(bed.guest[1].hca, name);
	CU_ASSERT_STRING_EQUAL(bed.host[1]->description.text, "a new name");
	world_reboot(bed.world, bed.host[1]); /* the host sets its bits again */
	pass(&bed);
	CU_ASSERT(port->info.capability_mask & CM);
	CU_ASSERT_EQUAL(peer->info.port_state, PORT_INIT);
	hca_stop(bed.guest[1].hca);
	pass(&bed);
	CU_ASSERT_FALSE(hca_is_started(bed.guest[1].hca));
	CU_ASSERT_EQUAL(peer->info.port_state, PORT_DOWN);
	CU_ASSERT_FALSE(port->info.capability_mask & CM);
	CU_ASSERT_STRING_EQUAL(bed.host[1]->description.text, "host-1");
	world_reboot(bed.world, bed.host[1]); /* no driver, no link */
	CU_ASSERT_EQUAL(world_link(bed.world, bed.host[1], 1, false), 0);
	CU_ASSERT_EQUAL(world_link(bed.world, bed.host[1], 1, true), 0);
	pass(&bed);
	CU_ASSERT_EQUAL(peer->info.port_state, PORT_DOWN);
	hca_start(bed.guest[1].hca);
	pass(&bed);
	CU_ASSERT_EQUAL(peer->info.port_state, PORT_INIT);
	hca_detach(bed.guest[1].hca);
	pass(&bed);
	CU_ASSERT_EQUAL(peer->info.port_state, PORT_DOWN);
	CU_ASSERT_PTR_NULL(hca_of(bed.host[1]));
	world_reboot(bed.world, bed.host[1]);
	pass(&bed);
	CU_ASSERT_EQUAL(peer->info.port_state, PORT_INIT);
	hca_detach(NULL);
	/* A machine without a driver changes nothing. */
	CU_ASSERT_PTR_NOT_NULL_FATAL(hca_attach(bed.world, bed.host[1], &user));
	hca_detach(hca_of(bed.host[1]));
	pass(&bed);
	CU_ASSERT_EQUAL(peer->info.port_state, PORT_INIT);
	bed_close(&bed);
}

/* A driver takes the name of another node, or its LID as a name. Commands name the others. */
static void test_names(void)
{
	static const uint8_t name[NODE_DESC_SIZE] = "the first", number[NODE_DESC_SIZE] = "20";
	char error[FIND_ERROR_SIZE];
	struct device *found;
	struct bed bed;

	bed_open(&bed);
	memcpy(bed.sw[1]->description.text, name, sizeof(name));
	hca_describe(bed.guest[1].hca, name);
	CU_ASSERT_EQUAL_FATAL(find_node(bed.world, "the first", &found, error), 0);
	CU_ASSERT_PTR_EQUAL(found, bed.sw[1]);
	hca_describe(bed.guest[1].hca, number);
	CU_ASSERT_EQUAL_FATAL(find_node(bed.world, "20", &found, error), 0);
	CU_ASSERT_PTR_EQUAL(found, bed.sw[0]); /* SWITCH_LID */
	CU_ASSERT_EQUAL(find_node(bed.world, "host-1", &found, error), 0);
	bed_close(&bed);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"unicast", test_unicast},
		{"GRH", test_grh},
		{"to itself", test_loopback},
		{"VLs", test_vls},
		{"the VL of a GMP", test_gmp_vl},
		{"the VL of an answer", test_answer_vl},
		{"drops", test_drops},
		{"MTU", test_mtu},
		{"multicast", test_multicast},
		{"multicast in a circle", test_multicast_circle},
		{"multicast, a flood", test_multicast_flood},
		{"capture", test_capture},
		{"refused packets", test_refused},
		{"refused at all", test_refused_at_all},
		{"too many under way", test_no_buffer},
		{"too many at a slow agent", test_slow_agent},
		{"accepted sources", test_accepted},
		{"a directed route", test_directed},
		{"SMInfo", test_sm_info},
		{"the own agent", test_own_agent},
		{"another queue pair", test_other_qp},
		{"violations", test_violations},
		{"the driver", test_driver},
		{"names of nodes", test_names},
		CU_TEST_INFO_NULL,
	};

	return unit_main("hca", tests);
}

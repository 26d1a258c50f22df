/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Counters of the ports in a world: at both ends of each link, packets with their headers, and the
 * reasons for drops. Also the receiver of a general MAD: the agent for class 4, programs for all
 * other classes. The fabric is two switches with a host each:
 *
 *	host-0 [1]-[1] switch-0 [2]-[2] switch-1 [1]-[1] host-1
 */
#include "sim/world.h"

#include <string.h>

#include "lib/mem.h"
#include "mad/mad.h"
#include "mad/perf.h"
#include "tests/unit/fixtures/unit.h"

enum { HOST_PORT = 1, LINK_PORT = 2, SWITCH_PORTS = 3 };
enum { HOST_LID = 10, SWITCH_LID = 20, LOOP_LID = 30, UNKNOWN_LID = 31, GROUP_LID = 0xC001 };
enum { MAD_WORDS = 72, GRH_WORDS = 10 }; /* 8 + 12 + 8 + 256 + 4 bytes, and 40 */

struct program {
	struct world_client *client;
	unsigned heard;
	struct mad_addr from;
	uint8_t mad[MAD_SIZE];
};

struct bed {
	struct world *world;
	struct device *host[2], *sw[2];
	struct program program[2], on_switch;
};

static void received(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size)
{
	struct program *program = ctx;

	program->heard++;
	program->from = *from;
	memcpy(program->mad, mad, size);
}

static struct net *make_net(void)
{
	struct net *net = net_new();

	net_add_node(net, NODE_CA, "host-0", NULL, 1);
	net_add_node(net, NODE_CA, "host-1", NULL, 1);
	net_add_node(net, NODE_SWITCH, "switch-0", NULL, SWITCH_PORTS);
	net_add_node(net, NODE_SWITCH, "switch-1", NULL, SWITCH_PORTS);
	net_connect(net, 0, 1, 2, HOST_PORT);
	net_connect(net, 1, 1, 3, HOST_PORT);
	net_connect(net, 2, LINK_PORT, 3, LINK_PORT);
	return net;
}

/* As a manager would have left it. */
static void bring_up(struct bed *bed)
{
	for (unsigned i = 0; i < 2; i++) {
		uint8_t mad[MAD_SIZE], lft[LFT_BLOCK_LIDS];

		memset(lft, LFT_NO_PORT, sizeof(lft));
		for (unsigned k = 0; k < 2; k++) {
			lft[HOST_LID + k] = k == i ? HOST_PORT : LINK_PORT;
			lft[SWITCH_LID + k] = k == i ? 0 : LINK_PORT;
		}
		lft[LOOP_LID] = LINK_PORT;
		subn_build(mad, METHOD_SET, ATTR_LINEAR_FORWARDING_TABLE, 0, 0, NULL, lft);
		CU_ASSERT(device_handle(bed->sw[i], 1, mad));
		bed->sw[i]->sw.linear_fdb_top = LFT_BLOCK_LIDS - 1;
		bed->sw[i]->port[0].info.lid = SWITCH_LID + i;
		bed->host[i]->port[1].info.lid = HOST_LID + i;
		bed->host[i]->port[1].info.port_state = PORT_ACTIVE;
		bed->sw[i]->port[HOST_PORT].info.port_state = PORT_ACTIVE;
		bed->sw[i]->port[LINK_PORT].info.port_state = PORT_ACTIVE;
	}
}

static void bed_open(struct bed *bed, const struct world_options *options)
{
	static const char *const hosts[] = {"host-0", "host-1"}, *const sws[] = {"switch-0",
										 "switch-1"};
	struct net *net = make_net();
	char error[256];

	*bed = (struct bed){0};
	CU_ASSERT_EQUAL_FATAL(world_new(net, options, &bed->world, error, sizeof(error)), 0);
	net_free(net);
	for (unsigned i = 0; i < 2; i++) {
		bed->host[i] = world_device(bed->world, hosts[i]);
		bed->sw[i] = world_device(bed->world, sws[i]);
		bed->program[i].client =
			world_attach(bed->world, bed->host[i], 1, received, &bed->program[i]);
	}
	bed->on_switch.client = world_attach(bed->world, bed->sw[1], 0, received, &bed->on_switch);
	bring_up(bed);
}

static void bed_close(struct bed *bed)
{
	world_free(bed->world);
}

static void run(struct bed *bed, uint64_t us)
{
	world_advance(bed->world, world_now_us(bed->world) + us);
}

/* From the first host's program; some time to arrive, and the answer too. */
static void send(struct bed *bed, uint8_t mgmt_class, uint8_t method, lid_t lid, bool has_grh)
{
	const struct mad_header header = {.base_version = 1,
					  .mgmt_class = mgmt_class,
					  .class_version = 1,
					  .method = method,
					  .tid = 1,
					  .attr_id = PERF_PORT_COUNTERS};
	const struct mad_addr to = {.lid = lid, .qpn = 1, .has_grh = has_grh};
	uint8_t mad[MAD_SIZE] = {[PERF_DATA_OFFSET + 1] = 1}; /* PortSelect */

	header_encode(&header, mad);
	CU_ASSERT_EQUAL(world_send(bed->program[0].client, &to, mad, MAD_SIZE), 0);
	run(bed, 100);
}

static void send_directed(struct bed *bed, const struct route_path *route)
{
	const struct mad_addr to = {.lid = LID_PERMISSIVE};
	uint8_t mad[MAD_SIZE];

	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0, route, NULL);
	CU_ASSERT_EQUAL(world_send(bed->program[0].client, &to, mad, MAD_SIZE), 0);
}

static uint64_t traffic(const struct device *device, unsigned port, enum port_traffic which)
{
	return device->port[port].counts.traffic[which];
}

static uint32_t errors(const struct device *device, unsigned port, enum port_error which)
{
	return device->port[port].counts.error[which];
}

/* All errors of all ports. */
static unsigned all_errors(const struct bed *bed)
{
	struct device *const *list;
	size_t count = world_devices(bed->world, &list);
	unsigned sum = 0;

	for (size_t i = 0; i < count; i++) {
		for (unsigned p = 0; p <= list[i]->num_ports; p++) {
			for (unsigned e = 0; e < PORT_ERRORS; e++)
				sum += list[i]->port[p].counts.error[e];
		}
	}
	return sum;
}

static void expect_link(const struct device_port *from, uint64_t packets, uint64_t words)
{
	const uint64_t *out = from->counts.traffic, *in = from->peer->counts.traffic;

	CU_ASSERT_EQUAL(out[TRAFFIC_XMIT_PKTS], packets);
	CU_ASSERT_EQUAL(out[TRAFFIC_XMIT_DATA], words);
	CU_ASSERT_EQUAL(out[TRAFFIC_XMIT_UNICAST], packets);
	CU_ASSERT_EQUAL(out[TRAFFIC_XMIT_MULTICAST], 0);
	CU_ASSERT_EQUAL(in[TRAFFIC_RCV_PKTS], packets);
	CU_ASSERT_EQUAL(in[TRAFFIC_RCV_DATA], words);
	CU_ASSERT_EQUAL(in[TRAFFIC_RCV_UNICAST], packets);
	CU_ASSERT_EQUAL(in[TRAFFIC_RCV_MULTICAST], 0);
}

static void test_each_link(void)
{
	static const struct world_options cases[] = {{.seed = 1}, {.seed = 1, .hop_ns = 100}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bed bed;

		bed_open(&bed, &cases[i]);
		send(&bed, 0x30, METHOD_GET, HOST_LID + 1, false);
		expect_link(&bed.host[0]->port[1], 1, MAD_WORDS);
		expect_link(&bed.sw[0]->port[LINK_PORT], 1, MAD_WORDS);
		expect_link(&bed.sw[1]->port[HOST_PORT], 1, MAD_WORDS);
		expect_link(&bed.sw[1]->port[LINK_PORT], 0, 0);
		send(&bed, 0x30, METHOD_GET, SWITCH_LID + 1, true);
		expect_link(&bed.host[0]->port[1], 2, 2 * MAD_WORDS + GRH_WORDS);
		expect_link(&bed.sw[0]->port[LINK_PORT], 2, 2 * MAD_WORDS + GRH_WORDS);
		expect_link(&bed.sw[1]->port[HOST_PORT], 1, MAD_WORDS);
		CU_ASSERT_EQUAL(traffic(bed.sw[1], 0, TRAFFIC_RCV_PKTS), 0); /* no link */
		CU_ASSERT_EQUAL(all_errors(&bed), 0);
		bed_close(&bed);
	}
}

/* VL15 counts like all others: request and answer at each link. */
static void test_directed(void)
{
	static const struct route_path route = {.hops = 2, .port = {0, 1, LINK_PORT}};
	static const struct world_options options = {.seed = 1};
	struct bed bed;

	bed_open(&bed, &options);
	send_directed(&bed, &route);
	send_directed(&bed, &route);
	run(&bed, 1);
	CU_ASSERT_EQUAL(bed.program[0].heard, 2);
	expect_link(&bed.host[0]->port[1], 2, 2 * MAD_WORDS);
	expect_link(&bed.sw[0]->port[LINK_PORT], 2, 2 * MAD_WORDS);
	expect_link(&bed.sw[1]->port[LINK_PORT], 2, 2 * MAD_WORDS);
	expect_link(&bed.sw[0]->port[HOST_PORT], 2, 2 * MAD_WORDS);
	CU_ASSERT_EQUAL(all_errors(&bed), 0);
	bed_close(&bed);
}

/* The counters as a program gets them from the far end: its request is counted, the answer not yet.
 */
static void test_agent_answers(void)
{
	static const struct world_options options = {.seed = 1};
	struct port_counters counters;
	struct bed bed;

	bed_open(&bed, &options);
	for (unsigned n = 0; n < 3; n++) {
		send(&bed, CLASS_PERF, METHOD_GET, HOST_LID + 1, n == 2);
		CU_ASSERT_EQUAL(bed.program[0].heard, n + 1);
		CU_ASSERT_EQUAL(bed.program[1].heard, 0);
		CU_ASSERT_EQUAL(bed.program[0].from.lid, HOST_LID + 1);
		CU_ASSERT_EQUAL(bed.program[0].from.qpn, 1);
		CU_ASSERT_EQUAL(bed.program[0].from.has_grh, n == 2);
		format_decode(&port_counters_format, bed.program[0].mad + PERF_DATA_OFFSET,
			      &counters);
		CU_ASSERT_EQUAL(counters.rcv_pkts, n + 1);
		CU_ASSERT_EQUAL(counters.xmit_pkts, n);
		CU_ASSERT_EQUAL(counters.xmit_data, n * MAD_WORDS);
	}
	/* The GRH of an answer has the requester as its destination. */
	CU_ASSERT_EQUAL(bed.program[0].from.grh.dgid[15], (uint8_t)bed.host[0]->port[1].guid);
	CU_ASSERT_EQUAL(world_stats(bed.world)->gmps, 6);
	CU_ASSERT_EQUAL(world_stats(bed.world)->smps, 0);
	send(&bed, CLASS_PERF, METHOD_GET, SWITCH_LID + 1, false);
	CU_ASSERT_EQUAL(bed.program[0].heard, 4);
	CU_ASSERT_EQUAL(bed.on_switch.heard, 0);
	/* A request to the own port needs no link. */
	send(&bed, CLASS_PERF, METHOD_GET, HOST_LID, false);
	CU_ASSERT_EQUAL(bed.program[0].heard, 5);
	CU_ASSERT_EQUAL(traffic(bed.host[0], 1, TRAFFIC_XMIT_PKTS), 4);
	bed_close(&bed);
}

/* General MADs are the programs' own, but for requests of class 4. */
static void test_receivers(void)
{
	static const struct world_options options = {.seed = 1};
	static const uint8_t methods[] = {METHOD_GET, METHOD_SET, METHOD_SEND, METHOD_TRAP,
					  METHOD_GET_RESP};
	struct bed bed;

	bed_open(&bed, &options);
	for (unsigned mgmt_class = 2; mgmt_class < 0x50; mgmt_class++) {
		for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
			bool heard = mgmt_class != CLASS_PERF || methods[i] == METHOD_GET_RESP;

			bed.program[1].heard = bed.on_switch.heard = 0;
			send(&bed, mgmt_class, methods[i], HOST_LID + 1, false);
			send(&bed, mgmt_class, methods[i], SWITCH_LID + 1, false);
			CU_ASSERT_EQUAL(bed.program[1].heard, heard);
			CU_ASSERT_EQUAL(bed.on_switch.heard, heard);
			if (heard)
				CU_ASSERT_EQUAL(bed.program[1].mad[1], mgmt_class);
		}
	}
	CU_ASSERT_EQUAL(bed.program[0].heard, 4); /* Get() and Set() of class 4, two each */
	bed_close(&bed);
}

static void test_no_way(void)
{
	static const struct world_options options = {.seed = 1};
	struct bed bed;

	bed_open(&bed, &options);
	send(&bed, 0x30, METHOD_GET, UNKNOWN_LID, false);
	CU_ASSERT_EQUAL(errors(bed.sw[0], HOST_PORT, ERROR_RCV_SWITCH_RELAY), 1);
	send(&bed, 0x30, METHOD_GET, GROUP_LID, false); /* no table for it */
	CU_ASSERT_EQUAL(errors(bed.sw[0], HOST_PORT, ERROR_RCV_SWITCH_RELAY), 2);
	CU_ASSERT_EQUAL(traffic(bed.host[0], 1, TRAFFIC_XMIT_MULTICAST), 1);
	CU_ASSERT_EQUAL(traffic(bed.sw[0], HOST_PORT, TRAFFIC_RCV_MULTICAST), 1);
	CU_ASSERT_EQUAL(traffic(bed.sw[0], HOST_PORT, TRAFFIC_RCV_UNICAST), 1);
	CU_ASSERT_EQUAL(all_errors(&bed), 2);
	send(&bed, 0x30, METHOD_GET, LOOP_LID, false); /* back out of the input port */
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_no_route, 3);
	CU_ASSERT_EQUAL(errors(bed.sw[1], LINK_PORT, ERROR_RCV_SWITCH_RELAY), 1);
	CU_ASSERT_EQUAL(traffic(bed.sw[1], LINK_PORT, TRAFFIC_XMIT_PKTS), 0);
	CU_ASSERT_EQUAL(all_errors(&bed), 3);
	bed_close(&bed);
}

/* A directed route to no port is the SMI's to drop, and no port's error. */
static void test_no_port(void)
{
	static const struct route_path no_port = {.hops = 2, .port = {0, 1, 99}};
	static const struct route_path no_cable = {.hops = 2, .port = {0, 1, SWITCH_PORTS}};
	static const struct world_options options = {.seed = 1};
	struct bed bed;

	bed_open(&bed, &options);
	send_directed(&bed, &no_port);
	run(&bed, 1);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_no_route, 1);
	CU_ASSERT_EQUAL(all_errors(&bed), 0);
	send_directed(&bed, &no_cable);
	run(&bed, 1);
	CU_ASSERT_EQUAL(errors(bed.sw[0], SWITCH_PORTS, ERROR_XMIT_DISCARD), 1);
	CU_ASSERT_EQUAL(all_errors(&bed), 1);
	bed_close(&bed);
}

static void test_dead_link(void)
{
	static const struct world_options options = {.seed = 1, .hop_ns = 1000};
	struct bed bed;

	bed_open(&bed, &options);
	CU_ASSERT_EQUAL(world_link(bed.world, bed.sw[0], LINK_PORT, false), 0);
	CU_ASSERT_EQUAL(errors(bed.sw[0], LINK_PORT, ERROR_LINK_DOWNED), 1);
	CU_ASSERT_EQUAL(errors(bed.sw[1], LINK_PORT, ERROR_LINK_DOWNED), 1);
	send(&bed, 0x30, METHOD_GET, HOST_LID + 1, false);
	send(&bed, 0x30, METHOD_GET, HOST_LID + 1, false);
	CU_ASSERT_EQUAL(errors(bed.sw[0], LINK_PORT, ERROR_XMIT_DISCARD), 2);
	CU_ASSERT_EQUAL(traffic(bed.sw[0], LINK_PORT, TRAFFIC_XMIT_PKTS), 0);
	CU_ASSERT_EQUAL(traffic(bed.sw[0], HOST_PORT, TRAFFIC_RCV_PKTS), 2);
	CU_ASSERT_EQUAL(all_errors(&bed), 4);
	/* The link is up again, but carries no data before a manager sets it ACTIVE. */
	CU_ASSERT_EQUAL(world_link(bed.world, bed.sw[0], LINK_PORT, true), 0);
	run(&bed, 1);
	send(&bed, 0x30, METHOD_GET, HOST_LID + 1, false);
	CU_ASSERT_EQUAL(errors(bed.sw[0], LINK_PORT, ERROR_XMIT_DISCARD), 3);
	world_reboot(bed.world, bed.sw[0]);
	CU_ASSERT_EQUAL(errors(bed.sw[0], LINK_PORT, ERROR_XMIT_DISCARD), 0);
	CU_ASSERT_EQUAL(errors(bed.sw[0], LINK_PORT, ERROR_LINK_DOWNED), 0);
	CU_ASSERT_EQUAL(traffic(bed.sw[0], HOST_PORT, TRAFFIC_RCV_PKTS), 0);
	CU_ASSERT_EQUAL(errors(bed.host[0], 1, ERROR_LINK_DOWNED), 1);
	bed_close(&bed);
}

/* A packet on a link that goes down has left one port and reaches none. */
static void test_lost_on_link(void)
{
	static const struct world_options options = {.seed = 1, .hop_ns = 10000};
	static const struct route_path route = {.hops = 1, .port = {0, 1}};
	struct bed bed;

	bed_open(&bed, &options);
	send_directed(&bed, &route);
	run(&bed, 5);
	CU_ASSERT_EQUAL(world_link(bed.world, bed.host[0], 1, false), 0);
	run(&bed, 20);
	CU_ASSERT_EQUAL(traffic(bed.host[0], 1, TRAFFIC_XMIT_PKTS), 1);
	CU_ASSERT_EQUAL(traffic(bed.sw[0], HOST_PORT, TRAFFIC_RCV_PKTS), 0);
	bed_close(&bed);
}

/* One packet is served, one waits, the others find no buffer. */
static void test_vl15(void)
{
	static const struct world_options options = {.seed = 1, .smp_us = 10, .vl15_depth = 1};
	static const struct route_path route = {.hops = 1, .port = {0, 1}};
	struct bed bed;

	bed_open(&bed, &options);
	for (unsigned i = 0; i < 5; i++)
		send_directed(&bed, &route);
	run(&bed, 100);
	CU_ASSERT_EQUAL(bed.program[0].heard, 2);
	CU_ASSERT_EQUAL(errors(bed.sw[0], HOST_PORT, ERROR_VL15_DROPPED), 3);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_vl15, 3);
	CU_ASSERT_EQUAL(traffic(bed.sw[0], HOST_PORT, TRAFFIC_RCV_PKTS), 5);
	/* Counters come by QP1, which has flow control, and do not wait for the agent. */
	for (unsigned i = 0; i < 2; i++)
		send_directed(&bed, &route);
	send(&bed, CLASS_PERF, METHOD_GET, SWITCH_LID, false);
	CU_ASSERT_EQUAL(bed.program[0].heard, 5);
	CU_ASSERT_EQUAL(all_errors(&bed), 3);
	bed_close(&bed);
}

static void test_damaged(void)
{
	static const struct world_options options = {.seed = 1};
	static const struct world_faults faults = {.drop_ppm = 1000000};
	struct bed bed;

	bed_open(&bed, &options);
	world_set_faults(bed.world, NULL, &faults);
	send(&bed, 0x30, METHOD_GET, HOST_LID + 1, false);
	CU_ASSERT_EQUAL(errors(bed.host[1], 1, ERROR_RCV), 1);
	send(&bed, 0x30, METHOD_GET, HOST_LID, false); /* passed no link */
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_by_fault, 2);
	CU_ASSERT_EQUAL(all_errors(&bed), 1);
	bed_close(&bed);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"both ends of each link", test_each_link},
		{"a directed route", test_directed},
		{"counters asked by a program", test_agent_answers},
		{"receivers of general MADs", test_receivers},
		{"no way for a LID", test_no_way},
		{"no port for a directed route", test_no_port},
		{"a dead link", test_dead_link},
		{"lost on a link", test_lost_on_link},
		{"VL15 without a buffer", test_vl15},
		{"damaged", test_damaged},
		CU_TEST_INFO_NULL,
	};

	return unit_main("perf_world", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The world of agents: how MADs travel (directed, by LID, combined, and in loops), their delays,
 * drops and counters, and the MADs that programs receive. One seed gives one history. The fabric is
 * a line or a ring of switches with a host each, whose tables the test writes.
 */
#include "sim/world.h"

#include <errno.h>
#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sim/events.h"
#include "sim/route_smp.h"
#include "tests/unit/fixtures/unit.h"

enum { SWITCHES = 4, SWITCH_PORTS = 4, HOST_PORT = 3, NEXT_PORT = 1, PREVIOUS_PORT = 2 };
enum { HOST_LID = 10, SWITCH_LID = 20 }; /* of the first; the others follow */

/* The last MAD that a program received, and the number of MADs. */
struct program {
	struct world_client *client;
	struct world *world;
	unsigned heard;
	uint64_t at_us;
	struct mad_addr from;
	struct mad_header header;
	uint8_t mad[MAD_SIZE];
	struct program *detaches; /* from within received() */
	bool answers;		  /* SMInfo */
	bool represses;		  /* traps */
	uint64_t digest;
};

struct bed {
	struct world *world;
	struct device *host[SWITCHES], *sw[SWITCHES];
	struct program program[SWITCHES];
	uint64_t gmp_us; /* how long the last GMP was on its way */
};

static struct net *make_net(bool ring)
{
	struct net *net = net_new();
	char name[16];

	for (unsigned i = 0; i < SWITCHES; i++) {
		snprintf(name, sizeof(name), "host-%u", i);
		net_add_node(net, NODE_CA, name, NULL, 1);
		snprintf(name, sizeof(name), "switch-%u", i);
		net_add_node(net, NODE_SWITCH, name, "a switch", SWITCH_PORTS);
	}
	for (unsigned i = 0; i < SWITCHES; i++) {
		net_connect(net, 2 * i, 1, 2 * i + 1, HOST_PORT);
		if (ring || i + 1 < SWITCHES)
			net_connect(net, 2 * i + 1, NEXT_PORT, 2 * ((i + 1) % SWITCHES) + 1,
				    PREVIOUS_PORT);
	}
	return net;
}

static void received(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size)
{
	struct program *program = ctx;

	CU_ASSERT_EQUAL(size, MAD_SIZE);
	program->heard++;
	program->at_us = world_now_us(program->world);
	program->from = *from;
	memcpy(program->mad, mad, MAD_SIZE);
	header_decode(mad, &program->header);
	program->digest = program->digest * 31 + program->header.tid + 1000 * program->at_us;
	if (program->detaches) {
		world_detach(program->detaches->client);
		program->detaches->client = NULL;
		program->detaches = NULL;
	}
	if (program->represses && program->header.method == METHOD_TRAP) {
		program->mad[3] = METHOD_TRAP_REPRESS;
		CU_ASSERT_EQUAL(world_send(program->client, from, program->mad, MAD_SIZE), 0);
	}
	if (program->answers && program->header.attr_id == ATTR_SM_INFO &&
	    program->header.method == METHOD_GET) {
		uint8_t answer[MAD_SIZE];

		memcpy(answer, mad, MAD_SIZE);
		answer[3] = METHOD_GET_RESP;
		answer[4] = mad[1] == CLASS_SUBN_DIRECTED ? 0x80 : 0;
		CU_ASSERT_EQUAL(world_send(program->client, from, answer, MAD_SIZE), 0);
	}
}

static void bed_open(struct bed *bed, bool ring, const struct world_options *options)
{
	static const struct world_options usual = {.seed = 1};
	struct net *net = make_net(ring);
	char name[16], error[256];

	*bed = (struct bed){0};
	CU_ASSERT_EQUAL_FATAL(
		world_new(net, options ? options : &usual, &bed->world, error, sizeof(error)), 0);
	net_free(net);
	for (unsigned i = 0; i < SWITCHES; i++) {
		snprintf(name, sizeof(name), "host-%u", i);
		bed->host[i] = world_device(bed->world, name);
		snprintf(name, sizeof(name), "switch-%u", i);
		bed->sw[i] = world_device(bed->world, name);
		bed->program[i].world = bed->world;
		bed->program[i].client =
			world_attach(bed->world, bed->host[i], 1, received, &bed->program[i]);
		CU_ASSERT_PTR_NOT_NULL_FATAL(bed->program[i].client);
	}
}

static void bed_close(struct bed *bed)
{
	world_free(bed->world);
}

/* All that is due now and within some time. */
static void run(struct bed *bed, uint64_t us)
{
	world_advance(bed->world, world_now_us(bed->world) + us);
}

/* Writes into agents as a manager would, but without a way. */
static void set(struct device *device, uint16_t attr_id, uint32_t attr_mod, void *object)
{
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};
	struct mad_header header;

	format_encode(attr_format(attr_id), object, data);
	subn_build(mad, METHOD_SET, attr_id, attr_mod, 0, NULL, data);
	CU_ASSERT(device_handle(device, 1, mad));
	header_decode(mad, &header);
	CU_ASSERT_EQUAL(header.status, STATUS_OK);
}

static void set_port(struct device *device, uint8_t port, lid_t lid, lid_t sm_lid, uint8_t state)
{
	struct port_info info = device->port[port].info;

	info.port_state = state;
	info.port_physical_state = 0;
	info.lid = lid ? lid : info.lid;
	info.master_sm_lid = sm_lid ? sm_lid : info.master_sm_lid;
	set(device, ATTR_PORT_INFO, PORT_INFO_EXTENDED_SPEEDS | port, &info);
}

static void set_lft(struct device *device, const uint8_t port[LFT_BLOCK_LIDS])
{
	struct linear_forwarding_table lft;
	struct switch_info sw = device->sw;

	memcpy(lft.port, port, sizeof(lft.port));
	set(device, ATTR_LINEAR_FORWARDING_TABLE, 0, &lft);
	sw.linear_fdb_top = LFT_BLOCK_LIDS - 1;
	set(device, ATTR_SWITCH_INFO, 0, &sw);
}

/* LIDs, and tables that go up the line and down it, never round. */
static void bring_up_by(struct bed *bed, bool active)
{
	for (unsigned i = 0; i < SWITCHES; i++) {
		uint8_t port[LFT_BLOCK_LIDS];

		set_port(bed->host[i], 1, HOST_LID + i, HOST_LID, 0);
		set_port(bed->sw[i], 0, SWITCH_LID + i, HOST_LID, 0);
		memset(port, LFT_NO_PORT, sizeof(port));
		for (unsigned k = 0; k < SWITCHES; k++) {
			uint8_t way = k > i ? NEXT_PORT : PREVIOUS_PORT;

			port[HOST_LID + k] = k == i ? HOST_PORT : way;
			port[SWITCH_LID + k] = k == i ? 0 : way;
		}
		set_lft(bed->sw[i], port);
	}
	for (uint8_t state = PORT_ARMED; active && state <= PORT_ACTIVE; state++) {
		for (unsigned i = 0; i < SWITCHES; i++) {
			set_port(bed->host[i], 1, 0, 0, state);
			for (uint8_t p = 1; p <= SWITCH_PORTS; p++) {
				if (bed->sw[i]->port[p].peer)
					set_port(bed->sw[i], p, 0, 0, state);
			}
		}
	}
}

static void bring_up(struct bed *bed)
{
	bring_up_by(bed, true);
}

/* A Get() from the first host by a route (NULL: by LID). Returns whether an answer came. */
static bool get_from(struct bed *bed, unsigned host, uint16_t attr_id, uint32_t attr_mod,
		     const struct route_path *route, lid_t lid, lid_t dr_slid, lid_t dr_dlid)
{
	struct program *program = &bed->program[host];
	struct mad_addr to = {.lid = lid};
	unsigned heard = program->heard;
	uint8_t mad[MAD_SIZE];

	subn_build(mad, METHOD_GET, attr_id, attr_mod, 0, route, NULL);
	be64_store(mad + 8, UINT64_C(0x1234567800000000) + heard);
	if (route) {
		be16_store(mad + SMP_DR_SLID_OFFSET, dr_slid);
		be16_store(mad + SMP_DR_DLID_OFFSET, dr_dlid);
	}
	CU_ASSERT_EQUAL(world_send(program->client, &to, mad, sizeof(mad)), 0);
	run(bed, 100000);
	CU_ASSERT(program->heard == heard ||
		  program->header.tid == UINT64_C(0x1234567800000000) + heard);
	return program->heard == heard + 1;
}

static bool get_directed(struct bed *bed, const struct route_path *route)
{
	return get_from(bed, 0, ATTR_NODE_INFO, 0, route, LID_PERMISSIVE, LID_PERMISSIVE,
			LID_PERMISSIVE);
}

static bool get_by_lid(struct bed *bed, lid_t lid)
{
	return get_from(bed, 0, ATTR_NODE_INFO, 0, NULL, lid, 0, 0);
}

/* The node that answered, by its NodeInfo. */
static const struct device *who(const struct bed *bed, uint8_t *local_port)
{
	struct node_info info;

	attr_decode(&node_info_format, bed->program[0].mad + SMP_DATA_OFFSET, &info);
	*local_port = info.local_port_num;
	return world_device_by_guid(bed->world, info.node_guid);
}

/* The steps of a directed route, one by one */

static const struct step_case {
	const char *what;
	bool back, at_switch;
	uint8_t count, pointer, in_port;
	lid_t slid, dlid; /* 0: permissive */
	enum smp_way way;
	uint8_t out_port, pointer_then;
	lid_t lid;
} steps[] = {
	{"no hops: here", false, false, 0, 0, 1, 0, 0, SMP_HERE, 0, 1, 0},
	{"leaves an adapter", false, false, 2, 0, 11, 0, 0, SMP_OUT_PORT, 11, 1, 0},
	{"by a port it is not at", false, false, 2, 0, 1, 0, 0, SMP_BAD, 0, 1, 0},
	{"leaves a switch", false, true, 2, 0, 0, 0, 0, SMP_OUT_PORT, 11, 1, 0},
	{"passes a switch", false, true, 2, 1, 7, 0, 0, SMP_OUT_PORT, 12, 2, 0},
	{"but no adapter", false, false, 2, 1, 12, 0, 0, SMP_BAD, 0, 1, 0},
	{"ends", false, false, 2, 2, 1, 0, 0, SMP_HERE, 0, 3, 0},
	{"goes on by LID", false, true, 2, 2, 1, 0, 5, SMP_BY_LID, 0, 3, 5},
	{"not from an adapter", false, false, 2, 2, 1, 0, 5, SMP_BAD, 0, 3, 0},
	{"came by LID at the end", false, false, 2, 3, 1, 0, 5, SMP_HERE, 0, 3, 0},
	{"beyond", false, true, 2, 4, 1, 0, 0, SMP_BAD, 0, 4, 0},
	{"only by LID", false, false, 0, 0, 1, 6, 5, SMP_BY_LID, 0, 1, 5},
	{"longest", false, true, 63, 63, 1, 0, 0, SMP_HERE, 0, 64, 0},
	{"longer", false, true, 64, 0, 1, 0, 0, SMP_BAD, 0, 0, 0},
	{"answer without hops", true, false, 0, 1, 1, 0, 0, SMP_HERE, 0, 0, 0},
	{"answer leaves an adapter", true, false, 2, 3, 22, 0, 0, SMP_OUT_PORT, 22, 2, 0},
	{"by a wrong port", true, false, 2, 3, 1, 0, 0, SMP_BAD, 0, 2, 0},
	{"passes", true, true, 2, 2, 9, 0, 0, SMP_OUT_PORT, 21, 1, 0},
	{"no adapter", true, false, 2, 2, 21, 0, 0, SMP_BAD, 0, 2, 0},
	{"is back", true, false, 2, 1, 1, 0, 0, SMP_HERE, 0, 0, 0},
	{"is back by LID", true, false, 2, 0, 1, 6, 0, SMP_HERE, 0, 0, 0},
	{"goes back by LID", true, true, 2, 1, 1, 6, 0, SMP_BY_LID, 0, 0, 6},
	{"an adapter's own", true, false, 0, 1, 1, 6, 0, SMP_BY_LID, 0, 0, 6},
	{"not an adapter's", true, false, 2, 1, 1, 6, 0, SMP_BAD, 0, 0, 0},
	{"too far", true, true, 2, 4, 1, 0, 0, SMP_BAD, 0, 4, 0},
};

static void test_steps(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		const struct step_case *row = &steps[i];
		uint8_t mad[MAD_SIZE] = {
			[1] = CLASS_SUBN_DIRECTED, [6] = row->pointer, [7] = row->count};
		uint8_t out_port = 0;
		lid_t lid = 0;
		enum smp_way way;

		mad[4] = row->back ? 0x80 : 0;
		for (unsigned k = 1; k <= 2; k++) {
			mad[SMP_INITIAL_PATH_OFFSET + k] = 10 + k;
			mad[SMP_RETURN_PATH_OFFSET + k] = row->back ? 20 + k : 0;
		}
		be16_store(mad + SMP_DR_SLID_OFFSET, row->slid ? row->slid : LID_PERMISSIVE);
		be16_store(mad + SMP_DR_DLID_OFFSET, row->dlid ? row->dlid : LID_PERMISSIVE);
		way = directed_step(mad, row->at_switch, row->in_port, &out_port, &lid);
		if (way != row->way || mad[6] != row->pointer_then)
			printf("\n    %s: %d, pointer %d", row->what, way, mad[6]);
		CU_ASSERT_EQUAL(way, row->way);
		CU_ASSERT_EQUAL(mad[6], row->pointer_then);
		if (way == SMP_OUT_PORT)
			CU_ASSERT_EQUAL(out_port, row->out_port);
		CU_ASSERT_EQUAL(lid, row->lid);
		if (!row->back && row->pointer && row->pointer < 3 && way != SMP_BAD)
			CU_ASSERT_EQUAL(mad[SMP_RETURN_PATH_OFFSET + row->pointer], row->in_port);
	}
}

/* Directed routes in a world whose switches know nothing yet */

static void test_directed(void)
{
	static const struct {
		struct route_path route;
		bool comes;
		int host, sw; /* the node that answers; -1: none */
		uint8_t local_port;
	} cases[] = {
		{{.hops = 0}, true, 0, -1, 1},
		{{.hops = 1, .port = {0, 1}}, true, -1, 0, HOST_PORT},
		{{.hops = 2, .port = {0, 1, 1}}, true, -1, 1, PREVIOUS_PORT},
		{{.hops = 5, .port = {0, 1, 1, 1, 1, 3}}, true, 3, -1, 1},
		{{.hops = 3, .port = {0, 1, 1, 2}}, true, -1, 0, NEXT_PORT}, /* there and back */
		{{.hops = 2, .port = {0, 1, 3}}, true, 0, -1, 1},
		{{.hops = 1, .port = {0, 2}}, false, -1, -1, 0},    /* not the port it is at */
		{{.hops = 2, .port = {0, 1, 4}}, false, -1, -1, 0}, /* no cable */
		{{.hops = 2, .port = {0, 1, 5}}, false, -1, -1, 0}, /* no port */
		{{.hops = 2, .port = {0, 1, 0}}, false, -1, -1, 0},
		{{.hops = 3, .port = {0, 1, 3, 1}}, false, -1, -1, 0}, /* through an adapter */
	};
	struct bed bed;

	bed_open(&bed, false, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool comes = get_directed(&bed, &cases[i].route);
		uint8_t port;

		CU_ASSERT_EQUAL(comes, cases[i].comes);
		if (!comes)
			continue;
		if (cases[i].host >= 0)
			CU_ASSERT_PTR_EQUAL(who(&bed, &port), bed.host[cases[i].host]);
		if (cases[i].sw >= 0)
			CU_ASSERT_PTR_EQUAL(who(&bed, &port), bed.sw[cases[i].sw]);
		CU_ASSERT_EQUAL(port, cases[i].local_port);
		CU_ASSERT_EQUAL(bed.program[0].from.lid, LID_PERMISSIVE);
		CU_ASSERT_EQUAL(bed.program[0].header.hop_pointer, 0);
		CU_ASSERT_EQUAL(bed.program[0].header.status, 0x8000);
	}
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_malformed, 2);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_link_down, 1);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_no_route, 2);
	CU_ASSERT_EQUAL(world_stats(bed.world)->gets[ATTR_NODE_INFO], 6);
	CU_ASSERT_EQUAL(world_stats(bed.world)->smps, 12);
	/* The return path: how it came. */
	get_directed(&bed, &cases[3].route);
	CU_ASSERT(!memcmp(bed.program[0].mad + SMP_RETURN_PATH_OFFSET + 1,
			  ((uint8_t[]){HOST_PORT, PREVIOUS_PORT, PREVIOUS_PORT, PREVIOUS_PORT, 1}),
			  5));
	world_reset_stats(bed.world);
	CU_ASSERT_EQUAL(world_stats(bed.world)->smps, 0);
	bed_close(&bed);
}

static void test_by_lid(void)
{
	struct bed bed;
	uint8_t port;

	bed_open(&bed, false, NULL);
	CU_ASSERT(!get_by_lid(&bed, SWITCH_LID));
	bring_up_by(&bed, false); /* SMPs need no logical state */
	CU_ASSERT(get_by_lid(&bed, SWITCH_LID));
	CU_ASSERT_PTR_EQUAL(who(&bed, &port), bed.sw[0]);
	CU_ASSERT_EQUAL(port, HOST_PORT);
	CU_ASSERT_EQUAL(bed.program[0].from.lid, SWITCH_LID);
	CU_ASSERT(get_by_lid(&bed, HOST_LID + 3));
	CU_ASSERT_PTR_EQUAL(who(&bed, &port), bed.host[3]);
	CU_ASSERT(get_by_lid(&bed, HOST_LID)); /* itself */
	CU_ASSERT(get_by_lid(&bed, LID_PERMISSIVE));
	CU_ASSERT_PTR_EQUAL(who(&bed, &port), bed.host[0]);
	CU_ASSERT(!get_by_lid(&bed, 50));
	CU_ASSERT(!get_by_lid(&bed, 0xC001));
	/* Links that are physically down, and a table that leads to the wrong host. */
	CU_ASSERT_EQUAL(world_link(bed.world, bed.sw[1], NEXT_PORT, false), 0);
	CU_ASSERT(!get_by_lid(&bed, HOST_LID + 3));
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_link_down, 2); /* a trap, too */
	bed.sw[0]->lft[HOST_LID + 3] = HOST_PORT;
	CU_ASSERT(!get_by_lid(&bed, HOST_LID + 3));
	bed.sw[0]->lft[HOST_LID + 3] = 0;
	CU_ASSERT(!get_by_lid(&bed, HOST_LID + 3));
	bed.sw[0]->sw.linear_fdb_top = HOST_LID - 1;
	CU_ASSERT(!get_by_lid(&bed, HOST_LID + 1));
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_no_route, 6);
	bed_close(&bed);
}

/* By LID to a switch, directed from there, by LID to the end: each part may be missing. */
static void test_combined(void)
{
	const struct route_path one = {.hops = 1, .port = {0, NEXT_PORT}}, none = {.hops = 0},
				away = {.hops = 2, .port = {0, 1, NEXT_PORT}};
	struct bed bed;
	uint8_t port;

	bed_open(&bed, false, NULL);
	bring_up_by(&bed, false);
	/* As ibportstate queries the far end of a port of a switch. */
	CU_ASSERT(get_from(&bed, 0, ATTR_NODE_INFO, 0, &one, SWITCH_LID + 1, HOST_LID,
			   LID_PERMISSIVE));
	CU_ASSERT_PTR_EQUAL(who(&bed, &port), bed.sw[2]);
	CU_ASSERT_EQUAL(port, PREVIOUS_PORT);
	CU_ASSERT_EQUAL(bed.program[0].from.lid, SWITCH_LID + 1);
	CU_ASSERT(get_from(&bed, 0, ATTR_NODE_INFO, 0, &away, LID_PERMISSIVE, LID_PERMISSIVE,
			   HOST_LID + 3));
	CU_ASSERT_PTR_EQUAL(who(&bed, &port), bed.host[3]);
	CU_ASSERT_EQUAL(bed.program[0].from.lid, LID_PERMISSIVE);
	CU_ASSERT(
		get_from(&bed, 0, ATTR_NODE_INFO, 0, &one, SWITCH_LID + 1, HOST_LID, HOST_LID + 3));
	CU_ASSERT_PTR_EQUAL(who(&bed, &port), bed.host[3]);
	CU_ASSERT(get_from(&bed, 0, ATTR_NODE_INFO, 0, &none, HOST_LID + 2, HOST_LID,
			   LID_PERMISSIVE));
	CU_ASSERT_PTR_EQUAL(who(&bed, &port), bed.host[2]);
	CU_ASSERT(!get_from(&bed, 0, ATTR_NODE_INFO, 0, &one, SWITCH_LID + 1, 50, LID_PERMISSIVE));
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_no_route, 1);
	bed_close(&bed);
}

/* Data, circles, walks */

static void send_gmp(struct bed *bed, unsigned from, const struct mad_addr *to)
{
	uint8_t mad[MAD_HEADER_SIZE] = {1, CLASS_SUBN_ADM, 1, METHOD_GET};

	CU_ASSERT_EQUAL(world_send(bed->program[from].client, to, mad, sizeof(mad)), 0);
	for (bed->gmp_us = 0; world_next_us(bed->world) != UINT64_MAX; bed->gmp_us++)
		run(bed, 1);
}

/* The same partition, at another index of each port's table. */
static void set_p_key(struct device *device, unsigned index)
{
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};

	be16_store(data + sizeof(pkey_t) * index, 0x8123);
	subn_build(mad, METHOD_SET, ATTR_PKEY_TABLE, 0, 0, NULL, data);
	CU_ASSERT(device_handle(device, 1, mad));
}

static void test_data(void)
{
	struct mad_addr to = {.lid = HOST_LID + 3, .qpn = 1, .sl = 3, .pkey_index = 2};
	struct bed bed;

	bed_open(&bed, false, NULL);
	bring_up_by(&bed, false);
	send_gmp(&bed, 0, &to);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_link_down, 1); /* not ACTIVE */
	CU_ASSERT_EQUAL(world_walk(bed.world, bed.host[0], 1, HOST_LID + 3), -EHOSTUNREACH);
	bring_up(&bed);
	CU_ASSERT_EQUAL(world_walk(bed.world, bed.host[0], 1, HOST_LID + 3), 4);
	CU_ASSERT_EQUAL(world_walk(bed.world, bed.host[0], 1, HOST_LID), 0);
	CU_ASSERT_EQUAL(world_walk(bed.world, bed.host[0], 1, SWITCH_LID), 0);
	CU_ASSERT_EQUAL(world_walk(bed.world, bed.host[0], 1, SWITCH_LID + 2), 2);
	CU_ASSERT_EQUAL(world_walk(bed.world, bed.sw[1], 0, SWITCH_LID + 1), 0);
	CU_ASSERT_EQUAL(world_walk(bed.world, bed.sw[1], 0, HOST_LID + 1), 1);
	CU_ASSERT_EQUAL(world_walk(bed.world, bed.sw[1], NEXT_PORT, HOST_LID + 2), 1);
	CU_ASSERT_EQUAL(world_walk(bed.world, bed.host[0], 1, 50), -EHOSTUNREACH);
	CU_ASSERT_EQUAL(world_walk(bed.world, bed.host[0], 2, HOST_LID), -EHOSTUNREACH);
	set_p_key(bed.host[0], 2);
	set_p_key(bed.host[3], 5);
	to.has_grh = true;
	memset(to.grh.dgid, 0xDD, GID_SIZE);
	send_gmp(&bed, 0, &to);
	CU_ASSERT_EQUAL(bed.program[3].heard, 1);
	CU_ASSERT_EQUAL(bed.program[3].from.lid, HOST_LID);
	CU_ASSERT_EQUAL(bed.program[3].from.qpn, 1);
	CU_ASSERT_EQUAL(bed.program[3].from.sl, 3);
	CU_ASSERT_EQUAL(bed.program[3].from.pkey_index, 5);
	CU_ASSERT(bed.program[3].from.has_grh);
	CU_ASSERT_EQUAL(be64_load(bed.program[3].from.grh.sgid), GID_PREFIX_DEFAULT);
	CU_ASSERT_EQUAL(be64_load(bed.program[3].from.grh.sgid + 8), bed.host[0]->port[1].guid);
	CU_ASSERT_EQUAL(world_stats(bed.world)->gmps, 1);
	bed.sw[1]->port[NEXT_PORT].info.operational_vls = 1;
	send_gmp(&bed, 0, &to);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_mismatch, 1);
	CU_ASSERT_EQUAL(world_walk(bed.world, bed.host[0], 1, HOST_LID + 3), -EHOSTUNREACH);
	to.lid = SWITCH_LID;
	to.pkey_index = 0;
	bed.host[0]->port[1].p_keys[1] = bed.host[0]->port[1].p_keys[0] = 0xFF;
	send_gmp(&bed, 0, &to);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_no_client, 1);
	bed_close(&bed);
}

static void test_circle(void)
{
	struct mad_addr to = {.lid = 40, .qpn = 1};
	struct bed bed;

	bed_open(&bed, true, &(struct world_options){.hop_ns = 100});
	bring_up(&bed);
	for (unsigned i = 0; i < SWITCHES; i++)
		bed.sw[i]->lft[40] = NEXT_PORT;
	CU_ASSERT_EQUAL(world_walk(bed.world, bed.host[0], 1, 40), -ELOOP);
	send_gmp(&bed, 0, &to);
	CU_ASSERT_EQUAL(bed.gmp_us, 1); /* once round is enough */
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_hop_limit, 1);
	CU_ASSERT(!get_by_lid(&bed, 40));
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_hop_limit, 2);
	CU_ASSERT_EQUAL(world_next_us(bed.world), UINT64_MAX);
	bed_close(&bed);
}

static void test_path_bits(void)
{
	struct mad_addr to = {.lid = HOST_LID + 1, .qpn = 1, .path_bits = 3};
	struct bed bed;

	bed_open(&bed, false, NULL);
	bring_up(&bed);
	bed.host[0]->port[1].info.lid = 32;
	bed.host[0]->port[1].info.lmc = 2;
	for (unsigned i = 0; i < SWITCHES; i++)
		memset(bed.sw[i]->lft + 32, i ? PREVIOUS_PORT : HOST_PORT, 4);
	send_gmp(&bed, 0, &to);
	CU_ASSERT_EQUAL(bed.program[1].from.lid, 35);
	to.lid = 34;
	to.path_bits = 1; /* which has no meaning without an LMC */
	send_gmp(&bed, 1, &to);
	CU_ASSERT_EQUAL(bed.program[0].heard, 1);
	CU_ASSERT_EQUAL(bed.program[0].from.lid, HOST_LID + 1);
	CU_ASSERT_EQUAL(bed.program[0].from.path_bits, 2);
	CU_ASSERT_EQUAL(world_walk(bed.world, bed.host[1], 1, 35), 2);
	CU_ASSERT_EQUAL(world_walk(bed.world, bed.host[1], 1, 36), -EHOSTUNREACH);
	bed_close(&bed);
}

/* Time */

static void test_times(void)
{
	const struct route_path route = {.hops = 5, .port = {0, 1, 1, 1, 1, 3}};
	uint8_t mad[MAD_SIZE];
	struct bed bed;
	uint64_t begin_us;

	/* 5 hops there and 5 back take 3 us, and the agent 80. */
	bed_open(&bed, false, &(struct world_options){.smp_us = 80, .hop_ns = 300});
	run(&bed, 7);
	begin_us = world_now_us(bed.world);
	CU_ASSERT_EQUAL(begin_us, 7);
	CU_ASSERT_EQUAL(world_next_us(bed.world), UINT64_MAX);
	CU_ASSERT(get_directed(&bed, &route));
	CU_ASSERT_EQUAL(bed.program[0].at_us, begin_us + 83);
	CU_ASSERT_EQUAL(world_agent_smps(bed.host[3]), 1);
	CU_ASSERT_EQUAL(world_agent_smps(bed.sw[0]), 0); /* a passing packet costs no time */
	/* A link that goes while the packet is on it. */
	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0,
		   &(struct route_path){.hops = 1, .port = {0, 1}}, NULL);
	world_send(bed.program[0].client, &(struct mad_addr){.lid = LID_PERMISSIVE}, mad, MAD_SIZE);
	run(&bed, 0);
	CU_ASSERT_EQUAL(world_next_us(bed.world), world_now_us(bed.world) + 1);
	world_link(bed.world, bed.host[0], 1, false);
	run(&bed, 1);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_link_down, 1);
	CU_ASSERT_EQUAL(world_next_us(bed.world), UINT64_MAX);
	bed_close(&bed);
}

/* A port that takes 5 us to send a MAD sends ten in 50 us. */
static void test_time_to_send(void)
{
	const struct route_path route = {.hops = 0};
	struct mad_addr to = {.lid = LID_PERMISSIVE};
	uint8_t mad[MAD_SIZE];
	struct bed bed;

	bed_open(&bed, false, &(struct world_options){.send_us = 5});
	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0, &route, NULL);
	for (unsigned i = 0; i < 10; i++)
		world_send(bed.program[0].client, &to, mad, sizeof(mad));
	run(&bed, 24);
	CU_ASSERT_EQUAL(bed.program[0].heard, 4);
	run(&bed, 1000);
	CU_ASSERT_EQUAL(bed.program[0].heard, 10);
	CU_ASSERT_EQUAL(bed.program[0].at_us, 50);
	bed_close(&bed);
}

/* A fault that eats packets leaves the link up. A fault that garbles changes one bit of the header
 * of answers. */
static void test_eaten_and_garbled(void)
{
	const struct route_path route = {.hops = 1, .port = {0, 1}};
	struct mad_addr to = {.lid = LID_PERMISSIVE};
	struct world_faults garble = {.garble_ppm = 1000000};
	const struct device_port *port;
	uint8_t mad[MAD_SIZE];
	struct bed bed;

	bed_open(&bed, false, NULL);
	port = &bed.host[0]->port[1];
	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0, &route, NULL);
	world_eat(bed.world, port->peer);
	world_send(bed.program[0].client, &to, mad, sizeof(mad));
	run(&bed, 10);
	CU_ASSERT_EQUAL(bed.program[0].heard, 0);
	CU_ASSERT_EQUAL(world_agent_smps(port->peer->device), 1);
	CU_ASSERT_EQUAL(port->info.port_physical_state, PHYS_LINK_UP);
	world_eat(bed.world, port);
	world_send(bed.program[0].client, &to, mad, sizeof(mad));
	run(&bed, 10);
	CU_ASSERT_EQUAL(world_agent_smps(port->peer->device), 1);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_by_fault, 2);
	world_eat(bed.world, NULL);
	world_set_faults(bed.world, NULL, &garble);
	world_send(bed.program[0].client, &to, mad, sizeof(mad));
	run(&bed, 10);
	CU_ASSERT_EQUAL(world_agent_smps(port->peer->device), 2);
	CU_ASSERT_EQUAL(world_stats(bed.world)->garbled, 1);
	bed_close(&bed);
}

static void test_vl15(void)
{
	const struct route_path route = {.hops = 1, .port = {0, 1}};
	struct mad_addr to = {.lid = LID_PERMISSIVE};
	uint8_t mad[MAD_SIZE];

	for (unsigned depth = 0; depth <= 4; depth += 2) {
		unsigned served = depth ? 1 + depth : 10;
		struct bed bed;

		bed_open(&bed, false, &(struct world_options){.smp_us = 80, .vl15_depth = depth});
		subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0, &route, NULL);
		for (unsigned i = 0; i < 10; i++)
			world_send(bed.program[0].client, &to, mad, sizeof(mad));
		run(&bed, 79);
		CU_ASSERT_EQUAL(bed.program[0].heard, 0);
		run(&bed, 1);
		CU_ASSERT_EQUAL(bed.program[0].heard, 1);
		run(&bed, 10000);
		CU_ASSERT_EQUAL(bed.program[0].heard, served);
		CU_ASSERT_EQUAL(bed.program[0].at_us, 80 * served);
		CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_vl15, 10 - served);
		/* Again, as if nothing had been. */
		for (unsigned i = 0; i < 10; i++)
			world_send(bed.program[0].client, &to, mad, sizeof(mad));
		run(&bed, 10000);
		CU_ASSERT_EQUAL(bed.program[0].heard, 2 * served);
		/* A world may end while it is full. */
		for (unsigned i = 0; i < 10; i++)
			world_send(bed.program[0].client, &to, mad, sizeof(mad));
		run(&bed, 1);
		bed_close(&bed);
	}
}

/* Each switch on a directed route needs its time, out and back. Packets by LID need none, and
 * packets to the switch's own agent only the time of the agent. */
static void test_transit(void)
{
	const struct route_path own = {.hops = 1, .port = {0, 1}},
				far = {.hops = 5, .port = {0, 1, 1, 1, 1, 3}},
				beyond = {.hops = 1, .port = {0, NEXT_PORT}};
	struct bed bed;
	uint64_t begin_us;

	bed_open(&bed, false, &(struct world_options){.smp_us = 80, .smp_transit_us = 100});
	bring_up_by(&bed, false);
	begin_us = world_now_us(bed.world);
	CU_ASSERT(get_directed(&bed, &own));
	CU_ASSERT_EQUAL(bed.program[0].at_us, begin_us + 80);
	begin_us = world_now_us(bed.world);
	CU_ASSERT(get_directed(&bed, &far));
	CU_ASSERT_EQUAL(bed.program[0].at_us, begin_us + 4 * 100 + 80 + 4 * 100);
	begin_us = world_now_us(bed.world);
	CU_ASSERT(get_by_lid(&bed, HOST_LID + 3));
	CU_ASSERT_EQUAL(bed.program[0].at_us, begin_us + 80);
	/* Only where it leaves the part by LID, and where it comes back to it. */
	begin_us = world_now_us(bed.world);
	CU_ASSERT(get_from(&bed, 0, ATTR_NODE_INFO, 0, &beyond, SWITCH_LID + 1, HOST_LID,
			   LID_PERMISSIVE));
	CU_ASSERT_EQUAL(bed.program[0].at_us, begin_us + 100 + 80 + 100);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_vl15, 0);
	bed_close(&bed);
}

/* Passing packets and packets for the switch's agent share one queue. */
static void test_transit_queue(void)
{
	const struct route_path own = {.hops = 1, .port = {0, 1}},
				next = {.hops = 2, .port = {0, 1, NEXT_PORT}};
	struct mad_addr to = {.lid = LID_PERMISSIVE};
	uint8_t to_own[MAD_SIZE], to_next[MAD_SIZE];
	struct bed bed;

	bed_open(&bed, false,
		 &(struct world_options){.smp_us = 80, .smp_transit_us = 100, .vl15_depth = 4});
	subn_build(to_own, METHOD_GET, ATTR_NODE_INFO, 0, 0, &own, NULL);
	subn_build(to_next, METHOD_GET, ATTR_NODE_INFO, 0, 0, &next, NULL);
	world_send(bed.program[0].client, &to, to_next, MAD_SIZE);
	world_send(bed.program[0].client, &to, to_own, MAD_SIZE);
	run(&bed, 179);
	CU_ASSERT_EQUAL(bed.program[0].heard, 0);
	run(&bed, 1);
	CU_ASSERT_EQUAL(bed.program[0].heard, 1);
	run(&bed, 100); /* the other one came back at 180 and passes until 280 */
	CU_ASSERT_EQUAL(bed.program[0].heard, 2);
	/* One packet is served and four wait. Their five answers find five free places. */
	for (unsigned i = 0; i < 10; i++)
		world_send(bed.program[0].client, &to, to_next, MAD_SIZE);
	run(&bed, 999);
	CU_ASSERT_EQUAL(bed.program[0].heard, 2 + 4);
	run(&bed, 1);
	CU_ASSERT_EQUAL(bed.program[0].heard, 2 + 5);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_vl15, 5);
	CU_ASSERT_EQUAL(bed.sw[0]->port[HOST_PORT].counts.error[ERROR_VL15_DROPPED], 5);
	CU_ASSERT_EQUAL(world_agent_smps(bed.sw[1]), 1 + 5);
	/* A world may end while SMPs pass. */
	world_send(bed.program[0].client, &to, to_next, MAD_SIZE);
	run(&bed, 1);
	bed_close(&bed);
}

/* A Set() that takes down its own link is answered before the link goes, as adapters do it. An
 * answer to a request from before the cable was pulled has no route. */
static void test_last_words(void)
{
	static const struct route_path route = {.hops = 1, .port = {0, 1}};
	static const struct mad_addr to = {.lid = LID_PERMISSIVE};
	struct bed bed;
	struct program *program = &bed.program[0];
	struct port_info info;
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};

	bed_open(&bed, false,
		 &(struct world_options){.training_us = 500, .smp_us = 50, .hop_ns = 1000});
	info = bed.sw[0]->port[HOST_PORT].info;
	info.port_state = 0;
	info.port_physical_state = PHYS_POLLING;
	format_encode(&port_info_format, &info, data);
	subn_build(mad, METHOD_SET, ATTR_PORT_INFO, PORT_INFO_EXTENDED_SPEEDS | HOST_PORT, 0,
		   &route, data);
	CU_ASSERT_EQUAL(world_send(program->client, &to, mad, sizeof(mad)), 0);
	run(&bed, 100);
	CU_ASSERT_EQUAL(program->heard, 1);
	CU_ASSERT_EQUAL(program->header.method, METHOD_GET_RESP);
	CU_ASSERT_EQUAL(bed.host[0]->port[1].info.port_state, PORT_DOWN);
	run(&bed, 500);
	CU_ASSERT_EQUAL(bed.host[0]->port[1].info.port_state, PORT_INIT);

	CU_ASSERT_EQUAL(world_send(program->client, &to, mad, sizeof(mad)), 0);
	run(&bed, 20);
	world_link(bed.world, bed.host[0], 1, false);
	run(&bed, 100);
	CU_ASSERT_EQUAL(program->heard, 1);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_link_down, 1);
	bed_close(&bed);
}

static void test_training(void)
{
	const struct route_path route = {.hops = 1, .port = {0, 1}};
	struct bed bed;
	const struct port_info *info;

	bed_open(&bed, false, &(struct world_options){.training_us = 500});
	info = &bed.sw[1]->port[NEXT_PORT].info;
	CU_ASSERT_EQUAL(info->port_state, PORT_INIT);
	CU_ASSERT_EQUAL(world_link(bed.world, bed.sw[1], NEXT_PORT, false), 0);
	CU_ASSERT_EQUAL(bed.sw[2]->port[PREVIOUS_PORT].info.port_state, PORT_DOWN);
	CU_ASSERT_EQUAL(world_link(bed.world, bed.sw[2], PREVIOUS_PORT, true), 0);
	run(&bed, 400);
	/* Interrupted: the time starts again. */
	world_link(bed.world, bed.sw[2], PREVIOUS_PORT, false);
	world_link(bed.world, bed.sw[2], PREVIOUS_PORT, true);
	run(&bed, 400);
	CU_ASSERT_EQUAL(info->port_state, PORT_DOWN);
	run(&bed, 100);
	CU_ASSERT_EQUAL(info->port_state, PORT_INIT);
	CU_ASSERT_EQUAL(world_link(bed.world, bed.sw[2], 4, false), -ENOTCONN);
	CU_ASSERT_EQUAL(world_link(bed.world, bed.sw[2], 5, false), -EINVAL);
	CU_ASSERT_EQUAL(world_link(bed.world, bed.sw[2], 0, false), -EINVAL);
	/* A switch without power, and with it again. */
	world_node(bed.world, bed.sw[0], false);
	CU_ASSERT(!get_directed(&bed, &route));
	world_node(bed.world, bed.sw[0], true);
	run(&bed, 500);
	CU_ASSERT(get_directed(&bed, &route));
	/* Another cable: both previous links are gone. */
	CU_ASSERT_EQUAL(world_recable(bed.world, bed.host[0], 1, bed.sw[3], HOST_PORT), 0);
	CU_ASSERT_EQUAL(bed.host[3]->port[1].info.port_state, PORT_DOWN);
	CU_ASSERT_PTR_NULL(bed.sw[0]->port[HOST_PORT].peer);
	run(&bed, 500);
	CU_ASSERT(get_directed(&bed, &route));
	CU_ASSERT_PTR_EQUAL(who(&bed, &(uint8_t){0}), bed.sw[3]);
	CU_ASSERT_EQUAL(world_recable(bed.world, bed.host[0], 2, bed.sw[3], 1), -EINVAL);
	bed_close(&bed);
}

static void test_reboot(void)
{
	struct bed bed;

	bed_open(&bed, false, &(struct world_options){.training_us = 500});
	bring_up(&bed);
	world_set_issm(bed.program[1].client, true);
	world_reboot(bed.world, bed.host[1]);
	CU_ASSERT_EQUAL(bed.host[1]->port[1].info.lid, LID_NONE);
	CU_ASSERT_EQUAL(bed.sw[1]->port[HOST_PORT].info.port_state, PORT_DOWN);
	CU_ASSERT(bed.host[1]->port[1].info.capability_mask & CAP_IS_SM);
	run(&bed, 500);
	CU_ASSERT_EQUAL(bed.sw[1]->port[HOST_PORT].info.port_state, PORT_INIT);
	bed_close(&bed);
}

/* Programs */

static void test_sm(void)
{
	const struct route_path route = {.hops = 3, .port = {0, 1, NEXT_PORT, HOST_PORT}};
	struct bed bed;

	bed_open(&bed, false, NULL);
	bring_up(&bed);
	CU_ASSERT(get_from(&bed, 0, ATTR_SM_INFO, 0, NULL, HOST_LID + 1, 0, 0));
	CU_ASSERT_EQUAL(bed.program[0].header.status, STATUS_UNSUP_METHOD_ATTR);
	bed.program[1].answers = true;
	world_set_issm(bed.program[1].client, true);
	CU_ASSERT(bed.host[1]->port[1].info.capability_mask & CAP_IS_SM);
	CU_ASSERT(get_from(&bed, 0, ATTR_SM_INFO, 0, NULL, HOST_LID + 1, 0, 0));
	CU_ASSERT_EQUAL(bed.program[0].header.status, STATUS_OK);
	CU_ASSERT(get_from(&bed, 0, ATTR_SM_INFO, 0, &route, LID_PERMISSIVE, LID_PERMISSIVE,
			   LID_PERMISSIVE));
	CU_ASSERT_EQUAL(bed.program[0].header.status, 0x8000);
	CU_ASSERT(get_from(&bed, 0, ATTR_SM_INFO, 0, &route, LID_PERMISSIVE, LID_PERMISSIVE,
			   LID_PERMISSIVE));
	CU_ASSERT_EQUAL(bed.program[1].heard, 3);
	CU_ASSERT_EQUAL(bed.program[1].from.lid, LID_PERMISSIVE);
	/* The manager has gone. */
	world_detach(bed.program[1].client);
	CU_ASSERT(!(bed.host[1]->port[1].info.capability_mask & CAP_IS_SM));
	CU_ASSERT(get_from(&bed, 0, ATTR_SM_INFO, 0, NULL, HOST_LID + 1, 0, 0));
	CU_ASSERT_EQUAL(bed.program[0].header.status, STATUS_UNSUP_METHOD_ATTR);
	bed_close(&bed);
}

/* A trap goes to the manager by LID and comes again; its TrapRepress() goes to the agent. */
static void test_traps(void)
{
	struct bed bed;
	struct program *sm = &bed.program[0];

	bed_open(&bed, false, NULL);
	bring_up(&bed);
	bed.sw[2]->port[0].info.subnet_timeout = 8; /* 1.048 ms */
	run(&bed, 100);
	world_link(bed.world, bed.sw[2], HOST_PORT, false);
	run(&bed, 5000);
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_no_client, 5);
	world_set_issm(sm->client, true);
	run(&bed, 1048);
	CU_ASSERT_EQUAL(world_stats(bed.world)->traps, 2); /* IsSM is news, too */
	CU_ASSERT_EQUAL(sm->from.lid, SWITCH_LID + 2);
	sm->represses = true;
	run(&bed, 3000000);
	CU_ASSERT_EQUAL(world_stats(bed.world)->traps, 4);
	CU_ASSERT_EQUAL(world_next_us(bed.world), UINT64_MAX);
	bed_close(&bed);
}

static void test_clients(void)
{
	struct program other = {0}, third = {0};
	struct bed bed;

	bed_open(&bed, false, NULL);
	bring_up(&bed);
	other.world = third.world = bed.world;
	other.client = world_attach(bed.world, bed.host[0], 1, received, &other);
	third.client = world_attach(bed.world, bed.host[0], 1, received, &third);
	CU_ASSERT_PTR_NULL(world_attach(bed.world, bed.host[0], 0, received, &third));
	CU_ASSERT_PTR_NULL(world_attach(bed.world, bed.sw[0], 1, received, &third));
	bed.program[0].detaches = &other;
	CU_ASSERT(get_by_lid(&bed, SWITCH_LID));
	CU_ASSERT_EQUAL(other.heard, 0);
	CU_ASSERT_EQUAL(third.heard, 1);
	bed.program[0].detaches = &bed.program[0];
	CU_ASSERT(get_by_lid(&bed, SWITCH_LID));
	CU_ASSERT_EQUAL(third.heard, 2);
	send_gmp(&bed, 1, &(struct mad_addr){.lid = HOST_LID, .qpn = 1});
	CU_ASSERT_EQUAL(third.heard, 3);
	CU_ASSERT_EQUAL(bed.program[0].heard, 2);
	CU_ASSERT_EQUAL(
		world_send(third.client, &(struct mad_addr){.lid = 1}, bed.program[0].mad, 257),
		-EINVAL);
	CU_ASSERT_EQUAL(
		world_send(third.client, &(struct mad_addr){.lid = 1}, bed.program[0].mad, 23),
		-EINVAL);
	bed_close(&bed);
}

/* A switch's own programs, at its port 0. */
static void test_switch_client(void)
{
	struct program program = {0};
	const struct route_path route = {.hops = 1, .port = {0, HOST_PORT}};
	uint8_t mad[MAD_SIZE];
	struct bed bed;

	bed_open(&bed, false, NULL);
	bring_up(&bed);
	program.world = bed.world;
	program.client = world_attach(bed.world, bed.sw[1], 0, received, &program);
	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0, &route, NULL);
	world_send(program.client, &(struct mad_addr){.lid = LID_PERMISSIVE}, mad, MAD_SIZE);
	run(&bed, 1);
	CU_ASSERT_EQUAL(program.heard, 1);
	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0, NULL, NULL);
	world_send(program.client, &(struct mad_addr){.lid = HOST_LID + 3}, mad, MAD_SIZE);
	run(&bed, 1);
	CU_ASSERT_EQUAL(program.heard, 2);
	CU_ASSERT_EQUAL(program.from.lid, HOST_LID + 3);
	bed_close(&bed);
}

static void count_set(void *ctx, struct device *device, uint8_t port, uint16_t attr_id,
		      uint32_t attr_mod)
{
	unsigned *sets = ctx;

	(void)attr_mod;
	*sets += device->num_ports == SWITCH_PORTS && attr_id == ATTR_SWITCH_INFO && !port;
}

static void test_on_set(void)
{
	struct bed bed;
	unsigned sets = 0;

	bed_open(&bed, false, NULL);
	world_on_set(bed.world, count_set, &sets);
	bring_up(&bed);
	CU_ASSERT_EQUAL(sets, SWITCHES);
	bed_close(&bed);
}

/* Faults */

static const struct world_faults rough = {
	.drop_ppm = 100000, .duplicate_ppm = 100000, .delay_ppm = 300000, .delay_us = 50};

/* Many requests through many faults: a digest of all received MADs, with their order and time. */
static uint64_t history(uint64_t seed, struct world_stats *stats, unsigned *heard)
{
	const struct route_path route = {.hops = 2, .port = {0, 1, NEXT_PORT}};
	struct mad_addr to = {.lid = LID_PERMISSIVE};
	uint8_t mad[MAD_SIZE];
	struct bed bed;
	uint64_t digest;

	bed_open(&bed, true, &(struct world_options){.seed = seed, .smp_us = 3, .hop_ns = 150});
	world_set_faults(bed.world, NULL, &rough);
	for (unsigned i = 0; i < 1000; i++) {
		subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0, &route, NULL);
		be64_store(mad + 8, i + 1);
		world_send(bed.program[0].client, &to, mad, sizeof(mad));
		run(&bed, 2);
	}
	run(&bed, 100000);
	*stats = *world_stats(bed.world);
	*heard = bed.program[0].heard;
	digest = bed.program[0].digest;
	CU_ASSERT_EQUAL(world_next_us(bed.world), UINT64_MAX);
	bed_close(&bed);
	return digest;
}

static void test_replay(void)
{
	struct world_stats first, again, other;
	unsigned heard, heard_again, heard_other;
	uint64_t digest = history(7, &first, &heard);

	CU_ASSERT_EQUAL(history(7, &again, &heard_again), digest);
	CU_ASSERT(!memcmp(&first, &again, sizeof(first)));
	CU_ASSERT_EQUAL(heard, heard_again);
	CU_ASSERT_NOT_EQUAL(history(8, &other, &heard_other), digest);
	/* About 10 % at each of two ends; duplicates answer twice. */
	CU_ASSERT(first.dropped_by_fault > 150 && first.dropped_by_fault < 250);
	CU_ASSERT(first.duplicated > 150 && first.duplicated < 250);
	CU_ASSERT(first.delayed > 400 && first.delayed < 700);
	CU_ASSERT(heard > 850 && heard < 1100);
}

static void test_faults_of_one(void)
{
	const struct world_faults all = {.drop_ppm = 1000000}, none = {0};
	struct bed bed;

	bed_open(&bed, false, NULL);
	bring_up(&bed);
	world_set_faults(bed.world, bed.sw[2], &all);
	CU_ASSERT(!get_by_lid(&bed, SWITCH_LID + 2));
	CU_ASSERT(get_by_lid(&bed, SWITCH_LID + 3)); /* passing by is another thing */
	world_set_faults(bed.world, NULL, &all);
	CU_ASSERT(!get_by_lid(&bed, SWITCH_LID + 3));
	world_set_faults(bed.world, NULL, &none);
	CU_ASSERT(get_by_lid(&bed, SWITCH_LID + 2));
	bed.sw[2]->quirks.silent = true;
	CU_ASSERT(!get_by_lid(&bed, SWITCH_LID + 2));
	CU_ASSERT_EQUAL(world_stats(bed.world)->dropped_silent, 1);
	CU_ASSERT(get_by_lid(&bed, SWITCH_LID + 3));
	bed_close(&bed);
}

/* Building and finding */

static void test_build(void)
{
	struct net *net = net_new();
	struct world_options options = {0};
	struct world *world = NULL;
	struct device *const *list;
	struct world_client *clients[2];
	struct device *device;
	char error[256];

	CU_ASSERT_EQUAL(world_new(net, &options, &world, error, sizeof(error)), -EINVAL);
	CU_ASSERT_STRING_EQUAL(error, "the net has no nodes");
	net_add_node(net, NODE_SWITCH, "S", "spine", 2);
	net_add_node(net, NODE_CA, "H", NULL, 2);
	net_add_node(net, NODE_ROUTER, "R", NULL, 1);
	net->nodes[0].enhanced_port0 = true;
	net->nodes[0].port[0].lid = 7;
	net->nodes[1].port[2].lid = 12;
	net->nodes[1].port[2].lmc = 2;
	net_rate_parse("12xHDR", 6, &net->nodes[0].port[1].rate);
	net_rate_parse("4xNDR", 5, &net->nodes[1].port[1].rate);
	net_connect(net, 0, 1, 1, 1);
	net->nodes[1].port[1].peer = NET_NO_PEER;
	CU_ASSERT_EQUAL(world_new(net, &options, &world, error, sizeof(error)), -EINVAL);
	CU_ASSERT_STRING_EQUAL(error, "S port 1 is cabled to a port that is not cabled to it");
	CU_ASSERT_PTR_NULL(world);
	net->nodes[1].port[1].peer = 0;
	CU_ASSERT_EQUAL_FATAL(world_new(net, &options, &world, error, sizeof(error)), 0);
	net_free(net);
	CU_ASSERT_EQUAL(world_devices(world, &list), 3);
	device = world_device(world, "spine");
	CU_ASSERT_PTR_EQUAL(device, list[0]);
	CU_ASSERT_PTR_EQUAL(world_device(world, "S"), list[0]);
	CU_ASSERT_PTR_NULL(world_device(world, "X"));
	CU_ASSERT_PTR_NULL(world_device(world, ""));
	CU_ASSERT_PTR_EQUAL(world_device_by_guid(world, device->node_guid), device);
	CU_ASSERT_PTR_NULL(world_device_by_guid(world, 1));
	CU_ASSERT_EQUAL(device->sw.enhanced_port0, 1);
	CU_ASSERT_EQUAL(device->port[0].info.lid, 7);
	CU_ASSERT_EQUAL(list[1]->port[2].info.lid, 12);
	CU_ASSERT_EQUAL(list[1]->port[2].info.lmc, 2);
	CU_ASSERT_EQUAL(list[1]->port[2].guid, list[1]->node_guid + 2);
	CU_ASSERT_EQUAL(device->port[1].info.link_width_active, 2);
	CU_ASSERT_EQUAL(device->port[1].info.link_speed_ext_active, 4);
	CU_ASSERT_EQUAL(list[2]->type, NODE_ROUTER);
	/* Each port of an adapter has its own managers. */
	clients[0] = world_attach(world, list[1], 1, received, NULL);
	clients[1] = world_attach(world, list[1], 2, received, NULL);
	world_set_issm(clients[0], true);
	world_set_issm(clients[1], false);
	CU_ASSERT(list[1]->port[1].info.capability_mask & CAP_IS_SM);
	CU_ASSERT(!(list[1]->port[2].info.capability_mask & CAP_IS_SM));
	world_free(world);
	world_free(NULL);
}

/* Against a plain search: the first of the least. */
static void test_events(void)
{
	enum { COUNT = 2000 };
	struct events events;
	uint64_t last_ns = 0;
	uint64_t last_order = 0;
	uint32_t random = 1;

	events_init(&events);
	CU_ASSERT_EQUAL(events_next_ns(&events), UINT64_MAX);
	for (unsigned i = 0; i < COUNT; i++) {
		random = random * 1664525 + 1013904223;
		events_add(&events, random >> 26, NULL, NULL, i);
	}
	for (unsigned i = 0; i < COUNT; i++) {
		uint64_t next_ns = events_next_ns(&events);
		struct event event = events_pop(&events);

		CU_ASSERT_EQUAL(event.due_ns, next_ns);
		CU_ASSERT(event.due_ns > last_ns ||
			  (event.due_ns == last_ns && (event.order > last_order || !i)));
		CU_ASSERT_EQUAL(event.number, event.order);
		last_ns = event.due_ns;
		last_order = event.order;
		if (i % 2)
			events_add(&events, last_ns + 1, NULL, NULL, events.next_order);
	}
	CU_ASSERT_EQUAL(events.count, COUNT / 2);
	events_done(&events);
}

static const CU_TestInfo tests[] = {
	{"events come in order", test_events},
	{"a net becomes a world", test_build},
	{"steps of a directed route", test_steps},
	{"directed routes", test_directed},
	{"by LID", test_by_lid},
	{"combined routes", test_combined},
	{"data", test_data},
	{"circles", test_circle},
	{"path bits", test_path_bits},
	{"latency and service time", test_times},
	{"VL15 overflows", test_vl15},
	{"directed SMPs pass switches", test_transit},
	{"passing packets wait", test_transit_queue},
	{"time to send", test_time_to_send},
	{"eaten and garbled", test_eaten_and_garbled},
	{"training, power, cables", test_training},
	{"the last words over a link", test_last_words},
	{"reboot", test_reboot},
	{"SMInfo", test_sm},
	{"traps", test_traps},
	{"programs start and end", test_clients},
	{"a program on a switch", test_switch_client},
	{"each Set() is reported", test_on_set},
	{"a seed is a history", test_replay},
	{"faults of one device", test_faults_of_one},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return unit_main("world", tests);
}

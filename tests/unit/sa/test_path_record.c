/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * PathRecord: the ends that a request means, the records in the answer, and the pairs of LIDs of
 * ports with several LIDs.
 */
#include "tests/unit/fixtures/sa_client.h"

/* Ports for the GIDs of a path request. */
enum { PREFIX_OURS, PREFIX_LINK_LOCAL, PREFIX_FOREIGN, PREFIX_MULTICAST };

static void gid(uint8_t out[GID_SIZE], unsigned prefix, guid_t guid)
{
	static const uint64_t prefixes[] = {
		[PREFIX_OURS] = UINT64_C(0xFEC0000000000001),
		[PREFIX_LINK_LOCAL] = GID_PREFIX_DEFAULT,
		[PREFIX_FOREIGN] = UINT64_C(0xFEC0000000000002),
		[PREFIX_MULTICAST] = UINT64_C(0xFF12401BFFFF0000),
	};

	be64_store(out, prefixes[prefix]);
	be64_store(out + 8, guid);
}

#define SGID COMPONENT(PATH_SGID)
#define DGID COMPONENT(PATH_DGID)
#define SLID COMPONENT(PATH_SLID)
#define DLID COMPONENT(PATH_DLID)

/* The ends of a Get, and the LIDs of the path in the answer. */
static const struct {
	uint64_t mask;
	unsigned s_prefix, d_prefix;
	guid_t sgid, dgid;
	lid_t slid, dlid;
	int status;
	lid_t given_slid, given_dlid;
} path_ends[] = {
	{SGID | DGID, PREFIX_OURS, PREFIX_OURS, PORT_GUID(A), PORT_GUID(C), 0, 0, STATUS_OK, 16,
	 24},
	{SGID | DGID, PREFIX_LINK_LOCAL, PREFIX_OURS, PORT_GUID(D), PORT_GUID(B), 0, 0, STATUS_OK,
	 28, 20},
	{SGID | DGID, PREFIX_OURS, PREFIX_LINK_LOCAL, PORT_GUID(A), SWITCH_GUID(S2), 0, 0,
	 STATUS_OK, 16, 2},
	{SGID | DGID, PREFIX_OURS, PREFIX_OURS, PORT_GUID(A), PORT_GUID(A), 0, 0, STATUS_OK, 16,
	 16},
	{SLID | DLID, 0, 0, 0, 0, 18, 25, STATUS_OK, 18, 25},
	{SLID | DLID, 0, 0, 0, 0, 1, 2, STATUS_OK, 1, 2},
	/* A LID that is given is kept, and the other begins at the same offset. */
	{SGID | DLID, PREFIX_OURS, 0, PORT_GUID(A), 0, 0, 25, STATUS_OK, 17, 25},
	{SLID | DGID, 0, PREFIX_OURS, 0, PORT_GUID(B), 18, 0, STATUS_OK, 18, 22},
	{SLID | DGID, 0, PREFIX_OURS, 0, PORT_GUID(C), 19, 0, STATUS_OK, 19, 25},
	/* By both: the same port. */
	{SGID | SLID | DGID | DLID, PREFIX_OURS, PREFIX_OURS, PORT_GUID(A), PORT_GUID(C), 17, 24,
	 STATUS_OK, 17, 24},
	{SGID | SLID | DGID, PREFIX_OURS, PREFIX_OURS, PORT_GUID(A), PORT_GUID(C), 20, 0,
	 SA_NO_RECORDS, 0, 0},
	{SGID | DGID | DLID, PREFIX_OURS, PREFIX_OURS, PORT_GUID(A), PORT_GUID(C), 0, 28,
	 SA_NO_RECORDS, 0, 0},
	/* GIDs of another subnet, of a group, of no port. */
	{SGID | DGID, PREFIX_OURS, PREFIX_FOREIGN, PORT_GUID(A), PORT_GUID(C), 0, 0,
	 SA_REQ_INVALID_GID, 0, 0},
	{SGID | DGID, PREFIX_FOREIGN, PREFIX_OURS, PORT_GUID(A), PORT_GUID(C), 0, 0,
	 SA_REQ_INVALID_GID, 0, 0},
	{SGID | DGID, PREFIX_OURS, PREFIX_MULTICAST, PORT_GUID(A), PORT_GUID(C), 0, 0,
	 SA_NO_RECORDS, 0, 0},
	{SGID | DGID, PREFIX_OURS, PREFIX_OURS, PORT_GUID(A), 0xDEAD, 0, 0, SA_NO_RECORDS, 0, 0},
	{SLID | DLID, 0, 0, 0, 0, 16, 15, SA_NO_RECORDS, 0, 0},
	{SLID | DLID, 0, 0, 0, 0, 0, 24, SA_NO_RECORDS, 0, 0},
	{SLID | DLID, 0, 0, 0, 0, 16, 0xC001, SA_NO_RECORDS, 0, 0},
	/* Both ends are needed. */
	{SGID, PREFIX_OURS, 0, PORT_GUID(A), 0, 0, 0, SA_REQ_INSUFFICIENT_COMPONENTS, 0, 0},
	{DGID, 0, PREFIX_OURS, 0, PORT_GUID(C), 0, 0, SA_REQ_INSUFFICIENT_COMPONENTS, 0, 0},
	{SLID, 0, 0, 0, 0, 16, 0, SA_REQ_INSUFFICIENT_COMPONENTS, 0, 0},
	{0, 0, 0, 0, 0, 0, 0, SA_REQ_INSUFFICIENT_COMPONENTS, 0, 0},
};

static void test_path_ends(void)
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(path_ends); i++) {
		struct path_record wanted = {.slid = path_ends[i].slid, .dlid = path_ends[i].dlid};
		struct path_record record = {0};
		struct endport port;
		uint8_t expected[GID_SIZE];

		gid(wanted.sgid, path_ends[i].s_prefix, path_ends[i].sgid);
		gid(wanted.dgid, path_ends[i].d_prefix, path_ends[i].dgid);
		CU_ASSERT_EQUAL(ask_path(METHOD_GET, path_ends[i].mask, &wanted),
				path_ends[i].status);
		if (path_ends[i].status)
			continue;
		answered(&path_record_format, 0, &record);
		CU_ASSERT_EQUAL(record.slid, path_ends[i].given_slid);
		CU_ASSERT_EQUAL(record.dlid, path_ends[i].given_dlid);
		CU_ASSERT_TRUE(endport_by_lid(sa.view->topology, record.slid, &port));
		gid(expected, PREFIX_OURS, port.guid);
		CU_ASSERT_EQUAL(memcmp(record.sgid, expected, GID_SIZE), 0);
		CU_ASSERT_TRUE(endport_by_lid(sa.view->topology, record.dlid, &port));
		gid(expected, PREFIX_OURS, port.guid);
		CU_ASSERT_EQUAL(memcmp(record.dgid, expected, GID_SIZE), 0);
	}
	end();
}

/* All components of one path: A to D, requested as by a client of rdma_cm. */
static void test_path_record(void)
{
	struct path_record wanted = {.service_id_56lsb = 0x01060000001234,
				     .service_id_8msb = 0x0A,
				     .reversible = 1,
				     .numb_path = 1,
				     .p_key = 0x7FFF,
				     .qos_class = 0x123,
				     .tclass = 9};
	const uint64_t mask = SGID | DGID | COMPONENT(PATH_SERVICE_ID_8MSB) |
			      COMPONENT(PATH_SERVICE_ID_56LSB) | COMPONENT(PATH_REVERSIBLE) |
			      COMPONENT(PATH_NUMB_PATH) | COMPONENT(PATH_P_KEY) |
			      COMPONENT(PATH_QOS_CLASS) | COMPONENT(10 /* TClass */);
	struct path_record record = {0};

	begin();
	gid(wanted.sgid, PREFIX_LINK_LOCAL, PORT_GUID(A));
	gid(wanted.dgid, PREFIX_LINK_LOCAL, PORT_GUID(D));
	CU_ASSERT_EQUAL(ask_path(METHOD_GET, mask, &wanted), STATUS_OK);
	answered(&path_record_format, 0, &record);
	CU_ASSERT_EQUAL(sa.sa_header.attr_offset, 8);
	CU_ASSERT_EQUAL(record.service_id_8msb, wanted.service_id_8msb);
	CU_ASSERT_EQUAL(record.service_id_56lsb, wanted.service_id_56lsb);
	CU_ASSERT_EQUAL(record.qos_class, wanted.qos_class);
	CU_ASSERT_EQUAL(record.slid, 16);
	CU_ASSERT_EQUAL(record.dlid, 28);
	CU_ASSERT_EQUAL(record.raw_traffic, 0);
	CU_ASSERT_EQUAL(record.flow_label, 0);
	CU_ASSERT_EQUAL(record.hop_limit, 0);
	CU_ASSERT_EQUAL(record.tclass, wanted.tclass);
	CU_ASSERT_EQUAL(record.reversible, 1);
	CU_ASSERT_EQUAL(record.numb_path, 0);
	CU_ASSERT_EQUAL(record.p_key, 0x7FFF);
	CU_ASSERT_EQUAL(record.sl, 0);
	CU_ASSERT_EQUAL(record.mtu_selector, 2);
	CU_ASSERT_EQUAL(record.mtu, MTU_1024);
	CU_ASSERT_EQUAL(record.rate_selector, 2);
	CU_ASSERT_EQUAL(record.rate, RATE_56);
	CU_ASSERT_EQUAL(record.packet_life_time_selector, 2);
	CU_ASSERT_EQUAL(record.packet_life_time, options.packet_life_time);
	CU_ASSERT_EQUAL(record.preference, 0);
	end();
}

/* Further components, requested from A's LID 17 to C's 25 (MTU 4096, 40 Gb/s, life time 18). */
static const struct {
	uint64_t mask;
	struct path_record wanted;
	int status;
} path_questions[] = {
	{COMPONENT(PATH_REVERSIBLE), {.reversible = 1}, STATUS_OK},
	{COMPONENT(PATH_REVERSIBLE), {.reversible = 0}, STATUS_OK},
	{COMPONENT(PATH_RAW_TRAFFIC), {.raw_traffic = 0}, STATUS_OK},
	{COMPONENT(PATH_RAW_TRAFFIC), {.raw_traffic = 1}, SA_NO_RECORDS},
	{COMPONENT(PATH_SL), {.sl = 0}, STATUS_OK},
	{COMPONENT(PATH_SL), {.sl = 1}, STATUS_OK},
	{COMPONENT(PATH_P_KEY), {.p_key = 0xFFFF}, STATUS_OK},
	{COMPONENT(PATH_P_KEY), {.p_key = 0x8001}, SA_NO_RECORDS},
	{COMPONENT(PATH_P_KEY), {.p_key = 0}, SA_NO_RECORDS},
	{COMPONENT(PATH_P_KEY), {.p_key = 0x8000}, SA_NO_RECORDS},
	{COMPONENT(PATH_MTU_SELECTOR) | COMPONENT(PATH_MTU),
	 {.mtu_selector = 0, .mtu = 4},
	 STATUS_OK},
	{COMPONENT(PATH_MTU_SELECTOR) | COMPONENT(PATH_MTU),
	 {.mtu_selector = 0, .mtu = 5},
	 SA_NO_RECORDS},
	{COMPONENT(PATH_RATE_SELECTOR) | COMPONENT(PATH_RATE),
	 {.rate_selector = 2, .rate = 7},
	 STATUS_OK},
	{COMPONENT(PATH_RATE_SELECTOR) | COMPONENT(PATH_RATE),
	 {.rate_selector = 2, .rate = 16},
	 SA_NO_RECORDS},
	{COMPONENT(PATH_PACKET_LIFE_TIME_SELECTOR) | COMPONENT(PATH_PACKET_LIFE_TIME),
	 {.packet_life_time_selector = 1, .packet_life_time = 19},
	 STATUS_OK},
	{COMPONENT(PATH_PACKET_LIFE_TIME_SELECTOR) | COMPONENT(PATH_PACKET_LIFE_TIME),
	 {.packet_life_time_selector = 1, .packet_life_time = 18},
	 SA_NO_RECORDS},
	/* A value without its selector, or a selector without its value, is ignored. */
	{COMPONENT(PATH_MTU), {.mtu = 1}, STATUS_OK},
	{COMPONENT(PATH_RATE_SELECTOR), {.rate_selector = 1}, STATUS_OK},
	/* NumbPath is 1 of a Get. */
	{COMPONENT(PATH_NUMB_PATH), {.numb_path = 0}, STATUS_OK},
	{COMPONENT(PATH_NUMB_PATH), {.numb_path = 127}, STATUS_OK},
};

static void test_path_questions(void)
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(path_questions); i++) {
		struct path_record wanted = path_questions[i].wanted, record = {0};

		wanted.slid = 17;
		wanted.dlid = 25;
		CU_ASSERT_EQUAL(ask_path(METHOD_GET, path_questions[i].mask | SLID | DLID, &wanted),
				path_questions[i].status);
		if (path_questions[i].status)
			continue;
		answered(&path_record_format, 0, &record);
		/* Without QoS every SL leads along the same routes (osm_sa_path_record.c). */
		CU_ASSERT_EQUAL(record.sl, wanted.sl);
	}
	end();
}

/* Destinations in other subnets: D is a router, and the rows of prefix_routes_file are these. */
static const struct prefix_route prefixes[] = {
	{.prefix = UINT64_C(0xFEC0000000000002), .router = PORT_GUID(C)},
	{.prefix = UINT64_C(0xFEC0000000000003), .any_router = true},
	{.prefix = UINT64_C(0xFEC0000000000004), .router = 0xDEAD},
	{.prefix = UINT64_C(0xFEC0000000000002), .router = PORT_GUID(B)}, /* the first counts */
};

static const struct {
	uint64_t mask, prefix;
	lid_t dlid;
	int status;
	lid_t given_dlid;
} beyond[] = {
	{SGID | DGID, UINT64_C(0xFEC0000000000002), 0, STATUS_OK, 24},
	{SGID | DGID, UINT64_C(0xFEC0000000000003), 0, STATUS_OK, 28},
	{SGID | DGID | COMPONENT(PATH_HOP_LIMIT), UINT64_C(0xFEC0000000000003), 0, STATUS_OK, 28},
	{SGID | DGID | DLID, UINT64_C(0xFEC0000000000002), 25, STATUS_OK, 25},
	{SGID | DGID | DLID, UINT64_C(0xFEC0000000000002), 28, SA_NO_RECORDS, 0},
	/* Its router is not there; there is none. */
	{SGID | DGID, UINT64_C(0xFEC0000000000004), 0, SA_NO_RECORDS, 0},
	{SGID | DGID, UINT64_C(0xFEC0000000000005), 0, SA_REQ_INVALID_GID, 0},
};

static void test_path_beyond(void)
{
	struct route_options *routers = route_options_new();

	begin();
	routers->prefixes.count = ARRAY_SIZE(prefixes);
	routers->prefixes.route = mem_array(ARRAY_SIZE(prefixes), sizeof(prefixes[0]));
	memcpy(routers->prefixes.route, prefixes, sizeof(prefixes));
	sa.view->topology->options = routers;
	sa.view->topology->ends[D].facts->info.node_type = NODE_ROUTER;
	for (size_t i = 0; i < ARRAY_SIZE(beyond); i++) {
		struct path_record wanted = {.dlid = beyond[i].dlid, .hop_limit = 1};
		struct path_record record = {0};

		gid(wanted.sgid, PREFIX_OURS, PORT_GUID(A));
		be64_store(wanted.dgid, beyond[i].prefix);
		be64_store(wanted.dgid + 8, 0x1234);
		CU_ASSERT_EQUAL(ask_path(METHOD_GET, beyond[i].mask, &wanted), beyond[i].status);
		if (beyond[i].status)
			continue;
		answered(&path_record_format, 0, &record);
		CU_ASSERT_EQUAL(record.dlid, beyond[i].given_dlid);
		CU_ASSERT_EQUAL(record.hop_limit, 255);
		CU_ASSERT_EQUAL(memcmp(record.dgid, wanted.dgid, GID_SIZE), 0);
		CU_ASSERT_EQUAL(memcmp(record.sgid, wanted.sgid, GID_SIZE), 0);
	}
	end();
}

/* A requester gets the path between two other ports if it may see both (chapter 15.4.1), so that
 * job managers can query for their nodes. Naming another port as the source opens nothing else. B,
 * a limited member, sees A and, through partition 1, C, but no other limited member. */
static const struct {
	lid_t from;
	unsigned source, destination;
	int status;
} spoofed[] = {
	{24, A, D, STATUS_OK}, {20, A, C, STATUS_OK}, {20, B, A, STATUS_OK},
	{28, A, C, STATUS_OK}, {24, B, A, STATUS_OK},
};

static void test_path_of_others(void)
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(spoofed); i++) {
		struct path_record wanted = {0};

		gid(wanted.sgid, PREFIX_OURS, PORT_GUID(spoofed[i].source));
		gid(wanted.dgid, PREFIX_OURS, PORT_GUID(spoofed[i].destination));
		CU_ASSERT_EQUAL(ask(&(struct ask){.from = spoofed[i].from,
						  .method = METHOD_GET,
						  .attr_id = RECORD_PATH,
						  .mask = SGID | DGID,
						  .format = &path_record_format,
						  .record = &wanted}),
				spoofed[i].status);
	}
	/* C leaves all partitions but 1, where it is a limited member: A and D do not see it, and
	 * it sees neither them nor the paths between them. */
	sa.view->topology->ends[C].facts->port[1].pkeys->key[1] = 0;
	view_publish(&sa.view,
		     view_new(2, snapshot_ref(sa.view->topology), routes_ref(sa.view->routes),
			      sa.view->sms, sa.view->num_sms));
	for (size_t i = 0; i < ARRAY_SIZE(spoofed); i++) {
		bool with_c = spoofed[i].from == 24 || spoofed[i].destination == C;
		struct path_record wanted = {0};

		gid(wanted.sgid, PREFIX_OURS, PORT_GUID(spoofed[i].source));
		gid(wanted.dgid, PREFIX_OURS, PORT_GUID(spoofed[i].destination));
		CU_ASSERT_EQUAL(ask(&(struct ask){.from = spoofed[i].from,
						  .method = METHOD_GET,
						  .attr_id = RECORD_PATH,
						  .mask = SGID | DGID,
						  .format = &path_record_format,
						  .record = &wanted}),
				with_c ? SA_NO_RECORDS : STATUS_OK);
	}
	end();
}

/* Tables of paths: LIDs in pairs. */
static const struct {
	uint64_t mask;
	lid_t slid, dlid;
	uint8_t numb_path;
	guid_t sgid, dgid;
	int found;
	lid_t pairs[4][2];
} path_tables[] = {
	{SGID | DGID,
	 0,
	 0,
	 0,
	 PORT_GUID(A),
	 PORT_GUID(B),
	 4,
	 {{16, 20}, {17, 21}, {18, 22}, {19, 23}}},
	{SGID | DGID,
	 0,
	 0,
	 0,
	 PORT_GUID(A),
	 PORT_GUID(C),
	 4,
	 {{16, 24}, {17, 25}, {18, 24}, {19, 25}}},
	{SGID | DGID, 0, 0, 0, PORT_GUID(D), PORT_GUID(C), 2, {{28, 24}, {28, 25}}},
	{SLID | DGID, 17, 0, 0, 0, PORT_GUID(B), 4, {{17, 21}, {17, 22}, {17, 23}, {17, 20}}},
	{SGID | DLID, 0, 24, 0, PORT_GUID(A), 0, 4, {{16, 24}, {17, 24}, {18, 24}, {19, 24}}},
	{SLID | DLID, 18, 21, 0, 0, 0, 1, {{18, 21}}},
	{SGID | DGID | COMPONENT(PATH_NUMB_PATH),
	 0,
	 0,
	 3,
	 PORT_GUID(A),
	 PORT_GUID(B),
	 3,
	 {{16, 20}, {17, 21}, {18, 22}}},
	{SGID | DGID | COMPONENT(PATH_NUMB_PATH),
	 0,
	 0,
	 127,
	 PORT_GUID(A),
	 PORT_GUID(B),
	 4,
	 {{16, 20}}},
	{SGID | DGID | COMPONENT(PATH_NUMB_PATH), 0, 0, 0, PORT_GUID(A), PORT_GUID(B), 0, {{0}}},
	/* One end open: NumbPath is for each pair of ports. */
	{SGID | COMPONENT(PATH_NUMB_PATH),
	 0,
	 0,
	 1,
	 PORT_GUID(A),
	 0,
	 6,
	 {{16, 1}, {16, 2}, {16, 16}, {16, 20}}},
	{DLID | COMPONENT(PATH_NUMB_PATH),
	 0,
	 28,
	 1,
	 0,
	 0,
	 6,
	 {{1, 28}, {2, 28}, {16, 28}, {20, 28}}},
	{COMPONENT(PATH_NUMB_PATH), 0, 0, 1, 0, 0, 36, {{1, 1}, {1, 2}, {1, 16}, {1, 20}}},
	/* An unknown port gives an empty table. */
	{SGID | DGID, 0, 0, 0, PORT_GUID(A), 0xDEAD, 0, {{0}}},
	{SLID, 15, 0, 0, 0, 0, 0, {{0}}},
};

static void test_path_tables(void)
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(path_tables); i++) {
		struct path_record wanted = {.slid = path_tables[i].slid,
					     .dlid = path_tables[i].dlid,
					     .numb_path = path_tables[i].numb_path};
		struct path_record record = {0};

		gid(wanted.sgid, PREFIX_OURS, path_tables[i].sgid);
		gid(wanted.dgid, PREFIX_OURS, path_tables[i].dgid);
		CU_ASSERT_EQUAL(
			table(RECORD_PATH, &path_record_format, path_tables[i].mask, &wanted),
			path_tables[i].found);
		for (unsigned n = 0; n < 4 && (int)n < path_tables[i].found; n++) {
			if (!path_tables[i].pairs[n][0])
				break;
			answered(&path_record_format, n, &record);
			CU_ASSERT_EQUAL(record.slid, path_tables[i].pairs[n][0]);
			CU_ASSERT_EQUAL(record.dlid, path_tables[i].pairs[n][1]);
		}
	}
	CU_ASSERT_EQUAL(ask_path(METHOD_GET_TABLE, DGID, &(struct path_record){.dgid = {0xFE}}),
			SA_REQ_INVALID_GID);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"ends", test_path_ends},
		{"all that one says", test_path_record},
		{"further components", test_path_questions},
		{"destinations in other subnets", test_path_beyond},
		{"paths between others", test_path_of_others},
		{"tables and LMC", test_path_tables},
		CU_TEST_INFO_NULL,
	};

	return unit_main("path_record", tests);
}

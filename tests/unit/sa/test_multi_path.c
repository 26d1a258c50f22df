/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * MultiPathRecord: the ends that a request means, refusals, the order of paths, and that the
 * conditions on a path are those of PathRecord.
 */
#include "tests/unit/fixtures/sa_client.h"

#define COUNTS (COMPONENT(MULTI_PATH_SGID_COUNT) | COMPONENT(MULTI_PATH_DGID_COUNT))
#define NUMB_PATH COMPONENT(MULTI_PATH_NUMB_PATH)

enum { GIDS_MAX = 8 };

static void gid_put(uint8_t *gid, uint64_t prefix, guid_t guid)
{
	be64_store(gid, prefix);
	be64_store(gid + 8, guid);
}

/* Requests paths from the hosts in sources to the hosts in destinations, letters from A. */
static int ask_hosts(const char *sources, const char *destinations, uint64_t mask,
		     struct multi_path_record wanted)
{
	uint8_t gids[GIDS_MAX * GID_SIZE];
	size_t count = 0;

	wanted.sgid_count = (uint8_t)strlen(sources);
	wanted.dgid_count = (uint8_t)strlen(destinations);
	for (const char *host = sources; *host; host++)
		gid_put(gids + GID_SIZE * count++, GID_PREFIX_DEFAULT, PORT_GUID(*host - 'A'));
	for (const char *host = destinations; *host; host++)
		gid_put(gids + GID_SIZE * count++, options.subnet_prefix, PORT_GUID(*host - 'A'));
	return ask(&(struct ask){.method = METHOD_GET_MULTI,
				 .attr_id = RECORD_MULTI_PATH,
				 .mask = COUNTS | mask,
				 .format = &multi_path_record_format,
				 .record = &wanted,
				 .gids = gids,
				 .num_gids = count});
}

/* LIDs: A 16-19, B 20-23, C 24-25, D 28. */
static const struct {
	const char *sources, *destinations;
	uint8_t numb_path; /* 0: not asked for */
	int found;
	lid_t pairs[6][2];
} orders[] = {
	{"A", "D", 0, 4, {{16, 28}, {17, 28}, {18, 28}, {19, 28}}},
	{"D", "D", 0, 1, {{28, 28}}},
	/* First between different ports on both sides, then along the other diagonal, then by
	 * other LIDs. */
	{"AB", "CD", 4, 4, {{16, 24}, {20, 28}, {16, 28}, {20, 24}}},
	{"AB", "CD", 0, 16, {{16, 24}, {20, 28}, {16, 28}, {20, 24}, {17, 25}, {21, 28}}},
	{"AB", "D", 3, 3, {{16, 28}, {20, 28}, {17, 28}}},
	{"D", "ABC", 5, 5, {{28, 16}, {28, 20}, {28, 24}, {28, 17}, {28, 21}}},
	/* A port that is named twice is one. */
	{"DD", "CC", 0, 2, {{28, 24}, {28, 25}}},
	{"AB", "CD", 1, 1, {{16, 24}}},
};

static void test_orders(void)
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		const struct multi_path_record wanted = {.numb_path = orders[i].numb_path};

		CU_ASSERT_EQUAL(ask_hosts(orders[i].sources, orders[i].destinations,
					  wanted.numb_path ? NUMB_PATH : 0, wanted),
				STATUS_OK);
		CU_ASSERT_EQUAL(sa.header.method, METHOD_GET_MULTI_RESP);
		CU_ASSERT_EQUAL(sa.mad[26] & RMPP_ACTIVE, RMPP_ACTIVE);
		CU_ASSERT_EQUAL(sa.sa_header.attr_offset, 8);
		CU_ASSERT_EQUAL(sa.header.attr_id, 0x35); /* PathRecord */
		CU_ASSERT_EQUAL((int)(sa.size - SUBN_ADM_HEADER_SIZE) / 64, orders[i].found);
		for (unsigned n = 0; n < 6 && (int)n < orders[i].found; n++) {
			struct path_record record = {0};

			if (!orders[i].pairs[n][0])
				break;
			answered(&path_record_format, n, &record);
			CU_ASSERT_EQUAL(record.slid, orders[i].pairs[n][0]);
			CU_ASSERT_EQUAL(record.dlid, orders[i].pairs[n][1]);
		}
	}
	end();
}

/* Conditions on the path from C (LID 24, then 25) to D: 40 Gb/s, MTU 1024, life time 18. */
static const struct {
	unsigned component, selector; /* selector 0: none */
	struct multi_path_record wanted;
	int found;
} questions[] = {
	{MULTI_PATH_RAW_TRAFFIC, 0, {.raw_traffic = 1}, 0},
	{MULTI_PATH_REVERSIBLE, 0, {.reversible = 1}, 2},
	{MULTI_PATH_P_KEY, 0, {.p_key = 0xFFFF}, 2},
	{MULTI_PATH_P_KEY, 0, {.p_key = 0x8001}, 0},
	{MULTI_PATH_P_KEY, 0, {.p_key = 0}, 0},
	{MULTI_PATH_SL, 0, {.sl = 1}, 2},
	{MULTI_PATH_SL, 0, {.sl = 0}, 2},
	{MULTI_PATH_MTU, MULTI_PATH_MTU_SELECTOR, {.mtu_selector = 0, .mtu = 3}, 0},
	{MULTI_PATH_MTU, MULTI_PATH_MTU_SELECTOR, {.mtu_selector = 2, .mtu = 2}, 2},
	{MULTI_PATH_RATE, MULTI_PATH_RATE_SELECTOR, {.rate_selector = 0, .rate = RATE_40}, 0},
	{MULTI_PATH_RATE, MULTI_PATH_RATE_SELECTOR, {.rate_selector = 2, .rate = RATE_40}, 2},
	{MULTI_PATH_PACKET_LIFE_TIME,
	 MULTI_PATH_PACKET_LIFE_TIME_SELECTOR,
	 {.packet_life_time_selector = 1, .packet_life_time = 18},
	 0},
	{MULTI_PATH_PACKET_LIFE_TIME,
	 MULTI_PATH_PACKET_LIFE_TIME_SELECTOR,
	 {.packet_life_time_selector = 2, .packet_life_time = 20},
	 2},
};

static void test_questions(void)
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		uint64_t mask = COMPONENT(questions[i].component);

		if (questions[i].selector)
			mask |= COMPONENT(questions[i].selector);
		CU_ASSERT_EQUAL(ask_hosts("C", "D", mask, questions[i].wanted), STATUS_OK);
		CU_ASSERT_EQUAL((int)(sa.size - SUBN_ADM_HEADER_SIZE) / 64, questions[i].found);
	}
	end();
}

static void test_echo(void)
{
	const struct multi_path_record wanted = {.service_id_8msb = 0x10,
						 .service_id_56lsb = 0x20304050607080,
						 .qos_class = 0x321,
						 .tclass = 7,
						 .hop_limit = 64,
						 .flow_label = 0x54321};
	struct path_record record = {0};

	begin();
	CU_ASSERT_EQUAL(ask_hosts("A", "D",
				  COMPONENT(MULTI_PATH_SERVICE_ID_8MSB) |
					  COMPONENT(MULTI_PATH_SERVICE_ID_56LSB) |
					  COMPONENT(MULTI_PATH_QOS_CLASS) |
					  COMPONENT(MULTI_PATH_TCLASS) |
					  COMPONENT(MULTI_PATH_HOP_LIMIT) |
					  COMPONENT(MULTI_PATH_FLOW_LABEL),
				  wanted),
			STATUS_OK);
	answered(&path_record_format, 0, &record);
	CU_ASSERT_EQUAL(record.service_id_8msb, wanted.service_id_8msb);
	CU_ASSERT_EQUAL(record.service_id_56lsb, wanted.service_id_56lsb);
	CU_ASSERT_EQUAL(record.qos_class, wanted.qos_class);
	CU_ASSERT_EQUAL(record.tclass, wanted.tclass);
	CU_ASSERT_EQUAL(record.hop_limit, wanted.hop_limit);
	CU_ASSERT_EQUAL(record.flow_label, wanted.flow_label);
	CU_ASSERT_EQUAL(record.mtu, MTU_1024);
	CU_ASSERT_EQUAL(record.rate, RATE_56);
	CU_ASSERT_EQUAL(be64_load(record.sgid), options.subnet_prefix);
	CU_ASSERT_EQUAL(be64_load(record.sgid + 8), PORT_GUID(A));
	CU_ASSERT_EQUAL(be64_load(record.dgid + 8), PORT_GUID(D));
	end();
}

/* Counts and GIDs as they are on the wire, and the status. */
static const struct {
	uint64_t mask;
	uint8_t sgids, dgids; /* the counts */
	struct {
		uint64_t prefix;
		guid_t guid;
	} gid[2];
	size_t size; /* of the MAD, 0: one */
	uint16_t status;
} refusals[] = {
	{COUNTS,
	 1,
	 1,
	 {{GID_PREFIX_DEFAULT, PORT_GUID(A)}, {GID_PREFIX_DEFAULT, PORT_GUID(B)}},
	 0,
	 STATUS_OK},
	{COUNTS, 0, 1, {{GID_PREFIX_DEFAULT, PORT_GUID(A)}}, 0, SA_REQ_INSUFFICIENT_COMPONENTS},
	{COUNTS, 1, 0, {{GID_PREFIX_DEFAULT, PORT_GUID(A)}}, 0, SA_REQ_INSUFFICIENT_COMPONENTS},
	{COMPONENT(MULTI_PATH_SGID_COUNT),
	 1,
	 1,
	 {{GID_PREFIX_DEFAULT, PORT_GUID(A)}, {GID_PREFIX_DEFAULT, PORT_GUID(B)}},
	 0,
	 SA_REQ_INSUFFICIENT_COMPONENTS},
	{COMPONENT(MULTI_PATH_DGID_COUNT),
	 1,
	 1,
	 {{GID_PREFIX_DEFAULT, PORT_GUID(A)}, {GID_PREFIX_DEFAULT, PORT_GUID(B)}},
	 0,
	 SA_REQ_INSUFFICIENT_COMPONENTS},
	/* Unknown GUID, another subnet, a group, GID 0. */
	{COUNTS,
	 1,
	 1,
	 {{GID_PREFIX_DEFAULT, PORT_GUID(A)}, {GID_PREFIX_DEFAULT, 0xDEAD}},
	 0,
	 SA_REQ_INVALID_GID},
	{COUNTS,
	 1,
	 1,
	 {{UINT64_C(0xFEC0000000000002), PORT_GUID(A)}, {GID_PREFIX_DEFAULT, PORT_GUID(B)}},
	 0,
	 SA_REQ_INVALID_GID},
	{COUNTS,
	 1,
	 1,
	 {{GID_PREFIX_DEFAULT, PORT_GUID(A)}, {UINT64_C(0xFF12401BFFFF0000), ~0u}},
	 0,
	 SA_REQ_INVALID_GID},
	{COUNTS, 1, 1, {{GID_PREFIX_DEFAULT, PORT_GUID(A)}}, 0, SA_REQ_INVALID_GID},
	/* More GIDs than bytes: 11 are in a MAD. */
	{COUNTS, 6, 6, {{GID_PREFIX_DEFAULT, PORT_GUID(A)}}, 0, SA_REQ_INVALID},
	{COUNTS, 255, 255, {{GID_PREFIX_DEFAULT, PORT_GUID(A)}}, 2 * MAD_SIZE, SA_REQ_INVALID},
};

static void test_refusals(void)
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		const struct multi_path_record wanted = {.sgid_count = refusals[i].sgids,
							 .dgid_count = refusals[i].dgids};
		uint8_t gids[2 * GID_SIZE];

		for (unsigned g = 0; g < 2; g++)
			gid_put(gids + GID_SIZE * g, refusals[i].gid[g].prefix,
				refusals[i].gid[g].guid);
		CU_ASSERT_EQUAL(ask(&(struct ask){.method = METHOD_GET_MULTI,
						  .attr_id = RECORD_MULTI_PATH,
						  .mask = refusals[i].mask,
						  .format = &multi_path_record_format,
						  .record = &wanted,
						  .gids = gids,
						  .num_gids = 2,
						  .size = refusals[i].size}),
				refusals[i].status);
		CU_ASSERT_EQUAL(sa.header.method, METHOD_GET_MULTI_RESP);
		CU_ASSERT_EQUAL(sa.header.attr_id, 0x35);
	}
	end();
}

/* A request of more than a MAD: 6 times each of A and B, 12 times D. */
static void test_long_request(void)
{
	const struct multi_path_record wanted = {.sgid_count = 12, .dgid_count = 12};
	uint8_t gids[24 * GID_SIZE];

	begin();
	for (unsigned g = 0; g < 24; g++)
		gid_put(gids + GID_SIZE * g, GID_PREFIX_DEFAULT,
			PORT_GUID(g >= 12 ? (unsigned)D : g % 2));
	CU_ASSERT_EQUAL(ask(&(struct ask){.method = METHOD_GET_MULTI,
					  .attr_id = RECORD_MULTI_PATH,
					  .mask = COUNTS,
					  .format = &multi_path_record_format,
					  .record = &wanted,
					  .gids = gids,
					  .num_gids = 24,
					  .size = 2 * MAD_SIZE}),
			STATUS_OK);
	CU_ASSERT_EQUAL((sa.size - SUBN_ADM_HEADER_SIZE) / 64, 8);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"the order of paths", test_orders},   {"conditions on a path", test_questions},
		{"echoed components", test_echo},      {"refusals", test_refusals},
		{"a long request", test_long_request}, CU_TEST_INFO_NULL,
	};

	return unit_main("multi_path", tests);
}

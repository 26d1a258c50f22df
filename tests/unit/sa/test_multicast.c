/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * MCMemberRecord from the wire to the wire, on the fabric of two_switches.h. Tables of requests
 * show which port may make, join, see and leave which group. Other tests send the requests of
 * Linux's IPoIB and rdma_cm, let requests wait for the store, or send too many requests.
 */
#include <inttypes.h>

#include "sa/counts.h"
#include "sa/groups.h"
#include "tests/unit/fixtures/member_client.h"
#include "tests/unit/fixtures/star.h"

static void test_broadcast(void)
{
	struct mc_member_record record = {0};

	begin();
	CU_ASSERT_EQUAL(table_of(A, 0, 0, NULL), 1);
	answered(&mc_member_record_format, 0, &record);
	CU_ASSERT_EQUAL(be64_load(record.mgid), UINT64_C(0xFF12401BFFFF0000));
	CU_ASSERT_EQUAL(be64_load(record.mgid + 8), 0xFFFFFFFF);
	CU_ASSERT_EQUAL(record.mlid, 0xC000);
	CU_ASSERT_EQUAL(record.p_key, 0xFFFF);
	CU_ASSERT_EQUAL(record.q_key, 0x0b1b);
	CU_ASSERT_EQUAL(record.mtu_selector, 2);
	CU_ASSERT_EQUAL(record.mtu, MTU_2048);
	CU_ASSERT_EQUAL(record.rate_selector, 2);
	CU_ASSERT_EQUAL(record.rate, 3); /* 10 Gb/s */
	CU_ASSERT_EQUAL(record.packet_life_time_selector, 2);
	CU_ASSERT_EQUAL(record.packet_life_time, options.packet_life_time);
	CU_ASSERT_EQUAL(record.sl, 0);
	CU_ASSERT_EQUAL(record.scope, 2);
	CU_ASSERT_EQUAL(record.hop_limit, 0);
	CU_ASSERT_EQUAL(record.join_state, 0);

	/* It stays when its last member leaves. */
	CU_ASSERT_EQUAL(table_of(A, SA_KEY, 0, NULL), 0);
	set_gid(record.port_gid, options.subnet_prefix, PORT_GUID(A));
	record.join_state = JOIN_FULL;
	CU_ASSERT_EQUAL(set(A, JOIN, &record), STATUS_OK);
	CU_ASSERT_EQUAL(table_of(A, SA_KEY, 0, NULL), 1);
	CU_ASSERT_EQUAL(leave(A, &record), STATUS_OK);
	CU_ASSERT_EQUAL(leave(A, &record), SA_REQ_INVALID);
	CU_ASSERT_EQUAL(groups(), 1);
	end();
}

/* The first join of a group: the request, and the resulting group. A's port has 100 Gb/s and 4096
 * bytes, D's has 1024 bytes. */
static const struct {
	const char *what;
	unsigned host;
	uint64_t mask;
	struct mc_member_record ask;
	int status;
	uint8_t mtu, rate, life_time; /* 0: not looked at */
} creations[] = {
	{"nothing beyond what must be",
	 A,
	 CREATE,
	 {.p_key = 0xFFFF},
	 STATUS_OK,
	 MTU_4096,
	 RATE_100,
	 18},
	{"no Q_Key",
	 A,
	 CREATE & ~BIT(Q_KEY),
	 {.p_key = 0xFFFF},
	 SA_REQ_INSUFFICIENT_COMPONENTS,
	 0,
	 0,
	 0},
	{"no TClass",
	 A,
	 CREATE & ~BIT(TCLASS),
	 {.p_key = 0xFFFF},
	 SA_REQ_INSUFFICIENT_COMPONENTS,
	 0,
	 0,
	 0},
	{"no P_Key",
	 A,
	 CREATE & ~BIT(P_KEY),
	 {.p_key = 0xFFFF},
	 SA_REQ_INSUFFICIENT_COMPONENTS,
	 0,
	 0,
	 0},
	{"no FlowLabel",
	 A,
	 CREATE & ~BIT(FLOW_LABEL),
	 {.p_key = 0xFFFF},
	 SA_REQ_INSUFFICIENT_COMPONENTS,
	 0,
	 0,
	 0},
	{"no SL", A, CREATE & ~BIT(SL), {.p_key = 0xFFFF}, SA_REQ_INSUFFICIENT_COMPONENTS, 0, 0, 0},
	{"no MGID",
	 A,
	 CREATE & ~BIT(MGID),
	 {.p_key = 0xFFFF},
	 SA_REQ_INSUFFICIENT_COMPONENTS,
	 0,
	 0,
	 0},
	{"no PortGID",
	 A,
	 CREATE & ~BIT(PORT_GID),
	 {.p_key = 0xFFFF},
	 SA_REQ_INSUFFICIENT_COMPONENTS,
	 0,
	 0,
	 0},
	{"no JoinState",
	 A,
	 CREATE & ~BIT(JOIN_STATE),
	 {.p_key = 0xFFFF},
	 SA_REQ_INSUFFICIENT_COMPONENTS,
	 0,
	 0,
	 0},
	{"P_Key 0", A, CREATE, {.p_key = 0}, SA_REQ_INVALID, 0, 0, 0},
	{"P_Key 0x8000", A, CREATE, {.p_key = 0x8000}, SA_REQ_INVALID, 0, 0, 0},
	{"a partition of others", A, CREATE, {.p_key = 0x8001}, SA_REQ_INVALID, 0, 0, 0},
	{"one's own partition", B, CREATE, {.p_key = 0x8001}, STATUS_OK, 0, 0, 0},
	{"one's own as a limited member", C, CREATE, {.p_key = 0x8001}, STATUS_OK, 0, 0, 0},
	{"MTU exactly",
	 A,
	 CREATE | MTU_BITS,
	 {.p_key = 0xFFFF, .mtu_selector = 2, .mtu = 3},
	 STATUS_OK,
	 3,
	 0,
	 0},
	{"MTU greater",
	 A,
	 CREATE | MTU_BITS,
	 {.p_key = 0xFFFF, .mtu_selector = 0, .mtu = 3},
	 STATUS_OK,
	 MTU_4096,
	 0,
	 0},
	{"MTU less",
	 A,
	 CREATE | MTU_BITS,
	 {.p_key = 0xFFFF, .mtu_selector = 1, .mtu = 4},
	 STATUS_OK,
	 MTU_1024,
	 0,
	 0},
	{"MTU largest",
	 A,
	 CREATE | MTU_BITS,
	 {.p_key = 0xFFFF, .mtu_selector = 3, .mtu = 0},
	 STATUS_OK,
	 MTU_4096,
	 0,
	 0},
	{"an MTU that the link has not",
	 D,
	 CREATE | MTU_BITS,
	 {.p_key = 0xFFFF, .mtu_selector = 2, .mtu = 4},
	 SA_REQ_INVALID,
	 0,
	 0,
	 0},
	{"greater than the link's MTU",
	 D,
	 CREATE | MTU_BITS,
	 {.p_key = 0xFFFF, .mtu_selector = 0, .mtu = 3},
	 SA_REQ_INVALID,
	 0,
	 0,
	 0},
	{"less than more than the link's MTU",
	 D,
	 CREATE | MTU_BITS,
	 {.p_key = 0xFFFF, .mtu_selector = 1, .mtu = 5},
	 STATUS_OK,
	 MTU_1024,
	 0,
	 0},
	{"less than the least MTU",
	 A,
	 CREATE | MTU_BITS,
	 {.p_key = 0xFFFF, .mtu_selector = 1, .mtu = 1},
	 SA_REQ_INVALID,
	 0,
	 0,
	 0},
	{"greater than the greatest MTU",
	 A,
	 CREATE | MTU_BITS,
	 {.p_key = 0xFFFF, .mtu_selector = 0, .mtu = 5},
	 SA_REQ_INVALID,
	 0,
	 0,
	 0},
	{"no such MTU",
	 A,
	 CREATE | MTU_BITS,
	 {.p_key = 0xFFFF, .mtu_selector = 0, .mtu = 6},
	 SA_REQ_INVALID,
	 0,
	 0,
	 0},
	{"MTU 0",
	 A,
	 CREATE | MTU_BITS,
	 {.p_key = 0xFFFF, .mtu_selector = 0, .mtu = 0},
	 SA_REQ_INVALID,
	 0,
	 0,
	 0},
	{"an MTU without selector",
	 A,
	 CREATE | BIT(MTU),
	 {.p_key = 0xFFFF, .mtu = 1},
	 STATUS_OK,
	 MTU_4096,
	 0,
	 0},
	{"rate exactly",
	 A,
	 CREATE | RATE_BITS,
	 {.p_key = 0xFFFF, .rate_selector = 2, .rate = 3},
	 STATUS_OK,
	 0,
	 3,
	 0},
	{"rate greater",
	 A,
	 CREATE | RATE_BITS,
	 {.p_key = 0xFFFF, .rate_selector = 0, .rate = 2},
	 STATUS_OK,
	 0,
	 RATE_100,
	 0},
	{"rate less",
	 A,
	 CREATE | RATE_BITS,
	 {.p_key = 0xFFFF, .rate_selector = 1, .rate = 3},
	 STATUS_OK,
	 0,
	 5 /* 5 Gb/s */,
	 0},
	{"rate largest",
	 A,
	 CREATE | RATE_BITS,
	 {.p_key = 0xFFFF, .rate_selector = 3},
	 STATUS_OK,
	 0,
	 RATE_100,
	 0},
	{"a rate that the link has not",
	 A,
	 CREATE | RATE_BITS,
	 {.p_key = 0xFFFF, .rate_selector = 2, .rate = 17},
	 SA_REQ_INVALID,
	 0,
	 0,
	 0},
	{"greater than the link's rate",
	 A,
	 CREATE | RATE_BITS,
	 {.p_key = 0xFFFF, .rate_selector = 0, .rate = RATE_100},
	 SA_REQ_INVALID,
	 0,
	 0,
	 0},
	{"less than the least rate",
	 A,
	 CREATE | RATE_BITS,
	 {.p_key = 0xFFFF, .rate_selector = 1, .rate = 2},
	 SA_REQ_INVALID,
	 0,
	 0,
	 0},
	{"no such rate",
	 A,
	 CREATE | RATE_BITS,
	 {.p_key = 0xFFFF, .rate_selector = 0, .rate = 63},
	 SA_REQ_INVALID,
	 0,
	 0,
	 0},
	{"life time exactly",
	 A,
	 CREATE | LIFE_BITS,
	 {.p_key = 0xFFFF, .packet_life_time_selector = 2, .packet_life_time = 20},
	 STATUS_OK,
	 0,
	 0,
	 20},
	{"life time greater",
	 A,
	 CREATE | LIFE_BITS,
	 {.p_key = 0xFFFF, .packet_life_time_selector = 0, .packet_life_time = 0},
	 STATUS_OK,
	 0,
	 0,
	 18},
	{"life time shorter than it takes",
	 A,
	 CREATE | LIFE_BITS,
	 {.p_key = 0xFFFF, .packet_life_time_selector = 1, .packet_life_time = 18},
	 SA_REQ_INVALID,
	 0,
	 0,
	 0},
};

static void test_creations(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(creations); i++) {
		struct mc_member_record record = creations[i].ask;
		int status;

		begin();
		set_mgid(record.mgid, 1);
		set_gid(record.port_gid, GID_PREFIX_DEFAULT, PORT_GUID(creations[i].host));
		record.join_state = JOIN_FULL;
		status = set(creations[i].host, creations[i].mask, &record);
		if (status != creations[i].status)
			printf("\n    %s: 0x%x\n", creations[i].what, (unsigned)status);
		CU_ASSERT_EQUAL(status, creations[i].status);
		CU_ASSERT_EQUAL(groups(), status == STATUS_OK ? 2 : 1);
		CU_ASSERT_EQUAL(members(), status == STATUS_OK ? 1 : 0);
		if (status == STATUS_OK) {
			CU_ASSERT_EQUAL(told.mlid, 0xC001);
			CU_ASSERT_EQUAL(told.join_state, JOIN_FULL);
			CU_ASSERT_EQUAL(told.proxy_join, 0);
			CU_ASSERT_EQUAL(told.scope, 2);
			CU_ASSERT_EQUAL(told.mtu_selector, 2);
			CU_ASSERT_EQUAL(told.rate_selector, 2);
			CU_ASSERT_EQUAL(told.packet_life_time_selector, 2);
			CU_ASSERT_TRUE(!creations[i].mtu || told.mtu == creations[i].mtu);
			CU_ASSERT_TRUE(!creations[i].rate || told.rate == creations[i].rate);
			CU_ASSERT_TRUE(!creations[i].life_time ||
				       told.packet_life_time == creations[i].life_time);
			CU_ASSERT_EQUAL(memcmp(told.port_gid, record.port_gid, GID_SIZE), 0);
		}
		end();
	}
}

/* The join states that may make a group, and those that keep it. */
static void test_join_states(void)
{
	for (uint8_t state = 0; state <= 15; state++) {
		bool keeps = state & (JOIN_FULL | JOIN_SEND_ONLY_FULL);

		begin();
		CU_ASSERT_EQUAL(join(A, 1, state), keeps ? STATUS_OK : SA_REQ_INVALID);
		CU_ASSERT_EQUAL(groups(), keeps ? 2 : 1);
		/* An existing group can be joined in any state except 0. */
		CU_ASSERT_EQUAL(join(C, 2, JOIN_FULL), STATUS_OK);
		CU_ASSERT_EQUAL(join(A, 2, state), state ? STATUS_OK : SA_REQ_INVALID);
		if (state)
			CU_ASSERT_EQUAL(told.join_state, state);
		CU_ASSERT_EQUAL(quit(C, 2, JOIN_FULL), STATUS_OK);
		CU_ASSERT_EQUAL(told.join_state, 0);
		CU_ASSERT_EQUAL(groups(), keeps ? 3 : 1);
		CU_ASSERT_EQUAL(members(), keeps ? 2 : 0); /* a group that ends has no members */
		end();
	}
}

/* The log has the requester and the reason of each refusal. Groups 1 and 3 are A's, and 3 has 100
 * Gb/s. D's port has 1024 bytes, C's 40 Gb/s. */
static void test_refusals_are_logged(void)
{
	static const struct {
		unsigned host;
		uint32_t number;
		uint64_t mask;
		struct mc_member_record ask; /* members that differ from usual() */
		const char *why;	     /* NULL: nothing is logged */
	} rows[] = {
		{C,
		 1,
		 BIT(MGID) | BIT(PORT_GID),
		 {.sl = 0},
		 "MGID, PortGID or JoinState is missing"},
		{C,
		 1,
		 JOIN | MTU_BITS,
		 {.mtu_selector = 1, .mtu = 9},
		 "there is no such JoinState"},
		{C, 1, JOIN | BIT(Q_KEY), {.q_key = 5}, "the group has another Q_Key"},
		{C, 1, JOIN | BIT(P_KEY), {.p_key = 0x8001}, "the group has another P_Key"},
		{C, 1, JOIN | BIT(SL), {.sl = 1}, "the group has another SL"},
		{C, 1, JOIN | BIT(MLID), {.mlid = 0xC009}, "the group has another MLID"},
		{C, 1, JOIN | MTU_BITS, {.mtu_selector = 2, .mtu = 5}, "has another MTU, Rate or"},
		{D, 1, JOIN, {.sl = 0}, "the port does not support the group's MTU or rate"},
		{C, 3, JOIN, {.sl = 0}, "the port does not support the group's MTU or rate"},
		{C,
		 2,
		 JOIN,
		 {.sl = 0},
		 "there is no such group, and components to create it are missing"},
		{D, 2, CREATE | MTU_BITS, {.sl = 0}, "does not support this MTU, Rate or"},
		{C, 2, CREATE, {.join_state = JOIN_SEND_ONLY_NON_MEMBER}, NULL},
		{C, 1, JOIN, {.sl = 0}, NULL}, /* it joins */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mc_member_record record = usual(rows[i].host, rows[i].number);
		struct mc_member_record fast = usual(A, 3);
		struct unit_capture capture;
		char log[1024], who[128];

		begin();
		CU_ASSERT_EQUAL(join(A, 1, JOIN_FULL), STATUS_OK);
		fast.rate = RATE_100;
		CU_ASSERT_EQUAL(set(A, CREATE | RATE_BITS, &fast), STATUS_OK);
		if (rows[i].ask.q_key)
			record.q_key = rows[i].ask.q_key;
		if (rows[i].ask.p_key)
			record.p_key = rows[i].ask.p_key;
		if (rows[i].ask.join_state)
			record.join_state = rows[i].ask.join_state;
		if (rows[i].ask.mtu_selector) {
			record.mtu_selector = rows[i].ask.mtu_selector;
			record.mtu = rows[i].ask.mtu;
		}
		record.sl = rows[i].ask.sl;
		record.mlid = rows[i].ask.mlid;
		snprintf(who, sizeof(who),
			 "LID %u wants port 0x%016" PRIx64 " to join group ff12:1234::%u and is "
			 "refused: ",
			 lids[rows[i].host], (uint64_t)PORT_GUID(rows[i].host), rows[i].number);
		unit_capture_begin(&capture);
		set(rows[i].host, rows[i].mask, &record);
		unit_capture_end(&capture, log, sizeof(log));
		if (rows[i].why && !(strstr(log, who) && strstr(log, rows[i].why)))
			CU_FAIL(rows[i].why);
		if (!rows[i].why)
			CU_ASSERT_STRING_EQUAL(log, "");
		end();
	}
}

/* The number of these log lines is limited. */
static void test_refusals_are_limited(void)
{
	struct mc_member_record record = usual(C, 1);
	const struct sa_count *counts;
	struct unit_capture capture;
	unsigned lines = 0;
	char log[65536];

	begin();
	unit_capture_begin(&capture);
	for (unsigned i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(set(C, JOIN, &record), SA_REQ_INSUFFICIENT_COMPONENTS);
	unit_capture_end(&capture, log, sizeof(log));
	for (const char *at = log; (at = strstr(at, "is refused: ")); at++)
		lines++;
	CU_ASSERT_TRUE(lines >= 1 && lines <= 10);
	for (size_t i = sa_counts(sa.server, &counts); i-- > 0;)
		if (!strcmp(counts[i].record, "MCMemberRecord") && !strcmp(counts[i].method, "Set"))
			CU_ASSERT_EQUAL(counts[i].refused, 100);
	end();
}

/* From each state by each leave: o15-0.1.14. The other member is a send-only non-member, which does
 * not keep the group. */
static void test_leaves(void)
{
	unsigned wrong = 0;

	begin();
	for (uint8_t state = 1; state <= 15; state++) {
		for (uint8_t bits = 0; bits <= 15; bits++) {
			bool keeps = state & JOIN_KEEPS_GROUP;
			bool right = bits && !(bits & ~state);
			uint8_t left = state & (uint8_t)~bits;
			bool kept = left & JOIN_KEEPS_GROUP;

			if (!keeps)
				continue;
			wrong += join(A, 1, state) != STATUS_OK;
			wrong += join(C, 1, JOIN_SEND_ONLY_NON_MEMBER) != STATUS_OK;
			wrong += quit(A, 1, bits) != (right ? STATUS_OK : SA_REQ_INVALID);
			if (right)
				wrong += told.join_state != (kept ? left : 0);
			else
				kept = (left = state) != 0;
			wrong += groups() != (kept ? 2 : 1);
			wrong += members() != (kept ? 2 : 0);
			if (kept)
				wrong += quit(A, 1, left) != STATUS_OK;
			wrong += quit(A, 1, JOIN_FULL) != SA_REQ_INVALID; /* leaving twice */
			wrong += groups() != 1 || members() != 0;
			/* Its MLID is free again. */
			wrong += join(B, 7, JOIN_FULL) != STATUS_OK || told.mlid != 0xC001;
			wrong += quit(B, 7, JOIN_FULL) != STATUS_OK;
		}
	}
	CU_ASSERT_EQUAL(wrong, 0);
	end();
}

/* The states of a member add up. Of full and send-only full membership either bit keeps the group.
 */
static void test_states_add(void)
{
	begin();
	CU_ASSERT_EQUAL(join(A, 1, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(A, 1, JOIN_NON_MEMBER), STATUS_OK);
	CU_ASSERT_EQUAL(told.join_state, 3);
	CU_ASSERT_EQUAL(join(A, 1, JOIN_SEND_ONLY_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(told.join_state, 11);
	CU_ASSERT_EQUAL(quit(A, 1, JOIN_NON_MEMBER | JOIN_SEND_ONLY_NON_MEMBER), SA_REQ_INVALID);
	CU_ASSERT_EQUAL(quit(A, 1, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(told.join_state, 10);
	CU_ASSERT_EQUAL(groups(), 2);
	CU_ASSERT_EQUAL(quit(A, 1, JOIN_SEND_ONLY_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(told.join_state, 0);
	CU_ASSERT_EQUAL(groups(), 1);
	CU_ASSERT_EQUAL(members(), 0);
	end();
}

/* Conditions in a join of an existing group: the group is usual(). */
static const struct {
	uint64_t mask;
	struct mc_member_record ask;
	int status;
} joins[] = {
	{0, {.q_key = 0}, STATUS_OK},
	{BIT(Q_KEY), {.q_key = 0x0b1b}, STATUS_OK},
	{BIT(Q_KEY), {.q_key = 1}, SA_REQ_INVALID},
	{BIT(MLID), {.mlid = 0xC001}, STATUS_OK},
	{BIT(MLID), {.mlid = 0xC000}, SA_REQ_INVALID},
	{BIT(TCLASS), {.tclass = 0}, STATUS_OK},
	{BIT(TCLASS), {.tclass = 1}, SA_REQ_INVALID},
	{BIT(P_KEY), {.p_key = 0xFFFF}, STATUS_OK},
	{BIT(P_KEY), {.p_key = 0x7FFF}, STATUS_OK},
	{BIT(P_KEY), {.p_key = 0x8001}, SA_REQ_INVALID},
	{BIT(P_KEY), {.p_key = 0}, SA_REQ_INVALID},
	{BIT(SL), {.sl = 0}, STATUS_OK},
	{BIT(SL), {.sl = 1}, SA_REQ_INVALID},
	{BIT(FLOW_LABEL), {.flow_label = 0}, STATUS_OK},
	{BIT(FLOW_LABEL), {.flow_label = 1}, SA_REQ_INVALID},
	{BIT(HOP_LIMIT), {.hop_limit = 0}, STATUS_OK},
	{BIT(HOP_LIMIT), {.hop_limit = 1}, SA_REQ_INVALID},
	{BIT(SCOPE), {.scope = 2}, STATUS_OK},
	{BIT(SCOPE), {.scope = 5}, SA_REQ_INVALID},
	{BIT(PROXY_JOIN), {.proxy_join = 1}, STATUS_OK},
	{MTU_BITS, {.mtu_selector = 2, .mtu = 4}, STATUS_OK},
	{MTU_BITS, {.mtu_selector = 2, .mtu = 3}, SA_REQ_INVALID},
	{MTU_BITS, {.mtu_selector = 2, .mtu = 5}, SA_REQ_INVALID},
	{MTU_BITS, {.mtu_selector = 0, .mtu = 3}, STATUS_OK},
	{MTU_BITS, {.mtu_selector = 0, .mtu = 4}, SA_REQ_INVALID},
	{MTU_BITS, {.mtu_selector = 1, .mtu = 5}, STATUS_OK},
	{MTU_BITS, {.mtu_selector = 1, .mtu = 4}, SA_REQ_INVALID},
	{MTU_BITS, {.mtu_selector = 3, .mtu = 1}, STATUS_OK},
	{MTU_BITS, {.mtu_selector = 1, .mtu = 9}, SA_REQ_INVALID},
	{BIT(MTU), {.mtu = 1}, STATUS_OK},
	{BIT(MTU_SELECTOR), {.mtu_selector = 2}, STATUS_OK},
	{RATE_BITS, {.rate_selector = 2, .rate = RATE_40}, STATUS_OK},
	{RATE_BITS, {.rate_selector = 2, .rate = 3}, SA_REQ_INVALID},
	{RATE_BITS, {.rate_selector = 2, .rate = RATE_100}, SA_REQ_INVALID},
	{RATE_BITS, {.rate_selector = 0, .rate = 6 /* 20 Gb/s */}, STATUS_OK},
	{RATE_BITS, {.rate_selector = 0, .rate = RATE_40}, SA_REQ_INVALID},
	{RATE_BITS, {.rate_selector = 1, .rate = 12 /* 56 Gb/s */}, STATUS_OK},
	{RATE_BITS, {.rate_selector = 1, .rate = 15 /* 25 Gb/s */}, SA_REQ_INVALID},
	{RATE_BITS, {.rate_selector = 1, .rate = 2}, SA_REQ_INVALID},
	{RATE_BITS, {.rate_selector = 3, .rate = 2}, STATUS_OK},
	{LIFE_BITS, {.packet_life_time_selector = 2, .packet_life_time = 18}, STATUS_OK},
	{LIFE_BITS, {.packet_life_time_selector = 2, .packet_life_time = 17}, SA_REQ_INVALID},
	{LIFE_BITS, {.packet_life_time_selector = 0, .packet_life_time = 17}, STATUS_OK},
	{LIFE_BITS, {.packet_life_time_selector = 0, .packet_life_time = 18}, SA_REQ_INVALID},
	{LIFE_BITS, {.packet_life_time_selector = 1, .packet_life_time = 19}, STATUS_OK},
	{LIFE_BITS, {.packet_life_time_selector = 1, .packet_life_time = 18}, SA_REQ_INVALID},
};

static void test_joins(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(joins); i++) {
		struct mc_member_record record = joins[i].ask;
		int status;

		begin();
		CU_ASSERT_EQUAL(join(C, 1, JOIN_FULL), STATUS_OK);
		set_mgid(record.mgid, 1);
		set_gid(record.port_gid, options.subnet_prefix, PORT_GUID(A));
		record.join_state = JOIN_FULL;
		status = set(A, JOIN | joins[i].mask, &record);
		if (status != joins[i].status)
			printf("\n    row %zu: 0x%x\n", i, (unsigned)status);
		CU_ASSERT_EQUAL(status, joins[i].status);
		CU_ASSERT_EQUAL(members(), status == STATUS_OK ? 2 : 1);
		if (status == STATUS_OK) {
			CU_ASSERT_EQUAL(told.q_key, 0x0b1b);
			CU_ASSERT_EQUAL(told.mlid, 0xC001);
			CU_ASSERT_EQUAL(told.mtu, MTU_2048);
			CU_ASSERT_EQUAL(told.rate, RATE_40);
			CU_ASSERT_EQUAL(told.p_key, 0xFFFF);
		}
		end();
	}
}

/* A port must have the MTU and the rate of the group, and be in its partition. */
static void test_ports(void)
{
	struct mc_member_record record;

	begin();
	CU_ASSERT_EQUAL(join(A, 1, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(D, 1, JOIN_FULL), SA_REQ_INVALID); /* its MTU is 1024 */
	CU_ASSERT_EQUAL(join(B, 1, JOIN_FULL), STATUS_OK);	/* a limited member */
	record = usual(A, 2);
	record.rate = RATE_100;
	CU_ASSERT_EQUAL(set(A, CREATE | RATE_BITS, &record), STATUS_OK);
	record = usual(C, 2);
	CU_ASSERT_EQUAL(set(C, JOIN, &record), SA_REQ_INVALID); /* it runs at 40 Gb/s */
	record = usual(B, 3);
	record.p_key = 0x8001;
	CU_ASSERT_EQUAL(set(B, CREATE, &record), STATUS_OK);
	record = usual(A, 3);
	/* Not in its partition, so for A there is no such group. */
	CU_ASSERT_EQUAL(set(A, JOIN, &record), SA_REQ_INSUFFICIENT_COMPONENTS);
	end();
}

/* PortGIDs: of this subnet, of a known port, of a port for which the requester may act. */
static void test_port_gids(void)
{
	struct mc_member_record record = usual(A, 1);

	begin();
	set_gid(record.port_gid, UINT64_C(0xFE80000000000002), PORT_GUID(A));
	CU_ASSERT_EQUAL(set(A, CREATE, &record), SA_REQ_INVALID_GID);
	CU_ASSERT_EQUAL(leave(A, &record), SA_REQ_INVALID_GID);
	set_gid(record.port_gid, GID_PREFIX_DEFAULT, 0);
	CU_ASSERT_EQUAL(set(A, CREATE, &record), SA_REQ_INVALID);
	set_gid(record.port_gid, GID_PREFIX_DEFAULT, 0x1234);
	CU_ASSERT_EQUAL(set(A, CREATE, &record), SA_REQ_INVALID);
	CU_ASSERT_EQUAL(groups(), 1);
	/* Both prefixes name the same port, and the answer repeats the requested prefix. */
	set_gid(record.port_gid, GID_PREFIX_DEFAULT, PORT_GUID(A));
	CU_ASSERT_EQUAL(set(A, CREATE, &record), STATUS_OK);
	CU_ASSERT_EQUAL(be64_load(told.port_gid), GID_PREFIX_DEFAULT);
	set_gid(record.port_gid, options.subnet_prefix, PORT_GUID(A));
	CU_ASSERT_EQUAL(set(A, CREATE, &record), STATUS_OK);
	CU_ASSERT_EQUAL(be64_load(told.port_gid), options.subnet_prefix);
	CU_ASSERT_EQUAL(members(), 1);
	end();
}

/* Joins for another port are allowed if the requester shares a partition with it. Then any member
 * of the group's partition may change the membership. A membership that a port made itself can only
 * be changed by that port. */
static void test_proxy(void)
{
	struct mc_member_record record = usual(A, 1);

	begin();
	CU_ASSERT_EQUAL(set(C, CREATE, &record), STATUS_OK);
	CU_ASSERT_EQUAL(told.proxy_join, 1);
	record.join_state = JOIN_NON_MEMBER;
	CU_ASSERT_EQUAL(set(D, JOIN, &record), STATUS_OK); /* any of the partition */
	CU_ASSERT_EQUAL(told.join_state, 3);
	CU_ASSERT_EQUAL(told.proxy_join, 1);
	record.join_state = 3;
	CU_ASSERT_EQUAL(leave(C, &record), STATUS_OK);
	CU_ASSERT_EQUAL(members(), 0);

	record = usual(A, 2);
	CU_ASSERT_EQUAL(set(A, CREATE, &record), STATUS_OK);
	record.join_state = JOIN_NON_MEMBER;
	CU_ASSERT_EQUAL(set(C, JOIN, &record), SA_REQ_INVALID);
	record.join_state = JOIN_FULL;
	CU_ASSERT_EQUAL(leave(C, &record), SA_REQ_INVALID);
	CU_ASSERT_EQUAL(members(), 1);

	/* A group of partition 1 that B joined C to is not A's affair. */
	record = usual(C, 3);
	record.p_key = 0x8001;
	CU_ASSERT_EQUAL(set(B, CREATE, &record), STATUS_OK);
	CU_ASSERT_EQUAL(leave(A, &record), SA_REQ_INVALID);
	CU_ASSERT_EQUAL(leave(B, &record), STATUS_OK);
	CU_ASSERT_EQUAL(groups(), 2);
	end();
}

/* Which port may join which other port to a group, by partition. In the default partition A and C
 * are full members, B is limited. In partition 1 B is full and C limited. D's table was never read.
 */
static const struct {
	const char *what;
	unsigned asks, joins;
	pkey_t p_key;
	int status;
} proxies[] = {
	{"both full", A, C, 0xFFFF, STATUS_OK},
	{"requester is limited", B, C, 0xFFFF, STATUS_OK},
	{"joined port is limited", A, B, 0xFFFF, STATUS_OK},
	{"of partition 1, full", B, C, 0x8001, STATUS_OK},
	{"of partition 1, limited", C, B, 0x8001, STATUS_OK},
	{"of partition 1, by its limited P_Key", C, B, 0x0001, STATUS_OK},
	{"requester is not in it, full", A, B, 0x8001, SA_REQ_INVALID},
	{"requester is not in it, limited", A, C, 0x8001, SA_REQ_INVALID},
	{"requester was not read", D, C, 0x8001, SA_REQ_INVALID},
	{"joined port is not in it", B, A, 0x8001, SA_REQ_INVALID},
	{"neither is in it", A, D, 0x8001, SA_REQ_INVALID},
	{"no port is in it", A, C, 0x8002, SA_REQ_INVALID},
};

static void test_proxy_partitions(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(proxies); i++) {
		bool there = proxies[i].p_key != 0x8002;
		bool good = proxies[i].status == STATUS_OK;
		struct mc_member_record made = usual(proxies[i].joins, 1), joined = made;
		/* A group of another port, in the default partition or in partition 1. */
		unsigned maker = proxies[i].p_key != 0xFFFF ? B : proxies[i].joins == C ? A : C;
		struct mc_member_record others = usual(maker, 2);
		int status;

		begin();
		made.p_key = others.p_key = proxies[i].p_key;
		status = set(proxies[i].asks, CREATE | MTU_BITS | RATE_BITS, &made);
		if (status != proxies[i].status)
			printf("\n    makes, %s: 0x%x\n", proxies[i].what, (unsigned)status);
		CU_ASSERT_EQUAL(status, proxies[i].status);
		CU_ASSERT_EQUAL(told.proxy_join, good);
		CU_ASSERT_EQUAL(groups(), good ? 2 : 1);
		CU_ASSERT_EQUAL(members(), good ? 1 : 0);

		if (there)
			CU_ASSERT_EQUAL(set(maker, CREATE | MTU_BITS | RATE_BITS, &others),
					STATUS_OK);
		set_mgid(joined.mgid, 2);
		joined.join_state = JOIN_NON_MEMBER;
		if (!there || maker == proxies[i].joins) { /* its own affair */
			end();
			continue;
		}
		status = set(proxies[i].asks, JOIN, &joined);
		if (status != proxies[i].status)
			printf("\n    joins, %s: 0x%x\n", proxies[i].what, (unsigned)status);
		CU_ASSERT_EQUAL(status, proxies[i].status);
		CU_ASSERT_EQUAL(members(), good ? 3 : 1);
		end();
	}
}

/* MGIDs in requests (o15-0.1.5). */
static const struct {
	uint8_t mgid[GID_SIZE];
	int status;
} mgids[] = {
	{{0xFF, 0x12, 0xA0, 0x1C, 0xFE, 0x80, [15] = 1}, STATUS_OK},
	{{0xFF, 0x02, [15] = 1}, STATUS_OK},
	{{0xFF, 0x1F, 0xA0, 0x1C, [15] = 1}, STATUS_OK}, /* a reserved scope */
	{{0xFF, 0x15, 0xA0, 0x1B, [15] = 1}, STATUS_OK}, /* the SA's signature, not link-local */
	{{0xFF, 0x12, 0xA0, 0x1B, [15] = 1}, SA_REQ_INVALID},
	{{0xFF, 0x22, [15] = 1}, SA_REQ_INVALID}, /* reserved flags */
	{{0xFF, 0x82, [15] = 1}, SA_REQ_INVALID},
	{{0xFA, 0x12, 0xA0, 0x1C, [15] = 1}, SA_REQ_INVALID},
	{{0xEF, 0x12, [15] = 1}, SA_REQ_INVALID},
	{{0xFE, 0x80, [15] = 1}, SA_REQ_INVALID},
	{{0x00, [15] = 1}, SA_REQ_INVALID},
	/* IPoIB's: of a network with a broadcast group of that scope and P_Key, or that itself */
	{{0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF, [15] = 1}, STATUS_OK},
	{{0xFF, 0x12, 0x60, 0x1B, 0xFF, 0xFF, [15] = 1}, STATUS_OK},
	{{0xFF, 0x15, 0x40, 0x1B, 0xFF, 0xFF, [15] = 1}, SA_REQ_INVALID},
	{{0xFF, 0x12, 0x60, 0x1B, 0x80, 0x01, [15] = 1}, SA_REQ_INVALID},
	{{0xFF, 0x15, 0x40, 0x1B, 0xFF, 0xFF, [12] = 0xFF, 0xFF, 0xFF, 0xFF}, STATUS_OK},
};

static void test_mgids(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(mgids); i++) {
		struct mc_member_record record = usual(A, 0);
		int status;

		begin();
		memcpy(record.mgid, mgids[i].mgid, GID_SIZE);
		status = set(A, CREATE, &record);
		if (status != mgids[i].status)
			printf("\n    row %zu: 0x%x\n", i, (unsigned)status);
		CU_ASSERT_EQUAL(status, mgids[i].status);
		if (status == STATUS_OK) {
			CU_ASSERT_EQUAL(memcmp(told.mgid, mgids[i].mgid, GID_SIZE), 0);
			CU_ASSERT_EQUAL(told.scope, mgids[i].mgid[1] & 0xF);
			CU_ASSERT_EQUAL(told.hop_limit, told.scope == 2 ? 0 : 0xFF);
		}
		end();
	}
	/* A group of IPoIB is like its network. */
	begin();
	struct mc_member_record record = usual(A, 0);

	memcpy(record.mgid, mgids[11].mgid, GID_SIZE);
	record.q_key = 1;
	CU_ASSERT_EQUAL(set(A, CREATE, &record), SA_REQ_INVALID);
	end();
}

/* MGID 0: the SA makes an MGID, a new one each time. */
static void test_made_mgids(void)
{
	struct mc_member_record record = usual(A, 0);
	uint8_t first[GID_SIZE];

	begin();
	memset(record.mgid, 0, GID_SIZE);
	CU_ASSERT_EQUAL(set(A, CREATE, &record), STATUS_OK);
	CU_ASSERT_EQUAL(be32_load(told.mgid), 0xFF12A01B);
	CU_ASSERT_EQUAL(be64_load(told.mgid + 4), options.subnet_prefix);
	memcpy(first, told.mgid, GID_SIZE);
	record.scope = 5;
	CU_ASSERT_EQUAL(set(A, CREATE | BIT(SCOPE), &record), STATUS_OK);
	CU_ASSERT_EQUAL(be32_load(told.mgid), 0xFF15A01B);
	CU_ASSERT_EQUAL(told.scope, 5);
	CU_ASSERT_EQUAL(set(A, CREATE, &record), STATUS_OK);
	CU_ASSERT_NOT_EQUAL(memcmp(told.mgid, first, GID_SIZE), 0);
	CU_ASSERT_EQUAL(groups(), 4);
	memcpy(record.mgid, first, GID_SIZE);
	CU_ASSERT_EQUAL(set(C, JOIN, &record), SA_REQ_INVALID); /* it is A's PortGID */
	record = usual(C, 0);
	memcpy(record.mgid, first, GID_SIZE);
	CU_ASSERT_EQUAL(set(C, JOIN, &record), SA_REQ_INVALID); /* C has 40 Gb/s, the group 100 */
	CU_ASSERT_EQUAL(groups(), 4);
	end();
}

/* Which requester sees what. A and C are in group 1, B (limited) alone in group 3 of partition 1.
 */
static void test_queries(void)
{
	struct mc_member_record record = usual(A, 1), given = {0};

	begin();
	CU_ASSERT_EQUAL(join(A, 1, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(C, 1, JOIN_SEND_ONLY_NON_MEMBER), STATUS_OK);
	record = usual(B, 3);
	record.p_key = 0x8001;
	CU_ASSERT_EQUAL(set(B, CREATE, &record), STATUS_OK);

	/* Without the SA_Key: the groups of the requester's partitions, without members. */
	CU_ASSERT_EQUAL(table_of(A, 0, 0, NULL), 2);
	CU_ASSERT_EQUAL(table_of(B, 0, 0, NULL), 3);
	CU_ASSERT_EQUAL(table_of(D, 0, 0, NULL), 2);
	for (unsigned i = 0; i < 2; i++) {
		answered(&mc_member_record_format, i, &given);
		CU_ASSERT_EQUAL(be64_load(given.port_gid), 0);
		CU_ASSERT_EQUAL(be64_load(given.port_gid + 8), 0);
		CU_ASSERT_EQUAL(given.join_state, 0);
		CU_ASSERT_EQUAL(given.proxy_join, 0);
	}
	/* With the SA_Key: the members, also only of the requester's partitions. */
	CU_ASSERT_EQUAL(table_of(A, SA_KEY, 0, NULL), 2);
	CU_ASSERT_EQUAL(table_of(B, SA_KEY, 0, NULL), 3);
	record = usual(C, 1);
	CU_ASSERT_EQUAL(table_of(D, SA_KEY, BIT(PORT_GID), &record), 1);
	answered(&mc_member_record_format, 0, &given);
	CU_ASSERT_EQUAL(given.join_state, JOIN_SEND_ONLY_NON_MEMBER);
	CU_ASSERT_EQUAL(memcmp(given.port_gid, record.port_gid, GID_SIZE), 0);
	CU_ASSERT_EQUAL(table_of(D, SA_KEY, BIT(JOIN_STATE), &record), 1); /* A */
	CU_ASSERT_EQUAL(table_of(D, SA_KEY, BIT(MGID), &record), 2);
	CU_ASSERT_EQUAL(table_of(D, SA_KEY, BIT(MGID) | BIT(PORT_GID), &record), 1);
	CU_ASSERT_EQUAL(table_of(D, SA_KEY, BIT(PROXY_JOIN), &record), 2);
	record.proxy_join = 1;
	CU_ASSERT_EQUAL(table_of(D, SA_KEY, BIT(PROXY_JOIN), &record), 0);

	/* Without the SA_Key no query shows another port's membership, only the requester's own. */
	record = usual(C, 1);
	CU_ASSERT_EQUAL(table_of(D, 0, BIT(PORT_GID), &record), 0);
	CU_ASSERT_EQUAL(table_of(C, 0, BIT(PORT_GID), &record), 1);
	CU_ASSERT_EQUAL(table_of(D, 0, BIT(JOIN_STATE), &record), 0);
	CU_ASSERT_EQUAL(ask_member(METHOD_GET, LID_C, 0, BIT(MGID) | BIT(PORT_GID), &record),
			STATUS_OK);
	CU_ASSERT_EQUAL(told.mlid, 0xC001);
	CU_ASSERT_EQUAL(told.join_state, 0);
	record.port_gid[0] = 0x12; /* of another subnet */
	CU_ASSERT_EQUAL(table_of(C, 0, BIT(PORT_GID), &record), 0);

	record = usual(A, 3);
	CU_ASSERT_EQUAL(ask_member(METHOD_GET, LID_A, 0, BIT(MGID), &record), SA_NO_RECORDS);
	CU_ASSERT_EQUAL(ask_member(METHOD_GET, LID_B, 0, BIT(MGID), &record), STATUS_OK);
	CU_ASSERT_EQUAL(told.p_key, 0x8001);
	CU_ASSERT_EQUAL(ask_member(METHOD_GET, LID_B, 0, 0, &record), SA_TOO_MANY_RECORDS);
	record.mlid = 0xC001;
	CU_ASSERT_EQUAL(ask_member(METHOD_GET, LID_A, 0, BIT(MLID), &record), STATUS_OK);
	record.mlid = 0;
	CU_ASSERT_EQUAL(ask_member(METHOD_GET, LID_A, 0, BIT(MLID), &record), SA_NO_RECORDS);
	end();
}

/* Each component of a query against group 1, as the rows of joins[] against a join. */
static void test_query_components(void)
{
	begin();
	CU_ASSERT_EQUAL(join(C, 1, JOIN_FULL), STATUS_OK);
	for (size_t i = 0; i < ARRAY_SIZE(joins); i++) {
		struct mc_member_record record = joins[i].ask;

		if (joins[i].mask & BIT(PROXY_JOIN))
			continue; /* means nothing in a join */
		set_mgid(record.mgid, 1);
		CU_ASSERT_EQUAL(table_of(A, 0, BIT(MGID) | joins[i].mask, &record),
				joins[i].status == STATUS_OK);
	}
	end();
}

/* As ipoib_mcast_join() and cma_join_ib_multicast() of Linux 6.1 send them. */
static void test_linux(void)
{
	const uint64_t ipoib = JOIN | BIT(P_KEY);
	const uint64_t ipoib_create = ipoib | BIT(Q_KEY) | MTU_BITS | BIT(TCLASS) | RATE_BITS |
				      BIT(SL) | BIT(FLOW_LABEL) | BIT(HOP_LIMIT);
	const uint64_t rdma_cm = ipoib | BIT(Q_KEY) | BIT(SL) | BIT(FLOW_LABEL) | BIT(TCLASS);
	struct mc_member_record record = {.p_key = 0xFFFF, .join_state = JOIN_FULL}, broadcast;

	begin();
	set_gid(record.mgid, UINT64_C(0xFF12401BFFFF0000), 0xFFFFFFFF);
	set_gid(record.port_gid, GID_PREFIX_DEFAULT, PORT_GUID(A));
	CU_ASSERT_EQUAL(set(A, ipoib, &record), STATUS_OK);
	broadcast = told;
	CU_ASSERT_EQUAL(broadcast.mlid, 0xC000);
	CU_ASSERT_EQUAL(broadcast.q_key, 0x0b1b);

	/* 224.0.0.1, all hosts; the attributes are the broadcast group's. */
	set_gid(record.mgid, UINT64_C(0xFF12401BFFFF0000), 1);
	record.q_key = broadcast.q_key;
	record.mtu_selector = record.rate_selector = 2;
	record.mtu = broadcast.mtu;
	record.rate = broadcast.rate;
	record.tclass = broadcast.tclass;
	record.sl = broadcast.sl;
	record.flow_label = broadcast.flow_label;
	record.hop_limit = broadcast.hop_limit;
	CU_ASSERT_EQUAL(set(A, ipoib_create, &record), STATUS_OK);
	CU_ASSERT_EQUAL(told.mtu, MTU_2048);
	CU_ASSERT_EQUAL(told.rate, 3);
	set_gid(record.port_gid, GID_PREFIX_DEFAULT, PORT_GUID(B)); /* a limited member */
	CU_ASSERT_EQUAL(set(B, ipoib_create, &record), STATUS_OK);
	CU_ASSERT_EQUAL(told.join_state, JOIN_FULL);

	/* Send-only, to a group without receivers. */
	set_gid(record.mgid, UINT64_C(0xFF12601BFFFF0000), UINT64_C(0x1FF000001));
	record.join_state = JOIN_SEND_ONLY_FULL;
	CU_ASSERT_EQUAL(set(B, ipoib_create, &record), STATUS_OK);
	CU_ASSERT_EQUAL(told.join_state, JOIN_SEND_ONLY_FULL);
	CU_ASSERT_EQUAL(leave(B, &record), STATUS_OK);

	/* rdma_cm's UD multicast, of its own MGID, at first without rate and MTU. */
	set_gid(record.mgid, UINT64_C(0xFF12401BFFFF0000), 0x0E0A0A0A);
	record.join_state = JOIN_FULL;
	CU_ASSERT_EQUAL(set(B, rdma_cm, &record), STATUS_OK);

	/* Leaving: ib_sa sends the state that is left, with the mask of its join. */
	CU_ASSERT_EQUAL(ask_member(METHOD_DELETE, LID_B, 0, ipoib_create, &record), STATUS_OK);
	CU_ASSERT_EQUAL(groups(), 2);
	end();
}

/* An acknowledged change is durable: answers wait, and a repeated request is answered once. */
static void test_durable(void)
{
	struct mc_member_record record = usual(A, 1);
	struct ask ask_a = {.method = METHOD_SET,
			    .attr_id = RECORD_MC_MEMBER,
			    .mask = CREATE,
			    .format = &mc_member_record_format,
			    .record = &record};
	unsigned before;

	begin();
	registry_keep(sa.registry, KEPT_BY_STORE, true);
	ask_only(&ask_a, 1);
	ask_only(&ask_a, 1);
	CU_ASSERT_EQUAL(sa.sent, 0);
	CU_ASSERT_EQUAL(sa_pending(sa.server), 1);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->repeated, 1);
	CU_ASSERT_EQUAL(members(), 1);
	ask_only(&ask_a, 2); /* no change, but of something that is not durable either */
	CU_ASSERT_EQUAL(sa.sent, 0);
	record.join_state = 0; /* a refusal promises nothing */
	ask_only(&ask_a, 3);
	CU_ASSERT_EQUAL(sa.sent, 1);
	CU_ASSERT_EQUAL(sa.header.status, SA_REQ_INVALID);
	registry_kept(sa.registry, KEPT_BY_STORE, registry_number(sa.registry));
	turn();
	CU_ASSERT_EQUAL(sa.sent, 3);
	CU_ASSERT_EQUAL(sa_pending(sa.server), 0);
	CU_ASSERT_EQUAL(sa.header.status, STATUS_OK);
	CU_ASSERT_EQUAL(sa.header.tid, 2);
	record.join_state = JOIN_FULL; /* all is durable */
	ask_only(&ask_a, 4);
	CU_ASSERT_EQUAL(sa.sent, 4);

	/* Each port has a limited number of requests, from all of its LIDs together. The others get
	 * no answer and change nothing. */
	before = sa.sent;
	for (unsigned i = 0; i < 200; i++) {
		ask_a.from = (lid_t)(LID_A + i % 4); /* LMC 2 */
		set_mgid(record.mgid, 10 + i);
		ask_only(&ask_a, 10 + i);
	}
	CU_ASSERT_EQUAL(sa_pending(sa.server), 64);
	CU_ASSERT_EQUAL(members(), 65);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->overload, 200 - 64);
	ask_a.from = LID_C;
	record = usual(C, 500);
	ask_only(&ask_a, 1);
	CU_ASSERT_EQUAL(sa_pending(sa.server), 65);
	registry_kept(sa.registry, KEPT_BY_STORE, registry_number(sa.registry));
	while (sa_pending(sa.server))
		turn();
	CU_ASSERT_EQUAL(sa.sent - before, 65);

	/* Waiting requests get no answer if this manager is no longer MASTER, or ends. */
	record = usual(C, 501);
	ask_only(&ask_a, 2);
	view_publish(&sa.view, NULL);
	registry_kept(sa.registry, KEPT_BY_STORE, registry_number(sa.registry));
	turn();
	CU_ASSERT_EQUAL(sa.sent - before, 65);
	view_publish(&sa.view, two_switches_view());
	record = usual(C, 502);
	ask_only(&ask_a, 3);
	CU_ASSERT_EQUAL(sa_pending(sa.server), 1);
	end();
}

/* All of a fabric at once, as after a power cut: each join is accepted and answered, no turn of the
 * loop has more than its share. */
static void test_storm(void)
{
	enum { PORTS = 250, JOINS = 40, TURN_MAX = 64 };
	struct mc_member_record record;
	unsigned turns = 0, most = 0;

	begin();
	view_publish(&sa.view, star(PORTS, 0));
	registry_keep(sa.registry, KEPT_BY_STORE, true);
	for (uint32_t g = 0; g < JOINS; g++) {
		for (unsigned p = 0; p < PORTS; p++) {
			const struct ask join_one = {.method = METHOD_SET,
						     .attr_id = RECORD_MC_MEMBER,
						     .from = (lid_t)(p + 1),
						     .mask = CREATE,
						     .format = &mc_member_record_format,
						     .record = &record};

			record = usual(A, g);
			set_gid(record.port_gid, GID_PREFIX_DEFAULT, 100 + p);
			ask_only(&join_one, g);
		}
	}
	CU_ASSERT_EQUAL(sa.sent, 0);
	CU_ASSERT_EQUAL(sa_pending(sa.server), PORTS * JOINS);
	CU_ASSERT_EQUAL(members(), PORTS * JOINS);
	CU_ASSERT_EQUAL(groups(), JOINS + 1);
	registry_kept(sa.registry, KEPT_BY_STORE, registry_number(sa.registry));
	while (sa_pending(sa.server) && turns++ < PORTS * JOINS) {
		unsigned before = sa.sent;

		turn();
		most = sa.sent - before > most ? sa.sent - before : most;
	}
	CU_ASSERT_EQUAL(sa.sent, PORTS * JOINS);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->answered, PORTS * JOINS);
	CU_ASSERT_TRUE(most <= 2 * TURN_MAX);
	/* And all leave. */
	for (unsigned p = 0; p < PORTS; p++)
		event_raise(&sa.events,
			    &(struct event){.kind = EVENT_PORT_FORGOTTEN, .guid = 100 + p});
	CU_ASSERT_EQUAL(members(), 0);
	CU_ASSERT_EQUAL(groups(), 1);
	end();
}

/* The broadcast group exists from the first view on. A group of the store stays unchanged. */
static void test_master(void)
{
	uint64_t number;

	begin();
	CU_ASSERT_EQUAL(groups(), 1);
	number = registry_number(sa.registry);
	event_raise(&sa.events, &(struct event){.kind = EVENT_NOT_MASTER});
	event_raise(&sa.events, &(struct event){.kind = EVENT_MASTER});
	CU_ASSERT_EQUAL(registry_number(sa.registry), number);
	end();
}

static const struct group_entry *broadcast(void)
{
	const struct group_entry *group = registry_first(sa.registry, REGISTRY_GROUP, -1, NULL);

	while (group && !group->permanent)
		group = registry_next(sa.registry, REGISTRY_GROUP, -1, group);
	return group;
}

/* A document without it may be restored: when all of that is there, it is made again. */
static void test_broadcast_again(void)
{
	begin();
	registry_together(sa.registry, true);
	registry_drop(sa.registry, REGISTRY_GROUP, broadcast());
	turn();
	CU_ASSERT_PTR_NULL(broadcast());
	registry_together(sa.registry, false);
	turn();
	CU_ASSERT_PTR_NOT_NULL(broadcast());
	CU_ASSERT_EQUAL(groups(), 1);
	registry_drop(sa.registry, REGISTRY_GROUP, broadcast());
	turn();
	CU_ASSERT_PTR_NOT_NULL(broadcast());
	end();
}

/* A port that is forgotten leaves all that it was in, and groups end with it. */
static void test_forgotten(void)
{
	const struct alias_entry alias = {.port_guid = PORT_GUID(A), .index = 1, .guid = 77};
	const struct member_entry by_alias = {.mgid = {0xFF}, .port_guid = 77, .join_state = 1};

	begin();
	CU_ASSERT_EQUAL(join(A, 1, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(A, 2, JOIN_FULL | JOIN_NON_MEMBER), STATUS_OK);
	CU_ASSERT_EQUAL(join(C, 2, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(C, 1, JOIN_NON_MEMBER), STATUS_OK);
	event_raise(&sa.events,
		    &(struct event){.kind = EVENT_PORT_OUT, .guid = PORT_GUID(A), .lid = LID_A});
	CU_ASSERT_EQUAL(members(), 4);
	event_raise(&sa.events,
		    &(struct event){.kind = EVENT_PORT_FORGOTTEN, .guid = PORT_GUID(A)});
	CU_ASSERT_EQUAL(members(), 1); /* C's own */
	CU_ASSERT_EQUAL(groups(), 2);
	event_raise(&sa.events,
		    &(struct event){.kind = EVENT_PORT_FORGOTTEN, .guid = PORT_GUID(C)});
	CU_ASSERT_EQUAL(members(), 0);
	CU_ASSERT_EQUAL(groups(), 1);
	/* The memberships of its alias end with it. */
	registry_put(sa.registry, REGISTRY_MEMBER, &by_alias);
	registry_put(sa.registry, REGISTRY_ALIAS, &alias);
	event_raise(&sa.events,
		    &(struct event){.kind = EVENT_PORT_FORGOTTEN, .guid = PORT_GUID(A)});
	CU_ASSERT_EQUAL(members(), 0);
	end();
}

/* Thousands of members that do not keep the group. */
static void add_others(uint32_t number)
{
	struct member_entry other = {.join_state = JOIN_SEND_ONLY_NON_MEMBER};

	set_mgid(other.mgid, number);
	for (unsigned i = 1; i <= 5000; i++) {
		other.port_guid = 0x10000 + i;
		registry_put(sa.registry, REGISTRY_MEMBER, &other);
	}
}

static unsigned turns_until_empty(void)
{
	unsigned turns = 0;

	for (; members() && turns < 5000; turns++)
		turn();
	return turns;
}

/* Such a group ends at once, its memberships in some turns. A new group with the MGID has only its
 * maker as member. After a restart, memberships that are left over are found. */
static void test_large_end(void)
{
	struct counts *counts;
	struct groups *next;

	begin();
	CU_ASSERT_EQUAL(join(A, 1, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(A, 1, JOIN_NON_MEMBER), STATUS_OK);
	add_others(1);
	CU_ASSERT_EQUAL(quit(A, 1, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(told.join_state, 0);
	CU_ASSERT_EQUAL(groups(), 1);
	CU_ASSERT_TRUE(members() > 4000);
	CU_ASSERT_TRUE(turns_until_empty() > 10);
	CU_ASSERT_EQUAL(members(), 0);

	CU_ASSERT_EQUAL(join(A, 1, JOIN_FULL), STATUS_OK);
	add_others(1);
	CU_ASSERT_EQUAL(quit(A, 1, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(C, 1, JOIN_NON_MEMBER), SA_REQ_INVALID);
	CU_ASSERT_EQUAL(join(C, 1, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(members(), 1);
	CU_ASSERT_EQUAL(quit(C, 1, JOIN_FULL), STATUS_OK);

	add_others(1);
	counts = counts_new(sa.registry, options.ipv6_snm_mlids);
	next = groups_new(sa.loop, sa.registry, counts, &options);
	CU_ASSERT_TRUE(turns_until_empty() > 10);
	CU_ASSERT_EQUAL(members(), 0);
	groups_free(next);
	counts_free(counts);
	end();
}

static int ask_group_path(uint8_t method, lid_t from, uint64_t sm_key, uint64_t mask,
			  const struct path_record *record)
{
	return ask(&(struct ask){.method = method,
				 .attr_id = RECORD_PATH,
				 .from = from,
				 .sm_key = sm_key,
				 .mask = mask,
				 .format = &path_record_format,
				 .record = record});
}

#define PATH_BIT(name) COMPONENT(PATH_##name)

/* Paths from A to group 1 with A as a member. */
static const struct {
	uint64_t mask;
	struct path_record ask;
	int status;
} group_paths[] = {
	{PATH_BIT(SGID) | PATH_BIT(DGID), {0}, STATUS_OK},
	{PATH_BIT(DGID), {0}, SA_REQ_INSUFFICIENT_COMPONENTS},
	{PATH_BIT(SLID) | PATH_BIT(DGID), {.slid = 17}, STATUS_OK},
	{PATH_BIT(SLID) | PATH_BIT(DGID), {.slid = LID_B}, SA_NO_RECORDS},
	{PATH_BIT(SLID) | PATH_BIT(SGID) | PATH_BIT(DGID), {.slid = LID_C}, SA_NO_RECORDS},
	{PATH_BIT(SLID) | PATH_BIT(DGID), {.slid = 0x1000}, SA_NO_RECORDS},
	{PATH_BIT(SGID) | PATH_BIT(DLID), {.dlid = 0xC001}, STATUS_OK},
	{PATH_BIT(SGID) | PATH_BIT(DLID), {.dlid = 0xC000}, SA_NO_RECORDS},
	{PATH_BIT(SGID) | PATH_BIT(DLID), {.dlid = 0xC077}, SA_NO_RECORDS},
	{PATH_BIT(SGID) | PATH_BIT(DGID) | PATH_BIT(DLID), {.dlid = 0xC001}, STATUS_OK},
	{PATH_BIT(SGID) | PATH_BIT(DGID) | PATH_BIT(DLID), {.dlid = 0xC002}, SA_NO_RECORDS},
	{PATH_BIT(P_KEY), {.p_key = 0xFFFF}, STATUS_OK},
	{PATH_BIT(P_KEY), {.p_key = 0x8001}, SA_NO_RECORDS},
	{PATH_BIT(SL), {.sl = 0}, STATUS_OK},
	{PATH_BIT(SL), {.sl = 3}, SA_NO_RECORDS},
	{PATH_BIT(TCLASS), {.tclass = 1}, SA_NO_RECORDS},
	{PATH_BIT(FLOW_LABEL), {.flow_label = 1}, SA_NO_RECORDS},
	{PATH_BIT(HOP_LIMIT), {.hop_limit = 1}, SA_NO_RECORDS},
	{PATH_BIT(RAW_TRAFFIC), {.raw_traffic = 1}, SA_NO_RECORDS},
	{PATH_BIT(REVERSIBLE) | PATH_BIT(NUMB_PATH), {.reversible = 1, .numb_path = 1}, STATUS_OK},
	{PATH_BIT(MTU_SELECTOR) | PATH_BIT(MTU), {.mtu_selector = 2, .mtu = 4}, STATUS_OK},
	{PATH_BIT(MTU_SELECTOR) | PATH_BIT(MTU), {.mtu_selector = 2, .mtu = 3}, SA_NO_RECORDS},
	{PATH_BIT(MTU_SELECTOR) | PATH_BIT(MTU), {.mtu_selector = 0, .mtu = 4}, SA_NO_RECORDS},
	{PATH_BIT(RATE_SELECTOR) | PATH_BIT(RATE), {.rate_selector = 1, .rate = 16}, STATUS_OK},
	{PATH_BIT(RATE_SELECTOR) | PATH_BIT(RATE), {.rate_selector = 1, .rate = 7}, SA_NO_RECORDS},
	{PATH_BIT(PACKET_LIFE_TIME_SELECTOR) | PATH_BIT(PACKET_LIFE_TIME),
	 {.packet_life_time_selector = 1, .packet_life_time = 18},
	 SA_NO_RECORDS},
};

static void test_group_paths(void)
{
	const uint64_t ends = PATH_BIT(SGID) | PATH_BIT(DGID);
	struct path_record record, given = {0};

	begin();
	CU_ASSERT_EQUAL(join(A, 1, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(C, 2, JOIN_FULL), STATUS_OK);
	for (size_t i = 0; i < ARRAY_SIZE(group_paths); i++) {
		uint64_t mask = group_paths[i].mask;
		int status;

		record = group_paths[i].ask;
		if (!(mask & (ends | PATH_BIT(DLID))))
			mask |= ends;
		set_gid(record.sgid, GID_PREFIX_DEFAULT, PORT_GUID(A));
		set_mgid(record.dgid, 1);
		status = ask_group_path(METHOD_GET, LID_A, 0, mask, &record);
		if (status != group_paths[i].status)
			printf("\n    row %zu: 0x%x\n", i, (unsigned)status);
		CU_ASSERT_EQUAL(status, group_paths[i].status);
		if (status)
			continue;
		answered(&path_record_format, 0, &given);
		CU_ASSERT_EQUAL(memcmp(given.dgid, record.dgid, GID_SIZE), 0);
		CU_ASSERT_EQUAL(be64_load(given.sgid + 8), PORT_GUID(A));
		CU_ASSERT_EQUAL(given.dlid, 0xC001);
		CU_ASSERT_EQUAL(given.slid, record.slid ? record.slid : LID_A);
		CU_ASSERT_EQUAL(given.p_key, 0xFFFF);
		CU_ASSERT_EQUAL(given.mtu_selector, 2);
		CU_ASSERT_EQUAL(given.mtu, MTU_2048);
		CU_ASSERT_EQUAL(given.rate, RATE_40);
		CU_ASSERT_EQUAL(given.packet_life_time, 18);
	}
	/* Group membership is visible with the SA_Key, and to the member itself. */
	record = (struct path_record){0};
	set_gid(record.sgid, GID_PREFIX_DEFAULT, PORT_GUID(A));
	set_mgid(record.dgid, 1);
	CU_ASSERT_EQUAL(ask_group_path(METHOD_GET, LID_C, 0, ends, &record), SA_NO_RECORDS);
	CU_ASSERT_EQUAL(ask_group_path(METHOD_GET, LID_C, SA_KEY, ends, &record), STATUS_OK);
	CU_ASSERT_EQUAL(ask_group_path(METHOD_GET_TABLE, LID_A, 0, PATH_BIT(DGID), &record),
			STATUS_OK);
	CU_ASSERT_EQUAL(sa.size, SUBN_ADM_HEADER_SIZE + 64);
	CU_ASSERT_EQUAL(ask_group_path(METHOD_GET_TABLE, LID_C, 0, PATH_BIT(DGID), &record),
			STATUS_OK);
	CU_ASSERT_EQUAL(sa.size, SUBN_ADM_HEADER_SIZE);
	set_gid(record.sgid, UINT64_C(0x1234), PORT_GUID(A));
	CU_ASSERT_EQUAL(ask_group_path(METHOD_GET, LID_A, 0, ends, &record), SA_REQ_INVALID_GID);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"the broadcast group", test_broadcast},
		{"the broadcast group comes back", test_broadcast_again},
		{"the first view", test_master},
		{"making a group", test_creations},
		{"join states", test_join_states},
		{"refusals are logged", test_refusals_are_logged},
		{"refusals are limited", test_refusals_are_limited},
		{"leaving", test_leaves},
		{"states add up", test_states_add},
		{"joining a group", test_joins},
		{"rate and MTU of ports", test_ports},
		{"PortGIDs", test_port_gids},
		{"for another port", test_proxy},
		{"for another port, by partitions", test_proxy_partitions},
		{"MGIDs", test_mgids},
		{"MGIDs of the SA's own", test_made_mgids},
		{"visibility", test_queries},
		{"components of a query", test_query_components},
		{"as Linux sends it", test_linux},
		{"answers wait for the store", test_durable},
		{"a storm of joins", test_storm},
		{"ports that are forgotten", test_forgotten},
		{"a large group ends in slices", test_large_end},
		{"paths to groups", test_group_paths},
		CU_TEST_INFO_NULL,
	};

	return unit_main("multicast", tests);
}

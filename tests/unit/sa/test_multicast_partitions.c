/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast groups of a partition and requesters outside of it, on the fabric of two_switches.h. No
 * status shows whether a hidden group exists. No outsider makes a group with an MGID of the
 * partition's IPoIB network. B is in partition 1 as a full member, C as a limited member, A is not
 * in it.
 */
#include <inttypes.h>

#include "lib/log.h"
#include "tests/unit/fixtures/member_client.h"

#define BROADCAST_OF(high, low)                                                  \
	{                                                                        \
		0xFF, 0x12, 0x40, 0x1B, high, low, [12] = 0xFF, 0xFF, 0xFF, 0xFF \
	}

enum { OF_HIDDEN = 0x8001 };

/* RFC 4391, section 4: 0x401B and 0x601B sign an IPoIB MGID, the P_Key of its partition follows. */
static const struct {
	unsigned host;
	pkey_t p_key;
	uint8_t mgid[GID_SIZE];
	int status;
} makers[] = {
	/* A broadcast group, with no other group of its network there */
	{A, 0xFFFF, BROADCAST_OF(0x80, 0x01), SA_REQ_INVALID},
	{A, 0xFFFF, BROADCAST_OF(0x00, 0x01), SA_REQ_INVALID},
	{A, 0xFFFF, BROADCAST_OF(0x80, 0x00), SA_REQ_INVALID},
	{A, 0xFFFF, BROADCAST_OF(0x7F, 0xFE), SA_REQ_INVALID},
	{A, OF_HIDDEN, BROADCAST_OF(0x80, 0x01), SA_REQ_INVALID}, /* A is not in it */
	{B, 0x7FFF, BROADCAST_OF(0x80, 0x01), SA_REQ_INVALID},
	{C, 0xFFFF, BROADCAST_OF(0x80, 0x01), SA_REQ_INVALID},
	{B, OF_HIDDEN, BROADCAST_OF(0x80, 0x01), STATUS_OK},
	{B, OF_HIDDEN, BROADCAST_OF(0x00, 0x01), STATUS_OK}, /* membership bit ignored */
	{C, 0x0001, BROADCAST_OF(0x80, 0x01), STATUS_OK},
	{A, 0xFFFF, BROADCAST_OF(0x7F, 0xFF), STATUS_OK},
	/* Other groups of IPoIB also need the broadcast group */
	{A, 0xFFFF, {0xFF, 0x12, 0x60, 0x1B, 0x80, 0x01, [15] = 1}, SA_REQ_INVALID},
	{B, OF_HIDDEN, {0xFF, 0x12, 0x60, 0x1B, 0x80, 0x01, [15] = 1}, SA_REQ_INVALID},
	{A, 0xFFFF, {0xFF, 0x12, 0x60, 0x1B, 0xFF, 0xFF, [15] = 1}, STATUS_OK},
	{B, OF_HIDDEN, {0xFF, 0x12, 0x60, 0x1B, 0xFF, 0xFF, [15] = 1}, SA_REQ_INVALID},
	{B, OF_HIDDEN, {0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF, [15] = 1}, SA_REQ_INVALID},
	/* The same bytes mean nothing in other MGIDs; 0x4001 is that of Linux's rdma_cm */
	{A, 0xFFFF, {0xFF, 0x12, 0x40, 0x01, 0x80, 0x01, [15] = 1}, STATUS_OK},
	{A, 0xFFFF, {0xFF, 0x12, 0xA0, 0x1C, 0x80, 0x01, [15] = 1}, STATUS_OK},
	{A, 0xFFFF, {0xFF, 0x12, 0x12, 0x34, 0x80, 0x01, [15] = 1}, STATUS_OK},
};

static void test_p_key_of_mgid(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(makers); i++) {
		struct mc_member_record record = usual(makers[i].host, 0);
		struct unit_capture capture;
		char log[1024];
		int status;

		begin();
		memcpy(record.mgid, makers[i].mgid, GID_SIZE);
		record.p_key = makers[i].p_key;
		unit_capture_begin(&capture);
		status = set(makers[i].host, CREATE, &record);
		unit_capture_end(&capture, log, sizeof(log));
		if (status != makers[i].status)
			printf("\n    row %zu: 0x%x\n", i, (unsigned)status);
		CU_ASSERT_EQUAL(status, makers[i].status);
		CU_ASSERT_EQUAL(groups(), 1u + (status == STATUS_OK));
		if (!i)
			CU_ASSERT_PTR_NOT_NULL(strstr(log, "the P_Key in its IPoIB MGID"));
		end();
	}
}

/* The network's own groups, once it is there: of its partition only. */
static void test_p_key_of_network(void)
{
	const uint8_t broadcast[GID_SIZE] = BROADCAST_OF(0x80, 0x01);
	struct mc_member_record record = usual(B, 0);

	begin();
	memcpy(record.mgid, broadcast, GID_SIZE);
	record.p_key = OF_HIDDEN;
	CU_ASSERT_EQUAL(set(B, CREATE, &record), STATUS_OK);
	for (unsigned v6 = 0; v6 < 2; v6++) {
		set_gid(record.mgid, UINT64_C(0xFF12401B80010000), 1 + v6);
		record.mgid[2] = v6 ? 0x60 : 0x40;
		set_gid(record.port_gid, options.subnet_prefix, PORT_GUID(A));
		record.p_key = 0xFFFF;
		CU_ASSERT_EQUAL(set(A, CREATE, &record), SA_REQ_INVALID);
		set_gid(record.port_gid, options.subnet_prefix, PORT_GUID(B));
		record.p_key = OF_HIDDEN;
		CU_ASSERT_EQUAL(set(B, CREATE, &record), STATUS_OK);
	}
	end();
}

/* The requests for which the two answers are compared. */
static const struct mc_member_record hidden_groups[] = {
	{.mgid = {0xFF, 0x12, 0x12, 0x34, [15] = 9}},
	{.mgid = BROADCAST_OF(0x80, 0x01)},
	{.mgid = {0xFF, 0x12, 0x60, 0x1B, 0x80, 0x01, [15] = 9}},
};
static const uint64_t masks[] = {
	JOIN,
	JOIN & ~BIT(MGID),
	JOIN & ~BIT(PORT_GID),
	JOIN & ~BIT(JOIN_STATE),
	JOIN | BIT(P_KEY),
	JOIN | BIT(Q_KEY),
	JOIN | BIT(MLID),
	JOIN | MTU_BITS,
	CREATE & ~BIT(Q_KEY),
	CREATE & ~BIT(P_KEY),
	CREATE & ~BIT(SL),
	CREATE,
	CREATE | BIT(MLID),
	CREATE | BIT(SCOPE),
	CREATE | MTU_BITS | RATE_BITS,
};
static const uint8_t states[] = {0, JOIN_FULL, JOIN_NON_MEMBER, JOIN_SEND_ONLY_FULL};
static const pkey_t p_keys[] = {0xFFFF, OF_HIDDEN, 0x8000, 0x8123};
static const uint64_t ports[] = {PORT_GUID(A), PORT_GUID(B), 0x4711};
enum limit_reached { NO_LIMIT, GROUP_LIMIT, REGISTRATION_LIMIT, LIMITS };
enum { MTU_TOO_LARGE = 5 + 1 };
static const struct mc_member_record values[] = {
	{.q_key = 0x0b1b, .mtu = MTU_2048},
	{.q_key = 1, .mtu = MTU_4096, .sl = 1},
	{.q_key = 0x0b1b, .mtu = MTU_TOO_LARGE},
};

/* B, and C for itself, are in the hidden group; with IPoIB there is its broadcast group too. */
static void make_hidden(const uint8_t mgid[GID_SIZE])
{
	const uint8_t broadcast[GID_SIZE] = BROADCAST_OF(0x80, 0x01);
	struct mc_member_record record = usual(B, 0);

	record.p_key = OF_HIDDEN;
	memcpy(record.mgid, broadcast, GID_SIZE);
	if (mgid[3] == 0x1B)
		CU_ASSERT_EQUAL_FATAL(set(B, CREATE | MTU_BITS | RATE_BITS, &record), STATUS_OK);
	memcpy(record.mgid, mgid, GID_SIZE);
	CU_ASSERT_EQUAL_FATAL(set(B, CREATE | MTU_BITS | RATE_BITS, &record), STATUS_OK);
	set_gid(record.port_gid, options.subnet_prefix, PORT_GUID(C));
	CU_ASSERT_EQUAL_FATAL(set(C, JOIN, &record), STATUS_OK);
}

static const uint8_t methods[] = {METHOD_SET, METHOD_DELETE, METHOD_GET};
enum {
	QUESTIONS = ARRAY_SIZE(masks) * ARRAY_SIZE(states) * ARRAY_SIZE(p_keys) *
		    ARRAY_SIZE(ports) * ARRAY_SIZE(values) * ARRAY_SIZE(methods)
};

struct question {
	uint8_t method;
	uint64_t mask;
	struct mc_member_record record;
};

static size_t pick(unsigned *number, size_t count)
{
	size_t picked = *number % count;

	*number /= (unsigned)count;
	return picked;
}

/* Each number below QUESTIONS is another combination. */
static struct question question(const uint8_t mgid[GID_SIZE], unsigned number)
{
	struct question question = {.record = usual(A, 0)};
	const struct mc_member_record *value = &values[pick(&number, ARRAY_SIZE(values))];
	struct mc_member_record *record = &question.record;

	memcpy(record->mgid, mgid, GID_SIZE);
	record->mlid = 0xC001; /* the hidden group's */
	record->scope = 2;
	record->q_key = value->q_key;
	record->mtu = value->mtu;
	record->sl = value->sl;
	record->join_state = states[pick(&number, ARRAY_SIZE(states))];
	record->p_key = p_keys[pick(&number, ARRAY_SIZE(p_keys))];
	set_gid(record->port_gid, options.subnet_prefix, ports[pick(&number, ARRAY_SIZE(ports))]);
	question.mask = masks[pick(&number, ARRAY_SIZE(masks))];
	question.method = methods[pick(&number, ARRAY_SIZE(methods))];
	return question;
}

/* The answers to A, with the group there or not. A group that A makes it leaves again. */
static void ask_outside(bool there, enum limit_reached limit, const uint8_t mgid[GID_SIZE],
			int answers[QUESTIONS])
{
	struct sa_options limited = options;

	begin();
	if (there)
		make_hidden(mgid);
	if (limit == GROUP_LIMIT)
		limited.groups_per_port = 0;
	if (limit == REGISTRATION_LIMIT)
		limited.registrations_per_port = 0;
	sa_set_options(sa.server, &limited);
	for (unsigned i = 0; i < QUESTIONS; i++) {
		const struct question asked = question(mgid, i);
		unsigned before = groups();

		answers[i] = ask_member(asked.method, LID_A, 0, asked.mask, &asked.record);
		if (groups() != before)
			CU_ASSERT_EQUAL_FATAL(leave(A, &asked.record), STATUS_OK);
	}
	end();
}

static unsigned made;

/* An MGID has one group. A request that would make an existing group is refused. So a requester
 * that makes groups in its own partition learns that the MGID is in use, which cannot be hidden. It
 * cannot make MGIDs of IPoIB. */
static void compare(const uint8_t mgid[GID_SIZE], enum limit_reached limit)
{
	static int absent[QUESTIONS], hidden[QUESTIONS];

	ask_outside(false, limit, mgid, absent);
	ask_outside(true, limit, mgid, hidden);
	for (unsigned i = 0; i < QUESTIONS; i++) {
		const struct question asked = question(mgid, i);
		bool makes =
			absent[i] == STATUS_OK && asked.method == METHOD_SET && mgid[3] != 0x1B;
		int expected = makes ? SA_REQ_INVALID : absent[i];

		made += makes;
		if (hidden[i] != expected)
			printf("\n    method 0x%x mask 0x%" PRIx64 " P_Key 0x%x state %u: 0x%x, "
			       "not 0x%x\n",
			       asked.method, asked.mask, asked.record.p_key,
			       asked.record.join_state, (unsigned)hidden[i], (unsigned)expected);
		CU_ASSERT_EQUAL(hidden[i], expected);
	}
}

/* A sends requests for a group of partition 1, of all these kinds: the status is the same as
 * without the group. */
static void test_hidden_is_absent(void)
{
	static char log[1 << 16];
	struct unit_capture capture;

	unit_capture_begin(&capture);
	for (size_t group = 0; group < ARRAY_SIZE(hidden_groups); group++)
		for (enum limit_reached limit = 0; limit < LIMITS; limit++)
			compare(hidden_groups[group].mgid, limit);
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_TRUE(made > 10);
}

/* An administrator reads the reason that the requester does not learn. */
static void test_reason_is_logged(void)
{
	const uint64_t asked[] = {JOIN, CREATE};
	struct unit_capture capture;
	char log[1024];

	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		struct mc_member_record record = usual(A, 9);

		begin();
		make_hidden(record.mgid);
		unit_capture_begin(&capture);
		CU_ASSERT_EQUAL(set(A, asked[i], &record),
				i ? SA_REQ_INVALID : SA_REQ_INSUFFICIENT_COMPONENTS);
		unit_capture_end(&capture, log, sizeof(log));
		CU_ASSERT_PTR_NOT_NULL(
			strstr(log, "the group is of a partition that the requester is not in"));
		CU_ASSERT_EQUAL(members(), 2);
		end();
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"the P_Key in an IPoIB MGID", test_p_key_of_mgid},
		{"the P_Key of an IPoIB network", test_p_key_of_network},
		{"a hidden group is as none", test_hidden_is_absent},
		{"the reason is in the log", test_reason_is_logged},
		CU_TEST_INFO_NULL,
	};

	return unit_main("multicast_partitions", tests);
}

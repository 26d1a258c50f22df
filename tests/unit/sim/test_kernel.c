/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Single MADs in the kernel of a simulated node: registering, the receivers of requests and
 * answers, TIDs, time-outs and retries, and the limit of requests under way. Also refused writes,
 * IsSM, and programs that close files in a callback.
 */
#include "sim/kernel.h"

#include <errno.h>

#include "tests/unit/fixtures/kernel_bed.h"

enum { CLASS_VENDOR = 0x32, CLASS_OLD_VENDOR = 0x09, CLASS_OTHER = 0x0A, MS = 1000 };
#define METHODS_GET_SET (UINT64_C(1) << METHOD_GET | UINT64_C(1) << METHOD_SET)

/* Registering */

static void test_register(void)
{
	static const struct {
		const char *what;
		struct kernel_agent_request request;
		int status;
	} cases[] = {
		{"directed SMPs", {0, 0x81, 1, 0, 0, 0, {6, 0}}, 0},
		{"the same method again", {0, 0x81, 1, 0, 0, 0, {2, 0}}, -EINVAL},
		{"another method", {0, 0x81, 1, 0, 0, 0, {1 << 5, 0}}, 0},
		{"another version", {0, 0x81, 2, 0, 0, 0, {6, 0}}, 0},
		{"no method at all", {0, 0x81, 1, 0, 0, 0, {0, 0}}, 0},
		{"SMPs by LID are another class", {0, 0x01, 1, 0, 0, 0, {6, 0}}, 0},
		{"SMPs at QP1", {1, 0x01, 1, 0, 0, 0, {0, 0}}, -EINVAL},
		{"general MADs at QP0", {0, 0x03, 2, 0, 0, 0, {0, 0}}, -EINVAL},
		{"QP2", {2, 0x03, 2, 0, 0, 0, {0, 0}}, -EINVAL},
		{"the SA with RMPP", {1, 0x03, 2, 1, 0, 0, {6, 0}}, 0},
		{"RMPP 2", {1, 0x03, 2, 2, 0, 0, {0, 0}}, -EINVAL},
		{"RMPP by itself", {1, 0x03, 2, 1, 1, 0, {1 << 7, 0}}, 0},
		{"an unknown flag", {1, 0x03, 2, 1, 2, 0, {0, 0}}, -EINVAL},
		{"RMPP for a class without", {1, 0x04, 1, 1, 0, 0, {0, 0}}, -EINVAL},
		{"version 0x82", {1, 0x04, 0x82, 0, 0, 0, {0, 0}}, 0},
		{"version 0x83", {1, 0x04, 0x83, 0, 0, 0, {0, 0}}, -EINVAL},
		{"a class beyond", {1, 0x50, 1, 0, 0, 0, {0, 0}}, -EINVAL},
		{"a vendor's class", {1, 0x32, 1, 1, 0, 0x1405, {6, 0}}, 0},
		{"the same OUI", {1, 0x32, 1, 0, 0, 0x1405, {4, 0}}, -EINVAL},
		{"another OUI", {1, 0x32, 1, 0, 0, 0x2C9, {6, 0}}, 0},
		{"no OUI", {1, 0x32, 1, 0, 0, 0, {8, 0}}, -EINVAL},
		{"an OUI too long", {1, 0x32, 1, 0, 0, 0x1000001, {8, 0}}, -EINVAL},
		{"the old range has none", {1, 0x09, 1, 0, 0, 0, {6, 0}}, 0},
		{"so it does not matter", {1, 0x09, 1, 0, 0, 5, {6, 0}}, -EINVAL},
		{"a high method", {1, 0x09, 1, 0, 0, 0, {0, 1}}, 0},
		{"the same", {1, 0x09, 1, 0, 0, 0, {0, 3}}, -EINVAL},
		{"sends only", {1, 0, 0, 1, 0, 0, {0, 0}}, 0},
		{"and again, methods do not count", {1, 0, 0, 1, 0, 0, {~0ull, ~0ull}}, 0},
		{"sends only, RMPP by itself", {1, 0, 0, 1, 1, 0, {0, 0}}, -EINVAL},
	};
	struct program program, other;
	uint32_t expected = 0;
	struct bed bed;

	kernel_bed_open(&bed);
	program_open(&program, &bed, 0);
	program_open(&other, &bed, 1);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint32_t agent = 1000;
		int status = kernel_file_register(program.file, &cases[i].request, &agent);

		if (status != cases[i].status)
			printf("\n    %s: %d", cases[i].what, status);
		CU_ASSERT_EQUAL(status, cases[i].status);
		CU_ASSERT_EQUAL(agent, status ? 1000 : expected);
		expected += !status;
	}
	/* Another port is another port. */
	program_must_register(&other, CLASS_SUBN_DIRECTED, 1, 0, METHODS_GET_SET);
	/* A port without SMI has no QP0; its QP1 is as before. */
	kernel_set_smi(bed.kernel, kernel_port_device(bed.port[1])->device, false);
	CU_ASSERT_EQUAL(program_register(&other, CLASS_SUBN_LID, 1, 0, 2, &expected),
			-EPROTONOSUPPORT);
	program_must_register(&other, CLASS_SUBN_ADM, 2, 0, METHODS_GET_SET);
	kernel_set_smi(bed.kernel, kernel_port_device(bed.port[1])->device, true);
	program_must_register(&other, CLASS_SUBN_LID, 1, 0, METHODS_GET_SET);
	program_close(&program);
	program_close(&other);
	kernel_bed_close(&bed);
}

static void test_agents(void)
{
	struct program program, other;
	uint32_t agent;
	struct bed bed;

	kernel_bed_open(&bed);
	program_open(&program, &bed, 0);
	program_open(&other, &bed, 0);
	for (unsigned i = 0; i < KERNEL_AGENTS_MAX; i++)
		CU_ASSERT_EQUAL(program_must_register(&program, 0x20 + i % 16, 1 + i / 16, 0,
						      METHODS_GET_SET),
				i);
	CU_ASSERT_EQUAL(program_register(&program, 0, 0, 0, 0, &agent), -ENOMEM);
	CU_ASSERT_EQUAL(program_register(&other, 0x25, 1, 0, 2, &agent), -EINVAL);
	CU_ASSERT_PTR_EQUAL(kernel_port_conflict(bed.port[0]), program.file);
	CU_ASSERT_EQUAL(kernel_file_unregister(program.file, 5), 0);
	CU_ASSERT_EQUAL(kernel_file_unregister(program.file, 5), -EINVAL);
	CU_ASSERT_EQUAL(kernel_file_unregister(program.file, 32), -EINVAL);
	CU_ASSERT_EQUAL(program_register(&other, 0x25, 1, 0, 2, &agent), 0);
	CU_ASSERT_PTR_NULL(kernel_port_conflict(bed.port[0]));
	CU_ASSERT_EQUAL(program_must_register(&program, 0, 0, 0, 0), 5);
	program_close(&program);
	CU_ASSERT_EQUAL(program_register(&other, 0x26, 1, 0, 2, &agent), 0);
	program_close(&other);
	kernel_bed_close(&bed);
}

/* Requests and answers */

static void answer(struct program *program)
{
	struct ib_user_mad_hdr header = program->header;
	uint8_t mad[MAD_SIZE];

	if (program->mad[3] & METHOD_RESPONSE || header.status)
		return;
	memcpy(mad, program->mad, MAD_SIZE);
	mad[3] = METHOD_GET_RESP;
	mad[60] ^= 0xFF;
	header.timeout_ms = header.retries = 0;
	CU_ASSERT_EQUAL(program_write(program, &header, mad, MAD_SIZE), 0);
}

/* Two programs on two nodes, and requests between them. */
struct pair {
	struct bed bed;
	struct program asks, answers;
	uint32_t agent;
};

static void pair_open(struct pair *pair, uint8_t mgmt_class)
{
	kernel_bed_open(&pair->bed);
	program_open(&pair->asks, &pair->bed, 0);
	program_open(&pair->answers, &pair->bed, 1);
	pair->agent = program_must_register(&pair->asks, mgmt_class, 1, 0, 0);
	program_must_register(&pair->answers, mgmt_class, 1, 0, METHODS_GET_SET);
	pair->answers.answer = answer;
}

static void pair_close(struct pair *pair)
{
	program_close(&pair->asks);
	program_close(&pair->answers);
	kernel_bed_close(&pair->bed);
}

static int ask(struct pair *pair, uint8_t mgmt_class, uint8_t version, uint8_t method, uint32_t tid,
	       uint32_t timeout_ms, uint32_t retries)
{
	struct ib_user_mad_hdr header;
	uint8_t mad[MAD_SIZE];

	fill_mad(mad, mgmt_class, version, method, tid);
	header = header_to(pair->agent, mad, HOST_LID + 2, timeout_ms, retries);
	return program_write(&pair->asks, &header, mad, MAD_SIZE);
}

static void test_round_trip(void)
{
	static const uint8_t classes[] = {CLASS_VENDOR, CLASS_OLD_VENDOR, CLASS_OTHER, 0x07};

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		struct pair pair;

		pair_open(&pair, classes[i]);
		pair.answers.answer = NULL;
		CU_ASSERT_EQUAL(ask(&pair, classes[i], 1, METHOD_GET, 77, 100, 0), 0);
		kernel_bed_run(&pair.bed, MS);
		CU_ASSERT_EQUAL(pair.answers.heard, 1);
		CU_ASSERT_EQUAL(pair.answers.size, MAD_SIZE);
		CU_ASSERT_EQUAL(pair.answers.header.length, KERNEL_HEADER_SIZE + MAD_SIZE);
		CU_ASSERT_EQUAL(pair.answers.header.qpn, htobe32(1));
		CU_ASSERT_EQUAL(pair.answers.header.lid, htobe16(HOST_LID));
		CU_ASSERT_EQUAL(be32_load(pair.answers.mad + 12), 77);
		CU_ASSERT_NOT_EQUAL(be32_load(pair.answers.mad + 8), 0);
		CU_ASSERT_EQUAL(pair.asks.heard, 0);
		answer(&pair.answers);
		kernel_bed_run(&pair.bed, MS);
		CU_ASSERT_EQUAL_FATAL(pair.asks.heard, 1);
		CU_ASSERT_EQUAL(pair.asks.header.id, pair.agent);
		CU_ASSERT_EQUAL(pair.asks.header.status, 0);
		CU_ASSERT_EQUAL(pair.asks.mad[60], 0xFF);
		CU_ASSERT_EQUAL(be64_load(pair.asks.mad + 8), be64_load(pair.answers.mad + 8));
		/* A second answer is late. */
		answer(&pair.answers);
		kernel_bed_run(&pair.bed, 1000 * MS);
		CU_ASSERT_EQUAL(pair.asks.heard, 1);
		CU_ASSERT_EQUAL(kernel_bed_stats(&pair.bed, 0)->unmatched, 1);
		CU_ASSERT_EQUAL(kernel_bed_stats(&pair.bed, 0)->timed_out, 0);
		pair_close(&pair);
	}
}

static void test_time_out(void)
{
	static const struct {
		uint32_t timeout_ms, retries;
	} cases[] = {{10, 0}, {10, 3}, {200, 1}, {1, 20}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t end_us = (uint64_t)cases[i].timeout_ms * (cases[i].retries + 1) * MS;
		struct pair pair;

		pair_open(&pair, CLASS_OLD_VENDOR);
		pair.answers.answer = NULL;
		CU_ASSERT_EQUAL(ask(&pair, CLASS_OLD_VENDOR, 1, METHOD_SET, 5, cases[i].timeout_ms,
				    cases[i].retries),
				0);
		kernel_bed_run(&pair.bed, end_us - 1);
		CU_ASSERT_EQUAL(pair.asks.heard, 0);
		CU_ASSERT_EQUAL(pair.answers.heard, cases[i].retries + 1);
		kernel_bed_run(&pair.bed, 1);
		CU_ASSERT_EQUAL_FATAL(pair.asks.heard, 1);
		CU_ASSERT_EQUAL(pair.asks.header.status, ETIMEDOUT);
		CU_ASSERT_EQUAL(pair.asks.size, MAD_HEADER_SIZE);
		CU_ASSERT_EQUAL(pair.asks.header.timeout_ms, cases[i].timeout_ms);
		CU_ASSERT_EQUAL(be64_load(pair.asks.mad + 8), be64_load(pair.answers.mad + 8));
		CU_ASSERT_EQUAL(pair.asks.mad[3], METHOD_SET);
		CU_ASSERT_EQUAL(kernel_bed_stats(&pair.bed, 0)->retried, cases[i].retries);
		/* The late answer matches no request. */
		answer(&pair.answers);
		kernel_bed_run(&pair.bed, MS);
		CU_ASSERT_EQUAL(pair.asks.heard, 1);
		CU_ASSERT_EQUAL(kernel_bed_stats(&pair.bed, 0)->unmatched, 1);
		pair_close(&pair);
	}
}

static void test_no_answer_expected(void)
{
	struct pair pair;

	pair_open(&pair, CLASS_OLD_VENDOR);
	CU_ASSERT_EQUAL(ask(&pair, CLASS_OLD_VENDOR, 1, METHOD_GET, 5, 0, 3), 0);
	CU_ASSERT_EQUAL(ask(&pair, CLASS_OLD_VENDOR, 1, METHOD_GET, 5, 0, 3), 0);
	kernel_bed_run(&pair.bed, 10000 * MS);
	CU_ASSERT_EQUAL(pair.answers.heard, 2);
	CU_ASSERT_EQUAL(pair.asks.heard, 0);
	CU_ASSERT_EQUAL(kernel_bed_stats(&pair.bed, 0)->unmatched, 2);
	pair_close(&pair);
}

/* Which requests reach the program, which are answered for it, which are dropped. */
static void test_routing(void)
{
	static const struct {
		uint8_t mgmt_class, version, method;
		uint32_t oui;
		bool reaches, refused;
	} cases[] = {
		{CLASS_VENDOR, 1, METHOD_GET, 0x1405, true, false},
		{CLASS_VENDOR, 1, METHOD_SET, 0x1405, true, false},
		{CLASS_VENDOR, 1, METHOD_SEND, 0x1405, false, false},
		{CLASS_VENDOR, 2, METHOD_GET, 0x1405, false, true},
		{CLASS_VENDOR, 1, METHOD_GET, 0x1406, false, true},
		{CLASS_VENDOR + 1, 1, METHOD_GET, 0x1405, false, true},
		{CLASS_VENDOR + 1, 1, METHOD_SEND, 0x1405, false, false},
		{CLASS_SUBN_ADM, 2, METHOD_SET, 0, false, true},
		{CLASS_SUBN_ADM, 2, METHOD_GET_TABLE, 0, false, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ib_user_mad_hdr header;
		uint8_t mad[MAD_SIZE];
		struct pair pair;

		pair_open(&pair, CLASS_VENDOR);
		fill_mad(mad, cases[i].mgmt_class, cases[i].version, cases[i].method, 9);
		be32_store(mad + 36, cases[i].oui);
		header = header_to(pair.agent, mad, HOST_LID + 2, 100, 0);
		CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), 0);
		kernel_bed_run(&pair.bed, 50 * MS);
		CU_ASSERT_EQUAL(pair.answers.heard, cases[i].reaches);
		CU_ASSERT_EQUAL(pair.asks.heard, cases[i].reaches || cases[i].refused);
		if (cases[i].refused) {
			CU_ASSERT_EQUAL(be16_load(pair.asks.mad + 4), STATUS_UNSUP_METHOD_ATTR);
			CU_ASSERT_EQUAL(pair.asks.mad[3], METHOD_GET_RESP);
		}
		CU_ASSERT_EQUAL(kernel_bed_stats(&pair.bed, 1)->unclaimed, !cases[i].reaches);
		pair_close(&pair);
	}
}

/* Answers go to the agent that sent the request, though several have the class, and none has
 * claimed it. */
static void test_agents_apart(void)
{
	struct ib_user_mad_hdr header;
	struct program second;
	uint8_t mad[MAD_SIZE];
	uint32_t again, third;
	struct pair pair;

	pair_open(&pair, CLASS_OTHER);
	program_open(&second, &pair.bed, 0);
	again = program_must_register(&pair.asks, CLASS_OTHER, 1, 0, 0);
	third = program_must_register(&second, 0, 0, 0, 0);
	fill_mad(mad, CLASS_OTHER, 1, METHOD_GET, 1);
	header = header_to(pair.agent, mad, HOST_LID + 2, 100, 0);
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), 0);
	header.id = again;
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), 0);
	header.id = third;
	CU_ASSERT_EQUAL(program_write(&second, &header, mad, MAD_SIZE), 0);
	kernel_bed_run(&pair.bed, MS);
	CU_ASSERT_EQUAL(pair.asks.heard, 2);
	CU_ASSERT_EQUAL(pair.asks.header.id, again);
	CU_ASSERT_EQUAL(second.heard, 1);
	CU_ASSERT_EQUAL(second.header.id, third);
	program_close(&second);
	pair_close(&pair);
}

static void test_refused_writes(void)
{
	struct ib_user_mad_hdr header;
	struct route_path route = {.hops = 1, .port = {0, 2}};
	uint8_t mad[MAD_SIZE + 1] = {0};
	uint32_t directed;
	struct pair pair;

	pair_open(&pair, CLASS_OLD_VENDOR);
	directed = program_must_register(&pair.asks, CLASS_SUBN_DIRECTED, 1, 0, 0);
	fill_mad(mad, CLASS_OLD_VENDOR, 1, METHOD_GET, 1);
	header = header_to(pair.agent, mad, HOST_LID + 2, 100, 0);
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, 35), -EINVAL);
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE + 1), -EINVAL);
	CU_ASSERT_EQUAL(kernel_file_write(pair.asks.file, mad, 10), -EINVAL);
	header.id = 7;
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), -EIO);
	header.id = KERNEL_AGENTS_MAX;
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), -EINVAL);
	/* An agent with RMPP sends only classes that have it. */
	header.id = program_must_register(&pair.asks, CLASS_SUBN_ADM, 2, 1, 0);
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), -EINVAL);
	header.id = pair.agent;
	header.grh_present = 1;
	header.gid_index = 200;
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), -EINVAL);
	header.gid_index = 1; /* empty */
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), -ENODATA);
	header.grh_present = 0;
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, 36), 0);
	/* That TID is under way now; the class has another. */
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), -EINVAL);
	mad[8] = 0xFF; /* in the kernel's half */
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), -EINVAL);
	mad[1] = CLASS_OTHER;
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), 0);
	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0, &route, NULL);
	header = header_to(directed, mad, LID_PERMISSIVE, 100, 0);
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), -EINVAL);
	CU_ASSERT_EQUAL(kernel_bed_stats(&pair.bed, 0)->refused, 11);
	kernel_bed_run(&pair.bed, MS);
	CU_ASSERT_EQUAL(pair.answers.heard, 1);
	CU_ASSERT_EQUAL(pair.answers.size, MAD_SIZE);
	/* Answered, it may be used again. */
	fill_mad(mad, CLASS_OLD_VENDOR, 1, METHOD_GET, 1);
	header = header_to(pair.agent, mad, HOST_LID + 2, 100, 0);
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), 0);
	pair_close(&pair);
}

/* SMPs */

static int get_smp(struct program *program, uint32_t agent, uint16_t attr_id,
		   const struct route_path *route, lid_t lid, uint32_t tid)
{
	struct ib_user_mad_hdr header;
	uint8_t mad[MAD_SIZE];

	subn_build(mad, METHOD_GET, attr_id, 0, 0, route, NULL);
	be32_store(mad + 12, tid);
	header = header_to(agent, mad, route ? LID_PERMISSIVE : lid, 100, 0);
	return program_write(program, &header, mad, MAD_SIZE);
}

static void test_smps(void)
{
	static const struct {
		struct route_path route;
		lid_t lid; /* of an SMP by LID */
		uint16_t attr_id;
		uint8_t port_num; /* in the answer's NodeInfo */
		uint16_t status;
	} cases[] = {
		{{.hops = 0}, 0, ATTR_NODE_INFO, 1, 0},
		{{.hops = 1, .port = {0, 1}}, 0, ATTR_NODE_INFO, 1, 0},
		{{.hops = 2, .port = {0, 1, 2}}, 0, ATTR_NODE_INFO, 1, 0},
		{{.hops = 2, .port = {0, 1, 3}}, 0, 0x99, 0, STATUS_UNSUP_METHOD_ATTR},
		{{.hops = 2, .port = {0, 1, 3}}, 0, ATTR_SM_INFO, 0, STATUS_UNSUP_METHOD_ATTR},
		{{.hops = 0}, HOST_LID, ATTR_NODE_INFO, 1, 0},
		{{.hops = 0}, HOST_LID + 5, ATTR_NODE_INFO, 1, 0},
		{{.hops = 0}, HOST_LID + 4, ATTR_SM_INFO, 0, STATUS_UNSUP_METHOD_ATTR},
	};
	struct program program;
	uint32_t directed, by_lid;
	struct bed bed;

	kernel_bed_open(&bed);
	program_open(&program, &bed, 0);
	directed = program_must_register(&program, CLASS_SUBN_DIRECTED, 1, 0, 0);
	by_lid = program_must_register(&program, CLASS_SUBN_LID, 1, 0, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct route_path *route = cases[i].lid ? NULL : &cases[i].route;
		uint16_t status;

		CU_ASSERT_EQUAL(get_smp(&program, route ? directed : by_lid, cases[i].attr_id,
					route, cases[i].lid, i + 1),
				0);
		kernel_bed_run(&bed, MS);
		CU_ASSERT_EQUAL_FATAL(program.heard, i + 1);
		status = be16_load(program.mad + 4);
		CU_ASSERT_EQUAL(program.header.id, route ? directed : by_lid);
		CU_ASSERT_EQUAL(program.header.qpn, 0);
		CU_ASSERT_EQUAL(be32_load(program.mad + 12), i + 1);
		CU_ASSERT_EQUAL(status & 0x7FFF, cases[i].status);
		CU_ASSERT_EQUAL(status >> 15, !!route);
		if (cases[i].attr_id == ATTR_NODE_INFO)
			CU_ASSERT_EQUAL(program.mad[SMP_DATA_OFFSET + 36], cases[i].port_num);
		/* Linux leaves the hop pointer of an SMP that it answers itself. */
		CU_ASSERT_EQUAL(program.mad[6], route && !route->hops);
	}
	/* SMInfo of the own port, without a manager: neither an answer nor a time-out. */
	CU_ASSERT_EQUAL(get_smp(&program, directed, ATTR_SM_INFO, &cases[0].route, 0, 99), 0);
	kernel_bed_run(&bed, 10000 * MS);
	CU_ASSERT_EQUAL(program.heard, ARRAY_SIZE(cases));
	CU_ASSERT_EQUAL(program.ended, program.begun);
	program_close(&program);
	kernel_bed_close(&bed);
}

/* SMPs belong to QP0, all others to QP1; MADs to another QP are lost. */
static void test_wrong_qp(void)
{
	static const struct {
		uint8_t mgmt_class, sent_class;
		uint32_t qpn;
		bool comes;
	} cases[] = {
		{CLASS_SUBN_LID, CLASS_SUBN_LID, 0, true},
		{CLASS_SUBN_LID, CLASS_SUBN_LID, 1, false},
		{CLASS_OLD_VENDOR, CLASS_SUBN_LID, 0, false},
		{CLASS_OLD_VENDOR, CLASS_OLD_VENDOR, 1, true},
		{CLASS_OLD_VENDOR, CLASS_OLD_VENDOR, 0, false},
		{CLASS_OLD_VENDOR, CLASS_OLD_VENDOR, 2, false},
		{CLASS_SUBN_LID, CLASS_OLD_VENDOR, 1, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ib_user_mad_hdr header;
		uint8_t mad[MAD_SIZE];
		struct pair pair;

		pair_open(&pair, cases[i].mgmt_class);
		fill_mad(mad, cases[i].sent_class, 1, METHOD_GET, 1);
		header = header_to(pair.agent, mad, HOST_LID + 2, 100, 0);
		header.qpn = htobe32(cases[i].qpn);
		CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), 0);
		kernel_bed_run(&pair.bed, 200 * MS);
		CU_ASSERT_EQUAL_FATAL(pair.asks.heard, 1);
		CU_ASSERT_EQUAL(pair.asks.header.status, cases[i].comes ? 0 : ETIMEDOUT);
		pair_close(&pair);
	}
}

/* SMInfo requests go to the program that registered for them, with and without IsSM. Traps do, too.
 */
static void test_manager(void)
{
	static const struct route_path route = {.hops = 2, .port = {0, 1, 2}};
	uint64_t traps = UINT64_C(1) << METHOD_TRAP;
	struct pair pair;
	uint32_t asker;

	pair_open(&pair, CLASS_OLD_VENDOR);
	asker = program_must_register(&pair.asks, CLASS_SUBN_DIRECTED, 1, 0, 0);
	program_must_register(&pair.asks, CLASS_SUBN_LID, 1, 0, traps);
	program_must_register(&pair.answers, CLASS_SUBN_DIRECTED, 1, 0, METHODS_GET_SET);
	pair.answers.answer = NULL;
	for (unsigned issm = 0; issm < 2; issm++) {
		CU_ASSERT_EQUAL(get_smp(&pair.asks, asker, ATTR_SM_INFO, &route, 0, 5), 0);
		kernel_bed_run(&pair.bed, MS);
		CU_ASSERT_EQUAL(pair.answers.heard, issm + 1);
		CU_ASSERT_EQUAL(pair.asks.heard, issm + issm);
		pair.answers.mad[3] = METHOD_GET_RESP;
		pair.answers.mad[4] = 0x80;
		pair.answers.header.timeout_ms = 0;
		CU_ASSERT_EQUAL(program_write(&pair.answers, &pair.answers.header, pair.answers.mad,
					      MAD_SIZE),
				0);
		kernel_bed_run(&pair.bed, MS);
		CU_ASSERT_EQUAL(pair.asks.heard, issm + issm + 1);
		CU_ASSERT_EQUAL(pair.asks.mad[3], METHOD_GET_RESP);
		if (!issm) {
			/* A trap reports the change to the fabric's manager, which is the asker
			 * here. */
			CU_ASSERT_EQUAL(kernel_port_take_issm(pair.bed.port[1]), 0);
			CU_ASSERT_EQUAL(kernel_port_take_issm(pair.bed.port[1]), -EBUSY);
			CU_ASSERT(pair.bed.host[1]->port[1].info.capability_mask & CAP_IS_SM);
			kernel_bed_run(&pair.bed, MS);
			CU_ASSERT_EQUAL(pair.asks.heard, 2);
			CU_ASSERT_EQUAL(pair.asks.mad[3], METHOD_TRAP);
		}
	}
	kernel_port_release_issm(pair.bed.port[1]);
	CU_ASSERT_FALSE(pair.bed.host[1]->port[1].info.capability_mask & CAP_IS_SM);
	CU_ASSERT_EQUAL(kernel_port_take_issm(pair.bed.port[1]), 0);
	pair_close(&pair);
}

/* The limit of requests under way */

static void test_limit(void)
{
	static const struct {
		uint8_t mgmt_class, version, sent_class;
		unsigned max;
	} cases[] = {
		{CLASS_SUBN_DIRECTED, 1, CLASS_SUBN_DIRECTED, 128},
		{CLASS_SUBN_LID, 1, CLASS_SUBN_LID, 128},
		{CLASS_SUBN_ADM, 2, CLASS_SUBN_ADM, 16},
		{0, 0, CLASS_SUBN_ADM, 128},
		{0, 0, CLASS_OTHER, 300},
		{CLASS_OTHER, 1, CLASS_OTHER, 300},
	};
	enum { ALL = 300 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned max = cases[i].max, rounds = (ALL + max - 1) / max;
		struct ib_user_mad_hdr header;
		struct program program;
		uint8_t mad[MAD_SIZE];
		uint32_t agent;
		struct bed bed;

		kernel_bed_open(&bed);
		bed.host[1]->quirks.silent = true;
		program_open(&program, &bed, 0);
		agent = program_must_register(&program, cases[i].mgmt_class, cases[i].version, 0,
					      0);
		for (unsigned k = 0; k < ALL; k++) {
			fill_mad(mad, cases[i].sent_class, 1, METHOD_SEND, k + 1);
			be16_store(mad + SMP_DR_SLID_OFFSET, LID_PERMISSIVE);
			be16_store(mad + SMP_DR_DLID_OFFSET, LID_PERMISSIVE);
			header = header_to(agent, mad, HOST_LID + 2, 10, 0);
			CU_ASSERT_EQUAL(program_write(&program, &header, mad, MAD_SIZE), 0);
		}
		CU_ASSERT_EQUAL(kernel_bed_stats(&bed, 0)->sent, max);
		kernel_bed_run(&bed, 10 * MS - 1);
		CU_ASSERT_EQUAL(program.heard, 0);
		/* The others' time begins when they are sent. */
		kernel_bed_run(&bed, 1);
		CU_ASSERT_EQUAL(program.heard, max);
		CU_ASSERT_EQUAL(kernel_bed_stats(&bed, 0)->sent, max * 2 < ALL ? max * 2 : ALL);
		if (rounds > 1) {
			kernel_bed_run(&bed, (rounds - 1) * 10 * MS - 1);
			CU_ASSERT_EQUAL(program.heard, (rounds - 1) * max);
			kernel_bed_run(&bed, 1);
		}
		CU_ASSERT_EQUAL(program.heard, ALL);
		for (unsigned k = 0; k < ALL; k++)
			CU_ASSERT_EQUAL(program.order[k], k + 1);
		program_close(&program);
		kernel_bed_close(&bed);
	}
}

/* The memory of a file in the kernel is limited. It is released with the agent. */
static void test_sends_max(void)
{
	struct ib_user_mad_hdr header;
	struct program program;
	uint8_t mad[MAD_SIZE];
	uint32_t agent;
	struct bed bed;

	kernel_bed_open(&bed);
	program_open(&program, &bed, 0);
	for (unsigned round = 0; round < 2; round++) {
		agent = program_must_register(&program, CLASS_SUBN_ADM, 2, 0, 0);
		for (unsigned k = 1; k <= KERNEL_SENDS_MAX + 2; k++) {
			fill_mad(mad, CLASS_SUBN_ADM, 2, METHOD_GET, k);
			header = header_to(agent, mad, HOST_LID + 2, 60000, 0);
			CU_ASSERT_EQUAL(program_write(&program, &header, mad, MAD_SIZE), 0);
		}
		CU_ASSERT_EQUAL(program.heard, 2 * (round + 1));
		CU_ASSERT_EQUAL(program.header.status, ETIMEDOUT);
		CU_ASSERT_EQUAL(be32_load(program.mad + 12), KERNEL_SENDS_MAX + 2);
		CU_ASSERT_EQUAL(kernel_file_unregister(program.file, agent), 0);
	}
	CU_ASSERT_EQUAL(kernel_next_us(bed.kernel), UINT64_MAX);
	program_close(&program);
	kernel_bed_close(&bed);
}

static void test_messages_max(void)
{
	enum { LONGEST = 64 << 20 };
	uint8_t *message = mem_zalloc(LONGEST);
	struct ib_user_mad_hdr header;
	struct program program;
	uint32_t agent, tid = 0;
	struct bed bed;

	kernel_bed_open(&bed);
	program_open(&program, &bed, 0);
	for (unsigned round = 0; round < 2; round++) {
		agent = program_must_register(&program, CLASS_SUBN_ADM, 2, 1, 0);
		for (unsigned k = 0; k <= KERNEL_MESSAGE_BYTES_MAX / LONGEST; k++) {
			fill_mad(message, CLASS_SUBN_ADM, 2, METHOD_GET, ++tid);
			message[26] = 1; /* RMPP is active */
			header = header_to(agent, message, HOST_LID + 2, 60000, 0);
			CU_ASSERT_EQUAL(program_write(&program, &header, message, LONGEST),
					k < KERNEL_MESSAGE_BYTES_MAX / LONGEST ? 0 : -ENOMEM);
		}
		/* A single MAD is none. */
		message[26] = 0;
		CU_ASSERT_EQUAL(program_write(&program, &header, message, MAD_SIZE), 0);
		CU_ASSERT_EQUAL(kernel_file_unregister(program.file, agent), 0);
	}
	CU_ASSERT_EQUAL(program.heard, 0);
	free(message);
	program_close(&program);
	kernel_bed_close(&bed);
}

/* A retry waits behind requests that were not sent yet. */
static void test_retry_waits(void)
{
	struct pair pair;

	pair_open(&pair, CLASS_OLD_VENDOR);
	pair.agent = program_must_register(&pair.asks, CLASS_SUBN_ADM, 2, 0, 0);
	program_must_register(&pair.answers, CLASS_SUBN_ADM, 2, 0, METHODS_GET_SET);
	pair.answers.answer = NULL;
	for (unsigned i = 0; i < 20; i++)
		CU_ASSERT_EQUAL(ask(&pair, CLASS_SUBN_ADM, 2, METHOD_GET, 1 + i, 10, 1), 0);
	kernel_bed_run(&pair.bed, 10 * MS - 1);
	CU_ASSERT_EQUAL(pair.answers.heard, 16);
	kernel_bed_run(&pair.bed, MS);
	CU_ASSERT_EQUAL(pair.answers.heard, 32);
	for (unsigned i = 0; i < 32; i++)
		CU_ASSERT_EQUAL(pair.answers.order[i], i % 20 + 1);
	/* An answer finds its request also where that waits to be sent again. */
	be32_store(pair.answers.mad + 12, 15);
	answer(&pair.answers);
	kernel_bed_run(&pair.bed, MS);
	CU_ASSERT_EQUAL(pair.asks.heard, 1);
	CU_ASSERT_EQUAL(pair.asks.order[0], 15);
	kernel_bed_run(&pair.bed, 1000 * MS);
	CU_ASSERT_EQUAL(pair.asks.heard, 20);
	CU_ASSERT_EQUAL(kernel_bed_stats(&pair.bed, 0)->timed_out, 19);
	pair_close(&pair);
}

/* Addresses */

static void set_p_key(struct device *device, unsigned index, pkey_t key)
{
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};

	be16_store(data + sizeof(pkey_t) * index, key);
	subn_build(mad, METHOD_SET, ATTR_PKEY_TABLE, 0, 0, NULL, data);
	CU_ASSERT(device_handle(device, 1, mad));
}

static void test_path_bits(void)
{
	struct ib_user_mad_hdr header;
	uint8_t mad[MAD_SIZE];
	struct pair pair;

	pair_open(&pair, CLASS_OLD_VENDOR);
	pair.answers.answer = NULL;
	fill_mad(mad, CLASS_OLD_VENDOR, 1, METHOD_GET, 3);
	header = header_to(pair.agent, mad, HOST_LID + 3, 100, 0);
	header.path_bits = 1;
	header.sl = 5;
	header.pkey_index = 2;
	set_p_key(pair.bed.host[0], 2, 0x8123);
	set_p_key(pair.bed.host[1], 3, 0x0123);
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), 0);
	kernel_bed_run(&pair.bed, MS);
	CU_ASSERT_EQUAL_FATAL(pair.answers.heard, 1);
	CU_ASSERT_EQUAL(pair.answers.header.lid, htobe16(HOST_LID + 1));
	CU_ASSERT_EQUAL(pair.answers.header.path_bits, 1);
	CU_ASSERT_EQUAL(pair.answers.header.sl, 5);
	CU_ASSERT_EQUAL(pair.answers.header.pkey_index, 3);
	/* An answer to another of our LIDs is not the answer. */
	pair.answers.header.lid = htobe16(HOST_LID);
	answer(&pair.answers);
	kernel_bed_run(&pair.bed, MS);
	CU_ASSERT_EQUAL(pair.asks.heard, 0);
	pair.answers.header.lid = htobe16(HOST_LID + 1);
	answer(&pair.answers);
	kernel_bed_run(&pair.bed, MS);
	CU_ASSERT_EQUAL(pair.asks.heard, 1);
	pair_close(&pair);
}

static void test_grh(void)
{
	struct ib_user_mad_hdr header;
	uint8_t mad[MAD_SIZE];
	struct pair pair;
	guid_t guid;

	pair_open(&pair, CLASS_OLD_VENDOR);
	guid = pair.bed.host[1]->port[1].guid;
	fill_mad(mad, CLASS_OLD_VENDOR, 1, METHOD_GET, 3);
	header = header_to(pair.agent, mad, HOST_LID + 2, 100, 0);
	header.grh_present = 1;
	be64_store(header.gid, GID_PREFIX_DEFAULT);
	be64_store(header.gid + 8, guid);
	header.flow_label = htobe32(0x12345);
	header.traffic_class = 9;
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), 0);
	kernel_bed_run(&pair.bed, MS);
	CU_ASSERT_EQUAL_FATAL(pair.answers.heard, 1);
	CU_ASSERT_EQUAL(pair.answers.header.grh_present, 1);
	CU_ASSERT_EQUAL(pair.answers.header.gid_index, 0);
	CU_ASSERT_EQUAL(pair.answers.header.flow_label, htobe32(0x12345));
	CU_ASSERT_EQUAL(pair.answers.header.traffic_class, 9);
	CU_ASSERT_EQUAL(be64_load(pair.answers.header.gid + 8), pair.bed.host[0]->port[1].guid);
	CU_ASSERT_EQUAL_FATAL(pair.asks.heard, 1);
	CU_ASSERT_EQUAL(be64_load(pair.asks.header.gid + 8), guid);
	/* An answer without a GRH is not one to a request with it. */
	pair.answers.answer = NULL;
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), 0);
	kernel_bed_run(&pair.bed, MS);
	pair.answers.header.grh_present = 0;
	answer(&pair.answers);
	kernel_bed_run(&pair.bed, MS);
	CU_ASSERT_EQUAL(pair.asks.heard, 1);
	pair_close(&pair);
}

/* A program's answer that expects an answer is a send like others: equal answers to one place are
 * refused, to several places not. */
static void test_answers_under_way(void)
{
	struct ib_user_mad_hdr header;
	uint8_t mad[MAD_SIZE];
	struct pair pair;

	pair_open(&pair, CLASS_OLD_VENDOR);
	fill_mad(mad, CLASS_OLD_VENDOR, 1, METHOD_GET_RESP, 3);
	header = header_to(pair.agent, mad, HOST_LID + 2, 100, 0);
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), 0);
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), -EINVAL);
	header.lid = htobe16(HOST_LID + 4);
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), 0);
	mad[3] = METHOD_GET;
	CU_ASSERT_EQUAL(program_write(&pair.asks, &header, mad, MAD_SIZE), 0);
	kernel_bed_run(&pair.bed, 100 * MS);
	CU_ASSERT_EQUAL(kernel_bed_stats(&pair.bed, 0)->timed_out, 2);
	pair_close(&pair);
}

/* Files that end */

static void test_closing(void)
{
	struct pair pair;

	/* Requests are under way: their answers and time-outs find no file. */
	pair_open(&pair, CLASS_OLD_VENDOR);
	for (unsigned i = 0; i < 40; i++)
		CU_ASSERT_EQUAL(ask(&pair, CLASS_OLD_VENDOR, 1, METHOD_GET, 1 + i, 10, 3), 0);
	kernel_file_close(pair.asks.file);
	pair.asks.file = NULL;
	kernel_bed_run(&pair.bed, 100 * MS);
	CU_ASSERT_EQUAL(pair.asks.heard, 0);
	CU_ASSERT_EQUAL(kernel_bed_stats(&pair.bed, 0)->unmatched, 40);
	CU_ASSERT_EQUAL(kernel_next_us(pair.bed.kernel), UINT64_MAX);
	pair_close(&pair);

	/* From within: itself on an answer, itself on a time-out, another. */
	for (unsigned how = 0; how < 3; how++) {
		pair_open(&pair, CLASS_OLD_VENDOR);
		if (how == 1)
			pair.answers.answer = NULL;
		if (how < 2)
			pair.asks.closes = &pair.asks;
		else
			pair.answers.closes = &pair.asks;
		for (unsigned i = 0; i < 3; i++)
			CU_ASSERT_EQUAL(ask(&pair, CLASS_OLD_VENDOR, 1, METHOD_GET, 1 + i, 10, 0),
					0);
		kernel_bed_run(&pair.bed, 100 * MS);
		CU_ASSERT_EQUAL(pair.asks.heard, how < 2);
		CU_ASSERT_PTR_NULL(pair.asks.file);
		pair_close(&pair);
	}
}

static void test_unread(void)
{
	struct pair pair;

	pair_open(&pair, CLASS_OLD_VENDOR);
	pair.asks.deaf = true;
	CU_ASSERT_EQUAL(ask(&pair, CLASS_OLD_VENDOR, 1, METHOD_GET, 1, 10, 0), 0);
	kernel_bed_run(&pair.bed, 5 * MS);
	pair.answers.answer = NULL;
	CU_ASSERT_EQUAL(ask(&pair, CLASS_OLD_VENDOR, 1, METHOD_GET, 2, 10, 0), 0);
	kernel_bed_run(&pair.bed, 50 * MS);
	CU_ASSERT_EQUAL(kernel_bed_stats(&pair.bed, 0)->dropped_unread, 2);
	pair_close(&pair);
}

static void test_ports(void)
{
	struct bed bed;

	kernel_bed_open(&bed);
	CU_ASSERT_PTR_NULL(kernel_port_get(bed.kernel, bed.host[0], 0));
	CU_ASSERT_PTR_NULL(kernel_port_get(bed.kernel, bed.host[0], 2));
	CU_ASSERT_PTR_NULL(kernel_port_get(bed.kernel, bed.sw, 1));
	CU_ASSERT_PTR_NOT_NULL(kernel_port_get(bed.kernel, bed.sw, 0));
	CU_ASSERT_PTR_EQUAL(kernel_port_get(bed.kernel, bed.host[0], 1), bed.port[0]);
	CU_ASSERT_PTR_EQUAL(kernel_port_device(bed.port[0]), &bed.host[0]->port[1]);
	kernel_bed_close(&bed);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"rules of registering", test_register},
		{"agents of a file", test_agents},
		{"a request and its answer", test_round_trip},
		{"time-outs and retries", test_time_out},
		{"no answer expected", test_no_answer_expected},
		{"receivers of requests", test_routing},
		{"agents of one class", test_agents_apart},
		{"writes that are refused", test_refused_writes},
		{"SMPs", test_smps},
		{"wrong QPs", test_wrong_qp},
		{"managers", test_manager},
		{"how much is under way", test_limit},
		{"how many sends are kept", test_sends_max},
		{"how long messages are kept", test_messages_max},
		{"retries wait", test_retry_waits},
		{"path bits", test_path_bits},
		{"GRH", test_grh},
		{"answers under way", test_answers_under_way},
		{"files that end", test_closing},
		{"unread MADs", test_unread},
		{"ports", test_ports},
		CU_TEST_INFO_NULL,
	};

	return unit_main("kernel", tests);
}

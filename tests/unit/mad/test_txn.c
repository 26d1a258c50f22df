/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Transactions over a transport that is played by hand: mad/txn.h. */
// WITH: tests/sim/loop_virtual.o
#include <errno.h>

#include "lib/be.h"
#include "mad/txn.h"
#include "tests/unit/fixtures/unit.h"
#include "tests/unit/fixtures/wire.h"

enum { LONG_MS = 100000 };

static struct loop *loop;
static struct wire wire;
static struct txn_table *table;
static struct loop_timer stop;

struct outcome { /* of one transaction */
	unsigned calls;
	int error;
	uint16_t status;
	uint8_t first_byte; /* of the data */
	bool start_again;
};

static void start(struct outcome *outcome, unsigned timeout_ms);

static void done(void *arg, const struct txn_result *result)
{
	struct outcome *outcome = arg;

	outcome->calls++;
	outcome->error = result->error;
	if (!result->error) {
		outcome->status = result->header.status;
		outcome->first_byte = result->mad[SMP_DATA_OFFSET];
		CU_ASSERT_EQUAL(result->size, MAD_SIZE);
	}
	if (outcome->start_again) {
		outcome->start_again = false;
		start(outcome, LONG_MS);
	}
}

static void start(struct outcome *outcome, unsigned timeout_ms)
{
	const struct mad_addr to = {.lid = 9};
	const struct route_path path = {.hops = 1, .port = {0, 3}};
	uint8_t mad[MAD_SIZE];
	unsigned calls = outcome->calls;

	subn_build(mad, METHOD_GET, ATTR_PORT_INFO, 7, 0, &path, NULL);
	txn_start(table, &to, mad, sizeof(mad), timeout_ms, done, outcome);
	CU_ASSERT_EQUAL(outcome->calls, calls); /* never from within */
}

static void stop_now(void *arg)
{
	(void)arg;
	loop_stop(loop, 0);
}

static void run_ms(unsigned ms)
{
	loop_timer_arm(&stop, ms * UINT64_C(1000));
	loop_run(loop);
}

static void begin(void)
{
	loop = loop_new();
	loop_timer_init(&stop, loop, "stop", stop_now, NULL);
	wire_init(&wire);
	table = txn_table_new(loop, &wire.transport);
}

static void end(void)
{
	txn_table_free(table);
	wire_done(&wire);
	loop_free(loop);
}

static void test_answer(void)
{
	struct outcome outcome = {0};
	uint8_t answer[MAD_SIZE];

	begin();
	start(&outcome, LONG_MS);
	CU_ASSERT_EQUAL(wire.count, 1);
	CU_ASSERT_EQUAL(wire.sent[0].timeout_ms, LONG_MS);
	wire_make_answer(&wire, 0, STATUS_INVALID_VALUE, answer);
	answer[SMP_DATA_OFFSET] = 0x5A;
	answer[8] = 0xFF; /* the kernel's half of the TID */
	wire_receive(&wire, answer, MAD_SIZE);
	CU_ASSERT_EQUAL(outcome.calls, 1);
	CU_ASSERT_EQUAL(outcome.error, 0);
	CU_ASSERT_EQUAL(outcome.status, 0x8000 | STATUS_INVALID_VALUE);
	CU_ASSERT_EQUAL(outcome.first_byte, 0x5A);
	wire_receive(&wire, answer, MAD_SIZE); /* once more */
	CU_ASSERT_EQUAL(outcome.calls, 1);
	CU_ASSERT_EQUAL(txn_stats(table)->unmatched, 1);
	end();
}

/* MADs with the TID of a transaction that are not its answer. */
static void test_wrong_answers(void)
{
	static const struct {
		unsigned byte;
		uint8_t xor ;
		size_t size;
		bool unmatched;
	} rows[] = {
		{17, 0x01, MAD_SIZE, false}, /* attribute */
		{23, 0x01, MAD_SIZE, false}, /* its modifier */
		{3, METHOD_GET_RESP ^ METHOD_TRAP_REPRESS, MAD_SIZE, false},
		{1, CLASS_SUBN_DIRECTED ^ CLASS_SUBN_LID, MAD_SIZE, false},
		{0, 0x02, MAD_SIZE, false},  /* base version */
		{0, 0, MAD_SIZE - 1, false}, /* short */
		{0, 0, MAD_HEADER_SIZE, false},
		{0, 0, MAD_HEADER_SIZE - 1, false},
		{0, 0, 0, false},
		{15, 0x01, MAD_SIZE, true}, /* TID: slot */
		{12, 0x80, MAD_SIZE, true}, /* TID: generation */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct outcome outcome = {0};
		uint8_t answer[MAD_SIZE];

		begin();
		start(&outcome, LONG_MS);
		wire_make_answer(&wire, 0, STATUS_OK, answer);
		answer[rows[i].byte] ^= rows[i].xor ;
		wire_receive(&wire, answer, rows[i].size);
		CU_ASSERT_EQUAL(outcome.calls, 0);
		CU_ASSERT_EQUAL(txn_stats(table)->malformed, !rows[i].unmatched);
		CU_ASSERT_EQUAL(txn_stats(table)->unmatched, rows[i].unmatched);
		wire_answer(&wire, 0); /* the right one still counts */
		CU_ASSERT_EQUAL(outcome.calls, 1);
		CU_ASSERT_EQUAL(outcome.error, 0);
		end();
	}
}

/* Bit 31 of PortInfo's modifier may be missing from the answer, and only that. */
static void test_port_info_modifier(void)
{
	static const struct {
		uint16_t attr_id;
		uint32_t asked, answered;
		bool good;
	} rows[] = {
		{ATTR_PORT_INFO, 0x80000003, 0x80000003, true},
		{ATTR_PORT_INFO, 0x80000003, 3, true},
		{ATTR_PORT_INFO, 0x80000000, 0, true},
		{ATTR_PORT_INFO, 3, 3, true},
		{ATTR_PORT_INFO, 3, 0x80000003, false},
		{ATTR_PORT_INFO, 0x80000003, 4, false},
		{ATTR_PORT_INFO, 0x80000003, 0, false},
		{ATTR_SWITCH_INFO, 0x80000003, 3, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct route_path path = {.hops = 1, .port = {0, 1}};
		const struct mad_addr to = {.lid = LID_PERMISSIVE};
		struct outcome outcome = {0};
		uint8_t mad[MAD_SIZE], answer[MAD_SIZE];

		begin();
		subn_build(mad, METHOD_GET, rows[i].attr_id, rows[i].asked, 0, &path, NULL);
		txn_start(table, &to, mad, sizeof(mad), LONG_MS, done, &outcome);
		wire_make_answer(&wire, 0, STATUS_OK, answer);
		be32_store(answer + 20, rows[i].answered);
		wire_receive(&wire, answer, MAD_SIZE);
		CU_ASSERT_EQUAL(outcome.calls, rows[i].good);
		CU_ASSERT_EQUAL(txn_stats(table)->malformed, !rows[i].good);
		if (!rows[i].good)
			wire_answer(&wire, 0);
		end();
	}
}

/* A redirect answers any request with ClassPortInfo. Without the status it is not an answer, nor is
 * another attribute with that status. */
static void test_redirect(void)
{
	struct outcome outcome = {0};
	uint8_t answer[MAD_SIZE];

	begin();
	start(&outcome, LONG_MS);
	wire_make_answer(&wire, 0, STATUS_OK, answer);
	be16_store(answer + 16, ATTR_CLASS_PORT_INFO);
	wire_receive(&wire, answer, MAD_SIZE);
	CU_ASSERT_EQUAL(outcome.calls, 0);
	wire_make_answer(&wire, 0, STATUS_REDIRECT, answer);
	answer[17] ^= 1; /* attribute */
	wire_receive(&wire, answer, MAD_SIZE);
	CU_ASSERT_EQUAL(outcome.calls, 0);
	answer[17] ^= 1;
	answer[23] ^= 1; /* its modifier */
	wire_receive(&wire, answer, MAD_SIZE);
	CU_ASSERT_EQUAL(outcome.calls, 0);
	wire_make_answer(&wire, 0, STATUS_OK, answer);
	be16_store(answer + 16, ATTR_CLASS_PORT_INFO);
	answer[5] |= STATUS_REDIRECT;
	wire_receive(&wire, answer, MAD_SIZE);
	CU_ASSERT_EQUAL(outcome.calls, 1);
	CU_ASSERT_EQUAL(outcome.error, 0);
	end();
}

static void test_time_outs(void)
{
	struct outcome kernel = {0}, watchdog = {0};

	begin();
	start(&kernel, LONG_MS);
	wire_time_out(&wire, 0);
	CU_ASSERT_EQUAL(kernel.calls, 1);
	CU_ASSERT_EQUAL(kernel.error, -ETIMEDOUT);
	wire_time_out(&wire, 0);
	CU_ASSERT_EQUAL(kernel.calls, 1);
	wire_answer(&wire, 0); /* late */
	CU_ASSERT_EQUAL(kernel.calls, 1);
	CU_ASSERT_EQUAL(txn_stats(table)->unmatched, 2);

	/* Nothing ever comes back: our own watchdog. */
	start(&watchdog, 1);
	run_ms(300);
	CU_ASSERT_EQUAL(watchdog.calls, 1);
	CU_ASSERT_EQUAL(watchdog.error, -ETIMEDOUT);
	wire_answer(&wire, 1);
	CU_ASSERT_EQUAL(watchdog.calls, 1);
	CU_ASSERT_EQUAL(txn_stats(table)->timed_out, 2);
	end();
}

/* A slot that is used again does not take the answer to its earlier request. */
static void test_slot_used_again(void)
{
	struct outcome first = {0}, second = {0};

	begin();
	start(&first, LONG_MS);
	wire_time_out(&wire, 0);
	start(&second, LONG_MS);
	CU_ASSERT_EQUAL(be16_load(wire.sent[0].mad + 14), be16_load(wire.sent[1].mad + 14));
	wire_answer(&wire, 0);
	CU_ASSERT_EQUAL(second.calls, 0);
	wire_time_out(&wire, 0);
	CU_ASSERT_EQUAL(second.calls, 0);
	wire_answer(&wire, 1);
	CU_ASSERT_EQUAL(second.calls, 1);
	CU_ASSERT_EQUAL(second.error, 0);
	end();
}

static void test_send_fails(void)
{
	struct outcome outcome = {0}, cancelled = {0};

	begin();
	wire.send_error = -ENOBUFS;
	start(&outcome, LONG_MS);
	start(&cancelled, LONG_MS);
	txn_cancel(table, done, &cancelled);
	CU_ASSERT_EQUAL(outcome.calls, 0);
	wire.send_error = 0;
	outcome.start_again = true;
	run_ms(1);
	CU_ASSERT_EQUAL(outcome.calls, 1);
	CU_ASSERT_EQUAL(outcome.error, -ENOBUFS);
	CU_ASSERT_EQUAL(cancelled.calls, 0);
	CU_ASSERT_EQUAL(txn_stats(table)->send_failed, 2);
	CU_ASSERT_EQUAL(txn_stats(table)->sent, 1);
	wire_answer(&wire, 0);
	CU_ASSERT_EQUAL(outcome.calls, 2);
	end();
}

static void test_start_from_done_and_cancel(void)
{
	struct outcome outcome = {.start_again = true}, cancelled = {0};

	begin();
	start(&outcome, LONG_MS);
	wire_answer(&wire, 0);
	CU_ASSERT_EQUAL(outcome.calls, 1);
	CU_ASSERT_EQUAL(wire.count, 2);
	start(&cancelled, LONG_MS);
	txn_cancel(table, done, &cancelled);
	wire_answer(&wire, 2);
	CU_ASSERT_EQUAL(cancelled.calls, 0);
	wire_answer(&wire, 1);
	CU_ASSERT_EQUAL(outcome.calls, 2);
	end();
}

static void test_freed_with_requests_under_way(void)
{
	struct outcome outcome = {0};

	begin();
	start(&outcome, LONG_MS);
	wire.send_error = -EIO;
	start(&outcome, LONG_MS);
	end();
	CU_ASSERT_EQUAL(outcome.calls, 0);
}

static void test_many_at_once(void)
{
	enum { MANY = 1000 };
	static struct outcome outcomes[MANY];

	begin();
	memset(outcomes, 0, sizeof(outcomes));
	for (unsigned i = 0; i < MANY; i++)
		start(&outcomes[i], LONG_MS);
	for (unsigned i = 0; i < MANY; i++)
		wire_answer(&wire, (i * 7) % MANY);
	for (unsigned i = 0; i < MANY; i++)
		CU_ASSERT_EQUAL(outcomes[i].calls, 1);
	end();
}

/* Requests of others, and answers that go out */

struct inbox {
	unsigned calls;
	struct mad_header header;
	lid_t from;
};

static void got_request(void *ctx, const struct mad_addr *from, const struct mad_header *header,
			const uint8_t *mad, size_t size)
{
	struct inbox *inbox = ctx;

	inbox->calls++;
	inbox->header = *header;
	inbox->from = from->lid;
	CU_ASSERT_EQUAL(mad[3], header->method);
	CU_ASSERT_TRUE(size >= MAD_SIZE);
}

static void test_requests_of_others(void)
{
	struct inbox inbox = {0};
	uint8_t mad[MAD_SIZE];

	begin();
	subn_build(mad, METHOD_TRAP, ATTR_NOTICE, 0, 0, NULL, NULL);
	wire_receive(&wire, mad, MAD_SIZE);
	CU_ASSERT_EQUAL(txn_stats(table)->unhandled, 1);
	txn_handle(table, CLASS_SUBN_LID, got_request, &inbox);
	wire_receive(&wire, mad, MAD_SIZE);
	CU_ASSERT_EQUAL(inbox.calls, 1);
	CU_ASSERT_EQUAL(inbox.header.method, METHOD_TRAP);
	CU_ASSERT_EQUAL(inbox.from, 3);
	wire_receive(&wire, mad, MAD_SIZE - 1); /* short */
	wire_receive(&wire, mad, MAD_HEADER_SIZE);
	CU_ASSERT_EQUAL(inbox.calls, 1);
	mad[1] = 0xFE; /* another class */
	wire_receive(&wire, mad, MAD_SIZE);
	CU_ASSERT_EQUAL(inbox.calls, 1);
	mad[1] = CLASS_SUBN_LID;
	txn_handle(table, CLASS_SUBN_LID, NULL, NULL);
	wire_receive(&wire, mad, MAD_SIZE);
	CU_ASSERT_EQUAL(inbox.calls, 1);
	end();
}

static const struct txn_count *count_of(uint8_t method, uint16_t attr_id)
{
	const struct txn_count *rows;
	size_t count = txn_counts(table, &rows);

	for (size_t i = 0; i < count; i++) {
		if (rows[i].method == method && rows[i].attr_id == attr_id)
			return &rows[i];
	}
	return NULL;
}

static void test_counts(void)
{
	struct outcome outcome = {0};
	const struct mad_addr to = {.lid = 3};
	const struct txn_count *count;
	const struct txn_count *rows;
	uint8_t mad[MAD_SIZE];

	begin();
	start(&outcome, LONG_MS);
	start(&outcome, LONG_MS);
	wire_answer(&wire, 0);
	wire_time_out(&wire, 1);
	count = count_of(METHOD_GET, ATTR_PORT_INFO);
	CU_ASSERT_PTR_NOT_NULL_FATAL(count);
	CU_ASSERT_EQUAL(count->sent, 2);
	CU_ASSERT_EQUAL(count->received, 1);
	CU_ASSERT_EQUAL(count->timed_out, 1);
	subn_build(mad, METHOD_TRAP_REPRESS, ATTR_NOTICE, 0, 0, NULL, NULL);
	be64_store(mad + 8, 0x1234567890ABCDEF);
	CU_ASSERT_EQUAL(txn_send(table, &to, mad, sizeof(mad)), 0);
	CU_ASSERT_EQUAL(be64_load(wire.sent[2].mad + 8), 0x1234567890ABCDEF);
	CU_ASSERT_EQUAL(wire.sent[2].timeout_ms, 0);
	CU_ASSERT_EQUAL(count_of(METHOD_TRAP_REPRESS, ATTR_NOTICE)->sent, 1);
	/* A foreign node that sends MADs of all kinds does not fill memory, nor the rows of others.
	 */
	for (unsigned attr = 0; attr < 2000; attr++) {
		subn_build(mad, METHOD_GET, (uint16_t)(0x4000 + attr), 0, 0, NULL, NULL);
		wire_receive(&wire, mad, MAD_SIZE);
		subn_build(mad, METHOD_GET_RESP, (uint16_t)(0x4000 + attr), 0, 0, NULL, NULL);
		CU_ASSERT_EQUAL(txn_send(table, &to, mad, sizeof(mad)), 0); /* the answer */
	}
	CU_ASSERT_TRUE(txn_counts(table, &rows) <= 256);
	CU_ASSERT_EQUAL(count_of(METHOD_GET, ATTR_PORT_INFO)->received, 1);
	count = count_of(0, 0); /* all others */
	CU_ASSERT_PTR_NOT_NULL_FATAL(count);
	CU_ASSERT(count->received > 1000 && count->sent > 1000);
	for (unsigned attr = 0; attr < 100; attr++) {
		subn_build(mad, METHOD_TRAP, (uint16_t)(0x100 + attr), 0, 0, NULL, NULL);
		CU_ASSERT_EQUAL(txn_send(table, &to, mad, sizeof(mad)), 0);
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(count_of(METHOD_TRAP, 0x100 + 99));
	CU_ASSERT_EQUAL(count_of(METHOD_TRAP, 0x100 + 99)->sent, 1);
	end();
}

static int gone_error;
static void gone(void *ctx, int error)
{
	(void)ctx;
	gone_error = error;
}

static void back(void *ctx)
{
	(void)ctx;
	gone_error = 0;
}

static void test_gone(void)
{
	begin();
	wire.transport.user.gone(wire.transport.user.ctx, -ENODEV); /* no handler: harmless */
	wire.transport.user.back(wire.transport.user.ctx);
	txn_on_gone(table, gone, back, NULL);
	wire.transport.user.gone(wire.transport.user.ctx, -ENODEV);
	CU_ASSERT_EQUAL(gone_error, -ENODEV);
	wire.transport.user.back(wire.transport.user.ctx);
	CU_ASSERT_EQUAL(gone_error, 0);
	end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"answer", test_answer},
		{"wrong answers", test_wrong_answers},
		{"bit 31 of PortInfo's modifier", test_port_info_modifier},
		{"an answer that leads elsewhere", test_redirect},
		{"time-outs", test_time_outs},
		{"slot used again", test_slot_used_again},
		{"send fails", test_send_fails},
		{"start from done, and cancel", test_start_from_done_and_cancel},
		{"freed with requests under way", test_freed_with_requests_under_way},
		{"many at once", test_many_at_once},
		{"requests of others", test_requests_of_others},
		{"counts", test_counts},
		{"gone", test_gone},
		CU_TEST_INFO_NULL,
	};

	return unit_main("txn", tests);
}

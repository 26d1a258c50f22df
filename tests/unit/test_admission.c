/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Admission before the SA: requests that wait for a view or behind others, in what order they come
 * out, how many there can be, and that the SA answers, or drops, what has waited. The clock is the
 * test's.
 */
#include "sa/admission.h"
#include "tests/unit/sa_client.h"

/* Admission alone, with what came out of it. */
static struct {
	struct loop *loop;
	bool shut;
	unsigned expired, passed;
	lid_t lid[ADMISSION_LENGTH_MAX];
	uint8_t byte[ADMISSION_LENGTH_MAX];
} test;

static void passes(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size)
{
	CU_ASSERT_PTR_EQUAL(ctx, &test);
	CU_ASSERT_EQUAL(size, MAD_SIZE);
	test.lid[test.passed] = from->lid;
	test.byte[test.passed++] = mad[MAD_SIZE - 1];
}

static void expires(void *ctx)
{
	(void)ctx;
	test.expired++;
}

static bool is_shut(void *ctx)
{
	(void)ctx;
	return test.shut;
}

static struct admission *begin_admission(bool shut)
{
	memset(&test, 0, sizeof(test));
	test.loop = loop_new();
	test.shut = shut;
	return admission_new(test.loop, &(struct admission_owner){passes, expires, is_shut, &test});
}

static void end_admission(struct admission *admission)
{
	admission_free(admission);
	loop_free(test.loop);
}

static enum verdict judge_long(struct admission *admission, lid_t lid, unsigned tid, size_t size)
{
	const struct mad_addr from = {.lid = lid, .qpn = 1};
	const struct mad_header header = {
		.method = METHOD_GET_MULTI, .attr_id = RECORD_MULTI_PATH, .tid = tid};
	uint8_t *mad = mem_zalloc(size);
	enum verdict verdict = admission_judge(admission, 0, lid, &from, &header, mad, size);

	free(mad);
	return verdict;
}

static enum verdict judge(struct admission *admission, uint32_t rate, lid_t lid, unsigned tid)
{
	const struct mad_addr from = {.lid = lid, .qpn = 1};
	const struct mad_header header = {.method = METHOD_GET, .attr_id = RECORD_PATH, .tid = tid};
	uint8_t mad[MAD_SIZE] = {0};

	mad[MAD_SIZE - 1] = (uint8_t)tid;
	return admission_judge(admission, rate, lid, &from, &header, mad, sizeof(mad));
}

static void stop_loop(void *arg)
{
	loop_stop(arg, 0);
}

/* Some turns of the loop, which take so long. */
static void run(struct loop *loop, uint64_t us)
{
	struct loop_timer timer;

	loop_timer_init(&timer, loop, "the test", stop_loop, loop);
	loop_timer_arm(&timer, us);
	loop_run(loop);
}

static void test_open(void)
{
	struct admission *admission = begin_admission(false);

	for (unsigned i = 0; i < 1000; i++)
		CU_ASSERT_EQUAL(judge(admission, 0, 7, i), VERDICT_PASSES);
	CU_ASSERT_EQUAL(admission_length(admission), 0);
	end_admission(admission);
}

/* In 10 ms 1,000 a second are 10. The next ones wait, and come out in their order, after which all
 * is as before. */
static void test_rate(void)
{
	struct admission *admission = begin_admission(false);

	for (unsigned i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(judge(admission, 1000, 7, i), VERDICT_PASSES);
	for (unsigned i = 10; i < 13; i++)
		CU_ASSERT_EQUAL(judge(admission, 1000, 7, i), VERDICT_WAITS);
	CU_ASSERT_EQUAL(judge(admission, 1000, 7, 11), VERDICT_REPEATED);
	CU_ASSERT_EQUAL(judge(admission, 1000, 8, 11), VERDICT_PASSES); /* another's */
	CU_ASSERT_EQUAL(admission_length(admission), 3);
	run(test.loop, 20000);
	CU_ASSERT_EQUAL_FATAL(test.passed, 3);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(test.byte[i], 10 + i);
	CU_ASSERT_EQUAL(judge(admission, 1000, 7, 11), VERDICT_PASSES);
	end_admission(admission);
}

/* While it is shut all wait; then each requester has its turn, however many wait for one of them.
 */
static void test_shut(void)
{
	struct admission *admission = begin_admission(true);

	for (unsigned i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(judge(admission, 0, 1, i), VERDICT_WAITS);
	CU_ASSERT_EQUAL(judge(admission, 0, 2, 200), VERDICT_WAITS);
	CU_ASSERT_EQUAL(judge(admission, 0, 3, 201), VERDICT_WAITS);
	run(test.loop, 30000);
	CU_ASSERT_EQUAL(test.passed, 0);
	test.shut = false;
	while (admission_length(admission))
		run(test.loop, 10000);
	CU_ASSERT_EQUAL_FATAL(test.passed, 102);
	CU_ASSERT_EQUAL(test.lid[0], 1);
	CU_ASSERT_EQUAL(test.lid[1], 2);
	CU_ASSERT_EQUAL(test.lid[2], 3);
	CU_ASSERT_EQUAL(test.byte[101], 99);
	CU_ASSERT_EQUAL(test.expired, 0);
	end_admission(admission);
}

static void test_places(void)
{
	struct admission *admission = begin_admission(true);
	unsigned waiting = ADMISSION_PER_PORT_MAX;

	for (unsigned i = 0; i < ADMISSION_PER_PORT_MAX; i++)
		CU_ASSERT_EQUAL(judge(admission, 0, 1, i), VERDICT_WAITS);
	CU_ASSERT_EQUAL(judge(admission, 0, 1, 9999), VERDICT_FULL);
	CU_ASSERT_EQUAL(judge(admission, 0, 1, 5), VERDICT_REPEATED);
	for (unsigned lid = 2; lid < 2 * ADMISSION_LENGTH_MAX; lid++)
		waiting += judge(admission, 0, (lid_t)lid, 1) == VERDICT_WAITS;
	CU_ASSERT_EQUAL(waiting, ADMISSION_LENGTH_MAX);
	CU_ASSERT_EQUAL(admission_length(admission), ADMISSION_LENGTH_MAX);
	end_admission(admission); /* with all that is in it */
}

/* Messages of one requester take no memory from others, as long as they may be. */
static void test_bytes(void)
{
	enum { LONG = 8 << 10, PLACES = ADMISSION_PER_PORT_BYTES_MAX / LONG };
	struct admission *admission = begin_admission(true);

	CU_ASSERT_EQUAL(judge_long(admission, 1, 1, ADMISSION_PER_PORT_BYTES_MAX + 1),
			VERDICT_FULL);
	CU_ASSERT_EQUAL(admission_length(admission), 0);
	for (unsigned i = 0; i < PLACES; i++)
		CU_ASSERT_EQUAL(judge_long(admission, 1, i, LONG), VERDICT_WAITS);
	CU_ASSERT_EQUAL(judge_long(admission, 1, PLACES, 8 << 20), VERDICT_FULL);
	CU_ASSERT_EQUAL(judge(admission, 0, 1, PLACES), VERDICT_FULL);
	for (unsigned lid = 2; lid <= ADMISSION_BYTES_MAX / ADMISSION_PER_PORT_BYTES_MAX; lid++)
		CU_ASSERT_EQUAL(judge_long(admission, (lid_t)lid, 1, ADMISSION_PER_PORT_BYTES_MAX),
				VERDICT_WAITS);
	CU_ASSERT_EQUAL(judge_long(admission, 999, 1, LONG), VERDICT_FULL);
	end_admission(admission);
}

/* The SA behind it */

static bool coming;

static bool is_coming(const void *ctx)
{
	CU_ASSERT_PTR_EQUAL(ctx, &coming);
	return coming;
}

static const struct ask class_info = {.method = METHOD_GET, .attr_id = ATTR_CLASS_PORT_INFO};

/* Before the first view of a MASTER requests wait, whoever asks; with it those of strangers are
 * dropped and the others answered, each once. */
static void test_first_view(void)
{
	struct view *view;
	struct ask stranger = class_info, liar = class_info;

	begin();
	view = view_ref(sa.view);
	view_publish(&sa.view, NULL);
	sa_expect(sa.server, is_coming, &coming);

	coming = false;
	ask_only(&class_info, 1);
	CU_ASSERT_EQUAL(sa_waiting(sa.server), 0);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->dropped, 1);

	coming = true;
	ask_only(&class_info, 2);
	ask_only(&class_info, 2);
	stranger.from = 999;
	ask_only(&stranger, 3);
	liar.sm_key = SA_KEY + 1;
	ask_only(&liar, 4);
	CU_ASSERT_EQUAL(sa_waiting(sa.server), 2);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->repeated, 1);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->dropped, 3);
	run(sa.loop, 30000);
	CU_ASSERT_EQUAL(sa.sent, 0);

	view_publish(&sa.view, view);
	while (sa_waiting(sa.server))
		turn();
	CU_ASSERT_EQUAL(sa.sent, 1);
	CU_ASSERT_EQUAL(sa.header.tid, 2);
	CU_ASSERT_EQUAL(sa.header.status, STATUS_OK);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->dropped, 4);
	end();
}

/* Who is not to become MASTER after all lets those who wait go. */
static void test_no_view_comes(void)
{
	begin();
	view_publish(&sa.view, NULL);
	sa_expect(sa.server, is_coming, &coming);
	coming = true;
	for (unsigned tid = 1; tid <= 10; tid++)
		ask_only(&class_info, tid);
	CU_ASSERT_EQUAL(sa_waiting(sa.server), 10);
	coming = false;
	run(sa.loop, 30000);
	CU_ASSERT_EQUAL(sa_waiting(sa.server), 0);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->dropped, 10);
	CU_ASSERT_EQUAL(sa.sent, 0);
	end();
}

/* What finds no place is dropped, or told so where somebody wants that. */
static void test_busy(void)
{
	struct sa_options polite = options;

	begin();
	view_publish(&sa.view, NULL);
	sa_expect(sa.server, is_coming, &coming);
	coming = true;
	for (unsigned tid = 1; tid <= ADMISSION_PER_PORT_MAX + 1; tid++)
		ask_only(&class_info, tid);
	CU_ASSERT_EQUAL(sa.sent, 0);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->overload, 1);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->dropped, 1);
	polite.busy_reply = true;
	sa_set_options(sa.server, &polite);
	ask_only(&class_info, TID);
	CU_ASSERT_EQUAL(sa.sent, 1);
	CU_ASSERT_EQUAL(sa.header.status, STATUS_BUSY);
	CU_ASSERT_EQUAL(sa.header.tid, TID);
	CU_ASSERT_EQUAL(sa.header.method, METHOD_GET_RESP);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->overload, 2);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->refused, 1);
	end();
}

/* One who asks without end is answered, and another who asks once is answered before him. */
static void test_flood(void)
{
	struct sa_options slow = options;
	struct ask other = class_info;

	slow.request_rate = 100;
	begin();
	sa_set_options(sa.server, &slow);
	for (unsigned tid = 1; tid <= 1000; tid++)
		ask_only(&class_info, tid);
	CU_ASSERT_EQUAL(sa.sent, 1);
	other.from = 24;
	ask_only(&other, TID);
	CU_ASSERT_EQUAL(sa.sent, 2);
	CU_ASSERT_EQUAL(sa.header.tid, TID);
	while (sa_waiting(sa.server))
		turn();
	CU_ASSERT_EQUAL(sa.sent, 2 + ADMISSION_PER_PORT_MAX);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->overload, 1000 - 1 - ADMISSION_PER_PORT_MAX);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->waited, ADMISSION_PER_PORT_MAX);
	end();
}

/* A port with LMC 2 asks from four LIDs and has one share. Each answer goes to the LID that asked;
 * and the same TID from another LID is another request. */
static void test_lids_of_one_port(void)
{
	enum { FIRST = 16, LIDS = 4 };
	struct sa_options slow = options;
	struct ask from = class_info;

	slow.request_rate = 100;
	begin();
	sa_set_options(sa.server, &slow);
	for (from.from = FIRST; from.from < FIRST + LIDS; from.from++)
		ask_only(&from, TID);
	CU_ASSERT_EQUAL(sa.sent, 1);
	CU_ASSERT_EQUAL(sa.to.lid, FIRST);
	CU_ASSERT_EQUAL(sa_waiting(sa.server), LIDS - 1);
	from.from = FIRST + 1;
	ask_only(&from, TID);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->repeated, 1);
	from.from = 24;
	ask_only(&from, TID);
	CU_ASSERT_EQUAL(sa.sent, 2);
	CU_ASSERT_EQUAL(sa.to.lid, 24);
	while (sa_waiting(sa.server))
		turn();
	CU_ASSERT_EQUAL(sa.sent, 1 + LIDS);
	CU_ASSERT_EQUAL(sa.to.lid, FIRST + LIDS - 1); /* the last that asked */
	end();
}

/* A flood from all LIDs of a port takes the places of one requester. */
static void test_flood_from_lids(void)
{
	struct sa_options slow = options;
	struct ask from = class_info;

	slow.request_rate = 100;
	begin();
	sa_set_options(sa.server, &slow);
	for (unsigned tid = 1; tid <= 4 * ADMISSION_PER_PORT_MAX; tid++) {
		from.from = (lid_t)(16 + tid % 4);
		ask_only(&from, tid);
	}
	CU_ASSERT_EQUAL(sa.sent, 1);
	CU_ASSERT_EQUAL(sa_waiting(sa.server), ADMISSION_PER_PORT_MAX);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->overload, 3 * ADMISSION_PER_PORT_MAX - 1);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"open", test_open},
		{"a requester's share", test_rate},
		{"shut", test_shut},
		{"places", test_places},
		{"bytes", test_bytes},
		{"before the first view", test_first_view},
		{"no view comes", test_no_view_comes},
		{"BUSY", test_busy},
		{"one who asks without end", test_flood},
		{"the LIDs of one port", test_lids_of_one_port},
		{"a flood from the LIDs of one port", test_flood_from_lids},
		CU_TEST_INFO_NULL,
	};

	return unit_main("gate", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Admission to the SA: requests that wait for a view or for their turn. The tests cover the order
 * in which they run, the limits of the queue, dropped repeats, and the answers after the wait. The
 * test sets the clock.
 */
#include "sa/admission.h"
#include "tests/unit/fixtures/sa_client.h"

/* The queue alone, and the requests that left it. */
static struct {
	struct loop *loop;
	struct registry *registry;
	bool shut, works;
	unsigned expired, passed, ended;
	struct admitted *only; /* whose work is done */
	lid_t lid[ADMISSION_TURN_MAX];
	uint8_t byte[ADMISSION_TURN_MAX];
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

static bool works(void *ctx, struct admitted *admitted, uint64_t candidates)
{
	(void)ctx;
	(void)candidates;
	return test.works || test.only == admitted;
}

static void ends(void *ctx, struct admitted *admitted)
{
	CU_ASSERT_PTR_EQUAL(ctx, &test);
	test.ended++;
	if (test.only != admitted) /* only is not on the heap */
		free(admitted);
}

static const struct admission_owner owner = {is_shut, passes, expires, works, ends, ends, &test};

static struct admission *begin_queue(bool shut)
{
	memset(&test, 0, sizeof(test));
	test.loop = loop_new();
	test.shut = shut;
	test.registry = registry_new();
	return admission_new(test.loop, test.registry, &owner);
}

static void end_queue(struct admission *queue)
{
	admission_free(queue);
	registry_free(test.registry);
	loop_free(test.loop);
}

static enum verdict judge_long(struct admission *queue, lid_t lid, unsigned tid, size_t size)
{
	const struct mad_addr from = {.lid = lid, .qpn = 1};
	const struct mad_header header = {
		.method = METHOD_GET_MULTI, .attr_id = RECORD_MULTI_PATH, .tid = tid};
	uint8_t *mad = mem_zalloc(size);
	enum verdict verdict = admission_judge(queue, 0, lid, &from, &header, mad, size);

	free(mad);
	return verdict;
}

static enum verdict judge(struct admission *queue, uint32_t rate, lid_t lid, unsigned tid)
{
	const struct mad_addr from = {.lid = lid, .qpn = 1};
	const struct mad_header header = {.method = METHOD_GET, .attr_id = RECORD_PATH, .tid = tid};
	uint8_t mad[MAD_SIZE] = {0};

	mad[MAD_SIZE - 1] = (uint8_t)tid;
	return admission_judge(queue, rate, lid, &from, &header, mad, sizeof(mad));
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
	struct admission *queue = begin_queue(false);

	for (unsigned i = 0; i < 1000; i++)
		CU_ASSERT_EQUAL(judge(queue, 0, 7, i), VERDICT_PASSES);
	CU_ASSERT_EQUAL(admission_count(queue, ADMISSION_TURN), 0);
	end_queue(queue);
}

/* 1,000 a second are 10 in 10 ms. The next requests wait, and leave in their order. Then the queue
 * is as before. */
static void test_rate(void)
{
	struct admission *queue = begin_queue(false);

	for (unsigned i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(judge(queue, 1000, 7, i), VERDICT_PASSES);
	for (unsigned i = 10; i < 13; i++)
		CU_ASSERT_EQUAL(judge(queue, 1000, 7, i), VERDICT_WAITS);
	CU_ASSERT_EQUAL(judge(queue, 1000, 7, 11), VERDICT_REPEATED);
	CU_ASSERT_EQUAL(judge(queue, 1000, 8, 11), VERDICT_PASSES); /* another's */
	CU_ASSERT_EQUAL(admission_count(queue, ADMISSION_TURN), 3);
	run(test.loop, 20000);
	CU_ASSERT_EQUAL_FATAL(test.passed, 3);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(test.byte[i], 10 + i);
	CU_ASSERT_EQUAL(judge(queue, 1000, 7, 11), VERDICT_PASSES);
	end_queue(queue);
}

/* While the gate is shut all requests wait. Then each requester has its turn, even if many requests
 * of another wait. */
static void test_shut(void)
{
	struct admission *queue = begin_queue(true);

	for (unsigned i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(judge(queue, 0, 1, i), VERDICT_WAITS);
	CU_ASSERT_EQUAL(judge(queue, 0, 2, 200), VERDICT_WAITS);
	CU_ASSERT_EQUAL(judge(queue, 0, 3, 201), VERDICT_WAITS);
	run(test.loop, 30000);
	CU_ASSERT_EQUAL(test.passed, 0);
	test.shut = false;
	while (admission_count(queue, ADMISSION_TURN))
		run(test.loop, 10000);
	CU_ASSERT_EQUAL_FATAL(test.passed, 102);
	CU_ASSERT_EQUAL(test.lid[0], 1);
	CU_ASSERT_EQUAL(test.lid[1], 2);
	CU_ASSERT_EQUAL(test.lid[2], 3);
	CU_ASSERT_EQUAL(test.byte[101], 99);
	CU_ASSERT_EQUAL(test.expired, 0);
	end_queue(queue);
}

static void test_places(void)
{
	struct admission *queue = begin_queue(true);
	unsigned waiting = ADMISSION_TURN_PER_PORT;

	for (unsigned i = 0; i < ADMISSION_TURN_PER_PORT; i++)
		CU_ASSERT_EQUAL(judge(queue, 0, 1, i), VERDICT_WAITS);
	CU_ASSERT_EQUAL(judge(queue, 0, 1, 9999), VERDICT_FULL);
	CU_ASSERT_EQUAL(judge(queue, 0, 1, 5), VERDICT_REPEATED);
	for (unsigned lid = 2; lid < 2 * ADMISSION_TURN_MAX; lid++)
		waiting += judge(queue, 0, (lid_t)lid, 1) == VERDICT_WAITS;
	CU_ASSERT_EQUAL(waiting, ADMISSION_TURN_MAX);
	CU_ASSERT_EQUAL(admission_count(queue, ADMISSION_TURN), ADMISSION_TURN_MAX);
	end_queue(queue); /* with all that is in it */
}

/* Messages of one requester take no memory from others, as long as they may be. */
static void test_bytes(void)
{
	enum { LONG = 8 << 10, PLACES = ADMISSION_PER_PORT_BYTES_MAX / LONG };
	struct admission *queue = begin_queue(true);

	CU_ASSERT_EQUAL(judge_long(queue, 1, 1, ADMISSION_PER_PORT_BYTES_MAX + 1), VERDICT_FULL);
	CU_ASSERT_EQUAL(admission_count(queue, ADMISSION_TURN), 0);
	for (unsigned i = 0; i < PLACES; i++)
		CU_ASSERT_EQUAL(judge_long(queue, 1, i, LONG), VERDICT_WAITS);
	CU_ASSERT_EQUAL(judge_long(queue, 1, PLACES, 8 << 20), VERDICT_FULL);
	CU_ASSERT_EQUAL(judge(queue, 0, 1, PLACES), VERDICT_FULL);
	for (unsigned lid = 2; lid <= ADMISSION_BYTES_MAX / ADMISSION_PER_PORT_BYTES_MAX; lid++)
		CU_ASSERT_EQUAL(judge_long(queue, (lid_t)lid, 1, ADMISSION_PER_PORT_BYTES_MAX),
				VERDICT_WAITS);
	CU_ASSERT_EQUAL(judge_long(queue, 999, 1, LONG), VERDICT_FULL);
	end_queue(queue);
}

/* A request that has passed, and waits for work or for the store. */
static struct admitted *enter(struct admission *queue, lid_t lid, unsigned tid,
			      enum admission_wait wait)
{
	struct admitted *admitted = mem_zalloc(sizeof(*admitted));

	CU_ASSERT_TRUE(admission_has_place(queue, lid, wait));
	admitted->from = (struct mad_addr){.lid = lid, .qpn = 1};
	admitted->header =
		(struct mad_header){.method = METHOD_GET, .attr_id = RECORD_PATH, .tid = tid};
	admission_enter(queue, lid, wait, admitted);
	return admitted;
}

/* In every kind of wait: an equal request is a repeat as long as the first one waits, and a
 * different request is not. */
static void test_repeats(void)
{
	struct admission *queue;

	for (enum admission_wait wait = ADMISSION_TURN; wait < ADMISSION_WAITS; wait++) {
		queue = begin_queue(false);
		test.shut = wait == ADMISSION_TURN;
		registry_keep(test.registry, KEPT_BY_STORE, true);
		registry_put(test.registry, REGISTRY_LID, &(struct lid_entry){.guid = 1, .lid = 1});
		if (wait != ADMISSION_TURN)
			enter(queue, 7, 5, wait);
		else if (judge(queue, 0, 7, 5) != VERDICT_WAITS)
			CU_FAIL_FATAL("it does not wait");
		for (unsigned i = 0; i < 3; i++) {
			CU_ASSERT_EQUAL(judge(queue, 0, 7, 5), VERDICT_REPEATED);
			run(test.loop, 1000);
		}
		CU_ASSERT_NOT_EQUAL(judge(queue, 0, 7, 6), VERDICT_REPEATED);
		CU_ASSERT_NOT_EQUAL(judge(queue, 0, 8, 5), VERDICT_REPEATED);
		CU_ASSERT_EQUAL(test.ended + test.passed, 0);
		test.shut = false;
		test.works = true;
		registry_kept(test.registry, KEPT_BY_STORE, registry_number(test.registry));
		run(test.loop, 20000);
		CU_ASSERT_EQUAL(test.ended, wait != ADMISSION_TURN);
		CU_ASSERT_EQUAL(judge(queue, 0, 7, 5), VERDICT_PASSES); /* a new one */
		end_queue(queue);
	}
}

/* The TID with which a request of the second LID has the hash of the first one's. */
static uint64_t colliding_tid(lid_t first, uint64_t tid, lid_t second)
{
	const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
	uint64_t inverse = factor;

	for (unsigned i = 0; i < 6; i++)
		inverse *= 2 - factor * inverse;
	return inverse * (tid * factor ^ (uint64_t)(first ^ second) << 48);
}

static enum verdict judge_again(struct admission *queue, const struct admitted *asks)
{
	return admission_judge(queue, 0, asks->from.lid, &asks->from, &asks->header, NULL, 0);
}

/* A client has made requests with the hash of another client's request. They are not repeats of it.
 */
static void test_collisions(void)
{
	enum { FIRST = 7, LIDS = 5, TID_OF_FIRST = 5 };
	struct admission *queue = begin_queue(false);
	struct admitted asks[LIDS] = {0};
	bool is_there[LIDS];
	const unsigned order[LIDS] = {2, 0, 4, 1, 3};

	for (unsigned i = 0; i < LIDS; i++) {
		asks[i].from = (struct mad_addr){.lid = (lid_t)(FIRST + i), .qpn = 1};
		asks[i].header = (struct mad_header){
			.method = METHOD_GET,
			.attr_id = RECORD_PATH,
			.tid = colliding_tid(FIRST, TID_OF_FIRST, asks[i].from.lid)};
		CU_ASSERT_EQUAL(judge_again(queue, &asks[i]), VERDICT_PASSES);
		admission_enter(queue, asks[i].from.lid, ADMISSION_WORK, &asks[i]);
		is_there[i] = true;
	}
	/* They end in another order than they came. */
	for (unsigned i = 0; i < LIDS; i++) {
		test.only = &asks[order[i]];
		is_there[order[i]] = false;
		run(test.loop, 1000);
		CU_ASSERT_EQUAL(test.ended, i + 1);
		for (unsigned j = 0; j < LIDS; j++)
			CU_ASSERT_EQUAL(judge_again(queue, &asks[j]),
					is_there[j] ? VERDICT_REPEATED : VERDICT_PASSES);
	}
	end_queue(queue);
}

/* Each wait has its own places, of each port and in all. */
static void test_places_of_waits(void)
{
	static const struct {
		enum admission_wait wait;
		unsigned all, per_port;
	} cases[] = {
		{ADMISSION_WORK, ADMISSION_WORK_MAX, ADMISSION_WORK_PER_PORT},
		{ADMISSION_STORE, ADMISSION_STORE_MAX, ADMISSION_STORE_PER_PORT},
	};
	struct admission *queue = begin_queue(false);
	unsigned entered = 0;

	registry_keep(test.registry, KEPT_BY_STORE, true);
	registry_put(test.registry, REGISTRY_LID, &(struct lid_entry){.guid = 1, .lid = 1});
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (unsigned n = 0; n < cases[i].all; n++) {
			lid_t lid = (lid_t)(1 + n / cases[i].per_port);

			enter(queue, lid, entered++, cases[i].wait);
			if (n % cases[i].per_port == cases[i].per_port - 1)
				CU_ASSERT_FALSE(admission_has_place(queue, lid, cases[i].wait));
		}
		CU_ASSERT_FALSE(admission_has_place(queue, 60000, cases[i].wait));
		CU_ASSERT_EQUAL(admission_count(queue, cases[i].wait), cases[i].all);
	}
	CU_ASSERT_TRUE(admission_has_place(queue, 1, ADMISSION_TURN));
	end_queue(queue); /* with all that is in it */
	CU_ASSERT_EQUAL(test.ended, entered);
}

/* The SA behind it */

static bool coming;

static bool is_coming(const void *ctx)
{
	CU_ASSERT_PTR_EQUAL(ctx, &coming);
	return coming;
}

static const struct ask class_info = {.method = METHOD_GET, .attr_id = ATTR_CLASS_PORT_INFO};

/* Requests wait before the first view of a MASTER, also from unknown LIDs. With the view, requests
 * from unknown LIDs are dropped, and each other request is answered once. */
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

/* If the manager does not become MASTER after all, the waiting requests are dropped. */
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

/* A request that finds the queue full is dropped, or gets status BUSY with the option busy_reply.
 */
static void test_busy(void)
{
	struct sa_options polite = options;

	begin();
	view_publish(&sa.view, NULL);
	sa_expect(sa.server, is_coming, &coming);
	coming = true;
	for (unsigned tid = 1; tid <= ADMISSION_TURN_PER_PORT + 1; tid++)
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

/* A client that floods the SA is served, and a single request of another client is answered before
 * the flood. */
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
	CU_ASSERT_EQUAL(sa.sent, 2 + ADMISSION_TURN_PER_PORT);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->overload, 1000 - 1 - ADMISSION_TURN_PER_PORT);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->waited, ADMISSION_TURN_PER_PORT);
	end();
}

/* A port with LMC 2 sends requests from four LIDs and has one share. Each answer goes to the LID of
 * its request, and the same TID from another LID is another request. */
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
	CU_ASSERT_EQUAL(sa.to.lid, FIRST + LIDS - 1); /* LID of the last request */
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
	for (unsigned tid = 1; tid <= 4 * ADMISSION_TURN_PER_PORT; tid++) {
		from.from = (lid_t)(16 + tid % 4);
		ask_only(&from, tid);
	}
	CU_ASSERT_EQUAL(sa.sent, 1);
	CU_ASSERT_EQUAL(sa_waiting(sa.server), ADMISSION_TURN_PER_PORT);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->overload, 3 * ADMISSION_TURN_PER_PORT - 1);
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
		{"repeats", test_repeats},
		{"requests with one hash", test_collisions},
		{"the places of each wait", test_places_of_waits},
		{"before the first view", test_first_view},
		{"no view comes", test_no_view_comes},
		{"BUSY", test_busy},
		{"a flood from one client", test_flood},
		{"the LIDs of one port", test_lids_of_one_port},
		{"a flood from the LIDs of one port", test_flood_from_lids},
		CU_TEST_INFO_NULL,
	};

	return unit_main("admission", tests);
}

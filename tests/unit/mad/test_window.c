/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The window over a transport that is played by hand and a clock that is a number: mad/window.h. */
// WITH: tests/sim/loop_virtual.o
#include <errno.h>

#include "mad/window.h"
#include "tests/sim/loop_virtual.h"
#include "tests/unit/fixtures/unit.h"
#include "tests/unit/fixtures/wire.h"

enum { TARGETS = 300 };

#define LONG_MS 100000u

struct device { /* a target with the test's decisions about it */
	struct window_target target;
	uint8_t number;
	bool no_route, lid_routed;
	uint8_t subtree, hops;
	unsigned source; /* requests that next() still gives */
	unsigned done, failed, last_attempt;
	int error;
	uint16_t status;
	bool free_when_done, submit_when_done;
};

static struct loop *loop;
static struct wire wire;
static struct txn_table *table;
static struct window *window;
static struct device devices[TARGETS];
static unsigned idles;

/* Requests queued or under way. */
static uint64_t load(void)
{
	return window_stats(window)->requests - window_stats(window)->completed;
}

static bool route(const struct window_target *target, unsigned attempt, struct smp_route *out)
{
	struct device *device = container_of((struct window_target *)target, struct device, target);

	device->last_attempt = attempt;
	if (device->no_route)
		return false;
	*out = (struct smp_route){
		.directed = !device->lid_routed, .lid = 77, .subtree = device->subtree};
	out->path.hops = device->hops;
	out->path.port[1] = device->number + (uint8_t)attempt; /* retries go another way */
	return true;
}

static struct smp_request request_of(struct device *device);

static void completed(void *owner, void *subject, const struct smp_request *request,
		      const struct smp_answer *answer)
{
	struct device *device = subject;
	struct smp_request another;

	CU_ASSERT_PTR_EQUAL(owner, devices);
	CU_ASSERT_EQUAL(request->attr_mod, 5);
	device->done++;
	device->error = answer->error;
	device->status = answer->status;
	device->failed += answer->error != 0;
	if (device->submit_when_done) {
		device->submit_when_done = false;
		another = request_of(device);
		window_submit(&device->target, &another);
	}
	if (device->free_when_done) {
		window_target_done(&device->target);
		memset(&device->target, 0xEE, sizeof(device->target));
	}
}

static unsigned others_done;

static void not_dropped(void *owner, void *subject, const struct smp_request *request,
			const struct smp_answer *answer)
{
	(void)owner;
	(void)subject;
	(void)request;
	CU_ASSERT_EQUAL(answer->error, 0);
	others_done++;
}

static struct smp_request request_of(struct device *device)
{
	return (struct smp_request){.method = METHOD_SET,
				    .attr_id = ATTR_PORT_INFO,
				    .attr_mod = 5,
				    .data = {0xAB},
				    .done = completed,
				    .owner = devices,
				    .subject = device};
}

static bool next(void *owner, struct window_target *target, struct smp_request *out)
{
	struct device *device = container_of(target, struct device, target);

	CU_ASSERT_PTR_EQUAL(owner, devices);
	if (!device->source)
		return false;
	device->source--;
	*out = request_of(device);
	return true;
}

static void idle(void *arg)
{
	(void)arg;
	idles++;
}

/* All that is due now; no time passes. */
static void run(void)
{
	loop_step(loop, loop_now_us(loop));
}

static void pass_us(uint64_t us)
{
	uint64_t end_us = loop_now_us(loop) + us;

	while (loop_next_us(loop) <= end_us)
		loop_step(loop, loop_next_us(loop));
	loop_step(loop, end_us);
}

static void submit(unsigned device, unsigned count)
{
	struct smp_request request = request_of(&devices[device]);

	while (count--)
		window_submit(&devices[device].target, &request);
}

static void begin_unknown(unsigned total, unsigned attempts, unsigned limit)
{
	struct window_limits limits = {.total = total,
				       .timeout_ms = 3 * LONG_MS,
				       .timeout_min_ms = LONG_MS,
				       .attempts = attempts};

	loop = loop_new();
	wire_init(&wire);
	table = txn_table_new(loop, &wire.transport);
	window = window_new(loop, table, &limits);
	window_on_idle(window, idle, NULL);
	idles = 0;
	memset(devices, 0, sizeof(devices));
	for (unsigned i = 0; i < TARGETS; i++) {
		devices[i].number = (uint8_t)(i % 200);
		devices[i].hops = 1;
		window_target_init(&devices[i].target, window, limit, route);
		devices[i].target.next_owner = devices;
	}
}

/* Two devices far away have answered: it is known that switches pass SMPs on in no time. */
static void begin(unsigned total, unsigned attempts, unsigned limit)
{
	static const uint8_t hops[] = {20, 21};

	begin_unknown(total, attempts, limit);
	for (size_t i = 0; i < ARRAY_SIZE(hops); i++) {
		devices[0].hops = hops[i];
		submit(0, 1);
		run();
		wire_answer(&wire, wire.count - 1);
		run();
	}
	devices[0].hops = 1;
	devices[0].done = 0;
	wire.count = 0;
	idles = 0;
}

static void end(void)
{
	for (unsigned i = 0; i < TARGETS; i++) {
		if (devices[i].target.window == window)
			window_target_done(&devices[i].target);
	}
	CU_ASSERT_EQUAL(load(), 0);
	window_free(window);
	txn_table_free(table);
	wire_done(&wire);
	loop_free(loop);
}

static void test_limits(void)
{
	begin(8, 1, 2);
	submit(0, 5);
	CU_ASSERT_EQUAL(wire.count, 0); /* deferred */
	run();
	CU_ASSERT_EQUAL(wire.count, 2); /* of one target */
	for (unsigned i = 1; i < 10; i++)
		submit(i, 3);
	run();
	CU_ASSERT_EQUAL(wire.count, 8); /* in all */
	CU_ASSERT_EQUAL(window_stats(window)->under_way, 8);
	for (size_t n = 0; n < wire.count; n++) { /* as many as will come */
		wire_answer(&wire, n);
		run();
		CU_ASSERT_TRUE(window_stats(window)->under_way <= 8);
		for (unsigned i = 0; i < 10; i++)
			CU_ASSERT_TRUE(devices[i].target.under_way <= 2);
	}
	CU_ASSERT_EQUAL(wire.count, 32);
	CU_ASSERT_EQUAL(load(), 0);
	CU_ASSERT_EQUAL(idles, 1);
	CU_ASSERT_EQUAL(window_stats(window)->under_way_max, 8);
	CU_ASSERT_EQUAL(window_stats(window)->completed, 2 + 32);
	CU_ASSERT_EQUAL(devices[0].done, 5);
	end();
}

/* Targets take turns: a target with many requests does not delay the others. */
static void test_turns(void)
{
	begin(2, 1, 2);
	submit(0, 20);
	submit(1, 1);
	submit(2, 1);
	run();
	for (size_t n = 0; n < 4; n++) {
		wire_answer(&wire, n);
		run();
	}
	CU_ASSERT_EQUAL(devices[1].done, 1);
	CU_ASSERT_EQUAL(devices[2].done, 1);
	end();
}

static void test_answers_and_requests(void)
{
	uint8_t answer[MAD_SIZE];
	struct mad_header header;

	begin(8, 1, 2);
	submit(3, 1);
	devices[4].lid_routed = true;
	submit(4, 1);
	run();
	header_decode(wire.sent[0].mad, &header);
	CU_ASSERT_EQUAL(header.mgmt_class, CLASS_SUBN_DIRECTED);
	CU_ASSERT_EQUAL(header.hop_count, 1);
	CU_ASSERT_EQUAL(wire.sent[0].mad[SMP_INITIAL_PATH_OFFSET + 1], 3);
	CU_ASSERT_EQUAL(wire.sent[0].mad[SMP_DATA_OFFSET], 0xAB);
	CU_ASSERT_EQUAL(wire.sent[0].to.lid, LID_PERMISSIVE);
	header_decode(wire.sent[1].mad, &header);
	CU_ASSERT_EQUAL(header.mgmt_class, CLASS_SUBN_LID);
	CU_ASSERT_EQUAL(wire.sent[1].to.lid, 77);
	wire_make_answer(&wire, 0, STATUS_INVALID_VALUE, answer);
	wire_receive(&wire, answer, MAD_SIZE);
	CU_ASSERT_EQUAL(devices[3].done, 1);
	CU_ASSERT_EQUAL(devices[3].error, 0);
	CU_ASSERT_EQUAL(devices[3].status, STATUS_INVALID_VALUE); /* without the D bit */
	end();
}

static void test_retries(void)
{
	begin(8, 3, 1);
	submit(0, 2);
	run();
	for (unsigned attempt = 0; attempt < 3; attempt++) {
		CU_ASSERT_EQUAL(wire.count, attempt + 1);
		CU_ASSERT_EQUAL(wire.sent[attempt].mad[SMP_INITIAL_PATH_OFFSET + 1], attempt);
		CU_ASSERT_EQUAL(devices[0].done, 0);
		wire_time_out(&wire, attempt);
		if (attempt < 2)
			run();
	}
	CU_ASSERT_EQUAL(devices[0].done, 1);
	CU_ASSERT_EQUAL(devices[0].error, -ETIMEDOUT);
	CU_ASSERT_EQUAL(window_stats(window)->retries, 2);
	run();
	CU_ASSERT_EQUAL(wire.count, 4); /* the second request, from attempt 0 */
	wire_time_out(&wire, 3);
	run();
	wire_answer(&wire, 3); /* late: this attempt is over */
	CU_ASSERT_EQUAL(devices[0].done, 1);
	wire_answer(&wire, 4);
	CU_ASSERT_EQUAL(devices[0].done, 2);
	CU_ASSERT_EQUAL(devices[0].error, 0);
	run();
	CU_ASSERT_EQUAL(idles, 1);
	end();
}

/* So that it is known how long answers take. */
static bool while_source(void *owner, void *subject)
{
	const struct device *device = subject;

	CU_ASSERT_PTR_EQUAL(owner, devices);
	return device->source;
}

/* The first attempt is sent without asking, each further one when the asker still wants it. */
static void test_may_repeat(void)
{
	struct smp_request request;

	begin(10, 4, 1);
	request = request_of(&devices[0]);
	request.may_repeat = while_source;
	window_submit(&devices[0].target, &request);
	run();
	CU_ASSERT_EQUAL(wire.count, 1);
	devices[0].source = 1;
	wire_time_out(&wire, 0);
	run();
	CU_ASSERT_EQUAL(wire.count, 2);
	CU_ASSERT_EQUAL(devices[0].done, 0);
	devices[0].source = 0;
	wire_time_out(&wire, 1);
	run();
	CU_ASSERT_EQUAL(wire.count, 2);
	CU_ASSERT_EQUAL(devices[0].done, 1);
	CU_ASSERT_EQUAL(devices[0].error, -ETIMEDOUT);
	CU_ASSERT_EQUAL(load(), 0);
	end();
}

static struct smp_route answered_by;

static void note_route(void *owner, void *subject, const struct smp_request *request,
		       const struct smp_answer *answer)
{
	completed(owner, subject, request, answer);
	answered_by = request->route;
}

/* The result names the route of the last attempt. A pinned request uses that route only. */
static void test_pinned_route(void)
{
	struct smp_request request;

	begin(10, 3, 1);
	devices[0].hops = 1;
	request = request_of(&devices[0]);
	request.done = note_route;
	window_submit(&devices[0].target, &request);
	run();
	wire_time_out(&wire, 0);
	run();
	wire_answer(&wire, 1);
	CU_ASSERT_TRUE(answered_by.directed);
	CU_ASSERT_EQUAL(answered_by.path.port[1], 1); /* of the second attempt */
	CU_ASSERT_EQUAL(answered_by.path.hops, 1);

	request = request_of(&devices[0]);
	request.pinned = true;
	request.route = answered_by;
	devices[0].no_route = true; /* the target's own routes do not matter */
	window_submit(&devices[0].target, &request);
	run();
	for (unsigned attempt = 0; attempt < 3; attempt++) {
		CU_ASSERT_EQUAL_FATAL(wire.count, 3 + attempt);
		CU_ASSERT_EQUAL(wire.sent[2 + attempt].mad[SMP_INITIAL_PATH_OFFSET + 1], 1);
		wire_time_out(&wire, 2 + attempt);
		run();
	}
	CU_ASSERT_EQUAL(devices[0].done, 2);
	CU_ASSERT_EQUAL(devices[0].error, -ETIMEDOUT);
	CU_ASSERT_EQUAL(load(), 0);
	end();
}

static void answer_first(unsigned device, uint64_t took_us)
{
	submit(device, 1);
	run();
	pass_us(took_us);
	wire_answer(&wire, wire.count - 1);
	run();
}

/* Doubled with every other attempt; the last one waits in full. */
static void test_timeouts(void)
{
	static const struct {
		unsigned attempts;
		uint64_t took_us;
		unsigned timeout_ms[5];
	} rows[] = {
		{5, 0, {25, 25, 50, 50, 200}}, /* no answer yet */
		{5, 100, {10, 10, 20, 20, 200}},
		{5, 10000, {60, 60, 120, 120, 200}}, /* twice 10 ms and four times the half of it */
		{2, 900000, {25, 200}},		     /* later than the last time-out */
		{1, 100, {200}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct window_limits limits = {.total = 8,
					       .timeout_min_ms = 10,
					       .timeout_ms = 200,
					       .attempts = rows[i].attempts};
		size_t first;

		begin(8, 1, 1);
		window_set_limits(window, &limits);
		if (rows[i].took_us)
			answer_first(9, rows[i].took_us);
		first = wire.count;
		submit(0, 1);
		for (unsigned attempt = 0; attempt < rows[i].attempts; attempt++) {
			run();
			CU_ASSERT_EQUAL_FATAL(wire.count, first + attempt + 1);
			CU_ASSERT_EQUAL(wire.sent[first + attempt].timeout_ms,
					rows[i].timeout_ms[attempt]);
			wire_time_out(&wire, first + attempt);
		}
		CU_ASSERT_EQUAL(devices[0].error, -ETIMEDOUT);
		end();
	}
}

/* One device is slower than all others: once it has answered, its first attempt waits as long. */
static void test_patience(void)
{
	struct window_limits limits = {
		.total = 8, .timeout_min_ms = 10, .timeout_ms = 200, .attempts = 5};

	begin(8, 1, 1);
	window_set_limits(window, &limits);
	answer_first(9, 100);
	submit(0, 3);
	run();
	wire_time_out(&wire, 1);
	run();
	wire_time_out(&wire, 2);
	run();
	pass_us(30000);
	wire_answer(&wire, 3);
	run();
	CU_ASSERT_EQUAL(window_stats(window)->recovered, 1);
	CU_ASSERT_EQUAL(wire.sent[4].timeout_ms, 90);
	pass_us(1000);
	wire_answer(&wire, 4);
	run();
	submit(9, 1);
	run();
	CU_ASSERT_TRUE(wire.sent[wire.count - 1].timeout_ms < 60);
	for (size_t n = 5; n < wire.count; n++)
		wire_answer(&wire, n);
	end();
}

/* A late answer is lost, so the next request waits longer, and alone. */
static void test_silence_lengthens_wait(void)
{
	static const unsigned waits[] = {400, 400, 800, 800, 1600, 1600, 3200, 3200, 4000, 4000};
	struct window_limits limits = {
		.total = 8, .timeout_min_ms = 10, .timeout_ms = 200, .attempts = 3};
	size_t first;

	begin(8, 1, 2);
	window_set_limits(window, &limits);
	answer_first(9, 100);
	submit(0, 1);
	for (run(); devices[0].done < 1; run())
		wire_time_out(&wire, wire.count - 1);
	first = wire.count;
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		if (i % 2 == 0)
			submit(0, 1);
		run();
		CU_ASSERT_EQUAL_FATAL(wire.count, first + i + 1);
		CU_ASSERT_EQUAL(wire.sent[first + i].timeout_ms, waits[i]);
		wire_time_out(&wire, first + i);
	}
	submit(0, 2);
	run();
	pass_us(500000);
	CU_ASSERT_EQUAL(wire.count, first + ARRAY_SIZE(waits) + 1);
	wire_answer(&wire, wire.count - 1);
	run();
	CU_ASSERT_EQUAL(wire.sent[wire.count - 1].timeout_ms, 1500);
	pass_us(100);
	wire_answer(&wire, wire.count - 1);
	submit(0, 2);
	run();
	CU_ASSERT_EQUAL(devices[0].target.under_way, 2);
	end();
}

/* Silent targets keep their own places, not those of others. */
static void test_silent_targets(void)
{
	begin(4, 3, 1);
	answer_first(20, 100);
	for (unsigned i = 0; i < 8; i++)
		submit(i, 1);
	submit(8, 1);
	run();
	CU_ASSERT_EQUAL(wire.count, 1 + 4);
	pass_us(100000); /* long before the time-outs: they are overdue */
	CU_ASSERT_EQUAL(wire.count, 1 + 9);
	for (size_t n = 1; n < 9; n++)
		wire_time_out(&wire, n);
	pass_us(100000);
	CU_ASSERT_EQUAL(wire.count, 1 + 9 + 8);
	for (unsigned i = 0; i < 9; i++)
		CU_ASSERT_EQUAL(devices[i].target.under_way, 1);
	wire_answer(&wire, 9);
	CU_ASSERT_EQUAL(devices[8].done, 1);
	end();
}

/* A fabric in which each round of answers has so many losses at different targets. */
static void play_rounds(unsigned rounds, unsigned losses)
{
	for (unsigned round = 0; round < rounds; round++) {
		size_t first = wire.count;
		unsigned lost = 0;

		for (unsigned i = 0; i < TARGETS / 2; i++)
			submit(i, 1);
		for (size_t n = first; run(), n < wire.count; n++) {
			pass_us(10);
			if (lost < losses && n % 4 == 0 && ++lost)
				wire_time_out(&wire, n);
			else
				wire_answer(&wire, n);
		}
	}
}

static void test_window_adapts(void)
{
	unsigned size;

	begin(64, 2, 1);
	CU_ASSERT_EQUAL(window_stats(window)->size, 32);
	play_rounds(20, 0);
	CU_ASSERT_EQUAL(window_stats(window)->size, 64);
	CU_ASSERT_EQUAL(window_stats(window)->shrinks, 0);
	/* Some are lost here and there. */
	play_rounds(20, 8);
	CU_ASSERT_EQUAL(window_stats(window)->shrinks, 0);
	/* Every target of a whole window loses its request at once: halved once, since all were
	 * sent before that. */
	for (unsigned i = 0; i < 64; i++)
		submit(i, 1);
	run();
	for (size_t n = wire.count - 64, end = wire.count; n < end; n++)
		wire_time_out(&wire, n);
	CU_ASSERT_EQUAL(window_stats(window)->shrinks, 1);
	size = window_stats(window)->size;
	CU_ASSERT_TRUE(size <= 34);
	run();
	for (size_t n = 0; n < wire.count; n++, run())
		wire_answer(&wire, n);
	play_rounds(1, 0);
	CU_ASSERT_TRUE(window_stats(window)->size > size);
	end();
}

/* Losses at one target, however many, are its own. */
static void test_losses_at_one_target(void)
{
	begin(64, 1, 32);
	play_rounds(20, 0);
	for (unsigned round = 0; round < 10; round++) {
		size_t first = wire.count;

		pass_us(10);
		submit(0, 32);
		run();
		for (size_t n = first; n < wire.count; n++)
			wire_time_out(&wire, n);
	}
	CU_ASSERT_EQUAL(window_stats(window)->shrinks, 0);
	CU_ASSERT_EQUAL(window_stats(window)->size, 64);
	end();
}

/* Requests of one owner come back, and those of other owners go on. */
static void test_dropped(void)
{
	struct smp_request other;

	begin(8, 3, 2);
	submit(0, 4);
	other = request_of(&devices[0]);
	other.owner = &other;
	other.done = not_dropped;
	others_done = 0;
	window_submit(&devices[0].target, &other);
	run();
	CU_ASSERT_EQUAL(wire.count, 2);
	window_target_drop(&devices[0].target, devices);
	CU_ASSERT_EQUAL(devices[0].done, 4);
	CU_ASSERT_EQUAL(devices[0].error, -ECANCELED);
	CU_ASSERT_EQUAL(devices[0].target.under_way, 0);
	run();
	CU_ASSERT_EQUAL(wire.count, 3);
	wire_answer(&wire, 2);
	run();
	CU_ASSERT_EQUAL(others_done, 1);
	CU_ASSERT_EQUAL(devices[0].done, 4);
	end();
}

/* Of one subtree no more than half of the window; of targets with a gate no more than it says. */
static void test_gates(void)
{
	struct window_gate gate;

	begin(16, 1, 1);
	window_gate_init(&gate, 3);
	for (unsigned i = 0; i < 40; i++)
		devices[i].subtree = 7;
	for (unsigned i = 40; i < 50; i++)
		devices[i].target.gate = &gate;
	for (unsigned i = 0; i < 50; i++)
		submit(i, 1);
	run();
	CU_ASSERT_EQUAL(window_stats(window)->size, 16);
	CU_ASSERT_EQUAL(wire.count, 8 + 3);
	/* A target that waits at a gate may go, and the next target has its turn. */
	window_target_done(&devices[8].target);
	window_target_done(&devices[43].target);
	for (size_t n = 0; n < wire.count; n++) {
		unsigned passed = 0;

		wire_answer(&wire, n);
		if (n == 3)
			window_target_done(&devices[12].target); /* woken, and has no turn */
		run();
		for (unsigned i = 40; i < 50; i++)
			passed += devices[i].target.under_way;
		CU_ASSERT_TRUE(passed <= 3);
	}
	for (unsigned i = 0; i < 50; i++)
		CU_ASSERT_EQUAL(devices[i].done, 1);
	end();
}

/* However many are silent: the kernel takes 128 under way, more only wait inside it. */
static void test_never_more_than_the_kernel_takes(void)
{
	size_t first_attempts = 0;

	begin(128, 4, 1);
	answer_first(0, 100);
	for (unsigned i = 1; i < TARGETS; i++)
		submit(i, 1);
	pass_us(1000000);
	CU_ASSERT_EQUAL(window_stats(window)->under_way, 128);
	for (size_t n = 1; n < 129; n++)
		wire_time_out(&wire, n);
	pass_us(1000000);
	CU_ASSERT_EQUAL(window_stats(window)->under_way, 128);
	for (size_t n = 129; n < 257; n++)
		wire_time_out(&wire, n);
	pass_us(1000000);
	CU_ASSERT_EQUAL(window_stats(window)->under_way, 128);
	/* Retries leave room for targets that may answer. */
	for (unsigned i = 1; i < TARGETS; i++)
		first_attempts += devices[i].target.under_way && !devices[i].last_attempt;
	CU_ASSERT_TRUE(first_attempts >= 32);
	end();
}

/* How long a way is shows an SMP that nothing delays: nothing is before it, nothing behind it. */
static void test_ways_are_measured_alone(void)
{
	begin_unknown(32, 1, 1);
	for (unsigned i = 0; i < 10; i++)
		submit(i, 1);
	devices[10].hops = 2;
	run();
	CU_ASSERT_EQUAL(wire.count, 1);
	pass_us(100);
	wire_answer(&wire, 0);
	run();
	CU_ASSERT_EQUAL(wire.count, 10);
	submit(10, 1);
	submit(0, 1);
	run();
	CU_ASSERT_EQUAL(wire.count, 10);
	for (size_t n = 1; n < 10; n++)
		wire_answer(&wire, n);
	run();
	CU_ASSERT_EQUAL(wire.count, 11);
	CU_ASSERT_EQUAL(devices[10].target.under_way, 1);
	wire_answer(&wire, 10);
	run();
	CU_ASSERT_EQUAL(wire.count, 12);
	end();
}

/* It may be lost, or the device dead: the others wait for the shortest time-out and no longer. */
static void test_measuring_ends(void)
{
	begin_unknown(32, 1, 1);
	for (unsigned i = 0; i < 10; i++)
		submit(i, 1);
	run();
	for (unsigned tries = 1; tries <= 3; tries++) {
		pass_us(LONG_MS * 1000 - 1);
		CU_ASSERT_EQUAL(wire.count, 1);
		pass_us(1);
	}
	CU_ASSERT_EQUAL(wire.count, 10);
	end();
}

/* Devices at one and two hops have answered: a switch needs 100 us for each passage. */
static void begin_with_passage(void)
{
	static const unsigned took_us[] = {50, 250};

	begin_unknown(64, 1, 1);
	for (unsigned i = 0; i < 2; i++) {
		devices[i].hops = (uint8_t)(1 + i);
		answer_first(i, took_us[i]);
	}
	for (unsigned i = 2; i < TARGETS; i++)
		devices[i].hops = 2;
	pass_us(1000000);
	wire.count = 0;
}

static void test_pace(void)
{
	begin_with_passage();
	for (unsigned i = 2; i < 22; i++)
		submit(i, 1);
	run();
	CU_ASSERT_EQUAL(wire.count, 4); /* three wait while it serves another */
	for (unsigned i = 0; i < 16; i++) {
		pass_us(199);
		CU_ASSERT_EQUAL(wire.count, 4 + i);
		pass_us(1);
		CU_ASSERT_EQUAL(wire.count, 5 + i);
	}
	end();
}

/* SMPs by LID pass the switches without their software. */
static void test_pace_is_of_directed_routes(void)
{
	begin_with_passage();
	for (unsigned i = 2; i < 22; i++) {
		devices[i].lid_routed = true;
		submit(i, 1);
	}
	run();
	CU_ASSERT_EQUAL(wire.count, 20);
	end();
}

/* Ways change: they are measured again after a while, but not while there is no reason to. */
static void test_pace_is_forgotten(void)
{
	begin_with_passage();
	pass_us(UINT64_C(590000000));
	submit(2, 1);
	submit(3, 1);
	run();
	CU_ASSERT_EQUAL(wire.count, 2);
	wire_answer(&wire, 0);
	wire_answer(&wire, 1);
	pass_us(UINT64_C(20000000));
	submit(2, 1);
	submit(3, 1);
	run();
	CU_ASSERT_EQUAL(wire.count, 3);
	end();
}

static void test_fixed(void)
{
	struct window_limits limits = {
		.total = 64, .timeout_min_ms = 10, .timeout_ms = 200, .attempts = 1, .fixed = true};

	begin_unknown(64, 1, 1);
	window_set_limits(window, &limits);
	for (unsigned i = 0; i < 100; i++)
		submit(i, 1);
	run();
	CU_ASSERT_EQUAL(wire.count, 64);
	end();
}

static void test_no_route(void)
{
	begin(8, 3, 2);
	devices[0].no_route = true;
	submit(0, 3);
	CU_ASSERT_EQUAL(devices[0].done, 0);
	run();
	CU_ASSERT_EQUAL(devices[0].done, 3);
	CU_ASSERT_EQUAL(devices[0].error, -EHOSTUNREACH);
	CU_ASSERT_EQUAL(wire.count, 0);
	CU_ASSERT_EQUAL(idles, 1);
	/* It is lost between two attempts. */
	submit(1, 1);
	run();
	devices[1].no_route = true;
	wire_time_out(&wire, 0);
	run();
	CU_ASSERT_EQUAL(devices[1].error, -EHOSTUNREACH);
	CU_ASSERT_EQUAL(devices[1].done, 1);
	end();
}

static void test_send_error(void)
{
	begin(8, 3, 2);
	wire.send_error = -ENODEV;
	submit(0, 1);
	run();
	CU_ASSERT_EQUAL(devices[0].done, 0); /* each attempt after a pause */
	pass_us(100000);
	CU_ASSERT_EQUAL(devices[0].done, 1);
	CU_ASSERT_EQUAL(devices[0].error, -ENODEV);
	/* It was but for a moment. */
	submit(0, 1);
	run();
	wire.send_error = 0;
	pass_us(100000);
	wire_answer(&wire, 0);
	CU_ASSERT_EQUAL(devices[0].done, 2);
	CU_ASSERT_EQUAL(devices[0].error, 0);
	end();
}

static void test_source(void)
{
	begin(8, 1, 2);
	devices[0].target.next = next;
	devices[0].source = 5;
	submit(0, 1);
	run();
	CU_ASSERT_EQUAL(wire.count, 2);
	for (unsigned n = 0; n < 6; n++) {
		wire_answer(&wire, n);
		run();
	}
	CU_ASSERT_EQUAL(devices[0].done, 6);
	CU_ASSERT_EQUAL(idles, 1);
	devices[0].source = 1;
	run();
	CU_ASSERT_EQUAL(wire.count, 6); /* no call woke it */
	window_wake(&devices[0].target);
	run();
	CU_ASSERT_EQUAL(wire.count, 7);
	wire_answer(&wire, 6);
	run();
	CU_ASSERT_EQUAL(idles, 2);
	window_wake(&devices[0].target); /* nothing to give: idle all the same */
	run();
	CU_ASSERT_EQUAL(idles, 3);
	end();
}

/* A source that wakes its own target, as one may that looks at several of them. */
static bool wakes_itself(void *owner, struct window_target *target, struct smp_request *out)
{
	window_wake(target);
	return next(owner, target, out);
}

static void test_source_wakes_itself(void)
{
	begin(8, 1, 2);
	devices[0].target.next = wakes_itself;
	devices[0].source = 5;
	window_wake(&devices[0].target);
	run();
	CU_ASSERT_EQUAL(wire.count, 2);
	submit(1, 1); /* others have their turns */
	run();
	CU_ASSERT_EQUAL(wire.count, 3);
	end();
}

/* A target goes with requests queued and under way: all end, at once. */
static void test_target_goes(void)
{
	begin(8, 2, 1);
	submit(0, 3);
	run();
	window_target_done(&devices[0].target);
	CU_ASSERT_EQUAL(devices[0].done, 3);
	CU_ASSERT_EQUAL(devices[0].error, -ECANCELED);
	CU_ASSERT_EQUAL(load(), 0);
	memset(&devices[0].target, 0xEE, sizeof(devices[0].target));
	wire_answer(&wire, 0);
	run();
	CU_ASSERT_EQUAL(devices[0].done, 3);
	CU_ASSERT_EQUAL(idles, 1);
	/* The places are free again. */
	for (unsigned i = 1; i < 9; i++)
		submit(i, 1);
	run();
	CU_ASSERT_EQUAL(wire.count, 9);
	end();
}

static void test_from_within_done(void)
{
	begin(8, 1, 2);
	devices[0].submit_when_done = true;
	submit(0, 1);
	devices[1].free_when_done = true;
	submit(1, 1);
	run();
	wire_answer(&wire, 0);
	wire_answer(&wire, 1);
	run();
	CU_ASSERT_EQUAL(devices[0].done, 1);
	CU_ASSERT_EQUAL(wire.count, 3);
	CU_ASSERT_EQUAL(idles, 0);
	wire_answer(&wire, 2);
	run();
	CU_ASSERT_EQUAL(devices[0].done, 2);
	CU_ASSERT_EQUAL(idles, 1);
	/* Freed when there was no route, from inside the pump. */
	devices[2].no_route = devices[2].free_when_done = true;
	submit(2, 1);
	run();
	CU_ASSERT_EQUAL(devices[2].done, 1);
	CU_ASSERT_EQUAL(idles, 2);
	end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"limits", test_limits},
		{"turns", test_turns},
		{"answers and requests", test_answers_and_requests},
		{"retries", test_retries},
		{"not repeated", test_may_repeat},
		{"a pinned route", test_pinned_route},
		{"time-outs", test_timeouts},
		{"patience with one", test_patience},
		{"a longer wait after silence", test_silence_lengthens_wait},
		{"silent targets", test_silent_targets},
		{"the window adapts", test_window_adapts},
		{"losses at one target", test_losses_at_one_target},
		{"gates", test_gates},
		{"never more than the kernel takes", test_never_more_than_the_kernel_takes},
		{"ways are measured alone", test_ways_are_measured_alone},
		{"measuring ends", test_measuring_ends},
		{"pace", test_pace},
		{"pace is of directed routes", test_pace_is_of_directed_routes},
		{"pace is forgotten", test_pace_is_forgotten},
		{"fixed", test_fixed},
		{"no route", test_no_route},
		{"send error", test_send_error},
		{"source", test_source},
		{"source that wakes itself", test_source_wakes_itself},
		{"target goes", test_target_goes},
		{"dropped", test_dropped},
		{"from within done", test_from_within_done},
		CU_TEST_INFO_NULL,
	};

	return unit_main("window", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Slices: stages in their order, a bounded part of them in each turn with other work in between,
 * and a new start if their input has changed. */
#include "lib/slices.h"
#include "tests/unit/fixtures/unit.h"

enum { PIECES = 100, COST = 500, TURN = 1000 /* units, as lib/slices.c has it */ };

static struct work {
	struct loop *loop;
	struct slices slices;
	struct loop_deferred other;
	unsigned first, second; /* pieces done */
	unsigned beginnings, turns, most_in_turn, done;
	unsigned in_turn;
	unsigned changes; /* still to come */
	bool changed;
} work;

static unsigned first(void *arg, size_t *at)
{
	struct work *w = arg;

	if (*at == 0) {
		w->beginnings++;
		w->first = w->second = 0;
		w->changed = false;
	}
	if (*at == PIECES)
		return 0;
	CU_ASSERT_EQUAL(*at, w->first);
	++*at;
	w->first++;
	w->in_turn += COST;
	return COST;
}

static unsigned second(void *arg, size_t *at)
{
	struct work *w = arg;

	CU_ASSERT_EQUAL(w->first, PIECES);
	if (*at == PIECES)
		return 0;
	++*at;
	w->second++;
	w->in_turn += COST;
	return COST;
}

static bool is_stale(const void *arg)
{
	return ((const struct work *)arg)->changed;
}

static slice_fn *const stages[] = {first, second, NULL};
static const struct slice_plan steady = {"steady", stages, NULL};
static const struct slice_plan shaky = {"shaky", stages, is_stale};

/* Other work that is ready: each turn of the slices is followed by a turn of it. */
static void on_other(void *arg)
{
	struct work *w = arg;

	if (w->in_turn) {
		w->turns++;
		if (w->in_turn > w->most_in_turn)
			w->most_in_turn = w->in_turn;
		w->in_turn = 0;
		if (w->changes && w->second) {
			w->changes--;
			w->changed = true;
		}
	}
	loop_defer(&w->other);
}

static void on_done(void *arg)
{
	struct work *w = arg;

	CU_ASSERT_EQUAL(w->second, PIECES);
	w->done++;
	loop_stop(w->loop, 0);
}

static void run(const struct slice_plan *plan, unsigned changes)
{
	work = (struct work){.loop = loop_new(), .changes = changes};
	loop_deferred_init(&work.other, work.loop, "other", on_other, &work);
	slices_init(&work.slices, work.loop, plan, &work, on_done, &work);
	slices_begin(&work.slices);
	loop_defer(&work.other);
	loop_run(work.loop);
	loop_defer_cancel(&work.other);
	loop_free(work.loop);
	CU_ASSERT_EQUAL(work.done, 1);
	CU_ASSERT_FALSE(work.slices.running);
}

static void test_bounded(void)
{
	run(&steady, 3); /* never checks for changes */
	CU_ASSERT_EQUAL(work.beginnings, 1);
	CU_ASSERT_EQUAL(work.most_in_turn, TURN);
	CU_ASSERT(work.turns >= 2 * PIECES * COST / TURN);
}

static void test_starts_again(void)
{
	run(&shaky, 2);
	CU_ASSERT_EQUAL(work.beginnings, 3);
	CU_ASSERT_EQUAL(work.most_in_turn, TURN);
}

/* However often it changes, there is an end. */
static void test_ends(void)
{
	run(&shaky, 1000);
	CU_ASSERT(work.beginnings < 20);
}

static void test_at_once(void)
{
	work = (struct work){0};
	slices_at_once(&shaky, &work);
	CU_ASSERT_EQUAL(work.second, PIECES);
	CU_ASSERT_EQUAL(work.done, 0);
}

static void test_cancelled(void)
{
	work = (struct work){.loop = loop_new()};
	slices_init(&work.slices, work.loop, &steady, &work, on_done, &work);
	slices_begin(&work.slices);
	slices_cancel(&work.slices);
	CU_ASSERT_FALSE(work.slices.running);
	slices_cancel(&work.slices);
	slices_begin(&work.slices);
	loop_run(work.loop);
	CU_ASSERT_EQUAL(work.done, 1);
	loop_free(work.loop);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"a bounded part in each turn", test_bounded},
		{"starts again", test_starts_again},
		{"ends", test_ends},
		{"at once", test_at_once},
		{"cancelled", test_cancelled},
		CU_TEST_INFO_NULL,
	};

	return unit_main("slices", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests for snapshots: sm/snapshot_request.h. All waiting requests get the same snapshot, which
 * is reused as long as nothing has changed, and never shows half a change. The last user frees it.
 */
// WITH: tests/sim/loop_virtual.o
#include <string.h>

#include "sm/snapshot_request.h"
#include "tests/unit/fixtures/model.h"
#include "tests/unit/fixtures/unit.h"

enum { CLIENTS = 3 };

static struct bed {
	struct net *net;
	struct model model;
	struct snapshot_request snapshot_request;
	struct snapshot_waiter wait[CLIENTS];
	struct snapshot *got[CLIENTS];
	unsigned served, refused, turns, change_at;
	struct loop_deferred other;
} bed;

static void take(void *ctx, struct snapshot *snapshot)
{
	unsigned client = (unsigned)((struct snapshot **)ctx - bed.got);

	bed.served++;
	bed.refused += !snapshot;
	snapshot_unref(bed.got[client]);
	bed.got[client] = snapshot;
}

static void ask(unsigned client, bool as_found)
{
	snapshot_request_take(&bed.snapshot_request, &bed.wait[client], as_found, take,
			      &bed.got[client]);
}

/* A round of the loop for each call; ends when nothing is under way any more. */
static void each_turn(void *arg)
{
	struct port *port = model_port(&bed.model, bed.net, 1, 1);
	struct port_info down = {.port_state = PORT_DOWN};

	(void)arg;
	if (++bed.turns == bed.change_at)
		port_set_info(bed.model.fabric, port, &down);
	if (bed.snapshot_request.slices.running || bed.snapshot_request.old)
		loop_defer(&bed.other);
	else
		loop_stop(bed.model.loop, 0);
}

static void begin(void)
{
	char *error;

	bed = (struct bed){0};
	CU_ASSERT_EQUAL_FATAL(spec_build("fattree:radix=16,levels=3", &bed.net, &error), 0);
	model_init(&bed.model);
	model_fill(&bed.model, bed.net, 0, 1, 0, 1);
	loop_deferred_init(&bed.other, bed.model.loop, "other", each_turn, NULL);
	snapshot_request_init(&bed.snapshot_request, bed.model.loop, bed.model.fabric);
}

static void end(void)
{
	snapshot_request_done(&bed.snapshot_request);
	for (unsigned i = 0; i < CLIENTS; i++)
		snapshot_unref(bed.got[i]);
	loop_defer_cancel(&bed.other);
	model_done(&bed.model);
	net_free(bed.net);
}

static void run(unsigned change_at)
{
	bed.turns = 0;
	bed.change_at = change_at;
	loop_defer(&bed.other);
	loop_run(bed.model.loop);
}

static bool same_links(const struct snapshot *a, const struct snapshot *b)
{
	bool same = a->num_switches == b->num_switches && a->num_ends == b->num_ends &&
		    a->num_links == b->num_links && a->lid_top == b->lid_top;

	for (uint32_t i = 0; same && i < a->num_links; i++) {
		const struct snap_link *x = &a->links[i], *y = &b->links[i];
		const struct snap_cable *v = &a->cables[i], *w = &b->cables[i];

		same = x->sw == y->sw && x->end == y->end && x->port == y->port &&
		       v->guid == w->guid && v->kind == w->kind && v->port == w->port &&
		       v->hosts == w->hosts && v->lid == w->lid && v->lmc == w->lmc;
	}
	return same;
}

static void test_one_for_all(void)
{
	begin();
	ask(0, false);
	ask(1, false);
	CU_ASSERT_EQUAL(bed.served, 0);
	run(0);
	CU_ASSERT_EQUAL(bed.served, 2);
	CU_ASSERT(bed.turns > 2);
	CU_ASSERT_PTR_EQUAL(bed.got[0], bed.got[1]);
	ask(2, false);
	CU_ASSERT_EQUAL(bed.served, 3); /* at once */
	CU_ASSERT_PTR_EQUAL(bed.got[0], bed.got[2]);
	ask(2, true); /* another kind */
	CU_ASSERT_EQUAL(bed.served, 3);
	run(0);
	CU_ASSERT_EQUAL(bed.served, 4);
	CU_ASSERT_PTR_NOT_EQUAL(bed.got[0], bed.got[2]);
	end();
}

/* If a cable is lost during the freezing, the snapshot shows the fabric after the loss. */
static void test_changed_during_freeze(void)
{
	unsigned turns;

	begin();
	ask(0, false);
	run(0);
	turns = bed.turns;
	end();
	CU_ASSERT(turns > 3);
	for (unsigned at = 1; at < turns; at++) {
		struct snapshot *after;

		begin();
		ask(0, false);
		run(at);
		after = fabric_freeze(bed.model.fabric, false);
		CU_ASSERT_EQUAL_FATAL(bed.served, 1);
		CU_ASSERT(same_links(bed.got[0], after));
		CU_ASSERT_EQUAL(bed.snapshot_request.topology, bed.model.fabric->topology);
		snapshot_unref(after);
		end();
	}
}

static void test_old_ones_are_freed(void)
{
	struct port *port;

	begin();
	ask(0, false);
	run(0);
	port = model_port(&bed.model, bed.net, 1, 1);
	for (unsigned i = 0; i < 5; i++) {
		struct port_info info = *port_info(port);

		info.lid = (lid_t)(100 + i);
		port_set_info(bed.model.fabric, port, &info);
		ask(0, false);
		run(0);
		snapshot_request_tidy(&bed.snapshot_request);
		run(0);
		CU_ASSERT_EQUAL(bed.snapshot_request.num_made, 1);
		CU_ASSERT_EQUAL(bed.got[0]->refs, 2);
	}
	end();
}

static void test_stopped(void)
{
	begin();
	ask(0, false);
	ask(1, true);
	snapshot_request_stop(&bed.snapshot_request);
	CU_ASSERT_EQUAL(bed.refused, 2);
	ask(2, false);
	CU_ASSERT_EQUAL(bed.refused, 3);
	end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"one for all requests", test_one_for_all},
		{"changed during the freezing", test_changed_during_freeze},
		{"old snapshots are freed", test_old_ones_are_freed},
		{"stopped", test_stopped},
		CU_TEST_INFO_NULL,
	};

	return unit_main("picture", tests);
}

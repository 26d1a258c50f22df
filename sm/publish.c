/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Publishes the view from which the SA and the performance manager answer: in a sweep before
 * devices are written, and after it if something changed, after a readback, and between sweeps when
 * P_Keys were written. So the SA soon stops using P_Keys that ports no longer have. Loop thread
 * only.
 */
#include <stdlib.h>

#include "lib/mem.h"
#include "sm/context.h"

enum { AGAIN_US = 100000 };

static bool same_switches(const struct snapshot *a, const struct snapshot *b)
{
	if (a->num_switches != b->num_switches)
		return false;
	for (uint32_t i = 0; i < a->num_switches; i++) {
		if (a->switches[i].guid != b->switches[i].guid)
			return false;
	}
	return true;
}

/* The former view lives until the events about its changes are raised. */
static void publish(struct sm *sm, struct view *view)
{
	struct view *before = sm->view ? view_ref(sm->view) : NULL;

	view_publish(&sm->view, view);
	port_events_published(&sm->port_events, before, view);
	view_unref(before);
}

/* Lists this manager first, then the peers of the last survey. If switches appeared or disappeared
 * since the routes were computed, the topology is the snapshot of the routes, because their rows
 * have its order. */
void publish_snapshot(struct sm *sm, struct snapshot *snapshot)
{
	const struct peer *list;
	size_t count = peers_list(sm->peers, &list);
	struct view_sm *sms = mem_array(count + 1, sizeof(*sms));

	if (!same_switches(snapshot, sm->routed)) {
		snapshot_unref(snapshot);
		snapshot = snapshot_ref(sm->routed);
	}
	sms[0].lid = sm->fabric->sm_port->lid;
	peers_own_info(sm->peers, &sms[0].info);
	for (size_t i = 0; i < count; i++)
		sms[i + 1] = (struct view_sm){.lid = list[i].lid, .info = list[i].info};
	publish(sm, view_new(++sm->views, snapshot, routes_ref(sm->routes.routes), sms,
			     (uint32_t)count + 1));
	free(sms);
}

void publish_nothing(struct sm *sm)
{
	publish(sm, NULL);
}

/* P_Keys between sweeps */

static void call_shown(struct sm *sm)
{
	if (sm->key_views.shown)
		sm->key_views.shown(sm->key_views.shown_ctx);
}

static void publish_keys(void *ctx, struct snapshot *snapshot)
{
	struct sm *sm = ctx;

	sm->key_views.is_taking = false;
	if (snapshot && sm->view && !sm->sweep.running) {
		sm->policy.news = false;
		publish_snapshot(sm, snapshot);
	} else {
		snapshot_unref(snapshot);
	}
	call_shown(sm);
}

/* A running sweep publishes a view at its end. */
static void take_snapshot(struct sm *sm)
{
	struct key_views *views = &sm->key_views;

	if (!sm->policy.news || views->is_taking || !sm->view || sm->stopped)
		return;
	if (sm->sweep.running) {
		loop_timer_arm(&views->again, AGAIN_US);
		return;
	}
	views->is_taking = true;
	snapshot_request_take(&sm->snapshot_request, &views->snapshot_wait, false, publish_keys,
			      sm);
}

static void keys_were_written(void *arg)
{
	take_snapshot(arg);
	call_shown(arg);
}

bool publish_shows_keys(const struct sm *sm)
{
	return !policy_is_judging(&sm->policy) && !sm->policy.news && !sm->key_views.is_taking;
}

/* Beginning and end */

void publish_init(struct sm *sm)
{
	loop_timer_init(&sm->key_views.again, sm->loop, "view of new P_Keys", keys_were_written,
			sm);
	loop_deferred_init(&sm->policy.settled, sm->loop, "new P_Keys were written",
			   keys_were_written, sm);
}

void publish_stop(struct sm *sm)
{
	loop_timer_disarm(&sm->key_views.again);
}

void publish_done(struct sm *sm)
{
	publish_stop(sm);
	loop_defer_cancel(&sm->policy.settled);
}

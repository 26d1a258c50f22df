/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Creates, connects and frees the parts of a performance manager. */
#include "pm/pm.h"

#include <stdlib.h>

#include "lib/mem.h"
#include "pm/context.h"
#include "pm/survey.h"

struct pm *pm_new(struct loop *loop, struct txn_table *txns, struct view *const *view,
		  struct event_hub *events, const struct pm_options *options)
{
	struct pm *pm = mem_zalloc(sizeof(*pm));

	pm->loop = loop;
	pm->txns = txns;
	pm->view = view;
	pm->options = *options;
	pm->limit = (struct log_limit){.burst = 20, .interval_us = 10000000};
	list_init(&pm->idle);
	list_init(&pm->waiters);
	list_init(&pm->surveys);
	list_init(&pm->shows);
	list_init(&pm->clears);
	pm_histories_init(&pm->histories);
	pm_sweep_init(pm);
	event_read(events, &pm->events);
	return pm;
}

void pm_set_fabric(struct pm *pm, const struct fabric *fabric)
{
	pm->fabric = fabric;
}

void pm_set_guard(struct pm *pm, pm_guard_fn *guard, void *arg)
{
	pm->guard = guard;
	pm->guard_arg = arg;
}

void pm_free(struct pm *pm)
{
	if (!pm)
		return;
	pm_stop(pm);
	event_unread(&pm->events);
	pm_sweep_done(pm);
	pm_histories_done(&pm->histories);
	free(pm);
}

void pm_stop(struct pm *pm)
{
	pm->stopped = true;
	pm_sweep_cancel(pm);
	pm_surveys_end(pm);
	pm_end_commands(pm);
}

void pm_set_options(struct pm *pm, const struct pm_options *options)
{
	pm->options = *options;
	pm_sweep_plan(pm);
}

struct pm_port *pm_find_port(const struct pm *pm, const struct pm_key *key, struct pm_agent **agent)
{
	*agent = pm_agents_find(&pm->agents, key->is_switch, key->guid);
	if (!*agent || key->num < (*agent)->first || key->num > (*agent)->last)
		return NULL;
	return pm_agent_port(*agent, key->num);
}

json_t *pm_status(const struct pm *pm)
{
	const struct pm_sweep_figures *last = &pm->last;

	json_t *status = json_pack(
		"{s:i,s:b,s:I,s:I,s:I,s:I,s:i,s:i,s:I,s:I,s:I,s:I,s:I,s:I}", "interval_s",
		(int)pm->options.interval_s, "sweeping", pm->sweeping, "sweeps",
		(json_int_t)last->number, "last_s", (json_int_t)last->wall_s, "duration_us",
		(json_int_t)last->duration_us, "ports", (json_int_t)last->counts.ports, "agents",
		(int)last->agents, "silent", (int)last->silent, "requests",
		(json_int_t)last->counts.requests, "timed_out", (json_int_t)last->counts.timed_out,
		"refused", (json_int_t)last->counts.refused, "redirected",
		(json_int_t)last->counts.redirected, "resets", (json_int_t)last->counts.resets,
		"reset_by_others", (json_int_t)pm->reset_by_others);

	if (last->silent)
		json_object_set_new(status, "silent_example", json_string(last->silent_example));
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * perf clear: resets the counters of all ports, of a node or of a port, on request only. It runs in
 * place of a sweep (pm/sweep.c), so that no other read of these ports is under way. Each port is
 * read before and after the reset, so that totals continue. Loop thread only.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fabric/named.h"
#include "lib/mem.h"
#include "pm/context.h"

bool pm_clear_includes(const struct pm_clear *clear, const struct pm_agent *agent)
{
	if (!clear->node_guid)
		return true;
	return agent->facts->info.node_guid == clear->node_guid &&
	       (!clear->one_port || (clear->num >= agent->first && clear->num <= agent->last));
}

static void clear_done(struct pm *pm, struct pm_clear *clear, int error)
{
	const struct pm_sweep_figures *now = &pm->now;

	if (error)
		pm_refuse(pm, clear->request, "reset counters");
	else if (!now->counts.resets)
		control_fail(clear->request,
			     "no counters were reset: %u of %u agents did not answer, and %" PRIu64
			     " requests were refused",
			     now->silent, now->agents, now->counts.refused);
	else
		control_reply(
			clear->request,
			json_pack("{s:I,s:i,s:i,s:I,s:I}", "ports", (json_int_t)now->counts.resets,
				  "agents", (int)now->agents, "silent", (int)now->silent, "refused",
				  (json_int_t)now->counts.refused, "kept", (json_int_t)now->kept));
	free(clear);
}

void pm_clears_end(struct pm *pm)
{
	struct list *item;

	while ((item = list_pop(&pm->clears))) {
		struct pm_clear *clear = container_of(item, struct pm_clear, link);

		clear->done(pm, clear, -ECANCELED);
	}
}

/* Sets the ports of a request; false: it was failed. */
static bool clear_read_scope(const struct pm *pm, struct control_request *request,
			     const json_t *args, struct pm_clear *clear)
{
	const char *name = json_string_value(json_object_get(args, "node"));
	const char *text = json_string_value(json_object_get(args, "port"));
	int64_t place;
	int num;

	if (!name && !text)
		return true;
	if (!name) {
		control_fail(request, "perf clear of a port needs its node");
		return false;
	}
	num = text ? pm_port_argument(request, text) : 0;
	place = num < 0 ? -1 : pm_find_node(pm, request, name);
	if (place < 0)
		return false;
	if (text && pm_find_port_agent(pm, request, (uint32_t)place, (unsigned)num) < 0)
		return false;
	clear->one_port = text != NULL;
	clear->num = (uint8_t)num;
	clear->node_guid = facts_at((*pm->view)->topology, (uint32_t)place)->info.node_guid;
	return true;
}

static void command_clear(void *ctx, struct control_request *request, const json_t *args)
{
	struct pm *pm = ctx;
	struct pm_clear *clear;

	if (!*pm->view || pm->stopped) {
		pm_refuse(pm, request, "reset counters");
		return;
	}
	clear = mem_zalloc(sizeof(*clear));
	clear->done = clear_done;
	clear->request = request;
	list_init(&clear->link);
	if (!clear_read_scope(pm, request, args, clear)) {
		free(clear);
		return;
	}
	list_push(&pm->clears, &clear->link);
	pm_sweep_clear(pm);
}

static const struct control_command commands[] = {
	{"perf clear", command_clear, CONTROL_CHANGES},
};

void pm_register_clear(struct pm *pm, struct control *control)
{
	control_register(control, commands, ARRAY_SIZE(commands), pm);
}

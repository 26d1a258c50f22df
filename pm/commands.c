/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rows of the control socket for counters: perf sweep, perf top, perf errors, perf show. Long
 * answers are sent in pieces from a survey (survey.h); perf show reads the port itself, at once.
 * Names and members are documented in weftctl(8). Loop thread only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/gone.h"
#include "fabric/named.h"
#include "lib/mem.h"
#include "pm/rows.h"

enum { ROWS_A_PART = 16, PORTS_A_PART = 512 };

static const char read_counters[] = "read the counters";

void pm_refuse(const struct pm *pm, struct control_request *request, const char *what)
{
	if (pm->stopped)
		control_fail(request, "the daemon is stopping");
	else if (!pm->guard || pm->guard(pm->guard_arg, request, what))
		control_fail(request,
			     "this manager is not MASTER, or its subnet is not up yet: only a "
			     "MASTER can %s",
			     what);
}

/* perf sweep */

struct waiter {
	struct list link;
	struct control_request *request;
};

void pm_tell_waiters(struct pm *pm, int error)
{
	list_for_each (item, &pm->waiters) {
		struct waiter *waiter = container_of(item, struct waiter, link);

		list_del(&waiter->link);
		if (error)
			pm_refuse(pm, waiter->request, read_counters);
		else
			control_reply(waiter->request, pm_status(pm));
		free(waiter);
	}
}

static void command_perf_sweep(void *ctx, struct control_request *request, const json_t *args)
{
	struct pm *pm = ctx;
	struct waiter *waiter;

	(void)args;
	if (!pm_sweep_begin(pm)) {
		pm_refuse(pm, request, read_counters);
		return;
	}
	waiter = mem_zalloc(sizeof(*waiter));
	waiter->request = request;
	list_init(&waiter->link);
	list_push(&pm->waiters, &waiter->link);
}

/* perf top */

static void command_top(void *ctx, struct control_request *request, const json_t *args)
{
	static const char *const names[PM_TOP_KINDS] = {"data", "wait"};
	const struct pm *pm = ctx;
	const char *by = json_string_value(json_object_get(args, "by"));
	enum pm_top_kind kind = by && !strcmp(by, names[PM_TOP_WAIT]) ? PM_TOP_WAIT : PM_TOP_DATA;
	struct buffer row = {0};

	if (!*pm->view) {
		pm_refuse(pm, request, read_counters);
		return;
	}
	if (pm->last.number < 2) {
		control_fail(
			request,
			"rates are known after two reads of the counters; weftctl perf sweep reads "
			"them now; weftd reads them every perf_interval seconds (0: never)");
		return;
	}
	row_begin(&row, NULL, '{');
	row_string(&row, "by", names[kind]);
	row_integer(&row, "read_s", (int64_t)pm->last.wall_s);
	row_begin(&row, "ports", '[');
	for (unsigned i = 0; i < pm->top[kind].count; i++) {
		const struct pm_key *key = &pm->top[kind].row[i].key;
		struct pm_agent *agent;
		const struct pm_port *port = pm_find_port(pm, key, &agent);

		if (!port)
			continue;
		row_begin(&row, NULL, '{');
		pm_port_members(agent, key->num, *pm->view, &row);
		pm_rates_row(agent, key->num, port, "rates", &row);
		row_end(&row, '}');
	}
	row_end(&row, ']');
	row_end(&row, '}');
	control_reply_row(request, &row);
	free(row.bytes);
}

/* perf errors */

static const char never_read[] = "The counters were never read. weftctl perf sweep reads them now; "
				 "weftd reads them every perf_interval seconds (0: never).";

struct errors {
	struct pm *pm;
	struct control_request *request;
	struct pm_survey *survey;
	size_t ports, links; /* already written */
	uint64_t threshold;  /* of the counters that are shown */
};

/* False: the port has disappeared, or its counters are below the threshold. */
static bool error_row(const struct errors *errors, const struct pm_key *key, struct buffer *part)
{
	struct pm_agent *agent;
	const struct pm_port *port = pm_find_port(errors->pm, key, &agent);

	if (!port || !pm_has_errors(port, errors->threshold))
		return false;
	row_begin(part, NULL, '{');
	pm_port_members(agent, key->num, errors->survey->view, part);
	pm_error_members(port, part);
	pm_ber_row(agent, key->num, port, "symbol_ber", part);
	row_end(part, '}');
	return true;
}

static unsigned put_ports(struct errors *errors, struct buffer *part)
{
	const struct pm_survey *survey = errors->survey;
	size_t rose = survey->num_rose, all = rose + survey->num_rest;
	unsigned rows = 0, seen = 0;

	row_begin(part, "ports", '[');
	for (; errors->ports < all && rows < ROWS_A_PART && seen < PORTS_A_PART;
	     errors->ports++, seen++) {
		const struct pm_key *key = errors->ports < rose
						   ? &survey->rose[errors->ports]
						   : &survey->rest[errors->ports - rose];

		rows += error_row(errors, key, part);
	}
	row_end(part, ']');
	return rows;
}

static unsigned put_links(struct errors *errors, struct buffer *part)
{
	const struct pm_survey *survey = errors->survey;
	unsigned rows = 0;

	row_begin(part, "links", '[');
	for (; errors->links < survey->num_links && rows < ROWS_A_PART; rows++)
		pm_link_row(survey->view, &survey->links[errors->links++], part);
	row_end(part, ']');
	return rows;
}

/* All ports, then links. */
static enum stream_step errors_next(void *source, struct buffer *part)
{
	struct errors *errors = source;
	size_t ports = errors->survey->num_rose + errors->survey->num_rest;
	unsigned rows = errors->ports < ports ? put_ports(errors, part) : put_links(errors, part);

	return rows || errors->ports < ports || errors->links < errors->survey->num_links
		       ? STREAM_PART
		       : STREAM_END;
}

static void errors_finish(void *source)
{
	struct errors *errors = source;

	pm_survey_free(errors->survey);
	free(errors);
}

static void errors_gathered(void *arg, struct pm_survey *survey)
{
	struct errors *errors = arg;

	errors->survey = survey;
	if (survey) {
		control_stream(errors->request, errors_next, errors_finish, errors);
		return;
	}
	control_fail(errors->request, "the daemon is stopping");
	free(errors);
}

static void command_errors(void *ctx, struct control_request *request, const json_t *args)
{
	struct pm *pm = ctx;
	const json_t *least = json_object_get(args, "threshold");
	const char *text = json_string_value(least);
	long long threshold = text ? atoll(text) : json_integer_value(least);
	struct errors *errors;

	if (least && threshold < 1) {
		control_fail(request, "the threshold is a number of errors, from 1");
		return;
	}
	if (!*pm->view) {
		pm_refuse(pm, request, read_counters);
		return;
	}
	if (!pm->last.number)
		control_part(request, json_pack("{s:{s:s}}", "note", "text", never_read));
	errors = mem_zalloc(sizeof(*errors));
	errors->pm = pm;
	errors->request = request;
	errors->threshold = (uint64_t)threshold;
	pm_survey_begin(pm, errors_gathered, errors);
}

/* perf show */

struct show {
	struct list link; /* in pm->shows */
	struct pm *pm;
	struct control_request *request;
	struct view *view;	/* a reference */
	struct pm_agent *agent; /* its own */
	struct pm_reader reader;
	struct pm_counts counts;
	bool has_extended;
	struct port_counters few;
	struct port_counters_extended extended;
};

static void show_free(struct show *show)
{
	list_del(&show->link);
	pm_agent_free(show->agent);
	view_unref(show->view);
	free(show);
}

static uint32_t show_counters(struct pm_reader *reader, const struct port_counters *counters,
			      uint32_t was_reset)
{
	struct show *show = reader->owner;

	(void)was_reset;
	show->few = *counters;
	return 0;
}

static void show_extended(struct pm_reader *reader, const struct port_counters_extended *counters,
			  bool was_reset)
{
	struct show *show = reader->owner;

	(void)was_reset;

	show->has_extended = true;
	show->extended = *counters;
}

/* The changes since the last read of all ports: what a sweep would find now. The port's own values
 * stay, because a read of a sweep may be under way. */
static void since_row(const struct show *show, uint8_t num, const struct pm_port *port,
		      struct buffer *out)
{
	struct pm_taking taking = {.now_us = loop_now_us(show->pm->loop),
				   .has_wait = show->agent->capability_mask & PERF_XMIT_WAIT};
	struct pm_news news = {0}, errors = {0};
	struct pm_port now;

	if (!port || !port->read_us || (port->wide && !show->has_extended)) {
		row_string(out, "since", NULL);
		return;
	}
	now = *port;
	taking.wide = port->wide;
	taking.wide_errors = port->wide_errors;
	for (unsigned i = 0; i < TRAFFIC_SHORT; i++)
		now.rate[i] = -1;
	now.wait_rate = now.symbol_rate = -1;
	if (!port->wide_errors)
		pm_take(&now, &show->few, &taking, &errors);
	if (port->wide)
		pm_take_extended(&now, &show->extended, &taking, &news);
	row_begin(out, "since", '{');
	row_json(out, "span_s", json_real((double)(taking.now_us - port->read_us) / 1e6));
	pm_gained_row(port->wide_errors ? &news : &errors, "rose", out);
	pm_rates_row(show->agent, num, &now, "rates", out);
	row_end(out, '}');
}

static void perf_show_row(const struct show *show, uint8_t num, struct buffer *out)
{
	const struct pm_key key = {show->agent->guid, show->agent->is_switch, num};
	const struct pm_agent *agent = show->agent;
	struct pm_agent *known;
	struct pm_port *port = pm_find_port(show->pm, &key, &known);

	row_begin(out, NULL, '{');
	pm_port_members(agent, num, show->view, out);
	pm_counters_row(&port_counters_format, &show->few, port_counters_format.count, "counters",
			out);
	if (show->has_extended)
		pm_counters_row(&port_counters_extended_format, &show->extended,
				pm_has_extended_errors(agent, num)
					? port_counters_extended_format.count
					: EXTENDED_TRAFFIC_ROWS,
				"extended", out);
	else
		row_string(out, "extended", NULL);
	pm_rates_row(agent, num, port, "rates", out);
	since_row(show, num, port, out);
	pm_history_row(port ? pm_history_of(&show->pm->histories, &key, port) : NULL,
		       pm_link_rate(agent, num), "history", out);
	if (port)
		pm_history_offer(&show->pm->histories, &key, port);
	if (port && port->read_us) {
		row_begin(out, "totals", '{');
		pm_error_members(port, out);
		row_end(out, '}');
	} else {
		row_string(out, "totals", NULL);
	}
	row_boolean(out, "redirected", agent->redirect != NULL);
	row_end(out, '}');
}

static void show_ended(struct pm_reader *reader, int error)
{
	struct show *show = reader->owner;
	struct buffer row = {0};

	if (error) {
		control_fail(show->request, "the agent of %s (LID %u) %s", pm_name(show->agent),
			     show->agent->lid,
			     error == -ETIMEDOUT ? "does not answer"
						 : "refuses to tell the counters of this port");
	} else {
		perf_show_row(show, show->agent->first, &row);
		control_reply_row(show->request, &row);
		free(row.bytes);
	}
	show_free(show);
}

void pm_end_commands(struct pm *pm)
{
	list_for_each (item, &pm->shows) {
		struct show *show = container_of(item, struct show, link);

		pm_reader_cancel(&show->reader);
		control_fail(show->request, "the daemon is stopping");
		show_free(show);
	}
}

int64_t pm_find_node(const struct pm *pm, struct control_request *request, const char *name)
{
	struct snap_named named = snapshot_find_named((*pm->view)->topology, name);
	char text[GONE_TEXT_SIZE];

	if (named.place < 0)
		control_fail(request, "%s", gone_explain(pm->fabric, &named, name, text));
	return named.place;
}

int64_t pm_find_port_agent(const struct pm *pm, struct control_request *request, uint32_t place,
			   unsigned num)
{
	const struct view *view = *pm->view;
	const struct node_facts *facts = facts_at(view->topology, place);
	int32_t end;

	if (num > facts->info.num_ports) {
		control_fail(request, "there is no port %u: %s has ports up to %u", num,
			     facts->description, facts->info.num_ports);
		return -1;
	}
	if (place < view->topology->num_switches)
		return place;
	end = num && facts->port[num].guid
		      ? snapshot_find_end(view->topology, facts->port[num].guid)
		      : -1;
	if (end < 0) {
		control_fail(request, "port %u of %s is not in the subnet", num,
			     facts->description);
		return -1;
	}
	return (int64_t)view->topology->num_switches + end;
}

int pm_port_argument(struct control_request *request, const char *text)
{
	char *rest;
	unsigned long num = strtoul(text, &rest, 10);

	if (rest != text && !*rest && num <= PORT_MAX)
		return (int)num;
	control_fail(request, "\"%.20s\" is no port: a number from 0 to %d", text, PORT_MAX);
	return -1;
}

static void show_begin(struct pm *pm, struct control_request *request, uint32_t place, uint8_t num)
{
	static const struct pm_reader_ops ops = {show_counters, show_extended, show_ended};
	struct show *show = mem_zalloc(sizeof(*show));

	show->pm = pm;
	show->request = request;
	show->view = view_ref(*pm->view);
	show->agent = pm_agent_new(show->view, place, num, num);
	show->reader = (struct pm_reader){.owner = show,
					  .ops = &ops,
					  .txns = pm->txns,
					  .counts = &show->counts,
					  .snapshot = show->view->topology,
					  .agent = show->agent,
					  .everything = true};
	list_init(&show->link);
	list_push(&pm->shows, &show->link);
	pm_reader_begin(&show->reader);
}

static void command_perf_show(void *ctx, struct control_request *request, const json_t *args)
{
	struct pm *pm = ctx;
	const char *name = json_string_value(json_object_get(args, "node"));
	const char *text = json_string_value(json_object_get(args, "port"));
	int64_t place;
	int num;

	if (!name || !text) {
		control_fail(request, "perf show needs node and port");
		return;
	}
	num = pm_port_argument(request, text);
	if (num < 0)
		return;
	if (!*pm->view) {
		pm_refuse(pm, request, read_counters);
		return;
	}
	place = pm_find_node(pm, request, name);
	if (place >= 0)
		place = pm_find_port_agent(pm, request, (uint32_t)place, (unsigned)num);
	if (place >= 0)
		show_begin(pm, request, (uint32_t)place, (uint8_t)num);
}

static const struct control_command commands[] = {
	{"perf sweep", command_perf_sweep, CONTROL_ACTS},
	{"perf top", command_top, CONTROL_LOOKS},
	{"perf errors", command_errors, CONTROL_LOOKS},
	{"perf show", command_perf_show, CONTROL_LOOKS},
};

void pm_register_commands(struct pm *pm, struct control *control)
{
	control_register(control, commands, ARRAY_SIZE(commands), pm);
	pm_register_clear(pm, control);
}

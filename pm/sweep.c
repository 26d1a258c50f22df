/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A sweep over all counters. First the table of agents is updated from the view, in slices. Then as
 * many agents are read at a time as the window has places, each with one request under way. An
 * agent that is slow or dead holds one place and delays no other agent. Further requests follow
 * from answers, of which a turn handles few; only the first requests have to be divided into slices
 * here.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/message_id.h"
#include "lib/mem.h"
#include "pm/context.h"

enum { STARTS_A_TURN = 64, US_PER_S = 1000000, NEWS_SIZE = 512 };
enum { PATIENCE_US = 10 * US_PER_S };

const char *pm_name(const struct pm_agent *agent)
{
	return agent->facts && agent->facts->description[0] ? agent->facts->description : "?";
}

/* Results of reads */

/* One line about a port, with each counter that rose too much. */
static void pm_log_errors(struct pm *pm, const struct pm_agent *agent, uint8_t num,
			  const struct pm_port *port, const struct pm_news *news)
{
	char text[NEWS_SIZE] = "";
	size_t used = 0;

	for (unsigned bit = 0; bit < PORT_COUNTERS_SELECTED && used < sizeof(text); bit++) {
		if (!(news->over >> bit & 1))
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%s rose by %s%" PRIu64 " to %" PRIu64, used ? ", " : "",
					 pm_counter_name(bit),
					 pm_is_full(port, bit) ? "at least " : "",
					 news->gained[bit], pm_total(port, bit));
	}
	log_limited(&pm->limit, LOG_WARNING,
		    (&(struct log_subject){.message_id = MESSAGE_PORT_ERRORS,
					   .node_guid = agent->facts->info.node_guid,
					   .node_desc = agent->facts->description,
					   .port = num,
					   .lid = agent->lid}),
		    "port %u of %s: %s since it was read last; a cable or plug may be bad, "
		    "weftctl perf errors lists what is known",
		    num, pm_name(agent), text);
}

static void top_offer(struct pm_top *top, const struct pm_key *key, float value)
{
	unsigned place = top->count;

	if (value <= 0 || (place == PM_TOP_MAX && top->row[place - 1].value >= value))
		return;
	if (place == PM_TOP_MAX)
		place--;
	else
		top->count++;
	for (; place && top->row[place - 1].value < value; place--)
		top->row[place] = top->row[place - 1];
	top->row[place] = (struct pm_top_row){.key = *key, .value = value};
}

static void traffic_taken(struct pm *pm, const struct pm_agent *agent, uint8_t num,
			  const struct pm_port *port)
{
	const struct pm_key key = {agent->guid, agent->is_switch, num};
	float xmit = port->rate[TRAFFIC_XMIT_DATA], rcv = port->rate[TRAFFIC_RCV_DATA];

	if (xmit > 0)
		pm->now.data_rate[agent->is_switch] += (double)xmit * WORD_BYTES;
	top_offer(&pm->top_now[PM_TOP_DATA], &key, xmit > rcv ? xmit : rcv);
	pm_history_add_traffic(&pm->histories, &key, port);
}

static struct pm_taking taking_of(const struct pm *pm, const struct pm_agent *agent, uint8_t num)
{
	struct pm_taking taking = {
		.now_us = loop_now_us(pm->loop),
		.has_wait = agent->capability_mask & PERF_XMIT_WAIT,
		.wide = pm_has_extended(agent, num),
		.wide_errors = pm_has_extended_errors(agent, num),
	};

	memcpy(taking.threshold, pm->options.threshold, sizeof(taking.threshold));
	return taking;
}

/* Counts ports whose counters were reset, or were not although weftd tried. */
static void resets_taken(struct pm *pm, const struct pm_agent *agent, uint8_t num,
			 const struct pm_news *news)
{
	pm->now.kept += (news->kept & ~PM_TRAFFIC_BITS) != 0;
	if (!news->went_back || pm->clearing) /* attributes may share counters */
		return;
	pm->reset_by_others++;
	if (!pm->now.reset_by_others++)
		pm->now.reset_example = (struct pm_key){agent->guid, agent->is_switch, num};
}

static void errors_taken(struct pm *pm, const struct pm_agent *agent, uint8_t num,
			 struct pm_port *port, const struct pm_news *news)
{
	const struct pm_key key = {agent->guid, agent->is_switch, num};

	if (news->over)
		pm_log_errors(pm, agent, num, port, news);
	top_offer(&pm->top_now[PM_TOP_WAIT], &key, port->wait_rate);
	if (port->rose & ~PM_NO_ERRORS)
		pm_history_keep(&pm->histories, &key, port);
	pm_history_add(&pm->histories, &key, port, news, pm->now.wall_s);
}

static uint32_t pm_sweep_take_counters(struct pm_reader *reader,
				       const struct port_counters *counters, uint32_t was_reset)
{
	struct pm *pm = reader->owner;
	struct pm_agent *agent = reader->agent;
	struct pm_port *port = pm_agent_port(agent, reader->port);
	struct pm_taking taking = taking_of(pm, agent, reader->port);
	struct pm_news news;

	taking.was_reset = was_reset;
	pm_take(port, counters, &taking, &news);
	resets_taken(pm, agent, reader->port, &news);
	if (was_reset)
		return 0;
	errors_taken(pm, agent, reader->port, port, &news);
	if (!taking.wide)
		traffic_taken(pm, agent, reader->port, port);
	if (pm->clearing)
		return PORT_COUNTERS_ALL;
	return pm->options.reset ? news.reset : 0;
}

static void pm_sweep_take_extended(struct pm_reader *reader,
				   const struct port_counters_extended *counters, bool was_reset)
{
	struct pm *pm = reader->owner;
	struct pm_port *port = pm_agent_port(reader->agent, reader->port);
	struct pm_taking taking = taking_of(pm, reader->agent, reader->port);
	struct pm_news news;

	taking.was_reset = was_reset ? PORT_COUNTERS_ALL : 0;
	pm_take_extended(port, counters, &taking, &news);
	resets_taken(pm, reader->agent, reader->port, &news);
	if (was_reset)
		return;
	if (taking.wide_errors)
		errors_taken(pm, reader->agent, reader->port, port, &news);
	traffic_taken(pm, reader->agent, reader->port, port);
}

/* Its end */

/* One line, and none for the next sweeps if they find such ports, too: a program may reset the
 * counters at an interval. */
static void log_resets(struct pm *pm)
{
	const struct pm_key *key = &pm->now.reset_example;
	struct pm_agent *agent = NULL;

	if (pm->now.reset_by_others && !pm->reset_logged && pm_find_port(pm, key, &agent))
		log_about(LOG_NOTICE,
			  (&(struct log_subject){.message_id = MESSAGE_COUNTERS_RESET,
						 .node_guid = agent->facts->info.node_guid,
						 .node_desc = agent->facts->description,
						 .port = key->num,
						 .lid = agent->lid}),
			  "counters of %" PRIu64 " port%s are lower than before, such as port %u "
			  "of %s: another program has reset them, or the device was restarted; "
			  "totals continue",
			  pm->now.reset_by_others, pm->now.reset_by_others == 1 ? "" : "s",
			  key->num, pm_name(agent));
	if (pm->now.reset_by_others || !pm->clearing)
		pm->reset_logged = pm->now.reset_by_others > 0;
}

/* The next work: requests first, then the timer. */
static void sweep_next(struct pm *pm)
{
	if (!list_empty(&pm->waiters) && !pm_sweep_begin(pm))
		pm_tell_waiters(pm, -ECANCELED);
	pm_sweep_clear(pm);
	pm_sweep_plan(pm);
}

static void pm_sweep_finish(struct pm *pm)
{
	struct pm_clear *clear = pm->clearing;

	pm->sweeping = false;
	view_unref(pm->swept);
	pm->swept = NULL;
	free(pm->readers);
	pm->readers = NULL;
	pm->now.duration_us = loop_now_us(pm->loop) - pm->now.began_us;
	log_resets(pm);
	if (clear) {
		pm->clearing = NULL;
		clear->done(pm, clear, 0);
		sweep_next(pm);
		return;
	}
	pm->last = pm->now;
	memcpy(pm->top, pm->top_now, sizeof(pm->top));
	log_info("counter sweep %" PRIu64 ": %" PRIu64 " ports of %u agents in %" PRIu64
		 " ms, %u agents silent, %" PRIu64 " requests, %" PRIu64 " timed out, %" PRIu64
		 " refused, %" PRIu64 " resets",
		 pm->last.number, pm->last.counts.ports, pm->last.agents,
		 pm->last.duration_us / 1000, pm->last.silent, pm->last.counts.requests,
		 pm->last.counts.timed_out, pm->last.counts.refused, pm->last.counts.resets);
	pm_tell_waiters(pm, 0);
	if (pm->read)
		pm->read(pm->read_arg);
	sweep_next(pm);
}

/* The agents to read: all that have a LID, or those of a request to clear. */
static bool is_skipped(const struct pm *pm, const struct pm_agent *agent)
{
	return agent->lid == LID_NONE || (pm->clearing && !pm_clear_includes(pm->clearing, agent));
}

/* Gives an idle reader the next agent; false: there is none. */
static bool start_next(struct pm *pm)
{
	struct pm_reader *reader;
	struct pm_agent *agent;

	while (pm->next < pm->agents.count && is_skipped(pm, pm->agents.list[pm->next]))
		pm->next++;
	if (pm->next == pm->agents.count || list_empty(&pm->idle))
		return false;
	reader = container_of(list_pop(&pm->idle), struct pm_reader, link);
	agent = pm->agents.list[pm->next++];
	reader->agent = agent;
	pm->busy++;
	pm->now.agents++;
	pm_reader_begin(reader);
	return true;
}

static void pm_sweep_pump(void *arg)
{
	struct pm *pm = arg;
	unsigned started = 0;

	while (started < STARTS_A_TURN && start_next(pm))
		started++;
	if (started == STARTS_A_TURN)
		loop_defer(&pm->pump);
	else if (!pm->busy)
		pm_sweep_finish(pm);
}

static void agent_ended(struct pm_reader *reader, int error)
{
	struct pm *pm = reader->owner;

	reader->agent->silent = error == -ETIMEDOUT;
	pm->now.silent += reader->agent->silent;
	if (reader->agent->silent)
		snprintf(pm->now.silent_example, sizeof(pm->now.silent_example), "%s",
			 reader->agent->facts->description);
	if (error)
		log_debug("the counters of %s (LID %u) could not be read: %s",
			  pm_name(reader->agent), reader->agent->lid,
			  error == -ETIMEDOUT ? "no answer" : "it refuses");
	list_push(&pm->idle, &reader->link);
	pm->busy--;
	if (!start_next(pm) && !pm->busy)
		loop_defer(&pm->pump);
}

/* Its beginning */

static const struct pm_reader_ops sweep_ops = {pm_sweep_take_counters, pm_sweep_take_extended,
					       agent_ended};

static void pm_agents_merged(void *arg)
{
	struct pm *pm = arg;

	pm->num_readers = pm->options.window;
	pm->readers = mem_array(pm->num_readers, sizeof(*pm->readers));
	list_init(&pm->idle);
	for (unsigned i = 0; i < pm->num_readers; i++) {
		pm->readers[i] = (struct pm_reader){.owner = pm,
						    .ops = &sweep_ops,
						    .txns = pm->txns,
						    .counts = &pm->now.counts,
						    .snapshot = pm->swept->topology,
						    .clear = pm->clearing != NULL};
		if (pm->clearing && pm->clearing->one_port) {
			pm->readers[i].one_port = true;
			pm->readers[i].only = pm->clearing->num;
		}
		list_init(&pm->readers[i].link);
		list_push(&pm->idle, &pm->readers[i].link);
	}
	pm->next = 0;
	loop_defer(&pm->pump);
}

static unsigned merge_stage(void *arg, size_t *at)
{
	struct pm *pm = arg;

	return pm_agents_merge(&pm->agents, pm->swept, at);
}

static void sweep_start(struct pm *pm, uint64_t number)
{
	pm->sweeping = true;
	pm->swept = view_ref(*pm->view);
	pm->now = (struct pm_sweep_figures){.number = number,
					    .began_us = loop_now_us(pm->loop),
					    .wall_s = loop_wall_s(pm->loop)};
	memset(pm->top_now, 0, sizeof(pm->top_now));
	slices_begin(&pm->merge);
}

bool pm_sweep_begin(struct pm *pm)
{
	if (pm->sweeping)
		return true;
	if (!*pm->view || pm->stopped)
		return false;
	sweep_start(pm, pm->last.number + 1);
	return true;
}

void pm_sweep_clear(struct pm *pm)
{
	if (pm->sweeping || list_empty(&pm->clears))
		return;
	if (!*pm->view || pm->stopped) {
		pm_clears_end(pm);
		return;
	}
	pm->clearing = container_of(list_pop(&pm->clears), struct pm_clear, link);
	sweep_start(pm, 0);
}

void pm_sweep_cancel(struct pm *pm)
{
	struct pm_clear *clear = pm->clearing;

	loop_timer_disarm(&pm->timer);
	pm_clears_end(pm);
	if (!pm->sweeping)
		return;
	pm->sweeping = false;
	slices_cancel(&pm->merge);
	pm_agents_cancel(&pm->agents);
	loop_defer_cancel(&pm->pump);
	for (unsigned i = 0; pm->readers && i < pm->num_readers && pm->busy; i++) {
		if (list_empty(&pm->readers[i].link))
			pm_reader_cancel(&pm->readers[i]);
	}
	pm->busy = 0;
	free(pm->readers);
	pm->readers = NULL;
	view_unref(pm->swept);
	pm->swept = NULL;
	pm->clearing = NULL;
	if (clear)
		clear->done(pm, clear, -ECANCELED);
	pm_tell_waiters(pm, -ECANCELED);
}

/* Sweeps begin an interval apart; if one takes longer, the next follows at once. After a manager
 * becomes MASTER, ports go ACTIVE one after the other, and packets sent before are lost and counted
 * as errors. So the first sweep waits for a while. */
void pm_sweep_plan(struct pm *pm)
{
	uint64_t interval_us = (uint64_t)pm->options.interval_s * US_PER_S;
	uint64_t now_us = loop_now_us(pm->loop), due_us;

	if (pm->stopped || pm->sweeping || !interval_us || !*pm->view) {
		loop_timer_disarm(&pm->timer);
		return;
	}
	due_us = pm->master_us + (interval_us < PATIENCE_US ? interval_us : PATIENCE_US);
	if (pm->last.number && due_us < pm->last.began_us + interval_us)
		due_us = pm->last.began_us + interval_us;
	loop_timer_arm_at(&pm->timer, due_us > now_us ? due_us : now_us);
}

static void due(void *arg)
{
	pm_sweep_begin(arg);
}

static void pm_event(void *ctx, const struct event *event)
{
	struct pm *pm = ctx;

	if (event->kind == EVENT_MASTER) {
		pm->master_us = loop_now_us(pm->loop);
		pm_sweep_plan(pm);
	} else if (event->kind == EVENT_NOT_MASTER) {
		pm_sweep_cancel(pm);
	}
}

void pm_sweep_init(struct pm *pm)
{
	static slice_fn *const stages[] = {merge_stage, NULL};
	static const struct slice_plan plan = {.name = "counters: agents", .stages = stages};

	slices_init(&pm->merge, pm->loop, &plan, pm, pm_agents_merged, pm);
	loop_deferred_init(&pm->pump, pm->loop, "counters: requests", pm_sweep_pump, pm);
	loop_timer_init(&pm->timer, pm->loop, "counter sweep", due, pm);
	pm->events = (struct event_reader){.happened = pm_event, .ctx = pm};
}

void pm_sweep_done(struct pm *pm)
{
	pm_sweep_cancel(pm);
	pm_agents_done(&pm->agents);
}

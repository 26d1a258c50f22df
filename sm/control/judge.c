/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands that compute: route check, route quality, route plan. They judge the tables that
 * the switches are known to hold (acknowledged, or read), over the present links, and not the
 * computed tables. The routes of other engines are judged before the engines are used, too.
 *
 * A judgement is a list of steps, each a job of its own. After each step the client gets the
 * progress, and routing for a fault gets its turn. One judgement is computed at a time, some more
 * wait, and further ones are refused. The loop only freezes the fabric and takes references; the
 * job itself joins the rows of switches that are being written. Nothing is programmed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "route/quality.h"
#include "sm/control/commands.h"

enum {
	JUDGEMENTS_MAX = 4, /* with the one being computed */
	SHIFTS_MAX = 512,
	DRAWS = 100,
	SEED = 1,
	ISLANDS_MAX = 8, /* islands that are shown */
};

/* The figures of one set of tables. */
struct figures {
	struct quality_all all;
	struct quality_load shifts, random;
	struct quality_stretch stretch;
	double bisection;
};

struct judgement {
	struct work_job job;
	struct list link;		 /* in commands->judgements */
	struct control_request *request; /* NULL: of judge_engines() */
	bool is_over;			 /* has been answered */
	struct sm *sm;
	struct work_pool *pool;
	const struct judge *judge;
	unsigned step;
	struct snapshot_waiter snapshot_wait;
	struct snapshot *snapshot; /* NULL: still waiting for it */
	struct routes *found;	   /* the tables that the switches hold */
	struct lft_have **have;	   /* by switch: NULL if found had its row from the beginning */
	lid_t *top;		   /* LinearFDBTop of the switches in have */
	uint64_t unknown;	   /* blocks with unknown content */
	uint32_t *island;	   /* by switch */
	struct route_report report;
	struct credit_report credit;
	struct figures now, planned;
	struct route_churn churn;
	char engines[SM_ENGINES_MAX][SM_ENGINE_NAME];
	engines_judged_fn *judged;     /* of judge_engines() */
	struct route_options *options; /* the same, a reference; or NULL */
	void *judged_ctx;
	struct route_result plan;
	bool planned_some; /* an engine gave routes: */
	char plan_engine[SM_ENGINE_NAME];
};

struct judge_step {
	const char *name;
	void (*run)(struct judgement *j);
};

struct judge {
	const struct judge_step *steps;
	unsigned num_steps;
	void (*answer)(struct judgement *j); /* ends the request */
};

/* Steps; each runs inside a job */

/* The row of a switch with Sets under way. */
static struct lft *lft_known_row(const struct lft_have *have, lid_t top, lid_t lid_top,
				 uint64_t *unknown)
{
	struct lft *row = lft_new(lid_top);

	for (uint16_t block = 0; block < row->blocks; block++) {
		const uint8_t *held = lft_have_block(have, block);
		uint32_t first = (uint32_t)block * LFT_BLOCK_LIDS;

		for (uint32_t lid = first;
		     held && lid < first + LFT_BLOCK_LIDS && lid <= top && lid <= lid_top; lid++)
			row->port[lid] = held[lid - first];
		*unknown += !held && first <= top;
	}
	return row;
}

static void gather_tables(struct judgement *j)
{
	for (uint32_t s = 0; s < j->snapshot->num_switches; s++)
		if (!j->found->lft[s])
			j->found->lft[s] = lft_known_row(j->have[s], j->top[s],
							 j->snapshot->lid_top, &j->unknown);
}

static void check_paths(struct judgement *j)
{
	route_check(j->snapshot, j->found, NULL, j->pool, &j->report);
	j->island = route_islands(j->snapshot);
}

static void check_credit(struct judgement *j)
{
	credit_check(j->snapshot, j->found, j->pool, &j->credit);
}

static void compute_plan(struct judgement *j)
{
	const char *chain[SM_ENGINES_MAX];
	struct snapshot snapshot = *j->snapshot; /* with other options */
	unsigned number = 0;

	if (!j->request)
		snapshot.options = j->options;
	for (; number < SM_ENGINES_MAX && j->engines[number][0]; number++)
		chain[number] = j->engines[number];
	route_run(&snapshot, chain, number, NULL, j->pool, &j->plan);
}

static void all_to_all_now(struct judgement *j)
{
	quality_all_to_all(j->snapshot, j->found, j->pool, &j->now.all);
}

static void stretch_now(struct judgement *j)
{
	quality_stretch(j->snapshot, j->found, j->pool, &j->now.stretch);
}

static void shifts_now(struct judgement *j)
{
	quality_shifts(j->snapshot, j->found, j->pool, SHIFTS_MAX, &j->now.shifts);
}

static void random_now(struct judgement *j)
{
	quality_random(j->snapshot, j->found, j->pool, DRAWS, SEED, &j->now.random,
		       &j->now.bisection);
}

/* The same for the planned routes, if there are any, and the cost of the change. */

static void all_to_all_planned(struct judgement *j)
{
	if (j->plan.routes)
		quality_all_to_all(j->snapshot, j->plan.routes, j->pool, &j->planned.all);
}

static void stretch_planned(struct judgement *j)
{
	if (j->plan.routes)
		quality_stretch(j->snapshot, j->plan.routes, j->pool, &j->planned.stretch);
}

static void shifts_planned(struct judgement *j)
{
	if (j->plan.routes)
		quality_shifts(j->snapshot, j->plan.routes, j->pool, SHIFTS_MAX,
			       &j->planned.shifts);
}

static void random_planned(struct judgement *j)
{
	if (j->plan.routes)
		quality_random(j->snapshot, j->plan.routes, j->pool, DRAWS, SEED,
			       &j->planned.random, &j->planned.bisection);
}

static void count_churn(struct judgement *j)
{
	if (j->plan.routes)
		route_churn(j->snapshot, j->found, j->plan.routes, j->pool, &j->churn);
}

/* The chain has already checked engines that promise no credit loops. The other engines are checked
 * here. */
static void judgement_check_plan(struct judgement *j)
{
	j->planned_some = j->plan.routes;
	if (j->plan.routes)
		snprintf(j->plan_engine, sizeof(j->plan_engine), "%s", j->plan.routes->engine);
	if (j->plan.routes && !j->plan.credit.channels)
		credit_check(j->snapshot, j->plan.routes, j->pool, &j->plan.credit);
}

/* No other code has references to the planned routes, and to free so many rows takes too long for a
 * turn of the loop. */
static void drop_plan(struct judgement *j)
{
	routes_unref(j->plan.routes);
	j->plan.routes = NULL;
}

/* Answers */

static json_t *count_json(uint64_t number)
{
	return json_integer((json_int_t)number);
}

static json_t *place_json(const struct snapshot *snapshot, uint32_t sw)
{
	char guid[GUID_TEXT];

	return json_pack("{s:s,s:s}", "guid", guid_text(snapshot->switches[sw].guid, guid),
			 "description", snapshot->switches[sw].facts->description);
}

static json_t *fault_json(const struct snapshot *snapshot, const struct route_fault *fault)
{
	return json_pack("{s:o,s:i}", "from", place_json(snapshot, fault->sw), "lid", fault->lid);
}

static json_t *report_json(const struct snapshot *snapshot, const struct route_report *report)
{
	json_t *json =
		json_pack("{s:o,s:o,s:o,s:o}", "pairs", count_json(report->pairs), "unreached",
			  count_json(report->unreached), "looping", count_json(report->looping),
			  "disconnected", count_json(report->disconnected));

	if (report->unreached)
		json_object_set_new(json, "unreached_example",
				    fault_json(snapshot, &report->unreached_example));
	if (report->looping)
		json_object_set_new(json, "looping_example",
				    fault_json(snapshot, &report->looping_example));
	return json;
}

static json_t *credit_json(const struct snapshot *snapshot, const struct credit_report *credit)
{
	json_t *json = json_pack("{s:o,s:o}", "channels", count_json(credit->channels), "loops",
				 count_json(credit->loops));
	json_t *circle;

	if (!credit->loops)
		return json;
	circle = json_array();
	for (unsigned i = 0; i < CREDIT_EXAMPLE_MAX && i < credit->length; i++) {
		json_t *hop = place_json(snapshot, credit->example[i].sw);

		json_object_set_new(hop, "port", count_json(credit->example[i].port));
		json_array_append_new(circle, hop);
	}
	json_object_set_new(json, "vl", count_json(credit->vl));
	json_object_set_new(json, "length", count_json(credit->length));
	json_object_set(json, "loop", circle);
	json_object_set_new(json, "circle", circle); /* its former name, for one release */
	return json;
}

/* The first islands, each by its first switch; the adapters without a switch are in none. */
static json_t *islands_json(const struct judgement *j, uint32_t *number)
{
	uint32_t switches = j->snapshot->num_switches;
	uint32_t *size = mem_array(switches, sizeof(*size)), *hosts = mem_array(switches, 4);
	json_t *islands = json_array();

	*number = 0;
	for (uint32_t s = 0; s < switches; s++) {
		size[j->island[s]]++;
		hosts[j->island[s]] += j->snapshot->switches[s].hosts;
	}
	for (uint32_t s = 0; s < switches; s++) {
		if (!size[s] || ++*number > ISLANDS_MAX)
			continue;
		json_array_append_new(islands, json_pack("{s:o,s:o,s:o}", "first",
							 place_json(j->snapshot, s), "switches",
							 count_json(size[s]), "hosts",
							 count_json(hosts[s])));
	}
	free(hosts);
	free(size);
	return islands;
}

static json_t *head_json(const struct judgement *j)
{
	return json_pack("{s:s,s:o,s:o,s:o}", "engine", j->found->engine, "switches",
			 count_json(j->snapshot->num_switches), "end_ports",
			 count_json(j->snapshot->num_ends), "unknown_blocks",
			 count_json(j->unknown));
}

static void answer_check(struct judgement *j)
{
	const struct route_report *report = &j->report;
	json_t *answer = head_json(j);
	uint32_t islands;

	json_object_update_new(answer, report_json(j->snapshot, report));
	json_object_set_new(answer, "islands", islands_json(j, &islands));
	json_object_set_new(answer, "num_islands", count_json(islands));
	json_object_set_new(answer, "credit", credit_json(j->snapshot, &j->credit));
	json_object_set_new(answer, "good",
			    json_boolean(!report->unreached && !report->looping && !j->unknown &&
					 !j->credit.loops));
	control_reply(j->request, answer);
}

static void add_levels(json_t *levels, const char *direction, const struct level_load *loads,
		       uint32_t number)
{
	for (uint32_t i = 0; i < number; i++) {
		const struct level_load *load = &loads[i];

		if (!load->links)
			continue;
		json_array_append_new(
			levels, json_pack("{s:i,s:s,s:o,s:o,s:o,s:f}", "level", i, "direction",
					  direction, "links", count_json(load->links), "least",
					  count_json(load->least), "most", count_json(load->most),
					  "mean", (double)load->sum / load->links));
	}
}

static json_t *load_json(const struct quality_load *load)
{
	return json_pack("{s:o,s:o,s:o,s:o}", "patterns", count_json(load->patterns), "median",
			 count_json(load->median), "percentile_95", count_json(load->percentile_95),
			 "worst", count_json(load->worst));
}

static json_t *figures_json(const struct figures *figures)
{
	const struct quality_all *all = &figures->all;
	json_t *levels = json_array();

	add_levels(levels, "up", all->up, all->levels);
	add_levels(levels, "down", all->down, all->levels);
	add_levels(levels, "flat", &all->flat, 1);
	return json_pack(
		"{s:{s:o,s:o,s:o,s:o,s:o,s:o,s:f,s:o,s:o},s:o,s:o,s:f,s:{s:o,s:o,s:o,s:o}}",
		"all_to_all", "pairs", count_json(all->pairs), "unreached",
		count_json(all->unreached), "links", count_json(all->links), "unused",
		count_json(all->unused), "risk", count_json(all->risk), "most",
		count_json(all->most), "mean", all->links ? (double)all->sum / all->links : 0,
		"hops", count_json(all->hops), "levels", levels, "shifts",
		load_json(&figures->shifts), "random", load_json(&figures->random), "bisection",
		figures->bisection, "stretch", "paths", count_json(figures->stretch.paths),
		"longer", count_json(figures->stretch.longer), "hops",
		count_json(figures->stretch.hops), "least_hops",
		count_json(figures->stretch.least_hops));
}

static void answer_quality(struct judgement *j)
{
	json_t *answer = head_json(j);

	json_object_update_new(answer, figures_json(&j->now));
	control_reply(j->request, answer);
}

static void answer_plan(struct judgement *j)
{
	const char *why = j->plan.attempt[0].why;
	json_t *answer, *planned;

	if (!j->planned_some) {
		control_fail(j->request, "routing engine %s refused the fabric: %s", j->engines[0],
			     why);
		return;
	}
	planned = figures_json(&j->planned);
	json_object_set_new(planned, "engine", json_string(j->engines[0]));
	json_object_update_new(planned, report_json(j->snapshot, &j->plan.report));
	json_object_set_new(planned, "credit", credit_json(j->snapshot, &j->plan.credit));
	answer = head_json(j);
	json_object_set_new(answer, "now", figures_json(&j->now));
	json_object_set_new(answer, "planned", planned);
	json_object_set_new(answer, "churn",
			    json_pack("{s:o,s:o,s:o,s:o}", "entries", count_json(j->churn.entries),
				      "blocks", count_json(j->churn.blocks), "switches",
				      count_json(j->churn.switches), "paths",
				      count_json(j->churn.paths)));
	json_object_set_new(answer, "why", *why ? json_string(why) : json_null());
	control_reply(j->request, answer);
}

/* If no engine has routes, nothing is dangerous: the sweep that tries them changes no table. */
static void answer_engines(struct judgement *j)
{
	const struct credit_report *credit = &j->plan.credit;
	char danger[JUDGE_DANGER_SIZE];

	snprintf(danger, sizeof(danger),
		 "the routes of %s have credit loops, in which %" PRIu32 " of %" PRIu32
		 " channels wait for each other, so traffic can stop forever",
		 j->planned_some ? j->plan_engine : "", credit->loops, credit->channels);
	j->judged(j->judged_ctx, j->planned_some && credit->loops ? danger : NULL, NULL);
}

static const struct judge_step check_steps[] = {
	{"tables", gather_tables}, {"paths", check_paths}, {"credit loops", check_credit}};
static const struct judge_step quality_steps[] = {{"tables", gather_tables},
						  {"all to all", all_to_all_now},
						  {"lengths", stretch_now},
						  {"shifts", shifts_now},
						  {"random permutations", random_now}};
static const struct judge_step plan_steps[] = {
	{"tables", gather_tables},
	{"routes", compute_plan},
	{"churn", count_churn},
	{"credit loops", judgement_check_plan},
	{"all to all", all_to_all_now},
	{"all to all, planned", all_to_all_planned},
	{"lengths", stretch_now},
	{"lengths, planned", stretch_planned},
	{"shifts", shifts_now},
	{"shifts, planned", shifts_planned},
	{"random permutations", random_now},
	{"random permutations, planned", random_planned},
	{"done", drop_plan},
};
static const struct judge_step engine_steps[] = {
	{"routes", compute_plan}, {"credit loops", judgement_check_plan}, {"done", drop_plan}};

static const struct judge check_judge = {check_steps, ARRAY_SIZE(check_steps), answer_check};
static const struct judge quality_judge = {quality_steps, ARRAY_SIZE(quality_steps),
					   answer_quality};
static const struct judge plan_judge = {plan_steps, ARRAY_SIZE(plan_steps), answer_plan};
static const struct judge engine_judge = {engine_steps, ARRAY_SIZE(engine_steps), answer_engines};

/* From step to step, on the loop */

static void judgement_free(struct judgement *j)
{
	list_del(&j->link);
	if (!j->snapshot)
		list_del(&j->snapshot_wait.link);
	for (uint32_t s = 0; j->snapshot && s < j->snapshot->num_switches; s++) {
		if (!j->have[s])
			continue;
		lft_unref(j->have[s]->base);
		lft_unref(j->have[s]->next);
		free(j->have[s]);
	}
	free(j->have);
	free(j->top);
	free(j->island);
	routes_unref(j->found);
	routes_unref(j->plan.routes);
	route_options_unref(j->options);
	snapshot_unref(j->snapshot);
	free(j);
}

static void run_step(struct work_job *job)
{
	struct judgement *j = container_of(job, struct judgement, job);

	j->judge->steps[j->step].run(j);
}

static void begin_step(struct judgement *j)
{
	const struct judge_step *step = &j->judge->steps[j->step];

	if (j->request)
		control_part(j->request,
			     json_pack("{s:{s:s,s:i,s:i}}", "progress", "step", step->name,
				       "number", j->step + 1, "of", j->judge->num_steps));
	j->job.name = step->name;
	work_submit(j->sm->pool, &j->job);
}

/* Begins the first judgement, if it has its snapshot. Otherwise it begins when the snapshot is
 * complete. */
static void begin_first(struct sm *sm)
{
	struct judgement *j = container_of(sm->commands->judgements.next, struct judgement, link);

	if (!list_empty(&sm->commands->judgements) && j->snapshot)
		begin_step(j);
}

static void step_done(struct work_job *job)
{
	struct judgement *j = container_of(job, struct judgement, job);
	struct sm *sm = j->sm;

	if (!j->is_over && ++j->step < j->judge->num_steps &&
	    !(j->request && control_gone(j->request))) {
		begin_step(j);
		return;
	}
	if (!j->is_over && j->step < j->judge->num_steps)
		control_fail(j->request, "the client has disconnected");
	else if (!j->is_over)
		j->judge->answer(j);
	judgement_free(j);
	if (!sm->stopped)
		begin_first(sm);
}

/* Rows of switches without Sets under way are shared. The job makes the rows of the other
 * switches. */
static void judgement_take_tables(struct judgement *j, const struct fabric *fabric)
{
	for (uint32_t s = 0; s < j->snapshot->num_switches; s++) {
		const struct node *node = fabric_find_node(fabric, j->snapshot->switches[s].guid);
		const struct switch_state *sw = node->sw;

		if (sw->lft.settled && sw->lft.want) {
			j->found->lft[s] = lft_ref(sw->lft.want);
			continue;
		}
		j->have[s] = mem_alloc(sizeof(*j->have[s]));
		*j->have[s] = sw->lft.have;
		lft_ref(sw->lft.have.base);
		lft_ref(sw->lft.have.next);
		j->top[s] = sw->lft.top_set ? sw->lft.top_set : node->facts->sw.linear_fdb_top;
	}
}

static void judgement_start(void *ctx, struct snapshot *snapshot)
{
	struct judgement *j = ctx;
	struct sm *sm = j->sm;

	if (!snapshot)
		return; /* judge_stop() has answered */
	j->snapshot = snapshot;
	j->found =
		routes_new(snapshot->generation, snapshot->num_switches, sm->routes.routes->engine);
	j->have = mem_array(snapshot->num_switches, sizeof(struct lft_have *));
	j->top = mem_array(snapshot->num_switches, sizeof(lid_t));
	judgement_take_tables(j, sm->fabric);
	if (sm->commands->judgements.next == &j->link)
		begin_step(j);
}

/* Those of commands that any client may use. */
static unsigned judgements(const struct sm *sm)
{
	unsigned number = 0;

	list_for_each (link, &sm->commands->judgements)
		number += container_of(link, struct judgement, link)->request != NULL;
	return number;
}

static struct judgement *judgement_new(struct sm *sm, const struct judge *judge)
{
	struct judgement *j = mem_zalloc(sizeof(*j));

	j->sm = sm;
	j->pool = sm->pool;
	j->judge = judge;
	j->job = (struct work_job){.run = run_step, .done = step_done};
	list_init(&j->job.link);
	return j;
}

static void judgement_begin(struct judgement *j)
{
	list_push(&j->sm->commands->judgements, &j->link);
	snapshot_request_take(&j->sm->snapshot_request, &j->snapshot_wait, false, judgement_start,
			      j);
}

static void judgement_request(struct sm *sm, struct control_request *request,
			      const struct judge *judge, const char *engine)
{
	struct judgement *j;

	if ((!sm->view || !sm->routes.routes) && !sm_at_master(sm, request, "judge routes"))
		return;
	if (!sm->view || !sm->routes.routes) {
		control_fail(request, "this manager is %s and has programmed no routes",
			     sm_state_name(peers_role(sm->peers)));
		return;
	}
	if (judgements(sm) >= JUDGEMENTS_MAX) {
		control_fail(
			request,
			"%d route check, quality and plan commands are running: try again later",
			JUDGEMENTS_MAX);
		return;
	}
	j = judgement_new(sm, judge);
	j->request = request;
	snprintf(j->engines[0], SM_ENGINE_NAME, "%s", engine ? engine : "");
	judgement_begin(j);
}

void judge_engines(struct sm *sm, const char engines[SM_ENGINES_MAX][SM_ENGINE_NAME],
		   struct route_options *options, engines_judged_fn *judged, void *ctx)
{
	struct judgement *j;

	if (!sm->view || !sm->routes.routes) {
		judged(ctx, NULL, NULL);
		return;
	}
	j = judgement_new(sm, &engine_judge);
	j->judged = judged;
	j->judged_ctx = ctx;
	j->options = route_options_ref(options);
	memcpy(j->engines, engines, sizeof(j->engines));
	judgement_begin(j);
}

static void command_route_check(void *ctx, struct control_request *request, const json_t *args)
{
	(void)args;
	judgement_request(ctx, request, &check_judge, NULL);
}

static void command_route_quality(void *ctx, struct control_request *request, const json_t *args)
{
	(void)args;
	judgement_request(ctx, request, &quality_judge, NULL);
}

static void command_route_plan(void *ctx, struct control_request *request, const json_t *args)
{
	const char *engine = json_string_value(json_object_get(args, "engine"));
	char why[SETTING_WHY_SIZE];

	if (engine_is_known(engine ? engine : "", why))
		judgement_request(ctx, request, &plan_judge, engine);
	else
		control_fail(request, "%s", why);
}

const struct control_command judge_commands[NUM_JUDGE_COMMANDS] = {
	{"route check", command_route_check, CONTROL_LOOKS},
	{"route quality", command_route_quality, CONTROL_LOOKS},
	{"route plan", command_route_plan, CONTROL_LOOKS},
};

void judge_stop(struct sm_commands *commands)
{
	list_for_each (link, &commands->judgements) {
		struct judgement *j = container_of(link, struct judgement, link);

		if (!j->is_over && j->request)
			control_fail(j->request, "the daemon is stopping");
		else if (!j->is_over)
			j->judged(j->judged_ctx, NULL, "the daemon is stopping");
		j->is_over = true;
	}
}

void judge_done(struct sm_commands *commands)
{
	judge_stop(commands);
	list_for_each (link, &commands->judgements)
		judgement_free(container_of(link, struct judgement, link));
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The sweep: a table of phases, in their order, and one function that starts the next phase. A
 * phase starts its work and calls sweep_advance() at the end, or ends the sweep early if nothing
 * is left to do. The results are in the live model and in the view. Only the record for status
 * outlives a sweep.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/subject.h"
#include "fabric/table_cache.h"
#include "include/message_id.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "route/absent.h"
#include "sm/contest.h"
#include "sm/context.h"
#include "sm/discovery/disabled.h"
#include "sm/discovery/links.h"
#include "sm/unrouted.h"

static void sweep_advance(void *arg);
static void timer_expired(void *arg);
static void sweep_end(struct sm *sm, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* SMPs sent that expect an answer, by method and attribute; 0: any. */
static uint64_t smps_sent(const struct sm *sm, uint8_t method, uint16_t attr_id)
{
	const struct txn_count *rows;
	size_t count = txn_counts(sm->txns, &rows);
	uint64_t sent = 0;

	for (size_t i = 0; i < count; i++) {
		if (rows[i].mgmt_class == CLASS_SUBN_DIRECTED &&
		    (method ? rows[i].method == method : rows[i].method <= METHOD_SET) &&
		    (!attr_id || rows[i].attr_id == attr_id))
			sent += rows[i].sent;
	}
	return sent;
}

/* Phases */

static void discover_phase(struct sm *sm)
{
	struct trigger *current = &sm->sweep.current;

	for (unsigned i = 0; i < current->num_targets; i++)
		discover_add(sm->discover, current->targets[i].guid, current->targets[i].what);
	discover_start(sm->discover, current->kind, peers_role(sm->peers) == SM_MASTER,
		       sweep_advance, sm);
}

static void check_phase(struct sm *sm)
{
	const struct port *port = sm->fabric->sm_port;

	hold_judge(&sm->hold);
	if (discover_report(sm->discover)->recabled || discover_report(sm->discover)->overwritten)
		fabric_forget_tables(sm->fabric);
	if (discover_report(sm->discover)->want_heavy) { /* no work uses an incomplete snapshot */
		sweep_end(sm, -EAGAIN, "discovery found a change that needs a heavy sweep");
		return;
	}

	if (!port || discover_report(sm->discover)->no_local) {
		sweep_end(sm, -EIO, "the local port does not answer");
		return;
	}
	if (port_info(port)->port_state < PORT_INIT && port->num) {
		peers_port_down(sm->peers, "the link of the local port is down");
		sweep_end(sm, -ENETDOWN, "the link of %s port %u is down: no fabric to manage",
			  sm->transport->port.ca, sm->transport->port.port);
		return;
	}
	/* While the link was down, other managers have looked for another master. */
	if (sm->fabric->sm_link_lost && peers_role(sm->peers) == SM_MASTER) {
		sm->fabric->sm_link_lost = false;
		peers_port_down(sm->peers, "the link of the local port was down");
		sweep_end(sm, -EAGAIN,
			  "the link of the local port was down: the election starts again");
		return;
	}
	sm->fabric->sm_link_lost = false;
	/* Without the M_Key of the first switch, a MASTER behind it could not be seen. */
	if (port->num && !port->peer && sm->options.m_key_mode != M_KEY_NONE) {
		sweep_end(sm, -EACCES,
			  "no response from the peer of the local port (agent down, or unknown "
			  "M_Key)");
		replica_seek(sm->replica);
		return;
	}
	sweep_advance(sm);
}

static void elect_phase(struct sm *sm)
{
	peers_show(sm->peers);
	peers_survey(sm->peers, sweep_advance, sm);
}

/* Another manager may have been MASTER during this sweep, and have cleared PortStateChange
 * before it gave up. Then no sign of changes since is left. Such a manager has IsSM set, or its
 * LID is the MasterSMLID of the local port. */
static bool another_may_have_read(const struct sm *sm)
{
	const struct port *port = sm->fabric->sm_port;
	const struct peer *peers;
	lid_t master = port_info(port)->master_sm_lid;

	return peers_list(sm->peers, &peers) || (master && master != port_info(port)->lid);
}

const char *sweep_why_not_master(const struct sm *sm)
{
	const struct peer *master = peers_master(sm->peers);

	if (peers_role(sm->peers) == SM_NOTACTIVE)
		return "a MASTER has set this manager to NOTACTIVE";
	if (master && master->info.state == SM_MASTER)
		return sm->options.standby_only ? "another subnet manager is MASTER, and this "
						  "manager never becomes MASTER (standby-only)"
						: "another subnet manager is MASTER";
	if (master)
		return "another subnet manager ranks higher and will become MASTER";
	return sm->options.standby_only ? "this manager never becomes MASTER (standby-only)"
					: "no other subnet manager is known yet";
}

/* Another manager was MASTER beside this one. Nothing is written before everything was read again.
 * If hosts registered with that manager, its records are not here: the hosts register again. */
static void role_after_contest(struct sm *sm)
{
	if (!contest_read_again(sm)) {
		sweep_end(sm, -EALREADY,
			  "other managers become MASTER again and again: weftd programs nothing "
			  "between its heavy sweeps, one in %u s (stop them, or set "
			  "allowed_sm_guids)",
			  CONTEST_RATE_S);
		return;
	}
	if (sm->sweep.found_master)
		fabric_new_rereg_epoch(sm->fabric);
	sm->sweep.found_master = false;
	sweep_end(sm, -EAGAIN, "another manager is no longer MASTER: reading everything again");
}

static void role_phase(struct sm *sm)
{
	struct sweep *sweep = &sm->sweep;

	if (peers_role(sm->peers) != SM_MASTER) {
		sweep->found_master = false;
		sweep->contested_us = 0;
		sweep_end(sm, -EALREADY, "%s: %s", sm_state_name(peers_role(sm->peers)),
			  sweep_why_not_master(sm));
		return;
	}
	if (!sweep->was_master && !sm->options.preview && another_may_have_read(sm))
		trigger_heavy(&sm->trigger, "another manager may have been MASTER until now");
	if (peers_doubt(sm->peers) == PEERS_MAY_HAVE_WRITTEN)
		contest_read_again(sm);
	if (peers_contested(sm->peers)) {
		contest_tell(sm);
		sweep->found_master = true;
		sweep_end(sm, -EALREADY, "another MASTER ranks lower: waiting for its handover");
		return;
	}
	sweep->contested_us = 0;
	if (peers_doubt(sm->peers) == PEERS_HAVE_WRITTEN)
		role_after_contest(sm);
	else
		sweep_advance(sm);
}

static void log_lids(const struct sm *sm, const struct lid_report *report)
{
	if (report->conflict_example) {
		const struct port *port = report->conflict_example;
		struct log_subject subject = port_subject(port, MESSAGE_LID_CONFLICT);

		log_about(LOG_WARNING, &subject,
			  "LID %u of \"%s\" port %u belongs to another port or does not fit LMC "
			  "%u: the port gets LID %u (%u such ports)",
			  report->conflict_lid, port->node->facts->description, port->num,
			  sm->options.lmc, port->lid, report->conflicts);
	}
	if (report->sm_lid_why && report->sm_lid_why != sm->sm_lid_why)
		log_about(LOG_WARNING, &(struct log_subject){.message_id = MESSAGE_SM_LID},
			  "sm_lid %u is not used, and hosts get another MasterSMLID: %s (choose "
			  "another sm_lid, the same on all managers)",
			  sm->options.sm_lid, report->sm_lid_why);
	if (report->resized)
		log_notice("LMC is now %u: %u ports get other LIDs", sm->options.lmc,
			   report->resized);
	if (report->exhausted)
		log_error("no LIDs left for %u ports, such as \"%s\": the tables of switches are "
			  "too small, the 49,151 unicast LIDs are used up, or LMC %u is too large",
			  report->exhausted, report->exhausted_example->node->facts->description,
			  sm->options.lmc);
}

static void lids_given(void *arg)
{
	struct sm *sm = arg;
	const struct lid_report *report = lid_work_report(sm->sweep.lids);
	unsigned recorded = report->recorded;

	sm->counts.lid_conflicts += report->conflicts;
	sm->counts.lids_exhausted += report->exhausted;
	log_lids(sm, report);
	sm->sm_lid_why = report->sm_lid_why;
	unrouted_log(sm->fabric);
	lid_work_free(sm->sweep.lids);
	sm->sweep.lids = NULL;
	/* A port must not get a LID that a restart would not know. The fabric waits for the disk
	 * for nothing else: neither for ports that disappear, nor for registrations. */
	if (recorded)
		registry_wait(sm->registry, &sm->sweep.lids_kept);
	else
		sweep_advance(sm);
}

static void lid_phase(struct sm *sm)
{
	drain_mark(sm);
	drain_review(sm);
	if (sm->routed_topology == sm->fabric->topology) {
		sweep_advance(sm);
		return;
	}
	sm->sweep.lids =
		lid_work_new(sm->fabric, sm->options.lmc, sm->options.lmc_esp0, sm->options.sm_lid);
	slices_init(&sm->sweep.giving_lids, sm->loop, &lid_plan, sm->sweep.lids, lids_given, sm);
	slices_begin(&sm->sweep.giving_lids);
}

/* As for LIDs: a port must not get a value that a restart would not know. A partition file is
 * kept before it is applied. */
static void keys_settled(void *arg)
{
	struct sm *sm = arg;

	if (policy_keep_file(&sm->policy) || sm->keys.recorded)
		registry_wait(sm->registry, &sm->sweep.lids_kept);
	else
		sweep_advance(sm);
}

static void keys_phase(struct sm *sm)
{
	keys_settle(&sm->keys, keys_settled, sm);
}

static void unmanaged_phase(struct sm *sm)
{
	unmanaged_pkeys_log(&sm->unmanaged_pkeys, sweep_advance, sm);
}

static void local_phase(struct sm *sm)
{
	program_local(sm->program, sweep_advance, sm);
}

static void route_in_job(struct work_job *job)
{
	struct route_job *routing = container_of(job, struct route_job, job);

	routing->error = route_run(routing->snapshot, routing->chain, routing->count,
				   routing->before.routes ? &routing->before : NULL, routing->pool,
				   &routing->result);
	routing->absent = route_absent(routing->snapshot);
}

void route_job_free(struct route_job *routing)
{
	if (!routing)
		return;
	snapshot_unref(routing->snapshot);
	snapshot_unref(routing->before.snapshot);
	routes_unref(routing->before.routes);
	routes_unref(routing->result.routes);
	free(routing->absent);
	free(routing);
}

/* Logged again only if it has changed. */
static void log_absent(struct sm *sm, struct route_job *routing)
{
	char *before = sm->absent;

	sm->absent = routing->absent;
	routing->absent = NULL;
	if (sm->absent && (!before || strcmp(sm->absent, before) != 0))
		log_warning("%s", sm->absent);
	free(before);
}

static void log_attempts(const struct route_result *result)
{
	static const struct log_subject subject = {.message_id = MESSAGE_ROUTES};

	for (unsigned i = 0; i < result->tried; i++) {
		if (result->attempt[i].why[0])
			log_about(LOG_WARNING, &subject, "routing engine %s refused: %s",
				  result->attempt[i].engine, result->attempt[i].why);
	}
	if (result->report.unreached || result->report.looping)
		log_about(LOG_ERR, &subject,
			  "routes: %" PRIu64 " pairs unreached, %" PRIu64 " pairs in a loop",
			  result->report.unreached, result->report.looping);
	if (result->report.disconnected)
		log_about(LOG_WARNING, &subject,
			  "%" PRIu64 " pairs of switch and LID are in separate parts of the fabric",
			  result->report.disconnected);
}

/* If every engine refuses, tables stay as they are, links still come up, and the next sweep tries
 * again. */
static void no_routes(struct sm *sm, const struct route_result *result)
{
	const char *why = result->tried ? result->attempt[result->tried - 1].why
					: "no routing engine is configured";

	snprintf(sm->sweep.no_routes, sizeof(sm->sweep.no_routes), "%s", why);
	if (sm->routed)
		sweep_advance(sm);
	else
		sweep_end(sm, -ENOTSUP, "no routes: %s", why);
}

static void routed(struct work_job *job)
{
	struct route_job *routing = container_of(job, struct route_job, job);
	struct sm *sm = routing->sm;

	sm->routing = NULL;
	log_absent(sm, routing);
	log_attempts(&routing->result);
	if (!routing->result.routes) {
		no_routes(sm, &routing->result);
		route_job_free(routing);
		return;
	}
	routes_unref(sm->routes.routes);
	snapshot_unref(sm->routed);
	sm->routes = routing->result;
	sm->routed = snapshot_ref(routing->snapshot);
	routing->result.routes = NULL;
	/* Other engines may have been chosen in the meantime. */
	sm->routed_topology = memcmp(routing->names, sm->options.engines, sizeof(routing->names))
				      ? 0
				      : routing->topology;
	sm->sweep.rerouted = true;
	route_job_free(routing);
	credit_watch_routes(sm);
	sweep_advance(sm);
}

static void route_from(void *ctx, struct snapshot *snapshot)
{
	struct sm *sm = ctx;
	struct route_job *routing;

	if (!snapshot)
		return;
	routing = mem_zalloc(sizeof(*routing));
	routing->job = (struct work_job){.name = "routes", .run = route_in_job, .done = routed};
	list_init(&routing->job.link);
	routing->sm = sm;
	routing->snapshot = snapshot;
	routing->pool = sm->pool;
	if (sm->routed)
		routing->before = (struct route_judged){
			snapshot_ref(sm->routed), routes_ref(sm->routes.routes), sm->routes.report};
	memcpy(routing->names, sm->options.engines, sizeof(routing->names));
	while (routing->count < SM_ENGINES_MAX && routing->names[routing->count][0]) {
		routing->chain[routing->count] = routing->names[routing->count];
		routing->count++;
	}
	routing->topology = sm->snapshot_request.topology;
	sm->routing = routing;
	work_submit(sm->pool, &routing->job);
}

static void route_phase(struct sm *sm)
{
	if (sm->routed_topology == sm->fabric->topology && !sm->sweep.current.reroute)
		sweep_advance(sm);
	else
		snapshot_request_take(&sm->snapshot_request, &sm->sweep.snapshot_wait, false,
				      route_from, sm);
}

/* The LID of the manager whose tables are in the table cache, as stored; 0: unknown. */
static lid_t lid_of_table_cache(const struct sm *sm)
{
	const struct lid_entry key = {.guid = table_cache_author(sm->cache)};
	const struct lid_entry *author;

	if (!key.guid)
		return sm->fabric->sm_port->lid;
	author = registry_find(sm->registry, REGISTRY_LID, &key);
	return author ? author->lid : 0;
}

/* A switch shows the manager that wrote it last, even before that manager writes its tables. */
static bool another_may_have_ruled(const struct sm *sm)
{
	const struct roster *roster = fabric_roster(sm->fabric);
	lid_t lid = lid_of_table_cache(sm);

	for (size_t i = 0; i < roster->num_switches; i++) {
		lid_t master = port_info(&roster->switches[i]->port[0])->master_sm_lid;

		if (master && master != lid)
			return true;
	}
	return false;
}

static void publish_and_go_on(void *ctx, struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	publish_snapshot(ctx, snapshot);
	sweep_advance(ctx);
}

static void take_and_publish(struct sm *sm)
{
	snapshot_request_take(&sm->snapshot_request, &sm->sweep.snapshot_wait, false,
			      publish_and_go_on, sm);
}

/* The SA knows a new host before it is ACTIVE, else its first requests would be lost. The SA of a
 * new master does not wait until the multicast tables of all switches are read. */
static void publish_phase(struct sm *sm)
{
	if (!sm->view || sm->sweep.rerouted || sm->fabric->topology != sm->sweep.topology_before)
		take_and_publish(sm);
	else
		sweep_advance(sm);
}

static void trees_phase(struct sm *sm)
{
	/* Group members change all the time, so the tables of another manager may differ in a
	 * few blocks only, which samples may miss. */
	if (another_may_have_ruled(sm))
		table_cache_forget_mft(sm->cache);
	if (sm->routed)
		mcast_phase(sm->mcast, sweep_advance, sm);
	else
		sweep_advance(sm);
}

static void program_phase(struct sm *sm)
{
	/* Before, a Set() would reach ports whose links must restart first. */
	policy_set_live(&sm->policy, true);
	disabled_apply(sm->fabric, sm->registry);
	drain_apply(sm);
	if (sm->sweep.rerouted)
		program_start(sm->program, sm->routed, sm->routes.routes, sweep_advance, sm);
	else
		program_start(sm->program, NULL, NULL, sweep_advance, sm);
}

/* The facts that programming changed. */
static void republish_phase(struct sm *sm)
{
	if (sm->fabric->facts != sm->sweep.facts_before ||
	    sm->fabric->topology != sm->sweep.topology_before || sm->sweep.current.reroute)
		take_and_publish(sm);
	else
		sweep_advance(sm);
}

static void announce_phase(struct sm *sm)
{
	program_announce(sm->program, sweep_advance, sm);
}

static void last_phase(struct sm *sm)
{
	const struct program_report *report = program_report(sm->program);
	unsigned failed = report->failed + discover_report(sm->discover)->failed;

	sm->sweep.now.met_errors = report->not_active || failed;
	if (sm->sweep.no_routes[0])
		sweep_end(sm, -ENOTSUP, "no new routes, tables unchanged: %s", sm->sweep.no_routes);
	else if (report->not_active || failed)
		sweep_end(sm, 0,
			  "subnet up with errors: %u request%s failed, %u cabled port%s not "
			  "ACTIVE",
			  failed, failed == 1 ? "" : "s", report->not_active,
			  report->not_active == 1 ? "" : "s");
	else
		sweep_end(sm, 0,
			  sm->sweep.current.reroute ? "subnet up, routes recomputed" : "subnet up");
}

static const struct phase {
	const char *name;
	void (*start)(struct sm *sm);
} phases[] = {
	{"discover", discover_phase},	{"check", check_phase},	      {"elect", elect_phase},
	{"role", role_phase},		{"lids", lid_phase},	      {"keys", keys_phase},
	{"unmanaged", unmanaged_phase}, {"local", local_phase},	      {"routes", route_phase},
	{"publish", publish_phase},	{"trees", trees_phase},	      {"program", program_phase},
	{"republish", republish_phase}, {"announce", announce_phase}, {"end", last_phase},
};
_Static_assert(ARRAY_SIZE(phases) <= SWEEP_PHASES_MAX, "the record has room for every phase");

/* Next phase, begin, end */

static void close_phase(struct sm *sm)
{
	struct sweep *sweep = &sm->sweep;
	uint64_t now_us = loop_now_us(sm->loop);

	sweep->now.phases[sweep->now.num_phases].name = phases[sweep->phase].name;
	sweep->now.phases[sweep->now.num_phases++].us = now_us - sweep->phase_began_us;
	sweep->phase_began_us = now_us;
}

/* Each phase begins in a separate turn, so that the statistics of long turns name the phase. */
static void start_phase(void *arg)
{
	struct sm *sm = arg;

	if (sm->sweep.running)
		phases[sm->sweep.phase].start(sm);
}

static void sweep_advance(void *arg)
{
	struct sm *sm = arg;

	if (!sm->sweep.running)
		return;
	close_phase(sm);
	sm->sweep.next_phase.name = phases[++sm->sweep.phase].name;
	loop_defer(&sm->sweep.next_phase);
}

bool sweep_is_electing(const struct sm *sm)
{
	return sm->sweep.running && phases[sm->sweep.phase].start == elect_phase;
}

const char *sweep_kind_name(enum discover_kind kind)
{
	static const char *const names[] = {[DISCOVER_LIGHT] = "light",
					    [DISCOVER_TARGETED] = "switches",
					    [DISCOVER_HEAVY] = "heavy"};

	return names[kind];
}

void sweep_begin(void *arg)
{
	struct sm *sm = arg;
	struct sweep *sweep = &sm->sweep;

	if (sweep->running || sm->stopped || sm->transport->gone ||
	    peers_role(sm->peers) == SM_NOTACTIVE)
		return;
	trigger_take(&sm->trigger, &sweep->current);
	/* A failed heavy sweep has dropped its requests: the next sweep reads everything,
	 * whichever request it serves. */
	if (sweep->failures && sweep->last.error)
		sweep->current.kind = DISCOVER_HEAVY;
	loop_timer_disarm(&sweep->timer);
	sweep->running = true;
	sweep->was_master = peers_role(sm->peers) == SM_MASTER;
	sweep->phase = 0;
	sweep->no_routes[0] = '\0';
	sweep->rerouted = false;
	sweep->began_us = sweep->phase_began_us = loop_now_us(sm->loop);
	sweep->smps_before = smps_sent(sm, 0, 0);
	sweep->retries_before = window_stats(sm->window)->retries;
	sweep->sets_before = smps_sent(sm, METHOD_SET, 0);
	sweep->lft_sets_before = smps_sent(sm, METHOD_SET, ATTR_LINEAR_FORWARDING_TABLE);
	sweep->topology_before = sm->fabric->topology;
	sweep->facts_before = sm->fabric->facts;
	drain_mark(sm);
	sweep->now = (struct sweep_record){.number = sweep->last.number + 1,
					   .kind = sm->fabric->sm_port ? sweep->current.kind
								       : DISCOVER_HEAVY,
					   .merged = sweep->current.merged,
					   .started_s = loop_wall_s(sm->loop)};
	mcast_leave_off(sm->mcast);
	program_clear_report(sm->program, sweep->now.kind == DISCOVER_HEAVY);
	snprintf(sweep->now.reason, sizeof(sweep->now.reason), "%s", sweep->current.reason);
	log_debug("sweep %" PRIu64 " (%s) begins: %s", sweep->now.number,
		  sweep_kind_name(sweep->now.kind), sweep->now.reason);
	phases[0].start(sm);
}

void sweep_wait(struct sm *sm, struct sweep_waiter *waiter)
{
	waiter->after = sm->sweep.last.number + sm->sweep.running;
	list_push(&sm->sweep.waiters, &waiter->link);
}

static void call_waiters(struct sm *sm)
{
	const struct sweep_record *record = &sm->sweep.last;

	list_for_each (link, &sm->sweep.waiters) {
		struct sweep_waiter *waiter = container_of(link, struct sweep_waiter, link);

		if (record->number <= waiter->after || record->error == -EAGAIN)
			continue; /* the sweep that answers the requests follows */
		list_del(&waiter->link);
		waiter->ended(waiter, record);
	}
}

/* The delay until the next sweep: short after errors, and rising; else the sweep interval. 0:
 * never. */
static uint64_t next_sweep_us(const struct sm *sm)
{
	uint64_t interval_us = (uint64_t)sm->options.sweep_interval_s * 1000000;
	uint64_t retry_us = UINT64_C(500000) << (sm->sweep.failures < 5 ? sm->sweep.failures : 5);
	uint64_t doubt_us = contest_wait_us(sm);

	if (sm->sweep.failures && (!interval_us || retry_us < interval_us))
		return retry_us;
	return doubt_us && (!interval_us || doubt_us < interval_us) ? doubt_us : interval_us;
}

/* Sweeps of single switches must not delay the light sweep, however frequent or long they are.
 * If a light sweep is due, the waiting sweep becomes one. */
static void arm_timer(struct sm *sm)
{
	struct sweep *sweep = &sm->sweep;
	uint64_t now_us = loop_now_us(sm->loop), delay_us = next_sweep_us(sm);
	uint64_t due_us = delay_us ? now_us + delay_us : 0;

	if (sweep->last.kind != DISCOVER_TARGETED || !sweep->due_us ||
	    (due_us && due_us < sweep->due_us))
		sweep->due_us = due_us;
	if (!sweep->due_us || sm->stopped)
		return;
	if (sweep->due_us > now_us)
		loop_timer_arm(&sweep->timer, sweep->due_us - now_us);
	else
		timer_expired(sm);
}

/* Results that need another sweep soon. */
static bool met_errors(const struct sm *sm, int error)
{
	if (error)
		return error != -EALREADY && error != -EAGAIN;
	return discover_report(sm->discover)->failed || program_report(sm->program)->failed ||
	       program_report(sm->program)->not_active;
}

/* "1 SMP", "2 SMPs" */
static const char *plural(uint64_t number)
{
	return number == 1 ? "" : "s";
}

/* A permanent fault occurs in each sweep: it is logged once, and again when the result changes. */
static bool is_the_same_again(const struct sm *sm, int error)
{
	const struct sweep *sweep = &sm->sweep;

	return met_errors(sm, error) && sweep->failures && error == sweep->last.error &&
	       sm->fabric->topology == sweep->topology_before &&
	       strcmp(sweep->now.text, sweep->last.text) == 0;
}

static void log_sweep(const struct sm *sm, const struct sweep_record *record, bool same)
{
	struct log_subject subject = {
		.role = sm_state_name(peers_role(sm->peers)),
		.sweep = record->number,
		.phase = record->num_phases ? record->phases[record->num_phases - 1].name : NULL};
	bool quiet = same || (!record->changed && !record->sets && !record->error);

	if (!quiet)
		subject.message_id = MESSAGE_SWEEP;
	log_about(!same && record->error && record->error != -EALREADY && record->error != -EAGAIN
			  ? LOG_WARNING
		  : quiet ? LOG_DEBUG
			  : LOG_NOTICE,
		  &subject,
		  "sweep %" PRIu64 " (%s, %s): %s; %" PRIu64
		  " ms, %u switch%s, %u adapter%s, %" PRIu64 " SMP%s (%" PRIu64 " Set%s, %" PRIu64
		  " of LFT blocks), %" PRIu64 " retr%s",
		  record->number, sweep_kind_name(record->kind), record->reason, record->text,
		  record->duration_us / 1000, sm->fabric->num_switches,
		  sm->fabric->num_switches == 1 ? "" : "es", sm->fabric->num_adapters,
		  plural(sm->fabric->num_adapters), record->smps, plural(record->smps),
		  record->sets, plural(record->sets), record->lft_sets, record->retries,
		  record->retries == 1 ? "y" : "ies");
}

static void close_record(struct sm *sm, int error)
{
	struct sweep *sweep = &sm->sweep;
	struct sweep_record *record = &sweep->now;
	const struct window_stats *window = window_stats(sm->window);

	record->duration_us = loop_now_us(sm->loop) - sweep->began_us;
	record->smps = smps_sent(sm, 0, 0) - sweep->smps_before;
	record->sets = smps_sent(sm, METHOD_SET, 0) - sweep->sets_before;
	record->lft_sets =
		smps_sent(sm, METHOD_SET, ATTR_LINEAR_FORWARDING_TABLE) - sweep->lft_sets_before;
	record->retries = window->retries - sweep->retries_before;
	record->failed =
		discover_report(sm->discover)->failed + program_report(sm->program)->failed;
	record->blocks_set = program_report(sm->program)->blocks_set;
	record->switches_set = program_report(sm->program)->switches_set;
	record->changed = sm->fabric->topology != sweep->topology_before;
	record->error = error;
	sweep->last = *record;
}

/* Ports of these switches changed since they were read. PortStateChange no longer shows this, so a
 * light sweep would miss them. If the switches are too many to name, a heavy sweep follows. */
static void read_changed(struct sm *sm)
{
	list_for_each (link, &sm->fabric->switches) {
		struct switch_state *sw = container_of(link, struct switch_state, link);

		if (sw->changed)
			trigger_node(&sm->trigger, sw->node->guid,
				     "a port changed during the sweep");
		sw->changed = false;
	}
	if (sm->trigger.num_targets == TRIGGER_NODES_MAX)
		trigger_heavy(&sm->trigger, "ports of many switches changed during the sweep");
}

/* The table cache describes the time before the start. If it was wrong once, another program has
 * written, and all cached tables are read. */
static void follow_table_cache(struct sm *sm, int error)
{
	if (error != -EAGAIN)
		table_cache_forget(sm->cache);
	if (program_report(sm->program)->cache_wrong) {
		fabric_forget_tables(sm->fabric);
		trigger_heavy(&sm->trigger, "forwarding tables differ from the table cache");
	}
	if (!error && peers_role(sm->peers) == SM_MASTER) {
		table_cache_touch(sm->cache);
		replica_touch_tables(sm->replica);
	}
}

/* For a manager that becomes MASTER every link is new, until it has brought the subnet up. */
static void tell_links(struct sm *sm, int error)
{
	bool master = peers_role(sm->peers) == SM_MASTER;

	if (!master || !sm->sweep.was_master) {
		links_forget(sm->fabric);
		lost_links_end(&sm->fabric->lost_links);
	}
	if (master && !error) {
		links_tell(sm->fabric, &sm->links_limit);
		lost_links_settle(sm->fabric, loop_wall_s(sm->loop));
	}
}

static void sweep_end(struct sm *sm, int error, const char *format, ...)
{
	struct sweep *sweep = &sm->sweep;
	va_list arguments;
	bool same;

	close_phase(sm);
	va_start(arguments, format);
	vsnprintf(sweep->now.text, sizeof(sweep->now.text), format, arguments);
	va_end(arguments);
	same = is_the_same_again(sm, error);
	close_record(sm, error);
	sweep->running = false;
	sweep->failures = met_errors(sm, error) ? sweep->failures + 1 : 0;
	log_sweep(sm, &sweep->last, same);
	tell_links(sm, error);
	planned_links_swept(sm);
	drain_settle(sm, error);
	call_waiters(sm);
	follow_table_cache(sm, error);
	if (!error)
		port_events_settled(&sm->port_events, sm->fabric);
	if (discover_report(sm->discover)->want_heavy)
		trigger_heavy(&sm->trigger,
			      "a light sweep found a change that needs a heavy sweep");
	/* Cables that would not come up before are in no route yet. */
	if (peers_role(sm->peers) == SM_MASTER && !error && !program_report(sm->program)->failed &&
	    sm->routed_topology != sm->fabric->topology)
		trigger_light(&sm->trigger, "more links came up during the sweep");
	if (program_report(sm->program)->not_as_read)
		trigger_heavy(&sm->trigger, "a device no longer has the values that were read");
	if (program_report(sm->program)->changed)
		read_changed(sm);
	if (sm->report && error != -EAGAIN)
		sm->report(sm->report_ctx, error, sm->trigger.wanted || sweep->failures,
			   sweep->last.text);
	snapshot_request_tidy(&sm->snapshot_request);
	mcast_sweep_ended(sm->mcast);
	arm_timer(sm);
	trigger_release(&sm->trigger);
}

/* A port that refuses repeatedly, or its neighbour, may have changed unseen. So everything is
 * read again after 2, 6, 14, 30 failures and so on, then after every 64. In a large fabric some
 * device is always broken, and the others need not be read each time. */
static bool deserves_heavy(const struct sm *sm)
{
	enum { SELDOM = 64 };
	const struct program_report *report = program_report(sm->program);
	unsigned step = sm->sweep.failures + 2;

	return (report->failed || report->not_active) && step > 2 &&
	       (!(step & (step - 1)) || step % SELDOM == 0);
}

/* A MASTER maintains its fabric. Other roles wait for a change of the master, or for their link. */
static void timer_expired(void *arg)
{
	struct sm *sm = arg;

	if (peers_role(sm->peers) == SM_STANDBY)
		return;
	if (sm->sweep.failures && (sm->sweep.last.error || deserves_heavy(sm)))
		trigger_heavy(&sm->trigger, "retry after errors");
	else if (sm->sweep.failures)
		trigger_light(&sm->trigger, "retry after errors");
	else if (peers_role(sm->peers) == SM_MASTER)
		trigger_light(&sm->trigger, "interval");
	else
		trigger_heavy(&sm->trigger, "looking for a master");
}

void sweep_init(struct sm *sm)
{
	list_init(&sm->sweep.waiters);
	sm->links_limit = (struct log_limit){.burst = 24, .interval_us = 1000000};
	contest_init(sm);
	sm->sweep.lids_kept = (struct registry_waiter){.durable = sweep_advance, .ctx = sm};
	list_init(&sm->sweep.lids_kept.link);
	loop_deferred_init(&sm->sweep.next_phase, sm->loop, "sweep", start_phase, sm);
	loop_timer_init(&sm->sweep.timer, sm->loop, "sweep timer", timer_expired, sm);
}

void sweep_stop(struct sm *sm)
{
	loop_timer_disarm(&sm->sweep.timer);
	list_for_each (link, &sm->sweep.waiters) {
		struct sweep_waiter *waiter = container_of(link, struct sweep_waiter, link);

		list_del(&waiter->link);
		waiter->ended(waiter, NULL);
	}
}

void sweep_done(struct sm *sm)
{
	sweep_stop(sm);
	loop_defer_cancel(&sm->sweep.next_phase);
	registry_wait_cancel(&sm->sweep.lids_kept);
	if (sm->sweep.lids)
		slices_cancel(&sm->sweep.giving_lids);
	lid_work_free(sm->sweep.lids);
	sm->sweep.running = false;
}

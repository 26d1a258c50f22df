/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Connects the parts of one manager, and makes the JSON of `weftctl status`, which covers all of
 * them. */
#include "weftd/manager.h"

#include <stdlib.h>

#include "lib/mem.h"
#include "lib/tls_over.h"
#include "mad/inband.h"
#include "mad/txn.h"
#include "pm/pm.h"
#include "sa/report.h"
#include "sa/sa.h"
#include "sm/control/control.h"
#include "weftd/capture.h"
#include "weftd/control_groups.h"
#include "weftd/health.h"
#include "weftd/isolation.h"
#include "weftd/metrics.h"

struct manager {
	struct loop *loop;
	struct txn_table *txns;
	/* The carrier of the replication over the fabric; NULL: there is none. keyed: the carrier
	 * with keys. */
	struct stream_carrier *inband, *keyed;
	struct registry *registry;
	struct store *store; /* NULL: nothing is stored */
	struct event_hub events;
	struct sm *sm;
	struct sa *sa;
	struct pm *pm;
	struct control_groups lists;
	struct capture capture;
	struct isolation isolation;
	const struct settings *settings; /* further settings that status shows; or NULL */
	uint64_t started_s;		 /* wall clock */
	char *reload_error;		 /* of the last reload; NULL: it was accepted */
	bool reload_of_partitions;	 /* that error is about the partition file */
};

static bool view_is_coming(const void *ctx)
{
	return sm_is_master(ctx);
}

static void take_groups(void *ctx)
{
	struct manager *manager = ctx;
	struct group_entry *list;
	size_t count;

	if (sm_partitions_frozen(manager->sm))
		return;
	count = sm_groups(manager->sm, &list);
	sa_set_groups(manager->sa, list, count);
	free(list);
}

static bool fits_late(void *ctx, enum registry_kind kind, void *record, bool known)
{
	return sa_late(ctx, kind, record, known);
}

static const struct mft *held_mft(const void *ctx, guid_t guid)
{
	return sm_mft(ctx, guid);
}

static bool wants_key(void *ctx, guid_t port_guid, pkey_t p_key)
{
	return sm_wants_key(ctx, port_guid, p_key);
}

static enum alias_claim alias_claim(const void *ctx, guid_t port_guid, guid_t guid)
{
	return sm_alias_claim(ctx, port_guid, guid);
}

static bool may_read_counters(void *ctx, struct control_request *request, const char *what)
{
	return sm_may_change(ctx, request, what);
}

static lid_t manager_own_lid(const void *ctx)
{
	return sm_lid(ctx);
}

struct manager *manager_new(struct loop *loop, struct work_pool *pool, struct transport *transport,
			    struct store *store, const struct conf *conf)
{
	struct manager *manager = mem_zalloc(sizeof(*manager));

	manager->loop = loop;
	manager->started_s = loop_wall_s(loop);
	manager->txns = txn_table_new(loop, transport);
	manager->registry = registry_new();
	manager->store = store;
	if (store)
		store_keep(store, manager->registry);
	event_hub_init(&manager->events);
	manager->sm = sm_new(loop, pool, transport, manager->txns, manager->registry,
			     &manager->events, &conf->sm);
	if (store)
		sm_keep_tables(manager->sm, store_worker(store), store_dir(store));
	manager->sa = sa_new(loop, manager->txns, sm_view(manager->sm), manager->registry,
			     &manager->events, &conf->sa);
	sa_expect(manager->sa, view_is_coming, manager->sm);
	sa_set_mft(manager->sa, held_mft, manager->sm);
	sa_set_wanted(manager->sa, wants_key, manager->sm);
	sa_set_alias_claim(manager->sa, alias_claim, manager->sm);
	sm_on_groups(manager->sm, take_groups, manager);
	take_groups(manager);
	if (store)
		store_on_late(store, fits_late, manager->sa);
	manager->pm =
		pm_new(loop, manager->txns, sm_view(manager->sm), &manager->events, &conf->pm);
	pm_set_fabric(manager->pm, sm_fabric(manager->sm));
	pm_set_guard(manager->pm, may_read_counters, manager->sm);
	isolation_begin(&manager->isolation, manager->pm, manager->sm);
	capture_init(&manager->capture, loop, manager->txns, manager_own_lid, manager->sm);
	return manager;
}

void manager_free(struct manager *manager)
{
	struct sm_commands *commands;

	if (!manager)
		return;
	pm_free(manager->pm);
	sa_free(manager->sa);
	commands = sm_commands_of(manager->sm);
	sm_free(manager->sm);
	sm_commands_free(commands);
	if (manager->keyed)
		manager->keyed->ops->free(manager->keyed);
	else if (manager->inband)
		manager->inband->ops->free(manager->inband);
	registry_free(manager->registry);
	free(manager->reload_error);
	txn_table_free(manager->txns);
	free(manager);
}

static bool finds_manager(void *ctx, guid_t guid, struct mad_addr *out)
{
	return sm_find_manager(((struct manager *)ctx)->sm, guid, out);
}

static void doubts_manager(void *ctx, guid_t guid)
{
	sm_doubt_manager(((struct manager *)ctx)->sm, guid);
}

static void finds_right(void *ctx, guid_t guid)
{
	sm_believe_manager(((struct manager *)ctx)->sm, guid);
}

static guid_t admits_manager(void *ctx, lid_t lid)
{
	return sm_admits(((struct manager *)ctx)->sm, lid);
}

static struct stream_carrier *open_inband(struct manager *manager, const struct psk_list *keys)
{
	struct inband_owner owner = {finds_manager, admits_manager, doubts_manager, finds_right,
				     manager};

	manager->inband = inband_new(manager->loop, manager->txns, &owner);
	if (keys && keys->count)
		manager->keyed = tls_over_new(manager->loop, manager->inband, keys);
	return manager->keyed ? manager->keyed : manager->inband;
}

int manager_replicate(struct manager *manager, struct stream_carrier *carrier,
		      const struct psk_list *keys, const struct conf *conf,
		      char why[STREAM_WHY_SIZE])
{
	struct replica_options options = conf->replica;

	conf_print_agreed(conf, options.config);
	options.inband = ha_is_inband(conf) && !carrier && txn_message_max(manager->txns);
	options.sa_public = conf->sa.sa_key == SA_KEY_DEFAULT;
	if (options.inband)
		carrier = open_inband(manager, keys);
	options.keyed = manager->keyed != NULL;
	return sm_replicate(manager->sm, carrier, manager->store, &options, why);
}

void manager_set_ha_keys(struct manager *manager, const struct psk_list *keys)
{
	if (manager->keyed)
		tls_over_set_keys(manager->keyed, keys);
}

struct sm *manager_sm(const struct manager *manager)
{
	return manager->sm;
}

void manager_start(struct manager *manager)
{
	sm_start(manager->sm);
}

void manager_stop(struct manager *manager)
{
	pm_stop(manager->pm);
	sm_commands_stop(sm_commands_of(manager->sm));
	sm_stop(manager->sm);
	if (manager->store)
		store_flush(manager->store);
	sm_flush_tables(manager->sm);
}

void manager_set_route_options(struct manager *manager, struct route_options *options)
{
	sm_set_route_options(manager->sm, options);
}

void manager_set_node_names(struct manager *manager, struct map *names)
{
	sm_set_node_names(manager->sm, names);
}

void manager_set_plan(struct manager *manager, struct net *plan, const char *path)
{
	sm_set_plan(manager->sm, plan, path);
}

bool manager_set_partitions(struct manager *manager, enum partition_source source,
			    struct partitions *partitions)
{
	return sm_set_partitions(manager->sm, source, partitions);
}

void manager_set_conf(struct manager *manager, const struct conf *conf)
{
	sm_set_options(manager->sm, &conf->sm);
	sa_set_options(manager->sa, &conf->sa);
	pm_set_options(manager->pm, &conf->pm);
	sm_set_peers(manager->sm, conf->replica.peers);
}

void manager_reload_refused(struct manager *manager, const char *error, bool of_partitions)
{
	free(manager->reload_error);
	manager->reload_error = error ? mem_strdup(error) : NULL;
	manager->reload_of_partitions = of_partitions;
}

struct registry *manager_registry(struct manager *manager)
{
	return manager->registry;
}

struct event_hub *manager_events(struct manager *manager)
{
	return &manager->events;
}

void manager_show_settings(struct manager *manager, const struct settings *settings)
{
	manager->settings = settings;
}

uint64_t manager_m_key_violations(const struct manager *manager, guid_t port_guid)
{
	return sm_m_key_violations(manager->sm, port_guid);
}

static json_t *reports_status(const struct manager *manager)
{
	const struct report_stats *stats = sa_report_stats(manager->sa);

	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "subscriptions",
			 (json_int_t)registry_count(manager->registry, REGISTRY_SUBSCRIPTION),
			 "notices", (json_int_t)stats->notices, "sent", (json_int_t)stats->sent,
			 "answered", (json_int_t)stats->answered, "retried",
			 (json_int_t)stats->retried, "failed", (json_int_t)stats->failed, "lost",
			 (json_int_t)stats->lost, "unsubscribed", (json_int_t)stats->unsubscribed,
			 "waiting", (json_int_t)sa_reports(manager->sa));
}

/* Adds the problems that need an administrator: as text, and as anomalies for metrics. */
static void add_problems(const struct manager *manager, json_t *status)
{
	json_t *problems = json_array(), *partitions = json_object_get(status, "partitions");
	json_t *store = json_object_get(status, "store");
	const char *reason = json_string_value(json_object_get(store, "reason"));
	json_t *anomalies = json_object_get(status, "anomalies");
	const char *remedy;
	char *fault = sm_partition_problem_alone(manager->sm, &remedy);

	if (fault) {
		json_t *problem = json_sprintf("%s: %s", fault, remedy);

		json_array_append(problems, problem);
		json_object_set_new(partitions, "problem", problem);
		json_object_set_new(partitions, "fault", json_string(fault));
		json_object_set_new(partitions, "remedy", json_string(remedy));
	} else if (manager->reload_error && manager->reload_of_partitions) {
		json_array_append_new(problems,
				      json_sprintf("a reload was refused: %s; the partitions from "
						   "before stay in force",
						   manager->reload_error));
	}
	if (reason)
		json_array_append_new(
			problems,
			json_sprintf(
				"store %s degraded: %s; new registrations are lost if weftd ends "
				"(make room, or set --state-dir to a directory on another disk)",
				json_string_value(json_object_get(store, "path")), reason));
	json_object_set_new(anomalies, "store_degraded", json_integer(reason != NULL));
	json_object_set_new(anomalies, "partitions_frozen",
			    json_integer(json_is_true(json_object_get(partitions, "frozen"))));
	json_object_set_new(anomalies, "partition_file_bad",
			    json_integer(json_is_true(json_object_get(partitions, "file_bad"))));
	json_object_set_new(status, "problems", problems);
	if (manager->reload_error)
		json_object_set_new(manager->reload_of_partitions ? partitions : status,
				    "reload_error", json_string(manager->reload_error));
	free(fault);
}

static json_t *manager_status(const struct manager *manager)
{
	const struct sa_stats *stats = sa_stats(manager->sa);
	const struct sa_count *counts;
	size_t num_counts = sa_counts(manager->sa, &counts);
	json_t *status = sm_status(manager->sm), *requests = json_array();

	for (size_t i = 0; i < num_counts; i++)
		json_array_append_new(requests,
				      json_pack("{s:s,s:s,s:I,s:I}", "record", counts[i].record,
						"method", counts[i].method, "requests",
						(json_int_t)counts[i].requests, "refused",
						(json_int_t)counts[i].refused));
	json_object_set_new(
		status, "sa",
		json_pack("{s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}",
			  "requests", requests, "received", (json_int_t)stats->received, "answered",
			  (json_int_t)stats->answered, "refused", (json_int_t)stats->refused,
			  "dropped", (json_int_t)stats->dropped, "send_failed",
			  (json_int_t)stats->send_failed, "waiting",
			  (json_int_t)sa_waiting(manager->sa), "waited", (json_int_t)stats->waited,
			  "repeated", (json_int_t)stats->repeated, "overload",
			  (json_int_t)stats->overload, "over_limit",
			  (json_int_t)stats->over_limit[SA_LIMIT_REGISTRATIONS],
			  "groups_over_limit", (json_int_t)stats->over_limit[SA_LIMIT_GROUPS],
			  "no_mlid", (json_int_t)stats->over_limit[SA_LIMIT_MLIDS], "pending",
			  (json_int_t)sa_pending(manager->sa), "aliases_refused",
			  (json_int_t)stats->aliases_refused));
	json_object_set_new(json_object_get(status, "sa"), "mlids",
			    json_integer(sa_mlids(manager->sa)));
	json_object_set_new(status, "version", json_string(WEFT_VERSION));
	json_object_set_new(status, "started_s", json_integer((json_int_t)manager->started_s));
	json_object_set_new(status, "reports", reports_status(manager));
	if (manager->settings)
		settings_status(manager->settings, json_object_get(status, "settings"));
	json_object_set_new(status, "perf", pm_status(manager->pm));
	if (manager->store)
		json_object_set_new(status, "store", store_status(manager->store));
	add_problems(manager, status);
	return status;
}

/* Commands that need several parts. */

struct status_request;

/* A command that answers from the whole status and the health. Both are borrowed. */
typedef void status_answer(const struct status_request *waiting, json_t *status, json_t *health);

struct status_request {
	struct manager *manager;
	struct control_request *request;
	status_answer *answer;
	char *names; /* argument of perf metrics; or NULL */
};

static void status_gathered(void *arg, json_t *problems)
{
	struct status_request *waiting = arg;
	json_t *status, *health;

	if (problems) {
		status = manager_status(waiting->manager);
		json_object_update(json_object_get(status, "perf"), problems);
		health = health_judge(status);
		waiting->answer(waiting, status, health);
		json_decref(health);
		json_decref(status);
	} else {
		control_fail(waiting->request, "the daemon is stopping");
	}
	free(waiting->names);
	free(waiting);
}

/* The links and counters are looked through in slices before the answer. */
static void with_status(struct manager *manager, struct control_request *request,
			status_answer *answer, const char *names)
{
	struct status_request *waiting = mem_zalloc(sizeof(*waiting));

	*waiting =
		(struct status_request){manager, request, answer, names ? mem_strdup(names) : NULL};
	pm_problems(manager->pm, status_gathered, waiting);
}

static void answer_status(const struct status_request *waiting, json_t *status, json_t *health)
{
	json_t *worst = json_array_get(json_object_get(health, "checks"), 0);

	json_object_set(status, "health", worst);
	control_reply(waiting->request, json_incref(status));
}

static void answer_health(const struct status_request *waiting, json_t *status, json_t *health)
{
	(void)status;
	control_reply(waiting->request, json_incref(health));
}

static void answer_metrics(const struct status_request *waiting, json_t *status, json_t *health)
{
	pm_metrics(waiting->manager->pm, waiting->request, waiting->names,
		   metrics_text(status, health));
}

static void command_manager_status(void *ctx, struct control_request *request, const json_t *args)
{
	(void)args;
	with_status(ctx, request, answer_status, NULL);
}

static void command_health(void *ctx, struct control_request *request, const json_t *args)
{
	(void)args;
	with_status(ctx, request, answer_health, NULL);
}

static void command_metrics(void *ctx, struct control_request *request, const json_t *args)
{
	with_status(ctx, request, answer_metrics,
		    json_string_value(json_object_get(args, "names")));
}

static const struct control_command commands[] = {
	{"status", command_manager_status, CONTROL_LOOKS},
	{"health", command_health, CONTROL_LOOKS},
	{"perf metrics", command_metrics, CONTROL_LOOKS},
};

void manager_register_commands(struct manager *manager, struct control *control)
{
	control_register(control, commands, ARRAY_SIZE(commands), manager);
	sm_commands_begin(manager->sm, control);
	manager->lists = (struct control_groups){manager->registry, sm_view(manager->sm),
						 manager->sa, manager->sm};
	control_groups_commands(&manager->lists, control);
	pm_register_commands(manager->pm, control);
	capture_register(&manager->capture, control);
}

void manager_on_report(struct manager *manager,
		       void (*fn)(void *ctx, int error, bool again, const char *text), void *ctx)
{
	sm_on_report(manager->sm, fn, ctx);
}

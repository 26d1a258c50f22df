/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Prints the status as metrics. Each row names a member of the output of weftctl status, so both
 * always agree. A missing member, such as the store of a daemon without a store, is left out. A
 * manager that is not MASTER exports no fabric metrics, because stale values would keep alerts
 * firing. Names of metrics never change. Used by the manager, and by perf metrics.
 */
#include "weftd/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "weftd/health.h"

struct metric {
	const char *name, *path; /* names of members, with dots between them */
	const char *type, *help;
	double unit; /* factor from the unit of the member; 0: 1 */
	bool fabric; /* about the fabric: only a MASTER exports it */
};

#define COUNTER(name, path, help)                                      \
	{                                                              \
		"weft_" name "_total", path, "counter", help, 0, false \
	}
#define GAUGE(name, path, help)                             \
	{                                                   \
		"weft_" name, path, "gauge", help, 0, false \
	}
#define FABRIC(name, path, help)                           \
	{                                                  \
		"weft_" name, path, "gauge", help, 0, true \
	}
#define SECONDS(name, path, help)                                         \
	{                                                                 \
		"weft_" name "_seconds", path, "gauge", help, 1e-6, false \
	}

static const struct metric metrics[] = {
	GAUGE("sm_priority", "priority", "Priority in the election of the master."),
	COUNTER("sm_sweeps", "sweep.number", "Sweeps since the start."),
	SECONDS("sm_sweep_duration", "sweep.duration_us", "Duration of the last sweep."),
	GAUGE("sm_sweep_start_timestamp_seconds", "sweep.started_s", "Start of the last sweep."),
	GAUGE("sm_sweep_smps", "sweep.smps", "SMPs of the last sweep."),
	GAUGE("sm_sweep_sets", "sweep.sets", "Set() of the last sweep."),
	GAUGE("sm_sweep_retries", "sweep.retries", "Repeated SMPs of the last sweep."),
	FABRIC("sm_sweep_failed", "sweep.failed",
	       "Reads and writes of the last sweep that failed."),
	GAUGE("sm_sweeping", "sweeping", "Whether a sweep is under way."),
	FABRIC("switches", "counts.switches", "Switches in the subnet."),
	FABRIC("adapters", "counts.adapters", "Adapters and routers in the subnet."),
	FABRIC("ports", "counts.ports", "Ports of switches, adapters and routers."),
	FABRIC("ports_active", "counts.active_ports", "Ports that are ACTIVE."),
	FABRIC("links", "counts.links", "Links."),
	FABRIC("planned_links_missing", "planned_links.missing",
	       "Links of planned_topology that are absent or lead elsewhere, without those of "
	       "absent nodes."),
	FABRIC("planned_nodes_missing", "planned_links.nodes_missing",
	       "Nodes of planned_topology that are absent."),
	FABRIC("drained_ports", "drained_ports.by_command",
	       "Ports that weftctl drain disables, or will disable."),
	FABRIC("isolated_ports", "drained_ports.by_policy",
	       "Ports that weftd disables by policy: isolate_flaps, isolate_ber, "
	       "isolate_link_errors."),
	FABRIC("ports_out_of_service", "drained_ports.down",
	       "Ports that are down because of drained nodes and ports: both ends of each link."),
	FABRIC("lid_top", "counts.lid_top", "Highest assigned LID."),
	FABRIC("routing_unreached_pairs", "routing.unreached", "Pairs that no route connects."),
	FABRIC("routing_looping_pairs", "routing.looping", "Pairs whose route is a loop."),
	FABRIC("routing_disconnected_pairs", "routing.disconnected",
	       "Pairs that no cables connect."),
	COUNTER("sm_traps_received", "traps.received", "Traps, with repetitions."),
	COUNTER("sm_traps_mismatched", "traps.mismatched",
		"Traps that do not come from the port that they name."),
	COUNTER("sm_traps_not_forwarded", "traps.not_forwarded",
		"Traps not forwarded, because one port sent too many."),
	COUNTER("sm_traps_untold", "traps.untold",
		"Former name of weft_sm_traps_not_forwarded_total, for one release."),
	COUNTER("smp_retries", "window.retries", "SMPs sent again."),
	COUNTER("smp_failed", "window.failed", "SMPs given up after the last attempt."),
	COUNTER("mads_sent", "mads.sent", "MADs sent, of all classes."),
	COUNTER("mads_received", "mads.received", "MADs received."),
	COUNTER("mads_timed_out", "mads.timed_out", "Requests without an answer."),
	COUNTER("mads_malformed", "mads.malformed", "Malformed MADs."),
	COUNTER("mads_unmatched", "mads.unmatched", "Late, repeated or unexpected answers."),
	FABRIC("duplicate_guids", "anomalies.duplicate_guids", "GUIDs that two devices have."),
	COUNTER("lid_conflicts", "anomalies.lid_conflicts", "LIDs that two ports had."),
	FABRIC("lids", "store.records.lid",
	       "Ports that have or had a LID, which is kept for them."),
	FABRIC("mlids", "sa.mlids", "MLIDs of multicast groups."),
	FABRIC("multicast_groups", "store.records.group", "Multicast groups."),
	FABRIC("partitions_in_file", "partitions.in_file", "Partitions of the partition file."),
	FABRIC("partitions_at_run_time", "partitions.at_run_time",
	       "Partitions that commands created."),
	FABRIC("partition_run_time_members", "partitions.run_time_members",
	       "Members that commands added to partitions."),
	GAUGE("store_bytes", "store.bytes", "Size of the store's main file."),
	COUNTER("store_commits", "store.commits", "Transactions of the store."),
	GAUGE("store_committed_timestamp_seconds", "store.committed_s",
	      "When the store last wrote its files."),
	GAUGE("store_waiting", "store.waiting", "Changes that wait for the store."),
	GAUGE("store_degraded", "anomalies.store_degraded",
	      "1: the store cannot be written, and registrations are in memory only."),
	GAUGE("partitions_frozen", "anomalies.partitions_frozen",
	      "1: partitions are not known, and P_Keys stay as they are."),
	GAUGE("partition_file_bad", "anomalies.partition_file_bad",
	      "1: the partition file is bad or missing, and the last good one stays in force."),
	COUNTER("values_refused", "anomalies.refused_values",
		"Values that devices did not accept."),
	COUNTER("perf_reset_by_others", "perf.reset_by_others",
		"Ports whose counters were lower than before, although weftd did not reset them."),
	COUNTER("loop_slow_turns", "slow_turns", "Callbacks that used more than 2 ms of CPU."),
	COUNTER("sa_received", "sa.received", "Requests to the SA."),
	COUNTER("sa_answered", "sa.answered", "Requests that were answered."),
	COUNTER("sa_refused", "sa.refused", "Requests that were refused with a status."),
	COUNTER("sa_aliases_refused", "sa.aliases_refused",
		"Refused requests to set or delete an alias GUID."),
	COUNTER("sa_dropped", "sa.dropped", "Requests that were dropped."),
	COUNTER("sa_overload", "sa.overload", "Requests dropped because the queue was full."),
	COUNTER("sa_over_limit", "sa.over_limit",
		"Registrations refused for registrations_per_port."),
	COUNTER("sa_groups_over_limit", "sa.groups_over_limit",
		"Multicast groups refused for groups_per_port."),
	COUNTER("sa_no_mlid", "sa.no_mlid", "Multicast groups refused because no MLID was free."),
	GAUGE("sa_waiting", "sa.waiting", "Requests that wait for their turn."),
	GAUGE("sa_subscriptions", "reports.subscriptions", "Subscriptions to events."),
	COUNTER("sa_reports_sent", "reports.sent", "Reports sent to subscribers."),
	COUNTER("sa_reports_failed", "reports.failed", "Reports without an answer."),
	GAUGE("start_timestamp_seconds", "started_s", "When weftd started."),
	GAUGE("ha_standbys", "ha.standbys", "Connected standbys of this manager."),
	GAUGE("ha_standbys_in_sync", "ha.in_sync", "Standbys that have all registrations."),
	GAUGE("ha_changes_behind", "ha.behind",
	      "Changes that the standby furthest behind, or this standby itself, does not have "
	      "yet."),
	GAUGE("ha_follows", "ha.follows", "1: this manager follows a master."),
	COUNTER("ha_refused_connections", "ha.refused.connections",
		"Connections to ha_listen without a valid key or a place for their handshake."),
	COUNTER("ha_refused_standbys", "ha.refused.standbys",
		"Standbys whose greeting or frame was refused."),
	COUNTER("ha_refused_masters", "ha.refused.masters",
		"Masters whose greeting or frame was refused."),
};

static const json_t *member_at(const json_t *object, const char *path)
{
	char name[32];

	while (object && *path) {
		size_t size = strcspn(path, ".");

		snprintf(name, sizeof(name), "%.*s", (int)size, path);
		object = json_object_get(object, name);
		path += size + (path[size] == '.');
	}
	return object;
}

static void put_head(FILE *file, const char *name, const char *type, const char *help)
{
	fprintf(file, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_metric(FILE *file, const struct metric *metric, const json_t *value)
{
	double number = json_is_true(value) ? 1 : json_number_value(value);

	if (!json_is_number(value) && !json_is_boolean(value))
		return;
	put_head(file, metric->name, metric->type, metric->help);
	fprintf(file, "%s %.15g\n", metric->name, metric->unit ? number * metric->unit : number);
}

/* The role, as Prometheus represents states: 1 for the present state, 0 for the others. */
static void put_role(FILE *file, const json_t *status)
{
	static const char *const roles[] = {"DISCOVERING", "STANDBY", "NOTACTIVE", "MASTER"};
	const char *role = json_string_value(json_object_get(status, "role"));

	put_head(file, "weft_sm_role", "gauge", "1 for the role of the manager.");
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		fprintf(file, "weft_sm_role{role=\"%s\"} %d\n", roles[i],
			role && !strcmp(role, roles[i]));
}

static void put_build(FILE *file, const json_t *status)
{
	const char *version = json_string_value(json_object_get(status, "version"));

	if (!version)
		return;
	put_head(file, "weft_build_info", "gauge", "1 for the version of weftd.");
	fprintf(file, "weft_build_info{version=\"%s\"} 1\n", version);
}

static void put_engine(FILE *file, const json_t *status)
{
	const char *engine = json_string_value(member_at(status, "routing.engine"));

	if (!engine)
		return;
	put_head(file, "weft_routing_engine", "gauge", "1 for the engine whose routes are in use.");
	fprintf(file, "weft_routing_engine{engine=\"%s\"} 1\n", engine);
}

/* The number of requests by record and method. */
static void put_requests(FILE *file, const json_t *requests)
{
	const json_t *row;
	size_t i;

	if (!json_array_size(requests))
		return;
	put_head(file, "weft_sa_requests_total", "counter", "Requests by record and method.");
	json_array_foreach (requests, i, row)
		fprintf(file, "weft_sa_requests_total{record=\"%s\",method=\"%s\"} %lld\n",
			json_string_value(json_object_get(row, "record")),
			json_string_value(json_object_get(row, "method")),
			(long long)json_integer_value(json_object_get(row, "requests")));
}

/* The level of each check of weftctl health, as a number. */
static void put_health(FILE *file, const json_t *checks)
{
	const json_t *check;
	size_t i;

	if (!json_array_size(checks))
		return;
	put_head(file, "weft_health", "gauge", "0: healthy, 1: degraded, 2: broken.");
	json_array_foreach (checks, i, check) {
		const char *level = json_string_value(json_object_get(check, "level"));
		int number = HEALTH_LEVELS;

		while (--number && strcmp(health_level_names[number], level) != 0)
			;
		fprintf(file, "weft_health{check=\"%s\"} %d\n",
			json_string_value(json_object_get(check, "check")), number);
	}
}

char *metrics_text(const json_t *status, const json_t *health)
{
	const char *role = json_string_value(json_object_get(status, "role"));
	bool is_master = role && !strcmp(role, "MASTER");
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		abort(); /* out of memory */
	put_build(file, status);
	put_role(file, status);
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		if (is_master || !metrics[i].fabric)
			put_metric(file, &metrics[i], member_at(status, metrics[i].path));
	}
	if (is_master)
		put_engine(file, status);
	put_requests(file, member_at(status, "sa.requests"));
	put_health(file, json_object_get(health, "checks"));
	fclose(file);
	return text;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Prints `weftctl status`: paragraphs with a title each, then a table of MADs by kind. A paragraph
 * whose data is missing is omitted.
 */
#include <stdlib.h>
#include <string.h>

#include "ctl/handlers.h"
#include "ctl/text.h"
#include "include/iba.h"
#include "lib/mem.h"

enum { TITLE_WIDTH = 12 };

/* Prints a line of a paragraph; title is "" after the first line. */
static void line_text(FILE *out, const char *title, const char *text)
{
	fprintf(out, "%-*s", TITLE_WIDTH, title);
	text_put_folded(out, text, TITLE_WIDTH);
}

/* The same for a format of ctl/text.h. */
static void line(FILE *out, const char *title, const json_t *object, const char *format)
{
	char *text = text_filled(object, format);

	line_text(out, title, text);
	free(text);
}

/* Prints a line for each object of an array. */
static void lines(FILE *out, const char *title, const json_t *array, const char *format)
{
	const json_t *item;
	size_t i;

	json_array_foreach (array, i, item) {
		line(out, i ? "" : title, item, format);
	}
}

static void print_manager(const json_t *status, FILE *out)
{
	line(out, "Manager", status, "{role}, priority {priority:d}, on {ca} port {port:d}");
	line(out, "", status, "GUID {guid}, LID {lid:d}");
	line(out, "Subnet", status, "{state}");
}

/* Prints the durations of the phases of the last sweep. */
static void print_phases(const json_t *phases, FILE *out)
{
	char *text = text_filled_list(phases, "{name} {us:us}", ", ");

	if (*text)
		line_text(out, "Phases", text);
	free(text);
}

static void print_last_sweep(const json_t *sweep, FILE *out)
{
	if (!sweep)
		return;
	if (!number_member(sweep, "number")) {
		line(out, "Last sweep", sweep, "none yet");
		return;
	}
	line(out, "Last sweep", sweep,
	     "number {number:d}, {kind} ({reason}), at {started_s:time}, took {duration_us:us}");
	line(out, "", sweep,
	     "{smps:d} SMP{smps:#|s}, {sets:d} of them Set(), {retries:d} retr{retries:#y|ies}, "
	     "{failed:d} failed");
}

static void print_counts(const json_t *counts, FILE *out)
{
	if (!counts)
		return;
	line(out, "Fabric", counts,
	     "{switches:d} switch{switches:#|es}, {adapters:d} adapter{adapters:#|s}, {links:d} "
	     "link{links:#|s}");
	line(out, "", counts,
	     number_member(counts, "lid_top")
		     ? "{active_ports:d} of {ports:d} ports active, highest LID {lid_top:d}"
		     : "{active_ports:d} of {ports:d} ports active");
}

void print_routing(const json_t *routing, FILE *out)
{
	const json_t *tried;
	size_t i;

	if (!routing)
		return;
	if (!json_is_string(json_object_get(routing, "engine")))
		line(out, "Routing", routing, "none yet");
	else if (number_member(routing, "unreached") || number_member(routing, "looping"))
		line(out, "Routing", routing,
		     "{engine}; {unreached:d} pairs of switch and LID are not reached, "
		     "{looping:d} loop");
	else
		line(out, "Routing", routing, "{engine}; every switch reaches every LID");
	json_array_foreach (json_object_get(routing, "tried"), i, tried) {
		const char *why = json_string_value(json_object_get(tried, "why"));

		if (why && *why)
			line(out, "", tried, "not {engine}: {why}");
	}
}

/* Prints run-time settings that override the configuration, or that are ignored. */
static void print_settings(const json_t *settings, FILE *out)
{
	const json_t *setting;
	size_t i;

	json_array_foreach (settings, i, setting) {
		line(out, i ? "" : "Run time", setting,
		     json_object_get(setting, "ignored")
			     ? "{name} = {value}, set at run time, is ignored: {ignored}"
			     : "{name} = {value}, set at run time; weftctl {clear} returns to the "
			       "configuration");
	}
}

static void status_print_peers(const json_t *peers, FILE *out)
{
	if (json_is_array(peers) && !json_array_size(peers))
		line(out, "Peers", peers, "none");
	lines(out, "Peers", peers,
	      "{guid}, LID {lid:d}, priority {priority:d}, {state}, last seen {last_seen_ms:ms} "
	      "ago");
}

static void print_store(const json_t *store, FILE *out)
{
	bool degraded = !strcmp(text_member(store, "state"), "degraded");
	long long records = 0;
	json_t *shown, *count;
	const char *name;

	if (!store)
		return;
	json_object_foreach ((json_t *)json_object_get(store, "records"), name, count) {
		records += json_integer_value(count);
	}
	if (degraded)
		line(out, "Store", store, "degraded: {reason}");
	shown = json_copy((json_t *)store);
	json_object_set_new(shown, "records", json_integer(records));
	line(out, degraded ? "" : "Store", shown,
	     "{path}, {records:d} record{records:#|s}, {bytes:d} bytes, last commit "
	     "{committed_s:time}");
	json_decref(shown);
}

/* Prints the anomalies that have occurred, as "1 LID conflicts, 2 without a response". */
static void print_anomalies(const json_t *anomalies, FILE *out)
{
	static const struct {
		const char *member, *word;
	} kinds[] = {
		{"duplicate_guids", "duplicate GUIDs"},
		{"self_links", "ports cabled to themselves"},
		{"lid_conflicts", "LID conflicts"},
		{"lids_exhausted", "ports without a free LID"},
		{"unresponsive", "without a response"},
		{"malformed", "malformed answers"},
		{"refused_values", "values refused by devices"},
		{"store_degraded", "degraded store"},
		{"partitions_frozen", "loss of partitions"},
		{"partition_file_bad", "bad or missing partition file"},
	};
	char text[512] = "";
	size_t used = 0;

	if (!anomalies)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		long long number = number_member(anomalies, kinds[i].member);

		if (number && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%lld %s",
						 used ? ", " : "", number, kinds[i].word);
	}
	if (used && used < sizeof(text))
		snprintf(text + used, sizeof(text) - used, "; since the start of weftd");
	line_text(out, "Anomalies", used ? text : "none");
}

/* Paragraphs of an object with numbers. */
static const struct {
	const char *member, *title, *format;
} paragraphs[] = {
	{"traps", "Traps",
	 "{received:d} received, {repressed:d} repressed, {mismatched:d} from another port than "
	 "the trap names, {not_forwarded:d} not forwarded, above the rate of one port"},
	{"sa", "SA requests",
	 "{received:d} received, {answered:d} answered, {refused:d} refused, {dropped:d} dropped"},
	{"reports", "Reports",
	 "{subscriptions:d} subscriptions, {answered:d} reports answered, {failed:d} not answered, "
	 "{lost:d} lost, {unsubscribed:d} subscriptions ended without answers"},
	{"window", "Window",
	 "{under_way_max:d} SMPs under way at most, {retries:d} sent again, {failed:d} failed"},
	{"mads", "MADs",
	 "{sent:d} sent, {received:d} received, {timed_out:d} timed out, {unmatched:d} late or "
	 "unmatched, {malformed:d} malformed, {send_failed:d} not sent, {unhandled:d} without a "
	 "handler"},
};

static char *mad_text(const json_t *smp)
{
	return text_filled(smp, number_member(smp, "class") == CLASS_SUBN_LID
					? "{method}({attribute}) by LID"
					: "{method}({attribute})");
}

static void print_smps(const json_t *smps, FILE *out)
{
	static const struct column columns[] = {
		COLUMN_FROM("MAD", mad_text, COLUMN_TEXT),
		COLUMN("SENT", "sent", COLUMN_NUMBER),
		COLUMN("RECEIVED", "received", COLUMN_NUMBER),
		COLUMN("TIMED-OUT", "timed_out", COLUMN_NUMBER),
		{.name = NULL},
	};

	if (!json_array_size(smps))
		return;
	fputc('\n', out);
	columns_print(columns, NULL, smps, out);
}

static void print_partitions_line(const json_t *partitions, FILE *out)
{
	if (number_member(partitions, "in_file") || number_member(partitions, "at_run_time"))
		line(out, "Partitions", partitions,
		     "{source}; {in_file:d} in the file, {at_run_time:d} made at run time");
	else if (partitions)
		line(out, "Partitions", partitions, "{source}");
	if (number_member(partitions, "unmanaged_ports"))
		line(out, "", partitions,
		     "{unmanaged_ports:d} port{unmanaged_ports:#|s} lost {unmanaged_p_keys:d} "
		     "P_Key{unmanaged_p_keys:#|s} that the configuration does not assign: see "
		     "docs/partitions.md");
}

static void print_drained_targets(const json_t *targets, FILE *out)
{
	for (size_t i = 0; i < json_array_size(targets); i++) {
		const json_t *target = json_array_get(targets, i);

		line(out, i ? "" : "Drained", target,
		     json_object_get(target, "reason")
			     ? "\"{description}\" port {port:d}, by policy: {reason}: {state}"
		     : json_object_get(target, "port")
			     ? "\"{description}\" port {port:d}, by {by}: {state}"
			     : "\"{description}\", by {by}: {state}, {isolated:d} of {ports:d} "
			       "port{ports:#|s} disabled");
	}
}

/* Whether a Problem line already has the text and the remedy of this check. */
static bool is_a_problem(const json_t *check, const json_t *problems)
{
	const char *name = text_member(check, "check");

	return json_array_size(problems) && (!strcmp(name, "partitions") || !strcmp(name, "store"));
}

/* Prints the worst line of weftctl health. */
static void print_worst(const json_t *check, const json_t *problems, FILE *out)
{
	if (!check)
		return;
	line(out, "Health", check,
	     !strcmp(text_member(check, "level"), "healthy") ? "{level}"
	     : is_a_problem(check, problems)
		     ? "{level}: {check}: see the problem below, and weftctl health"
		     : "{level}: {check}: {text} ({remedy}); see weftctl health");
}

void print_status(const json_t *data, FILE *out)
{
	print_worst(json_object_get(data, "health"), json_object_get(data, "problems"), out);
	lines(out, "Problem", json_object_get(data, "problems"), "{}");
	print_manager(data, out);
	print_last_sweep(json_object_get(data, "sweep"), out);
	print_counts(json_object_get(data, "counts"), out);
	print_routing(json_object_get(data, "routing"), out);
	print_settings(json_object_get(data, "settings"), out);
	lines(out, "Unrouted", json_object_get(data, "unrouted"),
	      "{guid} \"{description}\": {why}");
	lines(out, "Disabled", json_object_get(data, "disabled_ports"),
	      "{guid} \"{description}\" port {port:d}, by command");
	print_drained_targets(json_object_get(data, "drained"), out);
	status_print_peers(json_object_get(data, "peers"), out);
	print_partitions_line(json_object_get(data, "partitions"), out);
	print_store(json_object_get(data, "store"), out);
	print_anomalies(json_object_get(data, "anomalies"), out);
	for (size_t i = 0; i < ARRAY_SIZE(paragraphs); i++) {
		const json_t *object = json_object_get(data, paragraphs[i].member);

		if (object)
			line(out, paragraphs[i].title, object, paragraphs[i].format);
	}
	print_phases(json_object_get(json_object_get(data, "sweep"), "phases"), out);
	print_smps(json_object_get(data, "smps"), out);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Prints `weftctl status`: paragraphs with a title each, then a table of MADs by kind. A paragraph
 * whose data is missing is omitted.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/handlers.h"
#include "ctl/text.h"
#include "include/iba.h"
#include "lib/mem.h"

enum { TITLE_WIDTH = 12 };

/* Returns the bytes up to the next punctuation mark, or of one word if these do not fit into the
 * room. */
static size_t piece_size(const char *text, unsigned room)
{
	size_t size = 0;

	do {
		size += strcspn(text + size, " ");
	} while (text[size] && size && !strchr(",;:", text[size - 1]) && ++size);
	return size <= room ? size : strcspn(text, " ");
}

/* Prints the text after a title, folded to the width of the terminal. */
static void print_folded(const char *text, FILE *out)
{
	unsigned whole = text_terminal_width(out),
		 room = whole > 2 * TITLE_WIDTH ? whole : UINT_MAX;
	unsigned column = TITLE_WIDTH;

	while (*text) {
		size_t size = piece_size(text, room - TITLE_WIDTH);
		unsigned width = 0;

		for (size_t i = 0; i < size; i++)
			width += (text[i] & 0xC0) != 0x80;
		if (column > TITLE_WIDTH && column + 1 + width > room) {
			fprintf(out, "\n%*s", TITLE_WIDTH, "");
			column = TITLE_WIDTH;
		} else if (column > TITLE_WIDTH) {
			column += fprintf(out, " ");
		}
		fwrite(text, 1, size, out);
		column += width;
		text += size + (text[size] == ' ');
	}
	fputc('\n', out);
}

/* Prints a line of a paragraph; title is "" after the first line. */
static void line(FILE *out, const char *title, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void line(FILE *out, const char *title, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort(); /* out of memory */
	va_end(args);
	fprintf(out, "%-*s", TITLE_WIDTH, title);
	print_folded(text, out);
	free(text);
}

static void print_problems(const json_t *problems, FILE *out)
{
	const json_t *problem;
	size_t i;

	json_array_foreach (problems, i, problem) {
		line(out, i ? "" : "Problem", "%s", json_string_value(problem));
	}
}

static void print_manager(const json_t *status, FILE *out)
{
	line(out, "Manager", "%s, priority %lld, on %s port %lld", text_member(status, "role"),
	     number_member(status, "priority"), text_member(status, "ca"),
	     number_member(status, "port"));
	line(out, "", "GUID %s, LID %lld", text_member(status, "guid"),
	     number_member(status, "lid"));
	line(out, "Subnet", "%s", text_member(status, "state"));
}

/* Prints the durations of the phases of the last sweep. */
static void print_phases(const json_t *phases, FILE *out)
{
	char *text = NULL, span[TEXT_SPAN_SIZE];
	const json_t *phase;
	FILE *list;
	size_t i, size;

	if (!json_array_size(phases))
		return;
	list = open_memstream(&text, &size);
	if (!list)
		abort(); /* out of memory */
	json_array_foreach (phases, i, phase) {
		text_span(number_member(phase, "us"), span);
		fprintf(list, "%s%s %s", i ? ", " : "", text_member(phase, "name"), span);
	}
	fclose(list);
	line(out, "Phases", "%s", text);
	free(text);
}

static void print_when(time_t when_s, char text[32])
{
	struct tm calendar;

	if (!when_s || !localtime_r(&when_s, &calendar) ||
	    !strftime(text, 32, "%Y-%m-%d %H:%M:%S", &calendar))
		snprintf(text, 32, "-");
}

static void print_last_sweep(const json_t *sweep, FILE *out)
{
	long long smps = number_member(sweep, "smps"), retries = number_member(sweep, "retries");
	char span[TEXT_SPAN_SIZE], when[32];

	if (!sweep)
		return;
	if (!number_member(sweep, "number")) {
		line(out, "Last sweep", "none yet");
		return;
	}
	print_when(number_member(sweep, "started_s"), when);
	line(out, "Last sweep", "number %lld, %s (%s), at %s, took %s",
	     number_member(sweep, "number"), text_member(sweep, "kind"),
	     text_member(sweep, "reason"), when,
	     text_span(number_member(sweep, "duration_us"), span));
	line(out, "", "%lld SMP%s, %lld of them Set(), %lld retr%s, %lld failed", smps,
	     text_plural(smps, "s"), number_member(sweep, "sets"), retries,
	     retries == 1 ? "y" : "ies", number_member(sweep, "failed"));
}

static void print_counts(const json_t *counts, FILE *out)
{
	long long switches = number_member(counts, "switches"),
		  adapters = number_member(counts, "adapters"),
		  links = number_member(counts, "links");
	char given[48] = "";

	if (!counts)
		return;
	line(out, "Fabric", "%lld switch%s, %lld adapter%s, %lld link%s", switches,
	     text_plural(switches, "es"), adapters, text_plural(adapters, "s"), links,
	     text_plural(links, "s"));
	if (number_member(counts, "lid_top"))
		snprintf(given, sizeof(given), ", highest LID %lld",
			 number_member(counts, "lid_top"));
	line(out, "", "%lld of %lld ports active%s", number_member(counts, "active_ports"),
	     number_member(counts, "ports"), given);
}

void print_routing(const json_t *routing, FILE *out)
{
	long long unreached = number_member(routing, "unreached"),
		  looping = number_member(routing, "looping");
	const json_t *tried;
	size_t i;

	if (!routing)
		return;
	if (!json_is_string(json_object_get(routing, "engine")))
		line(out, "Routing", "none yet");
	else if (unreached || looping)
		line(out, "Routing", "%s; %lld pairs of switch and LID are not reached, %lld loop",
		     text_member(routing, "engine"), unreached, looping);
	else
		line(out, "Routing", "%s; every switch reaches every LID",
		     text_member(routing, "engine"));
	json_array_foreach (json_object_get(routing, "tried"), i, tried) {
		const char *why = text_member(tried, "why");

		if (strcmp(why, "-") != 0 && *why)
			line(out, "", "not %s: %s", text_member(tried, "engine"), why);
	}
}

/* Prints run-time settings that override the configuration, or that are ignored. */
static void print_settings(const json_t *settings, FILE *out)
{
	const json_t *setting;
	size_t i;

	json_array_foreach (settings, i, setting) {
		const json_t *ignored = json_object_get(setting, "ignored");

		line(out, i ? "" : "Run time",
		     ignored ? "%s = %s, set at run time, is ignored: %s"
			     : "%s = %s, set at run time; weftctl %s returns to the configuration",
		     text_member(setting, "name"), text_member(setting, "value"),
		     text_member(setting, ignored ? "ignored" : "clear"));
	}
}

static void print_disabled(const json_t *ports, FILE *out)
{
	const json_t *port;
	size_t i;

	json_array_foreach (ports, i, port) {
		line(out, i ? "" : "Disabled", "%s \"%s\" port %lld, by command",
		     text_member(port, "guid"), text_member(port, "description"),
		     number_member(port, "port"));
	}
}

static void print_unrouted(const json_t *switches, FILE *out)
{
	const json_t *sw;
	size_t i;

	json_array_foreach (switches, i, sw) {
		line(out, i ? "" : "Unrouted", "%s \"%s\": %s", text_member(sw, "guid"),
		     text_member(sw, "description"), text_member(sw, "why"));
	}
}

static void status_print_peers(const json_t *peers, FILE *out)
{
	char span[TEXT_SPAN_SIZE];
	const json_t *peer;
	size_t i;

	if (json_is_array(peers) && !json_array_size(peers))
		line(out, "Peers", "none");
	json_array_foreach (peers, i, peer) {
		line(out, i ? "" : "Peers", "%s, LID %lld, priority %lld, %s, last seen %s ago",
		     text_member(peer, "guid"), number_member(peer, "lid"),
		     number_member(peer, "priority"), text_member(peer, "state"),
		     text_span(1000 * number_member(peer, "last_seen_ms"), span));
	}
}

static void print_store(const json_t *store, FILE *out)
{
	const char *state = text_member(store, "state"), *name;
	const json_t *count;
	long long records = 0;
	char when[32];

	if (!store)
		return;
	json_object_foreach ((json_t *)json_object_get(store, "records"), name, count) {
		records += json_integer_value(count);
	}
	if (!strcmp(state, "degraded"))
		line(out, "Store", "degraded: %s", text_member(store, "reason"));
	print_when(number_member(store, "committed_s"), when);
	line(out, strcmp(state, "degraded") != 0 ? "Store" : "",
	     "%s, %lld record%s, %lld bytes, last commit %s", text_member(store, "path"), records,
	     text_plural(records, "s"), number_member(store, "bytes"), when);
}

/* Members of one object that are numbers, with a label for each. */
struct figure {
	const char *member, *word;
};

/* Prints "3 received, 2 answered". With only_some, figures that are 0 are omitted, and "none" is
 * printed if all are. */
static void status_print_figures(const char *title, const json_t *object,
				 const struct figure *figures, size_t count, bool only_some,
				 FILE *out)
{
	char text[512] = "";
	size_t used = 0;

	if (!object)
		return;
	for (size_t i = 0; i < count; i++) {
		long long number = number_member(object, figures[i].member);

		if ((!only_some || number) && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%lld %s",
						 used ? ", " : "", number, figures[i].word);
	}
	line(out, title, "%s", used ? text : "none");
}

static const struct figure mad_figures[] = {
	{"sent", "sent"},
	{"received", "received"},
	{"timed_out", "timed out"},
	{"unmatched", "late or unmatched"},
	{"malformed", "malformed"},
	{"send_failed", "not sent"},
	{"unhandled", "without a handler"},
};
static const struct figure window_figures[] = {
	{"under_way_max", "SMPs under way at most"},
	{"retries", "sent again"},
	{"failed", "failed"},
};
static const struct figure administrator_figures[] = {
	{"received", "received"},
	{"answered", "answered"},
	{"refused", "refused"},
	{"dropped", "dropped"},
};
static const struct figure report_figures[] = {
	{"subscriptions", "subscriptions"},
	{"answered", "reports answered"},
	{"failed", "not answered"},
	{"lost", "lost"},
	{"unsubscribed", "subscriptions ended without answers"},
};
static const struct figure trap_figures[] = {
	{"received", "received"},
	{"repressed", "repressed"},
	{"mismatched", "from another port than the trap names"},
	{"not_forwarded", "not forwarded, above the rate of one port"},
};
static const struct figure anomaly_figures[] = {
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

static const struct {
	const char *member, *title;
	const struct figure *figures;
	size_t count;
	bool only_some;
} paragraphs[] = {
	{"anomalies", "Anomalies", anomaly_figures, ARRAY_SIZE(anomaly_figures), true},
	{"traps", "Traps", trap_figures, ARRAY_SIZE(trap_figures), false},
	{"sa", "SA requests", administrator_figures, ARRAY_SIZE(administrator_figures), false},
	{"reports", "Reports", report_figures, ARRAY_SIZE(report_figures), false},
	{"window", "Window", window_figures, ARRAY_SIZE(window_figures), false},
	{"mads", "MADs", mad_figures, ARRAY_SIZE(mad_figures), false},
};

static char *mad_text(const json_t *smp)
{
	return mem_printf("%s(%s)%s", text_member(smp, "method"), text_member(smp, "attribute"),
			  number_member(smp, "class") == CLASS_SUBN_LID ? " by LID" : "");
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
	long long unmanaged = number_member(partitions, "unmanaged_ports");
	long long in_file = number_member(partitions, "in_file");
	long long made = number_member(partitions, "at_run_time");

	if (partitions && (in_file || made))
		line(out, "Partitions", "%s; %lld in the file, %lld made at run time",
		     text_member(partitions, "source"), in_file, made);
	else if (partitions)
		line(out, "Partitions", "%s", text_member(partitions, "source"));
	if (unmanaged)
		line(out, "",
		     "%lld port%s lost %lld P_Key%s that the configuration does not assign: see "
		     "docs/partitions.md",
		     unmanaged, text_plural(unmanaged, "s"),
		     number_member(partitions, "unmanaged_p_keys"),
		     text_plural(number_member(partitions, "unmanaged_p_keys"), "s"));
}

void print_status(const json_t *data, FILE *out)
{
	print_problems(json_object_get(data, "problems"), out);
	print_manager(data, out);
	print_last_sweep(json_object_get(data, "sweep"), out);
	print_counts(json_object_get(data, "counts"), out);
	print_routing(json_object_get(data, "routing"), out);
	print_settings(json_object_get(data, "settings"), out);
	print_unrouted(json_object_get(data, "unrouted"), out);
	print_disabled(json_object_get(data, "disabled_ports"), out);
	status_print_peers(json_object_get(data, "peers"), out);
	print_partitions_line(json_object_get(data, "partitions"), out);
	print_store(json_object_get(data, "store"), out);
	for (size_t i = 0; i < ARRAY_SIZE(paragraphs); i++)
		status_print_figures(
			paragraphs[i].title, json_object_get(data, paragraphs[i].member),
			paragraphs[i].figures, paragraphs[i].count, paragraphs[i].only_some, out);
	print_phases(json_object_get(json_object_get(data, "sweep"), "phases"), out);
	print_smps(json_object_get(data, "smps"), out);
}

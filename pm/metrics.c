/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * perf metrics: figures in Prometheus' text format, in pieces. The caller's figures of other
 * modules come first; then those of the performance manager; then the error counters of ports.
 * With the names of another exporter, only figures of ports are written. pm/names.h has the names.
 * Loop thread only.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "pm/names.h"
#include "pm/survey.h"

enum { PORTS_A_PART = 64 };

struct metrics {
	struct pm *pm;
	struct control_request *request;
	struct pm_survey *survey;
	const struct naming *naming;
	char *head;	     /* NULL: written */
	size_t family, told; /* the family under way, and its ports that are written */
	bool own_told;
};

struct text { /* a growing stream */
	char *bytes;
	size_t size;
	FILE *file;
};

static void text_begin(struct text *text)
{
	text->file = open_memstream(&text->bytes, &text->size);
	if (!text->file)
		abort(); /* out of memory */
}

static void text_end(struct text *text, struct buffer *part)
{
	fclose(text->file);
	row_string(part, "text", text->bytes);
	free(text->bytes);
}

static void one(FILE *file, const char *name, const char *type, const char *help, double value)
{
	fprintf(file, "# HELP %s %s\n# TYPE %s %s\n%s %.15g\n", name, help, name, type, name,
		value);
}

static size_t num_ports(const struct pm_survey *survey)
{
	return survey->num_rose + survey->num_rest + survey->num_clean;
}

/* In the order of their importance. */
static const struct pm_key *metrics_port_at(const struct pm_survey *survey, size_t at)
{
	if (at < survey->num_rose)
		return &survey->rose[at];
	at -= survey->num_rose;
	return at < survey->num_rest ? &survey->rest[at] : &survey->clean[at - survey->num_rest];
}

/* The performance manager's own figures. */
static void own_part(struct metrics *metrics, struct buffer *part)
{
	const struct pm_sweep_figures *last = &metrics->pm->last;
	const struct {
		const char *name, *type, *help;
		double value;
	} rows[] = {
		/* The first two always, the others while there is a fabric: a former MASTER would
		 * report an old time. */
		{"weft_perf_sweeps_total", "counter", "Sweeps over all counters.",
		 (double)last->number},
		{"weft_perf_interval_seconds", "gauge", "Interval of the sweeps; 0: none.",
		 (double)metrics->pm->options.interval_s},
		{"weft_perf_last_sweep_timestamp_seconds", "gauge",
		 "When the last one began; 0: none.", (double)last->wall_s},
		{"weft_perf_sweep_duration_seconds", "gauge", "How long the last one took.",
		 (double)last->duration_us / 1e6},
		{"weft_perf_ports_read", "gauge", "Ports that it read.",
		 (double)last->counts.ports},
		{"weft_perf_agents_silent", "gauge", "Agents that did not answer it.",
		 last->silent},
		{"weft_perf_requests_timed_out", "gauge", "Requests of it without an answer.",
		 (double)last->counts.timed_out},
		{"weft_perf_counters_reset", "gauge", "Ports whose full counters it reset.",
		 (double)last->counts.resets},
		{"weft_adapters_xmit_bytes_per_second", "gauge",
		 "Bytes per second that adapters sent between the last two sweeps.",
		 last->data_rate[0]},
		{"weft_switches_xmit_bytes_per_second", "gauge",
		 "Bytes per second that ports of switches sent between the last two sweeps.",
		 last->data_rate[1]},
		{"weft_links_below_capability", "gauge",
		 "Links that are slower or narrower than both ends support.",
		 (double)metrics->survey->num_links},
		{"weft_ports_with_full_counters", "gauge",
		 "Ports with an error counter that stopped at its largest value.",
		 (double)metrics->survey->num_full},
		{"weft_ports_with_errors", "gauge", "Ports whose error counters are not all 0.",
		 (double)(metrics->survey->num_rose + metrics->survey->num_rest)},
	};
	size_t shown = metrics->survey->view ? ARRAY_SIZE(rows) : 2;
	struct text text;

	text_begin(&text);
	for (size_t i = 0; i < shown; i++)
		one(text.file, rows[i].name, rows[i].type, rows[i].help, rows[i].value);
	text_end(&text, part);
}

static const struct naming *const namings[] = {&naming_weft, &naming_treydock, &naming_guilbaults};

static const struct naming *naming_of(const char *word)
{
	for (size_t i = 0; word && i < ARRAY_SIZE(namings); i++)
		if (!strcmp(namings[i]->word, word))
			return namings[i];
	return word ? NULL : namings[0];
}

static void put_head(FILE *file, const struct family *family)
{
	fprintf(file, "# HELP %s %s\n# TYPE %s %s\n", family->name, family->help, family->name,
		family->type);
}

/* Writes some ports of a family; false: there are no more. */
static bool ports_part(struct metrics *metrics, struct buffer *part)
{
	const struct pm_survey *survey = metrics->survey;
	size_t all = survey->view ? num_ports(survey) : 0;
	const struct family *family = &metrics->naming->families[metrics->family];
	struct text text;

	if (!all || metrics->family == metrics->naming->count)
		return false;
	text_begin(&text);
	if (!metrics->told)
		put_head(text.file, family);
	for (unsigned i = 0; i < PORTS_A_PART && metrics->told < all; i++) {
		const struct pm_key *key = metrics_port_at(survey, metrics->told++);
		struct series series = {
			.file = text.file, .family = family, .view = survey->view, .num = key->num};
		struct pm_agent *agent;

		series.port = pm_find_port(metrics->pm, key, &agent);
		series.agent = agent;
		if (series.port && (family->kinds == PORTS_ALL ||
				    (family->kinds == PORTS_SWITCH) == agent->is_switch))
			family->put(&series);
	}
	if (metrics->told == all) {
		metrics->told = 0;
		metrics->family++;
	}
	text_end(&text, part);
	return true;
}

static enum stream_step metrics_next(void *source, struct buffer *part)
{
	struct metrics *metrics = source;

	if (metrics->head) {
		row_string(part, "text", metrics->head);
		free(metrics->head);
		metrics->head = NULL;
	} else if (!metrics->own_told) {
		metrics->own_told = true;
		own_part(metrics, part);
	} else if (!ports_part(metrics, part)) {
		return STREAM_END;
	}
	return STREAM_PART;
}

static void metrics_finish(void *source)
{
	struct metrics *metrics = source;

	pm_survey_free(metrics->survey);
	free(metrics->head);
	free(metrics);
}

static void metrics_gathered(void *arg, struct pm_survey *survey)
{
	struct metrics *metrics = arg;

	metrics->survey = survey;
	if (survey) {
		control_stream(metrics->request, metrics_next, metrics_finish, metrics);
		return;
	}
	control_fail(metrics->request, "the daemon is stopping");
	free(metrics->head);
	free(metrics);
}

void pm_metrics(struct pm *pm, struct control_request *request, const char *names, char *head)
{
	const struct naming *naming = naming_of(names);
	struct metrics *metrics;

	if (!naming) {
		control_fail(request, "\"%.40s\" is no list of names: weft, treydock or guilbaults",
			     names);
		free(head);
		return;
	}
	metrics = mem_zalloc(sizeof(*metrics));
	metrics->naming = naming;
	/* The figures of the manager have no other names. */
	if (!naming->has_own) {
		free(head);
		head = NULL;
		metrics->own_told = true;
	}
	metrics->pm = pm;
	metrics->request = request;
	metrics->head = head;
	pm_survey_begin(pm, metrics_gathered, metrics);
}

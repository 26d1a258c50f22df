/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * perf metrics: figures in Prometheus' text format, in pieces. The caller's figures of other
 * modules come first; then those of the performance manager; then the error counters of ports.
 * Counters of links are there for each port from the first read, because increase()
 * needs a value from before an error. Other counters are there if they are not 0.
 * Loop thread only.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "pm/rows.h"
#include "pm/survey.h"

enum { PORTS_A_PART = 64 };

/* Counters of links, which each port has. */
static const uint32_t always =
	1u << ERROR_SYMBOL | 1u << ERROR_LINK_RECOVERY | 1u << ERROR_LINK_DOWNED | 1u << ERROR_RCV;

struct metrics {
	struct pm *pm;
	struct control_request *request;
	struct pm_survey *survey;
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
static const struct pm_key *port_at(const struct pm_survey *survey, size_t at)
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

/* Escapes characters that would end a label's value. */
static void put_label(FILE *file, const char *value)
{
	for (; *value; value++) {
		if (*value == '\n')
			fputs("\\n", file);
		else if (*value == '"' || *value == '\\')
			fprintf(file, "\\%c", *value);
		else
			fputc(*value, file);
	}
}

/* A port for a family of series, which writes its lines. */
struct series {
	FILE *file;
	const struct pm_agent *agent;
	const struct pm_port *port;
	uint8_t num;
};

static void put_labels(const struct series *series, const char *name)
{
	fprintf(series->file, "%s{guid=\"0x%016" PRIx64 "\",port=\"%u\",node=\"", name,
		series->agent->facts->info.node_guid, series->num);
	put_label(series->file, series->agent->facts->description);
	fputc('"', series->file);
}

static void put_errors(const struct series *series, const char *name)
{
	const struct pm_port *port = series->port;

	for (unsigned bit = 0; bit < PORT_COUNTERS_SELECTED; bit++) {
		bool shown = port->read_us && always & 1u << bit;

		if ((bit >= PORT_ERRORS && bit < SELECT_XMIT_WAIT) ||
		    (!pm_total(port, bit) && !shown))
			continue;
		put_labels(series, name);
		fprintf(series->file, ",counter=\"%s\"} %" PRIu64 "\n", pm_counter_name(bit),
			pm_total(port, bit));
	}
}

/* Of ports that have counted symbol errors; of the others it is 0. */
static void put_ber(const struct series *series, const char *name)
{
	double ber = pm_symbol_ber(series->port, pm_link_rate(series->agent, series->num));

	if (ber < 0 || !pm_total(series->port, ERROR_SYMBOL))
		return;
	put_labels(series, name);
	fprintf(series->file, "} %.6g\n", ber);
}

/* Prometheus wants all lines of a name together, so there is a pass over all ports for each. */
static const struct family {
	const char *name, *type, *help;
	void (*put)(const struct series *series, const char *name);
} families[] = {
	{"weft_port_errors_total", "counter",
	 "Error counters of ports, by the specification's names; PortXmitWait in ticks.",
	 put_errors},
	{"weft_port_symbol_ber", "gauge",
	 "Symbol errors per bit that the link carries, between the last two reads; only of ports "
	 "that have counted symbol errors.",
	 put_ber},
};

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
	const struct family *family = &families[metrics->family];
	struct text text;

	if (!all || metrics->family == ARRAY_SIZE(families))
		return false;
	text_begin(&text);
	if (!metrics->told)
		put_head(text.file, family);
	for (unsigned i = 0; i < PORTS_A_PART && metrics->told < all; i++) {
		const struct pm_key *key = port_at(survey, metrics->told++);
		struct series series = {.file = text.file, .num = key->num};
		struct pm_agent *agent;

		series.port = pm_find_port(metrics->pm, key, &agent);
		series.agent = agent;
		if (series.port)
			family->put(&series, family->name);
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

void pm_metrics(struct pm *pm, struct control_request *request, char *head)
{
	struct metrics *metrics = mem_zalloc(sizeof(*metrics));

	metrics->pm = pm;
	metrics->request = request;
	metrics->head = head;
	pm_survey_begin(pm, metrics_gathered, metrics);
}

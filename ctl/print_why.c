/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The command why: weftctl queries the obstacle between two ends, and then the last events of each,
 * and prints both on one screen, with the obstacle at the end.
 */
#include <stdlib.h>
#include <string.h>

#include "ctl/handlers.h"
#include "ctl/text.h"
#include "lib/mem.h"

enum { EVENTS_SHOWN = 4, LABEL_WIDTH = 12 };

static void take_events(void *ctx, json_t *part)
{
	json_array_extend(ctx, json_object_get(part, "events"));
}

/* Adds the last events of an end. Without them, the answer is still useful. */
static void add_events(const char *socket, json_t *end)
{
	json_t *events = json_array(), *result = NULL, *request;
	const char *name = text_member(end, "description");
	char *refusal = NULL;

	/* A port that only the registry knows has no name. */
	if (!json_object_get(end, "port") && !strncmp(name, "port 0x", strlen("port 0x")))
		name = text_member(end, "port_guid");
	request = json_pack("{s:s,s:s,s:i}", "command", "events", "node", name, "lines",
			    EVENTS_SHOWN);
	control_call(socket, request, take_events, events, &result, &refusal);
	json_object_set_new(end, "events", events);
	json_decref(request);
	json_decref(result);
	free(refusal);
}

int why_perform(const char *socket, const json_t *request, json_t **result, char **refusal)
{
	int error = control_call(socket, request, NULL, NULL, result, refusal);

	if (error)
		return error;
	add_events(socket, json_object_get(*result, "from"));
	if (json_object_get(*result, "to"))
		add_events(socket, json_object_get(*result, "to"));
	return 0;
}

bool why_failed(const json_t *data)
{
	return json_is_object(json_object_get(data, "obstacle"));
}

static void print_label(const char *label, FILE *out)
{
	fprintf(out, "%-*s", LABEL_WIDTH, label);
}

static void print_gone(const json_t *end, FILE *out)
{
	const json_t *gone = json_object_get(end, "gone");

	text_put(out, gone,
		 number_member(gone, "since_s") ? "gone since {since_s:time}"
						: "gone since before weftd started");
	if (number_member(gone, "peer_port"))
		text_put(out, gone, ", was at {peer} port {peer_port:d}");
	if (json_object_get(end, "peer"))
		text_put(out, json_object_get(end, "peer"), " (now {state})");
	if (number_member(gone, "lid"))
		text_put(out, gone, ", LID {lid:d} {lid_reserved:?is reserved|has another port}");
	fputc('\n', out);
}

static void print_end(const json_t *end, FILE *out)
{
	fprintf(out, "%s: ", text_member(end, "description"));
	if (json_object_get(end, "gone")) {
		print_gone(end, out);
		return;
	}
	text_put(out, end, "port {port:d}, LID {lid:d}");
	if (json_object_get(end, "state"))
		text_put(out, end, ", {state}");
	if (json_object_get(end, "width_speed"))
		text_put(out, end, ", {width_speed}, MTU {mtu:d}");
	text_put(out, end, "{answers:?|, agent silent}");
	if (json_object_get(end, "peer"))
		text_put(out, json_object_get(end, "peer"), ", at {:n} port {port:d}");
	fputc('\n', out);
}

static void print_way(const json_t *route, const char *label, FILE *out)
{
	char *hops = text_filled_list(json_object_get(route, "hops"),
				      "{:n} ({in_port:d} to {out_port:d})", ", ");

	print_label(label, out);
	fputs(*hops ? hops : "no switch", out);
	if (strcmp(text_member(route, "result"), "arrives") != 0)
		text_put(out, route, ": {result}");
	fputc('\n', out);
	free(hops);
}

static void print_shared_partitions(const json_t *partitions, FILE *out)
{
	json_t *row;
	size_t i;

	if (!json_array_size(partitions)) {
		print_label("Partitions", out);
		fputs("none in common\n", out);
	}
	json_array_foreach (partitions, i, row) {
		print_label(i ? "" : "Partitions", out);
		text_put(out, row, "{p_key:x4}");
		if (json_string_length(json_object_get(row, "name")))
			text_put(out, row, " \"{name}\"");
		text_put(out, row,
			 ": {from} and {to} member{communicates:?|: they do not communicate}\n");
	}
}

static void print_groups(const json_t *data, FILE *out)
{
	const json_t *groups = json_object_get(data, "groups");
	long long more = number_member(data, "num_groups") - (long long)json_array_size(groups);
	char *text = text_filled_list(groups, "{mgid}", ", ");

	print_label("Groups", out);
	fputs(*text ? text : "none in common", out);
	if (more > 0)
		fprintf(out, " and %lld more", more);
	fputc('\n', out);
	free(text);
}

static void print_between(const json_t *data, FILE *out)
{
	json_t *note;
	size_t i;

	if (!json_object_get(data, "there"))
		return;
	print_way(json_object_get(data, "there"), "Route there", out);
	print_way(json_object_get(data, "back"), "Route back", out);
	print_label("Path", out);
	text_put(out, json_object_get(data, "path"), "SL {sl:d}, MTU {mtu:d}, rate ");
	fprintf(out, "%g Gb/s\n",
		(double)number_member(json_object_get(data, "path"), "rate_mbps") / 1000);
	print_shared_partitions(json_object_get(data, "partitions"), out);
	print_groups(data, out);
	json_array_foreach (json_object_get(data, "notes"), i, note) {
		print_label("Note", out);
		fprintf(out, "%s\n", json_is_string(note) ? json_string_value(note) : "-");
	}
}

static void print_events_of(const json_t *end, FILE *out)
{
	const json_t *events = json_object_get(end, "events");
	json_t *event;
	size_t i;

	if (!json_array_size(events))
		return;
	fprintf(out, "Last events of %s:\n", text_member(end, "description"));
	json_array_foreach (events, i, event)
		print_event(event, out);
}

void print_why(const json_t *data, FILE *out)
{
	const json_t *from = json_object_get(data, "from"), *to = json_object_get(data, "to");

	print_end(from, out);
	if (to)
		print_end(to, out);
	print_between(data, out);
	print_events_of(from, out);
	print_events_of(to, out);
	if (why_failed(data))
		text_put(out, json_object_get(data, "obstacle"),
			 "Obstacle ({layer}): {text}\nRemedy: {remedy}\n");
	else
		fputs("No obstacle found\n", out);
}

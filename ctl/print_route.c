/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Prints the answers of route check, route quality, route plan and route engine. The quality table
 * has a column for each set of tables, so that you can compare a plan with the present routes.
 */
#include "ctl/handlers.h"
#include "ctl/text.h"
#include "lib/mem.h"

static double real_member(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

static void print_islands(const json_t *data, FILE *out)
{
	const json_t *islands = json_object_get(data, "islands");
	long long more = number_member(data, "num_islands") - (long long)json_array_size(islands);

	if (number_member(data, "num_islands") < 2)
		return;
	text_put(out, data,
		 "Islands: the fabric has {num_islands:d} parts without a link between them; "
		 "{disconnected:d} pairs of switch and LID cannot reach each other\n");
	text_put_list(out, islands,
		      "  part with {first:n}: {switches:d} switches, {hosts:d} ports of hosts\n",
		      "");
	if (more > 0)
		fprintf(out, "  and %lld more\n", more);
}

static void print_credit(const json_t *credit, FILE *out)
{
	const json_t *loop = json_object_get(credit, "loop");

	if (!number_member(credit, "loops")) {
		text_put(out, credit, "Credit loops: none, of {channels:d} channels\n");
		return;
	}
	text_put(out, credit,
		 "Credit loops: {loops:d} of {channels:d} channels are in a loop; example with "
		 "{length:d} channels on VL {vl:d}:\n");
	text_put_list(out, loop, "  {:n} port {port:d}\n", "");
	if ((long long)json_array_size(loop) < number_member(credit, "length"))
		fputs("  ...\n", out);
}

/* Prints a number of pairs that are not reached, if there are any, and one of them. */
static void print_pairs(const json_t *data, const char *member, const char *format,
			const char *example, FILE *out)
{
	if (!number_member(data, member))
		return;
	text_put(out, data, format);
	if (json_object_get(data, example))
		text_put(out, json_object_get(data, example),
			 ", for example LID {lid:d} from {from:n}");
	fputc('\n', out);
}

static void print_reached(const json_t *data, FILE *out)
{
	long long pairs = number_member(data, "pairs");

	fprintf(out, "Reached: %lld of %lld pairs of switch and LID\n",
		pairs - number_member(data, "unreached") - number_member(data, "looping") -
			number_member(data, "disconnected"),
		pairs);
	print_pairs(data, "unreached", "Not reached although linked: {unreached:d}",
		    "unreached_example", out);
	print_pairs(data, "looping", "In a loop: {looping:d}", "looping_example", out);
}

static void print_head(const json_t *data, FILE *out)
{
	text_put(out, data,
		 "Routes of {engine} on {switches:d} switches, {end_ports:d} end ports\n");
	if (number_member(data, "unknown_blocks"))
		text_put(out, data,
			 "Unknown contents of {unknown_blocks:d} block{unknown_blocks:#|s} of "
			 "tables: a write is in progress, or the switch did not answer\n");
}

void print_route_check(const json_t *data, FILE *out)
{
	print_head(data, out);
	print_reached(data, out);
	print_islands(data, out);
	print_credit(json_object_get(data, "credit"), out);
}

bool route_check_failed(const json_t *data)
{
	return !flag_member(data, "good");
}

/* Rows of the quality table. */
static const struct {
	const char *title, *part,
		*member; /* of the answer; part NULL: the member is at the top level */
	bool real;
} quality_rows[] = {
	{"all to all: paths over the fullest link", "all_to_all", "most", false},
	{"            paths over a link, mean", "all_to_all", "mean", true},
	{"            congestion risk", "all_to_all", "risk", false},
	{"            links without a path", "all_to_all", "unused", false},
	{"            pairs of hosts not reached", "all_to_all", "unreached", false},
	{"shifts:     fullest link, worst", "shifts", "worst", false},
	{"            fullest link, median", "shifts", "median", false},
	{"            shifts tried", "shifts", "patterns", false},
	{"random:     fullest link, worst", "random", "worst", false},
	{"            fullest link, 95 of 100", "random", "percentile_95", false},
	{"            fullest link, median", "random", "median", false},
	{"bisection:  share of a link, mean", NULL, "bisection", true},
	{"length:     paths longer than necessary", "stretch", "longer", false},
};

/* Prints a column of figures for each set; columns[i + 1] is the column of sets[i]. */
static void quality_print_figures(const json_t *const *sets, const struct column *columns,
				  FILE *out)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(quality_rows); i++) {
		json_t *row = json_pack("{s:s}", "quality", quality_rows[i].title);
		const char *part = quality_rows[i].part, *member = quality_rows[i].member;

		for (size_t set = 0; columns[set + 1].name; set++) {
			const json_t *figures = part ? json_object_get(sets[set], part) : sets[set];

			json_object_set_new(row, columns[set + 1].member,
					    quality_rows[i].real
						    ? json_real(real_member(figures, member))
						    : json_integer(number_member(figures, member)));
		}
		json_array_append_new(rows, row);
	}
	columns_print(columns, NULL, rows, out);
	json_decref(rows);
}

static void print_levels(const json_t *levels, FILE *out)
{
	static const struct column columns[] = {
		COLUMN("LEVEL", "level", COLUMN_NUMBER),
		COLUMN("DIRECTION", "direction", COLUMN_TEXT),
		COLUMN("LINKS", "links", COLUMN_NUMBER),
		COLUMN("LEAST", "least", COLUMN_NUMBER),
		COLUMN("MEAN", "mean", COLUMN_NUMBER),
		COLUMN("MOST", "most", COLUMN_NUMBER),
		{.name = NULL},
	};

	if (!json_array_size(levels))
		return;
	fputc('\n', out);
	columns_print(columns, NULL, levels, out);
}

void print_route_quality(const json_t *data, FILE *out)
{
	static const struct column columns[] = {
		COLUMN("QUALITY", "quality", COLUMN_TEXT),
		COLUMN("NOW", "now", COLUMN_NUMBER),
		{.name = NULL},
	};

	print_head(data, out);
	quality_print_figures(&data, columns, out);
	print_levels(json_object_get(json_object_get(data, "all_to_all"), "levels"), out);
}

void print_route_plan(const json_t *data, FILE *out)
{
	static const struct column columns[] = {
		COLUMN("QUALITY", "quality", COLUMN_TEXT),
		COLUMN("NOW", "now", COLUMN_NUMBER),
		COLUMN("PLANNED", "planned", COLUMN_NUMBER),
		{.name = NULL},
	};
	const json_t *planned = json_object_get(data, "planned");
	const json_t *const sets[] = {json_object_get(data, "now"), planned};

	print_head(data, out);
	text_put(out, planned, "Planned: {engine}; nothing is programmed\n");
	if (json_is_string(json_object_get(data, "why")))
		text_put(out, data, "weftd would refuse this plan: {why}\n");
	print_reached(planned, out);
	print_credit(json_object_get(planned, "credit"), out);
	text_put(out, json_object_get(data, "churn"),
		 "Changes: {entries:d} entries in {blocks:d} blocks of {switches:d} switches; "
		 "{paths:d} paths from a switch with hosts to a LID differ\n\n");
	quality_print_figures(sets, columns, out);
}

void print_route_engine(const json_t *data, FILE *out)
{
	print_sweep(data, out);
	print_routing(json_object_get(data, "routing"), out);
	text_put(
		out, data,
		json_is_true(json_object_get(data, "at_run_time"))
			? "This setting survives a restart. weftctl route engine default ends it.\n"
			: "These are the engines of the configuration.\n");
}

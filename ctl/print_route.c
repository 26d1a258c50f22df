/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Prints the answers of route check, route quality, route plan and route engine. The quality table
 * has a column for each set of tables, so that you can compare a plan with the present routes.
 */
#include <string.h>

#include "ctl/handlers.h"
#include "ctl/text.h"
#include "lib/mem.h"

static double real_member(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

static void print_example(const json_t *data, const char *name, FILE *out)
{
	const json_t *example = json_object_get(data, name);

	if (example)
		fprintf(out, ", for example LID %lld from %s", number_member(example, "lid"),
			text_name(json_object_get(example, "from")));
	fputc('\n', out);
}

static void print_islands(const json_t *data, FILE *out)
{
	long long islands = number_member(data, "num_islands"), shown;
	const json_t *island;
	size_t i;

	if (islands < 2)
		return;
	fprintf(out,
		"Islands: the fabric has %lld parts without a link between them; %lld pairs of "
		"switch and LID cannot reach each other\n",
		islands, number_member(data, "disconnected"));
	json_array_foreach (json_object_get(data, "islands"), i, island) {
		fprintf(out, "  part with %s: %lld switches, %lld ports of hosts\n",
			text_name(json_object_get(island, "first")),
			number_member(island, "switches"), number_member(island, "hosts"));
	}
	shown = (long long)json_array_size(json_object_get(data, "islands"));
	if (shown < islands)
		fprintf(out, "  and %lld more\n", islands - shown);
}

static void print_credit(const json_t *credit, FILE *out)
{
	long long loops = number_member(credit, "loops");
	const json_t *loop = json_object_get(credit, "loop"), *hop;
	size_t i;

	if (!loops) {
		fprintf(out, "Credit loops: none, of %lld channels\n",
			number_member(credit, "channels"));
		return;
	}
	fprintf(out,
		"Credit loops: %lld of %lld channels are in a loop; example with %lld channels on "
		"VL %lld:\n",
		loops, number_member(credit, "channels"), number_member(credit, "length"),
		number_member(credit, "vl"));
	json_array_foreach (loop, i, hop) {
		fprintf(out, "  %s port %lld\n", text_name(hop), number_member(hop, "port"));
	}
	if ((long long)json_array_size(loop) < number_member(credit, "length"))
		fputs("  ...\n", out);
}

static void print_reached(const json_t *data, FILE *out)
{
	long long unreached = number_member(data, "unreached"),
		  looping = number_member(data, "looping");

	fprintf(out, "Reached: %lld of %lld pairs of switch and LID\n",
		number_member(data, "pairs") - unreached - looping -
			number_member(data, "disconnected"),
		number_member(data, "pairs"));
	if (unreached) {
		fprintf(out, "Not reached although linked: %lld", unreached);
		print_example(data, "unreached_example", out);
	}
	if (looping) {
		fprintf(out, "In a loop: %lld", looping);
		print_example(data, "looping_example", out);
	}
}

static void print_head(const json_t *data, FILE *out)
{
	long long unknown = number_member(data, "unknown_blocks");

	fprintf(out, "Routes of %s on %lld switches, %lld end ports\n", text_member(data, "engine"),
		number_member(data, "switches"), number_member(data, "end_ports"));
	if (unknown)
		fprintf(out,
			"Unknown contents of %lld block%s of tables: a write is in progress, or "
			"the switch did not answer\n",
			unknown, text_plural(unknown, "s"));
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
	const json_t *churn = json_object_get(data, "churn");
	const json_t *const sets[] = {json_object_get(data, "now"), planned};
	const char *why = text_member(data, "why");

	print_head(data, out);
	fprintf(out, "Planned: %s; nothing is programmed\n", text_member(planned, "engine"));
	if (strcmp(why, "-") != 0)
		fprintf(out, "weftd would refuse this plan: %s\n", why);
	print_reached(planned, out);
	print_credit(json_object_get(planned, "credit"), out);
	fprintf(out,
		"Changes: %lld entries in %lld blocks of %lld switches; %lld paths from a switch "
		"with hosts to a LID differ\n\n",
		number_member(churn, "entries"), number_member(churn, "blocks"),
		number_member(churn, "switches"), number_member(churn, "paths"));
	quality_print_figures(sets, columns, out);
}

void print_route_engine(const json_t *data, FILE *out)
{
	print_sweep(data, out);
	print_routing(json_object_get(data, "routing"), out);
	if (json_is_true(json_object_get(data, "at_run_time")))
		fputs("This setting survives a restart. weftctl route engine default ends it.\n",
		      out);
	else
		fputs("These are the engines of the configuration.\n", out);
}

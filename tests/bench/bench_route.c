/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The cost of the routing engines and the quality of their tables: CPU time on one core, and the
 * figures of route/quality.h. The fabrics are fat trees, complete and degraded. It also prints the
 * changes after the loss of a link between a leaf and a spine. Prints figures and judges nothing.
 *
 *
 *	bench_route [-q] [SPEC]...       these instead of trees of 648, 3,456 and 11,664 hosts;
 *	                                 -q skips permutations
 *	bench_route -d DIR ENGINE SPEC   writes OpenSM's dumps of the tables instead
 *	bench_route -j NAME SPEC [DIR]   a line with tabs for quality.sh and show.sh of
 *	                                 tests/bench: about the tables of weft's engine NAME, or
 *	                                 of another manager NAME with its files in DIR
 *	                                 (opensm.fdbs, guid2lid)
 *	bench_route -c NAME SPEC [DIR DIR]   entries and blocks that change when the leaf in the
 *	                                 middle loses its last cable upwards, or between two DIRs
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "formats/guid_file.h"
#include "route/dump.h"
#include "route/engine.h"
#include "route/quality.h"
#include "tests/unit/fixtures/snapshot_from.h"

enum { SHIFTS = 500, DRAWS = 100 };

static const char *const engines[] = {"minhop", "updn", "ftree"};

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static double peak_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024.0;
}

static struct routes *compute(const struct snapshot *snapshot, const char *name, double *seconds)
{
	struct routes *routes = routes_new(snapshot->generation, snapshot->num_switches, name);
	char why[ROUTE_WHY_SIZE] = "";
	double begin = cpu_s();
	int rc = route_engine_find(name)->compute(snapshot, NULL, NULL, routes, why);

	*seconds = cpu_s() - begin;
	if (!rc)
		return routes;
	printf("%-7s refused: %s\n", name, why);
	routes_unref(routes);
	return NULL;
}

static void print_patterns(const struct snapshot *snapshot, const struct routes *routes)
{
	struct quality_load shifts, random;
	double bisection;

	quality_shifts(snapshot, routes, NULL, SHIFTS, &shifts);
	quality_random(snapshot, routes, NULL, DRAWS, 1, &random, &bisection);
	printf("%8u %5u/%u/%u %9.3f", shifts.worst, random.median, random.percentile_95,
	       random.worst, bisection);
}

static void print_engine(const struct snapshot *snapshot, const char *name, bool patterns)
{
	struct route_report report;
	struct credit_report credit;
	struct quality_all all;
	double table_s, check_s, credit_s, all_s;
	struct routes *routes = compute(snapshot, name, &table_s);

	if (!routes)
		return;
	check_s = cpu_s();
	route_check(snapshot, routes, NULL, NULL, &report);
	credit_s = cpu_s();
	check_s = credit_s - check_s;
	credit_check(snapshot, routes, NULL, &credit);
	all_s = cpu_s();
	credit_s = all_s - credit_s;
	quality_all_to_all(snapshot, routes, NULL, &all);
	all_s = cpu_s() - all_s;
	printf("%-7s %6.3f %6.3f %6.3f %6.3f %7" PRIu64 " %5u %7u %9" PRIu64 " %6.2f", name,
	       table_s, check_s, credit_s, all_s, report.unreached + report.looping, credit.loops,
	       all.risk, all.most, all.sum ? (double)all.most * all.links / all.sum : 0);
	if (patterns)
		print_patterns(snapshot, routes);
	printf("\n");
	routes_unref(routes);
}

/* A cable from a switch to another switch. */
static uint8_t uplink(const struct snapshot *snapshot, uint32_t sw)
{
	uint8_t port = snapshot->switches[sw].num_ports;

	while (port > 1 && snap_link(snapshot, sw, port)->sw < 0)
		port--;
	return port;
}

/* The loss of a link from the switch of a host to another switch or, with whole, of a whole switch
 * two links above it. Entries of the lost switch do not count as changes. */
static struct route_churn lose(const char *spec, const char *name, uint32_t host, bool whole,
			       const struct routes *before)
{
	struct snapshot *snapshot = snapshot_from_spec(spec, 0);
	struct route_churn churn = {0};
	struct routes *after;
	double seconds;
	uint32_t sw = (uint32_t)snapshot->ends[host].sw, above;
	uint8_t port = uplink(snapshot, sw);

	if (whole) {
		sw = (uint32_t)snap_link(snapshot, sw, port)->sw;
		above = (uint32_t)snap_link(snapshot, sw, uplink(snapshot, sw))->sw;
		sw = snapshot->switches[above].hosts ? sw : above;
		for (unsigned p = 1; p <= snapshot->switches[sw].num_ports; p++)
			snapshot_cut(snapshot, sw, p);
		snapshot->switches[sw].lid = LID_NONE;
		snapshot_index(snapshot);
	} else {
		snapshot_cut(snapshot, sw, port);
	}
	after = compute(snapshot, name, &seconds);
	if (after && whole) {
		lft_unref(after->lft[sw]);
		after->lft[sw] = lft_ref(before->lft[sw]);
	}
	if (after)
		route_churn(snapshot, before, after, NULL, &churn);
	routes_unref(after);
	snapshot_unref(snapshot);
	return churn;
}

/* The first leaf, which may be special, and some other leaves. */
static void print_churn(const char *spec, const char *name)
{
	enum { LEAVES = 4 };
	struct snapshot *snapshot = snapshot_from_spec(spec, 0);
	double seconds;
	struct routes *before = compute(snapshot, name, &seconds);

	for (int whole = 0; before && whole < 2; whole++) {
		printf("%-7s %s lost:", name, whole ? "a switch above leaves" : "one leaf link");
		for (uint32_t i = 0; i < LEAVES; i++) {
			uint32_t host = i * snapshot->num_ends / LEAVES;
			struct route_churn churn = lose(spec, name, host, whole, before);

			printf(" %" PRIu64 " entries %" PRIu64 " blocks,", churn.entries,
			       churn.blocks);
		}
		printf("\n");
	}
	routes_unref(before);
	snapshot_unref(snapshot);
}

static void bench(const char *spec, bool patterns)
{
	struct snapshot *snapshot = snapshot_from_spec(spec, 0);

	printf("\n%s: %u switches, %u hosts\n", spec, snapshot->num_switches, snapshot->num_ends);
	printf("%-7s %6s %6s %6s %6s %7s %5s %7s %9s %6s%s\n", "engine", "tables", "check",
	       "credit", "a2a", "faulty", "loops", "risk", "fullest", "/mean",
	       patterns ? "   shift  random 50/95/max  bisect" : "");
	for (size_t e = 0; e < ARRAY_SIZE(engines); e++)
		print_engine(snapshot, engines[e], patterns);
	snapshot_unref(snapshot);
	for (size_t e = 0; e < ARRAY_SIZE(engines) && !strstr(spec, "lose_links"); e++)
		print_churn(spec, engines[e]);
	printf("peak %.0f MiB\n", peak_mib());
	fflush(stdout);
}

static FILE *open_dump(const char *dir, const char *name)
{
	char *path = mem_printf("%s/%s", dir, name);
	FILE *stream = fopen(path, "w");

	if (!stream) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	free(path);
	return stream;
}

static int dump(const char *dir, const char *engine, const char *spec)
{
	struct snapshot *snapshot = snapshot_from_spec(spec, 0);
	FILE *subnet = open_dump(dir, "opensm-subnet.lst"), *tables = open_dump(dir, "opensm.fdbs");
	struct route_result result;
	int rc = route_run(snapshot, &engine, 1, NULL, NULL, &result);

	if (rc)
		printf("%s: %s\n", engine, result.attempt[0].why);
	else
		route_dump_tables(snapshot, result.routes, tables);
	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		route_dump_links(snapshot, s, subnet);
	rc = fclose(tables) || fclose(subnet) || rc;
	routes_unref(result.routes);
	snapshot_unref(snapshot);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Judging another manager */

static char *read_text(const char *dir, const char *name, size_t *length)
{
	char *path = mem_printf("%s/%s", dir, name), *text = NULL;
	FILE *stream = fopen(path, "r");
	long size = -1;

	if (stream && !fseek(stream, 0, SEEK_END))
		size = ftell(stream);
	if (size >= 0) {
		rewind(stream);
		text = mem_array((size_t)size + 1, 1);
		*length = fread(text, 1, (size_t)size, stream);
	} else {
		perror(path);
	}
	if (stream)
		fclose(stream);
	free(path);
	return text;
}

/* The LIDs that the manager assigned: lines "GUID LID LID" about ports. */
static void take_lids(struct snapshot *snapshot, const char *text)
{
	guid_t guid;
	unsigned lid;

	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		snapshot->switches[s].lid = LID_NONE;
	for (uint32_t e = 0; e < snapshot->num_ends; e++)
		snapshot->ends[e].lid = LID_NONE;
	for (; text; text = strchr(text + 1, '\n')) {
		int32_t sw, end;

		if (sscanf(text, " %" SCNx64 " %x", &guid, &lid) != 2)
			continue;
		sw = snapshot_find_switch(snapshot, guid);
		end = snapshot_find_end(snapshot, guid);
		if (sw >= 0)
			snapshot->switches[sw].lid = (lid_t)lid;
		if (end >= 0)
			snapshot->ends[end].lid = (lid_t)lid;
	}
	snapshot_index(snapshot);
}

/* The tables of a manager in a folder; the snapshot gets their LIDs. */
static struct routes *take_tables(struct snapshot *snapshot, const char *name, const char *dir)
{
	struct routes *routes = routes_new(snapshot->generation, snapshot->num_switches, name);
	size_t length = 0;
	char *lids = read_text(dir, "guid2lid", &length), *error = NULL;
	char *dump = read_text(dir, "opensm.fdbs", &length);
	struct dump_table *tables;
	uint32_t count = 0;

	if (!lids || !dump || dump_parse("opensm.fdbs", dump, length, &tables, &count, &error)) {
		fprintf(stderr, "%s\n", error ? error : "no dump");
		exit(EXIT_FAILURE);
	}
	take_lids(snapshot, lids);
	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		routes->lft[s] = lft_new(snapshot->lid_top);
	for (uint32_t t = 0; t < count; t++) {
		int32_t s = snapshot_find_switch(snapshot, tables[t].sw);
		uint32_t lids_here = tables[t].lids <= snapshot->lid_top ? tables[t].lids
									 : snapshot->lid_top + 1u;

		if (s >= 0)
			memcpy(routes->lft[s]->port, tables[t].port, lids_here);
	}
	dump_free(tables, count);
	free(dump);
	free(lids);
	return routes;
}

/* Name, SPEC, seconds of CPU (weft only), faulty pairs, links in credit loops, risk, paths of the
 * busiest link over the mean, worst shift, median, 95 % and worst of random permutations,
 * bisection. */
static int judge(const char *name, const char *spec, const char *dir)
{
	struct snapshot *snapshot = snapshot_from_spec(spec, 0);
	struct route_report report;
	struct credit_report credit;
	struct quality_load shifts, random;
	struct quality_all all;
	double bisection, seconds = 0;
	struct routes *routes =
		dir ? take_tables(snapshot, name, dir) : compute(snapshot, name, &seconds);

	if (!routes)
		return EXIT_FAILURE;
	route_check(snapshot, routes, NULL, NULL, &report);
	credit_check(snapshot, routes, NULL, &credit);
	quality_all_to_all(snapshot, routes, NULL, &all);
	quality_shifts(snapshot, routes, NULL, SHIFTS, &shifts);
	quality_random(snapshot, routes, NULL, DRAWS, 1, &random, &bisection);
	printf("%s\t%s\t%.3f\t%" PRIu64 "\t%u\t%u\t%.2f\t%u\t%u\t%u\t%u\t%.3f\n", name, spec,
	       seconds, report.unreached + report.looping, credit.loops, all.risk,
	       all.sum ? (double)all.most * all.links / all.sum : 0, shifts.worst, random.median,
	       random.percentile_95, random.worst, bisection);
	routes_unref(routes);
	snapshot_unref(snapshot);
	return EXIT_SUCCESS;
}

/* Entries and blocks that differ. */
static int compare(const char *name, const char *spec, const char *before_dir,
		   const char *after_dir)
{
	struct snapshot *snapshot = snapshot_from_spec(spec, 0);
	struct route_churn churn = {0};
	struct routes *before, *after;
	double seconds;

	if (before_dir) {
		before = take_tables(snapshot, name, before_dir);
		after = take_tables(snapshot, name, after_dir);
		route_churn(snapshot, before, after, NULL, &churn);
		routes_unref(after);
	} else {
		before = compute(snapshot, name, &seconds);
		if (before)
			churn = lose(spec, name, snapshot->num_ends / 2, false, before);
	}
	if (before)
		printf("%" PRIu64 "\t%" PRIu64 "\n", churn.entries, churn.blocks);
	routes_unref(before);
	snapshot_unref(snapshot);
	return before ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	static const char *const usual[] = {
		"fattree:radix=36,levels=2", "fattree:radix=36,levels=2,lose_links=1%,seed=1",
		"fattree:radix=24,levels=3", "fattree:radix=24,levels=3,lose_links=1%,seed=1",
		"fattree:radix=36,levels=3", "fattree:radix=36,levels=3,lose_links=1%,seed=1",
	};
	bool patterns = true;
	int first = 1;

	if (argc == 5 && !strcmp(argv[1], "-d"))
		return dump(argv[2], argv[3], argv[4]);
	if ((argc == 4 || argc == 5) && !strcmp(argv[1], "-j"))
		return judge(argv[2], argv[3], argv[4]);
	if ((argc == 4 || argc == 6) && !strcmp(argv[1], "-c"))
		return compare(argv[2], argv[3], argv[4], argc == 6 ? argv[5] : NULL);
	if (first < argc && !strcmp(argv[first], "-q")) {
		patterns = false;
		first++;
	}
	for (size_t i = 0; first == argc && i < ARRAY_SIZE(usual); i++)
		bench(usual[i], patterns);
	for (; first < argc; first++)
		bench(argv[first], patterns);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * sim_run: plays scenarios with seeds. It prints "ok NAME seed N (...)" or "not ok NAME seed N:
 * reason" for each, as scripts/run-tests reads them, and at the end "N passed, N failed, N
 * skipped". A failure has the time and the number of the event, the digest of all events so far,
 * and the command that replays the run up to that event.
 *
 * --scenario NAME plays that scenario alone. NAME may be a shell pattern: 'standard-*' is both
 * halves of the standard scenario. Without it all scenarios that are not too long are played, and
 * one of them twice: the same seed must give the same events at the same times. --known plays the
 * seeds that once failed. --grid plays the grid of bring-ups (tests/sim/grid.h) or some cells of
 * it, each with all seeds, and prints the cells that miss a goal. --fail-at EVENT makes a run fail
 * there.
 */
#include <assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "tests/sim/grid.h"
#include "tests/sim/sim.h"
#include "tests/sim/trace.h"

enum { EXIT_USAGE = 2 };

struct options {
	const char *program;
	const char *scenario; /* a pattern; NULL: all */
	bool known;	      /* the known seeds instead */
	const char *grid;     /* which cells of the grid instead; NULL: none */
	uint64_t first, last; /* seeds */
	struct sim_run run;
};

struct tally {
	unsigned passed, failed;
};

static const struct scenario *const tables[] = {
	sim_scenarios, sim_drain,     sim_window,  sim_order,	 sim_tenants, sim_trigger,
	sim_store,     sim_multicast, sim_keys,	   sim_failover, sim_ha,      sim_device_scenarios,
	sim_habits,    sim_ports,     sim_standard};

static void usage(FILE *stream)
{
	fputs("usage: sim_run [--scenario NAME] [--seed N | --seeds FROM-TO] [--trace]\n"
	      "               [--until EVENT] [--fail-at EVENT]\n"
	      "       sim_run --grid[=\"hosts=N transit=N depth=N agent=N loss=N\"] [--seeds "
	      "FROM-TO]\n"
	      "       sim_run --known | --list\n",
	      stream);
}

/* The result of one run. */
struct outcome {
	uint64_t digest, events, now_us;
	uint64_t circles_excused;
	bool failed;
	char failure[SIM_TEXT_SIZE];
};

static struct outcome play(const struct scenario *scenario, const struct sim_run *run)
{
	const char *topology = scenario->choose ? scenario->choose(run->seed) : scenario->topology;
	struct outcome outcome = {.failed = true, .failure = "the topology cannot be built"};
	struct sim *sim = sim_new(topology, scenario->world, run);

	if (!sim)
		return outcome;
	scenario->play(sim);
	outcome = (struct outcome){
		.digest = sim->digest,
		.events = sim->events,
		.now_us = sim_now_us(sim),
		.circles_excused = sim->circles_excused,
		.failed = sim->failed,
	};
	snprintf(outcome.failure, sizeof(outcome.failure), "%s", sim->failure);
	sim_free(sim);
	return outcome;
}

static void say(const struct options *options, const char *name, const struct outcome *outcome,
		struct tally *tally)
{
	uint64_t seed = options->run.seed;

	if (outcome->failed) {
		tally->failed++;
		printf("not ok %s seed %" PRIu64 ": %s; digest %016" PRIx64
		       "; replay: %s --scenario %s --seed %" PRIu64 " --trace --until %" PRIu64
		       "\n",
		       name, seed, outcome->failure, outcome->digest, options->program, name, seed,
		       outcome->events);
		return;
	}
	tally->passed++;
	printf("ok %s seed %" PRIu64 " (%" PRIu64 ".%03" PRIu64 " s, %" PRIu64
	       " events, digest %016" PRIx64,
	       name, seed, outcome->now_us / SIM_S, outcome->now_us % SIM_S / SIM_MS,
	       outcome->events, outcome->digest);
	if (outcome->circles_excused)
		printf(", %" PRIu64 " LIDs in loops that no manager could foresee",
		       outcome->circles_excused);
	puts(")");
}

static void same_twice(const struct options *options, struct tally *tally)
{
	struct outcome first = play(&sim_standard[0], &options->run);
	struct outcome second = play(&sim_standard[0], &options->run);

	if (!second.failed && first.digest != second.digest) {
		second.failed = true;
		snprintf(second.failure, sizeof(second.failure),
			 "digest %016" PRIx64 " after %" PRIu64 " events, then %016" PRIx64
			 " after %" PRIu64,
			 first.digest, first.events, second.digest, second.events);
	} else if (first.digest == second.digest) {
		second.failed = false; /* other failures have a line of their own */
	}
	say(options, "determinism", &second, tally);
}

static bool chosen(const struct options *options, const struct scenario *scenario)
{
	if (!options->scenario)
		return !scenario->when_named;
	return fnmatch(options->scenario, scenario->name, 0) == 0;
}

static void play_seed(const struct options *options, struct tally *tally)
{
	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		for (const struct scenario *scenario = tables[t]; scenario->name; scenario++) {
			struct outcome outcome;

			if (!chosen(options, scenario))
				continue;
			outcome = play(scenario, &options->run);
			say(options, scenario->name, &outcome, tally);
			fflush(stdout);
		}
	}
	if (!options->scenario || strcmp(options->scenario, "determinism") == 0)
		same_twice(options, tally);
}

static const struct scenario *find(const char *name)
{
	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		for (const struct scenario *scenario = tables[t]; scenario->name; scenario++) {
			if (strcmp(scenario->name, name) == 0)
				return scenario;
		}
	}
	return NULL;
}

static void play_known(struct options *options, struct tally *tally)
{
	for (const struct known_seed *known = sim_known_seeds; known->scenario; known++) {
		const struct scenario *scenario = find(known->scenario);
		struct outcome outcome;

		assert(scenario);
		options->run.seed = known->seed;
		outcome = play(scenario, &options->run);
		say(options, known->scenario, &outcome, tally);
	}
}

static int play_grid(const struct options *options)
{
	int missed = grid_print(options->grid, options->first, options->last);

	if (missed >= 0)
		return missed != 0;
	fprintf(stderr,
		"sim_run: --grid takes \"hosts=N transit=N depth=N agent=N loss=N\", each of "
		"which may be missing, with values of the grid, and at most %d seeds\n",
		GRID_SEEDS);
	return EXIT_USAGE;
}

static void list(void)
{
	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		for (const struct scenario *scenario = tables[t]; scenario->name; scenario++)
			puts(scenario->name);
	}
	puts("determinism");
}

static bool number(const char *text, const char *end_at, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return end != text && !errno && *text != '-' && strchr(end_at, *end);
}

static bool seeds(const char *text, uint64_t *first, uint64_t *last)
{
	const char *dash = strchr(text, '-');

	return dash && number(text, "-", first) && number(dash + 1, "", last) && *first <= *last;
}

static bool parse(int argc, char **argv, struct options *options)
{
	static const struct option long_options[] = {
		{"scenario", required_argument, NULL, 'c'},
		{"seed", required_argument, NULL, 's'},
		{"seeds", required_argument, NULL, 'S'},
		{"trace", no_argument, NULL, 't'},
		{"until", required_argument, NULL, 'u'},
		{"fail-at", required_argument, NULL, 'f'},
		{"known", no_argument, NULL, 'k'},
		{"grid", optional_argument, NULL, 'g'},
		{"list", no_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;
	bool good = true;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == 'c')
			options->scenario = optarg;
		else if (option == 's')
			good = number(optarg, "", &options->first) && good,
			options->last = options->first;
		else if (option == 'S')
			good = seeds(optarg, &options->first, &options->last) && good;
		else if (option == 'u')
			good = number(optarg, "", &options->run.until) && good;
		else if (option == 'f')
			good = number(optarg, "", &options->run.fail_at) && good;
		else if (option == 'g')
			options->grid = optarg ? optarg : "";
		else if (option == 'k')
			options->known = true;
		else if (option == 't')
			options->run.trace = true;
		else if (option == 'l')
			list(), exit(0);
		else if (option == 'h')
			usage(stdout), exit(0);
		else
			good = false;
	}
	return good && optind == argc;
}

int main(int argc, char **argv)
{
	struct options options = {.program = argv[0], .first = 1, .last = 1};
	struct tally tally = {0};

	if (!parse(argc, argv, &options)) {
		usage(stderr);
		return EXIT_USAGE;
	}
	log_set_level(NULL, options.run.trace ? LOG_DEBUG : LOG_EMERG);
	if (options.run.trace)
		setvbuf(stdout, NULL, _IOLBF, 0); /* in order with the log on stderr */
	if (options.grid)
		return play_grid(&options);
	if (options.known)
		play_known(&options, &tally);
	for (uint64_t seed = options.first; !options.known && seed <= options.last; seed++) {
		options.run.seed = seed;
		play_seed(&options, &tally);
	}
	if (!tally.passed && !tally.failed) {
		fprintf(stderr,
			"sim_run: no scenario \"%s\"; --list names them, and \"%s-*\" would be "
			"all whose names begin so\n",
			options.scenario, options.scenario);
		return EXIT_USAGE;
	}
	printf("%u passed, %u failed, 0 skipped\n", tally.passed, tally.failed);
	return tally.failed != 0;
}

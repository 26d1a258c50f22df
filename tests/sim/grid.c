/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The grid of bring-ups; see tests/sim/grid.h. The result depends on the cell and the seeds
 * alone. */
#include "tests/sim/grid.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "tests/sim/sim.h"

enum { STEP_US = 500, LIMIT_S = 120, SEND_US = 5, HOP_NS = 1000, TRAINING_US = 20000 };
enum { PPM_OF_PERCENT = 10000 };

static const unsigned widths[] = {1, 2, 4, 8, 16, 32, 64, 128};

static bool all_active(const struct sim *sim)
{
	struct device *const *devices;
	size_t count = world_devices(sim->world, &devices);

	for (size_t i = 0; i < count; i++) {
		for (unsigned p = 1; p <= devices[i]->num_ports; p++) {
			const struct device_port *port = &devices[i]->port[p];

			if (port->peer && port->info.port_state != PORT_ACTIVE)
				return false;
		}
	}
	return true;
}

static struct sim *new_sim(const struct grid_cell *cell, uint64_t seed)
{
	const struct world_options options = {.smp_us = cell->agent_us,
					      .smp_transit_us = cell->transit_us,
					      .hop_ns = HOP_NS,
					      .vl15_depth = cell->depth,
					      .send_us = SEND_US,
					      .training_us = TRAINING_US};
	const struct world_faults faults = {.drop_ppm = cell->loss_percent * PPM_OF_PERCENT};
	const struct sim_run run = {.seed = seed};
	struct sim *sim = sim_new(cell->hosts == 128 ? "fattree:radix=16,levels=2"
						     : "fattree:radix=36,levels=2",
				  &options, &run);

	if (cell->loss_percent)
		sim_faults(sim, &faults);
	return sim;
}

static struct grid_result play_once(const struct grid_cell *cell, unsigned width, uint64_t seed)
{
	struct sim *sim = new_sim(cell, seed);
	struct sim_manager *manager = sim_prepare(sim, "host-0001", NULL);
	struct grid_result result = {0};
	uint64_t began_us = sim_now_us(sim), reports = 0;
	bool up = false;

	if (width) {
		manager->conf.sm.smp_window = width;
		manager->conf.sm.smp_window_fixed = true;
	}
	sim_restart(manager);
	while (!sim->failed && !up && sim_now_us(sim) < began_us + LIMIT_S * SIM_S) {
		sim_pass(sim, STEP_US);
		if (manager->reports > reports) {
			reports = manager->reports;
			result.errors += manager->error != 0;
		}
		up = reports && all_active(sim);
	}
	result.errors += !up;
	result.seconds = (double)(sim_now_us(sim) - began_us) / SIM_S;
	result.again = (double)sim_timed_out(manager) / (double)manager->mads_sent;
	sim_free(sim);
	return result;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

struct grid_result grid_play(const struct grid_cell *cell, unsigned width, uint64_t first_seed,
			     uint64_t last_seed)
{
	double seconds[GRID_SEEDS] = {0}, again[GRID_SEEDS] = {0};
	struct grid_result all = {0};
	size_t count = 0;

	assert(last_seed - first_seed < GRID_SEEDS);
	for (uint64_t seed = first_seed; seed <= last_seed; seed++, count++) {
		struct grid_result one = play_once(cell, width, seed);

		seconds[count] = one.seconds;
		again[count] = one.again;
		all.errors += one.errors;
	}
	all.seconds = median(seconds, count);
	all.again = median(again, count);
	return all;
}

struct grid_verdict grid_judge(const struct grid_cell *cell, uint64_t first_seed,
			       uint64_t last_seed)
{
	struct grid_verdict verdict = {.own = grid_play(cell, 0, first_seed, last_seed)};

	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		struct grid_result fixed = grid_play(cell, widths[i], first_seed, last_seed);

		if (fixed.errors || (verdict.width && fixed.seconds >= verdict.best.seconds))
			continue;
		verdict.best = fixed;
		verdict.width = widths[i];
	}
	verdict.slow = verdict.width && verdict.own.seconds > GRID_RATIO * verdict.best.seconds;
	verdict.again = !cell->loss_percent && verdict.own.again > GRID_AGAIN;
	verdict.errors = verdict.own.errors;
	return verdict;
}

/* The axes */

enum { AXES = 5, VALUES_MAX = 4 };

static const struct axis {
	const char *name;
	unsigned count, values[VALUES_MAX];
} axes[AXES] = {
	{"hosts", 2, {128, 648}}, {"transit", 4, {0, 50, 200, 1000}},
	{"depth", 3, {4, 8, 16}}, {"agent", 2, {50, 500}},
	{"loss", 3, {0, 1, 5}},
};

/* Parses "NAME=VALUE": sets the bits of the admitted values of this axis. */
static bool parse_word(char *word, unsigned *admitted)
{
	char *value = strchr(word, '='), *end;
	unsigned long number;

	if (!value)
		return false;
	*value++ = '\0';
	number = strtoul(value, &end, 10);
	for (size_t a = 0; a < AXES; a++) {
		if (strcmp(axes[a].name, word))
			continue;
		admitted[a] = 0;
		for (unsigned v = 0; v < axes[a].count; v++)
			admitted[a] |= (axes[a].values[v] == number) << v;
		return admitted[a] && !*end;
	}
	return false;
}

static bool parse(const char *filter, unsigned *admitted)
{
	char *copy = mem_strdup(filter), *rest = copy, *word;
	bool good = true;

	for (size_t a = 0; a < AXES; a++)
		admitted[a] = (1u << axes[a].count) - 1;
	while (good && (word = strsep(&rest, " ")))
		good = !*word || parse_word(word, admitted);
	free(copy);
	return good;
}

static bool print_cell(const struct grid_cell *cell, uint64_t first_seed, uint64_t last_seed)
{
	struct grid_verdict verdict = grid_judge(cell, first_seed, last_seed);
	bool missed = verdict.slow || verdict.again || verdict.errors;

	printf("%3u hosts, transit %4u us, depth %2u, agent %3u us, loss %u %%: %7.3f s, "
	       "%5.2f %% again, %u errors; best fixed %3u %7.3f s, %5.2f %% again; ratio "
	       "%.2f%s%s%s%s\n",
	       cell->hosts, cell->transit_us, cell->depth, cell->agent_us, cell->loss_percent,
	       verdict.own.seconds, 100 * verdict.own.again, verdict.own.errors, verdict.width,
	       verdict.best.seconds, 100 * verdict.best.again,
	       verdict.own.seconds / verdict.best.seconds, missed ? " MISSED:" : "",
	       verdict.slow ? " time" : "", verdict.again ? " again" : "",
	       verdict.errors ? " errors" : "");
	fflush(stdout);
	return missed;
}

int grid_print(const char *filter, uint64_t first_seed, uint64_t last_seed)
{
	unsigned admitted[AXES], at[AXES] = {0}, cells = 0, a;
	int missed = 0;

	if (!parse(filter, admitted) || last_seed - first_seed >= GRID_SEEDS)
		return -EINVAL;
	do {
		const struct grid_cell cell = {
			.hosts = axes[0].values[at[0]],
			.transit_us = axes[1].values[at[1]],
			.depth = axes[2].values[at[2]],
			.agent_us = axes[3].values[at[3]],
			.loss_percent = axes[4].values[at[4]],
		};
		bool wanted = true;

		for (a = 0; a < AXES; a++)
			wanted = wanted && admitted[a] & 1u << at[a];
		if (wanted) {
			missed += print_cell(&cell, first_seed, last_seed);
			cells++;
		}
		for (a = AXES; a-- > 0 && ++at[a] == axes[a].count;)
			at[a] = 0;
	} while (a < AXES);
	printf("%u cells, %d of them miss a goal\n", cells, missed);
	return missed;
}

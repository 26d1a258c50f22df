/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The cost of `weftsim do load`: packet-hops (a packet passes a link) for each second of CPU time
 *of one core, and the memory of a load, on fat trees of 648 and 11,664 hosts with the tables of
 *ftree. With QUICK the second is smaller. Prints figures and judges nothing.
 *
 *	bench_flow [SPEC LOAD]    this fabric and these words instead
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "lib/mem.h"
#include "sim/load.h"
#include "tests/unit/fixtures/routed_world.h"

enum { WORDS = 24, TEXT = 512 };

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

static void bench_load(struct routed_world *routed, const char *text)
{
	char buffer[TEXT], *next = buffer, error[LOAD_ERROR_SIZE];
	const char *words[WORDS + 1] = {0};
	struct load load = {.world = routed->world};
	double begin = cpu_s(), built, peak = peak_mib(), seconds;
	const struct flow_totals *totals;
	enum flow_end end;

	snprintf(buffer, sizeof(buffer), "%s", text);
	for (size_t i = 0; i < WORDS && next; i++)
		words[i] = strsep(&next, " ");
	if (load_spec_read(&load.spec, routed->world, words, error) || load_build(&load, error) ||
	    load_start(&load, error)) {
		fprintf(stderr, "bench_flow: %s\n", error);
		exit(EXIT_FAILURE);
	}
	built = cpu_s();
	do {
		end = flow_run(load.flow, 100000);
	} while (end == FLOW_GOES_ON);
	seconds = cpu_s() - built;
	totals = flow_totals(load.flow);
	printf("%zu hosts, %s\t%.0f hops/s\tgoal 1000000; %.2f s CPU for %.0f us, %lu packets, "
	       "%lu hops, build %.2f s, %.0f MiB more than %.0f MiB\n",
	       load.num_who, text, (double)totals->hops / seconds, seconds,
	       (double)load.spec.duration_ps / 1e6, (unsigned long)totals->packets,
	       (unsigned long)totals->hops, built - begin, peak_mib() - peak, peak);
	fflush(stdout);
	load_done(&load);
}

static void bench_fabric(const char *spec, const char *const *loads)
{
	struct routed_world routed;

	routed_world_init(&routed, spec, "ftree");
	for (; *loads; loads++)
		bench_load(&routed, *loads);
	routed_world_done(&routed);
}

int main(int argc, char **argv)
{
	static const char *const small[] = {"shift=18 life=20", "uniform life=20",
					    "uniform size=256 duration=20us life=20",
					    "incast=host-0001 life=20", NULL};
	static const char *const large[] = {"uniform duration=20us life=20", NULL};
	const char *quick = getenv("QUICK");

	if (argc == 3) {
		bench_fabric(argv[1], (const char *const[]){argv[2], NULL});
		return 0;
	}
	bench_fabric("fattree:radix=36,levels=2", small);
	bench_fabric(quick && *quick ? "fattree:radix=16,levels=3" : "fattree:radix=36,levels=3",
		     large);
	return 0;
}

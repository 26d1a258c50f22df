/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The grid: the virtual time of a bring-up where each switch needs time for each directed SMP that
 * passes, buffers are short and MADs are lost. The reference is the best window of fixed width.
 * Each cell has three goals. The bring-up takes at most GRID_RATIO of the time with the best fixed
 * window. Without losses at most GRID_AGAIN of all SMPs are sent again. No error is reported.
 *
 * A window that follows the delay of answers instead of the pace (mad/pace.h) did worse here. In a
 * burst after a quiet phase it is as wide as before. If an agent needs ten passages for an answer,
 * a buffer of four overflows at a delay that is hardly above the delay without a queue.
 */
#ifndef TESTS_SIM_GRID_H
#define TESTS_SIM_GRID_H

#include <stdbool.h>
#include <stdint.h>

#define GRID_RATIO 1.1
#define GRID_AGAIN 0.01

struct grid_cell {
	unsigned hosts; /* 128 or 648 */
	unsigned transit_us, depth, agent_us, loss_percent;
};

/* One bring-up, or the median of several. */
struct grid_result {
	double seconds;	 /* until all links are ACTIVE and the manager has reported */
	double again;	 /* share of the SMPs without an answer in time */
	unsigned errors; /* sweeps that reported an error, and bring-ups without an end; of all
			    seeds */
};

struct grid_verdict {
	struct grid_result own, best;
	unsigned width;		  /* of the best window */
	bool slow, again, errors; /* goals that own misses */
};

/* Brings the fabric up once with each of these seeds, at most GRID_SEEDS. width 0: the window of
 * weftd, else a window of this fixed width. */
enum { GRID_SEEDS = 32 };
struct grid_result grid_play(const struct grid_cell *cell, unsigned width, uint64_t first_seed,
			     uint64_t last_seed);
struct grid_verdict grid_judge(const struct grid_cell *cell, uint64_t first_seed,
			       uint64_t last_seed);

/* Judges all cells that filter admits ("hosts=128 transit=1000 depth=4 agent=50 loss=0", each part
 * optional). Prints a line for each cell, and returns how many miss a goal. -EINVAL: the filter is
 * not valid. */
int grid_print(const char *filter, uint64_t first_seed, uint64_t last_seed);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The grid: how long a fabric takes to come up, in virtual time, where each switch needs time for
 * each directed SMP that passes, buffers are short and MADs are lost; beside it the best window of
 * fixed width. Each cell has three goals: to take at most GRID_RATIO of the time of the best fixed
 * window, without losses to send at most GRID_AGAIN of all SMPs again, and to report no error.
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
	double seconds;	 /* until all links are ACTIVE and the manager has said so */
	double again;	 /* share of the SMPs whose answer did not come in time */
	unsigned errors; /* sweeps that reported one, and bring-ups that came to no end; of all */
};

struct grid_verdict {
	struct grid_result own, best;
	unsigned width;		  /* of the best */
	bool slow, again, errors; /* goals that own misses */
};

/* Brings the fabric up once with each of these seeds, at most GRID_SEEDS. width 0: as weftd does,
 * else with a window that stays so wide. */
enum { GRID_SEEDS = 32 };
struct grid_result grid_play(const struct grid_cell *cell, unsigned width, uint64_t first_seed,
			     uint64_t last_seed);
struct grid_verdict grid_judge(const struct grid_cell *cell, uint64_t first_seed,
			       uint64_t last_seed);

/* Judges all cells that filter admits ("hosts=128 transit=1000 depth=4 agent=50 loss=0", of which
 * each may be missing), prints a line for each and returns how many miss a goal. -EINVAL: filter is
 * not understood. */
int grid_print(const char *filter, uint64_t first_seed, uint64_t last_seed);

#endif

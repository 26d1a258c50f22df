/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Walks the tables of a fabric and reports the fate of each path. A path leads from an end port to
 * a LID of another end port; its hops are the links that it passes. Ends are the cabled ports of
 * channel adapters, and on request switches too. Reads the fabric only; one thread.
 */
#ifndef TESTS_WALK_JUDGE_H
#define TESTS_WALK_JUDGE_H

#include <stdio.h>

#include "tests/walk/fabric.h"

struct walk_load {
	uint64_t paths; /* that leave by this port */
	uint32_t dlids; /* different destination LIDs of these */
};

struct walk_verdict {
	uint64_t paths, reached, unreached, loops;
	uint64_t *hops; /* number of paths by their number of links, up to hops_max */
	unsigned hops_max;
	struct walk_load **load; /* by node and port; NULL for an adapter */
};

/* Prints place and reason of the first failed paths to complain_to, at most complaints lines. The
 * caller owns the verdict: walk_verdict_done() before the fabric is freed. */
void walk_judge(const struct walk_fabric *fabric, bool with_switches, FILE *complain_to,
		unsigned complaints, struct walk_verdict *verdict);
void walk_verdict_done(const struct walk_fabric *fabric, struct walk_verdict *verdict);

#endif

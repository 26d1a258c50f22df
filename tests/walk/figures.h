/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The quality of tables, computed a second time: each path is followed hop by hop, and each link
 * counts what passes over it. It shares no code with route/quality.c and route/credit.c, whose
 * figures it judges, and is as simple and slow as it can be. Reads the fabric only; one thread.
 */
#ifndef TESTS_WALK_FIGURES_H
#define TESTS_WALK_FIGURES_H

#include "tests/walk/fabric.h"

/* Hosts are the cabled ports of channel adapters, in the order of their LIDs. Links are those
 * between switches, each direction by itself. */
struct walk_figures {
	uint64_t unreached; /* ordered pairs of hosts */
	uint64_t
		fullest; /* paths over the link that has most, when each host sends to each other */
	uint64_t sum;	 /* paths over all links then */
	unsigned risk;	 /* highest, over links, of the lesser of its senders and receivers */
	unsigned shift;	 /* flows over the fullest link in the worst shift permutation */
	unsigned waiting; /* links that wait for themselves: a credit loop */
};

/* Every switch has a table that was read. */
void walk_figures(const struct walk_fabric *fabric, struct walk_figures *out);

#endif

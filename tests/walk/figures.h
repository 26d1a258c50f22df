/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The quality of tables, computed a second time. Each path is followed hop by hop, and each link
 * counts the paths over it. The code is independent of route/quality.c and route/credit.c, whose
 * figures it checks, and as simple and slow as possible. Reads the fabric only; one thread.
 */
#ifndef TESTS_WALK_FIGURES_H
#define TESTS_WALK_FIGURES_H

#include "tests/walk/fabric.h"

/* Hosts are the cabled ports of channel adapters, in the order of their LIDs. Links are those
 * between switches, and each direction counts as a link. */
struct walk_figures {
	uint64_t unreached; /* ordered pairs of hosts */
	uint64_t fullest;   /* all to all: paths over the link with most paths */
	uint64_t sum;	    /* all to all: paths over all links */
	unsigned risk;	    /* highest value over all links: the lower number of its senders and
			       receivers */
	unsigned shift;	    /* flows over the link with most flows in the worst shift permutation */
	unsigned waiting;   /* links that wait for themselves: a credit loop */
};

/* Every switch must have a table. */
void walk_figures(const struct walk_fabric *fabric, struct walk_figures *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Up and down: what the engines ftree, updn and dnup add to the cabling. Each switch gets a level;
 * a way to a switch with a higher level leads up. Levels come from the leaves or from roots, which
 * is all that these engines differ in. Everything here is a function of the remembered cabling, not
 * of what is up now, so faults change none of it.
 */
#ifndef ROUTE_TREE_H
#define ROUTE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "route/cabling.h"

enum { LEVEL_NONE = UINT16_MAX };

struct tree {
	struct cabling *cabling; /* ways of each switch: those up by slots, those down, others */
	uint16_t *level;	 /* by switch of the cabling; 0 is the lowest */
	uint16_t levels;	 /* the highest and 1 */
	uint32_t *order;   /* every switch, the lowest first: nothing leads down to a later one */
	uint32_t *divisor; /* by switch: takes off the digits that the levels below use */
};

/* Levels as distances from the nearest leaf. Leaves are the switches with hosts, but for those that
 * stand between others with more of them. Free them with free(). */
uint16_t *tree_levels_from_leaves(const struct cabling *cabling);

/* Levels from distances to the nearest root, the farthest being 0. */
uint16_t *tree_levels_from_roots(const struct cabling *cabling, const uint32_t *roots,
				 uint32_t count);

/* Finds, in each island, the switches that are nearest to all hosts together; where these are
 * neighbours it is no tree, and one of them has to do. Returns how many are in *roots (free()). */
uint32_t tree_find_roots(const struct cabling *cabling, uint32_t **roots);

/* Takes the cabling and the levels over. flat: ways within a level are used as well, up being
 * towards the lower GUID; else they serve nothing. */
struct tree *tree_new(struct cabling *cabling, uint16_t *level, bool flat);
void tree_free(struct tree *tree);

/* Gives every way up a slot, and every switch as many slots as its siblings have: see planes.c.
 * tree_new() does it. */
void tree_set_slots(struct tree *tree);

/* Numbers to be spread over the ways up: a switch's divisor is that of those below times their
 * slots, as long as indexes, how many there are, have that many digits. */
void tree_set_divisors(struct tree *tree, uint32_t indexes);

#endif

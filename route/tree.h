/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Up and down: levels for the engines ftree, updn and dnup, in addition to the cabling. Each switch
 * gets a level; a way to a switch with a higher level leads up. Levels come from the leaves or from
 * roots, the only difference between these engines. All results depend on the remembered cabling
 * alone, not on the present state of links, so faults change nothing.
 */
#ifndef ROUTE_TREE_H
#define ROUTE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "route/cabling.h"

enum { LEVEL_NONE = UINT16_MAX };

struct tree {
	/* Ways of each switch: first up by slots, then down, then others. */
	struct cabling *cabling;
	uint16_t *level;   /* by switch of the cabling; 0 is the lowest */
	uint16_t levels;   /* the highest level plus 1 */
	uint32_t *order;   /* every switch, the lowest first: no way down leads to a later switch */
	uint32_t *divisor; /* by switch: removes the digits that the levels below use */
};

/* Levels as distances from the nearest leaf. Leaves are the switches with hosts, except those
 * between others with more hosts. For free(). */
uint16_t *tree_levels_from_leaves(const struct cabling *cabling);

/* Levels from distances to the nearest root; the farthest switch has 0. For free(). */
uint16_t *tree_levels_from_roots(const struct cabling *cabling, const uint32_t *roots,
				 uint32_t count);

/* Finds, in each island, the switches with the least total distance to all hosts. If these are
 * neighbours, it is no tree, and one of them is chosen. Returns the number of *roots (for
 * free()). */
uint32_t tree_find_roots(const struct cabling *cabling, uint32_t **roots);

/* Takes over the cabling and the levels. flat: ways within a level are used as well, up towards the
 * lower GUID; otherwise they are not used. */
struct tree *tree_new(struct cabling *cabling, uint16_t *level, bool flat);
/* Frees the cabling and the levels, too. Not for NULL. */
void tree_free(struct tree *tree);

/* Gives every way up a slot, and every switch as many slots as its siblings have: see planes.c.
 * tree_new() calls it. */
void tree_set_slots(struct tree *tree);

/* Sets divisors to distribute numbers over the ways up. A switch's divisor is that of the switches
 * below times their slots, as long as numbers below indexes have that many digits. */
void tree_set_divisors(struct tree *tree, uint32_t indexes);

#endif

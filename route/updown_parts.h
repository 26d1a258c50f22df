/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by updown.c and detours.c: distances along paths up and down, and the pivots of detours.
 * Private to these two.
 */
#ifndef ROUTE_UPDOWN_PARTS_H
#define ROUTE_UPDOWN_PARTS_H

#include "route/updown.h"

enum {
	UPDOWN_BLOCK = 64,
	UPDOWN_FAR = 0x80, /* no path */
	UPDOWN_PLANES = 3, /* levels whose planes have pivots, from level 1 on */
	UPDOWN_PLANE_PIVOTS = 6,
	UPDOWN_LEAF_PIVOTS = 16, /* of an island */
};

#define NO_PIVOT UINT32_MAX
#define NO_PLANE UINT32_MAX

/* The planes of a level and those above. of: by switch its plane, NO_PLANE below that level. pivot:
 * by plane the columns of its pivots. Both NULL: no detours. */
struct updown_planes {
	uint32_t *of;
	uint32_t (*pivot)[UPDOWN_PLANE_PIVOTS];
};

struct updown {
	const struct snapshot *snapshot;
	const struct tree *tree;
	struct dest_index *dests;
	uint32_t num, blocks;
	uint8_t *down;	 /* hops by going down only; see updown_cell() */
	uint8_t *hops;	 /* hops on the path that is used */
	uint8_t *missed; /* by column: whether a switch has no path to it */
	struct updown_planes planes[UPDOWN_PLANES]; /* of level 1, 2, ... */
	uint32_t *island;			    /* by switch: see route_islands() */
	uint32_t (*leaf_pivot)[UPDOWN_LEAF_PIVOTS]; /* by island: columns */
	uint16_t *serving; /* by column: a bit for each of these that reaches it */
	bool healthiest;   /* pivots: the healthiest instead of the first of each kind */
	struct routes *routes;
};

/* The cells of a switch in a block of columns. Blocks are separate, so that a worker stays in one
 * block. */
static inline uint8_t *updown_cells(const struct updown *u, uint8_t *matrix, uint32_t block,
				    uint32_t s)
{
	return matrix + ((size_t)block * u->num + s) * UPDOWN_BLOCK;
}

static inline uint8_t updown_cell(const struct updown *u, uint8_t *matrix, uint32_t s,
				  uint32_t column)
{
	return updown_cells(u, matrix, column / UPDOWN_BLOCK, s)[column % UPDOWN_BLOCK];
}

/* Whether a switch has a path up and down to that of a column. */
static inline bool updown_reaches(const struct updown *u, uint32_t s, uint32_t column)
{
	return updown_cell(u, u->hops, s, column) < UPDOWN_FAR;
}

/* Chooses pivots: of planes, and at most most leaves; 0: no detours at all. The first pivots stay
 * the same when links fail. The healthiest pivots, which may then change, are used where the first
 * do not suffice. */
void updown_choose_pivots(struct updown *u, uint32_t most, bool healthiest);
/* Frees the pivots and planes. */
void updown_forget_pivots(struct updown *u);

/* The column of the pivot for a switch without a path to a column, or NO_PIVOT. */
uint32_t updown_detour(const struct updown *u, uint32_t s, uint32_t column);

#endif

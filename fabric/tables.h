/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Forwarding tables as immutable, counted rows, one for each switch, shared by the present and
 * wanted tables of a switch, the routes and the view. A row is complete before it is shared, and
 * never changes afterwards. References are counted on the loop alone.
 */
#ifndef FABRIC_TABLES_H
#define FABRIC_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/iba.h"

/* A linear forwarding table: the port for each LID; LFT_NO_PORT: none. */
struct lft {
	unsigned refs;
	lid_t top;	 /* highest LID of the table: LinearFDBTop */
	uint16_t blocks; /* top / 64 + 1 */
	uint8_t port[];	 /* blocks * 64 entries, those above top LFT_NO_PORT */
};

struct lft *lft_new(lid_t top); /* every entry LFT_NO_PORT */
struct lft *lft_ref(struct lft *lft);
void lft_unref(struct lft *lft); /* NULL is harmless */

static inline uint8_t lft_port(const struct lft *lft, lid_t lid)
{
	return lft && lid <= lft->top ? lft->port[lid] : LFT_NO_PORT;
}

/* The 64 entries of a block; a block beyond the table is all LFT_NO_PORT. lft may be NULL. */
const uint8_t *lft_block(const struct lft *lft, uint16_t block);

enum { ROUTE_SLS = 16 };

/* SLtoVLMappingTable of a way through a switch: the VL for each SL. */
struct sl_map {
	uint8_t vl[ROUTE_SLS];
};

/*
 * The result of a routing engine for one snapshot. Most engines need only tables: sl and maps are
 * NULL, every path has SL 0 and every SL its own VL. Other engines set the SL of each path and the
 * number of data VLs that links need. If the VL changes on the way, they also set the mapping for
 * each pair of ports of a switch.
 */
struct routes {
	unsigned refs;
	uint64_t generation; /* of the snapshot */
	const char *engine;
	uint32_t num_switches;
	struct lft **lft; /* by the snapshot's switch index; each holds a reference */
	uint8_t vls;	  /* data VLs that the paths need; 1 where sl is NULL */
	uint8_t *sl;	  /* [source's switch * num_switches + destination's switch], or NULL */
	struct sl_map *maps;
	uint16_t **map_of; /* [switch][in * (ports + 1) + out] into maps; NULL: VL = SL */
	/* By switch, all different: paths climb first and then descend, except for detours, so that
	 * no links wait for each other in a cycle. NULL: the engine has no such order. */
	uint32_t *height;
	/* By slot of the snapshot's links, the proof of the check for credit loops: each path has
	 * its links in this order. NULL: the check did not run or found a cycle, or paths have
	 * SLs. */
	uint32_t *order;
};

/* The SL of paths between the hosts of two switches. */
static inline uint8_t routes_sl(const struct routes *routes, uint32_t from, uint32_t to)
{
	return routes->sl ? routes->sl[(size_t)from * routes->num_switches + to] : 0;
}

/* The VL for packets that enter a switch with so many ports at in and leave by out. */
static inline uint8_t routes_vl(const struct routes *routes, uint32_t sw, uint8_t ports, uint8_t in,
				uint8_t out, uint8_t sl)
{
	if (!routes->map_of)
		return sl;
	return routes->maps[routes->map_of[sw][in * (ports + 1u) + out]].vl[sl];
}

struct routes *routes_new(uint64_t generation, uint32_t switches,
			  const char *engine); /* rows NULL */
struct routes *routes_ref(struct routes *routes);
void routes_unref(struct routes *routes); /* NULL is harmless */
/* Drops the caller's reference as far as others have one, too. Returns NULL; or, if the caller had
 * the last reference, the routes with the rows that no other code has, and without the others. Then
 * any thread may free them by routes_unref(), which takes long for many rows. NULL is harmless. */
struct routes *routes_detach(struct routes *routes);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Forwarding tables as immutable, counted rows, one a switch, shared by what a switch has, what it
 * should have, the routes and the view. A row is written by its maker before anybody else sees it,
 * and never after. References are counted on the loop alone.
 */
#ifndef FABRIC_TABLES_H
#define FABRIC_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/iba.h"

/* A linear forwarding table: the port for each LID, LFT_NO_PORT where there is none. */
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

/* The result of a routing engine for one snapshot. */
struct routes {
	unsigned refs;
	uint64_t generation; /* of the snapshot */
	const char *engine;
	uint32_t num_switches;
	struct lft **lft; /* by the snapshot's switch index; each holds a reference */
};

struct routes *routes_new(uint64_t generation, uint32_t switches,
			  const char *engine); /* rows NULL */
struct routes *routes_ref(struct routes *routes);
void routes_unref(struct routes *routes); /* NULL is harmless */

#endif

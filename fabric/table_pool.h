/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Equal tables of ports (facts.h) are held once: the ports of a fabric have few different mappings
 * of service levels, arbitration tables and GUIDs, and there are hundred thousands of ports. Used
 * by who reads them; loop thread only.
 */
#ifndef FABRIC_TABLE_POOL_H
#define FABRIC_TABLE_POOL_H

#include "fabric/facts.h"
#include "lib/map.h"

struct table_pool {
	struct map tables; /* by a hash of their contents, or the next number that was free */
};

void table_pool_init(struct table_pool *pool);
void table_pool_done(struct table_pool *pool); /* those that others hold live on */

/* The tables that are equal to these; takes over the reference to tables and gives one to what it
 * returns. Rows of SLtoVL that are all the same become one. */
struct port_tables *table_pool_share(struct table_pool *pool, struct port_tables *tables);
/* Lets go of those that nobody else holds. */
void table_pool_trim(struct table_pool *pool);

#endif

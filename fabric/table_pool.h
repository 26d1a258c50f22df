/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Stores equal tables of ports (facts.h) once. The ports of a fabric have few different mappings of
 * service levels, arbitration tables and GUIDs, and there are hundreds of thousands of ports. Loop
 * thread only.
 */
#ifndef FABRIC_TABLE_POOL_H
#define FABRIC_TABLE_POOL_H

#include "fabric/facts.h"
#include "lib/map.h"

struct table_pool {
	struct map tables; /* by a hash of their contents, or the next free key */
};

/* An empty pool. */
void table_pool_init(struct table_pool *pool);
void table_pool_done(struct table_pool *pool); /* tables with other references continue to exist */

/* Returns tables equal to these; takes over the reference to tables and returns one. Equal SLtoVL
 * rows are merged into one row. */
struct port_tables *table_pool_share(struct table_pool *pool, struct port_tables *tables);
/* Drops the tables without other references. */
void table_pool_trim(struct table_pool *pool);

#endif

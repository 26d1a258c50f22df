/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A map from a hash to tables (table_pool.h). Different tables with the same hash have consecutive
 * keys. Only table_pool_trim() removes tables, and it then rebuilds the map, so such a run has no
 * gaps.
 */
#include "fabric/table_pool.h"

#include <string.h>

#include "lib/hash.h"

void table_pool_init(struct table_pool *pool)
{
	map_init(&pool->tables);
}

void table_pool_done(struct table_pool *pool)
{
	struct port_tables *tables;
	size_t position = 0;

	while ((tables = map_next(&pool->tables, &position)))
		port_tables_unref(tables);
	map_done(&pool->tables);
}

static uint64_t hash_of(const struct port_tables *tables)
{
	uint64_t hash = HASH_SEED;

	hash = hash_bytes(hash, tables->guid, tables->num_guids * sizeof(*tables->guid));
	hash = hash_bytes(hash, tables->sl_to_vl, tables->num_sl_to_vl * sizeof(*tables->sl_to_vl));
	hash = hash_bytes(hash, &tables->vl_arbitration_known,
			  sizeof(tables->vl_arbitration_known));
	return hash_bytes(hash, tables->vl_arbitration, sizeof(tables->vl_arbitration));
}

static bool equal(const struct port_tables *a, const struct port_tables *b)
{
	return a->num_guids == b->num_guids && a->num_sl_to_vl == b->num_sl_to_vl &&
	       a->vl_arbitration_known == b->vl_arbitration_known &&
	       !memcmp(a->guid, b->guid, a->num_guids * sizeof(*a->guid)) &&
	       !memcmp(a->sl_to_vl, b->sl_to_vl, a->num_sl_to_vl * sizeof(*a->sl_to_vl)) &&
	       !memcmp(a->vl_arbitration, b->vl_arbitration, sizeof(a->vl_arbitration));
}

static void join_rows(struct port_tables *tables)
{
	for (unsigned i = 1; i < tables->num_sl_to_vl; i++)
		if (memcmp(&tables->sl_to_vl[i], &tables->sl_to_vl[0], sizeof(*tables->sl_to_vl)))
			return;
	if (tables->num_sl_to_vl)
		tables->num_sl_to_vl = 1;
}

/* The place of equal tables, or the place for these. */
static uint64_t table_pool_place(const struct map *map, const struct port_tables *tables)
{
	const struct port_tables *there;
	uint64_t place = hash_of(tables);

	while ((there = map_get(map, place)) && !equal(there, tables))
		place++;
	return place;
}

struct port_tables *table_pool_share(struct table_pool *pool, struct port_tables *tables)
{
	struct port_tables *there;
	uint64_t place;

	join_rows(tables);
	place = table_pool_place(&pool->tables, tables);
	there = map_get(&pool->tables, place);
	if (there) {
		port_tables_unref(tables);
		return port_tables_ref(there);
	}
	map_put(&pool->tables, place, tables);
	return port_tables_ref(tables);
}

void table_pool_trim(struct table_pool *pool)
{
	struct port_tables *tables;
	size_t position = 0;
	struct map kept;

	map_init(&kept);
	while ((tables = map_next(&pool->tables, &position))) {
		if (tables->refs > 1)
			map_put(&kept, table_pool_place(&kept, tables), tables);
		else
			port_tables_unref(tables);
	}
	map_done(&pool->tables);
	pool->tables = kept;
}

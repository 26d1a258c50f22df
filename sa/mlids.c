/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * MLIDs in use: the number of groups of each MLID, a bit for each free MLID, and the first word of
 * these bits that may have a free one. Also, for each remainder of solicited-node groups, the
 * number of groups that have the MLID of the first of them.
 */
#include "sa/mlids.h"

#include <stdlib.h>

#include "lib/be.h"
#include "lib/map.h"
#include "lib/mem.h"
#include "mad/mgid.h"

enum {
	MLIDS = LID_MULTICAST_MAX - LID_MULTICAST_MIN + 1,
	WORD_BITS = 64,
	WORDS = (MLIDS + WORD_BITS - 1) / WORD_BITS,
	MLID_BITS = 16,
};

struct mlids {
	struct registry *registry;
	uint32_t groups[MLIDS];
	uint64_t free[WORDS];
	unsigned first_word; /* no word before it has a free one */
	unsigned pool;
	struct map shared; /* snm_key() -> how many groups << MLID_BITS | their MLID */
};

/* False if it is not a solicited-node group, or they do not share. */
static bool snm_key(const struct mlids *mlids, const uint8_t mgid[GID_SIZE], uint64_t *key)
{
	const uint64_t scope_and_p_key = UINT64_C(0x000F0000FFFF0000);
	const uint64_t last_24_bits = 0xFFFFFF;

	if (!mlids->pool || !mgid_is_solicited_node(mgid))
		return false;
	*key = (be64_load(mgid) & scope_and_p_key) << 12 |
	       (be64_load(mgid + 8) & last_24_bits) % mlids->pool;
	return true;
}

static uintptr_t shared_of(const struct mlids *mlids, uint64_t key)
{
	return (uintptr_t)map_get(&mlids->shared, key);
}

static lid_t shared_mlid(uintptr_t shared)
{
	return (lid_t)shared; /* its low bits */
}

static void snm_count(struct mlids *mlids, const struct group_entry *group, bool more)
{
	const uintptr_t one = (uintptr_t)1 << MLID_BITS;
	uintptr_t shared;
	uint64_t key;

	if (group->mlid < LID_MULTICAST_MIN || !snm_key(mlids, group->mgid, &key))
		return;
	shared = shared_of(mlids, key);
	if (more && !shared)
		shared = group->mlid;
	if (shared_mlid(shared) != group->mlid)
		return;
	shared = more ? shared + one : shared - one;
	if (shared >= one)
		map_put(&mlids->shared, key, (void *)shared);
	else
		map_remove(&mlids->shared, key);
}

void mlids_count(struct mlids *mlids, const struct group_entry *group, bool more)
{
	unsigned place = group->mlid - LID_MULTICAST_MIN, word = place / WORD_BITS;
	uint64_t bit = UINT64_C(1) << place % WORD_BITS;

	if (group->mlid < LID_MULTICAST_MIN || group->mlid > LID_MULTICAST_MAX)
		return;
	mlids->groups[place] += more ? 1 : UINT32_MAX;
	if (mlids->groups[place]) {
		mlids->free[word] &= ~bit;
	} else {
		mlids->free[word] |= bit;
		if (word < mlids->first_word)
			mlids->first_word = word;
	}
	snm_count(mlids, group, more);
}

void mlids_set_pool(struct mlids *mlids, unsigned pool)
{
	if (mlids->pool == pool)
		return;
	mlids->pool = pool;
	map_done(&mlids->shared);
	map_init(&mlids->shared);
	for (const void *group = registry_first(mlids->registry, REGISTRY_GROUP, -1, NULL); group;
	     group = registry_next(mlids->registry, REGISTRY_GROUP, -1, group))
		snm_count(mlids, group, true);
}

struct mlids *mlids_new(struct registry *registry, unsigned pool)
{
	struct mlids *mlids = mem_zalloc(sizeof(*mlids));

	mlids->registry = registry;
	map_init(&mlids->shared);
	for (unsigned place = 0; place < MLIDS; place++)
		mlids->free[place / WORD_BITS] |= UINT64_C(1) << place % WORD_BITS;
	mlids->pool = pool;
	return mlids;
}

void mlids_free(struct mlids *mlids)
{
	if (!mlids)
		return;
	map_done(&mlids->shared);
	free(mlids);
}

unsigned mlids_used(const struct mlids *mlids)
{
	unsigned free = 0;

	for (unsigned word = 0; word < WORDS; word++)
		free += (unsigned)__builtin_popcountll(mlids->free[word]);
	return MLIDS - free;
}

/* Whether more than keep MLIDs up to max are free. */
static bool has_more_than(const struct mlids *mlids, unsigned keep, lid_t max)
{
	unsigned places = max < LID_MULTICAST_MIN ? 0 : max - LID_MULTICAST_MIN + 1u, free = 0;

	for (unsigned word = mlids->first_word; word * WORD_BITS < places && free <= keep; word++) {
		unsigned left = places - word * WORD_BITS;
		uint64_t mask = left < WORD_BITS ? (UINT64_C(1) << left) - 1 : UINT64_MAX;

		free += (unsigned)__builtin_popcountll(mlids->free[word] & mask);
	}
	return free > keep;
}

lid_t mlids_choose(struct mlids *mlids, const uint8_t mgid[GID_SIZE], lid_t wanted, lid_t max,
		   unsigned keep)
{
	uintptr_t shared = 0;
	uint64_t key;

	if (max > LID_MULTICAST_MAX)
		max = LID_MULTICAST_MAX;
	while (mlids->first_word < WORDS && !mlids->free[mlids->first_word])
		mlids->first_word++;
	if (wanted >= LID_MULTICAST_MIN && wanted <= max &&
	    !mlids->groups[wanted - LID_MULTICAST_MIN])
		return has_more_than(mlids, keep, max) ? wanted : LID_NONE;
	if (snm_key(mlids, mgid, &key))
		shared = shared_of(mlids, key);
	if (shared && shared_mlid(shared) <= max)
		return shared_mlid(shared);
	if (!has_more_than(mlids, keep, max))
		return LID_NONE;
	return (lid_t)(LID_MULTICAST_MIN + mlids->first_word * WORD_BITS +
		       (unsigned)__builtin_ctzll(mlids->free[mlids->first_word]));
}

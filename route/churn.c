/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Churn: the cost of replacing a set of tables by another (quality.h). Entries and blocks are
 * counted switch by switch, paths LID by LID: a path differs if an entry on it does, so one visit
 * for each (switch, LID) suffices.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "route/quality.h"

struct comparing {
	const struct snapshot *snapshot;
	const struct routes *from, *to;
	struct route_churn churn;
};

static void compare_rows(void *arg, size_t begin, size_t end)
{
	struct comparing *c = arg;
	struct route_churn sum = {0};

	for (size_t s = begin; s < end; s++) {
		const struct lft *a = c->from->lft[s], *b = c->to->lft[s];
		uint16_t blocks = a ? a->blocks : 0;
		bool changed = false;

		if (b && b->blocks > blocks)
			blocks = b->blocks;
		for (uint16_t i = 0; i < blocks; i++) {
			const uint8_t *old = lft_block(a, i), *new = lft_block(b, i);

			if (!memcmp(old, new, LFT_BLOCK_LIDS))
				continue;
			changed = true;
			sum.blocks++;
			for (unsigned e = 0; e < LFT_BLOCK_LIDS; e++)
				sum.entries += old[e] != new[e];
		}
		sum.switches += changed;
	}
	__atomic_fetch_add(&c->churn.entries, sum.entries, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->churn.blocks, sum.blocks, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->churn.switches, sum.switches, __ATOMIC_RELAXED);
}

enum path { UNSEEN, ON_THE_WAY, SAME, DIFFERS };

/* The next switch in the new tables, or -1. */
static int32_t next_switch(const struct comparing *c, uint32_t s, lid_t lid)
{
	const struct snap_switch *sw = &c->snapshot->switches[s];
	uint8_t port = lft_port(c->to->lft[s], lid);

	return port > 0 && port <= sw->num_ports ? c->snapshot->links[sw->first_link + port].sw
						 : -1;
}

static void judge_path(const struct comparing *c, lid_t lid, uint32_t s, uint8_t *path,
		       uint32_t *trail)
{
	uint32_t length = 0;
	int32_t at = (int32_t)s;
	uint8_t end;

	while (at >= 0 && path[at] == UNSEEN) {
		trail[length++] = (uint32_t)at;
		path[at] = ON_THE_WAY;
		at = next_switch(c, (uint32_t)at, lid);
	}
	end = at >= 0 && path[at] == DIFFERS ? DIFFERS : SAME;
	while (length > 0) {
		uint32_t on = trail[--length];

		if (lft_port(c->from->lft[on], lid) != lft_port(c->to->lft[on], lid))
			end = DIFFERS;
		path[on] = end;
	}
}

static void compare_paths(void *arg, size_t begin, size_t end)
{
	struct comparing *c = arg;
	uint32_t num = c->snapshot->num_switches;
	uint8_t *path = mem_array(num, 1);
	uint32_t *trail = mem_array(num, sizeof(*trail));
	uint64_t differ = 0;

	for (size_t lid = begin; lid < end; lid++) {
		if (c->snapshot->owners[lid].end < 0)
			continue;
		memset(path, UNSEEN, num);
		for (uint32_t s = 0; s < num; s++) {
			if (path[s] == UNSEEN)
				judge_path(c, (lid_t)lid, s, path, trail);
			differ += path[s] == DIFFERS && c->snapshot->switches[s].hosts;
		}
	}
	__atomic_fetch_add(&c->churn.paths, differ, __ATOMIC_RELAXED);
	free(trail);
	free(path);
}

void route_churn(const struct snapshot *snapshot, const struct routes *from,
		 const struct routes *to, struct work_pool *pool, struct route_churn *out)
{
	struct comparing c = {.snapshot = snapshot, .from = from, .to = to};

	work_parallel(pool, snapshot->num_switches, compare_rows, &c);
	work_parallel(pool, snapshot->lid_top + (size_t)1, compare_paths, &c);
	*out = c.churn;
}

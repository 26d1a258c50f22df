/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Counted rows of forwarding tables (tables.h). Routing makes them on any thread. Once a result is
 * handed to the loop, only the loop counts references, and the rows never change.
 */
#include "fabric/tables.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

_Static_assert(LFT_NO_PORT == 0xFF, "memory set to 0xFF bytes is entries without a port");

struct lft *lft_new(lid_t top)
{
	unsigned blocks = top / LFT_BLOCK_LIDS + 1u;
	struct lft *lft = mem_alloc(sizeof(*lft) + blocks * LFT_BLOCK_LIDS);

	assert(top <= LID_UNICAST_MAX);
	lft->refs = 1;
	lft->top = top;
	lft->blocks = (uint16_t)blocks;
	memset(lft->port, LFT_NO_PORT, blocks * LFT_BLOCK_LIDS);
	return lft;
}

struct lft *lft_ref(struct lft *lft)
{
	if (lft)
		lft->refs++;
	return lft;
}

void lft_unref(struct lft *lft)
{
	if (lft && --lft->refs == 0)
		free(lft);
}

const uint8_t *lft_block(const struct lft *lft, uint16_t block)
{
	static const uint8_t none[LFT_BLOCK_LIDS] = {[0 ... LFT_BLOCK_LIDS - 1] = LFT_NO_PORT};

	return lft && block < lft->blocks ? lft->port + block * LFT_BLOCK_LIDS : none;
}

struct routes *routes_new(uint64_t generation, uint32_t switches, const char *engine)
{
	struct routes *routes = mem_zalloc(sizeof(*routes));

	routes->refs = 1;
	routes->generation = generation;
	routes->engine = engine;
	routes->vls = 1;
	routes->num_switches = switches;
	routes->lft = mem_array(switches, sizeof(struct lft *));
	return routes;
}

struct routes *routes_ref(struct routes *routes)
{
	if (routes)
		routes->refs++;
	return routes;
}

struct routes *routes_detach(struct routes *routes)
{
	if (!routes || routes->refs > 1) {
		routes_unref(routes);
		return NULL;
	}
	for (uint32_t s = 0; s < routes->num_switches; s++) {
		if (!routes->lft[s] || routes->lft[s]->refs == 1)
			continue;
		lft_unref(routes->lft[s]);
		routes->lft[s] = NULL;
	}
	return routes;
}

void routes_unref(struct routes *routes)
{
	if (!routes || --routes->refs > 0)
		return;
	for (uint32_t s = 0; s < routes->num_switches; s++)
		lft_unref(routes->lft[s]);
	for (uint32_t s = 0; routes->map_of && s < routes->num_switches; s++)
		free(routes->map_of[s]);
	free(routes->map_of);
	free(routes->maps);
	free(routes->sl);
	free(routes->order);
	free(routes->height);
	free(routes->lft);
	free(routes);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a switch's forwarding table is known to hold. While blocks of a new row are being written
 * the answer is old or new block by block; no third table is built for that. Only when the wanted
 * row changes again before all is written are the two folded into one.
 */
#include <string.h>

#include "fabric/fabric.h"

static bool acknowledged(const struct lft_have *have, uint16_t block)
{
	return have->next && block < have->next->blocks &&
	       have->acknowledged[block / 64] >> block % 64 & 1;
}

/* Above the top of what was written lies whatever the switch held before: unknown, not empty. */
const uint8_t *lft_have_block(const struct lft_have *have, uint16_t block)
{
	if (acknowledged(have, block))
		return lft_block(have->next, block);
	return have->base && block < have->base->blocks ? lft_block(have->base, block) : NULL;
}

static void set_base(struct lft_have *have, struct lft *base)
{
	lft_unref(have->base);
	lft_unref(have->next);
	have->base = base;
	have->next = NULL;
	memset(have->acknowledged, 0, sizeof(have->acknowledged));
}

void lft_have_forget(struct lft_have *have)
{
	set_base(have, NULL);
}

/* One row that holds what old and new hold together, as far up as all of it is known. NULL:
 * nothing. */
static struct lft *fold(const struct lft_have *have)
{
	uint16_t blocks = 0;
	struct lft *row;

	while (lft_have_block(have, blocks))
		blocks++;
	if (!blocks)
		return NULL;
	row = lft_new((lid_t)(blocks * LFT_BLOCK_LIDS - 1));
	for (uint16_t block = 0; block < blocks; block++)
		memcpy(row->port + block * LFT_BLOCK_LIDS, lft_have_block(have, block),
		       LFT_BLOCK_LIDS);
	return row;
}

static bool complete(const struct lft_have *have)
{
	for (uint16_t block = 0; block < have->next->blocks; block++) {
		const uint8_t *held = lft_have_block(have, block);

		if (!held || memcmp(held, lft_block(have->next, block), LFT_BLOCK_LIDS) != 0)
			return false;
	}
	return true;
}

void lft_have_begin(struct lft_have *have, struct lft *want)
{
	if (have->next == want)
		return;
	if (have->next && complete(have))
		set_base(have, lft_ref(have->next));
	else if (have->next)
		set_base(have, fold(have));
	have->next = lft_ref(want);
}

void lft_have_acknowledge(struct lft_have *have, uint16_t block)
{
	if (have->next && block < have->next->blocks)
		have->acknowledged[block / 64] |= UINT64_C(1) << block % 64;
}

void lft_have_settle(struct lft_have *have)
{
	if (have->next)
		set_base(have, lft_ref(have->next));
}

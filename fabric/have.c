/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The known content of a switch's forwarding table. While blocks of a new row are being written,
 * each block is the old or the new block; no third table is built for that. Only if the wanted row
 * changes again before all blocks are written are the two merged.
 */
#include <string.h>

#include "fabric/fabric.h"

static bool bit(const uint64_t *bits, uint16_t block)
{
	return bits[block / 64] >> block % 64 & 1;
}

static void set_bit(uint64_t *bits, uint16_t block)
{
	bits[block / 64] |= UINT64_C(1) << block % 64;
}

static void clear_bit(uint64_t *bits, uint16_t block)
{
	bits[block / 64] &= ~(UINT64_C(1) << block % 64);
}

/* Entries above the top of the written row are those that the switch had before: unknown, not
 * empty. */
const uint8_t *lft_have_block(const struct lft_have *have, uint16_t block)
{
	if (block >= LFT_BLOCKS_MAX || bit(have->doubtful, block))
		return NULL;
	if (have->next && block < have->next->blocks && bit(have->acknowledged, block))
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
	memset(have->doubtful, 0, sizeof(have->doubtful));
}

/* A row with the common known content of old and new; uncertain blocks stay uncertain. NULL:
 * unknown. */
static struct lft *fold(struct lft_have *have)
{
	uint16_t blocks = have->next->blocks;
	struct lft *row;

	if (have->base && have->base->blocks > blocks)
		blocks = have->base->blocks;
	row = lft_new((lid_t)(blocks * LFT_BLOCK_LIDS - 1));
	for (uint16_t block = 0; block < blocks; block++) {
		const uint8_t *held = lft_have_block(have, block);

		if (held)
			memcpy(row->port + block * LFT_BLOCK_LIDS, held, LFT_BLOCK_LIDS);
		else
			set_bit(have->doubtful, block);
	}
	return row;
}

void lft_have_begin(struct lft_have *have, struct lft *want)
{
	if (have->next == want)
		return;
	if (have->next)
		set_base(have, fold(have));
	have->next = lft_ref(want);
}

void lft_have_acknowledge(struct lft_have *have, uint16_t block)
{
	if (!have->next || block >= have->next->blocks)
		return;
	set_bit(have->acknowledged, block);
	clear_bit(have->doubtful, block);
}

/* A private base of at least so many blocks; blocks that were unknown before are uncertain. */
static void own_base(struct lft_have *have, uint16_t blocks)
{
	uint16_t known = have->base ? have->base->blocks : 0;
	struct lft *row;

	if (have->base && have->base->refs == 1 && known >= blocks)
		return;
	row = lft_new((lid_t)((known > blocks ? known : blocks) * LFT_BLOCK_LIDS - 1));
	if (have->base)
		memcpy(row->port, have->base->port, (size_t)known * LFT_BLOCK_LIDS);
	for (uint16_t block = known; block < row->blocks; block++) {
		if (!bit(have->acknowledged, block))
			set_bit(have->doubtful, block);
	}
	lft_unref(have->base);
	have->base = row;
}

static void write_base(struct lft_have *have, uint16_t block, const uint8_t entries[LFT_BLOCK_LIDS])
{
	memcpy(have->base->port + block * LFT_BLOCK_LIDS, entries, LFT_BLOCK_LIDS);
	clear_bit(have->doubtful, block);
	clear_bit(have->acknowledged, block);
}

void lft_have_learn(struct lft_have *have, uint16_t block, uint16_t blocks,
		    const uint8_t entries[LFT_BLOCK_LIDS])
{
	if (block >= blocks || blocks > LFT_BLOCKS_MAX)
		return;
	own_base(have, blocks);
	write_base(have, block, entries);
}

void lft_have_doubt(struct lft_have *have, uint16_t block)
{
	if (block < LFT_BLOCKS_MAX)
		set_bit(have->doubtful, block);
}

void lft_have_believe(struct lft_have *have, struct lft *row)
{
	lft_unref(have->base);
	have->base = lft_ref(row);
	memset(have->doubtful, 0, sizeof(have->doubtful));
}

void lft_have_settle(struct lft_have *have)
{
	if (have->next)
		set_base(have, lft_ref(have->next));
	memset(have->doubtful, 0, sizeof(have->doubtful));
}

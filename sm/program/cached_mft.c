/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The cached multicast table of a switch: its row of the table cache (fabric/table_cache.h). It is
 * accepted if MulticastFDBTop is unchanged and some sampled cells of the switch agree with the row.
 * Joins and leaves outdate rows within a minute, and the cache is not synced to disk before
 * switches are written. So a cached cell is used only while it equals the wanted cell: a cell that
 * differs is read before it is written (mft.c). There is no cached table if another manager may
 * have been MASTER since (sweep.c). The readback finds wrong cells that no sample met. Called by
 * mft.c; loop thread only.
 */
#include <errno.h>
#include <string.h>

#include "lib/mem.h"
#include "sm/program/mcast.h"
#include "sm/program/parts.h"

enum { SAMPLES = 4, MFT_POSITION_SHIFT = 28 };

/* Every second sample is a cell with entries. */
static uint32_t mft_cache_sample(const struct node *node, unsigned number)
{
	const struct mft_row *cached = node->sw->mft->cached;
	uint64_t hash = (node->guid + number) * UINT64_C(0x9E3779B97F4A7C15) >> 32;

	if (cached->count && number % 2 == 0)
		return cached->cell[hash % cached->count].index;
	return (uint32_t)(hash % ((uint32_t)cached->blocks * cached->positions));
}

static bool mft_cache_is_sampled(const struct node *node, uint32_t index)
{
	for (unsigned i = 0; i < node->sw->mft->samples_asked; i++) {
		if (mft_cache_sample(node, i) == index)
			return true;
	}
	return false;
}

static void mft_cache_drop(struct mft *mft)
{
	mft_row_unref(mft->cached);
	mft->cached = NULL;
}

void mft_cache_begin(struct program *program, struct node *node)
{
	struct mft *mft = node->sw->mft;
	struct mft_row *row;
	lid_t top;

	if (!mft || mft->cached || mft->blank || mft->known_blocks)
		return;
	row = table_cache_take_mft(program->cache, node->guid, &top);
	if (!row)
		return;
	if (row->blocks && row->blocks <= mft->blocks && row->positions == mft->positions &&
	    top == node->facts->sw.multicast_fdb_top && switch_forwards(node)) {
		mft->cached = row;
		mft->samples_asked = 0;
	} else {
		mft_row_unref(row);
	}
}

static void mft_cache_sample_read(void *owner, void *subject, const struct smp_request *request,
				  const struct smp_answer *answer)
{
	struct node *node = subject;
	struct mft *mft = node->sw->mft;
	uint32_t block = request->attr_mod & UINT16_MAX,
		 index = block * mft->positions + (request->attr_mod >> MFT_POSITION_SHIFT);
	struct multicast_forwarding_table held;

	(void)owner;
	mft->pending--;
	if (answer->error == -ECANCELED)
		return;
	if (!answer->error && !answer->status)
		attr_decode(&multicast_forwarding_table_format, answer->data, &held);
	if (mft->cached &&
	    (answer->error || answer->status ||
	     memcmp(held.port_mask, mft_row_cell(mft->cached, index), sizeof(held.port_mask)) != 0))
		mft_cache_drop(mft);
	window_wake(&node->port[0].agent->target);
}

static void believe(struct program *program, struct mft *mft)
{
	const struct mft_row *cached = mft->cached;

	mft_believe(mft, cached);
	for (uint32_t i = 0; i < cached->count; i++)
		mcast_be_careful(program->mcast,
				 (lid_t)(LID_MULTICAST_MIN +
					 cached->cell[i].index / mft->positions * MFT_BLOCK_LIDS));
	mft_cache_drop(mft);
}

bool mft_cache_request(struct program *program, struct node *node, struct smp_request *out)
{
	struct mft *mft = node->sw->mft;
	uint32_t index;

	if (!mft->cached)
		return false;
	while (mft->samples_asked < SAMPLES &&
	       mft_cache_is_sampled(node, mft_cache_sample(node, mft->samples_asked)))
		mft->samples_asked++;
	if (mft->samples_asked == SAMPLES) {
		if (!mft->pending)
			believe(program, mft);
		return false;
	}
	index = mft_cache_sample(node, mft->samples_asked++);
	*out = (struct smp_request){.method = METHOD_GET,
				    .attr_id = ATTR_MULTICAST_FORWARDING_TABLE,
				    .attr_mod = index % mft->positions << MFT_POSITION_SHIFT |
						index / mft->positions,
				    .done = mft_cache_sample_read,
				    .owner = program,
				    .subject = node};
	mft->pending++;
	return true;
}

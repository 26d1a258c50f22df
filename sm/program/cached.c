/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The cached tables of a switch: its rows of the table cache (fabric/table_cache.h). A cached table
 * is accepted if its top is unchanged and some sampled blocks of the switch agree with it.
 * Otherwise the switch is read. There is no cached table if another manager may have been MASTER
 * since (sweep.c). The readback finds a table that was accepted wrongly.
 *
 * Forwarding table: the samples are the block with the manager's LID, and others that differ from
 * switch to switch, so that all switches together cover nearly every LID. A sample that differs
 * shows that another manager has written tables: the next sweep reads all other switches, too.
 *
 * Multicast table: joins and leaves outdate rows within a minute, and the cache is not synced to
 * disk before switches are written. So a cached cell is used only while it equals the wanted cell:
 * a cell that differs is read before it is written (mft.c).
 */
#include <errno.h>
#include <string.h>

#include "lib/mem.h"
#include "sm/program/mcast.h"
#include "sm/program/parts.h"

enum { SAMPLES = 4 };

/* The index of sample number 0, 1, ... of a switch. */
typedef uint32_t sample_fn(const struct program *program, const struct node *node, unsigned number);

static uint32_t hash_of(const struct node *node, unsigned number)
{
	return (uint32_t)((node->guid + number) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

/* The next number from asked on whose sample no earlier number has; SAMPLES: there is none. */
static uint8_t next_sample(const struct program *program, const struct node *node,
			   sample_fn *sample, unsigned asked)
{
	unsigned earlier = 0;

	while (asked < SAMPLES && earlier < asked) {
		if (sample(program, node, earlier++) == sample(program, node, asked)) {
			asked++;
			earlier = 0;
		}
	}
	return (uint8_t)asked;
}

/* Forwarding tables */

static uint32_t lft_sample(const struct program *program, const struct node *node, unsigned number)
{
	const struct lft *cached = node->sw->cache.row;
	lid_t own = program->fabric->sm_port->lid;

	if (!number && own <= cached->top)
		return own / LFT_BLOCK_LIDS;
	return hash_of(node, number) % cached->blocks;
}

void lft_cache_drop(struct switch_state *sw)
{
	lft_unref(sw->cache.row);
	sw->cache.row = NULL;
	sw->lft.compared = false;
}

void lft_cache_begin(struct program *program, struct node *node)
{
	struct switch_state *sw = node->sw;
	struct lft *row;

	if (sw->lft.have.base || !sw->lft.want || sw->cache.row)
		return;
	row = table_cache_take(program->cache, node->guid);
	if (row && row->top == node->facts->sw.linear_fdb_top && switch_forwards(node)) {
		sw->cache.row = row;
		sw->cache.samples = 0;
	} else {
		lft_unref(row);
	}
}

static void lft_sample_read(void *owner, void *subject, const struct smp_request *request,
			    const struct smp_answer *answer)
{
	struct program *program = owner;
	struct node *node = subject;
	struct switch_state *sw = node->sw;
	enum table_answer result = verify_table_answer(node, request, answer);
	const uint8_t *cached;

	sw->lft.pending--;
	if (result == TABLE_CANCELED)
		return;
	if (sw->cache.row && result != TABLE_GOOD) {
		lft_cache_drop(sw);
	} else if (sw->cache.row) { /* else an earlier sample has decided */
		cached = lft_block(sw->cache.row, (uint16_t)request->attr_mod);
		if (memcmp(answer->data, cached, LFT_BLOCK_LIDS) != 0) {
			program->report.cache_wrong++;
			lft_cache_drop(sw);
		}
	}
	window_wake(&node->port[0].agent->target);
}

bool lft_cache_request(struct program *program, struct node *node, struct smp_request *out)
{
	struct switch_state *sw = node->sw;

	if (!sw->cache.row)
		return false;
	sw->cache.samples = next_sample(program, node, lft_sample, sw->cache.samples);
	if (sw->cache.samples < SAMPLES) {
		verify_table_request(program, node, METHOD_GET, ATTR_LINEAR_FORWARDING_TABLE,
				     lft_sample(program, node, sw->cache.samples++),
				     lft_sample_read, out);
		sw->lft.pending++;
		return true;
	}
	if (!sw->lft.pending) {
		lft_have_believe(&sw->lft.have, sw->cache.row);
		lft_cache_drop(sw);
		switch_wake_waiters(program, node);
	}
	return false;
}

/* Multicast tables */

/* Every second sample is a cell with entries. */
static uint32_t mft_sample(const struct program *program, const struct node *node, unsigned number)
{
	const struct mft_row *cached = node->sw->mft->cached;

	(void)program;
	if (cached->count && number % 2 == 0)
		return cached->cell[hash_of(node, number) % cached->count].index;
	return hash_of(node, number) % ((uint32_t)cached->blocks * cached->positions);
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

static void mft_sample_read(void *owner, void *subject, const struct smp_request *request,
			    const struct smp_answer *answer)
{
	struct node *node = subject;
	struct mft *mft = node->sw->mft;
	enum table_answer result = verify_table_answer(node, request, answer);
	struct multicast_forwarding_table held;
	const uint16_t *cached;

	(void)owner;
	mft->pending--;
	if (result == TABLE_CANCELED)
		return;
	if (mft->cached && result != TABLE_GOOD) {
		mft_cache_drop(mft);
	} else if (mft->cached) {
		attr_decode(&multicast_forwarding_table_format, answer->data, &held);
		cached = mft_row_cell(mft->cached, (uint32_t)mft_index_of(mft, request->attr_mod));
		if (memcmp(held.port_mask, cached, sizeof(held.port_mask)) != 0)
			mft_cache_drop(mft);
	}
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

	if (!mft->cached)
		return false;
	mft->samples_asked = next_sample(program, node, mft_sample, mft->samples_asked);
	if (mft->samples_asked < SAMPLES) {
		verify_table_request(
			program, node, METHOD_GET, ATTR_MULTICAST_FORWARDING_TABLE,
			mft_modifier(mft, mft_sample(program, node, mft->samples_asked++)),
			mft_sample_read, out);
		mft->pending++;
		return true;
	}
	if (!mft->pending)
		believe(program, mft);
	return false;
}

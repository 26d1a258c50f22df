/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The cached table of a switch: its row of the table cache (fabric/table_cache.h). It is accepted
 * if some sampled blocks of the switch agree with the row: the block with the manager's LID, and
 * others that differ from switch to switch, so that all switches together cover nearly every LID.
 * Otherwise another manager has written tables: this switch is read completely, and all others in
 * the next sweep. The readback finds a table that was accepted wrongly.
 */
#include <errno.h>
#include <string.h>

#include "lib/mem.h"
#include "sm/program/parts.h"

enum { SAMPLES = 4 };

static uint16_t lft_cache_sample(const struct program *program, const struct node *node,
				 unsigned number)
{
	const struct lft *cached = node->sw->cache.row;
	lid_t own = program->fabric->sm_port->lid;
	uint64_t hash = (node->guid + number) * UINT64_C(0x9E3779B97F4A7C15);

	if (!number && own <= cached->top)
		return own / LFT_BLOCK_LIDS;
	return (uint16_t)((hash >> 32) % cached->blocks);
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

static void lft_cache_sample_read(void *owner, void *subject, const struct smp_request *request,
				  const struct smp_answer *answer)
{
	struct program *program = owner;
	struct node *node = subject;
	struct switch_state *sw = node->sw;
	uint16_t block = (uint16_t)request->attr_mod;
	bool differs;

	sw->lft.pending--;
	if (answer->error == -ECANCELED)
		return;
	verify_try_again(node, answer->error);
	if (!sw->cache.row) {
		/* an earlier sample has decided */
	} else if (answer->error || answer->status) {
		lft_cache_drop(sw);
	} else {
		differs =
			memcmp(answer->data, lft_block(sw->cache.row, block), LFT_BLOCK_LIDS) != 0;
		program->report.cache_wrong += differs;
		if (differs)
			lft_cache_drop(sw);
	}
	if (!answer->error && !answer->status && !sw->verify.set_lost)
		sw->verify.unanswered = 0;
	window_wake(&node->port[0].agent->target);
}

static bool lft_cache_is_sampled(const struct program *program, const struct node *node,
				 uint16_t block)
{
	for (unsigned i = 0; i < node->sw->cache.samples; i++) {
		if (lft_cache_sample(program, node, i) == block)
			return true;
	}
	return false;
}

void lft_cache_judge(struct program *program, struct node *node)
{
	struct switch_state *sw = node->sw;

	if (!sw->cache.row)
		return;
	while (sw->cache.samples < SAMPLES &&
	       lft_cache_is_sampled(program, node,
				    lft_cache_sample(program, node, sw->cache.samples)))
		sw->cache.samples++;
	if (sw->cache.samples < SAMPLES || sw->lft.pending)
		return;
	lft_have_believe(&sw->lft.have, sw->cache.row);
	lft_cache_drop(sw);
	switch_wake_waiters(program, node);
}

bool lft_cache_request(struct program *program, struct node *node, struct smp_request *out)
{
	struct switch_state *sw = node->sw;

	if (sw->cache.samples == SAMPLES)
		return false;
	*out = (struct smp_request){.method = METHOD_GET,
				    .attr_id = ATTR_LINEAR_FORWARDING_TABLE,
				    .attr_mod =
					    lft_cache_sample(program, node, sw->cache.samples++),
				    .tried = sw->verify.unanswered,
				    .way = sw->verify.way,
				    .once = true,
				    .done = lft_cache_sample_read,
				    .owner = program,
				    .subject = node};
	sw->lft.pending++;
	return true;
}

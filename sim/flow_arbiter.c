/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* VL arbitration: see flow_arbiter.h. */
#include "sim/flow_arbiter.h"

#include <stdbool.h>

enum { VL_BITS = 0xF, VL_MANAGEMENT = 15, ALL_DATA_VLS = 0x7FFF, BLOCK = 64, VLS = 15 };

static uint8_t weights_vl(const struct flow_weights *weights, unsigned at)
{
	return weights->entry[2 * at] & VL_BITS;
}

static uint8_t weights_weight(const struct flow_weights *weights, unsigned at)
{
	return weights_vl(weights, at) == VL_MANAGEMENT ? 0 : weights->entry[2 * at + 1];
}

static void weights_init(struct flow_weights *weights, const uint8_t *entry, uint8_t count)
{
	*weights = (struct flow_weights){.entry = entry, .count = count};
	for (unsigned i = 0; i < count; i++) {
		if (weights_weight(weights, i))
			weights->vls |= 1u << weights_vl(weights, i);
	}
	if (count)
		weights->at = count - 1; /* the first turn is that of entry 0 */
}

void flow_arbiter_init(struct flow_arbiter *arbiter, const uint8_t *low, uint8_t low_count,
		       const uint8_t *high, uint8_t high_count, uint8_t limit)
{
	*arbiter = (struct flow_arbiter){.limit = limit, .last_vl = VLS - 1};
	weights_init(&arbiter->low, low, low_count);
	weights_init(&arbiter->high, high, high_count);
}

static bool arbiter_is_unset(const struct flow_arbiter *arbiter)
{
	return !arbiter->high.vls && !arbiter->low.vls;
}

uint16_t flow_arbiter_vls(const struct flow_arbiter *arbiter)
{
	return arbiter_is_unset(arbiter) ? ALL_DATA_VLS : arbiter->high.vls | arbiter->low.vls;
}

/* The entry whose turn it is keeps it while it has weight left; otherwise the next entry that can
 * send gets its whole weight. */
static uint8_t weights_choose(struct flow_weights *weights, uint16_t can_send,
			      const uint16_t blocks[16])
{
	uint8_t vl = weights_vl(weights, weights->at);

	if (weights->left <= 0 || !(can_send >> vl & 1)) {
		do {
			weights->at = (weights->at + 1) % weights->count;
			weights->left = weights_weight(weights, weights->at);
			vl = weights_vl(weights, weights->at);
		} while (!weights->left || !(can_send >> vl & 1));
	}
	weights->left -= (int16_t)blocks[vl];
	return vl;
}

static bool high_is_spent(const struct flow_arbiter *arbiter)
{
	return arbiter->limit != FLOW_HIGH_UNLIMITED && arbiter->high_bytes &&
	       arbiter->high_bytes >= arbiter->limit * (uint32_t)FLOW_HIGH_UNIT;
}

uint8_t flow_arbiter_choose(struct flow_arbiter *arbiter, uint16_t can_send,
			    const uint16_t blocks[16])
{
	uint16_t high = can_send & arbiter->high.vls, low = can_send & arbiter->low.vls;
	uint8_t vl = arbiter->last_vl;

	if (arbiter_is_unset(arbiter)) {
		do {
			vl = (vl + 1) % VLS;
		} while (!(can_send >> vl & 1));
		arbiter->last_vl = vl;
		return vl;
	}
	if (!high || high_is_spent(arbiter))
		arbiter->high_bytes = 0;
	else
		low = 0;
	if (low)
		return weights_choose(&arbiter->low, low, blocks);
	vl = weights_choose(&arbiter->high, high, blocks);
	arbiter->high_bytes += blocks[vl] * BLOCK;
	return vl;
}

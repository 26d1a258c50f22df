/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The properties of a path, from the lookup in both directions, and their comparison with a
 * request.
 */
#include "sa/path.h"

#include <errno.h>

enum {
	MTU_256 = 1,
	MTU_4096 = 5,
	RATE_2_5_GBPS = 2,
	ENCODED_MAX = 63, /* six bits */
};

/* The order of encoded values: encodings of rates are not in order. 0: not a valid value. */
static unsigned mtu_order(uint8_t mtu)
{
	return mtu <= MTU_4096 ? mtu : 0;
}

static unsigned rate_order(uint8_t rate)
{
	return rate_deci_gbps(rate);
}

/* A path may be used at a lower value: LESS gives the highest value below the limit, EXACTLY the
 * limit if the path supports it. False if the path cannot satisfy it. */
static bool limit_capacity(const struct path_limit *limit, unsigned (*order)(uint8_t),
			   uint8_t *value)
{
	unsigned wanted = order(limit->value), have = order(*value);
	uint8_t best = 0;

	switch (limit->selector) {
	case SELECT_GREATER:
		return have > wanted;
	case SELECT_LESS:
		for (uint8_t v = 1; v <= ENCODED_MAX; v++)
			if (order(v) < wanted && order(v) <= have && order(v) > order(best))
				best = v;
		*value = best;
		return best != 0;
	case SELECT_EXACTLY:
		*value = limit->value;
		return wanted && wanted <= have;
	default:
		return true;
	}
}

bool path_limit_mtu(const struct path_limit *limit, uint8_t *mtu)
{
	return limit_capacity(limit, mtu_order, mtu);
}

bool path_limit_rate(const struct path_limit *limit, uint8_t *rate)
{
	return limit_capacity(limit, rate_order, rate);
}

/* A longer life time than necessary is valid too; with a shorter one connections would break
 * before the fabric has recovered. */
bool path_limit_life_time(const struct path_limit *limit, uint8_t *value)
{
	switch (limit->selector) {
	case SELECT_GREATER:
		if (*value <= limit->value)
			*value = limit->value + 1;
		return *value <= ENCODED_MAX;
	case SELECT_LESS:
		return *value < limit->value;
	case SELECT_EXACTLY:
		if (*value > limit->value)
			return false;
		*value = limit->value;
		return true;
	default:
		return true;
	}
}

bool path_query_holds(const struct path_query *query, uint8_t mtu, uint8_t rate, uint8_t life_time)
{
	uint8_t as_mtu = mtu, as_rate = rate, as_life_time = life_time;

	return path_limit_mtu(&query->mtu, &as_mtu) && as_mtu == mtu &&
	       path_limit_rate(&query->rate, &as_rate) && as_rate == rate &&
	       path_limit_life_time(&query->life_time, &as_life_time) && as_life_time == life_time;
}

/* The fastest rate up to this one whose encoding is not above max. */
uint8_t path_rate_known(uint8_t have, uint8_t max)
{
	uint8_t best = RATE_2_5_GBPS;

	if (have <= max)
		return have;
	for (uint8_t rate = RATE_2_5_GBPS; rate <= max; rate++)
		if (rate_order(rate) <= rate_order(have) && rate_order(rate) > rate_order(best))
			best = rate;
	return best;
}

/* The P_Key of the path if the query allows several; 0 if there is none. The default partition
 * is requested most often, so it is tried first. */
static pkey_t path_key(struct lookup *lookup, const struct path_ends *ends, pkey_t asked)
{
	pkey_t shared = lookup_shared(lookup, ends->source, ends->destination);

	if (!asked)
		return shared;
	if ((shared && !((shared ^ asked) & ~PKEY_FULL_MEMBER)) ||
	    endports_share_key(ends->source, ends->destination, asked))
		return asked;
	return 0;
}

int path_resolve(struct lookup *lookup, const struct path_rule *rule, const struct path_ends *ends,
		 const struct path_query *query, struct path *out)
{
	const struct endport *source = ends->source, *destination = ends->destination;
	struct path path = {.sl = query->sl};
	measure_t there, back;
	uint8_t rate;

	path.p_key = path_key(lookup, ends, query->p_key);
	if (!path.p_key)
		return -EACCES;
	there = lookup_way(lookup, source, destination, ends->dlid);
	if (there == MEASURE_NO_WAY)
		return -EHOSTUNREACH;
	back = lookup_way(lookup, destination, source, ends->slid);
	path.reversible = back != MEASURE_NO_WAY;
	if (path.reversible)
		there = measure_least(there, back);
	path.mtu = measure_mtu(there);
	if (!path.mtu)
		path.mtu = MTU_256;
	rate = measure_rate(lookup, there);
	path.rate = path_rate_known(rate ? rate : RATE_2_5_GBPS, rule->rate_max);
	path.life_time = endport_same(source, destination) ? 0 : rule->life_time;
	if ((query->reversible && !path.reversible) || !path_limit_mtu(&query->mtu, &path.mtu) ||
	    !path_limit_rate(&query->rate, &path.rate) ||
	    !path_limit_life_time(&query->life_time, &path.life_time))
		return -ENOENT;
	*out = path;
	return 0;
}

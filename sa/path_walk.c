/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Walks over pairs of ports. A table may have hundreds of thousands of pairs, and each takes some
 * hundred nanoseconds. So values that all pairs share are computed before the first pair, and
 * values of a source when it is reached.
 */
#include "sa/path_walk.h"

#include "lib/be.h"

static bool has_component(uint64_t mask, unsigned component)
{
	return mask >> component & 1;
}

/* A value counts only with its selector. */
static struct path_limit path_limit_of(uint64_t mask, unsigned selector_component, uint8_t selector,
				       unsigned value_component, uint8_t value)
{
	if (!has_component(mask, selector_component) || !has_component(mask, value_component))
		return (struct path_limit){.selector = SELECT_BEST};
	return (struct path_limit){.selector = selector, .value = value};
}

static struct path_query query_of(uint64_t mask, const struct path_record *wanted)
{
	return (struct path_query){
		.reversible = has_component(mask, PATH_REVERSIBLE) && wanted->reversible,
		.p_key = has_component(mask, PATH_P_KEY) ? wanted->p_key : 0,
		.mtu = path_limit_of(mask, PATH_MTU_SELECTOR, wanted->mtu_selector, PATH_MTU,
				     wanted->mtu),
		.rate = path_limit_of(mask, PATH_RATE_SELECTOR, wanted->rate_selector, PATH_RATE,
				      wanted->rate),
		.life_time = path_limit_of(mask, PATH_PACKET_LIFE_TIME_SELECTOR,
					   wanted->packet_life_time_selector, PATH_PACKET_LIFE_TIME,
					   wanted->packet_life_time),
		.sl = has_component(mask, PATH_SL) ? wanted->sl : PATH_SL_DEFAULT,
	};
}

/* LFTs do not forward raw traffic, and P_Key 0 is not a partition. */
static bool query_possible(uint64_t mask, const struct path_record *wanted)
{
	return !(has_component(mask, PATH_RAW_TRAFFIC) && wanted->raw_traffic) &&
	       !(has_component(mask, PATH_P_KEY) && !wanted->p_key);
}

static struct path_record echo_of(uint64_t mask, const struct path_record *wanted)
{
	struct path_record echo = {
		.mtu_selector = SELECT_EXACTLY,
		.rate_selector = SELECT_EXACTLY,
		.packet_life_time_selector = SELECT_EXACTLY,
	};

	if (has_component(mask, PATH_SERVICE_ID_8MSB))
		echo.service_id_8msb = wanted->service_id_8msb;
	if (has_component(mask, PATH_SERVICE_ID_56LSB))
		echo.service_id_56lsb = wanted->service_id_56lsb;
	if (has_component(mask, PATH_QOS_CLASS))
		echo.qos_class = wanted->qos_class;
	if (has_component(mask, PATH_FLOW_LABEL))
		echo.flow_label = wanted->flow_label;
	if (has_component(mask, PATH_HOP_LIMIT))
		echo.hop_limit = wanted->hop_limit;
	if (has_component(mask, PATH_TCLASS))
		echo.tclass = wanted->tclass;
	return echo;
}

struct path_walk *path_walk_new(struct sa_request *request, uint64_t mask,
				const struct path_record *wanted)
{
	struct path_walk *walk = arena_alloc(request->arena, sizeof(*walk));
	const struct sa_options *options = request->options;

	*walk = (struct path_walk){
		.possible = query_possible(mask, wanted),
		.rule = {options->packet_life_time, options->max_rate_enum},
		.query = query_of(mask, wanted),
		.echo = echo_of(mask, wanted),
		.source_place = UINT32_MAX,
	};
	be64_store(walk->echo.sgid, options->subnet_prefix);
	be64_store(walk->echo.dgid, options->subnet_prefix);
	request->state = walk;
	return walk;
}

bool path_gid_is_multicast(const uint8_t gid[GID_SIZE])
{
	return gid[0] == 0xFF;
}

bool path_gid_is_ours(const struct sa_request *request, const uint8_t gid[GID_SIZE])
{
	uint64_t prefix = be64_load(gid);

	return prefix == GID_PREFIX_DEFAULT || prefix == request->options->subnet_prefix;
}

static uint32_t side_number(const struct path_side *side, uint32_t place)
{
	return side->number ? side->number[place] : side->first + place;
}

/* The record has the GIDs of the request. */
static void side_name(const struct path_side *side, uint32_t place, struct endport *port)
{
	guid_t asked = side->guid ? side->guid[place] : side->asked;

	if (asked)
		port->guid = asked;
}

bool path_walk_pair(struct sa_request *request, struct path_walk *walk, uint32_t source,
		    uint32_t destination, struct endport *out)
{
	if (walk->source_place != source) {
		walk->source_place = source;
		walk->source_seen = request_endport(request, side_number(&walk->source, source),
						    &walk->source_port);
		side_name(&walk->source, source, &walk->source_port);
	}
	if (!walk->source_seen ||
	    !request_endport(request, side_number(&walk->destination, destination), out))
		return false;
	side_name(&walk->destination, destination, out);
	return true;
}

static unsigned side_lids(const struct path_side *side, const struct endport *port)
{
	return side->by_lid ? 1 : 1u << port->lmc;
}

/* The offset of the LID of a side that was given by LID; the other side starts there. */
static unsigned side_offset(const struct path_side *side, const struct endport *port)
{
	return side->by_lid ? (unsigned)(side->lid - port->lid) : 0;
}

static lid_t side_lid(const struct path_side *side, const struct endport *port, unsigned offset)
{
	return side->by_lid ? side->lid : (lid_t)(port->lid + offset % (1u << port->lmc));
}

unsigned path_walk_paths(const struct path_walk *walk, const struct endport *destination)
{
	unsigned slids = side_lids(&walk->source, &walk->source_port);
	unsigned dlids = side_lids(&walk->destination, destination);

	return slids > dlids ? slids : dlids;
}

bool path_walk_offer(struct sa_request *request, struct path_walk *walk,
		     const struct endport *destination, unsigned i)
{
	const struct endport *source = &walk->source_port;
	unsigned offset = side_offset(&walk->source, source) +
			  side_offset(&walk->destination, destination) + i;
	const struct path_ends ends = {source, destination, side_lid(&walk->source, source, offset),
				       side_lid(&walk->destination, destination, offset)};
	struct path_record *record = &walk->echo;
	struct path path;
	uint8_t *place;

	if (path_resolve(request->lookup, &walk->rule, &ends, &walk->query, &path))
		return false;
	place = request_place(request);
	if (!place)
		return true;
	be64_store(record->sgid + 8, source->guid);
	be64_store(record->dgid + 8, destination->guid);
	record->slid = ends.slid;
	record->dlid = ends.dlid;
	record->reversible = path.reversible;
	record->p_key = path.p_key;
	record->sl = path.sl;
	record->mtu = path.mtu;
	record->rate = path.rate;
	record->packet_life_time = path.life_time;
	path_record_encode(record, place);
	return true;
}

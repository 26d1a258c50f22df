/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * PathRecord: which ends a request means, and which pairs of their LIDs make its paths; each pair
 * is then judged by the rule in path.c. Called by adm.c.
 *
 * Ends. Each is given by GID, by LID or by both, which must then be the same port. A GID is ours
 * when its prefix is the subnet's or the link-local default; another subnet's is refused with
 * INVALID_GID, for there is no router to lead to. A GUID, LID or multicast GID that nobody has
 * matches nothing. SubnAdmGet must give both ends, else INSUFFICIENT_COMPONENTS; SubnAdmGetTable
 * may leave one open (all ports) or both, as long as no more than PAIRS_MAX pairs have to be tried.
 *
 * LIDs. Where an end has several (LMC), path number i goes from SLID base + i to DLID base + i, the
 * one with fewer starting over, so that two paths share as little as they can; there are as many
 * paths as the end with more has LIDs. An end that was given by LID keeps it, and the other begins
 * at the same offset. NumbPath cuts that off; of Get it is always 1 (an erratum to release 1.2, as
 * in OpenSM).
 *
 * What is not compared: ServiceID and QoSClass come back as asked, since no policy tells them
 * apart. FlowLabel, HopLimit and TClass are for GRHs, which paths within the subnet do not need:
 * they are 0.
 */
#include <limits.h>
#include <stdint.h>

#include "lib/be.h"
#include "sa/path.h"
#include "sa/request.h"

/* Paths that one request may ask about, and fewer when it leaves both ends open: a table is
 * computed within one turn of the loop. All adapters have the same LMC. */
enum { PAIRS_MAX = 16384, PATHS_MAX = 262144 };

/* One side of a request: the end ports from first to before end, and the LID when it fixes one. */
struct side {
	uint32_t first, end;
	bool by_lid;
	lid_t lid;
};

struct path_request {
	struct adm_request *request;
	const struct path_record *wanted;
	struct path_query query;
	struct side source, destination;
};

static bool gid_is_multicast(const uint8_t gid[GID_SIZE])
{
	return gid[0] == 0xFF;
}

static bool gid_is_ours(const struct adm_request *request, const uint8_t gid[GID_SIZE])
{
	uint64_t prefix = be64_load(gid);

	return prefix == GID_PREFIX_DEFAULT || prefix == request->options->subnet_prefix;
}

static void gid_store(const struct adm_request *request, const struct endport *port,
		      uint8_t gid[GID_SIZE])
{
	be64_store(gid, request->options->subnet_prefix);
	be64_store(gid + 8, port->guid);
}

static void side_fix(const struct adm_request *request, struct side *side, bool found,
		     const struct endport *port)
{
	uint32_t number = found ? endport_number(request->topology, port) : 0;

	if (found && number >= side->first && number < side->end) {
		side->first = number;
		side->end = number + 1;
	} else {
		side->end = side->first; /* nobody, or two components that contradict each other */
	}
}

/* STATUS_OK, or why this side cannot be. */
static uint16_t side_find(const struct adm_request *request, unsigned gid_component,
			  const uint8_t gid[GID_SIZE], unsigned lid_component, lid_t lid,
			  struct side *out)
{
	const struct snapshot *topology = request->topology;
	bool by_gid = request_has(request, gid_component);
	bool by_lid = request_has(request, lid_component);
	struct side side = {.end = endport_count(topology), .by_lid = by_lid, .lid = lid};
	struct endport port = {.lid = LID_NONE};
	bool found;

	if (!by_gid && !by_lid && !request->table)
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	if (by_gid) {
		bool multicast = gid_is_multicast(gid);

		if (!multicast && !gid_is_ours(request, gid))
			return SA_REQ_INVALID_GID;
		found = !multicast && endport_by_guid(topology, be64_load(gid + 8), &port);
		side_fix(request, &side, found, &port);
	}
	if (by_lid) {
		found = endport_by_lid(topology, lid, &port);
		side_fix(request, &side, found, &port);
	}
	*out = side;
	return STATUS_OK;
}

/* A value counts only together with its selector. */
static struct path_limit limit_of(const struct adm_request *request, unsigned selector_component,
				  uint8_t selector, unsigned value_component, uint8_t value)
{
	if (!request_has(request, selector_component) || !request_has(request, value_component))
		return (struct path_limit){.selector = SELECT_BEST};
	return (struct path_limit){.selector = selector, .value = value};
}

static void query_read(struct path_request *asked)
{
	const struct adm_request *request = asked->request;
	const struct path_record *wanted = asked->wanted;

	asked->query = (struct path_query){
		.reversible = request_has(request, PATH_REVERSIBLE) && wanted->reversible,
		.p_key = request_has(request, PATH_P_KEY) ? wanted->p_key : 0,
		.mtu = limit_of(request, PATH_MTU_SELECTOR, wanted->mtu_selector, PATH_MTU,
				wanted->mtu),
		.rate = limit_of(request, PATH_RATE_SELECTOR, wanted->rate_selector, PATH_RATE,
				 wanted->rate),
		.life_time = limit_of(request, PATH_PACKET_LIFE_TIME_SELECTOR,
				      wanted->packet_life_time_selector, PATH_PACKET_LIFE_TIME,
				      wanted->packet_life_time),
	};
}

/* Paths for each pair of ends. */
static unsigned paths_max(const struct path_request *asked)
{
	if (!asked->request->table)
		return 1;
	return request_has(asked->request, PATH_NUMB_PATH) ? asked->wanted->numb_path : UINT_MAX;
}

/* Whether there can be such paths at all: raw traffic is not switched by LFTs, and P_Key 0 stands
 * for no partition. */
static bool query_possible(const struct path_request *asked)
{
	const struct adm_request *request = asked->request;
	const struct path_record *wanted = asked->wanted;

	return !(request_has(request, PATH_RAW_TRAFFIC) && wanted->raw_traffic) &&
	       !(request_has(request, PATH_P_KEY) && !wanted->p_key) &&
	       !(request_has(request, PATH_SL) && wanted->sl != PATH_SL_DEFAULT);
}

static void offer_path(struct path_request *asked, const struct path_ends *ends,
		       const struct path *path)
{
	const struct adm_request *request = asked->request;
	const struct path_record *wanted = asked->wanted;
	struct path_record record = {
		.dlid = ends->dlid,
		.slid = ends->slid,
		.reversible = path->reversible,
		.p_key = path->p_key,
		.sl = path->sl,
		.mtu_selector = SELECT_EXACTLY,
		.mtu = path->mtu,
		.rate_selector = SELECT_EXACTLY,
		.rate = path->rate,
		.packet_life_time_selector = SELECT_EXACTLY,
		.packet_life_time = path->life_time,
	};

	gid_store(request, ends->source, record.sgid);
	gid_store(request, ends->destination, record.dgid);
	if (request_has(request, PATH_SERVICE_ID_8MSB))
		record.service_id_8msb = wanted->service_id_8msb;
	if (request_has(request, PATH_SERVICE_ID_56LSB))
		record.service_id_56lsb = wanted->service_id_56lsb;
	if (request_has(request, PATH_QOS_CLASS))
		record.qos_class = wanted->qos_class;
	request_offer(asked->request, 0, &record); /* compared already */
}

static lid_t side_lid(const struct side *side, const struct endport *port, unsigned offset)
{
	return side->by_lid ? side->lid : (lid_t)(port->lid + offset % (1u << port->lmc));
}

static unsigned side_lids(const struct side *side, const struct endport *port)
{
	return side->by_lid ? 1 : 1u << port->lmc;
}

/* The offset at which a side that gave its LID makes the other begin. */
static unsigned side_offset(const struct side *side, const struct endport *port)
{
	return side->by_lid ? (unsigned)(side->lid - port->lid) : 0;
}

static void offer_pair(struct path_request *asked, const struct endport *source,
		       const struct endport *destination)
{
	const struct adm_request *request = asked->request;
	unsigned slids = side_lids(&asked->source, source);
	unsigned dlids = side_lids(&asked->destination, destination);
	unsigned pairs = slids > dlids ? slids : dlids;
	unsigned first =
		side_offset(&asked->source, source) + side_offset(&asked->destination, destination);
	unsigned most = paths_max(asked), given = 0;

	for (unsigned i = 0; i < pairs && given < most; i++) {
		const struct path_ends ends = {
			source, destination, side_lid(&asked->source, source, first + i),
			side_lid(&asked->destination, destination, first + i)};
		struct path path;

		if (!request_open(request))
			return;
		if (path_resolve(request->view, request->options->packet_life_time, &ends,
				 &asked->query, &path))
			continue;
		offer_path(asked, &ends, &path);
		given++;
	}
}

static void offer_all(struct path_request *asked)
{
	const struct adm_request *request = asked->request;

	for (uint32_t s = asked->source.first; s < asked->source.end; s++) {
		struct endport source = endport_at(request->topology, s);

		if (source.lid == LID_NONE || !request_may_see(request, &source))
			continue;
		for (uint32_t d = asked->destination.first; d < asked->destination.end; d++) {
			struct endport destination = endport_at(request->topology, d);

			if (destination.lid == LID_NONE || !request_may_see(request, &destination))
				continue;
			if (!request_open(request))
				return;
			offer_pair(asked, &source, &destination);
		}
	}
}

static bool too_many_pairs(const struct path_request *asked)
{
	const struct snapshot *snapshot = asked->request->view->topology;
	uint64_t sources = asked->source.end - asked->source.first;
	uint64_t destinations = asked->destination.end - asked->destination.first;
	uint64_t paths = sources * destinations << (snapshot->num_ends ? snapshot->ends[0].lmc : 0);

	return paths > (sources > 1 && destinations > 1 ? PAIRS_MAX : PATHS_MAX);
}

uint16_t answer_paths(struct adm_request *request)
{
	struct path_request asked = {.request = request, .wanted = request->wanted};
	const struct path_record *wanted = asked.wanted;
	uint16_t status;

	status =
		side_find(request, PATH_SGID, wanted->sgid, PATH_SLID, wanted->slid, &asked.source);
	if (!status)
		status = side_find(request, PATH_DGID, wanted->dgid, PATH_DLID, wanted->dlid,
				   &asked.destination);
	if (status)
		return status;
	query_read(&asked);
	if (!query_possible(&asked))
		return STATUS_OK; /* no records */
	if (too_many_pairs(&asked))
		return SA_NO_RESOURCES;
	offer_all(&asked);
	return STATUS_OK;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The common part of PathRecord and MultiPathRecord: the ports on both sides, the conditions on a
 * path, the LIDs of each path, and the record of a path. They differ in how a request names the
 * sides and in the order of the pairs. Loop thread only.
 *
 * LIDs. If an end has several LIDs (LMC), path number i goes from SLID base + i to DLID base + i,
 * modulo the number of LIDs of each end. So two paths share few links. There are as many paths as
 * the end with more LIDs has. An end that was given by LID keeps it, and the other end starts at
 * the same offset.
 *
 * ServiceID, QoSClass, FlowLabel, HopLimit and TClass are not evaluated, and are returned as
 * requested. There is no policy for services, and the last three are for GRHs, which paths within
 * the subnet do not need; without a request they are 0.
 */
#ifndef SA_PATH_WALK_H
#define SA_PATH_WALK_H

#include "sa/path.h"
#include "sa/request.h"

struct path_side {
	const uint32_t *number; /* numbers of its end ports; NULL: first, first + 1, ... */
	const guid_t *guid;	/* parallel to number: the requested GUID, which may be an alias */
	guid_t asked;		/* the requested GUID of a single port; 0: not given by GID */
	uint32_t first, count;
	bool by_lid; /* the request has the LID */
	lid_t lid;
};

struct path_walk {
	struct path_side source, destination;
	bool possible; /* false: no path can satisfy the request */
	struct path_rule rule;
	struct path_query query;
	struct path_record echo; /* the fields that all answers share */

	uint32_t source_place; /* index of source_port on its side; UINT32_MAX: not set */
	struct endport source_port;
	bool source_seen; /* the requester may see it */
};

/* Makes a walk in the arena of the request, with both sides empty. wanted and mask are those of
 * a PathRecord, also for a MultiPathRecord. */
struct path_walk *path_walk_new(struct sa_request *request, uint64_t mask,
				const struct path_record *wanted);

/* Whether a GID is of this subnet: its prefix is that of the subnet or the link-local default. */
bool path_gid_is_ours(const struct sa_request *request, const uint8_t gid[GID_SIZE]);
bool path_gid_is_multicast(const uint8_t gid[GID_SIZE]);

/* Whether the destination is a multicast group. path_group.c has the rules for such paths. The
 * answer has at most one record, which begin_group_path() adds at once. */
bool path_is_to_group(const struct sa_request *request);
uint16_t begin_group_path(struct sa_request *request);

/* Sets walk->source_port and *out to the ends with these indexes on their sides. False if an end
 * has no LID or the requester may not see it. source_port is kept for the next call. */
bool path_walk_pair(struct sa_request *request, struct path_walk *walk, uint32_t source,
		    uint32_t destination, struct endport *out);
/* The number of paths between walk->source_port and destination if all routes exist. */
unsigned path_walk_paths(const struct path_walk *walk, const struct endport *destination);
/* Adds path number i to the answer; false if it does not satisfy the request. */
bool path_walk_offer(struct sa_request *request, struct path_walk *walk,
		     const struct endport *destination, unsigned i);

#endif

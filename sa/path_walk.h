/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What PathRecord and MultiPathRecord have in common: the ports on both sides, what is asked of a
 * path between two of them, which pairs of their LIDs make its paths, and what is told of one. The
 * two differ in how they name the sides and in the order of the pairs. Loop thread only.
 *
 * LIDs. Where an end has several (LMC), path number i goes from SLID base + i to DLID base + i, the
 * one with fewer starting over, so that two paths share as little as they can; there are as many
 * paths as the end with more has LIDs. An end that was given by LID keeps it, and the other begins
 * at the same offset.
 *
 * What is not judged: ServiceID, QoSClass, FlowLabel, HopLimit and TClass come back as asked. No
 * policy tells services apart, and the last three are for GRHs, which paths within the subnet do
 * not need: where nobody asks for them they are 0.
 */
#ifndef SA_PATH_WALK_H
#define SA_PATH_WALK_H

#include "sa/path.h"
#include "sa/request.h"

struct path_side {
	const uint32_t *number; /* of its end ports; NULL: first, first + 1, ... */
	const guid_t *guid;	/* as number: by which each was asked for, perhaps an alias */
	guid_t asked;		/* the same of the only one; 0: it was not asked for by GID */
	uint32_t first, count;
	bool by_lid; /* the request fixes this one */
	lid_t lid;
};

struct path_walk {
	struct path_side source, destination;
	bool possible; /* there can be such paths at all */
	struct path_rule rule;
	struct path_query query;
	struct path_record echo; /* what is the same in all answers */

	uint32_t source_place; /* of source_port on its side; UINT32_MAX: not looked up yet */
	struct endport source_port;
	bool source_seen; /* by the requester */
};

/* In request's arena, with both sides empty. wanted and mask are PathRecord's, whatever was asked.
 */
struct path_walk *path_walk_new(struct sa_request *request, uint64_t mask,
				const struct path_record *wanted);

/* A GID of this subnet, which is its prefix or the link-local default; of others there is none
 * here. */
bool path_gid_is_ours(const struct sa_request *request, const uint8_t gid[GID_SIZE]);
bool path_gid_is_multicast(const uint8_t gid[GID_SIZE]);

/* A path to a multicast group has rules of its own (path_group.c) and is one record at most, which
 * begin_group_path() gives at once. */
bool path_is_to_group(const struct sa_request *request);
uint16_t begin_group_path(struct sa_request *request);

/* The ends at two places of the sides. False when one has no LID or must not be seen. source stays
 * in the walk until the next call. */
bool path_walk_pair(struct sa_request *request, struct path_walk *walk, uint32_t source,
		    uint32_t destination, struct endport *out);
/* How many paths there are between walk->source_port and destination, if all routes are there. */
unsigned path_walk_paths(const struct path_walk *walk, const struct endport *destination);
/* Gives path number i of these; false when there is no such path as was asked for. */
bool path_walk_offer(struct sa_request *request, struct path_walk *walk,
		     const struct endport *destination, unsigned i);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by engines for short paths: the links of each switch to other switches, and its distance
 * to each of them. A link counts as one hop, or as many as the options give its port. Built once
 * for a snapshot inside a job, then only read.
 */
#ifndef ROUTE_HOPS_H
#define ROUTE_HOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/snapshot.h"
#include "lib/work.h"

enum { HOPS_NONE = 0xFF }; /* no path, or a path longer than a directed route can be */

/* A link to another switch. */
struct hop_link {
	uint32_t peer;
	uint8_t port;
	uint8_t weight; /* 1, unless the options give another value */
};

/* The links of a switch in rounds. The first round has one link to each peer, in the order of the
 * peers' index, which is their order by GUID. The second round has the second link to peers with
 * two, and so on. */
struct hop_switch {
	const struct hop_link *links;
	uint8_t num_links;
	uint8_t num_peers; /* links[0 .. num_peers - 1] lead to different peers */
};

struct hops {
	uint32_t num_switches;
	bool weighted; /* some link counts other than one hop */
	struct hop_switch *switches;
	uint8_t *distance; /* a row for each switch, a byte for each destination */
	struct hop_link *links;
};

/* Searches on workers; pool NULL: on the calling thread. Free it with hops_free(). */
struct hops *hops_new(const struct snapshot *snapshot, struct work_pool *pool);
/* Not for NULL. */
void hops_free(struct hops *hops);

/* From a switch to every switch; HOPS_NONE: it cannot be reached. */
static inline const uint8_t *hops_row(const struct hops *hops, uint32_t from)
{
	return hops->distance + (size_t)from * hops->num_switches;
}

#endif

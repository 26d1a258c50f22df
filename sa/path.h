/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The properties of a path between two LIDs, and whether they satisfy a request. Pure functions
 * over a view, any thread.
 */
#ifndef SA_PATH_H
#define SA_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "sa/endport.h"
#include "sa/lookup.h"

/* The selectors of PathRecord. For the packet life time BEST is the shortest. */
enum path_selector { SELECT_GREATER = 0, SELECT_LESS = 1, SELECT_EXACTLY = 2, SELECT_BEST = 3 };

struct path_limit {
	uint8_t selector; /* enum path_selector; BEST: no condition */
	uint8_t value;	  /* encoded as in PathRecord */
};

/* The conditions on a path, without its ends. */
struct path_query {
	bool reversible; /* the path must be */
	pkey_t p_key;	 /* of this partition; 0: any that both ends share */
	struct path_limit mtu, rate, life_time;
	uint8_t sl;
};

/* LIDs of the ends; the LMC of an end gives their number. */
struct path_ends {
	const struct endport *source, *destination;
	lid_t slid, dlid;
};

struct path {
	pkey_t p_key; /* as requested, otherwise as in the table of the source */
	uint8_t sl;
	uint8_t mtu, rate, life_time; /* encoded as in PathRecord */
	bool reversible;
};

/* The SL of a path if the query has none. */
enum { PATH_SL_DEFAULT = 0 };

/* Whether a limit can be satisfied with at most this value. If so, the argument becomes the value
 * to use. BEST and GREATER keep it, LESS gives the highest value below the limit, EXACTLY the
 * limit. A life time may be longer than necessary. */
bool path_limit_mtu(const struct path_limit *limit, uint8_t *mtu);
bool path_limit_rate(const struct path_limit *limit, uint8_t *rate);
bool path_limit_life_time(const struct path_limit *limit, uint8_t *life_time);
/* Whether values that cannot be lowered, those of a multicast group, satisfy the query. */
bool path_query_holds(const struct path_query *query, uint8_t mtu, uint8_t rate, uint8_t life_time);
/* The fastest rate up to this one whose encoding is not above max. */
uint8_t path_rate_known(uint8_t rate, uint8_t max);

/* Options of the administrator. */
struct path_rule {
	uint8_t life_time; /* of all paths but from a port to itself; PacketLifeTime's encoding */
	uint8_t rate_max;  /* highest encoding of a rate that all clients know */
};

/*
 * Computes the path between two LIDs along the routes of the view. Returns 0 or an error.
 * -EHOSTUNREACH: the routes do not lead there. -EACCES: the ends do not share the P_Key (or any).
 * -ENOENT: the path does not satisfy the query.
 *
 * MTU and rate are the lowest of all links on the path and, if it exists, on the path back, because
 * a reversible path is used in both directions. A rate whose encoding is above rate_max is replaced
 * by the next lower rate.
 */
int path_resolve(struct lookup *lookup, const struct path_rule *rule, const struct path_ends *ends,
		 const struct path_query *query, struct path *out);

#endif

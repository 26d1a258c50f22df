/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rule of paths: what a packet meets on its way from one LID to another, and whether that is
 * what somebody asked for. PathRecord is answered with it, as will be whatever else asks for paths.
 * Pure functions over a view, any thread.
 */
#ifndef SA_PATH_H
#define SA_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "sa/endport.h"
#include "sa/lookup.h"

/* PathRecord's selectors; of the packet life time BEST is the shortest. */
enum path_selector { SELECT_GREATER = 0, SELECT_LESS = 1, SELECT_EXACTLY = 2, SELECT_BEST = 3 };

struct path_limit {
	uint8_t selector; /* enum path_selector; BEST asks for nothing */
	uint8_t value;	  /* encoded as in PathRecord */
};

/* What is asked of a path, whatever its ends are. */
struct path_query {
	bool reversible; /* must be */
	pkey_t p_key;	 /* must be this partition's; 0: any that both ends share */
	struct path_limit mtu, rate, life_time;
	uint8_t sl;
};

/* LIDs of the ends; each end has as many as its LMC tells. */
struct path_ends {
	const struct endport *source, *destination;
	lid_t slid, dlid;
};

struct path {
	pkey_t p_key; /* as asked, else as the source's table holds it */
	uint8_t sl;
	uint8_t mtu, rate, life_time; /* encoded as in PathRecord */
	bool reversible;
};

/* The SL of a path where the query names none. */
enum { PATH_SL_DEFAULT = 0 };

/* Whether a value that can be used at less than it is does what limit asks, and then what it
 * becomes: BEST and GREATER leave it, LESS gives the most below, EXACTLY that. A life time is a
 * promise that may be longer than it need be. */
bool path_limit_mtu(const struct path_limit *limit, uint8_t *mtu);
bool path_limit_rate(const struct path_limit *limit, uint8_t *rate);
bool path_limit_life_time(const struct path_limit *limit, uint8_t *life_time);
/* Whether what cannot be used at less, as a multicast group, is as asked. */
bool path_query_holds(const struct path_query *query, uint8_t mtu, uint8_t rate, uint8_t life_time);
/* The fastest rate up to this whose encoding is not above max. */
uint8_t path_rate_known(uint8_t rate, uint8_t max);

/* What the administrator chose. */
struct path_rule {
	uint8_t life_time; /* PacketLifeTime's encoding, of all paths but from a port to itself */
	uint8_t rate_max;  /* highest encoding of a rate that all clients know */
};

/*
 * The path between two LIDs by the view's routes. 0, or -EHOSTUNREACH when the routes do not lead
 * there, -EACCES when the ends share no P_Key (or not that one), -ENOENT when the path is not as
 * asked.
 *
 * MTU and rate are the least of all links on the way, of the way back as well where that exists: a
 * reversible path is used in both directions. A rate whose encoding is above rate_max is told as
 * the next lower one that is not.
 */
int path_resolve(struct lookup *lookup, const struct path_rule *rule, const struct path_ends *ends,
		 const struct path_query *query, struct path *out);

#endif

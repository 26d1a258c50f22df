/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Why does A not reach B? The first obstacle between two ends, from the physical layer up, or the
 * fault of one end. why.c has the table of checks, why_walk.c follows the tables that switches are
 * known to hold, why_command.c has the command. The checks change nothing and read the live model.
 * Private to these files and their tests. Loop thread only.
 */
#ifndef SM_CONTROL_WHY_H
#define SM_CONTROL_WHY_H

#include "fabric/gone.h"
#include "sm/control/commands.h"

enum { WHY_HOPS_MAX = 64, OBSTACLE_TEXT_SIZE = 512 };

/* A node and one of its ports. */
struct why_end {
	bool is_gone;	       /* only gone is set */
	struct gone_node gone; /* copied */
	struct port *port;     /* as requested: an end port, or an external port of a switch */
	struct port *end;      /* the end port: the same, or port 0 of that switch */
	bool no_answer;	       /* its agent did not answer a request just now */
};

struct why {
	struct sm *sm;
	struct why_end end[2];
	unsigned ends; /* 1 or 2 */
};

struct obstacle {
	const char *code;  /* stable, for programs; a literal */
	const char *layer; /* "link", "agent", "LID", "route", "partition"; a literal */
	char text[OBSTACLE_TEXT_SIZE];
	char remedy[OBSTACLE_TEXT_SIZE]; /* a command, perhaps with words before it */
};

/* Finds the first obstacle. False: none is known, and *out is not set. */
bool why_find_obstacle(const struct why *why, struct obstacle *out);

/* The description of an end; borrowed. */
const char *why_end_name(const struct why_end *end);
/* The switch port, or the other port, at the cable of an end; NULL: none, or not known. */
const struct port *why_cable(const struct fabric *fabric, const struct why_end *end);

/* A partition that both ends have in common: by the P_Keys that their ports are known to hold, or
 * else should hold. */
struct why_shared {
	pkey_t p_key;	       /* 15 bits */
	uint8_t membership[2]; /* enum membership */
	bool communicates;     /* one of the two is a full member */
};
/* Lists the partitions that both ends have in common: the partitions in which they communicate
 * first. Returns the number, at most `most`. */
unsigned why_shared_partitions(const struct why *why, struct why_shared *out, unsigned most);

enum why_walk_result {
	WHY_ARRIVES,
	WHY_NO_ROUTE, /* no route was computed, or it ends at a port without a link */
	WHY_NOT_HELD, /* a switch does not hold its computed entry */
	WHY_LOOP,
	WHY_LINK_DOWN, /* it leads over a link that is not ACTIVE */
};

struct why_hop {
	const struct node *node;
	uint8_t in_port, out_port;
};

/* The way of a packet by the entries that the switches are known to hold; an unknown entry counts
 * as computed. */
struct why_walk {
	enum why_walk_result result;
	unsigned hops;
	struct why_hop hop[WHY_HOPS_MAX];
	/* The slowest and the narrowest link of the way: a port, encoded as in PathRecord.
	 * mtu_most, rate_most: the highest of the way. */
	const struct port *mtu_at, *rate_at;
	uint8_t mtu, mtu_most, rate, rate_most;
};

/* Walks from one end port to another. */
void why_walk(const struct port *from, const struct port *to, struct why_walk *out);

#endif

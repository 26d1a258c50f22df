/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The parts of `weftsim do 'load ...'`: the words of the user (sim/load_spec.c), the flow of a
 * world as it is now (sim/load_net.c), the streams of a pattern (sim/load_pattern.c), the report
 * and the counters of the agents (sim/load_report.c). sim/do_load.c is the command. The flow
 * (sim/flow.h) has copies of all tables, so that it does not notice later changes of the world.
 */
#ifndef SIM_LOAD_H
#define SIM_LOAD_H

#include "lib/map.h"
#include "sim/flow.h"
#include "sim/world.h"

enum { LOAD_ERROR_SIZE = 512, LOAD_PAIRS_MAX = 100000, LOAD_ALL_SLS = 16 };

enum load_pattern {
	LOAD_NONE,
	LOAD_SHIFT,
	LOAD_PERMUTATION,
	LOAD_BISECTION,
	LOAD_BIT_REVERSE,
	LOAD_UNIFORM,
	LOAD_ALL_TO_ALL,
	LOAD_INCAST,
	LOAD_PAIRS,
};

struct load_pair {
	struct device_port *from, *to;
	uint8_t sl;
};

/* The words of the user, checked. */
struct load_spec {
	enum load_pattern pattern;
	char text[80];		    /* of the pattern */
	uint64_t shift;		    /* LOAD_SHIFT */
	struct device_port *target; /* LOAD_INCAST */
	struct load_pair *pairs;    /* LOAD_PAIRS; owned */
	size_t num_pairs;
	struct device_port **hosts; /* owned; NULL: all active */
	struct map names;	    /* devices by the hash of their name in the net file */
	size_t num_hosts;
	uint64_t message_bytes, mtu; /* 0: the smallest MTU of the hosts */
	uint64_t rate_ppm;	     /* of the link */
	uint64_t sl, sl_last;
	uint64_t p_key;			 /* 0: that at index 0 of the sender's table */
	uint64_t duration_ps, warmup_ps; /* FLOW_NEVER: the default */
	uint64_t bytes;			 /* of each host; 0: no limit */
	uint64_t life;			 /* FLOW_NEVER: as the switches have it */
	uint64_t seed, buffer_bytes, switch_ps, link_ps, links;
};

/* A load under way. */
struct load {
	struct load_spec spec;
	struct world *world;
	struct flow *flow;
	/* The world's ports by the numbers of the flow. */
	struct device_port **port;
	struct device_port **host;
	uint32_t *first_host; /* of a device, by its place in the world */
	uint32_t *who;	      /* hosts that the pattern is about, in order */
	size_t num_who;
	size_t num_senders, mute; /* mute: streams that their adapter cannot send */
	uint64_t offered_mbps;
	uint64_t start_ns; /* of real time */
};

/* Reads the words of a command, up to a NULL. Returns 0, or -EINVAL with the reason in error. */
int load_spec_read(struct load_spec *spec, const struct world *world, const char *const *words,
		   char error[LOAD_ERROR_SIZE]);
void load_spec_done(struct load_spec *spec);
/* Prints the patterns and options. */
void load_print_help(FILE *stream);

/* Builds the flow of a world, without streams. Needs load->spec and load->world. Returns 0, or
 * -EINVAL with the reason in error. */
int load_build(struct load *load, char error[LOAD_ERROR_SIZE]);
/* The host of an adapter's port. */
uint32_t load_host_number(const struct load *load, const struct device_port *port);
/* Adds the streams of the pattern and starts the flow. Errors as above. */
int load_start(struct load *load, char error[LOAD_ERROR_SIZE]);
/* Adds the counts of the flow to those of the agents. Port counters do not overflow (16.1.3.5). */
void load_count(const struct load *load);
/* Prints the result. */
void load_report(const struct load *load, enum flow_end end, FILE *out);

/* All of it. load_done() also ends a load that has not been built. */
void load_done(struct load *load);

#endif

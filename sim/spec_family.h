/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the files of the topology generator: the functions of spec.c for every family, and the
 * functions of a family. A family plans first, with arithmetic only, so that a SPEC that is too
 * large is refused before anything is built. Then all nodes are made, hosts are cabled, and the
 * family cables the switches.
 */
#ifndef SIM_SPEC_FAMILY_H
#define SIM_SPEC_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/net.h"

enum {
	SPEC_DIMS_MAX = 15,
	SPEC_DIMS_NAMED = 6, /* limit of dims=; coordinates are called x y z u v w */
};

enum spec_key {
	KEY_RADIX,
	KEY_LEVELS,
	KEY_PODS,
	KEY_LEAVES,
	KEY_OVERSUBSCRIPTION,
	KEY_DIMS,
	KEY_DIM,
	KEY_HOSTS,
	KEY_A,
	KEY_H,
	KEY_P,
	KEY_SWITCHES,
	KEY_DEGREE,
	KEY_LOSE_LINKS,
	KEY_SEED,
	KEY_COUNT,
};

struct spec {
	const char *text;
	const struct spec_family *family;
	char **error;
	uint64_t number[KEY_COUNT]; /* the default if it is not given */
	bool given[KEY_COUNT];
	unsigned dims[SPEC_DIMS_MAX];
	unsigned dim_count;

	/* The plan. Switches with hosts come first. */
	uint64_t switches;
	uint64_t host_switches;
	unsigned hosts_each;   /* at ports 1.. of each switch that has hosts */
	unsigned switch_ports; /* of each switch */

	struct net *net;
};

struct spec_family {
	const char *name;
	unsigned keys;	     /* a bit for each enum spec_key: the arguments of the family */
	unsigned needed;     /* the arguments without a default */
	const char *shrink;  /* the arguments that reduce its size, for a message */
	const char *usage;   /* arguments, for the help text */
	const char *example; /* a SPEC that can be built */
	/* Sets the plan from the arguments. Returns 0, or spec_fail(). */
	int (*plan)(struct spec *spec);
	/* Writes the name of a switch, counted from 0. */
	void (*name_switch)(const struct spec *spec, unsigned index, char *name, size_t size);
	/* Cables switches with switches; NULL: nothing to cable. */
	void (*wire)(struct spec *spec);
};

/* Writes the reason into the SPEC's error and returns -EINVAL. */
int spec_fail(struct spec *spec, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Cables two switches, counted from 0. A used or missing port is a bug of the family. */
void spec_cable(struct spec *spec, unsigned a, unsigned a_port, unsigned b, unsigned b_port);
/* Digits of numbers up to count, so that names sort; at least two. */
int spec_digits(uint64_t count);

/* A random number below limit (1..2^32), by random_next(). */
uint32_t spec_random_below(uint64_t *state, uint64_t limit);

/* The functions of the families, for the table in spec.c. Fat trees: see spec_fattree.c. */
int fattree_plan(struct spec *spec);
/* spine-01 or core-01 at the top, leaf-01 or leaf-p1-01, agg-p1-01 in between. */
void fattree_name(const struct spec *spec, unsigned index, char *name, size_t size);
/* All cables of the tree. */
void fattree_wire(struct spec *spec);

/* Grids (spec_grid.c): a torus, also for mesh. */
int torus_plan(struct spec *spec);
/* A torus of one dimension. */
int ring_plan(struct spec *spec);
/* dims= is the number of switches in each dimension. */
int hyperx_plan(struct spec *spec);
/* A hyperx of dim= dimensions of size 2. */
int hypercube_plan(struct spec *spec);
/* sw-x1y2z0. */
void grid_name(const struct spec *spec, unsigned index, char *name, size_t size);
/* sw-0110: a digit for each dimension. */
void hypercube_name(const struct spec *spec, unsigned index, char *name, size_t size);
/* Each switch to its neighbours in each dimension. */
void torus_wire(struct spec *spec);
/* As torus_wire(), without the cables that close each line. */
void mesh_wire(struct spec *spec);
/* Each switch to all others on its lines. */
void hyperx_wire(struct spec *spec);

/* Dragonfly, random graphs and single switches: see spec_graph.c. */
int dragonfly_plan(struct spec *spec);
/* sw-g1-01: group and router, from 1. */
void dragonfly_name(const struct spec *spec, unsigned index, char *name, size_t size);
/* All routers of a group, then a cable between any two groups. */
void dragonfly_wire(struct spec *spec);

/* degree= links of each switch, or one less where the sum would be odd. */
int random_plan(struct spec *spec);
/* A connected random graph, from seed=. */
void random_wire(struct spec *spec);

/* One switch with hosts. */
int single_plan(struct spec *spec);
/* sw-01, counted from 1. */
void number_name(const struct spec *spec, unsigned index, char *name, size_t size);

#endif

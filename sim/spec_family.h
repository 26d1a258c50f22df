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

/* The generator of every random choice: splitmix64, which any 64-bit seed suits. */
uint64_t spec_random(uint64_t *state);
/* A number below limit (1..2^32). */
uint32_t spec_random_below(uint64_t *state, uint64_t limit);

/* The functions of the families, for the table in spec.c. Fat trees: see spec_fattree.c. */
int fattree_plan(struct spec *spec);
void fattree_name(const struct spec *spec, unsigned index, char *name, size_t size);
void fattree_wire(struct spec *spec);

/* Grids (spec_grid.c): a torus, also for mesh. */
int torus_plan(struct spec *spec);
int ring_plan(struct spec *spec);
int hyperx_plan(struct spec *spec);
int hypercube_plan(struct spec *spec);
/* Coordinates joined by "-". */
void grid_name(const struct spec *spec, unsigned index, char *name, size_t size);
void hypercube_name(const struct spec *spec, unsigned index, char *name, size_t size);
void torus_wire(struct spec *spec);
/* As torus_wire(), without the cables that close each line. */
void mesh_wire(struct spec *spec);
void hyperx_wire(struct spec *spec);

/* Dragonfly, random graphs and single switches: see spec_graph.c. */
int dragonfly_plan(struct spec *spec);
void dragonfly_name(const struct spec *spec, unsigned index, char *name, size_t size);
void dragonfly_wire(struct spec *spec);

int random_plan(struct spec *spec);
void random_wire(struct spec *spec);

int single_plan(struct spec *spec);
/* A number, counted from 1. */
void number_name(const struct spec *spec, unsigned index, char *name, size_t size);

#endif

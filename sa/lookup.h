/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the SA works out of a view and asks for again and again: which end port has a GUID, which
 * P_Key two end ports share, and the least MTU and rate on the way from one to a LID of another. A
 * job start asks for millions of paths of one fabric, so each answer is kept, as one byte where it
 * can be; nothing is computed before it is asked for, so that a new view costs nothing at once. The
 * answers belong to the view and end with it. Made by sa.c for each view; loop thread only.
 */
#ifndef SA_LOOKUP_H
#define SA_LOOKUP_H

#include "fabric/view.h"
#include "sa/endport.h"
#include "store/registry.h"

struct lookup;

/* Holds a reference to view; registry is the manager's, where the aliases are, and outlives it.
 * NULL: there are none. */
struct lookup *lookup_new(struct view *view, const struct registry *registry);
struct lookup *lookup_ref(struct lookup *lookup);
void lookup_unref(struct lookup *lookup); /* NULL is harmless */
struct view *lookup_view(const struct lookup *lookup);
/* Rises with what had to be worked out, since it was not kept yet: some microseconds each. */
uint64_t lookup_effort(const struct lookup *lookup);

/* The end port with this PortGUID or this alias; out->guid is then still the PortGUID. False, and
 * out untouched, when there is none. */
bool lookup_guid(struct lookup *lookup, guid_t guid, struct endport *out);

/* endports_share() of both. */
pkey_t lookup_shared(struct lookup *lookup, const struct endport *a, const struct endport *b);

/* The least on a way: an order in which the smaller is the worse, MTU and rate by themselves. */
typedef uint8_t measure_t;

/* There is no such way, or nothing is known of a port on it. */
#define MEASURE_NO_WAY ((measure_t)0xFF)

measure_t measure_least(measure_t a, measure_t b);
/* What an end port can send and receive; MEASURE_NO_WAY when it was not read. */
measure_t lookup_port(struct lookup *lookup, const struct endport *port);
/* Encoded as in PathRecord; 0 where no port on the way told any. */
uint8_t measure_mtu(measure_t measure);
uint8_t measure_rate(const struct lookup *lookup, measure_t measure);

/*
 * What a packet meets from one end port to a LID of another, by the view's routes. It believes the
 * routes, not what it would have them be: an entry that leads to the wrong port is no way. A port
 * that says it can more than its link uses counts with what it uses.
 */
measure_t lookup_way(struct lookup *lookup, const struct endport *from, const struct endport *to,
		     lid_t dlid);

#endif

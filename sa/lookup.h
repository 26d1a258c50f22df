/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Values that the SA computes from a view and needs often. These are end ports by GUID, P_Keys that
 * two end ports share, and the lowest MTU and rate from an end port to a LID. The start of a job
 * requests millions of paths in one fabric, so each result is kept, if possible in one byte. A
 * value is computed when it is first needed, so a new view costs nothing at once. The values belong
 * to the view. Made by sa.c for each view; loop thread only.
 */
#ifndef SA_LOOKUP_H
#define SA_LOOKUP_H

#include "fabric/view.h"
#include "sa/endport.h"
#include "store/registry.h"

struct lookup;

/* Takes a reference to view. registry has the aliases and must outlive the lookup; NULL: there
 * are no aliases. */
struct lookup *lookup_new(struct view *view, const struct registry *registry);
/* Takes a reference. */
struct lookup *lookup_ref(struct lookup *lookup);
void lookup_unref(struct lookup *lookup); /* NULL is harmless */
struct view *lookup_view(const struct lookup *lookup);
/* A counter of values that had to be computed; each takes some microseconds. */
uint64_t lookup_effort(const struct lookup *lookup);

/* Finds the end port with this PortGUID or this alias; out->guid is the PortGUID in both cases.
 * False, and out unchanged, if there is none. */
bool lookup_guid(struct lookup *lookup, guid_t guid, struct endport *out);

/* The same as endports_share(). */
pkey_t lookup_shared(struct lookup *lookup, const struct endport *a, const struct endport *b);

/* The lowest MTU and rate on a path. A smaller value is worse, for each of the two. */
typedef uint8_t measure_t;

/* There is no such path, or a port on it was not read. */
#define MEASURE_NO_WAY ((measure_t)0xFF)

/* The lower MTU and the lower rate of both. */
measure_t measure_least(measure_t a, measure_t b);
/* The MTU and rate of an end port; MEASURE_NO_WAY if it was not read. */
measure_t lookup_port(struct lookup *lookup, const struct endport *port);
/* The MTU, encoded as in PathRecord; 0 if no port on the path reports one. */
uint8_t measure_mtu(measure_t measure);
/* The rate, encoded as in PathRecord; 0 if no port on the path reports one. */
uint8_t measure_rate(const struct lookup *lookup, measure_t measure);

/*
 * The lowest MTU and rate from an end port to a LID of another, along the routes of the view. The
 * routes are followed as they are, so an entry with a wrong port means that there is no path. A
 * port counts with the speed and MTU that its link uses, not with its capability.
 */
measure_t lookup_way(struct lookup *lookup, const struct endport *from, const struct endport *to,
		     lid_t dlid);

#endif

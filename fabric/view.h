/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The view: the data for answers to queries. A small struct of references to immutable parts. The
 * manager publishes a new view by changing one pointer. A reader that needs a view for longer than
 * one handler takes a reference. Loop thread only.
 */
#ifndef FABRIC_VIEW_H
#define FABRIC_VIEW_H

#include <stdint.h>

#include "fabric/snapshot.h"
#include "fabric/tables.h"
#include "mad/attr.h"

struct view_sm { /* a subnet manager, as last read; sm_key is not kept */
	lid_t lid;
	struct sm_info info;
};

struct view {
	unsigned refs;
	uint64_t generation;
	struct snapshot *topology;
	struct routes *routes; /* the tables that switches should hold; NULL: there is no switch */
	uint32_t num_sms;
	struct view_sm *sms; /* this manager first */
};

/* Takes over the references to topology and routes, and copies sms. */
struct view *view_new(uint64_t generation, struct snapshot *topology, struct routes *routes,
		      const struct view_sm *sms, uint32_t num_sms);
/* NULL is not allowed. */
struct view *view_ref(struct view *view);
void view_unref(struct view *view); /* NULL is harmless */
/* Replaces *slot by view, taking over its reference. */
void view_publish(struct view **slot, struct view *view);

#endif

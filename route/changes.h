/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The entries that differ between two sets of tables, so that the checkers can check these instead
 * of all. Pure; any thread.
 */
#ifndef ROUTE_CHANGES_H
#define ROUTE_CHANGES_H

#include <stdbool.h>

#include "fabric/snapshot.h"
#include "fabric/tables.h"

/* The entry of a switch for a LID. */
struct route_change {
	uint32_t sw;
	lid_t lid;
};

struct route_changes {
	struct route_change *list; /* by switch; for free() */
	size_t count;
};

/* Lists each entry that differs, or whose port leads elsewhere now: all other entries lead where
 * they led before. Returns false, and leaves *out untouched, if the rows and links of both sets are
 * for other switches or ports, or if a check of all entries costs no more. */
bool route_changes_find(const struct snapshot *was, const struct routes *before,
			const struct snapshot *is, const struct routes *after,
			struct route_changes *out);

/* The GUID of an end port; 0 for end -1. Indexes of end ports change when an end port appears or
 * disappears. */
guid_t route_end_guid(const struct snapshot *snapshot, int32_t end);

#endif

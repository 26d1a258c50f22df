/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Where tables lead elsewhere than earlier ones did: what the checkers look at after a fault
 * instead of everything. Pure; any thread.
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
	struct route_change *list; /* by switch; free it with free() */
	size_t count;
};

/* Lists each entry that differs, or that is for a port that leads elsewhere now: whoever is not in
 * the list sends to where it sent before. False, and out untouched, where rows and links of both do
 * not mean the same switches and ports, or where so much differs that to look at everything costs
 * no more. */
bool route_changes_find(const struct snapshot *was, const struct routes *before,
			const struct snapshot *is, const struct routes *after,
			struct route_changes *out);

/* The GUID of an end port, 0 for -1: they have other indexes when one has come or gone. */
guid_t route_end_guid(const struct snapshot *snapshot, int32_t end);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Numbers for destinations. Tree engines choose a way by the digits of a number (D-mod-K). So
 * neighbouring hosts need neighbouring numbers, and a host's number must not change with a fault
 * elsewhere. It consists of its leaf's place in the tree and its own place on the leaf, over the
 * remembered cabling. Compute nodes, I/O nodes and others are numbered separately, so that the
 * traffic of each kind is distributed evenly.
 */
#ifndef ROUTE_DEST_INDEX_H
#define ROUTE_DEST_INDEX_H

#include "fabric/snapshot.h"
#include "route/target.h"
#include "route/tree.h"

struct dest_index {
	uint32_t indexes;	/* limit of the numbers of the first kind */
	uint32_t num_columns;	/* the snapshot's switches */
	uint32_t *column_of;	/* by switch: neighbours in the tree have neighbouring columns */
	uint32_t *switch_of;	/* by column */
	uint32_t *first_target; /* by column: its targets end where those of the next begin */
	struct target *targets;
	lid_t *lids; /* of the targets, as a copy: the data that are read most lie close together */
};

/* Numbers all LIDs of the snapshot; tree may be freed afterwards. */
struct dest_index *dest_index_new(const struct snapshot *snapshot, const struct tree *tree);
/* tree and snapshot stay. Not for NULL. */
void dest_index_free(struct dest_index *places);

#endif

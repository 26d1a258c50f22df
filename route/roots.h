/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Levels from a root GUID file, for the engines ftree and updn. GUIDs of absent switches are
 * ignored, because spines may be off; if none is present, the file is for another fabric, and the
 * engine refuses.
 */
#ifndef ROUTE_ROOTS_H
#define ROUTE_ROOTS_H

#include "route/engine.h"
#include "route/tree.h"

/* *level is for tree_new(). Returns 0, or -ENOENT with one line in why. */
int levels_from_file(const struct cabling *cabling, const struct guid_list *roots, uint16_t **level,
		     char why[ROUTE_WHY_SIZE]);

#endif

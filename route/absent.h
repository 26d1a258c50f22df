/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds GUIDs of the options that are not in the fabric, for the log. Runs in a job. */
#ifndef ROUTE_ABSENT_H
#define ROUTE_ABSENT_H

#include "fabric/snapshot.h"

/* "root_guid_file: 2 of 18 GUIDs are no switch of this fabric: 0x..., 0x...; cn_guid_file: ...",
 * for free(); NULL if all GUIDs are in the fabric or the options have none. */
char *route_absent(const struct snapshot *snapshot);

#endif

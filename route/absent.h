/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which GUIDs that the options name are not in the fabric, in words for the log. Runs in a job. */
#ifndef ROUTE_ABSENT_H
#define ROUTE_ABSENT_H

#include "fabric/snapshot.h"

/* "root_guid_file: 2 of 18 GUIDs are no switch of this fabric: 0x..., 0x...; cn_guid_file: ...",
 * for free(); NULL when all are there or none is told. */
char *route_absent(const struct snapshot *snapshot);

#endif

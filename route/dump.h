/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Dumps of a fabric and its tables in OpenSM's format, for tools that read it, such as ibdmchk and
 * users' scripts. For `weftctl route dump` and for tests. The caller owns the stream, and checks
 * ferror() at the end.
 */
#ifndef ROUTE_DUMP_H
#define ROUTE_DUMP_H

#include <stdio.h>

#include "fabric/snapshot.h"
#include "fabric/tables.h"

/* opensm-subnet.lst: a line for each direction of each link; those of one switch. */
void route_dump_links(const struct snapshot *snapshot, uint32_t sw, FILE *stream);
/* opensm.fdbs: every table. */
void route_dump_tables(const struct snapshot *snapshot, const struct routes *routes, FILE *stream);
/* Entries begin to end - 1 of a switch's table, with the header before the first (LID 0) and the
 * trailer after the last (the snapshot's lid_top). Consecutive calls for all LIDs print the whole
 * table. */
void route_dump_entries(const struct snapshot *snapshot, const struct routes *routes, uint32_t sw,
			uint32_t begin, uint32_t end, FILE *stream);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Dumps of a fabric and its tables as OpenSM writes them, for tools that read those: ibdmchk and
 * whatever people have built. For `weftctl route dump` and for tests that ask such a tool. The
 * stream is the caller's, who looks at ferror() in the end.
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
/* The entries begin .. end - 1 of a switch's table, with what stands before the first (LID 0) and
 * behind the last (the snapshot's lid_top): those of all LIDs, one call after the other, are its
 * table. */
void route_dump_entries(const struct snapshot *snapshot, const struct routes *routes, uint32_t sw,
			uint32_t begin, uint32_t end, FILE *stream);

#endif

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

/* opensm-subnet.lst: a line for each direction of each link. */
void route_dump_subnet(const struct snapshot *snapshot, FILE *stream);
/* opensm.fdbs: every table. */
void route_dump_tables(const struct snapshot *snapshot, const struct routes *routes, FILE *stream);

#endif

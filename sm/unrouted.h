/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Present switches that no route uses, or that routes avoid where they can, with the reasons. Each
 * is logged when this begins, and weftctl status lists them. Called by sm/sweep.c and
 * sm/control/commands.c. It decides nothing, and owns only the marks of logged switches
 * (switch_trouble). Loop thread only.
 */
#ifndef SM_UNROUTED_H
#define SM_UNROUTED_H

#include "fabric/fabric.h"
#include "lib/control.h"

/* Logs the unrouted switches that were not unrouted at the last call. */
void unrouted_log(struct fabric *fabric);
/* An array of the unrouted switches: "guid", "description", "why". The caller owns the
 * reference. */
json_t *unrouted_json(const struct fabric *fabric);

#endif

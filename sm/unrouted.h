/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Switches that routes do not use although they are there, and why: told in the log when it begins,
 * and in weftctl status for as long as it is so. Called by sm/sweep.c and sm/control/commands.c. It
 * decides nothing and owns nothing but what it logged (switch_trouble). Loop thread only.
 */
#ifndef SM_UNROUTED_H
#define SM_UNROUTED_H

#include "fabric/fabric.h"
#include "lib/control.h"

/* Logs those that are left out and were not when this was called last. */
void unrouted_log(struct fabric *fabric);
/* An array of them: "guid", "description", "why". The caller's reference. */
json_t *unrouted_json(const struct fabric *fabric);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Log lines for links that came up or went down, at the end of each sweep (sm/sweep.c). They help
 * the administrator to find a bad or wrongly pulled cable. A MASTER logs them from the end of its
 * first bring-up, because before that every link is new. Loop thread only.
 */
#ifndef SM_DISCOVERY_LINKS_H
#define SM_DISCOVERY_LINKS_H

#include "fabric/fabric.h"
#include "lib/log.h"

/* Logs the changes since the last call: a line for each link, or one line for all if there are
 * many. After links_forget() nothing is logged. */
void links_tell(struct fabric *fabric, struct log_limit *limit);
/* Drops all changes until the next call of links_tell(). */
void links_forget(struct fabric *fabric);

#endif

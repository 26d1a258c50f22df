/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Links that came and went, named in the log at the end of each sweep (sm/sweep.c), for whoever
 * looks for a bad cable or pulled the wrong one. A MASTER tells, from the end of its first bring-up
 * on: before that every link is new to it. Loop thread only.
 */
#ifndef SM_DISCOVERY_LINKS_H
#define SM_DISCOVERY_LINKS_H

#include "fabric/fabric.h"
#include "lib/log.h"

/* A sweep has brought the subnet up: what came and went since this was called last is told, a line
 * a link, or one for all where there are many. After links_forget() nothing is. */
void links_tell(struct fabric *fabric, struct log_limit *limit);
/* What comes and goes is no news before links_tell() is called the next time. */
void links_forget(struct fabric *fabric);

#endif

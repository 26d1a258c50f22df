/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Habits of real devices that a manager has to cope with, by name: each is a set of quirks of the
 * software agent (sma/agent.h). Used by the scenarios of tests/sim and by `weftsim do behave`.
 */
#ifndef SMA_PERSONALITY_H
#define SMA_PERSONALITY_H

#include "sma/agent.h"

struct personality {
	const char *name;
	const char *summary; /* for users: what the agent does */
	struct device_quirks quirks;
};

/* The first one is "truthful", which has no quirks; until a name is NULL. */
extern const struct personality personalities[];

/* NULL: there is none of this name. */
const struct personality *personality_find(const char *name);

#endif

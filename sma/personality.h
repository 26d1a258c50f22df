/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Habits of real devices that a manager has to handle, by name: each is a set of quirks of the
 * software agent (sma/agent.h). Used by the scenarios of tests/sim and by `weftsim do behave`.
 */
#ifndef SMA_PERSONALITY_H
#define SMA_PERSONALITY_H

#include "sma/agent.h"

struct personality {
	const char *name;
	const char *summary; /* for users: the behaviour of the agent */
	struct device_quirks quirks;
};

/* The first row is "truthful", without quirks; the last row has no name. */
extern const struct personality personalities[];

/* NULL: there is no such name. */
const struct personality *personality_find(const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which chain of routing engines is in force: one that is being tried, else the one that was chosen
 * at run time (a setting, store/settings.h), else the configuration's. It is sm->options.engines,
 * which only engines.c writes. Private to sm/; loop thread only.
 */
#ifndef SM_ENGINES_H
#define SM_ENGINES_H

#include <stdbool.h>

#include "sm/options.h"
#include "store/settings.h"

struct sm;

struct engines {
	char configured[SM_ENGINES_MAX][SM_ENGINE_NAME];
	char tried[SM_ENGINES_MAX][SM_ENGINE_NAME];
	bool trying, clears; /* clears: what is tried is the configuration's chain */
	struct settings settings;
};

/* Takes sm->options.engines as what is configured. */
void engines_init(struct sm *sm);
void engines_done(struct sm *sm);
/* sm->options is new. */
void engines_configured(struct sm *sm);

/* From now on this chain counts, "default" for the configured one, until engines_tried() says
 * whether it is to stay; a sweep that computes by it is asked for. False, and why: it is none, and
 * nothing was changed. */
bool engines_try(struct sm *sm, const char *text, char why[SETTING_WHY_SIZE]);
/* stays: it is in the registry then, or the setting is cleared. */
void engines_tried(struct sm *sm, bool stays);

/* No such engine: why says so, with the name that was perhaps meant. */
bool engine_is_known(const char *name, char why[SETTING_WHY_SIZE]);

#endif

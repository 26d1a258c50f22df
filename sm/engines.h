/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The chain of routing engines in force: the chain on trial, else the chain that was set at run
 * time (store/settings.h), else the configured chain. It is sm->options.engines, which only
 * engines.c writes. Private to sm/; loop thread only.
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
	bool trying, clears; /* clears: the configured chain is on trial */
	struct settings settings;
};

/* Takes sm->options.engines as the configured chain. */
void engines_init(struct sm *sm);
/* Ends the run-time setting of the engines. */
void engines_done(struct sm *sm);
/* sm->options has changed. */
void engines_configured(struct sm *sm);

/* The chain that this text names ("default": the configured chain). False, with the reason in why:
 * it is invalid, and out is unchanged. */
bool engines_named(const struct sm *sm, const char *text, char out[SM_ENGINES_MAX][SM_ENGINE_NAME],
		   char why[SETTING_WHY_SIZE]);
/* Whether the chain in force will be another one when these options are set. */
bool engines_would_change(const struct sm *sm, const struct sm_options *options);
/* Uses this chain from now on ("default": the configured chain), until engines_tried() decides
 * whether it stays, and requests a sweep that computes routes with it. False, with the reason in
 * why: the chain is invalid, and nothing changed. */
bool engines_try(struct sm *sm, const char *text, char why[SETTING_WHY_SIZE]);
/* stays: stores the tried chain in the registry, or clears the setting for "default". Otherwise
 * the chain before is in force again. */
void engines_tried(struct sm *sm, bool stays);

/* Whether there is such an engine. If not, why has the reason, with a similar name. */
bool engine_is_known(const char *name, char why[SETTING_WHY_SIZE]);

#endif

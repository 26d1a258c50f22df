/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which lines are logged: as configured, and before that what `weftctl log level` has set for all
 * components or for one, which is a setting (store/settings.h) and outlives a restart. Made by
 * main.c, for levels are the process's and not one manager's; loop thread only.
 */
#ifndef WEFTD_LOG_LEVELS_H
#define WEFTD_LOG_LEVELS_H

#include "lib/control.h"
#include "store/settings.h"

struct log_levels {
	int configured; /* as syslog(3) */
	struct settings settings;
};

/* Replaces log_set_level() until log_levels_done(). configured: the level of the configuration.
 * The registry must outlive it. */
void log_levels_init(struct log_levels *levels, struct loop *loop, struct registry *registry,
		     int configured);
/* Ends the setting; the levels stay as they are. */
void log_levels_done(struct log_levels *levels);
/* The configuration was reloaded with this level. */
void log_levels_configure(struct log_levels *levels, int configured);
/* Adds the command log level to the control socket. */
void log_levels_register(struct log_levels *levels, struct control *control);

#endif

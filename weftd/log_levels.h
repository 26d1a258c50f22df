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

/* Takes the place of log_set_level() until it is done. The registry outlives that. */
void log_levels_init(struct log_levels *levels, struct loop *loop, struct registry *registry,
		     int configured);
void log_levels_done(struct log_levels *levels);
/* The configuration was read again. */
void log_levels_configure(struct log_levels *levels, int configured);
void log_levels_register(struct log_levels *levels, struct control *control);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The levels of the log. A level that `weftctl log level` has set, for all components or for one,
 * comes before the configured level. It is a setting (store/settings.h) and survives a restart.
 * main.c creates this, because levels belong to the process and not to one manager. Loop thread
 * only.
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
/* Ends the use of the setting; the levels stay as they are. */
void log_levels_done(struct log_levels *levels);
/* The configuration was reloaded with this level. */
void log_levels_configure(struct log_levels *levels, int configured);
/* Adds the command log level to the control socket. */
void log_levels_register(struct log_levels *levels, struct control *control);

#endif

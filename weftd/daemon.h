/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The parts of a running weftd, for weftd/main.c and weftd/reload.c only. Loop thread only. */
#ifndef WEFTD_DAEMON_H
#define WEFTD_DAEMON_H

#include "weftd/conf.h"
#include "weftd/log_levels.h"
#include "weftd/manager.h"
#include "weftd/reading.h"

struct daemon {
	struct conf_sources sources;
	int verbosity; /* -v */
	bool once, check_config;
	bool preview, list, json;

	struct conf conf;
	struct route_options *route_options; /* from the files that conf names; NULL: none */
	struct map *names;		     /* the same, until there is a manager */
	struct net *plan;		     /* the same */
	char *names_warning;		     /* the same */
	struct loop *loop;
	struct control *control;
	struct transport *transport;
	struct preview *shown; /* of --preview: the owner of transport; else NULL */
	struct work_pool *pool;
	struct store *store;
	uint64_t ha_keys_digest;	/* of the keys in force */
	struct stream_carrier *carrier; /* NULL: no manager follows another */
	struct manager *manager;
	struct log_levels log_levels; /* while there is a manager */
	struct events *events;	      /* the same */

	struct list reloads; /* the first is under way */
	bool is_stopping;
	bool reported;
	unsigned sweeps; /* of --once and --preview, after the first */
};

/* The log level of the options and -v. */
int daemon_log_level(const struct daemon *daemon);
/* SIGHUP: reads the configuration again, and applies all changes, or none with a logged error. arg:
 * struct daemon. */
void daemon_hang_up(void *arg);
/* Ends a reload that compares partition files or reads a planned topology, with an error. Before
 * manager_stop(). */
void daemon_stop_reload(struct daemon *daemon);
/* Frees such a reload after the end of the worker pool. */
void daemon_drop_reloads(struct daemon *daemon);
/* Adds config show, config check and config reload to the control socket. */
void daemon_register_config(struct daemon *daemon);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One manager: transactions, subnet manager and subnet administrator, wired together over a given
 * loop, worker pool and transport. weftd has one; a simulation may have several in one process.
 */
#ifndef WEFTD_MANAGER_H
#define WEFTD_MANAGER_H

#include "lib/control.h"
#include "lib/loop.h"
#include "lib/stream.h"
#include "lib/work.h"
#include "mad/transport.h"
#include "sm/partition/partitions.h"
#include "store/settings.h"
#include "store/store.h"
#include "weftd/conf.h"

struct manager;

/* transport and store (NULL: nothing is kept) stay the caller's, and must outlive the manager. conf
 * is copied. */
struct manager *manager_new(struct loop *loop, struct work_pool *pool, struct transport *transport,
			    struct store *store, const struct conf *conf);
void manager_free(struct manager *manager);
/* Standbys follow this manager, or it follows a master, over carrier, as conf says; before
 * manager_start(). carrier, NULL where conf asks for neither, outlives the manager. 0, or -errno
 * and the reason in why. */
int manager_replicate(struct manager *manager, struct stream_carrier *carrier,
		      const struct conf *conf, char why[STREAM_WHY_SIZE]);
void manager_start(struct manager *manager);
/* Leaves the subnet cleanly, and writes what the store has still to write. */
void manager_stop(struct manager *manager);
/* The next sweep routes with these; NULL: nothing told. Takes a reference of its own. To be
 * followed by manager_set_conf(), or before manager_start(). */
void manager_set_route_options(struct manager *manager, struct route_options *options);
/* The administrator's names of nodes; as fabric_set_names(). */
void manager_set_node_names(struct manager *manager, struct map *names);
/* The partitions of the file; as sm_set_partitions(). False: they are those of before. */
bool manager_set_partitions(struct manager *manager, enum partition_source source,
			    struct partitions *partitions);
void manager_set_conf(struct manager *manager, const struct conf *conf);
/* What outlives the daemon; until manager_free(). */
struct registry *manager_registry(struct manager *manager);
/* What happens in its subnet; until manager_free(). */
struct event_hub *manager_events(struct manager *manager);
/* Settings of others than the manager, which status shows with its own; they outlive it. */
void manager_show_settings(struct manager *manager, const struct settings *settings);
/* As sm_m_key_violations(). */
uint64_t manager_m_key_violations(const struct manager *manager, guid_t port_guid);
/* For tests that do what its commands do. */
struct sm *manager_sm(const struct manager *manager);
void manager_register_commands(struct manager *manager, struct control *control);
/* As sm_on_report(): error 0 and how it stands after each sweep or change of role, or why it
 * failed. */
void manager_on_report(struct manager *manager,
		       void (*fn)(void *ctx, int error, bool again, const char *text), void *ctx);

#endif

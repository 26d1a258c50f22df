/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One manager: transactions, subnet manager and subnet administrator, wired together over a given
 * loop, worker pool and transport. weftd has one; a simulation may have several in one process.
 */
#ifndef WEFTD_MANAGER_H
#define WEFTD_MANAGER_H

#include "formats/net.h"
#include "lib/control.h"
#include "lib/loop.h"
#include "lib/psk_file.h"
#include "lib/stream.h"
#include "lib/work.h"
#include "mad/transport.h"
#include "sm/partition/partitions.h"
#include "store/settings.h"
#include "store/store.h"
#include "weftd/conf.h"

struct manager;

/* transport and store (NULL: nothing is stored) stay the caller's and must outlive the manager.
 * conf is copied. */
struct manager *manager_new(struct loop *loop, struct work_pool *pool, struct transport *transport,
			    struct store *store, const struct conf *conf);
/* Frees the manager; call manager_stop() first for a clean end. */
void manager_free(struct manager *manager);
/* Accepts standbys, or follows a master, over carrier, as conf says. Call it before
 * manager_start(). carrier must outlive the manager. If carrier is NULL, the replication runs over
 * the fabric if conf enables it, with keys (copied) if there are any. Returns 0, or -errno with the
 * reason in why. */
int manager_replicate(struct manager *manager, struct stream_carrier *carrier,
		      const struct psk_list *keys, const struct conf *conf,
		      char why[STREAM_WHY_SIZE]);
/* Replaces the keys of the replication over the fabric; harmless without it. */
void manager_set_ha_keys(struct manager *manager, const struct psk_list *keys);
/* Starts the election and the first sweep. */
void manager_start(struct manager *manager);
/* Leaves the subnet cleanly and writes the pending changes of the store. */
void manager_stop(struct manager *manager);
/* Sets the options of routing engines for the next sweep; NULL: none. Takes its own reference. Call
 * it before manager_start(), or call manager_set_conf() afterwards. */
void manager_set_route_options(struct manager *manager, struct route_options *options);
/* The administrator's names of nodes; as fabric_set_names(). */
void manager_set_node_names(struct manager *manager, struct map *names);
/* The planned topology; as sm_set_plan(). */
void manager_set_plan(struct manager *manager, struct net *plan, const char *path);
/* The partitions of the file, as sm_set_partitions(). False: nothing changed. */
bool manager_set_partitions(struct manager *manager, enum partition_source source,
			    struct partitions *partitions);
/* Applies all options that can change at run time; conf is copied. */
void manager_set_conf(struct manager *manager, const struct conf *conf);
/* A reload was refused with this error, which is copied and shown by weftctl health until a reload
 * is accepted (NULL). of_partitions: it is about the partition file. */
void manager_reload_refused(struct manager *manager, const char *error, bool of_partitions);
/* The registry of the manager; borrowed until manager_free(). */
struct registry *manager_registry(struct manager *manager);
/* The hub of its events; borrowed until manager_free(). */
struct event_hub *manager_events(struct manager *manager);
/* Adds settings of other components, which must outlive it, to status. */
void manager_show_settings(struct manager *manager, const struct settings *settings);
/* As sm_m_key_violations(). */
uint64_t manager_m_key_violations(const struct manager *manager, guid_t port_guid);
/* The subnet manager inside, for tests and for its commands. */
struct sm *manager_sm(const struct manager *manager);
/* Adds all commands of the manager to the control socket. */
void manager_register_commands(struct manager *manager, struct control *control);
/* Calls fn as sm_on_report() does. */
void manager_on_report(struct manager *manager,
		       void (*fn)(void *ctx, int error, bool again, const char *text), void *ctx);

#endif

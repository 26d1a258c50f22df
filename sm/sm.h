/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The subnet manager: takes part in the election, sweeps, decides what every port and switch should
 * hold, writes it, and publishes the view. Loop thread only; routing runs as jobs.
 */
#ifndef SM_SM_H
#define SM_SM_H

#include "fabric/event.h"
#include "fabric/fabric.h"
#include "fabric/view.h"
#include "formats/net.h"
#include "ha/options.h"
#include "lib/control.h"
#include "lib/loop.h"
#include "lib/stream.h"
#include "lib/work.h"
#include "mad/txn.h"
#include "mad/window.h"
#include "sm/options.h"
#include "sm/partition/losses.h"
#include "sm/partition/partitions.h"
#include "store/registry.h"
#include "store/store.h"

struct sm;

/* Everything but options is borrowed and must outlive it; registry and events are shared with
 * the SA. */
struct sm *sm_new(struct loop *loop, struct work_pool *pool, struct transport *transport,
		  struct txn_table *txns, struct registry *registry, struct event_hub *events,
		  const struct sm_options *options);
/* Frees the subnet manager; call sm_stop() first. */
void sm_free(struct sm *sm);
/* Requests the first sweep. */
void sm_start(struct sm *sm);
/* Leaves the subnet cleanly: hands over if possible, clears IsSM, and drops all work under way. */
void sm_stop(struct sm *sm);
/* Keeps a cache of the tables of switches in a file in dir, written by jobs of pool, and reads
 * it now. Call it before sm_start(). If the pool ends before sm, sm_flush_tables() writes the
 * rest. */
void sm_keep_tables(struct sm *sm, struct work_pool *pool, const char *dir);
/* Writes the pending changes of the table cache now. */
void sm_flush_tables(struct sm *sm);
/* Keeps standbys in sync, or follows a master, over carrier. Call it after sm_keep_tables() and
 * before sm_start(). carrier must outlive sm; store may end after sm_stop(). Returns 0, or
 * -EADDRNOTAVAIL with the reason in why if it cannot listen. */
int sm_replicate(struct sm *sm, struct stream_carrier *carrier, const struct store *store,
		 const struct replica_options *options, char why[STREAM_WHY_SIZE]);
/* The node that has this port or alias, and the number of the port; or the node of this NodeGUID,
 * and 0. NULL: it is not present.
 * Borrowed until the next change of the fabric. */
const struct node_facts *sm_port_node(const struct sm *sm, guid_t port_guid, unsigned *port);
/* The fabric as discovered, also with nodes that are gone (fabric/gone.h). Borrowed. */
const struct fabric *sm_fabric(const struct sm *sm);
/* The address of another manager of the election at this port. False: it is unknown. Then this also
 * requests a sweep, limited in rate. */
bool sm_find_manager(struct sm *sm, guid_t guid, struct mad_addr *out);
/* Another manager does not answer at its address. Requests a sweep, limited in rate, and only once
 * for the same address. The sweep also reads the P_Keys of our port. */
void sm_doubt_manager(struct sm *sm, guid_t guid);
/* Another manager has answered at its address: later silence requests a sweep again. */
void sm_believe_manager(struct sm *sm, guid_t guid);
/* The port GUID of the other manager at this LID, if this manager is MASTER and the other is not;
 * else 0. The other manager is known by its SMInfo, which sm/election/trust.h has judged. */
guid_t sm_admits(const struct sm *sm, lid_t lid);
/* Why these options must not switch M_Keys on, for free(): a standby would not get the keys. NULL:
 * they may, or M_Keys are on already. After a restart with such options, ports get no first M_Keys
 * until all standbys would get them, or until an administrator has accepted this danger of a
 * reload. */
char *sm_m_keys_danger(const struct sm *sm, const struct sm_options *options);
/* Replaces the addresses of ha_peers; without replication it does nothing. */
void sm_set_peers(struct sm *sm, const char *peers);
/* Applies all options that can change at run time (all but standby_only), and requests a sweep. */
void sm_set_options(struct sm *sm, const struct sm_options *options);

/* Takes over the partitions of the file: NULL unless source is PARTITIONS_FILE. A MASTER applies
 * them when they are durable. False: nothing changes. */
bool sm_set_partitions(struct sm *sm, enum partition_source source, struct partitions *partitions);
/* The same for a bad file; problem: "file:line: reason". The last good file is in force. False:
 * there is no last good file, and nothing changes. */
bool sm_set_bad_partitions(struct sm *sm, const char *problem);
/* As sm_set_bad_partitions(), for a good file that needs a confirmation; problem: the reason. */
bool sm_set_unconfirmed_partitions(struct sm *sm, const char *problem);
/* Why these partitions (NULL: none) need a confirmation before they replace those in force, for
 * free(); NULL: they need none. limit: the option partition_confirm_ports. */
char *sm_partitions_danger(struct sm *sm, struct partitions *partitions, unsigned limit);
/* The same in slices: policy_judge_file(). policy_judge_cancel() ends it, before sm_free(). */
struct policy_comparison *sm_judge_partitions(struct sm *sm, struct partitions *partitions,
					      unsigned limit, policy_judged_fn *judged, void *ctx);
/* Whether the store has the last good partition file. */
bool sm_has_last_partitions(const struct sm *sm);
/* Whether a partition file is or was in force. */
bool sm_knows_partition_file(const struct sm *sm);
/* Whether the P_Keys of ports are not known, so that no group may be made or ended. */
bool sm_partitions_frozen(const struct sm *sm);
/* The problem that an administrator must solve, with its remedy, for free(); NULL: none. */
char *sm_partition_problem(const struct sm *sm);
/* The same without its remedy, which *remedy gets: static text. */
char *sm_partition_problem_alone(const struct sm *sm, const char **remedy);
/* Calls fn(ctx) when the multicast groups of partitions may have changed; see sm_groups(). */
void sm_on_groups(struct sm *sm, loop_fn *fn, void *ctx);
/* The multicast groups that partitions need, without MLID and life time. The caller frees *out. */
size_t sm_groups(const struct sm *sm, struct group_entry **out);

/* Input files of routing engines, for snapshots from now on; NULL: none. Takes a reference.
 * Requests no sweep: sm_set_options() or sm_start() follows. */
void sm_set_route_options(struct sm *sm, struct route_options *options);
/* The names of nodes in the administrator's file; as fabric_set_names(). */
void sm_set_node_names(struct sm *sm, struct map *names);
/* The planned topology, as planned_links_set(). */
void sm_set_plan(struct sm *sm, struct net *plan, const char *path);

/* The place of the published view. It is NULL before the first sweep writes to devices, and while
 * this manager is not MASTER. */
struct view *const *sm_view(const struct sm *sm);
/* Whether this manager is MASTER: then there is a view, or will be. */
bool sm_is_master(const struct sm *sm);

/* The LID of the local port; LID_NONE: it has none yet. */
lid_t sm_lid(const struct sm *sm);

/* NULL if this manager is MASTER. Otherwise its registrations may be out of date: an object with
 * role and text, a new reference. */
json_t *sm_standing(const struct sm *sm);

struct mcast_tree;
/* The multicast tree that an MLID should have: a copy, whose masks the caller frees, and a
 * reference to the snapshot to which its indexes belong. False: the MLID has no tree. */
bool sm_tree(const struct sm *sm, lid_t mlid, struct mcast_tree *out, struct snapshot **snapshot);

/* Whether the partitions in force give the port with this GUID a P_Key of this partition. The
 * present table of the port does not matter. */
bool sm_wants_key(struct sm *sm, guid_t port_guid, pkey_t p_key);
/* Reasons for or against this GUID as an alias of this port. */
enum alias_claim sm_alias_claim(const struct sm *sm, guid_t port_guid, guid_t guid);
/* How this alias of a port is granted. */
enum alias_grant sm_alias_grant(const struct sm *sm, const struct alias_entry *alias);

/* The multicast tables that the switch with this NodeGUID should hold and holds; borrowed until
 * something changes. NULL: unknown. */
const struct mft *sm_mft(const struct sm *sm, guid_t guid);

/* Calls fn at the end of each sweep: error 0 and a line with the result, or -errno and the
 * reason. again: another sweep follows soon, because of a failure or a change. --once exits with
 * this error, and sd_notify reports the text. */
void sm_on_report(struct sm *sm, void (*fn)(void *ctx, int error, bool again, const char *text),
		  void *ctx);

/* Number of traps 256 that name this end port as the sender of SMPs with a wrong M_Key. */
uint64_t sm_m_key_violations(const struct sm *sm, guid_t port_guid);

#endif

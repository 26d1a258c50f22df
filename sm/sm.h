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
#include "ha/options.h"
#include "lib/control.h"
#include "lib/loop.h"
#include "lib/stream.h"
#include "lib/work.h"
#include "mad/txn.h"
#include "mad/window.h"
#include "sm/options.h"
#include "sm/partition/partitions.h"
#include "store/registry.h"
#include "store/store.h"

struct sm;

/* registry and events are the manager's, which both halves meet in, and outlive both. */
struct sm *sm_new(struct loop *loop, struct work_pool *pool, struct transport *transport,
		  struct txn_table *txns, struct registry *registry, struct event_hub *events,
		  const struct sm_options *options);
void sm_free(struct sm *sm);
/* Begins: the first sweep is asked for. */
void sm_start(struct sm *sm);
/* Leaves cleanly: IsSM is taken away, what is under way is dropped. */
void sm_stop(struct sm *sm);
/* What switches hold is kept in a file in dir, written by jobs of pool, and read now; before
 * sm_start(). The pool may end before sm does: then sm_flush_tables() writes what is still to be
 * written. */
void sm_keep_tables(struct sm *sm, struct work_pool *pool, const char *dir);
void sm_flush_tables(struct sm *sm);
/* Keeps standbys up to date, or follows a master, over carrier; before sm_start(), after
 * sm_keep_tables(). carrier outlives sm, store may end after sm_stop(). 0, or -EADDRNOTAVAIL and
 * the reason in why: it cannot listen. */
int sm_replicate(struct sm *sm, struct stream_carrier *carrier, const struct store *store,
		 const struct replica_options *options, char why[STREAM_WHY_SIZE]);
/* Applies what can change at run time (all but standby_only); the next sweep uses it, and one is
 * asked for. */
void sm_set_options(struct sm *sm, const struct sm_options *options);

/* Takes over the partitions of the file: NULL unless source is PARTITIONS_FILE. A MASTER applies
 * them when they are durable. False: nothing changes. */
bool sm_set_partitions(struct sm *sm, enum partition_source source, struct partitions *partitions);
/* The same for a bad file; problem: "file:line: reason". The last good file is in force. False:
 * there is no last good file, and nothing changes. */
bool sm_set_bad_partitions(struct sm *sm, const char *problem);
/* Whether a partition file is or was in force. */
bool sm_knows_partition_file(const struct sm *sm);
/* Whether the P_Keys of ports are not known, so that no group may be made or ended. */
bool sm_partitions_frozen(const struct sm *sm);
/* The problem that an administrator must solve, with its remedy, for free(); NULL: none. */
char *sm_partition_problem(const struct sm *sm);
/* fn(ctx) is called when the groups that partitions have may have changed; sm_groups() gives those
 * that there are to be, without MLID and life time, *out for free(). */
void sm_on_groups(struct sm *sm, loop_fn *fn, void *ctx);
size_t sm_groups(const struct sm *sm, struct group_entry **out);

/* What files tell routing engines, for snapshots to come; NULL: nothing. Takes a reference of its
 * own, and asks for no sweep: sm_set_options() does, or sm_start(). */
void sm_set_route_options(struct sm *sm, struct route_options *options);
/* The administrator's names of nodes; as fabric_set_names(). */
void sm_set_node_names(struct sm *sm, struct map *names);

/* The slot the view is published to: NULL while not MASTER or before the first sweep's end. */
struct view *const *sm_view(const struct sm *sm);
/* Whether it is MASTER; then there is a view, or one will come. */
bool sm_is_master(const struct sm *sm);

/* That of its own port; LID_NONE: it has none yet. */
lid_t sm_lid(const struct sm *sm);

/* NULL when it is MASTER. Else what is registered here may be old: an object of role and text, one
 * line for people; a new reference. */
json_t *sm_standing(const struct sm *sm);

/* The multicast tree of an MLID as it should be: a copy, whose masks the caller frees, and a
 * reference to the snapshot that its indexes belong to. False: it has none. */
struct mcast_tree;
bool sm_tree(const struct sm *sm, lid_t mlid, struct mcast_tree *out, struct snapshot **snapshot);

/* Whether the partitions in force give the port of this GUID a key of this partition, whatever its
 * table holds yet. */
bool sm_wants_key(struct sm *sm, guid_t port_guid, pkey_t p_key);
/* Reasons for or against this GUID as an alias of this port. */
enum alias_claim sm_alias_claim(const struct sm *sm, guid_t port_guid, guid_t guid);
/* How this alias of a port is granted. */
enum alias_grant sm_alias_grant(const struct sm *sm, const struct alias_entry *alias);

/* What the switch of this NodeGUID should hold of multicast, and what it does; until something
 * changes. NULL: nothing is known, or there is no such switch. */
const struct mft *sm_mft(const struct sm *sm, guid_t guid);

/* Called at the end of each sweep: error 0 and one line that says how it stands, or -errno and the
 * reason in words (--once exits with it; sd_notify tells it); again: the next sweep follows soon,
 * since something failed or changed meanwhile. */
void sm_on_report(struct sm *sm, void (*fn)(void *ctx, int error, bool again, const char *text),
		  void *ctx);

/* How many SMPs with wrong M_Keys came from this end port, as traps 256 tell. */
uint64_t sm_m_key_violations(const struct sm *sm, guid_t port_guid);

#endif

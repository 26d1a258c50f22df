/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The replica: a master's registry and its table cache, kept by its standbys as they change, so
 * that whoever takes over goes on where the master was. It goes over a network that is not the
 * fabric, by any carrier of streams (lib/stream.h).
 *
 * A standby connects to those who may be its master, for it is the standby who wants something: it
 * knows whom the election has named, finds it again by itself after any interruption, and a master
 * need not know its standbys. A MASTER takes whoever comes and knows the key.
 *
 * Who does not know the M_Keys of a fabric whose ports each have their own sees nothing of it, and
 * can name nobody: it follows whoever is MASTER and knows the key of the replica, and gets them.
 *
 * What a standby receives goes into its own registry, and so into its own store, batch by batch as
 * the master's changes belonged together; registry_follows() holds there, so nobody acts on it. A
 * history is an incarnation, which begins anew whenever somebody becomes MASTER, and numbers in it.
 * Who knows up to where it has a history goes on from there; else it gets all there is, which it
 * puts aside until it is whole. A standby that becomes MASTER in the middle of that goes on from
 * what it had before.
 *
 * With durability "standby" a master's changes are durable when all standbys that are in step have
 * them, too. One that does not say so within some seconds is in step no more, and when none is,
 * that is said, and what the own store has counts, until one is in step again. So a master that has
 * no standby yet, as one that has just taken over, waits for none. Loop thread only.
 */
#ifndef HA_REPLICA_H
#define HA_REPLICA_H

#include "fabric/fabric.h"
#include "fabric/table_cache.h"
#include "ha/options.h"
#include "lib/control.h"
#include "lib/loop.h"
#include "lib/stream.h"
#include "store/registry.h"
#include "store/store.h"

struct replica;

/* What it asks the manager. */
struct replica_owner {
	enum sm_state (*role)(void *ctx);
	guid_t (*master)(void *ctx); /* the port of the MASTER that the election names; 0: none */
	void (*lost)(void *ctx);     /* a STANDBY's connection with that MASTER has ended */
	/* It sees nothing of the fabric, for want of the M_Keys, and so no MASTER either. */
	bool (*locked_out)(void *ctx);
	void (*unlocked)(void *ctx); /* the M_Keys have come */
	bool (*unlike)(void *ctx);   /* its partition file says something else than the master's */
	/* What another manager is, as the election knows him; NULL: it does not. */
	const char *(*role_of)(void *ctx, guid_t guid);
	void *ctx;
};

/* What it stands on outlives it, but store, which may be NULL, only up to replica_stop(). NULL, and
 * the reason in why: it cannot listen. */
struct replica *replica_new(struct loop *loop, struct stream_carrier *carrier,
			    struct registry *registry, struct fabric *fabric,
			    const struct store *store, const guid_t *own,
			    const struct replica_options *options,
			    const struct replica_owner *owner, char why[STREAM_WHY_SIZE]);
void replica_stop(struct replica *replica); /* says good-bye; before the store is flushed */
void replica_free(struct replica *replica); /* NULL is harmless, here and below */

/* The role, or the MASTER, is another one. Who becomes MASTER has in table cache afterwards what
 * the master before has told of tables. */
void replica_role(struct replica *replica, struct table_cache *cache);
/* It is locked out: whoever is MASTER of those it may follow has the keys. */
void replica_seek(struct replica *replica);
/* Whether a standby has what its master has, as far as it can be had: then it may take over from
 * one that is alive. */
bool replica_ready(const struct replica *replica);
/* Whether standbys are kept, and this manager is none that has what is registered. */
bool replica_lacks(const struct replica *replica, guid_t guid);
/* Whether one that takes over has all that the master has acknowledged, for durability is by the
 * standby, and it was in step until the master was lost, or is now. Before replica_role(). */
bool replica_has_all(const struct replica *replica);
/* Tables may have changed: standbys are told; not as soon where those of multicast alone did. */
void replica_touch_tables(struct replica *replica);
void replica_touch_mft(struct replica *replica);

void replica_register_commands(struct replica *replica, struct control *control);
json_t *replica_status(const struct replica *replica); /* a new reference */
/* How many peers were refused since the start: a new reference. */
json_t *replica_refusals(const struct replica *replica);

#endif

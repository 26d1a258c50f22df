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
/* Ends all connections cleanly; call it before store_flush(). */
void replica_stop(struct replica *replica);
/* NULL is harmless here and in the functions below. */
void replica_free(struct replica *replica);

/* The role or the MASTER has changed. A manager that becomes MASTER gets the tables of the
 * former master into cache. */
void replica_role(struct replica *replica, struct table_cache *cache);
/* This manager cannot read the fabric for lack of M_Keys: gets them from the MASTER among its
 * ha_peers. */
void replica_seek(struct replica *replica);
/* Whether a standby has all that its master has, as far as possible, so that it may accept a
 * handover. */
bool replica_ready(const struct replica *replica);
/* Whether this manager has standbys to keep, and the manager with this GUID lacks registrations;
 * GUID 0: whether it has standbys to keep at all. */
bool replica_lacks(const struct replica *replica, guid_t guid);
/* Whether a manager that takes over has all changes that the master acknowledged: durability is
 * "standby", and it was in sync until it lost the master, or is now. Call it before
 * replica_role(). */
bool replica_has_all(const struct replica *replica);
/* Forwarding tables may have changed: the standbys get them soon. */
void replica_touch_tables(struct replica *replica);
/* Only multicast tables may have changed: the standbys get them with a longer delay. */
void replica_touch_mft(struct replica *replica);

/* Adds the commands of the replication to the control socket. */
void replica_register_commands(struct replica *replica, struct control *control);
/* For ha status; a new reference. */
json_t *replica_status(const struct replica *replica);
/* How many peers were refused since the start: a new reference. */
json_t *replica_refusals(const struct replica *replica);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The replica: standbys copy the registry and the table cache of their master, so that a standby
 * that takes over continues where the master ended. It uses any carrier of streams (lib/stream.h).
 *
 * The standby connects to its ha_peers: it knows which manager the election has named, and
 * reconnects by itself. A MASTER accepts each peer that proves the key. Without ha_listen and
 * ha_peers the stream runs over the fabric, from the standby to the port of the MASTER that the
 * election names. If no key is proved there, only a part of the records is copied (ha/copies.h).
 *
 * A manager without the M_Keys of a fabric cannot read the fabric, so its election names no
 * master. It then follows any peer that is MASTER and proves the key, and gets the M_Keys from it.
 *
 * A standby puts received changes into its own registry, and so into its own store, in the batches
 * of the master. Until it becomes MASTER, registry_follows() is true, so that readers start
 * nothing. A history of changes is an incarnation, which begins when a manager becomes MASTER, and
 * numbers. A standby that knows a position in the history continues from there. Otherwise it gets a
 * full copy, which takes effect when it is complete. If it becomes MASTER before, it uses its
 * former records.
 *
 * With durability "standby" the changes of a master are durable when all standbys in sync have
 * them, too. A standby that does not acknowledge within some seconds is out of sync. If no standby
 * is in sync, the master logs it, and its own store alone counts until a standby is in sync again.
 * So a new master without a standby waits for none. Loop thread only.
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

/* Queries to the manager that owns the replica. */
struct replica_owner {
	enum sm_state (*role)(void *ctx);
	guid_t (*master)(void *ctx); /* the port of the MASTER that the election names; 0: none */
	void (*lost)(void *ctx);     /* a STANDBY's connection with that MASTER has ended */
	/* The manager cannot read the fabric for lack of M_Keys, and so finds no MASTER. */
	bool (*locked_out)(void *ctx);
	void (*unlocked)(void *ctx); /* the M_Keys have come */
	bool (*unlike)(void *ctx);   /* its partition file differs from the file of the master */
	/* The role of another manager in the election; NULL: unknown. */
	const char *(*role_of)(void *ctx, guid_t guid);
	/* Whether allowed_sm_guids has this port and that of this manager. */
	bool (*listed)(void *ctx, guid_t guid);
	/* Whether the SA shows records about a port to a standby because both are in the default
	 * partition, one of them as a full member. The port may be the standby itself. */
	bool (*shown)(void *ctx, guid_t standby, guid_t port);
	void *ctx;
};

/* All arguments must outlive the replica; store, which may be NULL, until replica_stop().
 * Returns NULL, with the reason in why, if it cannot listen. */
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
 * handover. Over the fabric, it returns false for some seconds after the first call if the master
 * does not answer. */
bool replica_ready(struct replica *replica);
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

/* Follows only these addresses from now on, separated by commas; a master that is not among them is
 * left. */
void replica_set_peers(struct replica *replica, const char *peers);

/* Whether standbys can connect while this manager is MASTER. */
bool replica_serves(const struct replica *replica);
/* Whether the standby at this port is in sync and gets all records, M_Keys included. */
bool replica_copies_all(const struct replica *replica, guid_t guid);
/* Whether the standby at this port is connected, and gets records of this kind. */
bool replica_copies_kind(const struct replica *replica, guid_t guid, enum registry_kind kind);
/* allowed_sm_guids may have changed: ends connections over which more or fewer records may be
 * copied now. They begin again. */
void replica_reconsider(struct replica *replica);
/* Adds the commands of the replication to the control socket. */
void replica_register_commands(struct replica *replica, struct control *control);
/* For ha status; a new reference. */
json_t *replica_status(const struct replica *replica);
/* The ha_peers entry of this master, if this standby follows it; NULL: it does not. Borrowed. */
const char *replica_master_address(const struct replica *replica, guid_t master);
/* For status: refused peers since the start, standbys, and changes behind; a new reference. */
json_t *replica_summary(const struct replica *replica);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the two halves of the replica: lead.c is the master's half, follow.c the standby's,
 * and replica.c has their common part and the interface for sm/. Private to these three.
 */
#ifndef HA_PARTS_H
#define HA_PARTS_H

#include "fabric/table_cache.h"
#include "ha/copies.h"
#include "ha/replica.h"
#include "include/message_id.h"
#include "lib/log.h"
#include "lib/map.h"
#include "store/registry_replace.h"

enum {
	HEARTBEAT_US = 1000000, /* a master sends a frame at least this often */
	SILENCE_US = 5000000,	/* a peer without a frame for this time is gone */
	TAKING_US = 60000000,	/* longer while it stores the full copy */
	WAIT_US = 2000000,	/* time for which a change waits for a standby */
	REFUSED_US = 10000000,	/* until the next attempt with a master that has lost records */
	RETRY_US = 1000000,	/* between two attempts to find the master, */
	NEXT_US = 20000,	/* and between two peers in one of them */
	ALONE_US =
		60000000, /* how long a master keeps a journal for a standby that was connected */
	OFFERED_US =
		10000000, /* from the first offer of a master to its acceptance without a copy */
};

/* The master's */

struct journal_entry {
	const void *record; /* a reference */
	uint8_t kind;
	bool drop, more; /* more: the next one belongs to the same batch */
	bool open;	 /* it may be sent with COPY_REGISTRATIONS */
};

struct journal { /* the last changes, a ring */
	struct journal_entry *entries;
	size_t room;	   /* a power of two; 0: nothing yet */
	uint64_t first;	   /* the number of the oldest */
	uint64_t last;	   /* of the newest; first - 1: there is none */
	uint64_t complete; /* the last change of a whole batch */
};

enum session_state {
	SESSION_GREETING, /* its HELLO is missing */
	SESSION_WALKING,  /* records are sent */
	SESSION_CLOSING,  /* the changes since the walk began */
	SESSION_TAKING,	  /* all is sent: the standby applies it */
	SESSION_FOLLOWING,
};

struct session {
	struct list link;
	struct replica *replica;
	struct stream *stream;
	enum session_state state;
	guid_t guid;
	uint8_t copies;		   /* enum ha_copies */
	uint8_t own_copies;	   /* as far as this end decides */
	union copied_record blank; /* scratch */
	struct registry_cursor cursor;
	uint64_t records, walked; /* of the walk; the number when it was over */
	uint64_t sent, acked;	  /* numbers */
	uint64_t heard_us, since_us;
	bool in_sync;
	uint64_t out_until_us;
	bool degraded;	   /* its store is */
	struct map tables; /* the tables that it has, by GUID: a struct table_cache_row */
	size_t table_at;   /* position of the next switch in the roster */
	struct loop_deferred pump;
	struct frame_in in;
};

/* Peers refused since the start. */
struct replica_refusals {
	uint64_t connections; /* no key proved: no TLS session, or no place for its handshake */
	uint64_t standbys;    /* key proved, but a greeting or a frame of the standby refused */
	uint64_t masters;     /* key proved, but a greeting or a frame of the master refused */
};

struct lead {
	bool leads;
	uint64_t incarnation;
	struct registry_reader reader;
	struct journal journal;
	struct loop_deferred settle;
	struct list sessions;
	unsigned num_sessions;
	struct loop_timer heartbeat, overdue, tables;
	uint64_t kept;	 /* the last change that the standbys in sync have */
	uint64_t wanted; /* the change that they must have when overdue fires */
	struct log_limit limit;
	uint64_t resumable_us;	    /* until when a standby that was connected may continue */
	struct log_limit strangers; /* of their own: they must not hide lines about standbys */
};

/* The standby's */

struct follow {
	struct stream *stream; /* NULL: none */
	char peers[REPLICA_PEERS_MAX][STREAM_PEER_SIZE];
	unsigned num_peers, next, tried; /* tried: without success, since a peer was followed */
	bool greeted, parted;		 /* parted: it ended cleanly, and was followed until then */
	bool owes_ack;			 /* the stream was full */
	bool goes_on;			 /* its greeting had the position of this standby */
	bool unserved;	     /* the named MASTER does not replicate: it has answered so */
	uint64_t offered_us; /* time of the first offer to take over; 0: never */
	bool waited_for;     /* it acknowledges only changes that this standby has */
	guid_t master;	     /* it has sent its HELLO */
	char why[REPLICA_PEERS_MAX][FRAME_WHY_SIZE]; /* why it is not followed; empty: it is */
	struct loop_timer retry;
	uint64_t heard_us, since_us;
	uint64_t left_us;   /* the time when following ended */
	uint8_t copies;	    /* enum ha_copies: of this connection, and of the present history */
	uint8_t own_copies; /* of this connection, as far as this end decides */
	uint64_t left_out;  /* records of masters that this standby does not accept */

	/* The history that the registry has; 0: none of another's. based: it has it up to position,
	 * of which up to acked is durable. number: what the master has. */
	uint64_t incarnation;
	bool based;
	uint64_t position, acked, number;
	struct registry_waiter waiter;
	uint64_t waits_for; /* 0: it does not wait */

	struct registry *document; /* the full copy while it arrives; NULL: none */
	uint64_t records, document_at;
	bool taking;  /* it takes effect */
	bool refused; /* it lacks records that are here */
	struct registry_replace replace;
	struct loop_deferred turn;

	struct arena *arena; /* of the batch */
	struct wire_change batch[FRAME_CHANGES_MAX];
	size_t batched;
	struct map tables; /* by GUID: a struct table_cache_row */
	struct frame_in in;
	struct log_limit limit;
};

struct replica {
	struct loop *loop;
	struct stream_carrier *carrier;
	struct registry *registry;
	struct fabric *fabric;
	const struct store *store;
	const guid_t *own; /* of our port */
	struct replica_options options;
	struct replica_owner owner;
	struct frame_out out; /* scratch */
	bool stopped;
	bool complete; /* while DISCOVERING: it had all changes when its master was lost */
	struct replica_refusals refusals;
	struct lead lead;
	struct follow follow;
};

/* What this manager allows to be copied over this stream, with the manager at this port. */
enum ha_copies replica_copies(const struct replica *replica, const struct stream *stream,
			      guid_t guid);
/* Whether a stream over the fabric leads to this port: its address is the port GUID. */
bool replica_is_at(const struct stream *stream, guid_t guid);
/* The present role of this manager. */
enum sm_state replica_own_role(const struct replica *replica);
/* Whether the role of this manager allows it to follow a master. */
bool replica_may_follow(const struct replica *replica);
/* Sends the frames in replica->out. */
void replica_send(struct replica *replica, struct stream *stream);
/* Sends HELLO with this history and its last number; see struct hello. */
void replica_greet(struct replica *replica, struct stream *stream, enum ha_copies copies,
		   uint64_t incarnation, uint64_t number);

/* The row of a switch by its GUID; created if missing, and owned by the map. */
struct table_cache_row *tables_row(struct map *tables, guid_t guid);
/* Frees all rows. */
void tables_clear(struct map *tables);

/* Listens on ha_listen, if it is set. Returns 0, or -errno with the reason in why. */
int lead_init(struct replica *replica, char why[STREAM_WHY_SIZE]);
/* This manager became MASTER: serves standbys from now on, if ha_listen is set. */
void lead_begin(struct replica *replica);
/* Ends all sessions with standbys; harmless if there are none. */
void lead_end(struct replica *replica);
/* Ends sessions with standbys that may now get more or fewer records. */
void lead_reconsider(struct replica *replica);
/* Frees everything, also without lead_end(). */
void lead_done(struct replica *replica);
/* Forwarding tables may have changed: sends them to all standbys. */
void lead_touch_tables(struct replica *replica);
/* Whether the standby with this GUID is connected; 0: any. */
bool lead_has(const struct replica *replica, guid_t guid);
/* Whether the standby with this GUID is in sync with COPY_ALL. */
bool lead_copies_all(const struct replica *replica, guid_t guid);
/* Whether the standby with this GUID is connected, and gets records of this kind. */
bool lead_copies_kind(const struct replica *replica, guid_t guid, enum registry_kind kind);
/* Whether the standby with this GUID is in sync. */
bool lead_in_sync(const struct replica *replica, guid_t guid);
/* Only multicast tables may have changed: sends them with a longer delay. */
void lead_touch_mft(struct replica *replica);
/* Standbys with a proven key, those in sync, and the changes that the last of them lacks. */
struct lead_figures {
	unsigned standbys, in_sync;
	unsigned partial;	     /* standbys that do not get all records */
	unsigned without_partitions; /* standbys that do not get partitions made by commands */
	uint64_t behind;
};
struct lead_figures lead_figures(const struct lead *lead);
/* The standbys for ha status; a new reference. */
json_t *lead_status(const struct replica *replica);

/* Prepares a standby that follows no master yet. */
void follow_init(struct replica *replica);
/* Whether this standby has all that its master has, or there is no master to copy from; see
 * replica_ready(). */
bool follow_ready(struct replica *replica);
/* Whether this standby has all acknowledged changes, as replica_has_all(). */
bool follow_has_all(const struct replica *replica);
/* Looks for a master among ha_peers soon. */
void follow_look(struct replica *replica);
/* The addresses in the options have changed. A connection to a peer that stays goes on. */
void follow_set_peers(struct replica *replica);
/* Ends the connection if the master may now send more or fewer records. */
void follow_reconsider(struct replica *replica);
/* Ends following: complete batches take effect, the others are dropped. */
void follow_end(struct replica *replica);
/* Frees everything. */
void follow_done(struct replica *replica);
/* Moves the tables of the former master into the table cache. */
void follow_give_tables(struct replica *replica, struct table_cache *cache);
/* The number of changes of the master that this standby does not have yet. */
uint64_t follow_lag(const struct follow *follow);
/* The master and the peers for ha status; a new reference. */
json_t *follow_status(const struct replica *replica);

#endif

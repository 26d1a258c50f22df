/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The durable data of the manager: LIDs of ports, multicast groups and their members, services,
 * subscriptions, alias GUIDs and run-time settings. There is one table for each kind of record.
 * The loop owns the registry. It has its own versions, apart from the view: a join publishes no
 * view.
 *
 * Every change has a number and is reported to the readers in order, at once. The readers react to
 * it: they compute trees, send notices, or copy it to a disk or a standby. If a store keeps the
 * registry, a change is durable once the store says so. Until then no client may learn that it was
 * made.
 *
 * A kind is a row of registry_tables: a struct, its fields (mad/field.h), the number of fields
 * that identify a record, and its indexes. The same fields give the bytes in a store and on a
 * standby, and the names in a saved document. Loop thread only.
 */
#ifndef STORE_REGISTRY_H
#define STORE_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/iba.h"
#include "lib/list.h"
#include "mad/field.h"

/* The values are on disks and never change their meaning. */
enum registry_kind {
	REGISTRY_LID = 1,
	REGISTRY_GROUP = 2,
	REGISTRY_MEMBER = 3,
	REGISTRY_SERVICE = 4,
	REGISTRY_SUBSCRIPTION = 5,
	REGISTRY_ALIAS = 6,
	REGISTRY_SETTING = 7,
	REGISTRY_PARTITION = 8,
	REGISTRY_PARTITION_MEMBER = 9,
	REGISTRY_M_KEY = 10,
	REGISTRY_NEIGHBOR = 11,
	REGISTRY_DISABLED = 12,
	REGISTRY_PARTITION_TEXT = 13,
	REGISTRY_PARTITION_OWNER = 14,
	REGISTRY_DRAINED = 15,
	REGISTRY_LOST_LINK = 16,
	REGISTRY_KINDS, /* one more than the highest */
};

struct lid_entry {   /* identified by guid */
	guid_t guid; /* of the end port */
	lid_t lid;
	uint8_t lmc;
	uint32_t gone;	  /* 0: present; else ports with lower numbers disappeared earlier */
	guid_t node_guid; /* of an end port: its switch, or its last switch, and the port of that
			     switch */
	uint8_t port;	  /* 0: not known, or none */
};

/* A multicast group: the components of MCMemberRecord that do not belong to the member
 * (15.2.5.17). */
struct group_entry { /* identified by mgid */
	uint8_t mgid[GID_SIZE];
	lid_t mlid;
	uint32_t q_key;
	uint8_t mtu, tclass; /* mtu, rate, packet_life_time: the values, without a selector */
	pkey_t p_key;
	uint8_t rate, packet_life_time, sl;
	uint32_t flow_label;
	uint8_t hop_limit, scope;
	uint8_t permanent; /* configured: it stays after its last member leaves */
	guid_t owner;	   /* the port for which it counts: its creator, then another port that has
			      registered a membership; 0: unknown, or configured */
};

struct member_entry { /* identified by mgid and port_gid */
	uint8_t mgid[GID_SIZE];
	uint64_t port_prefix; /* of PortGID */
	guid_t port_guid;     /* its lower half: the port's GUID, or an alias of it */
	uint8_t join_state;   /* JoinState bits */
	uint8_t proxy_join;   /* another port joined it, and it has not joined by itself since */
	guid_t owner;	      /* the port that joined it: the membership counts for this port */
};

enum { SERVICE_KEY_SIZE = 16, SERVICE_NAME_SIZE = 64, SERVICE_DATA_SIZE = 64 };

/* ServiceRecord, chapter 15.2.5.14. */
struct service_entry { /* identified by service_id, gid and p_key */
	uint64_t service_id;
	uint64_t gid_prefix;
	guid_t gid_guid; /* the lower half of ServiceGID: a port's GUID, or an alias of it */
	pkey_t p_key;
	uint64_t expires_s; /* by the clock of leases (sa/lease.h); 0: never */
	uint8_t key[SERVICE_KEY_SIZE];
	uint8_t name[SERVICE_NAME_SIZE];
	uint8_t data[SERVICE_DATA_SIZE]; /* as on the wire: 8-, 16-, 32- and 64-bit numbers */
	guid_t owner;			 /* the port that registered it first */
};

/* A subscription: InformInfo (chapter 13.4.8.3), and the port that sent it. */
struct subscription_entry { /* identified by subscriber and number */
	uint64_t prefix;    /* of the subscriber's GID */
	guid_t subscriber;
	uint16_t number; /* InformInfoRecord:SubscriberEnum */
	lid_t lid;	 /* where its reports go, and how */
	uint32_t qpn;
	uint8_t sl;
	uint16_t pkey_index;
	uint8_t gid[GID_SIZE]; /* of the issuer; zero: selected by LIDs */
	lid_t lid_begin, lid_end;
	uint8_t is_generic;
	uint16_t type, trap_number;
	uint8_t resp_time;
	uint32_t producer_type;
	uint8_t trusted; /* it sent the SA_Key, so it gets security traps */
};

struct alias_entry { /* identified by port_guid and index */
	guid_t port_guid;
	uint16_t index; /* in the port's GUIDInfo, from 1 on */
	guid_t guid;
	uint8_t granted; /* enum alias_grant of store/alias.h */
};

enum { SETTING_NAME_SIZE = 32, SETTING_VALUE_SIZE = 256 };

struct setting_entry {			 /* identified by name */
	uint8_t name[SETTING_NAME_SIZE]; /* text, ended by 0 */
	uint8_t value[SETTING_VALUE_SIZE];
};

enum { PARTITION_ENTRY_NAME_SIZE = 64 };

/* A partition that was created at run time. The parameters of its groups are encoded as in
 * MCMemberRecord. */
struct partition_entry {			 /* identified by p_key */
	pkey_t p_key;				 /* 15 bits */
	uint8_t name[PARTITION_ENTRY_NAME_SIZE]; /* text, ended by 0 */
	uint8_t ipoib, index0;			 /* as the flags of a partition file */
	uint8_t mtu, rate, sl, scope;
	uint8_t tclass;
	uint32_t q_key, flow_label;
};

/* A member that was added at run time, to such a partition or to a partition of the file. */
struct partition_member_entry { /* identified by p_key and guid */
	pkey_t p_key;		/* 15 bits */
	guid_t guid;		/* of a port, or an alias; the port may be absent */
	uint8_t membership;	/* enum membership of formats/partitions.h */
};

enum { PARTITION_OWNER_SIZE = 32 };

/* The owner of such a partition or member, if it is not "admin": sm/partition/owner.h. */
struct partition_owner_entry { /* identified by p_key and guid */
	pkey_t p_key;
	guid_t guid;			     /* of the member; 0: the partition itself */
	uint8_t owner[PARTITION_OWNER_SIZE]; /* text, ended by 0 */
};

/* Secret: not in lists, events or the log, and in a saved document only on request. */
struct m_key_entry {	/* identified by guid */
	guid_t guid;	/* of the end port */
	uint64_t m_key; /* the key that the port should hold */
	/* Keys that the port may hold instead, until it has shown that it does not: the previous
	 * key, and the key before that. 0: none. */
	uint64_t previous, older;
};

/* The node that was last behind a port: its M_Key is tried there. */
struct neighbor_entry { /* identified by node_guid and port */
	guid_t node_guid;
	uint8_t port;
	guid_t guid; /* of the end port */
};

/* A port of a switch that stays disabled until a command enables it: sm/discovery/disabled.h. */
struct disabled_entry { /* identified by node_guid and port */
	guid_t node_guid;
	uint8_t port;
};

enum { DRAINED_NAME_SIZE = 65, DRAINED_REASON_SIZE = 96 };

/* A port of a switch that stays disabled because of a drained target; or, without a port, the
 * target itself if it is a node: sm/discovery/drained.h. */
struct drained_entry { /* identified by the first four members */
	guid_t node_guid;
	uint8_t port;	 /* 0: node_guid is the target, a node */
	guid_t of;	 /* the target: a node, */
	uint8_t of_port; /* or a port of this node; 0: the whole node */
	uint64_t since_s;
	uint8_t by_policy;		     /* 0: an administrator drained it */
	uint8_t forced;			     /* although ports of adapters lose their path */
	uint8_t ending;			     /* undrained: kept until its link was enabled */
	uint8_t name[DRAINED_NAME_SIZE];     /* of the node `of`; text, ended by 0 */
	uint8_t reason[DRAINED_REASON_SIZE]; /* of the policy; text, ended by 0 */
};

enum { LOST_LINK_NAME_SIZE = 65 };

/* A link that was lost and has not returned: fabric/lost_links.h. The end with the lower GUID comes
 * first. For a host that was lost while no weftd was MASTER, only the port GUID is known: it comes
 * second, with port 0. */
struct lost_link_entry { /* identified by the first four members */
	guid_t node_guid;
	uint8_t port;
	guid_t peer_guid;
	uint8_t peer_port;
	uint64_t since_s;			/* wall clock; 0: not known yet */
	uint8_t name[LOST_LINK_NAME_SIZE];	/* of the node; text, ended by 0 */
	uint8_t peer_name[LOST_LINK_NAME_SIZE]; /* the same */
};

enum { REGISTRY_INDEXES = 3 };

enum { PARTITION_TEXT_SIZE = 480 };

/* A piece of the partition file that was in force last: sm/partition/kept.h. */
struct partition_text_entry { /* identified by number */
	uint32_t number;      /* of the piece, from 0 on */
	uint16_t size;	      /* bytes of text in use */
	uint8_t text[PARTITION_TEXT_SIZE];
};

struct registry_table {
	const char *name;
	const struct format *format;
	uint8_t key_rows;	       /* number of rows, from the first, that identify a record */
	uint16_t key_bytes;	       /* their size on the wire */
	uint64_t by[REGISTRY_INDEXES]; /* bit i: row i belongs to the key of this index; 0: no index
					*/
};

extern const struct registry_table registry_tables[REGISTRY_KINDS];

/* The indexes of each kind, for registry_first(). */
enum {
	LID_BY_PLACE = 0,
	GROUP_BY_MLID = 0,
	MEMBER_BY_GROUP = 0,
	MEMBER_BY_PORT = 1,
	MEMBER_BY_OWNER = 2, /* of a group */
	SERVICE_BY_PORT = 0,
	SERVICE_BY_ID = 1,
	SUBSCRIPTION_BY_PORT = 0,
	ALIAS_BY_PORT = 0,
	ALIAS_BY_GUID = 1,
	PARTITION_MEMBER_BY_KEY = 0,
	PARTITION_MEMBER_BY_GUID = 1,
	DRAINED_BY_PLACE = 0,
	DRAINED_BY_TARGET = 1,
	LOST_LINK_BY_PLACE = 0,
	LOST_LINK_BY_PEER = 1,
};

struct registry;

/* An empty registry. Without a store each change is durable at once. */
struct registry *registry_new(void);
/* Frees all records without references. */
void registry_free(struct registry *registry);

/*
 * Records are structs of their kind. The registry owns the records that these functions return.
 * Records never change: a put that changes a record creates a new record. The old record lives as
 * long as references to it.
 */
/* The record with this key; NULL: there is none. */
const void *registry_find(const struct registry *registry, enum registry_kind kind,
			  const void *key);
/* Adds the record, or replaces the record with the same key. An equal record is no change.
 * Returns the stored record. */
const void *registry_put(struct registry *registry, enum registry_kind kind, const void *record);
/* Removes the record with this key. key may be the record itself. Returns false if there is
 * none. */
bool registry_drop(struct registry *registry, enum registry_kind kind, const void *key);

/* Number of records of a kind. */
size_t registry_count(const struct registry *registry, enum registry_kind kind);
/* Begins a walk over all records of a kind, in the order of their first put (index -1, key unused).
 * Or over the records that agree with key in the members of an index. NULL: no more records. During
 * a walk only the present record may be dropped, after registry_next() has returned its
 * successor. */
const void *registry_first(const struct registry *registry, enum registry_kind kind, int index,
			   const void *key);
/* The next record of a walk that registry_first() began; NULL at the end. */
const void *registry_next(const struct registry *registry, enum registry_kind kind, int index,
			  const void *record);

/* A walk over many turns. Records may be put and dropped between its steps. It returns each
 * record that exists all the time once, in its latest version. */
struct registry_cursor {
	struct list link;
	const struct registry *registry;
	enum registry_kind kind;
	int index;
	const void *next;
};

/* Begins a walk that may take many turns, as registry_first(), but returns no record yet. cursor
 * must stay in place until registry_walk_end(); the registry may be freed before. */
void registry_walk(struct registry *registry, enum registry_kind kind, int index, const void *key,
		   struct registry_cursor *cursor);
/* The next record of the walk; NULL at the end. */
const void *registry_walk_next(struct registry_cursor *cursor);
/* Ends a walk; harmless after its end. */
void registry_walk_end(struct registry_cursor *cursor);

/* Takes a reference: the record then outlives its place in the registry. */
const void *registry_ref(const void *record);
/* Returns a reference of registry_ref(). */
void registry_unref(const void *record);

struct registry_change {
	uint64_t number; /* 1, 2, ... */
	enum registry_kind kind;
	const void *before, *after; /* NULL: it did not exist before, or not after */
};

/* Called inside of put and drop. It must not change the registry. */
struct registry_reader {
	struct list link;
	/* One of them may be NULL. */
	void (*changed)(void *ctx, const struct registry_change *change);
	void (*whole)(void *ctx); /* see registry_together() */
	void *ctx;
};

/* Calls the reader for each change from now on; reader must stay in place until
 * registry_unread(). */
void registry_read(struct registry *registry, struct registry_reader *reader);
/* Ends registry_read(); harmless for a reader that does not read. */
void registry_unread(struct registry_reader *reader);

/* The number of the last change, 0 before the first. */
uint64_t registry_number(const struct registry *registry);

/* The parts of weftd that make changes durable. */
enum registry_keeper { KEPT_BY_STORE, KEPT_BY_STANDBY, REGISTRY_KEEPERS };
/* Sets whether this part makes changes durable. A change is durable when all such parts have it;
 * without any, at once. A part that begins counts as having all earlier changes. */
void registry_keep(struct registry *registry, enum registry_keeper keeper, bool keeps);
/* This part has all changes up to number: calls the waiters whose changes are durable now. */
void registry_kept(struct registry *registry, enum registry_keeper keeper, uint64_t number);
/* Whether this part makes changes durable. */
bool registry_keeps(const struct registry *registry, enum registry_keeper keeper);
/* Whether all changes up to number are durable. */
bool registry_durable(const struct registry *registry, uint64_t number);

/* Between true and false all changes form one unit, over many turns of the loop. The store and the
 * standbys apply the unit whole or not at all. At the end whole() of each reader is called. */
void registry_together(struct registry *registry, bool together);
/* Whether such a unit of changes is open. */
bool registry_is_together(const struct registry *registry);

/* While true, the registry copies the registry of another manager, and no other code changes it:
 * reactions to a change are the duty of that manager. */
void registry_follow(struct registry *registry, bool follows);
/* Whether the registry copies another manager's. */
bool registry_follows(const struct registry *registry);

/* Embedded in the struct of the caller. */
struct registry_waiter {
	struct list link;
	uint64_t number;
	void (*durable)(void *ctx);
	void *ctx;
};

/* Calls durable once, when all present changes are durable; at once if they are already. */
void registry_wait(struct registry *registry, struct registry_waiter *waiter);
/* Ends registry_wait(); harmless for a waiter that does not wait. */
void registry_wait_cancel(struct registry_waiter *waiter);

#endif

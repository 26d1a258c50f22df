/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The partitions in force: those of the file (formats/partitions.h) and those added at run time
 * (the registry), and the P_Keys of each port that follow.
 *   - Commands add partitions and members at run time. If both the file and a command name a port
 *     in a partition, the command counts.
 *   - If both define a partition, as a later file may, its name and the groups in both are those
 *     of the file. Other changes of run time stay, and count alone when the file is removed.
 *   - No file: all ports are full members of the default partition, until a command defines that
 *     partition. With a file or such a definition, a port that it does not name is a limited
 *     member, and the manager's port a full member.
 *   - A file that is bad at the start, or missing although the registry names a file that was in
 *     force: the text of the last good file stays in force. The registry has it
 *     (sm/partition/kept.h). A configuration without a file ends that. A file that is bad later
 *     changes nothing.
 *   - A file that takes P_Keys from more than partition_confirm_ports ports needs a confirmation
 *     (sm/partition/losses.h). Without it, a reload changes nothing. At a start the last good file
 *     stays in force.
 *   - Frozen: the registry has no such text either, or the store has lost records
 *     (store/partition_state.h). Then the members of partitions are not known. Ports that are up
 *     keep their P_Keys. Other ports become limited members of the default partition, and get
 *     P_Keys that they are known to have held (sm/partition/held.h). No group is made or ended. A
 *     good file, a restored document or policy_accept() ends this state.
 *   - The manager's own port always is a full member of the default partition.
 * Partitions name port GUIDs and alias GUIDs. A granted alias counts for its port (store/alias.h).
 * Other aliases do not count, because any host may register any of them; OpenSM looks up port
 * GUIDs alone (osm_prtn.c, osm_prtn_add_port()). An absent port gets its P_Keys when it appears.
 *
 * Made and owned by sm.c. pkeys.c queries the P_Keys of ports, and is notified of ports to look
 * at. Loop thread only.
 */
#ifndef SM_PARTITION_PARTITIONS_H
#define SM_PARTITION_PARTITIONS_H

#include "fabric/event.h"
#include "fabric/fabric.h"
#include "formats/partitions.h"
#include "lib/loop.h"
#include "lib/map.h"
#include "lib/slices.h"
#include "sm/options.h"
#include "sm/partition/kept.h"
#include "store/registry.h"

enum partition_source {
	PARTITIONS_NO_FILE,
	PARTITIONS_FILE,
	PARTITIONS_BAD_FILE, /* given: the file was bad when the daemon started */
	/* Given: the file was good when the daemon started, but takes P_Keys from many ports. */
	PARTITIONS_UNCONFIRMED,
	PARTITIONS_UNWANTED,  /* given: the configuration names no file; as NO_FILE, but intended */
	PARTITIONS_KEPT_FILE, /* follows: the last good file, from the registry, is in force */
	PARTITIONS_LOST_FILE, /* follows: the same, but the registry has no text of it */
};

/* A rule of the file about one GUID, or a range. */
struct policy_rule {
	guid_t guid; /* 0: all ports, ports of a kind, or a range */
	uint32_t partition, number;
};

/* A file with the index by GUID. Immutable. */
struct policy_file {
	struct partitions *partitions; /* never NULL */
	uint16_t *by_key;	       /* place among them, from 1; 0: none */
	struct policy_rule *exact;     /* sorted by GUID, partition, number */
	struct policy_rule *wide;      /* sorted by partition, number */
	size_t num_exact, num_wide;
};

/* The P_Keys that this port should have may have changed. */
typedef void policy_port_fn(void *ctx, struct port *port);

struct policy {
	struct loop *loop;
	struct registry *registry;
	struct registry_reader reader;
	struct event_hub *events;
	struct fabric *fabric;
	policy_port_fn *pkeys_changed;
	void *pkeys_ctx;
	const struct sm_options *options;
	struct policy_file *file;
	uint64_t digest;		     /* of its text */
	enum partition_source given, source; /* of policy_set_file(); the resulting source */
	char *problem;			     /* the fault of the given file; or NULL */
	char *kept_mark;		/* mark of the kept text in force, or last tried; or NULL */
	char kept_when[KEPT_WHEN_SIZE]; /* its date */
	bool frozen;
	struct map held; /* held.h, while it is frozen */
	/* A file that waits until it is durable in the registry. */
	struct partitions *next;
	struct registry_waiter keeping;
	uint64_t state;	    /* rises with each change that may concern all ports; from 1 */
	bool live;	    /* this manager is MASTER, and has begun to program the fabric */
	struct slices walk; /* over all ports, after such a change */
	struct registry_cursor cursor;
	bool walking;
	/* The result of one query; see policy_keys(). */
	uint8_t *memberships; /* by partition */
	pkey_t *touched, *keys;
	unsigned num_touched, keys_room;
	/* Called when groups of partitions may have changed; see policy_groups(). */
	void (*groups_changed)(void *ctx);
	void *groups_ctx;
	/* The ports that changes of the registry concern, until the next turn. */
	struct loop_deferred turn;
	guid_t *noted; /* port GUIDs */
	unsigned num_noted, noted_room;
	bool all_noted, groups_noted;
	bool unlike; /* policy_is_unlike() at the last log line */
	bool closed; /* policy_is_closed() at the last check */
	/* Called, deferred, when the P_Keys of a port are written, or cannot be. */
	struct loop_deferred settled;
	bool news; /* tables were written since the last view that shows them */
};

/* The keys that a port should have: the key of the default partition first, the others by
 * number. */
struct port_keys {
	const pkey_t *key; /* valid until the next query */
	unsigned count;
	pkey_t index0; /* the partition of the first entry; 0: none */
};

/* Everything but loop is borrowed and must outlive it. pkeys_changed is called for each port
 * whose P_Keys should change. */
void policy_init(struct policy *policy, struct loop *loop, struct registry *registry,
		 struct event_hub *events, struct fabric *fabric, policy_port_fn *pkeys_changed,
		 void *pkeys_ctx, const struct sm_options *options);
/* Frees everything; the registry keeps its records. */
void policy_done(struct policy *policy);

/* Takes over partitions, which are NULL unless source is PARTITIONS_FILE. A MASTER's file takes
 * effect when its text is durable. False: nothing changes. */
bool policy_set_file(struct policy *policy, enum partition_source source,
		     struct partitions *partitions);
/* Whether this manager follows a master whose partition file differs. */
bool policy_is_unlike(const struct policy *policy);
/* The path of the file that was in force before, if there is none now, until that change is in
 * force. NULL: none. */
const char *policy_former_file(const struct policy *policy);
/* Sets the fault of the file that is passed to policy_set_file() next, "file:line: reason"; NULL:
 * none. */
void policy_set_problem(struct policy *policy, const char *problem);
/* Whether this manager follows a master, and this file is in force there. */
bool policy_is_masters_file(const struct policy *policy, const struct partitions *partitions);
/* Puts the file of a new MASTER into the registry, before the first write to a device. True: the
 * registry has changed, so wait until the change is durable. */
bool policy_keep_file(struct policy *policy);
/* The problem that an administrator must solve, with its remedy, for free(); NULL: none. */
char *policy_problem(const struct policy *policy);
/* The same without its remedy, which *remedy gets: static text. */
char *policy_problem_alone(const struct policy *policy, const char **remedy);
/* Whether the partitions are lost or unread, so that the P_Keys of ports are not known. */
bool policy_is_frozen(const struct policy *policy);
/* Why records may be missing; NULL: none is missing. */
const char *policy_loss(const struct policy *policy);
/* Puts the records that remain after a loss in force: the loss is over. */
void policy_accept(struct policy *policy);
/* While frozen: the P_Key table of this port has been read, and is kept for it. within: the table
 * of its switch port, if that enforces partitions; or NULL. */
void policy_hold(struct policy *policy, const struct port *port, const struct pkey_list *within);
/* Options may have changed: judges all ports again. */
void policy_options_changed(struct policy *policy);
/* Whether this manager may write P_Keys, because it is MASTER and programs the fabric. */
void policy_set_live(struct policy *policy, bool live);

/* The P_Keys that an end port with this GUID should have; type: enum node_type; self: it is the
 * local port. */
struct port_keys policy_keys(struct policy *policy, const struct policy_file *file,
			     guid_t port_guid, uint8_t type, bool self);
/* The P_Keys that a port in the fabric should have; valid until the next such query. */
struct port_keys policy_port_keys(struct policy *policy, const struct port *port);
/* The same for the GUID of a port that may be absent. */
struct port_keys policy_guid_keys(struct policy *policy, guid_t guid);
/* Whether the partitions give the end port with this GUID a P_Key of this partition, its aliases
 * not counted. */
bool policy_is_own_member(struct policy *policy, guid_t guid, pkey_t p_key);
/* Whether two ports can communicate in the default partition: at least one must be a full member. A
 * member can always communicate with itself. GUIDs of granted aliases count as their ports. */
bool policy_share_default(struct policy *policy, guid_t one, guid_t other);
/* Whether the port should have a P_Key of this partition. True for all ports while a document is
 * half applied, because the ports are judged after it. */
bool policy_wants(struct policy *policy, guid_t guid, pkey_t p_key);
/* The present port with this GUID, its own or a granted alias; NULL: none. */
struct port *policy_port(const struct policy *policy, guid_t guid);
/* The port GUID for a granted alias; any other GUID unchanged. */
guid_t policy_owner(const struct policy *policy, guid_t guid);
/* Whether the file, alone or in a range, or a command names this GUID. */
bool policy_names(const struct policy *policy, guid_t guid);

/* Whether some ports may not reach others, so that switches must enforce partitions. */
bool policy_is_closed(const struct policy *policy);
/* The partition in the file in force; NULL: none. */
const struct partition *policy_in_file(const struct policy *policy, pkey_t p_key);
/* The partition that a command added; NULL: none. */
const struct partition_entry *policy_at_run_time(const struct policy *policy, pkey_t p_key);
/* The membership that a command added; NULL: none. */
const struct partition_member_entry *policy_member(const struct policy *policy, pkey_t p_key,
						   guid_t guid);

/* The multicast groups that partitions need, without MLID and life time. The caller frees *out. */
size_t policy_groups(const struct policy *policy, struct group_entry **out);
/* Whether a partition of run time needs a broadcast group, and the SA has no MLID for it. Valid
 * one turn after a change. */
bool policy_lacks_group(const struct policy *policy, pkey_t p_key);

/* Prepares a file before it is in force. Takes over partitions. */
struct policy_file *policy_file_new(struct partitions *partitions);
/* NULL is harmless. */
void policy_file_free(struct policy_file *file);

/* Whether ports are still to be judged after a change. */
bool policy_is_judging(const struct policy *policy);
/* pkeys.c: all P_Keys at the cable of an end port are written, or cannot be. */
void policy_port_settled(struct policy *policy);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the files of the partition commands: partition.c lists and shows, partition_change.c
 * changes, partition_arguments.c reads the arguments, partition_check.c checks a file. Private to
 * these. Loop thread only.
 */
#ifndef SM_CONTROL_PARTITION_H
#define SM_CONTROL_PARTITION_H

#include "sm/control/commands.h"
#include "sm/control/port_names.h"

enum { PARTITION_ROWS_MAX = 1000 }; /* rows of ports in an answer to a change */

/* partition_arguments.c. Each returns false after it has ended the request with an error. */

/* The member "p_key" of a request: a P_Key, of a partition or not. */
bool p_key_argument(struct control_request *request, const json_t *args, pkey_t *out);
/* The same for a partition that exists: its P_Key or its name. */
bool partition_argument(const struct sm *sm, struct control_request *request, const json_t *args,
			pkey_t *out);
/* Whether the request names, by its P_Key, a partition that does not exist; then *out is set. */
bool partition_is_absent(const struct sm *sm, const json_t *args, pkey_t *out);
/* Sets the members of entry for which the request has an option. */
bool partition_options_argument(struct control_request *request, const json_t *args,
				struct partition_entry *entry);
/* Copies the member "name" of a request, if there is one, into entry. */
bool partition_name_argument(const struct sm *sm, struct control_request *request,
			     const json_t *args, struct partition_entry *entry);
/* Whether another partition has this name; then *other is its P_Key. */
bool partition_name_is_taken(const struct sm *sm, const char *name, pkey_t p_key, pkey_t *other);
/* The options of a new partition. */
struct partition_entry partition_entry_presets(pkey_t p_key);
/* Whether two entries of one P_Key have the same name and options. */
bool partition_entry_is_same(const struct partition_entry *a, const struct partition_entry *b);

/* The members "members" and "guids" of a request: a text, or an array of texts, of port_names.h. A
 * port without a membership in its text has the membership that the flags of the request say. Each
 * port is there once, with its last membership. Returns an array for free(), or NULL. */
struct named_port *members_argument(const struct sm *sm, struct control_request *request,
				    const json_t *args, size_t *count);

/* partition.c */

/* A walk through all partitions: the default partition, those of the file, those of commands. It
 * may continue in later turns of the loop. */
struct partition_walk {
	struct registry_cursor cursor;
	uint32_t in_file;
	bool past_default;
};
void partition_walk_begin(const struct sm *sm, struct partition_walk *walk);
/* Returns false if there are no more. */
bool partition_walk_next(const struct sm *sm, struct partition_walk *walk, pkey_t *p_key);
void partition_walk_end(struct partition_walk *walk);

/* The row of a port or alias in a partition. */
void partition_port_row(struct sm *sm, guid_t guid, pkey_t p_key, struct buffer *out);
/* Its membership; enum membership. */
uint8_t partition_membership_in(struct port_keys keys, pkey_t p_key);
/* Its name: that of the file, then that of a command; borrowed until either changes. */
const char *partition_name(const struct sm *sm, pkey_t p_key);
/* Such as "acknowledged"; port NULL: "absent". Static text. */
const char *partition_status_name(const struct sm *sm, struct port *port, pkey_t p_key);
/* The GUIDs of the members that commands added, for free(). */
guid_t *partition_run_time_members(const struct sm *sm, pkey_t p_key, size_t *count);

/* partition_effect.c */

/* A change that a command would make. */
struct partition_change {
	pkey_t p_key;
	bool redefines;	 /* a command defines the partition, or its definition is removed */
	bool is_defined; /* whether a command defines it afterwards */
	/* The members that are added or changed, and those that are removed: MEMBERSHIP_NONE. */
	const struct named_port *ports;
	size_t count;
};

/* What the change takes from the ports that are present. */
struct partition_effect {
	uint64_t ports; /* that lose their membership, or full membership */
	uint64_t pairs; /* of ports that may exchange packets in the partition, fewer than before */
	uint64_t cut_off; /* limited members that remain without a full member */
};
struct partition_effect partition_effect(struct sm *sm, const struct partition_change *change);

/* partition_change.c: the handlers. */
void command_partition_add(void *ctx, struct control_request *request, const json_t *args);
void command_partition_remove(void *ctx, struct control_request *request, const json_t *args);
void command_partition_set(void *ctx, struct control_request *request, const json_t *args);
void command_partition_rename(void *ctx, struct control_request *request, const json_t *args);
void command_member_add(void *ctx, struct control_request *request, const json_t *args);
void command_member_remove(void *ctx, struct control_request *request, const json_t *args);
/* partition_apply.c */
void command_partition_apply(void *ctx, struct control_request *request, const json_t *args);
void command_partition_accept(void *ctx, struct control_request *request, const json_t *args);

#endif

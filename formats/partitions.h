/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Partition files: OpenSM's partitions.conf in full, and ranges of GUIDs. Text in, rules out;
 * nobody here knows a fabric. A file is taken whole or not at all: a slip of the pen that is passed
 * over, or for which everybody is let into the default partition, opens a fabric that was to be
 * closed. Who may be where follows from rules in the order of the file: of two that name a port the
 * later one holds. Pure functions, any thread.
 */
#ifndef FORMATS_PARTITIONS_H
#define FORMATS_PARTITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/iba.h"

/* Bits: a port may be both, with two entries in its P_Key table. */
enum membership {
	MEMBERSHIP_NONE = 0,
	MEMBERSHIP_LIMITED = 1,
	MEMBERSHIP_FULL = 2,
	MEMBERSHIP_BOTH = MEMBERSHIP_LIMITED | MEMBERSHIP_FULL,
};

/* Whom a rule names. */
enum partition_who {
	WHO_GUIDS, /* first .. last */
	WHO_ALL,
	WHO_ADAPTERS,
	WHO_SWITCHES,
	WHO_ROUTERS,
	WHO_SELF, /* the port of the subnet manager */
};

struct partition_rule {
	uint8_t who;	    /* enum partition_who */
	uint8_t membership; /* enum membership */
	guid_t first, last; /* port GUIDs */
};

/* A multicast group that is there whether or not somebody joins; the encodings are
 * MCMemberRecord's. */
struct partition_group {
	uint8_t mgid[GID_SIZE];
	uint8_t mtu, rate, sl, tclass;
	uint32_t q_key, flow_label;
	unsigned line;
};

enum { PARTITION_NAME_SIZE = 64 };

struct partition {
	pkey_t p_key; /* 15 bits */
	char name[PARTITION_NAME_SIZE];
	bool index0;   /* its P_Key stands first in the tables of its members */
	bool ipoib;    /* the first group is the one that IPoIB broadcasts to */
	unsigned line; /* of its (first) definition */
	struct partition_rule *rules;
	uint32_t num_rules;
	struct partition_group *groups;
	uint32_t num_groups;
};

struct partitions {
	struct partition *partitions; /* in the order of the file; P_Keys are unique */
	uint32_t count;
	char *name;  /* of the file */
	char *notes; /* lines "name:line: ..." about what is taken otherwise than it is written;
			NULL: none */
	char *text;  /* of the file, without a 0 in it; NULL: they are of no file */
	size_t length;
};

/* allow_both: "both" may be used. 0: *out is the caller's, for partitions_free(). -EINVAL: *error
 * is "name:line: reason", for free(). */
int partitions_parse(const char *name, const char *text, size_t length, bool allow_both,
		     struct partitions **out, char **error);
void partitions_free(struct partitions *partitions); /* NULL is harmless */

/* One P_Key as people type it: 0x0001 to 0xfffe, whose membership bit does not count, with 0x or
 * decimal; no leading zeros without 0x, for some would read these as octal. 0xffff is refused: who
 * means the default partition says 0x7fff. *out has 15 bits. */
bool partition_key_parse(const char *text, pkey_t *out);

/* Which partitions are made, changed and gone when after holds instead of before, as in "1 made
 * (0x0005), 2 changed (0x0006, 0x7fff)": the caller's, for free(). NULL: none. Either may be NULL,
 * which is a file that defines none. */
char *partitions_changes(const struct partitions *before, const struct partitions *after);
/* Of what it says: the same where there are no changes. NULL, no file: 0, unlike an empty one. */
uint64_t partitions_digest(const struct partitions *partitions);

/* What the rules make of an end port. type: enum node_type of its node; self: the subnet manager is
 * on it. allow_both: what several rules say adds up instead of the last one holding. */
enum membership partition_membership(const struct partition *partition, guid_t port_guid,
				     uint8_t type, bool self, bool allow_both);

/* The MGID of a partition's IPv4 broadcast group, link-local scope. */
void ipoib_broadcast_mgid(pkey_t p_key, uint8_t mgid[GID_SIZE]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Partition files: OpenSM's partitions.conf in full, and ranges of GUIDs. Text in, rules out; no
 * knowledge of a fabric. A file is accepted whole or not at all. If a mistyped line were ignored,
 * or admitted all ports to the default partition, a fabric that should be closed would be open.
 * Membership follows from rules in the order of the file: of two rules for a port the later rule
 * applies. Pure functions, any thread.
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

/* The ports of a rule. */
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

/* A multicast group that exists without members, too; the encodings are MCMemberRecord's. */
struct partition_group {
	uint8_t mgid[GID_SIZE];
	uint8_t mtu, rate, sl, tclass;
	uint32_t q_key, flow_label;
	unsigned line;
};

enum { PARTITION_NAME_SIZE = 64, PARTITION_ERRORS_MAX = 20 };

struct partition {
	pkey_t p_key; /* 15 bits */
	char name[PARTITION_NAME_SIZE];
	bool index0;   /* its P_Key is at index 0 in the tables of its members */
	bool ipoib;    /* the first group is the IPoIB broadcast group */
	unsigned line; /* of its (first) definition */
	struct partition_rule *rules;
	uint32_t num_rules;
	struct partition_group *groups;
	uint32_t num_groups;
};

struct partitions {
	struct partition *partitions; /* in the order of the file; P_Keys are unique */
	uint32_t count;
	char *name; /* of the file */
	/* Lines "name:line: ..." about items that are interpreted differently; NULL: none. */
	char *notes;
	char *text; /* the file, without a byte of value 0; NULL: not from a file */
	size_t length;
};

/* allow_both: "both" is allowed. Returns 0: the caller frees *out with partitions_free(). -EINVAL:
 * *error is "name:line: reason", for free(). */
int partitions_parse(const char *name, const char *text, size_t length, bool allow_both,
		     struct partitions **out, char **error);
/* The same, but after an error it continues with the next definition: *error has a line for each,
 * and beyond PARTITION_ERRORS_MAX their number. */
int partitions_parse_all(const char *name, const char *text, size_t length, bool allow_both,
			 struct partitions **out, char **error);
void partitions_free(struct partitions *partitions); /* NULL is harmless */

/* Parses a P_Key of a command: 0x0001 to 0xfffe, without regard to the membership bit, with 0x or
 * decimal. Leading zeros without 0x are refused, because they could be read as octal. 0xffff is
 * refused: the default partition is 0x7fff. *out has 15 bits. */
bool partition_key_parse(const char *text, pkey_t *out);

/* The partitions that after creates, changes and removes compared with before, as in "1 made
 * (0x0005), 2 changed (0x0006, 0x7fff)"; for free(). NULL: no changes. Either may be NULL: no
 * partitions. */
char *partitions_changes(const struct partitions *before, const struct partitions *after);
/* A digest of the contents: equal if there are no changes. NULL: 0, unlike an empty file. */
uint64_t partitions_digest(const struct partitions *partitions);

/* The membership of an end port. type: enum node_type of its node; self: the subnet manager uses
 * it. allow_both: memberships of several rules are combined; otherwise the last rule applies. */
enum membership partition_membership(const struct partition *partition, guid_t port_guid,
				     uint8_t type, bool self, bool allow_both);

/* The MGID of a partition's IPv4 broadcast group, link-local scope. */
void ipoib_broadcast_mgid(pkey_t p_key, uint8_t mgid[GID_SIZE]);

#endif

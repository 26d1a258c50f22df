/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which records a master sends to a standby, and which a standby accepts. This depends on how the
 * two managers know each other. Both ends apply these rules: a standby does not rely on its master.
 * Used by ha/lead.c and ha/follow.c. Pure functions.
 */
#ifndef HA_COPIES_H
#define HA_COPIES_H

#include "store/registry.h"

/* If two managers have different settings, the higher value counts. The values are sent in
 * HELLO. */
enum ha_copies {
	COPY_ALL,	    /* both have proved a key of ha_psk_file */
	COPY_NO_SECRETS,    /* both ports are in allowed_sm_guids */
	COPY_REGISTRATIONS, /* otherwise: records that the port may read from the SA */
	HA_COPIES,	    /* one more than the highest */
};

/* The most records that a standby accepts from a manager that has proved no key. */
enum { COPY_RECORDS_MAX = 500000 };
/* The most tables that it accepts from such a manager, each of another switch. */
enum { COPY_TABLES_MAX = 8192 };
/* The most that its clock of leases may be ahead of the wall clock: a later clock ends leases. The
 * clock of leases stands still while no manager runs, so it may be far behind. */
enum { COPY_CLOCK_MAX_S = 86400 };

/* "all", "no secrets", "registrations". */
const char *copies_name(enum ha_copies copies);
/* Whether records of this kind are copied at all. */
bool copies_kind(enum ha_copies copies, enum registry_kind kind);
/* Whether forwarding tables are copied. */
bool copies_tables(enum ha_copies copies);
/* The most records of this kind that a standby accepts; each drained port costs a new MASTER a
 * search of the fabric. */
size_t copies_most(enum ha_copies copies, enum registry_kind kind);
/* Whether a record may be sent or accepted. registry has the groups of members. sa_public: the
 * sa_key is the default, so any client may read the members of groups and the subscriptions. */
bool copies_record(enum ha_copies copies, const struct registry *registry, enum registry_kind kind,
		   const void *record, bool sa_public);
/* The port to which a record of COPY_REGISTRATIONS belongs; 0: none. */
guid_t copies_subject(enum registry_kind kind, const void *record);
/* Whether the standby itself owns the record with this key: a master that copies only registrations
 * does not send such a record, and must not change it. registry: of the standby. */
bool copies_own(enum ha_copies copies, const struct registry *registry, enum registry_kind kind,
		const void *record, bool sa_public);
/* Another group of the registry with the MLID of this group, although the two cannot share one;
 * NULL: there is none. All other groups with one MLID share it. Borrowed. */
const struct group_entry *copies_rival(const struct registry *registry,
				       const struct group_entry *group);
/* Whether a standby may accept this clock of leases from a master without a key. */
bool copies_clock_fits(const struct setting_entry *clock, uint64_t wall_s);
/* The record without secrets: either record itself, or *copy. */
union copied_record {
	struct service_entry service;
};
const void *copies_blank(enum ha_copies copies, enum registry_kind kind, const void *record,
			 union copied_record *copy);
/* The kinds, as bits, that a full copy does not replace at the standby. See also copies_own(). */
uint64_t copies_spared(enum ha_copies copies);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which records a master sends to a standby, and which a standby accepts. This depends on how the
 * two managers know each other. Both ends have these rules: a standby does not rely on its master
 * to keep them. Used by ha/lead.c and ha/follow.c. Pure functions.
 */
#ifndef HA_COPIES_H
#define HA_COPIES_H

#include "store/registry.h"

/* Of two managers with different settings, the higher value counts. The values are sent. */
enum ha_copies {
	COPY_ALL,	    /* both have proved a key of ha_psk_file */
	COPY_NO_SECRETS,    /* both ports are in allowed_sm_guids */
	COPY_REGISTRATIONS, /* otherwise: what the port may read from the SA */
	HA_COPIES,	    /* one more than the highest */
};

/* At most this number of records, if the other manager has proved no key. */
enum { COPY_RECORDS_MAX = 500000 };
/* And a clock of leases that is ahead of the wall clock by this at most: a later clock ends leases.
 * While no manager runs, the clock of leases stands still, so it may be far behind. */
enum { COPY_CLOCK_MAX_S = 86400 };

/* "all", "no secrets", "registrations". */
const char *copies_name(enum ha_copies copies);
/* Whether records of this kind are copied at all. */
bool copies_kind(enum ha_copies copies, enum registry_kind kind);
/* Whether forwarding tables are copied. */
bool copies_tables(enum ha_copies copies);
/* Whether a record may be sent or accepted. registry has the groups of members. sa_public: the
 * sa_key is the default, so any client may read the members of groups and the subscriptions. */
bool copies_record(enum ha_copies copies, const struct registry *registry, enum registry_kind kind,
		   const void *record, bool sa_public);
/* The port that a record of COPY_REGISTRATIONS is about; 0: none. */
guid_t copies_subject(enum registry_kind kind, const void *record);
/* Whether the place of a record, which its key names, is the standby's own: a master that copies
 * only registrations does not fill it, and must not change it. registry: of the standby. */
bool copies_own(enum ha_copies copies, const struct registry *registry, enum registry_kind kind,
		const void *record, bool sa_public);
/* A group of the registry that is the standby's own, but has the MLID of this group, although the
 * two cannot share one; NULL: there is none. Borrowed. */
const struct group_entry *copies_rival(const struct registry *registry,
				       const struct group_entry *group);
/* Whether the clock of leases that a master without a key sends is possible. */
bool copies_clock_fits(const struct setting_entry *clock, uint64_t wall_s);
/* The record without secrets: either record itself, or *copy, which has the same lifetime as the
 * caller's variable. */
union copied_record {
	struct service_entry service;
};
const void *copies_blank(enum ha_copies copies, enum registry_kind kind, const void *record,
			 union copied_record *copy);
/* The kinds that a full copy does not replace at the standby, as bits. See also copies_own(). */
uint64_t copies_spared(enum ha_copies copies);

#endif

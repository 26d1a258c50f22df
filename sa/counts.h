/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the SA has to know of the registry as a number, so that no request looks through thousands
 * of records: counted from the registry's changes, whatever makes them. Made by sa.c; loop thread
 * only.
 */
#ifndef SA_COUNTS_H
#define SA_COUNTS_H

#include "store/registry.h"

enum count {
	/* By PortGUID, so that no port can fill the registry: memberships, services, subscriptions
	 * and alias GUIDs together. What a port registers for another port counts for the port that
	 * asks. */
	COUNT_REGISTRATIONS,
	/* By PortGUID, so that no port can fill the switches' multicast tables: the groups that it
	 * made and in which it has registered a membership. */
	COUNT_GROUPS_MADE,
	/* By MGID: all members, and those that keep the group (JOIN_KEEPS_GROUP). */
	COUNT_MEMBERS,
	COUNT_FULL_MEMBERS,
};

struct counts;
struct mlids;

/* Counts what is there already. snm_pool: as for mlids_new(). */
struct counts *counts_new(struct registry *registry, unsigned snm_pool);
void counts_free(struct counts *counts);

/* key: the GUID, or the MGID. */
uint32_t counts_of(const struct counts *counts, enum count what, const void *key);
/* The MLIDs in use by the groups. They end with the counts. */
struct mlids *counts_mlids(const struct counts *counts);

#endif

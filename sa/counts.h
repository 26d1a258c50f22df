/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Counts of registry records, so that no request has to search thousands of records. They follow
 * every change of the registry. Made by sa.c; loop thread only.
 */
#ifndef SA_COUNTS_H
#define SA_COUNTS_H

#include "store/registry.h"

enum count {
	/* By PortGUID, so that no port can fill the registry: memberships, services,
	 * subscriptions and alias GUIDs together. A registration for another port counts for the
	 * requester. */
	COUNT_REGISTRATIONS,
	/* By PortGUID, so that no port can fill the switches' multicast tables: the groups that
	 * it made and in which it has registered a membership. */
	COUNT_GROUPS_MADE,
	/* By MGID: all members, and those that keep the group (JOIN_KEEPS_GROUP). */
	COUNT_MEMBERS,
	COUNT_FULL_MEMBERS,
};

struct counts;
struct mlids;

/* Counts the records that are in the registry already. snm_pool: as for mlids_new(). */
struct counts *counts_new(struct registry *registry, unsigned snm_pool);
/* Also frees the MLIDs. */
void counts_free(struct counts *counts);

/* Returns the count for key, a GUID or an MGID. */
uint32_t counts_of(const struct counts *counts, enum count what, const void *key);
/* The MLIDs that the groups use; freed with the counts. */
struct mlids *counts_mlids(const struct counts *counts);

#endif

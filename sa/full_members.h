/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How many members keep each multicast group (JOIN_KEEPS_GROUP), counted from the registry's
 * changes: when one of thousands leaves, the others need not be looked through for another who
 * keeps it. Part of groups.c; loop thread only.
 */
#ifndef SA_FULL_MEMBERS_H
#define SA_FULL_MEMBERS_H

#include "store/registry.h"

struct full_members;

struct full_members *full_members_new(struct registry *registry); /* which outlives it */
void full_members_free(struct full_members *full_members);	  /* NULL is harmless */
uint32_t full_members_of(const struct full_members *full_members, const uint8_t mgid[GID_SIZE]);

#endif

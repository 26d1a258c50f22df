/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The multicast LIDs in use by the groups of the registry. A new group gets the lowest free MLID,
 * which keeps the tables of switches short and depends only on the existing groups. sa/counts.c
 * reports the groups.
 *
 * Each IPv6 address of a host has its own solicited-node group, ff12:601b:P_Key::1:ffXX:XXXX with
 * the last 24 bits of the address. So a large fabric has more such groups than switches have table
 * entries. They share MLIDs: within a partition and scope, all groups whose 24 bits have the same
 * remainder, modulo ipv6_snm_mlids, have the same MLID. A host may then receive packets of other
 * groups, which it drops by the MGID. Loop thread only.
 */
#ifndef SA_MLIDS_H
#define SA_MLIDS_H

#include "store/registry.h"

struct mlids;

/* pool: the number of remainders; 0: solicited-node groups do not share. No MLID is in use at
 * first. */
struct mlids *mlids_new(struct registry *registry, unsigned pool);
void mlids_free(struct mlids *mlids);
void mlids_set_pool(struct mlids *mlids, unsigned pool); /* for new groups */

/* Counts a group that was added (more) or removed. */
void mlids_count(struct mlids *mlids, const struct group_entry *group, bool more);

/* The number of MLIDs in use. */
unsigned mlids_used(const struct mlids *mlids);

/* Chooses the MLID for a new group, not above max: wanted if it is free, or the shared one, or
 * the lowest free one. LID_NONE if it shares none and at most keep MLIDs are free. The MLID is
 * in use when the group is in the registry. */
lid_t mlids_choose(struct mlids *mlids, const uint8_t mgid[GID_SIZE], lid_t wanted, lid_t max,
		   unsigned keep);

#endif

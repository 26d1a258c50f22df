/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which multicast LIDs are in use by the groups of the registry, whatever made a group (sa/counts.h
 * counts them). The lowest free one is given, which keeps
 * the switches' tables short and does not depend on anything but the groups that there are.
 *
 * Each IPv6 address of a host joins a solicited-node group of its own (ff12:601b:P_Key::1:ffXX:XXXX
 * with the address's last 24 bits): a fabric of many hosts has more of them than switches have
 * table entries. They share MLIDs: within a partition and scope, groups whose bits leave the same
 * remainder have one together. A host may then receive what is for a group of a few others, which
 * it drops by the MGID. Loop thread only.
 */
#ifndef SA_MLIDS_H
#define SA_MLIDS_H

#include "store/registry.h"

struct mlids;

/* pool: how many remainders; 0: solicited-node groups do not share. None is in use yet. */
struct mlids *mlids_new(struct registry *registry, unsigned pool);
void mlids_free(struct mlids *mlids);
void mlids_set_pool(struct mlids *mlids, unsigned pool); /* for groups to come */

/* There is one more group, or one less. */
void mlids_count(struct mlids *mlids, const struct group_entry *group, bool more);

/* The MLID for a new group, none above max: what is wanted when it is free, that of the groups it
 * shares one with, else the lowest free. LID_NONE when no more than keep of them are free, and it
 * shares none. It is in use once the group is in the registry. */
lid_t mlids_choose(struct mlids *mlids, const uint8_t mgid[GID_SIZE], lid_t wanted, lid_t max,
		   unsigned keep);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The life of multicast groups in the registry: configured groups, MLIDs and MGIDs for new groups,
 * members that leave or whose port is gone, and the end of a group. multicast.c decides what a
 * request may do; sm/ reads the changes of the registry and writes the forwarding tables. Made by
 * sa.c; loop thread only.
 */
#ifndef SA_GROUPS_H
#define SA_GROUPS_H

#include "fabric/snapshot.h"
#include "lib/loop.h"
#include "store/registry.h"

struct groups;
struct sa_options;
struct counts;

/* registry and counts must outlive it; options are copied. */
struct groups *groups_new(struct loop *loop, struct registry *registry, const struct counts *counts,
			  const struct sa_options *options);
/* The groups in the registry stay. */
void groups_free(struct groups *groups);
/* Applies new options; they are copied. */
void groups_set_options(struct groups *groups, const struct sa_options *options);

/* Must be called with each new view. MLIDs that some switches cannot forward are not used, but
 * switches with very small tables (MULTICAST_ENTRIES_FEW) do not count. */
void groups_view(struct groups *groups, const struct snapshot *topology);
/* Sets the configured groups, without MLID and life time. They exist with or without members,
 * from the first view on. A group that is not configured any more ends when no member keeps it.
 * list is copied. */
void groups_configure(struct groups *groups, const struct group_entry *list, size_t count);
/* After the first view: makes the configured groups, and makes them again whenever one ends. */
void groups_begin(struct groups *groups);
/* Stops this, because another manager makes the groups now. */
void groups_end(struct groups *groups);

/* MLIDs that clients do not get, because they are kept for groups that are configured later: one
 * in MLIDS_KEPT_SHARE of those that switches can forward, at most MLIDS_KEPT_MAX. */
enum { MLIDS_KEPT_SHARE = 16, MLIDS_KEPT_MAX = 64 };

/* Which MLIDs a group may have. A port that has made many groups gets more only while half of
 * the MLIDs are free, so that a few ports cannot use all. */
enum group_rank {
	GROUP_OF_CLIENT,
	GROUP_BEYOND_SHARE, /* of a client whose port has made a quarter of groups_per_port */
	GROUP_KNOWN,	    /* configured, or existed before */
};

/* Chooses the MLID of a new group: wanted if possible. LID_NONE if none is left for this rank. */
lid_t groups_mlid(struct groups *groups, const uint8_t mgid[GID_SIZE], lid_t wanted,
		  enum group_rank rank);
/* Makes an MGID of the SA's own that no group has. */
void groups_make_mgid(struct groups *groups, uint8_t scope, uint8_t mgid[GID_SIZE]);

/* The group with this MGID; NULL if there is none. */
const struct group_entry *groups_find(const struct groups *groups, const uint8_t mgid[GID_SIZE]);
/* The membership of this port in the group; NULL if there is none. */
const struct member_entry *groups_member(const struct groups *groups, const uint8_t mgid[GID_SIZE],
					 uint64_t prefix, guid_t port_guid);

/* A port gets this part of groups_per_port even if MLIDs are scarce. */
enum { GROUPS_OWN_SHARE = 4 };

/* Stores the member, and the group, which may be new or unchanged. A group counts for the port
 * that made it as long as that port has registered a membership in it, its own or that of
 * another port. Then it counts for another port that keeps it and may get one more group; without
 * such a port it counts as before. So two ports cannot keep more groups than both may. */
void groups_join(struct groups *groups, const struct group_entry *group,
		 const struct member_entry *member);
/* Removes these bits from the member's JoinState. A member without any bit is dropped. A group
 * without a member that keeps it ends at once, and its other members soon after. member may be
 * the record of the registry, and may then be freed. Returns the rest of the JoinState. */
uint8_t groups_leave(struct groups *groups, const struct member_entry *member, uint8_t join_state);
/* Drops all memberships of the port. */
void groups_forget_port(struct groups *groups, guid_t port_guid);
/* Drops the memberships of the port in groups for whose P_Key may_stay() is false. */
void groups_leave_unless(struct groups *groups, guid_t port_guid,
			 bool (*may_stay)(const void *ctx, pkey_t p_key), const void *ctx);

#endif

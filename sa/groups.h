/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast groups as they live and end in the registry: those that are configured,
 * MLIDs and MGIDs for new ones, members that leave or whose port is gone, and the end of a group
 * with the last member that keeps it. What a request may do is judged in multicast.c. Forwarding
 * tables are nobody's business here: sm/ reads the registry's changes. Made by sa.c; loop thread
 * only.
 */
#ifndef SA_GROUPS_H
#define SA_GROUPS_H

#include "fabric/snapshot.h"
#include "lib/loop.h"
#include "store/registry.h"

struct groups;
struct sa_options;
struct counts;

/* registry and counts outlive it; options are copied. */
struct groups *groups_new(struct loop *loop, struct registry *registry, const struct counts *counts,
			  const struct sa_options *options);
void groups_free(struct groups *groups);
void groups_set_options(struct groups *groups, const struct sa_options *options);

/* To be told of each new view: MLIDs that switches cannot forward are not given, but for those
 * whose tables are tiny (MULTICAST_ENTRIES_FEW). */
void groups_view(struct groups *groups, const struct snapshot *topology);
/* The groups that are to be there whether or not somebody joins, without MLID and life time: made
 * now, or when the first view is there. Those that were configured before and are not any more end
 * when nobody keeps them. Copied. */
void groups_configure(struct groups *groups, const struct group_entry *list, size_t count);
/* After the first view: makes them, from then on whenever one is gone. */
void groups_begin(struct groups *groups);
/* Another manager makes groups now. */
void groups_end(struct groups *groups);

/* Of the MLIDs that switches can forward one in so many, at most so many, are kept for groups that
 * are configured later: clients get no MLID that would leave fewer of them. */
enum { MLIDS_KEPT_SHARE = 16, MLIDS_KEPT_MAX = 64 };

/* Which MLIDs a group may have. A port that has made many groups gets further ones only while half
 * of the MLIDs are free, so that few ports cannot take all. */
enum group_rank {
	GROUP_OF_CLIENT,
	GROUP_BEYOND_SHARE, /* of a client whose port has made a quarter of groups_per_port */
	GROUP_KNOWN,	    /* configured, or it was there before */
};

/* For a group that is about to be made. LID_NONE when no MLID is left for one of this rank. */
lid_t groups_mlid(struct groups *groups, const uint8_t mgid[GID_SIZE], lid_t wanted,
		  enum group_rank rank);
/* An MGID of the SA's own that no group has. */
void groups_make_mgid(struct groups *groups, uint8_t scope, uint8_t mgid[GID_SIZE]);

const struct group_entry *groups_find(const struct groups *groups, const uint8_t mgid[GID_SIZE]);
const struct member_entry *groups_member(const struct groups *groups, const uint8_t mgid[GID_SIZE],
					 uint64_t prefix, guid_t port_guid);

/* Puts the member, and the group, which may be new or as it is. A group counts for the port that
 * made it as long as that port has registered a membership in it, its own or another port's. */
void groups_join(struct groups *groups, const struct group_entry *group,
		 const struct member_entry *member);
/* Takes these bits from the member's JoinState, and what follows: a member without any is none, and
 * a group that nobody keeps is gone, and soon all others that are in it. member may be the
 * registry's own and is then gone. Returns what is left of the state. */
uint8_t groups_leave(struct groups *groups, const struct member_entry *member, uint8_t join_state);
/* Makes it leave all that it is in. */
void groups_forget_port(struct groups *groups, guid_t port_guid);
/* Makes it leave the groups whose P_Key says so. */
void groups_leave_unless(struct groups *groups, guid_t port_guid,
			 bool (*may_stay)(const void *ctx, pkey_t p_key), const void *ctx);

#endif

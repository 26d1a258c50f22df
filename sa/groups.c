/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The life of groups. Full members and send-only full members keep a group (o15-0.1.14 and the
 * erratum that added the latter, as in OpenSM's osm_multicast.c); a configured group is permanent.
 * Any other group ends at once when it has no such member. It may have thousands of other members,
 * so some of them are dropped in each turn of the loop. Members that still have to be dropped are
 * not visible. If the same group is made again, they are dropped first. A configured group without
 * a free MLID is made when another group has ended. Clients cannot end a permanent group, but a
 * restored document may lack it; the broadcast group is then made again.
 */
#include "sa/groups.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "include/message_id.h"
#include "lib/be.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "sa/counts.h"
#include "sa/mlids.h"
#include "sa/record.h"
#include "sa/sa.h"

enum {
	DROPPED_IN_TURN = 256,
	HEIRS_TRIED = 64,
	MLIDS = LID_MULTICAST_MAX - LID_MULTICAST_MIN + 1,
};

struct remains { /* members of a group that has ended */
	struct list link;
	uint8_t mgid[GID_SIZE];
};

struct groups {
	struct registry *registry;
	const struct counts *counts;
	struct list remains;
	struct loop_deferred drop;
	struct registry_reader reader;
	struct loop_deferred begin_again;
	bool begun;
	struct sa_options options;
	lid_t mlid_max;
	uint32_t number;		/* of the last MGID that was made here */
	struct group_entry *configured; /* sorted by MGID */
	size_t num_configured;
	size_t lacking; /* of these, the groups without an MLID */
	struct log_limit limit;
};

const struct group_entry *groups_find(const struct groups *groups, const uint8_t mgid[GID_SIZE])
{
	struct group_entry key;

	memcpy(key.mgid, mgid, GID_SIZE);
	return registry_find(groups->registry, REGISTRY_GROUP, &key);
}

const struct member_entry *groups_member(const struct groups *groups, const uint8_t mgid[GID_SIZE],
					 uint64_t prefix, guid_t port_guid)
{
	struct member_entry key = {.port_prefix = prefix, .port_guid = port_guid};

	memcpy(key.mgid, mgid, GID_SIZE);
	return registry_find(groups->registry, REGISTRY_MEMBER, &key);
}

/* The lowest MulticastFDBCap, ignoring very small ones; if all are very small, the highest. If a
 * switch cannot hold the MLID of a group, the tree of the group avoids the switch
 * (route/mcast.c). The lowest MLIDs, which it can hold, are assigned first. OpenSM uses the
 * lowest of all: there a switch with 16 entries limits the whole fabric to 16 groups. */
void groups_view(struct groups *groups, const struct snapshot *topology)
{
	unsigned least = UINT_MAX, largest = 0;

	for (uint32_t s = 0; s < topology->num_switches; s++) {
		const struct node_facts *facts = topology->switches[s].facts;
		unsigned entries = facts ? facts->sw.multicast_fdb_cap : MLIDS;

		if (entries > largest)
			largest = entries;
		if (entries >= MULTICAST_ENTRIES_FEW && entries < least)
			least = entries;
	}
	if (least == UINT_MAX)
		least = largest ? largest : MLIDS;
	groups->mlid_max = (lid_t)(LID_MULTICAST_MIN + (least < MLIDS ? least : MLIDS) - 1);
}

/* Makes a transient MGID (o15-0.1.5). It contains the signature 0xA01B, which only the SA may use
 * with link-local scope, the prefix of the subnet, and a number. The prefix makes it unique with a
 * wider scope. */
void groups_make_mgid(struct groups *groups, uint8_t scope, uint8_t mgid[GID_SIZE])
{
	be16_store(mgid, (uint16_t)(0xFF10 | scope));
	be16_store(mgid + 2, 0xA01B);
	be64_store(mgid + 4, groups->options.subnet_prefix);
	do
		be32_store(mgid + 12, ++groups->number);
	while (groups_find(groups, mgid));
}

/* Drops at most most members. Returns true if none is left. */
static bool drop_members(struct groups *groups, const uint8_t mgid[GID_SIZE], unsigned most)
{
	const struct member_entry *member;
	struct member_entry key;

	memcpy(key.mgid, mgid, GID_SIZE);
	for (; most; most--) {
		member = registry_first(groups->registry, REGISTRY_MEMBER, MEMBER_BY_GROUP, &key);
		if (!member)
			return true;
		registry_drop(groups->registry, REGISTRY_MEMBER, member);
	}
	return false;
}

static void remains_free(struct remains *remains)
{
	list_del(&remains->link);
	free(remains);
}

static void drop_some(void *arg)
{
	struct groups *groups = arg;
	struct remains *first;

	if (list_empty(&groups->remains) || registry_follows(groups->registry))
		return;
	first = container_of(groups->remains.next, struct remains, link);
	if (drop_members(groups, first->mgid, DROPPED_IN_TURN))
		remains_free(first);
	if (!list_empty(&groups->remains))
		loop_defer(&groups->drop);
}

static void drop_later(struct groups *groups, const uint8_t mgid[GID_SIZE])
{
	struct remains *remains = mem_zalloc(sizeof(*remains));

	memcpy(remains->mgid, mgid, GID_SIZE);
	list_init(&remains->link);
	list_push(&groups->remains, &remains->link);
	loop_defer(&groups->drop);
}

static struct remains *remains_of(const struct groups *groups, const uint8_t mgid[GID_SIZE])
{
	list_for_each (link, &groups->remains) {
		struct remains *remains = container_of(link, struct remains, link);

		if (memcmp(remains->mgid, mgid, GID_SIZE) == 0)
			return remains;
	}
	return NULL;
}

static bool has_members(const struct groups *groups, const uint8_t mgid[GID_SIZE])
{
	struct member_entry key;

	memcpy(key.mgid, mgid, GID_SIZE);
	return registry_first(groups->registry, REGISTRY_MEMBER, MEMBER_BY_GROUP, &key);
}

/* A master may fail while it drops the members of a group that has ended. Its successor drops
 * the rest. */
static void groups_follow(struct groups *groups, const struct registry_change *change)
{
	const struct group_entry *group = change->after ? change->after : change->before;
	const struct member_entry *member = change->after ? change->after : change->before;
	const uint8_t *mgid = change->kind == REGISTRY_GROUP ? group->mgid : member->mgid;
	struct remains *remains;

	if (change->kind != REGISTRY_GROUP && change->kind != REGISTRY_MEMBER)
		return;
	remains = remains_of(groups, mgid);
	if (groups_find(groups, mgid) || !has_members(groups, mgid)) {
		if (remains)
			remains_free(remains);
	} else if (!remains) {
		drop_later(groups, mgid);
	}
}

/* Drops the remaining members before the group is made again. */
static void groups_drop_remains(struct groups *groups, const uint8_t mgid[GID_SIZE])
{
	struct remains *remains = remains_of(groups, mgid);

	if (!remains)
		return;
	drop_members(groups, mgid, UINT_MAX);
	remains_free(remains);
}

/* The number of MLIDs that must stay free for a group of this rank. None are kept for partitions
 * if switches hold fewer than MLIDS_KEPT_SHARE. */
static unsigned mlids_kept(const struct groups *groups, enum group_rank rank)
{
	unsigned usable = groups->mlid_max - LID_MULTICAST_MIN + 1u;
	unsigned kept = usable / MLIDS_KEPT_SHARE;

	if (rank == GROUP_KNOWN)
		return 0;
	if (rank == GROUP_BEYOND_SHARE)
		return usable / 2;
	return kept < MLIDS_KEPT_MAX ? kept : (unsigned)MLIDS_KEPT_MAX;
}

lid_t groups_mlid(struct groups *groups, const uint8_t mgid[GID_SIZE], lid_t wanted,
		  enum group_rank rank)
{
	groups_drop_remains(groups, mgid);
	return mlids_choose(counts_mlids(groups->counts), mgid, wanted, groups->mlid_max,
			    mlids_kept(groups, rank));
}

/* weftd may have ended before all were dropped. */
static void find_remains(struct groups *groups)
{
	const struct member_entry *member =
		registry_first(groups->registry, REGISTRY_MEMBER, -1, NULL);

	for (; member; member = registry_next(groups->registry, REGISTRY_MEMBER, -1, member))
		if (!groups_find(groups, member->mgid) && !remains_of(groups, member->mgid))
			drop_later(groups, member->mgid);
}

/* True if the group has ended. */
static bool end_unless_kept(struct groups *groups, const uint8_t mgid[GID_SIZE])
{
	const struct group_entry *group = groups_find(groups, mgid);

	if (!group || group->permanent || counts_of(groups->counts, COUNT_FULL_MEMBERS, mgid))
		return !group;
	registry_drop(groups->registry, REGISTRY_GROUP, group);
	if (!drop_members(groups, mgid, DROPPED_IN_TURN))
		drop_later(groups, mgid);
	return true;
}

static int by_mgid(const void *a, const void *b)
{
	const struct group_entry *x = a, *y = b;

	return memcmp(x->mgid, y->mgid, GID_SIZE);
}

/* bsearch() does not accept NULL, even for an empty array. */
static bool is_configured(const struct groups *groups, const struct group_entry *group)
{
	return groups->num_configured &&
	       bsearch(group, groups->configured, groups->num_configured, sizeof(*group), by_mgid);
}

/* Clients may have made a group with this MGID in their own partition, because only MGIDs of
 * IPoIB contain a P_Key. Its members cannot be in the group of the partition. */
static const struct group_entry *find_to_configure(struct groups *groups,
						   const struct group_entry *wanted)
{
	const struct group_entry *there = groups_find(groups, wanted->mgid);

	if (!there || !((there->p_key ^ wanted->p_key) & ~PKEY_FULL_MEMBER))
		return there;
	registry_drop(groups->registry, REGISTRY_GROUP, there);
	drop_members(groups, wanted->mgid, UINT_MAX);
	return NULL;
}

static void make_configured(struct groups *groups, const struct group_entry *wanted)
{
	const struct group_entry *there = find_to_configure(groups, wanted);
	struct group_entry group = *wanted;

	group.mlid = there ? there->mlid : groups_mlid(groups, group.mgid, LID_NONE, GROUP_KNOWN);
	group.packet_life_time = groups->options.packet_life_time;
	group.permanent = 1;
	if (group.mlid != LID_NONE)
		registry_put(groups->registry, REGISTRY_GROUP, &group);
	else
		groups->lacking++;
}

static void note_lacking(struct groups *groups)
{
	const struct log_subject subject = {.message_id = MESSAGE_NO_MLID};
	char text[INET6_ADDRSTRLEN] = "";
	size_t i = 0;

	while (i < groups->num_configured && groups_find(groups, groups->configured[i].mgid))
		i++;
	if (i == groups->num_configured) {
		log_limited(&groups->limit, LOG_NOTICE, &subject,
			    "all multicast groups of partitions have an MLID again");
		return;
	}
	inet_ntop(AF_INET6, groups->configured[i].mgid, text, sizeof(text));
	log_limited(&groups->limit, LOG_WARNING, &subject,
		    "no MLID is left for %zu multicast groups of partitions, for example %s: IPoIB "
		    "does not work there until other groups end; a lower ipv6_snm_mlids makes "
		    "groups share MLIDs",
		    groups->lacking, text);
}

/* Groups that are not configured any more become like groups of clients. */
static void end_others(struct groups *groups)
{
	struct registry_cursor cursor;
	const struct group_entry *group;

	registry_walk(groups->registry, REGISTRY_GROUP, -1, NULL, &cursor);
	while ((group = registry_walk_next(&cursor))) {
		struct group_entry joined = *group;

		if (!group->permanent || is_configured(groups, group))
			continue;
		joined.permanent = 0;
		registry_put(groups->registry, REGISTRY_GROUP, &joined);
		end_unless_kept(groups, joined.mgid);
	}
	registry_walk_end(&cursor);
}

void groups_begin(struct groups *groups)
{
	size_t lacked = groups->lacking;

	groups->begun = true;
	loop_defer(&groups->drop); /* a previous master may not have finished this */
	end_others(groups);
	groups->lacking = 0;
	for (size_t i = 0; i < groups->num_configured; i++)
		make_configured(groups, &groups->configured[i]);
	if (groups->lacking != lacked)
		note_lacking(groups);
}

/* During a transaction more changes may follow; groups_whole() repeats this. */
static void begin_again(void *arg)
{
	struct groups *groups = arg;

	if (groups->begun && !registry_is_together(groups->registry))
		groups_begin(groups);
}

static void groups_registry_changed(void *ctx, const struct registry_change *change)
{
	struct groups *groups = ctx;

	if (registry_follows(groups->registry))
		groups_follow(groups, change);
	else if (change->kind == REGISTRY_GROUP && !change->after &&
		 (groups->lacking || is_configured(groups, change->before)))
		loop_defer(&groups->begin_again);
}

static void groups_whole(void *ctx)
{
	struct groups *groups = ctx;

	loop_defer(&groups->begin_again);
}

void groups_end(struct groups *groups)
{
	groups->begun = false;
}

void groups_configure(struct groups *groups, const struct group_entry *list, size_t count)
{
	groups->configured = mem_resize(groups->configured, count + 1, sizeof(*groups->configured));
	memcpy(groups->configured, list, count * sizeof(*list));
	groups->num_configured = count;
	qsort(groups->configured, count, sizeof(*list), by_mgid);
	begin_again(groups);
}

/* Whether a port may get one more group, new or taken over. Beyond its share only while more than
 * half of the MLIDs are free. */
static bool may_own_more(const struct groups *groups, guid_t owner, bool is_scarce)
{
	uint32_t made = counts_of(groups->counts, COUNT_GROUPS_MADE, &owner);

	return made < groups->options.groups_per_port &&
	       (!is_scarce || made * GROUPS_OWN_SHARE < groups->options.groups_per_port);
}

/* The port for which a group counts after its owner has left it, one that keeps the group; 0: none
 * may get more groups. */
static guid_t find_heir(struct groups *groups, const uint8_t mgid[GID_SIZE])
{
	bool is_scarce =
		mlids_choose(counts_mlids(groups->counts), mgid, LID_NONE, groups->mlid_max,
			     mlids_kept(groups, GROUP_BEYOND_SHARE)) == LID_NONE;
	const struct member_entry *member;
	struct member_entry key;
	unsigned tried = 0;

	memcpy(key.mgid, mgid, GID_SIZE);
	for (member = registry_first(groups->registry, REGISTRY_MEMBER, MEMBER_BY_GROUP, &key);
	     member && tried++ < HEIRS_TRIED;
	     member = registry_next(groups->registry, REGISTRY_MEMBER, MEMBER_BY_GROUP, member))
		if (member->owner && member->join_state & JOIN_KEEPS_GROUP &&
		    may_own_more(groups, member->owner, is_scarce))
			return member->owner;
	return 0;
}

/* A group counts for a port that has left it only while no port that keeps it may get more groups.
 * Otherwise two ports could keep any number of groups: one makes them, and the other joins. */
static void end_ownership(struct groups *groups, const struct member_entry *gone)
{
	const struct group_entry *group = groups_find(groups, gone->mgid);
	struct group_entry left;

	if (!group || !group->owner || group->owner != gone->owner ||
	    registry_first(groups->registry, REGISTRY_MEMBER, MEMBER_BY_OWNER, gone))
		return;
	left = *group;
	left.owner = find_heir(groups, gone->mgid);
	if (left.owner)
		registry_put(groups->registry, REGISTRY_GROUP, &left);
}

void groups_join(struct groups *groups, const struct group_entry *group,
		 const struct member_entry *member)
{
	const struct member_entry *known = registry_find(groups->registry, REGISTRY_MEMBER, member);
	struct member_entry before = known ? *known : *member;

	registry_put(groups->registry, REGISTRY_GROUP, group);
	registry_put(groups->registry, REGISTRY_MEMBER, member);
	end_ownership(groups, &before);
}

uint8_t groups_leave(struct groups *groups, const struct member_entry *member, uint8_t join_state)
{
	struct member_entry left = *member;
	bool kept_it = left.join_state & JOIN_KEEPS_GROUP;

	left.join_state &= (uint8_t)~join_state;
	if (left.join_state)
		registry_put(groups->registry, REGISTRY_MEMBER, &left);
	else
		registry_drop(groups->registry, REGISTRY_MEMBER, &left);
	if (kept_it && !(left.join_state & JOIN_KEEPS_GROUP) && end_unless_kept(groups, left.mgid))
		return 0;
	end_ownership(groups, &left);
	return left.join_state;
}

void groups_forget_port(struct groups *groups, guid_t port_guid)
{
	const struct member_entry key = {.port_guid = port_guid};
	const struct member_entry *member;

	while ((member = registry_first(groups->registry, REGISTRY_MEMBER, MEMBER_BY_PORT, &key)))
		groups_leave(groups, member, UINT8_MAX);
}

/* Leaving a group may end it and drop memberships in it, but none of this port in another group.
 * So the next record of the walk still exists. */
void groups_leave_unless(struct groups *groups, guid_t port_guid,
			 bool (*may_stay)(const void *ctx, pkey_t p_key), const void *ctx)
{
	const struct member_entry key = {.port_guid = port_guid}, *member, *next;

	for (member = registry_first(groups->registry, REGISTRY_MEMBER, MEMBER_BY_PORT, &key);
	     member; member = next) {
		const struct group_entry *group = groups_find(groups, member->mgid);

		next = registry_next(groups->registry, REGISTRY_MEMBER, MEMBER_BY_PORT, member);
		if (group && !may_stay(ctx, group->p_key))
			groups_leave(groups, member, UINT8_MAX);
	}
}

struct groups *groups_new(struct loop *loop, struct registry *registry, const struct counts *counts,
			  const struct sa_options *options)
{
	struct groups *groups = mem_zalloc(sizeof(*groups));

	groups->registry = registry;
	groups->options = *options;
	groups->counts = counts;
	groups->mlid_max = LID_MULTICAST_MAX;
	groups->limit = (struct log_limit){.burst = 5, .interval_us = 10000000};
	list_init(&groups->remains);
	loop_deferred_init(&groups->drop, loop, "members of groups that are gone", drop_some,
			   groups);
	loop_deferred_init(&groups->begin_again, loop, "configured groups", begin_again, groups);
	groups->reader = (struct registry_reader){
		.changed = groups_registry_changed, .whole = groups_whole, .ctx = groups};
	registry_read(registry, &groups->reader);
	find_remains(groups);
	return groups;
}

void groups_free(struct groups *groups)
{
	if (!groups)
		return;
	loop_defer_cancel(&groups->drop);
	loop_defer_cancel(&groups->begin_again);
	registry_unread(&groups->reader);
	while (!list_empty(&groups->remains))
		remains_free(container_of(groups->remains.next, struct remains, link));
	free(groups->configured);
	free(groups);
}

void groups_set_options(struct groups *groups, const struct sa_options *options)
{
	groups->options = *options;
	mlids_set_pool(counts_mlids(groups->counts), options->ipv6_snm_mlids);
}

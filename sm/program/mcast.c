/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A batch is a set of MLIDs whose trees are computed. Slices collect the members, a job computes
 * the trees, and slices apply the result. There is one batch at a time. Registry changes during a
 * batch mark their MLIDs for the next batch, which is computed while this batch is still being
 * written. All trees belong to one snapshot and its routes. New routes cause a batch of all MLIDs.
 */
#include "sm/program/mcast.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/table_cache.h"
#include "lib/guid.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/slices.h"
#include "sm/program/program.h"
#include "store/registry.h"

enum {
	MLIDS = LID_MULTICAST_MAX - LID_MULTICAST_MIN + 1,
	WORDS = (MLIDS + 63) / 64,
	MERGE_US = 5000,		 /* joins come in bursts */
	JOIN_RECEIVES = 1 << 0 | 1 << 1, /* full members and non-members: both receive packets */
};

struct batch {
	struct work_job job;
	struct mcast *mcast;
	struct work_pool *pool;
	struct slices slices;
	struct mcast_group *groups;
	struct mcast_tree *trees;
	size_t count, room; /* groups; allocated members of the group that is being collected */
	bool in_group, in_members, any;
	struct registry_cursor group_cursor, member_cursor;
	struct snapshot *snapshot;
	struct routes *routes;
	struct mcast_ways *ways;      /* NULL: not looked up yet */
	bool all_was_written;	      /* its trees are not applied yet */
	bool recovers;		      /* roots come from the tables of switches */
	unsigned begun, moved, ended; /* trees */
};

struct mcast {
	struct mcast_owner owner;
	struct loop *loop;
	struct work_pool *pool;
	struct registry *registry;
	struct fabric *fabric;
	struct program *program;
	struct registry_reader reader;
	struct loop_timer timer;
	struct batch *batch;	   /* NULL: no batch is under way */
	struct snapshot *snapshot; /* snapshot of all trees; NULL: no trees */
	struct routes *routes;
	struct mcast_ways *ways;
	struct mcast_tree *trees[MLIDS];
	uint64_t dirty[WORDS], careful[WORDS];
	bool any_dirty, any_careful;
	bool begun;   /* the tables of switches were read */
	bool writing; /* a write between two sweeps is under way */
	unsigned failed_before;
	struct log_limit limit;
	struct log_limit events; /* limited, because clients cause these lines */
	/* Callback of the sweep's phase; NULL: the batch belongs to no sweep. */
	loop_fn *done;
	void *done_arg;
};

/* Changes of the registry */

static void mcast_mark_mlid(struct mcast *mcast, lid_t mlid)
{
	unsigned place = mlid - LID_MULTICAST_MIN;

	if (mlid < LID_MULTICAST_MIN || place >= MLIDS)
		return;
	mcast->dirty[place / 64] |= UINT64_C(1) << place % 64;
	mcast->any_dirty = true;
}

static bool is_marked(const uint64_t *bits, unsigned place)
{
	return bits[place / 64] >> place % 64 & 1;
}

/* During a sweep, its phase or its end handles the changes. A manager that is no longer MASTER
 * gets no more joins, but earlier joins may be pending. */
static bool mcast_is_between_sweeps(const struct mcast *mcast)
{
	return mcast->owner.is_between_sweeps(mcast->owner.ctx);
}

static struct mcast_base base_of(const struct mcast *mcast)
{
	return mcast->owner.base(mcast->owner.ctx);
}

/* The trees follow the present routes. */
static bool has_ways_now(const struct mcast *mcast)
{
	return mcast->ways && mcast->routes == base_of(mcast).routes;
}

/* A new batch does not wait for earlier writes, because a switch may be slow. But these writes
 * follow the present routes, so a batch with new routes must wait. */
static bool mcast_may_begin(const struct mcast *mcast)
{
	return mcast->begun && mcast->any_dirty && !mcast->batch &&
	       mcast_is_between_sweeps(mcast) && (!mcast->writing || has_ways_now(mcast));
}

static void mcast_arm(struct mcast *mcast)
{
	if (mcast_may_begin(mcast) && !loop_timer_armed(&mcast->timer))
		loop_timer_arm(&mcast->timer, MERGE_US);
}

static void mark_group_of(struct mcast *mcast, const struct member_entry *member)
{
	struct group_entry key;
	const struct group_entry *group;

	memcpy(key.mgid, member->mgid, sizeof(key.mgid));
	group = registry_find(mcast->registry, REGISTRY_GROUP, &key);
	if (group)
		mcast_mark_mlid(mcast, group->mlid);
}

/* The port of a member, which may be known by an alias GUID. */
static void mark_groups_of_alias(struct mcast *mcast, const struct alias_entry *alias)
{
	const struct member_entry key = {.port_guid = alias->guid};
	const struct member_entry *member =
		registry_first(mcast->registry, REGISTRY_MEMBER, MEMBER_BY_PORT, &key);

	for (; member;
	     member = registry_next(mcast->registry, REGISTRY_MEMBER, MEMBER_BY_PORT, member))
		mark_group_of(mcast, member);
}

static void mark_record(struct mcast *mcast, enum registry_kind kind, const void *record)
{
	if (!record)
		return;
	if (kind == REGISTRY_GROUP)
		mcast_mark_mlid(mcast, ((const struct group_entry *)record)->mlid);
	else if (kind == REGISTRY_MEMBER)
		mark_group_of(mcast, record);
	else if (kind == REGISTRY_ALIAS)
		mark_groups_of_alias(mcast, record);
}

static void note_group(struct mcast *mcast, const struct registry_change *change)
{
	const struct group_entry *group = change->after ? change->after : change->before;
	char mgid[GID_TEXT];

	if (change->kind != REGISTRY_GROUP || (change->before && change->after) ||
	    !mcast->owner.is_published(mcast->owner.ctx))
		return;
	log_limited(&mcast->events, LOG_INFO, NULL, "multicast group %s, MLID 0x%x: %s",
		    gid_text(group->mgid, mgid), group->mlid,
		    change->after ? "created" : "deleted");
}

static void mcast_registry_changed(void *ctx, const struct registry_change *change)
{
	struct mcast *mcast = ctx;

	note_group(mcast, change);
	mark_record(mcast, change->kind, change->before);
	mark_record(mcast, change->kind, change->after);
	mcast_arm(mcast);
}

/* Collecting members */

/* The position of a member's port; false: it is not in the fabric now. */
static bool locate(const struct mcast *mcast, const struct snapshot *snapshot, guid_t guid,
		   struct mcast_member *out)
{
	const struct alias_entry key = {.guid = guid}, *alias;
	int32_t end = snapshot_find_end(snapshot, guid), sw;
	const struct port *port;

	if (end < 0) {
		alias = registry_first(mcast->registry, REGISTRY_ALIAS, ALIAS_BY_GUID, &key);
		guid = alias ? alias->port_guid : guid;
		end = alias ? snapshot_find_end(snapshot, guid) : end;
	}
	if (end >= 0) {
		*out = (struct mcast_member){.sw = (uint32_t)snapshot->ends[end].sw,
					     .port = snapshot->ends[end].sw_port};
		return snapshot->ends[end].sw >= 0;
	}
	port = map_get(&mcast->fabric->ports, guid);
	sw = port && port_of_switch(port) ? snapshot_find_switch(snapshot, port->node->guid) : -1;
	*out = (struct mcast_member){.sw = (uint32_t)sw};
	return sw >= 0;
}

static void gather_member(struct batch *batch, struct mcast_group *group,
			  const struct member_entry *entry)
{
	struct mcast_member member;

	if (!locate(batch->mcast, batch->snapshot, entry->port_guid, &member))
		return;
	member.sends_only = !(entry->join_state & JOIN_RECEIVES);
	if (group->num_members == batch->room) {
		batch->room = 2 * batch->room + 8;
		group->members = mem_resize(group->members, batch->room, sizeof(*group->members));
	}
	group->members[group->num_members++] = member;
	batch->any = true;
}

/* Reads the entries of switches for an MLID. */
static void gather_held(struct batch *batch, struct mcast_group *group)
{
	const struct snapshot *snapshot = batch->snapshot;
	size_t room = 0;

	for (uint32_t i = 0; i < snapshot->num_switches; i++) {
		struct node *node =
			fabric_find_node(batch->mcast->fabric, snapshot->switches[i].guid);
		const struct mft *mft = node ? node->sw->mft : NULL;

		for (uint8_t p = 0; mft && p < mft->positions; p++) {
			uint16_t ports = mft_maybe(mft, group->mlid, p);

			if (!ports)
				continue;
			if (group->num_held == room) {
				room = 2 * room + 16;
				group->held = mem_resize(group->held, room, sizeof(*group->held));
			}
			group->held[group->num_held++] = (struct mcast_mask){i, p, ports};
		}
	}
}

static unsigned mcast_batch_begin_group(struct batch *batch, struct mcast_group *group)
{
	const struct group_entry key = {.mlid = group->mlid};

	batch->room = 0;
	batch->in_group = true;
	registry_walk(batch->mcast->registry, REGISTRY_GROUP, GROUP_BY_MLID, &key,
		      &batch->group_cursor);
	if (!batch->recovers)
		return 1;
	gather_held(batch, group);
	return batch->snapshot->num_switches + 1;
}

/* Several groups may have one MLID. */
static unsigned next_group_record(struct batch *batch, size_t *at)
{
	const struct group_entry *record = registry_walk_next(&batch->group_cursor);
	struct member_entry key;

	if (!record) {
		registry_walk_end(&batch->group_cursor);
		batch->in_group = false;
		++*at;
		return 1;
	}
	memcpy(key.mgid, record->mgid, sizeof(key.mgid));
	registry_walk(batch->mcast->registry, REGISTRY_MEMBER, MEMBER_BY_GROUP, &key,
		      &batch->member_cursor);
	batch->in_members = true;
	return 1;
}

static unsigned mcast_batch_gather(void *arg, size_t *at)
{
	struct batch *batch = arg;
	const struct member_entry *entry;

	if (*at == batch->count)
		return 0;
	if (!batch->in_group)
		return mcast_batch_begin_group(batch, &batch->groups[*at]);
	if (!batch->in_members)
		return next_group_record(batch, at);
	entry = registry_walk_next(&batch->member_cursor);
	if (entry) {
		gather_member(batch, &batch->groups[*at], entry);
		return 2;
	}
	registry_walk_end(&batch->member_cursor);
	batch->in_members = false;
	return 1;
}

static slice_fn *const gather_stages[] = {mcast_batch_gather, NULL};
static const struct slice_plan gather_plan = {"collecting members", gather_stages, NULL};

/* End of a batch */

static void free_trees(struct mcast_tree *trees, size_t count)
{
	for (size_t i = 0; trees && i < count; i++)
		free(trees[i].masks);
	free(trees);
}

static void batch_free(struct batch *batch)
{
	if (!batch)
		return;
	slices_cancel(&batch->slices);
	if (batch->in_members)
		registry_walk_end(&batch->member_cursor);
	if (batch->in_group)
		registry_walk_end(&batch->group_cursor);
	for (size_t i = 0; i < batch->count; i++) {
		free(batch->groups[i].members);
		free(batch->groups[i].held);
	}
	free(batch->groups);
	free_trees(batch->trees, batch->count);
	if (batch->ways != batch->mcast->ways)
		mcast_ways_free(batch->ways);
	snapshot_unref(batch->snapshot);
	routes_unref(batch->routes);
	free(batch);
}

static void mcast_batch_written(void *arg)
{
	struct mcast *mcast = arg;

	mcast->writing = false;
	mcast->owner.written(mcast->owner.ctx,
			     program_report(mcast->program)->failed != mcast->failed_before);
	mcast_sweep_ended(mcast);
}

static void phase_goes_on(void *arg);

static void batch_done(void *arg)
{
	struct batch *batch = arg;
	struct mcast *mcast = batch->mcast;

	mcast->batch = NULL;
	batch_free(batch);
	if (mcast->done) {
		phase_goes_on(mcast);
	} else if (mcast_is_between_sweeps(mcast)) {
		if (!mcast->writing)
			mcast->failed_before = program_report(mcast->program)->failed;
		mcast->writing = true;
		program_multicast(mcast->program, mcast_batch_written, mcast);
		mcast_arm(mcast);
	}
}

/* Applying trees */

/* All writes are complete, so no cell is uncertain any more. */
static bool all_is_written(const struct mcast *mcast)
{
	const struct roster *roster = fabric_roster(mcast->fabric);

	for (size_t i = 0; i < roster->num_switches; i++) {
		const struct mft *mft = roster->switches[i]->sw->mft;

		if ((mft && (mft->touched || mft->pending)) ||
		    node_has_default_ports(roster->switches[i]))
			return false;
	}
	return true;
}

static struct node *mcast_switch_node(const struct mcast *mcast, const struct snapshot *snapshot,
				      uint32_t sw)
{
	return fabric_find_node(mcast->fabric, snapshot->switches[sw].guid);
}

static void want(const struct mcast *mcast, const struct snapshot *snapshot, lid_t mlid,
		 const struct mcast_tree *tree, bool wanted)
{
	for (size_t i = 0; i < tree->num_masks; i++) {
		const struct mcast_mask *mask = &tree->masks[i];
		struct node *node = mcast_switch_node(mcast, snapshot, mask->sw);
		struct mft *mft = node && node->sw ? node_mft(node) : NULL;

		if (mft)
			mft_want(mft, mlid, mask->position, mask->ports, wanted);
	}
}

/* Whether two trees may differ in their routes to one root. Switch indexes of two snapshots
 * cannot be compared. Then only equal masks prove that the trees match, and only if no older
 * entries are left. */
static bool is_moved(const struct mcast *mcast, const struct batch *batch,
		     const struct mcast_tree *before, const struct mcast_tree *after)
{
	if (after->root < 0)
		return true;
	if (mcast->snapshot->switches[before->root].guid !=
	    batch->snapshot->switches[after->root].guid)
		return true;
	if (mcast->routes == batch->routes)
		return before->strays != after->strays;
	if (!batch->all_was_written || before->num_masks != after->num_masks)
		return true;
	for (size_t i = 0; i < before->num_masks; i++) {
		const struct mcast_mask *a = &before->masks[i], *b = &after->masks[i];

		if (a->position != b->position || a->ports != b->ports ||
		    mcast->snapshot->switches[a->sw].guid != batch->snapshot->switches[b->sw].guid)
			return true;
	}
	return false;
}

static void mcast_log_unreached(struct mcast *mcast, const struct batch *batch, size_t i)
{
	const struct mcast_group *group = &batch->groups[i];
	const struct mcast_tree *tree = &batch->trees[i];
	size_t first = 0;

	if (!tree->left_out)
		return;
	while (first + 1 < group->num_members && !group->members[first].left_out)
		first++;
	log_limited(
		&mcast->limit, LOG_WARNING, NULL,
		"multicast group with MLID 0x%x: no tree to %u of %zu members, such as port %u of "
		"switch 0x%016" PRIx64 ": no path from there to a common root",
		group->mlid, tree->left_out, group->num_members, group->members[first].port,
		batch->snapshot->switches[group->members[first].sw].guid);
}

static unsigned mcast_batch_apply(void *arg, size_t *at)
{
	struct batch *batch = arg;
	struct mcast *mcast = batch->mcast;
	struct mcast_tree *after, **slot;
	lid_t mlid;
	unsigned cost;

	if (*at == batch->count)
		return 0;
	mlid = batch->groups[*at].mlid;
	after = &batch->trees[*at];
	slot = &mcast->trees[mlid - LID_MULTICAST_MIN];
	cost = 1 + (unsigned)after->num_masks;
	batch->begun += !*slot && after->root >= 0;
	batch->ended += *slot && after->root < 0;
	if (*slot) {
		unsigned place = mlid - LID_MULTICAST_MIN;

		if (is_moved(mcast, batch, *slot, after)) {
			mcast->careful[place / 64] |= UINT64_C(1) << place % 64;
			mcast->any_careful = true;
			batch->moved++;
		}
		want(mcast, mcast->snapshot, mlid, *slot, false);
		cost += (unsigned)(*slot)->num_masks;
		free((*slot)->masks);
		free(*slot);
		*slot = NULL;
	}
	mcast_log_unreached(mcast, batch, *at);
	if (after->root >= 0) {
		*slot = mem_alloc(sizeof(**slot));
		**slot = *after;
		after->masks = NULL;
		want(mcast, batch->snapshot, mlid, *slot, true);
	}
	++*at;
	return cost;
}

/* From here on, all trees belong to the snapshot of the batch. */
static unsigned adopt(void *arg, size_t *at)
{
	struct batch *batch = arg;
	struct mcast *mcast = batch->mcast;

	(void)at;
	if (batch->begun + batch->moved + batch->ended)
		log_limited(&mcast->events, LOG_INFO, NULL,
			    "multicast trees: %u new, %u changed, %u deleted", batch->begun,
			    batch->moved, batch->ended);
	if (mcast->ways != batch->ways)
		mcast_ways_free(mcast->ways);
	mcast->ways = batch->ways;
	snapshot_unref(mcast->snapshot);
	mcast->snapshot = snapshot_ref(batch->snapshot);
	routes_unref(mcast->routes);
	mcast->routes = routes_ref(batch->routes);
	return 0;
}

static slice_fn *const apply_stages[] = {mcast_batch_apply, adopt, NULL};
static const struct slice_plan apply_plan = {"applying trees", apply_stages, NULL};

/* Computing trees */

static void draw_in_job(struct work_job *job)
{
	struct batch *batch = container_of(job, struct batch, job);

	if (!batch->ways)
		batch->ways = mcast_ways_new(batch->snapshot, batch->routes, batch->pool);
	mcast_trees(batch->ways, batch->groups, batch->count, batch->pool, batch->trees);
}

static void drawn(struct work_job *job)
{
	struct batch *batch = container_of(job, struct batch, job);

	batch->all_was_written = all_is_written(batch->mcast);
	slices_init(&batch->slices, batch->mcast->loop, &apply_plan, batch, batch_done, batch);
	slices_begin(&batch->slices);
}

static void compute(void *arg)
{
	struct batch *batch = arg;

	if (!batch->any) {
		drawn(&batch->job);
		return;
	}
	batch->job = (struct work_job){.name = "trees", .run = draw_in_job, .done = drawn};
	list_init(&batch->job.link);
	work_submit(batch->pool, &batch->job);
}

/* The index of the group's root in the snapshot of the batch. */
static int32_t root_now(const struct mcast *mcast, const struct snapshot *snapshot, unsigned place)
{
	const struct mcast_tree *tree = mcast->trees[place];

	return tree && tree->root >= 0
		       ? snapshot_find_switch(snapshot, mcast->snapshot->switches[tree->root].guid)
		       : -1;
}

static void mark_all(struct mcast *mcast)
{
	const struct registry *registry = mcast->registry;
	const struct group_entry *group = registry_first(registry, REGISTRY_GROUP, -1, NULL);

	for (; group; group = registry_next(registry, REGISTRY_GROUP, -1, group))
		mcast_mark_mlid(mcast, group->mlid);
}

/* all MLIDs, also those without a tree, because their members may be back */
static void choose_groups(struct mcast *mcast, struct batch *batch, bool all)
{
	size_t room = 0;

	if (all)
		mark_all(mcast);
	for (unsigned place = 0; place < MLIDS; place++) {
		if (!is_marked(mcast->dirty, place) && !(all && mcast->trees[place]))
			continue;
		if (batch->count == room) {
			room = 2 * room + 4;
			batch->groups = mem_resize(batch->groups, room, sizeof(*batch->groups));
		}
		batch->groups[batch->count++] =
			(struct mcast_group){.mlid = (lid_t)(LID_MULTICAST_MIN + place),
					     .root = root_now(mcast, batch->snapshot, place)};
	}
	memset(mcast->dirty, 0, sizeof(mcast->dirty));
	mcast->any_dirty = false;
}

/* Computes trees for the present routes, of all groups that need new trees. */
static void batch_begin(struct mcast *mcast)
{
	struct mcast_base base = base_of(mcast);
	struct batch *batch = mem_zalloc(sizeof(*batch));
	bool same = has_ways_now(mcast);

	batch->mcast = mcast;
	batch->pool = mcast->pool;
	batch->snapshot = snapshot_ref(base.snapshot);
	batch->routes = routes_ref(base.routes);
	batch->ways = same ? mcast->ways : NULL;
	batch->recovers = !mcast->begun;
	choose_groups(mcast, batch, !same);
	batch->trees = mem_array(batch->count, sizeof(*batch->trees));
	for (size_t i = 0; i < batch->count; i++)
		batch->trees[i].root = -1;
	mcast->begun = true;
	mcast->batch = batch;
	slices_init(&batch->slices, mcast->loop, &gather_plan, batch, compute, batch);
	slices_begin(&batch->slices);
}

static void mcast_merge_elapsed(void *arg)
{
	struct mcast *mcast = arg;

	if (mcast_may_begin(mcast) && base_of(mcast).snapshot)
		batch_begin(mcast);
}

/* Phase of the sweep */

void mcast_leave_off(struct mcast *mcast)
{
	loop_timer_disarm(&mcast->timer);
	if (mcast->writing)
		program_abandon(mcast->program);
	mcast->writing = false;
}

void mcast_sweep_ended(struct mcast *mcast)
{
	if (mcast->any_careful && !mcast->batch && all_is_written(mcast)) {
		memset(mcast->careful, 0, sizeof(mcast->careful));
		mcast->any_careful = false;
	}
	mcast_arm(mcast);
}

static void drop_trees(struct mcast *mcast)
{
	for (unsigned place = 0; place < MLIDS; place++) {
		struct mcast_tree *tree = mcast->trees[place];

		if (!tree)
			continue;
		want(mcast, mcast->snapshot, (lid_t)(LID_MULTICAST_MIN + place), tree, false);
		free(tree->masks);
		free(tree);
		mcast->trees[place] = NULL;
	}
}

static void mcast_tables_read(void *arg)
{
	struct mcast *mcast = arg;

	mark_all(mcast);
	batch_begin(mcast);
}

static void phase_goes_on(void *arg)
{
	struct mcast *mcast = arg;
	loop_fn *done = mcast->done;

	if (!mcast->begun) {
		drop_trees(mcast);
		program_read_multicast(mcast->program, mcast_tables_read, mcast);
	} else if (mcast->any_dirty || (mcast->routes && mcast->routes != base_of(mcast).routes)) {
		batch_begin(mcast);
	} else {
		mcast->done = NULL;
		done(mcast->done_arg);
	}
}

/* A batch from before the sweep may be under way: its end starts the next batch. */
void mcast_phase(struct mcast *mcast, loop_fn *done, void *arg)
{
	mcast->done_arg = arg;
	mcast->done = done;
	if (!mcast->batch)
		phase_goes_on(mcast);
}

void mcast_begin_anew(struct mcast *mcast)
{
	loop_timer_disarm(&mcast->timer);
	mcast->begun = false;
}

/* Queries of programming */

const struct mcast_tree *mcast_tree(const struct mcast *mcast, lid_t mlid,
				    struct snapshot **snapshot)
{
	if (mlid < LID_MULTICAST_MIN || mlid > LID_MULTICAST_MAX)
		return NULL;
	*snapshot = mcast->snapshot;
	return mcast->trees[mlid - LID_MULTICAST_MIN];
}

struct port *mcast_up(const struct mcast *mcast, struct node *node, lid_t mlid)
{
	struct snapshot *snapshot;
	const struct mcast_tree *tree = mcast ? mcast_tree(mcast, mlid, &snapshot) : NULL;
	int32_t sw = tree ? snapshot_find_switch(snapshot, node->guid) : -1;
	uint8_t port;

	if (sw < 0 || mcast_parent(mcast->ways, tree, (uint32_t)sw, &port) < 0)
		return NULL;
	if (port > node->num_ports || !node->port[port].peer)
		return NULL;
	/* The cable may have been moved to a host since then. */
	return port_of_switch(node->port[port].peer) ? &node->port[port] : NULL;
}

bool mcast_is_careful(const struct mcast *mcast, lid_t mlid)
{
	return !mcast || is_marked(mcast->careful, mlid - LID_MULTICAST_MIN);
}

void mcast_be_careful(struct mcast *mcast, lid_t first)
{
	unsigned place = first - LID_MULTICAST_MIN;

	if (!mcast)
		return;
	mcast->careful[place / 64] |= (uint64_t)UINT32_MAX << place % 64;
	mcast->any_careful = true;
}

void mcast_be_careful_of_all(struct mcast *mcast)
{
	if (!mcast)
		return;
	memset(mcast->careful, 0xFF, sizeof(mcast->careful));
	mcast->any_careful = true;
}

struct mcast *mcast_new(struct loop *loop, struct work_pool *pool, struct registry *registry,
			struct fabric *fabric, struct program *program,
			const struct mcast_owner *owner)
{
	struct mcast *mcast = mem_zalloc(sizeof(*mcast));

	mcast->owner = *owner;
	mcast->loop = loop;
	mcast->pool = pool;
	mcast->registry = registry;
	mcast->fabric = fabric;
	mcast->program = program;
	mcast->limit = (struct log_limit){.burst = 10, .interval_us = 1000000};
	mcast->events = (struct log_limit){.burst = 10, .interval_us = 10000000};
	mcast->reader = (struct registry_reader){.changed = mcast_registry_changed, .ctx = mcast};
	list_init(&mcast->reader.link);
	loop_timer_init(&mcast->timer, loop, "multicast", mcast_merge_elapsed, mcast);
	registry_read(registry, &mcast->reader);
	return mcast;
}

void mcast_free(struct mcast *mcast)
{
	if (!mcast)
		return;
	registry_unread(&mcast->reader);
	loop_timer_disarm(&mcast->timer);
	batch_free(mcast->batch);
	for (unsigned place = 0; place < MLIDS; place++) {
		if (mcast->trees[place])
			free(mcast->trees[place]->masks);
		free(mcast->trees[place]);
	}
	mcast_ways_free(mcast->ways);
	snapshot_unref(mcast->snapshot);
	routes_unref(mcast->routes);
	free(mcast);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The standby's half: finds the master among the configured peers, and puts received changes into
 * its own registry. It accepts only the MASTER that the election names, and only changes that
 * continue where the last change ended. Any violation ends the connection, and the next connection
 * begins with a full copy.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ha/parts.h"
#include "lib/guid.h"
#include "lib/mem.h"
#include "mad/mgid.h"
#include "store/partition_state.h"

enum { RECORDS_A_TURN = 500, WHY_SIZE = FRAME_WHY_SIZE };

static const struct log_subject subject = {.message_id = MESSAGE_REPLICA};

static guid_t master_named(const struct replica *replica)
{
	return replica->owner.master(replica->owner.ctx);
}

/* Ending a connection */

static void forget_document(struct follow *follow)
{
	registry_free(follow->document);
	follow->document = NULL;
	follow->taking = false;
}

/* An incomplete batch. */
static void drop_parts(struct replica *replica)
{
	struct follow *follow = &replica->follow;

	if (!follow->taking)
		forget_document(follow);
	follow->batched = 0;
	arena_reset(follow->arena);
	follow->in.have = 0;
	follow->greeted = false;
}

/* Whether there are managers to connect to. Over the fabric, this is the MASTER that the election
 * names. */
static bool follow_has_peers(const struct replica *replica)
{
	return replica->follow.num_peers || replica->options.inband;
}

/* Over the fabric, the port of the MASTER is the only peer. */
static void follow_name_peer(struct replica *replica)
{
	struct follow *follow = &replica->follow;
	char text[GUID_TEXT];

	if (!replica->options.inband || follow->stream || follow->taking)
		return;
	if (!master_named(replica)) {
		follow->num_peers = 0;
		return;
	}
	guid_text(master_named(replica), text);
	if (follow->num_peers && !strcmp(follow->peers[0], text))
		return;
	snprintf(follow->peers[0], STREAM_PEER_SIZE, "%s", text);
	follow->why[0][0] = '\0';
	follow->num_peers = 1;
	follow->next = follow->tried = 0;
	follow->unserved = false;
	follow->offered_us = 0;
}

/* All peers are tried one after the other, then there is a pause. */
static void again(struct replica *replica)
{
	struct follow *follow = &replica->follow;
	bool pause = follow->stream || !follow->num_peers || follow->tried % follow->num_peers == 0;
	/* If the MASTER is not a weftd, attempts become rare. */
	unsigned longer = replica->options.inband ? follow->tried / 8 : 0;

	if (!replica->stopped && follow_has_peers(replica) && replica_may_follow(replica))
		loop_timer_arm(&follow->retry,
			       pause ? (uint64_t)RETRY_US << (longer < 5 ? longer : 5) : NEXT_US);
}

/* A permanent state is logged once. */
static void follow_log(struct replica *replica, int level, const char *why)
{
	struct follow *follow = &replica->follow;
	char *before = follow->why[follow->next];

	if (!strcmp(why, before))
		return;
	snprintf(before, WHY_SIZE, "%s", why);
	log_about(level, &subject, "%s: %s", follow->peers[follow->next], why);
}

/* The peer at hand was tried without success. */
static void follow_step(struct follow *follow)
{
	follow->next = (follow->next + 1) % follow->num_peers;
	follow->tried++;
}

static void follow_lost(struct replica *replica, int level, const char *why)
{
	struct follow *follow = &replica->follow;
	bool was_followed;

	if (follow->greeted)
		log_about(LOG_NOTICE, &subject, "lost master 0x%016" PRIx64 " at %s: %s",
			  follow->master, follow->peers[follow->next], why);
	else
		follow_log(replica, level, why);
	was_followed = follow->greeted && follow->master == master_named(replica);
	if (follow->greeted)
		follow->left_us = loop_now_us(replica->loop);
	follow->stream = NULL;
	drop_parts(replica);
	follow_step(follow);
	again(replica);
	if (was_followed)
		replica->owner.lost(replica->owner.ctx);
}

static void follow_closed(void *ctx, const char *why)
{
	struct replica *replica = ctx;

	replica->follow.unserved = replica->follow.stream->unserved;
	follow_lost(ctx, LOG_INFO, why);
}

static void follow_leave(struct replica *replica, int level, const char *why)
{
	stream_close(replica->follow.stream, false);
	follow_lost(replica, level, why);
}

/* The peer is no master for this standby. Returns false. */
static bool follow_refuse(struct replica *replica, const char *why)
{
	replica->refusals.masters++;
	follow_leave(replica, LOG_WARNING, why);
	return false;
}

/* The master sent an invalid frame, so its earlier frames may be wrong, too. */
static bool disbelieve(struct replica *replica, const char *why)
{
	struct follow *follow = &replica->follow;

	if (!follow->greeted)
		return follow_refuse(replica, why);
	replica->refusals.masters++;
	log_limited(&follow->limit, LOG_WARNING, &subject,
		    "refused data from master 0x%016" PRIx64 " at %s: %s; requesting a full copy",
		    follow->master, follow->peers[follow->next], why);
	follow->incarnation = 0;
	follow->based = false;
	follow_leave(replica, LOG_DEBUG, why);
	return false;
}

/* Acknowledging */

static void follow_acknowledge(struct replica *replica)
{
	struct follow *follow = &replica->follow;

	if (!follow->stream || !follow->greeted)
		return;
	/* A master that reads no acknowledgements must not fill the memory of the standby with
	 * them. */
	follow->owes_ack = stream_waiting(follow->stream) >= STREAM_LOW_BYTES;
	if (follow->owes_ack)
		return;
	frame_begin(&replica->out, FRAME_ACK);
	frame_number(&replica->out, follow->document || !follow->based ? 0 : follow->acked);
	frame_number(&replica->out, replica->store && store_degraded(replica->store));
	frame_end(&replica->out);
	replica_send(replica, follow->stream);
}

static void wait_durable(struct replica *replica)
{
	struct follow *follow = &replica->follow;

	if (follow->waits_for || follow->acked >= follow->position)
		return;
	follow->waits_for = follow->position;
	registry_wait(replica->registry, &follow->waiter);
}

static void follow_durable(void *ctx)
{
	struct replica *replica = ctx;
	struct follow *follow = &replica->follow;

	follow->acked = follow->waits_for;
	follow->waits_for = 0;
	follow_acknowledge(replica);
	wait_durable(replica);
}

/* Changes */

/* Members without a group are dropped one by one later, so a master has few of them. */
static bool follow_has_group(const struct registry *registry, const struct member_entry *member)
{
	struct group_entry key = {.mlid = 0};

	memcpy(key.mgid, member->mgid, GID_SIZE);
	return registry_find(registry, REGISTRY_GROUP, &key);
}

/* Whether the master may send this change. The standby drops all others. */
static bool follow_takes(const struct replica *replica, const struct registry *registry,
			 const struct wire_change *change)
{
	enum ha_copies copies = replica->follow.copies;
	bool sa_public = replica->options.sa_public;

	if (copies_own(copies, registry, change->kind, change->record, sa_public))
		return false;
	if (change->drop)
		return true;
	if (copies == COPY_REGISTRATIONS && change->kind == REGISTRY_SETTING &&
	    !copies_clock_fits(change->record, loop_wall_s(replica->loop)))
		return false;
	if (registry_count(registry, change->kind) >= copies_most(copies, change->kind) &&
	    !registry_find(registry, change->kind, change->record))
		return false;
	if (copies != COPY_ALL && change->kind == REGISTRY_MEMBER &&
	    !follow_has_group(registry, change->record))
		return false;
	return copies_record(copies, registry, change->kind, change->record, sa_public);
}

/* The master drops a group first, and its members later. Without the group, the master cannot tell
 * whether this standby may know the members, so it skips their changes. */
static void drop_members_of(struct registry *registry, const struct group_entry *group)
{
	const struct member_entry *member;
	struct member_entry key = {.port_guid = 0};

	memcpy(key.mgid, group->mgid, GID_SIZE);
	while ((member = registry_first(registry, REGISTRY_MEMBER, MEMBER_BY_GROUP, &key)))
		registry_drop(registry, REGISTRY_MEMBER, member);
}

/* The master uses this MLID, so groups of this standby with the same MLID are outdated. False: the
 * master itself has given the MLID to another group. */
static bool drop_rivals_of(struct registry *registry, const struct group_entry *group)
{
	const struct group_entry *rival;

	while ((rival = copies_rival(registry, group))) {
		if (!copies_own(COPY_REGISTRATIONS, registry, REGISTRY_GROUP, rival, true))
			return false;
		drop_members_of(registry, rival);
		registry_drop(registry, REGISTRY_GROUP, rival);
	}
	return true;
}

/* Drops records that a change without a key outdates. False: the change is refused. */
static bool prepare_change(enum ha_copies copies, struct registry *registry,
			   const struct wire_change *change)
{
	if (copies == COPY_ALL || change->kind != REGISTRY_GROUP)
		return true;
	if (!change->drop)
		return copies != COPY_REGISTRATIONS || drop_rivals_of(registry, change->record);
	drop_members_of(registry, change->record);
	return true;
}

/* A key that a master sends without a right to it would refuse the service's own host. */
static void follow_apply_change(struct replica *replica, struct registry *registry,
				const struct wire_change *change)
{
	union copied_record blank;

	if (change->skipped)
		return;
	if (!follow_takes(replica, registry, change) ||
	    !prepare_change(replica->follow.copies, registry, change)) {
		replica->follow.left_out++;
		return;
	}
	if (!change->drop) {
		registry_put(
			registry, change->kind,
			copies_blank(replica->follow.copies, change->kind, change->record, &blank));
		return;
	}
	registry_drop(registry, change->kind, change->record);
}

static void put_batch(struct replica *replica, struct registry *registry)
{
	struct follow *follow = &replica->follow;
	bool own = registry == replica->registry;

	if (own)
		registry_together(registry, true);
	for (size_t i = 0; i < follow->batched; i++)
		follow_apply_change(replica, registry, &follow->batch[i]);
	if (own)
		registry_together(registry, false);
	follow->batched = 0;
	arena_reset(follow->arena);
}

/* Returns true if all changes are in the batch. Otherwise why has the reason. */
static bool follow_gather(struct follow *follow, struct wire_changes *changes, char why[WHY_SIZE])
{
	if (follow->batched + changes->count > FRAME_CHANGES_MAX) {
		snprintf(why, WHY_SIZE, "a batch has too many changes");
		return false;
	}
	for (uint32_t i = 0; i < changes->count; i++)
		if (changes_next(changes, follow->arena, &follow->batch[follow->batched++], why))
			return false;
	if (changes->at == changes->frame->size)
		return true;
	snprintf(why, WHY_SIZE, "a frame is longer than its contents");
	return false;
}

/* A master that has proved no key must not fill the memory of its standbys. */
static bool follow_has_room(struct replica *replica)
{
	const struct follow *follow = &replica->follow;
	const struct registry *registry = follow->document ? follow->document : replica->registry;
	size_t count = 0;

	for (unsigned kind = REGISTRY_LID; kind < REGISTRY_KINDS; kind++)
		count += registry_count(registry, kind);
	return follow->copies == COPY_ALL || count <= COPY_RECORDS_MAX ||
	       disbelieve(replica, "it has too many records for a master without a key");
}

static bool take_changes(struct replica *replica, const struct frame *frame)
{
	struct follow *follow = &replica->follow;
	uint64_t *at = follow->document ? &follow->document_at : &follow->position;
	struct wire_changes changes;
	char why[WHY_SIZE];

	if (changes_open(frame, &changes))
		return disbelieve(replica, "a frame of changes is malformed");
	if (!follow->document && !follow->based)
		return disbelieve(replica, "changes arrived before the full copy");
	if (changes.first != *at + follow->batched + 1)
		return disbelieve(replica, "changes are missing or repeated");
	if (!follow_gather(follow, &changes, why))
		return disbelieve(replica, why);
	if (!changes.ends)
		return true;
	*at += follow->batched;
	if (follow->number < *at)
		follow->number = *at;
	put_batch(replica, follow->document ? follow->document : replica->registry);
	if (!follow->document)
		wait_durable(replica);
	return follow_has_room(replica);
}

/* Full copy */

static bool take_snapshot(struct replica *replica, const struct frame *frame)
{
	struct follow *follow = &replica->follow;
	uint64_t number;

	if (!frame_numbers(frame, 1, &number))
		return disbelieve(replica, "a frame is malformed");
	forget_document(follow);
	follow->document = registry_new();
	follow->document_at = number;
	follow->records = 0;
	return true;
}

static bool take_records(struct replica *replica, const struct frame *frame)
{
	struct follow *follow = &replica->follow;
	struct wire_changes changes;
	char why[WHY_SIZE];

	if (!follow->document || changes_open(frame, &changes) ||
	    changes.first != follow->records || follow->batched)
		return disbelieve(replica, "unexpected records");
	if (!follow_gather(follow, &changes, why))
		return disbelieve(replica, why);
	follow->records += changes.count;
	put_batch(replica, follow->document);
	return follow_has_room(replica);
}

static void forget_position(struct follow *follow)
{
	registry_wait_cancel(&follow->waiter);
	follow->waits_for = 0;
	follow->based = false;
	follow->position = follow->acked = 0;
}

static void taken(struct replica *replica)
{
	struct follow *follow = &replica->follow;

	log_about(
		LOG_NOTICE, &subject,
		"following master 0x%016" PRIx64 ": %" PRIu64
		" records, %zu of them new here; dropped %zu records that the master does not have",
		follow->master, follow->records, follow->replace.changed - follow->replace.dropped,
		follow->replace.dropped);
	follow->refused = false;
	forget_position(follow);
	follow->based = follow->incarnation != 0;
	follow->position = follow->document_at;
	forget_document(follow);
	if (replica->owner.locked_out(replica->owner.ctx))
		replica->owner.unlocked(replica->owner.ctx);
	wait_durable(replica);
	if (!follow->waits_for) /* also if nothing was changed */
		follow_acknowledge(replica);
}

static void follow_turn(void *arg)
{
	struct replica *replica = arg;

	if (registry_replace_some(&replica->follow.replace, RECORDS_A_TURN))
		loop_defer(&replica->follow.turn);
	else
		taken(replica);
}

/* A master whose store has lost partitions reports this (store/store.h). The standby then keeps its
 * own partitions. */
static bool lacks_what_is_here(const struct replica *replica)
{
	const struct registry *here = replica->registry;

	return partition_state(replica->follow.document) != PARTITIONS_COMPLETE &&
	       partition_state(here) == PARTITIONS_COMPLETE &&
	       (registry_count(here, REGISTRY_PARTITION) ||
		registry_count(here, REGISTRY_PARTITION_MEMBER) ||
		registry_count(here, REGISTRY_PARTITION_TEXT));
}

/* Logged once. The standby tries again until an administrator has decided at the master. */
static bool refuse_lack(struct replica *replica)
{
	static const char why[] = "it has lost partitions that this standby has";
	struct follow *follow = &replica->follow;

	if (!follow->refused)
		log_about(LOG_ERR, &subject,
			  "not following master 0x%016" PRIx64
			  " at %s: %s (to keep them, run weftctl save FILE here and weftctl "
			  "restore FILE there; otherwise run weftctl partition accept there)",
			  follow->master, follow->peers[follow->next], why);
	follow->refused = true;
	follow->greeted = false;
	follow->incarnation = 0; /* nothing of its history was taken */
	follow->based = false;
	snprintf(follow->why[follow->next], WHY_SIZE, "%s", why);
	follow_leave(replica, LOG_DEBUG, why);
	if (loop_timer_armed(&follow->retry))
		loop_timer_arm(&follow->retry, REFUSED_US);
	return false;
}

/* Whether a group of the document has the MLID of this group of the standby. */
static bool document_takes_mlid(const struct registry *document, const struct group_entry *own)
{
	const struct group_entry *group =
		registry_first(document, REGISTRY_GROUP, GROUP_BY_MLID, own);

	for (; group; group = registry_next(document, REGISTRY_GROUP, GROUP_BY_MLID, group))
		if (memcmp(group->mgid, own->mgid, GID_SIZE) != 0 &&
		    !mgids_may_share_mlid(group->mgid, own->mgid))
			return true;
	return false;
}

/* A full copy without a key does not replace records that the master cannot have sent. */
static bool follow_keeps(void *ctx, enum registry_kind kind, const void *record)
{
	const struct replica *replica = ctx;
	const struct follow *follow = &replica->follow;

	if (!copies_own(COPY_REGISTRATIONS, replica->registry, kind, record,
			replica->options.sa_public))
		return false;
	return kind != REGISTRY_GROUP ||
	       !document_takes_mlid(follow->document,
				    registry_find(replica->registry, REGISTRY_GROUP, record));
}

static bool take_whole(struct replica *replica, const struct frame *frame)
{
	struct follow *follow = &replica->follow;
	uint64_t numbers[2];

	if (!follow->document || !frame_numbers(frame, 2, numbers) || follow->batched ||
	    numbers[0] != follow->document_at || numbers[1] != follow->records)
		return disbelieve(replica, "its totals do not match its records");
	if (follow->copies != COPY_REGISTRATIONS && lacks_what_is_here(replica))
		return refuse_lack(replica);
	follow->taking = true;
	registry_follow(replica->registry, true);
	registry_replace_begin(&follow->replace, replica->registry, follow->document,
			       copies_spared(follow->copies));
	if (follow->copies == COPY_REGISTRATIONS)
		registry_replace_keep(&follow->replace, follow_keeps, replica);
	loop_defer(&follow->turn);
	return true;
}

/* Tables */

static bool take_table(struct replica *replica, const struct frame *frame)
{
	struct map *tables = &replica->follow.tables;
	struct table_cache_row news = {0};

	if (!copies_tables(replica->follow.copies))
		return disbelieve(replica, "it sent a table that this standby does not accept");
	if (table_cache_row_get(frame->body, frame->size, &news) != frame->size) {
		table_cache_row_done(&news);
		return disbelieve(replica, "a table is malformed");
	}
	if (replica->follow.copies != COPY_ALL && tables->count >= COPY_TABLES_MAX &&
	    !map_get(tables, news.guid)) { /* the switch has it, too */
		table_cache_row_done(&news);
		return true;
	}
	table_cache_row_merge(tables_row(tables, news.guid), &news);
	return true;
}

/* Groups change all the time: the multicast tables of a master count only if it was followed to
 * its end. */
void follow_give_tables(struct replica *replica, struct table_cache *cache)
{
	struct map *tables = &replica->follow.tables;
	bool fresh = loop_now_us(replica->loop) - replica->follow.heard_us <= SILENCE_US;
	struct table_cache_row *row;
	size_t at = 0;

	if (tables->count)
		table_cache_of(cache, replica->follow.master);

	while ((row = map_next(tables, &at))) {
		if (!fresh) {
			mft_row_unref(row->mft);
			row->mft = NULL;
		}
		table_cache_learn(cache, row);
		*row = (struct table_cache_row){.guid = row->guid};
	}
	tables_clear(tables);
}

/* Greetings */

static void follow_greeted(struct replica *replica, const struct hello *hello)
{
	struct follow *follow = &replica->follow;
	enum ha_copies copies = replica_copies(replica, follow->stream, hello->guid);

	follow->own_copies = (uint8_t)copies;
	follow->copies = (uint8_t)(hello->copies > copies ? hello->copies : copies);

	if (hello->incarnation != follow->incarnation)
		tables_clear(&follow->tables);
	if (hello->incarnation != follow->incarnation || !follow->goes_on) {
		/* If the full copy fails, the earlier copy may have fewer records than this
		 * connection allows. */
		forget_position(follow);
	} else {
		log_about(LOG_NOTICE, &subject,
			  "following master 0x%016" PRIx64 " at %s again, from change %" PRIu64,
			  hello->guid, follow->peers[follow->next], follow->position);
	}
	follow->incarnation = hello->incarnation;
	follow->number = hello->number;
	follow->master = hello->guid;
	follow->greeted = true;
	follow->parted = follow->waited_for = false;
	follow->tried = 0;
	follow->unserved = false;
	follow->since_us = loop_now_us(replica->loop);
	follow_acknowledge(replica);
}

/* A manager that cannot read the fabric follows any MASTER that proves the key. Without a key, only
 * the port of the MASTER can speak for it. */
static bool is_the_master(const struct replica *replica, guid_t guid)
{
	const struct stream *stream = replica->follow.stream;

	if (stream->in_clear)
		return guid == master_named(replica) && replica_is_at(stream, guid);
	return guid == master_named(replica) ||
	       (!master_named(replica) && replica_own_role(replica) != SM_STANDBY);
}

static bool follow_take_hello(struct replica *replica, const struct frame *frame)
{
	struct follow *follow = &replica->follow;
	char why[WHY_SIZE], what[WHY_SIZE];
	struct hello hello;
	bool must = false;

	if (hello_get(frame, &hello, why))
		return follow_refuse(replica, why);
	if (hello.role != SM_MASTER || !is_the_master(replica, hello.guid) || !hello.incarnation) {
		snprintf(why, sizeof(why),
			 "it is manager 0x%016" PRIx64 ", but the MASTER is 0x%016" PRIx64,
			 hello.guid, master_named(replica));
		if (hello.role == SM_MASTER)
			return follow_refuse(replica, why);
		follow_leave(replica, LOG_INFO, why);
		return false;
	}
	if (hello_differs(replica->options.config, hello.config, &must, what)) {
		snprintf(why, sizeof(why), "its configuration differs: %.200s", what);
		if (must)
			return follow_refuse(replica, why);
		follow_log(replica, LOG_WARNING, why);
	} else {
		follow->why[follow->next][0] = '\0';
	}
	follow_greeted(replica, &hello);
	return true;
}

static bool take_refusal(struct replica *replica, const struct frame *frame)
{
	char why[WHY_SIZE];

	snprintf(why, sizeof(why), "%.*s", (int)(frame->size < 200 ? frame->size : 200),
		 (const char *)frame->body);
	wire_clean(why);
	replica->follow.parted = replica->follow.greeted;
	follow_leave(replica, LOG_NOTICE, why);
	return false;
}

static bool take_heartbeat(struct replica *replica, const struct frame *frame)
{
	uint64_t numbers[2];

	if (!frame_numbers(frame, 2, numbers))
		return disbelieve(replica, "a frame is malformed");
	replica->follow.number = numbers[0];
	replica->follow.waited_for = numbers[1];
	follow_acknowledge(replica);
	return true;
}

/* Without a key, the standby stops following a former MASTER at once, before the next look at the
 * election. */
static bool follow_is_outdated(const struct replica *replica)
{
	const struct follow *follow = &replica->follow;
	guid_t named = master_named(replica);

	return follow->stream->in_clear && follow->greeted && !follow->taking && named &&
	       named != follow->master;
}

static bool follow_take_frame(void *ctx, const struct frame *frame)
{
	static bool (*const takers[FRAME_TYPES])(struct replica * replica,
						 const struct frame *frame) = {
		[FRAME_SNAPSHOT] = take_snapshot, [FRAME_RECORDS] = take_records,
		[FRAME_CHANGES] = take_changes,	  [FRAME_WHOLE] = take_whole,
		[FRAME_TABLE] = take_table,	  [FRAME_HEARTBEAT] = take_heartbeat,
	};
	struct replica *replica = ctx;
	struct follow *follow = &replica->follow;

	follow->heard_us = loop_now_us(replica->loop);
	if (follow_is_outdated(replica)) {
		follow_leave(replica, LOG_NOTICE, "another manager is MASTER");
		return false;
	}
	if (frame->type == FRAME_REFUSE)
		return take_refusal(replica, frame);
	if (!follow->greeted)
		return follow_take_hello(replica, frame);
	if (!takers[frame->type])
		return disbelieve(replica, "it sent a frame that no master sends");
	if (follow->taking)
		return disbelieve(replica,
				  "it did not wait for the acknowledgement of the full copy");
	return takers[frame->type](replica, frame);
}

static void follow_received(void *ctx, const uint8_t *bytes, size_t size)
{
	struct replica *replica = ctx;

	if (frame_take(&replica->follow.in, bytes, size, follow_take_frame, replica))
		disbelieve(replica, "it sent a malformed frame");
}

/* Finding the master */

static void opened(void *ctx)
{
	struct replica *replica = ctx;
	struct follow *follow = &replica->follow;

	enum ha_copies copies = replica_copies(replica, follow->stream, master_named(replica));

	follow->heard_us = loop_now_us(replica->loop);
	/* If more records may be copied now, a full copy is necessary. */
	follow->goes_on = follow->based && copies >= follow->copies;
	replica_greet(replica, follow->stream, copies, follow->goes_on ? follow->incarnation : 0,
		      follow->position);
}

static void follow_drained(void *ctx)
{
	struct replica *replica = ctx;

	if (replica->follow.owes_ack)
		follow_acknowledge(replica);
}

static bool may_follow(const struct replica *replica)
{
	const struct follow *follow = &replica->follow;

	return !follow->stream && !follow->taking && follow->num_peers &&
	       (master_named(replica) || replica_own_role(replica) != SM_STANDBY) &&
	       !registry_is_together(replica->registry);
}

static void try_next(struct replica *replica)
{
	struct follow *follow = &replica->follow;
	struct stream_user user = {.opened = opened,
				   .received = follow_received,
				   .drained = follow_drained,
				   .closed = follow_closed,
				   .ctx = replica};
	char why[STREAM_WHY_SIZE];

	follow->heard_us = loop_now_us(replica->loop);
	follow->stream = replica->carrier->ops->connect(replica->carrier,
							follow->peers[follow->next], &user, why);
	if (!follow->stream) {
		follow_log(replica, LOG_INFO, why);
		follow_step(follow);
	}
}

static void follow_retry(void *arg)
{
	struct replica *replica = arg;
	struct follow *follow = &replica->follow;
	uint64_t silent_us = loop_now_us(replica->loop) - follow->heard_us;

	if (!replica_may_follow(replica))
		return;
	follow_name_peer(replica);
	if (may_follow(replica))
		try_next(replica);
	else if (follow->stream && !follow->taking && silent_us > SILENCE_US)
		follow_leave(replica, LOG_NOTICE, "it has stopped sending");
	else if (follow->greeted && follow->stream && master_named(replica) &&
		 master_named(replica) != follow->master)
		follow_leave(replica, LOG_NOTICE, "another manager is MASTER");
	again(replica);
}

/* A master that is not among the peers cannot be followed: it is another program, or not
 * configured. A master that ended the connection itself had sent all changes. */
static bool follow_has_no_source(struct replica *replica)
{
	struct follow *follow = &replica->follow;
	uint64_t now_us = loop_now_us(replica->loop);

	if (!replica->options.inband)
		return !follow->num_peers ||
		       (!follow->stream && follow->tried >= follow->num_peers);
	if (!master_named(replica) || follow->unserved)
		return true;
	if (follow->greeted)
		return false;
	/* The master has found this manager, so the next attempt can succeed. A master that never
	 * answers is another program. */
	if (!follow->offered_us)
		follow->offered_us = now_us;
	if (now_us - follow->offered_us >= OFFERED_US)
		return true;
	if (!follow->stream)
		loop_timer_arm(&follow->retry, 1);
	return false;
}

bool follow_ready(struct replica *replica)
{
	const struct follow *follow = &replica->follow;

	if ((follow->stream ? follow->greeted : follow->parted) && follow->based &&
	    !follow->document && follow->acked >= follow->number)
		return true;
	return follow_has_no_source(replica);
}

/* While a master waits for this standby, it acknowledges no change that the standby lacks. It stops
 * waiting if the standby is unreachable for as long as it waits. */
bool follow_has_all(const struct replica *replica)
{
	const struct follow *follow = &replica->follow;
	uint64_t heard_us = follow->stream ? follow->heard_us : follow->left_us;

	return follow->based && follow->waited_for && !follow->document &&
	       follow->acked >= follow->number && loop_now_us(replica->loop) - heard_us < WAIT_US;
}

void follow_look(struct replica *replica)
{
	replica->follow.parted = false;
	replica->follow.tried = 0;
	replica->follow.unserved = false;
	replica->follow.offered_us = 0;
	/* Over the fabric, the master must have found this manager first. */
	if (follow_has_peers(replica))
		loop_timer_arm(&replica->follow.retry, replica->options.inband ? RETRY_US : 1);
}

/* Beginning and end */

struct peer_list {
	char peer[REPLICA_PEERS_MAX][STREAM_PEER_SIZE];
	unsigned count;
};

static struct peer_list split_peers(const char *text)
{
	struct peer_list list = {.count = 0};
	char *copy = mem_strdup(text), *rest = copy, *peer;

	while ((peer = strsep(&rest, ", ")) && list.count < REPLICA_PEERS_MAX)
		if (*peer)
			snprintf(list.peer[list.count++], STREAM_PEER_SIZE, "%.63s", peer);
	free(copy);
	return list;
}

static void take_peers(struct follow *follow, const struct peer_list *list)
{
	memcpy(follow->peers, list->peer, sizeof(follow->peers));
	memset(follow->why, 0, sizeof(follow->why));
	follow->num_peers = list->count;
	follow->next = 0;
	follow->tried = 0;
}

void follow_set_peers(struct replica *replica)
{
	struct follow *follow = &replica->follow;
	struct peer_list list = split_peers(replica->options.peers);
	unsigned place = 0;

	while (place < list.count && follow->stream &&
	       strcmp(list.peer[place], follow->peers[follow->next]) != 0)
		place++;
	if (follow->stream && place == list.count)
		follow_leave(replica, LOG_NOTICE, "it was removed from ha_peers");
	take_peers(follow, &list);
	if (follow->stream)
		follow->next = place;
	else if (follow->num_peers && replica_may_follow(replica))
		loop_timer_arm(&follow->retry, 1);
	if (!follow->num_peers)
		loop_timer_disarm(&follow->retry);
	log_about(LOG_NOTICE, &subject, "ha_peers changed: %s",
		  follow->num_peers ? replica->options.peers : "none");
}

void follow_init(struct replica *replica)
{
	struct follow *follow = &replica->follow;

	struct peer_list list = split_peers(replica->options.peers);

	take_peers(follow, &list);
	follow->limit = (struct log_limit){.burst = 20, .interval_us = 10000000};
	follow->arena = arena_new();
	follow->waiter = (struct registry_waiter){.durable = follow_durable, .ctx = replica};
	list_init(&follow->waiter.link);
	list_init(&follow->replace.cursor.link);
	map_init(&follow->tables);
	loop_timer_init(&follow->retry, replica->loop, "replica", follow_retry, replica);
	loop_deferred_init(&follow->turn, replica->loop, "replica taken over", follow_turn,
			   replica);
}

void follow_reconsider(struct replica *replica)
{
	struct follow *follow = &replica->follow;

	if (follow->stream && follow->greeted && !follow->taking &&
	    replica_copies(replica, follow->stream, follow->master) != follow->own_copies)
		follow_leave(replica, LOG_NOTICE, "allowed_sm_guids has changed");
}

/* From here on the history is that of this manager. */
void follow_end(struct replica *replica)
{
	struct follow *follow = &replica->follow;

	loop_timer_disarm(&follow->retry);
	loop_defer_cancel(&follow->turn);
	registry_replace_end(&follow->replace);
	follow->taking = false;
	if (follow->stream)
		stream_close(follow->stream, true);
	follow->stream = NULL;
	drop_parts(replica);
	forget_position(follow);
	follow->incarnation = 0;
	registry_follow(replica->registry, false);
}

void follow_done(struct replica *replica)
{
	struct follow *follow = &replica->follow;

	loop_timer_disarm(&follow->retry);
	loop_defer_cancel(&follow->turn);
	registry_walk_end(&follow->replace.cursor);
	if (follow->stream)
		stream_close(follow->stream, false);
	registry_wait_cancel(&follow->waiter);
	forget_document(follow);
	tables_clear(&follow->tables);
	arena_free(follow->arena);
}

/* Status */

static const char *follow_state_text(const struct follow *follow, bool inband)
{
	if (!follow->stream)
		return follow->num_peers || inband ? "looks for the master" : "no ha_peers";
	if (!follow->greeted)
		return "connects";
	if (follow->document)
		return follow->taking ? "stores the full copy" : "receives the full copy";
	return "follows";
}

static json_t *peers_json(const struct follow *follow)
{
	json_t *peers = json_array();

	for (unsigned i = 0; i < follow->num_peers; i++)
		json_array_append_new(peers, json_pack("{s:s,s:s}", "address", follow->peers[i],
						       "why", follow->why[i]));
	return peers;
}

uint64_t follow_lag(const struct follow *follow)
{
	return follow->number > follow->acked ? follow->number - follow->acked : 0;
}

json_t *follow_status(const struct replica *replica)
{
	const struct follow *follow = &replica->follow;
	uint64_t now_us = loop_now_us(replica->loop);
	json_t *master;

	if (!replica_may_follow(replica))
		return json_pack("{s:n,s:o}", "master", "peers", peers_json(follow));
	master = json_pack("{s:s,s:s,s:I,s:I,s:I,s:I}", "state",
			   follow_state_text(follow, replica->options.inband), "address",
			   follow->num_peers ? follow->peers[follow->next] : "", "position",
			   (json_int_t)follow->position, "acked", (json_int_t)follow->acked, "lag",
			   (json_int_t)follow_lag(follow), "tables",
			   (json_int_t)follow->tables.count);
	json_object_set_new(master, "other_partitions",
			    json_boolean(replica->owner.unlike(replica->owner.ctx)));
	if (follow->stream && follow->greeted) {
		json_object_set_new(master, "copies", json_string(copies_name(follow->copies)));
		json_object_set_new(master, "left_out", json_integer((json_int_t)follow->left_out));
		json_object_set_new(master, "guid", json_sprintf("0x%016" PRIx64, follow->master));
		json_object_set_new(
			master, "since_s",
			json_integer((json_int_t)((now_us - follow->since_us) / 1000000)));
		json_object_set_new(master, "last_seen_ms",
				    json_integer((json_int_t)((now_us - follow->heard_us) / 1000)));
		/* Its former name, for one release. */
		json_object_set(master, "heard_ms", json_object_get(master, "last_seen_ms"));
	}
	return json_pack("{s:o,s:o}", "master", master, "peers", peers_json(follow));
}

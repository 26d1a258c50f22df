/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The master's half: a journal of the last changes, and a session for each standby. A session sends
 * frame by frame while its stream has room, and continues when the stream has drained. So a slow
 * standby costs only room in the journal. A standby whose next change is no longer in the journal
 * gets a full copy again.
 *
 * A full copy is a walk over the registry, over many turns, and then the changes since its begin. A
 * change that the walk has already included is applied twice, with the same result.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ha/parts.h"
#include "lib/guid.h"
#include "lib/mem.h"

enum {
	SESSIONS_MAX = 8,
	FRAMES_A_TURN = 4,
	RECORDS_A_FRAME = 200,
	SWITCHES_A_TURN = 2000, /* that are looked at */
	JOURNAL_MIN = 1024,
	JOURNAL_MAX = 262144,
	OUT_US =
		30000000, /* after a missed acknowledgement, until a standby can be in sync again */
	MFT_US = 1000000, /* delay from a change of groups to the rows of multicast tables */
};

static const struct log_subject subject = {.message_id = MESSAGE_REPLICA};

/* The journal */

static struct journal_entry *entry_at(const struct journal *journal, uint64_t number)
{
	return &journal->entries[number & (journal->room - 1)];
}

static void journal_begin(struct journal *journal, uint64_t number)
{
	while (journal->first <= journal->last)
		registry_unref(entry_at(journal, journal->first++)->record);
	free(journal->entries);
	*journal = (struct journal){.first = number + 1, .last = number, .complete = number};
}

/* Counts a change without keeping it: a standby that connects later gets a full copy. */
static void journal_pass(struct journal *journal, uint64_t number)
{
	uint64_t complete = journal->complete;

	journal_begin(journal, number);
	journal->complete = complete;
}

static void journal_grow(struct journal *journal)
{
	struct journal bigger = *journal;

	bigger.room = journal->room ? 2 * journal->room : JOURNAL_MIN;
	bigger.entries = mem_array(bigger.room, sizeof(*bigger.entries));
	for (uint64_t number = journal->first; number <= journal->last; number++)
		*entry_at(&bigger, number) = *entry_at(journal, number);
	free(journal->entries);
	*journal = bigger;
}

/* Records now whether the change may go to sessions with COPY_REGISTRATIONS: the group of a member
 * may be gone later. */
static void journal_add(struct replica *replica, const struct registry_change *change)
{
	struct journal *journal = &replica->lead.journal;
	const void *record = change->after ? change->after : change->before;

	if (journal->last - journal->first + 1 == journal->room) {
		if (journal->room < JOURNAL_MAX)
			journal_grow(journal);
		else
			registry_unref(entry_at(journal, journal->first++)->record);
	}
	journal->last = change->number;
	*entry_at(journal, change->number) = (struct journal_entry){
		.record = registry_ref(record),
		.kind = change->kind,
		.drop = !change->after,
		.more = true,
		.open = copies_record(COPY_REGISTRATIONS, replica->registry, change->kind, record,
				      replica->options.sa_public),
	};
}

/* The end of the batches that begin after from, as far as they together fit into what a standby
 * takes at once. 0: the first batch alone is larger. */
static uint64_t journal_batch_end(const struct journal *journal, uint64_t from)
{
	uint64_t end = 0;

	for (uint64_t number = from + 1;
	     number <= journal->complete && number <= from + FRAME_CHANGES_MAX; number++)
		if (!entry_at(journal, number)->more)
			end = number;
	return end;
}

/* Durability */

/* Whether changes wait for this standby. A standby without a key lacks some registrations, and any
 * program could have sent its acknowledgements. */
static bool session_keeps(const struct session *session)
{
	return session->in_sync && session->copies == COPY_ALL;
}

static unsigned num_keeping(const struct replica *replica)
{
	unsigned count = 0;

	list_for_each (link, &replica->lead.sessions)
		count += session_keeps(container_of(link, struct session, link));
	return count;
}

/* A session of this standby for which fits() holds; NULL: there is none. */
static const struct session *find_session(const struct replica *replica, guid_t guid,
					  bool (*fits)(const struct session *session))
{
	list_for_each (link, &replica->lead.sessions) {
		const struct session *session = container_of(link, struct session, link);

		if (session->guid == guid && fits(session))
			return session;
	}
	return NULL;
}

static bool session_is_in_sync(const struct session *session)
{
	return session->in_sync;
}

bool lead_in_sync(const struct replica *replica, guid_t guid)
{
	return find_session(replica, guid, session_is_in_sync);
}

bool lead_has(const struct replica *replica, guid_t guid)
{
	list_for_each (link, &replica->lead.sessions) {
		const struct session *session = container_of(link, struct session, link);

		if (session->guid && (!guid || session->guid == guid))
			return true;
	}
	return false;
}

bool lead_copies_all(const struct replica *replica, guid_t guid)
{
	return find_session(replica, guid, session_keeps);
}

static bool session_is_greeted(const struct session *session)
{
	return session->state != SESSION_GREETING;
}

bool lead_copies_kind(const struct replica *replica, guid_t guid, enum registry_kind kind)
{
	const struct session *session = find_session(replica, guid, session_is_greeted);

	return session && copies_kind(session->copies, kind);
}

static void wait_for_standbys(struct replica *replica)
{
	struct lead *lead = &replica->lead;

	lead->wanted = registry_number(replica->registry);
	if (!registry_keeps(replica->registry, KEPT_BY_STANDBY) ||
	    (lead->kept >= lead->wanted && num_keeping(replica)))
		loop_timer_disarm(&lead->overdue);
	else
		loop_timer_arm(&lead->overdue, WAIT_US);
}

static void go_local(struct replica *replica, const char *why)
{
	loop_timer_disarm(&replica->lead.overdue);
	if (!registry_keeps(replica->registry, KEPT_BY_STANDBY))
		return;
	log_limited(&replica->lead.limit, LOG_WARNING, &subject,
		    "durability changed to local: %s; registrations are acknowledged when the "
		    "store of this manager has them",
		    why);
	registry_keep(replica->registry, KEPT_BY_STANDBY, false);
}

/* The last change that all standbys have, if changes wait for them. */
static void count_kept(struct replica *replica)
{
	struct lead *lead = &replica->lead;
	uint64_t kept = UINT64_MAX;

	if (!num_keeping(replica) || !registry_keeps(replica->registry, KEPT_BY_STANDBY))
		return;
	list_for_each (link, &lead->sessions) {
		const struct session *session = container_of(link, struct session, link);

		if (session_keeps(session) && session->acked < kept)
			kept = session->acked;
	}
	if (kept <= lead->kept)
		return;
	lead->kept = kept;
	if (kept >= lead->wanted)
		wait_for_standbys(replica);
	registry_kept(replica->registry, KEPT_BY_STANDBY, kept);
}

/* The heartbeat also shows whether changes wait for this standby. If not, the standby may lack
 * acknowledged changes. */
static void send_heartbeat(struct session *session)
{
	struct replica *replica = session->replica;

	frame_begin(&replica->out, FRAME_HEARTBEAT);
	frame_number(&replica->out, replica->lead.journal.complete);
	frame_number(&replica->out,
		     session_keeps(session) && registry_keeps(replica->registry, KEPT_BY_STANDBY));
	frame_end(&replica->out);
	replica_send(replica, session->stream);
}

static void session_overdue(void *arg)
{
	struct replica *replica = arg;

	list_for_each (link, &replica->lead.sessions) {
		struct session *session = container_of(link, struct session, link);

		if (!session_keeps(session) || session->acked >= replica->lead.wanted)
			continue;
		session->in_sync = false;
		session->out_until_us = loop_now_us(replica->loop) + OUT_US;
		send_heartbeat(session);
		log_limited(&replica->lead.limit, LOG_WARNING, &subject,
			    "standby 0x%016" PRIx64 " at %s is out of sync, %" PRIu64
			    " changes behind: changes no longer wait for it",
			    session->guid, session->stream->peer,
			    replica->lead.journal.last - session->acked);
	}
	if (num_keeping(replica)) {
		count_kept(replica);
		wait_for_standbys(replica);
	} else {
		go_local(replica, "no standby is in sync");
	}
}

/* A standby that was out of sync is not in sync again at once. */
static bool may_be_in_sync(const struct session *session)
{
	const struct replica *replica = session->replica;

	return session->state == SESSION_FOLLOWING && !session->in_sync &&
	       replica->lead.journal.last - session->acked <= FRAME_CHANGES_MAX &&
	       loop_now_us(replica->loop) >= session->out_until_us;
}

static void set_in_sync(struct session *session)
{
	struct replica *replica = session->replica;

	session->in_sync = true;
	log_limited(&replica->lead.limit, LOG_NOTICE, &subject,
		    "standby 0x%016" PRIx64 " at %s is in sync", session->guid,
		    session->stream->peer);
	if (replica->options.durability != DURABILITY_STANDBY || !session_keeps(session))
		return;
	if (!registry_keeps(replica->registry, KEPT_BY_STANDBY)) {
		replica->lead.kept = registry_number(replica->registry);
		registry_keep(replica->registry, KEPT_BY_STANDBY, true);
		log_limited(&replica->lead.limit, LOG_NOTICE, &subject,
			    "durability changed to standby: registrations are acknowledged when "
			    "the standby has them");
	}
	send_heartbeat(session);
	wait_for_standbys(replica);
}

/* Ending a session */

static void session_end(struct session *session)
{
	struct replica *replica = session->replica;

	registry_walk_end(&session->cursor);
	loop_defer_cancel(&session->pump);
	tables_clear(&session->tables);
	list_del(&session->link);
	replica->lead.num_sessions--;
	if (session->state != SESSION_GREETING)
		replica->lead.resumable_us = loop_now_us(replica->loop) + ALONE_US;
	free(session);
	if (replica->lead.leads)
		wait_for_standbys(replica);
}

static void session_gone(struct session *session, const char *why)
{
	if (session->state != SESSION_GREETING)
		log_limited(&session->replica->lead.limit, LOG_NOTICE, &subject,
			    "lost standby 0x%016" PRIx64 " at %s: %s", session->guid,
			    session->stream->peer, why);
	session_end(session);
}

static void session_closed(void *ctx, const char *why)
{
	session_gone(ctx, why);
}

static void lead_refuse(struct session *session, const char *why)
{
	struct replica *replica = session->replica;

	frame_begin(&replica->out, FRAME_REFUSE);
	frame_bytes(&replica->out, why, strlen(why));
	frame_end(&replica->out);
	replica_send(replica, session->stream);
	stream_close(session->stream, true);
	session_end(session);
}

/* For a violation of the protocol. The peer has proved the key, so it gets the reason. */
static void refuse_loudly(struct session *session, const char *why)
{
	session->replica->refusals.standbys++;
	log_limited(&session->replica->lead.limit, LOG_WARNING, &subject,
		    "refused standby at %s: %s", session->stream->peer, why);
	lead_refuse(session, why);
}

/* Sending */

static void session_begin_walk(struct session *session)
{
	struct replica *replica = session->replica;

	registry_walk_end(&session->cursor);
	registry_walk(replica->registry, REGISTRY_LID, -1, NULL, &session->cursor);
	session->state = SESSION_WALKING;
	session->in_sync = false;
	session->records = 0;
	session->sent = replica->lead.journal.complete;
	frame_begin(&replica->out, FRAME_SNAPSHOT);
	frame_number(&replica->out, session->sent);
	frame_end(&replica->out);
	replica_send(replica, session->stream);
}

/* Without a key, a standby gets the records that the SA shows to its port. */
static bool session_is_shown(const struct session *session, enum registry_kind kind,
			     const void *record)
{
	const struct replica_owner *owner = &session->replica->owner;
	guid_t port = copies_subject(kind, record);

	return session->copies != COPY_REGISTRATIONS ||
	       owner->shown(owner->ctx, session->guid, port ? port : session->guid);
}

/* Whether the standby of this session gets the record at the cursor. */
static bool session_may_have(const struct session *session, const void *record)
{
	const struct replica *replica = session->replica;

	return copies_record(session->copies, replica->registry, session->cursor.kind, record,
			     replica->options.sa_public) &&
	       session_is_shown(session, session->cursor.kind, record);
}

/* Returns false at the end of the walk over all kinds. Skips at most *passed records. */
static bool next_record(struct session *session, struct wire_change *out, unsigned *passed)
{
	const void *record;

	while (*passed) {
		enum registry_kind kind = session->cursor.kind;

		record = copies_kind(session->copies, kind) ? registry_walk_next(&session->cursor)
							    : NULL;
		if (record && session_may_have(session, record)) {
			*out = (struct wire_change){.kind = kind,
						    .record =
							    copies_blank(session->copies, kind,
									 record, &session->blank)};
			return true;
		}
		if (record) {
			--*passed;
			continue;
		}
		if (kind + 1 == REGISTRY_KINDS)
			return false;
		registry_walk_end(&session->cursor);
		registry_walk(session->replica->registry, kind + 1, -1, NULL, &session->cursor);
	}
	return false;
}

static bool send_records(struct session *session)
{
	struct replica *replica = session->replica;
	unsigned count = 0, passed = RECORDS_A_FRAME;
	struct wire_change change;
	bool ends;

	changes_begin(&replica->out, FRAME_RECORDS, session->records);
	while (count < RECORDS_A_FRAME && next_record(session, &change, &passed)) {
		changes_add(&replica->out, &change); /* this number always fits */
		count++;
	}
	ends = count < RECORDS_A_FRAME && passed;
	changes_end(&replica->out, ends);
	replica_send(replica, session->stream);
	session->records += count;
	if (ends) {
		registry_walk_end(&session->cursor);
		session->walked = registry_number(replica->registry);
		session->state = SESSION_CLOSING;
	}
	return true;
}

/* The change with this number, as the standby of this session gets it. */
static struct wire_change session_change(struct session *session, uint64_t number)
{
	const struct journal_entry *entry = entry_at(&session->replica->lead.journal, number);
	bool may_have = session->copies == COPY_REGISTRATIONS
				? entry->open
				: copies_kind(session->copies, entry->kind);

	/* The port may have left the partition: then the standby must not get its records. */
	if (may_have && !entry->drop)
		may_have = session_is_shown(session, entry->kind, entry->record);

	return (struct wire_change){.kind = entry->kind,
				    .drop = entry->drop,
				    .skipped = !may_have,
				    .record = copies_blank(session->copies, entry->kind,
							   entry->record, &session->blank)};
}

/* Sends the changes that were not sent yet, up to the end of a batch, in as many frames as
 * necessary. */
static void send_changes(struct session *session, uint64_t end)
{
	struct replica *replica = session->replica;

	while (session->sent < end) {
		changes_begin(&replica->out, FRAME_CHANGES, session->sent + 1);
		while (session->sent < end) {
			struct wire_change change = session_change(session, session->sent + 1);

			if (!changes_add(&replica->out, &change))
				break;
			session->sent++;
		}
		changes_end(&replica->out, session->sent == end);
		replica_send(replica, session->stream);
	}
}

/* Sends the changes since the begin of the walk. After them the copy equals the registry at one
 * change number. */
static bool send_closing(struct session *session)
{
	struct replica *replica = session->replica;
	const struct journal *journal = &replica->lead.journal;
	uint64_t end = session->sent + RECORDS_A_FRAME;

	if (session->sent + 1 < journal->first) { /* the journal no longer has the next change */
		session_begin_walk(session);
		return true;
	}
	if (session->sent < journal->complete) {
		send_changes(session, end < journal->complete ? end : journal->complete);
		return true;
	}
	if (session->walked > journal->complete) /* the walk saw a part of a unit of changes */
		return false;
	frame_begin(&replica->out, FRAME_WHOLE);
	frame_number(&replica->out, session->sent);
	frame_number(&replica->out, session->records);
	frame_end(&replica->out);
	replica_send(replica, session->stream);
	session->state = SESSION_TAKING;
	return true;
}

static void send_row(struct session *session, size_t size, const struct table_cache_row *news)
{
	struct replica *replica = session->replica;
	uint8_t *room;

	frame_begin(&replica->out, FRAME_TABLE);
	room = frame_room(&replica->out, size);
	if (news->lft)
		table_cache_lft_put(news->guid, news->lft, room);
	else
		table_cache_mft_put(news->guid, news->mft, news->mft_top, room);
	frame_end(&replica->out);
	replica_send(replica, session->stream);
	table_cache_row_merge(tables_row(&session->tables, news->guid), news);
}

static bool send_lft(struct session *session, const struct node *node)
{
	const struct table_cache_row *sent = map_get(&session->tables, node->guid);
	struct lft *lft = node->sw->lft.settled ? node->sw->lft.have.base : NULL;

	if (!lft || (sent && sent->lft == lft) || table_cache_lft_size(lft) > FRAME_BODY_MAX)
		return false;
	send_row(session, table_cache_lft_size(lft),
		 &(struct table_cache_row){.guid = node->guid, .lft = lft_ref(lft)});
	return true;
}

/* A table that is changing is sent later. A table that is longer than a frame is not sent: a
 * standby reads it from the switch. */
static bool send_mft(struct session *session, const struct node *node)
{
	const struct table_cache_row *sent = map_get(&session->tables, node->guid);
	struct mft_row *mft = node->sw->mft ? mft_row(node->sw->mft) : NULL;
	lid_t top = node->facts->sw.multicast_fdb_top;

	if (!mft || !mft->blocks || (sent && sent->mft == mft && sent->mft_top == top) ||
	    table_cache_mft_size(mft) > FRAME_BODY_MAX) {
		mft_row_unref(mft);
		return false;
	}
	send_row(session, table_cache_mft_size(mft),
		 &(struct table_cache_row){.guid = node->guid, .mft = mft, .mft_top = top});
	return true;
}

static bool send_tables(struct session *session)
{
	const struct roster *roster = fabric_roster(session->replica->fabric);

	if (!copies_tables(session->copies))
		return false;
	for (unsigned i = 0; i < SWITCHES_A_TURN && session->table_at < roster->num_switches; i++) {
		const struct node *node = roster->switches[session->table_at];

		if (send_lft(session, node) || send_mft(session, node))
			return true;
		session->table_at++;
	}
	return session->table_at < roster->num_switches;
}

/* Sends changes before tables. */
static bool send_news(struct session *session)
{
	const struct journal *journal = &session->replica->lead.journal;
	uint64_t end;

	if (session->sent == journal->complete)
		return send_tables(session);
	end = session->sent + 1 < journal->first ? 0 : journal_batch_end(journal, session->sent);
	if (end)
		send_changes(session, end);
	else
		session_begin_walk(session);
	return true;
}

static bool send_some(struct session *session)
{
	switch (session->state) {
	case SESSION_WALKING:
		return send_records(session);
	case SESSION_CLOSING:
		return send_closing(session);
	case SESSION_FOLLOWING:
		return send_news(session);
	case SESSION_GREETING:
	case SESSION_TAKING:
		break;
	}
	return false;
}

static void session_pump(void *arg)
{
	struct session *session = arg;

	for (unsigned i = 0; i < FRAMES_A_TURN; i++) {
		if (stream_waiting(session->stream) >= STREAM_LOW_BYTES)
			return; /* session_drained() continues */
		if (!send_some(session))
			return;
	}
	loop_defer(&session->pump);
}

static void session_drained(void *ctx)
{
	loop_defer(&((struct session *)ctx)->pump);
}

/* Receiving */

static const char *hello_refusal(struct session *session, const struct frame *frame,
				 struct hello *hello, char why[FRAME_WHY_SIZE], bool *loud)
{
	struct replica *replica = session->replica;
	char what[FRAME_WHY_SIZE];
	bool must = false;

	*loud = true;
	if (hello_get(frame, hello, why))
		return why;
	if (hello->guid == *replica->own) {
		*loud = false;
		return "it is this manager itself: ha_peers contains its own address";
	}
	if (session->stream->in_clear && !replica_is_at(session->stream, hello->guid))
		return "its GUID is not that of its port";
	if (hello_differs(replica->options.config, hello->config, &must, what)) {
		snprintf(why, FRAME_WHY_SIZE, "its configuration differs: %.200s", what);
		if (must)
			return why;
		log_limited(
			&replica->lead.limit, LOG_WARNING, &subject,
			"standby 0x%016" PRIx64
			" at %s has another configuration, which takes effect if it takes over: %s",
			hello->guid, session->stream->peer, what);
	}
	*loud = false;
	return replica->lead.leads ? NULL : "this manager is not MASTER";
}

/* Continues at the position of the standby, if that is known. */
static void session_greeted(struct session *session, const struct hello *hello)
{
	struct replica *replica = session->replica;
	struct lead *lead = &replica->lead;
	bool same = hello->incarnation == lead->incarnation;

	session->guid = hello->guid;
	session->own_copies = (uint8_t)replica_copies(replica, session->stream, hello->guid);
	session->copies = session->own_copies;
	if (session->copies < hello->copies)
		session->copies = hello->copies;
	if (same && hello->number > lead->journal.last)
		log_limited(&lead->limit, LOG_WARNING, &subject,
			    "standby 0x%016" PRIx64 " at %s reports change %" PRIu64
			    ", but the latest is %" PRIu64 ": sending a full copy",
			    hello->guid, session->stream->peer, hello->number, lead->journal.last);
	if (same && hello->number + 1 >= lead->journal.first &&
	    hello->number <= lead->journal.complete) {
		replica_greet(replica, session->stream, session->copies, lead->incarnation,
			      hello->number);
		session->sent = hello->number;
		session->state = SESSION_FOLLOWING;
	} else {
		replica_greet(replica, session->stream, session->copies, lead->incarnation,
			      lead->journal.complete);
		session_begin_walk(session);
	}
	loop_defer(&session->pump);
}

/* After a failover, such a standby finds no nodes, unless it has the keys from another source. */
static void warn_of_m_keys(const struct session *session)
{
	struct replica *replica = session->replica;

	if (session->copies != COPY_ALL && registry_count(replica->registry, REGISTRY_M_KEY))
		log_limited(&replica->lead.limit, LOG_WARNING, &subject,
			    "standby 0x%016" PRIx64
			    " at %s does not get the M_Keys, because it has proved no key: set the "
			    "same ha_psk_file on all managers",
			    session->guid, session->stream->peer);
}

static bool session_take_hello(struct session *session, const struct frame *frame)
{
	char text[FRAME_WHY_SIZE];
	struct hello hello;
	bool loud;
	const char *why = hello_refusal(session, frame, &hello, text, &loud);

	if (!why) {
		session_greeted(session, &hello);
		warn_of_m_keys(session);
		return true;
	}
	if (loud)
		refuse_loudly(session, why);
	else
		lead_refuse(session, why);
	return false;
}

static bool take_ack(struct session *session, const struct frame *frame)
{
	uint64_t numbers[2];

	if (!frame_numbers(frame, 2, numbers) || numbers[0] > session->sent || numbers[1] > 1) {
		refuse_loudly(session, "it acknowledged a change that was not sent");
		return false;
	}
	if (numbers[1] && !session->degraded)
		log_limited(&session->replica->lead.limit, LOG_WARNING, &subject,
			    "standby 0x%016" PRIx64
			    " at %s has the registrations in memory only: its store is degraded",
			    session->guid, session->stream->peer);
	session->degraded = numbers[1];
	if (numbers[0] > session->acked)
		session->acked = numbers[0];
	if (session->state == SESSION_TAKING && session->acked == session->sent) {
		session->state = SESSION_FOLLOWING;
		loop_defer(&session->pump);
	}
	if (may_be_in_sync(session))
		set_in_sync(session);
	count_kept(session->replica);
	return true;
}

static bool session_take_frame(void *ctx, const struct frame *frame)
{
	struct session *session = ctx;

	session->heard_us = loop_now_us(session->replica->loop);
	if (session->state == SESSION_GREETING)
		return session_take_hello(session, frame);
	if (frame->type == FRAME_ACK)
		return take_ack(session, frame);
	refuse_loudly(session, "it sent a frame that no standby sends");
	return false;
}

static void session_received(void *ctx, const uint8_t *bytes, size_t size)
{
	struct session *session = ctx;

	if (frame_take(&session->in, bytes, size, session_take_frame, session))
		refuse_loudly(session, "it sent a malformed frame");
}

/* What may be copied over a new stream. Over the fabric, the address of the stream is the port of
 * the standby. */
static enum ha_copies expected_copies(const struct replica *replica, const struct stream *stream)
{
	guid_t guid = 0;

	guid_parse(stream->peer, &guid);
	return replica_copies(replica, stream, guid);
}

/* The latest of the sessions with the fewest records. So a port that may get fewer records cannot
 * take the place of a standby that may get more. */
static struct session *worst_session(const struct replica *replica)
{
	struct session *worst = NULL;

	list_for_each (link, &replica->lead.sessions) {
		struct session *session = container_of(link, struct session, link);

		if (!worst || session->own_copies >= worst->own_copies)
			worst = session;
	}
	return worst;
}

static void accepted(void *ctx, struct stream *stream)
{
	struct replica *replica = ctx;
	struct session *session = mem_zalloc(sizeof(*session)), *worst;

	session->replica = replica;
	session->stream = stream;
	session->heard_us = session->since_us = loop_now_us(replica->loop);
	list_init(&session->link);
	list_init(&session->cursor.link);
	map_init(&session->tables);
	loop_deferred_init(&session->pump, replica->loop, "replica", session_pump, session);
	stream->user = (struct stream_user){.received = session_received,
					    .drained = session_drained,
					    .closed = session_closed,
					    .ctx = session};
	session->own_copies = (uint8_t)expected_copies(replica, stream);
	list_push(&replica->lead.sessions, &session->link);
	if (++replica->lead.num_sessions <= SESSIONS_MAX)
		return;
	worst = worst_session(replica);
	refuse_loudly(worst, worst == session ? "too many standbys are connected"
					      : "too many standbys are connected, and this "
						"standby gets fewer records than another");
}

static void lead_connection_refused(void *ctx, const char *peer, const char *why)
{
	struct replica *replica = ctx;

	replica->refusals.connections++;
	log_limited(&replica->lead.strangers, LOG_WARNING, &subject,
		    "refused connection from %s%s: %s", peer,
		    replica->options.listen[0] ? " to ha_listen" : " over the fabric", why);
}

/* Time */

static bool session_is_silent(const struct session *session)
{
	uint64_t patience_us = session->state == SESSION_TAKING ? TAKING_US : SILENCE_US;

	return loop_now_us(session->replica->loop) - session->heard_us > patience_us;
}

static void heartbeat(void *arg)
{
	struct replica *replica = arg;

	loop_timer_arm(&replica->lead.heartbeat, HEARTBEAT_US);
	list_for_each (link, &replica->lead.sessions) {
		struct session *session = container_of(link, struct session, link);

		if (session_is_silent(session)) {
			stream_close(session->stream, false);
			session_gone(session, "it has stopped sending or reading");
		} else if (session->state != SESSION_GREETING && session->state != SESSION_TAKING &&
			   stream_waiting(session->stream) < STREAM_LOW_BYTES) {
			send_heartbeat(session);
		}
	}
}

/* Changes of one turn of the loop form one batch. */
static void lead_settle(void *arg)
{
	struct replica *replica = arg;
	struct journal *journal = &replica->lead.journal;

	if (registry_is_together(replica->registry) || journal->complete == journal->last)
		return;
	if (journal->last >= journal->first)
		entry_at(journal, journal->last)->more = false;
	journal->complete = journal->last;
	if (!loop_timer_armed(&replica->lead.overdue))
		wait_for_standbys(replica);
	list_for_each (link, &replica->lead.sessions)
		session_pump(container_of(link, struct session, link));
}

/* A standby that was not connected before gets a full copy. */
static void lead_registry_changed(void *ctx, const struct registry_change *change)
{
	struct replica *replica = ctx;
	struct lead *lead = &replica->lead;

	if (lead->num_sessions || loop_now_us(replica->loop) < lead->resumable_us)
		journal_add(replica, change);
	else
		journal_pass(&lead->journal, change->number);
	loop_defer(&replica->lead.settle);
}

static void lead_registry_whole(void *ctx)
{
	struct replica *replica = ctx;

	loop_defer(&replica->lead.settle);
}

/* Tables */

void lead_touch_tables(struct replica *replica)
{
	list_for_each (link, &replica->lead.sessions) {
		struct session *session = container_of(link, struct session, link);

		session->table_at = 0;
		loop_defer(&session->pump);
	}
}

static void tables_changed(void *arg)
{
	lead_touch_tables(arg);
}

void lead_touch_mft(struct replica *replica)
{
	if (replica->lead.leads && !loop_timer_armed(&replica->lead.tables))
		loop_timer_arm(&replica->lead.tables, MFT_US);
}

/* Beginning and end */

int lead_init(struct replica *replica, char why[STREAM_WHY_SIZE])
{
	struct lead *lead = &replica->lead;
	struct stream_listener listener = {
		.accepted = accepted, .refused = lead_connection_refused, .ctx = replica};

	lead->journal.first = 1;
	lead->limit = (struct log_limit){.burst = 20, .interval_us = 10000000};
	lead->strangers = lead->limit;
	lead->reader = (struct registry_reader){
		.changed = lead_registry_changed, .whole = lead_registry_whole, .ctx = replica};
	list_init(&lead->reader.link);
	list_init(&lead->sessions);
	loop_deferred_init(&lead->settle, replica->loop, "replica", lead_settle, replica);
	loop_timer_init(&lead->heartbeat, replica->loop, "replica heartbeat", heartbeat, replica);
	loop_timer_init(&lead->overdue, replica->loop, "replica overdue", session_overdue, replica);
	loop_timer_init(&lead->tables, replica->loop, "replica tables", tables_changed, replica);
	if (!replica_serves(replica))
		return 0;
	loop_timer_arm(&lead->heartbeat, HEARTBEAT_US);
	return replica->carrier->ops->listen(replica->carrier, replica->options.listen, &listener,
					     why);
}

void lead_begin(struct replica *replica)
{
	struct lead *lead = &replica->lead;

	if (!replica_serves(replica))
		return;
	if (replica->options.inband && !replica->options.keyed &&
	    replica->options.durability == DURABILITY_STANDBY)
		log_about(LOG_WARNING, &subject,
			  "durability = \"standby\" has no effect without a key: set the same "
			  "ha_psk_file on all managers");
	lead->leads = true;
	lead->resumable_us = 0;
	lead->incarnation = loop_random(replica->loop) | 1;
	journal_begin(&lead->journal, registry_number(replica->registry));
	registry_read(replica->registry, &lead->reader);
}

void lead_end(struct replica *replica)
{
	struct lead *lead = &replica->lead;

	if (lead->leads) {
		lead_settle(
			replica); /* a manager that takes over has the changes of this turn, too */
		registry_unread(&lead->reader);
		loop_defer_cancel(&lead->settle);
		loop_timer_disarm(&lead->overdue);
		loop_timer_disarm(&lead->tables);
		lead->leads = false;
		registry_keep(replica->registry, KEPT_BY_STANDBY, false);
	}
	list_for_each (link, &lead->sessions)
		lead_refuse(container_of(link, struct session, link), "this manager is not MASTER");
}

void lead_reconsider(struct replica *replica)
{
	list_for_each (link, &replica->lead.sessions) {
		struct session *session = container_of(link, struct session, link);

		if (session->state == SESSION_GREETING ||
		    replica_copies(replica, session->stream, session->guid) == session->own_copies)
			continue;
		stream_close(session->stream, false);
		session_gone(session, "allowed_sm_guids has changed");
	}
}

void lead_done(struct replica *replica)
{
	struct lead *lead = &replica->lead;

	lead->leads = false;
	list_for_each (link, &lead->sessions) {
		struct session *session = container_of(link, struct session, link);

		stream_close(session->stream, false);
		session_end(session);
	}
	registry_unread(&lead->reader);
	loop_defer_cancel(&lead->settle);
	loop_timer_disarm(&lead->heartbeat);
	loop_timer_disarm(&lead->overdue);
	loop_timer_disarm(&lead->tables);
	journal_begin(&lead->journal, 0);
}

/* Status */

static const char *session_state_text(const struct session *session)
{
	static const char *const texts[] = {
		[SESSION_GREETING] = "connected",
		[SESSION_WALKING] = "receives the full copy",
		[SESSION_CLOSING] = "receives the full copy",
		[SESSION_TAKING] = "stores the full copy",
		[SESSION_FOLLOWING] = "behind",
	};

	return session->in_sync ? "in sync" : texts[session->state];
}

/* The number of changes that the standby does not have yet. */
static uint64_t session_lag(const struct session *session)
{
	uint64_t last = session->replica->lead.journal.last;

	return last > session->acked ? last - session->acked : 0;
}

static json_t *session_json(const struct session *session)
{
	const struct replica *replica = session->replica;
	uint64_t now_us = loop_now_us(replica->loop);
	json_int_t seen_ms = (json_int_t)((now_us - session->heard_us) / 1000);
	json_t *json = json_pack(
		"{s:s,s:s,s:o,s:s,s:s*,s:I,s:I,s:I,s:I,s:I,s:s}", "address", session->stream->peer,
		"identity", session->stream->identity, "guid",
		json_sprintf("0x%016" PRIx64, session->guid), "state", session_state_text(session),
		"role", replica->owner.role_of(replica->owner.ctx, session->guid), "acked",
		(json_int_t)session->acked, "lag", (json_int_t)session_lag(session), "since_s",
		(json_int_t)((now_us - session->since_us) / 1000000),
		/* heard_ms: the former name of last_seen_ms, for one release. */
		"last_seen_ms", seen_ms, "heard_ms", seen_ms, "store",
		session->degraded ? "degraded" : "ok");

	json_object_set_new(json, "copies", json_string(copies_name(session->copies)));
	json_object_set_new(json, "tables", json_integer((json_int_t)session->tables.count));
	return json;
}

struct lead_figures lead_figures(const struct lead *lead)
{
	struct lead_figures figures = {0};

	list_for_each (link, &lead->sessions) {
		const struct session *session = container_of(link, struct session, link);

		if (session->state == SESSION_GREETING)
			continue;
		figures.standbys++;
		figures.in_sync += session->in_sync;
		figures.partial += session->copies != COPY_ALL;
		figures.without_partitions += !copies_kind(session->copies, REGISTRY_PARTITION);
		if (session_lag(session) > figures.behind)
			figures.behind = session_lag(session);
	}
	return figures;
}

json_t *lead_status(const struct replica *replica)
{
	const struct lead *lead = &replica->lead;
	json_t *standbys = json_array();

	list_for_each (link, &lead->sessions) {
		const struct session *session = container_of(link, struct session, link);

		if (session->state != SESSION_GREETING)
			json_array_append_new(standbys, session_json(session));
	}
	return json_pack("{s:o,s:s,s:I}", "standbys", standbys, "acknowledged_by",
			 registry_keeps(replica->registry, KEPT_BY_STANDBY) ? "standby" : "local",
			 "number", (json_int_t)(lead->leads ? lead->journal.last : 0));
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Writing SwitchInfo and forwarding tables.
 *
 * Entries are written in the order that order.c requires. They share blocks of 64, so blocks can
 * wait for each other in a circle although their entries do not. Then a block is written in parts:
 * first the entries that may be written now. The table of a switch that forwards is read first if
 * another manager wrote it, if it was written before a restart, or if a Set() had no answer. Most
 * entries are then already right, and the order is kept for the others. A block above LinearFDBTop,
 * or of a switch without an ACTIVE port, does not forward and is written without a read.
 *
 * A Set() can arrive after a later Set(), if it was repeated because of a late answer. So a block
 * does not get other content before its last Set() has expired.
 */
#include <errno.h>
#include <string.h>

#include "fabric/subject.h"
#include "include/message_id.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sm/program/parts.h"

/* At the manager's own switch all hosts of the fabric may be waiting. */
enum { PORTS_A_TURN = 64 };

void switch_failed(struct program *program, struct node *node, const char *what)
{
	struct log_subject subject = node_subject(node, MESSAGE_NOT_ACTIVE);

	node->sw->failed = true;
	program->report.failed++;
	if (!program_is_logged(program, &node->sw->failure, what))
		log_about(LOG_WARNING, &subject, "switch \"%s\": %s", node->facts->description,
			  what);
}

/* Reads again the ports that discovery read before PortStateChange was cleared, because a later
 * change would not show. Ports that come up by our own Sets have not changed. */
static void port_was_read_again(void *owner, void *subject, const struct smp_request *request,
				const struct smp_answer *answer)
{
	struct program *program = owner;
	const struct port *port = subject;
	struct port_info info;

	(void)request;
	if (answer->error || answer->status)
		return;
	attr_decode(&port_info_format, answer->data, &info);
	program_note_state(program, port, info.port_state);
}

static void reread_ports(struct program *program, struct node *node)
{
	for (unsigned i = 1; i <= node->num_ports; i++) {
		struct smp_request request = {.method = METHOD_GET,
					      .attr_id = ATTR_PORT_INFO,
					      .attr_mod = port_info_modifier(&node->port[i]),
					      .done = port_was_read_again,
					      .owner = program,
					      .subject = &node->port[i]};

		window_submit(&node->port[0].agent->target, &request);
	}
}

/* Default ports for multicast. MLIDs without an entry have no tree, so the switch shall drop
 * their packets. Each Set(SwitchInfo) requests this. An extra Set() is sent only to a switch that
 * has default ports. */

static bool default_ports_differ(const struct node *node)
{
	return node_has_default_ports(node) && !node->sw->keeps_default_ports;
}

static bool changes_default_ports(const struct switch_info *want, const struct switch_info *have)
{
	return want->default_multicast_primary_port != have->default_multicast_primary_port ||
	       want->default_multicast_not_primary_port != have->default_multicast_not_primary_port;
}

static void switch_was_set(void *owner, void *subject, const struct smp_request *request,
			   const struct smp_answer *answer)
{
	struct program *program = owner;
	struct node *node = subject;
	struct switch_state *sw = node->sw;
	struct switch_info want, held;
	enum table_answer result = verify_table_answer(node, request, answer);

	sw->busy = false;
	if (result == TABLE_CANCELED || result == TABLE_AGAIN)
		return;
	attr_decode(&switch_info_format, request->data, &want);
	if (answer->status && !status_is_busy(answer->status) &&
	    changes_default_ports(&want, &node->facts->sw)) {
		sw->keeps_default_ports = true; /* the other fields are sent again without them */
		program_note_refusal(program, &node->port[0]);
		window_wake(&node->port[0].agent->target);
		return;
	}
	if (answer->status && !status_is_busy(answer->status) &&
	    want.multicast_fdb_top != node->facts->sw.multicast_fdb_top && sw->mft) {
		sw->mft->topless = true; /* the other fields are sent again without it */
		window_wake(&node->port[0].agent->target);
		return;
	}
	if (result == TABLE_FAILED) {
		if (!sw->lft.settled)
			refused_note(program, node, request->attr_id, answer->status);
		switch_failed(program, node, "Set(SwitchInfo) failed");
		return;
	}
	attr_decode(&switch_info_format, answer->data, &held);
	/* Some devices echo the 1 that cleared the bit. */
	if (want.port_state_change)
		held.port_state_change = 0;
	node_set_switch_info(program->fabric, node, &held);
	/* A top that was written back as read says nothing about the table below it. */
	if (sw->lft.want && held.linear_fdb_top == sw->lft.want->top)
		sw->lft.top_set = held.linear_fdb_top;
	sw->life_wanted = sw->life_held = 0;
	if (held.life_time_value != want.life_time_value) {
		sw->life_wanted = want.life_time_value;
		sw->life_held = held.life_time_value;
		program_note_refusal(program, &node->port[0]);
	}
	if (default_ports_differ(node)) {
		sw->keeps_default_ports = true;
		program_note_refusal(program, &node->port[0]);
	}
	if (held.multicast_fdb_top != want.multicast_fdb_top && sw->mft) {
		sw->mft->topless = true;
		program_note_refusal(program, &node->port[0]);
	}
	if (held.linear_fdb_top != want.linear_fdb_top) {
		refused_note(program, node, request->attr_id, STATUS_INVALID_VALUE);
		switch_failed(program, node, "Set(SwitchInfo) did not set LinearFDBTop");
	}
	if (want.port_state_change) {
		switch_changed(node);
		reread_ports(program, node);
	} else if (held.port_state_change) {
		program_note_switch(program, node);
	}
	switch_wake_waiters(program, node);
	window_wake(&node->port[0].agent->target);
}

static bool set_switch_info(struct program *program, struct node *node, lid_t top,
			    lid_t multicast_top, struct smp_request *out)
{
	struct switch_info want = node->facts->sw;

	want.linear_fdb_top = top;
	want.multicast_fdb_top = multicast_top;
	if (!node->sw->keeps_default_ports)
		want.default_multicast_primary_port = want.default_multicast_not_primary_port =
			LFT_NO_PORT;
	want.life_time_value = program->options->switch_life_time;
	verify_table_request(program, node, METHOD_SET, ATTR_SWITCH_INFO, 0, switch_was_set, out);
	/* port_state_change is written as it was read: a 1 clears it, a 0 leaves it. */
	format_encode(&switch_info_format, &want, out->data);
	node->sw->busy = true;
	return true;
}

static bool set_top(struct program *program, struct node *node, lid_t top, struct smp_request *out)
{
	return set_switch_info(program, node, top, mft_top(node), out);
}

bool switch_raise_mft_top(struct program *program, struct node *node, lid_t top,
			  struct smp_request *out)
{
	return set_switch_info(program, node, node->facts->sw.linear_fdb_top, top, out);
}

static bool life_time_differs(const struct program *program, const struct node *node)
{
	uint8_t want = program->options->switch_life_time, have = node->facts->sw.life_time_value;

	return want != have && !(node->sw->life_wanted == want && node->sw->life_held == have);
}

/* Blocks */

/* The part of a block that may be written now: new entries that wait for no switch, and present
 * entries otherwise. */
struct block_plan {
	uint8_t entries[LFT_BLOCK_LIDS];
	unsigned now;	      /* entries that change */
	unsigned waiting;     /* entries that have to wait */
	struct node *blocker; /* the switch for which an entry waits */
};

/* An unknown block is planned only if the switch does not forward by it. */
static void plan_block(const struct program *program, struct node *node, uint16_t block,
		       struct block_plan *plan)
{
	const uint8_t *want = lft_block(node->sw->lft.want, block);
	const uint8_t *have = lft_have_block(&node->sw->lft.have, block);

	plan->now = !have;
	plan->waiting = 0;
	memcpy(plan->entries, want, LFT_BLOCK_LIDS);
	for (unsigned i = 0; i < LFT_BLOCK_LIDS; i++) {
		lid_t lid = (lid_t)(block * LFT_BLOCK_LIDS + i);
		bool works = have && !order_ends(node, have[i]), loops;
		struct node *blocker;

		if (have && have[i] == want[i])
			continue;
		blocker = order_entry_blocker(node, lid, works && program->effort < AT_A_LOSS);
		if (!blocker) {
			plan->now++;
			continue;
		}
		/* Entries without a live cable must not become active with it, and a loop that
		 * was caused by moved cables ends here. */
		loops = works && order_comes_back(node, have[i], lid);
		plan->entries[i] = works && !loops ? have[i] : LFT_NO_PORT;
		plan->now += have && plan->entries[i] != have[i] &&
			     (loops || program->effort == AT_A_LOSS);
		plan->waiting++;
		plan->blocker = blocker;
	}
}

static void set_dirty(struct switch_state *sw, uint16_t block, bool dirty)
{
	uint64_t mask = UINT64_C(1) << block % 64;

	sw->lft.dirty[block / 64] = (sw->lft.dirty[block / 64] & ~mask) | (dirty ? mask : 0);
}

static bool any_dirty(const struct switch_state *sw)
{
	for (size_t i = 0; i < ARRAY_SIZE(sw->lft.dirty); i++) {
		if (sw->lft.dirty[i])
			return true;
	}
	return false;
}

static void lft_compare(struct switch_state *sw)
{
	memset(sw->lft.dirty, 0, sizeof(sw->lft.dirty));
	for (uint16_t block = 0; block < sw->lft.want->blocks; block++) {
		const uint8_t *held = lft_have_block(&sw->lft.have, block);

		if (!held || memcmp(held, lft_block(sw->lft.want, block), LFT_BLOCK_LIDS) != 0)
			set_dirty(sw, block, true);
	}
	sw->lft.compared = true;
}

void switch_wake_waiters(struct program *program, struct node *node)
{
	struct list *link;

	while ((link = list_pop(&node->sw->waits.cables)))
		program_look_at(program, container_of(link, struct port, program.waiting));
	while ((link = list_pop(&node->sw->waits.tables))) {
		struct switch_state *sw = container_of(link, struct switch_state, waits.table_link);

		window_wake(&sw->node->port[0].agent->target);
	}
	while ((link = list_pop(&node->sw->waits.mfts))) {
		struct switch_state *sw = container_of(link, struct switch_state, waits.mft_link);

		window_wake(&sw->node->port[0].agent->target);
	}
}

/* A Set() of this block was under way until now. */
static void note_recent(const struct program *program, struct switch_state *sw, uint16_t block)
{
	uint64_t now_us = loop_now_us(program->loop);

	if (now_us - sw->lft.recent_us >= PACKET_LIFE_US)
		memset(sw->lft.recent, 0, sizeof(sw->lft.recent));
	sw->lft.recent[block / 64] |= UINT64_C(1) << block % 64;
	sw->lft.recent_us = now_us;
}

static bool is_recent(const struct program *program, const struct switch_state *sw, uint16_t block)
{
	return sw->lft.recent[block / 64] >> block % 64 & 1 &&
	       loop_now_us(program->loop) - sw->lft.recent_us < PACKET_LIFE_US;
}

static void block_was_set(void *owner, void *subject, const struct smp_request *request,
			  const struct smp_answer *answer)
{
	struct program *program = owner;
	struct node *node = subject;
	struct switch_state *sw = node->sw;
	uint16_t block = (uint16_t)request->attr_mod;
	enum table_answer result = verify_table_answer(node, request, answer);

	sw->lft.pending--;
	if (result == TABLE_CANCELED)
		return;
	note_recent(program, sw, block);
	if (answer->error)
		lft_have_doubt(&sw->lft.have, block);
	if (result == TABLE_AGAIN) {
		set_dirty(sw, block, true);
		return;
	}
	if (result == TABLE_FAILED) {
		refused_note(program, node, request->attr_id, answer->status);
		switch_failed(program, node, "Set(LinearForwardingTable) failed");
		return;
	}
	program->report.blocks_set++;
	program->report.switches_set += sw->set_in_report != program->reports;
	sw->set_in_report = program->reports;
	if (memcmp(request->data, lft_block(sw->lft.want, block), LFT_BLOCK_LIDS) == 0) {
		lft_have_acknowledge(&sw->lft.have, block);
	} else {
		lft_have_learn(&sw->lft.have, block, sw->lft.want->blocks, request->data);
		set_dirty(sw, block, true);
	}
	switch_wake_waiters(program, node);
	window_wake(&node->port[0].agent->target);
}

static void block_was_read(void *owner, void *subject, const struct smp_request *request,
			   const struct smp_answer *answer)
{
	struct program *program = owner;
	struct node *node = subject;
	struct switch_state *sw = node->sw;
	uint16_t block = (uint16_t)request->attr_mod;
	enum table_answer result = verify_table_answer(node, request, answer);

	sw->lft.pending--;
	if (result == TABLE_CANCELED)
		return;
	if (result == TABLE_AGAIN) {
		set_dirty(sw, block, true);
		return;
	}
	if (result == TABLE_FAILED) {
		switch_failed(program, node, "Get(LinearForwardingTable) failed");
		return;
	}
	lft_have_learn(&sw->lft.have, block, sw->lft.want->blocks, answer->data);
	set_dirty(sw, block,
		  memcmp(answer->data, lft_block(sw->lft.want, block), LFT_BLOCK_LIDS) != 0);
	switch_wake_waiters(program, node);
	window_wake(&node->port[0].agent->target);
}

static bool read_block(struct program *program, struct node *node, uint16_t block,
		       struct smp_request *out)
{
	verify_table_request(program, node, METHOD_GET, ATTR_LINEAR_FORWARDING_TABLE, block,
			     block_was_read, out);
	set_dirty(node->sw, block, false);
	node->sw->lft.pending++;
	return true;
}

bool switch_forwards(const struct node *node)
{
	for (unsigned i = 1; i <= node->num_ports; i++) {
		if (port_state_of(&node->port[i]) == PORT_ACTIVE || port_is_stale(&node->port[i]))
			return true;
	}
	return false;
}

/* Whether the switch may forward by this block and its content is unknown. */
static bool must_be_read(const struct node *node, uint16_t block)
{
	lid_t first = block ? (lid_t)(block * LFT_BLOCK_LIDS) : LID_UNICAST_MIN;

	return !lft_have_block(&node->sw->lft.have, block) &&
	       node->facts->sw.linear_fdb_top >= first && switch_forwards(node);
}

static bool try_block(struct program *program, struct node *node, uint16_t block,
		      struct node **blocker, struct smp_request *out)
{
	struct switch_state *sw = node->sw;
	struct block_plan plan;

	if (!block_is_dirty(sw, block))
		return false;
	if (must_be_read(node, block))
		return read_block(program, node, block, out);
	plan_block(program, node, block, &plan);
	if (plan.waiting) {
		*blocker = plan.blocker;
		if (program->effort == WHOLE_BLOCKS || !plan.now)
			return false;
	}
	if (is_recent(program, sw, block)) {
		program->pausing = true;
		return false;
	}
	verify_table_request(program, node, METHOD_SET, ATTR_LINEAR_FORWARDING_TABLE, block,
			     block_was_set, out);
	memcpy(out->data, plan.entries, LFT_BLOCK_LIDS);
	set_dirty(sw, block, false);
	sw->lft.pending++;
	return true;
}

static void wait_for(struct node *node, struct node *blocker)
{
	list_del(&node->sw->waits.table_link);
	list_push(&blocker->sw->waits.tables, &node->sw->waits.table_link);
}

/* The block with the manager's LID is written first when a table is repaired, and last in a new
 * table. */
static bool block_request(struct program *program, struct node *node, struct smp_request *out)
{
	struct switch_state *sw = node->sw;
	uint16_t sm_block = program->fabric->sm_port->lid / LFT_BLOCK_LIDS;
	bool repair = sw->lft.have.base != NULL;
	struct node *blocker = NULL;

	if (repair && try_block(program, node, sm_block, &blocker, out))
		return true;
	for (size_t word = 0; word < ARRAY_SIZE(sw->lft.dirty); word++) {
		for (uint64_t bits = sw->lft.dirty[word]; bits; bits &= bits - 1) {
			uint16_t block = (uint16_t)(word * 64 + (unsigned)__builtin_ctzll(bits));

			if (block != sm_block && try_block(program, node, block, &blocker, out))
				return true;
		}
	}
	if (!repair && try_block(program, node, sm_block, &blocker, out))
		return true;
	if (blocker)
		wait_for(node, blocker);
	return false;
}

/* Gates */

static bool lft_raise_top(struct program *program, struct node *node, struct smp_request *out)
{
	struct node *blocker = order_matters(program) ? order_top_blocker(node) : NULL;

	if (!blocker)
		return set_top(program, node, node->sw->lft.want->top, out);
	wait_for(node, blocker);
	return false;
}

bool switch_wake_ports(struct program *program, struct node *node)
{
	struct list *link;

	if (list_empty(&node->sw->waits.woken))
		return false;
	for (unsigned i = 0; i < PORTS_A_TURN && (link = list_pop(&node->sw->waits.woken)); i++)
		program_look_at(program, container_of(link, struct port, program.waiting));
	return true;
}

static void switch_settle(struct program *program, struct node *node)
{
	refused_took_all(program, node);
	lft_have_settle(&node->sw->lft.have);
	node->sw->lft.settled = true;
	node->sw->failure = 0;
	program->stale -= node->sw->lft.stale;
	node->sw->lft.stale = false;
	switch_wake_waiters(program, node);
	/* Objects that wait from now on wait for more than this table, and not for the turn of a
	 * portion. */
	list_splice(&node->sw->waits.woken, &node->sw->waits.ports);
}

/* Whether part of its table is to be written; a new row may equal the old row. */
static bool table_differs(const struct node *node)
{
	struct switch_state *sw = node->sw;

	if (!sw->lft.want || sw->lft.settled)
		return false;
	if (!sw->lft.compared)
		lft_compare(sw);
	return any_dirty(sw) || sw->lft.pending ||
	       sw->lft.want->top != node->facts->sw.linear_fdb_top;
}

static bool has_work(const struct program *program, const struct node *node)
{
	return table_differs(node) || life_time_differs(program, node) ||
	       default_ports_differ(node) || mft_has_work(node) ||
	       node->facts->sw.port_state_change;
}

/* The requests on which others wait for the content of its table. */
static bool read_unknown(struct program *program, struct node *node, struct smp_request *out)
{
	struct switch_state *sw = node->sw;

	if (!sw->lft.compared)
		lft_compare(sw);
	for (unsigned i = 0; i < sw->lft.want->blocks; i++) {
		if (block_is_dirty(sw, (uint16_t)i) && must_be_read(node, (uint16_t)i))
			return read_block(program, node, (uint16_t)i, out);
	}
	return false;
}

bool switch_request(struct program *program, struct node *node, struct smp_request *out)
{
	struct switch_state *sw = node->sw;
	lid_t top = node->facts->sw.linear_fdb_top;

	if (sw->busy || sw->failed || !node->port[0].lid)
		return false;
	if (refused_rests(program, node))
		return sw->lft.want && read_unknown(program, node, out);
	if (sw->verify.epoch != program->epoch && (sw->verify.due || has_work(program, node)))
		return verify_request(program, node, out);
	if (sw->lft.want && sw->lft.want->top < top)
		return set_top(program, node, sw->lft.want->top, out);
	if (life_time_differs(program, node) || default_ports_differ(node) ||
	    node->facts->sw.port_state_change)
		return set_top(program, node, top, out);
	if (!sw->lft.want || sw->lft.settled)
		return mft_request(program, node, out);
	if (lft_cache_request(program, node, out))
		return true;
	if (sw->cache.row)
		return false;
	if (!sw->lft.compared)
		lft_compare(sw);
	if (block_request(program, node, out))
		return true;
	/* Blocks that wait for other switches do not delay trees. */
	if (sw->lft.pending || any_dirty(sw))
		return mft_request(program, node, out);
	if (sw->lft.want->top != top)
		return lft_raise_top(program, node, out) || mft_request(program, node, out);
	switch_settle(program, node);
	/* Ports that wait for it, and its multicast table, are processed next. */
	window_wake(&node->port[0].agent->target);
	return false;
}

bool switch_is_unfinished(const struct node *node)
{
	if (node->sw && mft_has_work(node) && !node->sw->failed)
		return true;
	return node->sw && node->sw->lft.want && node->sw->lft.compared && !node->sw->failed &&
	       !node->sw->lft.settled;
}

bool program_tables_hold(const struct node *node)
{
	return node->sw->lft.want && node->sw->lft.settled && !node->sw->failed &&
	       !mft_has_work(node);
}

static bool any_link_up(const struct node *node)
{
	for (unsigned i = 1; i <= node->num_ports; i++) {
		if (port_state_of(&node->port[i]) > PORT_INIT)
			return true;
	}
	return false;
}

/* Whether the switch was reset and has lost its tables: a read showed it, none of its ports is
 * up, or its top is not ours. */
static bool lost_tables(const struct node *node)
{
	if (node->sw->lost)
		return true;
	if (node->sw->lft.top_set && node->facts->sw.linear_fdb_top != node->sw->lft.top_set)
		return true;
	return !any_link_up(node);
}

void switch_take_routes(struct program *program, struct node *node, const struct snapshot *snapshot,
			const struct routes *routes)
{
	struct switch_state *sw = node->sw;
	bool lost = lost_tables(node);
	int32_t index = snapshot ? snapshot_find_switch(snapshot, node->guid) : -1;
	struct lft *row = index >= 0 ? routes->lft[index] : NULL;

	sw->failed = false;
	sw->verify.unanswered = 0;
	refused_hears(node);
	sw->verify.set_lost = false;
	mft_begin(program, node, lost && !(program->mft_was_read && any_link_up(node)));
	if (lost) {
		lft_have_forget(&sw->lft.have);
		lft_cache_drop(sw);
		sw->lft.top_set = LID_NONE;
		sw->lost = false;
		sw->lft.settled = false;
		sw->keeps_default_ports = false;
	}
	if (row && row != sw->lft.want) {
		lft_unref(sw->lft.want);
		sw->lft.want = lft_ref(row);
		sw->lft.settled = false;
	}
	if (sw->lft.want && !sw->lft.settled) {
		lft_have_begin(&sw->lft.have, sw->lft.want);
		sw->lft.compared = false;
	}
	sw->lft.stale = !sw->lft.settled && node->facts->sw.linear_fdb_top;
}

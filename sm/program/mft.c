/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Writing multicast tables. The wanted tables are a tree for each MLID (sm/program/mcast.c);
 * fabric/mft.h has the known content of each entry. A multicast packet in a loop circulates without
 * end and fills the fabric. So after every single Set(), the cables that an MLID may use must form
 * a forest:
 *   - Within one tree, no order of Sets can close a loop. The order loses the fewest packets: a
 *     switch forwards into a branch when the branch is complete, and a branch that ends is cut at
 *     its top first.
 *   - Where a tree moves (MLIDs that are marked careful), a port is added only if its cable
 *     connects parts that are not connected yet. So old entries are removed first, and the entries
 *     that wait for this are written after the acknowledgement. A switch that is silent and was
 *     never read counts as forwarding to all ports.
 * Entries share blocks, and blocks can wait for each other although their entries do not. Then
 * single entries are written, as in unicast (switch.c). If the table of a switch that forwards is
 * unknown, it is read first. If the switch answers but refuses the read, the table is overwritten,
 * and counts as all ports until the acknowledgement. A loop is never permitted: a run without
 * progress accepts packet loss instead, and leaves a cable between switches closed.
 * Loop thread only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/subject.h"
#include "include/message_id.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sm/program/mcast.h"
#include "sm/program/parts.h"

enum {
	LONG_US = 50000, /* timeout; only slow switches take longer */
	ASKS_MAX = 2,	 /* consecutive requests, each with several attempts */
	SILENCE_MAX = 3, /* consecutive requests without an answer */
};

/* MulticastFDBTop */

static bool has_top(const struct node *node)
{
	return node->sw->mft && !node->sw->mft->topless &&
	       port_info(&node->port[0])->capability_mask & CAP_MULTICAST_FDB_TOP;
}

/* A value below the lowest MLID minus one sets no bound. */
static bool is_below_top(const struct node *node, lid_t mlid)
{
	lid_t top = node->facts->sw.multicast_fdb_top;

	return !has_top(node) || top < MFT_NOTHING_TOP || mlid <= top || order_tops_unknown(node);
}

lid_t mft_top(const struct node *node)
{
	lid_t top = node->facts->sw.multicast_fdb_top;

	return has_top(node) && top < MFT_NOTHING_TOP && node->sw->mft->blank ? MFT_NOTHING_TOP
									      : top;
}

/* The top only rises: all entries below it are known, and groups change often. */
static bool top_differs(const struct node *node)
{
	return has_top(node) && mft_want_top(node->sw->mft) > MFT_NOTHING_TOP &&
	       mft_want_top(node->sw->mft) > node->facts->sw.multicast_fdb_top;
}

/* Ports that an MLID may use */

static lid_t first_mlid(const struct mft *mft, size_t index)
{
	return (lid_t)(LID_MULTICAST_MIN + index / mft->positions * MFT_BLOCK_LIDS);
}

/* Its Gets had no answer, or the switch refuses them: it is overwritten. */
static bool mft_cell_is_silent(const struct mft_cell *cell)
{
	return cell && cell->unheard >= ASKS_MAX;
}

/* After a reset. But a Set() may have arrived after it: what was written is read. A switch that
 * refuses Get and Set has no table. */
static bool is_taken_as_empty(const struct mft *mft, size_t index)
{
	return mft->tableless || (mft->blank && !(mft->cells[index] && mft->cells[index]->set_us));
}

/* Whether the switch may forward by this cell and its content is unknown. */
static bool is_unread(const struct node *node, size_t index)
{
	const struct mft *mft = node->sw->mft;

	return !mft_is_known(mft, index) && !is_taken_as_empty(mft, index) &&
	       is_below_top(node, first_mlid(mft, index));
}

/* The default ports, for MLIDs without an entry. */
static uint16_t may_send_by_default(const struct node *node, lid_t mlid, uint8_t position)
{
	const struct mft *mft = node->sw->mft;
	uint16_t ports = 0;

	if (!node_has_default_ports(node) ||
	    (mft && mlid <= mft->top_max && is_below_top(node, mlid)))
		return 0;
	for (unsigned i = 0; i < MFT_POSITION_PORTS; i++) {
		if (node_sends_by_default(node, position * MFT_POSITION_PORTS + i))
			ports |= (uint16_t)(1 << i);
	}
	return ports;
}

static uint16_t may_send_by_table(const struct node *node, lid_t mlid, uint8_t position)
{
	const struct mft *mft = node->sw->mft;
	size_t block = (size_t)(mlid - LID_MULTICAST_MIN) / MFT_BLOCK_LIDS;

	if (!mft || block >= mft->blocks || position >= mft->positions)
		return 0;
	if (!mft_is_known(mft, mft_index(mft, (uint16_t)block, position)) &&
	    !is_unread(node, mft_index(mft, (uint16_t)block, position)))
		return 0;
	return mft_maybe(mft, mlid, position);
}

static uint16_t mft_may_send(const struct node *node, lid_t mlid, uint8_t position)
{
	return may_send_by_table(node, mlid, position) | may_send_by_default(node, mlid, position);
}

static bool may_send_by(const struct port *port, lid_t mlid)
{
	return mft_may_send(port->node, mlid, port->num / MFT_POSITION_PORTS) >>
		       port->num % MFT_POSITION_PORTS &
	       1;
}

/* A certain entry, so that the cable is already counted. */
static bool mft_sends_by(const struct port *port, lid_t mlid)
{
	const struct mft *mft = port->node->sw->mft;

	return mft && mft_has(mft, mlid, port->num / MFT_POSITION_PORTS) >>
				      port->num % MFT_POSITION_PORTS &
			      1;
}

static bool wants_by(const struct port *port, lid_t mlid)
{
	const struct mft *mft = port->node->sw->mft;

	return mft && mft_wanted(mft, mlid, port->num / MFT_POSITION_PORTS) >>
				      port->num % MFT_POSITION_PORTS &
			      1;
}

static bool mft_port_leads_to_switch(const struct port *port)
{
	return port->peer && port_of_switch(port->peer) && port->peer->node != port->node;
}

/* Whether a switch can be reached from one port over cables that the MLID may use, except the
 * cable of that port. planned: the position of the switch after the Set() that is checked. */
struct search {
	struct program *program;
	struct node *goal;
	lid_t mlid;
	uint8_t position;
	uint16_t planned;
};

static bool may_send_then(const struct search *search, const struct port *port)
{
	if (port->node == search->goal && port->num / MFT_POSITION_PORTS == search->position)
		return search->planned >> port->num % MFT_POSITION_PORTS & 1;
	return may_send_by(port, search->mlid);
}

static bool mft_search_add(struct program *program, struct node *node, size_t *tail)
{
	if (!node->sw->mft || node->sw->mft->search == program->mft_searches)
		return false;
	if (*tail == program->flood_room) {
		program->flood_room = 2 * program->flood_room + 64;
		program->flood =
			mem_resize(program->flood, program->flood_room, sizeof(*program->flood));
	}
	node->sw->mft->search = program->mft_searches;
	program->flood[(*tail)++] = node;
	return true;
}

/* Results of a search over the cables that the MLID may use. */
enum {
	MEETS_GOAL = 1,
	LEADS_OFF = 2, /* a port that passes packets to an unknown far end */
	SENDS_OFF = 4, /* the MLID may use such a port */
};

static unsigned met_at(const struct search *search, const struct port *port)
{
	if (port->peer || !order_may_send(port))
		return 0;
	return LEADS_OFF | (may_send_then(search, port) ? SENDS_OFF : 0);
}

static unsigned flood(const struct search *search, struct node *from, const struct port *without)
{
	struct program *program = search->program;
	unsigned met = 0;
	size_t tail = 0;

	program->mft_searches++;
	mft_search_add(program, from, &tail);
	for (size_t head = 0; head < tail; head++) {
		struct node *node = program->flood[head];

		for (unsigned i = 1; i <= node->num_ports; i++) {
			struct port *port = &node->port[i];

			met |= met_at(search, port);
			if (!mft_port_leads_to_switch(port) || port == without ||
			    port->peer == without ||
			    (!may_send_then(search, port) && !may_send_then(search, port->peer)))
				continue;
			if (port->peer->node == search->goal && from != search->goal)
				return MEETS_GOAL;
			mft_search_add(program, port->peer->node, &tail);
		}
	}
	return met;
}

/* Whether the ends of a cable are connected without it. Ports with unknown far ends may all lead
 * to one silent switch, and that switch may forward packets. */
static bool is_connected(const struct search *search, const struct port *without)
{
	unsigned met = flood(search, without->peer->node, without), here;

	if (!(met & LEADS_OFF))
		return met & MEETS_GOAL;
	here = flood(search, search->goal, without);
	return here & LEADS_OFF && (met | here) & SENDS_OFF;
}

/* Entries */

/* Whether the branch below a switch is complete: the switch holds its wanted entry and forwards
 * it. */
static bool is_ready(const struct node *node, lid_t mlid)
{
	return !node->sw->mft || (mft_is_settled(node->sw->mft, mlid) && is_below_top(node, mlid));
}

static bool mft_wants_nothing(const struct mft *mft, lid_t mlid)
{
	for (uint8_t i = 0; i < mft->positions; i++) {
		if (mft_wanted(mft, mlid, i))
			return false;
	}
	return true;
}

struct entry {
	struct node *node;
	lid_t mlid;
	uint8_t position;
	uint16_t want, maybe;
};

/* Whether the surplus ports of an entry must wait, and for which switch. */
static bool removal_waits(const struct program *program, const struct entry *entry,
			  const struct port *up, struct node **blocker)
{
	if (program->effort == AT_A_LOSS || !up ||
	    !mft_wants_nothing(entry->node->sw->mft, entry->mlid))
		return false;
	if (!may_send_by(up->peer, entry->mlid) || wants_by(up->peer, entry->mlid))
		return false;
	*blocker = up->peer->node;
	return true;
}

static bool addition_waits(struct program *program, const struct entry *entry,
			   const struct port *up, struct port *port, uint16_t planned,
			   struct node **blocker)
{
	const struct search search = {program, entry->node, entry->mlid, entry->position, planned};

	if (!mft_port_leads_to_switch(port))
		return false;
	if (port != up && program->effort < AT_A_LOSS && !is_ready(port->peer->node, entry->mlid)) {
		*blocker = port->peer->node;
		return true;
	}
	return mcast_is_careful(program->mcast, entry->mlid) &&
	       !mft_sends_by(port->peer, entry->mlid) && is_connected(&search, port);
}

/* The ports of an entry that can be written now. */
static uint16_t plan_entry(struct program *program, const struct entry *entry,
			   struct node **blocker)
{
	const struct port *up = mcast_up(program->mcast, entry->node, entry->mlid);
	uint16_t planned = entry->maybe & entry->want, add = entry->want & (uint16_t)~entry->maybe;

	if (entry->maybe != planned && removal_waits(program, entry, up, blocker))
		planned = entry->maybe;
	for (; add; add &= (uint16_t)(add - 1)) {
		unsigned bit = (unsigned)__builtin_ctz(add);
		struct port *port = &entry->node->port[entry->position * MFT_POSITION_PORTS + bit];

		if (!addition_waits(program, entry, up, port, planned, blocker))
			planned |= (uint16_t)(1 << bit);
	}
	return planned;
}

/* Cells */

static void cell_request(struct program *program, struct node *node, size_t index, uint8_t method,
			 smp_done_fn *done, struct smp_request *out)
{
	struct mft *mft = node->sw->mft;

	verify_table_request(program, node, method, ATTR_MULTICAST_FORWARDING_TABLE,
			     mft_modifier(mft, index), done, out);
	mft_cell(mft, index)->busy = true;
	mft->pending++;
}

static void mft_failed(struct program *program, struct node *node, const char *what)
{
	struct log_subject subject = node_subject(node, NULL);

	node->sw->mft->failed = true;
	program->report.failed++;
	log_limited(&program->limit, LOG_WARNING, &subject, "switch \"%s\": %s",
		    node->facts->description, what);
}

static void cell_is_free(struct mft *mft, size_t index)
{
	mft_cell(mft, index)->busy = false;
	mft->pending--;
}

static void mft_go_on(struct program *program, struct node *node)
{
	switch_wake_waiters(program, node);
	window_wake(&node->port[0].agent->target);
}

static void cell_was_set(void *owner, void *subject, const struct smp_request *request,
			 const struct smp_answer *answer)
{
	struct program *program = owner;
	struct node *node = subject;
	struct mft *mft = node->sw->mft;
	size_t index = mft_index_of(mft, request->attr_mod);
	enum table_answer result = verify_table_answer(node, request, answer);
	struct multicast_forwarding_table sent;

	cell_is_free(mft, index);
	attr_decode(&multicast_forwarding_table_format, request->data, &sent);
	mft_cell(mft, index)->set_us = loop_now_us(program->loop);
	if (answer->error) {
		mft_doubt(mft, index, sent.port_mask);
		mcast_be_careful(program->mcast, first_mlid(mft, index));
	}
	if (result == TABLE_CANCELED || result == TABLE_AGAIN)
		return;
	if (result == TABLE_FAILED) {
		mft_doubt(mft, index, sent.port_mask);
		if (!answer->error && !mft->tableless && mft_cell_is_silent(mft_cell(mft, index))) {
			mft->tableless = true;
			mft_go_on(program, node);
			return;
		}
		mft_failed(program, node, "Set(MulticastForwardingTable) failed");
		return;
	}
	program->report.blocks_set++;
	mft_learn(mft, index, sent.port_mask);
	mft_go_on(program, node);
}

/* It is read no more in this run. Until a Set() is acknowledged it counts as all ports. */
static void overwrite_cell(struct program *program, struct node *node, size_t index,
			   const char *why)
{
	struct mft_cell *cell = mft_cell(node->sw->mft, index);
	struct log_subject subject = node_subject(node, NULL);

	cell->unheard = ASKS_MAX;
	cell->known = cell->cached = false;
	mcast_be_careful(program->mcast, first_mlid(node->sw->mft, index));
	log_limited(&program->limit, LOG_WARNING, &subject,
		    "switch \"%s\": %s Get(MulticastForwardingTable): overwriting the block",
		    node->facts->description, why);
}

/* The failure may concern this block or the whole switch. The other blocks do not wait for
 * it. */
static void was_not_told(struct program *program, struct node *node, size_t index)
{
	struct mft *mft = node->sw->mft;
	struct mft_cell *cell = mft_cell(mft, index);

	cell->unheard++;
	if (++mft->unheard == SILENCE_MAX) {
		mft_failed(program, node, "no answer to Get(MulticastForwardingTable)");
		return;
	}
	if (mft_cell_is_silent(cell))
		overwrite_cell(program, node, index, "no answer to");
	mft_go_on(program, node);
}

static void cell_was_read(void *owner, void *subject, const struct smp_request *request,
			  const struct smp_answer *answer)
{
	struct program *program = owner;
	struct node *node = subject;
	struct mft *mft = node->sw->mft;
	size_t index = mft_index_of(mft, request->attr_mod);
	enum table_answer result = verify_table_answer(node, request, answer);
	struct multicast_forwarding_table held;

	cell_is_free(mft, index);
	if (result == TABLE_CANCELED || result == TABLE_AGAIN)
		return;
	if (answer->error) {
		was_not_told(program, node, index);
		return;
	}
	mft->unheard = 0;
	if (status_is_busy(answer->status)) {
		mft_failed(program, node, "busy at Get(MulticastForwardingTable)");
		return;
	}
	if (answer->status) {
		overwrite_cell(program, node, index, "refused");
		mft_go_on(program, node);
		return;
	}
	attr_decode(&multicast_forwarding_table_format, answer->data, &held);
	mft_learn(mft, index, held.port_mask);
	if (mft_differs(mft_cell(mft, index)))
		mcast_be_careful(program->mcast, first_mlid(mft, index));
	mft_go_on(program, node);
}

/* The cells with wanted entries, and those of lower blocks. */
static size_t cells_in_use(const struct mft *mft)
{
	lid_t top = mft_want_top(mft);

	return (size_t)(top + 1 - LID_MULTICAST_MIN + MFT_BLOCK_LIDS - 1) / MFT_BLOCK_LIDS *
	       mft->positions;
}

/* The next cell from at on that is not busy and must be checked; the count of cells: none. */
static size_t next_dirty(const struct mft *mft, size_t at)
{
	for (; at < mft_cells(mft); at++) {
		if (!mft->dirty[at / 64])
			at |= 63;
		else if (mft_is_dirty(mft, at) && !(mft->cells[at] && mft->cells[at]->busy))
			return at;
	}
	return mft_cells(mft);
}

/* Whether a cached cell differs from the wanted cell. Before there are trees this is unknown. */
static bool is_doubtful_guess(const struct program *program, const struct mft *mft, size_t index)
{
	const struct mft_cell *cell = mft->cells[index];

	return program->part != PROGRAM_READ_MULTICAST && cell && cell->cached && mft_differs(cell);
}

static bool block_is_known(const struct mft *mft, uint16_t block)
{
	uint8_t position = 0;

	while (position < mft->positions && mft_is_known(mft, mft_index(mft, block, position)))
		position++;
	return position == mft->positions;
}

bool mft_read_request(struct program *program, struct node *node, struct smp_request *out)
{
	struct mft *mft = node->sw->mft;
	uint16_t blocks = 0;

	if (!mft || !mft->touched || mft->failed)
		return false;
	if (mft_cache_request(program, node, out))
		return true;
	if (mft->cached)
		return false;
	for (size_t i = next_dirty(mft, 0); i < mft_cells(mft); i = next_dirty(mft, i + 1)) {
		if (mft_cell_is_silent(mft->cells[i]) ||
		    !(is_unread(node, i) || is_doubtful_guess(program, mft, i)))
			continue;
		cell_request(program, node, i, METHOD_GET, cell_was_read, out);
		return true;
	}
	if (mft->pending)
		return false;
	while (blocks < mft->blocks && block_is_known(mft, blocks))
		blocks++;
	if (blocks > mft->known_blocks)
		mft_tidy(mft, blocks);
	return false;
}

/* Between sweeps, a join does not wait for the branch of another join with a slow switch only
 * because their entries share a block. */
static bool waits_long(const struct program *program, const struct mft_cell *cell)
{
	return program->part == PROGRAM_MULTICAST && cell->waits_us &&
	       loop_now_us(program->loop) - cell->waits_us >= LONG_US;
}

/* Plans a cell; true: write it now. */
static bool plan_cell(struct program *program, struct node *node, size_t index,
		      struct multicast_forwarding_table *out, struct node **blocker)
{
	struct mft *mft = node->sw->mft;
	struct mft_cell *cell = mft_cell(mft, index);
	bool now = !cell->known || cell->unsure, waits = false;

	for (unsigned i = 0; i < MFT_BLOCK_LIDS; i++) {
		const struct entry entry = {.node = node,
					    .mlid = (lid_t)(first_mlid(mft, index) + i),
					    .position = (uint8_t)(index % mft->positions),
					    .want = cell->want[i],
					    .maybe = cell->known ? cell->maybe[i] : 0};

		out->port_mask[i] = entry.want;
		if (entry.want == entry.maybe && (!cell->known || entry.want == cell->have[i]))
			continue;
		out->port_mask[i] = plan_entry(program, &entry, blocker);
		waits |= out->port_mask[i] != entry.want;
		now |= out->port_mask[i] != entry.maybe || cell->have[i] != entry.maybe;
	}
	if (!waits)
		cell->waits_us = 0;
	else if (!cell->waits_us)
		cell->waits_us = loop_now_us(program->loop);
	return now && (!waits || program->effort > WHOLE_BLOCKS || waits_long(program, cell));
}

static bool try_cell(struct program *program, struct node *node, size_t index,
		     struct node **blocker, struct smp_request *out)
{
	struct mft *mft = node->sw->mft;
	struct mft_cell *cell = mft_cell(mft, index);
	struct multicast_forwarding_table table;

	if (!plan_cell(program, node, index, &table, blocker))
		return false;
	if (cell->set_us && loop_now_us(program->loop) - cell->set_us < PACKET_LIFE_US) {
		program->pausing = true;
		return false;
	}
	cell_request(program, node, index, METHOD_SET, cell_was_set, out);
	format_encode(&multicast_forwarding_table_format, &table, out->data);
	mft_send(mft, index, table.port_mask);
	return true;
}

bool mft_request(struct program *program, struct node *node, struct smp_request *out)
{
	struct mft *mft = node->sw->mft;
	struct node *blocker = NULL;
	bool waits = false;
	size_t end;

	if (!mft || !mft->touched || mft->failed)
		return false;
	if (mft_read_request(program, node, out))
		return true;
	if (mft->cached)
		return false;
	end = cells_in_use(mft);
	for (size_t i = next_dirty(mft, 0); i < mft_cells(mft); i = next_dirty(mft, i + 1)) {
		if (!mft_is_known(mft, i) && i >= end &&
		    (mft->tableless || !mft_cell_is_silent(mft->cells[i])))
			continue;
		if (!mft_differs(mft_cell(mft, i))) {
			mft_set_dirty(mft, i, false);
			continue;
		}
		if (try_cell(program, node, i, &blocker, out))
			return true;
		waits = true;
	}
	if (waits && blocker) {
		list_del(&node->sw->waits.mft_link);
		list_push(&blocker->sw->waits.mfts, &node->sw->waits.mft_link);
	}
	if (waits && program->part == PROGRAM_MULTICAST && !loop_timer_armed(&program->pause))
		loop_timer_arm(&program->pause, LONG_US);
	if (waits || mft->pending)
		return false;
	/* Work is left until it has accepted the top, because members behind it receive
	 * nothing. */
	if (top_differs(node))
		return switch_raise_mft_top(program, node, mft_want_top(mft), out);
	mft->touched = false;
	switch_wake_waiters(program, node);
	return false;
}

bool mft_has_work(const struct node *node)
{
	return node->sw->mft && node->sw->mft->touched && !node->sw->mft->failed;
}

/* Links that bounced did not change tables. Tops as after a reset show that the tables are
 * empty. */
static bool was_reset(const struct node *node)
{
	return !switch_forwards(node) && !node->facts->sw.linear_fdb_top &&
	       node->facts->sw.multicast_fdb_top < LID_MULTICAST_MIN;
}

/* The top was set by another manager, or by a Set() of ours whose answer was lost. */
static bool was_written(const struct node *node)
{
	return !node->sw->lft.top_set && node->facts->sw.linear_fdb_top;
}

static bool any_is_unread(const struct node *node)
{
	const struct mft *mft = node->sw->mft;

	for (size_t i = next_dirty(mft, 0); i < mft_cells(mft); i = next_dirty(mft, i + 1)) {
		if (is_unread(node, i))
			return true;
	}
	return false;
}

void mft_begin(struct program *program, struct node *node, bool lost)
{
	struct mft *mft = node_mft(node);

	if (!mft)
		return;
	mft->failed = false;
	mft->unheard = 0;
	/* The sweep that was to read a lost table may have ended before its run. */
	if (lost || node->sw->mft_lost || (mft->blank && was_written(node)))
		mft_forget(mft, was_reset(node));
	node->sw->mft_lost = false;
	mft->touched |= top_differs(node);
	if (node_has_default_ports(node))
		mcast_be_careful_of_all(program->mcast);
	if (!any_is_unread(node))
		return;
	/* Its content is unrelated to the present trees, and its top may be higher than
	 * known. */
	mft->touched = true;
	mcast_be_careful_of_all(program->mcast);
}

/* Cables */

static bool is_in_the_way(struct program *program, struct port *port, lid_t mlid)
{
	const struct search search = {program, port->node, mlid, UINT8_MAX, 0};

	if (may_send_by(port, mlid) && !wants_by(port, mlid))
		return true;
	return mcast_is_careful(program->mcast, mlid) && is_connected(&search, port);
}

/* Default ports are removed first. Where they remain, they only must not close a loop. */
static bool default_blocks(struct program *program, struct port *port)
{
	const struct search search = {program, port->node, LID_MULTICAST_MAX, UINT8_MAX, 0};

	return !port->node->sw->keeps_default_ports || is_connected(&search, port);
}

/* For one end of a cable: an MLID that could use it in a loop. */
static bool end_blocks(struct program *program, struct port *port)
{
	const struct mft *mft = port->node->sw->mft;
	uint8_t position = port->num / MFT_POSITION_PORTS;

	if (node_sends_by_default(port->node, port->num) && default_blocks(program, port))
		return true;
	for (size_t i = position; mft && i < mft_cells(mft); i += mft->positions) {
		const struct mft_cell *cell = mft->cells[i];

		if (!mft_is_known(mft, i) && is_unread(port->node, i))
			return true;
		for (unsigned n = 0; cell && cell->known && n < MFT_BLOCK_LIDS; n++) {
			if (cell->maybe[n] >> port->num % MFT_POSITION_PORTS & 1 &&
			    is_in_the_way(program, port, (lid_t)(first_mlid(mft, i) + n)))
				return true;
		}
	}
	return false;
}

struct node *mft_cable_blocker(struct program *program, struct port *port)
{
	if (end_blocks(program, port))
		return port->node;
	return end_blocks(program, port->peer) ? port->peer->node : NULL;
}

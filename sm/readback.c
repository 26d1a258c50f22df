/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A round covers the nodes in the order of their GUIDs. Of each it reads SwitchInfo, PortInfo of
 * every port, the tables of every port, and the blocks of the forwarding tables up to their tops.
 * The next round finds nodes that appear or disappear. An answer is dropped if a sweep ran in the
 * meantime, because the sweep has newer data. After each item the round pauses. The pause for an
 * SMP is the interval divided by the SMPs of a round, and an item with several SMPs has a pause for
 * each.
 *
 * A switch of N ports has (N + 1) * N mappings of service levels. They are more than 80 % of the
 * 2.6 million SMPs of a round over 11,664 hosts and 1,620 switches. With the default interval this
 * is 1,500 SMPs a second, and 3 % of one processor.
 */
#include "sm/readback.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/subject.h"
#include "include/message_id.h"
#include "lib/mem.h"
#include "sm/context.h"
#include "sm/program/mcast.h"
#include "sm/program/want.h"
#include "sm/read_tables.h"

enum {
	IDLE_US = 1000000,
	INTERVAL_MIN_US = 100, /* for each SMP */
	SEARCH_US = 1000,      /* interval after which further end ports are searched */
	SEARCH_PORTS = 256,    /* end ports in a search, */
	READING_MAX = 4,       /* and reads under way: some thousand a second */
	SHOW_US = 30000000,    /* between two views, while new tables arrive */
};

/* Comparing */

/* The fields on which routes and paths depend, and which change only with the state of the link.
 * Some of the other fields that weftd does not govern change on healthy devices. Examples are the
 * counters of violations that the drivers qib and hfi1 show (subn_get_portinfo()), and
 * PortPhysicalState of a link that recovers. Bits of CapabilityMask change when a host loads kernel
 * modules (Linux, core/cm.c). OpenSM compares only the fields that it writes (osm_link_mgr.c,
 * link_mgr_set_physp_pi()). */
static bool readback_same_link(const struct port_info *a, const struct port_info *b)
{
	return a->port_state == b->port_state && a->mtu_cap == b->mtu_cap &&
	       a->vl_cap == b->vl_cap && a->link_width_active == b->link_width_active &&
	       a->link_speed_active == b->link_speed_active &&
	       a->link_speed_ext_active == b->link_speed_ext_active;
}

static bool same_switch(const struct switch_info *a, const struct switch_info *b)
{
	struct switch_info x = *a;

	x.port_state_change = b->port_state_change;
	return memcmp(&x, b, sizeof(x)) == 0;
}

/* Differences */

static void readback_log_difference(struct sm *sm, const struct port *port, const char *what,
				    unsigned number)
{
	struct log_subject subject = port_subject(port, MESSAGE_DIFFERS);

	sm->readback.differences++;
	log_limited(&sm->readback.limit, LOG_WARNING, &subject,
		    "readback mismatch on \"%s\", %s %u: reprogramming (the device lost the value, "
		    "or another program wrote it)",
		    port->node->facts->description, what, number);
	trigger_node(&sm->trigger, port->node->guid, "readback found a difference");
}

static void compare_switch_info(struct sm *sm, struct port *port, uint32_t number,
				const uint8_t *data)
{
	struct switch_info info;

	attr_decode(&switch_info_format, data, &info);
	if (!same_switch(&info, &port->node->facts->sw))
		readback_log_difference(sm, port, "SwitchInfo", number);
}

/* The trap about this change was lost. The next view shows it. */
static void learn_capabilities(struct sm *sm, struct port *port, uint32_t mask)
{
	struct port_info info = *port_info(port);

	sm->readback.news |= info.capability_mask != mask;
	info.capability_mask = mask;
	port_set_info(sm->fabric, port, &info);
}

static void compare_port_info(struct sm *sm, struct port *port, uint32_t number,
			      const uint8_t *data)
{
	struct port_info info;

	attr_decode(&port_info_format, data, &info);
	if (readback_same_link(&info, port_info(port)) && port_governed_is_same(port, &info))
		learn_capabilities(sm, port, info.capability_mask);
	else
		readback_log_difference(sm, port, "PortInfo of port", number & UINT8_MAX);
}

static void compare_block(struct sm *sm, struct port *port, uint32_t number, const uint8_t *data)
{
	struct switch_state *sw = port->node->sw;
	const uint8_t *held = lft_have_block(&sw->lft.have, (uint16_t)number);

	if (!held || !sw->lft.want || memcmp(held, data, LFT_BLOCK_LIDS) == 0)
		return;
	lft_have_learn(&sw->lft.have, (uint16_t)number, sw->lft.want->blocks, data);
	sw->lft.settled = false;
	readback_log_difference(sm, port, "LFT block", number);
}

/* Multicast tables are also written between sweeps, so an answer may be older than the known
 * table. */
static bool is_outdated(const struct sm *sm, const struct mft_cell *cell)
{
	return cell && (cell->busy || cell->unsure || cell->set_us >= sm->readback.asked_us);
}

static void compare_cell(struct sm *sm, struct port *port, uint32_t number, const uint8_t *data)
{
	struct mft *mft = port->node->sw->mft;
	uint32_t block = number & UINT16_MAX, index;
	struct multicast_forwarding_table table;
	const uint16_t *held;

	if (!mft)
		return;
	index = mft_index_of(mft, number);
	held = mft_held(mft, index);
	if (!held || is_outdated(sm, mft->cells[index]))
		return;
	attr_decode(&multicast_forwarding_table_format, data, &table);
	if (memcmp(held, table.port_mask, sizeof(table.port_mask)) == 0) {
		if (mft->cells[index])
			mft->cells[index]->cached = false;
		return;
	}
	mft_learn(mft, index, table.port_mask);
	mft->touched = true;
	mcast_be_careful(sm->mcast, (lid_t)(LID_MULTICAST_MIN + block * MFT_BLOCK_LIDS));
	readback_log_difference(sm, port, "MFT block", block);
}

static const struct {
	uint16_t attr_id;
	void (*compare)(struct sm *sm, struct port *port, uint32_t number, const uint8_t *data);
} rows[] = {
	{ATTR_SWITCH_INFO, compare_switch_info},
	{ATTR_PORT_INFO, compare_port_info},
	{ATTR_LINEAR_FORWARDING_TABLE, compare_block},
	{ATTR_MULTICAST_FORWARDING_TABLE, compare_cell},
};

static void readback_answered(void *owner, void *subject, const struct smp_request *request,
			      const struct smp_answer *answer)
{
	struct sm *sm = owner;

	sm->readback.under_way = false;
	if (answer->error || answer->status || sm->sweep.running ||
	    sm->sweep.last.number != sm->readback.sweep)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].attr_id == request->attr_id)
			rows[i].compare(sm, subject, request->attr_mod, answer->data);
	}
}

/* Items of a node */

static unsigned lft_blocks_held(const struct node *node)
{
	return node->sw ? node->facts->sw.linear_fdb_top / LFT_BLOCK_LIDS + 1u : 0;
}

/* The blocks of the multicast table, below the top if it has one. */
static unsigned cells_of(const struct node *node)
{
	const struct mft *mft = node->sw ? node->sw->mft : NULL;
	unsigned top = node->facts->sw.multicast_fdb_top, blocks;

	if (!mft)
		return 0;
	blocks = top < MFT_NOTHING_TOP
			 ? mft->blocks
			 : (top + 1 - LID_MULTICAST_MIN + MFT_BLOCK_LIDS - 1) / MFT_BLOCK_LIDS;
	return (blocks < mft->blocks ? blocks : mft->blocks) * mft->positions;
}

/* Items: two for each port, from 0 on: its PortInfo and its tables. For a switch, SwitchInfo is
 * before them, and the blocks and cells of tables follow. */
static unsigned items_of(const struct node *node)
{
	return (node->sw != NULL) + 2 * (node->num_ports + 1u) + lft_blocks_held(node) +
	       cells_of(node);
}

/* The approximate number of SMPs of an item, for the pace. It is computed without a look at each
 * port. */
static uint64_t smps_of(const struct node *node)
{
	unsigned ports = node->num_ports + 1u;
	uint64_t tables = node->sw ? (uint64_t)ports * (ports + VLARB_BLOCKS / 2) : 6 * ports;

	return (node->sw != NULL) + ports + tables + lft_blocks_held(node) + cells_of(node);
}

/* The port whose tables are this item, else NULL. */
static struct port *item_tables(struct node *node, unsigned item)
{
	unsigned at = item - (node->sw != NULL);

	return item >= (node->sw != NULL) && at < 2 * (node->num_ports + 1u) && at % 2
		       ? &node->port[at / 2]
		       : NULL;
}

/* Returns false if there is nothing to read. */
static bool item_request(struct node *node, unsigned item, struct port **port,
			 struct smp_request *out)
{
	unsigned first_port = node->sw != NULL,
		 first_block = first_port + 2 * (node->num_ports + 1u),
		 first_cell = first_block + lft_blocks_held(node);

	*port = &node->port[0];
	if (item < first_port) {
		out->attr_id = ATTR_SWITCH_INFO;
		return true;
	}
	if (item < first_block) {
		*port = &node->port[(item - first_port) / 2];
		out->attr_id = ATTR_PORT_INFO;
		out->attr_mod = port_info_modifier(*port);
		return port_agent(*port) && port_facts(*port)->known;
	}
	if (item < first_cell) {
		out->attr_id = ATTR_LINEAR_FORWARDING_TABLE;
		out->attr_mod = item - first_block;
		return lft_have_block(&node->sw->lft.have, (uint16_t)out->attr_mod) != NULL;
	}
	item -= first_cell;
	out->attr_id = ATTR_MULTICAST_FORWARDING_TABLE;
	out->attr_mod = mft_modifier(node->sw->mft, item);
	return mft_held(node->sw->mft, item) != NULL;
}

/* Rounds */

static void begin_round(struct sm *sm)
{
	struct readback *readback = &sm->readback;
	const struct roster *roster = fabric_roster(sm->fabric);

	readback->rounds++;
	readback->nodes =
		mem_resize(readback->nodes, roster->num_nodes + 1, sizeof(*readback->nodes));
	readback->num_nodes = readback->at = 0;
	readback->item = 0;
	readback->total = 0;
	for (size_t i = 0; i < roster->num_nodes; i++) {
		readback->nodes[readback->num_nodes++] = roster->nodes[i]->guid;
		readback->total += smps_of(roster->nodes[i]);
	}
	readback->show |= readback->news; /* by the last round */
	table_pool_trim(&readback->pool);
}

static void tables_were_read(struct sm *sm)
{
	sm->readback.reading--;
}

static void read_port(struct sm *sm, struct port *port, unsigned cost)
{
	sm->readback.reading++;
	sm->readback.reads += cost;
	tables_read(sm, port, tables_were_read);
}

/* Sends the requests of an item; returns their number. */
static unsigned read_item(struct sm *sm, struct node *node, unsigned item)
{
	struct smp_request request = {.method = METHOD_GET, .done = readback_answered, .owner = sm};
	struct port *port = item_tables(node, item);
	unsigned cost;

	if (port) {
		cost = tables_cost(port);
		if (cost)
			read_port(sm, port, cost);
		return cost;
	}
	if (!item_request(node, item, &port, &request))
		return 0;
	request.subject = port;
	sm->readback.under_way = true;
	sm->readback.sweep = sm->sweep.last.number;
	sm->readback.asked_us = loop_now_us(sm->loop);
	sm->readback.reads++;
	window_submit(&port_agent(port)->target, &request);
	return 1;
}

static void read_next(struct sm *sm)
{
	struct readback *readback = &sm->readback;

	readback->cost = 0;
	if (readback->at == readback->num_nodes)
		begin_round(sm);
	while (readback->at < readback->num_nodes && !readback->cost) {
		struct node *node = fabric_find_node(sm->fabric, readback->nodes[readback->at]);

		if (node && !node->silent && readback->item < items_of(node)) {
			readback->cost = read_item(sm, node, readback->item++);
		} else {
			readback->at++;
			readback->item = 0;
		}
	}
}

/* End ports whose tables were never read */

/* The search begins again when there are new ports. */
static void readback_search(struct sm *sm)
{
	struct readback *readback = &sm->readback;
	const struct roster *roster = fabric_roster(sm->fabric);

	for (unsigned i = 0; i < SEARCH_PORTS && readback->reading < READING_MAX &&
			     readback->search_at < roster->num_ends;
	     i++) {
		struct port *port = roster->ends[readback->search_at++];
		unsigned cost = port_facts(port)->tables ? 0 : tables_cost(port);

		if (cost)
			read_port(sm, port, cost);
	}
	if (readback->search_at < roster->num_ends)
		return;
	readback->searching = false;
	readback->show = true;
}

/* Publishes the new data in a separate view. */

static void readback_view_taken(void *ctx, struct snapshot *snapshot)
{
	struct sm *sm = ctx;

	sm->readback.showing = false;
	if (!snapshot)
		return;
	if (sm->view && !sm->sweep.running)
		publish_snapshot(sm, snapshot);
	else
		snapshot_unref(snapshot);
}

static void readback_show(struct sm *sm)
{
	struct readback *readback = &sm->readback;
	uint64_t now_us = loop_now_us(sm->loop);

	if (!readback->news || (!readback->show && now_us - readback->shown_us < SHOW_US))
		return;
	readback->news = readback->show = false;
	readback->showing = true;
	readback->shown_us = now_us;
	snapshot_request_take(&sm->snapshot_request, &readback->snapshot_wait, false,
			      readback_view_taken, sm);
}

/* Turns */

static uint64_t readback_interval_us(const struct sm *sm)
{
	const struct readback *readback = &sm->readback;
	uint64_t round_us = sm->options.readback_s * UINT64_C(1000000);
	uint64_t us = readback->total ? round_us / readback->total : IDLE_US;

	if (readback->searching)
		return SEARCH_US;
	if (us < INTERVAL_MIN_US)
		us = INTERVAL_MIN_US;
	return us * (readback->cost ? readback->cost : 1);
}

/* After errors a sweep follows, and a difference is repaired before the next item. */
static bool is_quiet(const struct sm *sm)
{
	return peers_role(sm->peers) == SM_MASTER && sm->view && !sm->sweep.running &&
	       !sm->sweep.failures && !sm->trigger.wanted && !sm->readback.under_way &&
	       !sm->readback.showing;
}

static void read_on(struct sm *sm)
{
	struct readback *readback = &sm->readback;

	if (!readback->searching && readback->forgotten != sm->fabric->forgotten) {
		readback->forgotten = sm->fabric->forgotten;
		readback->searching = true;
		readback->search_at = 0;
	}
	if (readback->searching)
		readback_search(sm);
	else if (!readback->reading)
		readback_show(sm);
	if (!readback->searching && !readback->reading && !readback->showing)
		read_next(sm);
}

static void readback_tick(void *arg)
{
	struct sm *sm = arg;

	if (sm->stopped || !sm->options.readback_s)
		return;
	if (is_quiet(sm))
		read_on(sm);
	loop_timer_arm(&sm->readback.timer, readback_interval_us(sm));
}

void readback_init(struct sm *sm)
{
	sm->readback.limit = (struct log_limit){.burst = 10, .interval_us = 1000000};
	table_pool_init(&sm->readback.pool);
	loop_timer_init(&sm->readback.timer, sm->loop, "readback", readback_tick, sm);
}

void readback_start(struct sm *sm)
{
	if (sm->options.readback_s)
		loop_timer_arm(&sm->readback.timer, readback_interval_us(sm));
	else
		loop_timer_disarm(&sm->readback.timer);
}

void readback_done(struct sm *sm)
{
	loop_timer_disarm(&sm->readback.timer);
	free(sm->readback.nodes);
	sm->readback.nodes = NULL;
	sm->readback.num_nodes = sm->readback.at = 0;
	table_pool_done(&sm->readback.pool);
}

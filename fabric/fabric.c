/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The live model's nodes, cables and LIDs. All changes that a snapshot would show pass through
 * here, so that the counters topology and facts are reliable.
 */
#include "fabric/fabric.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

struct fabric *fabric_new(struct window *window, unsigned switch_limit, unsigned adapter_limit)
{
	struct fabric *fabric = mem_zalloc(sizeof(*fabric));

	map_init(&fabric->nodes);
	map_init(&fabric->ports);
	list_init(&fabric->troubled);
	list_init(&fabric->switches);
	gone_init(&fabric->gone);
	fabric->rereg_epoch = 1;
	fabric->window = window;
	fabric->switch_limit = switch_limit;
	fabric->adapter_limit = adapter_limit;
	return fabric;
}

void fabric_free(struct fabric *fabric)
{
	struct node *node;
	size_t position;

	if (!fabric)
		return;
	link_news_end(&fabric->link_news);
	lost_links_end(&fabric->lost_links);
	for (position = 0; (node = map_next(&fabric->nodes, &position)); position = 0)
		fabric_drop_node(fabric, node);
	node_names_free(fabric->names);
	map_done(&fabric->nodes);
	map_done(&fabric->ports);
	gone_done(&fabric->gone);
	fabric_walks_done(fabric);
	route_options_unref(fabric->route_options);
	free(fabric);
}

/* Agents */

static unsigned smp_limit_of(const struct fabric *fabric, const struct port *port)
{
	return port_of_switch(port) ? fabric->switch_limit : fabric->adapter_limit;
}

void fabric_set_limits(struct fabric *fabric, unsigned switch_limit, unsigned adapter_limit)
{
	size_t position = 0;
	struct port *port;

	fabric->switch_limit = switch_limit;
	fabric->adapter_limit = adapter_limit;
	while ((port = map_next(&fabric->ports, &position)))
		port->agent->target.limit = smp_limit_of(fabric, port);
}

static bool agent_route(const struct window_target *target, unsigned attempt, struct smp_route *out)
{
	const struct agent *agent = container_of(target, struct agent, target);
	const struct port *port = agent->port;
	struct node *node = port->node;

	out->directed = true;
	/* The manager's own agent, and adapters back to back: there is only one way. */
	if (port == agent->fabric->sm_port || node == agent->fabric->sm_port->node ||
	    !(port_of_switch(port) || (port->peer && port_of_switch(port->peer))))
		return port_route(agent->fabric, port, &out->path);
	if (!(port_of_switch(port)
		      ? fabric_way(agent->fabric, node, attempt, &out->path)
		      : port_route_beyond(agent->fabric, port->peer, attempt, &out->path)))
		return false;
	out->subtree = fabric_subtree(agent->fabric, &out->path);
	return true;
}

static uint64_t agent_key(const struct window_target *target, unsigned attempt)
{
	return agent_m_key(container_of(target, struct agent, target), attempt);
}

void fabric_add_agent(struct fabric *fabric, struct port *port, guid_t port_guid)
{
	struct node_facts *facts = facts_own(&port->node->facts);

	if (port->agent && facts->port[port->num].guid != port_guid)
		map_remove(&fabric->ports, facts->port[port->num].guid);
	facts->port[port->num].guid = port_guid;
	if (!port->agent) {
		port->agent = mem_zalloc(sizeof(*port->agent));
		port->agent->port = port;
		port->agent->fabric = fabric;
		fabric->num_ports += !port_of_switch(port);
		port->agent->index = -1;
		list_init(&port->agent->todo);
		list_init(&port->agent->mute);
		window_target_init(&port->agent->target, fabric->window, smp_limit_of(fabric, port),
				   agent_route);
		port->agent->target.key = agent_key;
	}
	map_put(&fabric->ports, port_guid, port);
	fabric->members++;
	fabric->topology++;
}

static void remove_agent(struct fabric *fabric, struct port *port)
{
	guid_t guid = port_facts(port)->guid;

	if (!port->agent)
		return;
	window_target_done(&port->agent->target);
	list_del(&port->agent->mute);
	if (map_get(&fabric->ports, guid) == port)
		map_remove(&fabric->ports, guid);
	free(port->agent);
	port->agent = NULL;
	fabric->num_ports -= !port_of_switch(port);
}

struct agent *port_agent(const struct port *port)
{
	return port->node->type == NODE_SWITCH ? port->node->port[0].agent : port->agent;
}

/* Nodes */

static struct switch_state *switch_state_new(void)
{
	struct switch_state *sw = mem_zalloc(sizeof(*sw));

	list_init(&sw->link);
	list_init(&sw->waits.ports);
	list_init(&sw->waits.woken);
	list_init(&sw->waits.tables);
	list_init(&sw->waits.table_link);
	list_init(&sw->waits.mfts);
	list_init(&sw->waits.mft_link);
	list_init(&sw->waits.cables);
	return sw;
}

static void switch_state_free(struct switch_state *sw)
{
	if (!sw)
		return;
	while (list_pop(&sw->waits.ports) || list_pop(&sw->waits.woken) ||
	       list_pop(&sw->waits.tables) || list_pop(&sw->waits.mfts) ||
	       list_pop(&sw->waits.cables))
		;
	list_del(&sw->link);
	list_del(&sw->waits.table_link);
	list_del(&sw->waits.mft_link);
	lft_unref(sw->cache.row);
	lft_have_forget(&sw->lft.have);
	lft_unref(sw->lft.want);
	free(sw->trouble);
	mft_free(sw->mft);
	free(sw);
}

struct node *fabric_add_node(struct fabric *fabric, const struct node_info *info)
{
	struct node *node =
		mem_zalloc(sizeof(*node) + (info->num_ports + 1u) * sizeof(node->port[0]));

	assert(info->num_ports <= PORT_MAX && !fabric_find_node(fabric, info->node_guid));
	node->guid = info->node_guid;
	node->type = info->node_type;
	node->num_ports = info->num_ports;
	node->facts = facts_new(info);
	node_set_description(fabric, node, "");
	node->index = -1;
	for (unsigned i = 0; i <= info->num_ports; i++) {
		node->port[i].node = node;
		node->port[i].num = (uint8_t)i;
		list_init(&node->port[i].program.todo);
		list_init(&node->port[i].program.waiting);
	}
	if (node->type == NODE_SWITCH) {
		node->sw = switch_state_new();
		node->sw->node = node;
		list_push(&fabric->switches, &node->sw->link);
		fabric_add_agent(fabric, &node->port[0], info->port_guid);
		fabric->num_switches++;
		fabric->num_ports += node->num_ports;
	} else {
		fabric->num_adapters++;
	}
	map_put(&fabric->nodes, node->guid, node);
	fabric->members++;
	fabric->topology++;
	return node;
}

static bool counts_as_active(const struct port *port, const struct port_info *info)
{
	return port->num && info->port_state == PORT_ACTIVE;
}

/* All refused blocks may be tried again. */
static void forget_pkeys_echo(struct port *port)
{
	while (port->partition.echo) {
		struct pkeys_echo *echo = port->partition.echo;

		port->partition.echo = echo->next;
		free(echo);
	}
}

void fabric_drop_node(struct fabric *fabric, struct node *node)
{
	for (unsigned i = 0; i <= node->num_ports; i++) {
		struct port *port = &node->port[i];

		fabric_unlink(fabric, port);
		fabric->num_active -= counts_as_active(port, port_info(port));
		port_set_lid(fabric, port, LID_NONE, 0);
		list_del(&port->program.todo);
		list_del(&port->program.waiting);
		free(port->program.echo);
		forget_pkeys_echo(port);
		if (port->trouble)
			list_del(&port->trouble->link);
		free(port->trouble);
		if (fabric->sm_port == port)
			fabric->sm_port = NULL;
	}
	for (unsigned i = 0; i <= node->num_ports; i++)
		remove_agent(fabric, &node->port[i]);
	if (node->type == NODE_SWITCH) {
		fabric->num_switches--;
		fabric->num_ports -= node->num_ports;
	} else {
		fabric->num_adapters--;
	}
	map_remove(&fabric->nodes, node->guid);
	switch_state_free(node->sw);
	facts_unref(node->facts);
	free(node);
	fabric->members++;
	fabric->topology++;
}

struct node *fabric_find_node(const struct fabric *fabric, guid_t guid)
{
	return map_get(&fabric->nodes, guid);
}

struct node *fabric_first_switch(const struct fabric *fabric)
{
	const struct port *port = fabric->sm_port;

	if (port && !port_of_switch(port))
		port = port->peer;
	return port && port_of_switch(port) ? port->node : NULL;
}

struct port *fabric_switch_port(const struct fabric *fabric, guid_t guid, uint8_t num)
{
	struct node *node = fabric_find_node(fabric, guid);

	return num && node && node->type == NODE_SWITCH && num <= node->num_ports ? &node->port[num]
										  : NULL;
}

/* Port 0 receives only groups that it joined. */
bool node_sends_by_default(const struct node *node, unsigned port)
{
	const struct switch_info *sw = &node->facts->sw;

	return port && port <= node->num_ports &&
	       (port == sw->default_multicast_primary_port ||
		port == sw->default_multicast_not_primary_port);
}

bool node_has_default_ports(const struct node *node)
{
	const struct switch_info *sw = &node->facts->sw;

	return node_sends_by_default(node, sw->default_multicast_primary_port) ||
	       node_sends_by_default(node, sw->default_multicast_not_primary_port);
}

struct mft *node_mft(struct node *node)
{
	uint16_t cap = node->facts->sw.multicast_fdb_cap;

	if (!node->sw->mft && cap)
		node->sw->mft = mft_new(node->num_ports, cap);
	return node->sw->mft;
}

/* A fabric has some ten times as many ports as switches, and a new manager knows the P_Keys of
 * none: these two check only ports that may have some. */
void fabric_forget_tables(struct fabric *fabric)
{
	list_for_each (link, &fabric->switches) {
		struct switch_state *sw = container_of(link, struct switch_state, link);

		switch_lose_tables(sw);
		sw->tops_unread = true;
		for (unsigned i = 1; sw->pkeys_known && i <= sw->node->num_ports; i++)
			port_set_pkeys(fabric, &sw->node->port[i], NULL);
		sw->pkeys_known = false;
	}
}

void port_ask_link(struct port *port, uint8_t physical)
{
	port->program.link_asked = physical;
	port->node->sw->links_asked = true;
}

void fabric_forget_asked_links(struct fabric *fabric)
{
	list_for_each (link, &fabric->switches) {
		struct switch_state *sw = container_of(link, struct switch_state, link);

		for (unsigned i = 0; sw->links_asked && i <= sw->node->num_ports; i++)
			sw->node->port[i].program.link_asked = 0;
		sw->links_asked = false;
	}
}

void fabric_forget_lids(struct fabric *fabric)
{
	for (unsigned lid = fabric->lid_top; lid; lid--) {
		if (fabric->lids[lid])
			port_set_lid(fabric, fabric->lids[lid], LID_NONE, 0);
	}
}

void fabric_new_rereg_epoch(struct fabric *fabric)
{
	fabric->rereg_epoch++;
}

void fabric_mark_reregistered(struct fabric *fabric)
{
	size_t position = 0;
	struct port *port;

	while ((port = map_next(&fabric->ports, &position)))
		if (port_state_of(port) == PORT_ACTIVE)
			port->rereg_epoch = fabric->rereg_epoch;
}

/* Cables */

/* A STANDBY freezes no snapshots, but needs the cables when it becomes MASTER. */
static void remember_host(struct port *port, const struct port *host)
{
	if (!port_of_switch(port) || port_of_switch(host) || !port_facts(host)->known)
		return;
	port->cable = (struct snap_cable){
		.guid = port_facts(host)->guid,
		.kind = CABLE_HOST,
		.port = host->num,
		.lid = host->lid ? host->lid : port_info(host)->lid,
		.lmc = host->lid ? host->lmc : port_info(host)->lmc,
	};
}

void fabric_unlink(struct fabric *fabric, struct port *port)
{
	struct port *peer = port->peer;

	if (!peer)
		return;
	remember_host(port, peer);
	remember_host(peer, port);
	link_news_note(&fabric->link_news, port, peer, LINK_WENT);
	lost_links_went(&fabric->lost_links, port, peer);
	port->peer = NULL;
	peer->peer = NULL;
	fabric->num_links--;
	/* A switch that was reached over this cable has no way until the tree is rebuilt. */
	if (peer->node->uplink == port)
		peer->node->uplink = NULL;
	if (port->node->uplink == peer)
		port->node->uplink = NULL;
	fabric->topology++;
}

void fabric_link(struct fabric *fabric, struct port *a, struct port *b)
{
	if (a->peer == b)
		return;
	fabric_unlink(fabric, a);
	fabric_unlink(fabric, b);
	a->peer = b;
	b->peer = a;
	a->partition.good = b->partition.good = 0;
	fabric->num_links++;
	fabric->topology++;
	link_news_note(&fabric->link_news, a, b, LINK_CAME);
	lost_links_came(&fabric->lost_links, a, b);
}

/* Routes are walked from the far end to the manager's port, so they are in reverse. */
static bool route_climb(const struct fabric *fabric, const struct port *last,
			struct route_path *out)
{
	uint8_t ports[HOPS_MAX];
	unsigned count = 0;

	/* last is the port by which the SMP leaves for its target. */
	for (const struct port *out_of = last; out_of; out_of = out_of->node->uplink) {
		if (count == HOPS_MAX)
			return false;
		ports[count++] = out_of->num;
		if (out_of->node == fabric->sm_port->node) {
			if (out_of->node->type != NODE_SWITCH && out_of != fabric->sm_port)
				return false;
			out->hops = (uint8_t)count;
			out->port[0] = 0;
			for (unsigned i = 0; i < count; i++)
				out->port[i + 1] = ports[count - 1 - i];
			return true;
		}
	}
	return false;
}

bool port_route(const struct fabric *fabric, const struct port *port, struct route_path *out)
{
	const struct port *sm_port = fabric->sm_port;
	bool is_switch = port->node->type == NODE_SWITCH;

	if (!sm_port)
		return false;
	if (port == sm_port || (is_switch && port->node == sm_port->node)) {
		*out = (struct route_path){.hops = 0};
		return true;
	}
	return route_climb(fabric, is_switch ? port->node->uplink : port->peer, out);
}

bool fabric_is_cut_off(const struct fabric *fabric)
{
	const struct port *port = fabric->sm_port;

	return port && port->num && port_facts(port)->known && port_state_of(port) < PORT_INIT;
}

bool fabric_reaches(const struct fabric *fabric, const struct node *node)
{
	struct route_path path;

	for (unsigned i = 0; i <= node->num_ports; i++) {
		if (node->port[i].agent && port_route(fabric, &node->port[i], &path))
			return true;
	}
	return false;
}

/* Reports of agents */

const struct port_facts *port_facts(const struct port *port)
{
	return &port->node->facts->port[port->num];
}

const struct port_info *port_info(const struct port *port)
{
	return &port_facts(port)->info;
}

uint32_t port_info_modifier(const struct port *port)
{
	/* Only port 0 of a switch has the capability mask; it applies to all ports. */
	const struct port *speaks = port_of_switch(port) ? &port->node->port[0] : port;
	bool extended = port_info(speaks)->capability_mask & CAP_EXTENDED_SPEEDS;

	return port->num | (extended ? PORT_INFO_EXTENDED_SPEEDS : 0);
}

uint8_t port_state_of(const struct port *port)
{
	return port_facts(port)->known ? port_info(port)->port_state : PORT_DOWN;
}

bool port_cabled(const struct port *port)
{
	return port->peer && port_state_of(port) >= PORT_INIT &&
	       port_state_of(port->peer) >= PORT_INIT;
}

struct port_trouble *port_trouble(struct fabric *fabric, struct port *port)
{
	if (!port->trouble) {
		port->trouble = mem_zalloc(sizeof(*port->trouble));
		port->trouble->port = port;
		list_push(&fabric->troubled, &port->trouble->link);
	}
	return port->trouble;
}

struct switch_trouble *switch_trouble(struct node *node)
{
	if (!node->sw->trouble)
		node->sw->trouble = mem_zalloc(sizeof(*node->sw->trouble));
	return node->sw->trouble;
}

void switch_trouble_over(struct node *node)
{
	const struct switch_trouble *trouble = node->sw->trouble;

	if (!trouble || trouble->refusals || trouble->mute_sets || trouble->logged)
		return;
	free(node->sw->trouble);
	node->sw->trouble = NULL;
}

static bool link_is_usable(const struct port_info *info)
{
	return info->port_state >= PORT_INIT;
}

/* The port went through INIT: all values written to it or its end port, and the other end of its
 * cable, are unknown. Behind our own port everything may have changed. The first report of a port
 * does not invalidate its cable: a slow agent sends it long after the cable was found. */
static void forget_written(struct fabric *fabric, struct port *port)
{
	if (port_facts(port)->known)
		port->discovery.link = LINK_LOST;
	if (port == fabric->sm_port && port_state_of(port) > PORT_INIT)
		fabric->sm_link_lost = true;
	free(port->program.echo);
	port->program.echo = NULL;
	port_set_pkeys(fabric, port, NULL);
	forget_pkeys_echo(port);
	port_set_tables(fabric, port, NULL);
	port_set_ext_info(fabric, port, NULL);
	port->refuses = 0;
	port->program.keeps_link = false;
	port->rereg_epoch = 0;
	fabric->forgotten++;
}

/* A report changed the facts of this node. */
static void facts_rose(struct fabric *fabric, struct node *node)
{
	fabric->facts++;
	node->revision++;
}

/* Counters of violations rise with each trap about them: they count as no change. */
static bool is_news(const struct port_facts *old, const struct port_info *info)
{
	struct port_info as_before = *info;

	as_before.m_key_violations = old->info.m_key_violations;
	as_before.p_key_violations = old->info.p_key_violations;
	as_before.q_key_violations = old->info.q_key_violations;
	return !old->known || memcmp(&old->info, &as_before, sizeof(as_before)) != 0;
}

void port_set_info(struct fabric *fabric, struct port *port, const struct port_info *info)
{
	const struct port_facts *old = port_facts(port);
	bool news = is_news(old, info);
	struct port_facts *facts;

	if (port->agent)
		agent_m_key_shown(port->agent, info);
	if (old->known && memcmp(&old->info, info, sizeof(*info)) == 0)
		return;
	if (!old->known)
		port->rereg_epoch = 0;
	if (!old->known || link_is_usable(&old->info) != link_is_usable(info)) {
		fabric->topology++;
		fabric->forgotten++;
	}
	if (old->info.port_state != info->port_state && info->port_state <= PORT_INIT)
		forget_written(fabric, port);
	if (old->info.port_state != info->port_state &&
	    (info->port_state == PORT_ACTIVE || !link_is_usable(info)))
		port->program.failure = 0;
	if (old->info.port_state > PORT_INIT && info->port_state <= PORT_INIT) {
		port_trouble(fabric, port)->lost = true;
		if (port->peer)
			link_news_note(&fabric->link_news, port, port->peer, LINK_BLINKED);
	}
	if (port->program.no_bringup &&
	    (info->port_state == PORT_ACTIVE || !link_is_usable(info))) {
		port->program.no_bringup = false;
		fabric->topology++;
	}
	fabric->num_active -= counts_as_active(port, &old->info);
	fabric->num_active += counts_as_active(port, info);
	facts = &facts_own(&port->node->facts)->port[port->num];
	facts->known = true;
	facts->info = *info;
	fabric->facts++;
	port->node->revision += news;
}

void node_set_description(struct fabric *fabric, struct node *node, const char *text)
{
	const char *given = fabric->names ? map_get(fabric->names, node->guid) : NULL;
	const char *name = given ? given : text;
	struct node_facts *facts = node->facts;

	if (!strncmp(facts->reported, text, NODE_DESC_SIZE) &&
	    !strncmp(facts->description, name, NODE_DESC_SIZE))
		return;
	facts = facts_own(&node->facts);
	strncpy(facts->reported, text, NODE_DESC_SIZE);
	strncpy(facts->description, name, NODE_DESC_SIZE);
	facts_rose(fabric, node);
}

void node_names_free(struct map *names)
{
	size_t position = 0;
	char *name;

	if (!names)
		return;
	while ((name = map_next(names, &position)))
		free(name);
	map_done(names);
	free(names);
}

void fabric_set_names(struct fabric *fabric, struct map *names)
{
	struct node *node;
	size_t position = 0;

	node_names_free(fabric->names);
	fabric->names = names;
	while ((node = map_next(&fabric->nodes, &position))) {
		char reported[NODE_DESC_SIZE + 1];

		memcpy(reported, node->facts->reported, sizeof(reported));
		node_set_description(fabric, node, reported);
	}
}

void node_set_switch_info(struct fabric *fabric, struct node *node, const struct switch_info *info)
{
	const struct switch_info *old = &node->facts->sw;

	node->sw->tops_unread = false;
	if (memcmp(old, info, sizeof(*info)) == 0)
		return;
	if (old->linear_fdb_cap != info->linear_fdb_cap ||
	    old->enhanced_port0 != info->enhanced_port0)
		fabric->topology++;
	facts_own(&node->facts)->sw = *info;
	facts_rose(fabric, node);
}

void switch_changed(struct node *node)
{
	for (unsigned i = 1; i <= node->num_ports; i++) {
		struct port *port = &node->port[i];

		if (port->discovery.link == LINK_VERIFIED &&
		    (port->program.armed || port_state_of(port) == PORT_INIT))
			port->discovery.link = LINK_UNVERIFIED;
		port->program.armed = false;
	}
}

static void judge_pkeys_anew(struct port *port)
{
	port->partition.good = 0;
	if (port->peer)
		port->peer->partition.good = 0;
}

void port_set_pkeys(struct fabric *fabric, struct port *port, struct pkey_list *pkeys)
{
	struct port_facts *facts;

	judge_pkeys_anew(port);
	port->discovery.pkeys_unread &= pkeys != NULL;
	if (port_facts(port)->pkeys == pkeys)
		return;
	facts = &facts_own(&port->node->facts)->port[port->num];
	pkey_list_unref(facts->pkeys);
	facts->pkeys = pkeys;
	if (pkeys && port->num && port->node->sw)
		port->node->sw->pkeys_known = true;
	facts_rose(fabric, port->node);
}

/* Lists are immutable once they are shared: a block with changes makes another list. */
void port_set_pkey_block(struct fabric *fabric, struct port *port, unsigned block,
			 const struct p_key_table *table)
{
	struct pkey_list *old = port_facts(port)->pkeys, *list;
	unsigned first = block * PKEY_BLOCK_KEYS, end = first + PKEY_BLOCK_KEYS;

	if (old && end <= old->count &&
	    memcmp(old->key + first, table->p_key, sizeof(table->p_key)) == 0)
		return;
	list = pkey_list_new((uint16_t)(old && end < old->count ? old->count : end));
	if (old)
		memcpy(list->key, old->key, old->count * sizeof(old->key[0]));
	memcpy(list->key + first, table->p_key, sizeof(table->p_key));
	port_set_pkeys(fabric, port, list);
}

void port_set_ext_info(struct fabric *fabric, struct port *port, const struct ext_port_info *ext)
{
	const struct ext_port_info unknown = {0};
	const struct port_facts *old = port_facts(port);
	struct port_facts *facts;

	if (old->ext_known == (ext != NULL) &&
	    memcmp(&old->ext, ext ? ext : &unknown, sizeof(unknown)) == 0)
		return;
	facts = &facts_own(&port->node->facts)->port[port->num];
	facts->ext_known = ext != NULL;
	facts->ext = ext ? *ext : unknown;
	facts_rose(fabric, port->node);
}

void port_set_tables(struct fabric *fabric, struct port *port, struct port_tables *tables)
{
	struct port_facts *facts;

	if (port_facts(port)->tables == tables) {
		port_tables_unref(tables);
		return;
	}
	facts = &facts_own(&port->node->facts)->port[port->num];
	port_tables_unref(facts->tables);
	facts->tables = tables;
	facts_rose(fabric, port->node);
}

/* LIDs */

void port_set_lid(struct fabric *fabric, struct port *port, lid_t lid, uint8_t lmc)
{
	if (port->lid == lid && port->lmc == lmc)
		return;
	for (unsigned i = 0; port->lid && i < 1u << port->lmc; i++)
		fabric->lids[port->lid + i] = NULL;
	for (unsigned i = 0; lid && i < 1u << lmc; i++) {
		assert(!fabric->lids[lid + i]);
		fabric->lids[lid + i] = port;
		if (lid + i > fabric->lid_top)
			fabric->lid_top = (lid_t)(lid + i);
	}
	port->lid = lid;
	port->lmc = lmc;
	fabric->topology++;
}

lid_t fabric_lid_top(struct fabric *fabric)
{
	while (fabric->lid_top != LID_NONE && !fabric->lids[fabric->lid_top])
		fabric->lid_top--;
	return fabric->lid_top != LID_NONE ? fabric->lids[fabric->lid_top]->lid : LID_NONE;
}

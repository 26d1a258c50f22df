/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A fabric of small software agents behind mad/transport.h, for tests of what stands on it. Each
 * test builds it from a net (formats/net.h), runs it on the loop that it shares with the code under
 * test, and owns it. Requests are answered by deferred calls, one round later; what is not answered
 * comes back as the kernel would bring it, by timed_out(), when its time is over.
 *
 * The agents are truthful about link states (ACTIVE only where both ends are ARMED, else 0x1C) and
 * remember every Set() in fake->sets. How they misbehave is the test's: fake->fate is asked what is
 * to become of each request, fake->before_set and after_set see each Set() before and after it
 * takes effect.
 */
#ifndef TESTS_UNIT_FAKE_AGENTS_H
#define TESTS_UNIT_FAKE_AGENTS_H

#include "fabric/tables.h"
#include "lib/be.h"
#include "lib/list.h"
#include "lib/loop.h"
#include "mad/attr.h"
#include "mad/mad.h"
#include "mad/notice.h"
#include "mad/transport.h"
#include "tests/unit/snapshot_from.h"

enum {
	FAKE_GUID_BLOCKS = 3,
	FAKE_KEYS = 64,
	FAKE_LFT_CAP = 0xC000,
	FAKE_REFUSED = STATUS_INVALID_VALUE
};

enum fake_fate {
	FAKE_ANSWER,
	FAKE_LOSE_REQUEST, /* never arrives */
	FAKE_LOSE_ANSWER,  /* takes effect, is not answered */
	FAKE_ANSWER_LATE,  /* takes effect; the answer comes after the time-out */
	FAKE_ANSWER_TWICE,
	FAKE_WRONG_ATTR,
	FAKE_WRONG_TID,
	FAKE_SHORT,
	FAKE_REFUSE, /* status 0x1C, no effect */
	FAKE_BUSY,   /* discarded: it is to come again */
};

struct fake_node;

struct fake_port {
	struct fake_node *node;
	struct fake_port *peer; /* the cable, even while the link is down */
	uint8_t num;
	struct port_info info;
	pkey_t p_key[FAKE_KEYS];
	uint8_t subnet_timeout_max; /* clamps; 0: takes any */
	unsigned reregisters;
	uint8_t guids[FAKE_GUID_BLOCKS][SMP_DATA_SIZE], guids_set /* which of them */;
};

struct fake_node {
	struct node_info info; /* PortGUID is that of port 0 of a switch */
	char description[NODE_DESC_SIZE + 1];
	struct switch_info sw;
	uint8_t lft[FAKE_LFT_CAP];
	bool written[LFT_BLOCKS_MAX];
	uint8_t life_time_max; /* clamps; 0: takes any */
	bool echoes_change;    /* answers 1 to the Set() that clears PortStateChange */
	bool silent;	       /* its links are up, its agent is not */
	bool ignores_guids;    /* a Set(GUIDInfo) has no effect */
	unsigned busy_guids;   /* so many Set(GUIDInfo) come when it is busy */
	bool has_tables;       /* it tells GUIDs, SLtoVL and VL arbitration: fake_table() */
	bool has_sm;
	uint64_t sm_m_key;	     /* SMInfo with another M_Key is dropped; 0: none is */
	struct sm_info sm, sm_heard; /* sm_heard: of the last control packet */
	uint32_t sm_control;	     /* which one that was */
	uint16_t sm_control_status;  /* of its answer to control packets */
	struct fake_port port[];
};

struct fake_set { /* a Set() that took effect or was refused */
	struct fake_node *node;
	struct fake_port *port; /* of PortInfo */
	uint16_t attr_id, status;
	uint32_t attr_mod;
	uint8_t data[SMP_DATA_SIZE], answer[SMP_DATA_SIZE];
};

struct fake_smp {
	struct list link; /* in fake->queue or fake->timed */
	struct fake_net *fake;
	struct loop_timer timer;
	bool answered, expired;
	unsigned timeout_ms;
	struct mad_addr to;
	uint8_t mad[MAD_SIZE], request[MAD_SIZE];
};

struct fake_net {
	struct transport transport;
	struct loop *loop;
	struct fake_node **nodes;
	unsigned num_nodes;
	struct fake_port *local;
	struct list queue, timed;
	struct loop_deferred deliver;
	bool issm;
	bool keeps_time; /* false: what is lost never comes back (ibsim) */
	int send_error;	 /* of every send */
	struct fake_set *sets;
	size_t num_sets, requests;
	uint8_t (*sent)[MAD_SIZE]; /* what expects no answer: TrapRepress, answers, traps */
	size_t num_sent;
	lid_t last_sent_to;
	enum fake_fate (*fate)(void *ctx, struct fake_node *node, const struct mad_header *header);
	void (*before_set)(void *ctx, const struct fake_set *set);
	void (*after_set)(void *ctx, const struct fake_set *set);
	void *ctx;
};

static inline bool fake_is_switch(const struct fake_port *port)
{
	return port->node->info.node_type == NODE_SWITCH;
}

static inline bool fake_up(const struct fake_port *port)
{
	return port->peer && port->info.port_state >= PORT_INIT &&
	       port->peer->info.port_state >= PORT_INIT;
}

/* Attributes: each changes data to what the answer holds, and returns the status. */

static inline uint16_t fake_set_state(struct fake_port *port, uint8_t state)
{
	uint8_t now = port->info.port_state;
	bool alone = fake_is_switch(port) && !port->num;

	if (state == PORT_NO_CHANGE || state == now)
		return STATUS_OK;
	if (state == PORT_ARMED ? now != PORT_INIT
				: state != PORT_ACTIVE || now != PORT_ARMED ||
					  (!alone && port->peer->info.port_state < PORT_ARMED))
		return STATUS_INVALID_VALUE;
	port->info.port_state = state;
	return STATUS_OK;
}

static inline uint16_t fake_port_info(struct fake_port *port, bool set, uint8_t *data)
{
	struct port_info *held = &port->info, want;
	uint16_t status = STATUS_OK;

	attr_decode(&port_info_format, data, &want);
	if (set)
		status = fake_set_state(port, want.port_state);
	if (set && !status) {
		if (!fake_is_switch(port) || !port->num) {
			held->gid_prefix = want.gid_prefix;
			held->m_key = want.m_key;
			held->lid = want.lid;
			held->lmc = want.lmc;
			held->master_sm_lid = want.master_sm_lid;
			held->master_sm_sl = want.master_sm_sl;
			held->subnet_timeout = want.subnet_timeout;
			if (port->subnet_timeout_max &&
			    want.subnet_timeout > port->subnet_timeout_max)
				held->subnet_timeout = port->subnet_timeout_max;
			port->reregisters += want.client_reregister;
		} else {
			held->partition_enforcement_inbound =
				want.partition_enforcement_inbound &
				port->node->sw.inbound_enforcement_cap;
			held->partition_enforcement_outbound =
				want.partition_enforcement_outbound &
				port->node->sw.outbound_enforcement_cap;
		}
		if (want.neighbor_mtu)
			held->neighbor_mtu = want.neighbor_mtu;
		if (want.operational_vls)
			held->operational_vls = want.operational_vls;
		if (want.link_down_default_state)
			held->link_down_default_state = want.link_down_default_state;
		held->hoq_life = want.hoq_life;
		held->vl_stall_count = want.vl_stall_count;
		held->local_phy_errors = want.local_phy_errors;
		held->overrun_errors = want.overrun_errors;
	}
	memset(data, 0, SMP_DATA_SIZE);
	format_encode(&port_info_format, held, data);
	return status;
}

static inline uint16_t fake_switch_info(struct fake_node *node, bool set, uint8_t *data)
{
	struct switch_info want, echo;

	attr_decode(&switch_info_format, data, &want);
	if (set) {
		node->sw.linear_fdb_top = want.linear_fdb_top;
		node->sw.life_time_value =
			node->life_time_max && want.life_time_value > node->life_time_max
				? node->life_time_max
				: want.life_time_value;
		if (want.port_state_change)
			node->sw.port_state_change = 0;
	}
	echo = node->sw;
	if (set && node->echoes_change)
		echo.port_state_change = want.port_state_change;
	memset(data, 0, SMP_DATA_SIZE);
	format_encode(&switch_info_format, &echo, data);
	return STATUS_OK;
}

static inline uint16_t fake_lft(struct fake_node *node, bool set, uint32_t block, uint8_t *data)
{
	if (block >= node->sw.linear_fdb_cap / LFT_BLOCK_LIDS)
		return STATUS_INVALID_VALUE;
	if (set)
		memcpy(node->lft + block * LFT_BLOCK_LIDS, data, LFT_BLOCK_LIDS);
	node->written[block] |= set;
	memcpy(data, node->lft + block * LFT_BLOCK_LIDS, LFT_BLOCK_LIDS);
	return STATUS_OK;
}

static inline uint16_t fake_pkeys(struct fake_port *port, bool set, uint32_t block, uint8_t *data)
{
	bool in_front = fake_is_switch(port) && port->num;
	unsigned room = in_front ? port->node->sw.partition_enforcement_cap
				 : port->node->info.partition_cap;
	struct p_key_table table;

	if (block * PKEY_BLOCK_KEYS >= room)
		return STATUS_INVALID_VALUE;
	if (set) {
		attr_decode(&p_key_table_format, data, &table);
		memcpy(port->p_key + block * PKEY_BLOCK_KEYS, table.p_key, sizeof(table.p_key));
	}
	memcpy(table.p_key, port->p_key + block * PKEY_BLOCK_KEYS, sizeof(table.p_key));
	format_encode(&p_key_table_format, &table, data);
	return STATUS_OK;
}

/* What nobody programs: the bytes are those of the modifier, so that each block is another one;
 * but what leaves a switch by its last port is mapped in the same way from everywhere. GUIDs can be
 * Set. */
static inline uint16_t fake_table(struct fake_port *at, const struct mad_header *header,
				  uint8_t *data)
{
	struct fake_node *node = at->node;
	uint32_t attr_mod = header->attr_mod;
	bool guids = header->attr_id == ATTR_GUID_INFO;
	bool taken = guids && attr_mod < FAKE_GUID_BLOCKS && at->guids_set >> attr_mod & 1;

	if (!node->has_tables || (header->method != METHOD_GET && !guids))
		return STATUS_UNSUP_METHOD_ATTR;
	if (guids && header->method == METHOD_SET) {
		if (attr_mod >= FAKE_GUID_BLOCKS)
			return STATUS_INVALID_VALUE;
		if (node->busy_guids) {
			node->busy_guids--;
			return STATUS_BUSY;
		}
		if (!node->ignores_guids) {
			memcpy(at->guids[attr_mod], data, SMP_DATA_SIZE);
			at->guids_set |= (uint8_t)(1 << attr_mod);
			return STATUS_OK;
		}
	} else if (taken) {
		memcpy(data, at->guids[attr_mod], SMP_DATA_SIZE);
		return STATUS_OK;
	}
	if (header->attr_id == ATTR_SL_TO_VL && (attr_mod & 0xFF) == node->info.num_ports)
		attr_mod &= 0xFF;
	memset(data, 0, SMP_DATA_SIZE);
	for (unsigned i = 0; i < 8; i++)
		data[i] = (uint8_t)(attr_mod >> (i % 4 * 8)) & 0x7F;
	return STATUS_OK;
}

static inline uint16_t fake_sm_info(struct fake_node *node, bool set, uint32_t control,
				    uint8_t *data)
{
	if (!node->has_sm)
		return STATUS_UNSUP_METHOD_ATTR;
	if (set && !node->sm_control_status && control == SM_CONTROL_HANDOVER)
		node->sm.state = SM_MASTER;
	if (set) {
		attr_decode(&sm_info_format, data, &node->sm_heard);
		node->sm_control = control;
	}
	memset(data, 0, SMP_DATA_SIZE);
	format_encode(&sm_info_format, &node->sm, data);
	return set ? node->sm_control_status : STATUS_OK;
}

/* The port that a Get or Set(PortInfo) is about, NULL when it has no such port. */
static inline struct fake_port *fake_port_of(struct fake_port *at, uint32_t attr_mod)
{
	uint8_t num = attr_mod & 0xFF;

	if (!fake_is_switch(at))
		return num == 0 || num == at->num ? at : NULL;
	return num <= at->node->info.num_ports ? &at->node->port[num] : NULL;
}

static inline uint16_t fake_attr(struct fake_port *at, const struct mad_header *header,
				 uint8_t *data)
{
	struct fake_node *node = at->node;
	bool set = header->method == METHOD_SET, is_switch = fake_is_switch(at);
	struct node_info info = node->info;
	struct fake_port *port;

	switch (header->attr_id) {
	case ATTR_NODE_INFO:
		info.local_port_num = at->num;
		if (!is_switch)
			info.port_guid = node->info.port_guid + at->num;
		format_encode(&node_info_format, &info, data);
		return STATUS_OK;
	case ATTR_NODE_DESCRIPTION:
		memcpy(data, node->description, NODE_DESC_SIZE);
		return STATUS_OK;
	case ATTR_SWITCH_INFO:
		return is_switch ? fake_switch_info(node, set, data) : STATUS_UNSUP_METHOD_ATTR;
	case ATTR_PORT_INFO:
		port = fake_port_of(at, header->attr_mod);
		return port ? fake_port_info(port, set, data) : STATUS_INVALID_VALUE;
	case ATTR_PKEY_TABLE:
		port = is_switch ? fake_port_of(at, header->attr_mod >> 16) : at;
		return port ? fake_pkeys(port, set, header->attr_mod & UINT16_MAX, data)
			    : STATUS_INVALID_VALUE;
	case ATTR_LINEAR_FORWARDING_TABLE:
		return is_switch ? fake_lft(node, set, header->attr_mod, data)
				 : STATUS_UNSUP_METHOD_ATTR;
	case ATTR_SM_INFO:
		return fake_sm_info(node, set, header->attr_mod, data);
	case ATTR_GUID_INFO:
	case ATTR_SL_TO_VL:
	case ATTR_VL_ARBITRATION:
		return fake_table(at, header, data);
	default:
		return STATUS_UNSUP_METHOD_ATTR;
	}
}

/* Ways */

static inline struct fake_port *fake_find_lid(struct fake_net *fake, lid_t lid)
{
	for (unsigned n = 0; n < fake->num_nodes; n++) {
		for (unsigned p = 0; p <= fake->nodes[n]->info.num_ports; p++) {
			const struct port_info *info = &fake->nodes[n]->port[p].info;

			if (info->lid && lid >= info->lid && lid < info->lid + (1 << info->lmc))
				return &fake->nodes[n]->port[p];
		}
	}
	return NULL;
}

/* The port at which a directed SMP arrives, NULL when it gets lost on the way. */
static inline struct fake_port *fake_walk(struct fake_net *fake, const uint8_t *mad)
{
	struct fake_port *at = fake->local;

	for (unsigned hop = 1; hop <= mad[7] && hop <= HOPS_MAX; hop++) {
		uint8_t out = mad[SMP_INITIAL_PATH_OFFSET + hop];

		if (!out || out > at->node->info.num_ports || !fake_up(&at->node->port[out]) ||
		    (!fake_is_switch(at) && (hop > 1 || out != at->num)) ||
		    (hop > 1 && at->node->silent))
			return NULL;
		at = at->node->port[out].peer;
	}
	return at;
}

/* SMPs */

static inline void fake_receive(struct fake_net *fake, lid_t from_lid, const uint8_t *mad,
				size_t size)
{
	struct mad_addr from = {.lid = from_lid};
	/* Exactly its size, so that reading beyond it is seen. */
	uint8_t *copy = memcpy(mem_alloc(size), mad, size);

	fake->transport.user.received(fake->transport.user.ctx, &from, copy, size);
	free(copy);
}

static inline void fake_smp_free(struct fake_smp *smp)
{
	list_del(&smp->link);
	loop_timer_disarm(&smp->timer);
	free(smp);
}

static inline void fake_expired(void *arg)
{
	struct fake_smp *smp = arg;
	struct fake_net *fake = smp->fake;

	if (!smp->expired && fake->keeps_time)
		fake->transport.user.timed_out(fake->transport.user.ctx, smp->request);
	if (smp->expired)
		fake_receive(fake, smp->to.lid, smp->mad, MAD_SIZE);
	if (smp->expired || !smp->answered) {
		fake_smp_free(smp);
		return;
	}
	smp->expired = true;
	loop_timer_arm(&smp->timer, 1000);
}

static inline void fake_note_set(struct fake_net *fake, const struct fake_set *set)
{
	fake->sets = mem_resize(fake->sets, fake->num_sets + 1, sizeof(*fake->sets));
	fake->sets[fake->num_sets++] = *set;
}

/* Executes the request in smp->mad and makes it the answer. */
static inline void fake_execute(struct fake_smp *smp, struct fake_port *at,
				struct mad_header *header, uint16_t refusal)
{
	struct fake_net *fake = smp->fake;
	uint8_t *data = smp->mad + SMP_DATA_OFFSET;
	struct fake_set set = {.node = at->node,
			       .attr_id = header->attr_id,
			       .attr_mod = header->attr_mod,
			       .status = refusal};

	memcpy(set.data, data, sizeof(set.data));
	if (header->attr_id == ATTR_PORT_INFO)
		set.port = fake_port_of(at, header->attr_mod);
	if (header->method == METHOD_SET && fake->before_set)
		fake->before_set(fake->ctx, &set);
	if (!refusal)
		set.status = fake_attr(at, header, data);
	memcpy(set.answer, data, sizeof(set.answer));
	if (header->method == METHOD_SET) {
		fake_note_set(fake, &set);
		if (fake->after_set)
			fake->after_set(fake->ctx, &set);
	}
	header->status = set.status;
	if (header->mgmt_class == CLASS_SUBN_DIRECTED)
		header->status |= 0x8000;
	header->method = METHOD_GET_RESP;
	header_encode(header, smp->mad);
}

/* False when the SMP still lives. */
static inline bool fake_answer(struct fake_smp *smp)
{
	struct fake_net *fake = smp->fake;
	struct mad_header header;
	struct fake_port *at;
	enum fake_fate fate = FAKE_ANSWER;
	size_t size = MAD_SIZE;

	header_decode(smp->mad, &header);
	at = header.mgmt_class == CLASS_SUBN_DIRECTED ? fake_walk(fake, smp->mad)
						      : fake_find_lid(fake, smp->to.lid);
	if (at && header.mgmt_class != CLASS_SUBN_DIRECTED && at != fake->local && at->num &&
	    !fake_up(at))
		at = NULL;
	if (!at || at->node->silent ||
	    (header.attr_id == ATTR_SM_INFO && at->node->sm_m_key &&
	     at->node->sm_m_key != be64_load(smp->mad + SMP_M_KEY_OFFSET)))
		fate = FAKE_LOSE_REQUEST;
	else if (fake->fate)
		fate = fake->fate(fake->ctx, at->node, &header);
	if (fate != FAKE_LOSE_REQUEST)
		fake_execute(smp, at, &header,
			     fate == FAKE_REFUSE ? FAKE_REFUSED
			     : fate == FAKE_BUSY ? STATUS_BUSY
						 : STATUS_OK);
	smp->answered = fate == FAKE_ANSWER_LATE;
	if (smp->answered || fate == FAKE_LOSE_REQUEST || fate == FAKE_LOSE_ANSWER) {
		list_push(&fake->timed, &smp->link);
		loop_timer_arm(&smp->timer, smp->timeout_ms * UINT64_C(1000));
		return false;
	}
	if (fate == FAKE_WRONG_ATTR)
		smp->mad[17] ^= 1;
	if (fate == FAKE_WRONG_TID)
		smp->mad[15] ^= 1;
	if (fate == FAKE_SHORT)
		size = MAD_SIZE / 2;
	fake_receive(fake, smp->to.lid, smp->mad, size);
	if (fate == FAKE_ANSWER_TWICE)
		fake_receive(fake, smp->to.lid, smp->mad, size);
	return true;
}

static inline void fake_deliver(void *arg)
{
	struct fake_net *fake = arg;
	struct list round, *link;

	list_init(&round);
	while ((link = list_pop(&fake->queue)))
		list_push(&round, link);
	while ((link = list_pop(&round))) {
		struct fake_smp *smp = container_of(link, struct fake_smp, link);

		if (fake_answer(smp))
			fake_smp_free(smp);
	}
}

/* The transport */

static inline int fake_send(struct transport *transport, const struct mad_addr *to,
			    const uint8_t *mad, size_t size, unsigned timeout_ms)
{
	struct fake_net *fake = container_of(transport, struct fake_net, transport);
	struct fake_smp *smp;

	if (fake->send_error)
		return fake->send_error;
	if (!timeout_ms) {
		fake->sent = mem_resize(fake->sent, fake->num_sent + 1, sizeof(*fake->sent));
		memset(fake->sent[fake->num_sent], 0, MAD_SIZE);
		memcpy(fake->sent[fake->num_sent++], mad, size < MAD_SIZE ? size : MAD_SIZE);
		fake->last_sent_to = to->lid;
		return 0;
	}
	fake->requests++;
	smp = mem_zalloc(sizeof(*smp));
	smp->fake = fake;
	smp->to = *to;
	smp->timeout_ms = timeout_ms;
	memcpy(smp->mad, mad, MAD_SIZE);
	memcpy(smp->request, mad, MAD_SIZE);
	loop_timer_init(&smp->timer, fake->loop, "fake kernel", fake_expired, smp);
	list_push(&fake->queue, &smp->link);
	loop_defer(&fake->deliver);
	return 0;
}

static inline int fake_set_issm(struct transport *transport, bool on)
{
	struct fake_net *fake = container_of(transport, struct fake_net, transport);

	fake->issm = on;
	if (on)
		fake->local->info.capability_mask |= CAP_IS_SM;
	else
		fake->local->info.capability_mask &= ~CAP_IS_SM;
	return 0;
}

static inline void fake_close(struct transport *transport)
{
	(void)transport;
}

/* Making it, and what happens to it */

/* As after power on. */
static inline void fake_port_reset(struct fake_port *port)
{
	bool base0 = fake_is_switch(port) && !port->num;
	bool end = !fake_is_switch(port) || base0;

	port->info = (struct port_info){
		.local_port_num = port->num,
		.capability_mask =
			end ? CAP_IS_TRAP | CAP_CLIENT_REREGISTER | CAP_EXTENDED_SPEEDS : 0,
		.link_width_supported = 3,
		.link_width_enabled = 3,
		.link_width_active = 2,
		.link_speed_supported = 7,
		.link_speed_enabled = 7,
		.link_speed_active = 4,
		.port_state = base0	   ? PORT_ACTIVE
			      : port->peer ? PORT_INIT
					   : PORT_DOWN,
		.port_physical_state = base0 || port->peer ? PHYS_LINK_UP : PHYS_POLLING,
		.mtu_cap = 5,
		.neighbor_mtu = 1,
		.vl_cap = 4,
		.operational_vls = 1,
	};
}

static inline void fake_reboot(struct fake_node *node)
{
	node->sw.linear_fdb_top = 0;
	node->sw.port_state_change = 1;
	memset(node->lft, LFT_NO_PORT, sizeof(node->lft));
	memset(node->written, 0, sizeof(node->written));
	for (unsigned p = 0; p <= node->info.num_ports; p++) {
		struct fake_port *peer = node->port[p].peer;

		fake_port_reset(&node->port[p]);
		if (!peer)
			continue;
		peer->info.port_state = PORT_INIT;
		peer->node->sw.port_state_change = 1;
	}
}

/* Pulls or plugs the cable of a port. */
static inline void fake_link(struct fake_port *port, bool up)
{
	struct fake_port *ends[] = {port, port->peer};

	for (unsigned i = 0; i < 2; i++) {
		ends[i]->info.port_state = up ? PORT_INIT : PORT_DOWN;
		ends[i]->info.port_physical_state = up ? PHYS_LINK_UP : PHYS_POLLING;
		ends[i]->node->sw.port_state_change = 1;
	}
}

static inline struct fake_node *fake_node_new(const struct net *net, unsigned index)
{
	const struct net_node *from = &net->nodes[index];
	struct fake_node *node =
		mem_zalloc(sizeof(*node) + (from->ports + 1u) * sizeof(node->port[0]));
	guid_t guid = net_node_guid(net, index);

	node->info = (struct node_info){.base_version = 1,
					.class_version = 1,
					.node_type = (uint8_t)from->type,
					.num_ports = from->ports,
					.system_image_guid = guid,
					.node_guid = guid,
					.port_guid = guid,
					.partition_cap = PKEY_BLOCK_KEYS,
					.device_id = 1,
					.vendor_id = 1};
	node->sw = (struct switch_info){.linear_fdb_cap = FAKE_LFT_CAP,
					.multicast_fdb_cap = 1024,
					.life_time_value = 1,
					.port_state_change = 1,
					.enhanced_port0 = from->enhanced_port0};
	memset(node->lft, LFT_NO_PORT, sizeof(node->lft));
	snprintf(node->description, sizeof(node->description), "%s", from->description);
	for (unsigned p = 0; p <= from->ports; p++) {
		node->port[p].node = node;
		node->port[p].num = (uint8_t)p;
		node->port[p].p_key[0] = PKEY_DEFAULT_FULL;
	}
	return node;
}

/* The manager is on port sm_port (0 of a switch) of node sm_node. */
static inline struct fake_net *fake_new(struct loop *loop, const struct net *net, unsigned sm_node,
					uint8_t sm_port)
{
	static const struct transport_ops ops = {
		.send = fake_send, .set_issm = fake_set_issm, .close = fake_close};
	struct fake_net *fake = mem_zalloc(sizeof(*fake));

	fake->loop = loop;
	fake->keeps_time = true;
	fake->num_nodes = net->count;
	fake->nodes = mem_array(net->count, sizeof(*fake->nodes));
	list_init(&fake->queue);
	list_init(&fake->timed);
	loop_deferred_init(&fake->deliver, loop, "fake agents", fake_deliver, fake);
	for (unsigned n = 0; n < net->count; n++)
		fake->nodes[n] = fake_node_new(net, n);
	for (unsigned n = 0; n < net->count; n++) {
		for (unsigned p = 0; p <= net->nodes[n].ports; p++) {
			const struct net_port *port = &net->nodes[n].port[p];

			if (p && port->peer >= 0)
				fake->nodes[n]->port[p].peer =
					&fake->nodes[port->peer]->port[port->peer_port];
			fake_port_reset(&fake->nodes[n]->port[p]);
		}
	}
	fake->local = &fake->nodes[sm_node]->port[sm_port];
	fake->transport.ops = &ops;
	fake->transport.port = (struct transport_port){
		.ca = "fake0",
		.port = sm_port,
		.node_guid = fake->nodes[sm_node]->info.node_guid,
		.port_guid = fake->nodes[sm_node]->info.port_guid + sm_port};
	return fake;
}

/* After the table of transactions and before the loop. */
static inline void fake_free(struct fake_net *fake)
{
	struct list *link;

	loop_defer_cancel(&fake->deliver);
	while ((link = list_pop(&fake->queue)) || (link = list_pop(&fake->timed)))
		fake_smp_free(container_of(link, struct fake_smp, link));
	for (unsigned n = 0; n < fake->num_nodes; n++)
		free(fake->nodes[n]);
	free(fake->nodes);
	free(fake->sets);
	free(fake->sent);
	free(fake);
}

/* A trap of a generic number comes from slid and names its issuer; its TID, M_Key and details are
 * the caller's. */
static inline void fake_trap_of(struct fake_net *fake, lid_t slid, lid_t issuer, uint16_t number,
				const union notice_details *details, uint64_t tid, uint64_t m_key)
{
	struct notice notice;
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};

	notice_fill(&notice, number, NODE_SWITCH, issuer, details);
	format_encode(&notice_format, &notice, data);
	subn_build(mad, METHOD_TRAP, ATTR_NOTICE, 0, m_key, NULL, data);
	be64_store(mad + 8, tid);
	fake_receive(fake, slid, mad, MAD_SIZE);
}

/* The same from its issuer. */
static inline void fake_trap(struct fake_net *fake, lid_t from, uint16_t number,
			     const union notice_details *details, uint64_t tid, uint64_t m_key)
{
	fake_trap_of(fake, from, from, number, details, tid, m_key);
}

#endif

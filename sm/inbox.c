/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Subnet management MADs that others send to us: traps and SMInfo, one row each. Every trap is
 * repressed, also one that nobody knows, else its sender repeats it for ever; only a MASTER acts
 * on it. Get(SMInfo) is answered in every role. Our SM_Key is told, since OpenSM takes a manager
 * that tells another, or none, for no manager at all; but where nothing can be read without our
 * port's M_Key, only to who knows that (chapter 14.4.1). Who does not is told the rest at any level
 * of protection, for the election of our own kind is not to depend on keys that are just being
 * changed. Set(SMInfo) needs the M_Key.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "include/message_id.h"
#include "lib/be.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sm/context.h"
#include "sma/notice.h"

enum { READABLE = 1 }; /* the highest protection level at which a Get() needs no M_Key */

struct letter { /* one request from outside */
	const struct mad_addr *from;
	const struct mad_header *header;
	const uint8_t *mad;
};

static struct port *port_of_lid(const struct sm *sm, lid_t lid)
{
	return lid && lid <= LID_UNICAST_MAX ? sm->fabric->lids[lid] : NULL;
}

static guid_t node_of_lid(const struct sm *sm, lid_t lid)
{
	const struct port *port = port_of_lid(sm, lid);

	return port ? port->node->guid : 0;
}

/* Traps */

/* look: enum discover_look. */
static void act_on(struct sm *sm, lid_t lid, uint16_t number, uint8_t look)
{
	char reason[TRIGGER_REASON_SIZE];
	const struct port *port = port_of_lid(sm, lid);

	snprintf(reason, sizeof(reason), "trap %u from LID %u", number, lid);
	if (port && look & LOOK_NODE)
		trigger_node(&sm->trigger, port->node->guid, reason);
	else if (port)
		trigger_port(&sm->trigger, port_facts(port)->guid, look, reason);
	else if (log_allowed(&sm->stranger_limit)) /* its trap comes again for as long as it is left
						      out */
		trigger_full(&sm->trigger, reason);
}

static void link_state(struct sm *sm, const struct notice *notice,
		       const union notice_details *details)
{
	act_on(sm, details->link_state.lid ? details->link_state.lid : notice->issuer_lid,
	       notice->trap_number, LOOK_NODE);
}

/* The capability mask changed, with OtherLocalChanges what the flags tell: all but the description
 * shows in PortInfo. A manager that appears, or changes its priority, is asked in each sweep. */
static void local_changes(struct sm *sm, const struct notice *notice,
			  const union notice_details *details)
{
	const struct notice_local_changes *changes = &details->local_changes;
	uint16_t flags = changes->other_local_changes ? changes->change_flags : 0;
	uint8_t look = flags == CHANGE_NODE_DESCRIPTION ? 0 : LOOK_PORT;

	look |= flags & CHANGE_NODE_DESCRIPTION ? LOOK_DESCRIPTION : 0;
	act_on(sm, changes->lid ? changes->lid : notice->issuer_lid, notice->trap_number, look);
}

static void complain(struct sm *sm, const struct notice *notice, lid_t lid, uint8_t num)
{
	struct node *node = fabric_find_node(sm->fabric, node_of_lid(sm, lid));

	if (node && num <= node->num_ports && (num || node->sw))
		hold_complaint(&sm->hold, &node->port[num], notice->trap_number);
}

static void threshold(struct sm *sm, const struct notice *notice,
		      const union notice_details *details)
{
	complain(sm, notice, details->threshold.lid, details->threshold.port_num);
}

static void bad_p_key(struct sm *sm, const struct notice *notice,
		      const union notice_details *details)
{
	complain(sm, notice, details->switch_bad_p_key.switch_lid,
		 details->switch_bad_p_key.port_num);
}

/* Where its lease timer runs now, a Get() with the right key stops that; not all agents count the
 * TrapRepress() for it, and that may be lost. */
static void bad_m_key(struct sm *sm, const struct notice *notice,
		      const union notice_details *details)
{
	struct port *port = port_of_lid(sm, notice->issuer_lid);

	if (!port)
		return;
	keys_violation(&sm->keys, port, &details->bad_m_key);
	act_on(sm, notice->issuer_lid, notice->trap_number, LOOK_PORT);
}

/* A repetition may be the first that reaches a MASTER, so what it names is looked at again.
 * Complaints are counted: one that was not repressed in time is none more. */
static const struct {
	uint16_t number;
	bool once;
	void (*act)(struct sm *sm, const struct notice *notice,
		    const union notice_details *details);
} traps[] = {
	{TRAP_LINK_STATE, false, link_state},
	{TRAP_LOCAL_CHANGES, false, local_changes},
	{TRAP_LOCAL_LINK_INTEGRITY, true, threshold},
	{TRAP_BUFFER_OVERRUN, true, threshold},
	{TRAP_FLOW_CONTROL, true, threshold},
	{TRAP_SWITCH_BAD_P_KEY, true, bad_p_key},
	{TRAP_BAD_M_KEY, true, bad_m_key},
};

static void repress(struct sm *sm, const struct letter *letter)
{
	uint8_t mad[MAD_SIZE];
	struct mad_header header = *letter->header;

	memcpy(mad, letter->mad, sizeof(mad)); /* TID, M_Key and notice go back as they came */
	header.method = METHOD_TRAP_REPRESS;
	header_encode(&header, mad);
	if (txn_send(sm->txns, letter->from, mad, sizeof(mad)) == 0)
		sm->counts.repressed++;
}

/* A trap whose TrapRepress() was lost comes again, with the same TID, and tells nothing new. There
 * are agents that give all their traps the TID 0. */
static bool is_new(const struct port *sender, const struct mad_header *header)
{
	bool seen = sender && header->tid && sender->agent->trap_tid == header->tid;

	if (sender)
		sender->agent->trap_tid = header->tid;
	return !seen;
}

/* The key that was used may be another port's: it goes no further. */
static void hide_m_key(struct notice *notice)
{
	union notice_details details;

	if (notice->trap_number != TRAP_BAD_M_KEY || !notice_details_decode(notice, &details))
		return;
	details.bad_m_key.m_key = 0;
	format_encode(notice_details_format(notice->trap_number), &details, notice->data);
}

/* Chapter 13.4.9: who hears of it is told by IssuerGID where it came from. */
static void tell_trap(struct sm *sm, struct notice *notice, const struct port *sender)
{
	const struct event event = {.kind = EVENT_TRAP,
				    .guid = sender ? port_facts(sender)->guid : 0,
				    .lid = sender ? sender->lid : LID_NONE,
				    .notice = notice,
				    .facts = sender ? sender->node->facts : NULL,
				    .num = sender ? sender->num : 0};

	hide_m_key(notice);
	if (sender) {
		be64_store(notice->issuer_gid, sm->options.subnet_prefix);
		be64_store(notice->issuer_gid + 8, event.guid);
	}
	event_raise(sm->events, &event);
}

static void got_trap(struct sm *sm, const struct letter *letter)
{
	struct notice notice = {0};
	union notice_details details = {0};
	struct log_subject subject = {.lid = letter->from->lid};
	const struct port *sender;
	bool known, new;

	sm->counts.traps++;
	repress(sm, letter);
	attr_decode(&notice_format, letter->mad + SMP_DATA_OFFSET, &notice);
	known = notice.is_generic && notice_details_decode(&notice, &details);
	log_limited(&sm->trap_limit, LOG_INFO, &subject, "trap %u of type %u from LID %u%s",
		    notice.trap_number, notice.type, notice.issuer_lid,
		    known ? "" : ", which is unknown here");
	sender = port_of_lid(sm, notice.issuer_lid);
	new = is_new(sender, letter->header);
	if (known && notice.trap_number == TRAP_LINK_STATE && new) {
		if (sender && port_of_switch(sender))
			sender->node->sw->news = true;
		program_note_news(sm->program);
	}
	if (peers_role(sm->peers) != SM_MASTER)
		return;
	for (size_t i = 0; known && i < ARRAY_SIZE(traps); i++) {
		if (traps[i].number == notice.trap_number && (new || !traps[i].once))
			traps[i].act(sm, &notice, &details);
	}
	if (sm->trigger.wanted)
		discover_hurry(sm->discover);
	if (new)
		tell_trap(sm, &notice, sender);
}

/* SMInfo */

/* Chapter 14.2.4. Nobody below us looks, for it is the manager that has SMInfo. */
static bool has_our_m_key(const struct sm *sm, const struct letter *letter)
{
	const struct port *port = sm->fabric->sm_port;
	const struct agent *agent = port ? port_agent(port) : NULL;

	return !agent || agent_m_key_fits(agent, be64_load(letter->mad + SMP_M_KEY_OFFSET));
}

/* At levels 0 and 1 a Get() needs no M_Key. An OpenSM without it so reads the whole fabric, and
 * would be a second MASTER in it if our SM_Key did not make it stand by. */
static bool may_see_sm_key(const struct sm *sm, const struct letter *letter)
{
	const struct port *port = sm->fabric->sm_port;

	return has_our_m_key(sm, letter) || port_info(port)->m_key_protect_bits <= READABLE;
}

static void answer_sm_info(struct sm *sm, const struct letter *letter, enum mad_status status)
{
	struct mad_header header = *letter->header;
	struct sm_info own;
	uint8_t mad[MAD_SIZE];

	memcpy(mad, letter->mad, sizeof(mad));
	header.method = METHOD_GET_RESP;
	header.status = status;
	if (header.mgmt_class == CLASS_SUBN_DIRECTED)
		header.status |= 0x8000; /* the D bit: it goes back the way it came */
	header_encode(&header, mad);
	peers_own_info(sm->peers, &own);
	own.sm_key = may_see_sm_key(sm, letter) ? sm->options.sm_key : 0;
	memset(mad + SMP_DATA_OFFSET, 0, SMP_DATA_SIZE);
	format_encode(&sm_info_format, &own, mad + SMP_DATA_OFFSET);
	txn_send(sm->txns, letter->from, mad, sizeof(mad));
}

/* The way that a directed request came, from us to its sender. */
static void way_back(const struct letter *letter, struct route_path *out)
{
	const uint8_t *came_in = letter->mad + SMP_RETURN_PATH_OFFSET;

	*out = (struct route_path){.hops = letter->header->hop_count};
	for (unsigned i = 1; i <= out->hops; i++)
		out->port[i] = came_in[out->hops + 1 - i];
}

static bool is_stranger(const struct sm *sm, const struct letter *letter)
{
	struct route_path back;

	if (letter->header->mgmt_class != CLASS_SUBN_DIRECTED)
		return !port_of_lid(sm, letter->from->lid);
	if (letter->header->hop_count > HOPS_MAX ||
	    be16_load(letter->mad + SMP_DR_SLID_OFFSET) != LID_PERMISSIVE)
		return false;
	way_back(letter, &back);
	return !fabric_way_ends(sm->fabric, &back);
}

/* Who asks from where we know of nothing has found a way to us that no port has shown: another
 * MASTER may have cleared PortStateChange, which told of it. If it ranks higher, it waits for us to
 * find it, and to hand over. */
static void get_sm_info(struct sm *sm, const struct letter *letter)
{
	sm->counts.sm_info_gets++;
	if (peers_role(sm->peers) == SM_MASTER && is_stranger(sm, letter) &&
	    log_allowed(&sm->stranger_limit))
		trigger_full(&sm->trigger, "a manager asks from where we know of nothing");
	answer_sm_info(sm, letter, STATUS_OK);
}

/* The port a request came from, as discovery knows it; 0: it does not. */
static guid_t sender_of(struct sm *sm, const struct letter *letter)
{
	const struct roster *roster = fabric_roster(sm->fabric);
	const struct port *port;
	struct route_path back;

	if (letter->header->mgmt_class == CLASS_SUBN_DIRECTED) {
		if (letter->header->hop_count > HOPS_MAX)
			return 0;
		way_back(letter, &back);
		port = fabric_way_ends(sm->fabric, &back);
		return port && port_agent(port) ? port_facts(port_agent(port)->port)->guid : 0;
	}
	for (size_t i = 0; i < roster->num_ends; i++) {
		const struct port_info *info = port_info(roster->ends[i]);

		if (info->lid && letter->from->lid >= info->lid &&
		    letter->from->lid < info->lid + (1u << info->lmc))
			return port_facts(roster->ends[i])->guid;
	}
	return 0;
}

static void set_sm_info(struct sm *sm, const struct letter *letter)
{
	struct log_subject subject = {.message_id = MESSAGE_M_KEY, .lid = letter->from->lid};
	struct sm_info sender;
	uint32_t control = letter->header->attr_mod;
	guid_t guid = sender_of(sm, letter);

	sm->counts.sm_info_sets++;
	if (!has_our_m_key(sm, letter)) { /* which a Set() needs at any level of protection */
		log_limited(&sm->keys.limit, LOG_WARNING, &subject,
			    "SMInfo control %u from LID %u with another M_Key than our port's: "
			    "dropped; where it is a manager of yours, give it the same m_key or "
			    "secret",
			    control, letter->from->lid);
		return;
	}
	attr_decode(&sm_info_format, letter->mad + SMP_DATA_OFFSET, &sender);
	answer_sm_info(sm, letter,
		       peers_control(sm->peers, control, &sender, letter->from->lid, guid));
}

static const struct {
	uint8_t method;
	uint16_t attr_id;
	void (*take)(struct sm *sm, const struct letter *letter);
} rows[] = {
	{METHOD_TRAP, ATTR_NOTICE, got_trap},
	{METHOD_GET, ATTR_SM_INFO, get_sm_info},
	{METHOD_SET, ATTR_SM_INFO, set_sm_info},
};

static void received(void *ctx, const struct mad_addr *from, const struct mad_header *header,
		     const uint8_t *mad, size_t size)
{
	struct sm *sm = ctx;
	struct letter letter = {.from = from, .header = header, .mad = mad};

	(void)size; /* at least MAD_SIZE */
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].method == header->method && rows[i].attr_id == header->attr_id)
			rows[i].take(sm, &letter);
	}
}

void inbox_init(struct sm *sm)
{
	sm->stranger_limit = (struct log_limit){.burst = 2, .interval_us = 60000000};
	sm->trap_limit = (struct log_limit){.burst = 20, .interval_us = 500000};
	txn_handle(sm->txns, CLASS_SUBN_LID, received, sm);
	txn_handle(sm->txns, CLASS_SUBN_DIRECTED, received, sm);
}

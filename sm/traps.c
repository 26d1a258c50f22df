/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Traps. Every trap is repressed, also one of an unknown kind, because its sender would repeat it
 * for ever. Only a MASTER acts on traps.
 *
 * Any program with QP0 can write any LID into a notice. Only the source LID of the packet is
 * reliable, because the hardware of the sending port writes it, except by directed route. So a trap
 * is accepted only if the port with that LID is also the issuer. If the details name a reporting
 * port, it must be the same port, too. Any other trap is counted and logged. It only causes a read
 * of the port that sent it, which may be an honest agent with wrong data. All reads are of the
 * sender, at its own pace (sm/trap_pace.h).
 */
#include "sm/traps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fabric/subject.h"
#include "include/message_id.h"
#include "lib/be.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "mad/notice.h"

struct trap {
	const struct smp_rx_request *request;
	struct port *sender; /* NULL: no known port has the source LID */
	struct notice notice;
	union notice_details details;
	bool known; /* details are valid */
	bool fresh; /* not a repetition */
};

/* Senders */

static bool in_range(lid_t base, uint8_t lmc, lid_t lid)
{
	return base && lid >= base && lid - base < 1 << lmc;
}

static bool holds_lid(const struct port *port, lid_t lid)
{
	return in_range(port_info(port)->lid, port_info(port)->lmc, lid);
}

/* While LIDs change, a port has its previous LID until it accepts the new LID. */
static bool has_lid(const struct port *port, lid_t lid)
{
	return holds_lid(port, lid) || in_range(port->lid, port->lmc, lid);
}

/* A port holds a LID of another port only while LIDs change. */
static struct port *search_holder(struct sm *sm, lid_t lid)
{
	const struct roster *roster;

	if (!rate_allows(&sm->search_rate, loop_now_us(sm->loop)))
		return NULL;
	roster = fabric_roster(sm->fabric);
	for (size_t i = 0; i < roster->num_ends; i++) {
		if (holds_lid(roster->ends[i], lid))
			return roster->ends[i];
	}
	return NULL;
}

struct port *sender_by_lid(struct sm *sm, lid_t lid)
{
	struct port *owner, *holder;

	if (lid == LID_NONE || lid > LID_UNICAST_MAX)
		return NULL;
	owner = sm->fabric->lids[lid];
	if (owner && holds_lid(owner, lid))
		return owner;
	holder = search_holder(sm, lid);
	return holder ? holder : owner;
}

/* A packet from the local port to itself may have no source LID. mlx4's process_mad() delivers the
 * notices of its own firmware in this way, and OpenSM's osm_trap_rcv.c assumes the manager's LID. A
 * device without a LID also sends with none. Such a trap can at most cause the actions of a trap
 * from the local port. */
static bool is_from_own_port(const struct smp_rx_request *request)
{
	return request->from->lid == LID_NONE;
}

/* Traps travel by LID. Where the directed part of a route ends, the switch there writes its own LID
 * into the packet (14.2.2). So with a directed trap any port could speak for any switch. */
static bool is_directed(const struct smp_rx_request *request)
{
	return request->header->mgmt_class == CLASS_SUBN_DIRECTED;
}

/* Looks */

static uint8_t look_at_whole(const struct port *sender)
{
	return port_of_switch(sender) ? LOOK_NODE : LOOK_PORT;
}

/* Requests a read of the sender, with bits of enum discover_look. */
static void look_at_sender(struct sm *sm, const struct trap *trap, uint8_t what)
{
	char reason[TRIGGER_REASON_SIZE];

	if (trap->sender) {
		trap_pace_look(&sm->trap_pace, trap->sender, what, trap->notice.trap_number,
			       trap->request->header->tid);
		return;
	}
	snprintf(reason, sizeof(reason), "trap %u from LID %u", trap->notice.trap_number,
		 trap->request->from->lid);
	if (sm_search_stranger(sm, reason))
		discover_hurry(sm->discover);
}

static void trap_link_state(struct sm *sm, const struct trap *trap)
{
	look_at_sender(sm, trap, trap->sender ? look_at_whole(trap->sender) : LOOK_NODE);
}

/* The capability mask changed, or a value of OtherLocalChanges. All values but the description are
 * in PortInfo. Managers that appear or change their priority are surveyed in each sweep. */
static void local_changes(struct sm *sm, const struct trap *trap)
{
	const struct notice_local_changes *changes = &trap->details.local_changes;
	uint16_t flags = changes->other_local_changes ? changes->change_flags : 0;
	uint8_t what = flags == CHANGE_NODE_DESCRIPTION ? 0 : LOOK_PORT;

	look_at_sender(sm, trap, what | (flags & CHANGE_NODE_DESCRIPTION ? LOOK_DESCRIPTION : 0));
}

/* A switch reports any of its ports, a port of an adapter only itself. */
static void trap_link_complaint(struct sm *sm, const struct trap *trap, uint8_t num)
{
	struct port *sender = trap->sender;

	if (!sender || num > sender->node->num_ports ||
	    (!port_of_switch(sender) && num != sender->num))
		return;
	if (hold_complaint(&sm->hold, &sender->node->port[num], trap->notice.trap_number))
		look_at_sender(sm, trap, look_at_whole(sender));
}

static void threshold(struct sm *sm, const struct trap *trap)
{
	trap_link_complaint(sm, trap, trap->details.threshold.port_num);
}

static void bad_p_key(struct sm *sm, const struct trap *trap)
{
	trap_link_complaint(sm, trap, trap->details.switch_bad_p_key.port_num);
}

/* If the lease timer of the port runs now, a Get() with the right key stops it. The TrapRepress()
 * does so, too, but may be lost. */
static void bad_m_key(struct sm *sm, const struct trap *trap)
{
	if (!trap->sender)
		return;
	keys_violation(&sm->keys, trap->sender, &trap->details.bad_m_key);
	look_at_sender(sm, trap, LOOK_PORT);
}

/* A repetition may be the first copy that reaches a MASTER, so the named port is read again. A
 * repeated report counts once. */
static const struct {
	uint16_t number;
	bool once;
	void (*act)(struct sm *sm, const struct trap *trap);
} kinds[] = {
	{TRAP_LINK_STATE, false, trap_link_state},
	{TRAP_LOCAL_CHANGES, false, local_changes},
	{TRAP_LOCAL_LINK_INTEGRITY, true, threshold},
	{TRAP_BUFFER_OVERRUN, true, threshold},
	{TRAP_FLOW_CONTROL, true, threshold},
	{TRAP_SWITCH_BAD_P_KEY, true, bad_p_key},
	{TRAP_BAD_M_KEY, true, bad_m_key},
};

static void act(struct sm *sm, const struct trap *trap)
{
	for (size_t i = 0; trap->known && i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].number == trap->notice.trap_number && (trap->fresh || !kinds[i].once))
			kinds[i].act(sm, trap);
	}
}

/* True senders */

enum mismatch {
	MISMATCH_NONE,
	MISMATCH_DIRECTED,
	MISMATCH_MANAGERS_OWN,
	MISMATCH_ISSUER,
	MISMATCH_DETAILS
};

static bool is_managers_own(const struct notice *notice)
{
	return notice->is_generic && notice->trap_number >= TRAP_GID_IN_SERVICE &&
	       notice->trap_number <= TRAP_MC_GROUP_DELETED;
}

/* Only the SA issues notices 64 to 67 (13.4.8.2, table of traps). If the sender is unknown, a LID
 * of another port proves the same. LID 0 names no port: agents copy the present LID of their port,
 * which is 0 at first (qib_bad_mkey() and qib_send_trap() of the kernel). OpenSM does not read the
 * issuer. */
static enum mismatch trap_judge(const struct sm *sm, const struct trap *trap, lid_t *named)
{
	const struct port *sender = trap->sender;
	lid_t own = trap->known ? notice_own_lid(&trap->notice, &trap->details) : LID_NONE;

	*named = trap->notice.issuer_lid;
	if (is_directed(trap->request))
		return MISMATCH_DIRECTED;
	if (is_managers_own(&trap->notice))
		return MISMATCH_MANAGERS_OWN;
	if (!sender)
		return *named <= LID_UNICAST_MAX && sm->fabric->lids[*named] ? MISMATCH_ISSUER
									     : MISMATCH_NONE;
	if (*named != LID_NONE && !has_lid(sender, *named))
		return MISMATCH_ISSUER;
	if (own == LID_NONE || has_lid(sender, own))
		return MISMATCH_NONE;
	*named = own;
	return MISMATCH_DETAILS;
}

static void mismatched(struct sm *sm, const struct trap *trap, enum mismatch mismatch, lid_t named)
{
	static const char *const words[] = {
		[MISMATCH_DIRECTED] =
			"came by a directed route, so its sender is unknown; its issuer is",
		[MISMATCH_MANAGERS_OWN] = "is one that only a subnet manager issues; its issuer is",
		[MISMATCH_ISSUER] = "was not sent by its issuer,",
		[MISMATCH_DETAILS] = "is about another port,",
	};
	const struct port *sender = trap->sender;
	struct log_subject subject = {.message_id = MESSAGE_TRAP_SENDER,
				      .lid = trap->request->from->lid};

	sm->counts.mismatched++;
	if (sender)
		subject = port_subject(sender, MESSAGE_TRAP_SENDER);
	log_limited(&sm->mismatch_limit, LOG_WARNING, &subject,
		    "trap %u from \"%s\" port %u (GUID 0x%016" PRIx64
		    ", LID %u) %s LID %u: ignored (find the program that sends it on that host, or "
		    "update the firmware of the device)",
		    trap->notice.trap_number, sender ? sender->node->facts->description : "",
		    sender ? sender->num : 0, sender ? port_facts(sender)->guid : 0,
		    trap->request->from->lid, words[mismatch], named);
	if (mismatch != MISMATCH_DIRECTED)
		look_at_sender(sm, trap, sender ? look_at_whole(sender) : LOOK_NODE);
}

/* A trap whose TrapRepress() was lost arrives again with the same TID, and has no new information.
 * Some agents give all their traps the TID 0. */
static bool is_fresh(const struct port *sender, const struct mad_header *header)
{
	bool seen = sender && header->tid && sender->agent->trap_tid == header->tid;

	if (sender)
		sender->agent->trap_tid = header->tid;
	return !seen;
}

/* The M_Key of the port that gets the TrapRepress(), which needs it as a Set() does (14.2.4;
 * check_mkey() of the kernel's drivers qib and hfi1); the Trap() itself has 0. OpenSM's
 * osm_trap_rcv.c does the same. An unknown LID gets no key: any program may have sent from there,
 * and the key could be that of all ports. While the key is in doubt, a repetition tries the next
 * possible key. */
static uint64_t repress_key(const struct trap *trap)
{
	return trap->sender ? agent_m_key(trap->sender->agent, !trap->fresh) : 0;
}

static void repress(struct sm *sm, const struct trap *trap)
{
	const struct smp_rx_request *request = trap->request;
	struct mad_header header = *request->header;
	struct mad_addr to = *request->from;
	uint8_t mad[MAD_SIZE];

	if (!sm->fabric->sm_port)
		return; /* no port is known yet, nor its M_Key: the trap is repeated */
	if (is_from_own_port(request))
		to.lid = sm_lid(sm);
	if (to.lid == LID_NONE)
		return; /* the local port has no LID yet, so nothing can be sent to it */
	memcpy(mad, request->mad, sizeof(mad)); /* TID and notice return unchanged */
	header.method = METHOD_TRAP_REPRESS;
	header_encode(&header, mad);
	be64_store(mad + SMP_M_KEY_OFFSET, repress_key(trap));
	if (txn_send(sm->txns, &to, mad, sizeof(mad)) == 0)
		sm->counts.repressed++;
}

/* Reports */

/* The M_Key may be that of another port, so it is removed here. */
static void hide_m_key(struct notice *notice)
{
	union notice_details details;

	if (notice->trap_number != TRAP_BAD_M_KEY || !notice_details_decode(notice, &details))
		return;
	details.bad_m_key.m_key = 0;
	format_encode(notice_details_format(notice->trap_number), &details, notice->data);
}

/* A notice is sent to every subscriber, and all notices share a log. A flood from one port would
 * push the notices of other ports out of the log. Reads of the sender have a separate limit. */
static bool may_tell(struct sm *sm, const struct trap *trap)
{
	struct rate *rate = trap->sender ? &trap->sender->agent->trap_rate : &sm->unknown_trap_rate;

	rate->burst = TRAPS_TOLD_BURST;
	rate->interval_us = TRAPS_TOLD_INTERVAL_US;
	if (rate_allows(rate, loop_now_us(sm->loop)))
		return true;
	sm->counts.untold++;
	sm->suppressed_us = loop_now_us(sm->loop);
	sm->suppressed_guid = trap->sender ? port_facts(trap->sender)->guid : 0;
	return false;
}

/* Chapter 13.4.9: IssuerGID gives subscribers the source of the trap. */
static void trap_raise_event(struct sm *sm, struct trap *trap)
{
	const struct port *sender = trap->sender;
	const struct event event = {.kind = EVENT_TRAP,
				    .guid = sender ? port_facts(sender)->guid : 0,
				    .lid = sender ? sender->lid : LID_NONE,
				    .notice = &trap->notice,
				    .facts = sender ? sender->node->facts : NULL,
				    .num = sender ? sender->num : 0};

	hide_m_key(&trap->notice);
	if (sender) {
		if (trap->notice.issuer_lid == LID_NONE) /* subscriptions name ranges of it */
			trap->notice.issuer_lid = sender->lid;
		be64_store(trap->notice.issuer_gid, sm->options.subnet_prefix);
		be64_store(trap->notice.issuer_gid + 8, event.guid);
	}
	event_raise(sm->events, &event);
}

/* Only a switch sends trap 128, about its links. An unknown sender may be a switch. Each epoch
 * makes weftd verify switches again before it writes, so a flood must not cause one epoch after
 * another.
 */
static void trap_new_epoch(struct sm *sm, const struct trap *trap)
{
	struct rate *rate = trap->sender ? &trap->sender->agent->epoch_rate : &sm->epoch_rate;

	if (!trap->known || trap->notice.trap_number != TRAP_LINK_STATE || !trap->fresh ||
	    (trap->sender && !port_of_switch(trap->sender)))
		return;
	if (trap->sender)
		trap->sender->node->sw->links_changed = true;
	if (!program_epoch_is_used(sm->program))
		return;
	rate->burst = TRAP_EPOCHS_BURST;
	rate->interval_us = TRAP_EPOCHS_INTERVAL_US;
	if (rate_allows(rate, loop_now_us(sm->loop)))
		program_new_epoch(sm->program);
	else if (!loop_timer_armed(&sm->epoch_timer))
		loop_timer_arm(&sm->epoch_timer, rate_wait_us(rate, loop_now_us(sm->loop)));
}

/* The epoch of traps that the limit has held back. */
static void late_epoch(void *arg)
{
	struct sm *sm = arg;

	program_new_epoch(sm->program);
}

/* The TrapRepress() to a directed trap has no M_Key: the sender chose the rest of its route. */
static struct port *true_sender(struct sm *sm, const struct smp_rx_request *request)
{
	if (is_directed(request))
		return NULL;
	return is_from_own_port(request) ? sm->fabric->sm_port
					 : sender_by_lid(sm, request->from->lid);
}

static void read_trap(struct sm *sm, const struct smp_rx_request *request, struct trap *trap)
{
	*trap = (struct trap){.request = request};
	attr_decode(&notice_format, request->mad + SMP_DATA_OFFSET, &trap->notice);
	trap->known =
		trap->notice.is_generic && notice_details_decode(&trap->notice, &trap->details);
	trap->sender = true_sender(sm, request);
	trap->fresh = is_fresh(trap->sender, request->header);
}

void traps_receive(struct sm *sm, const struct smp_rx_request *request)
{
	struct log_subject subject = {.lid = request->from->lid};
	struct trap trap;
	enum mismatch mismatch;
	lid_t named;

	sm->counts.traps++;
	read_trap(sm, request, &trap);
	repress(sm, &trap);
	log_limited(&sm->trap_limit, LOG_INFO, &subject, "trap %u of type %u from LID %u%s",
		    trap.notice.trap_number, trap.notice.type, trap.notice.issuer_lid,
		    trap.known ? "" : ", which is unknown");
	mismatch = trap_judge(sm, &trap, &named);
	if (!mismatch)
		trap_new_epoch(sm, &trap); /* also if it is not MASTER yet, but will write soon */
	if (peers_role(sm->peers) != SM_MASTER)
		return;
	if (mismatch)
		mismatched(sm, &trap, mismatch, named);
	else
		act(sm, &trap);
	if (!mismatch && trap.fresh && may_tell(sm, &trap))
		trap_raise_event(sm, &trap);
}

void traps_init(struct sm *sm)
{
	sm->trap_limit = (struct log_limit){.burst = 20, .interval_us = 500000};
	sm->mismatch_limit = (struct log_limit){.burst = 10, .interval_us = 1000000};
	sm->search_rate = (struct rate){.burst = 100, .interval_us = 10000};
	trap_pace_init(&sm->trap_pace, sm);
	loop_timer_init(&sm->epoch_timer, sm->loop, "traps", late_epoch, sm);
}

void traps_done(struct sm *sm)
{
	trap_pace_done(&sm->trap_pace);
	loop_timer_disarm(&sm->epoch_timer);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Control packets of other managers (chapter 14.4.1). They contain no proof of their sender. So
 * each check concerns a value that a forger would have to know. These are the SM_Key, the GUID of a
 * manager with the right role, and the LID or the route of its port. An honest manager that this
 * manager has not found yet is refused, and offers again after the next survey.
 */
#include <inttypes.h>
#include <stdio.h>

#include "include/message_id.h"
#include "lib/mem.h"
#include "sm/election/parts.h"

/* Log lines about a port that sends improper control packets. */
static struct log_subject stranger(lid_t from)
{
	return (struct log_subject){.message_id = MESSAGE_FOREIGN_MANAGER, .lid = from};
}

static void acknowledged(void *owner, void *subject, const struct smp_request *request,
			 const struct smp_answer *answer)
{
	(void)owner;
	(void)subject;
	(void)request;
	(void)answer; /* if it is lost, the answer to the Set() is enough for the sender */
}

/* Late orders */

/* Longer than a packet can be under way: a switch drops a packet after 4.3 s at most
 * (LifeTimeValue, and HOQLife of a port), and a packet waits at few switches. */
enum { ORDER_LATE_US = 10000000 };

static struct peer_order *find_order(struct peers *peers, guid_t guid)
{
	for (size_t i = 0; i < PEER_ORDERS; i++) {
		if (peers->orders[i].guid == guid)
			return &peers->orders[i];
	}
	return NULL;
}

/* The counter wraps. */
static bool act_count_is_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* ActCount grows with each MAD that a manager sends (14.2.5.13; OpenSM counts its QP0 MADs,
 * osm_state_mgr.c and osm_sminfo_rcv.c), and a repetition has the count of the first attempt. So
 * a packet with a lower count than an accepted one was sent earlier and arrived late. A manager
 * that was restarted counts from 0: its answers or the time show that. */
static bool control_packet_is_late(struct peers *peers, const struct sm_info *sender)
{
	const struct peer_order *last = find_order(peers, sender->guid);

	return last && act_count_is_before(sender->act_count, last->act_count) &&
	       loop_now_us(peers->loop) - last->at_us < ORDER_LATE_US;
}

static void note_order(struct peers *peers, const struct sm_info *sender)
{
	struct peer_order *last = find_order(peers, sender->guid);

	if (!last)
		last = &peers->orders[peers->num_orders++ % PEER_ORDERS];
	*last = (struct peer_order){sender->guid, sender->act_count, loop_now_us(peers->loop)};
}

void peers_answered(struct peers *peers, const struct sm_info *info)
{
	struct peer_order *last = find_order(peers, info->guid);

	if (last && act_count_is_before(info->act_count, last->act_count))
		*last = (struct peer_order){0};
}

/* Orders */

/* A MASTER keeps its role, but must read the fabric: the other manager has written until now.
 * The sender may be unknown, if it found this manager first. A limit keeps such packets from
 * causing endless sweeps. */
static enum mad_status take_another_subnet(struct peers *peers, const char *reason)
{
	if (rate_allows(&peers->handovers, loop_now_us(peers->loop)))
		peers->changed(peers->ctx, reason);
	return STATUS_OK;
}

/* In STANDBY only the master may hand over, in DISCOVERING only a known manager. Other managers
 * are not known to be genuine: an honest manager offers again once it was found. */
static bool may_hand_over(const struct peers *peers, guid_t guid)
{
	const struct port *port = map_get(&peers->fabric->ports, guid);

	if (peers->role == SM_STANDBY)
		return guid == peers->master.info.guid;
	return peers->role == SM_MASTER || (port && port_info(port)->capability_mask & CAP_IS_SM);
}

/* A manager that ranks higher hands over by command only, and must be able to take the role back
 * the same way. As MASTER this manager takes the rank of that manager, so that no third manager
 * takes over. */
static void inherit(struct peers *peers, const struct sm_info *sender)
{
	enum { PRIORITY_MAX = 15 };
	guid_t own = peers->transport->port.port_guid;
	unsigned priority = sender->priority + (own > sender->guid);

	peers->inherited = (uint8_t)(priority < PRIORITY_MAX ? priority : PRIORITY_MAX);
	peers->previous_master = sender->guid;
	peers->previous_act_count = sender->act_count;
}

static enum mad_status take_handover(struct peers *peers, const struct sm_info *sender, lid_t from)
{
	const struct log_subject subject = stranger(from);
	char reason[96], where[20] = "";

	if (peers->role == SM_NOTACTIVE || peers->options->standby_only)
		return STATUS_INVALID_VALUE;
	if (from != LID_PERMISSIVE) /* it may have arrived by a directed route */
		snprintf(where, sizeof(where), " at LID %u", from);
	if (!may_hand_over(peers, sender->guid)) {
		log_limited(&peers->limit, LOG_WARNING, &subject,
			    "refused the handover from manager 0x%016" PRIx64
			    "%s: it is not the MASTER",
			    sender->guid, where);
		return STATUS_INVALID_VALUE;
	}
	if (peers->role == SM_STANDBY && peers->ready && !peers->ready(peers->ctx))
		return STATUS_BUSY;
	snprintf(reason, sizeof(reason), "manager 0x%016" PRIx64 "%s handed over", sender->guid,
		 where);
	if (peers->role == SM_MASTER && sender->guid == peers->previous_master)
		return STATUS_OK; /* repeated, because our answer was lost */
	if (peers->role == SM_MASTER)
		return take_another_subnet(peers, reason);
	inherit(peers, sender);
	peers_set_role(peers, ROLE_HANDOVER, reason);
	peers_request(peers, sender->guid, METHOD_SET, SM_CONTROL_ACKNOWLEDGE, acknowledged, peers);
	return STATUS_OK;
}

/* Chapter 14.4.1: a STANDBY obeys its master, and a NOTACTIVE manager the present MASTER. A
 * sender that lost the answer repeats its packet (chapter 13.4.6.2), which is then carried out
 * already. */
static enum mad_status take_order(struct peers *peers, enum role_event event,
				  const struct sm_info *sender, lid_t from)
{
	if (peers->role == role_after(event) && sender->guid == peers->master.info.guid)
		return STATUS_OK;
	if (role_next(peers->role, event) == peers->role ||
	    (peers->role == SM_STANDBY && sender->guid != peers->master.info.guid))
		return STATUS_INVALID_VALUE;
	if (peers->role == SM_NOTACTIVE) {
		peers->master = (struct peer){.lid = from == LID_PERMISSIVE ? LID_NONE : from,
					      .info = *sender};
		peers->master.info.sm_key = 0;
	}
	peers_set_role(peers, event, "control packet of the master");
	return STATUS_OK;
}

/* The target accepted a HANDOVER, but its answer was lost. */
static enum mad_status take_acknowledge(struct peers *peers, const struct sm_info *sender)
{
	if (peers->role == SM_MASTER && peers->handover_target &&
	    peers->handover_target == sender->guid)
		peers_handover_complete(peers);
	return STATUS_OK;
}

/* The data of a STANDBY is as old as its last survey, so a port that appeared or moved since is
 * unknown. The only unknown port that is accepted has the LID of the polled master. */
static bool is_believed(const struct peers *peers, const struct sm_info *sender, lid_t from,
			guid_t from_guid)
{
	if (from_guid || peers->role != SM_STANDBY)
		return !from_guid || from_guid == sender->guid;
	return from != LID_NONE && from == peers->master.lid;
}

static enum mad_status obey(struct peers *peers, uint32_t control, const struct sm_info *sender,
			    lid_t from)
{
	static const struct {
		uint32_t control;
		enum role_event event;
	} rows[] = {
		{SM_CONTROL_DISABLE, ROLE_CONTROL_DISABLE},
		{SM_CONTROL_STANDBY, ROLE_CONTROL_STANDBY},
		{SM_CONTROL_DISCOVER, ROLE_CONTROL_DISCOVER},
	};

	if (control == SM_CONTROL_ACKNOWLEDGE)
		return take_acknowledge(peers, sender);
	if (control == SM_CONTROL_HANDOVER)
		return take_handover(peers, sender, from);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].control == control)
			return take_order(peers, rows[i].event, sender, from);
	return STATUS_INVALID_VALUE;
}

/* OpenSM shows its SM_Key to a MASTER only, so the HANDOVER that it sends to a STANDBY has the key
 * 0 (osm_state_mgr.c, state_mgr_send_handover()). It must come from the polled master. */
static bool is_keyless_offer(const struct peers *peers, uint32_t control,
			     const struct sm_info *sender)
{
	return control == SM_CONTROL_HANDOVER && !sender->sm_key && peers->role == SM_STANDBY &&
	       sender->guid == peers->master.info.guid;
}

enum mad_status peers_control(struct peers *peers, uint32_t control, const struct sm_info *sender,
			      lid_t from, guid_t from_guid)
{
	enum mad_status status;
	const struct log_subject subject = stranger(from);

	if (sender->sm_key != peers->options->sm_key && !is_keyless_offer(peers, control, sender)) {
		log_limited(&peers->limit, LOG_WARNING, &subject,
			    "refused SMInfo control %u from LID %u: its SM_Key differs (give all "
			    "managers the same sm_key)",
			    control, from);
		return STATUS_INVALID_VALUE;
	}
	if (trust_judge(&peers->trust, from_guid, from, sender, "sent an SMInfo control packet") !=
	    TRUST_OK)
		return STATUS_INVALID_VALUE;
	if (!is_believed(peers, sender, from, from_guid)) {
		if (from_guid)
			log_limited(&peers->limit, LOG_WARNING, &subject,
				    "refused an SMInfo control packet from port 0x%016" PRIx64
				    ": it claims to be manager 0x%016" PRIx64,
				    from_guid, sender->guid);
		else
			log_limited(&peers->limit, LOG_WARNING, &subject,
				    "refused an SMInfo control packet from an unknown port that "
				    "claims to be manager 0x%016" PRIx64,
				    sender->guid);
		/* Or LIDs have changed since the last survey: another MASTER has written them. */
		if (rate_allows(&peers->handovers, loop_now_us(peers->loop))) {
			peers_doubt_newcomer(peers);
			peers->noticed(
				peers->ctx,
				from_guid ? "a manager sent the GUID of another port"
					  : "a manager sent a control packet from an unknown port");
		}
		return STATUS_INVALID_VALUE;
	}
	if (control_packet_is_late(peers, sender)) {
		log_limited(&peers->limit, LOG_NOTICE, &subject,
			    "refused SMInfo control %u of manager 0x%016" PRIx64
			    ": it is older than the previous one",
			    control, sender->guid);
		return STATUS_INVALID_VALUE;
	}
	if (control != SM_CONTROL_ACKNOWLEDGE && sender->state != SM_MASTER) {
		log_limited(&peers->limit, LOG_WARNING, &subject,
			    "refused a control packet of manager 0x%016" PRIx64
			    " (SMInfo control %u): that manager is not MASTER",
			    sender->guid, control);
		return STATUS_INVALID_VALUE;
	}
	status = obey(peers, control, sender, from);
	if (status == STATUS_OK)
		note_order(peers, sender);
	return status;
}

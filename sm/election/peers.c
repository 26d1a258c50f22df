/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The managers of a survey are kept until the next survey, some seconds later. In between a STANDBY
 * polls its master, and a MASTER polls all other managers (sm/election/poll.h): so it notices at
 * once if two subnets were joined. A STANDBY makes no surveys: its data about other standbys is as
 * old as its last survey.
 *
 * A standby-only manager does not set IsSM, so that no master hands over to it.
 */
#include "sm/election/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/message_id.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/slices.h"
#include "mad/mad.h"
#include "mad/notice.h"

/* Time for a manager that ranks higher to become MASTER, before the next survey. */
enum { MASTER_WAIT_MS = 10000 };

/* A port that does not answer a survey is not queried for half a minute, and for twice as long each
 * further time, up to an hour. */
enum { MUTE_US = 30000000, MUTE_DOUBLINGS = 7 };

/* Surveys that the answers of a port to polls cause: so many at once, and one more per interval. */
enum { NEWS_BURST = 8, NEWS_INTERVAL_US = 2000000 };

static void watch_end(struct poll *poll)
{
	if (poll)
		poll_end(poll);
	free(poll);
}

static void watch_ends(struct peers *peers)
{
	for (size_t i = 0; i < peers->num_watched; i++)
		watch_end(peers->watched[i]);
	free(peers->watched);
	peers->watched = NULL;
	peers->num_watched = 0;
}

void peers_set_role(struct peers *peers, enum role_event event, const char *reason)
{
	enum sm_state before = peers->role;
	enum sm_state role = role_next(before, event);
	struct log_subject subject = {.message_id = MESSAGE_ROLE, .role = sm_state_name(role)};

	if (role == before)
		return;
	if (role == SM_MASTER && peers->options->standby_only)
		return;
	peers->role = role;
	peers->role_us = loop_now_us(peers->loop);
	peers->doubt = PEERS_NO_DOUBT;
	peers->lid_doubted = 0;
	if (role != SM_MASTER)
		peers->inherited = 0;
	if (role == SM_DISCOVERING || role == SM_MASTER)
		peers->yields = false;
	log_about(LOG_NOTICE, &subject, "%s -> %s: %s", sm_state_name(before), sm_state_name(role),
		  reason);
	peers->waited = 0;
	watch_ends(peers);
	/* A standby-only manager that found no other manager looks again at each sweep. */
	if (role == SM_STANDBY && peers->master.info.guid)
		poll_begin(&peers->poll, &peers->master);
	else
		poll_end(&peers->poll);
	peers->changed(peers->ctx, reason);
}

const struct peer *peers_master(const struct peers *peers)
{
	if (peers->role == SM_STANDBY && peers->master.info.guid)
		return &peers->master;
	for (size_t i = 0; i < peers->count; i++)
		if (peers->list[i].info.state == SM_MASTER)
			return &peers->list[i];
	return NULL;
}

void peers_own_info(const struct peers *peers, struct sm_info *info)
{
	*info = (struct sm_info){
		.guid = peers->transport->port.port_guid,
		.act_count = (uint32_t)txn_stats(peers->txns)->sent,
		.priority = peers->options->priority,
		.state = peers->role,
	};
	if (peers->role == SM_MASTER && peers->options->master_priority > info->priority)
		info->priority = peers->options->master_priority;
	if (peers->inherited > info->priority)
		info->priority = peers->inherited;
	if (peers->yields)
		info->priority = 0;
}

/* As sent to others: with the SM_Key. */
static void encode_own(const struct peers *peers, uint8_t data[SMP_DATA_SIZE])
{
	struct sm_info own;

	peers_own_info(peers, &own);
	own.sm_key = peers->options->sm_key;
	format_encode(&sm_info_format, &own, data);
}

static char *peer_describe(const struct peer *peer, char text[96])
{
	snprintf(text, 96, "manager 0x%016" PRIx64 " at LID %u (priority %u, %s)", peer->info.guid,
		 peer->lid, peer->info.priority, sm_state_name(peer->info.state));
	return text;
}

/* The list */

static struct peer *peers_find(struct peers *peers, guid_t guid)
{
	for (size_t i = 0; i < peers->count; i++)
		if (peers->list[i].info.guid == guid)
			return &peers->list[i];
	return NULL;
}

/* Whether two managers were MASTER at the same time: this one and that one. The state of a manager
 * that was heard before this one became MASTER says nothing about that. */
static bool was_master_beside(const struct peers *peers, const struct peer *peer)
{
	return peers->role == SM_MASTER && peer->info.state == SM_MASTER &&
	       peer->heard_us >= peers->role_us;
}

static void hear(struct peers *peers, struct peer *peer, const struct sm_info *info)
{
	if (info->state != SM_MASTER && was_master_beside(peers, peer))
		peers->doubt = PEERS_HAVE_WRITTEN;
	peer->info = *info;
	peer->info.sm_key = 0;
	peer->heard_us = loop_now_us(peers->loop);
	peer->survey = peers->surveys;
}

void peers_doubt_newcomer(struct peers *peers)
{
	if (peers->role == SM_MASTER && peers->doubt == PEERS_NO_DOUBT)
		peers->doubt = PEERS_MAY_HAVE_WRITTEN;
}

static void learn(struct peers *peers, lid_t lid, const struct sm_info *info)
{
	struct peer *peer = peers_find(peers, info->guid);

	if (!peer) {
		peers->list = mem_resize(peers->list, peers->count + 1, sizeof(*peers->list));
		peer = &peers->list[peers->count++];
		*peer = (struct peer){0};
		peers_doubt_newcomer(peers);
	}
	peer->lid = lid;
	hear(peers, peer, info);
}

/* Whether a manager that the survey did not query has answered polls until now. */
static bool answers_polls(const struct peers *peers, const struct peer *peer)
{
	uint64_t patience_us =
		(uint64_t)peers->options->poll_misses * peers->options->poll_interval_ms * 1000;

	for (size_t i = 0; peers->role == SM_MASTER && i < peers->num_mute; i++)
		if (peers->mute[i].info.guid == peer->info.guid)
			return loop_now_us(peers->loop) - peer->heard_us <= patience_us;
	return false;
}

/* At the end of a survey: drops the managers that have not answered since it began. */
static void drop_silent(struct peers *peers)
{
	size_t kept = 0;

	for (size_t i = 0; i < peers->count; i++) {
		if (peers->list[i].survey == peers->surveys ||
		    answers_polls(peers, &peers->list[i]))
			peers->list[kept++] = peers->list[i];
		else if (was_master_beside(peers, &peers->list[i]))
			peers->doubt = PEERS_HAVE_WRITTEN;
	}
	peers->count = kept;
}

/* The master of a STANDBY */

static void master_is_lost(struct peers *peers, const char *why)
{
	char text[96], reason[160];

	snprintf(reason, sizeof(reason), "%s %s", peer_describe(&peers->master, text), why);
	peers->master.info.guid = 0;
	peers_set_role(peers, ROLE_MASTER_LOST, reason);
}

static void master_answers(struct peers *peers, const struct sm_info *info)
{
	if (info->guid != peers->master.info.guid) {
		master_is_lost(peers, "was replaced by another manager");
		return;
	}
	if (trust_judge(&peers->trust, info->guid, peers->master.lid, info,
			"answered as our master") != TRUST_OK) {
		master_is_lost(peers, "is no longer accepted as a manager");
		return;
	}
	peers_answered(peers, info);
	learn(peers, peers->master.lid, info);
	if (info->state == SM_MASTER)
		peers->master.info.state = SM_MASTER;
	else if (info->state != SM_DISCOVERING && info->state != SM_STANDBY)
		master_is_lost(peers, "is NOTACTIVE");
	else if (peers->master.info.state == SM_MASTER)
		master_is_lost(peers, "is no longer MASTER");
	else if (++peers->waited * peers->options->poll_interval_ms >= MASTER_WAIT_MS)
		master_is_lost(peers, "ranks higher, but does not become MASTER");
}

static void master_news(void *ctx, struct poll *poll, enum poll_news news,
			const struct sm_info *info)
{
	struct peers *peers = ctx;

	(void)poll;
	if (peers->role != SM_STANDBY)
		return;
	if (news == POLL_ANSWER)
		master_answers(peers, info);
	else
		master_is_lost(peers, news == POLL_GONE ? "has disappeared" : "does not respond");
}

void peers_master_closed(struct peers *peers)
{
	if (peers->role == SM_STANDBY)
		poll_doubt(&peers->poll);
}

/* Sends trap 144, "SM priority change", to a master that ranks lower, so that it queries this
 * manager. */
static void tell_master(struct peers *peers, const struct peer *master)
{
	struct mad_addr to = {.lid = master->lid};
	struct sm_info own;
	struct notice notice;
	union notice_details details = {0};
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};
	const struct port *port = peers->fabric->sm_port;

	peers_own_info(peers, &own);
	if (!port || peers->options->standby_only || !master->lid ||
	    !role_outranks(&own, &master->info))
		return;
	details.local_changes = (struct notice_local_changes){
		.lid = port_info(port)->lid,
		.other_local_changes = 1,
		.capability_mask = port_info(port)->capability_mask,
		.change_flags = CHANGE_SM_PRIORITY,
	};
	notice_fill(&notice, TRAP_LOCAL_CHANGES, port->node->type, port_info(port)->lid, &details);
	format_encode(&notice_format, &notice, data);
	subn_build(mad, METHOD_TRAP, ATTR_NOTICE, 0, 0, NULL, data);
	txn_send(peers->txns, &to, mad, sizeof(mad));
}

/* The others of a MASTER */

/* Whether this manager would hand over to that manager. */
static bool is_handover_target(const struct sm_info *info, const struct sm_info *own)
{
	return (info->state == SM_STANDBY || info->state == SM_MASTER) && role_outranks(info, own);
}

/* Whether a survey because of an answer of this port to a poll is allowed. */
static bool news_is_allowed(const struct peers *peers, guid_t guid)
{
	struct port *port = map_get(&peers->fabric->ports, guid);
	struct rate *rate;

	if (!port || !port_agent(port))
		return false;
	rate = &port_agent(port)->survey.news;
	rate->burst = NEWS_BURST;
	rate->interval_us = NEWS_INTERVAL_US;
	return rate_allows(rate, loop_now_us(peers->loop));
}

/* The trap may be lost, and the other manager may be slow to act. So it is sent again after 1,
 * 2, 4 and so on polls that found it MASTER. */
static void watched_news(void *ctx, struct poll *poll, enum poll_news news,
			 const struct sm_info *info)
{
	struct peers *peers = ctx;
	struct peer *peer = peers_find(peers, poll->peer.info.guid);
	struct sm_info before = poll->peer.info, own;
	char text[96], reason[128];

	if (news != POLL_ANSWER || info->guid != before.guid ||
	    trust_judge(&peers->trust, before.guid, poll->peer.lid, info,
			"answered as a manager") != TRUST_OK)
		return;
	peers_answered(peers, info);
	if (peer)
		hear(peers, peer, info);
	else /* surveys do not query it, because it did not answer them */
		learn(peers, poll->peer.lid, info);
	peers_own_info(peers, &own);
	if (!peer || (before.state == SM_MASTER) != (info->state == SM_MASTER) ||
	    (is_handover_target(info, &own) && !is_handover_target(&before, &own))) {
		if (!news_is_allowed(peers, before.guid))
			return; /* the next answer tries again */
		poll->peer.info = *info;
		snprintf(reason, sizeof(reason), "%s changed its state",
			 peer_describe(&poll->peer, text));
		peers->noticed(peers->ctx, reason);
	} else if (info->state == SM_MASTER && peers->contested &&
		   !(poll->answers & (poll->answers - 1))) {
		tell_master(peers, &poll->peer);
	}
	poll->peer.info = *info;
	poll->peer.info.sm_key = 0;
}

/* Moves the poll of this manager out of those that were watched before; NULL: there is none. */
static struct poll *watched_before(struct poll **polls, size_t count, guid_t guid)
{
	for (size_t i = 0; i < count; i++) {
		struct poll *poll = polls[i];

		if (poll && poll->peer.info.guid == guid) {
			polls[i] = NULL;
			return poll;
		}
	}
	return NULL;
}

/* Polls that go on keep their time, so that frequent surveys do not hold them up. */
static struct poll *watch(struct peers *peers, const struct peer *peer, struct poll *poll)
{
	if (poll) {
		poll->peer = *peer;
		return poll;
	}
	poll = mem_alloc(sizeof(*poll));
	poll_init(poll, peers->loop, peers->txns, peers->fabric, peers->options, watched_news,
		  peers);
	poll->only_this = true;
	poll_begin(poll, peer);
	return poll;
}

static void watch_begins(struct peers *peers)
{
	struct poll **before = peers->watched;
	size_t count = peers->num_watched;

	peers->watched = mem_array(peers->count + peers->num_mute, sizeof(struct poll *));
	peers->num_watched = 0;
	for (size_t i = 0; i < peers->count; i++)
		peers->watched[peers->num_watched++] =
			watch(peers, &peers->list[i],
			      watched_before(before, count, peers->list[i].info.guid));
	for (size_t i = 0; i < peers->num_mute; i++)
		if (!peers_find(peers, peers->mute[i].info.guid))
			peers->watched[peers->num_watched++] =
				watch(peers, &peers->mute[i],
				      watched_before(before, count, peers->mute[i].info.guid));
	for (size_t i = 0; i < count; i++)
		watch_end(before[i]);
	free(before);
}

/* The survey */

static const struct peer *best(const struct peers *peers, bool masters_only)
{
	const struct peer *found = NULL;

	for (size_t i = 0; i < peers->count; i++) {
		const struct peer *peer = &peers->list[i];

		if (peer->info.state == SM_NOTACTIVE ||
		    (masters_only && peer->info.state != SM_MASTER))
			continue;
		if (!found || role_outranks(&peer->info, &found->info))
			found = peer;
	}
	return found;
}

static void finish_survey(struct peers *peers)
{
	loop_fn *done = peers->done;

	if (peers->role == SM_MASTER && !peers->options->preview)
		watch_begins(peers);
	peers->done = NULL;
	if (done)
		done(peers->done_arg);
}

void peers_handover_complete(struct peers *peers)
{
	char text[96], reason[128];

	snprintf(reason, sizeof(reason), "handed over to %s", peer_describe(&peers->master, text));
	peers->handover_target = 0;
	peers->master.info.state = SM_MASTER;
	if (peers->options->sm_lid)
		peers->master.lid = peers->options->sm_lid;
	learn(peers, peers->master.lid, &peers->master.info);
	peers_set_role(peers, ROLE_HANDED_OVER, reason);
}

/* Reports the result of a requested handover. */
static void gave(struct peers *peers, int error, uint16_t status)
{
	struct peers_handover handover = peers->handover;

	peers_cancel_handover(peers);
	if (peers->role == SM_MASTER)
		peers->yields = false;
	handover.done(handover.ctx, error, status);
}

/* Its ACKNOWLEDGE may have arrived before. */
static void offer_ends(struct peers *peers, int error, uint16_t status)
{
	char text[96];

	if (peers->role == SM_MASTER && !error && !status)
		peers_handover_complete(peers);
	else if (peers->role == SM_MASTER && !peers->giving)
		log_limited(&peers->limit, LOG_WARNING, NULL,
			    "%s ranks higher, but does not take over (%s, status 0x%04x): this "
			    "manager stays MASTER",
			    peer_describe(&peers->master, text),
			    error ? strerror(-error) : "it answered", status);
	peers->handover_target = 0;
	if (peers->giving && peers->role == SM_MASTER)
		gave(peers, error, status);
	else if (peers->giving)
		gave(peers, 0, STATUS_OK);
	finish_survey(peers);
}

static void handover_target_answered(void *owner, void *subject, const struct smp_request *request,
				     const struct smp_answer *answer)
{
	struct peers *peers = owner;
	struct sm_info info;

	(void)subject;
	(void)request;
	if (!answer->error && !answer->status) {
		attr_decode(&sm_info_format, answer->data, &info);
		if (info.guid == peers->handover_target && info.state == SM_MASTER)
			peers->handover_error = peers->handover_status = 0;
	}
	offer_ends(peers, peers->handover_error, peers->handover_status);
}

/* A standby that has become MASTER may refuse a repeated offer, or all its answers were lost: so
 * its SMInfo is read. This proves nothing for a manager that was MASTER before. */
static void handed_over(void *owner, void *subject, const struct smp_request *request,
			const struct smp_answer *answer)
{
	struct peers *peers = owner;

	(void)subject;
	(void)request;
	peers->handover_error = answer->error;
	peers->handover_status = answer->status;
	if (peers->role != SM_MASTER || peers->master.info.state == SM_MASTER ||
	    (!answer->error && (!answer->status || status_is_busy(answer->status))) ||
	    answer->error == -ECANCELED ||
	    !peers_request(peers, peers->handover_target, METHOD_GET, 0, handover_target_answered,
			   peers))
		offer_ends(peers, answer->error, answer->status);
}

bool peers_request(struct peers *peers, guid_t guid, uint8_t method, uint32_t control,
		   void (*done)(void *owner, void *subject, const struct smp_request *request,
				const struct smp_answer *answer),
		   void *owner)
{
	struct port *port = map_get(&peers->fabric->ports, guid);
	struct smp_request request = {.method = method,
				      .attr_id = ATTR_SM_INFO,
				      .attr_mod = control,
				      .done = done,
				      .owner = owner};

	if (!port || !port_agent(port))
		return false;
	if (method == METHOD_SET)
		encode_own(peers, request.data);
	window_submit(&port_agent(port)->target, &request);
	return true;
}

static bool peers_hand_over(struct peers *peers, const struct peer *peer)
{
	if (!peers_request(peers, peer->info.guid, METHOD_SET, SM_CONTROL_HANDOVER, handed_over,
			   peers))
		return false;
	peers->master = *peer;
	peers->handover_target = peer->info.guid;
	return true;
}

void peers_request_handover(struct peers *peers, const struct peers_handover *handover)
{
	peers->handover = *handover;
}

void peers_cancel_handover(struct peers *peers)
{
	peers->handover.choose = NULL;
	peers->giving = false;
}

/* Returns true if a handover is under way. The target learns the rank of this manager from it, and
 * reads its SMInfo at once. */
static bool peers_begin_handover(struct peers *peers)
{
	guid_t guid;

	if (!peers->handover.choose)
		return false;
	guid = peers->handover.choose(peers->handover.ctx, peers->list, peers->count);
	for (size_t i = 0; guid && i < peers->count; i++) {
		if (peers->list[i].info.guid != guid)
			continue;
		peers->giving = peers->yields = peers_hand_over(peers, &peers->list[i]);
		if (!peers->giving)
			gave(peers, -EHOSTUNREACH, STATUS_OK);
		return peers->giving;
	}
	peers_cancel_handover(peers);
	return false;
}

static void conclude_discovering(struct peers *peers, const struct sm_info *own)
{
	const struct peer *master = best(peers, true), *other = best(peers, false);
	char text[96], reason[128];

	if (peers->options->preview) {
		peers_set_role(peers, ROLE_NONE_BETTER, "preview: no election");
	} else if (master) {
		peers->master = *master;
		snprintf(reason, sizeof(reason), "found %s", peer_describe(master, text));
		peers_set_role(peers, ROLE_MASTER_FOUND, reason);
		tell_master(peers, &peers->master);
	} else if (other && role_outranks(&other->info, own)) {
		peers->master = *other;
		snprintf(reason, sizeof(reason), "%s ranks higher", peer_describe(other, text));
		peers_set_role(peers, ROLE_HIGHER_FOUND, reason);
	} else if (!peers->options->standby_only) {
		peers_set_role(peers, ROLE_NONE_BETTER, "no manager ranks higher");
	}
}

/* Returns true if a handover is under way, which then finishes the survey. */
static bool conclude_master(struct peers *peers, const struct sm_info *own)
{
	const struct peer *handover_target = NULL;
	char text[96];

	for (size_t i = 0; i < peers->count; i++) {
		const struct sm_info *info = &peers->list[i].info;

		if (is_handover_target(info, handover_target ? &handover_target->info : own))
			handover_target = &peers->list[i];
		/* The other MASTER hands over after its survey. A manager that took the LID of the
		 * local port is unreachable until it gets another LID in this sweep. */
		if (info->state == SM_MASTER && role_outranks(own, info) &&
		    peers->list[i].lid != port_info(peers->fabric->sm_port)->lid) {
			peers->contested = true;
			tell_master(peers, &peers->list[i]);
		}
	}
	if (!handover_target)
		return false;
	log_notice("%s ranks higher: handing over", peer_describe(handover_target, text));
	return peers_hand_over(peers, handover_target);
}

/* Whether the ActCount of the previous master has begun again. An answer from before the handover
 * says nothing. */
static bool was_restarted(const struct peers *peers, const struct peer *peer)
{
	return peer->heard_us >= peers->role_us && peer->info.act_count < peers->previous_act_count;
}

/* A manager that ends hands over, too, and may become MASTER again after a restart, which its
 * ActCount shows. */
static void look_for_previous_master(struct peers *peers)
{
	bool is_there = false;

	for (size_t i = 0; i < peers->count; i++)
		is_there |= peers->list[i].info.guid == peers->previous_master &&
			    !was_restarted(peers, &peers->list[i]);
	if (peers->previous_master && !is_there)
		peers->inherited = 0;
	peers->previous_master = 0;
}

static void surveyed(void *arg)
{
	struct peers *peers = arg;
	struct sm_info own;

	drop_silent(peers);
	look_for_previous_master(peers);
	peers_own_info(peers, &own);
	if (peers->role == SM_DISCOVERING)
		conclude_discovering(peers, &own);
	else if (peers->role == SM_MASTER && !peers->options->preview &&
		 (peers_begin_handover(peers) || conclude_master(peers, &own)))
		return;
	if (peers->handover.choose && peers->role != SM_MASTER)
		gave(peers, -EPERM, STATUS_OK);
	finish_survey(peers);
}

/* One outstanding answer, or the end of all queries. */
static void peers_answer_landed(void *arg)
{
	struct peers *peers = arg;

	if (--peers->pending == 0)
		loop_defer(&peers->surveyed);
}

static void take_answer(struct peers *peers, struct port *port, const struct smp_answer *answer)
{
	lid_t lid = port_info(port)->lid;
	struct sm_info info;

	if (answer->error || answer->status)
		return;
	attr_decode(&sm_info_format, answer->data, &info);
	/* A port must not answer for the manager of another port, which would get a handover. */
	if (info.guid != port_facts(port)->guid)
		info.guid = 0;
	if (trust_judge(&peers->trust, port_facts(port)->guid, lid, &info,
			"responded to the survey") != TRUST_OK)
		return;
	peers_answered(peers, &info);
	if (peers->role == SM_STANDBY && info.guid == peers->lid_doubted &&
	    info.guid == peers->master.info.guid && lid && lid <= LID_UNICAST_MAX)
		peers->master.lid = peers->poll.peer.lid = lid;
	learn(peers, lid, &info);
}

void peers_doubt_lid(struct peers *peers, guid_t guid)
{
	peers->lid_doubted = guid;
}

/* A MASTER polls it. A manager that is in the list stays there while it answers polls, and its port
 * may have another LID now. */
static void note_mute(struct peers *peers, const struct port *port)
{
	struct peer *peer = peers_find(peers, port_facts(port)->guid);

	if (peer)
		peer->lid = port_info(port)->lid;
	peers->mute = mem_resize(peers->mute, peers->num_mute + 1, sizeof(*peers->mute));
	peers->mute[peers->num_mute++] =
		(struct peer){.lid = port_info(port)->lid, .info.guid = port_facts(port)->guid};
}

/* A host that claims to have a manager and does not answer must not delay each sweep. */
static void judge_mute(struct peers *peers, const struct port *port,
		       const struct smp_answer *answer)
{
	struct survey_state *state = &port->agent->survey;
	const struct peer *peer = peers_find(peers, port_facts(port)->guid);
	unsigned doublings = state->mutes < MUTE_DOUBLINGS ? state->mutes : MUTE_DOUBLINGS;

	if (answer->error == -ETIMEDOUT) {
		note_mute(peers, port);
		/* While it may be MASTER, surveys wait for it: nothing may be written beside it. */
		if (peer && peer->info.state == SM_MASTER)
			return;
		state->muted_us = loop_now_us(peers->loop);
		state->mute_until_us = state->muted_us + ((uint64_t)MUTE_US << doublings);
		state->mutes++;
	} else if (!answer->error) {
		state->mutes = 0;
		state->mute_until_us = 0;
		if (status_is_busy(answer->status)) /* a sign of life */
			note_mute(peers, port);
	}
}

/* No polls have shown whether a port is alive that was mute before this manager became MASTER. */
static bool is_mute(const struct peers *peers, const struct survey_state *state)
{
	return peers->role == SM_MASTER && state->muted_us >= peers->role_us &&
	       loop_now_us(peers->loop) < state->mute_until_us;
}

static void got_sm_info(void *owner, void *subject, const struct smp_request *request,
			const struct smp_answer *answer)
{
	struct peers *peers = owner;
	struct port *port = subject;

	(void)request;
	judge_mute(peers, port, answer);
	take_answer(peers, port, answer);
	peers_answer_landed(peers);
}

static unsigned ask_end(void *arg, size_t *at)
{
	struct peers *peers = arg;
	struct smp_request request = {
		.method = METHOD_GET, .attr_id = ATTR_SM_INFO, .done = got_sm_info, .owner = peers};
	struct port *port;

	port = fabric_next_end(peers->fabric, at);
	if (!port)
		return 0;
	if (port == peers->fabric->sm_port || !port_facts(port)->known ||
	    !(port_info(port)->capability_mask & CAP_IS_SM))
		return 1;
	if (is_mute(peers, &port->agent->survey)) {
		note_mute(peers, port);
		return 1;
	}
	request.subject = port;
	peers->pending++;
	window_submit(&port->agent->target, &request);
	return 2;
}

static slice_fn *const stages[] = {ask_end, NULL};
static const struct slice_plan survey_plan = {"survey begins", stages, NULL};

void peers_survey(struct peers *peers, loop_fn *done, void *arg)
{
	peers->done = done;
	peers->done_arg = arg;
	peers->surveys++;
	peers->num_mute = 0;
	peers->contested = false;
	peers->pending = 1;
	slices_begin(&peers->asking);
}

void peers_ask_first(struct peers *peers, bool (*ready)(void *ctx))
{
	peers->ready = ready;
}

enum peers_doubt peers_doubt(const struct peers *peers)
{
	return peers->doubt;
}

void peers_settle_doubt(struct peers *peers)
{
	peers->doubt = PEERS_NO_DOUBT;
}

bool peers_contested(const struct peers *peers)
{
	return peers->contested;
}

void peers_port_down(struct peers *peers, const char *reason)
{
	peers_set_role(peers, ROLE_PORT_DOWN, reason);
}

void peers_show(struct peers *peers)
{
	const struct port *port = peers->fabric->sm_port;

	if (peers->options->standby_only || port_info(port)->capability_mask & CAP_IS_SM)
		return;
	transport_set_issm(peers->transport, false);
	transport_set_issm(peers->transport, true);
}

enum sm_state peers_role(const struct peers *peers)
{
	return peers->role;
}

size_t peers_list(const struct peers *peers, const struct peer **list)
{
	*list = peers->list;
	return peers->count;
}

int peers_start(struct peers *peers)
{
	return peers->options->standby_only ? 0 : transport_set_issm(peers->transport, true);
}

static void handover_unanswered(void *arg, const struct txn_result *result)
{
	(void)arg;
	(void)result;
}

/* Sends a HANDOVER to the next manager in rank. The answer is not processed. If the packet is lost,
 * that manager detects by polling that its master is gone. */
static void leave_to_successor(struct peers *peers)
{
	static const struct sm_info lowest = {.guid = UINT64_MAX};
	const struct poll *handover_target = NULL;
	const struct port *port;
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};
	struct mad_addr to;

	for (size_t i = 0; peers->role == SM_MASTER && i < peers->num_watched; i++) {
		const struct peer *peer = &peers->watched[i]->peer;

		if (peer->lid && peer->info.state == SM_STANDBY &&
		    role_outranks(&peer->info,
				  handover_target ? &handover_target->peer.info : &lowest))
			handover_target = peers->watched[i];
	}
	if (!handover_target)
		return;
	to = (struct mad_addr){.lid = handover_target->peer.lid};
	port = map_get(&peers->fabric->ports, handover_target->peer.info.guid);
	encode_own(peers, data);
	subn_build(mad, METHOD_SET, ATTR_SM_INFO, SM_CONTROL_HANDOVER,
		   port ? agent_m_key(port_agent(port), 0) : 0, NULL, data);
	txn_start(peers->txns, &to, mad, sizeof(mad), peers->options->poll_interval_ms,
		  handover_unanswered, peers);
}

void peers_stop(struct peers *peers)
{
	leave_to_successor(peers);
	poll_end(&peers->poll);
	watch_ends(peers);
	transport_set_issm(peers->transport, false);
}

struct peers *peers_new(struct loop *loop, struct txn_table *txns, struct transport *transport,
			struct fabric *fabric, const struct sm_options *options,
			void (*changed)(void *ctx, const char *reason),
			void (*noticed)(void *ctx, const char *reason), void *ctx)
{
	struct peers *peers = mem_zalloc(sizeof(*peers));

	peers->txns = txns;
	peers->transport = transport;
	peers->fabric = fabric;
	peers->options = options;
	peers->role = SM_DISCOVERING;
	peers->changed = changed;
	peers->ctx = ctx;
	peers->limit = (struct log_limit){.burst = 5, .interval_us = 10000000};
	slices_init(&peers->asking, loop, &survey_plan, peers, peers_answer_landed, peers);
	loop_deferred_init(&peers->surveyed, loop, "survey of managers", surveyed, peers);
	peers->loop = loop;
	peers->noticed = noticed;
	peers->handovers = (struct rate){.burst = 2, .interval_us = 10000000};
	trust_init(&peers->trust, options, &transport->port.port_guid);
	poll_init(&peers->poll, loop, txns, fabric, options, master_news, peers);
	return peers;
}

void peers_free(struct peers *peers)
{
	if (!peers)
		return;
	poll_end(&peers->poll);
	watch_ends(peers);
	txn_cancel(peers->txns, handover_unanswered, peers);
	slices_cancel(&peers->asking);
	loop_defer_cancel(&peers->surveyed);
	free(peers->list);
	free(peers->mute);
	free(peers);
}

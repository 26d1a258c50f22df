/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A master is polled by LID while we have one, else along the directed route that discovery left; a
 * poll is one MAD without retries, since the next one follows soon. Linux answers SMInfo with a
 * status when no manager runs there any more: that counts as a miss like silence does.
 *
 * A standby-only manager shows no IsSM: no master can then take it for a candidate and hand over to
 * it.
 */
#include "sm/peers.h"

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
#include "sma/notice.h"

/* How long a manager that ranks higher may take to become MASTER before we look again. */
enum { MASTER_WAIT_MS = 10000 };

struct peers {
	struct txn_table *txns;
	struct transport *transport;
	struct fabric *fabric;
	const struct sm_options *options;
	enum sm_state role;
	void (*changed)(void *ctx, const char *reason);
	void *ctx;

	struct peer *list;
	size_t count;
	size_t pending; /* answers of the survey still to come */
	struct slices asking;
	struct loop_deferred surveyed;
	loop_fn *done;
	void *done_arg;

	struct peer master; /* whom we poll in STANDBY; guid 0: nobody */
	unsigned missed;
	unsigned waited; /* polls that found it alive, but no MASTER yet */
	bool contested;	 /* the last survey met another MASTER */
	bool polling;	 /* a poll is under way */
	struct loop_timer poll_timer;
	struct log_limit limit;
};

static void set_role(struct peers *peers, enum role_event event, const char *reason)
{
	enum sm_state before = peers->role;
	enum sm_state role = role_next(before, event);
	struct log_subject subject = {.message_id = MESSAGE_ROLE, .role = role_name(role)};

	if (role == before)
		return;
	if (role == SM_MASTER && peers->options->standby_only)
		return;
	peers->role = role;
	log_about(LOG_NOTICE, &subject, "%s -> %s: %s", role_name(before), role_name(role), reason);
	peers->missed = peers->waited = 0;
	if (role == SM_STANDBY)
		loop_timer_arm(&peers->poll_timer,
			       (uint64_t)peers->options->poll_interval_ms * 1000);
	else
		loop_timer_disarm(&peers->poll_timer);
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
}

static char *describe(const struct peer *peer, char text[96])
{
	snprintf(text, 96, "manager 0x%016" PRIx64 " at LID %u (priority %u, %s)", peer->info.guid,
		 peer->lid, peer->info.priority, role_name(peer->info.state));
	return text;
}

/* Polling */

/* Some agents look at the M_Key of an SMInfo before their manager does. */
static uint64_t key_of_master(const struct peers *peers)
{
	const struct port *port = map_get(&peers->fabric->ports, peers->master.info.guid);

	return port ? agent_m_key(port_agent(port), peers->missed) : 0;
}

static void build_sm_info(const struct peers *peers, uint8_t method, uint32_t control,
			  const struct route_path *route, uint8_t mad[MAD_SIZE])
{
	uint8_t data[SMP_DATA_SIZE] = {0};
	struct sm_info own;

	if (method == METHOD_SET) {
		peers_own_info(peers, &own);
		own.sm_key = peers->options->sm_key;
		format_encode(&sm_info_format, &own, data);
	}
	subn_build(mad, method, ATTR_SM_INFO, control, key_of_master(peers), route, data);
}

/* Even polls by LID, odd ones by directed route, where both are known. */
static bool poll_address(const struct peers *peers, struct mad_addr *to, struct route_path *path,
			 bool *directed)
{
	const struct port *port = map_get(&peers->fabric->ports, peers->master.info.guid);
	bool has_route = port && port_route(peers->fabric, port, path);

	*to = (struct mad_addr){.lid = peers->master.lid};
	*directed = has_route && (!peers->master.lid || peers->missed % 2);
	if (*directed)
		to->lid = LID_PERMISSIVE;
	return *directed || peers->master.lid;
}

static void master_is_lost(struct peers *peers, const char *why)
{
	char text[96], reason[160];

	snprintf(reason, sizeof(reason), "%s %s", describe(&peers->master, text), why);
	peers->master.info.guid = 0;
	set_role(peers, ROLE_MASTER_LOST, reason);
}

static void polled(void *arg, const struct txn_result *result)
{
	struct peers *peers = arg;
	struct sm_info info;

	peers->polling = false;
	if (peers->role != SM_STANDBY)
		return;
	if (result->error || (result->header.status & 0x7FFF)) {
		if (++peers->missed >= peers->options->poll_misses)
			master_is_lost(peers, "answers no more");
		return;
	}
	peers->missed = 0;
	attr_decode(&sm_info_format, result->mad + SMP_DATA_OFFSET, &info);
	if (info.guid != peers->master.info.guid)
		master_is_lost(peers, "is another one now");
	else if (info.state == SM_MASTER)
		peers->master.info.state = SM_MASTER;
	else if (info.state == SM_NOTACTIVE || peers->master.info.state == SM_MASTER)
		master_is_lost(peers, "is not master any more");
	else if (++peers->waited * peers->options->poll_interval_ms >= MASTER_WAIT_MS)
		master_is_lost(peers, "ranks higher, but does not become master");
}

static void poll_now(void *arg)
{
	struct peers *peers = arg;
	unsigned interval_ms = peers->options->poll_interval_ms;
	struct route_path path;
	struct mad_addr to;
	uint8_t mad[MAD_SIZE];
	bool directed;

	if (peers->role != SM_STANDBY)
		return;
	loop_timer_arm(&peers->poll_timer, (uint64_t)interval_ms * 1000);
	if (peers->polling)
		return;
	if (!peers->master.info.guid) {
		/* A standby-only manager that met nobody looks again at each sweep. */
		return;
	}
	if (!poll_address(peers, &to, &path, &directed)) {
		master_is_lost(peers, "cannot be reached");
		return;
	}
	peers->polling = true;
	build_sm_info(peers, METHOD_GET, 0, directed ? &path : NULL, mad);
	txn_start(peers->txns, &to, mad, sizeof(mad), interval_ms, polled, peers);
}

/* Tells a master that ranks lower than we do to look at us: trap 144, "SM priority change". */
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

	peers->done = NULL;
	if (done)
		done(peers->done_arg);
}

static void handed_over(void *owner, void *subject, const struct smp_request *request,
			const struct smp_answer *answer)
{
	struct peers *peers = owner;
	char text[96], reason[128];

	(void)subject;
	(void)request;
	if (!answer->error && !answer->status) {
		snprintf(reason, sizeof(reason), "handed over to %s",
			 describe(&peers->master, text));
		peers->master.info.state = SM_MASTER;
		set_role(peers, ROLE_HANDED_OVER, reason);
	} else {
		log_limited(&peers->limit, LOG_WARNING, NULL,
			    "%s ranks higher, but does not take over (%s, status 0x%04x): we stay "
			    "MASTER",
			    describe(&peers->master, text),
			    answer->error ? strerror(-answer->error) : "it answered",
			    answer->status);
	}
	finish_survey(peers);
}

static bool hand_over(struct peers *peers, const struct peer *peer)
{
	struct port *port = map_get(&peers->fabric->ports, peer->info.guid);
	struct smp_request request = {.method = METHOD_SET,
				      .attr_id = ATTR_SM_INFO,
				      .attr_mod = SM_CONTROL_HANDOVER,
				      .done = handed_over,
				      .owner = peers};
	struct sm_info own;

	if (!port)
		return false;
	peers_own_info(peers, &own);
	own.sm_key = peers->options->sm_key;
	format_encode(&sm_info_format, &own, request.data);
	peers->master = *peer;
	window_submit(&port_agent(port)->target, &request);
	return true;
}

static void conclude_discovering(struct peers *peers, const struct sm_info *own)
{
	const struct peer *master = best(peers, true), *other = best(peers, false);
	char text[96], reason[128];

	if (master) {
		peers->master = *master;
		snprintf(reason, sizeof(reason), "met %s", describe(master, text));
		set_role(peers, ROLE_MASTER_FOUND, reason);
		tell_master(peers, &peers->master);
	} else if (other && role_outranks(&other->info, own)) {
		peers->master = *other;
		snprintf(reason, sizeof(reason), "%s ranks higher", describe(other, text));
		set_role(peers, ROLE_HIGHER_FOUND, reason);
	} else if (!peers->options->standby_only) {
		set_role(peers, ROLE_NONE_BETTER, "no manager ranks higher");
	}
}

/* True when a handover is under way, which then finishes the survey. */
static bool conclude_master(struct peers *peers, const struct sm_info *own)
{
	const struct peer *heir = NULL;
	char text[96];

	for (size_t i = 0; i < peers->count; i++) {
		const struct sm_info *info = &peers->list[i].info;

		if ((info->state == SM_STANDBY || info->state == SM_MASTER) &&
		    role_outranks(info, heir ? &heir->info : own))
			heir = &peers->list[i];
		/* It hands over to us, once it has looked. One that took our LID while we were away
		 * cannot be told before it has got another from this sweep. */
		if (info->state == SM_MASTER && role_outranks(own, info) &&
		    peers->list[i].lid != port_info(peers->fabric->sm_port)->lid) {
			peers->contested = true;
			tell_master(peers, &peers->list[i]);
		}
	}
	if (!heir)
		return false;
	log_notice("%s ranks higher: handing over", describe(heir, text));
	return hand_over(peers, heir);
}

static void surveyed(void *arg)
{
	struct peers *peers = arg;
	struct sm_info own;

	peers_own_info(peers, &own);
	if (peers->role == SM_DISCOVERING)
		conclude_discovering(peers, &own);
	else if (peers->role == SM_MASTER && conclude_master(peers, &own))
		return;
	finish_survey(peers);
}

/* One that is awaited, or that all have been asked. */
static void landed(void *arg)
{
	struct peers *peers = arg;

	if (--peers->pending == 0)
		loop_defer(&peers->surveyed);
}

static void got_sm_info(void *owner, void *subject, const struct smp_request *request,
			const struct smp_answer *answer)
{
	struct peers *peers = owner;
	struct port *port = subject;
	struct peer peer = {.lid = port_info(port)->lid};
	char text[96];

	(void)request;
	attr_decode(&sm_info_format, answer->data, &peer.info);
	if (!answer->error && !answer->status && peer.info.guid) {
		if (peer.info.sm_key && peer.info.sm_key != peers->options->sm_key) {
			log_limited(&peers->limit, LOG_WARNING, NULL,
				    "%s has another SM_Key: it is no peer", describe(&peer, text));
		} else {
			peer.info.sm_key = 0;
			peers->list =
				mem_resize(peers->list, peers->count + 1, sizeof(*peers->list));
			peers->list[peers->count++] = peer;
		}
	}
	landed(peers);
}

static unsigned ask_end(void *arg, size_t *at)
{
	struct peers *peers = arg;
	const struct roster *roster = fabric_roster(peers->fabric);
	struct smp_request request = {
		.method = METHOD_GET, .attr_id = ATTR_SM_INFO, .done = got_sm_info, .owner = peers};
	struct port *port;

	if (*at == roster->num_ends)
		return 0;
	port = roster->ends[(*at)++];
	if (port == peers->fabric->sm_port || !port_facts(port)->known ||
	    !(port_info(port)->capability_mask & CAP_IS_SM))
		return 1;
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
	peers->count = 0;
	peers->contested = false;
	peers->pending = 1;
	slices_begin(&peers->asking);
}

/* Control packets */

static enum mad_status take_handover(struct peers *peers, const struct sm_info *sender, lid_t from)
{
	char reason[96], where[20] = "";

	if (sender->state != SM_MASTER ||
	    (peers->role == SM_NOTACTIVE || peers->options->standby_only))
		return STATUS_INVALID_VALUE;
	if (from != LID_PERMISSIVE) /* it need not have come by LIDs */
		snprintf(where, sizeof(where), " at LID %u", from);
	snprintf(reason, sizeof(reason), "manager 0x%016" PRIx64 "%s handed over", sender->guid,
		 where);
	if (peers->role == SM_MASTER)
		peers->changed(peers->ctx, reason);
	else
		set_role(peers, ROLE_HANDOVER, reason);
	return STATUS_OK;
}

enum mad_status peers_control(struct peers *peers, uint32_t control, const struct sm_info *sender,
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

	if (sender->sm_key != peers->options->sm_key) {
		log_limited(&peers->limit, LOG_WARNING, NULL,
			    "SMInfo control %u from LID %u with another SM_Key: refused", control,
			    from);
		return STATUS_INVALID_VALUE;
	}
	if (control == SM_CONTROL_HANDOVER)
		return take_handover(peers, sender, from);
	if (control == SM_CONTROL_ACKNOWLEDGE)
		return STATUS_OK;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].control != control)
			continue;
		if (sender->state != SM_MASTER ||
		    role_next(peers->role, rows[i].event) == peers->role)
			return STATUS_INVALID_VALUE;
		set_role(peers, rows[i].event, "control packet of the master");
		return STATUS_OK;
	}
	return STATUS_INVALID_VALUE;
}

bool peers_contested(const struct peers *peers)
{
	return peers->contested;
}

void peers_port_down(struct peers *peers, const char *reason)
{
	set_role(peers, ROLE_PORT_DOWN, reason);
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

void peers_stop(struct peers *peers)
{
	loop_timer_disarm(&peers->poll_timer);
	transport_set_issm(peers->transport, false);
}

struct peers *peers_new(struct loop *loop, struct txn_table *txns, struct transport *transport,
			struct fabric *fabric, const struct sm_options *options,
			void (*changed)(void *ctx, const char *reason), void *ctx)
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
	slices_init(&peers->asking, loop, &survey_plan, peers, landed, peers);
	loop_deferred_init(&peers->surveyed, loop, "survey of managers", surveyed, peers);
	loop_timer_init(&peers->poll_timer, loop, "poll of the master", poll_now, peers);
	return peers;
}

void peers_free(struct peers *peers)
{
	if (!peers)
		return;
	txn_cancel(peers->txns, polled, peers);
	slices_cancel(&peers->asking);
	loop_defer_cancel(&peers->surveyed);
	loop_timer_disarm(&peers->poll_timer);
	free(peers->list);
	free(peers);
}

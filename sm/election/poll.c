/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An interval consists of a few attempts, each with a part of its time. With such attempts only,
 * the answers of a slow manager would always be late. So the last interval before the verdict is a
 * single attempt, which waits for the whole interval.
 */
#include "sm/election/poll.h"

#include <string.h>

#include "mad/mad.h"

enum { ATTEMPTS = 3 };

static void asked(void *arg, const struct txn_result *result);
static void interval_begins(void *arg);

/* Attempts use the LID and the directed route in turn, if both are known. */
static bool poll_address(const struct poll *poll, struct mad_addr *to, struct route_path *path,
			 bool *directed)
{
	const struct port *port = map_get(&poll->fabric->ports, poll->peer.info.guid);
	bool has_route = port && port_route(poll->fabric, port, path);

	*to = (struct mad_addr){.lid = poll->peer.lid};
	*directed = has_route && (!poll->peer.lid || (poll->missed + poll->attempts) % 2);
	if (*directed)
		to->lid = LID_PERMISSIVE;
	return *directed || poll->peer.lid;
}

/* Some agents check the M_Key of an SMInfo before their manager sees it. So silence may only
 * mean that another program changed the M_Key of the port. Before the manager counts as dead,
 * each interval tries the next possible key. */
static uint64_t m_key(const struct poll *poll)
{
	const struct port *port = map_get(&poll->fabric->ports, poll->peer.info.guid);

	return port ? agent_m_key_doubted(port_agent(port), poll->key_turn) : 0;
}

static bool is_last_chance(const struct poll *poll)
{
	return poll->missed && poll->missed + 1 >= poll->options->poll_misses;
}

static void poll_send(struct poll *poll)
{
	unsigned interval_ms = poll->options->poll_interval_ms;
	struct route_path path;
	struct mad_addr to;
	uint8_t mad[MAD_SIZE];
	bool directed;

	if (!poll_address(poll, &to, &path, &directed)) {
		poll->news(poll->ctx, poll, POLL_GONE, NULL);
		return;
	}
	poll->under_way = true;
	subn_build(mad, METHOD_GET, ATTR_SM_INFO, 0, m_key(poll), directed ? &path : NULL, NULL);
	poll->attempts++;
	txn_start(poll->txns, &to, mad, sizeof(mad),
		  is_last_chance(poll) ? interval_ms : interval_ms / ATTEMPTS, asked, poll);
}

static void interval_is_lost(struct poll *poll)
{
	poll->key_turn++;
	if (++poll->missed < poll->options->poll_misses && !poll->doubted) {
		interval_begins(poll);
		return;
	}
	poll->missed = 0;
	poll->news(poll->ctx, poll, poll->doubted ? POLL_GONE : POLL_SILENT, NULL);
}

static void attempt_is_lost(struct poll *poll)
{
	if (poll->attempts < ATTEMPTS && !is_last_chance(poll))
		poll_send(poll);
	else
		interval_is_lost(poll);
}

/* A LID that moves with mastership (sm_lid) leads back to this manager until the new master has
 * taken it. A LID that two ports have leads to the other port. */
static bool is_of_another(const struct poll *poll, const struct sm_info *info)
{
	return info->guid == poll->fabric->own_guid ||
	       (poll->only_this && info->guid != poll->peer.info.guid);
}

/* A status "busy" is a sign of life, but has no SMInfo. */
static void asked(void *arg, const struct txn_result *result)
{
	struct poll *poll = arg;
	uint16_t status = result->header.status & 0x7FFF; /* without the D bit */
	struct sm_info info;

	poll->under_way = false;
	if (!result->error)
		attr_decode(&sm_info_format, result->mad + SMP_DATA_OFFSET, &info);
	if (result->error || (!status && is_of_another(poll, &info))) {
		attempt_is_lost(poll);
	} else if (status && !status_is_busy(status)) {
		if (poll->doubted) {
			poll->news(poll->ctx, poll, POLL_GONE, NULL);
			return;
		}
		poll->doubted = true;
		poll->attempts = (poll->missed + 1) % 2; /* by the directed route, if it is known */
		poll_send(poll);
	} else {
		poll->missed = 0;
		poll->doubted = false;
		poll->answers++;
		if (!status)
			poll->news(poll->ctx, poll, POLL_ANSWER, &info);
	}
}

static void interval_begins(void *arg)
{
	struct poll *poll = arg;

	loop_timer_arm(&poll->timer, (uint64_t)poll->options->poll_interval_ms * 1000);
	if (poll->under_way)
		return;
	poll->attempts = 0;
	poll_send(poll);
}

void poll_init(struct poll *poll, struct loop *loop, struct txn_table *txns, struct fabric *fabric,
	       const struct sm_options *options,
	       void (*news)(void *ctx, struct poll *poll, enum poll_news news,
			    const struct sm_info *info),
	       void *ctx)
{
	*poll = (struct poll){
		.txns = txns, .fabric = fabric, .options = options, .news = news, .ctx = ctx};
	loop_timer_init(&poll->timer, loop, "poll of a manager", interval_begins, poll);
}

void poll_begin(struct poll *poll, const struct peer *peer)
{
	poll_end(poll);
	poll->peer = *peer;
	poll->missed = poll->attempts = poll->answers = poll->key_turn = 0;
	poll->doubted = false;
	loop_timer_arm(&poll->timer, (uint64_t)poll->options->poll_interval_ms * 1000);
}

void poll_doubt(struct poll *poll)
{
	if (!poll->peer.info.guid)
		return;
	poll->doubted = true;
	interval_begins(poll);
}

void poll_end(struct poll *poll)
{
	txn_cancel(poll->txns, asked, poll);
	loop_timer_disarm(&poll->timer);
	poll->peer.info.guid = 0;
	poll->under_way = false;
}

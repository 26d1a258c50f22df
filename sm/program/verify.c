/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Identity check of a switch before it is written.
 *
 * A directed route names ports, not switches. If cables were moved since it was found, a Set()
 * arrives at another switch, which accepts it. If another manager has become MASTER, it may have
 * written tables that this manager believes empty. So the switch is queried on the route of the
 * Set() for its GUID and its LinearFDBTop. This happens before the first Set() after a sign of such
 * a change. Signs are a trap about changed links, a new PortStateChange, a port that fell back, an
 * unanswered Set(), and a long sweep. A further sign is a route with cables that the last heavy
 * sweep has not seen, because a switch on it was silent. Attempts use several routes in turn. An
 * answer verifies only its own route, so the Sets use that route. In a quiet fabric there are no
 * checks. Loop thread only.
 */
#include <errno.h>

#include "fabric/subject.h"
#include "include/message_id.h"
#include "sm/program/parts.h"

enum { OLD_US = 500000 }; /* age at which read values may be outdated */

static void verify_answered(void *owner, void *subject, const struct smp_request *request,
			    const struct smp_answer *answer);

/* Starts an epoch: later checks count for it. Without a check since the last epoch, that epoch
 * is still valid. */
void program_new_epoch(struct program *program)
{
	program->epoch += program->epoch_used;
	program->epoch_used = false;
}

bool program_epoch_is_used(const struct program *program)
{
	return program->epoch_used;
}

void verify_begin(struct program *program, struct node *node)
{
	/* A refusal may have come from a host behind a moved cable. */
	bool refused = node->sw->trouble && node->sw->trouble->refusals;
	bool old = loop_now_us(program->loop) - program->began_us > OLD_US || refused ||
		   !fabric_way_is_seen(program->fabric, node);

	node->sw->verify.epoch = old ? 0 : program->sweep_epoch;
	node->sw->verify.way = 0;
}

static void verify_get(struct program *program, struct node *node, uint16_t attr_id,
		       struct smp_request *out)
{
	*out = (struct smp_request){.method = METHOD_GET,
				    .attr_id = attr_id,
				    .tried = node->sw->verify.asked,
				    .way = node->sw->verify.asked,
				    .once = true,
				    .done = verify_answered,
				    .owner = program,
				    .subject = node};
	node->sw->verify.under_way = true;
}

bool verify_request(struct program *program, struct node *node, struct smp_request *out)
{
	if (node->sw->verify.under_way || node->sw->failed)
		return false;
	node->sw->verify.due = false;
	node->sw->verify.asked_epoch = program->epoch;
	program->epoch_used = true;
	node->sw->verify.asked = 0;
	verify_get(program, node, ATTR_NODE_INFO, out);
	return true;
}

/* Each attempt uses another route, and verifies only that route. */
static bool ask_again(struct program *program, struct node *node)
{
	struct smp_request request;

	if (++node->sw->verify.asked >= window_attempts(&node->port[0].agent->target))
		return false;
	verify_get(program, node, ATTR_NODE_INFO, &request);
	window_submit(&node->port[0].agent->target, &request);
	return true;
}

/* Values that were read before are not used: no more Sets in this sweep, and a heavy sweep
 * follows. */
static void not_as_read(struct program *program, struct node *node, const char *what)
{
	struct log_subject subject = node_subject(node, MESSAGE_ROUTE_CHANGED);

	log_limited(&program->limit, LOG_NOTICE, &subject,
		    "\"%s\": %s: sending no more Sets before the fabric is read again",
		    node->facts->description, what);
	node->sw->failed = true;
	program_not_as_read(program);
}

static bool top_is_ours(const struct switch_state *sw, lid_t read, lid_t top)
{
	return top == read || (sw->verify.unanswered && sw->lft.want && top == sw->lft.want->top);
}

static void verify_switch_info(struct program *program, struct node *node, const uint8_t *data)
{
	struct switch_state *sw = node->sw;
	struct switch_info info;

	attr_decode(&switch_info_format, data, &info);
	if (!top_is_ours(sw, node->facts->sw.linear_fdb_top, info.linear_fdb_top)) {
		not_as_read(program, node, "its LinearFDBTop is not as it was read");
		return;
	}
	if (info.port_state_change && !node->facts->sw.port_state_change)
		program_note_switch(program, node);
	node_set_switch_info(program->fabric, node, &info);
	if (sw->lft.want && info.linear_fdb_top == sw->lft.want->top)
		sw->lft.top_set = info.linear_fdb_top;
	if (refused_is_mute(node)) {
		refused_note(program, node, ATTR_PORT_INFO, STATUS_OK);
		switch_failed(program, node, "no answer to Set()");
		return;
	}
	sw->verify.epoch = sw->verify.asked_epoch;
	sw->verify.way = sw->verify.asked;
	sw->verify.due = false;
	switch_wake_waiters(program, node);
	for (unsigned i = 0; program->epoch != program->sweep_epoch && i <= node->num_ports; i++)
		program_look_at(program, &node->port[i]); /* these waited for the check */
}

static void got_node_info(struct program *program, struct node *node, const uint8_t *data)
{
	struct node_info info;
	struct smp_request request;

	attr_decode(&node_info_format, data, &info);
	if (info.node_guid != node->guid) {
		not_as_read(program, node, "another node answers on its route");
		return;
	}
	verify_get(program, node, ATTR_SWITCH_INFO, &request);
	window_submit(&node->port[0].agent->target, &request);
}

static void verify_answered(void *owner, void *subject, const struct smp_request *request,
			    const struct smp_answer *answer)
{
	struct program *program = owner;
	struct node *node = subject;

	node->sw->verify.under_way = false;
	if (answer->error == -ECANCELED ||
	    (answer->error == -ETIMEDOUT && ask_again(program, node)))
		return;
	if (answer->error || answer->status)
		switch_failed(program, node, "no answer to Get(NodeInfo)");
	else if (request->attr_id == ATTR_NODE_INFO)
		got_node_info(program, node, answer->data);
	else
		verify_switch_info(program, node, answer->data);
	window_wake(&node->port[0].agent->target);
}

bool verify_switch(struct program *program, struct node *node)
{
	if (node->sw->verify.epoch == program->epoch)
		return true;
	node->sw->verify.due = true;
	return false;
}

bool verify_is_needed(const struct program *program, const struct node *node)
{
	return node->facts->sw.linear_fdb_top || node->sw->verify.epoch != program->sweep_epoch;
}

static bool may_repeat(void *owner, void *subject)
{
	const struct program *program = owner;
	const struct node *node = subject;

	return !program->stopped && node->sw->verify.epoch == program->epoch &&
	       !verify_is_needed(program, node);
}

/* Whether an unanswered request is to be repeated after the switch has been verified. */
static bool try_again(struct node *node, int error)
{
	struct switch_state *sw = node->sw;

	if (error != -ETIMEDOUT ||
	    sw->verify.unanswered + 1u >= window_attempts(&node->port[0].agent->target))
		return false;
	sw->verify.unanswered++;
	sw->verify.epoch = 0;
	window_wake(&node->port[0].agent->target);
	return true;
}

void verify_table_request(struct program *program, struct node *node, uint8_t method,
			  uint16_t attr_id, uint32_t attr_mod, smp_done_fn *done,
			  struct smp_request *out)
{
	bool get = method == METHOD_GET;

	*out = (struct smp_request){.method = method,
				    .attr_id = attr_id,
				    .attr_mod = attr_mod,
				    .tried = node->sw->verify.unanswered,
				    .way = node->sw->verify.way,
				    .once = get || verify_is_needed(program, node),
				    .may_repeat = get ? NULL : may_repeat,
				    .done = done,
				    .owner = program,
				    .subject = node};
}

enum table_answer verify_table_answer(struct node *node, const struct smp_request *request,
				      const struct smp_answer *answer)
{
	struct switch_verify *verify = &node->sw->verify;
	bool get = request->method == METHOD_GET;

	if (answer->error == -ECANCELED)
		return TABLE_CANCELED;
	verify->set_lost |= !get && answer->error == -ETIMEDOUT;
	if (try_again(node, answer->error))
		return TABLE_AGAIN;
	if (answer->error || (!get && answer->status))
		return TABLE_FAILED;
	verify->set_lost &= get;
	if (!verify->set_lost)
		verify->unanswered = 0;
	return answer->status ? TABLE_FAILED : TABLE_GOOD;
}

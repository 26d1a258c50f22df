/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Who is there, before a switch is written.
 *
 * A directed route names ports, not switches. When cables were moved since it was found, a Set()
 * arrives at another switch, which takes it; and when another manager has become MASTER too, tables
 * were written by it that this one believes empty. So a switch is asked once more, for its GUID
 * along the very route and for its LinearFDBTop, before the first Set() after something hinted at
 * such a change: a report of changed links, a PortStateChange that was not there, a port that fell
 * back, a Set() without an answer, a sweep that took long, or a way with cables that the last heavy
 * sweep has not seen again, because a switch on it was silent.
 * What has answered is one way to it, of the several that attempts take in turn, so its Sets take
 * that way and no other. In a quiet fabric nothing is asked. Loop thread only.
 */
#include <errno.h>

#include "fabric/subject.h"
#include "include/message_id.h"
#include "sm/program/parts.h"

enum { OLD_US = 500000 }; /* what was read so long ago may have changed */

static void verify_answered(void *owner, void *subject, const struct smp_request *request,
			    const struct smp_answer *answer);

/* Whoever is asked from now on answers for it; as long as nobody was, it is the same news. */
void program_new_epoch(struct program *program)
{
	program->epoch += program->epoch_used;
	program->epoch_used = false;
}

void verify_begin(struct program *program, struct node *node)
{
	bool old = loop_now_us(program->loop) - program->began_us > OLD_US ||
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

/* Each attempt takes another way, and is answered for its own way only. */
static bool ask_again(struct program *program, struct node *node)
{
	struct smp_request request;

	if (++node->sw->verify.asked >= window_attempts(&node->port[0].agent->target))
		return false;
	verify_get(program, node, ATTR_NODE_INFO, &request);
	window_submit(&node->port[0].agent->target, &request);
	return true;
}

/* Nothing is built on what was read before: no more is written in this sweep, a full one follows.
 */
static void not_as_read(struct program *program, struct node *node, const char *what)
{
	struct log_subject subject = node_subject(node, NULL);

	log_limited(&program->limit, LOG_NOTICE, &subject,
		    "\"%s\": %s: the fabric is read again before more is written",
		    node->facts->description, what);
	node->sw->failed = true;
	program->stopped = true;
	program->report.not_as_read = true;
	fabric_forget_tables(program->fabric);
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
		not_as_read(program, node, "another manager has written its LinearFDBTop");
		return;
	}
	if (info.port_state_change && !node->facts->sw.port_state_change)
		program_note_switch(program, node);
	node_set_switch_info(program->fabric, node, &info);
	if (sw->lft.want && info.linear_fdb_top == sw->lft.want->top)
		sw->lft.top_set = info.linear_fdb_top;
	if (refused_is_mute(node)) {
		refused_note(program, node, ATTR_PORT_INFO, STATUS_OK);
		switch_failed(program, node, "it answers no Set()");
		return;
	}
	sw->verify.epoch = sw->verify.asked_epoch;
	sw->verify.way = sw->verify.asked;
	sw->verify.due = false;
	switch_wake_waiters(program, node);
	for (unsigned i = 0; program->epoch != program->sweep_epoch && i <= node->num_ports; i++)
		program_look_at(program, &node->port[i]); /* they waited for this */
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
		switch_failed(program, node, "it does not answer any more");
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

bool verify_may_repeat(void *owner, void *subject)
{
	const struct program *program = owner;
	const struct node *node = subject;

	return !program->stopped && node->sw->verify.epoch == program->epoch &&
	       !verify_is_needed(program, node);
}

bool verify_try_again(struct node *node, int error)
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

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Switches that do not let themselves be written: a Set() of their tables comes back with a status,
 * or none is ever answered while every Get() is, as where another manager's M_Key protects them; in
 * two sweeps in a row, for once may be by chance.
 * What they hold cannot follow the others' routes, so no route passes them (fabric/aside.h), and
 * they are asked again after a minute, then ever more seldom: each time with the table that they
 * should have as they are, so that one that takes it is passed again. Loop thread only.
 */
#include <errno.h>

#include "fabric/aside.h"
#include "mad/mad.h"
#include "sm/program_parts.h"

#define S_US UINT64_C(1000000)

enum {
	PAUSE_MIN_S = 60,
	PAUSE_MAX_S = 3600,
	REFUSALS = 2,  /* sweeps in a row */
	MUTE_SETS = 2, /* in a row; then it is asked whether it is there */
};

bool refused_rests(const struct program *program, const struct node *node)
{
	return node->sw->aside == ASIDE_REFUSES && loop_now_us(program->loop) < node->sw->retry_us;
}

bool refused_is_mute(const struct node *node)
{
	return node->sw->mute_sets >= MUTE_SETS;
}

void refused_note(struct program *program, struct node *node, uint16_t attr_id, uint16_t status)
{
	struct switch_state *sw = node->sw;
	uint64_t pause_us = 2 * sw->retry_pause_us;

	/* Once a sweep; and once may be by chance. */
	if (status_is_busy(status) || sw->failed || refused_rests(program, node))
		return;
	sw->refusals += sw->refusals < REFUSALS;
	if (sw->refusals < REFUSALS)
		return;
	if (pause_us < PAUSE_MIN_S * S_US)
		pause_us = PAUSE_MIN_S * S_US;
	if (pause_us > PAUSE_MAX_S * S_US)
		pause_us = PAUSE_MAX_S * S_US;
	sw->retry_pause_us = pause_us;
	sw->retry_us = loop_now_us(program->loop) + pause_us;
	sw->refused_attr = attr_id;
	sw->refused_status = status;
	fabric_set_aside(program->fabric, node, ASIDE_REFUSES);
}

void refused_took_all(struct program *program, struct node *node)
{
	node->sw->refusals = 0;
	node->sw->retry_pause_us = 0; /* what it refuses next begins anew */
	if (node->sw->aside == ASIDE_REFUSES)
		fabric_set_aside(program->fabric, node, ASIDE_NOT);
}

/* A Set() of one of its ports was answered, or was not. */
void refused_port_set(struct node *node, int error)
{
	struct switch_state *sw = node->sw;

	if (error != -ETIMEDOUT) {
		sw->mute_sets = 0;
		return;
	}
	sw->mute_sets += sw->mute_sets < MUTE_SETS;
	if (!refused_is_mute(node))
		return;
	sw->verified = 0; /* it is asked now, and what then follows is refused_note()'s or not */
	sw->verify = true;
	window_wake(&node->port[0].agent->target);
}

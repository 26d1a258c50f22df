/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Switches that do not let themselves be written: a Set() of their tables comes back with a status,
 * or none is ever answered while every Get() is, as where another manager's M_Key protects them; in
 * two sweeps in a row, for once may be by chance.
 * What they hold cannot follow the others' routes, so no route passes them (fabric/no_transit.h),
 * and they are asked again after a minute, then ever more seldom: each time with the table that
 * they should have as they are, so that one that takes it is passed again. Loop thread only.
 */
#include <errno.h>

#include "fabric/no_transit.h"
#include "mad/mad.h"
#include "sm/program/parts.h"

#define S_US UINT64_C(1000000)

enum {
	PAUSE_MIN_S = 60,
	PAUSE_MAX_S = 3600,
	REFUSALS = 2,  /* sweeps in a row */
	MUTE_SETS = 2, /* in a row; then it is asked whether it is there */
};

bool refused_rests(const struct program *program, const struct node *node)
{
	return node->sw->no_transit == NO_TRANSIT_REFUSES &&
	       loop_now_us(program->loop) < node->sw->trouble->retry_us;
}

bool refused_is_mute(const struct node *node)
{
	return node->sw->trouble && node->sw->trouble->mute_sets >= MUTE_SETS;
}

static uint64_t next_pause_us(uint64_t pause_us)
{
	if (pause_us < PAUSE_MIN_S * S_US / 2)
		return PAUSE_MIN_S * S_US;
	return 2 * pause_us < PAUSE_MAX_S * S_US ? 2 * pause_us : PAUSE_MAX_S * S_US;
}

void refused_note(struct program *program, struct node *node, uint16_t attr_id, uint16_t status)
{
	struct switch_trouble *trouble;

	/* Once a sweep; and once may be by chance. */
	if (status_is_busy(status) || node->sw->failed || refused_rests(program, node))
		return;
	trouble = switch_trouble(node);
	trouble->refusals += trouble->refusals < REFUSALS;
	if (trouble->refusals < REFUSALS)
		return;
	trouble->retry_pause_us = next_pause_us(trouble->retry_pause_us);
	trouble->retry_us = loop_now_us(program->loop) + trouble->retry_pause_us;
	trouble->refused_attr = attr_id;
	trouble->refused_status = status;
	fabric_set_no_transit(program->fabric, node, NO_TRANSIT_REFUSES);
}

/* What it refuses next begins anew. */
void refused_took_all(struct program *program, struct node *node)
{
	struct switch_trouble *trouble = node->sw->trouble;

	if (!trouble)
		return;
	trouble->refusals = 0;
	trouble->retry_pause_us = 0;
	if (node->sw->no_transit == NO_TRANSIT_REFUSES)
		fabric_set_no_transit(program->fabric, node, TRANSIT_ALLOWED);
	switch_trouble_over(node);
}

void refused_hears(struct node *node)
{
	if (!node->sw->trouble)
		return;
	node->sw->trouble->mute_sets = 0;
	switch_trouble_over(node);
}

/* A Set() of one of its ports was answered, or was not. */
void refused_port_set(struct node *node, int error)
{
	struct switch_trouble *trouble;

	if (error != -ETIMEDOUT) {
		refused_hears(node);
		return;
	}
	trouble = switch_trouble(node);
	trouble->mute_sets += trouble->mute_sets < MUTE_SETS;
	if (!refused_is_mute(node))
		return;
	/* It is asked now, and what then follows is refused_note()'s or not. */
	node->sw->verify.epoch = 0;
	node->sw->verify.due = true;
	window_wake(&node->port[0].agent->target);
}

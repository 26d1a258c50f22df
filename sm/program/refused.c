/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Switches that refuse Sets of their tables: with a status, or without any answer although they
 * answer every Get(), for example if the M_Key of another manager protects them. A switch counts as
 * refusing after two consecutive sweeps, because one failure may be accidental. Its tables cannot
 * follow new routes, so no route passes it (fabric/no_transit.h). It gets another Set() after a
 * minute, then less and less often. Each time the Set() has the wanted table as the switch should
 * hold it now, so that routes use the switch again once it accepts the table. Loop thread only.
 */
#include <errno.h>

#include "fabric/no_transit.h"
#include "mad/mad.h"
#include "sm/program/parts.h"

#define S_US UINT64_C(1000000)

enum {
	PAUSE_MIN_S = 60,
	PAUSE_MAX_S = 3600,
	REFUSALS = 2,  /* consecutive sweeps */
	MUTE_SETS = 2, /* consecutive Sets; then a Get() checks that it is present */
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

	/* Counts once a sweep, because one failure may be accidental. */
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

/* The next refusal starts a new count. */
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

/* A Set() of one of its ports was answered or timed out. */
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
	/* It gets a Set() now, and refused_note() is called if it refuses again. */
	node->sw->verify.epoch = 0;
	node->sw->verify.due = true;
	window_wake(&node->port[0].agent->target);
}

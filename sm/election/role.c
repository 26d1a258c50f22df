/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The transitions as rows: a pair of role and event without a row changes nothing. */
#include "sm/election/role.h"

#include <stddef.h>

#include "lib/mem.h"

static const struct transition {
	enum sm_state from;
	enum role_event event;
	enum sm_state to;
} transitions[] = {
	{SM_DISCOVERING, ROLE_MASTER_FOUND, SM_STANDBY},
	{SM_DISCOVERING, ROLE_HIGHER_FOUND, SM_STANDBY},
	{SM_DISCOVERING, ROLE_NONE_BETTER, SM_MASTER},
	{SM_DISCOVERING, ROLE_HANDOVER, SM_MASTER},
	{SM_STANDBY, ROLE_MASTER_LOST, SM_DISCOVERING},
	{SM_STANDBY, ROLE_HANDOVER, SM_MASTER},
	{SM_STANDBY, ROLE_CONTROL_DISCOVER, SM_DISCOVERING},
	{SM_STANDBY, ROLE_CONTROL_DISABLE, SM_NOTACTIVE},
	{SM_NOTACTIVE, ROLE_CONTROL_STANDBY, SM_STANDBY},
	{SM_MASTER, ROLE_HANDED_OVER, SM_STANDBY},
	{SM_MASTER, ROLE_PORT_DOWN, SM_DISCOVERING},
	{SM_STANDBY, ROLE_PORT_DOWN, SM_DISCOVERING},
};

enum sm_state role_next(enum sm_state role, enum role_event event)
{
	for (size_t i = 0; i < ARRAY_SIZE(transitions); i++) {
		if (transitions[i].from == role && transitions[i].event == event)
			return transitions[i].to;
	}
	return role;
}

enum sm_state role_after(enum role_event event)
{
	size_t i = 0;

	while (transitions[i].event != event)
		i++;
	return transitions[i].to;
}

bool role_outranks(const struct sm_info *a, const struct sm_info *b)
{
	return a->priority != b->priority ? a->priority > b->priority : a->guid < b->guid;
}

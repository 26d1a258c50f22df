/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a change of a partition takes from the ports that are present. Two full members may exchange
 * packets, and a full and a limited member. Limited members alone may not, so the removal of the
 * last full member cuts them off. The paths that other partitions leave do not count. A member by
 * an alias counts for the port of the alias.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "sm/control/partition.h"

/* Members of a partition that are present. */
struct members_present {
	uint64_t full, limited;
};

static void count_member(struct members_present *present, uint8_t membership)
{
	present->full += (membership & MEMBERSHIP_FULL) != 0;
	present->limited += membership == MEMBERSHIP_LIMITED;
}

static uint64_t pairs_of(const struct members_present *present)
{
	return present->full * (present->full - (present->full > 0)) / 2 +
	       present->full * present->limited;
}

/* The membership of a port that no command names. */
static uint8_t membership_without_command(struct sm *sm, const struct partition_change *change,
					  const struct port *port)
{
	const struct policy *policy = &sm->policy;
	const struct partition *in_file = policy_in_file(policy, change->p_key);
	bool self = port == sm->fabric->sm_port;
	uint8_t membership = MEMBERSHIP_NONE;

	if (in_file)
		membership = partition_membership(in_file, port_facts(port)->guid, port->node->type,
						  self, sm->options.allow_both);
	if (membership || change->p_key != PKEY_DEFAULT_LIMITED)
		return membership;
	return self || (policy->source == PARTITIONS_NO_FILE && !change->is_defined)
		       ? MEMBERSHIP_FULL
		       : MEMBERSHIP_LIMITED;
}

/* The ports that the change names, by GUID: their membership plus 1. */
static struct map memberships_named(struct sm *sm, const struct partition_change *change)
{
	struct map named = {0};

	for (size_t i = 0; i < change->count; i++)
		map_put(&named, policy_owner(&sm->policy, change->ports[i].guid),
			(void *)(uintptr_t)(change->ports[i].membership + 1u));
	return named;
}

struct partition_effect partition_effect(struct sm *sm, const struct partition_change *change)
{
	struct map named = memberships_named(sm, change);
	struct members_present before = {0}, after = {0};
	struct partition_effect effect = {0};
	const struct port *port;
	size_t position = 0;

	while ((port = map_next(&sm->fabric->ports, &position))) {
		guid_t guid = port_facts(port)->guid;
		size_t now = map_counted(&named, guid);
		uint8_t had =
			partition_membership_in(policy_guid_keys(&sm->policy, guid), change->p_key);
		uint8_t has = had;

		if (now > 1)
			has = (uint8_t)(now - 1);
		else if (now ||
			 (change->redefines && !policy_member(&sm->policy, change->p_key, guid)))
			has = membership_without_command(sm, change, port);
		count_member(&before, had);
		count_member(&after, has);
		effect.ports += (had & ~has & MEMBERSHIP_FULL) || (had && !has);
	}
	map_done(&named);
	effect.cut_off = before.full && !after.full ? after.limited : 0;
	effect.pairs =
		pairs_of(&before) > pairs_of(&after) ? pairs_of(&before) - pairs_of(&after) : 0;
	return effect;
}

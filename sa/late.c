/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A rule for each kind that can contradict what is there: late.h. Who gives way is always what
 * comes late, since clients have been told of the other. A group that gets another MLID so is no
 * loss: its members were told to register anew when weftd began without its store, and hear of it
 * with their join.
 */
#include "sa/late.h"

#include "lib/mem.h"
#include "sa/groups.h"
#include "sa/service.h"
#include "store/alias.h"

struct place {
	struct registry *registry;
	struct groups *groups;
	struct services *services;
};

/* Its own MLID, unless another group has that and may not share it. */
static bool group_fits(const struct place *place, void *record)
{
	struct group_entry *group = record;
	lid_t mlid = groups_mlid(place->groups, group->mgid, group->mlid, GROUP_KNOWN);

	if (mlid == LID_NONE)
		return false;
	group->mlid = mlid;
	return true;
}

static bool member_fits(const struct place *place, void *record)
{
	return groups_find(place->groups, ((const struct member_entry *)record)->mgid);
}

/* Another port may have it now, or it is that port's own GUID. */
static bool alias_fits(const struct place *place, void *record)
{
	return !alias_is_usurped(place->registry, record) &&
	       !registry_first(place->registry, REGISTRY_ALIAS, ALIAS_BY_GUID, record);
}

static bool service_fits(const struct place *place, void *record)
{
	services_late(place->services, record);
	return true;
}

static bool (*const rules[REGISTRY_KINDS])(const struct place *place, void *record) = {
	[REGISTRY_GROUP] = group_fits,
	[REGISTRY_MEMBER] = member_fits,
	[REGISTRY_SERVICE] = service_fits,
	[REGISTRY_ALIAS] = alias_fits,
};

bool late_fits(struct registry *registry, struct groups *groups, struct services *services,
	       enum registry_kind kind, void *record, bool known)
{
	const struct place place = {registry, groups, services};

	if (kind == REGISTRY_SETTING)
		services_late_clock(services, record);
	return known || !rules[kind] || rules[kind](&place, record);
}

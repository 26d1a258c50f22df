/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Rules for kinds of records that can conflict with present ones. The late record is dropped,
 * because clients have already got the present record. The exception is a granted alias, which
 * replaces an alias without a grant, because a grant must not end unnoticed. A group may get
 * another MLID without loss: its members were notified to re-register when weftd started without
 * its store, and get the new MLID with their join.
 */
#include "sa/late.h"

#include "include/message_id.h"
#include "lib/guid.h"
#include "lib/mem.h"
#include "sa/alias.h"
#include "sa/forget.h"
#include "sa/groups.h"
#include "sa/lease.h"
#include "store/alias.h"

/* Its own MLID, unless another group has it and may not share it. */
static bool group_fits(const struct late *late, void *record)
{
	struct group_entry *group = record;
	lid_t mlid = groups_mlid(late->groups, group->mgid, group->mlid, GROUP_KNOWN);

	if (mlid == LID_NONE)
		return false;
	group->mlid = mlid;
	return true;
}

static bool member_fits(const struct late *late, void *record)
{
	return groups_find(late->groups, ((const struct member_entry *)record)->mgid);
}

static bool service_fits(const struct late *late, void *record)
{
	services_late(late->services, record);
	return true;
}

static void log_alias_left_out(const struct late *late, const struct alias_entry *alias,
			       const struct alias_entry *other)
{
	static const struct log_subject subject = {.message_id = MESSAGE_ALIAS};
	char guid[GUID_TEXT], port[GUID_TEXT], others_guid[GUID_TEXT], others_port[GUID_TEXT];

	log_limited(
		&late->aliases->limit, LOG_WARNING, &subject,
		"the alias GUID %s of port %s at index %u, granted by: %s, in the late store is "
		"ignored: port %s has %s at index %u, granted by: %s; to move "
		"it, use weftctl alias remove and weftctl alias set",
		guid_text(alias->guid, guid), guid_text(alias->port_guid, port), alias->index,
		alias_grant_text(alias->granted), guid_text(other->port_guid, others_port),
		guid_text(other->guid, others_guid), other->index,
		alias_grant_text(alias_grant_of(late->aliases, other)));
}

/* Whether other, which may be NULL, is replaced by a granted alias. */
static bool gives_way(const struct late *late, const struct alias_entry *other,
		      const struct alias_entry *alias)
{
	if (!other || alias_may_move(alias_grant_of(late->aliases, other), alias->granted, false))
		return true;
	log_alias_left_out(late, alias, other);
	return false;
}

/* Drops the registrations under its GUID, unless the port keeps the GUID. */
static void take_place(const struct late *late, const struct alias_entry *other,
		       const struct alias_entry *alias)
{
	if (!other)
		return;
	if (other->port_guid != alias->port_guid || other->guid != alias->guid)
		forget_guid(late->registry, late->groups, other->guid);
	alias_end(late->aliases, other, ALIAS_DELETED);
}

/* in_place has its port and index, holder its GUID. */
static bool alias_fits(const struct late *late, void *record)
{
	const struct alias_entry *alias = record;
	const struct alias_entry *in_place = registry_find(late->registry, REGISTRY_ALIAS, alias);
	const struct alias_entry *holder =
		registry_first(late->registry, REGISTRY_ALIAS, ALIAS_BY_GUID, alias);

	if (in_place && in_place->guid == alias->guid && in_place->granted)
		return true;
	if (alias->granted == ALIAS_NOT_GRANTED)
		return in_place || (!holder && !alias_is_usurped(late->registry, alias));
	if (!gives_way(late, in_place, alias) ||
	    (holder != in_place && !gives_way(late, holder, alias)))
		return false;
	take_place(late, in_place, alias);
	take_place(late, holder != in_place ? holder : NULL, alias);
	return true;
}

static const struct {
	bool (*fits)(const struct late *late, void *record);
	bool even_known; /* called also if the registry has another record with the same key */
} rules[REGISTRY_KINDS] = {
	[REGISTRY_GROUP] = {group_fits, false},
	[REGISTRY_MEMBER] = {member_fits, false},
	[REGISTRY_SERVICE] = {service_fits, false},
	[REGISTRY_ALIAS] = {alias_fits, true},
};

bool late_fits(const struct late *late, enum registry_kind kind, void *record, bool known)
{
	if (kind == REGISTRY_SETTING)
		services_late_clock(late->services, record);
	return !rules[kind].fits || (known && !rules[kind].even_known) ||
	       rules[kind].fits(late, record);
}

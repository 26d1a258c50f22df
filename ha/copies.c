/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A table of the kinds of the registry, and rules for single records. */
#include "ha/copies.h"

#include <string.h>

#include "fabric/lost_links.h"
#include "mad/mgid.h"
#include "store/setting.h"

/* The highest value of enum ha_copies with which a kind is copied. */
static const uint8_t most_open[REGISTRY_KINDS] = {
	[REGISTRY_LID] = COPY_NO_SECRETS,
	[REGISTRY_GROUP] = COPY_REGISTRATIONS,
	[REGISTRY_MEMBER] = COPY_REGISTRATIONS,
	[REGISTRY_SERVICE] = COPY_REGISTRATIONS,
	[REGISTRY_SUBSCRIPTION] = COPY_REGISTRATIONS,
	[REGISTRY_ALIAS] = COPY_NO_SECRETS,
	[REGISTRY_SETTING] = COPY_REGISTRATIONS, /* only the clock of leases */
	[REGISTRY_PARTITION] = COPY_NO_SECRETS,
	[REGISTRY_PARTITION_MEMBER] = COPY_NO_SECRETS,
	[REGISTRY_M_KEY] = COPY_ALL,
	[REGISTRY_NEIGHBOR] = COPY_NO_SECRETS,
	[REGISTRY_DISABLED] = COPY_NO_SECRETS,
	[REGISTRY_PARTITION_TEXT] = COPY_NO_SECRETS,
	[REGISTRY_PARTITION_OWNER] = COPY_NO_SECRETS,
	[REGISTRY_DRAINED] = COPY_NO_SECRETS,
	[REGISTRY_LOST_LINK] = COPY_NO_SECRETS,
};

const char *copies_name(enum ha_copies copies)
{
	static const char *const names[HA_COPIES] = {"all", "no secrets", "registrations"};

	return names[copies];
}

bool copies_kind(enum ha_copies copies, enum registry_kind kind)
{
	return most_open[kind] >= copies;
}

size_t copies_most(enum ha_copies copies, enum registry_kind kind)
{
	static const size_t most[REGISTRY_KINDS] = {
		[REGISTRY_DRAINED] = 4096,
		[REGISTRY_LOST_LINK] = LOST_LINKS_MAX,
	};

	return copies == COPY_ALL || !most[kind] ? SIZE_MAX : most[kind];
}

bool copies_tables(enum ha_copies copies)
{
	return copies != COPY_REGISTRATIONS;
}

/* Every port is in the default partition. The SA shows records of other partitions to their members
 * only. */
static bool is_of_all(pkey_t p_key)
{
	return !p_key || (p_key & PKEY_DEFAULT_LIMITED) == PKEY_DEFAULT_LIMITED;
}

static bool group_is_of_all(const struct registry *registry, const uint8_t mgid[GID_SIZE])
{
	struct group_entry key = {.mlid = 0};
	const struct group_entry *group;

	memcpy(key.mgid, mgid, GID_SIZE);
	group = registry_find(registry, REGISTRY_GROUP, &key);
	return group && is_of_all(group->p_key);
}

static bool is_open(const struct registry *registry, enum registry_kind kind, const void *record,
		    bool sa_public)
{
	switch (kind) {
	case REGISTRY_GROUP:
		return is_of_all(((const struct group_entry *)record)->p_key);
	case REGISTRY_MEMBER:
		return sa_public &&
		       group_is_of_all(registry, ((const struct member_entry *)record)->mgid);
	case REGISTRY_SERVICE:
		return is_of_all(((const struct service_entry *)record)->p_key);
	case REGISTRY_SUBSCRIPTION:
		return sa_public;
	case REGISTRY_SETTING:
		return !strcmp((const char *)((const struct setting_entry *)record)->name,
			       SETTING_LEASE_CLOCK);
	default:
		return false;
	}
}

bool copies_record(enum ha_copies copies, const struct registry *registry, enum registry_kind kind,
		   const void *record, bool sa_public)
{
	if (!copies_kind(copies, kind))
		return false;
	return copies != COPY_REGISTRATIONS || is_open(registry, kind, record, sa_public);
}

guid_t copies_subject(enum registry_kind kind, const void *record)
{
	switch (kind) {
	case REGISTRY_MEMBER:
		return ((const struct member_entry *)record)->port_guid;
	case REGISTRY_SERVICE:
		return ((const struct service_entry *)record)->gid_guid;
	case REGISTRY_SUBSCRIPTION:
		return ((const struct subscription_entry *)record)->subscriber;
	default:
		return 0;
	}
}

/* Without its group, a member is in no partition. */
static bool group_is_own(const struct registry *registry, const uint8_t mgid[GID_SIZE])
{
	struct group_entry key = {.mlid = 0};

	memcpy(key.mgid, mgid, GID_SIZE);
	return registry_find(registry, REGISTRY_GROUP, &key) && !group_is_of_all(registry, mgid);
}

/* The record may have only its key. The key of a service has the P_Key, but the key of a group does
 * not. */
bool copies_own(enum ha_copies copies, const struct registry *registry, enum registry_kind kind,
		const void *record, bool sa_public)
{
	if (copies != COPY_REGISTRATIONS)
		return !copies_kind(copies, kind);
	if (kind == REGISTRY_GROUP)
		return group_is_own(registry, ((const struct group_entry *)record)->mgid);
	if (kind == REGISTRY_MEMBER)
		return !sa_public ||
		       group_is_own(registry, ((const struct member_entry *)record)->mgid);
	return !is_open(registry, kind, record, sa_public);
}

const struct group_entry *copies_rival(const struct registry *registry,
				       const struct group_entry *group)
{
	const struct group_entry *other =
		registry_first(registry, REGISTRY_GROUP, GROUP_BY_MLID, group);

	if (other && !memcmp(other->mgid, group->mgid, GID_SIZE))
		other = registry_next(registry, REGISTRY_GROUP, GROUP_BY_MLID, other);
	return other && !mgids_may_share_mlid(other->mgid, group->mgid) ? other : NULL;
}

bool copies_clock_fits(const struct setting_entry *clock, uint64_t wall_s)
{
	uint64_t said_s = 0;

	for (size_t i = 0; i < sizeof(clock->value) && clock->value[i]; i++) {
		if (clock->value[i] < '0' || clock->value[i] > '9' || said_s > UINT32_MAX * 16ULL)
			return false;
		said_s = 10 * said_s + (uint64_t)(clock->value[i] - '0');
	}
	return said_s && said_s <= wall_s + COPY_CLOCK_MAX_S;
}

const void *copies_blank(enum ha_copies copies, enum registry_kind kind, const void *record,
			 union copied_record *copy)
{
	if (copies == COPY_ALL || kind != REGISTRY_SERVICE)
		return record;
	copy->service = *(const struct service_entry *)record;
	memset(copy->service.key, 0, sizeof(copy->service.key));
	return &copy->service;
}

uint64_t copies_spared(enum ha_copies copies)
{
	uint64_t spared = 0;

	for (unsigned kind = REGISTRY_LID; kind < REGISTRY_KINDS; kind++)
		if (!copies_kind(copies, kind))
			spared |= UINT64_C(1) << kind;
	return spared;
}

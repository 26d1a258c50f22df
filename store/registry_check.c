/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A table of ranges, and checks of a kind that need more than a range: store/registry_check.h. */
#include "store/registry_check.h"

#include <string.h>

#include "lib/mem.h"
#include "lib/utf8.h"
#include "store/alias.h"

static const struct range {
	enum registry_kind kind;
	const char *field;
	uint64_t min, max;
	const char *wrong;
} ranges[] = {
	{REGISTRY_LID, "GUID", 1, UINT64_MAX, "no GUID"},
	{REGISTRY_LID, "LID", LID_UNICAST_MIN, LID_UNICAST_MAX, "not 1 to 49151"},
	{REGISTRY_LID, "LMC", 0, LMC_MAX, "not 0 to 7"},
	{REGISTRY_LID, "Port", 0, PORT_MAX, "not 0 to 254"},
	{REGISTRY_GROUP, "MLID", LID_MULTICAST_MIN, LID_MULTICAST_MAX, "not 0xc000 to 0xfffe"},
	{REGISTRY_GROUP, "SL", 0, 15, "not 0 to 15"},
	{REGISTRY_GROUP, "FlowLabel", 0, 0xfffff, "not 0 to 0xfffff"},
	{REGISTRY_GROUP, "MTU", 0, 63, "not 0 to 63"},
	{REGISTRY_GROUP, "Rate", 0, 63, "not 0 to 63"},
	{REGISTRY_GROUP, "PacketLifeTime", 0, 63, "not 0 to 63"},
	{REGISTRY_GROUP, "Scope", 0, 15, "not 0 to 15"},
	{REGISTRY_GROUP, "Permanent", 0, 1, "not 0 or 1"},
	{REGISTRY_MEMBER, "PortGUID", 1, UINT64_MAX, "no GUID"},
	{REGISTRY_MEMBER, "JoinState", 1, 15, "not 1 to 15"},
	{REGISTRY_MEMBER, "ProxyJoin", 0, 1, "not 0 or 1"},
	{REGISTRY_SUBSCRIPTION, "SubscriberGUID", 1, UINT64_MAX, "no GUID"},
	{REGISTRY_SUBSCRIPTION, "SL", 0, 15, "not 0 to 15"},
	{REGISTRY_SUBSCRIPTION, "RespTimeValue", 0, 31, "not 0 to 31"},
	{REGISTRY_SUBSCRIPTION, "IsGeneric", 0, 1, "not 0 or 1"},
	{REGISTRY_SUBSCRIPTION, "Trusted", 0, 1, "not 0 or 1"},
	{REGISTRY_ALIAS, "PortGUID", 1, UINT64_MAX, "no GUID"},
	{REGISTRY_ALIAS, "Index", 1, UINT8_MAX, "not 1 to 255"},
	{REGISTRY_ALIAS, "GUID", 1, UINT64_MAX, "no GUID"},
	{REGISTRY_ALIAS, "Granted", 0, ALIAS_KEPT_GRANTS - 1, "not 0 to 2"},
	{REGISTRY_PARTITION, "P_Key", 1, PKEY_DEFAULT_LIMITED, "not 0x0001 to 0x7fff"},
	{REGISTRY_PARTITION, "IPoIB", 0, 1, "not 0 or 1"},
	{REGISTRY_PARTITION, "Index0", 0, 1, "not 0 or 1"},
	{REGISTRY_PARTITION, "MTU", 1, 5, "not 1 to 5"},
	{REGISTRY_PARTITION, "Rate", 2, 63, "not 2 to 63"},
	{REGISTRY_PARTITION, "SL", 0, 15, "not 0 to 15"},
	{REGISTRY_PARTITION, "Scope", 1, 15, "not 1 to 15"},
	{REGISTRY_PARTITION, "FlowLabel", 0, 0xfffff, "not 0 to 0xfffff"},
	{REGISTRY_PARTITION_MEMBER, "P_Key", 1, PKEY_DEFAULT_LIMITED, "not 0x0001 to 0x7fff"},
	{REGISTRY_PARTITION_MEMBER, "GUID", 1, UINT64_MAX, "no GUID"},
	{REGISTRY_PARTITION_MEMBER, "Membership", 1, 3, "not 1 to 3"},
	{REGISTRY_M_KEY, "GUID", 1, UINT64_MAX, "no GUID"},
	{REGISTRY_NEIGHBOR, "NodeGUID", 1, UINT64_MAX, "no GUID"},
	{REGISTRY_NEIGHBOR, "Port", 1, PORT_MAX, "not 1 to 254"},
	{REGISTRY_NEIGHBOR, "GUID", 1, UINT64_MAX, "no GUID"},
	{REGISTRY_DISABLED, "NodeGUID", 1, UINT64_MAX, "no GUID"},
	{REGISTRY_DISABLED, "Port", 1, PORT_MAX, "not 1 to 254"},
	{REGISTRY_DRAINED, "NodeGUID", 1, UINT64_MAX, "no GUID"},
	{REGISTRY_DRAINED, "Port", 0, PORT_MAX, "not 0 to 254"},
	{REGISTRY_DRAINED, "Target", 1, UINT64_MAX, "no GUID"},
	{REGISTRY_DRAINED, "TargetPort", 0, PORT_MAX, "not 0 to 254"},
	{REGISTRY_DRAINED, "ByPolicy", 0, 1, "not 0 or 1"},
	{REGISTRY_DRAINED, "Forced", 0, 1, "not 0 or 1"},
	{REGISTRY_DRAINED, "Ending", 0, 1, "not 0 or 1"},
	{REGISTRY_LOST_LINK, "NodeGUID", 1, UINT64_MAX, "no GUID"},
	{REGISTRY_LOST_LINK, "Port", 0, PORT_MAX, "not 0 to 254"},
	{REGISTRY_LOST_LINK, "PeerGUID", 1, UINT64_MAX, "no GUID"},
	{REGISTRY_LOST_LINK, "PeerPort", 0, PORT_MAX, "not 0 to 254"},
	{REGISTRY_PARTITION_OWNER, "P_Key", 1, PKEY_DEFAULT_LIMITED, "not 0x0001 to 0x7fff"},
	{REGISTRY_PARTITION_TEXT, "Size", 1, PARTITION_TEXT_SIZE, "not 1 to 480"},
};

static const char *lid_wrong(const void *record, const char **field)
{
	const struct lid_entry *entry = record;

	*field = "LID";
	if (entry->lid % (1u << entry->lmc))
		return "not a multiple of 2^LMC";
	return entry->lid + (1u << entry->lmc) - 1 > LID_UNICAST_MAX ? "too high for its LMC"
								     : NULL;
}

static const char *mgid_wrong(const uint8_t mgid[GID_SIZE], const char **field)
{
	*field = "MGID";
	return mgid[0] == 0xff ? NULL : "not a multicast GID, which begins with ff";
}

static const char *group_wrong(const void *record, const char **field)
{
	return mgid_wrong(((const struct group_entry *)record)->mgid, field);
}

static const char *member_wrong(const void *record, const char **field)
{
	return mgid_wrong(((const struct member_entry *)record)->mgid, field);
}

/* Text must end with a zero, and only zeros may follow. */
static const char *text_wrong(const uint8_t *text, size_t size)
{
	size_t length = strnlen((const char *)text, size);

	for (size_t i = length; i < size; i++)
		if (text[i])
			return "bytes after its end";
	return length == size ? "too long" : NULL;
}

/* Text that weftd itself made printable: JSON cannot have other bytes, so lists would lack the
 * record. */
static const char *printable_wrong(const uint8_t *text, size_t size)
{
	const char *wrong = text_wrong(text, size);
	size_t length = strnlen((const char *)text, size), step;

	for (size_t at = 0; !wrong && at < length; at += step) {
		step = utf8_printable(text + at, length - at);
		if (!step)
			return "unprintable";
	}
	return wrong;
}

static const char *setting_wrong(const void *record, const char **field)
{
	const struct setting_entry *entry = record;
	const char *wrong = text_wrong(entry->name, sizeof(entry->name));

	*field = "Name";
	if (wrong || !entry->name[0])
		return wrong ? wrong : "empty";
	*field = "Value";
	return text_wrong(entry->value, sizeof(entry->value));
}

static const char *partition_wrong(const void *record, const char **field)
{
	const struct partition_entry *entry = record;

	*field = "Name";
	return text_wrong(entry->name, sizeof(entry->name));
}

static const char *partition_owner_wrong(const void *record, const char **field)
{
	const struct partition_owner_entry *entry = record;
	const char *wrong = text_wrong(entry->owner, sizeof(entry->owner));

	*field = "Owner";
	return wrong || entry->owner[0] ? wrong : "empty";
}

static const char *drained_wrong(const void *record, const char **field)
{
	const struct drained_entry *entry = record;
	const char *wrong = printable_wrong(entry->name, sizeof(entry->name));

	*field = "Name";
	if (wrong)
		return wrong;
	*field = "Port";
	if (!entry->port && (entry->of_port || entry->ending || entry->node_guid != entry->of))
		return "0, and the record is not of a whole node";
	*field = "Reason";
	return printable_wrong(entry->reason, sizeof(entry->reason));
}

static const char *lost_link_wrong(const void *record, const char **field)
{
	const struct lost_link_entry *entry = record;
	const char *wrong = printable_wrong(entry->name, sizeof(entry->name));

	*field = "Name";
	if (wrong)
		return wrong;
	*field = "PeerName";
	return printable_wrong(entry->peer_name, sizeof(entry->peer_name));
}

static const char *(*const more[REGISTRY_KINDS])(const void *record, const char **field) = {
	[REGISTRY_LID] = lid_wrong,
	[REGISTRY_GROUP] = group_wrong,
	[REGISTRY_MEMBER] = member_wrong,
	[REGISTRY_SETTING] = setting_wrong,
	[REGISTRY_PARTITION] = partition_wrong,
	[REGISTRY_PARTITION_OWNER] = partition_owner_wrong,
	[REGISTRY_DRAINED] = drained_wrong,
	[REGISTRY_LOST_LINK] = lost_link_wrong,
};

static size_t format_row_of(const struct format *format, const char *name)
{
	size_t row = 0;

	while (row < format->count && strcmp(format->fields[row].name, name) != 0)
		row++;
	return row;
}

const char *registry_check(enum registry_kind kind, const void *record, const char **field)
{
	const struct format *format = registry_tables[kind].format;

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		uint64_t value;

		if (ranges[i].kind != kind)
			continue;
		value = format_get(format, format_row_of(format, ranges[i].field), record);
		if (value < ranges[i].min || value > ranges[i].max) {
			*field = ranges[i].field;
			return ranges[i].wrong;
		}
	}
	return more[kind] ? more[kind](record, field) : NULL;
}

enum registry_kind registry_kind_of(const char *name)
{
	for (unsigned kind = REGISTRY_LID; kind < REGISTRY_KINDS; kind++)
		if (!strcmp(registry_tables[kind].name, name))
			return kind;
	return 0;
}

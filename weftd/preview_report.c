/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A row for each attribute says which modifier bits have the port, and how its data become changed
 * values. Attributes of numbers are compared member by member (mad/field.h), tables entry by entry.
 */
#include "weftd/preview_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "include/iba.h"
#include "lib/guid.h"
#include "lib/map.h"
#include "lib/mem.h"
#include "mad/attr.h"
#include "mad/mad.h"

enum { VALUE_SIZE = 32, MEMBER_SIZE = 48, MEMBERS_MAX = 96, ATTRIBUTES_MAX = 16 };
static const char hidden[] = "(hidden)", absent[] = "-";

struct count {
	const char *attribute, *member;
	unsigned count, unchanged;
};

struct table_counts {
	unsigned entries, blocks, switches;
	struct map seen; /* PortGUID of the switches */
};

struct report {
	json_t *changes; /* NULL: no list */
	json_t *bounced;
	struct count members[MEMBERS_MAX], attributes[ATTRIBUTES_MAX];
	size_t num_members, num_attributes;
	unsigned sets, unchanged, reregistrations;
	unsigned lids_assigned, lids_changed, m_keys;
	struct table_counts lft, mft;
	struct map p_keys; /* (PortGUID, port) to the number of its changed entries */
	struct map moved;  /* (hash of port and P_Key): entries added less those removed */
	unsigned p_key_ports;
};

struct attribute {
	uint16_t attr_id;
	/* Of a switch: the port is attr_mod >> port_shift & 0xff. -1: the attribute has no port. */
	int port_shift;
	const struct format *format;
	void (*compare)(struct report *report, const struct attribute *attribute,
			const struct preview_record *record);
};

static unsigned port_of(const struct attribute *attribute, const struct preview_record *record)
{
	if (record->target->type != NODE_SWITCH || attribute->port_shift < 0)
		return record->target->port;
	return record->attr_mod >> attribute->port_shift & 0xFF;
}

static struct count *count_of(struct count *counts, size_t *num, size_t most, const char *attribute,
			      const char *member)
{
	size_t i = 0;

	while (i < *num && (strcmp(counts[i].attribute, attribute) != 0 ||
			    (member && strcmp(counts[i].member, member) != 0)))
		i++;
	if (i == *num && *num < most)
		counts[(*num)++] = (struct count){attribute, member, 0, 0};
	return &counts[i < most ? i : most - 1];
}

static void add_change(struct report *report, const struct attribute *attribute,
		       const struct preview_record *record, const char *member, const char *before,
		       const char *after)
{
	const struct preview_target *target = record->target;
	char guid[GUID_TEXT];

	if (!report->changes)
		return;
	json_array_append_new(report->changes, json_pack("{s:s,s:s,s:i,s:s,s:s,s:s,s:s}", "node",
							 target->description, "guid",
							 guid_text(target->node_guid, guid), "port",
							 port_of(attribute, record), "attribute",
							 attribute->format->name, "member", member,
							 "before", before, "after", after));
}

static void count_lid(struct report *report, uint64_t before, uint64_t after)
{
	report->lids_assigned += before == LID_NONE && after != LID_NONE;
	report->lids_changed += before != LID_NONE && after != before;
}

static void value_text(const struct format *format, size_t i, const void *from, char *text)
{
	static const char *const states[] = {"no change", "Down", "Init", "Armed", "Active"};
	uint64_t value = format_get(format, i, from);
	const char *name = format->fields[i].name;

	if (!strcmp(name, "PortState") && value < ARRAY_SIZE(states))
		snprintf(text, VALUE_SIZE, "%s", states[value]);
	else if (format->fields[i].width >= 32)
		snprintf(text, VALUE_SIZE, "0x%0*" PRIx64, format->fields[i].width / 4, value);
	else
		snprintf(text, VALUE_SIZE, "%" PRIu64, value);
}

static void compare_members(struct report *report, const struct attribute *attribute,
			    const struct preview_record *record)
{
	const struct format *format = attribute->format;
	union {
		struct port_info port;
		struct switch_info sw;
		struct sl_to_vl_table sl_to_vl;
		struct vl_arbitration_table vl_arbitration;
		struct ext_port_info ext;
	} before, after;

	attr_decode(format, record->before, &before);
	attr_decode(format, record->after, &after);
	for (size_t i = 0; i < format->count; i++) {
		const struct field *field = &format->fields[i];
		char was[VALUE_SIZE], is[VALUE_SIZE];
		bool is_key = !strcmp(field->name, "M_Key");

		if (field->kind != FIELD_UINT || field_equal(field, &before, &after))
			continue;
		count_of(report->members, &report->num_members, MEMBERS_MAX, format->name,
			 field->name)
			->count++;
		if (attribute->attr_id == ATTR_PORT_INFO && !strcmp(field->name, "LID"))
			count_lid(report, before.port.lid, after.port.lid);
		report->m_keys += is_key;
		value_text(format, i, &before, was);
		value_text(format, i, &after, is);
		add_change(report, attribute, record, field->name, is_key ? hidden : was,
			   is_key ? hidden : is);
	}
}

static void report_count_block(struct table_counts *counts, const struct preview_record *record,
			       unsigned entries)
{
	counts->entries += entries;
	counts->blocks += entries > 0;
	if (entries && !map_put(&counts->seen, record->target->port_guid, counts))
		counts->switches++;
}

static const char *lft_value(uint8_t port, char text[VALUE_SIZE])
{
	if (port == LFT_NO_PORT)
		return absent;
	snprintf(text, VALUE_SIZE, "%u", port);
	return text;
}

static void compare_lft(struct report *report, const struct attribute *attribute,
			const struct preview_record *record)
{
	unsigned entries = 0;

	for (unsigned i = 0; i < LFT_BLOCK_LIDS; i++) {
		char member[MEMBER_SIZE], was[VALUE_SIZE], is[VALUE_SIZE];

		if (record->before[i] == record->after[i])
			continue;
		entries++;
		snprintf(member, sizeof(member), "LID %u", record->attr_mod * LFT_BLOCK_LIDS + i);
		add_change(report, attribute, record, member, lft_value(record->before[i], was),
			   lft_value(record->after[i], is));
	}
	report_count_block(&report->lft, record, entries);
}

/* The first port of the mask stands in the member's name. */
static void compare_mft(struct report *report, const struct attribute *attribute,
			const struct preview_record *record)
{
	enum { BLOCK_MASK = 0x1FF, POSITION_SHIFT = 28 };
	struct multicast_forwarding_table before, after;
	unsigned entries = 0, position = record->attr_mod >> POSITION_SHIFT;

	attr_decode(attribute->format, record->before, &before);
	attr_decode(attribute->format, record->after, &after);
	for (unsigned i = 0; i < MFT_BLOCK_LIDS; i++) {
		char member[MEMBER_SIZE], was[VALUE_SIZE], is[VALUE_SIZE];

		if (before.port_mask[i] == after.port_mask[i])
			continue;
		entries++;
		snprintf(member, sizeof(member), "MLID 0x%04x, ports %u-%u",
			 LID_MULTICAST_MIN + (record->attr_mod & BLOCK_MASK) * MFT_BLOCK_LIDS + i,
			 position * MFT_POSITION_PORTS,
			 position * MFT_POSITION_PORTS + MFT_POSITION_PORTS - 1);
		snprintf(was, sizeof(was), "0x%04x", before.port_mask[i]);
		snprintf(is, sizeof(is), "0x%04x", after.port_mask[i]);
		add_change(report, attribute, record, member, was, is);
	}
	report_count_block(&report->mft, record, entries);
}

/* A P_Key that only moves to another entry is neither added nor removed. */
static void count_p_key(struct report *report, uint64_t port, pkey_t p_key, int more)
{
	if (p_key)
		map_count(&report->moved, (port * 0x9E3779B97F4A7C15 & ~UINT64_C(0xFFFF)) | p_key,
			  more);
}

static const char *p_key_value(pkey_t p_key, char text[VALUE_SIZE])
{
	if (!p_key)
		return absent;
	snprintf(text, VALUE_SIZE, "0x%04x", p_key);
	return text;
}

static void compare_p_keys(struct report *report, const struct attribute *attribute,
			   const struct preview_record *record)
{
	struct p_key_table before, after;
	unsigned block = record->attr_mod & 0xFFFF;
	uint64_t port = record->target->port_guid * 256 + port_of(attribute, record);

	attr_decode(attribute->format, record->before, &before);
	attr_decode(attribute->format, record->after, &after);
	for (unsigned i = 0; i < PKEY_BLOCK_KEYS; i++) {
		char member[MEMBER_SIZE], was[VALUE_SIZE], is[VALUE_SIZE];

		if (before.p_key[i] == after.p_key[i])
			continue;
		report->p_key_ports += !map_counted(&report->p_keys, port);
		map_count(&report->p_keys, port, 1);
		count_p_key(report, port, before.p_key[i], -1);
		count_p_key(report, port, after.p_key[i], 1);
		snprintf(member, sizeof(member), "P_Key %u", block * PKEY_BLOCK_KEYS + i);
		add_change(report, attribute, record, member, p_key_value(before.p_key[i], was),
			   p_key_value(after.p_key[i], is));
	}
}

static void report_compare_guids(struct report *report, const struct attribute *attribute,
				 const struct preview_record *record)
{
	struct guid_info before, after;

	attr_decode(attribute->format, record->before, &before);
	attr_decode(attribute->format, record->after, &after);
	for (unsigned i = 0; i < GUID_BLOCK_GUIDS; i++) {
		char member[MEMBER_SIZE], was[GUID_TEXT], is[GUID_TEXT];

		if (before.guid[i] == after.guid[i])
			continue;
		count_of(report->members, &report->num_members, MEMBERS_MAX,
			 attribute->format->name, "GUID")
			->count++;
		snprintf(member, sizeof(member), "GUID %u",
			 record->attr_mod * GUID_BLOCK_GUIDS + i);
		add_change(report, attribute, record, member, guid_text(before.guid[i], was),
			   guid_text(after.guid[i], is));
	}
}

static const struct attribute attributes[] = {
	{ATTR_PORT_INFO, 0, &port_info_format, compare_members},
	{ATTR_SWITCH_INFO, -1, &switch_info_format, compare_members},
	{ATTR_GUID_INFO, -1, &guid_info_format, report_compare_guids},
	{ATTR_PKEY_TABLE, 16, &p_key_table_format, compare_p_keys},
	{ATTR_SL_TO_VL, 8, &sl_to_vl_table_format, compare_members},
	{ATTR_VL_ARBITRATION, 0, &vl_arbitration_table_format, compare_members},
	{ATTR_LINEAR_FORWARDING_TABLE, -1, &linear_forwarding_table_format, compare_lft},
	{ATTR_MULTICAST_FORWARDING_TABLE, -1, &multicast_forwarding_table_format, compare_mft},
	{ATTR_MLNX_EXT_PORT_INFO, 0, &ext_port_info_format, compare_members},
};

static void add_bounce(struct report *report, const struct attribute *attribute,
		       const struct preview_record *record)
{
	char guid[GUID_TEXT];

	if (record->bounces)
		json_array_append_new(report->bounced,
				      json_pack("{s:s,s:s,s:i}", "node",
						record->target->description, "guid",
						guid_text(record->target->node_guid, guid), "port",
						port_of(attribute, record)));
}

static void add_record(void *ctx, const struct preview_record *record)
{
	struct report *report = ctx;
	struct count *count;

	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
		const struct attribute *attribute = &attributes[i];

		if (attribute->attr_id != record->attr_id)
			continue;
		count = count_of(report->attributes, &report->num_attributes, ATTRIBUTES_MAX,
				 attribute->format->name, NULL);
		count->count += record->sets;
		count->unchanged += record->unchanged;
		report->sets += record->sets;
		report->unchanged += record->unchanged;
		report->reregistrations += record->reregistrations > 0;
		add_bounce(report, attribute, record);
		attribute->compare(report, attribute, record);
	}
}

static json_t *members_json(const struct report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->num_members; i++)
		json_array_append_new(array, json_pack("{s:s,s:s,s:i}", "attribute",
						       report->members[i].attribute, "member",
						       report->members[i].member, "count",
						       report->members[i].count));
	return array;
}

static json_t *sets_json(const struct report *report, const struct preview_counts *counts)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->num_attributes; i++)
		json_array_append_new(array, json_pack("{s:s,s:i,s:i}", "attribute",
						       report->attributes[i].attribute, "sets",
						       report->attributes[i].count, "unchanged",
						       report->attributes[i].unchanged));
	return json_pack("{s:i,s:i,s:I,s:o}", "changing", report->sets - report->unchanged,
			 "unchanged", report->unchanged, "refused", (json_int_t)counts->refused,
			 "attributes", array);
}

static json_t *table_json(const struct table_counts *counts)
{
	return json_pack("{s:i,s:i,s:i}", "entries", counts->entries, "blocks", counts->blocks,
			 "switches", counts->switches);
}

static json_t *p_keys_json(const struct report *report)
{
	json_int_t added = 0, removed = 0;
	size_t position = 0;
	void *value;

	while ((value = map_next(&report->moved, &position))) {
		json_int_t more = (json_int_t)(intptr_t)value;

		added += more > 0 ? more : 0;
		removed -= more < 0 ? more : 0;
	}
	return json_pack("{s:i,s:I,s:I}", "ports", report->p_key_ports, "added", added, "removed",
			 removed);
}

static void count_nodes(const struct preview *preview, unsigned *switches, unsigned *others)
{
	struct preview_target *const *targets;
	size_t count = preview_targets(preview, &targets);
	struct map seen = {0};

	*switches = *others = 0;
	for (size_t i = 0; i < count; i++) {
		if (map_put(&seen, targets[i]->node_guid, targets[i]))
			continue;
		++*(targets[i]->type == NODE_SWITCH ? switches : others);
	}
	map_done(&seen);
}

json_t *preview_report(const struct preview *preview, bool list)
{
	struct report report = {.changes = list ? json_array() : NULL, .bounced = json_array()};
	struct preview_target *const *targets;
	unsigned switches, adapters;
	unsigned ends = (unsigned)preview_targets(preview, &targets);
	json_t *result;

	preview_each(preview, add_record, &report);
	count_nodes(preview, &switches, &adapters);
	result = json_pack(
		"{s:i,s:i,s:o,s:{s:i,s:i,s:i},s:o,s:o,s:o,s:o,s:i,s:i,s:o}", "switches", switches,
		"adapters", adapters, "sets", sets_json(&report, preview_counts(preview)), "lids",
		"kept", ends - report.lids_assigned - report.lids_changed, "changed",
		report.lids_changed, "assigned", report.lids_assigned, "lft",
		table_json(&report.lft), "multicast", table_json(&report.mft), "p_keys",
		p_keys_json(&report), "members", members_json(&report), "m_keys", report.m_keys,
		"reregistrations", report.reregistrations, "bounced", report.bounced);
	if (report.changes)
		json_object_set_new(result, "changes", report.changes);
	map_done(&report.lft.seen);
	map_done(&report.mft.seen);
	map_done(&report.p_keys);
	map_done(&report.moved);
	return result;
}

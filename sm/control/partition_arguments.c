/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The arguments of the partition commands. A request is refused as a whole before anything
 * changes. Names of ports are resolved once, here: the registry has GUIDs only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/partition_option.h"
#include "lib/mem.h"
#include "lib/suggest.h"
#include "sm/control/partition.h"

enum {
	MEMBERS_MAX = 131072,
	MTU_2048 = 4,
	RATE_10 = 3,
	SCOPE_LINK_LOCAL = 2,
};

/* P_Keys and names */

/* 0xffff is the default partition for many tools. */
static bool read_p_key(const char *text, pkey_t *out)
{
	if (text && !strcasecmp(text, "0xffff")) {
		*out = PKEY_DEFAULT_LIMITED;
		return true;
	}
	return text && partition_key_parse(text, out);
}

bool p_key_argument(struct control_request *request, const json_t *args, pkey_t *out)
{
	const char *text = json_string_value(json_object_get(args, "p_key"));

	if (read_p_key(text, out))
		return true;
	control_fail(request,
		     "\"%.64s\" is not a P_Key: 0x0001 to 0x7fff (the membership bit does not "
		     "count); the default partition is 0x7fff",
		     text ? text : "");
	return false;
}

/* Walks through the names of the partitions of the file, then of those of commands. */
struct partition_names {
	const struct sm *sm;
	uint32_t in_file;
	struct registry_cursor cursor;
};

static void names_begin(struct partition_names *names, const struct sm *sm)
{
	*names = (struct partition_names){.sm = sm};
	registry_walk(sm->registry, REGISTRY_PARTITION, -1, NULL, &names->cursor);
}

static const char *names_next(struct partition_names *names, pkey_t *p_key)
{
	const struct policy *policy = &names->sm->policy;
	const struct partitions *file = policy->file ? policy->file->partitions : NULL;
	const struct partition_entry *entry;

	while (file && names->in_file < file->count) {
		const struct partition *partition = &file->partitions[names->in_file++];

		*p_key = partition->p_key;
		if (partition->name[0])
			return partition->name;
	}
	while ((entry = registry_walk_next(&names->cursor))) {
		const struct partition *in_file = policy_in_file(policy, entry->p_key);

		*p_key = entry->p_key;
		if (entry->name[0] && !(in_file && in_file->name[0]))
			return (const char *)entry->name;
	}
	return NULL;
}

static void refuse_partition(const struct sm *sm, struct control_request *request, const char *text)
{
	struct suggest suggest = suggest_for(text);
	struct partition_names names;
	const char *name;
	pkey_t p_key;

	/* The names live until the next change of the file or the registry. */
	names_begin(&names, sm);
	while ((name = names_next(&names, &p_key)))
		suggest_try(&suggest, name);
	registry_walk_end(&names.cursor);
	if (suggest.best)
		control_fail(request, "there is no partition \"%.64s\"; did you mean \"%.64s\"?",
			     text, suggest.best);
	else
		control_fail(request,
			     "there is no partition \"%.64s\": expected a P_Key, 0x0001 to 0x7fff, "
			     "or a name; weftctl partition list shows them",
			     text);
}

/* How many partitions have this name; *out: the last. */
static unsigned find_partition(const struct sm *sm, const char *text, pkey_t *out)
{
	struct partition_names names;
	const char *name;
	unsigned count = 0;
	pkey_t p_key;

	names_begin(&names, sm);
	while ((name = names_next(&names, &p_key)))
		if (!strcmp(name, text)) {
			count++;
			*out = p_key;
		}
	registry_walk_end(&names.cursor);
	if (!count && !strcmp(text, "Default")) {
		*out = PKEY_DEFAULT_LIMITED;
		count++;
	}
	return count;
}

static bool partition_exists(const struct sm *sm, pkey_t p_key)
{
	return p_key == PKEY_DEFAULT_LIMITED || policy_in_file(&sm->policy, p_key) ||
	       policy_at_run_time(&sm->policy, p_key);
}

bool partition_is_absent(const struct sm *sm, const json_t *args, pkey_t *out)
{
	return read_p_key(json_string_value(json_object_get(args, "p_key")), out) &&
	       !partition_exists(sm, *out);
}

bool partition_argument(const struct sm *sm, struct control_request *request, const json_t *args,
			pkey_t *out)
{
	const char *text = json_string_value(json_object_get(args, "p_key"));
	unsigned count;

	if (read_p_key(text, out)) {
		if (partition_exists(sm, *out))
			return true;
		control_fail(request, "no partition 0x%04x: add it with weftctl partition add",
			     *out);
		return false;
	}
	count = text ? find_partition(sm, text, out) : 0;
	if (count > 1)
		control_fail(
			request,
			"%u partitions have the name \"%.64s\": use a P_Key; weftctl partition "
			"list shows them",
			count, text);
	else if (!count)
		refuse_partition(sm, request, text ? text : "");
	return count == 1;
}

bool partition_name_is_taken(const struct sm *sm, const char *name, pkey_t p_key, pkey_t *other)
{
	return *name && find_partition(sm, name, other) && *other != p_key;
}

bool partition_name_argument(const struct sm *sm, struct control_request *request,
			     const json_t *args, struct partition_entry *entry)
{
	const char *name = json_string_value(json_object_get(args, "name"));
	pkey_t other = entry->p_key;

	if (!name)
		return true;
	if (strlen(name) >= sizeof(entry->name)) {
		control_fail(request, "a name has at most %zu bytes", sizeof(entry->name) - 1);
		return false;
	}
	if (partition_name_is_taken(sm, name, entry->p_key, &other)) {
		control_fail(request, "partition 0x%04x has the name \"%.64s\" already", other,
			     name);
		return false;
	}
	memset(entry->name, 0, sizeof(entry->name));
	memcpy(entry->name, name, strlen(name));
	return true;
}

/* Options of a partition */

/* A number, or its text. */
static bool number_argument(const json_t *value, uint64_t *out)
{
	const char *text = json_string_value(value);

	if (json_is_integer(value)) {
		*out = (uint64_t)json_integer_value(value);
		return true;
	}
	return text && partition_option_number(text, out);
}

/* The members of a record for the options of formats/partition_option.h, and their values without
 * an option. */
static const struct option_place {
	const char *name;
	size_t offset, size;
	uint32_t preset;
} option_places[] = {
#define PLACE(member) \
	offsetof(struct partition_entry, member), sizeof(((struct partition_entry *)0)->member)
	{"mtu", PLACE(mtu), MTU_2048},
	{"rate", PLACE(rate), RATE_10},
	{"scope", PLACE(scope), SCOPE_LINK_LOCAL},
	{"q_key", PLACE(q_key), 0},
	{"tclass", PLACE(tclass), 0},
	{"flow_label", PLACE(flow_label), 0},
#undef PLACE
};

static void set_option(struct partition_entry *entry, const struct option_place *option,
		       uint32_t value)
{
	if (option->size == sizeof(uint8_t))
		*((uint8_t *)entry + option->offset) = (uint8_t)value;
	else
		*(uint32_t *)((char *)entry + option->offset) = value;
}

struct partition_entry partition_entry_presets(pkey_t p_key)
{
	struct partition_entry entry = {.p_key = p_key};

	for (size_t i = 0; i < ARRAY_SIZE(option_places); i++)
		set_option(&entry, &option_places[i], option_places[i].preset);
	return entry;
}

bool partition_entry_is_same(const struct partition_entry *a, const struct partition_entry *b)
{
	return a->ipoib == b->ipoib && a->index0 == b->index0 && a->mtu == b->mtu &&
	       a->rate == b->rate && a->sl == b->sl && a->scope == b->scope &&
	       a->tclass == b->tclass && a->q_key == b->q_key && a->flow_label == b->flow_label &&
	       !strcmp((const char *)a->name, (const char *)b->name);
}

bool partition_options_argument(struct control_request *request, const json_t *args,
				struct partition_entry *entry)
{
	static const struct {
		const char *on, *off;
		size_t offset;
	} flags[] = {
		{"ipoib", "no-ipoib", offsetof(struct partition_entry, ipoib)},
		{"indx0", "no-indx0", offsetof(struct partition_entry, index0)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(option_places); i++) {
		const struct partition_option *option =
			partition_option_named(option_places[i].name);
		const json_t *given = json_object_get(args, option->name);
		uint64_t number;
		uint32_t value;

		if (!given)
			continue;
		if (!number_argument(given, &number) ||
		    !partition_option_value(option, number, &value)) {
			control_fail(request, "%s is a number from %u to %u%s", option->name,
				     option->least, option->most, option->meaning);
			return false;
		}
		set_option(entry, &option_places[i], value);
	}
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		bool on = json_is_true(json_object_get(args, flags[i].on));
		bool off = json_is_true(json_object_get(args, flags[i].off));

		if (on && off) {
			control_fail(request, "expected one of --%s and --%s", flags[i].on,
				     flags[i].off);
			return false;
		}
		if (on || off)
			*((uint8_t *)entry + flags[i].offset) = on;
	}
	return true;
}

/* Members */

static bool membership_argument(struct control_request *request, const json_t *args, uint8_t *out)
{
	bool full = json_is_true(json_object_get(args, "full"));
	bool limited = json_is_true(json_object_get(args, "limited"));
	bool both = json_is_true(json_object_get(args, "both"));

	if (full + limited + both > 1) {
		control_fail(request, "expected one of --full, --limited and --both");
		return false;
	}
	*out = both ? MEMBERSHIP_BOTH : limited ? MEMBERSHIP_LIMITED : MEMBERSHIP_FULL;
	return true;
}

/* The ports by GUID, once each, with the last membership; usual: the membership of a port whose
 * text has none. */
static struct named_port *each_once(const struct port_names *names, uint8_t usual, size_t *count)
{
	const struct named_port *found = port_names_found(names, count);
	struct named_port *ports = mem_array(*count, sizeof(*ports));
	struct map places = {0};
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++) {
		size_t place = map_counted(&places, found[i].guid);

		if (!place) {
			place = ++kept;
			map_put(&places, found[i].guid, (void *)(uintptr_t)place);
		}
		ports[place - 1] = found[i];
		if (!found[i].membership)
			ports[place - 1].membership = usual;
	}
	map_done(&places);
	*count = kept;
	return ports;
}

static bool take_members(struct control_request *request, struct port_names *names,
			 const json_t *value)
{
	const char *text = json_string_value(value);
	const json_t *each;
	size_t i;

	json_array_foreach (value, i, each)
		if (!take_members(request, names, each))
			return false;
	if (json_is_array(value) || !value)
		return true;
	if (text && port_names_take(names, text))
		return true;
	control_fail(request, "%s; nothing was changed",
		     text ? port_names_error(names) : "a member is not a text");
	return false;
}

struct named_port *members_argument(const struct sm *sm, struct control_request *request,
				    const json_t *args, size_t *count)
{
	struct port_names *names;
	struct named_port *ports = NULL;
	uint8_t usual;
	bool taken;

	if (!membership_argument(request, args, &usual))
		return NULL;
	names = port_names_new(sm->view ? sm->view->topology : NULL, MEMBERS_MAX);
	port_names_set_fabric(names, sm->fabric);
	taken = take_members(request, names, json_object_get(args, "members")) &&
		take_members(request, names, json_object_get(args, "guids"));
	if (taken)
		ports = each_once(names, usual, count);
	port_names_free(names);
	for (size_t i = 0; ports && i < *count; i++) {
		if (ports[i].membership != MEMBERSHIP_BOTH || sm->options.allow_both)
			continue;
		control_fail(request, "membership both needs allow_both_pkeys = true in the "
				      "configuration; nothing was changed");
		free(ports);
		return NULL;
	}
	return ports;
}

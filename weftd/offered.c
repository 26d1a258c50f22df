/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Services and subscriptions for people (registered.h). Both lists are walks of the registry that
 * go on as the client reads. Keys of services are not told, only that there is one.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/guid.h"
#include "lib/mem.h"
#include "sa/record.h"
#include "weftd/registered.h"

enum { ROWS_A_PART = 32 };

struct walk {
	const struct registered *registered;
	struct registry_cursor cursor;
	const char *member; /* of a part: the rows */
	bool noted;
	json_t *(*row)(const struct registered *registered, const void *record);
};

static json_t *gid_json(const uint8_t gid[GID_SIZE])
{
	char text[GID_TEXT];

	return json_string(gid_text(gid, text));
}

/* Whatever somebody registered, as printable ASCII. */
static json_t *name_json(const uint8_t name[SERVICE_NAME_SIZE])
{
	char text[SERVICE_NAME_SIZE + 1];

	memcpy(text, name, SERVICE_NAME_SIZE);
	text[SERVICE_NAME_SIZE] = '\0';
	for (char *at = text; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	return json_string(text);
}

static json_t *service_json(const struct registered *registered, const void *record)
{
	static const uint8_t no_key[SERVICE_KEY_SIZE];
	const struct service_entry *entry = record;
	uint32_t lease = adm_lease(registered->adm, entry);
	char id[GUID_TEXT];
	json_t *row;

	row = json_pack("{s:s,s:o,s:o,s:i,s:b,s:o}", "id", guid_text(entry->service_id, id), "name",
			name_json(entry->name), "gid",
			registered_gid(entry->gid_prefix, entry->gid_guid), "p_key", entry->p_key,
			"has_key", memcmp(entry->key, no_key, sizeof(no_key)) != 0, "lease_s",
			lease == SERVICE_LEASE_NO_END ? json_null() : json_integer(lease));
	registered_put_port(registered, entry->gid_guid, row);
	return row;
}

/* null stands for any. */
static json_t *unless(uint32_t value, uint32_t any)
{
	return value == any ? json_null() : json_integer(value);
}

static json_t *subscription_json(const struct registered *registered, const void *record)
{
	static const uint8_t no_gid[GID_SIZE];
	const struct subscription_entry *entry = record;
	bool by_gid = memcmp(entry->gid, no_gid, GID_SIZE) != 0;
	bool by_lid = !by_gid && entry->lid_begin != INFORM_ANY;
	json_t *row = json_pack(
		"{s:i,s:i,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:b}", "number", entry->number, "qpn",
		(int)entry->qpn, "generic", entry->is_generic, "trap",
		unless(entry->trap_number, INFORM_ANY), "type", unless(entry->type, INFORM_ANY),
		"producer", unless(entry->producer_type, INFORM_ANY_PRODUCER), "of_gid",
		by_gid ? gid_json(entry->gid) : json_null(), "of_lid_begin",
		by_lid ? json_integer(entry->lid_begin) : json_null(), "of_lid_end",
		by_lid ? json_integer(entry->lid_end) : json_null(), "trusted", entry->trusted);

	registered_put_port(registered, entry->subscriber, row);
	return row;
}

static json_t *walk_next(void *source)
{
	struct walk *walk = source;
	json_t *note = registered_note(walk->registered, &walk->noted), *rows;
	const void *record;

	if (note)
		return note;
	rows = json_array();

	while (json_array_size(rows) < ROWS_A_PART && (record = registry_walk_next(&walk->cursor)))
		json_array_append_new(rows, walk->row(walk->registered, record));
	if (json_array_size(rows))
		return json_pack("{s:o}", walk->member, rows);
	json_decref(rows);
	return NULL;
}

static void walk_finish(void *source)
{
	struct walk *walk = source;

	registry_walk_end(&walk->cursor);
	free(walk);
}

static void list(const struct registered *registered, struct control_request *request,
		 enum registry_kind kind, const char *member,
		 json_t *(*row)(const struct registered *registered, const void *record))
{
	struct walk *walk = mem_zalloc(sizeof(*walk));

	walk->registered = registered;
	walk->member = member;
	walk->row = row;
	registry_walk(registered->registry, kind, -1, NULL, &walk->cursor);
	control_stream(request, walk_next, walk_finish, walk);
}

static void command_services(void *ctx, struct control_request *request, const json_t *args)
{
	(void)args;
	list(ctx, request, REGISTRY_SERVICE, "services", service_json);
}

static void command_subscriptions(void *ctx, struct control_request *request, const json_t *args)
{
	(void)args;
	list(ctx, request, REGISTRY_SUBSCRIPTION, "subscriptions", subscription_json);
}

static const struct control_command commands[] = {
	{"service list", command_services, CONTROL_LOOKS},
	{"inform list", command_subscriptions, CONTROL_LOOKS},
};

void offered_commands(struct registered *registered, struct control *control)
{
	control_register(control, commands, ARRAY_SIZE(commands), registered);
}

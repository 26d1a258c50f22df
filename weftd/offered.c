/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Services and subscriptions for people (registered.h). Both lists are walks of the registry that
 * go on as the client reads. Keys of services are not told, only that there is one.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
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

/* Where a port is and what its node is called; of one that is not there, LID 0 and "". */
static void put_port(const struct registered *registered, guid_t guid, json_t *row)
{
	struct endport port = {.lid = LID_NONE};
	char text[sizeof("0x0123456789abcdef")];

	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	registered_find_port(registered, guid, &port);
	json_object_set_new(row, "guid", json_string(text));
	json_object_set_new(row, "lid", json_integer(port.lid));
	json_object_set_new(row, "description",
			    json_string(port.facts ? port.facts->description : ""));
}

static json_t *gid_json(const uint8_t gid[GID_SIZE])
{
	char text[INET6_ADDRSTRLEN];

	return json_string(inet_ntop(AF_INET6, gid, text, sizeof(text)));
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
	uint8_t gid[GID_SIZE];
	char id[sizeof("0x0123456789abcdef")];
	json_t *row;

	be64_store(gid, entry->gid_prefix);
	be64_store(gid + 8, entry->gid_guid);
	snprintf(id, sizeof(id), "0x%016" PRIx64, entry->service_id);
	row = json_pack("{s:s,s:o,s:o,s:i,s:b,s:o}", "id", id, "name", name_json(entry->name),
			"gid", gid_json(gid), "p_key", entry->p_key, "has_key",
			memcmp(entry->key, no_key, sizeof(no_key)) != 0, "lease_s",
			lease == SERVICE_LEASE_NO_END ? json_null() : json_integer(lease));
	put_port(registered, entry->gid_guid, row);
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

	put_port(registered, entry->subscriber, row);
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
	{"service list", command_services},
	{"inform list", command_subscriptions},
};

void offered_commands(struct registered *registered, struct control *control)
{
	control_register(control, commands, ARRAY_SIZE(commands), registered);
}

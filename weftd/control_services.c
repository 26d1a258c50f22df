/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands that list services and subscriptions (control_groups.h). The key of a service is
 * never shown, only whether it has a key.
 */
#include <string.h>

#include "lib/guid.h"
#include "sa/record.h"
#include "sm/control/records.h"
#include "weftd/control_groups.h"

/* Prints the registered name, which may have any bytes, as printable ASCII. */
static void service_put_name(const uint8_t name[SERVICE_NAME_SIZE], struct buffer *out)
{
	char text[SERVICE_NAME_SIZE + 1];

	memcpy(text, name, SERVICE_NAME_SIZE);
	text[SERVICE_NAME_SIZE] = '\0';
	for (char *at = text; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	row_string(out, "name", text);
}

/* null means any value. */
static void put_unless(const char *name, bool is_any, uint32_t value, struct buffer *out)
{
	if (is_any)
		row_string(out, name, NULL);
	else
		row_integer(out, name, value);
}

static bool service_row(const void *ctx, const void *record, struct buffer *out)
{
	const struct control_groups *lists = ctx;
	static const uint8_t no_key[SERVICE_KEY_SIZE];
	const struct service_entry *entry = record;
	uint32_t lease = sa_lease(lists->sa, entry);

	row_begin(out, NULL, '{');
	row_guid(out, "id", entry->service_id);
	service_put_name(entry->name, out);
	control_groups_gid(entry->gid_prefix, entry->gid_guid, "gid", out);
	row_integer(out, "p_key", entry->p_key);
	row_boolean(out, "has_key", memcmp(entry->key, no_key, sizeof(no_key)) != 0);
	put_unless("lease_s", lease == SERVICE_LEASE_NO_END, lease, out);
	control_groups_where(lists, entry->gid_guid, out);
	row_end(out, '}');
	return true;
}

static bool subscription_row(const void *ctx, const void *record, struct buffer *out)
{
	const struct control_groups *lists = ctx;
	static const uint8_t no_gid[GID_SIZE];
	const struct subscription_entry *entry = record;
	bool by_gid = memcmp(entry->gid, no_gid, GID_SIZE) != 0;
	bool by_lid = !by_gid && entry->lid_begin != INFORM_ANY;
	char gid[GID_TEXT];

	row_begin(out, NULL, '{');
	row_integer(out, "number", entry->number);
	row_integer(out, "qpn", entry->qpn);
	row_boolean(out, "generic", entry->is_generic);
	put_unless("trap", entry->trap_number == INFORM_ANY, entry->trap_number, out);
	put_unless("type", entry->type == INFORM_ANY, entry->type, out);
	put_unless("producer", entry->producer_type == INFORM_ANY_PRODUCER, entry->producer_type,
		   out);
	row_string(out, "of_gid", by_gid ? gid_text(entry->gid, gid) : NULL);
	put_unless("of_lid_begin", !by_lid, entry->lid_begin, out);
	put_unless("of_lid_end", !by_lid, entry->lid_end, out);
	row_boolean(out, "trusted", entry->trusted);
	control_groups_where(lists, entry->subscriber, out);
	row_end(out, '}');
	return true;
}

static void command_services(void *ctx, struct control_request *request, const json_t *args)
{
	const struct control_groups *lists = ctx;

	(void)args;
	records_stream(lists->sm, request, REGISTRY_SERVICE, "services", service_row, ctx, NULL);
}

static void command_subscriptions(void *ctx, struct control_request *request, const json_t *args)
{
	const struct control_groups *lists = ctx;

	(void)args;
	records_stream(lists->sm, request, REGISTRY_SUBSCRIPTION, "subscriptions", subscription_row,
		       ctx, NULL);
}

static const struct control_command commands[] = {
	{"service list", command_services, CONTROL_LOOKS},
	{"inform list", command_subscriptions, CONTROL_LOOKS},
};

void control_services_commands(struct control_groups *lists, struct control *control)
{
	control_register(control, commands, ARRAY_SIZE(commands), lists);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints the registrations with the SA: groups, members, services, subscriptions, alias GUIDs. */
#include "ctl/handlers.h"

#include <stdlib.h>

#include "ctl/text.h"
#include "lib/mem.h"

const struct column group_columns[] = {
	COLUMN("MLID", "mlid", COLUMN_P_KEY),
	COLUMN("P_KEY", "p_key", COLUMN_P_KEY),
	COLUMN("MTU", "mtu", COLUMN_NUMBER),
	COLUMN_FORMAT("RATE", "{rate_gbps:g} Gb/s", COLUMN_NUMBER),
	COLUMN("SL", "sl", COLUMN_NUMBER, .drop = 1),
	COLUMN("MEMBERS", "members", COLUMN_NUMBER),
	COLUMN_FORMAT("KIND", "{permanent:?permanent|joined}", COLUMN_TEXT, .drop = 2),
	COLUMN("MGID", "mgid", COLUMN_TEXT),
	{.name = NULL},
};

/* "full, non-member, proxy" */
static char *join_state_text(const json_t *member)
{
	char *states = text_filled_list(json_object_get(member, "join_state"), "{}", ", ");
	char *text = mem_printf("%s%s", states, flag_member(member, "proxy") ? ", proxy" : "");

	free(states);
	return text;
}

static char *tree_ports_text(const json_t *sw)
{
	return text_filled_list(json_object_get(sw, "ports"), "{:d}", " ");
}

/* The switches that send to the group, and the ports through which they send. */
static void print_tree(const json_t *data, FILE *out)
{
	static const struct column columns[] = {
		COLUMN("SWITCH", NULL, COLUMN_NODE),
		COLUMN_FROM("PORTS", tree_ports_text, COLUMN_TEXT),
		{.name = NULL},
	};
	const json_t *group = json_object_get(data, "group");

	if (!json_object_get(group, "root")) {
		fputs("\nno switch sends to it\n", out);
		return;
	}
	text_put(out, group, "\ntree below {root:n}");
	if (number_member(group, "unreached"))
		text_put(out, group, ", which does not reach {unreached:d} members");
	fputc('\n', out);
	columns_print(columns, NULL, json_object_get(data, "switches"), out);
}

void print_group(const json_t *data, FILE *out)
{
	static const struct column columns[] = {
		COLUMN("GUID", "guid", COLUMN_TEXT),
		COLUMN("LID", "lid", COLUMN_NUMBER),
		COLUMN_FROM("JOIN-STATE", join_state_text, COLUMN_TEXT),
		COLUMN("NODE", NULL, COLUMN_NODE),
		{.name = NULL},
	};

	text_put(out, json_object_get(data, "group"),
		 "{mgid} MLID {mlid:x4}{permanent:?, permanent}\n"
		 "P_Key {p_key:x4}, Q_Key {q_key:x8}, MTU {mtu:d}, {rate_gbps:g} Gb/s, SL {sl:d}, "
		 "life time {packet_life_time:d}\n"
		 "scope {scope:d}, TClass {tclass:d}, FlowLabel {flow_label:d}, hop limit "
		 "{hop_limit:d}\n");
	columns_print(columns, NULL, json_object_get(data, "members"), out);
	print_tree(data, out);
}

static char *alias_node_text(const json_t *alias)
{
	return mem_strdup(number_member(alias, "lid") ? text_name(alias) : "-");
}

const struct column alias_columns[] = {
	COLUMN("PORT-GUID", "port_guid", COLUMN_TEXT, .drop = 3),
	COLUMN_FROM("NODE", alias_node_text, COLUMN_NODE),
	COLUMN("PORT", "port", COLUMN_NUMBER),
	COLUMN("INDEX", "index", COLUMN_NUMBER, .drop = 1),
	COLUMN("LID", "lid", COLUMN_NUMBER, .drop = 2),
	COLUMN("ALIAS-GUID", "alias_guid", COLUMN_TEXT),
	COLUMN("GRANTED-BY", "granted", COLUMN_TEXT),
	{.name = NULL},
};

#define ALIAS "alias GUID {alias_guid} at index {index:d} of {:n} port {port:d} ({port_guid})"

void print_alias_set(const json_t *data, FILE *out)
{
	text_put(out, data, ALIAS " is set\n");
}

void print_alias_removed(const json_t *data, FILE *out)
{
	text_put(out, data, ALIAS " is removed\n");
}

static char *lease_text(const json_t *service)
{
	bool ends = json_is_integer(json_object_get(service, "lease_s"));

	return text_filled(service, ends ? "{lease_s:d} s" : "no end");
}

const struct column service_columns[] = {
	COLUMN("ID", "id", COLUMN_TEXT),
	COLUMN("LID", "lid", COLUMN_NUMBER),
	COLUMN("P_KEY", "p_key", COLUMN_P_KEY, .drop = 1),
	COLUMN_FROM("LEASE", lease_text, COLUMN_NUMBER),
	COLUMN("KEY", "has_key", COLUMN_FLAG),
	COLUMN("NODE", NULL, COLUMN_NODE),
	COLUMN("NAME", "name", COLUMN_NAME),
	{.name = NULL},
};

/* The ports whose traps are reported: a GID, LIDs, or all. */
static char *issuer_text(const json_t *subscription)
{
	long long begin = number_member(subscription, "of_lid_begin");

	if (json_is_string(json_object_get(subscription, "of_gid")))
		return text_filled(subscription, "{of_gid}");
	if (!json_is_integer(json_object_get(subscription, "of_lid_begin")))
		return mem_strdup("all");
	return text_filled(subscription, begin == number_member(subscription, "of_lid_end")
						 ? "LID {of_lid_begin:d}"
						 : "LIDs {of_lid_begin:d}-{of_lid_end:d}");
}

const struct column subscription_columns[] = {
	COLUMN("GUID", "guid", COLUMN_TEXT, .drop = 6),
	COLUMN("LID", "lid", COLUMN_NUMBER, .drop = 5),
	COLUMN("QP", "qpn", COLUMN_NUMBER, .drop = 1),
	COLUMN_FORMAT("KIND", "{generic:?generic|vendor}", COLUMN_TEXT, .drop = 4),
	COLUMN_FORMAT("TRAP", "{trap:d|any}", COLUMN_NUMBER),
	COLUMN_FORMAT("TYPE", "{type:d|any}", COLUMN_NUMBER, .drop = 3),
	COLUMN_FROM("ISSUER", issuer_text, COLUMN_TEXT),
	COLUMN_FORMAT("PRODUCER", "{producer:d|any}", COLUMN_NUMBER, .drop = 2),
	COLUMN("TRUSTED", "trusted", COLUMN_FLAG),
	COLUMN("NODE", NULL, COLUMN_NODE),
	{.name = NULL},
};

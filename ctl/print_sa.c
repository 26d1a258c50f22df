/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The tables of what is registered with the SA: groups, their members, services, subscriptions,
 * alias GUIDs. */
#include "ctl/print_sa.h"

#include "ctl/table.h"
#include "ctl/text.h"
#include "lib/mem.h"

static double rate_gbps(const json_t *group)
{
	return json_number_value(json_object_get(group, "rate_gbps"));
}

void print_groups(const json_t *data, FILE *out)
{
	static const struct table_column columns[] = {
		{"MLID", TABLE_LEFT},  {"P_KEY", TABLE_LEFT}, {"MTU", TABLE_RIGHT},
		{"GB/S", TABLE_RIGHT}, {"SL", TABLE_RIGHT},   {"MEMBERS", TABLE_RIGHT},
		{"KIND", TABLE_LEFT},  {"MGID", TABLE_LEFT},
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	const json_t *group;
	size_t i;

	json_array_foreach (data, i, group) {
		table_cell(table, "0x%04llx", number_member(group, "mlid"));
		table_cell(table, "0x%04llx", number_member(group, "p_key"));
		table_cell(table, "%lld", number_member(group, "mtu"));
		table_cell(table, "%g", rate_gbps(group));
		table_cell(table, "%lld", number_member(group, "sl"));
		table_cell(table, "%lld", number_member(group, "members"));
		table_cell(table, "%s", flag_member(group, "permanent") ? "permanent" : "joined");
		table_cell(table, "%s", text_member(group, "mgid"));
	}
	table_print(table, out);
	table_free(table);
}

/* "full, non-member, proxy" */
static void states_cell(struct table *table, const json_t *member)
{
	char text[80] = "";
	size_t used = 0, i;
	const json_t *state;

	json_array_foreach (json_object_get(member, "join_state"), i, state) {
		const char *name = json_string_value(state);

		if (used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? ", " : "", name ? name : "-");
	}
	table_cell(table, "%s%s", text, flag_member(member, "proxy") ? ", proxy" : "");
}

int group_digest(const json_t *request, json_t **data, char error[CTL_ERROR_SIZE])
{
	(void)request;
	(void)error;
	json_object_set(*data, "group", json_array_get(json_object_get(*data, "group"), 0));
	if (!json_object_get(*data, "members")) /* an empty list has no part */
		json_object_set_new(*data, "members", json_array());
	if (!json_object_get(*data, "switches"))
		json_object_set_new(*data, "switches", json_array());
	return 0;
}

/* The switches that send to the group, and by which ports. */
static void print_tree(const json_t *data, FILE *out)
{
	static const struct table_column columns[] = {{"SWITCH", TABLE_NAME},
						      {"PORTS", TABLE_LEFT}};
	const json_t *group = json_object_get(data, "group"), *root, *sw, *port;
	struct table *table;
	size_t i, n;

	root = json_object_get(group, "root");
	if (!root) {
		fputs("\nno switch sends to it\n", out);
		return;
	}
	fprintf(out, "\ntree below %s", text_name(root));
	if (number_member(group, "left_out"))
		fprintf(out, ", which does not reach %lld members",
			number_member(group, "left_out"));
	fputc('\n', out);
	table = table_new(columns, ARRAY_SIZE(columns));
	json_array_foreach (json_object_get(data, "switches"), i, sw) {
		char text[4 * 256] = "";
		size_t length = 0;

		json_array_foreach (json_object_get(sw, "ports"), n, port) {
			if (length + 5 < sizeof(text))
				length += (size_t)snprintf(text + length, sizeof(text) - length,
							   "%s%lld", n ? " " : "",
							   (long long)json_integer_value(port));
		}
		table_cell(table, "%s", text_name(sw));
		table_cell(table, "%s", text);
	}
	table_print(table, out);
	table_free(table);
}

void print_group(const json_t *data, FILE *out)
{
	static const struct table_column columns[] = {
		{"GUID", TABLE_LEFT},
		{"LID", TABLE_RIGHT},
		{"JOINED AS", TABLE_LEFT},
		{"NODE", TABLE_NAME},
	};
	const json_t *group = json_object_get(data, "group"), *member;
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	size_t i;

	fprintf(out, "%s MLID 0x%04llx%s\n", text_member(group, "mgid"),
		number_member(group, "mlid"), flag_member(group, "permanent") ? ", permanent" : "");
	fprintf(out, "P_Key 0x%04llx, Q_Key 0x%08llx, MTU %lld, %g Gb/s, SL %lld, life time %lld\n",
		number_member(group, "p_key"), number_member(group, "q_key"),
		number_member(group, "mtu"), rate_gbps(group), number_member(group, "sl"),
		number_member(group, "packet_life_time"));
	fprintf(out, "scope %lld, TClass %lld, FlowLabel %lld, hop limit %lld\n",
		number_member(group, "scope"), number_member(group, "tclass"),
		number_member(group, "flow_label"), number_member(group, "hop_limit"));
	json_array_foreach (json_object_get(data, "members"), i, member) {
		table_cell(table, "%s", text_member(member, "guid"));
		table_cell(table, "%lld", number_member(member, "lid"));
		states_cell(table, member);
		table_cell(table, "%s", text_name(member));
	}
	table_print(table, out);
	table_free(table);
	print_tree(data, out);
}

void print_aliases(const json_t *data, FILE *out)
{
	static const struct table_column columns[] = {
		{"PORT GUID", TABLE_LEFT},  {"NODE", TABLE_NAME}, {"PORT", TABLE_RIGHT},
		{"INDEX", TABLE_RIGHT},	    {"LID", TABLE_RIGHT}, {"ALIAS GUID", TABLE_LEFT},
		{"GRANTED BY", TABLE_LEFT},
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	const json_t *alias;
	size_t i;

	json_array_foreach (data, i, alias) {
		table_cell(table, "%s", text_member(alias, "port_guid"));
		table_cell(table, "%s", number_member(alias, "lid") ? text_name(alias) : "-");
		table_cell(table, "%lld", number_member(alias, "port"));
		table_cell(table, "%lld", number_member(alias, "index"));
		table_cell(table, "%lld", number_member(alias, "lid"));
		table_cell(table, "%s", text_member(alias, "alias_guid"));
		table_cell(table, "%s", text_member(alias, "granted"));
	}
	table_print(table, out);
	table_free(table);
}

static void print_alias(const json_t *data, const char *done, FILE *out)
{
	fprintf(out, "alias GUID %s at index %lld of %s port %lld (%s) is %s\n",
		text_member(data, "alias_guid"), number_member(data, "index"), text_name(data),
		number_member(data, "port"), text_member(data, "port_guid"), done);
}

void print_alias_set(const json_t *data, FILE *out)
{
	print_alias(data, "set", out);
}

void print_alias_removed(const json_t *data, FILE *out)
{
	print_alias(data, "removed", out);
}

void print_services(const json_t *data, FILE *out)
{
	static const struct table_column columns[] = {
		{"ID", TABLE_LEFT},	{"LID", TABLE_RIGHT}, {"P_KEY", TABLE_LEFT},
		{"LEASE", TABLE_RIGHT}, {"KEY", TABLE_LEFT},  {"NODE", TABLE_NAME},
		{"NAME", TABLE_NAME},
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	const json_t *service;
	size_t i;

	json_array_foreach (data, i, service) {
		table_cell(table, "%s", text_member(service, "id"));
		table_cell(table, "%lld", number_member(service, "lid"));
		table_cell(table, "0x%04llx", number_member(service, "p_key"));
		if (json_is_integer(json_object_get(service, "lease_s")))
			table_cell(table, "%lld s", number_member(service, "lease_s"));
		else
			table_cell(table, "no end");
		table_cell(table, "%s", flag_member(service, "has_key") ? "yes" : "no");
		table_cell(table, "%s", text_name(service));
		table_cell(table, "%s", text_member(service, "name"));
	}
	table_print(table, out);
	table_free(table);
}

static void any_cell(struct table *table, const json_t *subscription, const char *name)
{
	if (json_is_integer(json_object_get(subscription, name)))
		table_cell(table, "%lld", number_member(subscription, name));
	else
		table_cell(table, "any");
}

/* Of whom: a GID, LIDs, or everybody. */
static void whom_cell(struct table *table, const json_t *subscription)
{
	long long begin = number_member(subscription, "of_lid_begin");
	long long end = number_member(subscription, "of_lid_end");

	if (json_is_string(json_object_get(subscription, "of_gid")))
		table_cell(table, "%s", text_member(subscription, "of_gid"));
	else if (!json_is_integer(json_object_get(subscription, "of_lid_begin")))
		table_cell(table, "all");
	else if (begin == end)
		table_cell(table, "LID %lld", begin);
	else
		table_cell(table, "LIDs %lld-%lld", begin, end);
}

void print_subscriptions(const json_t *data, FILE *out)
{
	static const struct table_column columns[] = {
		{"GUID", TABLE_LEFT}, {"LID", TABLE_RIGHT},	 {"QP", TABLE_RIGHT},
		{"KIND", TABLE_LEFT}, {"TRAP", TABLE_RIGHT},	 {"TYPE", TABLE_RIGHT},
		{"OF", TABLE_LEFT},   {"PRODUCER", TABLE_RIGHT}, {"TRUSTED", TABLE_LEFT},
		{"NODE", TABLE_NAME},
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	const json_t *subscription;
	size_t i;

	json_array_foreach (data, i, subscription) {
		table_cell(table, "%s", text_member(subscription, "guid"));
		table_cell(table, "%lld", number_member(subscription, "lid"));
		table_cell(table, "%lld", number_member(subscription, "qpn"));
		table_cell(table, "%s",
			   flag_member(subscription, "generic") ? "generic" : "vendor");
		any_cell(table, subscription, "trap");
		any_cell(table, subscription, "type");
		whom_cell(table, subscription);
		any_cell(table, subscription, "producer");
		table_cell(table, "%s", flag_member(subscription, "trusted") ? "yes" : "no");
		table_cell(table, "%s", text_name(subscription));
	}
	table_print(table, out);
	table_free(table);
}

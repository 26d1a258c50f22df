/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints the registrations with the SA: groups, members, services, subscriptions, alias GUIDs. */
#include "ctl/handlers.h"

#include "ctl/text.h"
#include "lib/mem.h"

static double rate_gbps(const json_t *group)
{
	return json_number_value(json_object_get(group, "rate_gbps"));
}

static char *rate_text(const json_t *group)
{
	return mem_printf("%g Gb/s", rate_gbps(group));
}

static char *group_kind_text(const json_t *group)
{
	return mem_strdup(flag_member(group, "permanent") ? "permanent" : "joined");
}

const struct column group_columns[] = {
	COLUMN("MLID", "mlid", COLUMN_P_KEY),
	COLUMN("P_KEY", "p_key", COLUMN_P_KEY),
	COLUMN("MTU", "mtu", COLUMN_NUMBER),
	COLUMN_FROM("RATE", rate_text, COLUMN_NUMBER),
	COLUMN("SL", "sl", COLUMN_NUMBER),
	COLUMN("MEMBERS", "members", COLUMN_NUMBER),
	COLUMN_FROM("KIND", group_kind_text, COLUMN_TEXT),
	COLUMN("MGID", "mgid", COLUMN_TEXT),
	{.name = NULL},
};

/* "full, non-member, proxy" */
static char *join_state_text(const json_t *member)
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
	return mem_printf("%s%s", text, flag_member(member, "proxy") ? ", proxy" : "");
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

static char *tree_ports_text(const json_t *sw)
{
	char text[4 * 256] = "";
	const json_t *port;
	size_t length = 0, i;

	json_array_foreach (json_object_get(sw, "ports"), i, port) {
		if (length + 5 < sizeof(text))
			length +=
				(size_t)snprintf(text + length, sizeof(text) - length, "%s%lld",
						 i ? " " : "", (long long)json_integer_value(port));
	}
	return mem_strdup(text);
}

/* The switches that send to the group, and the ports through which they send. */
static void print_tree(const json_t *data, FILE *out)
{
	static const struct column columns[] = {
		COLUMN("SWITCH", NULL, COLUMN_NODE),
		COLUMN_FROM("PORTS", tree_ports_text, COLUMN_TEXT),
		{.name = NULL},
	};
	const json_t *group = json_object_get(data, "group"), *root;

	root = json_object_get(group, "root");
	if (!root) {
		fputs("\nno switch sends to it\n", out);
		return;
	}
	fprintf(out, "\ntree below %s", text_name(root));
	if (number_member(group, "unreached"))
		fprintf(out, ", which does not reach %lld members",
			number_member(group, "unreached"));
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
	const json_t *group = json_object_get(data, "group");

	fprintf(out, "%s MLID 0x%04llx%s\n", text_member(group, "mgid"),
		number_member(group, "mlid"), flag_member(group, "permanent") ? ", permanent" : "");
	fprintf(out, "P_Key 0x%04llx, Q_Key 0x%08llx, MTU %lld, %g Gb/s, SL %lld, life time %lld\n",
		number_member(group, "p_key"), number_member(group, "q_key"),
		number_member(group, "mtu"), rate_gbps(group), number_member(group, "sl"),
		number_member(group, "packet_life_time"));
	fprintf(out, "scope %lld, TClass %lld, FlowLabel %lld, hop limit %lld\n",
		number_member(group, "scope"), number_member(group, "tclass"),
		number_member(group, "flow_label"), number_member(group, "hop_limit"));
	columns_print(columns, NULL, json_object_get(data, "members"), out);
	print_tree(data, out);
}

static char *alias_node_text(const json_t *alias)
{
	return mem_strdup(number_member(alias, "lid") ? text_name(alias) : "-");
}

const struct column alias_columns[] = {
	COLUMN("PORT-GUID", "port_guid", COLUMN_TEXT),
	COLUMN_FROM("NODE", alias_node_text, COLUMN_NODE),
	COLUMN("PORT", "port", COLUMN_NUMBER),
	COLUMN("INDEX", "index", COLUMN_NUMBER),
	COLUMN("LID", "lid", COLUMN_NUMBER),
	COLUMN("ALIAS-GUID", "alias_guid", COLUMN_TEXT),
	COLUMN("GRANTED-BY", "granted", COLUMN_TEXT),
	{.name = NULL},
};

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

static char *lease_text(const json_t *service)
{
	const json_t *lease = json_object_get(service, "lease_s");

	return json_is_integer(lease) ? mem_printf("%lld s", (long long)json_integer_value(lease))
				      : mem_strdup("no end");
}

const struct column service_columns[] = {
	COLUMN("ID", "id", COLUMN_TEXT),	COLUMN("LID", "lid", COLUMN_NUMBER),
	COLUMN("P_KEY", "p_key", COLUMN_P_KEY), COLUMN_FROM("LEASE", lease_text, COLUMN_NUMBER),
	COLUMN("KEY", "has_key", COLUMN_FLAG),	COLUMN("NODE", NULL, COLUMN_NODE),
	COLUMN("NAME", "name", COLUMN_NAME),	{.name = NULL},
};

static char *number_or_any(const json_t *subscription, const char *name)
{
	return json_is_integer(json_object_get(subscription, name))
		       ? mem_printf("%lld", number_member(subscription, name))
		       : mem_strdup("any");
}

static char *trap_text(const json_t *subscription)
{
	return number_or_any(subscription, "trap");
}

static char *type_text(const json_t *subscription)
{
	return number_or_any(subscription, "type");
}

static char *producer_text(const json_t *subscription)
{
	return number_or_any(subscription, "producer");
}

static char *kind_text(const json_t *subscription)
{
	return mem_strdup(flag_member(subscription, "generic") ? "generic" : "vendor");
}

/* The ports whose traps are reported: a GID, LIDs, or all. */
static char *issuer_text(const json_t *subscription)
{
	long long begin = number_member(subscription, "of_lid_begin");
	long long end = number_member(subscription, "of_lid_end");

	if (json_is_string(json_object_get(subscription, "of_gid")))
		return mem_strdup(text_member(subscription, "of_gid"));
	if (!json_is_integer(json_object_get(subscription, "of_lid_begin")))
		return mem_strdup("all");
	if (begin == end)
		return mem_printf("LID %lld", begin);
	return mem_printf("LIDs %lld-%lld", begin, end);
}

const struct column subscription_columns[] = {
	COLUMN("GUID", "guid", COLUMN_TEXT),
	COLUMN("LID", "lid", COLUMN_NUMBER),
	COLUMN("QP", "qpn", COLUMN_NUMBER),
	COLUMN_FROM("KIND", kind_text, COLUMN_TEXT),
	COLUMN_FROM("TRAP", trap_text, COLUMN_NUMBER),
	COLUMN_FROM("TYPE", type_text, COLUMN_NUMBER),
	COLUMN_FROM("ISSUER", issuer_text, COLUMN_TEXT),
	COLUMN_FROM("PRODUCER", producer_text, COLUMN_NUMBER),
	COLUMN("TRUSTED", "trusted", COLUMN_FLAG),
	COLUMN("NODE", NULL, COLUMN_NODE),
	{.name = NULL},
};

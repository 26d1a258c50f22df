/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints nodes and ports. */
#include <string.h>

#include "ctl/handlers.h"
#include "ctl/text.h"
#include "lib/mem.h"

/* The answer has no part for an empty list. */
int node_digest(const json_t *request, json_t **data, char error[CTL_ERROR_SIZE])
{
	(void)request;
	(void)error;
	json_object_set(*data, "node", json_array_get(json_object_get(*data, "node"), 0));
	if (!json_object_get(*data, "ports"))
		json_object_set_new(*data, "ports", json_array());
	return 0;
}

/* The state, and the reason why a port is down. */
static char *state_text(const json_t *port)
{
	bool disabled = flag_member(port, "disabled");
	bool by_others = !disabled && !strcmp(text_member(port, "physical"), "Disabled");

	return mem_printf("%s%s", text_member(port, "state"),
			  disabled    ? " (disabled)"
			  : by_others ? " (disabled by others)"
				      : "");
}

/* The port GUID of an end port, which partitions need; of a switch's port, the GUID of the switch.
 */
static char *guid_text_of(const json_t *port)
{
	return mem_strdup(
		text_member(port, json_object_get(port, "port_guid") ? "port_guid" : "guid"));
}

#define PORT_COLUMNS                                                                              \
	COLUMN("PORT", "port", COLUMN_NUMBER), COLUMN_FROM("STATE", state_text, COLUMN_TEXT),     \
		COLUMN("SPEED", "width_speed", COLUMN_TEXT), COLUMN("MTU", "mtu", COLUMN_NUMBER), \
		COLUMN("LID", "lid", COLUMN_NUMBER), COLUMN("PEER", "peer", COLUMN_NODE),         \
		COLUMN("PEER-PORT", "peer.port", COLUMN_NUMBER)

const struct column port_columns[] = {COLUMN_FROM("GUID", guid_text_of, COLUMN_TEXT),
				      COLUMN("NODE", NULL, COLUMN_NODE),
				      PORT_COLUMNS,
				      {.name = NULL}};

static void print_own_ports(const json_t *ports, FILE *out)
{
	static const struct column columns[] = {
		COLUMN("PORT-GUID", "port_guid", COLUMN_TEXT), PORT_COLUMNS, {.name = NULL}};
	bool have_guids = json_object_get(json_array_get(ports, 0), "port_guid");

	columns_print(have_guids ? columns : columns + 1, NULL, ports, out);
}

void print_node(const json_t *data, FILE *out)
{
	const json_t *node = json_object_get(data, "node");

	fprintf(out, "%s, %s, GUID %s, LID %lld\n", text_name(node), text_member(node, "type"),
		text_member(node, "guid"), number_member(node, "lid"));
	fprintf(out, "SystemImageGUID %s, vendor 0x%06llx, device %lld, revision 0x%llx\n",
		text_member(node, "system_guid"), number_member(node, "vendor"),
		number_member(node, "device"), number_member(node, "revision"));
	if (json_object_get(node, "lft_cap"))
		fprintf(out,
			"LinearFDBCap %lld, LinearFDBTop %lld, MulticastFDBCap %lld, %s port 0\n",
			number_member(node, "lft_cap"), number_member(node, "lft_top"),
			number_member(node, "mft_cap"),
			flag_member(node, "enhanced_port0") ? "enhanced" : "base");
	fputc('\n', out);
	print_own_ports(json_object_get(data, "ports"), out);
}

void print_port(const json_t *data, FILE *out)
{
	static const struct {
		const char *member, *words;
	} numbers[] = {
		{"lid", "LID"},
		{"lmc", "LMC"},
		{"sm_lid", "MasterSMLID"},
		{"mtu", "MTU"},
		{"mtu_cap", "MTUCap"},
		{"vls", "VLs in use"},
		{"vl_cap", "VLCap"},
		{"hoq_life", "HOQLife"},
		{"vl_stall_count", "VLStallCount"},
		{"m_key_violations", "M_Key violations"},
		{"p_key_violations", "P_Key violations"},
		{"q_key_violations", "Q_Key violations"},
	};
	const json_t *peer = json_object_get(data, "peer");

	fprintf(out, "%s port %lld: %s, %s%s\n", text_name(data), number_member(data, "port"),
		text_member(data, "state"), text_member(data, "physical"),
		flag_member(data, "disabled") ? ", disabled by command" : "");
	if (peer)
		fprintf(out, "  %-18s%s port %lld (%s)\n", "leads to", text_name(peer),
			number_member(peer, "port"), text_member(peer, "guid"));
	if (json_object_get(data, "port_guid"))
		fprintf(out, "  %-18s%s\n", "PortGUID", text_member(data, "port_guid"));
	if (json_object_get(data, "width_speed"))
		fprintf(out, "  %-18s%s\n", "speed", text_member(data, "width_speed"));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (json_object_get(data, numbers[i].member))
			fprintf(out, "  %-18s%lld\n", numbers[i].words,
				number_member(data, numbers[i].member));
	if (json_object_get(data, "enforces_in"))
		fprintf(out, "  %-18s%s\n", "enforces P_Keys",
			flag_member(data, "enforces_in")
				? flag_member(data, "enforces_out") ? "in and out" : "in"
			: flag_member(data, "enforces_out") ? "out"
							    : "no");
}

void print_port_change(const json_t *data, FILE *out)
{
	if (flag_member(data, "absent"))
		fputs("the switch is not present; its port will be enabled when the switch is\n",
		      out);
	else if (flag_member(data, "unchanged"))
		fprintf(out, "the port is %s already: nothing was written\n",
			flag_member(data, "disabled") ? "disabled" : "enabled");
	else
		print_sweep(data, out);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints nodes and ports. */
#include <string.h>

#include "ctl/handlers.h"
#include "ctl/text.h"
#include "lib/mem.h"

/* The state, and the reason why a port is down. */
static char *state_text(const json_t *port)
{
	bool disabled = flag_member(port, "disabled"), drained = flag_member(port, "drained");
	bool by_others =
		!disabled && !drained && !strcmp(text_member(port, "physical"), "Disabled");

	return mem_printf("%s%s", text_member(port, "state"),
			  disabled    ? " (disabled)"
			  : drained   ? " (drained)"
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

#define PORT_COLUMNS                                                                          \
	COLUMN("PORT", "port", COLUMN_NUMBER), COLUMN_FROM("STATE", state_text, COLUMN_TEXT), \
		COLUMN("SPEED", "width_speed", COLUMN_TEXT),                                  \
		COLUMN("MTU", "mtu", COLUMN_NUMBER, .drop = 1),                               \
		COLUMN("LID", "lid", COLUMN_NUMBER), COLUMN("PEER", "peer", COLUMN_NODE),     \
		COLUMN("PEER-PORT", "peer.port", COLUMN_NUMBER)

const struct column port_columns[] = {COLUMN_FROM("GUID", guid_text_of, COLUMN_TEXT, .drop = 2),
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

	text_put(out, node,
		 "{:n}, {type}, GUID {guid}, LID {lid:d}\n"
		 "SystemImageGUID {system_guid}, vendor {vendor:x6}, device {device:d}, revision "
		 "{revision:x1}\n");
	if (json_object_get(node, "lft_cap"))
		text_put(out, node,
			 "LinearFDBCap {lft_cap:d}, LinearFDBTop {lft_top:d}, MulticastFDBCap "
			 "{mft_cap:d}, {enhanced_port0:?enhanced|base} port 0\n");
	if (json_is_true(json_object_get(node, "silent")))
		text_put(out, node,
			 "The device does not answer, but has links; weftctl why {:n} has the "
			 "remedy\n");
	fputc('\n', out);
	print_own_ports(json_object_get(data, "ports"), out);
}

void print_port(const json_t *data, FILE *out)
{
	static const struct {
		const char *member, *format;
	} lines[] = {
		{"peer", "leads to          {peer:n} port {peer.port:d} ({peer.guid})"},
		{"port_guid", "PortGUID          {port_guid}"},
		{"width_speed", "speed             {width_speed}"},
		{"lid", "LID               {lid:d}"},
		{"lmc", "LMC               {lmc:d}"},
		{"sm_lid", "MasterSMLID       {sm_lid:d}"},
		{"mtu", "MTU               {mtu:d}"},
		{"mtu_cap", "MTUCap            {mtu_cap:d}"},
		{"vls", "VLs in use        {vls:d}"},
		{"vl_cap", "VLCap             {vl_cap:d}"},
		{"hoq_life", "HOQLife           {hoq_life:d}"},
		{"vl_stall_count", "VLStallCount      {vl_stall_count:d}"},
		{"m_key_violations", "M_Key violations  {m_key_violations:d}"},
		{"p_key_violations", "P_Key violations  {p_key_violations:d}"},
		{"q_key_violations", "Q_Key violations  {q_key_violations:d}"},
	};

	text_put(out, data,
		 "{:n} port {port:d}: {state}, {physical}{disabled:?, disabled by "
		 "command}{drained:?, drained}\n");
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (!json_object_get(data, lines[i].member))
			continue;
		fputs("  ", out);
		text_put(out, data, lines[i].format);
		fputc('\n', out);
	}
	if (json_object_get(data, "enforces_in"))
		fprintf(out, "  %-18s%s\n", "enforces P_Keys",
			flag_member(data, "enforces_in")
				? flag_member(data, "enforces_out") ? "in and out" : "in"
			: flag_member(data, "enforces_out") ? "out"
							    : "no");
}

static void print_changed_port(const json_t *data, FILE *out)
{
	text_put(out, data, "{node} port {port:d}");
	if (json_object_get(data, "peer"))
		text_put(out, data, " (to {peer} port {peer_port:d})");
	text_put(out, data, ": {disabled:?disabled|enabled}");
	if (number_member(data, "ports_lost"))
		text_put(out, data,
			 "; {ports_lost:d} port{ports_lost:#|s} of adapters {ports_lost:#is|are} "
			 "cut off, {pairs_lost:d} pair{pairs_lost:#|s} of ports lost "
			 "{pairs_lost:#its|their} path\n");
	else
		fputs(flag_member(data, "disabled")
			      ? "; no port of an adapter is cut off\n"
			      : "; if a cable is connected, the link comes up within seconds\n",
		      out);
	text_put(out, data, "{summary}\n");
}

void print_port_change(const json_t *data, FILE *out)
{
	if (flag_member(data, "absent"))
		fputs("the switch is not in the fabric; weftd does not disable the port when the "
		      "switch returns\n",
		      out);
	else if (flag_member(data, "unchanged"))
		text_put(
			out, data,
			"{node} port {port:d} is {disabled:?disabled|enabled} already: nothing was "
			"written\n");
	else
		print_changed_port(data, out);
}

static void put_target(const json_t *data, FILE *out)
{
	text_put(out, data, json_object_get(data, "port") ? "{node} port {port:d}" : "{node}");
}

void print_drained(const json_t *data, FILE *out)
{
	long long ports = number_member(data, "ports"), isolated = number_member(data, "isolated");

	put_target(data, out);
	if (flag_member(data, "unchanged")) {
		fputs(" is drained already: nothing was changed\n", out);
		return;
	}
	if (isolated == ports)
		text_put(out, data,
			 ": drained; no route uses it, and {ports:d} port{ports:#|s} "
			 "{ports:#is|are} disabled\n");
	else
		text_put(out, data,
			 ": {isolated:d} of {ports:d} port{ports:#|s} disabled so far; weftd "
			 "continues: see weftctl status\n");
	if (number_member(data, "ports_lost"))
		text_put(out, data,
			 "{ports_lost:d} port{ports_lost:#|s} of other adapters "
			 "{ports_lost:#is|are} "
			 "cut off, {pairs_lost:d} pair{pairs_lost:#|s} of ports lost "
			 "{pairs_lost:#its|their} path\n");
	else
		fputs("no port of another adapter is cut off\n", out);
	if (json_object_get(data, "forced_after_s"))
		text_put(out, data,
			 "by force: weftd waits at most {forced_after_s:d} s for switches to "
			 "acknowledge their tables\n");
	if (json_object_get(data, "not_copied_to"))
		text_put(out, data,
			 "standby {not_copied_to} does not get this drain: undrain before it "
			 "becomes MASTER,\nor set allowed_sm_guids or ha_psk_file on both "
			 "managers (weftctl ha status)\n");
}

void print_undrained(const json_t *data, FILE *out)
{
	if (flag_member(data, "unchanged") && json_object_get(data, "node")) {
		put_target(data, out);
		fputs(" is not drained: nothing was changed\n", out);
	} else if (flag_member(data, "unchanged")) {
		fputs("nothing is drained: nothing was changed\n", out);
	} else {
		text_put_list(out, json_object_get(data, "undrained"), "{}", ", ");
		text_put(out, data,
			 ": no longer drained; {up:d} of {ports:d} link{ports:#|s} up\n");
		if (number_member(data, "up") != number_member(data, "ports"))
			fputs("the other links are used when they come up\n", out);
	}
}

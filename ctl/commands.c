/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The table of commands, and the checks of their arguments. */
#include "ctl/commands.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/handlers.h"
#include "formats/partitions.h"
#include "lib/log.h"

static const char *const sweep_kinds[] = {"light", "full", NULL};
static const char *const top_kinds[] = {"data", "wait", NULL};
static const char *const export_formats[] = {"net", "json", "dot", "slurm", NULL};
static const char *const secret_records[] = {"keys", NULL};
static const char *const shells[] = {"bash", "zsh", NULL};
static const char *const dump_formats[] = {"opensm", NULL};

static bool is_sl(const char *value)
{
	size_t length = strlen(value);

	return length && length <= 2 && strspn(value, "0123456789") == length && atoi(value) <= 15;
}

static bool is_level(const char *value)
{
	const char *const *level = log_level_words;

	while (*level && strcmp(*level, value) != 0)
		level++;
	return *level || !strcmp(value, "default");
}

static bool is_port(const char *value)
{
	size_t length = strlen(value);

	return length && length <= 3 && strspn(value, "0123456789") == length && atoi(value) <= 254;
}

static bool is_external_port(const char *value)
{
	return is_port(value) && atoi(value) >= 1;
}

static bool is_event(const char *value)
{
	size_t length = strlen(value);

	return length && length <= 18 && strspn(value, "0123456789") == length;
}

static bool is_seconds(const char *value)
{
	size_t length = strlen(value);

	return length && length <= 5 && strspn(value, "0123456789") == length && atoi(value) >= 1 &&
	       atoi(value) <= 86400;
}

static bool is_mgid(const char *value)
{
	struct in6_addr gid;

	return inet_pton(AF_INET6, value, &gid) == 1 && gid.s6_addr[0] == 0xff;
}

static bool is_p_key(const char *value)
{
	pkey_t p_key;

	return partition_key_parse(value, &p_key);
}

/* Hexadecimal digits without 0x, or with a membership bit that makes them no partition's. */
static bool meant_p_key(const char *value, char *text, size_t size)
{
	char *end;
	unsigned long number = strtoul(value, &end, 16);
	unsigned p_key = number & PKEY_DEFAULT_LIMITED;

	snprintf(text, size, "0x%04x", p_key);
	return isxdigit((unsigned char)*value) && !*end && number <= UINT16_MAX && p_key;
}

#define P_KEY_ARGUMENT                                                                   \
	{                                                                                \
		.member = "p_key", .label = "PKEY", .good = is_p_key,                    \
		.what = "a P_Key, 0x0001 to 0x7fff (the membership bit does not count)", \
		.meant = meant_p_key                                                     \
	}

#define PORT_ARGUMENT                                                        \
	{                                                                    \
		.member = "port", .label = "PORT", .good = is_external_port, \
		.what = "a port: a number from 1 to 254"                     \
	}

#define ANY_PORT_ARGUMENT(...)                                        \
	{                                                             \
		.member = "port", .label = "PORT", .good = is_port,   \
		.what = "a port: a number from 0 to 254", __VA_ARGS__ \
	}

const struct ctl_command ctl_commands[] = {
	{.words = "status",
	 .print = print_status,
	 .summary = "role, last sweep, counts, routing, peers"},
	{.words = "sweep",
	 .arguments = {{.member = "kind",
			.label = "light|full",
			.choices = sweep_kinds,
			.optional = true}},
	 .print = print_sweep,
	 .summary = "sweep now, wait for the end, say what changed"},
	{.words = "reroute",
	 .print = print_sweep,
	 .summary = "compute routes anew, write what differs, say what changed"},
	{.words = "node list",
	 .list = "nodes",
	 .columns = node_columns,
	 .summary = "switches, adapters and routers"},
	{.words = "node show",
	 .arguments = {{.member = "node", .label = "NODE"}},
	 .document = true,
	 .digest = node_digest,
	 .print = print_node,
	 .summary = "a node and its ports"},
	{.words = "port list",
	 .arguments = {{.member = "node", .label = "NODE", .optional = true}},
	 .list = "ports",
	 .columns = port_columns,
	 .summary = "all ports, or those of a node, and where they lead"},
	{.words = "port show",
	 .arguments = {{.member = "node", .label = "NODE"}, PORT_ARGUMENT},
	 .print = print_port,
	 .summary = "what is known of a port"},
	{.words = "port disable",
	 .arguments = {{.member = "node", .label = "NODE"},
		       PORT_ARGUMENT,
		       {.member = "force", .optional = true, .option = true, .flag = true}},
	 .print = print_port_change,
	 .summary = "take the link of a switch's port down, until it is enabled"},
	{.words = "port enable",
	 .arguments = {{.member = "node", .label = "NODE"}, PORT_ARGUMENT},
	 .print = print_port_change,
	 .summary = "let it come up again"},
	{.words = "link list",
	 .list = "links",
	 .columns = link_columns,
	 .summary = "cables with both ends and state"},
	{.words = "multicast list",
	 .list = "groups",
	 .columns = group_columns,
	 .summary = "multicast groups, with their members' number"},
	{.words = "multicast show",
	 .arguments = {{.member = "mgid",
			.label = "MGID",
			.good = is_mgid,
			.what = "an MGID, such as ff12:401b:ffff::ffff:ffff"}},
	 .document = true,
	 .digest = group_digest,
	 .print = print_group,
	 .summary = "one group, its members and its tree"},
	{.words = "partition list",
	 .list = "partitions",
	 .columns = partition_columns,
	 .summary = "partitions of the file and of run time"},
	{.words = "partition show",
	 .arguments = {P_KEY_ARGUMENT},
	 .document = true,
	 .digest = partition_digest,
	 .print = print_partition,
	 .summary = "one partition, its ports and how it stands with each"},
	{.words = "partition add",
	 .arguments = {P_KEY_ARGUMENT,
		       {.member = "name", .label = "NAME", .optional = true},
		       {.member = "ipoib", .optional = true, .option = true, .flag = true},
		       {.member = "indx0", .optional = true, .option = true, .flag = true},
		       {.member = "mtu", .label = "N", .optional = true, .option = true},
		       {.member = "rate", .label = "N", .optional = true, .option = true},
		       {.member = "scope", .label = "N", .optional = true, .option = true},
		       {.member = "q_key", .label = "N", .optional = true, .option = true}},
	 .print = print_partition_added,
	 .failed = partition_change_failed,
	 .summary = "make a partition, without members yet"},
	{.words = "partition remove",
	 .arguments = {P_KEY_ARGUMENT},
	 .print = print_partition_removed,
	 .failed = partition_change_failed,
	 .summary = "end a partition that was made at run time"},
	{.words = "partition member add",
	 .arguments = {P_KEY_ARGUMENT,
		       {.member = "guids", .label = "GUID", .many = true},
		       {.member = "full", .optional = true, .option = true, .flag = true},
		       {.member = "limited", .optional = true, .option = true, .flag = true},
		       {.member = "both", .optional = true, .option = true, .flag = true}},
	 .print = print_members_changed,
	 .failed = partition_change_failed,
	 .summary = "let ports in, by port GUID; full members unless said otherwise"},
	{.words = "partition member remove",
	 .arguments = {P_KEY_ARGUMENT, {.member = "guids", .label = "GUID", .many = true}},
	 .print = print_members_changed,
	 .failed = partition_change_failed,
	 .summary = "put ports out that were let in at run time"},
	{.words = "partition check",
	 .arguments = {{.member = "file", .label = "FILE"}},
	 .perform = partition_check,
	 .print = print_partition_check,
	 .summary = "what is wrong in a partition file, or what it would change"},
	{.words = "partition accept",
	 .print = print_partitions_accepted,
	 .summary = "after a loss of records, put the remaining partitions in force"},
	{.words = "alias list",
	 .arguments = {{.member = "node", .label = "NODE", .optional = true},
		       ANY_PORT_ARGUMENT(.optional = true, .last = true)},
	 .list = "aliases",
	 .columns = alias_columns,
	 .summary = "alias GUIDs of ports, and how each was granted"},
	{.words = "alias set",
	 .arguments = {{.member = "node", .label = "NODE"},
		       ANY_PORT_ARGUMENT(),
		       {.member = "guid", .label = "GUID"}},
	 .print = print_alias_set,
	 .summary = "give a port an alias GUID, which then counts in partitions"},
	{.words = "alias remove",
	 .arguments = {{.member = "node", .label = "NODE"},
		       ANY_PORT_ARGUMENT(),
		       {.member = "guid", .label = "GUID"}},
	 .print = print_alias_removed,
	 .summary = "take an alias GUID away from a port"},
	{.words = "config show",
	 .list = "options",
	 .columns = option_columns,
	 .summary = "every option with its value, and whether a reload changes it"},
	{.words = "config check",
	 .print = print_would_change,
	 .summary = "what a reload would refuse or change"},
	{.words = "config reload",
	 .print = print_reloaded,
	 .summary = "read configuration and partition file again, as SIGHUP does"},
	{.words = "service list",
	 .list = "services",
	 .columns = service_columns,
	 .summary = "services that ports have registered"},
	{.words = "inform list",
	 .list = "subscriptions",
	 .columns = subscription_columns,
	 .summary = "who has asked to be told of what"},
	{.words = "topology export",
	 .arguments = {{.member = "format",
			.label = "net|json|dot|slurm",
			.choices = export_formats,
			.option = true}},
	 .document = true,
	 .digest = topology_export,
	 .print = print_text,
	 .summary = "what is there, for other programs"},
	{.words = "topology check",
	 .arguments = {{.member = "file", .label = "FILE"}},
	 .ask = "topology export",
	 .document = true,
	 .digest = topology_check,
	 .print = print_differences,
	 .failed = differences_found,
	 .summary = "differences from a planned net file"},
	{.words = "route show",
	 .arguments = {{.member = "src", .label = "SRC"},
		       {.member = "dst", .label = "DST"},
		       {.member = "sl",
			.label = "N",
			.optional = true,
			.option = true,
			.good = is_sl,
			.what = "a service level: a number from 0 to 15"}},
	 .print = print_route,
	 .summary = "every hop from one node to another"},
	{.words = "route check",
	 .print = print_route_check,
	 .failed = route_check_failed,
	 .summary = "what the switches hold: pairs not reached, loops, credit loops"},
	{.words = "route quality",
	 .print = print_route_quality,
	 .summary = "how evenly the routes load the links"},
	{.words = "route plan",
	 .arguments = {{.member = "engine", .label = "NAME", .option = true}},
	 .print = print_route_plan,
	 .summary = "another engine's routes against those of now; changes nothing"},
	{.words = "route engine",
	 .arguments = {{.member = "engines", .label = "NAME[,NAME...]|default"}},
	 .print = print_route_engine,
	 .summary = "take these engines now and from now on, or the configuration's"},
	{.words = "route dump",
	 .arguments =
		 {{.member = "format", .label = "opensm", .choices = dump_formats, .option = true},
		  {.member = "dir", .label = "DIR"}},
	 .sink = &dump_sink,
	 .print = print_dump,
	 .summary = "opensm-subnet.lst, opensm.fdbs, opensm.mcfdbs"},
	{.words = "log level",
	 .arguments = {{.member = "room", .label = "ROOM", .optional = true},
		       {.member = "level",
			.label = "LEVEL",
			.optional = true,
			.good = is_level,
			.what = "a level: emerg, alert, crit, err, warning, notice, info, debug, "
				"or default"}},
	 .rows = "rooms",
	 .columns = log_columns,
	 .summary = "what is logged; with a level what is from now on, of all or of one room"},
	{.words = "events",
	 .arguments = {{.member = "follow", .optional = true, .option = true, .flag = true},
		       {.member = "since",
			.label = "N",
			.optional = true,
			.option = true,
			.good = is_event,
			.what = "the number of an event"}},
	 .list = "events",
	 .each = print_event,
	 .summary = "what happened, or happens: links, nodes, ports, partitions, ..."},
	{.words = "capture",
	 .arguments = {{.member = "file", .label = "FILE|-"},
		       {.member = "seconds",
			.label = "N",
			.optional = true,
			.option = true,
			.good = is_seconds,
			.what = "a time: a number of seconds from 1 to 86400"}},
	 .sink = &capture_sink,
	 .print = print_capture,
	 .summary = "the MADs of weftd, without keys, for Wireshark"},
	{.words = "perf top",
	 .arguments = {{.member = "by",
			.label = "data|wait",
			.choices = top_kinds,
			.optional = true,
			.option = true}},
	 .rows = "ports",
	 .columns = top_columns,
	 .summary = "ports that carry most, or wait most for credits"},
	{.words = "perf errors",
	 .document = true,
	 .digest = errors_digest,
	 .print = print_errors,
	 .summary = "ports that have counted errors, links slower than both ends can"},
	{.words = "perf show",
	 .arguments = {{.member = "node", .label = "NODE"}, ANY_PORT_ARGUMENT()},
	 .print = print_counters,
	 .summary = "a port's counters, read now"},
	{.words = "perf metrics",
	 .sink = &metrics_sink,
	 .print = print_text,
	 .summary = "figures of weftd and the fabric as Prometheus text"},
	{.words = "perf sweep",
	 .print = print_perf_sweep,
	 .summary = "read the counters of all ports now"},
	{.words = "keys status",
	 .print = print_keys,
	 .summary = "how ports are protected by M_Keys, and who used wrong ones"},
	{.words = "keys rotate",
	 .perform = keys_rotate_perform,
	 .print = print_sweep,
	 .summary = "read key and secrets again, give all ports their new keys"},
	{.words = "keys import",
	 .arguments = {{.member = "file", .label = "FILE"}},
	 .perform = keys_import_perform,
	 .print = print_imported,
	 .summary = "M_Keys that OpenSM has given, from its guid2mkey"},
	{.words = "import opensm",
	 .arguments = {{.member = "dir", .label = "DIR", .optional = true},
		       {.member = "cache", .label = "DIR", .optional = true, .option = true},
		       {.member = "to", .label = "DIR", .optional = true, .option = true}},
	 .perform = import_opensm,
	 .print = print_opensm,
	 .summary = "make our files from OpenSM's, and say what has no equivalent"},
	{.words = "ha status",
	 .print = print_ha,
	 .summary = "who follows this manager, or whom it follows, and how far behind"},
	{.words = "ha handover",
	 .arguments = {{.member = "guid", .label = "GUID", .optional = true},
		       {.member = "force", .optional = true, .option = true, .flag = true}},
	 .print = print_handover,
	 .summary = "give the subnet to a standby, the highest or this one"},
	{.words = "ha disable",
	 .arguments = {{.member = "guid", .label = "GUID"}},
	 .print = print_ordered,
	 .summary = "put another manager to rest (NOTACTIVE)"},
	{.words = "ha enable",
	 .arguments = {{.member = "guid", .label = "GUID"}},
	 .print = print_ordered,
	 .summary = "make one that was put to rest a standby again"},
	{.words = "ha discover",
	 .arguments = {{.member = "guid", .label = "GUID"}},
	 .print = print_ordered,
	 .summary = "make a standby look anew who is there"},
	{.words = "save",
	 .arguments = {{.member = "file", .label = "FILE|-"},
		       {.member = "with",
			.label = "keys",
			.choices = secret_records,
			.optional = true,
			.option = true}},
	 .sink = &save_sink,
	 .print = print_saved,
	 .summary = "what is registered, as one JSON document"},
	{.words = "restore",
	 .arguments = {{.member = "file", .label = "FILE|-"}},
	 .perform = restore_perform,
	 .print = print_restored,
	 .summary = "put such a document in place of what is registered"},
	{.words = "completion",
	 .arguments = {{.member = "shell", .label = "bash|zsh", .choices = shells}},
	 .perform = completion_perform,
	 .digest = completion_digest,
	 .print = print_text,
	 .summary = "a script that completes weftctl's command line"},
	{.words = NULL},
};

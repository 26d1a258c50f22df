/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The table of commands, and how words on the command line become a request. Pure. */
#include "ctl/commands.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/capture.h"
#include "ctl/completion.h"
#include "ctl/dump.h"
#include "ctl/import.h"
#include "ctl/keys.h"
#include "ctl/partition.h"
#include "ctl/print.h"
#include "ctl/print_config.h"
#include "ctl/print_perf.h"
#include "ctl/print_sa.h"
#include "ctl/save.h"
#include "ctl/topology.h"
#include "formats/partitions.h"
#include "lib/log.h"
#include "lib/suggest.h"

enum {
	WORDS_MAX = 3,	 /* of a command */
	WORDS_SIZE = 64, /* of what is said of them, cut short where they are long */
	TURNED_DISTANCE = 3,
};

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
	 .print = print_nodes,
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
	 .print = print_ports,
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
	 .print = print_links,
	 .summary = "cables with both ends and state"},
	{.words = "multicast list",
	 .list = "groups",
	 .print = print_groups,
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
	 .print = print_partitions,
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
	 .print = print_aliases,
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
	 .print = print_options,
	 .summary = "every option with its value, and whether a reload changes it"},
	{.words = "config check",
	 .print = print_would_change,
	 .summary = "what a reload would refuse or change"},
	{.words = "config reload",
	 .print = print_reloaded,
	 .summary = "read configuration and partition file again, as SIGHUP does"},
	{.words = "service list",
	 .list = "services",
	 .print = print_services,
	 .summary = "services that ports have registered"},
	{.words = "inform list",
	 .list = "subscriptions",
	 .print = print_subscriptions,
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
	 .print = print_log_levels,
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
	 .print = print_top,
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

static int usage_refuse(char error[CTL_ERROR_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static int usage_refuse(char error[CTL_ERROR_SIZE], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, CTL_ERROR_SIZE, format, args);
	va_end(args);
	return -EINVAL;
}

void ctl_usage(const struct ctl_command *command, char *usage, size_t size)
{
	size_t used = (size_t)snprintf(usage, size, "%s", command->words);

	for (int i = 0; i < CTL_ARGUMENTS_MAX && command->arguments[i].member; i++) {
		const struct ctl_argument *argument = &command->arguments[i];

		if (used < size)
			used += (size_t)snprintf(
				usage + used, size - used, " %s%s%s%s%s%s%s",
				argument->optional ? "[" : "", argument->option ? "--" : "",
				argument->option ? argument->member : "",
				argument->option && !argument->flag ? " " : "",
				argument->flag ? "" : argument->label, argument->many ? "..." : "",
				argument->optional ? "]" : "");
	}
}

/* How many of argv's words are the command's; 0: argv does not call it. */
static int words_match(const struct ctl_command *command, int argc, char *const *argv)
{
	const char *words = command->words;
	int count = 0;

	while (*words) {
		size_t size = strcspn(words, " ");

		if (count == argc || strlen(argv[count]) != size ||
		    memcmp(argv[count], words, size) != 0)
			return 0;
		words += size + (words[size] == ' ');
		count++;
	}
	return count;
}

bool ctl_concerns(const struct ctl_command *command, int argc, char *const *argv)
{
	const char *words = command->words;

	for (int i = 0; i < argc && *words; i++) {
		size_t size = strcspn(words, " ");

		if (strlen(argv[i]) != size || memcmp(argv[i], words, size) != 0)
			return false;
		words += size + (words[size] == ' ');
	}
	return true;
}

/* The commands that begin with these words, quoted; none: an empty text. */
static void list_beginning(int argc, char *const *argv, char *known, size_t room)
{
	size_t used = 0;

	*known = '\0';
	for (const struct ctl_command *command = ctl_commands; command->words; command++)
		if (used < room && ctl_concerns(command, argc, argv))
			used += (size_t)snprintf(known + used, room - used, "%s\"%s\"",
						 used ? ", " : "", command->words);
}

/* Of the commands that begin with the first words that are right the one that goes on most like
 * this. */
static const char *nearest_command(struct suggest suggest, const char *words, size_t right)
{
	const char *nearest = NULL, *best = NULL;

	for (const struct ctl_command *command = ctl_commands; command->words; command++) {
		if (strncmp(command->words, words, right) != 0)
			continue;
		suggest_try(&suggest, command->words + right);
		nearest = suggest.best != best ? command->words : nearest;
		best = suggest.best;
	}
	return nearest;
}

/* Where the first words are right the others have to be like those behind them by themselves: who
 * wants to "partition create" is not told of "partition remove". */
static const char *nearest_behind(const char *words, size_t right)
{
	struct suggest suggest = suggest_for(words + right);

	if (right)
		suggest.distance = strlen(words + right) / 2 + 1;
	return nearest_command(suggest, words, right);
}

/* The same of words that may begin with what they should end with: "show node". Little else may be
 * wrong with them. */
static const char *nearest_turned(const char *words)
{
	size_t first = strcspn(words, " ");
	char turned[WORDS_SIZE + 1];
	struct suggest suggest;

	if (!words[first])
		return NULL;
	snprintf(turned, sizeof(turned), "%s %.*s", words + first + 1, (int)first, words);
	suggest = suggest_for(turned);
	if (suggest.distance > TURNED_DISTANCE)
		suggest.distance = TURNED_DISTANCE;
	return nearest_command(suggest, turned, 0);
}

/* Of the first words of commands the nearest, put into group; false: none is near. */
static bool nearest_group(const char *word, char group[WORDS_SIZE])
{
	struct suggest suggest = suggest_for(word);
	char first[WORDS_SIZE];

	for (const struct ctl_command *command = ctl_commands; command->words; command++) {
		unsigned distance = suggest.distance;

		snprintf(first, sizeof(first), "%.*s", (int)strcspn(command->words, " "),
			 command->words);
		suggest_try(&suggest, first);
		if (suggest.distance < distance)
			memcpy(group, first, sizeof(first));
	}
	return suggest.best;
}

/* Words that are right may begin some commands. Where none is like them, the last may be arguments.
 */
int ctl_explain_unknown(int argc, char *const *argv, char error[CTL_ERROR_SIZE])
{
	int count = argc < WORDS_MAX ? argc : WORDS_MAX;
	char words[WORDS_SIZE] = "", beginning[WORDS_SIZE], group[WORDS_SIZE];
	char known[CTL_ERROR_SIZE];
	const char *nearest = NULL;
	size_t size[WORDS_MAX + 1] = {0};

	for (int i = 0; i < count; i++)
		size[i + 1] =
			size[i] + (size_t)snprintf(words + size[i], sizeof(words) - size[i],
						   "%s%.*s", i ? " " : "",
						   (int)(sizeof(words) / WORDS_MAX) - 2, argv[i]);
	for (int i = count; i && !nearest; i--) {
		size_t right = 0; /* bytes of the words that begin commands, and the blank */

		list_beginning(i, argv, known, sizeof(known));
		if (*known)
			return usage_refuse(error, "unknown command \"%s\"; there is %s", words,
					    known);
		snprintf(beginning, sizeof(beginning), "%.*s", (int)size[i], words);
		for (int j = i; --j && !*known;) {
			list_beginning(j, argv, known, sizeof(known));
			right = *known ? size[j] + 1 : 0;
		}
		nearest = nearest_behind(beginning, right);
		if (!nearest && !right)
			nearest = nearest_turned(beginning);
	}
	if (nearest)
		return usage_refuse(error, "unknown command \"%s\"; did you mean \"%s\"?", words,
				    nearest);
	if (nearest_group(beginning, group)) {
		list_beginning(1, (char *const[]){group}, known, sizeof(known));
		return usage_refuse(error, "unknown command \"%s\"; there is %s", words, known);
	}
	return usage_refuse(error, "unknown command \"%s\"; --help lists the commands", words);
}

static bool is_choice(const struct ctl_argument *argument, const char *word)
{
	for (const char *const *choice = argument->choices; choice && *choice; choice++) {
		if (!strcmp(*choice, word))
			return true;
	}
	return !argument->choices;
}

/* One word for an argument. */
static int argument_take(const struct ctl_argument *argument, const char *value, const char *usage,
			 json_t *request, char error[CTL_ERROR_SIZE])
{
	char near[16];

	if (!is_choice(argument, value))
		return usage_refuse(error, "\"%.40s\" is not %s: weftctl %s", value,
				    argument->label, usage);
	if (argument->good && !argument->good(value)) {
		bool meant = argument->meant && argument->meant(value, near, sizeof(near));

		return usage_refuse(error, "\"%.40s\" is not %s%s%s%s", value, argument->what,
				    meant ? "; did you mean " : "", meant ? near : "",
				    meant ? "?" : "");
	}
	if (argument->many) {
		json_t *list = json_object_get(request, argument->member);

		if (!list && json_object_set_new(request, argument->member, json_array()) == 0)
			list = json_object_get(request, argument->member);
		if (json_array_append_new(list, json_string(value)))
			return usage_refuse(error, "%s is no UTF-8 text", argument->label);
	} else if (json_object_set_new(request, argument->member,
				       argument->flag ? json_true() : json_string(value)))
		return usage_refuse(error, "%s is no UTF-8 text", argument->label);
	return 0;
}

static const struct ctl_argument *find_option(const struct ctl_command *command, const char *name)
{
	for (int i = 0; i < CTL_ARGUMENTS_MAX && command->arguments[i].member; i++)
		if (command->arguments[i].option && !strcmp(command->arguments[i].member, name))
			return &command->arguments[i];
	return NULL;
}

static bool is_open(const struct ctl_argument *argument, const json_t *request)
{
	return !argument->option && (argument->many || !json_object_get(request, argument->member));
}

/* How many words there is room for; any number of them behind the last. */
static int words_open(const struct ctl_command *command, const json_t *request)
{
	int count = 0;

	for (int i = 0; i < CTL_ARGUMENTS_MAX && command->arguments[i].member; i++)
		count += is_open(&command->arguments[i], request) && !command->arguments[i].last;
	return count;
}

/* Words of argv that are neither options nor their values. */
static int words_left(const struct ctl_command *command, int argc, char *const *argv)
{
	int words = 0;

	for (int i = 0; i < argc; i++) {
		bool option = !strncmp(argv[i], "--", 2);
		const struct ctl_argument *argument =
			option ? find_option(command, argv[i] + 2) : NULL;

		words += !option;
		i += argument && !argument->flag;
	}
	return words;
}

/* The next argument that is not given as an option and has no value; NULL: none. An optional one
 * is passed over when there are not words for it and all that follow. */
static const struct ctl_argument *next_argument(const struct ctl_command *command,
						const json_t *request, int words)
{
	int open = words_open(command, request);

	for (int i = 0; i < CTL_ARGUMENTS_MAX && command->arguments[i].member; i++)
		if (is_open(&command->arguments[i], request) &&
		    (!command->arguments[i].optional || command->arguments[i].last ||
		     words >= open--))
			return &command->arguments[i];
	return NULL;
}

static int find_missing(const struct ctl_command *command, const json_t *request, const char *usage,
			char error[CTL_ERROR_SIZE])
{
	for (int i = 0; i < CTL_ARGUMENTS_MAX && command->arguments[i].member; i++) {
		const struct ctl_argument *argument = &command->arguments[i];

		if (!argument->optional && !json_object_get(request, argument->member))
			return usage_refuse(
				error, "%s%s is missing: weftctl %s", argument->option ? "--" : "",
				argument->option ? argument->member : argument->label, usage);
	}
	return 0;
}

/* Puts the words behind the command into the request. */
static int command_take_arguments(const struct ctl_command *command, int argc, char *const *argv,
				  json_t *request, char error[CTL_ERROR_SIZE])
{
	char usage[CTL_ERROR_SIZE / 2];
	int result = 0;

	ctl_usage(command, usage, sizeof(usage));
	for (int i = 0; i < argc && !result; i++) {
		bool option = !strncmp(argv[i], "--", 2);
		int words = words_left(command, argc - i, argv + i);
		const struct ctl_argument *argument =
			option ? find_option(command, argv[i] + 2)
			       : next_argument(command, request, words);

		if (!argument)
			return usage_refuse(error, "unexpected \"%.40s\": weftctl %s", argv[i],
					    usage);
		if (option && !argument->flag && ++i == argc)
			return usage_refuse(error, "--%s needs a value: weftctl %s",
					    argument->member, usage);
		result = argument_take(argument, argv[i], usage, request, error);
	}
	return result ? result : find_missing(command, request, usage, error);
}

int ctl_parse(int argc, char *const *argv, const struct ctl_command **command, json_t **request,
	      char error[CTL_ERROR_SIZE])
{
	const struct ctl_command *found = ctl_commands;
	json_t *made;
	int words = 0;

	if (argc < 1)
		return usage_refuse(error, "which command? --help lists them");
	while (found->words && !(words = words_match(found, argc, argv)))
		found++;
	if (!found->words)
		return ctl_explain_unknown(argc, argv, error);
	made = json_object();
	json_object_set_new(made, "command", json_string(found->ask ? found->ask : found->words));
	if (command_take_arguments(found, argc - words, argv + words, made, error)) {
		json_decref(made);
		return -EINVAL;
	}
	*command = found;
	*request = made;
	return 0;
}

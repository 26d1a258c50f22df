/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The table of `weftsim do`, and the search for a row. No state; called by the client in main.c, by
 * the server in connection_do.c and by tests.
 */
#include "sim/do.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/suggest.h"

const struct do_command do_commands[] = {
	{"link", "down|up NODE PORT", "pulls the cable out of a port, or puts it back", 3, 3,
	 do_link},
	{"node", "down|up|reboot NODE",
	 "pulls out or puts back all cables of a node; or reboots it", 2, 2, do_node},
	{"device", "remove|add NODE", "removes a node's device, or adds it again", 2, 2, do_device},
	{"behave", "HABIT [NODE]",
	 "gives one or all agents a habit of real devices; 'behave list' names them", 1, 2,
	 do_behave},
	{"smi", "off|on NODE", "removes QP0 from the ports of a node's device, or adds it again", 2,
	 2, do_smi},
	{"drop", "PERCENT [NODE]", "loses this share of arriving MADs", 1, 2, do_drop},
	{"delay", "US [NODE]", "delays arriving MADs by up to this time", 1, 2, do_delay},
	{"duplicate", "PERCENT", "duplicates this share of arriving MADs", 1, 1, do_duplicate},
	{"trap", "NUMBER NODE PORT",
	 "sends a trap without a cause; 129-131 and 259 may be about any port", 3, 3, do_trap},
	{"count", "NODE PORT COUNTER N", "adds N to an error counter of a port, or to PortXmitWait",
	 4, 4, do_count},
	{"show", "NODE", "a node and its ports", 1, 1, do_show},
	{"lft", "NODE", "a switch's linear forwarding table", 1, 1, do_lft},
	{"mft", "NODE", "a switch's multicast forwarding table", 1, 1, do_mft},
	{"pkeys", "NODE PORT", "a port's P_Keys", 2, 2, do_pkeys},
	{"path", "SRC DST", "the way of a packet by the switches' tables", 2, 2, do_path},
	{"multicast", "MLID SRC", "the ports that receive a packet to a group", 2, 2, do_multicast},
	{"check", "", "follows the tables from every active adapter port to every other", 0, 0,
	 do_check},
	{"clients", "", "MasterSMLID of adapters' ports, and received ClientReregister commands", 0,
	 0, do_clients},
	{"load", "PATTERN [OPTION]...",
	 "sends generated traffic in virtual time; 'load help' names patterns and options", 1,
	 DO_WORDS_MAX - 1, do_load},
	{"vms", "", "adapters of virtual machines: their drivers, packets and refused packets", 0,
	 0, do_vms},
	{"capture", "FILE|off [NODE[:PORT]]",
	 "writes the packets on all links, or on those of a node, to a file for Wireshark", 1, 2,
	 do_capture},
	{"stats", "[reset]", "counters: SMPs, GMPs, packets dropped by reason", 0, 1, do_stats},
	{0},
};

int do_fail(struct do_call *call, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(call->error, sizeof(call->error), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

/* Ends the word at text and returns the start of the rest; NULL if a quote is not closed. */
static char *word_end(char *text, const char **word)
{
	bool quoted = *text == '"';
	char *end;

	*word = text += quoted;
	end = text + strcspn(text, quoted ? "\"" : " \t\n");
	if (quoted && !*end)
		return NULL;
	if (*end)
		*end++ = '\0';
	return end;
}

static int do_split(struct do_call *call)
{
	char *next = call->text;
	unsigned count = 0;

	for (;;) {
		next += strspn(next, " \t\n");
		if (!*next)
			return (int)count;
		if (count == DO_WORDS_MAX)
			return do_fail(call, "a command has at most %d words", DO_WORDS_MAX);
		next = word_end(next, &call->words[count++]);
		if (!next)
			return do_fail(call, "a quote is not closed");
	}
}

static const struct do_command *do_find_command(struct do_call *call, const char *name)
{
	struct suggest suggest = suggest_for(name);

	for (const struct do_command *command = do_commands; command->name; command++) {
		if (!strcmp(command->name, name))
			return command;
		suggest_try(&suggest, command->name);
	}
	if (suggest.best)
		do_fail(call, "no command is called \"%.40s\"; did you mean %s?", name,
			suggest.best);
	else
		do_fail(call, "no command is called \"%.40s\"; see weftsim do --help", name);
	return NULL;
}

int do_parse(struct do_call *call, const char *text)
{
	unsigned words;
	int count;

	memset(call->words, 0, sizeof(call->words));
	call->file = -1;
	if (strlen(text) >= sizeof(call->text))
		return do_fail(call, "the command is too long: more than %zu characters",
			       sizeof(call->text) - 1);
	strcpy(call->text, text);
	count = do_split(call);
	if (count <= 0)
		return count ? count : do_fail(call, "the command is empty");
	call->command = do_find_command(call, call->words[0]);
	if (!call->command)
		return -EINVAL;
	words = (unsigned)count - 1;
	memmove(call->words, call->words + 1, sizeof(call->words) - sizeof(*call->words));
	if (words < call->command->least || words > call->command->most)
		return do_fail(call,
			       "%s has %u argument%s; usage: '%s%s%s' (a command with its "
			       "arguments is one word of the shell)",
			       call->command->name, words, words == 1 ? "" : "s",
			       call->command->name, *call->command->arguments ? " " : "",
			       call->command->arguments);
	return 0;
}

const char *do_file(const struct do_call *call)
{
	return call->command->run == do_capture && strcmp(call->words[0], "off") ? call->words[0]
										 : NULL;
}

void do_done(struct do_call *call)
{
	if (call->state && call->state_end)
		call->state_end(call->state);
	free(call->state);
	call->state = NULL;
	call->state_end = NULL;
	if (call->file >= 0)
		close(call->file);
	call->file = -1;
}

void do_print_help(FILE *stream)
{
	for (const struct do_command *command = do_commands; command->name; command++) {
		char usage[40];

		snprintf(usage, sizeof(usage), "%s %s", command->name, command->arguments);
		fprintf(stream, "  %-24s %s\n", usage, command->help);
	}
}

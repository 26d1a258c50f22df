/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The table of commands, and how words on the command line become a request. Pure. */
#include "ctl/commands.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "ctl/print.h"
#include "lib/suggest.h"

static const char *const sweep_kinds[] = {"light", "full", NULL};

const struct ctl_command ctl_commands[] = {
	{.words = "status",
	 .print = print_status,
	 .summary = "role, last sweep, counts, routing, peers"},
	{.words = "sweep",
	 .arguments = {{"kind", "light|full", sweep_kinds, true}},
	 .print = print_sweep,
	 .summary = "sweep now, wait for the end, say what changed"},
	{.words = "reroute",
	 .print = print_sweep,
	 .summary = "compute routes anew, write what differs, say what changed"},
	{.words = "node list",
	 .list = "nodes",
	 .print = print_nodes,
	 .summary = "switches, adapters and routers"},
	{.words = "link list",
	 .list = "links",
	 .print = print_links,
	 .summary = "cables with both ends and state"},
	{.words = "route show",
	 .arguments = {{"src", "SRC", NULL, false}, {"dst", "DST", NULL, false}},
	 .print = print_route,
	 .summary = "every hop from one node to another"},
	{.words = NULL},
};

static int refuse(char error[CTL_ERROR_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static int refuse(char error[CTL_ERROR_SIZE], const char *format, ...)
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
			used += (size_t)snprintf(usage + used, size - used,
						 argument->optional ? " [%s]" : " %s",
						 argument->label);
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

/* The commands that begin with this word, quoted; none: an empty text. */
static void list_beginning(const char *first, char *known, size_t room)
{
	size_t size = strlen(first), used = 0;

	*known = '\0';
	for (const struct ctl_command *command = ctl_commands; command->words; command++) {
		if (strncmp(command->words, first, size) != 0 || command->words[size] != ' ')
			continue;
		if (used < room)
			used += (size_t)snprintf(known + used, room - used, "%s\"%s\"",
						 used ? ", " : "", command->words);
	}
}

static const char *nearest_command(const char *words)
{
	struct suggest suggest = suggest_for(words);

	for (const struct ctl_command *command = ctl_commands; command->words; command++)
		suggest_try(&suggest, command->words);
	return suggest.best;
}

static int explain_unknown(int argc, char *const *argv, char error[CTL_ERROR_SIZE])
{
	char words[64], known[CTL_ERROR_SIZE / 2];
	const char *nearest;

	snprintf(words, sizeof(words), "%s%s%s", argv[0], argc > 1 ? " " : "",
		 argc > 1 ? argv[1] : "");
	nearest = nearest_command(words);
	if (!nearest) /* the second word may be an argument */
		nearest = nearest_command(argv[0]);
	if (nearest)
		return refuse(error, "unknown command \"%s\"; did you mean \"%s\"?", words,
			      nearest);
	list_beginning(argv[0], known, sizeof(known));
	if (*known)
		return refuse(error, "unknown command \"%s\"; there is %s", words, known);
	return refuse(error, "unknown command \"%s\"; --help lists the commands", words);
}

static bool is_choice(const struct ctl_argument *argument, const char *word)
{
	for (const char *const *choice = argument->choices; choice && *choice; choice++) {
		if (!strcmp(*choice, word))
			return true;
	}
	return !argument->choices;
}

/* Puts the words behind the command into the request. */
static int take_arguments(const struct ctl_command *command, int argc, char *const *argv,
			  json_t *request, char error[CTL_ERROR_SIZE])
{
	char usage[CTL_ERROR_SIZE / 2];
	int i;

	ctl_usage(command, usage, sizeof(usage));
	for (i = 0; i < CTL_ARGUMENTS_MAX && command->arguments[i].member; i++) {
		const struct ctl_argument *argument = &command->arguments[i];

		if (i == argc && argument->optional)
			return 0;
		if (i == argc)
			return refuse(error, "%s is missing: weftctl %s", argument->label, usage);
		if (!is_choice(argument, argv[i]))
			return refuse(error, "\"%.40s\" is not %s: weftctl %s", argv[i],
				      argument->label, usage);
		if (json_object_set_new(request, argument->member, json_string(argv[i])))
			return refuse(error, "%s is no UTF-8 text", argument->label);
	}
	if (i < argc)
		return refuse(error, "unexpected \"%.40s\": weftctl %s", argv[i], usage);
	return 0;
}

int ctl_parse(int argc, char *const *argv, const struct ctl_command **command, json_t **request,
	      char error[CTL_ERROR_SIZE])
{
	const struct ctl_command *found = ctl_commands;
	json_t *made;
	int words = 0;

	if (argc < 1)
		return refuse(error, "which command? --help lists them");
	while (found->words && !(words = words_match(found, argc, argv)))
		found++;
	if (!found->words)
		return explain_unknown(argc, argv, error);
	made = json_object();
	json_object_set_new(made, "command", json_string(found->words));
	if (take_arguments(found, argc - words, argv + words, made, error)) {
		json_decref(made);
		return -EINVAL;
	}
	*command = found;
	*request = made;
	return 0;
}

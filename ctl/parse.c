/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Makes a request from the words of a command line, and explains words that are wrong. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/commands.h"
#include "lib/suggest.h"

enum {
	WORDS_MAX = 3,	 /* of a command */
	WORDS_SIZE = 64, /* of the words in an error message; longer words are cut */
	TURNED_DISTANCE = 3,
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
			used += (size_t)snprintf(
				usage + used, size - used, " %s%s%s%s%s%s%s",
				argument->optional ? "[" : "", argument->option ? "--" : "",
				argument->option ? argument->member : "",
				argument->option && !argument->flag ? " " : "",
				argument->flag ? "" : argument->label, argument->many ? "..." : "",
				argument->optional ? "]" : "");
	}
}

/* How many of argv's words these are, the words of a command; 0: argv does not call it. */
static int words_match(const char *words, int argc, char *const *argv)
{
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

/* The command with the most words that argv calls, and the number of these words; NULL: none. */
static const struct ctl_command *command_called(int argc, char *const *argv, int *words)
{
	const struct ctl_command *found = NULL;

	*words = 0;
	for (const struct ctl_command *command = ctl_commands; command->words; command++) {
		int match = words_match(command->words, argc, argv);

		if (!match && command->alias)
			match = words_match(command->alias, argc, argv);
		if (match > *words) {
			found = command;
			*words = match;
		}
	}
	return found;
}

bool ctl_concerns(const struct ctl_command *command, int argc, char *const *argv)
{
	const char *words = command->words;
	int count, i;

	for (i = 0; i < argc && *words; i++) {
		size_t size = strcspn(words, " ");

		if (strlen(argv[i]) != size || memcmp(argv[i], words, size) != 0)
			return false;
		words += size + (words[size] == ' ');
	}
	/* "health accept" is not about "health". */
	return *words || i == argc || command_called(argc, argv, &count) == command;
}

/* Lists the commands that begin with these words, in quotes; an empty text if there are none. */
static void list_beginning(int argc, char *const *argv, char *known, size_t room)
{
	size_t used = 0;

	*known = '\0';
	for (const struct ctl_command *command = ctl_commands; command->words; command++)
		if (used < room && !command->hidden && ctl_concerns(command, argc, argv))
			used += (size_t)snprintf(known + used, room - used, "%s\"%s\"",
						 used ? ", " : "", command->words);
}

/* Among the commands that begin with the first `right` bytes of words, finds the one whose rest is
 * most similar. NULL: none is. */
static const char *nearest_command(struct suggest suggest, const char *words, size_t right)
{
	const char *nearest = NULL, *best = NULL;

	for (const struct ctl_command *command = ctl_commands; command->words; command++) {
		if (command->hidden || strncmp(command->words, words, right) != 0)
			continue;
		suggest_try(&suggest, command->words + right);
		nearest = suggest.best != best ? command->words : nearest;
		best = suggest.best;
	}
	return nearest;
}

/* Compares only the words after the correct words, so that "partition create" does not suggest
 * "partition remove". */
static const char *nearest_behind(const char *words, size_t right)
{
	struct suggest suggest = suggest_for(words + right);

	if (right)
		suggest.distance = strlen(words + right) / 2 + 1;
	return nearest_command(suggest, words, right);
}

/* Finds the command for words in the wrong order, such as "show node", with few other errors. */
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

/* Writes the most similar first word of a command into group; false if none is similar. */
static bool nearest_group(const char *word, char group[WORDS_SIZE])
{
	struct suggest suggest = suggest_for(word);
	char first[WORDS_SIZE];

	for (const struct ctl_command *command = ctl_commands; command->words; command++) {
		unsigned distance = suggest.distance;

		if (command->hidden)
			continue;
		snprintf(first, sizeof(first), "%.*s", (int)strcspn(command->words, " "),
			 command->words);
		suggest_try(&suggest, first);
		if (suggest.distance < distance)
			memcpy(group, first, sizeof(first));
	}
	return suggest.best;
}

/* Tries all words first, then fewer, because the last words may be arguments. */
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
			return refuse(error, "unknown command \"%s\"; choose from %s", words,
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
		return refuse(error, "unknown command \"%s\"; did you mean \"%s\"?", words,
			      nearest);
	if (nearest_group(beginning, group)) {
		list_beginning(1, (char *const[]){group}, known, sizeof(known));
		return refuse(error, "unknown command \"%s\"; choose from %s", words, known);
	}
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

static bool is_good(const struct ctl_argument *argument, const char *value)
{
	char most[24];
	int digits = snprintf(most, sizeof(most), "%lld", argument->most);
	size_t length = strlen(value);

	if (argument->good)
		return argument->good(value);
	return !argument->most ||
	       (length && length <= (size_t)digits && strspn(value, "0123456789") == length &&
		atoll(value) >= argument->least && atoll(value) <= argument->most);
}

/* Puts one word into the request as the value of an argument. */
static int take_value(const struct ctl_argument *argument, const char *value, const char *usage,
		      json_t *request, char error[CTL_ERROR_SIZE])
{
	char near[16];

	if (argument->former && !strcmp(value, argument->former)) {
		fprintf(stderr, "weftctl: warning: \"%s\" is now called \"%s\"\n", value,
			argument->now);
		value = argument->now;
	}
	if (!is_choice(argument, value))
		return refuse(error, "\"%.40s\" is not %s: weftctl %s", value, argument->label,
			      usage);
	if (argument->form) {
		char *text = argument->form(value);

		if (!text)
			return refuse(error, "\"%.40s\" is not %s", value, argument->what);
		json_object_set_new(request, argument->member, json_string(text));
		free(text);
		return 0;
	}
	if (!is_good(argument, value)) {
		bool meant = argument->meant && argument->meant(value, near, sizeof(near));

		return refuse(error, "\"%.40s\" is not %s%s%s%s", value, argument->what,
			      meant ? "; did you mean " : "", meant ? near : "", meant ? "?" : "");
	}
	if (argument->many) {
		json_t *list = json_object_get(request, argument->member);

		if (!list && json_object_set_new(request, argument->member, json_array()) == 0)
			list = json_object_get(request, argument->member);
		if (json_array_append_new(list, json_string(value)))
			return refuse(error, "%s is not UTF-8", argument->label);
	} else if (json_object_set_new(request, argument->member,
				       argument->flag ? json_true() : json_string(value)))
		return refuse(error, "%s is not UTF-8", argument->label);
	return 0;
}

/* The option of this name; else one that begins so, since getopt accepts only a unique begin. */
static const struct ctl_argument *find_option(const struct ctl_command *command, const char *name)
{
	const struct ctl_argument *longer = NULL;
	size_t size = strlen(name);

	for (int i = 0; i < CTL_ARGUMENTS_MAX && command->arguments[i].member; i++) {
		const struct ctl_argument *argument = &command->arguments[i];

		if (!argument->option || !size || strncmp(argument->member, name, size) != 0)
			continue;
		if (!argument->member[size])
			return argument;
		longer = argument;
	}
	return longer;
}

static bool is_open(const struct ctl_argument *argument, const json_t *request)
{
	return !argument->option && (argument->many || !json_object_get(request, argument->member));
}

/* How many arguments still need a word; arguments that must be last are not counted. */
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

/* Returns the next argument without a value that is not an option; NULL if there is none. Skips an
 * optional argument if there are not enough words for it and the arguments after it. */
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

/* NODE/PORT in place of NODE, if PORT is missing: takes the port off the node. */
static void split_port(const struct ctl_command *command, json_t *request)
{
	const char *node = json_string_value(json_object_get(request, "node"));
	const char *slash = node ? strrchr(node, '/') : NULL;
	const struct ctl_argument *argument = command->arguments;
	json_t *name;

	while (argument->member && strcmp(argument->member, "port") != 0)
		argument++;
	if (!argument->member || argument->optional || json_object_get(request, "port") || !slash ||
	    slash == node || !slash[1] || !is_good(argument, slash + 1))
		return;
	name = json_stringn(node, (size_t)(slash - node));
	json_object_set_new(request, "port", json_string(slash + 1));
	json_object_set_new(request, "node", name);
}

static int find_missing(const struct ctl_command *command, const json_t *request, const char *usage,
			char error[CTL_ERROR_SIZE])
{
	for (int i = 0; i < CTL_ARGUMENTS_MAX && command->arguments[i].member; i++) {
		const struct ctl_argument *argument = &command->arguments[i];

		if (!argument->optional && !json_object_get(request, argument->member))
			return refuse(error, "%s%s is missing: weftctl %s",
				      argument->option ? "--" : "",
				      argument->option ? argument->member : argument->label, usage);
	}
	return 0;
}

/* An option that another command has in its place may be expected here. */
static int refuse_word(const struct ctl_command *command, const char *word, const char *usage,
		       char error[CTL_ERROR_SIZE])
{
	bool renames = !strcmp(command->words, "partition set") && !strcmp(word, "--name");

	return refuse(error, "unexpected \"%.40s\"%s: weftctl %s", word,
		      renames ? "; weftctl partition rename changes the name" : "", usage);
}

/* Puts the words after the command into the request. */
static int take_arguments(const struct ctl_command *command, int argc, char *const *argv,
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
			return refuse_word(command, argv[i], usage, error);
		if (option && !argument->flag && ++i == argc)
			return refuse(error, "--%s needs a value: weftctl %s", argument->member,
				      usage);
		if (option && !argument->flag && !argument->many &&
		    json_object_get(request, argument->member))
			return refuse(error, "--%s is given twice: weftctl %s", argument->member,
				      usage);
		result = take_value(argument, argv[i], usage, request, error);
	}
	if (!result)
		split_port(command, request);
	return result ? result : find_missing(command, request, usage, error);
}

int ctl_parse(int argc, char *const *argv, const struct ctl_command **command, json_t **request,
	      char error[CTL_ERROR_SIZE])
{
	const struct ctl_command *found = ctl_commands;
	json_t *made;
	int words = 0;

	if (argc < 1)
		return refuse(error, "no command given; --help lists the commands");
	found = command_called(argc, argv, &words);
	if (!found)
		return ctl_explain_unknown(argc, argv, error);
	made = json_object();
	json_object_set_new(made, "command", json_string(found->ask ? found->ask : found->words));
	if (take_arguments(found, argc - words, argv + words, made, error)) {
		json_decref(made);
		return -EINVAL;
	}
	*command = found;
	*request = made;
	return 0;
}

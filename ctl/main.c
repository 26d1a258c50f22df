/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * weftctl: sends one command to weftd's control socket and prints the answer, as text or, with
 * --json, as JSON. Exit status: 0 done, 1 refused or failed, 2 usage error, 3 no daemon;
 * 4 and 5 as weftctl health says.
 */
#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/commands.h"
#include "ctl/note.h"
#include "ctl/reference.h"
#include "ctl/text.h"
#include "lib/mem.h"
#include "lib/suggest.h"

enum { EXIT_USAGE = 2, EXIT_NO_DAEMON = 3 };
enum {
	OPT_JSON = 256,
	OPT_NOHEADINGS,
	OPT_WIDE,
	OPT_PRINT_COMMANDS,
	OPT_PRINT_REQUESTS,
	OPT_HELP,
	OPT_VERSION,
	OPT_OF_COMMAND,
};
enum { GROUP_SIZE = 64 };
enum { OPTIONS_MAX = 64, WORD = 1 /* getopt's, in order */ };

static const char default_socket[] = "/run/weft/control.sock";

static const struct option long_options[] = {
	{"json", no_argument, NULL, OPT_JSON},
	{"output", required_argument, NULL, 'o'},
	{"noheadings", no_argument, NULL, OPT_NOHEADINGS},
	{"wide", no_argument, NULL, OPT_WIDE},
	{"print-commands", no_argument, NULL, OPT_PRINT_COMMANDS}, /* for `make generated` */
	{"print-requests", no_argument, NULL, OPT_PRINT_REQUESTS}, /* the same */
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

struct invocation {
	const char *socket;
	bool json, help;
	const char *output; /* names of columns; NULL: all */
	struct column_choice choice;
	const struct ctl_command *command;
	json_t *request;
};

/* JSON is ASCII and sorted by name, so that answers can be compared as text. */
enum { JSON_FORM = JSON_SORT_KEYS | JSON_ENSURE_ASCII | JSON_ENCODE_ANY };

/* The lines of the failure of this run, for --json; NULL: none. */
static json_t *failure;

/* Prints the reason of a failure, of one or more lines, and returns the status to exit with. */
static int explain(char *reason, int status)
{
	char *line;

	if (!failure)
		failure = json_array();
	while ((line = strsep(&reason, "\n"))) {
		text_clean(line);
		fprintf(stderr, "weftctl: %s\n", line);
		json_array_append_new(failure, json_string(line));
	}
	return status;
}

static int explain_text(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int explain_text(int status, const char *format, ...)
{
	char reason[2 * CTL_ERROR_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	return explain(reason, status);
}

/* With --json, stdout gets the failure as a document in place of the answer. */
static void print_failure(bool json, int status)
{
	json_t *document;

	if (!failure)
		return;
	document = json_pack("{s:{s:O,s:i}}", "error", "lines", failure, "status", status);
	if (json && document) {
		json_dumpf(document, stdout, JSON_FORM | JSON_COMPACT);
		putchar('\n');
		fflush(stdout);
	}
	json_decref(document);
	json_decref(failure);
}

/* Lists the options above and those of all commands. */
static void list_options(struct option options[OPTIONS_MAX])
{
	size_t count = ARRAY_SIZE(long_options) - 1;

	memcpy(options, long_options, sizeof(long_options));
	for (const struct ctl_command *command = ctl_commands; command->words; command++) {
		for (int i = 0; i < CTL_ARGUMENTS_MAX && command->arguments[i].member; i++) {
			const struct ctl_argument *argument = &command->arguments[i];
			size_t known = 0;

			while (known < count && strcmp(options[known].name, argument->member) != 0)
				known++;
			if (!argument->option || known < count)
				continue;
			assert(count + 1 < OPTIONS_MAX);
			options[count++] = (struct option){
				argument->member, argument->flag ? no_argument : required_argument,
				NULL, OPT_OF_COMMAND};
		}
	}
	options[count] = (struct option){0};
}

/* Prints the help for the commands that begin with these words; without words, for all. Returns the
 * exit status. */
static int ctl_print_help(int count, char *const *words)
{
	const struct ctl_command *command = ctl_commands;
	char error[CTL_ERROR_SIZE];

	while (command->words && (command->hidden || !ctl_concerns(command, count, words)))
		command++;
	if (!command->words) {
		ctl_explain_unknown(count, words, error);
		return explain(error, EXIT_USAGE);
	}
	puts("Usage: weftctl [-s SOCKET] [--json] COMMAND\n"
	     "Queries and controls weftd, the InfiniBand subnet manager.\n"
	     "\n"
	     "  -s SOCKET     Control socket; default: $WEFT_SOCKET, or /run/weft/control.sock.\n"
	     "  --json        Print the answer, or an error, as JSON.\n"
	     "  -o, --output COLUMN[,COLUMN...]\n"
	     "                Print only these columns of a list, in this order.\n"
	     "  --noheadings  Print a list without its line of headings.\n"
	     "  --wide        On a terminal: print all columns and whole names.\n"
	     "  -n, --lines N For events: print only the last N.\n"
	     "  --version     Print the version and exit.\n"
	     "  --help        Print this and exit; after a command, its description.\n"
	     "\n"
	     "Commands:");
	reference_help(count, words, stdout);
	if (!count)
		puts("  help [COMMAND]         As --help.");
	puts("\nNODE, SRC and DST are nodes: a name, a GUID (0x...) or a LID.");
	return EXIT_SUCCESS;
}

static const char *socket_path(void)
{
	const char *path = getenv("WEFT_SOCKET");

	return path && *path ? path : default_socket;
}

/* Explains an option that getopt refused: a letter or a word. */
static int explain_option(const struct option *options, int option, char *const *argv)
{
	char letter[] = {'-', (char)optopt, '\0'}, error[CTL_ERROR_SIZE];
	bool is_letter = option != ':' && optopt > 0 && optopt < OPT_JSON;
	const char *word = is_letter ? letter : argv[optind - 1];
	struct suggest suggest = suggest_for(word + 2);

	for (; options->name && !is_letter; options++)
		suggest_try(&suggest, options->name);
	if (option == ':')
		snprintf(error, sizeof(error), "%.60s needs a value; --help says which", word);
	else if (suggest.best)
		snprintf(error, sizeof(error), "no option \"%.60s\"; did you mean \"--%s\"?", word,
			 suggest.best);
	else
		snprintf(error, sizeof(error), "no option \"%.60s\"; --help lists them", word);
	return explain(error, EXIT_USAGE);
}

/* Reads the options of weftctl itself. Stores the other words, and "--NAME VALUE" for each option
 * of a command. Returns -1 to go on, or the status to exit with. */
static int ctl_read_options(struct invocation *invocation, int argc, char **argv, char **words,
			    int *count)
{
	struct option options[OPTIONS_MAX];
	const char *word;
	int option, place;

	list_options(options);
	while ((option = getopt_long(argc, argv, "-:hs:o:n:", options, &place)) != -1) {
		switch (option) {
		case WORD:
			words[(*count)++] = optarg;
			break;
		case 's':
			invocation->socket = optarg;
			break;
		case OPT_JSON:
			invocation->json = true;
			break;
		case 'n':
			words[(*count)++] = "--lines";
			words[(*count)++] = optarg;
			break;
		case 'o':
			invocation->output = optarg;
			break;
		case OPT_NOHEADINGS:
			invocation->choice.no_headings = true;
			break;
		case OPT_WIDE:
			text_set_wide();
			break;
		case OPT_OF_COMMAND:
			/* As typed: ctl/parse.c completes an abbreviation, for its command. */
			word = argv[optind - 1 - (optarg && optarg == argv[optind - 1])];
			words[(*count)++] = mem_printf("%.*s", (int)strcspn(word, "="), word);
			if (optarg)
				words[(*count)++] = optarg;
			break;
		case 'h':
		case OPT_HELP:
			invocation->help = true;
			break;
		case OPT_PRINT_COMMANDS:
			reference_man(stdout);
			return EXIT_SUCCESS;
		case OPT_PRINT_REQUESTS:
			reference_requests(stdout);
			return EXIT_SUCCESS;
		case OPT_VERSION:
			puts("weftctl " WEFT_VERSION);
			return EXIT_SUCCESS;
		default:
			return explain_option(options, option, argv);
		}
	}
	while (optind < argc) /* after -- */
		words[(*count)++] = argv[optind++];
	return -1;
}

/* Counts the words before the first option. */
static int plain_words(int count, char *const *words)
{
	int plain = 0;

	while (plain < count && strncmp(words[plain], "--", 2) != 0)
		plain++;
	return plain;
}

/* Checks -o and --noheadings, which only tables have. Returns 0, or -EINVAL with one line in error.
 */
static int choose_columns(struct invocation *invocation, char error[CTL_ERROR_SIZE])
{
	const char *option = invocation->output ? "-o" : "--noheadings";

	if (!invocation->output && !invocation->choice.no_headings)
		return 0;
	if (!invocation->command->columns) {
		snprintf(error, CTL_ERROR_SIZE, "%s is for lists: \"%s\" prints no list", option,
			 invocation->command->words);
		return -EINVAL;
	}
	if (invocation->json) {
		snprintf(error, CTL_ERROR_SIZE, "%s and --json exclude each other", option);
		return -EINVAL;
	}
	return invocation->output ? columns_choose(invocation->command->columns, invocation->output,
						   &invocation->choice, error)
				  : 0;
}

/* Parses the whole command line. Returns -1 to go on, or the status to exit with. */
static int ctl_parse_command_line(struct invocation *invocation, int argc, char **argv)
{
	char **words = mem_array(2 * (size_t)argc + 1, sizeof(*words));
	char error[CTL_ERROR_SIZE];
	int count = 0, status = ctl_read_options(invocation, argc, argv, words, &count);
	int skip = count && !strcmp(words[0], "help");

	if (status < 0 && (invocation->help || skip))
		status = ctl_print_help(plain_words(count - skip, words + skip), words + skip);
	else if (status < 0 &&
		 (ctl_parse(count, words, &invocation->command, &invocation->request, error) ||
		  choose_columns(invocation, error)))
		status = explain(error, EXIT_USAGE);
	free(words);
	return status;
}

/* Collects the parts of an answer. */
struct gathering {
	const struct ctl_command *command;
	bool json;
	json_t *rows;	  /* of a list */
	json_t *document; /* its arrays, by name */
	void *sink;
	bool progress; /* a line of progress is on the terminal */
};

static void show_progress(struct gathering *gathering, const json_t *progress)
{
	static const char erase[] = "\r\033[K";
	char step[40];

	if (!isatty(STDERR_FILENO) || (!progress && !gathering->progress))
		return;
	snprintf(step, sizeof(step), "%s", text_member(progress, "step"));
	text_clean(step);
	fputs(erase, stderr);
	if (progress)
		fprintf(stderr, "%lld of %lld: %s", number_member(progress, "number"),
			number_member(progress, "of"), step);
	fflush(stderr);
	gathering->progress = progress != NULL;
}

static void gather_document(json_t *document, json_t *part)
{
	const char *name;
	json_t *rows;

	json_object_foreach (part, name, rows) {
		json_t *known = json_object_get(document, name);

		if (known)
			json_array_extend(known, rows);
		else if (json_is_array(rows))
			json_object_set(document, name, rows);
	}
}

/* Puts the object in place of the array of one, and adds the arrays that have no part. */
static void complete_document(const struct ctl_command *command, json_t *document)
{
	if (command->object)
		json_object_set(document, command->object,
				json_array_get(json_object_get(document, command->object), 0));
	for (size_t i = 0; i < ARRAY_SIZE(command->lists) && command->lists[i]; i++)
		if (!json_object_get(document, command->lists[i]))
			json_object_set_new(document, command->lists[i], json_array());
}

/* Ends the program if stdout cannot be written, so that it requests no more parts. */
static void flush_or_exit(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return;
	fprintf(stderr, "weftctl: cannot write the answer: %s\n", strerror(errno));
	_exit(EXIT_FAILURE);
}

static void print_each(const struct gathering *gathering, const json_t *rows)
{
	json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		if (gathering->json) {
			json_dumpf(row, stdout, JSON_FORM | JSON_COMPACT);
			putchar('\n');
		} else {
			text_make_printable(row);
			gathering->command->each(row, stdout);
		}
	}
	flush_or_exit();
}

static void answer_part(void *ctx, json_t *part)
{
	struct gathering *gathering = ctx;
	const struct ctl_command *command = gathering->command;
	const json_t *progress = json_object_get(part, "progress");

	if (progress)
		show_progress(gathering, progress);
	else if (note_take(part))
		return;
	else if (command->text && json_is_string(json_object_get(part, "text")))
		fputs(text_member(part, "text"), stdout);
	else if (command->sink)
		command->sink->part(gathering->sink, part);
	else if (command->document)
		gather_document(gathering->document, part);
	else if (command->each)
		print_each(gathering, json_object_get(part, command->list));
	else if (command->list)
		json_array_extend(gathering->rows, json_object_get(part, command->list));
}

/* Returns a description of the group that may connect; out has space for it. */
static const char *members(const char *socket, char out[GROUP_SIZE])
{
	const struct group *group;
	struct stat st;

	if (stat(socket, &st))
		return "the group of the socket";
	group = getgrgid(st.st_gid);
	if (group)
		snprintf(out, GROUP_SIZE, "group %s", group->gr_name);
	else
		snprintf(out, GROUP_SIZE, "group %u", (unsigned)st.st_gid);
	return out;
}

/* Prints why a call failed. Returns the status to exit with. */
static int explain_failure(const char *socket, int result, char *refusal)
{
	char group[GROUP_SIZE];

	switch (result) {
	case -ENOENT:
	case -ECONNREFUSED:
		return explain_text(EXIT_NO_DAEMON,
				    "no weftd answers on %s: it does not run, or uses another "
				    "socket (set -s or $WEFT_SOCKET)",
				    socket);
	case -EACCES:
		if (strstr(socket, "control-ro.sock"))
			return explain_text(EXIT_FAILURE,
					    "no rights on %s: readonly_socket in weftd.conf(5) "
					    "names the group that may connect",
					    socket);
		return explain_text(EXIT_FAILURE,
				    "no rights on %s: root and %s may connect; for commands that "
				    "change nothing try -s .../control-ro.sock",
				    socket, members(socket, group));
	case -EREMOTEIO:
		return explain(refusal, EXIT_FAILURE);
	case -EPROTO:
		return explain_text(EXIT_FAILURE,
				    "invalid answer on %s: another program uses this socket (set "
				    "-s or $WEFT_SOCKET)",
				    socket);
	case -ECONNRESET:
		return explain_text(EXIT_FAILURE,
				    "weftd on %s closed the connection before its answer was "
				    "complete: it ended, or weftctl did not read for a minute (see "
				    "the log of weftd)",
				    socket);
	default:
		return explain_text(EXIT_FAILURE, "%s: %s", socket, strerror(-result));
	}
}

static bool is_detailed(const struct ctl_command *command, const json_t *data)
{
	return command->detail && json_object_get(json_array_get(data, 0), command->detail);
}

/* Returns the status to exit with. */
static int print_answer(const struct invocation *invocation, json_t **data)
{
	const struct ctl_command *command = invocation->command;
	char error[CTL_ERROR_SIZE];

	if ((command->sink || command->text) && json_is_null(*data)) /* it was written already */
		return EXIT_SUCCESS;
	if (!invocation->json)
		text_make_printable(*data);
	if (command->digest && command->digest(invocation->request, data, error))
		return explain(error, EXIT_FAILURE);
	if (invocation->json && !command->each) {
		json_dumpf(*data, stdout, JSON_FORM | JSON_INDENT(2));
		putchar('\n');
	} else if (command->columns && !is_detailed(command, *data)) {
		columns_print(command->columns, &invocation->choice,
			      command->rows ? json_object_get(*data, command->rows) : *data,
			      stdout);
	} else if (command->print) {
		command->print(*data, stdout);
	}
	if (command->exit_status)
		return command->exit_status(*data);
	return command->failed && command->failed(*data) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Calls the daemon; *data is the answer, a new reference. Returns the status to exit with. */
static int call_daemon(const struct invocation *invocation, json_t **data)
{
	const struct ctl_command *command = invocation->command;
	struct gathering gathering = {
		.command = command,
		.json = invocation->json,
		.rows = json_array(),
		.document = json_object(),
	};
	char *refusal = NULL, error[CTL_ERROR_SIZE] = "";
	int result = 0, status = EXIT_SUCCESS;

	if (command->sink)
		gathering.sink = command->sink->open(invocation->request, error);
	if (command->perform)
		result = command->perform(invocation->socket, invocation->request, data, &refusal);
	else if (!*error)
		result = control_call(invocation->socket, invocation->request, answer_part,
				      &gathering, data, &refusal);
	show_progress(&gathering, NULL);
	if (result)
		status = explain_failure(invocation->socket, result, refusal);
	if (gathering.sink) {
		command->sink->close(gathering.sink, !result, data, error);
	} else if (command->document && !result) {
		complete_document(command, gathering.document);
		if (!invocation->json && note_kept())
			json_object_set(gathering.document, "note", (json_t *)note_kept());
		*data = json_incref(gathering.document);
	} else if (command->list && !result) {
		*data = json_incref(gathering.rows);
	}
	if (*error && !result)
		status = explain(error, EXIT_FAILURE);
	if (status == EXIT_SUCCESS)
		note_print(invocation->json);
	free(refusal);
	json_decref(gathering.document);
	json_decref(gathering.rows);
	return status;
}

static void give_up(int signal)
{
	(void)signal;
	_exit(EXIT_NO_DAEMON);
}

static int run_command(const struct invocation *invocation)
{
	json_t *data = NULL;
	int status;

	if (invocation->command->limit_s) {
		signal(SIGALRM, give_up);
		alarm(invocation->command->limit_s);
	}
	status = call_daemon(invocation, &data);

	if (status == EXIT_SUCCESS) {
		status = print_answer(invocation, &data);
		flush_or_exit();
	}
	json_decref(data);
	return status;
}

int main(int argc, char **argv)
{
	struct invocation invocation = {.socket = socket_path()};
	int status;

	/* Names are UTF-8 in every locale. */
	setlocale(LC_CTYPE, "C.UTF-8");
	status = ctl_parse_command_line(&invocation, argc, argv);

	if (status < 0)
		status = run_command(&invocation);
	else
		flush_or_exit();
	/* An answer that is text or goes to a file is no JSON. */
	print_failure(invocation.json && !(invocation.command &&
					   (invocation.command->sink || invocation.command->text)),
		      status);
	json_decref(invocation.request);
	return status;
}

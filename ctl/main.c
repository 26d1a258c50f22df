/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * weftctl: sends one command to weftd's control socket and prints the answer, for people or, with
 * --json, for programs. Exit status: 0 done, 1 refused or failed, 2 called wrongly, 3 no daemon.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/commands.h"
#include "ctl/text.h"

enum { EXIT_USAGE = 2, EXIT_NO_DAEMON = 3 };
enum { OPT_JSON = 256, OPT_HELP, OPT_VERSION };

static const char default_socket[] = "/run/weft/control.sock";

static const struct option long_options[] = {
	{"json", no_argument, NULL, OPT_JSON},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

struct invocation {
	const char *socket;
	bool json;
	const struct ctl_command *command;
	json_t *request;
};

static void print_help(void)
{
	puts("Usage: weftctl [-s SOCKET] [--json] COMMAND\n"
	     "Asks and directs weftd, the InfiniBand subnet manager.\n"
	     "\n"
	     "  -s SOCKET   its control socket; otherwise $WEFT_SOCKET, or /run/weft/control.sock\n"
	     "  --json      the answer as JSON\n"
	     "  --version   print the version and exit\n"
	     "  --help      print this and exit\n"
	     "\n"
	     "Commands:");
	for (const struct ctl_command *command = ctl_commands; command->words; command++) {
		char usage[64];

		ctl_usage(command, usage, sizeof(usage));
		printf("  %-22s %s\n", usage, command->summary);
	}
	puts("  help                   this text\n"
	     "\n"
	     "SRC and DST are nodes: a name, a GUID (0x...) or a LID.");
}

static const char *socket_path(void)
{
	const char *path = getenv("WEFT_SOCKET");

	return path && *path ? path : default_socket;
}

/* Returns -1 to go on, or the status to exit with. */
static int parse_command_line(struct invocation *invocation, int argc, char **argv)
{
	char error[CTL_ERROR_SIZE];
	int option;

	while ((option = getopt_long(argc, argv, "s:", long_options, NULL)) != -1) {
		switch (option) {
		case 's':
			invocation->socket = optarg;
			break;
		case OPT_JSON:
			invocation->json = true;
			break;
		case OPT_HELP:
			print_help();
			return EXIT_SUCCESS;
		case OPT_VERSION:
			puts("weftctl " WEFT_VERSION);
			return EXIT_SUCCESS;
		default: /* getopt has said what is wrong */
			fputs("weftctl: --help lists the options\n", stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc && !strcmp(argv[optind], "help")) {
		print_help();
		return EXIT_SUCCESS;
	}
	if (ctl_parse(argc - optind, argv + optind, &invocation->command, &invocation->request,
		      error)) {
		text_clean(error);
		fprintf(stderr, "weftctl: %s\n", error);
		return EXIT_USAGE;
	}
	return -1;
}

/* A list comes in parts; their rows are gathered in one array. */
struct gathering {
	const char *list; /* the member that has them; NULL: no list is expected */
	json_t *rows;
};

static void gather(void *ctx, json_t *part)
{
	struct gathering *gathering = ctx;

	if (gathering->list)
		json_array_extend(gathering->rows, json_object_get(part, gathering->list));
}

/* Says why a call failed; returns the status to exit with. */
static int explain_failure(const char *socket, int result, char *refusal)
{
	switch (result) {
	case -ENOENT:
	case -ECONNREFUSED:
		fprintf(stderr,
			"weftctl: no weftd answers on %s; -s or $WEFT_SOCKET names another "
			"socket\n",
			socket);
		return EXIT_NO_DAEMON;
	case -EACCES:
		fprintf(stderr,
			"weftctl: no rights on %s: root and the group that the socket has may "
			"connect\n",
			socket);
		return EXIT_FAILURE;
	case -EREMOTEIO:
		text_clean(refusal);
		fprintf(stderr, "weftctl: %s\n", refusal);
		return EXIT_FAILURE;
	case -EPROTO:
		fprintf(stderr, "weftctl: what answers on %s does not speak as weftd does\n",
			socket);
		return EXIT_FAILURE;
	case -ECONNRESET:
		fprintf(stderr, "weftctl: weftd on %s ended before it had answered\n", socket);
		return EXIT_FAILURE;
	default:
		fprintf(stderr, "weftctl: %s: %s\n", socket, strerror(-result));
		return EXIT_FAILURE;
	}
}

/* JSON is sorted by name, and ASCII, so that it looks the same wherever it comes from. */
static void print_answer(const struct invocation *invocation, json_t *data)
{
	if (invocation->json) {
		json_dumpf(data, stdout,
			   JSON_INDENT(2) | JSON_SORT_KEYS | JSON_ENSURE_ASCII | JSON_ENCODE_ANY);
		putchar('\n');
	} else {
		text_make_printable(data);
		invocation->command->print(data, stdout);
	}
}

static int run(const struct invocation *invocation)
{
	struct gathering gathering = {invocation->command->list, json_array()};
	json_t *answer = NULL;
	char *refusal = NULL;
	int status = EXIT_SUCCESS;
	int result = control_call(invocation->socket, invocation->request, gather, &gathering,
				  &answer, &refusal);

	if (result) {
		status = explain_failure(invocation->socket, result, refusal);
	} else {
		print_answer(invocation, gathering.list ? gathering.rows : answer);
		if (fflush(stdout) || ferror(stdout)) {
			fprintf(stderr, "weftctl: cannot write the answer: %s\n", strerror(errno));
			status = EXIT_FAILURE;
		}
	}
	free(refusal);
	json_decref(answer);
	json_decref(gathering.rows);
	return status;
}

int main(int argc, char **argv)
{
	struct invocation invocation = {.socket = socket_path()};
	int status = parse_command_line(&invocation, argc, argv);

	if (status < 0)
		status = run(&invocation);
	json_decref(invocation.request);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * weftsim: simulated fabrics. Each subcommand is a row of a table; main() finds the row and passes
 * the rest of the command line to it. Exit status 2 for usage, 1 for any other error, always with
 * one line that names the reason.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/mem.h"
#include "sim/do.h"
#include "sim/serve.h"
#include "sim/spec.h"
#include "sim/user.h"

enum { EXIT_USAGE = USER_EXIT_USAGE };

struct subcommand {
	const char *name;
	const char *arguments;
	const char *summary;
	/* argv[0] is the subcommand's name; the return value is the exit status. */
	int (*run)(const struct subcommand *self, int argc, char **argv);
};

static int usage_error(const struct subcommand *self, const char *reason)
{
	fprintf(stderr, "weftsim %s: %s; usage: weftsim %s %s\n", self->name, reason, self->name,
		self->arguments);
	return EXIT_USAGE;
}

/* An error of a full disk appears only when the stream is flushed. */
static int finish_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_SUCCESS;
	fprintf(stderr, "weftsim: cannot write the output: %m\n");
	return EXIT_FAILURE;
}

static int print_subcommand(const struct subcommand *self)
{
	printf("usage: weftsim %s %s\n%s\n", self->name, self->arguments, self->summary);
	return finish_output();
}

static int run_topology(const struct subcommand *self, int argc, char **argv)
{
	struct net *net;
	char *error;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		printf("weftsim %s %s\n%s\n\nA SPEC is one of\n", self->name, self->arguments,
		       self->summary);
		spec_print_help(stdout);
		return finish_output();
	}
	if (argc != 2 || argv[1][0] == '-')
		return usage_error(self, "one SPEC is needed");
	if (spec_build(argv[1], &net, &error)) {
		fprintf(stderr, "weftsim: %s\n", error);
		free(error);
		return EXIT_FAILURE;
	}
	net_print(stdout, net);
	net_free(net);
	return finish_output();
}

/* serve */

enum { TRAINING_US = 20000, NUMBER_MAX = 1000000000 };

static char *read_stream(FILE *stream, size_t *size)
{
	char *text = NULL;
	size_t room = 0;

	*size = 0;
	do {
		if (*size == room) {
			room = room ? 2 * room : 1 << 16;
			text = mem_resize(text, room, 1);
		}
		*size += fread(text + *size, 1, room - *size, stream);
	} while (!feof(stream) && !ferror(stream));
	return text;
}

/* NULL if an error was reported. */
static struct net *load_net(const char *path)
{
	FILE *stream = fopen(path, "re");
	struct net_error error = {0};
	struct net *net = NULL;
	char *text;
	size_t size;

	if (!stream) {
		fprintf(stderr, "weftsim: %s: %m\n", path);
		return NULL;
	}
	text = read_stream(stream, &size);
	if (ferror(stream))
		fprintf(stderr, "weftsim: %s: it cannot be read\n", path);
	else if (net_parse(path, text, size, &net, &error))
		fprintf(stderr, "weftsim: %s\n", error.text);
	fclose(stream);
	free(text);
	return net;
}

/* An existing file is a topology file, with any name; otherwise a text that looks like a path is a
 * file, too. */
static struct net *load_topology(const char *text)
{
	struct stat status;
	struct net *net;
	char *error;

	if (!stat(text, &status) || strchr(text, '/'))
		return load_net(text);
	if (!spec_build(text, &net, &error))
		return net;
	fprintf(stderr, "weftsim: %s, and no file has this name\n", error);
	free(error);
	return NULL;
}

static int number_option(const struct subcommand *self, const char *name, const char *text,
			 unsigned *out)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value > NUMBER_MAX) {
		fprintf(stderr, "weftsim %s: --%s: \"%s\" is no number of 0 to %d\n", self->name,
			name, text, NUMBER_MAX);
		return -EINVAL;
	}
	*out = value;
	return 0;
}

static int run_serve(const struct subcommand *self, int argc, char **argv)
{
	static const struct option options[] = {{"seed", required_argument, NULL, 0},
						{"smp-us", required_argument, NULL, 1},
						{"vl15-depth", required_argument, NULL, 2},
						{"send-us", required_argument, NULL, 3},
						{"smp-transit-us", required_argument, NULL, 4},
						{"socket", required_argument, NULL, 's'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	struct serve_options serving = {.world = {.training_us = TRAINING_US}};
	unsigned seed = 1;
	unsigned *const numbers[] = {&seed, &serving.world.smp_us, &serving.world.vl15_depth,
				     &serving.world.send_us, &serving.world.smp_transit_us};
	struct net *net;
	int option, which = 0;

	optind = 0;
	while ((option = getopt_long(argc, argv, "s:h", options, &which)) != -1) {
		if (option == 's')
			serving.socket = optarg;
		else if (option == 'h')
			return print_subcommand(self);
		else if (option >= (int)ARRAY_SIZE(numbers) ||
			 number_option(self, options[option].name, optarg, numbers[option]))
			return EXIT_USAGE;
	}
	if (optind + 1 != argc)
		return usage_error(self, "one TOPOLOGY is needed");
	net = load_topology(argv[optind]);
	if (!net)
		return EXIT_FAILURE;
	serving.world.seed = seed;
	return serve(&serving, net);
}

/* run, vm, do */

static int run_run(const struct subcommand *self, int argc, char **argv)
{
	static const struct option options[] = {{"socket", required_argument, NULL, 's'},
						{"node", required_argument, NULL, 'n'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	const char *socket = NULL, *node = NULL;
	int option;

	optind = 0;
	while ((option = getopt_long(argc, argv, "+s:n:h", options, NULL)) != -1) {
		if (option == 's')
			socket = optarg;
		else if (option == 'n')
			node = optarg;
		else if (option == 'h')
			return print_subcommand(self);
		else
			return EXIT_USAGE;
	}
	if (optind >= argc)
		return usage_error(self, "a COMMAND is needed");
	return user_run(socket, node, argv + optind);
}

enum { VM_NODES_MAX = 16 };

static int run_vm(const struct subcommand *self, int argc, char **argv)
{
	static const struct option options[] = {{"socket", required_argument, NULL, 's'},
						{"node", required_argument, NULL, 'n'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	const char *socket = NULL, *nodes[VM_NODES_MAX] = {NULL};
	unsigned count = 0;
	int option;

	optind = 0;
	while ((option = getopt_long(argc, argv, "+s:n:h", options, NULL)) != -1) {
		if (option == 's')
			socket = optarg;
		else if (option == 'h')
			return print_subcommand(self);
		else if (option != 'n')
			return EXIT_USAGE;
		else if (count == VM_NODES_MAX)
			return usage_error(self, "a virtual machine has at most 16 nodes");
		else
			nodes[count++] = optarg;
	}
	if (optind >= argc)
		return usage_error(self, "the COMMAND of an emulator is needed");
	return user_vm(socket, nodes, count ? count : 1, argv + optind);
}

static int run_do(const struct subcommand *self, int argc, char **argv)
{
	static const struct option options[] = {
		{"socket", required_argument, NULL, 's'}, {"help", no_argument, NULL, 'h'}, {0}};
	const char *socket = NULL;
	int option, status;

	optind = 0;
	while ((option = getopt_long(argc, argv, "+s:h", options, NULL)) != -1) {
		if (option == 'h') {
			print_subcommand(self);
			puts("\nCommands, each one word of the shell:");
			do_print_help(stdout);
			return finish_output();
		}
		if (option != 's')
			return EXIT_USAGE;
		socket = optarg;
	}
	if (optind >= argc)
		return usage_error(self, "a COMMAND is needed");
	status = user_do(socket, argv + optind, argc - optind);
	return status ? status : finish_output();
}

static const struct subcommand subcommands[] = {
	{"serve",
	 "[-s SOCKET] [--seed N] [--smp-us N] [--smp-transit-us N] [--vl15-depth N] [--send-us N] "
	 "TOPOLOGY",
	 "serves the fabric of a net file or a SPEC to programs, until SIGTERM or SIGINT",
	 run_serve},
	{"run", "[-s SOCKET] [-n NODE[:PORT]] -- COMMAND...",
	 "executes a program that finds the adapter of the node, and not those of this machine",
	 run_run},
	{"vm", "[-s SOCKET] [-n NODE]... -- QEMU [ARGUMENT]...",
	 "executes a virtual machine whose virtual HCAs are the adapters of the nodes", run_vm},
	{"do", "[-s SOCKET] 'COMMAND'...", "changes a served fabric, or prints its state", run_do},
	{"topology", "SPEC", "prints a topology as a net file that ibsim reads, too", run_topology},
};

static void sim_print_help(void)
{
	puts("usage: weftsim SUBCOMMAND ...\n");
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		printf("  %s %s\n      %s\n", subcommands[i].name, subcommands[i].arguments,
		       subcommands[i].summary);
	puts("\n  --help, --version\n\nA SPEC is one of");
	spec_print_help(stdout);
}

static int run_subcommand(int argc, char **argv)
{
	static char program[] = "weftsim"; /* for messages of getopt() */

	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		if (!strcmp(argv[0], subcommands[i].name)) {
			argv[0] = program;
			return subcommands[i].run(&subcommands[i], argc, argv);
		}
	fprintf(stderr, "weftsim: no subcommand is called \"%s\"; see weftsim --help\n", argv[0]);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {0}};

	/* The + leaves options behind the subcommand to the subcommand. */
	switch (getopt_long(argc, argv, "+hV", options, NULL)) {
	case 'h':
		sim_print_help();
		return finish_output();
	case 'V':
		puts("weftsim " WEFT_VERSION);
		return finish_output();
	case -1:
		break;
	default:
		return EXIT_USAGE;
	}
	if (optind < argc)
		return run_subcommand(argc - optind, argv + optind);
	fputs("weftsim: a subcommand is needed; see weftsim --help\n", stderr);
	return EXIT_USAGE;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * weftsim: fabrics for those who have none. Each subcommand is a row of a table; main() finds the
 * row and leaves the rest of the command line to it. Exit status 2 for usage, 1 for anything else
 * that stops it, always with one line why.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "sim/spec.h"

enum { EXIT_USAGE = 2 };

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

/* A full disk shows only when the stream is flushed. */
static int finish_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_SUCCESS;
	fprintf(stderr, "weftsim: cannot write the output: %m\n");
	return EXIT_FAILURE;
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

static const struct subcommand subcommands[] = {
	{"topology", "SPEC", "prints a topology as a net file that ibsim reads, too", run_topology},
};

static void print_help(void)
{
	puts("usage: weftsim SUBCOMMAND ...\n");
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		printf("  %s %s\n      %s\n", subcommands[i].name, subcommands[i].arguments,
		       subcommands[i].summary);
	puts("\n  --help, --version\n\nA SPEC is one of");
	spec_print_help(stdout);
}

static int run(int argc, char **argv)
{
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		if (!strcmp(argv[0], subcommands[i].name))
			return subcommands[i].run(&subcommands[i], argc, argv);
	fprintf(stderr, "weftsim: no subcommand is called \"%s\"; see weftsim --help\n", argv[0]);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {0}};

	/* The + leaves options behind the subcommand to it. */
	switch (getopt_long(argc, argv, "+hV", options, NULL)) {
	case 'h':
		print_help();
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
		return run(argc - optind, argv + optind);
	fputs("weftsim: a subcommand is needed; see weftsim --help\n", stderr);
	return EXIT_USAGE;
}

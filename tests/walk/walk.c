/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * walk: checks forwarding tables that were dumped or read back from switches. It walks all pairs of
 * ports of channel adapters through them. For tests that need a check independent of route/.
 *
 *
 *	walk [-a] [-p] [-l LMC] TOPOLOGY TABLES...
 *
 * TOPOLOGY is opensm-subnet.lst or output of ibnetdiscover. TABLES are opensm.fdbs or output of
 * dump_lfts. -a also walks from and to switches. -p prints the load of each port. LMC is that of
 * opensm-subnet.lst, which does not contain it. Exit status 0: every path ends at its destination;
 * 1: some paths fail, and the first of them are printed; 2: the input cannot be used.
 */
// WITH: tests/walk/fabric.o tests/walk/tables.o tests/walk/judge.o
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"
#include "tests/walk/judge.h"

enum { COMPLAINTS = 20, EXIT_UNUSABLE = 2 };

struct options {
	bool with_switches, show_ports;
	unsigned long lmc;
};

static void give_up(const char *text)
{
	fprintf(stderr, "walk: %s\n", text);
	exit(EXIT_UNUSABLE);
}

/* The whole file, terminated; the caller frees it. */
static char *read_file(const char *name, size_t *length)
{
	enum { CHUNK = 1 << 20 };
	FILE *file = fopen(name, "r");
	char *text = NULL, why[512];
	size_t got;

	*length = 0;
	do {
		text = mem_resize(text, *length + CHUNK + 1, 1);
		got = file ? fread(text + *length, 1, CHUNK, file) : 0;
		*length += got;
	} while (got);
	if (!file || ferror(file)) {
		snprintf(why, sizeof(why), "%s: %s", name, strerror(errno));
		give_up(why);
	}
	fclose(file);
	text[*length] = '\0';
	return text;
}

/* One line for each number that occurs, with its frequency: counts[number]. */
static void print_histogram(const char *what, const uint64_t *counts, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (counts[i])
			printf("%s %zu: %" PRIu64 "\n", what, i, counts[i]);
	}
}

/* A port between switches, whose load depends on the routing. */
static bool is_between(const struct walk_fabric *fabric, const struct walk_node *node,
		       unsigned port)
{
	int peer = node->port[port].peer;

	return node->is_switch && peer != WALK_NO_PEER && fabric->nodes[peer].is_switch;
}

static void print_port(const struct walk_fabric *fabric, const struct walk_node *node,
		       unsigned port, const struct walk_load *load)
{
	const struct walk_port *end = &node->port[port];

	printf("port \"%s\" %u to \"%s\" %u: dlids %u paths %" PRIu64 "\n", node->name, port,
	       fabric->nodes[end->peer].name, end->peer_port, load->dlids, load->paths);
}

/* The number of LIDs of each port, and the port with most paths. */
static void print_load(const struct walk_fabric *fabric, const struct walk_verdict *verdict,
		       bool show_ports)
{
	uint64_t *dlids = mem_array(LID_UNICAST_MAX + 1, sizeof(*dlids)), sum = 0;
	const struct walk_node *most_node = NULL;
	unsigned most_port = 0, ports = 0;
	uint64_t most = 0;

	for (unsigned n = 0; n < fabric->count; n++) {
		const struct walk_node *node = &fabric->nodes[n];

		for (unsigned p = 1; p <= node->num_ports; p++) {
			const struct walk_load *load;

			if (!is_between(fabric, node, p))
				continue;
			load = &verdict->load[n][p];
			dlids[load->dlids]++;
			sum += load->paths;
			ports++;
			if (show_ports)
				print_port(fabric, node, p, load);
			if (load->paths <= most)
				continue;
			most = load->paths;
			most_node = node;
			most_port = p;
		}
	}
	print_histogram("dlids", dlids, LID_UNICAST_MAX + 1);
	if (most_node)
		printf("load: mean %.1f over %u ports between switches, most %" PRIu64
		       " at \"%s\" port %u\n",
		       (double)sum / ports, ports, most, most_node->name, most_port);
	free(dlids);
}

static int judge(const struct walk_fabric *fabric, const struct options *options)
{
	struct walk_verdict verdict;
	bool good;

	walk_judge(fabric, options->with_switches, stdout, COMPLAINTS, &verdict);
	print_load(fabric, &verdict, options->show_ports);
	print_histogram("hops", verdict.hops, verdict.hops_max + 1);
	printf("paths %" PRIu64 ", reached %" PRIu64 ", unreached %" PRIu64 ", loops %" PRIu64 "\n",
	       verdict.paths, verdict.reached, verdict.unreached, verdict.loops);
	good = verdict.reached == verdict.paths && verdict.paths;
	walk_verdict_done(fabric, &verdict);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void read_all(struct walk_fabric *fabric, const struct options *options, char **names)
{
	char error[WALK_ERROR_SIZE];
	size_t length;
	char *text = read_file(names[0], &length);

	if (walk_read_topology(fabric, names[0], text, length, (uint8_t)options->lmc, error))
		give_up(error);
	free(text);
	while (*++names) {
		text = read_file(*names, &length);
		if (walk_read_tables(fabric, *names, text, length, error))
			give_up(error);
		free(text);
	}
}

int main(int argc, char **argv)
{
	struct options options = {0};
	struct walk_fabric fabric;
	int option, status;

	while ((option = getopt(argc, argv, "apl:")) != -1) {
		options.with_switches |= option == 'a';
		options.show_ports |= option == 'p';
		if (option == 'l')
			options.lmc = strtoul(optarg, NULL, 10);
		if (option == '?' || options.lmc > LMC_MAX)
			optind = argc;
	}
	if (argc - optind < 2)
		give_up("usage: walk [-a] [-p] [-l LMC] TOPOLOGY TABLES...");
	walk_fabric_init(&fabric);
	read_all(&fabric, &options, argv + optind);
	status = judge(&fabric, &options);
	walk_fabric_done(&fabric);
	return status;
}

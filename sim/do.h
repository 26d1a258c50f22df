/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of `weftsim do`: a table of them, which both ends read. The client looks for
 * mistakes in the words before it connects; the server finds the row and runs its function on the
 * world. A function that has much to do returns now and then and is called again, for the server
 * has others to serve.
 */
#ifndef SIM_DO_H
#define SIM_DO_H

#include <stdio.h>

#include "sim/kernel.h"
#include "sim/world.h"

enum { DO_WORDS_MAX = 8, DO_TEXT_SIZE = 512, DO_ERROR_SIZE = 512 };

enum { DO_AGAIN = 1 };

/* A command that is being worked on. */
struct do_call {
	struct world *world;
	struct kernel *kernel;
	const struct do_command *command;
	const char *words[DO_WORDS_MAX + 1]; /* what stands behind the command's name; then NULL */
	FILE *out;			     /* what the user sees */
	void *state;			     /* of a function that is called again; for free() */
	char error[DO_ERROR_SIZE];
	char text[DO_TEXT_SIZE]; /* the words are in it */
};

struct do_command {
	const char *name, *arguments, *help;
	unsigned least, most; /* words */
	/* 0: done; DO_AGAIN: to be called again; -errno, and why in error. */
	int (*run)(struct do_call *call);
};

/* Splits a command into words, which are separated by blanks and may be in double quotes, and finds
 * its row. -EINVAL and why in error. The call needs no world. */
int do_parse(struct do_call *call, const char *text);
/* Forgets what a function kept. */
void do_done(struct do_call *call);
void do_print_help(FILE *stream);

extern const struct do_command do_commands[]; /* until a name is NULL */

/* The functions of the rows. */
typedef int do_fn(struct do_call *call);
do_fn do_link, do_node, do_device, do_behave, do_smi, do_drop, do_delay, do_duplicate, do_trap;
do_fn do_count;
do_fn do_show, do_lft, do_mft, do_pkeys, do_clients, do_stats;
do_fn do_path, do_multicast, do_check;

/* Writes the reason into call->error; returns -EINVAL. */
int do_fail(struct do_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

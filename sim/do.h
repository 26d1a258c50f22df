/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of `weftsim do`: a table that client and server read. The client checks the words
 * before it connects; the server finds the row and runs its function on the world. A long function
 * returns at times and is called again, so that the server can serve other connections.
 */
#ifndef SIM_DO_H
#define SIM_DO_H

#include <stdio.h>

#include "sim/kernel.h"
#include "sim/world.h"

enum { DO_WORDS_MAX = 24, DO_TEXT_SIZE = 512, DO_ERROR_SIZE = 512 };

enum { DO_AGAIN = 1 };

/* A command under way. */
struct do_call {
	struct world *world;
	struct kernel *kernel;
	const struct do_command *command;
	const char *words[DO_WORDS_MAX + 1]; /* the arguments of the command; then NULL */
	int file;  /* that the client has opened for the command, or -1; its function takes it over
		    */
	FILE *out; /* the output for the user */
	/* Of a function that is called again; freed by do_done(). */
	void *state;
	void (*state_end)(void *state); /* frees the parts of state first; NULL: it has none */
	char error[DO_ERROR_SIZE];
	char text[DO_TEXT_SIZE]; /* storage of the words */
};

struct do_command {
	const char *name, *arguments, *help;
	unsigned least, most; /* words */
	/* Returns 0: done; DO_AGAIN: call it again; -errno, with the reason in error. */
	int (*run)(struct do_call *call);
};

/* Splits a command into words, which are separated by blanks and may be in double quotes, and finds
 * its row. Returns 0, or -EINVAL with the reason in error. The call needs no world. */
int do_parse(struct do_call *call, const char *text);
/* The file that the client opens for writing, and sends with the command; NULL: none. */
const char *do_file(const struct do_call *call);
/* Frees the state of a command, and closes its file, also before its end. */
void do_done(struct do_call *call);
/* Prints each command with its arguments and help. */
void do_print_help(FILE *stream);

extern const struct do_command do_commands[]; /* the last row has no name */

/* The functions of the rows; see struct do_command. */
typedef int do_fn(struct do_call *call);
do_fn do_link, do_node, do_device, do_behave, do_smi, do_drop, do_delay, do_duplicate, do_trap;
do_fn do_count;
do_fn do_show, do_lft, do_mft, do_pkeys, do_clients, do_stats, do_vms, do_capture;
do_fn do_path, do_multicast, do_check;
do_fn do_load;

/* Writes the reason into call->error; returns -EINVAL. */
int do_fail(struct do_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The clients of a weftsim server: `weftsim run`, `weftsim vm` and `weftsim do`. Called by
 * sim/main.c; all return the exit status and report errors on stderr in one line.
 */
#ifndef SIM_USER_H
#define SIM_USER_H

/* Executes a program (argv ends with NULL) on whose host the node's adapter is; socket and node may
 * be NULL. Returns only after an error. */
int user_run(const char *socket, const char *node, char **argv);

/* Executes an emulator (argv ends with NULL) with an option for each node: an interface that is the
 * node's adapter. A node may be NULL, as socket. Returns only after an error. */
int user_vm(const char *socket, const char *const *nodes, unsigned count, char **argv);

/* Sends commands to the server, one after the other, until it refuses one. */
int user_do(const char *socket, char *const *commands, int count);

enum { USER_EXIT_USAGE = 2 };

#endif

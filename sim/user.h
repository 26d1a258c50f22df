/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The users' end of a weftsim server: `weftsim run` and `weftsim do`. Called by sim/main.c; both
 * return the exit status and tell what is wrong on stderr in one line.
 */
#ifndef SIM_USER_H
#define SIM_USER_H

/* Becomes a program (argv ends with NULL) that takes the node for its machine; socket and node may
 * be NULL. Returns only when that cannot be. */
int user_run(const char *socket, const char *node, char **argv);

/* Has the server carry out commands, one after the other until one is refused. */
int user_do(const char *socket, char *const *commands, int count);

enum { USER_EXIT_USAGE = 2 };

#endif

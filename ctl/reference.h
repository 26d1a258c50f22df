/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The table of commands as text, for --help and for the manual page. Pure. */
#ifndef CTL_REFERENCE_H
#define CTL_REFERENCE_H

#include "ctl/commands.h"

/* Prints the commands that begin with these words (count 0: all) with their summaries; if it is one
 * command, also its details. */
void reference_help(int count, char *const *words, FILE *out);
/* Prints all commands as a part of a manual page. */
void reference_man(FILE *out);
/* Prints the JSON Schema of the requests that weftctl sends (ctl/requests.c). */
void reference_requests(FILE *out);

#endif

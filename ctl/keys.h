/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* `weftctl keys`: how ports are protected, and the keys of another manager, read from its file. */
#ifndef CTL_KEYS_H
#define CTL_KEYS_H

#include "ctl/commands.h"

void print_keys(const json_t *data, FILE *out);

/* As control_call(): has the configuration read again, then waits for the end of a sweep. */
int keys_rotate_perform(const char *socket, const json_t *request, json_t **result, char **refusal);

/* As control_call(): reads the guid2mkey that request names and sends it in pieces. What is wrong
 * with the file is told as a refusal. */
int keys_import_perform(const char *socket, const json_t *request, json_t **result, char **refusal);
void print_imported(const json_t *data, FILE *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * `weftctl save` and `weftctl restore`: the registry's records as a JSON document in a file of the
 * user's, one record a line. The file is made with mode 0600, for it may hold keys of services, and
 * gets its name when it is complete.
 */
#ifndef CTL_SAVE_H
#define CTL_SAVE_H

#include "ctl/commands.h"

extern const struct ctl_sink save_sink;
void print_saved(const json_t *data, FILE *out);

/* As control_call(): reads the file that request names and sends it in pieces. What is wrong with
 * the file is told as a refusal. */
int restore_perform(const char *socket, const json_t *request, json_t **result, char **refusal);
void print_restored(const json_t *data, FILE *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * `weftctl import opensm`: reads OpenSM's folder and cache with the user's rights, and writes a
 * weftd.conf, the partition file and a document for `weftctl restore` into a folder of their own,
 * so that they can be looked at before they count. No daemon is asked.
 */
#ifndef CTL_IMPORT_H
#define CTL_IMPORT_H

#include "ctl/commands.h"

/* As control_call(); what is wrong with the files is told as a refusal. */
int import_opensm(const char *socket, const json_t *request, json_t **result, char **refusal);
void print_opensm(const json_t *data, FILE *out);

#endif

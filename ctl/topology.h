/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * topology export and topology check: the daemon gives nodes and cables, which become a net here;
 * files are read with the user's rights. Digests and printers as ctl/commands.h has them; nothing
 * that the daemon says is relied on.
 */
#ifndef CTL_TOPOLOGY_H
#define CTL_TOPOLOGY_H

#include <stdbool.h>
#include <stdio.h>

#include "formats/net.h"
#include "lib/control.h"

/* The net of {"nodes":[...],"links":[...]}; to be freed. What makes no sense is left out. */
struct net *topology_net(const json_t *document);

/* The document in the format of the request: a text, or for json the document. */
int topology_export(const json_t *request, json_t **data, char error[]);
/* The differences from the request's file: an object with planned, found and a list. */
int topology_check(const json_t *request, json_t **data, char error[]);

void print_text(const json_t *data, FILE *out); /* a text as it is, else JSON */
void print_differences(const json_t *data, FILE *out);
bool differences_found(const json_t *data);

#endif

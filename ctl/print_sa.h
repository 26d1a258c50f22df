/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How what is registered with the SA looks for people; as in ctl/print.h. */
#ifndef CTL_PRINT_SA_H
#define CTL_PRINT_SA_H

#include <stdio.h>

#include "ctl/commands.h"
#include "lib/control.h"

void print_groups(const json_t *data, FILE *out);
/* The group by itself, not as a list of one. */
int group_digest(const json_t *request, json_t **data, char error[CTL_ERROR_SIZE]);
void print_group(const json_t *data, FILE *out);
void print_services(const json_t *data, FILE *out);
void print_subscriptions(const json_t *data, FILE *out);
void print_aliases(const json_t *data, FILE *out);
void print_alias_set(const json_t *data, FILE *out);
void print_alias_removed(const json_t *data, FILE *out);

#endif

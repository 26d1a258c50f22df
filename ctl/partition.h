/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Partitions for people, and partition files that are checked before they count. */
#ifndef CTL_PARTITION_H
#define CTL_PARTITION_H

#include <stdbool.h>
#include <stdio.h>

#include "ctl/commands.h"

void print_partitions(const json_t *data, FILE *out);
int partition_digest(const json_t *request, json_t **data, char error[CTL_ERROR_SIZE]);
void print_partition(const json_t *data, FILE *out);
void print_partition_added(const json_t *data, FILE *out);
void print_partition_removed(const json_t *data, FILE *out);
void print_members_changed(const json_t *data, FILE *out);
/* A port did not take its keys, or not all of the change was so when it was answered. */
void print_partitions_accepted(const json_t *data, FILE *out);
bool partition_change_failed(const json_t *data);

/* Reads the file with the user's rights and asks the daemon what it would change. */
int partition_check(const char *socket, const json_t *request, json_t **result, char **refusal);
void print_partition_check(const json_t *data, FILE *out);

#endif

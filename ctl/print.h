/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How each command's answer looks for people. data is what --json would print: the result, or for
 * lists one array of all rows; its strings have been made printable. Nothing in data is relied on.
 */
#ifndef CTL_PRINT_H
#define CTL_PRINT_H

#include <stdio.h>

#include "lib/control.h"

void print_status(const json_t *data, FILE *out);
void print_sweep(const json_t *data, FILE *out);
void print_nodes(const json_t *data, FILE *out);
void print_links(const json_t *data, FILE *out);
void print_route(const json_t *data, FILE *out);

#endif

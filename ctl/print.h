/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How each command's answer looks for people. data is what --json would print: the result, or for
 * lists one array of all rows; its strings have been made printable. Nothing in data is relied on.
 */
#ifndef CTL_PRINT_H
#define CTL_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "ctl/commands.h"

void print_status(const json_t *data, FILE *out);
void print_sweep(const json_t *data, FILE *out);
void print_nodes(const json_t *data, FILE *out);
int node_digest(const json_t *request, json_t **data, char error[CTL_ERROR_SIZE]);
void print_node(const json_t *data, FILE *out);
void print_ports(const json_t *data, FILE *out);
void print_port(const json_t *data, FILE *out);
void print_port_change(const json_t *data, FILE *out);
void print_log_levels(const json_t *data, FILE *out);
void print_links(const json_t *data, FILE *out);
void print_route(const json_t *data, FILE *out);
void print_routing(const json_t *routing, FILE *out); /* a paragraph of status */

/* print_events.c: a row of events */
void print_event(const json_t *row, FILE *out);

/* print_ha.c */
void print_ha(const json_t *data, FILE *out);
void print_handover(const json_t *data, FILE *out);
void print_ordered(const json_t *data, FILE *out);

/* print_route.c */
void print_route_check(const json_t *data, FILE *out);
void print_route_quality(const json_t *data, FILE *out);
void print_route_plan(const json_t *data, FILE *out);
void print_route_engine(const json_t *data, FILE *out);
bool route_check_failed(const json_t *data);

#endif

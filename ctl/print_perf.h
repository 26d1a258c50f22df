/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The answers about counters for people, as ctl/print.h; and the metrics, which go out as they
 * come. */
#ifndef CTL_PRINT_PERF_H
#define CTL_PRINT_PERF_H

#include "ctl/commands.h"

void print_top(const json_t *data, FILE *out);
void print_errors(const json_t *data, FILE *out);
void print_counters(const json_t *data, FILE *out);
void print_perf_sweep(const json_t *data, FILE *out);
int errors_digest(const json_t *request, json_t **data, char error[CTL_ERROR_SIZE]);
extern const struct ctl_sink metrics_sink;

#endif

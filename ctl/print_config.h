/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The configuration in force, and what a reload changes or would change, as ctl/print.h. */
#ifndef CTL_PRINT_CONFIG_H
#define CTL_PRINT_CONFIG_H

#include <stdio.h>

#include "lib/control.h"

void print_options(const json_t *data, FILE *out);
void print_would_change(const json_t *data, FILE *out);
void print_reloaded(const json_t *data, FILE *out);

#endif

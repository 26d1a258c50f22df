/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Prints the table of options as the pages show it. `make generated` puts the output into the
 * pages. Pure.
 */
#ifndef WEFTD_CONF_REFERENCE_H
#define WEFTD_CONF_REFERENCE_H

#include <stdbool.h>
#include <stdio.h>

/* Prints all options in a form. "file": a configuration file with all defaults commented out.
 * "man": for a manual page. "table": tables in Markdown. "opensm": a table in Markdown of OpenSM's
 * options and their counterparts. Returns false if there is no such form. */
bool conf_reference_print(const char *form, FILE *out);
/* Prints the summary of an option as plain text. There must be an option of this name. */
void conf_reference_summary(const char *name, FILE *out);

#endif

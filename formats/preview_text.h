/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The report of a takeover preview as text, for `weftd --preview` and `weftctl takeover preview`.
 * It accepts any JSON: members may be absent or of another type. Pure.
 */
#ifndef FORMATS_PREVIEW_TEXT_H
#define FORMATS_PREVIEW_TEXT_H

#include <stdio.h>

#include "lib/control.h"

/* Prints the summary, and a line for each changed value if the report has a list. */
void preview_text_print(const json_t *report, FILE *out);

#endif

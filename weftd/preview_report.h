/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The report of `weftd --preview`: the Sets that a takeover would send, from the records of
 * mad/preview.h. formats/preview_text.h prints it. M_Keys are never part of it. Pure.
 */
#ifndef WEFTD_PREVIEW_REPORT_H
#define WEFTD_PREVIEW_REPORT_H

#include <stdbool.h>

#include "lib/control.h"
#include "mad/preview.h"

/* Returns a new object: counts of Sets, LIDs, entries of tables, P_Keys and members, and the links
 * that would bounce. list: also each changed value, in the order of the Sets. */
json_t *preview_report(const struct preview *preview, bool list);

#endif

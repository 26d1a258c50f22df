/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How the commands of the performance manager write ports and links. Private to pm/. */
#ifndef PM_ROWS_H
#define PM_ROWS_H

#include "lib/control.h"
#include "pm/context.h"
#include "pm/survey.h"

/* Members of a row: who a port is (node GUID, description, LID, number), and what it leads to if
 * the view says so (NULL: there is none). */
void pm_port_members(const struct pm_agent *agent, uint8_t num, const struct view *view,
		     struct buffer *out);
/* What its rates are, a second; null where one is not known, or none. */
void pm_rates_row(const struct pm_agent *agent, uint8_t num, const struct pm_port *port,
		  const char *name, struct buffer *out);
/* Members: totals of its counters by name that are not 0, with names of those that rose at the last
 * read, and of those that are full. */
void pm_error_members(const struct pm_port *port, struct buffer *out);
void pm_link_row(const struct view *view, const struct pm_slow_link *link, struct buffer *out);
/* The counters of an attribute by name, of its first rows. */
void pm_counters_row(const struct format *format, const void *counters, unsigned rows,
		     const char *name, struct buffer *out);

#endif

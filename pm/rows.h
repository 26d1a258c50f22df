/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How the commands of the performance manager write ports and links. Private to pm/. */
#ifndef PM_ROWS_H
#define PM_ROWS_H

#include "lib/control.h"
#include "pm/context.h"
#include "pm/survey.h"

/* Who a port is: node GUID, description, LID, number, and what it leads to if the view says so
 * (NULL: there is none). A new reference, as all here. */
json_t *pm_port_json(const struct pm_agent *agent, uint8_t num, const struct view *view);
/* What its rates are, a second; null where one is not known. */
json_t *pm_rates_json(const struct pm_agent *agent, uint8_t num, const struct pm_port *port);
/* Totals of its counters by name that are not 0, with names of those that rose at the last read,
 * and of those that are full. */
void pm_put_errors(json_t *row, const struct pm_port *port);
json_t *pm_link_json(const struct view *view, const struct pm_slow_link *link);
/* The counters of an attribute by name, of its first rows. */
json_t *pm_counters_json(const struct format *format, const void *counters, unsigned rows);

#endif

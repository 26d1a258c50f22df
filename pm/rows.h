/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How the commands of the performance manager write ports and links. Private to pm/. */
#ifndef PM_ROWS_H
#define PM_ROWS_H

#include "lib/control.h"
#include "pm/context.h"
#include "pm/survey.h"

/* The other end of the cable of a port; facts NULL: unknown. */
struct pm_far {
	const struct node_facts *facts; /* borrowed from the snapshot */
	lid_t lid;
	uint8_t num;
};
struct pm_far pm_far_end(const struct snapshot *snapshot, const struct pm_agent *agent,
			 uint8_t num);

/* Members of a row: a port (node GUID, description, LID, number) and, if the view has it, its peer.
 * view may be NULL. */
void pm_port_members(const struct pm_agent *agent, uint8_t num, const struct view *view,
		     struct buffer *out);
/* Its rates per second; an unknown rate is null, as is the whole object if the port was never
 * read. */
void pm_rates_row(const struct pm_agent *agent, uint8_t num, const struct pm_port *port,
		  const char *name, struct buffer *out);
/* Its symbol BER; null: unknown. */
void pm_ber_row(const struct pm_agent *agent, uint8_t num, const struct pm_port *port,
		const char *name, struct buffer *out);
/* The readings of a port as an array, the oldest first. NULL: none. */
void pm_history_row(const struct pm_history *history, unsigned deci_gbps, const char *name,
		    struct buffer *out);
/* An object with the rise of each counter that rose. */
void pm_gained_row(const struct pm_news *news, const char *name, struct buffer *out);
/* The rate of the link of a port, in units of 100 Mb/s; 0: unknown. */
unsigned pm_link_rate(const struct pm_agent *agent, uint8_t num);
/* Members: the totals of its counters above 0 by name, the names of those that rose at the last
 * read, and of those at their maximum. */
void pm_error_members(const struct pm_port *port, struct buffer *out);
/* Whether the total of one of these counters is at least this number. */
bool pm_has_errors(const struct pm_port *port, uint64_t least);
/* An object with both ends of a slow link, its present and its possible speed. */
void pm_link_row(const struct view *view, const struct pm_slow_link *link, struct buffer *out);
/* The first rows of an attribute's counters by name. */
void pm_counters_row(const struct format *format, const void *counters, unsigned rows,
		     const char *name, struct buffer *out);

#endif

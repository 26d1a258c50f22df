/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The last readings of ports: of those whose error counters rose, and of those that perf show
 * named. A port with a history takes 840 bytes. At most PM_HISTORIES ports have one, which is 3.5
 * MB; all 40,000 adapter ports of a fabric would take 34 MB. Then a port that was only named loses
 * its history, or else the port whose errors rose the longest time ago. perf show never takes the
 * history of a port. Private to pm/. Loop thread only.
 */
#ifndef PM_HISTORY_H
#define PM_HISTORY_H

#include "fabric/view.h"
#include "lib/list.h"
#include "pm/count.h"

enum { PM_READINGS = 10, PM_HISTORIES = 4096, PM_HISTORY_COUNTERS = PORT_ERRORS + 1 };

struct pm_key { /* identifies a port, which may disappear while the key is kept */
	guid_t guid;
	bool is_switch;
	uint8_t num;
};

struct pm_reading {
	uint64_t time_s; /* wall clock */
	uint32_t
		span_ms; /* since the reading before; 0: there was none, and nothing below counts */
	/* The rise of the error counters, and last of PortXmitWait, at most UINT32_MAX. */
	uint32_t rose[PM_HISTORY_COUNTERS];
	float rate[TRAFFIC_SHORT]; /* as in struct pm_port */
};

struct pm_history {
	struct list link; /* in shown or used */
	struct pm_key key;
	uint16_t place; /* in the table, from 1 on; struct pm_port has it, too */
	uint8_t count;	/* readings */
	uint8_t next;	/* the index of the next reading */
	struct pm_reading reading[PM_READINGS];
};

struct pm_histories {
	struct pm_history **list;
	size_t count, limit;
	struct list shown; /* of ports that were only named: these are dropped first, */
	struct list used;  /* then these, the first at the beginning */
};

void pm_histories_init(struct pm_histories *histories);
void pm_histories_done(struct pm_histories *histories);
/* NULL: the port has none. */
struct pm_history *pm_history_of(const struct pm_histories *histories, const struct pm_key *key,
				 const struct pm_port *port);
/* Gives a port whose errors rose a history, or keeps the one that it has. */
void pm_history_keep(struct pm_histories *histories, const struct pm_key *key,
		     struct pm_port *port);
/* Gives a port that was named a history, if there is one to spare. */
void pm_history_offer(struct pm_histories *histories, const struct pm_key *key,
		      struct pm_port *port);
/* Adds the errors of a reading, if the port has a history; its traffic is unknown. */
void pm_history_add(struct pm_histories *histories, const struct pm_key *key,
		    const struct pm_port *port, const struct pm_news *news, uint64_t time_s);
/* Adds the traffic to the reading that was added last. */
void pm_history_add_traffic(struct pm_histories *histories, const struct pm_key *key,
			    const struct pm_port *port);
/* A reading, 0: the oldest; place < count. */
const struct pm_reading *pm_reading_at(const struct pm_history *history, unsigned place);
/* The bit of a counter in rose[]. */
static inline unsigned pm_history_bit(unsigned i)
{
	return i < PORT_ERRORS ? i : SELECT_XMIT_WAIT;
}

#endif

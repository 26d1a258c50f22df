/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The places for reports in progress, and the subscriptions that wait for a place. There are two
 * lanes, each with a fixed number of places. Within a lane the ports take turns, and a port has at
 * most its share of the places. So a port with many subscriptions that never answer delays no other
 * port. Used by report.c, which owns the items; loop thread only.
 */
#ifndef SA_REPORT_LANES_H
#define SA_REPORT_LANES_H

#include <stdbool.h>

#include "include/iba.h"
#include "lib/list.h"
#include "lib/map.h"

enum lane { QUICK, SLOW, LANES };

/* A port with subscriptions. */
struct lane_port {
	guid_t guid;
	unsigned users; /* subscriptions, and reports in progress */
	struct list all;
	struct lane_queue {
		struct lane_port *port;
		struct list waiting; /* items; the first is next */
		struct list turn;    /* in the lane's turns: it has items and free places */
		unsigned under_way;
	} queues[LANES];
};

struct lanes {
	struct map by_guid;
	struct list all; /* in the order of arrival */
	struct list turns[LANES];
	unsigned under_way[LANES];
};

void lanes_init(struct lanes *lanes);
void lanes_done(struct lanes *lanes); /* no port may have users any more */

/* The port of this GUID. Each call adds a user, lane_port_put() removes one; a port without
 * users is freed. */
struct lane_port *lanes_port(struct lanes *lanes, guid_t guid);
void lane_port_put(struct lanes *lanes, struct lane_port *port);

/* Adds the item, which is in no list, after the other items of the port. A waiting item may be
 * deleted from its list at any time. */
void lanes_wait(struct lanes *lanes, struct lane_port *port, enum lane lane, struct list *item);
/* The same, but before all other items of the lane. */
void lanes_wait_first(struct lanes *lanes, struct lane_port *port, enum lane lane,
		      struct list *item);
/* Removes and returns the next item; NULL if no waiting item may have a place now. */
struct list *lanes_next(struct lanes *lanes, enum lane lane);
/* Moves all items that wait in the lane to the end of out. */
void lanes_drain(struct lanes *lanes, enum lane lane, struct list *out);

/* lanes_enter(): a report takes a place of the port in the lane; lanes_leave(): it frees the
 * place. Both also add and remove a user of the port. */
void lanes_enter(struct lanes *lanes, struct lane_port *port, enum lane lane);
void lanes_leave(struct lanes *lanes, struct lane_port *port, enum lane lane);

#endif

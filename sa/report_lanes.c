/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lanes of reports: for each lane a ring of ports, the first of which has the next turn. A port
 * without a waiting item or a free place is in no ring. */
#include "sa/report_lanes.h"

#include <stdlib.h>

#include "lib/mem.h"
#include "sa/report.h"

static const struct {
	unsigned places, share; /* share: of one port */
} limits[LANES] = {
	[QUICK] = {REPORT_QUICK_MAX, REPORT_QUICK_SHARE},
	[SLOW] = {REPORT_SLOW_MAX, REPORT_SLOW_SHARE},
};

void lanes_init(struct lanes *lanes)
{
	*lanes = (struct lanes){0};
	map_init(&lanes->by_guid);
	list_init(&lanes->all);
	for (unsigned lane = 0; lane < LANES; lane++)
		list_init(&lanes->turns[lane]);
}

void lanes_done(struct lanes *lanes)
{
	map_done(&lanes->by_guid);
}

struct lane_port *lanes_port(struct lanes *lanes, guid_t guid)
{
	struct lane_port *port = map_get(&lanes->by_guid, guid);

	if (!port) {
		port = mem_zalloc(sizeof(*port));
		port->guid = guid;
		for (unsigned lane = 0; lane < LANES; lane++) {
			port->queues[lane].port = port;
			list_init(&port->queues[lane].waiting);
			list_init(&port->queues[lane].turn);
		}
		list_init(&port->all);
		list_push(&lanes->all, &port->all);
		map_put(&lanes->by_guid, guid, port);
	}
	port->users++;
	return port;
}

void lane_port_put(struct lanes *lanes, struct lane_port *port)
{
	if (--port->users)
		return;
	for (unsigned lane = 0; lane < LANES; lane++)
		list_del(&port->queues[lane].turn);
	list_del(&port->all);
	map_remove(&lanes->by_guid, port->guid);
	free(port);
}

static void take_turns(struct lanes *lanes, struct lane_port *port, enum lane lane)
{
	struct lane_queue *queue = &port->queues[lane];

	if (list_empty(&queue->turn) && !list_empty(&queue->waiting) &&
	    queue->under_way < limits[lane].share)
		list_push(&lanes->turns[lane], &queue->turn);
}

void lanes_wait(struct lanes *lanes, struct lane_port *port, enum lane lane, struct list *item)
{
	list_push(&port->queues[lane].waiting, item);
	take_turns(lanes, port, lane);
}

void lanes_wait_first(struct lanes *lanes, struct lane_port *port, enum lane lane,
		      struct list *item)
{
	struct lane_queue *queue = &port->queues[lane];

	list_push_front(&queue->waiting, item);
	list_del(&queue->turn);
	list_push_front(&lanes->turns[lane], &queue->turn);
}

struct list *lanes_next(struct lanes *lanes, enum lane lane)
{
	struct list *turn, *item = NULL;

	if (lanes->under_way[lane] >= limits[lane].places)
		return NULL;
	while (!item && (turn = list_pop(&lanes->turns[lane]))) {
		struct lane_queue *queue = container_of(turn, struct lane_queue, turn);

		if (queue->under_way < limits[lane].share)
			item = list_pop(&queue->waiting);
		take_turns(lanes, queue->port, lane);
	}
	return item;
}

void lanes_drain(struct lanes *lanes, enum lane lane, struct list *out)
{
	list_for_each (link, &lanes->all)
		list_splice(out, &container_of(link, struct lane_port, all)->queues[lane].waiting);
}

void lanes_enter(struct lanes *lanes, struct lane_port *port, enum lane lane)
{
	port->users++;
	port->queues[lane].under_way++;
	lanes->under_way[lane]++;
}

void lanes_leave(struct lanes *lanes, struct lane_port *port, enum lane lane)
{
	port->queues[lane].under_way--;
	lanes->under_way[lane]--;
	take_turns(lanes, port, lane);
	lane_port_put(lanes, port);
}

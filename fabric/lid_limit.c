/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The needed size of forwarding tables: the limit of the LIDs in use (lid.h). It is the smallest
 * table in the fabric, unless that costs more than losing the switch with this table. Each table
 * size gets a price, by one walk over the ports; most fabrics have one size. Stages of lid.c.
 */
#include <stdlib.h>

#include "fabric/lid_parts.h"
#include "lib/mem.h"

static unsigned cap_of(const struct node *node)
{
	return node->sw ? node->facts->sw.linear_fdb_cap : 0;
}

/* The switch whose table decides whether packets reach the port; NULL: none. */
static const struct node *switch_of(const struct port *port)
{
	const struct port *at = port_of_switch(port) ? port : port->peer;

	return at && port_of_switch(at) ? at->node : NULL;
}

static bool is_small(const struct port *port, unsigned limit)
{
	const struct node *sw = switch_of(port);

	return sw && cap_of(sw) && cap_of(sw) < limit;
}

/* LIDs in use as destinations must not be removed. */
static bool is_working(const struct port *port)
{
	const struct port_info *info = port_info(port);

	return info->lid && (info->port_state == PORT_ACTIVE || port_of_switch(port)) &&
	       (!port->lid || port->lid == info->lid);
}

static int lid_cap_order(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

/* 0, of switches without a table, is no size. */
unsigned lid_find_caps(void *arg, size_t *at)
{
	struct lid_work *work = arg;
	const struct roster *roster = fabric_roster(work->fabric);
	struct lid_limit *limit = &work->caps;
	unsigned *caps;
	size_t count = 0;

	if ((*at)++)
		return 0;
	caps = limit->caps = mem_array(roster->num_switches, sizeof(*caps));
	for (size_t i = 0; i < roster->num_switches; i++) {
		unsigned cap = cap_of(roster->switches[i]);

		if (cap)
			caps[count++] = cap > LID_UNICAST_MAX ? LID_UNICAST_MAX + 1u : cap;
	}
	qsort(caps, count, sizeof(*caps), lid_cap_order);
	for (size_t i = 0; i < count; i++) {
		if (!limit->kinds || caps[limit->kinds - 1] != caps[i])
			caps[limit->kinds++] = caps[i];
	}
	work->limit = limit->kinds ? caps[0] : LID_UNICAST_MAX + 1;
	return (unsigned)roster->num_switches + 1;
}

/* Adds a port to the price of using no LID from cap on, and to the price of losing the switches
 * with smaller tables. First count working ports that lose their switch or their LID, then others
 * that do. */
static void lid_limit_add_port(struct lid_work *work, const struct port *port, unsigned cap)
{
	struct lid_limit *limit = &work->caps;
	unsigned lids = 1u << lid_lmc_of(work, port);
	lid_t lid = port->lid ? port->lid : is_working(port) ? port_info(port)->lid : 0;

	if (is_small(port, cap) || lid + lids > cap) {
		limit->working += is_working(port);
		limit->others += !is_working(port);
		return;
	}
	limit->need += lids;
	/* If we are cut off, no manager brings it up. */
	limit->others +=
		!is_working(port) && work->fabric->sm_port && is_small(work->fabric->sm_port, cap);
}

static void judge_cap(struct lid_work *work, unsigned cap, bool first)
{
	struct lid_limit *limit = &work->caps;
	uint32_t room = cap - LID_UNICAST_MIN;
	uint64_t price;

	if (limit->need > room)
		limit->others += (limit->need - room) >> work->lmc;
	price = (uint64_t)limit->working << 32 | limit->others;
	if (first || price < limit->least) {
		limit->least = price;
		work->limit = cap;
	}
	limit->working = limit->others = limit->need = 0;
}

unsigned lid_find_price(void *arg, size_t *at)
{
	struct lid_work *work = arg;
	struct lid_limit *limit = &work->caps;
	size_t kind = work->count ? *at / work->count : limit->kinds;
	bool free_of_cost = kind && !limit->least;

	if (limit->kinds < 2 || kind == limit->kinds || free_of_cost)
		return 0;
	lid_limit_add_port(work, work->ports[*at % work->count], limit->caps[kind]);
	if (++*at % work->count == 0)
		judge_cap(work, limit->caps[kind], kind == 0);
	return 2;
}

unsigned lid_take_limit(void *arg, size_t *at)
{
	struct lid_work *work = arg;

	if ((*at)++)
		return 0;
	if (work->fabric->lid_limit != work->limit)
		work->fabric->topology++; /* other switches are reached through it */
	work->fabric->lid_limit = work->limit;
	return 1;
}

/* Ports that no route will reach get no LID; if they have one, it stays reserved. */
unsigned lid_leave_out(void *arg, size_t *at)
{
	struct lid_work *work = arg;
	struct port *port;

	if (*at == work->count) {
		work->count = work->left;
		return 0;
	}
	port = work->ports[(*at)++];
	if (!is_small(port, work->limit))
		work->ports[work->left++] = port;
	return 1;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of `weftsim do` that follow the switches' own tables: one path, one multicast
 * packet, and every pair of adapter ports. They use the programmed tables, not a manager's view;
 * every link on the way must be ACTIVE at both ends, as for data. On the server's thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "sim/do.h"
#include "sim/find.h"
#include "sim/world_parts.h"

static int named_end(struct do_call *call, const char *word, struct device_port **out)
{
	char error[FIND_ERROR_SIZE];

	return find_end_port(call->world, word, out, error) ? do_fail(call, "%s", error) : 0;
}

static const char *walk_port_name(const struct device_port *port)
{
	return find_name(port->device);
}

/* path */

/* Follows the next link, or returns the reason. */
static int cross(struct do_call *call, const struct device_port **at)
{
	const struct device_port *out = *at;

	if (!out->peer)
		return do_fail(call, "the way ends at %s: nothing is cabled to port %u",
			       walk_port_name(out), out->num);
	if (!device_port_passes(out))
		return do_fail(call, "the way ends at %s: the link of port %u carries no data",
			       walk_port_name(out), out->num);
	*at = out->peer;
	return 0;
}

static int walk_switches(struct do_call *call, const struct device_port *at,
			 const struct device_port *to, unsigned *passed)
{
	lid_t lid = to->info.lid;
	int r = at->num ? cross(call, &at) : 0;

	while (!r && device_is_switch(at->device)) {
		int out = switch_out_port(at->device, lid);

		if (!out)
			break;
		if (out < 0)
			return do_fail(call, "the way ends at %s: no entry for LID %u",
				       walk_port_name(at), lid);
		if (++*passed > call->world->num_switches)
			return do_fail(call, "the way runs in a circle");
		fprintf(call->out, "%s [%u] -> [%d]\n", walk_port_name(at), at->num, out);
		at = &at->device->port[out];
		r = cross(call, &at);
	}
	if (!r &&
	    !device_port_has_lid(device_is_switch(at->device) ? &at->device->port[0] : at, lid))
		return do_fail(call, "the way ends at %s, which is not it", walk_port_name(at));
	return r;
}

int do_path(struct do_call *call)
{
	struct device_port *from, *to;
	unsigned passed = 0;
	int r = named_end(call, call->words[0], &from);

	if (!r)
		r = named_end(call, call->words[1], &to);
	if (r)
		return r;
	if (!to->info.lid)
		return do_fail(call, "%s has no LID yet", walk_port_name(to));
	fprintf(call->out, "%s [%u]\n", walk_port_name(from), from->num);
	if (from != to)
		r = walk_switches(call, from, to, &passed);
	if (!r)
		fprintf(call->out, "%s [%u], LID %u: %u switches\n", walk_port_name(to), to->num,
			to->info.lid, passed);
	return r;
}

/* multicast */

static void print_receiver(void *ctx, const struct device_port *port)
{
	const struct do_call *call = ctx;

	fprintf(call->out, "%s [%u]\n", walk_port_name(port), port->num);
}

static int spread_from(struct do_call *call, const struct device_port *from, lid_t mlid)
{
	struct world_spread spread;

	if (world_multicast(call->world, from->device, from->num, mlid, print_receiver, call,
			    &spread))
		return do_fail(call, "the link of port %u of %s carries no data", from->num,
			       walk_port_name(from));
	fprintf(call->out, "%u received it\n", spread.receivers);
	if (spread.circles)
		return do_fail(call, "the packet runs in circles: it came back %u times",
			       spread.circles);
	return spread.again ? do_fail(call, "%u duplicates: ports received it more than once",
				      spread.again)
			    : 0;
}

int do_multicast(struct do_call *call)
{
	struct device_port *from;
	char *end;
	unsigned long mlid = strtoul(call->words[0], &end, 0);
	int r = named_end(call, call->words[1], &from);

	if (r)
		return r;
	if (*end || mlid < LID_MULTICAST_MIN || mlid > LID_MULTICAST_MAX)
		return do_fail(call, "\"%.20s\" is no multicast LID; they are 0x%x to 0x%x",
			       call->words[0], LID_MULTICAST_MIN, LID_MULTICAST_MAX);
	return spread_from(call, from, mlid);
}

/*
 * check: all paths to a LID form a graph in which every switch has at most one successor. So one
 * pass over the switches shows for each whether packets arrive, end or loop. With the number of
 * adapter ports at each switch this counts all pairs. The ends of links are read once; tables are
 * read when their turn comes.
 */

enum fate { UNKNOWN, ON_THE_WAY, ARRIVES, ENDS, CIRCLES, FATES };

enum { STEPS_A_TURN = 200000, SHOWN_MAX = 5 };

/* The end of a link: the number of a switch, that of an adapter port with this bit, or nowhere. */
#define TO_ADAPTER (UINT32_C(1) << 31)
#define NOWHERE UINT32_MAX

struct check_switch {
	const struct device *device;
	const uint32_t *leads; /* by port */
	uint32_t sources;      /* active adapter ports at it */
	uint8_t fate;	       /* of packets to the present LID */
};

struct check {
	size_t num_switches, num_ports, active;
	size_t next; /* destination port */
	uint64_t pairs[FATES];
	unsigned shown;
	struct check_switch *sw;
	const struct device_port **port; /* of adapters */
	uint32_t *leads;		 /* from each of these switches */
	uint32_t *trail, *number;	 /* of a node: its switch's or its first port's */
	uint32_t *switch_leads;
};

static bool is_active(const struct device_port *port)
{
	return port->info.port_state == PORT_ACTIVE;
}

/* In one block of memory, for do_done(). */
static struct check *check_alloc(const struct world *world)
{
	size_t ports = 0, switch_ports = 0, switches = world->num_switches;
	struct check *check;

	for (size_t i = 0; i < world->count; i++) {
		if (device_is_switch(world->devices[i]))
			switch_ports += world->devices[i]->num_ports + 1;
		else
			ports += world->devices[i]->num_ports;
	}
	check = mem_zalloc(sizeof(*check) + switches * sizeof(*check->sw) +
			   ports * sizeof(const struct device_port *) +
			   (ports + switches + world->count + switch_ports) * sizeof(uint32_t));
	check->sw = (struct check_switch *)(check + 1);
	check->port = (const struct device_port **)(check->sw + switches);
	check->leads = (uint32_t *)(check->port + ports);
	check->trail = check->leads + ports;
	check->number = check->trail + switches;
	check->switch_leads = check->number + world->count;
	return check;
}

static size_t index_of(const struct world *world, const struct device *device)
{
	return world_node_of(device) - world->nodes;
}

static uint32_t where_leads(const struct world *world, const struct check *check,
			    const struct device_port *port)
{
	const struct device *peer;

	if (!port->num || !device_port_passes(port))
		return NOWHERE;
	peer = port->peer->device;
	return device_is_switch(peer)
		       ? check->number[index_of(world, peer)]
		       : TO_ADAPTER | (check->number[index_of(world, peer)] + port->peer->num - 1);
}

static void number_all(const struct world *world, struct check *check)
{
	for (size_t i = 0; i < world->count; i++) {
		struct device *device = world->devices[i];

		if (device_is_switch(device)) {
			check->number[i] = check->num_switches;
			check->sw[check->num_switches++].device = device;
			continue;
		}
		check->number[i] = check->num_ports;
		for (unsigned p = 1; p <= device->num_ports; p++)
			check->port[check->num_ports++] = &device->port[p];
	}
}

static struct check *check_new(const struct world *world)
{
	struct check *check = check_alloc(world);
	uint32_t *leads = check->switch_leads;

	number_all(world, check);
	for (size_t s = 0; s < check->num_switches; s++) {
		const struct device *device = check->sw[s].device;

		check->sw[s].leads = leads;
		for (unsigned p = 0; p <= device->num_ports; p++)
			*leads++ = where_leads(world, check, &device->port[p]);
	}
	for (size_t i = 0; i < check->num_ports; i++) {
		check->leads[i] = where_leads(world, check, check->port[i]);
		if (!is_active(check->port[i]))
			continue;
		check->active++;
		if (check->leads[i] < TO_ADAPTER)
			check->sw[check->leads[i]].sources++;
	}
	return check;
}

/* Follows the tables from a switch to a switch with a known fate, and gives this fate to all on the
 * way. */
static uint8_t fate_of(struct check *check, uint32_t from, lid_t lid)
{
	uint8_t fate = UNKNOWN;
	size_t length = 0;

	for (uint32_t at = from; fate == UNKNOWN;) {
		struct check_switch *sw = &check->sw[at];
		int out;

		if (sw->fate != UNKNOWN) {
			fate = sw->fate == ON_THE_WAY ? CIRCLES : sw->fate;
			break;
		}
		sw->fate = ON_THE_WAY;
		check->trail[length++] = at;
		out = switch_out_port(sw->device, lid);
		at = out > 0 ? sw->leads[out] : NOWHERE;
		if (at == NOWHERE)
			fate = ENDS;
		else if (at & TO_ADAPTER)
			fate = device_port_has_lid(check->port[at & ~TO_ADAPTER], lid) ? ARRIVES
										       : ENDS;
	}
	while (length)
		check->sw[check->trail[--length]].fate = fate;
	return fate;
}

static void walk_count(struct do_call *call, const char *from, size_t to, lid_t lid, uint8_t fate,
		       uint64_t pairs)
{
	struct check *check = call->state;

	check->pairs[fate] += pairs;
	if (fate == ARRIVES || !pairs || check->shown++ >= SHOWN_MAX)
		return;
	fprintf(call->out, "%s from %s to %s port %u, LID %u\n",
		fate == CIRCLES ? "a loop" : "no way", from, walk_port_name(check->port[to]),
		check->port[to]->num, lid);
}

/* Packets from adapter ports without a switch. */
static void count_others(struct do_call *call, size_t to, lid_t lid)
{
	const struct check *check = call->state;

	for (size_t i = 0; i < check->num_ports; i++) {
		uint32_t leads = check->leads[i];

		if (i == to || leads < TO_ADAPTER || !is_active(check->port[i]))
			continue;
		walk_count(call, walk_port_name(check->port[i]), to, lid,
			   leads == (TO_ADAPTER | (uint32_t)to) ? ARRIVES : ENDS, 1);
	}
}

/* A port does not send to itself. */
static void check_lid(struct do_call *call, size_t to, lid_t lid)
{
	struct check *check = call->state;

	for (size_t s = 0; s < check->num_switches; s++)
		check->sw[s].fate = UNKNOWN;
	for (size_t s = 0; s < check->num_switches; s++) {
		const struct check_switch *sw = &check->sw[s];
		uint32_t sources = sw->sources - (check->leads[to] == s);

		if (sources)
			walk_count(call, find_name(sw->device), to, lid, fate_of(check, s, lid),
				   sources);
	}
	count_others(call, to, lid);
}

static void check_port(struct do_call *call, size_t to)
{
	struct check *check = call->state;
	const struct port_info *info = &check->port[to]->info;

	if (!is_active(check->port[to]))
		return;
	if (!info->lid)
		walk_count(call, "all", to, 0, ENDS, check->active - 1);
	for (unsigned i = 0; info->lid && i < 1u << info->lmc; i++)
		check_lid(call, to, info->lid + i);
}

static int check_end(struct do_call *call)
{
	const struct check *check = call->state;
	const uint64_t *pairs = check->pairs;

	if (!check->active)
		return do_fail(call, "no adapter port is ACTIVE: there is nothing to check");
	fprintf(call->out,
		"ports=%zu pairs=%" PRIu64 " reached=%" PRIu64 " unreached=%" PRIu64
		" loops=%" PRIu64 "\n",
		check->active, pairs[ARRIVES] + pairs[ENDS] + pairs[CIRCLES], pairs[ARRIVES],
		pairs[ENDS], pairs[CIRCLES]);
	if (pairs[ENDS] + pairs[CIRCLES])
		return do_fail(call, "of %zu active adapter ports not all reach each other",
			       check->active);
	return 0;
}

int do_check(struct do_call *call)
{
	struct check *check = call->state;
	size_t step, end;

	if (!check)
		call->state = check = check_new(call->world);
	step = STEPS_A_TURN / (check->num_switches + 1) + 1;
	end = check->next + step < check->num_ports ? check->next + step : check->num_ports;
	while (check->next < end)
		check_port(call, check->next++);
	return check->next < check->num_ports ? DO_AGAIN : check_end(call);
}

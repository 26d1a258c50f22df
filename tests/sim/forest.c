/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A cable counts for an MLID when either of its ends sends to it. The cables that count must be a
 * forest. This rule is simpler than the path of a packet, and stricter. A Set() closes a loop only
 * by a cable that did not count before, at the switch that the Set() reached. For each switch the
 * watch therefore keeps the masks and link states that it saw last. For each new cable it checks
 * whether the two ends are connected without it.
 *
 * As in circles.c the watch also keeps the Set() that wrote each part last, and ignores parts that
 * the sender of the Set() could not know. A loop counts only if the remaining cables connect the
 * two ends.
 */
#include "tests/sim/forest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/iba.h"
#include "lib/be.h"
#include "lib/map.h"
#include "lib/mem.h"
#include "tests/sim/trace.h"

enum {
	SWITCHES_MAX = 4096,
	BLOCK_MASK = 0x1FF,
	BLOCKS = BLOCK_MASK + 1,
	POSITION_SHIFT = 28,
	STEPS_MAX = 100000,
	RUNS_FOR_EVER = 1000000
};

struct last_seen { /* of a switch */
	size_t mlids;
	uint16_t (*masks)[MFT_POSITIONS]; /* by MLID */
	bool passes[PORT_MAX + 1];
	bool by_default; /* it sent MLIDs beyond its table to default ports */
	struct origin (*cell_by)[MFT_POSITIONS]; /* by block */
	struct origin top_by, port_by[PORT_MAX + 1];
};

struct excused {
	const struct device_port *port;
	lid_t mlid;
};

struct forest {
	struct map seen; /* by node GUID */
	const struct known *known;
	struct excused *excused; /* loops at the last check */
	size_t num_excused;
};

struct forest *forest_new(const struct known *known)
{
	struct forest *forest = mem_zalloc(sizeof(*forest));

	forest->known = known;
	map_init(&forest->seen);
	return forest;
}

static void last_seen_free(struct last_seen *seen)
{
	if (!seen)
		return;
	free(seen->masks);
	free(seen->cell_by);
	free(seen);
}

void forest_free(struct forest *forest)
{
	struct last_seen *seen;
	size_t position = 0;

	if (!forest)
		return;
	while ((seen = map_next(&forest->seen, &position)))
		last_seen_free(seen);
	map_done(&forest->seen);
	free(forest->excused);
	free(forest);
}

void forest_forget(struct forest *forest, const struct device *device)
{
	last_seen_free(map_remove(&forest->seen, device->node_guid));
}

static struct last_seen *last_seen(struct forest *forest, const struct device *device)
{
	struct last_seen *seen = map_get(&forest->seen, device->node_guid);

	if (!seen) {
		seen = mem_zalloc(sizeof(*seen));
		seen->mlids = device->sw.multicast_fdb_cap;
		seen->masks = mem_array(seen->mlids + 1, sizeof(*seen->masks));
		seen->cell_by = mem_array(BLOCKS, sizeof(*seen->cell_by));
		map_put(&forest->seen, device->node_guid, seen);
	}
	return seen;
}

/* Cables */

static bool leads_on(const struct device_port *port)
{
	return port->num && port->peer && device_is_switch(port->peer->device) &&
	       port->peer->device != port->device && device_port_passes(port);
}

static bool sends_by(const struct device_port *port, lid_t mlid)
{
	return device_mft_spreads(port->device, mlid, port->num);
}

static bool joins(const struct device_port *port, lid_t mlid)
{
	return leads_on(port) && (sends_by(port, mlid) || sends_by(port->peer, mlid));
}

/* Whether one end of a cable sends, and the sender of set could know everything that makes it send.
 * A switch whose table is unread may hold any entries: see comes_back_beyond(). */
static bool is_known_to_send(struct forest *forest, const struct device_port *port, lid_t mlid,
			     const struct origin *set)
{
	const struct known *known = forest->known;
	const struct last_seen *seen = last_seen(forest, port->device);
	const struct last_seen *beyond = last_seen(forest, port->peer->device);
	size_t block = (size_t)(mlid - LID_MULTICAST_MIN) / MFT_BLOCK_LIDS;

	return sends_by(port, mlid) && !known_is_hidden(known, set, port) &&
	       !known_is_unread(known, set, port->device) &&
	       !known_is_misled(known, set, port->device) &&
	       !known_is_unforeseen(known, set,
				    &seen->cell_by[block][port->num / MFT_POSITION_PORTS]) &&
	       !known_is_unforeseen(known, set, &seen->top_by) &&
	       !known_is_unforeseen(known, set, &seen->port_by[port->num]) &&
	       !known_is_unforeseen(known, set, &beyond->port_by[port->peer->num]);
}

/* set: the cable counts only if the sender of set could know it. NULL: every cable counts. */
static bool joins_for(struct forest *forest, const struct device_port *port, lid_t mlid,
		      const struct origin *set)
{
	if (!set || !joins(port, mlid))
		return joins(port, mlid);
	return is_known_to_send(forest, port, mlid, set) ||
	       is_known_to_send(forest, port->peer, mlid, set);
}

/* Circles */

struct search {
	struct map seen; /* switches, by GUID: the port by which the search found each */
	const struct device **list;
	size_t count;
};

static void search_note(struct search *search, const struct device *device,
			const struct device_port *by)
{
	if (search->count == SWITCHES_MAX || map_get(&search->seen, device->node_guid))
		return;
	map_put(&search->seen, device->node_guid, (void *)by);
	search->list[search->count++] = device;
}

static bool is_unread(const struct forest *forest, const struct device *device,
		      const struct origin *set)
{
	return set && known_is_unread(forest->known, set, device);
}

/* Follows cables from the far end of this port, without its own cable, and not to switches whose
 * tables are unread. */
static void flood(struct forest *forest, const struct device_port *without, lid_t mlid,
		  const struct origin *set, struct search *search)
{
	if (!is_unread(forest, without->peer->device, set))
		search_note(search, without->peer->device, without);
	for (size_t head = 0; head < search->count; head++) {
		const struct device *at = search->list[head];

		for (unsigned p = 1; p <= at->num_ports; p++) {
			const struct device_port *port = &at->port[p];

			if (port != without->peer && joins_for(forest, port, mlid, set) &&
			    !is_unread(forest, port->peer->device, set))
				search_note(search, port->peer->device, port);
		}
	}
}

/* Whether a cable into switches with unread tables leads on, over other such switches, to a
 * switch that the search has reached. These switches may forward any packet that they receive. But
 * a packet returns through them only if one side is known to send to them. */
static bool comes_back_beyond(struct forest *forest, const struct device_port *into, lid_t mlid,
			      const struct origin *set, const struct search *goal, char *text,
			      size_t size)
{
	struct search silent = {.list = mem_array(SWITCHES_MAX, sizeof(*silent.list))};
	bool gets = is_known_to_send(forest, into, mlid, set), found = false;

	map_init(&silent.seen);
	search_note(&silent, into->peer->device, into);
	for (size_t head = 0; head < silent.count; head++) {
		const struct device *at = silent.list[head];

		for (unsigned p = 1; p <= at->num_ports && !found; p++) {
			const struct device_port *out = &at->port[p];

			if (out == into->peer || !joins(out, mlid))
				continue;
			if (is_unread(forest, out->peer->device, set))
				search_note(&silent, out->peer->device, out);
			found = map_get(&goal->seen, out->peer->device->node_guid) &&
				(gets || is_known_to_send(forest, out->peer, mlid, set));
			if (found && text)
				snprintf(text, size, "%s port %u - silent %s - %s port %u",
					 trace_name(into->device), into->num, trace_name(at),
					 trace_name(out->peer->device), out->peer->num);
		}
	}
	map_done(&silent.seen);
	free(silent.list);
	return found;
}

/* The same for a cable, or for any cable that a search from its other end reached. */
static bool find_beyond(struct forest *forest, const struct device_port *without, lid_t mlid,
			const struct origin *set, const struct search *search, char *text,
			size_t size)
{
	struct search back = {.list = mem_array(SWITCHES_MAX, sizeof(*back.list))};
	bool found;

	map_init(&back.seen);
	flood(forest, without->peer, mlid, set, &back);
	found = is_unread(forest, without->peer->device, set) &&
		comes_back_beyond(forest, without, mlid, set, &back, text, size);
	for (size_t i = 0; i < search->count; i++) {
		const struct device *at = search->list[i];

		for (unsigned p = 1; p <= at->num_ports && !found; p++) {
			const struct device_port *port = &at->port[p];

			found = joins(port, mlid) && is_unread(forest, port->peer->device, set) &&
				comes_back_beyond(forest, port, mlid, set, &back, text, size);
		}
	}
	map_done(&back.seen);
	free(back.list);
	return found;
}

/* Writes the cables of the loop, beginning at their other end. */
static void describe(const struct search *search, const struct device_port *port, char *text,
		     size_t size)
{
	const struct device *begin = port->device, *at = begin;
	size_t length = 0;

	do {
		const struct device_port *by = map_get(&search->seen, at->node_guid);

		length += (size_t)snprintf(text + length, size - length, "%s port %u <- ",
					   trace_name(by->peer->device), by->peer->num);
		at = by->device;
	} while (at != begin && length + 1 < size);
	if (length + 1 < size)
		snprintf(text + length, size - length, "%s", trace_name(begin));
}

static bool is_circle(struct forest *forest, const struct device_port *port, lid_t mlid,
		      const struct origin *set, char *text, size_t size)
{
	struct search search = {.list = mem_array(SWITCHES_MAX, sizeof(*search.list))};
	bool found;

	map_init(&search.seen);
	if (joins_for(forest, port, mlid, set))
		flood(forest, port, mlid, set, &search);
	found = map_get(&search.seen, port->device->node_guid);
	if (found && text)
		describe(&search, port, text, size);
	else if (!found && set && joins_for(forest, port, mlid, set))
		found = find_beyond(forest, port, mlid, set, &search, text, size);
	map_done(&search.seen);
	free(search.list);
	return found;
}

struct tally {
	struct forest *forest;
	const struct origin *set;
	struct forest_found *found;
};

static void judge(const struct device_port *port, lid_t mlid, struct tally *tally)
{
	struct forest *forest = tally->forest;
	struct forest_found *found = tally->found;

	if (!is_circle(forest, port, mlid, NULL, NULL, 0))
		return;
	if (is_circle(forest, port, mlid, tally->set, found->way, sizeof(found->way))) {
		found->mlid = mlid;
		return;
	}
	found->excused++;
	forest->excused =
		mem_resize(forest->excused, forest->num_excused + 1, sizeof(*forest->excused));
	forest->excused[forest->num_excused++] = (struct excused){.port = port, .mlid = mlid};
}

/* A port sends now: its cable did not count before, or the entries of its other end did not
 * count. */
static bool begins_to_count(const struct device_port *port, lid_t mlid, const struct tally *tally)
{
	return !sends_by(port->peer, mlid) ||
	       is_unread(tally->forest, port->peer->device, tally->set);
}

static void mlid_was_set(struct last_seen *seen, const struct device *device, unsigned position,
			 lid_t mlid, struct tally *tally)
{
	uint16_t *mask = &seen->masks[mlid - LID_MULTICAST_MIN][position];

	for (unsigned i = 0; i < MFT_POSITION_PORTS; i++) {
		unsigned num = position * MFT_POSITION_PORTS + i;
		const struct device_port *port = &device->port[num];

		if (num > device->num_ports || sends_by(port, mlid) == (*mask >> i & 1))
			continue;
		*mask ^= (uint16_t)(1u << i);
		if (*mask >> i & 1 && leads_on(port) && begins_to_count(port, mlid, tally))
			judge(port, mlid, tally);
	}
}

static bool sends_by_default(const struct device *device)
{
	for (unsigned p = 1; p <= device->num_ports; p++) {
		if (p == device->sw.default_multicast_primary_port ||
		    p == device->sw.default_multicast_not_primary_port)
			return true;
	}
	return false;
}

static void masks_were_set(struct last_seen *seen, const struct device *device, unsigned first,
			   unsigned end, struct tally *tally)
{
	bool by_default = sends_by_default(device);

	if (!device->mft && !by_default && !seen->by_default)
		return;
	seen->by_default = by_default;
	for (unsigned i = first; i < end && i < seen->mlids; i++) {
		for (unsigned p = 0; p <= device->num_ports / MFT_POSITION_PORTS; p++)
			mlid_was_set(seen, device, p, (lid_t)(LID_MULTICAST_MIN + i), tally);
	}
}

/* A Set() at one end makes both ends ACTIVE, so a later Set() at the other end closes no loop. */
static void port_was_set(struct last_seen *seen, const struct device_port *port,
			 struct tally *tally)
{
	bool passes = leads_on(port), opens = passes && !seen->passes[port->num];

	for (unsigned i = 0; opens && i < seen->mlids; i++) {
		lid_t mlid = (lid_t)(LID_MULTICAST_MIN + i);

		if (sends_by(port, mlid) || sends_by(port->peer, mlid))
			judge(port, mlid, tally);
	}
	seen->passes[port->num] = passes;
	if (port->peer && device_is_switch(port->peer->device))
		last_seen(tally->forest, port->peer->device)->passes[port->peer->num] = passes;
}

void forest_after_set(struct forest *forest, const struct device *device, uint8_t port,
		      uint16_t attr_id, uint32_t attr_mod, const struct origin *set,
		      struct forest_found *out)
{
	struct tally tally = {.forest = forest, .set = set, .found = out};
	unsigned block = attr_mod & BLOCK_MASK;
	struct last_seen *seen;

	*out = (struct forest_found){0};
	if (!device_is_switch(device))
		return;
	seen = last_seen(forest, device);
	if (attr_id == ATTR_MULTICAST_FORWARDING_TABLE) {
		seen->cell_by[block][attr_mod >> POSITION_SHIFT] = *set;
		masks_were_set(seen, device, block * MFT_BLOCK_LIDS, (block + 1) * MFT_BLOCK_LIDS,
			       &tally);
	} else if (attr_id == ATTR_SWITCH_INFO) {
		seen->top_by = *set;
		masks_were_set(seen, device, 0, (unsigned)seen->mlids, &tally);
	} else if (attr_id == ATTR_PORT_INFO && port) {
		seen->port_by[port] = *set;
		port_was_set(seen, &device->port[port], &tally);
	}
}

bool forest_last(struct forest *forest, lid_t *mlid, char *text, size_t size)
{
	size_t kept = 0;
	bool found = false;

	for (size_t i = 0; i < forest->num_excused; i++) {
		const struct excused *excused = &forest->excused[i];
		const struct device_port *port = excused->port;
		char *way = found ? NULL : text;

		if (!port->peer || !is_circle(forest, port, excused->mlid, NULL, way, size))
			continue;
		if (!found && known_is_reached(forest->known, port->device)) {
			*mlid = excused->mlid;
			found = true;
		}
		forest->excused[kept++] = *excused;
	}
	forest->num_excused = kept;
	return found;
}

/* Packets */

static bool sends(const struct device *device, lid_t mlid)
{
	for (unsigned p = 0; p <= device->num_ports; p++) {
		if (device_mft_has(device, mlid, (uint8_t)p))
			return true;
	}
	return false;
}

struct sending {
	lid_t mlid;
	const struct device_port **out;
	size_t room, count;
	unsigned steps;
};

static void arrive(struct sending *sending, const struct device_port *in)
{
	const struct device *device = in->device;

	if (!device_is_switch(device)) {
		if (sending->count < sending->room)
			sending->out[sending->count] = in;
		sending->count++;
		return;
	}
	if (sending->steps++ > STEPS_MAX) {
		sending->count = RUNS_FOR_EVER;
		return;
	}
	for (unsigned p = 0; p <= device->num_ports; p++) {
		const struct device_port *port = &device->port[p];

		if (!device_mft_forwards(device, sending->mlid, in->num, (uint8_t)p))
			continue;
		if (p && port->peer && device_port_passes(port))
			arrive(sending, port->peer);
	}
}

size_t forest_send(const struct device_port *from, lid_t mlid, const struct device_port **out,
		   size_t room)
{
	struct sending sending = {.mlid = mlid, .out = out, .room = room};

	if (from->peer && device_port_passes(from))
		arrive(&sending, from->peer);
	return sending.count;
}

bool forest_holds(const struct world *world, lid_t mlid)
{
	struct device *const *devices;
	size_t count = world_devices(world, &devices);

	for (size_t i = 0; i < count; i++) {
		if (device_is_switch(devices[i]) && sends(devices[i], mlid))
			return true;
	}
	return false;
}

/* Changes masks of the first 16 ports only. */
void forest_garble(struct world *world, const char *node, lid_t mlid, uint8_t add, uint8_t remove)
{
	struct device *const *devices;
	size_t count = world_devices(world, &devices);

	for (size_t i = 0; i < count; i++) {
		uint8_t *mask = devices[i]->mft;

		if (!mask || strcmp(trace_name(devices[i]), node))
			continue;
		mask += (size_t)(mlid - LID_MULTICAST_MIN) * sizeof(uint16_t);
		be16_store(mask, (uint16_t)((be16_load(mask) | 1u << add) & ~(1u << remove)));
	}
}

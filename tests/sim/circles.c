/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * There was no forwarding loop before a Set(). A new loop therefore passes through the switch that
 * the Set() reached: by an entry that it changed, or by a link that it made ACTIVE. For each switch
 * the watch keeps the table and the link states that it saw last, and walks only from entries that
 * differ. Packets pass links that are ACTIVE at both ends, and entries up to LinearFDBTop. Entries
 * above it form no loop.
 *
 * For each entry, top and link the watch also keeps the Set() that wrote it last. From these it
 * decides whether the sender of a Set() could know all parts of the loop that it closed.
 */
#include "tests/sim/circles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/map.h"
#include "lib/mem.h"
#include "tests/sim/trace.h"

enum { LFT_LIDS = LFT_BLOCKS_MAX * LFT_BLOCK_LIDS, STEPS_MAX = 4096, DESCRIBED_MAX = 8 };

struct last_seen { /* of a switch */
	lid_t top;
	bool passes[PORT_MAX + 1];
	uint8_t lft[LFT_LIDS];
	struct origin block_by[LFT_BLOCKS_MAX], top_by, port_by[PORT_MAX + 1];
};

struct excused {
	const struct device *device;
	lid_t lid;
};

struct circles {
	struct map seen; /* by node GUID */
	const struct known *known;
	struct excused *excused; /* loops at the last check */
	size_t num_excused;
};

struct circles *circles_new(const struct known *known)
{
	struct circles *circles = mem_zalloc(sizeof(*circles));

	circles->known = known;
	map_init(&circles->seen);
	return circles;
}

void circles_free(struct circles *circles)
{
	struct last_seen *seen;
	size_t position = 0;

	if (!circles)
		return;
	while ((seen = map_next(&circles->seen, &position)))
		free(seen);
	map_done(&circles->seen);
	free(circles->excused);
	free(circles);
}

void circles_forget(struct circles *circles, const struct device *device)
{
	free(map_remove(&circles->seen, device->node_guid));
}

static struct last_seen *last_seen(struct circles *circles, const struct device *device)
{
	struct last_seen *seen = map_get(&circles->seen, device->node_guid);

	if (!seen) {
		seen = mem_zalloc(sizeof(*seen));
		memset(seen->lft, LFT_NO_PORT, sizeof(seen->lft));
		map_put(&circles->seen, device->node_guid, seen);
	}
	return seen;
}

/* The switch to which device forwards a packet for lid; NULL: none. */
static const struct device *next_switch(const struct device *device, lid_t lid)
{
	uint8_t out = device_lft_port(device, lid);
	const struct device_port *port = &device->port[out];

	if (!out || out > device->num_ports || !device_port_passes(port))
		return NULL;
	return device_is_switch(port->peer->device) ? port->peer->device : NULL;
}

/* A loop that does not return to begin was there before. */
static bool in_circle(const struct device *begin, lid_t lid)
{
	const struct device *at = next_switch(begin, lid);

	for (unsigned steps = 0; at && at != begin && steps < STEPS_MAX; steps++)
		at = next_switch(at, lid);
	return at == begin;
}

/* The manager that closed a loop is excused if it could not know a part of the loop. That part is a
 * moved cable, a Set() of its own that a moved cable led to another switch, or a Set() of another
 * MASTER. */
static bool is_excused(struct circles *circles, const struct device *begin, lid_t lid,
		       const struct origin *set)
{
	const struct device *at = begin;

	do {
		const struct last_seen *seen = last_seen(circles, at);
		const struct device_port *port = &at->port[device_lft_port(at, lid)];
		const struct last_seen *beyond = last_seen(circles, port->peer->device);

		if (known_is_hidden(circles->known, set, port) ||
		    known_is_misled(circles->known, set, at) ||
		    known_is_unforeseen(circles->known, set,
					&seen->block_by[lid / LFT_BLOCK_LIDS]) ||
		    known_is_unforeseen(circles->known, set, &seen->top_by) ||
		    known_is_unforeseen(circles->known, set, &seen->port_by[port->num]) ||
		    known_is_unforeseen(circles->known, set, &beyond->port_by[port->peer->num]))
			return true;
		at = port->peer->device;
	} while (at != begin);
	return false;
}

struct tally {
	struct circles *circles;
	const struct origin *set;
	struct circles_found found;
};

static void excuse(struct circles *circles, const struct device *device, lid_t lid)
{
	circles->excused =
		mem_resize(circles->excused, circles->num_excused + 1, sizeof(*circles->excused));
	circles->excused[circles->num_excused++] = (struct excused){.device = device, .lid = lid};
}

static void judge(const struct device *device, lid_t lid, struct tally *tally)
{
	if (!in_circle(device, lid))
		return;
	if (is_excused(tally->circles, device, lid, tally->set)) {
		tally->found.excused++;
		excuse(tally->circles, device, lid);
	} else if (!tally->found.count++) {
		tally->found.example = lid;
	}
}

static void block_was_set(struct last_seen *seen, const struct device *device, uint32_t block,
			  struct tally *tally)
{
	uint32_t first = block * LFT_BLOCK_LIDS;

	for (uint32_t lid = first; lid < first + LFT_BLOCK_LIDS && lid < device->lft_size; lid++) {
		if (seen->lft[lid] == device->lft[lid])
			continue;
		seen->lft[lid] = device->lft[lid];
		judge(device, (lid_t)lid, tally);
	}
}

static void top_was_set(struct last_seen *seen, const struct device *device, struct tally *tally)
{
	lid_t top = device->sw.linear_fdb_top;

	for (uint32_t lid = seen->top + 1u; lid <= top; lid++)
		judge(device, (lid_t)lid, tally);
	seen->top = top;
}

static void judge_link(const struct device_port *port, struct tally *tally)
{
	const struct device *device = port->device;

	if (!device_is_switch(device))
		return;
	for (uint32_t lid = 1; lid <= device->sw.linear_fdb_top; lid++) {
		if (device_lft_port(device, (lid_t)lid) == port->num)
			judge(device, (lid_t)lid, tally);
	}
}

/* A link that goes ACTIVE carries packets both ways. A Set() at one end makes both ends ACTIVE, so
 * a later Set() at the other end closes no loop. */
static void port_was_set(struct last_seen *seen, const struct device_port *port,
			 struct tally *tally)
{
	bool passes = port->peer && device_port_passes(port);

	if (passes && !seen->passes[port->num]) {
		judge_link(port, tally);
		judge_link(port->peer, tally);
	}
	seen->passes[port->num] = passes;
	if (port->peer && device_is_switch(port->peer->device))
		last_seen(tally->circles, port->peer->device)->passes[port->peer->num] = passes;
}

void circles_after_set(struct circles *circles, const struct device *device, uint8_t port,
		       uint16_t attr_id, uint32_t attr_mod, const struct origin *set,
		       struct circles_found *out)
{
	struct tally tally = {.circles = circles, .set = set};
	struct last_seen *seen;

	*out = tally.found;
	if (!device_is_switch(device))
		return;
	seen = last_seen(circles, device);
	if (attr_id == ATTR_LINEAR_FORWARDING_TABLE) {
		seen->block_by[attr_mod] = *set;
		block_was_set(seen, device, attr_mod, &tally);
	} else if (attr_id == ATTR_SWITCH_INFO) {
		seen->top_by = *set;
		top_was_set(seen, device, &tally);
	} else if (attr_id == ATTR_PORT_INFO && port) {
		seen->port_by[port] = *set;
		port_was_set(seen, &device->port[port], &tally);
	}
	*out = tally.found;
}

bool circles_last(struct circles *circles, const struct device **device, lid_t *lid)
{
	size_t kept = 0;
	bool found = false;

	for (size_t i = 0; i < circles->num_excused; i++) {
		const struct excused *excused = &circles->excused[i];

		if (!in_circle(excused->device, excused->lid))
			continue;
		if (!found && known_is_reached(circles->known, excused->device)) {
			*device = excused->device;
			*lid = excused->lid;
			found = true;
		}
		circles->excused[kept++] = *excused;
	}
	circles->num_excused = kept;
	return found;
}

/* The walk ends after some steps, because device may lead to a loop that it is not part of. */
void circles_describe(const struct device *device, lid_t lid, char *text, size_t size)
{
	const struct device *at = device;
	size_t length = 0;
	unsigned steps = 0;

	do {
		length += (size_t)snprintf(text + length, size - length, "%s port %u -> ",
					   trace_name(at), device_lft_port(at, lid));
		at = next_switch(at, lid);
	} while (at && at != device && length + 1 < size && ++steps < DESCRIBED_MAX);
	if (length + 1 < size)
		snprintf(text + length, size - length, "%s", at ? trace_name(at) : "end");
}

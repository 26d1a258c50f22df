/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads the MADs of each manager. A manager learns of a moved cable from any of these:
 * - a trap 128 of a switch that had one end of the cable;
 * - a NodeInfo of the device that is at the other end now, on a route over the cable;
 * - a PortInfo of an end in INIT or DOWN that this manager last saw in a higher state;
 * - a PortStateChange at an end where this manager last saw it clear.
 *
 * These prove nothing: an INIT after an INIT, a PortStateChange that this manager has not seen
 * clear, a missing answer, and an answer of another switch than the request was meant for.
 */
#include "tests/sim/known.h"

#include <stdlib.h>
#include <string.h>

#include "lib/map.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "mad/notice.h"

enum {
	MANAGERS_MAX = 5,
	DEVICES_MAX = 4096,
	TID_OFFSET = 8,
	SENT_KEY_BYTES = 16,
	STATUS_MASK = 0x7FFF, /* without the D bit */
};

struct moved { /* an end of a cable */
	const struct device_port *port;
	const struct device *before;	 /* the device at its other end before the move */
	uint64_t shown_us[MANAGERS_MAX]; /* 0: not yet */
};

struct seen { /* a port, as of the last answer about it; port 0 of a switch: as of its SwitchInfo */
	uint8_t state[MANAGERS_MAX];
	bool no_change[MANAGERS_MAX]; /* PortStateChange was clear */
};

struct misled { /* about a device: another device answered requests that were meant for it */
	const struct device_port *by[MANAGERS_MAX]; /* a moved cable on the route; NULL: none */
};

struct table { /* of a device: when the MASTER first read or wrote its multicast table */
	const struct device *device;
	uint64_t us[MANAGERS_MAX];
};

struct sent { /* a Set() */
	unsigned manager;
	uint64_t us;
};

struct known {
	struct map moved;  /* by port */
	struct map seen;   /* by port */
	struct map misled; /* by device */
	struct map tables; /* by device */
	struct map sent;   /* by set_key() */
	const struct device *at[MANAGERS_MAX];
	uint64_t reads_us[MANAGERS_MAX];  /* when it last began to read the whole fabric */
	uint64_t master_us[MANAGERS_MAX]; /* reads_us before the first Set(); 0: not MASTER */
};

struct known *known_new(void)
{
	struct known *known = mem_zalloc(sizeof(*known));

	map_init(&known->moved);
	map_init(&known->seen);
	map_init(&known->misled);
	map_init(&known->tables);
	map_init(&known->sent);
	return known;
}

static void map_free(struct map *map)
{
	size_t position = 0;
	void *value;

	while ((value = map_next(map, &position)))
		free(value);
	map_done(map);
}

void known_free(struct known *known)
{
	if (!known)
		return;
	map_free(&known->moved);
	map_free(&known->seen);
	map_free(&known->misled);
	map_free(&known->tables);
	map_free(&known->sent);
	free(known);
}

void known_starts(struct known *known, unsigned manager, const struct device *at)
{
	struct seen *seen;
	size_t position = 0;

	known->at[manager] = at;
	known->master_us[manager] = 0;
	while ((seen = map_next(&known->seen, &position))) {
		seen->state[manager] = 0;
		seen->no_change[manager] = false;
	}
}

/* Sets */

/* The parts that stay equal from the manager to the agent: TID, attribute, modifier, route. */
static uint64_t set_key(const uint8_t *mad)
{
	uint64_t words[(SENT_KEY_BYTES + (HOPS_MAX + 1)) / sizeof(uint64_t)], key = 1;

	memcpy(words, mad + TID_OFFSET, SENT_KEY_BYTES);
	memcpy((uint8_t *)words + SENT_KEY_BYTES, mad + SMP_INITIAL_PATH_OFFSET, (HOPS_MAX + 1));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		key = (key ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
		key ^= key >> 32;
	}
	return key;
}

/* Finds the devices to which a manager has links. found: initialized here, by device. */
static void find_reached(const struct known *known, unsigned manager, struct map *found)
{
	const struct device **reached = mem_array(DEVICES_MAX, sizeof(*reached));
	size_t count = 0;

	map_init(found);
	map_put(found, (uintptr_t)known->at[manager], found);
	reached[count++] = known->at[manager];
	for (size_t i = 0; i < count; i++) {
		for (unsigned n = 1; n <= reached[i]->num_ports; n++) {
			const struct device_port *port = &reached[i]->port[n];

			if (!port->peer || port->info.port_physical_state != PHYS_LINK_UP ||
			    map_get(found, (uintptr_t)port->peer->device) || count == DEVICES_MAX)
				continue;
			map_put(found, (uintptr_t)port->peer->device, found);
			reached[count++] = port->peer->device;
		}
	}
	free(reached);
}

bool known_is_reached(const struct known *known, const struct device *device)
{
	bool reached = false;

	for (unsigned i = 0; i < MANAGERS_MAX && !reached; i++) {
		struct map found;

		if (!known->at[i])
			continue;
		find_reached(known, i, &found);
		reached = map_get(&found, (uintptr_t)device);
		map_done(&found);
	}
	return reached;
}

/* A manager that begins to read the fabric, or that finds a link down, forgets devices that no
 * cable reaches then. When they return, their tables count as unread. */
static void forget_beyond_reach(struct known *known, unsigned manager)
{
	struct map found;
	struct table *table;
	size_t position = 0;

	find_reached(known, manager, &found);
	while ((table = map_next(&known->tables, &position))) {
		if (!map_get(&found, (uintptr_t)table->device))
			table->us[manager] = 0;
	}
	map_done(&found);
}

void known_sends(struct known *known, unsigned manager, const uint8_t *mad, uint64_t now_us)
{
	struct mad_header header;
	struct sm_info info;
	struct sent *sent;

	header_decode(mad, &header);
	if (header.attr_id == ATTR_SM_INFO && header.method == METHOD_GET_RESP) {
		attr_decode(&sm_info_format, mad + SMP_DATA_OFFSET, &info);
		if (info.state != SM_MASTER)
			known->master_us[manager] = 0;
	}
	if (header.attr_id == ATTR_NODE_INFO && !header.hop_count) { /* its own node first */
		known->reads_us[manager] = now_us;
		forget_beyond_reach(known, manager);
	}
	if (header.attr_id == ATTR_SM_INFO || header.method != METHOD_SET)
		return;
	if (!known->master_us[manager])
		known->master_us[manager] = known->reads_us[manager];
	sent = mem_alloc(sizeof(*sent));
	*sent = (struct sent){.manager = manager, .us = now_us};
	free(map_put(&known->sent, set_key(mad), sent));
}

/* The port by which hop n of a directed route leaves, over the present cables; NULL: none. */
static const struct device_port *hop(const struct device *at, const uint8_t *mad, unsigned n)
{
	const struct device_port *port = NULL;

	for (unsigned i = 1; i <= n; i++) {
		uint8_t num = mad[SMP_INITIAL_PATH_OFFSET + i];

		port = num <= at->num_ports ? &at->port[num] : NULL;
		if (!port || !port->peer)
			return NULL;
		at = port->peer->device;
	}
	return port;
}

static unsigned hops_of(const uint8_t *mad)
{
	struct mad_header header;

	header_decode(mad, &header);
	return header.hop_count <= HOPS_MAX ? header.hop_count : 0;
}

void known_origin(struct known *known, const uint8_t *mad, uint64_t now_us, struct origin *out)
{
	const struct sent *sent = map_get(&known->sent, set_key(mad));

	*out = (struct origin){.applied_us = now_us};
	if (!sent)
		return;
	out->manager = sent->manager;
	out->sent_us = sent->us;
	for (unsigned n = 1; n <= hops_of(mad) && !out->moved; n++) {
		const struct device_port *port = hop(known->at[sent->manager], mad, n);

		if (port && known_is_hidden(known, out, port))
			out->moved = port;
	}
}

bool known_is_hidden(const struct known *known, const struct origin *set,
		     const struct device_port *port)
{
	const struct moved *moved = map_get(&known->moved, (uintptr_t)port);
	uint64_t shown_us = moved ? moved->shown_us[set->manager] : 0;

	return moved && set->manager && (!shown_us || shown_us > set->sent_us);
}

static bool is_rival(const struct known *known, const struct origin *set,
		     const struct origin *other)
{
	return set->manager && other->manager && set->manager != other->manager &&
	       other->applied_us >= known->master_us[set->manager];
}

bool known_is_unforeseen(const struct known *known, const struct origin *set,
			 const struct origin *other)
{
	if (is_rival(known, set, other))
		return true;
	return set->manager == other->manager && other->moved &&
	       known_is_hidden(known, set, other->moved);
}

/* Moved cables */

static void one_end_moves(struct known *known, const struct device_port *port)
{
	struct moved *moved = map_get(&known->moved, (uintptr_t)port);

	if (!moved) {
		moved = mem_alloc(sizeof(*moved));
		map_put(&known->moved, (uintptr_t)port, moved);
	}
	*moved = (struct moved){.port = port, .before = port->peer ? port->peer->device : NULL};
}

void known_moves(struct known *known, const struct device_port *port)
{
	one_end_moves(known, port);
	if (port->peer)
		one_end_moves(known, port->peer);
}

/* A MAD that arrived at a manager. */
struct sight {
	unsigned manager;
	struct mad_header header;
	const uint8_t *data;
	const struct device_port *last; /* the last hop of a directed route; NULL: none */
	const struct device *device;	/* that answers; NULL: none, or not the device meant */
	lid_t lid;			/* of the issuer of a trap */
	bool fell_back;			/* the port state did, or a PortStateChange appeared */
	const struct device_port *port; /* the port that the request was about */
};

static bool has_lid(const struct device *device, lid_t lid)
{
	return device && device_is_switch(device) && lid && device->port[0].info.lid == lid;
}

/* Whether a NodeInfo is that of the device to which its route leads now. An answer to a Get() from
 * before the move is not. */
static bool is_of_present_device(const struct sight *sight)
{
	const struct device_port *end = sight->last->peer;
	struct node_info info;

	attr_decode(&node_info_format, sight->data, &info);
	return info.node_guid == end->device->node_guid && info.local_port_num == end->num;
}

static bool shows(const struct sight *sight, const struct moved *moved)
{
	const struct device_port *port = moved->port;

	if (sight->lid)
		return has_lid(port->device, sight->lid) || has_lid(moved->before, sight->lid);
	if (sight->header.attr_id == ATTR_NODE_INFO)
		return sight->last && (sight->last == port || sight->last->peer == port) &&
		       is_of_present_device(sight);
	return sight->fell_back &&
	       (sight->port == port ||
		(sight->header.attr_id == ATTR_SWITCH_INFO && sight->device == port->device));
}

static struct seen *seen_of(struct known *known, const struct device_port *port)
{
	struct seen *seen = map_get(&known->seen, (uintptr_t)port);

	if (!seen) {
		seen = mem_zalloc(sizeof(*seen));
		map_put(&known->seen, (uintptr_t)port, seen);
	}
	return seen;
}

/* Compares an answer about ports with the one before it. */
static void compare(struct known *known, struct sight *sight)
{
	uint8_t num = (uint8_t)sight->header.attr_mod;
	struct seen *seen;

	if (sight->header.attr_id == ATTR_SWITCH_INFO) {
		struct switch_info info;

		attr_decode(&switch_info_format, sight->data, &info);
		sight->port = &sight->device->port[0];
		seen = seen_of(known, sight->port);
		sight->fell_back = info.port_state_change && seen->no_change[sight->manager];
		seen->no_change[sight->manager] = !info.port_state_change;
	} else if (sight->header.attr_id == ATTR_PORT_INFO && num <= sight->device->num_ports) {
		struct port_info info;

		attr_decode(&port_info_format, sight->data, &info);
		sight->port = &sight->device->port[num];
		seen = seen_of(known, sight->port);
		/* A port whose cable is moved goes DOWN or INIT. ARMED after ACTIVE is the late
		 * answer to a Get() that was sent before the Set(). */
		sight->fell_back = info.port_state < seen->state[sight->manager] &&
				   info.port_state <= PORT_INIT;
		if (sight->fell_back && info.port_state == PORT_DOWN)
			forget_beyond_reach(known, sight->manager);
		seen->state[sight->manager] = info.port_state;
	}
}

/* The device to which a manager meant to send by a directed route: a moved cable that it does not
 * know of counts with its former end. astray: such a cable; NULL: none. */
static const struct device *believed(const struct known *known, unsigned manager,
				     const uint8_t *mad, const struct device_port **astray)
{
	const struct device *at = known->at[manager];
	unsigned hops = hops_of(mad);

	*astray = NULL;
	for (unsigned i = 1; i <= hops && at; i++) {
		uint8_t num = mad[SMP_INITIAL_PATH_OFFSET + i];
		const struct device_port *port = num <= at->num_ports ? &at->port[num] : NULL;
		const struct moved *moved = map_get(&known->moved, (uintptr_t)port);

		if (moved && !moved->shown_us[manager]) {
			*astray = port;
			at = moved->before;
		} else {
			at = port && port->peer ? port->peer->device : NULL;
		}
	}
	return at;
}

/* Another device answered a request that was meant for device. */
static void mislead(struct known *known, unsigned manager, const struct device *device,
		    const struct device_port *astray)
{
	struct misled *misled = map_get(&known->misled, (uintptr_t)device);
	const struct moved *before;

	if (!misled) {
		misled = mem_zalloc(sizeof(*misled));
		map_put(&known->misled, (uintptr_t)device, misled);
	}
	before = map_get(&known->moved, (uintptr_t)misled->by[manager]);
	if (!before || before->shown_us[manager])
		misled->by[manager] = astray;
}

bool known_is_misled(const struct known *known, const struct origin *set,
		     const struct device *device)
{
	const struct misled *misled = map_get(&known->misled, (uintptr_t)device);
	const struct device_port *by = misled ? misled->by[set->manager] : NULL;

	return by && known_is_hidden(known, set, by);
}

static void note_read(struct known *known, unsigned manager, const struct device *device,
		      uint64_t now_us)
{
	struct table *table = map_get(&known->tables, (uintptr_t)device);

	if (!table) {
		table = mem_zalloc(sizeof(*table));
		table->device = device;
		map_put(&known->tables, (uintptr_t)device, table);
	}
	if (!known->master_us[manager] || table->us[manager] < known->master_us[manager])
		table->us[manager] = now_us;
}

bool known_is_unread(const struct known *known, const struct origin *set,
		     const struct device *device)
{
	const struct table *table = map_get(&known->tables, (uintptr_t)device);
	uint64_t us = table ? table->us[set->manager] : 0;

	return set->manager && (us < known->master_us[set->manager] || us > set->sent_us);
}

static bool look(struct known *known, const uint8_t *mad, struct sight *sight)
{
	const struct device_port *astray;
	const struct device *asked;
	struct notice notice;

	header_decode(mad, &sight->header);
	sight->data = mad + SMP_DATA_OFFSET;
	if (sight->header.method == METHOD_TRAP) {
		attr_decode(&notice_format, sight->data, &notice);
		sight->lid = notice.issuer_lid;
		return notice.trap_number == TRAP_LINK_STATE;
	}
	if (sight->header.method != METHOD_GET_RESP || sight->header.status & STATUS_MASK ||
	    sight->header.mgmt_class != CLASS_SUBN_DIRECTED)
		return false;
	sight->last = hop(known->at[sight->manager], mad, hops_of(mad));
	asked = believed(known, sight->manager, mad, &astray);
	if (!astray)
		sight->device = asked;
	else if (asked)
		mislead(known, sight->manager, asked, astray);
	return true;
}

void known_receives(struct known *known, unsigned manager, const uint8_t *mad, uint64_t now_us)
{
	struct sight sight = {.manager = manager};
	struct moved *moved;
	size_t position = 0;

	if (!look(known, mad, &sight))
		return;
	if (sight.device) {
		compare(known, &sight);
		if (sight.header.attr_id == ATTR_MULTICAST_FORWARDING_TABLE)
			note_read(known, manager, sight.device, now_us);
	}
	while ((moved = map_next(&known->moved, &position))) {
		if (!moved->shown_us[manager] && shows(&sight, moved))
			moved->shown_us[manager] = now_us;
	}
}

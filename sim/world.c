/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A world as a whole: built from a net, changed by commands (cables, power, faults), queried, and
 * advanced in time. sim/packet.c has the way of a MAD, sim/client.c the programs. Everything that
 * takes time is an event; times are nanoseconds inside and whole microseconds, rounded up, in the
 * interface.
 */
#include "sim/world.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "sim/capture.h"
#include "sim/hca.h"
#include "sim/world_parts.h"

enum { NS_PER_US = 1000, BOUNCE_US = 200000 };

/* Events of devices */

static void on_trap(void *ctx, struct device *device, uint8_t port, lid_t dlid, const uint8_t *mad)
{
	struct world *world = ctx;
	struct packet *packet = packet_new(world);

	packet->at = &device->port[port];
	packet->is_smp = true;
	packet->slid = packet->at->info.lid;
	packet->dlid = dlid;
	packet->sl = packet->at->info.master_sm_sl;
	memcpy(packet->mad, mad, MAD_SIZE);
	packet_start(world, packet);
}

static void world_device_set(void *ctx, struct device *device, uint8_t port, uint16_t attr_id,
			     uint32_t attr_mod)
{
	struct world *world = ctx;

	if (world->on_set)
		world->on_set(world->on_set_ctx, device, port, attr_id, attr_mod);
}

static void on_port_changed(void *ctx, struct device *device, uint8_t port)
{
	struct world *world = ctx;

	if (world->on_port)
		world->on_port(world->on_port_ctx, device, port);
}

/* A link came up and is lost again, as after a failed equalisation: it trains once more. */
static void bounce(void *ctx, void *what, uint32_t number)
{
	struct device_port *port = what;

	(void)ctx;
	if (port->trainings != number || !port->peer || port->pulled)
		return;
	device_pull(port, true);
	device_pull(port, false);
}

/* The end with more attempts counts. */
static unsigned training_us(const struct world *world, const struct device_port *port)
{
	unsigned mine = port->device->quirks.training_us,
		 peers = port->peer->device->quirks.training_us, us = mine > peers ? mine : peers;

	return us ? us : world->options.training_us;
}

static unsigned bounces(const struct device_port *port)
{
	unsigned mine = port->device->quirks.bounces, peers = port->peer->device->quirks.bounces;

	return mine > peers ? mine : peers;
}

/* A training that began again after an interruption has another number. */
static void trained(void *ctx, void *what, uint32_t number)
{
	struct device_port *port = what;
	struct world *world = ctx;

	if (port->trainings != number)
		return;
	device_port_trained(port);
	if (port->peer && number % (bounces(port) + 1))
		events_add(&world->events, world->now_ns + (uint64_t)BOUNCE_US * NS_PER_US, bounce,
			   port, number);
}

static void on_training(void *ctx, struct device_port *port)
{
	struct world *world = ctx;

	if (world->building)
		device_port_trained(port);
	else
		events_add(&world->events,
			   world->now_ns + (uint64_t)training_us(world, port) * NS_PER_US, trained,
			   port, port->trainings);
}

static void plan_tick(struct world *world, struct world_node *node);

static void world_device_tick(void *ctx, void *what, uint32_t number)
{
	struct world *world = ctx;
	struct world_node *node = what;

	(void)number;
	if (node->tick_ns != world->now_ns)
		return; /* an earlier event was added in between */
	node->tick_ns = UINT64_MAX;
	device_tick(node->device, world->now_ns / NS_PER_US);
	plan_tick(world, node);
}

static void plan_tick(struct world *world, struct world_node *node)
{
	uint64_t next_us = device_next_us(node->device), next_ns = next_us * NS_PER_US;

	if (next_us == UINT64_MAX)
		return;
	if (next_ns < world->now_ns)
		next_ns = world->now_ns;
	if (next_ns >= node->tick_ns)
		return;
	node->tick_ns = next_ns;
	events_add(&world->events, next_ns, world_device_tick, node, 0);
}

static void on_due(void *ctx, struct device *device)
{
	plan_tick(ctx, world_node_of(device));
}

/* Building */

enum { GUID_SWITCHES = 0x200000, GUID_OTHERS = 0x100000 };

/* A port supports its enabled rate and all lower rates. */
static uint8_t and_below(uint8_t mask)
{
	return mask ? (2u << (31 - __builtin_clz(mask))) - 1 : 0;
}

static uint8_t widths_below(uint8_t mask)
{
	enum { WIDTH_1X = 1, WIDTH_2X = 16 };

	return and_below(mask & ~WIDTH_2X) | (mask & WIDTH_2X) | WIDTH_1X;
}

static void preset_port(struct device_port *port, const struct net_port *from)
{
	if (port->num)
		device_port_speeds(port, widths_below(from->rate.width),
				   and_below(from->rate.speed), and_below(from->rate.speed_ext));
	if (port->num && from->rate.fdr10)
		device_port_fdr10(port);
	if (!device_port_is_end(port))
		return;
	if (from->guid)
		port->guid = from->guid;
	port->info.lid = from->lid;
	port->info.lmc = from->lmc;
}

/* GUIDs that the net lacks are numbered, as in ibsim. */
static void build_device(struct world *world, const struct net_node *from, size_t index,
			 guid_t *next_guid)
{
	struct world_node *node = &world->nodes[index];
	bool is_switch = from->type == NODE_SWITCH;
	guid_t guid = from->guid ? from->guid : next_guid[is_switch];
	const struct device_config config = {
		.type = from->type,
		.description = from->description,
		.num_ports = from->ports,
		.node_guid = guid,
		.system_image_guid = from->system_guid ? from->system_guid : guid,
		.port_guid = is_switch ? guid : guid + 1,
		.enhanced_port0 = from->enhanced_port0,
		.vendor_id = from->vendor_id,
		.device_id = from->device_id,
	};

	next_guid[is_switch] += is_switch ? 1 : from->ports + 1;
	node->world = world;
	node->id = arena_strdup(world->names, from->id);
	node->tick_ns = UINT64_MAX;
	list_init(&node->clients);
	node->device = world->devices[index] = device_new(&config, &world->device_events);
	node->device->owner = node;
	world->num_switches += is_switch;
	if (!map_get(&world->by_guid, guid))
		map_put(&world->by_guid, guid, node->device);
	for (unsigned p = 0; p <= from->ports; p++)
		preset_port(&node->device->port[p], &from->port[p]);
}

static int check_cables(const struct net *net, const struct net_node *node, char *error,
			size_t error_size)
{
	for (unsigned p = 1; p <= node->ports; p++) {
		const struct net_port *port = &node->port[p];
		const struct net_node *peer;

		if (port->peer == NET_NO_PEER)
			continue;
		peer = (unsigned)port->peer < net->count ? &net->nodes[port->peer] : NULL;
		if (peer && port->peer_port && port->peer_port <= peer->ports &&
		    peer->port[port->peer_port].peer == node - net->nodes &&
		    peer->port[port->peer_port].peer_port == p)
			continue;
		snprintf(error, error_size,
			 "%s port %u is cabled to a port that is not cabled to it", node->id, p);
		return -EINVAL;
	}
	return 0;
}

static int check_net(const struct net *net, char *error, size_t error_size)
{
	int r = 0;

	if (!net->count) {
		snprintf(error, error_size, "the net has no nodes");
		return -EINVAL;
	}
	for (unsigned n = 0; n < net->count && !r; n++)
		r = check_cables(net, &net->nodes[n], error, error_size);
	return r;
}

static void build_cables(struct world *world, const struct net *net)
{
	for (unsigned n = 0; n < net->count; n++) {
		for (unsigned p = 1; p <= net->nodes[n].ports; p++) {
			const struct net_port *port = &net->nodes[n].port[p];
			struct device_port *end = &world->devices[n]->port[p];

			if (port->peer != NET_NO_PEER && !end->peer)
				device_cable(end,
					     &world->devices[port->peer]->port[port->peer_port]);
		}
	}
}

int world_new(const struct net *net, const struct world_options *options, struct world **out,
	      char *error, size_t error_size)
{
	guid_t next_guid[] = {GUID_OTHERS, GUID_SWITCHES};
	struct world *world;
	int r = check_net(net, error, error_size);

	if (r)
		return r;
	world = mem_zalloc(sizeof(*world));
	world->options = *options;
	world->random = options->seed;
	world->device_events = (struct device_events){.trap = on_trap,
						      .set = world_device_set,
						      .port_changed = on_port_changed,
						      .training = on_training,
						      .due = on_due,
						      .ctx = world};
	events_init(&world->events);
	map_init(&world->by_guid);
	list_init(&world->flights);
	world->names = arena_new();
	world->count = net->count;
	world->nodes = mem_array(net->count, sizeof(*world->nodes));
	world->devices = mem_array(net->count, sizeof(struct device *));
	for (size_t i = 0; i < net->count; i++)
		build_device(world, &net->nodes[i], i, next_guid);
	world->building = true;
	build_cables(world, net);
	world->building = false;
	*out = world;
	return 0;
}

/* Time */

uint64_t world_next_us(const struct world *world)
{
	uint64_t next_ns = events_next_ns(&world->events);

	return next_ns == UINT64_MAX ? UINT64_MAX : (next_ns + NS_PER_US - 1) / NS_PER_US;
}

void world_advance(struct world *world, uint64_t now_us)
{
	uint64_t now_ns = now_us * NS_PER_US;

	while (events_next_ns(&world->events) <= now_ns) {
		struct event event = events_pop(&world->events);

		world->now_ns = event.due_ns;
		event.fn(world, event.what, event.number);
		if (world->clients_gone)
			clients_free_gone(world);
	}
	if (world->now_ns < now_ns)
		world->now_ns = now_ns;
}

uint64_t world_now_us(const struct world *world)
{
	return world->now_ns / NS_PER_US;
}

void world_free(struct world *world)
{
	if (!world)
		return;
	for (size_t i = 0; i < world->count; i++) {
		list_for_each (link, &world->nodes[i].clients)
			free(container_of(link, struct world_client, link));
		free(world->nodes[i].faults);
		free(world->nodes[i].hca);
	}
	/* No callbacks for links that end now. */
	world->device_events = (struct device_events){0};
	for (size_t i = 0; i < world->count; i++)
		device_free(world->devices[i]);
	events_done(&world->events);
	packets_done(world);
	world_capture_end(world, NULL);
	map_done(&world->by_guid);
	arena_free(world->names);
	free(world->nodes);
	free(world->devices);
	free(world);
}

/* Finding */

/* For users and tests, too slow for each packet. */
struct device *world_device(const struct world *world, const char *name)
{
	for (size_t i = 0; i < world->count; i++) {
		if (!strcmp(world->nodes[i].id, name))
			return world->devices[i];
	}
	for (size_t i = 0; i < world->count; i++) {
		const uint8_t *text = hca_description(world->devices[i])->text;

		if (*name && !strncmp((const char *)text, name, NODE_DESC_SIZE))
			return world->devices[i];
	}
	return NULL;
}

struct device *world_device_by_guid(const struct world *world, guid_t node_guid)
{
	return map_get(&world->by_guid, node_guid);
}

size_t world_devices(const struct world *world, struct device *const **list)
{
	*list = world->devices;
	return world->count;
}

/* Changing */

static struct device_port *device_external_port(struct device *device, uint8_t port)
{
	return port ? device_port(device, port) : NULL;
}

int world_link(struct world *world, struct device *device, uint8_t port, bool up)
{
	struct device_port *end = device_external_port(device, port);

	(void)world;
	if (!end || !end->peer)
		return end ? -ENOTCONN : -EINVAL;
	device_pull(end, !up);
	return 0;
}

int world_recable(struct world *world, struct device *a, uint8_t port_a, struct device *b,
		  uint8_t port_b)
{
	struct device_port *end_a = device_external_port(a, port_a),
			   *end_b = device_external_port(b, port_b);

	(void)world;
	if (!end_a || !end_b)
		return -EINVAL;
	device_uncable(end_a);
	device_uncable(end_b);
	device_cable(end_a, end_b);
	return 0;
}

void world_node(struct world *world, struct device *device, bool up)
{
	(void)world;
	for (unsigned p = 1; p <= device->num_ports; p++)
		device_pull(&device->port[p], !up);
}

/* The programs of the node return with it. A virtual HCA has power while its driver runs. Without a
 * virtual machine, the node is a simulated host again. */
void world_reboot(struct world *world, struct device *device)
{
	struct hca *hca = world_node_of(device)->hca;

	(void)world;
	device_power(device, !hca || !device->off);
	if (hca)
		hca_restore(hca);
	list_for_each (link, &world_node_of(device)->clients) {
		const struct world_client *client = container_of(link, struct world_client, link);

		if (client->is_sm)
			device_set_issm(client->port, true);
	}
}

void world_set_faults(struct world *world, struct device *only, const struct world_faults *faults)
{
	struct world_node *node;

	if (only) {
		node = world_node_of(only);
		if (!node->faults)
			node->faults = mem_alloc(sizeof(*faults));
		*node->faults = *faults;
		return;
	}
	world->faults = *faults;
	for (size_t i = 0; i < world->count; i++) {
		free(world->nodes[i].faults);
		world->nodes[i].faults = NULL;
	}
}

const struct world_faults *world_faults(const struct world *world, const struct device *device)
{
	return device && world_node_of(device)->faults ? world_node_of(device)->faults
						       : &world->faults;
}

void world_eat(struct world *world, const struct device_port *port)
{
	world->eater = port;
}

const struct world_stats *world_stats(const struct world *world)
{
	return &world->stats;
}

void world_reset_stats(struct world *world)
{
	world->stats = (struct world_stats){0};
	for (size_t i = 0; i < world->count; i++) {
		struct device *device = world->devices[i];

		world->nodes[i].smps = 0;
		for (unsigned p = 0; p <= device->num_ports; p++)
			device->port[p].reregistrations = 0;
	}
}

uint64_t world_agent_smps(const struct device *device)
{
	return world_node_of(device)->smps;
}

void world_on_set(struct world *world,
		  void (*fn)(void *ctx, struct device *device, uint8_t port, uint16_t attr_id,
			     uint32_t attr_mod),
		  void *ctx)
{
	world->on_set = fn;
	world->on_set_ctx = ctx;
}

void world_on_port(struct world *world, void (*fn)(void *ctx, struct device *device, uint8_t port),
		   void *ctx)
{
	world->on_port = fn;
	world->on_port_ctx = ctx;
}

const uint8_t *world_serving(const struct world *world)
{
	return world->serving;
}

/* Looking */

int world_walk(const struct world *world, const struct device *from, uint8_t port, lid_t dlid)
{
	const struct device_port *at = &from->port[port];
	unsigned passed = 0;

	if (port > from->num_ports || (!port && !device_is_switch(from)))
		return -EHOSTUNREACH;
	if (device_port_is_end(at) && device_port_has_lid(at, dlid))
		return 0;
	if (port) {
		if (!device_port_passes(at))
			return -EHOSTUNREACH;
		at = at->peer;
	}
	while (device_is_switch(at->device)) {
		int num = switch_out_port(at->device, dlid);
		const struct device_port *out = &at->device->port[num > 0 ? num : 0];

		if (num <= 0)
			return num ? num : (int)passed;
		if (++passed > world->num_switches)
			return -ELOOP;
		if (!device_port_passes(out))
			return -EHOSTUNREACH;
		at = out->peer;
	}
	return device_port_has_lid(at, dlid) ? (int)passed : -EHOSTUNREACH;
}

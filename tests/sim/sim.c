/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Runs managers and a world on one clock. Time advances from one due event to the next. At each,
 * the deliveries of the world run before the turns of the loop, so that an answer wins over its own
 * time-out. Each event is numbered and mixed into the digest. Two runs of a seed are equal if their
 * digests are.
 */
#include "tests/sim/sim.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "lib/random.h"
#include "mad/mad.h"
#include "sim/spec.h"
#include "sm/context.h"
#include "sma/personality.h"
#include "tests/sim/loop_virtual.h"
#include "tests/sim/pipe.h"
#include "tests/sim/trace.h"
#include "tests/sim/transport_world.h"

enum {
	/* Longer than a sweep interval, than the longest pause after errors, and than the time
	 * after which an agent with a SubnetTimeOut of 18 repeats a trap. */
	QUIET_S = 25,
	WORKERS = 4,
	ASK_EVERY_MS = 10,
	STATUS_MASK = 0x7FFF, /* without the D bit */
	CIRCLES_LAST_S = 30,  /* after the last event of the scenario */
};

const struct world_options sim_usual_world = {
	.smp_us = 20,
	.hop_ns = 200,
	.vl15_depth = 4,
	.training_us = 20000,
};

/* Events */

uint64_t sim_now_us(const struct sim *sim)
{
	return loop_now_us(sim->loop);
}

static void mix(struct sim *sim, uint64_t bits)
{
	sim->digest = (sim->digest ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
	sim->digest ^= sim->digest >> 32;
}

static void mix_bytes(struct sim *sim, const void *bytes, size_t size)
{
	const char *from = bytes;
	uint64_t word;

	for (; size >= sizeof(word); size -= sizeof(word), from += sizeof(word)) {
		memcpy(&word, from, sizeof(word));
		mix(sim, word);
	}
	word = 0;
	memcpy(&word, from, size);
	mix(sim, word ^ size);
}

static bool over(const struct sim *sim)
{
	return sim->failed || sim->stopped;
}

/* An event begins, unless the run is over. A run with `until` ends where the next event would
 * begin, so that a replay makes the same checks in between. No event begins after a failure, so
 * that the digests of a failure and of its replay are equal. */
static bool event_begins(struct sim *sim)
{
	if (over(sim))
		return false;
	if (sim->run.until && sim->events == sim->run.until) {
		sim->stopped = true;
		return false;
	}
	sim->events++;
	mix(sim, sim_now_us(sim));
	if (sim->events == sim->run.fail_at)
		sim_fail(sim, "requested by --fail-at");
	return true;
}

/* An event of the scenario. */
static void happens(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void happens(struct sim *sim, const char *format, ...)
{
	char text[SIM_TEXT_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	sim->circles_due_us = sim_now_us(sim) + CIRCLES_LAST_S * SIM_S;
	if (!event_begins(sim))
		return;
	mix_bytes(sim, text, strlen(text));
	if (sim->run.trace)
		trace_line(sim_now_us(sim), sim->events, "%s", text);
}

void sim_fail(struct sim *sim, const char *format, ...)
{
	va_list arguments;
	int length;

	if (over(sim))
		return;
	length = snprintf(sim->failure, sizeof(sim->failure),
			  "at %" PRIu64 ".%06" PRIu64 " s, event %" PRIu64 ": ",
			  sim_now_us(sim) / SIM_S, sim_now_us(sim) % SIM_S, sim->events);
	va_start(arguments, format);
	vsnprintf(sim->failure + length, sizeof(sim->failure) - (size_t)length, format, arguments);
	va_end(arguments);
	sim->failed = true;
	if (sim->run.trace)
		trace_line(sim_now_us(sim), sim->events, "FAILURE: %s", sim->failure);
}

/* The same for multicast. */
static void look_at_trees(struct sim *sim, const struct device *device, uint8_t port,
			  uint16_t attr_id, uint32_t attr_mod, const struct origin *origin)
{
	struct forest_found found;

	forest_after_set(sim->forest, device, port, attr_id, attr_mod, origin, &found);
	sim->circles_excused += found.excused;
	if (sim->run.trace && found.excused)
		trace_line(sim_now_us(sim), sim->events,
			   "cables for multicast close %u loops that the manager could not foresee",
			   found.excused);
	if (found.mlid)
		sim_fail(sim,
			 "after Set(%s) 0x%x of %s port %u the cables for MLID 0x%x close a loop: "
			 "%s",
			 attr_name(CLASS_SUBN_DIRECTED, attr_id), attr_mod, trace_name(device),
			 port, found.mlid, found.way);
}

static void on_set(void *ctx, struct device *device, uint8_t port, uint16_t attr_id,
		   uint32_t attr_mod)
{
	struct sim *sim = ctx;
	struct circles_found found;
	struct origin origin;
	char way[SIM_TEXT_SIZE / 2];

	if (!event_begins(sim))
		return;
	mix(sim, device->node_guid ^ (uint64_t)attr_id << 32 ^ attr_mod);
	if (sim->run.trace)
		trace_line(sim_now_us(sim), sim->events, "%s applied Set(%s) %u of port %u",
			   trace_name(device), attr_name(CLASS_SUBN_DIRECTED, attr_id), attr_mod,
			   port);
	sim_check_set(sim, device, attr_id);
	known_origin(sim->known, world_serving(sim->world), sim_now_us(sim), &origin);
	circles_after_set(sim->circles, device, port, attr_id, attr_mod, &origin, &found);
	look_at_trees(sim, device, port, attr_id, attr_mod, &origin);
	sim->circles_excused += found.excused;
	if (sim->run.trace && found.excused)
		trace_line(sim_now_us(sim), sim->events,
			   "packets for %u LIDs are in a loop that the manager could not foresee",
			   found.excused);
	if (!found.count)
		return;
	circles_describe(device, found.example, way, sizeof(way));
	sim_fail(sim,
		 "after Set(%s) %u of %s port %u packets for %u LIDs are in a loop: LID %u by %s",
		 attr_name(CLASS_SUBN_DIRECTED, attr_id), attr_mod, trace_name(device), port,
		 found.count, found.example, way);
}

/* The manager finds and repairs excused loops like any other fault, within CIRCLES_LAST_S. */
static void look_at_circles(struct sim *sim)
{
	const struct device *device;
	char way[SIM_TEXT_SIZE / 2];
	lid_t lid;

	if (sim_now_us(sim) < sim->circles_due_us)
		return;
	sim->circles_due_us = UINT64_MAX;
	if (forest_last(sim->forest, &lid, way, sizeof(way)))
		sim_fail(sim,
			 "%u s after the last event cables of MLID 0x%x still close a loop: %s",
			 CIRCLES_LAST_S, lid, way);
	if (!circles_last(sim->circles, &device, &lid))
		return;
	circles_describe(device, lid, way, sizeof(way));
	sim_fail(sim, "%u s after the last event packets for LID %u are still in a loop: %s",
		 CIRCLES_LAST_S, lid, way);
}

static bool is_subn(const uint8_t *mad)
{
	return mad[1] == CLASS_SUBN_DIRECTED || mad[1] == CLASS_SUBN_LID;
}

static bool asks_for_down(const struct mad_header *header, const uint8_t *mad)
{
	struct port_info info;

	if (header->attr_id != ATTR_PORT_INFO)
		return false;
	attr_decode(&port_info_format, mad + SMP_DATA_OFFSET, &info);
	return info.port_state == PORT_DOWN;
}

static void count_sent(struct sim_manager *manager, const struct mad_header *header,
		       const uint8_t *mad)
{
	manager->mads_sent += header->mgmt_class != CLASS_SUBN_DIRECTED || header->hop_count;
	manager->lft_gets_sent +=
		header->method == METHOD_GET && header->attr_id == ATTR_LINEAR_FORWARDING_TABLE;
	manager->mft_gets_sent +=
		header->method == METHOD_GET && header->attr_id == ATTR_MULTICAST_FORWARDING_TABLE;
	if (header->method != METHOD_SET || header->attr_id == ATTR_SM_INFO)
		return;
	manager->sets_sent++;
	manager->downs_sent += asks_for_down(header, mad);
	manager->mft_sets_sent += header->attr_id == ATTR_MULTICAST_FORWARDING_TABLE;
	manager->lft_sets_sent += header->attr_id == ATTR_LINEAR_FORWARDING_TABLE;
	manager->sim->last_set_us = sim_now_us(manager->sim);
}

static unsigned number_of(const struct sim_manager *manager)
{
	return 1 + (unsigned)(manager - manager->sim->managers);
}

static void on_mad(void *ctx, bool sent, const struct mad_addr *peer, const uint8_t *mad,
		   size_t size)
{
	struct sim_manager *manager = ctx;
	struct sim *sim = manager->sim;
	struct mad_header header;

	header_decode(mad, &header);
	if (sent && is_subn(mad)) {
		count_sent(manager, &header, mad);
		known_sends(sim->known, number_of(manager), mad, sim_now_us(sim));
	} else if (is_subn(mad)) {
		known_receives(sim->known, number_of(manager), mad, sim_now_us(sim));
	}
	if (!sent && is_subn(mad) && header.method == METHOD_GET_RESP)
		manager->refused += (header.status & STATUS_MASK) != 0;
	if (sent && is_subn(mad) && header.attr_id == ATTR_SM_INFO &&
	    header.method == METHOD_GET_RESP) {
		struct sm_info info;

		attr_decode(&sm_info_format, mad + SMP_DATA_OFFSET, &info);
		manager->state = info.state;
	}
	if (sent && header.mgmt_class == CLASS_SUBN_ADM && size <= MAD_SIZE)
		memcpy(manager->sa_answer, mad, size);
	if (!event_begins(sim))
		return;
	mix_bytes(sim, mad, size);
	if (sim->run.trace)
		trace_mad(sim_now_us(sim), sim->events, trace_name(manager->port->device), sent,
			  peer, mad);
}

/* Time */

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One event, at most to end_us. False if there is none before. */
static bool step(struct sim *sim, uint64_t end_us)
{
	uint64_t now_us = sim_now_us(sim);
	uint64_t next_us = earlier(loop_next_us(sim->loop), world_next_us(sim->world));

	if (over(sim) || next_us > end_us)
		return false;
	now_us = next_us > now_us ? next_us : now_us;
	loop_set_now(sim->loop, now_us);
	world_advance(sim->world, now_us);
	loop_step(sim->loop, now_us);
	look_at_circles(sim);
	return true;
}

void sim_pass(struct sim *sim, uint64_t us)
{
	uint64_t end_us = sim_now_us(sim) + us;

	while (step(sim, end_us))
		;
	if (!over(sim)) {
		loop_set_now(sim->loop, end_us);
		world_advance(sim->world, end_us);
	}
}

uint64_t sim_settle(struct sim *sim, uint64_t limit_us)
{
	uint64_t limit_at_us = sim_now_us(sim) + limit_us;

	sim->last_set_us = sim_now_us(sim);
	while (sim_now_us(sim) < sim->last_set_us + QUIET_S * SIM_S && !over(sim)) {
		if (sim_now_us(sim) >= limit_at_us) {
			sim_fail(sim, "not quiet after %" PRIu64 " s: managers still send Set()",
				 limit_us / SIM_S);
			break;
		}
		sim_pass(sim, earlier(sim->last_set_us + QUIET_S * SIM_S, limit_at_us) -
				      sim_now_us(sim));
	}
	return sim->last_set_us;
}

/* A check may itself send MADs, so it runs at intervals. */
void sim_until(struct sim *sim, uint64_t limit_us, const char *what, bool (*condition)(void *ctx),
	       void *ctx)
{
	uint64_t limit_at_us = sim_now_us(sim) + limit_us;

	while (!over(sim) && !condition(ctx)) {
		if (sim_now_us(sim) >= limit_at_us)
			sim_fail(sim, "not within %" PRIu64 " ms: %s", limit_us / SIM_MS, what);
		sim_pass(sim, ASK_EVERY_MS * SIM_MS);
	}
}

/* Managers */

static void on_report(void *ctx, int error, bool again, const char *text)
{
	struct sim_manager *manager = ctx;

	(void)again;
	manager->reports++;
	manager->error = error;
	snprintf(manager->report, sizeof(manager->report), "%s", text);
	if (manager->sim->run.trace)
		trace_line(sim_now_us(manager->sim), manager->sim->events, "%s reports %d: %s",
			   trace_name(manager->port->device), error, text);
}

static void configure(struct conf *conf, const char *options)
{
	char *copy = mem_strdup(options ? options : ""), *rest = copy, *option;
	char error[CONF_ERROR_SIZE];

	conf_defaults(conf);
	/* MADs of the performance manager would change the course of each seed. */
	conf->pm.interval_s = 0;
	conf->replica.inband = false; /* so would the replication over the fabric */
	while ((option = strsep(&rest, " "))) {
		if (*option && conf_set(conf, option, error)) {
			fprintf(stderr, "sim: cannot use an option of the scenario: %s\n", error);
			abort();
		}
	}
	free(copy);
}

static void read_partitions(struct sim_manager *manager)
{
	struct partitions *partitions;
	char *error;

	if (!manager->partitions)
		return;
	if (partitions_parse("partitions", manager->partitions, strlen(manager->partitions),
			     manager->conf.sm.allow_both, &partitions, &error)) {
		fprintf(stderr, "sim: cannot use the partitions of the scenario: %s\n", error);
		abort();
	}
	manager_set_partitions(manager->manager, PARTITIONS_FILE, partitions);
}

void sim_partitions(struct sim_manager *manager, const char *text)
{
	manager->partitions = text;
	if (manager->transport && text)
		read_partitions(manager);
}

static struct transport_port place_of(const struct device_port *port)
{
	return (struct transport_port){.ca = "sim0",
				       .port = port->num,
				       .node_guid = port->device->node_guid,
				       .port_guid = device_guid(port, 0)};
}

uint64_t sim_timed_out(const struct sim_manager *manager)
{
	return txn_stats(manager_sm(manager->manager)->txns)->timed_out;
}

void sim_restart(struct sim_manager *manager)
{
	struct sim *sim = manager->sim;
	struct transport_port port;
	char why[STREAM_WHY_SIZE];
	struct device *device;

	if (over(sim) || manager->transport || !manager->port)
		return;
	device = manager->port->device;
	happens(sim, "manager starts on %s", trace_name(device));
	port = place_of(manager->port);
	manager->transport =
		transport_open_world(sim->loop, sim->world, device, &port, on_mad, manager);
	manager->pool = work_pool_new(sim->loop, WORKERS);
	if (manager->store_dir && store_open(sim->loop, manager->store_dir, &manager->store, why))
		sim_fail(sim, "the store cannot be opened: %s", why);
	manager->manager = manager_new(sim->loop, manager->pool, manager->transport, manager->store,
				       &manager->conf);
	if (manager->conf.replica.listen[0])
		manager->carrier = pipe_open(sim->pipes, manager->conf.replica.listen);
	if (manager_replicate(manager->manager, manager->carrier, NULL, &manager->conf, why))
		sim_fail(sim, "no replica: %s", why);
	manager->state = SM_NOTACTIVE;
	read_partitions(manager);
	known_starts(sim->known, number_of(manager), device);
	manager_on_report(manager->manager, on_report, manager);
	manager_start(manager->manager);
}

struct sim_manager *sim_prepare(struct sim *sim, const char *node, const char *options)
{
	struct sim_manager *manager = &sim->managers[sim->num_managers];
	struct device *device = sim_device(sim, node);

	assert(sim->num_managers < SIM_MANAGERS_MAX);
	sim->num_managers++;
	*manager = (struct sim_manager){.sim = sim};
	if (device)
		manager->port = device_port(device, device_is_switch(device) ? 0 : 1);
	configure(&manager->conf, options);
	return manager;
}

struct sim_manager *sim_start(struct sim *sim, const char *node, const char *options)
{
	struct sim_manager *manager = sim_prepare(sim, node, options);

	sim_restart(manager);
	return manager;
}

struct sim_manager *sim_start_keeping(struct sim *sim, const char *node, const char *options)
{
	struct sim_manager *manager = sim_prepare(sim, node, options);

	manager->store_dir = mem_strdup("/tmp/weft-sim.XXXXXX");
	if (!mkdtemp(manager->store_dir))
		abort();
	sim_restart(manager);
	return manager;
}

/* Files of a store in its folder. */
static void remove_store(struct sim_manager *manager)
{
	static const char *const files[] = {"weft.db", "weft.db-wal", "weft-copy.db",
					    "weft-copy.db-wal", "tables.img"};

	for (size_t i = 0; manager->store_dir && i < ARRAY_SIZE(files); i++) {
		char *path = mem_printf("%s/%s", manager->store_dir, files[i]);

		unlink(path);
		free(path);
	}
	if (manager->store_dir && rmdir(manager->store_dir))
		fprintf(stderr, "%s is left behind: %s\n", manager->store_dir, strerror(errno));
	free(manager->store_dir);
}

static void end(struct sim_manager *manager)
{
	work_pool_free(manager->pool);
	manager_free(manager->manager);
	store_free(manager->store);
	manager->store = NULL;
	if (manager->carrier)
		manager->carrier->ops->free(manager->carrier);
	manager->carrier = NULL;
	transport_close(manager->transport);
	manager->pool = NULL;
	manager->manager = NULL;
	manager->transport = NULL;
	manager->state = SM_NOTACTIVE;
}

void sim_kill(struct sim_manager *manager)
{
	if (over(manager->sim) || !manager->transport)
		return;
	happens(manager->sim, "manager on %s is killed", trace_name(manager->port->device));
	end(manager);
}

void sim_stop(struct sim_manager *manager)
{
	if (over(manager->sim) || !manager->transport)
		return;
	happens(manager->sim, "manager on %s stops", trace_name(manager->port->device));
	manager_stop(manager->manager);
	end(manager);
}

void sim_remove_device(struct sim_manager *manager)
{
	if (over(manager->sim) || !manager->transport || manager->transport->gone)
		return;
	happens(manager->sim, "the device of %s is removed", trace_name(manager->port->device));
	transport_world_remove(manager->transport);
	manager->state = SM_NOTACTIVE;
}

void sim_return_device(struct sim_manager *manager, struct device_port *port)
{
	struct transport_port place;

	if (over(manager->sim) || !port || !manager->transport || !manager->transport->gone)
		return;
	happens(manager->sim, "the device returns: %s port %u", trace_name(port->device),
		port->num);
	manager->port = port;
	place = place_of(port);
	transport_world_return(manager->transport, port->device, &place);
}

void sim_pipes(struct sim *sim, bool cut)
{
	if (over(sim))
		return;
	happens(sim, "the network beside the fabric is %s", cut ? "cut" : "whole again");
	pipe_cut(sim->pipes, cut);
}

void sim_reset_pipes(struct sim *sim)
{
	if (over(sim))
		return;
	happens(sim, "all connections beside the fabric end");
	pipe_reset(sim->pipes);
}

bool sim_network_trouble(struct sim *sim, unsigned one_in)
{
	uint64_t drawn = sim_random(sim, one_in);

	if (drawn == 0) {
		sim_pipes(sim, true);
		sim_pass(sim, sim_random(sim, 400) * SIM_MS);
		sim_pipes(sim, false);
	} else if (drawn == 1) {
		sim_reset_pipes(sim);
	}
	return drawn <= 1;
}

bool sim_running(const struct sim_manager *manager)
{
	return manager->transport != NULL;
}

/* The request is given to the transport of the manager. Its answer goes out, and on_mad() reads it
 * there. */
enum sm_state sim_state(struct sim_manager *manager)
{
	struct mad_addr from = {0};
	uint8_t mad[MAD_SIZE];

	if (!manager->transport || manager->transport->gone || over(manager->sim))
		return SM_NOTACTIVE;
	from.lid = manager->port->info.lid;
	subn_build(mad, METHOD_GET, ATTR_SM_INFO, 0, 0, NULL, NULL);
	manager->transport->user.received(manager->transport->user.ctx, &from, mad, sizeof(mad));
	return manager->state;
}

struct sim_manager *sim_master(struct sim *sim)
{
	for (unsigned i = 0; i < sim->num_managers; i++) {
		if (sim_state(&sim->managers[i]) == SM_MASTER)
			return &sim->managers[i];
	}
	return NULL;
}

/* Faults and changes of the fabric */

struct device *sim_device(struct sim *sim, const char *node)
{
	struct device *device = world_device(sim->world, node);

	if (!device)
		sim_fail(sim, "the topology has no node \"%s\"", node);
	return device;
}

struct device_port *sim_port(struct sim *sim, const char *node, unsigned port)
{
	struct device *device = sim_device(sim, node);

	return device ? device_port(device, port) : NULL;
}

void sim_link(struct sim *sim, struct device_port *port, bool up)
{
	if (over(sim) || !port)
		return;
	happens(sim, "link %s at %s port %u", up ? "up" : "down", trace_name(port->device),
		port->num);
	world_link(sim->world, port->device, port->num, up);
}

void sim_flap(struct sim *sim, struct device_port *port, uint64_t down_us)
{
	sim_link(sim, port, false);
	sim_pass(sim, down_us);
	sim_link(sim, port, true);
}

void sim_node(struct sim *sim, struct device *device, bool up)
{
	if (over(sim) || !device)
		return;
	happens(sim, "node %s %s", trace_name(device), up ? "returns" : "vanishes");
	world_node(sim->world, device, up);
}

void sim_reboot(struct sim *sim, struct device *device)
{
	if (over(sim) || !device)
		return;
	happens(sim, "%s reboots", trace_name(device));
	sim->rebooted = true;
	circles_forget(sim->circles, device);
	forest_forget(sim->forest, device);
	world_reboot(sim->world, device);
}

void sim_behave(struct sim *sim, struct device *device, const char *personality)
{
	const struct personality *row = personality_find(personality);

	if (over(sim) || !device)
		return;
	if (!row) {
		sim_fail(sim, "there is no personality \"%s\"", personality);
		return;
	}
	happens(sim, "%s is %s", trace_name(device), personality);
	device->quirks = row->quirks;
}

void sim_lossy(struct sim *sim, struct device *device, unsigned drop_ppm)
{
	if (over(sim) || !device)
		return;
	happens(sim, "%s loses %u ppm", trace_name(device), drop_ppm);
	world_set_faults(sim->world, device, &(struct world_faults){.drop_ppm = drop_ppm});
}

void sim_eat(struct sim *sim, const struct device_port *port)
{
	if (over(sim))
		return;
	if (port)
		happens(sim, "%s port %u loses all that it sends", trace_name(port->device),
			port->num);
	else
		happens(sim, "no port loses all that it sends");
	world_eat(sim->world, port);
}

void sim_silence(struct sim *sim, struct device *device, bool silent)
{
	if (over(sim) || !device)
		return;
	happens(sim, "the agent of %s %s", trace_name(device), silent ? "dies" : "lives again");
	device->quirks.silent = silent;
}

void sim_swap_cables(struct sim *sim, struct device_port *a, struct device_port *b)
{
	struct device_port *far_a, *far_b;

	if (over(sim) || !a || !b)
		return;
	far_a = a->peer;
	far_b = b->peer;
	if (!far_a || !far_b) {
		sim_fail(sim, "%s port %u or %s port %u has no cable to swap",
			 trace_name(a->device), a->num, trace_name(b->device), b->num);
		return;
	}
	sim->recabled = true;
	happens(sim, "the cables of %s port %u and %s port %u are swapped", trace_name(a->device),
		a->num, trace_name(b->device), b->num);
	known_moves(sim->known, a);
	known_moves(sim->known, b);
	world_recable(sim->world, a->device, a->num, far_b->device, far_b->num);
	world_recable(sim->world, b->device, b->num, far_a->device, far_a->num);
}

void sim_faults(struct sim *sim, const struct world_faults *faults)
{
	static const struct world_faults none;

	if (over(sim))
		return;
	faults = faults ? faults : &none;
	happens(sim, "faults: %u ppm lost, %u ppm twice, %u ppm up to %u us late, %u ppm garbled",
		faults->drop_ppm, faults->duplicate_ppm, faults->delay_ppm, faults->delay_us,
		faults->garble_ppm);
	world_set_faults(sim->world, NULL, faults);
}

/* With a state of its own: random numbers of a manager do not change the events of the scenario. */
uint64_t sim_random(struct sim *sim, uint64_t bound)
{
	return random_next(&sim->random) % bound;
}

/* Beginning and end */

static struct net *read_topology(const char *topology)
{
	struct net_error error;
	struct net *net = NULL;
	char *why = NULL;

	if (strchr(topology, '\n')) {
		if (net_parse("topology", topology, strlen(topology), &net, &error))
			fprintf(stderr, "%s\n", error.text);
	} else if (spec_build(topology, &net, &why)) {
		fprintf(stderr, "%s\n", why);
		free(why);
	}
	return net;
}

static uint64_t log_clock(void *ctx)
{
	return loop_now_us(ctx);
}

/* Every other device shows extended speeds only to a manager that requests them. */
static void hide_extended_speeds(struct world *world)
{
	struct device *const *list;
	size_t count = world_devices(world, &list);

	for (size_t i = 0; i < count; i += 2)
		list[i]->quirks.hides_extended_speeds = true;
}

struct sim *sim_new(const char *topology, const struct world_options *options,
		    const struct sim_run *run)
{
	struct net *net = read_topology(topology);
	struct world_options seeded = options ? *options : sim_usual_world;
	struct sim *sim;
	char error[256];

	if (!net)
		return NULL;
	sim = mem_zalloc(sizeof(*sim));
	sim->run = *run;
	sim->random = run->seed ^ UINT64_C(0x5157454654);
	seeded.seed = run->seed;
	if (world_new(net, &seeded, &sim->world, error, sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		net_free(net);
		free(sim);
		return NULL;
	}
	net_free(net);
	hide_extended_speeds(sim->world);
	sim->loop = loop_new();
	loop_seed(sim->loop, run->seed);
	log_set_clock(log_clock, sim->loop);
	sim->pipes = pipe_net_new(sim->loop, run->seed);
	sim->known = known_new();
	sim->circles = circles_new(sim->known);
	sim->forest = forest_new(sim->known);
	world_on_set(sim->world, on_set, sim);
	return sim;
}

void sim_free(struct sim *sim)
{
	if (!sim)
		return;
	for (unsigned i = 0; i < sim->num_managers; i++) {
		end(&sim->managers[i]);
		remove_store(&sim->managers[i]);
	}
	circles_free(sim->circles);
	forest_free(sim->forest);
	known_free(sim->known);
	world_free(sim->world);
	pipe_net_free(sim->pipes);
	loop_free(sim->loop);
	log_set_clock(NULL, NULL);
	free(sim);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Speed of software agents and of a world of them, on one core in one process: requests that an
 * agent answers alone, requests that a program sends through the world until their answers return,
 * and the cost of building a large fabric. Prints figures for scripts/bench and judges nothing.
 *
 *
 *	bench_agent [SPEC]...     also builds these fabrics; default: two large ones
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sim/spec.h"
#include "sim/world.h"

enum { ROUNDS = 2000000, QUICK_ROUNDS = 200000, WINDOW = 32 };

static unsigned rounds = ROUNDS;

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static double peak_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024.0;
}

static struct world *build(const char *spec)
{
	double begin_s = now_s(), middle_s;
	struct world_options options = {.seed = 1};
	struct world *world;
	struct net *net;
	char *error, text[512];
	struct net_counts counts;

	if (spec_build(spec, &net, &error)) {
		fprintf(stderr, "%s\n", error);
		exit(EXIT_FAILURE);
	}
	middle_s = now_s();
	if (world_new(net, &options, &world, text, sizeof(text))) {
		fprintf(stderr, "%s: %s\n", spec, text);
		exit(EXIT_FAILURE);
	}
	net_count(net, &counts);
	net_free(net);
	printf("built %s, %u LIDs\t%.2f s\tnet %.2f s, then world %.2f s; peak %.0f MiB\n", spec,
	       counts.adapters + counts.switches, now_s() - begin_s, middle_s - begin_s,
	       now_s() - middle_s, peak_mib());
	return world;
}

/* The kinds of SMPs in a bring-up. */
static const struct kind {
	const char *name;
	uint8_t method;
	uint16_t attr_id;
	uint32_t attr_mod;
} kinds[] = {
	{"Get(NodeInfo)", METHOD_GET, ATTR_NODE_INFO, 0},
	{"Get(PortInfo)", METHOD_GET, ATTR_PORT_INFO, PORT_INFO_EXTENDED_SPEEDS | 1},
	{"Set(PortInfo)", METHOD_SET, ATTR_PORT_INFO, PORT_INFO_EXTENDED_SPEEDS | 1},
	{"Set(LFT)", METHOD_SET, ATTR_LINEAR_FORWARDING_TABLE, 7},
};

static void prepare(struct device *device, const struct kind *kind, const struct route_path *route,
		    uint8_t mad[MAD_SIZE])
{
	struct port_info info = device->port[1].info;
	uint8_t data[SMP_DATA_SIZE] = {0};

	info.port_state = info.port_physical_state = 0;
	if (kind->attr_id == ATTR_PORT_INFO && kind->method == METHOD_SET)
		format_encode(&port_info_format, &info, data);
	subn_build(mad, kind->method, kind->attr_id, kind->attr_mod, 0, route, data);
}

static void check_answer(const uint8_t *mad)
{
	struct mad_header header;

	header_decode(mad, &header);
	if (header.method == METHOD_GET_RESP && !(header.status & 0x7FFF))
		return;
	fprintf(stderr, "an answer has status 0x%04x\n", header.status);
	exit(EXIT_FAILURE);
}

static void bench_agent(struct device *device, const struct kind *some, size_t count,
			const char *name)
{
	static const struct route_path here;
	uint8_t request[ARRAY_SIZE(kinds)][MAD_SIZE], mad[MAD_SIZE];
	double begin_s;

	for (size_t i = 0; i < count; i++)
		prepare(device, &some[i], &here, request[i]);
	begin_s = now_s();
	for (unsigned i = 0; i < rounds; i++) {
		memcpy(mad, request[i % count], MAD_SIZE);
		if (!device_handle(device, 1, mad))
			exit(EXIT_FAILURE);
	}
	check_answer(mad);
	printf("agent, %s\t%.2f million/s\n", name, rounds / (now_s() - begin_s) / 1e6);
}

/* A program that keeps WINDOW requests under way. */
struct asker {
	struct world_client *client;
	struct mad_addr to;
	uint8_t request[ARRAY_SIZE(kinds)][MAD_SIZE];
	uint64_t sent, answers;
};

static void ask(struct asker *asker)
{
	world_send(asker->client, &asker->to, asker->request[asker->sent++ % ARRAY_SIZE(kinds)],
		   MAD_SIZE);
}

static void received(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size)
{
	struct asker *asker = ctx;

	(void)from;
	(void)size;
	check_answer(mad);
	asker->answers++;
	if (asker->sent < rounds)
		ask(asker);
}

static void bench_world(struct world *world, unsigned hops)
{
	static const struct route_path routes[] = {
		{.hops = 1, .port = {0, 1}},
		{.hops = 3, .port = {0, 1, 20, 2}},
	};
	const struct route_path *route = &routes[hops > 1];
	struct asker asker = {.to.lid = LID_PERMISSIVE};
	struct device *host = world_device(world, "host-0001");
	struct device *device = host;
	double begin_s;

	for (unsigned i = 1; i <= route->hops; i++)
		device = device->port[route->port[i]].peer->device;
	asker.client = world_attach(world, host, 1, received, &asker);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		prepare(device, &kinds[i], route, asker.request[i]);
	begin_s = now_s();
	for (unsigned i = 0; i < WINDOW; i++)
		ask(&asker);
	while (asker.answers < rounds)
		world_advance(world, world_next_us(world));
	printf("world, %u hops and back, all in turn\t%.2f million/s\n", route->hops,
	       rounds / (now_s() - begin_s) / 1e6);
	world_detach(asker.client);
}

int main(int argc, char **argv)
{
	static const char *const usual[] = {"fattree:radix=64,levels=3,pods=39",
					    "fattree:radix=64,levels=3,pods=44"};
	const char *const *specs = argc > 1 ? (const char *const *)argv + 1 : usual;
	size_t count = argc > 1 ? (size_t)argc - 1 : ARRAY_SIZE(usual);
	const char *quick = getenv("QUICK");
	struct world *world;
	struct device *leaf;

	if (quick && *quick)
		rounds = QUICK_ROUNDS;
	for (size_t i = 0; i < count; i++)
		world_free(build(specs[i]));
	world = build("fattree:radix=36,levels=2");
	leaf = world_device(world, "host-0001")->port[1].peer->device;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		bench_agent(leaf, &kinds[i], 1, kinds[i].name);
	bench_agent(leaf, kinds, ARRAY_SIZE(kinds), "all in turn");
	bench_world(world, 1);
	bench_world(world, 3);
	world_free(world);
	return EXIT_SUCCESS;
}

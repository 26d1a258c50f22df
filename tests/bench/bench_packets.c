/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Speed of the data plane of weftsim, on one core in one process: packets from one virtual HCA to
 * another across three switches, without and with enforcement of P_Keys at each port, of 2,048
 * bytes, and multicast to all hosts. A packet-hop is a packet on one link. Prints figures for
 * scripts/bench and judges nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "sim/hca.h"
#include "sim/spec.h"
#include "sim/world.h"

enum {
	ROUNDS = 1000000,
	QUICK_ROUNDS = 50000,
	MLID = 0xC001,
	MTU_4096 = 5,
	VLS_4 = 3,
	PACKET_MAX = 8 + 40 + 20 + 2048,
	IN_ONE_TURN = 64,
};

static unsigned rounds = ROUNDS;
static uint64_t received;

static bool on_packet(void *ctx, uint8_t port, const uint8_t *packet, size_t size)
{
	(void)ctx;
	(void)port;
	(void)packet;
	(void)size;
	received++;
	return true;
}

static void on_changed(void *ctx)
{
	(void)ctx;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* A port of the switch on a shortest way to the host: itself, or by the first switch that has it.
 */
static uint8_t port_to(const struct device *sw, const struct device *host)
{
	for (unsigned depth = 0; depth < 2; depth++) {
		for (unsigned p = 1; p <= sw->num_ports; p++) {
			const struct device_port *peer = sw->port[p].peer;

			if (!peer)
				continue;
			if (!depth && peer->device == host)
				return p;
			for (unsigned q = 1; depth && device_is_switch(peer->device) &&
					     q <= peer->device->num_ports;
			     q++) {
				const struct device_port *next = peer->device->port[q].peer;

				if (next && next->device == host)
					return p;
			}
		}
	}
	/* Up, by the first switch: the net has two levels. */
	for (unsigned p = 1; p <= sw->num_ports; p++) {
		if (sw->port[p].peer && device_is_switch(sw->port[p].peer->device))
			return p;
	}
	return LFT_NO_PORT;
}

/* LID n + 1 is the n-th device. The tree of the group is the first spine with all leaves. */
static void program(struct world *world)
{
	struct device *const *devices;
	size_t count = world_devices(world, &devices);
	const struct device *spine = NULL;

	for (size_t i = 0; i < count; i++) {
		struct device *device = devices[i];

		for (unsigned p = 0; p <= device->num_ports; p++) {
			struct port_info *info = &device->port[p].info;

			info->port_state = PORT_ACTIVE;
			info->neighbor_mtu = MTU_4096;
			info->operational_vls = VLS_4;
			if (device_port_is_end(&device->port[p]))
				info->lid = (lid_t)(i + 1);
		}
		if (!device_is_switch(device))
			continue;
		device->lft_size = (uint32_t)count + 1;
		device->lft = mem_zalloc(count + 1);
		device->mft = mem_zalloc(2 * 16 * (size_t)device->sw.multicast_fdb_cap);
		device->sw.linear_fdb_top = (lid_t)count;
		for (size_t to = 0; to < count; to++)
			device->lft[to + 1] =
				devices[to] == device ? 0 : port_to(device, devices[to]);
	}
	for (size_t i = 0; i < count && !spine; i++) {
		bool has_host = false;

		for (unsigned p = 1; device_is_switch(devices[i]) && p <= devices[i]->num_ports;
		     p++)
			has_host |= devices[i]->port[p].peer &&
				    !device_is_switch(devices[i]->port[p].peer->device);
		if (device_is_switch(devices[i]) && !has_host)
			spine = devices[i];
	}
	for (size_t i = 0; i < count; i++) {
		struct device *device = devices[i];
		size_t position = (size_t)device->sw.multicast_fdb_cap;

		for (unsigned p = 1; device_is_switch(device) && p <= device->num_ports; p++) {
			const struct device_port *peer = device->port[p].peer;
			uint8_t *mask = device->mft + 2 * (p / 16 * position + (MLID & 0x3FFF));

			if (peer && (device == spine || peer->device == spine ||
				     !device_is_switch(peer->device)))
				be16_store(mask, (uint16_t)(be16_load(mask) | 1u << p % 16));
		}
	}
}

static void enforce(struct world *world)
{
	struct device *const *devices;
	size_t count = world_devices(world, &devices);

	for (size_t i = 0; i < count; i++) {
		for (unsigned p = 1; device_is_switch(devices[i]) && p <= devices[i]->num_ports;
		     p++) {
			struct port_info *info = &devices[i]->port[p].info;

			info->partition_enforcement_inbound = 1;
			info->partition_enforcement_outbound = 1;
		}
	}
}

static uint64_t hops(struct world *world)
{
	struct device *const *devices;
	size_t count = world_devices(world, &devices);
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		for (unsigned p = 1; p <= devices[i]->num_ports; p++)
			sum += devices[i]->port[p].counts.traffic[TRAFFIC_XMIT_PKTS];
	return sum;
}

static size_t build(const struct device_port *from, lid_t to, unsigned payload, uint8_t *out)
{
	bool multicast = to >= LID_MULTICAST_MIN;
	size_t routing = multicast ? 48 : 8, size = routing + 20 + payload;

	memset(out, 0, size);
	out[1] = multicast ? 3 : 2;
	be16_store(out + 2, to);
	be16_store(out + 4, (uint16_t)((size + 4) / 4));
	be16_store(out + 6, from->info.lid);
	if (multicast) {
		out[8] = 0x60;
		be16_store(out + 12, (uint16_t)(size - routing + 4));
		out[14] = 0x1B;
		be64_store(out + 16, GID_PREFIX_DEFAULT);
		be64_store(out + 24, from->guid);
		out[32] = 0xFF;
	}
	out[routing] = 0x64;
	be16_store(out + routing + 2, 0xFFFF);
	be32_store(out + routing + 4, multicast ? 0xFFFFFF : 0x48);
	be32_store(out + routing + 16, 0x4A);
	return size;
}

static void measure(struct world *world, struct hca *hca, const struct device_port *from, lid_t to,
		    unsigned payload, unsigned count, const char *name)
{
	uint8_t packet[PACKET_MAX];
	size_t size = build(from, to, payload, packet);
	uint64_t before = hops(world), got = received;
	double begin_s = now_s(), s;

	for (unsigned i = 1; i <= count; i++) {
		if (hca_send(hca, 1, packet, size)) {
			fprintf(stderr, "a packet is refused\n");
			exit(EXIT_FAILURE);
		}
		if (i % IN_ONE_TURN == 0 || i == count)
			world_advance(world, world_now_us(world) + 1);
	}
	s = now_s() - begin_s;
	if (received - got < count) {
		fprintf(stderr, "%s: only %llu packets arrived\n", name,
			(unsigned long long)(received - got));
		exit(EXIT_FAILURE);
	}
	printf("%s\t%.2f million hops/s\t%.2f million packets/s\n", name,
	       (hops(world) - before) / s / 1e6, count / s / 1e6);
}

int main(void)
{
	static const struct hca_user user = {on_packet, on_changed, NULL};
	static const struct world_options options = {.seed = 1};
	const char *quick = getenv("QUICK");
	struct device *const *devices;
	struct hca *first = NULL;
	struct device *from = NULL, *to = NULL;
	struct world *world;
	char *error, text[512];
	struct net *net;
	size_t count;

	if (quick && *quick)
		rounds = QUICK_ROUNDS;
	if (spec_build("fattree:radix=8,levels=2", &net, &error) ||
	    world_new(net, &options, &world, text, sizeof(text)))
		return EXIT_FAILURE;
	net_free(net);
	count = world_devices(world, &devices);
	for (size_t i = 0; i < count; i++) {
		struct hca *hca;

		if (device_is_switch(devices[i]))
			continue;
		hca = hca_attach(world, devices[i], &user);
		hca_start(hca);
		to = devices[i];
		if (!first) {
			first = hca;
			from = to;
		}
	}
	world_advance(world, 1000000);
	program(world);
	measure(world, first, &from->port[1], to->port[1].info.lid, 64, rounds,
		"packets of 64 bytes, 3 switches");
	measure(world, first, &from->port[1], to->port[1].info.lid, 2048, rounds,
		"packets of 2,048 bytes, 3 switches");
	measure(world, first, &from->port[1], MLID, 64, rounds / 20, "multicast to 32 hosts");
	enforce(world);
	measure(world, first, &from->port[1], to->port[1].info.lid, 64, rounds,
		"the same as the first, with P_Keys enforced");
	world_free(world);
	return EXIT_SUCCESS;
}

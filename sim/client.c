/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The programs at the ports of a world: they attach and detach, set IsSM, and send. sim/packet.c
 * delivers what they receive. A program that detaches is only marked, because it may do so from
 * within received(); it is freed at the end of the event.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "sim/world_parts.h"

enum { NS_PER_US = 1000 };

struct world_client *world_attach(struct world *world, struct device *device, uint8_t port,
				  void (*received)(void *ctx, const struct mad_addr *from,
						   const uint8_t *mad, size_t size),
				  void *ctx)
{
	struct device_port *at = device_port(device, port);
	struct world_client *client;

	if (!at || !device_port_is_end(at))
		return NULL;
	client = mem_zalloc(sizeof(*client));
	client->world = world;
	client->port = at;
	client->received = received;
	client->q_key = QP1_Q_KEY;
	client->ctx = ctx;
	list_push(&world_node_of(device)->clients, &client->link);
	return client;
}

void world_set_q_key(struct world_client *client, uint32_t q_key)
{
	client->q_key = q_key;
}

void world_set_issm(struct world_client *client, bool on)
{
	bool any = false;

	client->is_sm = on;
	list_for_each (link, &world_node_of(client->port->device)->clients) {
		const struct world_client *other = container_of(link, struct world_client, link);

		any |= other->port == client->port && other->is_sm;
	}
	device_set_issm(client->port, any);
}

void world_hear_all(struct world_client *client)
{
	client->hears_all = true;
}

void world_detach(struct world_client *client)
{
	if (!client)
		return;
	if (client->is_sm)
		world_set_issm(client, false);
	client->gone = true;
	client->world->clients_gone = true;
}

void clients_free_gone(struct world *world)
{
	for (size_t i = 0; i < world->count; i++) {
		list_for_each (link, &world->nodes[i].clients) {
			struct world_client *client = container_of(link, struct world_client, link);

			if (client->gone) {
				list_del(link);
				free(client);
			}
		}
	}
	world->clients_gone = false;
}

/* The fields that the sending port adds to a MAD: chapters 8.3 and 14.2.2. */
static void packet_address(struct packet *packet, const struct mad_addr *to)
{
	const struct port_info *info = &packet->at->info;

	packet->dlid = to->lid;
	if (!packet->is_smp) {
		packet->src_qp = 1;
		packet->dst_qp = to->qpn > 1 ? to->qpn : 1;
	}
	packet->slid = info->lid;
	if (to->lid == LID_PERMISSIVE)
		packet->slid = LID_PERMISSIVE;
	else if (info->lid)
		packet->slid |= to->path_bits & ((1u << info->lmc) - 1);
	packet->sl = to->sl;
	packet->pkey_index = to->pkey_index;
	packet->p_key = device_p_key(packet->at, to->pkey_index);
	packet->has_grh = to->has_grh;
	packet->grh = to->grh;
	packet->words = packet_words(to->has_grh, MAD_TRANSPORT_SIZE);
}

static void address_grh(struct packet *packet)
{
	guid_t guid = device_guid(packet->at, packet->grh.sgid_index);

	be64_store(packet->grh.sgid, packet->at->info.gid_prefix);
	be64_store(packet->grh.sgid + sizeof(guid_t), guid);
}

static bool client_is_smp(uint8_t mgmt_class)
{
	return mgmt_class == CLASS_SUBN_LID || mgmt_class == CLASS_SUBN_DIRECTED;
}

int world_send(struct world_client *client, const struct mad_addr *to, const uint8_t *mad,
	       size_t size)
{
	struct world *world = client->world;
	struct packet *packet;

	if (client->gone || size < MAD_HEADER_SIZE || size > MAD_SIZE)
		return -EINVAL;
	packet = packet_new(world);
	memcpy(packet->mad, mad, size);
	memset(packet->mad + size, 0, MAD_SIZE - size);
	packet->at = client->port;
	packet->is_smp = client_is_smp(mad[1]);
	packet->q_key = client->q_key;
	packet_address(packet, to);
	if (packet->has_grh)
		address_grh(packet);
	if (client->free_ns < world->now_ns)
		client->free_ns = world->now_ns;
	client->free_ns += (uint64_t)world->options.send_us * NS_PER_US;
	packet_start_at(world, packet, client->free_ns);
	return 0;
}

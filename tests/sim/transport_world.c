/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The transport over a world, with the parts of the kernel that a manager can misuse
 * (drivers/infiniband/core/user_mad.c and mad.c):
 * - The upper half of a request's TID is overwritten with the number of its agent, and answers have
 *   it, too. An answer reaches the user only if a request of its class with the same lower half and
 *   with a time-out is under way. Late and repeated answers, and answers to requests with time-out
 *   0, are dropped. Two requests under way with one lower half are refused.
 * - A time-out returns the 24 bytes of the header only.
 * - An agent has a limited number of requests under way. Others wait in the kernel, and their time
 *   starts when they are sent. If such a send fails, nothing is reported.
 * - Requests of others reach the user only in the methods that mad/umad.c registers.
 *
 * The kernel does RMPP on a real machine. It is not simulated: messages above 256 bytes are
 * refused, and the replication over the fabric uses shorter messages.
 */
#include "tests/sim/transport_world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/map.h"
#include "lib/mem.h"
#include "mad/inband.h"
#include "mad/mad.h"

enum { TID_OFFSET = 8, METHOD_OFFSET = 3, CLASS_OFFSET = 1, AGENT_ID_FIRST = 0x100 };

#define METHOD_BIT(method) (UINT32_C(1) << (method))

/* A registration. */
static const struct agent_row {
	uint8_t mgmt_class;
	unsigned limit;	  /* requests under way */
	uint32_t methods; /* of requests from others */
} agent_rows[] = {
	{CLASS_SUBN_DIRECTED, 128,
	 METHOD_BIT(METHOD_GET) | METHOD_BIT(METHOD_SET) | METHOD_BIT(METHOD_TRAP)},
	{CLASS_SUBN_LID, 128,
	 METHOD_BIT(METHOD_GET) | METHOD_BIT(METHOD_SET) | METHOD_BIT(METHOD_TRAP)},
	{CLASS_SUBN_ADM, 16,
	 METHOD_BIT(METHOD_GET) | METHOD_BIT(METHOD_SET) | METHOD_BIT(METHOD_GET_TABLE) |
		 METHOD_BIT(METHOD_GET_MULTI) | METHOD_BIT(METHOD_DELETE)},
	{CLASS_PERF, 16, 0},
	{INBAND_CLASS, 16, METHOD_BIT(METHOD_SET)},
};

enum { AGENTS = sizeof(agent_rows) / sizeof(agent_rows[0]) };

struct agent {
	const struct agent_row *row;
	uint32_t id; /* the upper half of its TIDs */
	unsigned under_way;
	struct list waiting; /* requests */
};

struct request {	  /* that expects an answer */
	struct list link; /* in waiting of its agent, in spare of the transport, or in none */
	struct list all;
	struct transport_world *owner;
	struct agent *agent;
	struct loop_timer timer;
	unsigned timeout_ms;
	struct mad_addr to;
	size_t size;
	uint8_t mad[MAD_SIZE];
};

struct transport_world {
	struct transport transport;
	struct loop *loop;
	struct world *world;
	struct world_client *client; /* NULL without a device */
	struct agent agents[AGENTS];
	struct map requests; /* by class and lower half of the TID */
	struct list spare, all;
	transport_tap_fn *tap;
	void *tap_ctx;
};

static uint64_t request_key(const uint8_t *mad)
{
	return (uint64_t)mad[CLASS_OFFSET] << 32 | be32_load(mad + TID_OFFSET + 4);
}

/* The kernel's rule for an answer. */
static bool is_answer(const uint8_t *mad)
{
	return mad[METHOD_OFFSET] & METHOD_RESPONSE || mad[METHOD_OFFSET] == METHOD_TRAP_REPRESS;
}

static struct agent *find_agent(struct transport_world *world, uint8_t mgmt_class)
{
	for (size_t i = 0; i < AGENTS; i++) {
		if (agent_rows[i].mgmt_class == mgmt_class)
			return &world->agents[i];
	}
	return NULL;
}

static int put_on_wire(struct transport_world *world, const struct mad_addr *to, const uint8_t *mad,
		       size_t size)
{
	if (world->tap)
		world->tap(world->tap_ctx, true, to, mad, size);
	return world_send(world->client, to, mad, size);
}

/* Requests under way */

static void request_free(struct request *request)
{
	map_remove(&request->owner->requests, request_key(request->mad));
	loop_timer_disarm(&request->timer);
	list_push(&request->owner->spare, &request->link);
}

static void send_waiting(struct transport_world *world, struct agent *agent)
{
	struct list *link;

	while (agent->under_way < agent->row->limit && (link = list_pop(&agent->waiting))) {
		struct request *request = container_of(link, struct request, link);

		if (put_on_wire(world, &request->to, request->mad, request->size)) {
			request_free(request);
			continue;
		}
		agent->under_way++;
		loop_timer_arm(&request->timer, (uint64_t)request->timeout_ms * 1000);
	}
}

static void request_over(struct request *request)
{
	struct agent *agent = request->agent;

	agent->under_way--;
	request_free(request);
	send_waiting(request->owner, agent);
}

static void timed_out(void *arg)
{
	struct request *request = arg;
	const struct transport_user *user = &request->owner->transport.user;
	uint8_t header[MAD_HEADER_SIZE];

	memcpy(header, request->mad, sizeof(header));
	request_over(request);
	if (user->timed_out)
		user->timed_out(user->ctx, header);
}

static struct request *request_new(struct transport_world *world)
{
	struct list *link = list_pop(&world->spare);
	struct request *request;

	if (link)
		return container_of(link, struct request, link);
	request = mem_zalloc(sizeof(*request));
	request->owner = world;
	list_init(&request->link);
	list_push(&world->all, &request->all);
	loop_timer_init(&request->timer, world->loop, "time-out of the kernel", timed_out, request);
	return request;
}

/* The user's side */

static int world_transport_send(struct transport *transport, const struct mad_addr *to,
				const uint8_t *mad, size_t size, unsigned timeout_ms)
{
	struct transport_world *world = container_of(transport, struct transport_world, transport);
	struct agent *agent = find_agent(world, mad[CLASS_OFFSET]);
	struct request *request;
	uint8_t copy[MAD_SIZE];

	if (transport->gone)
		return -ENODEV;
	if (!agent)
		return -EPROTONOSUPPORT;
	if (size > MAD_SIZE || size < MAD_HEADER_SIZE)
		return -EMSGSIZE;
	if (is_answer(mad))
		return put_on_wire(world, to, mad, size);
	memcpy(copy, mad, size);
	be32_store(copy + TID_OFFSET, agent->id);
	if (!timeout_ms)
		return put_on_wire(world, to, copy, size);
	if (map_get(&world->requests, request_key(mad)))
		return -EINVAL;
	request = request_new(world);
	request->agent = agent;
	request->timeout_ms = timeout_ms;
	request->to = *to;
	request->size = size;
	memcpy(request->mad, copy, size);
	map_put(&world->requests, request_key(mad), request);
	list_push(&agent->waiting, &request->link);
	send_waiting(world, agent);
	return 0;
}

static int world_transport_set_issm(struct transport *transport, bool on)
{
	struct transport_world *world = container_of(transport, struct transport_world, transport);

	if (transport->gone)
		return -ENODEV;
	world_set_issm(world->client, on);
	return 0;
}

static void detach(struct transport_world *world)
{
	if (!world->client)
		return;
	world_set_issm(world->client, false);
	world_detach(world->client);
	world->client = NULL;
}

static void world_transport_close(struct transport *transport)
{
	struct transport_world *world = container_of(transport, struct transport_world, transport);

	detach(world);
	list_for_each (link, &world->all) {
		struct request *request = container_of(link, struct request, all);

		loop_timer_disarm(&request->timer);
		free(request);
	}
	map_done(&world->requests);
	free(world);
}

static const struct transport_ops world_ops = {
	.send = world_transport_send,
	.set_issm = world_transport_set_issm,
	.close = world_transport_close,
};

/* The world's side */

/* Returns true, and ends the request, if mad answers a request under way. */
static bool take_answer(struct transport_world *world, const struct agent *agent,
			const uint8_t *mad)
{
	struct request *request = map_get(&world->requests, request_key(mad));

	if (!request || be32_load(mad + TID_OFFSET) != agent->id || !list_empty(&request->link))
		return false;
	request_over(request);
	return true;
}

static void received(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size)
{
	struct transport_world *world = ctx;
	const struct transport_user *user = &world->transport.user;
	struct agent *agent = size >= MAD_HEADER_SIZE ? find_agent(world, mad[CLASS_OFFSET]) : NULL;
	bool wanted;

	if (world->tap)
		world->tap(world->tap_ctx, false, from, mad, size);
	if (!agent)
		return;
	if (is_answer(mad))
		wanted = take_answer(world, agent, mad);
	else
		wanted = mad[METHOD_OFFSET] < 32 &&
			 agent->row->methods & METHOD_BIT(mad[METHOD_OFFSET]);
	if (wanted && user->received)
		user->received(user->ctx, from, mad, size);
}

struct transport *transport_open_world(struct loop *loop, struct world *world,
				       struct device *device, const struct transport_port *port,
				       transport_tap_fn *tap, void *tap_ctx)
{
	struct transport_world *opened = mem_zalloc(sizeof(*opened));

	opened->transport.ops = &world_ops;
	opened->transport.port = *port;
	opened->transport.message_max = MAD_SIZE;
	opened->loop = loop;
	opened->world = world;
	opened->tap = tap;
	opened->tap_ctx = tap_ctx;
	map_init(&opened->requests);
	list_init(&opened->spare);
	list_init(&opened->all);
	for (uint32_t i = 0; i < AGENTS; i++) {
		opened->agents[i] = (struct agent){.row = &agent_rows[i], .id = AGENT_ID_FIRST + i};
		list_init(&opened->agents[i].waiting);
	}
	opened->client = world_attach(world, device, port->port, received, opened);
	return &opened->transport;
}

/* Drops requests that wait for an answer or for their turn without a report, as a close of the file
 * does. */
void transport_world_remove(struct transport *transport)
{
	struct transport_world *world = container_of(transport, struct transport_world, transport);

	detach(world);
	list_for_each (link, &world->all) {
		struct request *request = container_of(link, struct request, all);

		if (map_get(&world->requests, request_key(request->mad)) != request)
			continue;
		list_del(&request->link);
		request_free(request);
	}
	for (size_t i = 0; i < AGENTS; i++)
		world->agents[i].under_way = 0;
	transport->gone = true;
	if (transport->user.gone)
		transport->user.gone(transport->user.ctx, -EIO);
}

void transport_world_return(struct transport *transport, struct device *device,
			    const struct transport_port *port)
{
	struct transport_world *world = container_of(transport, struct transport_world, transport);

	transport->port = *port;
	world->client = world_attach(world->world, device, port->port, received, world);
	transport->gone = false;
	if (transport->user.back)
		transport->user.back(transport->user.ctx);
}

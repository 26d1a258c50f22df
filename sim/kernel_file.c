/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Open umad devices and the agents that are registered at them. Registrations are checked as in
 * ib_umad and ib_mad of Linux. A file owns its agents, an agent its sends and received messages. A
 * request finds its agent by class, version and method; an answer by the agent's number, which the
 * kernel writes into the upper half of a request's TID.
 *
 * Numbers are unique at a node and start again at each node: managers on two nodes have equal TIDs,
 * as on real nodes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "sim/kernel_parts.h"

enum {
	METHODS = 128,
	METHODS_IN_WORD = 64,
	VERSION_END = 0x83, /* versions are below it */
	CLASS_END = 0x50,   /* and classes, but for directed SMPs */
	CLASS_CM = 0x07,
	OUI_MAX = 0xFFFFFF,
	NUMBERS_OF_PORT = 1 << 16,
};

/* Limits of requests under way: fractions of a receive queue of 512. */
enum { REQUESTS_DEFAULT = 512 / 4, REQUESTS_SA = 512 / 32 };

struct kernel_file *kernel_file_open(struct kernel_port *port, kernel_readable_fn *readable,
				     kernel_ended_fn *ended, void *ctx)
{
	struct kernel_file *file = mem_zalloc(sizeof(*file));

	file->port = port;
	file->readable = readable;
	file->ended = ended;
	file->ctx = ctx;
	list_push(&port->files, &file->link);
	return file;
}

/* Registering */

static bool kernel_is_smp(unsigned mgmt_class)
{
	return mgmt_class == CLASS_SUBN_LID || mgmt_class == CLASS_SUBN_DIRECTED;
}

static bool agent_request_is_allowed(const struct kernel_agent_request *request)
{
	unsigned mgmt_class = request->mgmt_class;

	if (request->qpn > 1 || request->rmpp_version > 1 ||
	    request->flags & ~(uint32_t)IB_USER_MAD_REG_FLAGS_CAP)
		return false;
	if (!mgmt_class) /* sends only */
		return !request->flags;
	if (request->mgmt_class_version >= VERSION_END || request->oui > OUI_MAX)
		return false;
	if (mgmt_class >= CLASS_END && mgmt_class != CLASS_SUBN_DIRECTED)
		return false;
	if (kernel_is_vendor2(mgmt_class) && !request->oui)
		return false;
	if (request->rmpp_version && !kernel_class_has_rmpp(mgmt_class))
		return false;
	return kernel_is_smp(mgmt_class) == !request->qpn;
}

static unsigned requests_max(unsigned mgmt_class)
{
	switch (mgmt_class) {
	case CLASS_SUBN_ADM:
		return REQUESTS_SA;
	case 0:
	case CLASS_CM:
	case CLASS_SUBN_LID:
	case CLASS_SUBN_DIRECTED:
		return REQUESTS_DEFAULT;
	default:
		return 0;
	}
}

static bool has_method(const struct kernel_agent_request *claim, unsigned method)
{
	return claim->mgmt_class &&
	       claim->method_mask[method / METHODS_IN_WORD] >> method % METHODS_IN_WORD & 1;
}

static uint64_t claim_key(const struct kernel_agent_request *claim, unsigned method)
{
	return kernel_claim_key(claim->mgmt_class, claim->mgmt_class_version, claim->oui, method);
}

static struct kernel_agent *find_conflict(const struct kernel_port *port,
					  const struct kernel_agent_request *claim)
{
	struct kernel_agent *other = NULL;

	for (unsigned method = 0; method < METHODS && !other; method++) {
		if (has_method(claim, method))
			other = map_get(&port->claims, claim_key(claim, method));
	}
	return other;
}

/* 24 bits, as in Linux; 0: all are taken. The port's number distinguishes those of a node's
 * ports. */
static uint32_t next_number(struct kernel_port *port)
{
	for (unsigned tries = 0; tries < NUMBERS_OF_PORT; tries++) {
		uint32_t number;

		port->last_number = (port->last_number + 1) % NUMBERS_OF_PORT;
		number = (uint32_t)port->at->num * NUMBERS_OF_PORT + port->last_number;
		if (number && !map_get(&port->agents, number))
			return number;
	}
	return 0;
}

static struct kernel_agent *agent_new(struct kernel_file *file, uint32_t id, uint32_t number,
				      const struct kernel_agent_request *request)
{
	struct kernel_agent *agent = mem_zalloc(sizeof(*agent));
	struct kernel_port *port = file->port;

	agent->file = file;
	agent->port = port;
	agent->id = id;
	agent->number = number;
	agent->claim = *request;
	agent->does_rmpp = request->rmpp_version && !(request->flags & IB_USER_MAD_USER_RMPP);
	agent->requests_max = requests_max(request->mgmt_class);
	list_init(&agent->sends);
	list_init(&agent->backlog);
	list_init(&agent->partial);
	list_init(&agent->done);
	for (unsigned method = 0; method < METHODS; method++) {
		if (has_method(request, method))
			map_put(&port->claims, claim_key(request, method), agent);
	}
	map_put(&port->agents, number, agent);
	return agent;
}

int kernel_file_register(struct kernel_file *file, const struct kernel_agent_request *request,
			 uint32_t *agent)
{
	struct kernel_port *port = file->port;
	struct kernel_agent *other;
	uint32_t id = 0, number;

	port->conflict = NULL;
	if (!agent_request_is_allowed(request))
		return -EINVAL;
	/* drivers/infiniband/core/mad.c, ib_register_mad_agent() */
	if (!request->qpn && map_get(&port->kernel->without_smi, (uintptr_t)port->at->device))
		return -EPROTONOSUPPORT;
	while (id < KERNEL_AGENTS_MAX && file->agent[id])
		id++;
	if (id == KERNEL_AGENTS_MAX)
		return -ENOMEM;
	other = find_conflict(port, request);
	if (other) {
		port->conflict = other->file;
		return -EINVAL;
	}
	number = next_number(port);
	if (!number)
		return -ENOMEM;
	file->agent[id] = agent_new(file, id, number, request);
	*agent = id;
	return 0;
}

/* The end */

static void agent_free(struct kernel_agent *agent)
{
	struct kernel_port *port = agent->port;

	kernel_sends_cancel(agent);
	kernel_rmpp_cancel(agent);
	for (unsigned method = 0; method < METHODS; method++) {
		if (has_method(&agent->claim, method))
			map_remove(&port->claims, claim_key(&agent->claim, method));
	}
	map_remove(&port->agents, agent->number);
	agent->file->agent[agent->id] = NULL;
	free(agent);
}

int kernel_file_unregister(struct kernel_file *file, uint32_t agent)
{
	if (agent >= KERNEL_AGENTS_MAX || !file->agent[agent])
		return -EINVAL;
	agent_free(file->agent[agent]);
	return 0;
}

void kernel_file_close(struct kernel_file *file)
{
	if (!file)
		return;
	for (unsigned i = 0; i < KERNEL_AGENTS_MAX; i++) {
		if (file->agent[i])
			agent_free(file->agent[i]);
	}
	if (file->port->conflict == file)
		file->port->conflict = NULL;
	list_del(&file->link);
	free(file);
}

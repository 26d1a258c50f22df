/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Sends requests to the SA as a port does, and follows the masks. A request is given directly to
 * the transport of the master. The answer is the next MAD of its SA, sent at once or a little
 * later. See tenants.h.
 */
#include "tests/sim/tenants.h"

#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/map.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sa/record.h"
#include "tests/sim/sim.h"
#include "tests/sim/trace.h"

/* JoinState of members that receive packets of the group. */
enum { RECEIVES = JOIN_FULL | JOIN_NON_MEMBER };

enum { IPOIB_Q_KEY = 0x0B1B, SA_VERSION = 2, WAITS = 80, WAIT_US = 10 };

#define BIT(component) (UINT64_C(1) << (component))
#define WHO (BIT(MC_MEMBER_MGID) | BIT(MC_MEMBER_PORT_GID))
#define WHAT                                                                                       \
	(BIT(MC_MEMBER_Q_KEY) | BIT(MC_MEMBER_TCLASS) | BIT(MC_MEMBER_P_KEY) | BIT(MC_MEMBER_SL) | \
	 BIT(MC_MEMBER_FLOW_LABEL) | BIT(MC_MEMBER_JOIN_STATE))

/* ff12:401b:P_Key::N, as IPoIB makes them of IPv4 groups. */
static void mgid_of(unsigned group, uint8_t mgid[GID_SIZE])
{
	bool is_broadcast = group + 1 == TENANT_GROUPS;

	memset(mgid, 0, GID_SIZE);
	be16_store(mgid, 0xFF12);
	be16_store(mgid + 2, 0x401B);
	be16_store(mgid + 4, PKEY_DEFAULT_FULL);
	be32_store(mgid + 12, is_broadcast ? UINT32_MAX : 0x1000 + group);
}

static struct mc_member_record record_of(unsigned group)
{
	struct mc_member_record record = {
		.q_key = IPOIB_Q_KEY, .p_key = PKEY_DEFAULT_FULL, .join_state = JOIN_FULL};

	mgid_of(group, record.mgid);
	return record;
}

static uint64_t components_of(uint8_t method)
{
	switch (method) {
	case METHOD_SET:
		return WHO | WHAT;
	case METHOD_DELETE:
		return WHO | BIT(MC_MEMBER_JOIN_STATE);
	default:
		return WHO;
	}
}

/* A Get carries the SM_Key, because only trusted requests see members. */
uint64_t tenant_sends(struct sim_manager *master, const struct device_port *port, uint8_t method,
		      const struct mc_member_record *record)
{
	const struct transport_user *user = &master->transport->user;
	const struct mad_header header = {
		.base_version = 1,
		.mgmt_class = CLASS_SUBN_ADM,
		.class_version = SA_VERSION,
		.method = method,
		.tid = ++master->sim->tenant_tid,
		.attr_id = RECORD_MC_MEMBER,
	};
	const struct sa_header sa_header = {.sm_key = method == METHOD_GET ? SM_KEY_DEFAULT : 0,
					    .component_mask = components_of(method)};
	const struct mad_addr from = {.lid = port->info.lid, .qpn = 1};
	struct mc_member_record own = *record;
	uint8_t mad[MAD_SIZE] = {0};

	be64_store(own.port_gid, port->info.gid_prefix);
	be64_store(own.port_gid + sizeof(guid_t), port->guid);
	memset(master->sa_answer, 0, sizeof(master->sa_answer));
	header_encode(&header, mad);
	sa_header_encode(&sa_header, mad);
	format_encode(&mc_member_record_format, &own, mad + SUBN_ADM_HEADER_SIZE);
	user->received(user->ctx, &from, mad, sizeof(mad));
	return header.tid;
}

/* Not a late answer to an earlier request. */
static bool is_answer(const struct sim_manager *master, uint64_t tid)
{
	struct mad_header header;

	header_decode(master->sa_answer, &header);
	return master->sa_answer[0] && header.tid == tid;
}

/* False: refused, or no answer. */
static bool ask(struct sim_manager *master, const struct device_port *port, uint8_t method,
		unsigned waits, struct mc_member_record *record)
{
	uint64_t tid = tenant_sends(master, port, method, record);
	struct mad_header header;

	for (unsigned i = 0; !is_answer(master, tid) && i < waits; i++)
		sim_pass(master->sim, WAIT_US);
	if (!is_answer(master, tid))
		return false;
	header_decode(master->sa_answer, &header);
	format_decode(&mc_member_record_format, master->sa_answer + SUBN_ADM_HEADER_SIZE, record);
	return header.method == method_response(method) && !header.status;
}

static bool joins(struct sim_manager *master, const struct device_port *port, unsigned group,
		  unsigned waits)
{
	struct mc_member_record record = record_of(group);

	master->sim->tenants = true;
	return port->info.lid && ask(master, port, METHOD_SET, waits, &record);
}

static bool leaves(struct sim_manager *master, const struct device_port *port, unsigned group,
		   unsigned waits)
{
	struct mc_member_record record = record_of(group);

	return port->info.lid && ask(master, port, METHOD_DELETE, waits, &record);
}

bool tenant_joins(struct sim_manager *master, const struct device_port *port, unsigned group)
{
	return joins(master, port, group, WAITS);
}

bool tenant_leaves(struct sim_manager *master, const struct device_port *port, unsigned group)
{
	return leaves(master, port, group, WAITS);
}

bool tenant_joins_within(struct sim_manager *master, const struct device_port *port, unsigned group,
			 uint64_t us)
{
	return joins(master, port, group, (unsigned)(us / WAIT_US));
}

bool tenant_leaves_within(struct sim_manager *master, const struct device_port *port,
			  unsigned group, uint64_t us)
{
	return leaves(master, port, group, (unsigned)(us / WAIT_US));
}

lid_t tenant_mlid(struct sim_manager *master, const struct device_port *port, unsigned group)
{
	struct mc_member_record record = record_of(group);

	return ask(master, port, METHOD_GET, WAITS, &record) ? record.mlid : 0;
}

/* Checks */

struct group {
	struct sim *sim;
	lid_t mlid; /* 0: no members */
	const struct device_port *from;
	struct map members; /* receivers, by the address of the port */
	struct map known;   /* the ports of the part */
};

static void find_members(struct sim_manager *master, const struct device_port *const *ports,
			 size_t count, unsigned number, struct group *group)
{
	for (size_t i = 0; i < count; i++) {
		struct mc_member_record record = record_of(number);

		map_put(&group->known, (uintptr_t)ports[i], (void *)ports[i]);
		if (!ask(master, ports[i], METHOD_GET, WAITS, &record))
			continue;
		group->mlid = record.mlid;
		if (record.join_state & RECEIVES)
			map_put(&group->members, (uintptr_t)ports[i], (void *)ports[i]);
	}
}

static void receives(void *ctx, const struct device_port *port)
{
	const struct group *group = ctx;

	if (map_get(&group->known, (uintptr_t)port) && !map_get(&group->members, (uintptr_t)port))
		sim_fail(group->sim, "%s port %u, no member, gets the packet of %s to MLID 0x%x",
			 trace_name(port->device), port->num, trace_name(group->from->device),
			 group->mlid);
}

static void spreads_right(struct group *group, const struct device_port *from)
{
	size_t expected = group->members.count - !!map_get(&group->members, (uintptr_t)from);
	struct world_spread spread = {0};

	group->from = from;
	world_multicast(group->sim->world, from->device, from->num, group->mlid, receives, group,
			&spread);
	if (spread.circles || spread.again)
		sim_fail(group->sim,
			 "the packet of %s to MLID 0x%x: %u ports get it twice, %u loops",
			 trace_name(from->device), group->mlid, spread.again, spread.circles);
	else if (spread.receivers < expected)
		sim_fail(group->sim, "the packet of %s to MLID 0x%x reaches %u of %zu members",
			 trace_name(from->device), group->mlid, spread.receivers, expected);
}

/* Each member as a sender, because a tree may be broken in one direction only. */
static void group_is_right(struct sim_manager *master, const struct device_port *const *ports,
			   size_t count, unsigned number)
{
	struct group group = {.sim = master->sim};

	map_init(&group.members);
	map_init(&group.known);
	find_members(master, ports, count, number, &group);
	for (size_t i = 0; i < count && group.mlid && !master->sim->failed; i++) {
		if (map_get(&group.members, (uintptr_t)ports[i]))
			spreads_right(&group, ports[i]);
	}
	map_done(&group.members);
	map_done(&group.known);
}

void tenants_check(struct sim_manager *master, const struct device_port *const *ports, size_t count)
{
	for (unsigned group = 0; group < TENANT_GROUPS && !master->sim->failed; group++)
		group_is_right(master, ports, count, group);
}

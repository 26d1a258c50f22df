/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A manager among others, for test_sm_role.c and test_sm_peers.c: three hosts on one switch, of
 * which the first is ours and the others' managers are fake agents with an SMInfo; and what these
 * ask.
 */
#ifndef TESTS_UNIT_MANAGERS_H
#define TESTS_UNIT_MANAGERS_H

#include "tests/unit/sm_world.h"

enum { PRIORITY = 5 }; /* of ours */

/* host-1 (ours), host-2, host-3 on one switch. */
static inline struct world *three_hosts(bool standby_only)
{
	struct sm_options options = sm_world_options();
	struct net *net = net_new();

	options.priority = PRIORITY;
	options.standby_only = standby_only;
	net_put(net, NODE_SWITCH, "leaf", 0, 4);
	net_put_hosts(net, 0, 3);
	return sm_world_new(net, 1, 1, &options);
}

static inline struct fake_node *add_manager(struct world *world, const char *id, uint8_t priority,
					    enum sm_state state)
{
	struct fake_node *node = sm_world_node(world, id);

	node->has_sm = true;
	node->sm = (struct sm_info){
		.guid = node->info.port_guid + 1, .priority = priority, .state = (uint8_t)state};
	node->port[1].info.capability_mask |= CAP_IS_SM;
	return node;
}

static inline enum sm_state role(const struct world *world)
{
	return peers_role(world->sm->peers);
}

static inline bool is_master(const struct world *world)
{
	return role(world) == SM_MASTER && sm_world_is_quiet(world);
}

static inline bool is_standby(const struct world *world)
{
	return role(world) == SM_STANDBY && sm_world_is_quiet(world);
}

/* Sends a Get or Set(SMInfo) and returns the status of the answer, with what it says. */
static inline uint16_t managers_ask_from(struct world *world, lid_t from, uint8_t method,
					 uint32_t control, const struct sm_info *sender,
					 struct sm_info *answer)
{
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};
	struct mad_header header;
	size_t before = world->fake->num_sent;

	if (sender)
		format_encode(&sm_info_format, sender, data);
	subn_build(mad, method, ATTR_SM_INFO, control, 0, NULL, data);
	be64_store(mad + 8, 77);
	fake_receive(world->fake, from, mad, MAD_SIZE);
	for (size_t i = before; i < world->fake->num_sent; i++) {
		header_decode(world->fake->sent[i], &header);
		if (header.method != METHOD_GET_RESP || header.attr_id != ATTR_SM_INFO)
			continue;
		CU_ASSERT_EQUAL(header.tid, 77);
		attr_decode(&sm_info_format, world->fake->sent[i] + SMP_DATA_OFFSET, answer);
		return header.status;
	}
	CU_FAIL("no answer");
	return 0xFFFF;
}

static inline uint16_t managers_ask(struct world *world, uint8_t method, uint32_t control,
				    const struct sm_info *sender, struct sm_info *answer)
{
	return managers_ask_from(world, 9, method, control, sender, answer);
}

static inline guid_t guid_of(const struct world *world, const char *id)
{
	return sm_world_node(world, id)->info.port_guid + 1;
}

/* Brings the manager into a role: MASTER alone, STANDBY beside a master, NOTACTIVE by its order. */
static inline struct world *in_role(enum sm_state wanted)
{
	struct sm_info master = {.sm_key = SM_KEY_DEFAULT, .state = SM_MASTER}, answer;
	struct world *world = three_hosts(wanted == SM_DISCOVERING);
	struct fake_node *other;

	if (wanted == SM_STANDBY || wanted == SM_NOTACTIVE) {
		other = add_manager(world, "host-2", PRIORITY + 1, SM_MASTER);
		other->port[1].info.lid = 9;
	}
	CU_ASSERT_TRUE(sm_world_up(world));
	master.guid = guid_of(world, "host-2");
	if (wanted == SM_NOTACTIVE)
		managers_ask(world, METHOD_SET, SM_CONTROL_DISABLE, &master, &answer);
	CU_ASSERT_EQUAL(role(world), wanted);
	return world;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A client of sa_client.h that joins groups and leaves them: MCMemberRecord requests of the hosts
 * of two_switches.h, and what the registry then has. For tests.
 */
#ifndef TESTS_UNIT_MEMBER_CLIENT_H
#define TESTS_UNIT_MEMBER_CLIENT_H

#include "tests/unit/sa_client.h"

#define BIT(name) COMPONENT(MC_MEMBER_##name)
#define JOIN (BIT(MGID) | BIT(PORT_GID) | BIT(JOIN_STATE))
#define CREATE (JOIN | BIT(Q_KEY) | BIT(TCLASS) | BIT(P_KEY) | BIT(FLOW_LABEL) | BIT(SL))
#define MTU_BITS (BIT(MTU_SELECTOR) | BIT(MTU))
#define RATE_BITS (BIT(RATE_SELECTOR) | BIT(RATE))
#define LIFE_BITS (BIT(PACKET_LIFE_TIME_SELECTOR) | BIT(PACKET_LIFE_TIME))

enum { LID_A = 16, LID_B = 20, LID_C = 24, LID_D = 28 };
static const lid_t lids[HOSTS] = {LID_A, LID_B, LID_C, LID_D};

/* The last answer's record. */
static struct mc_member_record told;

static inline void set_gid(uint8_t gid[GID_SIZE], uint64_t prefix, uint64_t guid)
{
	be64_store(gid, prefix);
	be64_store(gid + 8, guid);
}

/* ff12:1234::number, a group of nobody's. */
static inline void set_mgid(uint8_t mgid[GID_SIZE], uint32_t number)
{
	set_gid(mgid, UINT64_C(0xFF12123400000000), number);
}

/* Like a group that IPoIB would make; port and state are set by the tests. */
static inline struct mc_member_record usual(unsigned host, uint32_t number)
{
	struct mc_member_record record = {
		.q_key = 0x0b1b,
		.p_key = 0xFFFF,
		.mtu_selector = 2,
		.mtu = MTU_2048,
		.rate_selector = 2,
		.rate = RATE_40,
		.join_state = JOIN_FULL,
	};

	set_mgid(record.mgid, number);
	set_gid(record.port_gid, options.subnet_prefix, PORT_GUID(host));
	return record;
}

static inline int ask_member(uint8_t method, lid_t from, uint64_t sm_key, uint64_t mask,
			     const struct mc_member_record *record)
{
	int status = ask(&(struct ask){.method = method,
				       .attr_id = RECORD_MC_MEMBER,
				       .from = from,
				       .sm_key = sm_key,
				       .mask = mask,
				       .format = &mc_member_record_format,
				       .record = record});

	memset(&told, 0, sizeof(told));
	if (status == STATUS_OK && method != METHOD_GET_TABLE)
		answered(&mc_member_record_format, 0, &told);
	return status;
}

static inline int set(unsigned host, uint64_t mask, const struct mc_member_record *record)
{
	return ask_member(METHOD_SET, lids[host], 0, mask, record);
}

static inline int leave(unsigned host, const struct mc_member_record *record)
{
	return ask_member(METHOD_DELETE, lids[host], 0, JOIN, record);
}

static inline int join(unsigned host, uint32_t number, uint8_t state)
{
	struct mc_member_record record = usual(host, number);

	record.join_state = state;
	return set(host, CREATE | MTU_BITS | RATE_BITS, &record);
}

static inline int quit(unsigned host, uint32_t number, uint8_t state)
{
	struct mc_member_record record = usual(host, number);

	record.join_state = state;
	return leave(host, &record);
}

static inline int table_of(unsigned host, uint64_t sm_key, uint64_t mask,
			   const struct mc_member_record *record)
{
	CU_ASSERT_EQUAL(ask_member(METHOD_GET_TABLE, lids[host], sm_key, mask, record), STATUS_OK);
	return (int)((sa.size - SUBN_ADM_HEADER_SIZE) / mc_member_record_format.wire_size);
}

static inline unsigned groups(void)
{
	return (unsigned)registry_count(sa.registry, REGISTRY_GROUP);
}

static inline unsigned members(void)
{
	return (unsigned)registry_count(sa.registry, REGISTRY_MEMBER);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * M_Keys at the agents: the requests and keys that each protection level permits and shows, the
 * effects of a violation, and the lease of a key.
 */
#include <string.h>

#include "lib/be.h"
#include "mad/notice.h"
#include "tests/unit/fixtures/agent_bed.h"
#include "tests/unit/fixtures/unit.h"

enum { KEY = 0x1234, WRONG = 0x4321, LEASE_S = 5, S_US = 1000000, HOST_LID = 7, SM_LID = 1 };

/* One SMP to port 1 of the host, or to the leaf; the status, or -1 when there is no answer. */
static int with_key(struct device *device, uint64_t m_key, uint8_t method, uint16_t attr_id,
		    uint8_t data[SMP_DATA_SIZE])
{
	struct mad_header header;
	uint8_t mad[MAD_SIZE];

	subn_build(mad, method, attr_id, attr_id == ATTR_PORT_INFO && !device_is_switch(device),
		   m_key, NULL, data);
	if (!device_handle(device, 1, mad))
		return -1;
	header_decode(mad, &header);
	memcpy(data, mad + SMP_DATA_OFFSET, SMP_DATA_SIZE);
	return header.status;
}

static int get_with(struct device *device, uint64_t m_key, struct port_info *out)
{
	uint8_t data[SMP_DATA_SIZE] = {0};
	int status = with_key(device, m_key, METHOD_GET, ATTR_PORT_INFO, data);

	attr_decode(&port_info_format, data, out);
	return status;
}

static int set_with(struct device *device, uint64_t m_key, struct port_info *info)
{
	uint8_t data[SMP_DATA_SIZE] = {0};
	int status;

	format_encode(&port_info_format, info, data);
	status = with_key(device, m_key, METHOD_SET, ATTR_PORT_INFO, data);
	attr_decode(&port_info_format, data, info);
	return status;
}

/* From no key to KEY, at this level. No M_Key is needed for that. */
static void protect(struct device_port *port, uint8_t level, uint16_t lease_s)
{
	struct port_info info = agent_unchanged(port);

	info.m_key = KEY;
	info.m_key_protect_bits = level;
	info.m_key_lease_period = lease_s;
	CU_ASSERT_EQUAL(set_with(port->device, WRONG, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.m_key, KEY); /* the answer to its own Set() hides nothing */
}

static void test_levels(void)
{
	static const struct level {
		uint8_t level;
		int get;	/* with a wrong key */
		uint64_t shown; /* to it */
	} levels[] = {{0, STATUS_OK, KEY}, {1, STATUS_OK, 0}, {2, -1, 0}, {3, -1, 0}};

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		for (unsigned is_switch = 0; is_switch < 2; is_switch++) {
			struct device_port *port;
			struct port_info info;
			struct bed bed;

			agent_bed_open(&bed);
			port = is_switch ? &bed.leaf->port[0] : &bed.host->port[1];
			protect(port, levels[i].level, 0);
			CU_ASSERT_EQUAL(get_with(port->device, KEY, &info), STATUS_OK);
			CU_ASSERT_EQUAL(info.m_key, KEY);
			CU_ASSERT_EQUAL(get_with(port->device, WRONG, &info), levels[i].get);
			CU_ASSERT_EQUAL(info.m_key, levels[i].shown);
			CU_ASSERT_EQUAL(get_with(port->device, 0, &info), levels[i].get);
			info = agent_unchanged(port);
			info.m_key = WRONG;
			CU_ASSERT_EQUAL(set_with(port->device, WRONG, &info), -1);
			CU_ASSERT_EQUAL(port->info.m_key, KEY);
			CU_ASSERT_EQUAL(port->info.m_key_violations, 1 + 2 * (levels[i].get == -1));
			info = agent_unchanged(port);
			info.m_key = 0;
			CU_ASSERT_EQUAL(set_with(port->device, KEY, &info), STATUS_OK);
			CU_ASSERT_EQUAL(get_with(port->device, WRONG, &info), STATUS_OK);
			agent_bed_close(&bed);
		}
	}
}

/* Each port of an adapter has a key of its own; a reset takes it. */
static void test_whose(void)
{
	struct port_info info;
	struct bed bed;

	agent_bed_open(&bed);
	protect(&bed.host->port[1], 2, 0);
	CU_ASSERT_EQUAL(agent_get_port(bed.host, 2, &info), STATUS_OK);
	CU_ASSERT_EQUAL(get_with(bed.host, 0, &info), -1);
	device_reboot(bed.host);
	CU_ASSERT_EQUAL(get_with(bed.host, WRONG, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.m_key, 0);
	bed.host->quirks.no_mkey = true;
	bed.host->port[1].info.m_key = KEY;
	bed.host->port[1].info.m_key_protect_bits = 3;
	CU_ASSERT_EQUAL(get_with(bed.host, WRONG, &info), STATUS_OK);
	agent_bed_close(&bed);
}

static void test_trap(void)
{
	struct notice notice;
	union notice_details details;
	uint8_t mad[MAD_SIZE];
	const struct route_path route = {.hops = 2, .port = {0, 3, 4}};
	struct bed bed;

	agent_bed_open(&bed);
	agent_set_address(&bed.host->port[1], HOST_LID, SM_LID, 18);
	protect(&bed.host->port[1], 2, 0);
	device_tick(bed.host, 100 * S_US);
	bed.traps = 0;
	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 9, WRONG, &route, NULL);
	mad[SMP_RETURN_PATH_OFFSET + 1] = 5;
	mad[SMP_RETURN_PATH_OFFSET + 2] = 1;
	CU_ASSERT(!device_handle(bed.host, 1, mad));
	device_tick(bed.host, 200 * S_US);
	CU_ASSERT_EQUAL(bed.traps, 1);
	attr_decode(&notice_format, bed.trap + SMP_DATA_OFFSET, &notice);
	CU_ASSERT_FATAL(notice_details_decode(&notice, &details));
	CU_ASSERT_EQUAL(notice.trap_number, TRAP_BAD_M_KEY);
	CU_ASSERT_EQUAL(details.bad_m_key.lid, HOST_LID);
	CU_ASSERT_EQUAL(details.bad_m_key.method, METHOD_GET);
	CU_ASSERT_EQUAL(details.bad_m_key.attr_id, ATTR_NODE_INFO);
	CU_ASSERT_EQUAL(details.bad_m_key.attr_mod, 9);
	CU_ASSERT_EQUAL(details.bad_m_key.m_key, WRONG);
	CU_ASSERT(details.bad_m_key.dr_notice && !details.bad_m_key.dr_path_truncated);
	CU_ASSERT_EQUAL(details.bad_m_key.dr_hop_count, 2);
	CU_ASSERT_EQUAL(details.bad_m_key.dr_return_path[1], 5);
	CU_ASSERT_EQUAL(details.bad_m_key.dr_return_path[2], 1);
	CU_ASSERT_EQUAL(be64_load(bed.trap + SMP_M_KEY_OFFSET), 0);
	/* By LID: the trap has the source LID, if the transport gives it. */
	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, WRONG, NULL, NULL);
	bed.host->smp_slid = 33;
	CU_ASSERT(!device_handle(bed.host, 1, mad));
	device_tick(bed.host, 500 * S_US);
	attr_decode(&notice_format, bed.trap + SMP_DATA_OFFSET, &notice);
	CU_ASSERT_FATAL(notice_details_decode(&notice, &details));
	CU_ASSERT_EQUAL(details.bad_m_key.lid, 33);
	CU_ASSERT_EQUAL(details.bad_m_key.dr_notice, 0);
	agent_bed_close(&bed);
}

/* A Trap() has M_Key 0 (o14-1, qib_send_trap()), and its TrapRepress() needs the port's key at any
 * level (qib's check_mkey()): without it that is a violation, and the trap goes on. */
static void test_repress(void)
{
	static const uint64_t keys[] = {0, WRONG, KEY};

	for (uint8_t level = 0; level <= 3; level++) {
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			bool right = keys[i] == KEY;
			struct device_port *port;
			uint8_t mad[MAD_SIZE];
			struct bed bed;

			agent_bed_open(&bed);
			port = &bed.host->port[1];
			agent_set_address(port, HOST_LID, SM_LID, 18);
			protect(port, level, 0);
			device_tick(bed.host, 100 * S_US);
			bed.traps = 0;
			CU_ASSERT_EQUAL(device_raise(port, TRAP_SYSTEM_IMAGE_GUID), 0);
			device_tick(bed.host, 200 * S_US);
			CU_ASSERT_EQUAL_FATAL(bed.traps, 1);
			CU_ASSERT_EQUAL(be64_load(bed.trap + SMP_M_KEY_OFFSET), 0);
			memcpy(mad, bed.trap, MAD_SIZE);
			mad[3] = METHOD_TRAP_REPRESS;
			be64_store(mad + SMP_M_KEY_OFFSET, keys[i]);
			CU_ASSERT(!device_handle(bed.host, 1, mad));
			CU_ASSERT_EQUAL(port->info.m_key_violations, !right);
			device_tick(bed.host, 300 * S_US);
			device_tick(bed.host, 400 * S_US);
			CU_ASSERT_EQUAL(bed.traps, right ? 1 : 3); /* again, and 256 */
			agent_bed_close(&bed);
		}
	}
}

static void test_lease(void)
{
	struct device_port *port;
	struct port_info info;
	struct bed bed;

	agent_bed_open(&bed);
	port = &bed.host->port[1];
	protect(port, 2, LEASE_S);
	CU_ASSERT_EQUAL(device_next_us(bed.host), UINT64_MAX);
	/* The right key stops the lease that a wrong key has started. */
	CU_ASSERT_EQUAL(get_with(bed.host, WRONG, &info), -1);
	device_tick(bed.host, 10 * S_US);
	CU_ASSERT_EQUAL(device_next_us(bed.host), (10 + LEASE_S) * (uint64_t)S_US);
	CU_ASSERT_EQUAL(get_with(bed.host, KEY, &info), STATUS_OK);
	CU_ASSERT_EQUAL(device_next_us(bed.host), UINT64_MAX);
	device_tick(bed.host, 20 * S_US);
	CU_ASSERT_EQUAL(port->info.m_key_protect_bits, 2);
	/* It runs from the first violation on, and at its end the key is to be read, and still
	 * needed for a Set(). */
	CU_ASSERT_EQUAL(get_with(bed.host, WRONG, &info), -1);
	device_tick(bed.host, 30 * S_US);
	CU_ASSERT_EQUAL(get_with(bed.host, WRONG, &info), -1);
	device_tick(bed.host, 34 * S_US);
	CU_ASSERT_EQUAL(get_with(bed.host, WRONG, &info), -1);
	device_tick(bed.host, 35 * S_US);
	CU_ASSERT_EQUAL(get_with(bed.host, WRONG, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.m_key, KEY);
	CU_ASSERT_EQUAL(info.m_key_protect_bits, 0);
	CU_ASSERT_EQUAL(set_with(bed.host, WRONG, &info), -1);
	/* Without a lease the key is kept for ever. */
	port->info.m_key_protect_bits = 2;
	port->info.m_key_lease_period = 0;
	port->m_key_lease_us = 0;
	CU_ASSERT_EQUAL(get_with(bed.host, WRONG, &info), -1);
	CU_ASSERT_EQUAL(device_next_us(bed.host), UINT64_MAX);
	agent_bed_close(&bed);
}

static const CU_TestInfo tests[] = {
	{"requests and keys by level", test_levels},
	{"each end port has its own", test_whose},
	{"trap 256", test_trap},
	{"TrapRepress", test_repress},
	{"the lease", test_lease},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return unit_main("agent_m_key", tests);
}

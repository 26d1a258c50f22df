/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The actions of a software agent: links and their states with both ends, notices in virtual time,
 * reboots, and misbehaving devices.
 */
#include "sma/agent.h"

#include <errno.h>
#include <string.h>

#include "lib/be.h"
#include "mad/mad.h"
#include "mad/notice.h"
#include "sma/personality.h"
#include "tests/unit/fixtures/agent_bed.h"

/* Links */

/* Leads leaf port 1 and host port 1 to these states. */
static void lead_to(struct bed *bed, uint8_t mine, uint8_t peers)
{
	struct device_port *port = &bed->leaf->port[1], *peer = &bed->host->port[1];

	if (mine >= PORT_ARMED)
		CU_ASSERT_EQUAL(agent_set_state(port, PORT_ARMED, 0), STATUS_OK);
	if (peers >= PORT_ARMED)
		CU_ASSERT_EQUAL(agent_set_state(peer, PORT_ARMED, 0), STATUS_OK);
	if (mine == PORT_ACTIVE)
		CU_ASSERT_EQUAL(agent_set_state(port, PORT_ACTIVE, 0), STATUS_OK);
	CU_ASSERT_EQUAL(port->info.port_state, mine);
	CU_ASSERT_EQUAL(peer->info.port_state, peers);
}

static void test_states(void)
{
	static const struct {
		uint8_t mine, peers, state, physical;
		int status;
		uint8_t then, peers_then;
		bool trains;
	} cases[] = {
		{PORT_INIT, PORT_INIT, PORT_NO_CHANGE, 0, STATUS_OK, PORT_INIT, PORT_INIT, false},
		{PORT_INIT, PORT_INIT, PORT_ARMED, 0, STATUS_OK, PORT_ARMED, PORT_INIT, false},
		{PORT_INIT, PORT_INIT, PORT_ACTIVE, 0, STATUS_INVALID_VALUE, PORT_INIT, PORT_INIT,
		 false},
		{PORT_INIT, PORT_ARMED, PORT_ACTIVE, 0, STATUS_INVALID_VALUE, PORT_INIT, PORT_ARMED,
		 false},
		{PORT_ARMED, PORT_INIT, PORT_ACTIVE, 0, STATUS_INVALID_VALUE, PORT_ARMED, PORT_INIT,
		 false},
		{PORT_ARMED, PORT_ARMED, PORT_ARMED, 0, STATUS_OK, PORT_ARMED, PORT_ARMED, false},
		/* The far end goes along. */
		{PORT_ARMED, PORT_ARMED, PORT_ACTIVE, 0, STATUS_OK, PORT_ACTIVE, PORT_ACTIVE,
		 false},
		{PORT_ACTIVE, PORT_ACTIVE, PORT_ACTIVE, 0, STATUS_OK, PORT_ACTIVE, PORT_ACTIVE,
		 false},
		{PORT_ACTIVE, PORT_ACTIVE, PORT_ARMED, 0, STATUS_INVALID_VALUE, PORT_ACTIVE,
		 PORT_ACTIVE, false},
		/* Down: both ends start again, over a link that stays up. */
		{PORT_ACTIVE, PORT_ACTIVE, PORT_DOWN, 0, STATUS_OK, PORT_INIT, PORT_INIT, false},
		{PORT_ARMED, PORT_INIT, PORT_DOWN, 0, STATUS_OK, PORT_INIT, PORT_INIT, false},
		/* A physical state, and the link trains. */
		{PORT_ACTIVE, PORT_ACTIVE, 0, PHYS_POLLING, STATUS_OK, PORT_INIT, PORT_INIT, true},
		{PORT_ACTIVE, PORT_ACTIVE, 0, PHYS_SLEEP, STATUS_OK, PORT_INIT, PORT_INIT, true},
		{PORT_ACTIVE, PORT_ACTIVE, 0, PHYS_DISABLED, STATUS_OK, PORT_DOWN, PORT_DOWN,
		 false},
		{PORT_ACTIVE, PORT_ACTIVE, PORT_DOWN, PHYS_DISABLED, STATUS_OK, PORT_DOWN,
		 PORT_DOWN, false},
		{PORT_INIT, PORT_INIT, PORT_ARMED, PHYS_POLLING, STATUS_INVALID_VALUE, PORT_INIT,
		 PORT_INIT, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bed bed;
		uint32_t trainings;
		int status;

		agent_bed_open(&bed);
		trainings = bed.leaf->port[1].trainings;
		lead_to(&bed, cases[i].mine, cases[i].peers);
		status = agent_set_state(&bed.leaf->port[1], cases[i].state, cases[i].physical);
		if (status != cases[i].status ||
		    bed.leaf->port[1].info.port_state != cases[i].then ||
		    bed.host->port[1].info.port_state != cases[i].peers_then)
			printf("\n    row %zu: 0x%x", i, status);
		CU_ASSERT_EQUAL(status, cases[i].status);
		CU_ASSERT_EQUAL(bed.leaf->port[1].info.port_state, cases[i].then);
		CU_ASSERT_EQUAL(bed.host->port[1].info.port_state, cases[i].peers_then);
		CU_ASSERT_EQUAL(bed.leaf->port[1].trainings, trainings + cases[i].trains);
		agent_bed_close(&bed);
	}
}

/* Ports without a link cannot go anywhere. */
static void test_states_alone(void)
{
	struct bed bed;

	agent_bed_open(&bed);
	CU_ASSERT_EQUAL(agent_set_state(&bed.leaf->port[5], PORT_ARMED, 0), STATUS_INVALID_VALUE);
	CU_ASSERT_EQUAL(agent_set_state(&bed.leaf->port[5], PORT_ACTIVE, 0), STATUS_INVALID_VALUE);
	CU_ASSERT_EQUAL(agent_set_state(&bed.leaf->port[5], PORT_DOWN, 0), STATUS_OK);
	CU_ASSERT_EQUAL(agent_set_state(&bed.leaf->port[5], 0, PHYS_DISABLED), STATUS_OK);
	CU_ASSERT_EQUAL(bed.leaf->port[5].info.port_physical_state, PHYS_DISABLED);
	CU_ASSERT_EQUAL(agent_set_state(&bed.leaf->port[0], PORT_ACTIVE, 0), STATUS_OK);
	CU_ASSERT_EQUAL(agent_set_state(&bed.leaf->port[0], PORT_DOWN, 0), STATUS_INVALID_VALUE);
	CU_ASSERT_EQUAL(agent_set_state(&bed.spine->port[0], 0, PHYS_POLLING),
			STATUS_INVALID_VALUE);
	CU_ASSERT_EQUAL(bed.leaf->port[0].info.port_state, PORT_ACTIVE);
	agent_bed_close(&bed);
}

static void test_negotiation(void)
{
	static const struct {
		uint8_t a[3], b[3], active[3]; /* width, speed, extended speed */
		bool up;
	} cases[] = {
		{{3, 7, 3}, {3, 7, 3}, {2, 4, 2}, true},
		{{1, 7, 3}, {3, 7, 3}, {1, 4, 2}, true},
		{{3, 7, 3}, {3, 1, 30}, {2, 1, 0}, true},
		{{3, 3, 1}, {3, 7, 3}, {2, 2, 1}, true},
		{{3, 7, 1}, {3, 7, 2}, {2, 4, 0}, true},
		{{1, 7, 3}, {2, 7, 3}, {0, 0, 0}, false},
		{{3, 1, 30}, {3, 2, 30}, {0, 0, 0}, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bed bed;
		struct device_port *port, *peer;

		agent_bed_open(&bed);
		port = &bed.leaf->port[1];
		peer = port->peer;
		device_pull(port, true);
		for (unsigned end = 0; end < 2; end++) {
			const uint8_t *mask = end ? cases[i].b : cases[i].a;
			struct device_port *at = end ? peer : port;
			struct port_info info = agent_unchanged(at);

			info.link_width_enabled = mask[0];
			info.link_speed_enabled = mask[1];
			info.link_speed_ext_enabled = mask[2];
			CU_ASSERT_EQUAL(agent_set_port(at->device, 1, &info), STATUS_OK);
		}
		CU_ASSERT_EQUAL(port->info.port_physical_state, PHYS_POLLING);
		device_pull(port, false);
		CU_ASSERT_EQUAL(port->info.port_state, cases[i].up ? PORT_INIT : PORT_DOWN);
		CU_ASSERT_EQUAL(peer->info.port_physical_state,
				cases[i].up ? PHYS_LINK_UP : PHYS_POLLING);
		if (cases[i].up) {
			CU_ASSERT_EQUAL(port->info.link_width_active, cases[i].active[0]);
			CU_ASSERT_EQUAL(peer->info.link_speed_active, cases[i].active[1]);
			CU_ASSERT_EQUAL(port->info.link_speed_ext_active, cases[i].active[2]);
		} else {
			/* The missing widths and speeds are enabled: that is enough. */
			struct port_info info = agent_unchanged(port);

			info.link_width_enabled = 255;
			info.link_speed_enabled = 15;
			CU_ASSERT_EQUAL(agent_set_port(bed.leaf, 1, &info), STATUS_OK);
			CU_ASSERT_EQUAL(peer->info.port_state, PORT_INIT);
		}
		agent_bed_close(&bed);
	}
}

/* A speed that is set on a link that is up counts when it trains again. */
static void test_retraining(void)
{
	struct bed bed;
	struct port_info info;
	struct device_port *port, *peer;

	agent_bed_open(&bed);
	port = &bed.leaf->port[1];
	peer = &bed.host->port[1];
	info = agent_unchanged(port);
	info.link_width_enabled = 1;
	CU_ASSERT_EQUAL(agent_set_port(bed.leaf, 1, &info), STATUS_OK);
	CU_ASSERT_EQUAL(peer->info.link_width_active, 2);
	CU_ASSERT_EQUAL(agent_set_state(peer, 0, PHYS_DISABLED), STATUS_OK);
	CU_ASSERT_EQUAL(port->info.port_physical_state, PHYS_POLLING);
	CU_ASSERT_EQUAL(agent_set_state(port, 0, PHYS_SLEEP), STATUS_OK);
	CU_ASSERT_EQUAL(port->info.port_physical_state, PHYS_SLEEP);
	CU_ASSERT_EQUAL(agent_set_state(peer, 0, PHYS_SLEEP), STATUS_OK);
	CU_ASSERT_EQUAL(port->info.port_state, PORT_DOWN); /* both sleep */
	CU_ASSERT_EQUAL(agent_set_state(peer, 0, PHYS_POLLING), STATUS_OK);
	CU_ASSERT_EQUAL(port->info.port_state, PORT_INIT);
	CU_ASSERT_EQUAL(peer->info.link_width_active, 1);
	/* With time in between: the owner says when, and an interruption counts. */
	bed.events.training = on_training;
	device_pull(port, true);
	CU_ASSERT_EQUAL(peer->info.port_state, PORT_DOWN);
	device_port_trained(port);
	CU_ASSERT_EQUAL(port->info.port_state, PORT_DOWN);
	device_pull(peer, false);
	CU_ASSERT_EQUAL(port->info.port_physical_state, PHYS_TRAINING);
	CU_ASSERT_EQUAL(agent_set_state(port, 0, PHYS_DISABLED), STATUS_OK);
	CU_ASSERT_EQUAL(peer->info.port_physical_state, PHYS_POLLING);
	device_port_trained(bed.training);
	CU_ASSERT_EQUAL(peer->info.port_state, PORT_DOWN);
	CU_ASSERT_EQUAL(agent_set_state(port, 0, PHYS_POLLING), STATUS_OK);
	device_port_trained(bed.training);
	CU_ASSERT_EQUAL(peer->info.port_state, PORT_INIT);
	agent_bed_close(&bed);
}

/* A plug that connects a port with itself is a link, too. */
static void test_loopback(void)
{
	struct bed bed;
	struct device_port *port;

	agent_bed_open(&bed);
	port = &bed.leaf->port[7];
	device_cable(port, port);
	CU_ASSERT_EQUAL(port->info.port_state, PORT_INIT);
	CU_ASSERT_EQUAL(agent_set_state(port, PORT_ARMED, 0), STATUS_OK);
	CU_ASSERT_EQUAL(agent_set_state(port, PORT_ACTIVE, 0), STATUS_OK);
	CU_ASSERT(device_port_passes(port));
	CU_ASSERT_EQUAL(agent_set_state(port, PORT_DOWN, 0), STATUS_OK);
	CU_ASSERT_EQUAL(port->info.port_state, PORT_INIT);
	device_uncable(port);
	CU_ASSERT_EQUAL(port->info.port_state, PORT_DOWN);
	agent_bed_close(&bed);
}

static void test_data(void)
{
	struct bed bed;
	struct device_port *port;
	struct port_info info;

	agent_bed_open(&bed);
	port = &bed.leaf->port[1];
	CU_ASSERT(!device_port_passes(port));
	CU_ASSERT(!device_port_passes(&bed.leaf->port[9]));
	lead_to(&bed, PORT_ARMED, PORT_ARMED);
	CU_ASSERT(!device_port_passes(port));
	CU_ASSERT_EQUAL(agent_set_state(port, PORT_ACTIVE, 0), STATUS_OK);
	CU_ASSERT(device_port_passes(port) && device_port_passes(port->peer));
	info = agent_unchanged(port);
	info.neighbor_mtu = 4;
	CU_ASSERT_EQUAL(agent_set_port(bed.leaf, 1, &info), STATUS_OK);
	CU_ASSERT(!device_port_passes(port));
	info = agent_unchanged(port->peer);
	info.neighbor_mtu = 4;
	info.operational_vls = 1;
	CU_ASSERT_EQUAL(agent_set_port(bed.host, 1, &info), STATUS_OK);
	CU_ASSERT(!device_port_passes(port->peer));
	info = agent_unchanged(port);
	info.operational_vls = 1;
	CU_ASSERT_EQUAL(agent_set_port(bed.leaf, 1, &info), STATUS_OK);
	CU_ASSERT(device_port_passes(port));
	agent_bed_close(&bed);
}

static void clear_change(struct device *device)
{
	struct switch_info info = device->sw;

	info.port_state_change = 1;
	CU_ASSERT_EQUAL(agent_ask(device, 1, METHOD_SET, ATTR_SWITCH_INFO, 0, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.port_state_change, 0);
}

/* Only a link that appeared or disappeared without a Set() of that port is shown. */
static void test_port_state_change(void)
{
	struct bed bed;
	struct device_port *port;

	agent_bed_open(&bed);
	port = &bed.leaf->port[2];
	CU_ASSERT_EQUAL(bed.leaf->sw.port_state_change, 1);
	clear_change(bed.leaf);
	clear_change(bed.spine);
	CU_ASSERT_EQUAL(agent_set_state(port, PORT_ARMED, 0), STATUS_OK);
	CU_ASSERT_EQUAL(agent_set_state(port->peer, PORT_ARMED, 0), STATUS_OK);
	CU_ASSERT_EQUAL(agent_set_state(port, PORT_ACTIVE, 0), STATUS_OK);
	CU_ASSERT_EQUAL(bed.leaf->sw.port_state_change, 0);
	CU_ASSERT_EQUAL(bed.spine->sw.port_state_change, 0);
	CU_ASSERT_EQUAL(agent_set_state(port, PORT_DOWN, 0), STATUS_OK);
	CU_ASSERT_EQUAL(bed.leaf->sw.port_state_change, 0);
	CU_ASSERT_EQUAL(bed.spine->sw.port_state_change, 1);
	clear_change(bed.spine);
	CU_ASSERT_EQUAL(agent_set_state(port, 0, PHYS_DISABLED), STATUS_OK);
	CU_ASSERT_EQUAL(bed.leaf->sw.port_state_change, 0);
	CU_ASSERT_EQUAL(bed.spine->sw.port_state_change, 1);
	clear_change(bed.spine);
	CU_ASSERT_EQUAL(agent_set_state(port, 0, PHYS_POLLING), STATUS_OK);
	CU_ASSERT_EQUAL(bed.leaf->sw.port_state_change, 1);
	CU_ASSERT_EQUAL(bed.spine->sw.port_state_change, 1);
	/* A zero clears nothing. */
	CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_SET, ATTR_SWITCH_INFO, 0,
				  &(struct switch_info){.life_time_value = 18}),
			STATUS_OK);
	CU_ASSERT_EQUAL(bed.leaf->sw.port_state_change, 1);
	agent_bed_close(&bed);
}

/* Notices */

static void tick_until(struct bed *bed, struct device *device, uint64_t end_us)
{
	while (device_next_us(device) <= end_us) {
		if (device_next_us(device) > bed->now_us)
			bed->now_us = device_next_us(device);
		device_tick(device, bed->now_us);
	}
	bed->now_us = end_us;
}

static uint16_t trap_number(const struct bed *bed)
{
	struct notice notice;

	attr_decode(&notice_format, bed->trap + SMP_DATA_OFFSET, &notice);
	return notice.trap_number;
}

/* With the key of the port that sent the trap. */
static void repress(struct bed *bed, struct device *device, uint64_t tid)
{
	uint8_t mad[MAD_SIZE];

	memcpy(mad, bed->trap, MAD_SIZE);
	mad[3] = METHOD_TRAP_REPRESS;
	be64_store(mad + SMP_M_KEY_OFFSET, device->port[bed->trap_port].info.m_key);
	be64_store(mad + 8, tid);
	CU_ASSERT(!device_handle(device, 1, mad));
}

static uint64_t trap_tid(const struct bed *bed)
{
	return be64_load(bed->trap + 8);
}

static void flap(struct device_port *port)
{
	device_pull(port, true);
	device_pull(port, false);
}

static void test_trap_repeats(void)
{
	union notice_details details;
	struct notice notice;
	struct bed bed;

	agent_bed_open(&bed);
	flap(&bed.leaf->port[1]);
	CU_ASSERT_EQUAL(device_next_us(bed.leaf), UINT64_MAX); /* no manager to notify */
	agent_set_address(&bed.leaf->port[0], 9, LID_NONE, 12);
	flap(&bed.leaf->port[1]);
	CU_ASSERT_EQUAL(device_next_us(bed.leaf), UINT64_MAX);
	agent_set_address(&bed.leaf->port[0], 9, 4, 12); /* 16.777 ms */
	bed.leaf->port[0].info.m_key = 0xABC;
	flap(&bed.leaf->port[1]);
	CU_ASSERT_EQUAL(bed.due_us, 0);
	bed.now_us = 5000;
	tick_until(&bed, bed.leaf, 5000);
	CU_ASSERT_EQUAL(bed.traps, 1);
	CU_ASSERT_EQUAL(bed.trap_port, 0);
	CU_ASSERT_EQUAL(bed.trap_dlid, 4);
	CU_ASSERT_EQUAL(be64_load(bed.trap + SMP_M_KEY_OFFSET), 0);
	attr_decode(&notice_format, bed.trap + SMP_DATA_OFFSET, &notice);
	CU_ASSERT(notice_details_decode(&notice, &details));
	CU_ASSERT_EQUAL(notice.trap_number, TRAP_LINK_STATE);
	CU_ASSERT_EQUAL(notice.producer_type, NODE_SWITCH);
	CU_ASSERT_EQUAL(notice.issuer_lid, 9);
	CU_ASSERT_EQUAL(details.link_state.lid, 9);
	CU_ASSERT_EQUAL(device_next_us(bed.leaf), 5000 + 16777);
	device_tick(bed.leaf, 5000 + 16776);
	CU_ASSERT_EQUAL(bed.traps, 1);
	tick_until(&bed, bed.leaf, 5000 + 10 * 16777);
	CU_ASSERT_EQUAL(bed.traps, 11);
	repress(&bed, bed.leaf, trap_tid(&bed) + 1);
	CU_ASSERT_NOT_EQUAL(device_next_us(bed.leaf), UINT64_MAX);
	bed.trap[SMP_DATA_OFFSET + 5] = TRAP_LOCAL_CHANGES;
	repress(&bed, bed.leaf, trap_tid(&bed));
	CU_ASSERT_NOT_EQUAL(device_next_us(bed.leaf), UINT64_MAX);
	bed.trap[SMP_DATA_OFFSET + 5] = TRAP_LINK_STATE;
	repress(&bed, bed.leaf, trap_tid(&bed));
	CU_ASSERT_EQUAL(device_next_us(bed.leaf), UINT64_MAX);
	/* The next one waits until SubnetTimeOut allows it. */
	flap(&bed.leaf->port[1]);
	CU_ASSERT_EQUAL(device_next_us(bed.leaf), 5000 + 11 * 16777);
	agent_bed_close(&bed);
}

/* The TrapRepress() of a Trap() does not hide changes after the Trap() was sent. */
static void test_trap_again(void)
{
	struct bed bed;
	uint64_t tid;

	agent_bed_open(&bed);
	agent_set_address(&bed.leaf->port[0], 9, 4, 12);
	flap(&bed.leaf->port[1]);
	tick_until(&bed, bed.leaf, 0);
	tid = trap_tid(&bed);
	flap(&bed.leaf->port[1]);
	repress(&bed, bed.leaf, tid);
	tick_until(&bed, bed.leaf, 17000);
	CU_ASSERT_EQUAL(bed.traps, 2);
	CU_ASSERT_NOT_EQUAL(trap_tid(&bed), tid);
	repress(&bed, bed.leaf, trap_tid(&bed));
	CU_ASSERT_EQUAL(device_next_us(bed.leaf), UINT64_MAX);
	agent_bed_close(&bed);
}

/* Several kinds take turns, each port's for itself. */
/* A complaint is sent by a switch's port 0 and names the port that it is about. */
static void test_trap_about_a_port(void)
{
	static const uint16_t numbers[] = {TRAP_LOCAL_LINK_INTEGRITY, TRAP_BUFFER_OVERRUN,
					   TRAP_FLOW_CONTROL, TRAP_SWITCH_BAD_P_KEY};
	struct bed bed;

	agent_bed_open(&bed);
	agent_set_address(&bed.leaf->port[0], 7, 4, 12); /* 16.777 ms */
	for (unsigned i = 0; i < 4; i++) {
		union notice_details details;
		struct notice notice;

		CU_ASSERT_EQUAL(device_raise(&bed.leaf->port[2], numbers[i]), 0);
		tick_until(&bed, bed.leaf, 20000 * (i + 1));
		CU_ASSERT_EQUAL(bed.trap_port, 0);
		attr_decode(&notice_format, bed.trap + SMP_DATA_OFFSET, &notice);
		CU_ASSERT_EQUAL(notice.trap_number, numbers[i]);
		CU_ASSERT_TRUE_FATAL(notice_details_decode(&notice, &details));
		if (numbers[i] == TRAP_SWITCH_BAD_P_KEY) {
			CU_ASSERT_EQUAL(details.switch_bad_p_key.switch_lid, 7);
			CU_ASSERT_EQUAL(details.switch_bad_p_key.port_num, 2);
		} else {
			CU_ASSERT_EQUAL(details.threshold.lid, 7);
			CU_ASSERT_EQUAL(details.threshold.port_num, 2);
		}
		repress(&bed, bed.leaf, trap_tid(&bed));
	}
	agent_bed_close(&bed);
}

static void test_trap_kinds(void)
{
	static const uint16_t turns[] = {TRAP_LOCAL_CHANGES, TRAP_SYSTEM_IMAGE_GUID};
	union notice_details details;
	struct notice notice;
	struct bed bed;

	agent_bed_open(&bed);
	agent_set_address(&bed.host->port[1], 8, 4, 8); /* 1.048 ms */
	device_set_issm(&bed.host->port[1], true);
	device_set_issm(&bed.host->port[2], true); /* has no manager to notify */
	CU_ASSERT(bed.host->port[1].info.capability_mask & CAP_IS_SM);
	tick_until(&bed, bed.host, 0);
	attr_decode(&notice_format, bed.trap + SMP_DATA_OFFSET, &notice);
	CU_ASSERT(notice_details_decode(&notice, &details));
	CU_ASSERT_EQUAL(details.local_changes.capability_mask,
			bed.host->port[1].info.capability_mask);
	CU_ASSERT_EQUAL(details.local_changes.other_local_changes, 0);
	device_set_description(bed.host, "a new name");
	device_set_system_image_guid(bed.host, 0x999);
	for (unsigned i = 1; i <= 6; i++) {
		tick_until(&bed, bed.host, i * 1048);
		CU_ASSERT_EQUAL(bed.traps, 1 + i);
		CU_ASSERT_EQUAL(trap_number(&bed), turns[i % 2]);
		attr_decode(&notice_format, bed.trap + SMP_DATA_OFFSET, &notice);
		CU_ASSERT(notice_details_decode(&notice, &details));
		if (i % 2)
			CU_ASSERT_EQUAL(details.system_image.system_image_guid, 0x999);
		if (i % 2 == 0)
			CU_ASSERT_EQUAL(details.local_changes.change_flags,
					CHANGE_NODE_DESCRIPTION);
	}
	CU_ASSERT_EQUAL(agent_ask(bed.host, 1, METHOD_GET, ATTR_NOTICE, 0, &notice), STATUS_OK);
	CU_ASSERT_EQUAL(notice.count, 2);
	CU_ASSERT_EQUAL(notice.trap_number, TRAP_SYSTEM_IMAGE_GUID);
	repress(&bed, bed.host, trap_tid(&bed));
	CU_ASSERT_EQUAL(agent_ask(bed.host, 1, METHOD_GET, ATTR_NOTICE, 0, &notice), STATUS_OK);
	CU_ASSERT_EQUAL(notice.count, 1);
	tick_until(&bed, bed.host, 7 * 1048);
	repress(&bed, bed.host, trap_tid(&bed));
	CU_ASSERT_EQUAL(device_next_us(bed.host), UINT64_MAX);
	CU_ASSERT_EQUAL(agent_ask(bed.host, 1, METHOD_GET, ATTR_NOTICE, 0, &notice), STATUS_OK);
	CU_ASSERT_EQUAL(notice.type, NOTICE_EMPTY);
	/* Without a reason, for tests. */
	CU_ASSERT_EQUAL(device_raise(&bed.host->port[1], TRAP_LINK_STATE), 0);
	CU_ASSERT_EQUAL(device_raise(&bed.host->port[1], TRAP_BAD_M_KEY), 0);
	CU_ASSERT_EQUAL(device_raise(&bed.host->port[1], TRAP_SWITCH_BAD_P_KEY), -EINVAL);
	CU_ASSERT_EQUAL(device_raise(&bed.host->port[1], 999), -EINVAL);
	CU_ASSERT_EQUAL(device_raise(&bed.leaf->port[1], TRAP_LINK_STATE), -EINVAL);
	agent_bed_close(&bed);
}

/* Reboot and quirks */

static void test_reboot(void)
{
	struct linear_forwarding_table lft = {{1}};
	struct multicast_forwarding_table mft = {{1}};
	struct p_key_table keys = {{0x8001}};
	struct switch_info sw = {.linear_fdb_top = 60, .multicast_fdb_top = 0xC001};
	struct device *fresh;
	struct bed bed;

	agent_bed_open(&bed);
	fresh = device_new(&(struct device_config){.type = NODE_SWITCH,
						   .num_ports = LEAF_PORTS,
						   .lft_cap = 1000,
						   .mft_cap = 100},
			   &bed.events);
	agent_set_address(&bed.leaf->port[0], 9, 4, 12);
	lead_to(&bed, PORT_ACTIVE, PORT_ACTIVE);
	agent_ask(bed.leaf, 1, METHOD_SET, ATTR_LINEAR_FORWARDING_TABLE, 0, &lft);
	agent_ask(bed.leaf, 1, METHOD_SET, ATTR_MULTICAST_FORWARDING_TABLE, 0, &mft);
	agent_ask(bed.leaf, 1, METHOD_SET, ATTR_PKEY_TABLE, 0, &keys);
	agent_ask(bed.leaf, 1, METHOD_SET, ATTR_PKEY_TABLE, 1 << 16, &keys);
	agent_ask(bed.leaf, 1, METHOD_SET, ATTR_SWITCH_INFO, 0, &sw);
	device_set_issm(&bed.leaf->port[0], true);
	CU_ASSERT_EQUAL(agent_set_state(&bed.leaf->port[4], 0, PHYS_DISABLED), STATUS_OK);
	clear_change(bed.spine);
	device_reboot(bed.leaf);
	CU_ASSERT_EQUAL(device_next_us(bed.leaf), UINT64_MAX);
	CU_ASSERT_EQUAL(bed.spine->sw.port_state_change, 1);
	CU_ASSERT_EQUAL(bed.leaf->sw.port_state_change, 1); /* its links came up */
	fresh->sw.port_state_change = 1;
	CU_ASSERT(!memcmp(&bed.leaf->sw, &fresh->sw, sizeof(fresh->sw)));
	CU_ASSERT(!memcmp(&bed.leaf->port[0].info, &fresh->port[0].info, sizeof(struct port_info)));
	CU_ASSERT(!memcmp(&bed.leaf->port[4].info, &fresh->port[4].info, sizeof(struct port_info)));
	CU_ASSERT_EQUAL(bed.leaf->port[1].info.port_state, PORT_INIT);
	CU_ASSERT_EQUAL(bed.host->port[1].info.port_state, PORT_INIT);
	CU_ASSERT_EQUAL(device_p_key(&bed.leaf->port[0], 0), 0xFFFF);
	CU_ASSERT_EQUAL(device_p_key(&bed.leaf->port[1], 0), 0xFFFF);
	CU_ASSERT_PTR_NULL(bed.leaf->lft);
	CU_ASSERT_PTR_NULL(bed.leaf->mft);
	CU_ASSERT_STRING_EQUAL(bed.leaf->description.text, "leaf");
	device_free(fresh);
	agent_bed_close(&bed);
}

/* The far end sees a link that is lost, and a plug has no effect. */
static void test_power(void)
{
	struct bed bed;
	struct device_port *port, *peer;

	agent_bed_open(&bed);
	port = &bed.host->port[1];
	peer = port->peer;
	port->info.lid = 7;
	device_power(bed.host, false);
	CU_ASSERT_EQUAL(port->info.port_state, PORT_DOWN);
	CU_ASSERT_EQUAL(port->info.port_physical_state, PHYS_POLLING);
	CU_ASSERT_EQUAL(peer->info.port_physical_state, PHYS_POLLING);
	CU_ASSERT_EQUAL(peer->counts.error[ERROR_LINK_DOWNED], 1);
	device_pull(port, true);
	device_pull(port, false);
	device_reboot(peer->device);
	CU_ASSERT_EQUAL(port->info.port_physical_state, PHYS_POLLING);
	device_power(bed.host, true);
	CU_ASSERT_EQUAL(port->info.port_state, PORT_INIT);
	CU_ASSERT_EQUAL(port->info.lid, 0);
	device_pull(port, true);
	device_power(bed.host, true); /* the cable stays out */
	CU_ASSERT_EQUAL(port->info.port_physical_state, PHYS_POLLING);
	agent_bed_close(&bed);
}

static void test_capabilities(void)
{
	enum { CM = 1 << 16, SNMP = 1 << 17 };
	struct device_port *port;
	struct bed bed;
	uint32_t before;

	agent_bed_open(&bed);
	port = &bed.host->port[1];
	before = port->info.capability_mask;
	device_set_capabilities(port, UINT32_MAX, SNMP);
	CU_ASSERT_EQUAL(port->info.capability_mask, (before | CAPS_OF_HOST) & ~SNMP);
	CU_ASSERT_EQUAL(CAPS_OF_HOST, 0x009F0002); /* rdma/ib_verbs.h has the same bits */
	device_set_capabilities(port, CM, UINT32_MAX);
	CU_ASSERT_EQUAL(port->info.capability_mask, before);
	device_set_capabilities(port, CM, 0);
	device_set_issm(port, true);
	CU_ASSERT_EQUAL(port->info.capability_mask, before | CM | CAP_IS_SM);
	device_reboot(bed.host);
	CU_ASSERT_EQUAL(port->info.capability_mask, before);
	agent_bed_close(&bed);
}

static void test_quirks(void)
{
	struct switch_info sw = {.life_time_value = 18};
	struct port_info info;
	struct bed bed;
	uint8_t data[SMP_DATA_SIZE] = {0};

	agent_bed_open(&bed);
	bed.leaf->quirks.life_time_max = 16;
	CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_SET, ATTR_SWITCH_INFO, 0, &sw), STATUS_OK);
	CU_ASSERT_EQUAL(sw.life_time_value, 16);

	bed.host->quirks = (struct device_quirks){.subnet_timeout_fixed = 31, .no_mkey = true};
	info = agent_unchanged(&bed.host->port[1]);
	info.m_key = 7;
	info.m_key_protect_bits = 1;
	info.subnet_timeout = 18;
	CU_ASSERT_EQUAL(agent_set_port(bed.host, 1, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.subnet_timeout, 31);
	CU_ASSERT_EQUAL(info.m_key, 0);
	CU_ASSERT_EQUAL(info.m_key_protect_bits, 0);

	/* An agent that does not know bit 31 takes it for a port. */
	bed.host->quirks = (struct device_quirks){.no_extended_speeds = true};
	CU_ASSERT_EQUAL(agent_get_port(bed.host, 1, &info), STATUS_INVALID_VALUE);
	CU_ASSERT_EQUAL(agent_ask(bed.host, 1, METHOD_GET, ATTR_PORT_INFO, 1, &info), STATUS_OK);
	CU_ASSERT(!(info.capability_mask & CAP_EXTENDED_SPEEDS));
	flap(&bed.leaf->port[1]);
	CU_ASSERT_EQUAL(bed.leaf->port[1].info.link_speed_ext_active, 0);
	CU_ASSERT_EQUAL(bed.leaf->port[1].info.link_speed_active, 4);

	bed.spine->quirks.garbage = true;
	CU_ASSERT_EQUAL(agent_smp(bed.spine, 1, METHOD_GET, ATTR_NODE_DESCRIPTION, 0, data),
			STATUS_OK);
	CU_ASSERT_EQUAL(data[0], 0xFF);

	/* Dead, but its link is there. Its notices are silent, too, until it lives again. */
	agent_set_address(&bed.leaf->port[0], 9, 4, 8);
	bed.leaf->quirks.silent = true;
	CU_ASSERT_EQUAL(agent_smp(bed.leaf, 1, METHOD_GET, ATTR_NODE_INFO, 0, data), -1);
	flap(&bed.leaf->port[1]);
	CU_ASSERT_EQUAL(bed.host->port[1].info.port_state, PORT_INIT);
	tick_until(&bed, bed.leaf, 5000);
	CU_ASSERT_EQUAL(bed.traps, 0);
	bed.leaf->quirks.silent = false;
	tick_until(&bed, bed.leaf, 10000);
	CU_ASSERT(bed.traps > 0);
	agent_bed_close(&bed);
}

/* Personalities */

static void adopt(struct device *device, const char *name)
{
	const struct personality *personality = personality_find(name);

	CU_ASSERT_PTR_NOT_NULL_FATAL(personality);
	device->quirks = personality->quirks;
}

/* The answer to a Set() of a state, and a Get() before the lag is over, show the old state. A link
 * that was lost in the meantime does not go to the new state. */
static void test_late_state(void)
{
	static const struct {
		const char *name;
		uint64_t before_us, after_us;
	} cases[] = {{"late-state", 5, 20}, {"later-state", 50000, 70000}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct port_info info;
		struct bed bed;
		struct device_port *port;

		agent_bed_open(&bed);
		port = &bed.leaf->port[1];
		adopt(bed.leaf, cases[i].name);
		info = agent_unchanged(port);
		info.port_state = PORT_ARMED;
		CU_ASSERT_EQUAL(agent_set_port(bed.leaf, 1, &info), STATUS_OK);
		CU_ASSERT_EQUAL(info.port_state, PORT_INIT);
		tick_until(&bed, bed.leaf, cases[i].before_us);
		CU_ASSERT_EQUAL(agent_get_port(bed.leaf, 1, &info), STATUS_OK);
		CU_ASSERT_EQUAL(info.port_state, PORT_INIT);
		tick_until(&bed, bed.leaf, cases[i].after_us);
		CU_ASSERT_EQUAL(port->info.port_state, PORT_ARMED);
		CU_ASSERT_EQUAL(device_next_us(bed.leaf), UINT64_MAX);
		flap(port);
		CU_ASSERT_EQUAL(agent_set_state(port, PORT_ARMED, 0), STATUS_OK);
		flap(port);
		tick_until(&bed, bed.leaf, 1000000);
		CU_ASSERT_EQUAL(port->info.port_state, PORT_INIT);
		agent_bed_close(&bed);
	}
}

static void test_no_bit_31(void)
{
	uint8_t mad[MAD_SIZE];
	struct bed bed;

	agent_bed_open(&bed);
	adopt(bed.leaf, "no-bit-31");
	subn_build(mad, METHOD_GET, ATTR_PORT_INFO, PORT_INFO_EXTENDED_SPEEDS | 1, 0, NULL, NULL);
	CU_ASSERT(device_handle(bed.leaf, 1, mad));
	CU_ASSERT_EQUAL(be32_load(mad + 20), 1);
	agent_bed_close(&bed);
}

/* The state after a reset. Port 0 of leaf is an enhanced port 0. */
static void test_resets(void)
{
	struct switch_info sw;
	struct bed bed;

	agent_bed_open(&bed);
	bed.leaf->sw.enhanced_port0 = 1;
	adopt(bed.leaf, "bare-port0");
	device_reboot(bed.leaf);
	CU_ASSERT_EQUAL(bed.leaf->port[0].info.port_state, PORT_DOWN);
	CU_ASSERT_EQUAL(bed.leaf->port[0].info.neighbor_mtu, 1);
	agent_set_address(&bed.leaf->port[0], 9, 4, 12);
	CU_ASSERT_EQUAL(bed.leaf->port[0].info.lid, 9);
	adopt(bed.leaf, "wild-top");
	device_reboot(bed.leaf);
	sw = bed.leaf->sw;
	CU_ASSERT_EQUAL(sw.linear_fdb_top, 0xFFFF);
	CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_SET, ATTR_SWITCH_INFO, 0, &sw), STATUS_OK);
	adopt(bed.leaf, "wild-top-refused");
	sw = bed.leaf->sw;
	CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_SET, ATTR_SWITCH_INFO, 0, &sw),
			STATUS_INVALID_VALUE);
	sw.linear_fdb_top = 5;
	CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_SET, ATTR_SWITCH_INFO, 0, &sw), STATUS_OK);
	agent_bed_close(&bed);
}

static void test_restless(void)
{
	struct port_info a, b;
	struct bed bed;

	agent_bed_open(&bed);
	adopt(bed.host, "restless");
	CU_ASSERT_EQUAL(agent_get_port(bed.host, 1, &a), STATUS_OK);
	CU_ASSERT_EQUAL(agent_get_port(bed.host, 1, &b), STATUS_OK);
	CU_ASSERT(a.p_key_violations != b.p_key_violations);
	CU_ASSERT(a.capability_mask != b.capability_mask);
	CU_ASSERT(a.port_physical_state != b.port_physical_state);
	CU_ASSERT(a.lid == b.lid && a.port_state == b.port_state && a.mtu_cap == b.mtu_cap);
	agent_bed_close(&bed);
}

static const CU_TestInfo tests[] = {
	{"states by Set()", test_states},
	{"states without a link", test_states_alone},
	{"width and speed of a link", test_negotiation},
	{"training again", test_retraining},
	{"a port cabled to itself", test_loopback},
	{"data needs ends that agree", test_data},
	{"PortStateChange", test_port_state_change},
	{"a trap repeats until it is repressed", test_trap_repeats},
	{"an event after the trap", test_trap_again},
	{"kinds of traps", test_trap_kinds},
	{"a trap about a port", test_trap_about_a_port},
	{"reboot", test_reboot},
	{"power", test_power},
	{"capabilities of the host", test_capabilities},
	{"quirks", test_quirks},
	{"a state that lags behind its Set()", test_late_state},
	{"answers without bit 31", test_no_bit_31},
	{"state after resets", test_resets},
	{"members that never rest", test_restless},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return unit_main("agent_link", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A transport that writes nothing, over one that fails on everything but a Get(): mad/preview.h. */
#include <string.h>

#include "lib/be.h"
#include "tests/unit/fixtures/preview_bed.h"
#include "tests/unit/fixtures/unit.h"

static const struct route_path local = {.hops = 0}, sw = {.hops = 1, .port = {0, 1}},
			       host = {.hops = 2, .port = {0, 1, 5}},
			       second = {.hops = 2, .port = {0, 1, 7}},
			       detour = {.hops = 3, .port = {0, 1, 7, 9}};

static struct preview_bed bed;

/* The local adapter, a switch at its port 1, a host at port 5 of the switch. A second switch
 * connects port 7 of the first switch with its port 8. */
static void begin(void)
{
	preview_bed_init(&bed);
	preview_bed_node(&bed, &local, NODE_CA, 0x100, 1, "here");
	preview_bed_node(&bed, &sw, NODE_SWITCH, 0x200, 3, "leaf");
	preview_bed_node(&bed, &host, NODE_CA, 0x300, 1, "host");
	preview_bed_node(&bed, &second, NODE_SWITCH, 0x400, 8, "spine");
}

static void end(void)
{
	preview_bed_done(&bed);
}

struct seen {
	struct preview_record record;
	unsigned count;
};

static void see(void *ctx, const struct preview_record *record)
{
	struct seen *seen = ctx;

	seen->record = *record;
	seen->count++;
}

/* The last record, and the number of all. */
static struct seen records(void)
{
	struct seen seen = {0};

	preview_each(bed.preview, see, &seen);
	return seen;
}

static struct port_info ask_port(uint8_t method, const struct route_path *route, uint32_t attr_mod,
				 const struct port_info *wanted, const struct port_info *device)
{
	uint8_t want[SMP_DATA_SIZE] = {0}, data[SMP_DATA_SIZE] = {0};
	struct port_info answer;

	if (wanted)
		format_encode(&port_info_format, wanted, want);
	format_encode(&port_info_format, device, data);
	attr_decode(&port_info_format,
		    preview_bed_ask(&bed, method, ATTR_PORT_INFO, attr_mod,
				    wanted ? wanted->capability_mask : 0, route, want, data),
		    &answer);
	return answer;
}

/* Nothing that could change a device or another manager reaches the real transport. */
static void test_withheld(void)
{
	static const struct {
		uint8_t mgmt_class, method;
		uint16_t attr_id;
	} rows[] = {
		{CLASS_SUBN_DIRECTED, METHOD_SET, ATTR_SM_INFO},
		{CLASS_SUBN_DIRECTED, METHOD_SET, 0xFF00},
		{CLASS_SUBN_DIRECTED, METHOD_GET_RESP, ATTR_SM_INFO},
		{CLASS_SUBN_DIRECTED, METHOD_TRAP, ATTR_NOTICE},
		{CLASS_SUBN_DIRECTED, METHOD_TRAP_REPRESS, ATTR_NOTICE},
		{CLASS_SUBN_LID, METHOD_SET, ATTR_PORT_INFO},
		{CLASS_SUBN_LID, METHOD_SET, ATTR_SM_INFO},
		{CLASS_SUBN_LID, METHOD_GET, ATTR_SM_INFO},
		{CLASS_SUBN_LID, METHOD_TRAP, ATTR_NOTICE},
		{CLASS_SUBN_LID, METHOD_TRAP_REPRESS, ATTR_NOTICE},
		{CLASS_SUBN_ADM, METHOD_GET, RECORD_NODE},
		{CLASS_SUBN_ADM, METHOD_REPORT, ATTR_NOTICE},
		{CLASS_PERF, METHOD_GET, PERF_PORT_COUNTERS},
		{CLASS_PERF, METHOD_SET, PERF_PORT_COUNTERS},
	};
	const struct mad_addr to = {.lid = LID_PERMISSIVE};
	unsigned sent;

	begin();
	sent = bed.sent;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool directed = rows[i].mgmt_class == CLASS_SUBN_DIRECTED;
		uint8_t mad[MAD_SIZE], *given = malloc(MAD_SIZE);

		subn_build(mad, rows[i].method, rows[i].attr_id, 0, 0, directed ? &sw : NULL, NULL);
		mad[1] = rows[i].mgmt_class;
		transport_send(preview_transport(bed.preview), &to, mad, sizeof(mad), 10);
		memcpy(given, mad, sizeof(mad));
		transport_give(preview_transport(bed.preview), &to, given, sizeof(mad));
		CU_ASSERT_EQUAL(bed.sent, sent);
	}
	transport_set_issm(preview_transport(bed.preview), true);
	CU_ASSERT_EQUAL(preview_counts(bed.preview)->withheld, 2 * sizeof(rows) / sizeof(*rows));
	CU_ASSERT_EQUAL(records().count, 0);
	end();
}

/* Requests of others get no answer: the manager does not even see them. */
static void test_requests_of_others(void)
{
	const struct mad_addr from = {.lid = 3};
	uint8_t mad[MAD_SIZE];
	unsigned received;

	begin();
	received = bed.received;
	subn_build(mad, METHOD_GET, ATTR_SM_INFO, 0, 0, NULL, NULL);
	bed.real.user.received(bed.real.user.ctx, &from, mad, sizeof(mad));
	CU_ASSERT_EQUAL(bed.received, received);
	end();
}

static void test_table(void)
{
	uint8_t device[SMP_DATA_SIZE], wanted[SMP_DATA_SIZE];
	struct seen seen;

	begin();
	memset(device, LFT_NO_PORT, sizeof(device));
	memcpy(wanted, device, sizeof(wanted));
	wanted[7] = 5;
	CU_ASSERT(!memcmp(preview_bed_ask(&bed, METHOD_SET, ATTR_LINEAR_FORWARDING_TABLE, 2, 0, &sw,
					  wanted, device),
			  wanted, SMP_DATA_SIZE));
	/* The request has no data of the Set(), and the answer those that it would leave. */
	CU_ASSERT_EQUAL(bed.last[SMP_DATA_OFFSET + 7], 0);
	CU_ASSERT_EQUAL(bed.answer[3], METHOD_GET_RESP);
	seen = records();
	CU_ASSERT_EQUAL(seen.count, 1);
	CU_ASSERT(!memcmp(seen.record.before, device, SMP_DATA_SIZE));
	CU_ASSERT(!memcmp(seen.record.after, wanted, SMP_DATA_SIZE));
	CU_ASSERT_EQUAL(seen.record.target->node_guid, 0x200);
	CU_ASSERT_STRING_EQUAL(seen.record.target->description, "leaf");
	CU_ASSERT_EQUAL(seen.record.unchanged, 0);
	/* A readback agrees, and another block is as the device has it. */
	CU_ASSERT(!memcmp(preview_bed_ask(&bed, METHOD_GET, ATTR_LINEAR_FORWARDING_TABLE, 2, 0, &sw,
					  NULL, device),
			  wanted, SMP_DATA_SIZE));
	CU_ASSERT(!memcmp(preview_bed_ask(&bed, METHOD_GET, ATTR_LINEAR_FORWARDING_TABLE, 3, 0, &sw,
					  NULL, device),
			  device, SMP_DATA_SIZE));
	/* The same Set() again changes nothing. */
	preview_bed_ask(&bed, METHOD_SET, ATTR_LINEAR_FORWARDING_TABLE, 2, 0, &sw, wanted, device);
	seen = records();
	CU_ASSERT_EQUAL(seen.count, 1);
	CU_ASSERT_EQUAL(seen.record.sets, 2);
	CU_ASSERT_EQUAL(seen.record.unchanged, 1);
	end();
}

/* A device is the same on each route. */
static void test_routes(void)
{
	uint8_t device[SMP_DATA_SIZE] = {0}, wanted[SMP_DATA_SIZE] = {1, 2};
	const struct route_path back = {.hops = 3, .port = {0, 1, 7, 8}};

	begin();
	preview_bed_node(&bed, &detour, NODE_SWITCH, 0x500, 2, "other");
	preview_bed_ask(&bed, METHOD_SET, ATTR_PKEY_TABLE, 0, 0, &sw, wanted, device);
	/* From the second switch back to the first, over a cable seen in the other direction. */
	CU_ASSERT(!memcmp(
		preview_bed_ask(&bed, METHOD_GET, ATTR_PKEY_TABLE, 0, 0, &back, NULL, device),
		wanted, SMP_DATA_SIZE));
	CU_ASSERT(!memcmp(
		preview_bed_ask(&bed, METHOD_GET, ATTR_PKEY_TABLE, 0, 0, &host, NULL, device),
		device, SMP_DATA_SIZE));
	end();
}

static void test_port_info(void)
{
	const struct port_info device = {.lid = 0,
					 .port_state = PORT_INIT,
					 .port_physical_state = PHYS_LINK_UP,
					 .link_width_enabled = 3,
					 .operational_vls = 2,
					 .mtu_cap = 5,
					 .p_key_violations = 9};
	struct port_info want = {.lid = 7, .neighbor_mtu = 4, .client_reregister = 1, .mtu_cap = 1};
	struct port_info answer;

	begin();
	answer = ask_port(METHOD_SET, &host, 1, &want, &device);
	CU_ASSERT_EQUAL(answer.lid, 7);
	CU_ASSERT_EQUAL(answer.neighbor_mtu, 4);
	CU_ASSERT_EQUAL(answer.port_state, PORT_INIT); /* 0 changes nothing */
	CU_ASSERT_EQUAL(answer.port_physical_state, PHYS_LINK_UP);
	CU_ASSERT_EQUAL(answer.link_width_enabled, 3);
	CU_ASSERT_EQUAL(answer.operational_vls, 2);
	CU_ASSERT_EQUAL(answer.mtu_cap, 5); /* read-only */
	CU_ASSERT_EQUAL(answer.p_key_violations, 9);
	CU_ASSERT_EQUAL(answer.client_reregister, 0);
	CU_ASSERT_EQUAL(records().record.reregistrations, 1);
	want = (struct port_info){.lid = 7, .neighbor_mtu = 4, .port_state = PORT_ARMED};
	/* Bit 31 of the modifier asks for extended speeds: it is the same port. */
	answer = ask_port(METHOD_SET, &host, 1 | PORT_INFO_EXTENDED_SPEEDS, &want, &device);
	CU_ASSERT_EQUAL(answer.port_state, PORT_ARMED);
	CU_ASSERT_EQUAL(records().count, 1);
	answer = ask_port(METHOD_GET, &host, 1, NULL, &device);
	CU_ASSERT_EQUAL(answer.port_state, PORT_ARMED);
	CU_ASSERT_EQUAL(answer.lid, 7);
	CU_ASSERT_EQUAL(records().record.bounces, 0);
	end();
}

static void test_bounces(void)
{
	static const struct {
		uint8_t state, phys; /* of the port */
		uint8_t asks_state, asks_phys, after;
		unsigned bounces;
	} rows[] = {
		{PORT_ACTIVE, PHYS_LINK_UP, PORT_DOWN, 0, PORT_INIT, 1},
		{PORT_ACTIVE, PHYS_LINK_UP, PORT_DOWN, PHYS_DISABLED, PORT_DOWN, 1},
		{PORT_ACTIVE, PHYS_LINK_UP, 0, PHYS_POLLING, PORT_INIT, 1},
		{PORT_DOWN, PHYS_DISABLED, PORT_DOWN, PHYS_POLLING, PORT_DOWN, 0},
		{PORT_ACTIVE, PHYS_LINK_UP, 0, 0, PORT_ACTIVE, 0},
		{PORT_ARMED, PHYS_LINK_UP, PORT_ACTIVE, 0, PORT_ACTIVE, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct port_info device = {.port_state = rows[i].state,
						 .port_physical_state = rows[i].phys};
		const struct port_info want = {.port_state = rows[i].asks_state,
					       .port_physical_state = rows[i].asks_phys};

		begin();
		CU_ASSERT_EQUAL(ask_port(METHOD_SET, &sw, 5, &want, &device).port_state,
				rows[i].after);
		CU_ASSERT_EQUAL(records().record.bounces, rows[i].bounces);
		end();
	}
}

/* After a change of its M_Key, the port still gets the key that it has. */
static void test_m_key(void)
{
	uint8_t device[SMP_DATA_SIZE] = {0}, wanted[SMP_DATA_SIZE] = {0};

	begin();
	be64_store(device, 0xAAAA);
	be64_store(wanted, 0xBBBB);
	preview_bed_ask(&bed, METHOD_SET, ATTR_PORT_INFO, 1, 0xAAAA, &host, wanted, device);
	preview_bed_ask(&bed, METHOD_GET, ATTR_PORT_INFO, 1, 0xBBBB, &host, NULL, device);
	CU_ASSERT_EQUAL(be64_load(bed.last + SMP_M_KEY_OFFSET), 0xAAAA);
	CU_ASSERT_EQUAL(be64_load(bed.answer + SMP_DATA_OFFSET), 0xBBBB);
	preview_bed_ask(&bed, METHOD_GET, ATTR_PORT_INFO, 1, 0xCCCC, &sw, NULL, device);
	CU_ASSERT_EQUAL(be64_load(bed.last + SMP_M_KEY_OFFSET), 0xCCCC);
	end();
}

/* A port at the end of an unknown route may have got a new key by another route. Its requests take
 * turns with the keys that ports hold in place of this new key. */
static void test_m_key_of_unknown_route(void)
{
	static const uint64_t held[] = {0xAAAA, 0xDDDD};
	const struct route_path unknown = {.hops = 2, .port = {0, 1, 4}};
	const struct route_path *ports[] = {&host, &second};
	uint8_t device[SMP_DATA_SIZE] = {0}, wanted[SMP_DATA_SIZE] = {0};
	unsigned seen = 0;

	begin();
	preview_bed_ask(&bed, METHOD_GET, ATTR_NODE_INFO, 0, 0xBBBB, &unknown, NULL, device);
	CU_ASSERT_EQUAL(be64_load(bed.last + SMP_M_KEY_OFFSET), 0xBBBB); /* no new key yet */
	be64_store(wanted, 0xBBBB);
	for (unsigned i = 0; i < 2; i++) {
		be64_store(device, held[i]);
		preview_bed_ask(&bed, METHOD_SET, ATTR_PORT_INFO, 1, held[i], ports[i], wanted,
				device);
	}
	memset(device, 0, sizeof(device));
	for (unsigned i = 0; i < 4; i++) {
		preview_bed_ask(&bed, METHOD_GET, ATTR_NODE_INFO, 0, 0xBBBB, &unknown, NULL,
				device);
		for (unsigned k = 0; k < 2; k++)
			seen += be64_load(bed.last + SMP_M_KEY_OFFSET) == held[k] ? 1u << 4 * k : 0;
	}
	CU_ASSERT_EQUAL(seen, 0x22); /* each twice */
	preview_bed_ask(&bed, METHOD_GET, ATTR_NODE_INFO, 0, 0xCCCC, &unknown, NULL, device);
	CU_ASSERT_EQUAL(be64_load(bed.last + SMP_M_KEY_OFFSET), 0xCCCC);
	end();
}

static void test_switch_info(void)
{
	const struct switch_info device = {
		.linear_fdb_cap = 100, .linear_fdb_top = 9, .port_state_change = 1};
	struct switch_info want = {
		.linear_fdb_cap = 5, .linear_fdb_top = 20, .port_state_change = 1};
	uint8_t from[SMP_DATA_SIZE] = {0}, to[SMP_DATA_SIZE] = {0};
	struct switch_info answer;

	begin();
	format_encode(&switch_info_format, &device, from);
	format_encode(&switch_info_format, &want, to);
	preview_bed_ask(&bed, METHOD_SET, ATTR_SWITCH_INFO, 0, 0, &sw, to, from);
	preview_bed_ask(&bed, METHOD_GET, ATTR_SWITCH_INFO, 0, 0, &sw, NULL, from);
	attr_decode(&switch_info_format, bed.answer + SMP_DATA_OFFSET, &answer);
	CU_ASSERT_EQUAL(answer.linear_fdb_cap, 100);
	CU_ASSERT_EQUAL(answer.linear_fdb_top, 20);
	CU_ASSERT_EQUAL(answer.port_state_change, 0); /* writing 1 clears it */
	end();
}

/* The first GUID of a port is read-only; those of other blocks are not. */
static void test_guid_info(void)
{
	for (unsigned block = 0; block < 2; block++) {
		uint8_t from[SMP_DATA_SIZE] = {0}, to[SMP_DATA_SIZE] = {0};

		begin();
		be64_store(from, 0x500);
		be64_store(to, 0x600);
		be64_store(to + 8, 0x700);
		preview_bed_ask(&bed, METHOD_SET, ATTR_GUID_INFO, block, 0, &host, to, from);
		preview_bed_ask(&bed, METHOD_GET, ATTR_GUID_INFO, block, 0, &host, NULL, from);
		CU_ASSERT_EQUAL(be64_load(bed.answer + SMP_DATA_OFFSET), block ? 0x600 : 0x500);
		CU_ASSERT_EQUAL(be64_load(bed.answer + SMP_DATA_OFFSET + 8), 0x700);
		end();
	}
}

/* A device that cannot answer the Get() has no record, and its status reaches the manager. */
static void test_status(void)
{
	const struct mad_addr to = {.lid = LID_PERMISSIVE};
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {1};

	begin();
	subn_build(mad, METHOD_SET, ATTR_GUID_INFO, 0, 0, &host, data);
	transport_send(preview_transport(bed.preview), &to, mad, sizeof(mad), 10);
	memcpy(mad, bed.last, sizeof(mad));
	mad[3] = METHOD_GET_RESP;
	be16_store(mad + 4, 0x8000 | STATUS_UNSUP_METHOD_ATTR);
	bed.real.user.received(bed.real.user.ctx, &to, mad, sizeof(mad));
	CU_ASSERT_EQUAL(be16_load(bed.answer + 4), 0x8000 | STATUS_UNSUP_METHOD_ATTR);
	CU_ASSERT_EQUAL(records().count, 0);
	CU_ASSERT_EQUAL(preview_counts(bed.preview)->refused, 1);
	end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"withheld", test_withheld},
		{"requests of others", test_requests_of_others},
		{"table", test_table},
		{"routes", test_routes},
		{"PortInfo", test_port_info},
		{"bounces", test_bounces},
		{"M_Key", test_m_key},
		{"SwitchInfo", test_switch_info},
		{"GUIDInfo", test_guid_info},
		{"status", test_status},
		{"M_Key of an unknown route", test_m_key_of_unknown_route},
		CU_TEST_INFO_NULL,
	};

	return unit_main("preview", tests);
}

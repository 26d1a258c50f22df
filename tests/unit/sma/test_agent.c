/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The answers of the software agent: accepted and refused values of each attribute, and the tables
 * of switches and ports. Every member of PortInfo is set at each kind of port, one at a time.
 */
#include "sma/agent.h"

#include <string.h>

#include "tests/unit/fixtures/agent_bed.h"

/* Statuses */

enum who { LEAF, SPINE, HOST, ROUTER };

static const struct status_case {
	const char *what;
	enum who who;
	uint8_t method;
	uint16_t attr_id;
	uint32_t attr_mod;
	int status;
} status_cases[] = {
	{"NodeInfo", LEAF, METHOD_GET, ATTR_NODE_INFO, 0, STATUS_OK},
	{"NodeInfo is read only", LEAF, METHOD_SET, ATTR_NODE_INFO, 0, STATUS_UNSUP_METHOD_ATTR},
	{"NodeDescription", ROUTER, METHOD_GET, ATTR_NODE_DESCRIPTION, 0, STATUS_OK},
	{"and so is it", HOST, METHOD_SET, ATTR_NODE_DESCRIPTION, 0, STATUS_UNSUP_METHOD_ATTR},
	{"an unknown method", HOST, METHOD_GET_TABLE, ATTR_NODE_INFO, 0, -2},
	{"SwitchInfo", SPINE, METHOD_GET, ATTR_SWITCH_INFO, 0, STATUS_OK},
	{"no switch", HOST, METHOD_GET, ATTR_SWITCH_INFO, 0, STATUS_UNSUP_METHOD_ATTR},
	{"SwitchInfo of a port", LEAF, METHOD_SET, ATTR_SWITCH_INFO, 1, STATUS_INVALID_VALUE},
	{"PortInfo of port 0", LEAF, METHOD_GET, ATTR_PORT_INFO, 0, STATUS_OK},
	{"the last port", LEAF, METHOD_GET, ATTR_PORT_INFO, LEAF_PORTS, STATUS_OK},
	{"behind it", LEAF, METHOD_GET, ATTR_PORT_INFO, LEAF_PORTS + 1, STATUS_INVALID_VALUE},
	{"a bit that means nothing", LEAF, METHOD_GET, ATTR_PORT_INFO, 0x101, STATUS_INVALID_VALUE},
	{"an adapter's other port", HOST, METHOD_GET, ATTR_PORT_INFO, 2, STATUS_OK},
	{"is set through itself", HOST, METHOD_SET, ATTR_PORT_INFO, 2, STATUS_INVALID_VALUE},
	{"an adapter's third", HOST, METHOD_GET, ATTR_PORT_INFO, 3, STATUS_INVALID_VALUE},
	{"P_Keys of a host", HOST, METHOD_GET, ATTR_PKEY_TABLE, 3, STATUS_OK},
	{"128 are 4 blocks", HOST, METHOD_GET, ATTR_PKEY_TABLE, 4, STATUS_INVALID_VALUE},
	{"of port 0", LEAF, METHOD_SET, ATTR_PKEY_TABLE, 3, STATUS_OK},
	{"of an external port", LEAF, METHOD_SET, ATTR_PKEY_TABLE, 2 << 16, STATUS_OK},
	{"which has 1 block", LEAF, METHOD_SET, ATTR_PKEY_TABLE, 2 << 16 | 1, STATUS_INVALID_VALUE},
	{"of no port", LEAF, METHOD_SET, ATTR_PKEY_TABLE, 21 << 16, STATUS_INVALID_VALUE},
	{"GUIDs of a host", HOST, METHOD_SET, ATTR_GUID_INFO, 3, STATUS_OK},
	{"32 are 4 blocks", HOST, METHOD_SET, ATTR_GUID_INFO, 4, STATUS_INVALID_VALUE},
	{"a base port 0 has 1", LEAF, METHOD_GET, ATTR_GUID_INFO, 0, STATUS_OK},
	{"and no more", LEAF, METHOD_GET, ATTR_GUID_INFO, 1, STATUS_INVALID_VALUE},
	{"LFT", LEAF, METHOD_GET, ATTR_LINEAR_FORWARDING_TABLE, 15, STATUS_OK},
	{"LIDs 0-999", LEAF, METHOD_SET, ATTR_LINEAR_FORWARDING_TABLE, 16, STATUS_INVALID_VALUE},
	{"the largest", SPINE, METHOD_SET, ATTR_LINEAR_FORWARDING_TABLE, 767, STATUS_OK},
	{"beyond", SPINE, METHOD_SET, ATTR_LINEAR_FORWARDING_TABLE, 768, STATUS_INVALID_VALUE},
	{"by far", SPINE, METHOD_SET, ATTR_LINEAR_FORWARDING_TABLE, ~0u, STATUS_INVALID_VALUE},
	{"no LFT", HOST, METHOD_SET, ATTR_LINEAR_FORWARDING_TABLE, 0, STATUS_UNSUP_METHOD_ATTR},
	{"no RFT", LEAF, METHOD_GET, ATTR_RANDOM_FORWARDING_TABLE, 0, STATUS_UNSUP_METHOD_ATTR},
	{"MFT", LEAF, METHOD_SET, ATTR_MULTICAST_FORWARDING_TABLE, 3 | 1 << 28, STATUS_OK},
	{"groups 0-99", LEAF, METHOD_SET, ATTR_MULTICAST_FORWARDING_TABLE, 4, STATUS_INVALID_VALUE},
	{"ports 0-20", LEAF, METHOD_SET, ATTR_MULTICAST_FORWARDING_TABLE, 2u << 28,
	 STATUS_INVALID_VALUE},
	{"an MFT bit that means nothing", LEAF, METHOD_GET, ATTR_MULTICAST_FORWARDING_TABLE, 0x200,
	 STATUS_INVALID_VALUE},
	{"SLtoVL of a host", HOST, METHOD_SET, ATTR_SL_TO_VL, 0, STATUS_OK},
	{"out 1 in 0", LEAF, METHOD_SET, ATTR_SL_TO_VL, 0x0001, STATUS_OK},
	{"out to a base port 0", LEAF, METHOD_SET, ATTR_SL_TO_VL, 0x0100, STATUS_INVALID_VALUE},
	{"that can be read", LEAF, METHOD_GET, ATTR_SL_TO_VL, 0x0100, STATUS_OK},
	{"to an enhanced one", SPINE, METHOD_SET, ATTR_SL_TO_VL, 0x0100, STATUS_OK},
	{"in from no port", LEAF, METHOD_GET, ATTR_SL_TO_VL, 0x1501, STATUS_INVALID_VALUE},
	{"out of no port", LEAF, METHOD_GET, ATTR_SL_TO_VL, 0x0115, STATUS_INVALID_VALUE},
	{"all to all", LEAF, METHOD_SET, ATTR_SL_TO_VL, 0x30000, STATUS_OK},
	{"an SL2VL bit that means nothing", LEAF, METHOD_SET, ATTR_SL_TO_VL, 0x40001,
	 STATUS_INVALID_VALUE},
	{"VL arbitration low", LEAF, METHOD_SET, ATTR_VL_ARBITRATION, 1 << 16 | 20, STATUS_OK},
	{"its upper half", LEAF, METHOD_GET, ATTR_VL_ARBITRATION, 2 << 16 | 1,
	 STATUS_INVALID_VALUE},
	{"high", LEAF, METHOD_GET, ATTR_VL_ARBITRATION, 3 << 16 | 1, STATUS_OK},
	{"neither", LEAF, METHOD_GET, ATTR_VL_ARBITRATION, 0 << 16 | 1, STATUS_INVALID_VALUE},
	{"of port 0", LEAF, METHOD_GET, ATTR_VL_ARBITRATION, 1 << 16, STATUS_INVALID_VALUE},
	{"of a host", HOST, METHOD_SET, ATTR_VL_ARBITRATION, 3 << 16, STATUS_OK},
	{"no manager here", HOST, METHOD_GET, ATTR_SM_INFO, 0, STATUS_UNSUP_METHOD_ATTR},
	{"nor there", LEAF, METHOD_SET, ATTR_SM_INFO, 1, STATUS_UNSUP_METHOD_ATTR},
	{"Notice", ROUTER, METHOD_GET, ATTR_NOTICE, 0, STATUS_OK},
	{"is read only", ROUTER, METHOD_SET, ATTR_NOTICE, 0, STATUS_UNSUP_METHOD_ATTR},
	{"a vendor's", LEAF, METHOD_GET, ATTR_MLNX_EXT_PORT_INFO, 1, STATUS_UNSUP_METHOD_ATTR},
	{"nobody's", LEAF, METHOD_GET, 0x7777, 0, STATUS_UNSUP_METHOD_ATTR},
};

static void test_statuses(void)
{
	struct bed bed;
	struct device *const *who;

	agent_bed_open(&bed);
	for (size_t i = 0; i < ARRAY_SIZE(status_cases); i++) {
		const struct status_case *row = &status_cases[i];
		struct device *all[] = {bed.leaf, bed.spine, bed.host, bed.router};
		uint8_t data[SMP_DATA_SIZE] = {0};
		unsigned sets = bed.sets;
		int status;

		who = &all[row->who];
		status = agent_smp(*who, 1, row->method, row->attr_id, row->attr_mod, data);
		if (status != row->status)
			printf("\n    %s: 0x%x", row->what, status);
		CU_ASSERT_EQUAL(status, row->status);
		CU_ASSERT_EQUAL(bed.sets - sets,
				row->method == METHOD_SET && row->status == STATUS_OK);
	}
	agent_bed_close(&bed);
}

/* Not a Get() or Set() of this class and version. */
static void test_headers(void)
{
	static const struct {
		uint8_t base, mgmt_class, version, method;
		int status, answer; /* -1: none */
	} cases[] = {
		{1, CLASS_SUBN_LID, 1, METHOD_GET, STATUS_OK, METHOD_GET_RESP},
		{2, CLASS_SUBN_LID, 1, METHOD_GET, STATUS_BAD_VERSION, METHOD_GET_RESP},
		{1, CLASS_SUBN_LID, 2, METHOD_SET, STATUS_BAD_VERSION, METHOD_GET_RESP},
		{1, CLASS_SUBN_DIRECTED, 1, METHOD_GET, 0x8000, METHOD_GET_RESP},
		{1, CLASS_SUBN_DIRECTED, 1, METHOD_SET, 0x8000 | STATUS_UNSUP_METHOD_ATTR,
		 METHOD_GET_RESP},
		{1, CLASS_SUBN_LID, 1, METHOD_GET_TABLE, STATUS_UNSUP_METHOD,
		 METHOD_GET_TABLE_RESP},
		{1, CLASS_SUBN_LID, 1, 0, STATUS_UNSUP_METHOD, METHOD_RESPONSE},
		{1, CLASS_SUBN_ADM, 2, METHOD_GET, 0, -1},
		{1, CLASS_SUBN_LID, 1, METHOD_GET_RESP, 0, -1},
		{1, CLASS_SUBN_LID, 1, METHOD_TRAP, 0, -1},
		{1, CLASS_SUBN_LID, 1, METHOD_TRAP_REPRESS, 0, -1},
		{1, CLASS_SUBN_LID, 1, METHOD_SEND, 0, -1},
	};
	struct bed bed;

	agent_bed_open(&bed);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct mad_header header = {.base_version = cases[i].base,
					    .mgmt_class = cases[i].mgmt_class,
					    .class_version = cases[i].version,
					    .method = cases[i].method,
					    .tid = 0x1122334455667788,
					    .attr_id = ATTR_NODE_INFO};
		uint8_t mad[MAD_SIZE] = {0};

		header_encode(&header, mad);
		CU_ASSERT_EQUAL(device_handle(bed.host, 1, mad), cases[i].answer >= 0);
		header_decode(mad, &header);
		CU_ASSERT_EQUAL(header.tid, 0x1122334455667788);
		if (cases[i].answer < 0)
			continue;
		CU_ASSERT_EQUAL(header.status, cases[i].status);
		CU_ASSERT_EQUAL(header.method, cases[i].answer);
	}
	/* Through a port that the device does not have. */
	CU_ASSERT_EQUAL(agent_smp(bed.host, 0, METHOD_GET, ATTR_NODE_INFO, 0, (uint8_t[64]){0}),
			-1);
	CU_ASSERT_EQUAL(agent_smp(bed.host, 3, METHOD_GET, ATTR_NODE_INFO, 0, (uint8_t[64]){0}),
			-1);
	agent_bed_close(&bed);
}

static void test_node(void)
{
	struct bed bed;
	struct node_info info;
	struct node_description description;

	agent_bed_open(&bed);
	CU_ASSERT_EQUAL(agent_ask(bed.leaf, 2, METHOD_GET, ATTR_NODE_INFO, 0, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.node_type, NODE_SWITCH);
	CU_ASSERT_EQUAL(info.num_ports, LEAF_PORTS);
	CU_ASSERT_EQUAL(info.local_port_num, 2);
	CU_ASSERT_EQUAL(info.node_guid, 0x100);
	CU_ASSERT_EQUAL(info.system_image_guid, 0x101);
	CU_ASSERT_EQUAL(info.port_guid, 0x102);
	CU_ASSERT_EQUAL(info.vendor_id, 0x2C9);
	CU_ASSERT_EQUAL(info.device_id, 7);
	CU_ASSERT_EQUAL(info.partition_cap, 128);
	CU_ASSERT_EQUAL(agent_ask(bed.host, 2, METHOD_GET, ATTR_NODE_INFO, 0, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.port_guid, 0x302);
	CU_ASSERT_EQUAL(agent_ask(bed.host, 1, METHOD_GET, ATTR_NODE_DESCRIPTION, 0, &description),
			STATUS_OK);
	CU_ASSERT_STRING_EQUAL(description.text, "host");
	agent_bed_close(&bed);
}

/* PortInfo */

enum kind {
	ADAPTER = 1,
	BASE0 = 2,
	ENHANCED0 = 4,
	EXTERNAL = 8,
	ROUTERS = 16,
	END = ADAPTER | ROUTERS,
};

/* Members that a Set() changes: the kinds of port, and a second value. Every other member stays. */
static const struct {
	const char *name;
	unsigned kinds;
	uint64_t value;
} writable[] = {
	{"M_Key", END | BASE0 | ENHANCED0, 0x1234567890},
	{"GidPrefix", END | BASE0 | ENHANCED0, 0xFEC0000000000000},
	{"LID", END | BASE0 | ENHANCED0, 77},
	{"MasterSMLID", END | BASE0 | ENHANCED0, 78},
	{"M_KeyLeasePeriod", END | BASE0 | ENHANCED0, 60},
	{"LinkDownDefaultState", END | EXTERNAL, PHYS_SLEEP},
	{"M_KeyProtectBits", END | BASE0 | ENHANCED0, 1},
	{"LMC", END | ENHANCED0, 3},
	{"NeighborMTU", END | ENHANCED0 | EXTERNAL, 4},
	{"MasterSMSL", END | BASE0 | ENHANCED0, 5},
	{"InitType", END | BASE0 | ENHANCED0, 1},
	{"VLHighLimit", END | EXTERNAL, 9},
	{"VLStallCount", EXTERNAL, 7},
	{"HOQLife", ROUTERS | EXTERNAL, 18},
	{"OperationalVLs", END | EXTERNAL, 2},
	{"PartitionEnforcementInbound", EXTERNAL, 1},
	{"PartitionEnforcementOutbound", EXTERNAL, 1},
	{"FilterRawInbound", EXTERNAL, 1},
	{"FilterRawOutbound", EXTERNAL, 1},
	{"SubnetTimeOut", END | BASE0 | ENHANCED0, 12},
	{"LocalPhyErrors", END | ENHANCED0 | EXTERNAL, 3},
	{"OverrunErrors", END | ENHANCED0 | EXTERNAL, 4},
	{"LinkWidthEnabled", END | EXTERNAL, 1},
	{"LinkSpeedEnabled", END | EXTERNAL, 1},
	{"LinkSpeedExtEnabled", END | EXTERNAL, 1},
	/* Commands and steps, which have tests of their own. */
	{"ClientReregister", 0, 0},
	{"PortState", 0, 0},
	{"PortPhysicalState", 0, 0},
};

/* -1: it is not in the table. */
static int writable_row(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(writable); i++) {
		if (!strcmp(writable[i].name, name))
			return i;
	}
	return -1;
}

/* Sets one member of the port, and compares all members that a Get() shows then. */
static void check_member(struct device_port *port, enum kind kind, size_t index)
{
	const struct field *fields = port_info_format.fields;
	int row = writable_row(fields[index].name);
	struct port_info before, asked = agent_unchanged(port), after;
	uint64_t value = row >= 0 ? writable[row].value : ~UINT64_C(0);
	bool changes = row >= 0 && writable[row].kinds & kind;

	if (row >= 0 && !writable[row].kinds)
		return;
	agent_get_port(port->device, port->num, &before);
	format_put(&port_info_format, index, &asked, value);
	CU_ASSERT_EQUAL(agent_set_port(port->device, port->num, &asked), STATUS_OK);
	agent_get_port(port->device, port->num, &after);
	if (changes)
		format_put(&port_info_format, index, &before, value);
	if (memcmp(&before, &after, sizeof(after)))
		printf("\n    %s at kind %d", fields[index].name, kind);
	CU_ASSERT(!memcmp(&before, &after, sizeof(after)));
	/* The answer to the Set() was the same. */
	after.client_reregister = asked.client_reregister;
	CU_ASSERT(!memcmp(&asked, &after, sizeof(after)));
}

static void test_port_info_members(void)
{
	for (size_t index = 0; index < port_info_format.count; index++) {
		struct bed bed;

		agent_bed_open(&bed);
		check_member(&bed.host->port[1], ADAPTER, index);
		check_member(&bed.router->port[1], ROUTERS, index);
		check_member(&bed.leaf->port[0], BASE0, index);
		check_member(&bed.spine->port[0], ENHANCED0, index);
		check_member(&bed.leaf->port[2], EXTERNAL, index);
		check_member(&bed.leaf->port[3], EXTERNAL, index);
		agent_bed_close(&bed);
	}
	for (size_t i = 0; i < ARRAY_SIZE(writable); i++) {
		size_t found = 0;

		for (size_t index = 0; index < port_info_format.count; index++)
			found += !strcmp(port_info_format.fields[index].name, writable[i].name);
		CU_ASSERT_EQUAL(found, 1);
	}
}

static const struct {
	const char *name;
	uint64_t value;
	int status;
} port_values[] = {
	{"LID", 0, STATUS_INVALID_VALUE},
	{"LID", 0xBFFF, STATUS_OK},
	{"LID", 0xC000, STATUS_INVALID_VALUE},
	{"LID", 0xFFFF, STATUS_INVALID_VALUE},
	{"MasterSMLID", 0, STATUS_INVALID_VALUE},
	{"MasterSMLID", 0xC000, STATUS_INVALID_VALUE},
	{"LMC", 2, STATUS_OK},		  /* LID 20 */
	{"LMC", 3, STATUS_INVALID_VALUE}, /* 20 is no multiple of 8 */
	{"NeighborMTU", 0, STATUS_INVALID_VALUE},
	{"NeighborMTU", 4, STATUS_OK},
	{"NeighborMTU", 5, STATUS_OK},
	{"NeighborMTU", 6, STATUS_INVALID_VALUE},
	{"OperationalVLs", 0, STATUS_OK},
	{"OperationalVLs", 4, STATUS_OK},
	{"OperationalVLs", 5, STATUS_INVALID_VALUE},
	{"OperationalVLs", 15, STATUS_INVALID_VALUE},
	{"LinkDownDefaultState", 0, STATUS_OK},
	{"LinkDownDefaultState", 1, STATUS_OK},
	{"LinkDownDefaultState", 3, STATUS_INVALID_VALUE},
	{"LinkWidthEnabled", 0, STATUS_OK},
	{"LinkWidthEnabled", 2, STATUS_OK},
	{"LinkWidthEnabled", 3, STATUS_OK},
	{"LinkWidthEnabled", 255, STATUS_OK},
	{"LinkWidthEnabled", 4, STATUS_INVALID_VALUE},
	{"LinkSpeedEnabled", 0, STATUS_OK},
	{"LinkSpeedEnabled", 7, STATUS_OK},
	{"LinkSpeedEnabled", 15, STATUS_OK},
	{"LinkSpeedEnabled", 8, STATUS_INVALID_VALUE},
	{"LinkSpeedExtEnabled", 0, STATUS_OK},
	{"LinkSpeedExtEnabled", 2, STATUS_OK},
	{"LinkSpeedExtEnabled", 30, STATUS_OK},
	{"LinkSpeedExtEnabled", 31, STATUS_OK},
	{"LinkSpeedExtEnabled", 4, STATUS_INVALID_VALUE},
	{"PortState", PORT_INIT, STATUS_INVALID_VALUE},
	{"PortState", 5, STATUS_INVALID_VALUE},
	{"PortState", 15, STATUS_INVALID_VALUE},
	{"PortPhysicalState", PHYS_TRAINING, STATUS_INVALID_VALUE},
	{"PortPhysicalState", PHYS_LINK_UP, STATUS_INVALID_VALUE},
	{"PortPhysicalState", 15, STATUS_INVALID_VALUE},
};

static size_t field_index(const char *name)
{
	size_t i = 0;

	while (strcmp(port_info_format.fields[i].name, name))
		i++;
	return i;
}

/* One wrong value, and no other member of the Set() is held either. */
static void test_port_info_values(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(port_values); i++) {
		size_t index = field_index(port_values[i].name);
		struct port_info asked;
		struct bed bed;
		int status;

		agent_bed_open(&bed);
		agent_set_address(&bed.host->port[1], 20, 1, 18);
		asked = agent_unchanged(&bed.host->port[1]);
		asked.m_key = 5;
		format_put(&port_info_format, index, &asked, port_values[i].value);
		status = agent_set_port(bed.host, 1, &asked);
		if (status != port_values[i].status)
			printf("\n    %s %d", port_values[i].name, (int)port_values[i].value);
		CU_ASSERT_EQUAL(status, port_values[i].status);
		CU_ASSERT_EQUAL(bed.host->port[1].info.m_key, status ? 0 : 5);
		agent_bed_close(&bed);
	}
}

/* Words for all that is supported are not held as words. */
static void test_enabled(void)
{
	struct bed bed;
	struct port_info info;

	agent_bed_open(&bed);
	info = agent_unchanged(&bed.leaf->port[1]);
	info.link_width_enabled = info.link_speed_enabled = info.link_speed_ext_enabled = 1;
	CU_ASSERT_EQUAL(agent_set_port(bed.leaf, 1, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.link_width_enabled, 1);
	info = agent_unchanged(&bed.leaf->port[1]);
	info.link_width_enabled = 255;
	info.link_speed_enabled = 15;
	info.link_speed_ext_enabled = 31;
	CU_ASSERT_EQUAL(agent_set_port(bed.leaf, 1, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.link_width_enabled, 3);
	CU_ASSERT_EQUAL(info.link_speed_enabled, 7);
	CU_ASSERT_EQUAL(info.link_speed_ext_enabled, 3);
	/* An agent that does not know extended speeds does not change them, and some devices do not
	 * show them to it. */
	info.port_state = info.port_physical_state = 0;
	info.link_speed_ext_enabled = 1;
	CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_SET, ATTR_PORT_INFO, 1, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.link_speed_ext_enabled, 3);
	bed.leaf->quirks.hides_extended_speeds = true;
	CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_GET, ATTR_PORT_INFO, 1, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.link_speed_ext_enabled, 0);
	CU_ASSERT_EQUAL(info.link_speed_ext_supported, 0);
	CU_ASSERT_EQUAL(info.link_speed_ext_active, 0);
	agent_get_port(bed.leaf, 1, &info);
	CU_ASSERT_EQUAL(info.link_speed_ext_enabled, 3);
	CU_ASSERT_EQUAL(info.link_speed_ext_active, 2);
	/* A base port 0 has no link, and its capabilities are those of the switch. */
	agent_get_port(bed.leaf, 0, &info);
	CU_ASSERT(info.capability_mask & CAP_EXTENDED_SPEEDS);
	agent_get_port(bed.leaf, 1, &info);
	CU_ASSERT_EQUAL(info.capability_mask, 0);
	agent_bed_close(&bed);
}

/* The ports of an adapter are shown by each other, but not set. */
static void test_other_port(void)
{
	struct bed bed;
	struct port_info info;

	agent_bed_open(&bed);
	info = agent_unchanged(&bed.host->port[2]);
	info.m_key = 5;
	CU_ASSERT_EQUAL(agent_ask(bed.host, 1, METHOD_SET, ATTR_PORT_INFO, 2, &info),
			STATUS_INVALID_VALUE);
	CU_ASSERT_EQUAL(bed.host->port[2].info.m_key, 0);
	info = agent_unchanged(&bed.host->port[2]);
	info.m_key = 5;
	CU_ASSERT_EQUAL(agent_ask(bed.host, 2, METHOD_SET, ATTR_PORT_INFO, 0, &info), STATUS_OK);
	CU_ASSERT_EQUAL(agent_ask(bed.host, 1, METHOD_GET, ATTR_PORT_INFO, 2, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.m_key, 5);
	CU_ASSERT_EQUAL(info.local_port_num, 1);
	agent_bed_close(&bed);
}

static void test_violations(void)
{
	struct bed bed;
	struct port_info info;

	agent_bed_open(&bed);
	bed.host->port[1].info.m_key_violations = 5;
	bed.host->port[1].info.q_key_violations = 6;
	info = agent_unchanged(&bed.host->port[1]);
	info.m_key_violations = 9;
	info.q_key_violations = 0;
	CU_ASSERT_EQUAL(agent_set_port(bed.host, 1, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.m_key_violations, 5);
	CU_ASSERT_EQUAL(info.q_key_violations, 0);
	agent_bed_close(&bed);
}

static void test_reregister(void)
{
	struct bed bed;
	struct port_info info;

	agent_bed_open(&bed);
	info = agent_unchanged(&bed.host->port[1]);
	info.client_reregister = 1;
	CU_ASSERT_EQUAL(agent_set_port(bed.host, 1, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.client_reregister, 1);
	agent_get_port(bed.host, 1, &info);
	CU_ASSERT_EQUAL(info.client_reregister, 0);
	CU_ASSERT_EQUAL(bed.host->port[1].reregistrations, 1);
	info = agent_unchanged(&bed.leaf->port[1]);
	info.client_reregister = 1;
	CU_ASSERT_EQUAL(agent_set_port(bed.leaf, 1, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.client_reregister, 0);
	agent_bed_close(&bed);
}

/* SwitchInfo and tables */

static void test_switch_info(void)
{
	static const struct {
		struct switch_info info;
		int status;
	} cases[] = {
		{{.linear_fdb_top = 999}, STATUS_OK},
		{{.linear_fdb_top = 1000}, STATUS_INVALID_VALUE},
		{{.multicast_fdb_top = 0xBFFF}, STATUS_OK},
		{{.multicast_fdb_top = 0xC000 + 99}, STATUS_OK},
		{{.multicast_fdb_top = 0xC000 + 100}, STATUS_INVALID_VALUE},
		{{.multicast_fdb_top = 5}, STATUS_INVALID_VALUE},
		{{.default_port = 20, .life_time_value = 31}, STATUS_OK},
		{{.default_port = 21}, STATUS_INVALID_VALUE},
		{{.default_port = 255}, STATUS_OK},
		{{.default_multicast_primary_port = 21}, STATUS_INVALID_VALUE},
		{{.default_multicast_not_primary_port = 21}, STATUS_INVALID_VALUE},
		{{.linear_fdb_cap = 7, .lids_per_port = 9, .enhanced_port0 = 1}, STATUS_OK},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct switch_info info = cases[i].info, held;
		struct bed bed;

		agent_bed_open(&bed);
		held = bed.leaf->sw;
		CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_SET, ATTR_SWITCH_INFO, 0, &info),
				cases[i].status);
		if (cases[i].status == STATUS_OK) {
			held.linear_fdb_top = cases[i].info.linear_fdb_top;
			held.multicast_fdb_top = cases[i].info.multicast_fdb_top;
			held.default_port = cases[i].info.default_port;
			held.life_time_value = cases[i].info.life_time_value;
			CU_ASSERT(!memcmp(&info, &held, sizeof(held)));
		}
		CU_ASSERT(!memcmp(&bed.leaf->sw, &held, sizeof(held)));
		agent_bed_close(&bed);
	}
}

/* Of those for multicast: no port can be one, but for agents that keep theirs or want a port. */
static void test_default_ports(void)
{
	static const struct {
		struct device_quirks quirks;
		uint8_t asked, held;
		int status;
	} cases[] = {
		{{.silent = false}, 255, 255, STATUS_OK},
		{{.keeps_default_ports = true}, 255, 3, STATUS_OK},
		{{.refuses_no_port = true}, 255, 3, STATUS_INVALID_VALUE},
		{{.refuses_no_port = true}, 3, 3, STATUS_OK},
		{{.refuses_no_port = true}, 4, 4, STATUS_OK},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct switch_info info = {
			.default_multicast_primary_port = cases[i].asked,
			.default_multicast_not_primary_port = cases[i].asked,
		};
		struct bed bed;

		agent_bed_open(&bed);
		bed.leaf->quirks = cases[i].quirks;
		bed.leaf->sw.default_multicast_primary_port = 3;
		bed.leaf->sw.default_multicast_not_primary_port = 3;
		CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_SET, ATTR_SWITCH_INFO, 0, &info),
				cases[i].status);
		CU_ASSERT_EQUAL(bed.leaf->sw.default_multicast_primary_port, cases[i].held);
		CU_ASSERT_EQUAL(bed.leaf->sw.default_multicast_not_primary_port, cases[i].held);
		agent_bed_close(&bed);
	}
}

static void test_lft(void)
{
	struct linear_forwarding_table table;
	struct bed bed;

	agent_bed_open(&bed);
	memset(&table, 3, sizeof(table));
	CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_SET, ATTR_LINEAR_FORWARDING_TABLE, 2, &table),
			STATUS_OK);
	CU_ASSERT_EQUAL(device_lft_port(bed.leaf, 130), LFT_NO_PORT); /* the top is 0 */
	bed.leaf->sw.linear_fdb_top = 190;
	CU_ASSERT_EQUAL(device_lft_port(bed.leaf, 127), LFT_NO_PORT);
	CU_ASSERT_EQUAL(device_lft_port(bed.leaf, 128), 3);
	CU_ASSERT_EQUAL(device_lft_port(bed.leaf, 190), 3);
	CU_ASSERT_EQUAL(device_lft_port(bed.leaf, 191), LFT_NO_PORT);
	for (unsigned block = 0; block < 16; block++) {
		CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_GET, ATTR_LINEAR_FORWARDING_TABLE,
					  block, &table),
				STATUS_OK);
		CU_ASSERT_EQUAL(table.port[63], block == 2 ? 3 : LFT_NO_PORT);
	}
	/* It doubles, but not beyond the capacity. */
	for (unsigned block = 8; block < 16; block += 2)
		agent_ask(bed.leaf, 1, METHOD_SET, ATTR_LINEAR_FORWARDING_TABLE, block, &table);
	CU_ASSERT_EQUAL(bed.leaf->lft_size, 16 * LFT_BLOCK_LIDS);
	/* From the last block down: nothing is lost when the table grows. */
	for (unsigned block = 768; block-- > 0;) {
		memset(&table, block % 4, sizeof(table));
		CU_ASSERT_EQUAL(agent_ask(bed.spine, 1, METHOD_SET, ATTR_LINEAR_FORWARDING_TABLE,
					  block, &table),
				STATUS_OK);
	}
	bed.spine->sw.linear_fdb_top = 0xBFFF;
	for (unsigned lid = 0; lid <= 0xFFFF; lid++)
		CU_ASSERT_EQUAL(device_lft_port(bed.spine, lid),
				lid <= 0xBFFF ? lid / 64 % 4 : LFT_NO_PORT);
	agent_bed_close(&bed);
}

static void test_mft(void)
{
	struct multicast_forwarding_table table = {.port_mask = {[3] = 1 << 4}};
	struct bed bed;

	agent_bed_open(&bed);
	CU_ASSERT(!device_mft_has(bed.leaf, 0xC043, 20));
	CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_SET, ATTR_MULTICAST_FORWARDING_TABLE,
				  1 << 28 | 2, &table),
			STATUS_OK);
	for (unsigned port = 0; port <= LEAF_PORTS + 1; port++)
		CU_ASSERT_EQUAL(device_mft_has(bed.leaf, 0xC043, port), port == 20);
	CU_ASSERT(!device_mft_has(bed.leaf, 0xC044, 20));
	CU_ASSERT(!device_mft_has(bed.leaf, 0xBFFF, 20));
	CU_ASSERT(!device_mft_has(bed.leaf, 0xFFFE, 20));
	bed.leaf->sw.multicast_fdb_top = 0xC042;
	CU_ASSERT(!device_mft_has(bed.leaf, 0xC043, 20));
	agent_bed_close(&bed);
}

static void test_p_keys(void)
{
	struct p_key_table table;
	struct bed bed;

	agent_bed_open(&bed);
	CU_ASSERT_EQUAL(agent_ask(bed.host, 1, METHOD_GET, ATTR_PKEY_TABLE, 0, &table), STATUS_OK);
	CU_ASSERT_EQUAL(table.p_key[0], 0xFFFF);
	CU_ASSERT_EQUAL(table.p_key[1], 0);
	table.p_key[5] = 0x8123;
	CU_ASSERT_EQUAL(agent_ask(bed.host, 1, METHOD_SET, ATTR_PKEY_TABLE, 2, &table), STATUS_OK);
	CU_ASSERT_EQUAL(device_p_key(&bed.host->port[1], 69), 0x8123);
	CU_ASSERT_EQUAL(device_p_key(&bed.host->port[1], 0), 0xFFFF);
	CU_ASSERT_EQUAL(device_p_key(&bed.host->port[1], 128), 0);
	CU_ASSERT_EQUAL(device_p_key(&bed.host->port[2], 69), 0);
	CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_SET, ATTR_PKEY_TABLE, 3 << 16, &table),
			STATUS_OK);
	CU_ASSERT_EQUAL(bed.set_port, 3);
	CU_ASSERT_EQUAL(device_p_key(&bed.leaf->port[3], 5), 0x8123);
	CU_ASSERT_EQUAL(device_p_key(&bed.leaf->port[0], 5), 0);
	agent_bed_close(&bed);
}

static void test_guids(void)
{
	struct guid_info info = {.guid = {1, 2, 3}};
	struct bed bed;

	agent_bed_open(&bed);
	CU_ASSERT_EQUAL(agent_ask(bed.host, 2, METHOD_SET, ATTR_GUID_INFO, 0, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.guid[0], 0x302); /* the port's own cannot be changed */
	CU_ASSERT_EQUAL(info.guid[1], 2);
	CU_ASSERT_EQUAL(device_guid(&bed.host->port[2], 2), 3);
	CU_ASSERT_EQUAL(device_guid(&bed.host->port[1], 2), 0);
	CU_ASSERT_EQUAL(device_guid(&bed.host->port[2], 32), 0);
	/* A base port 0 holds only the first. */
	info = (struct guid_info){.guid = {1, 2, 3}};
	CU_ASSERT_EQUAL(agent_ask(bed.leaf, 2, METHOD_SET, ATTR_GUID_INFO, 0, &info), STATUS_OK);
	CU_ASSERT_EQUAL(info.guid[0], 0x102);
	CU_ASSERT_EQUAL(info.guid[1], 0);
	agent_bed_close(&bed);
}

static void test_sl_to_vl(void)
{
	struct sl_to_vl_table table, wanted = {{0, 1, 2, 3, 3, 2, 1, 0, 15, 15, 5, 5, 5, 5, 5, 6}};
	struct bed bed;

	agent_bed_open(&bed);
	CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_GET, ATTR_SL_TO_VL, 0x0203, &table),
			STATUS_OK);
	for (unsigned sl = 0; sl < 16; sl++)
		CU_ASSERT_EQUAL(table.vl[sl], sl % 8);
	table = wanted;
	CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_SET, ATTR_SL_TO_VL, 0x0203, &table),
			STATUS_OK);
	CU_ASSERT(!memcmp(&table, &wanted, sizeof(table)));
	CU_ASSERT_EQUAL(bed.set_port, 3);
	CU_ASSERT_EQUAL(device_sl_to_vl(bed.leaf, 2, 3, 8), 15);
	CU_ASSERT_EQUAL(device_sl_to_vl(bed.leaf, 2, 3, 15), 6);
	CU_ASSERT_EQUAL(device_sl_to_vl(bed.leaf, 1, 3, 8), 0);
	CU_ASSERT_EQUAL(device_sl_to_vl(bed.leaf, 2, 4, 8), 0);
	/* Of every input, then of every pair. */
	table = wanted;
	CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_SET, ATTR_SL_TO_VL, 0x20004, &table),
			STATUS_OK);
	for (unsigned in = 0; in <= LEAF_PORTS; in++)
		CU_ASSERT_EQUAL(device_sl_to_vl(bed.leaf, in, 4, 8), 15);
	CU_ASSERT_EQUAL(device_sl_to_vl(bed.leaf, 1, 5, 8), 0);
	table = wanted;
	CU_ASSERT_EQUAL(agent_ask(bed.leaf, 1, METHOD_SET, ATTR_SL_TO_VL, 0x30000, &table),
			STATUS_OK);
	for (unsigned out = 1; out <= LEAF_PORTS; out++)
		CU_ASSERT_EQUAL(device_sl_to_vl(bed.leaf, out / 2, out, 9), 15);
	table = wanted;
	CU_ASSERT_EQUAL(agent_ask(bed.host, 2, METHOD_SET, ATTR_SL_TO_VL, 0, &table), STATUS_OK);
	CU_ASSERT_EQUAL(device_sl_to_vl(bed.host, 0, 2, 8), 15);
	CU_ASSERT_EQUAL(device_sl_to_vl(bed.host, 0, 1, 8), 0);
	CU_ASSERT_EQUAL(device_sl_to_vl(bed.host, 0, 3, 8), 0);
	agent_bed_close(&bed);
}

static void test_vl_arbitration(void)
{
	struct vl_arbitration_table table = {.entry = {{1, 10}, {2, 20}, [8] = {3, 30}}};
	struct bed bed;

	agent_bed_open(&bed);
	CU_ASSERT_EQUAL(
		agent_ask(bed.leaf, 1, METHOD_SET, ATTR_VL_ARBITRATION, 3 << 16 | 2, &table),
		STATUS_OK);
	CU_ASSERT_EQUAL(table.entry[1].weight, 20);
	CU_ASSERT_EQUAL(table.entry[8].weight, 0); /* tables of 8 */
	CU_ASSERT_EQUAL(
		agent_ask(bed.leaf, 1, METHOD_GET, ATTR_VL_ARBITRATION, 1 << 16 | 2, &table),
		STATUS_OK);
	CU_ASSERT_EQUAL(table.entry[1].weight, 0);
	table.entry[7].vl = 15;
	CU_ASSERT_EQUAL(
		agent_ask(bed.leaf, 1, METHOD_SET, ATTR_VL_ARBITRATION, 1 << 16 | 2, &table),
		STATUS_INVALID_VALUE);
	agent_bed_close(&bed);
}

/* ExtendedPortInfo: only at devices that OpenSM queries for it. A Set() changes the speed if its
 * mask says so, all or nothing. */
static void test_ext_port_info(void)
{
	static const struct {
		uint16_t device_id;
		uint8_t supported, change, enabled;
		uint32_t attr_mod;
		int status;
		uint8_t held; /* where it is STATUS_OK; before it is 1 */
	} rows[] = {
		{0x1003, 1, 1, 0, 1, STATUS_OK, 0},
		{0x1003, 1, 0, 0, 1, STATUS_OK, 1},
		{0x1003, 1, 1, 1, 0, STATUS_OK, 1},
		{0x1003, 1, 1, 2, 1, STATUS_INVALID_VALUE, 0},
		{0x1003, 1, 1, 0, 7, STATUS_UNSUP_METHOD_ATTR, 0}, /* no such port */
		{0x1002, 1, 1, 0, 1, STATUS_UNSUP_METHOD_ATTR, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ext_port_info info = {.state_change_enable = rows[i].change,
					     .link_speed_enabled = rows[i].enabled};
		struct bed bed;

		agent_bed_open(&bed);
		bed.host->device_id = rows[i].device_id;
		bed.host->port[1].ext.link_speed_supported = rows[i].supported;
		bed.host->port[1].ext.link_speed_enabled = 1;
		CU_ASSERT_EQUAL(agent_ask(bed.host, 1, METHOD_SET, ATTR_MLNX_EXT_PORT_INFO,
					  rows[i].attr_mod, &info),
				rows[i].status);
		if (rows[i].status == STATUS_OK)
			CU_ASSERT_EQUAL(info.link_speed_enabled, rows[i].held);
		CU_ASSERT_EQUAL(bed.host->port[1].ext.link_speed_enabled,
				rows[i].status == STATUS_OK ? rows[i].held : 1);
		agent_bed_close(&bed);
	}
}

static const CU_TestInfo tests[] = {
	{"answers and refusals of each attribute", test_statuses},
	{"versions, classes, methods", test_headers},
	{"NodeInfo and NodeDescription", test_node},
	{"each member of PortInfo at each kind of port", test_port_info_members},
	{"values of PortInfo", test_port_info_values},
	{"enabled and extended speeds", test_enabled},
	{"an adapter's other port", test_other_port},
	{"counters of violations", test_violations},
	{"ExtendedPortInfo", test_ext_port_info},
	{"ClientReregister", test_reregister},
	{"SwitchInfo", test_switch_info},
	{"default multicast ports", test_default_ports},
	{"linear forwarding", test_lft},
	{"multicast forwarding", test_mft},
	{"P_Keys", test_p_keys},
	{"GUIDs", test_guids},
	{"SLtoVL", test_sl_to_vl},
	{"VL arbitration", test_vl_arbitration},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return unit_main("agent", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * ClassPortInfo and the records of nodes, ports and links: their contents, the look-up by LID, and
 * which requester sees which record.
 */
#include "tests/unit/fixtures/sa_client.h"

static void test_class_port_info(void)
{
	struct class_port_info info = {0};

	begin();
	CU_ASSERT_EQUAL(ask(&(struct ask){.method = METHOD_GET, .attr_id = ATTR_CLASS_PORT_INFO}),
			STATUS_OK);
	answered(&class_port_info_format, 0, &info);
	CU_ASSERT_EQUAL(sa.size, MAD_SIZE);
	CU_ASSERT_EQUAL(sa.sa_header.attr_offset, 9);
	CU_ASSERT_EQUAL(info.base_version, 1);
	CU_ASSERT_EQUAL(info.class_version, 2);
	CU_ASSERT_EQUAL(info.resp_time_value, options.subnet_timeout);
	/* The bits of OpenSM's osm_base.h: UD multicast, MultiPath and CapMaskMatch;
	 * MulticastFDBTop, alias GUIDs, full PortInfoRecord, extended speeds, ServiceRecords of
	 * groups, CapMask2Match, SendOnlyFullMember, 2x, HDR and NDR. Nothing else works. */
	CU_ASSERT_EQUAL(info.capability_mask, 0x2600);
	CU_ASSERT_EQUAL(info.capability_mask2, 0x15E0 | 1 << 3 | 1 << 13 | 1 << 15 | 1 << 17);
	end();
}

static void test_nodes(void)
{
	begin();
	for (lid_t lid = 0; lid <= 30; lid++) {
		const struct node_record wanted = {.lid = lid};
		struct node_record record = {0};
		struct endport port;
		bool owned = endport_by_lid(sa.view->topology, lid, &port);

		CU_ASSERT_EQUAL(ask(&(struct ask){.method = METHOD_GET,
						  .attr_id = RECORD_NODE,
						  .mask = COMPONENT(NODE_RECORD_LID),
						  .format = &node_record_format,
						  .record = &wanted}),
				owned ? STATUS_OK : SA_NO_RECORDS);
		if (!owned)
			continue;
		answered(&node_record_format, 0, &record);
		CU_ASSERT_EQUAL(record.lid, port.lid);
		CU_ASSERT_EQUAL(record.info.node_guid,
				lid <= 2 ? SWITCH_GUID(lid - 1u) : port.guid - 1);
		CU_ASSERT_EQUAL(record.info.port_guid, port.guid);
		CU_ASSERT_EQUAL(record.info.local_port_num, lid <= 2 ? 0 : 1);
		CU_ASSERT_EQUAL(
			strcmp((const char *)record.description.text, port.facts->description), 0);
	}
	end();
}

/* By PortGUID, alone and with a LID. */
static const struct {
	lid_t lid; /* 0: not asked for */
	guid_t guid;
	lid_t found;
} port_guids[] = {
	{0, PORT_GUID(C), 24},	 {25, PORT_GUID(C), 24}, {16, PORT_GUID(C), 0},
	{0, SWITCH_GUID(S2), 2}, {0, HOST_GUID(A), 0},	 {0, 0, 0},
};

static void test_nodes_by_guid(void)
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(port_guids); i++) {
		const struct node_record wanted = {.lid = port_guids[i].lid,
						   .info.port_guid = port_guids[i].guid};
		struct node_record record = {0};
		int count;

		count = table(RECORD_NODE, &node_record_format,
			      COMPONENT(NODE_RECORD_PORT_GUID) |
				      (wanted.lid ? COMPONENT(NODE_RECORD_LID) : 0),
			      &wanted);
		CU_ASSERT_EQUAL(count, port_guids[i].found ? 1 : 0);
		if (count)
			answered(&node_record_format, 0, &record);
		CU_ASSERT_EQUAL(record.lid, port_guids[i].found);
	}
	end();
}

static void test_m_key(void)
{
	const struct port_info_record wanted = {.endport_lid = 16,
						.info = {.m_key = HOST_M_KEY(A)}};
	const struct ask by_lid = {.method = METHOD_GET,
				   .attr_id = RECORD_PORT_INFO,
				   .mask = COMPONENT(PORT_INFO_RECORD_LID),
				   .format = &port_info_record_format,
				   .record = &wanted};
	struct ask guess = by_lid, trusted = by_lid;
	struct port_info_record record = {0};
	struct sa_options known = options;

	begin();
	CU_ASSERT_EQUAL(ask(&by_lid), STATUS_OK);
	answered(&port_info_record_format, 0, &record);
	CU_ASSERT_EQUAL(record.endport_lid, 16);
	CU_ASSERT_EQUAL(record.port_num, 1);
	CU_ASSERT_EQUAL(record.info.m_key, 0);
	CU_ASSERT_EQUAL(record.info.capability_mask, CAP_IS_TRAP);
	CU_ASSERT_EQUAL(record.info.link_speed_ext_active, 2);
	/* Even a correct guess of an M_Key finds nothing. */
	guess.mask |= COMPONENT(3);
	CU_ASSERT_EQUAL(ask(&guess), SA_NO_RECORDS);
	trusted.sm_key = SA_KEY;
	CU_ASSERT_EQUAL(ask(&trusted), STATUS_OK);
	answered(&port_info_record_format, 0, &record);
	CU_ASSERT_EQUAL(record.info.m_key, HOST_M_KEY(A));
	CU_ASSERT_EQUAL(sa.sa_header.sm_key, 0);
	/* The default key is public. */
	known.sa_key = SA_KEY_DEFAULT;
	sa_set_options(sa.server, &known);
	trusted.sm_key = SA_KEY_DEFAULT;
	CU_ASSERT_EQUAL(ask(&trusted), STATUS_OK);
	answered(&port_info_record_format, 0, &record);
	CU_ASSERT_EQUAL(record.info.m_key, 0);
	guess.sm_key = SA_KEY_DEFAULT;
	CU_ASSERT_EQUAL(ask(&guess), SA_NO_RECORDS);
	end();
}

/* Records in a table by capabilities: D has IsSM and IsTrap, the other hosts IsTrap, A has 3 in
 * CapabilityMask2, the other hosts 1; switches have nothing. */
static const struct {
	bool bitwise;
	unsigned component;
	uint32_t value;
	int found;
} capabilities[] = {
	{true, PORT_INFO_RECORD_CAPABILITY_MASK, CAP_IS_TRAP, 4},
	{true, PORT_INFO_RECORD_CAPABILITY_MASK, CAP_IS_SM, 1},
	{true, PORT_INFO_RECORD_CAPABILITY_MASK, CAP_IS_SM | CAP_IS_TRAP, 1},
	{true, PORT_INFO_RECORD_CAPABILITY_MASK, CAP_IS_SM | CAP_IS_NOTICE, 0},
	{true, PORT_INFO_RECORD_CAPABILITY_MASK, 0, 14},
	{false, PORT_INFO_RECORD_CAPABILITY_MASK, CAP_IS_TRAP, 3},
	{false, PORT_INFO_RECORD_CAPABILITY_MASK, CAP_IS_SM, 0},
	{true, PORT_INFO_RECORD_CAPABILITY_MASK2, 1, 4},
	{true, PORT_INFO_RECORD_CAPABILITY_MASK2, 2, 1},
	{false, PORT_INFO_RECORD_CAPABILITY_MASK2, 1, 3},
	{false, PORT_INFO_RECORD_CAPABILITY_MASK2, 2, 0},
};

static void test_capabilities(void)
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(capabilities); i++) {
		struct port_info_record wanted = {0};

		if (capabilities[i].component == PORT_INFO_RECORD_CAPABILITY_MASK)
			wanted.info.capability_mask = capabilities[i].value;
		else
			wanted.info.capability_mask2 = (uint16_t)capabilities[i].value;
		CU_ASSERT_EQUAL(ask(&(struct ask){
					.method = METHOD_GET_TABLE,
					.attr_id = RECORD_PORT_INFO,
					.attr_mod = capabilities[i].bitwise ? 1u << 31 : 0,
					.mask = COMPONENT(capabilities[i].component),
					.format = &port_info_record_format,
					.record = &wanted,
				}),
				STATUS_OK);
		CU_ASSERT_EQUAL((int)(sa.size - SUBN_ADM_HEADER_SIZE) / 72, capabilities[i].found);
	}
	end();
}

static void test_port_infos(void)
{
	struct port_info_record wanted = {.endport_lid = SWITCH_LID, .port_num = 3}, record;

	begin();
	CU_ASSERT_EQUAL(table(RECORD_PORT_INFO, &port_info_record_format,
			      COMPONENT(PORT_INFO_RECORD_LID), &wanted),
			SWITCH_PORTS + 1);
	for (unsigned i = 0; i <= SWITCH_PORTS; i++) {
		answered(&port_info_record_format, i, &record);
		CU_ASSERT_EQUAL(record.endport_lid, SWITCH_LID);
		CU_ASSERT_EQUAL(record.port_num, i);
	}
	CU_ASSERT_EQUAL(
		table(RECORD_PORT_INFO, &port_info_record_format,
		      COMPONENT(PORT_INFO_RECORD_LID) | COMPONENT(PORT_INFO_RECORD_PORT_NUM),
		      &wanted),
		1);
	answered(&port_info_record_format, 0, &record);
	CU_ASSERT_EQUAL(record.info.neighbor_mtu, MTU_2048);
	/* The requester's options are not compared. */
	wanted.options = 0x80;
	CU_ASSERT_EQUAL(table(RECORD_PORT_INFO, &port_info_record_format,
			      COMPONENT(PORT_INFO_RECORD_LID) | COMPONENT(PORT_INFO_RECORD_OPTIONS),
			      &wanted),
			SWITCH_PORTS + 1);
	/* A port that was not read has no record. */
	sa.view->topology->switches[S1].facts->port[2].known = false;
	CU_ASSERT_EQUAL(table(RECORD_PORT_INFO, &port_info_record_format,
			      COMPONENT(PORT_INFO_RECORD_LID), &wanted),
			SWITCH_PORTS);
	end();
}

static void test_sms(void)
{
	struct sm_info_record wanted = {.lid = 19}, record = {0};

	begin();
	CU_ASSERT_EQUAL(table(RECORD_SM_INFO, &sm_info_record_format, 0, NULL), 2);
	answered(&sm_info_record_format, 0, &record);
	CU_ASSERT_EQUAL(record.lid, 28);
	CU_ASSERT_EQUAL(record.info.guid, PORT_GUID(D));
	CU_ASSERT_EQUAL(record.info.sm_key, 0);
	CU_ASSERT_EQUAL(record.info.act_count, 9);
	CU_ASSERT_EQUAL(record.info.priority, 5);
	CU_ASSERT_EQUAL(record.info.state, SM_MASTER);
	CU_ASSERT_EQUAL(table(RECORD_SM_INFO, &sm_info_record_format, COMPONENT(SM_INFO_RECORD_LID),
			      &wanted),
			1);
	answered(&sm_info_record_format, 0, &record);
	CU_ASSERT_EQUAL(record.lid, 16); /* the base LID of the port that has 19 */
	wanted.lid = 20;
	CU_ASSERT_EQUAL(table(RECORD_SM_INFO, &sm_info_record_format, COMPONENT(SM_INFO_RECORD_LID),
			      &wanted),
			0);
	end();
}

/* Cables by their ends; 0: not asked for. */
static const struct {
	lid_t from;
	uint8_t from_port, to_port;
	lid_t to;
	int found;
} cables[] = {
	{1, 0, 0, 0, 4},  {0, 0, 0, 1, 4},  {1, 0, 0, 2, 2},   {2, 0, 0, 1, 2},	 {1, 3, 0, 2, 1},
	{1, 0, 4, 2, 1},  {1, 3, 4, 2, 0},  {16, 0, 0, 0, 1},  {19, 0, 0, 0, 1}, {0, 0, 0, 19, 1},
	{16, 1, 1, 1, 1}, {16, 2, 0, 0, 0}, {16, 0, 0, 20, 0}, {15, 0, 0, 0, 0}, {0, 0, 0, 15, 0},
	{1, 0, 0, 15, 0}, {0, 1, 0, 0, 6},  {0, 0, 3, 0, 2},
};

static void test_links(void)
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(cables); i++) {
		const struct link_record wanted = {cables[i].from, cables[i].from_port,
						   cables[i].to_port, cables[i].to};
		uint64_t mask = (wanted.from_lid ? 1 : 0) | (wanted.from_port ? 2 : 0) |
				(wanted.to_port ? 4 : 0) | (wanted.to_lid ? 8 : 0);

		CU_ASSERT_EQUAL(table(RECORD_LINK, &link_record_format, mask, &wanted),
				cables[i].found);
	}
	end();
}

/* Each cable has two records, one from each side. */
static void test_link_directions(void)
{
	struct link_record link = {0}, back = {0};
	int count;

	begin();
	count = table(RECORD_LINK, &link_record_format, 0, NULL);
	for (int i = 0; i < count; i++) {
		int found = 0;

		answered(&link_record_format, (unsigned)i, &link);
		for (int j = 0; j < count; j++) {
			answered(&link_record_format, (unsigned)j, &back);
			found += back.from_lid == link.to_lid && back.from_port == link.to_port &&
				 back.to_lid == link.from_lid && back.to_port == link.from_port;
		}
		CU_ASSERT_EQUAL(found, 1);
	}
	end();
}

static void set_keys(unsigned host, pkey_t first, pkey_t second)
{
	struct port_facts *port = &sa.view->topology->ends[host].facts->port[1];

	pkey_list_unref(port->pkeys);
	port->pkeys = two_switches_keys((const pkey_t[]){first, second});
}

/* A port that shares no partition with any other sees only itself. */
static void test_strangers(void)
{
	begin();
	set_keys(A, 0x8005, 0);
	CU_ASSERT_EQUAL(table(RECORD_NODE, &node_record_format, 0, NULL), 1);
	CU_ASSERT_EQUAL(table(RECORD_PORT_INFO, &port_info_record_format, 0, NULL), 1);
	CU_ASSERT_EQUAL(table(RECORD_SM_INFO, &sm_info_record_format, 0, NULL), 1);
	CU_ASSERT_EQUAL(table(RECORD_LINK, &link_record_format, 0, NULL), 0);
	CU_ASSERT_EQUAL(table(RECORD_PATH, &path_record_format, 0, NULL), 4); /* to itself */
	/* To be trusted does not help. */
	CU_ASSERT_EQUAL(ask(&(struct ask){.method = METHOD_GET_TABLE,
					  .attr_id = RECORD_NODE,
					  .sm_key = SA_KEY}),
			STATUS_OK);
	CU_ASSERT_EQUAL(sa.size, SUBN_ADM_HEADER_SIZE + 112);
	end();
}

/* Limited members do not see each other: B and C, both limited, and the other ports. */
static void test_limited_members(void)
{
	const struct path_record b_to_c = {.slid = 20, .dlid = 24};
	const uint64_t ends = COMPONENT(PATH_SLID) | COMPONENT(PATH_DLID);

	begin();
	set_keys(B, 0x7FFF, 0);
	set_keys(C, 0x7FFF, 0);
	CU_ASSERT_EQUAL(table(RECORD_NODE, &node_record_format, 0, NULL), 6); /* A is full */
	CU_ASSERT_EQUAL(
		ask(&(struct ask){.method = METHOD_GET_TABLE, .attr_id = RECORD_NODE, .from = 20}),
		STATUS_OK);
	CU_ASSERT_EQUAL((sa.size - SUBN_ADM_HEADER_SIZE) / 112, 5);
	/* A may see both, but there is no path between them. */
	CU_ASSERT_EQUAL(ask_path(METHOD_GET, ends, &b_to_c), SA_NO_RECORDS);
	end();
}

/* B and C share partition 1. A is not a member, so no kind of query shows A the path. */
static void test_paths_of_others(void)
{
	const struct path_record wanted[] = {{.slid = 20, .dlid = 24}, {.slid = 24, .dlid = 20}};
	const struct ask path = {.attr_id = RECORD_PATH,
				 .method = METHOD_GET,
				 .mask = COMPONENT(PATH_SLID) | COMPONENT(PATH_DLID),
				 .format = &path_record_format};

	begin();
	set_keys(C, 0x0001, 0);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct ask asked = path;

		asked.record = &wanted[i];
		CU_ASSERT_EQUAL(ask(&asked), SA_NO_RECORDS);
		asked.from = 20;
		CU_ASSERT_EQUAL(ask(&asked), STATUS_OK);
	}
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"ClassPortInfo", test_class_port_info},
		{"NodeRecord by LID", test_nodes},
		{"NodeRecord by PortGUID", test_nodes_by_guid},
		{"PortInfoRecord: M_Keys", test_m_key},
		{"PortInfoRecord: capabilities", test_capabilities},
		{"PortInfoRecord of switches", test_port_infos},
		{"SMInfoRecord", test_sms},
		{"LinkRecord by ends", test_links},
		{"LinkRecord from both sides", test_link_directions},
		{"partitions: strangers", test_strangers},
		{"partitions: limited members", test_limited_members},
		{"partitions: paths of others", test_paths_of_others},
		CU_TEST_INFO_NULL,
	};

	return unit_main("inventory", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The records that hold a table: their contents on the fabric of two_switches.h, which of several
 * blocks and ports a request means, and which requester may read P_Keys.
 */
#include "fabric/mft.h"
#include "tests/unit/fixtures/sa_client.h"

static void test_switch_infos(void)
{
	struct switch_info_record wanted = {.lid = SWITCH_LID + 1}, record = {0};

	begin();
	CU_ASSERT_EQUAL(table(RECORD_SWITCH_INFO, &switch_info_record_format,
			      COMPONENT(TABLE_RECORD_LID), &wanted),
			1);
	answered(&switch_info_record_format, 0, &record);
	CU_ASSERT_EQUAL(record.lid, SWITCH_LID + 1);
	CU_ASSERT_EQUAL(record.info.linear_fdb_cap, 2048);
	wanted.lid = 16; /* a host has none */
	CU_ASSERT_EQUAL(table(RECORD_SWITCH_INFO, &switch_info_record_format,
			      COMPONENT(TABLE_RECORD_LID), &wanted),
			0);
	end();
}

/* Blocks of S1's table, which ends with LID 28. */
static void test_lfts(void)
{
	struct lft_record wanted = {.lid = SWITCH_LID}, record = {0};
	const uint64_t mask = COMPONENT(TABLE_RECORD_LID) | COMPONENT(LFT_RECORD_BLOCK_NUM);

	begin();
	CU_ASSERT_EQUAL(table(RECORD_LFT, &lft_record_format, mask, &wanted), 1);
	answered(&lft_record_format, 0, &record);
	CU_ASSERT_EQUAL(record.lid, SWITCH_LID);
	CU_ASSERT_EQUAL(record.block_num, 0);
	for (unsigned lid = 0; lid < LFT_BLOCK_LIDS; lid++)
		CU_ASSERT_EQUAL(record.table.port[lid],
				lft_port(sa.view->routes->lft[S1], (lid_t)lid));
	for (unsigned block = 1; block <= UINT16_MAX; block += block < 1024 ? 1 : 1021) {
		wanted.block_num = (uint16_t)block;
		CU_ASSERT_EQUAL(table(RECORD_LFT, &lft_record_format, mask, &wanted), 0);
	}
	wanted.lid = 28;
	wanted.block_num = 0;
	CU_ASSERT_EQUAL(table(RECORD_LFT, &lft_record_format, mask, &wanted), 0);
	CU_ASSERT_EQUAL(
		table(RECORD_LFT, &lft_record_format, COMPONENT(LFT_RECORD_BLOCK_NUM), &wanted),
		SWITCHES);
	/* Without routes there is nothing that a switch would be known to hold. */
	routes_unref(sa.view->routes);
	sa.view->routes = NULL;
	CU_ASSERT_EQUAL(table(RECORD_LFT, &lft_record_format, 0, NULL), 0);
	end();
}

static const struct mft *mft_of_s2(const void *ctx, guid_t guid)
{
	return guid == SWITCH_GUID(S2) ? ctx : NULL;
}

static int mfts(uint64_t mask, lid_t lid, unsigned block, unsigned position)
{
	const struct mft_record wanted = {
		.lid = lid, .block_num = (uint16_t)block, .position = (uint8_t)position};

	return table(RECORD_MFT, &mft_record_format, mask, &wanted);
}

/* S2 has three positions; its second block is in use, of the third nothing is known. */
static void test_mfts(void)
{
	enum {
		LID_BIT = COMPONENT(TABLE_RECORD_LID),
		BLOCK = COMPONENT(MFT_RECORD_BLOCK_NUM),
		POSITION = COMPONENT(MFT_RECORD_POSITION)
	};
	const uint16_t none[MFT_BLOCK_LIDS] = {0}, some[MFT_BLOCK_LIDS] = {[7] = 0x8421};
	struct mft *mft = mft_new(36, 128);
	struct mft_record record = {0};

	begin();
	CU_ASSERT_EQUAL(mfts(0, 0, 0, 0), 0); /* no source of MFTs is set */
	sa_set_mft(sa.server, mft_of_s2, mft);
	CU_ASSERT_EQUAL(mfts(0, 0, 0, 0), 0); /* nothing is held */
	mft_learn(mft, 0, none);
	mft_learn(mft, 1, none);
	mft_learn(mft, 2, none);
	mft_learn(mft, 3, none);
	mft_learn(mft, 4, some);
	CU_ASSERT_EQUAL(mfts(0, 0, 0, 0), 5);
	CU_ASSERT_EQUAL(mfts(LID_BIT, SWITCH_LID, 0, 0), 0); /* S1 */
	CU_ASSERT_EQUAL(mfts(LID_BIT, 16, 0, 0), 0);	     /* a host */
	CU_ASSERT_EQUAL(mfts(BLOCK, 0, 0, 0), 3);
	CU_ASSERT_EQUAL(mfts(BLOCK, 0, 1, 0), 2);
	CU_ASSERT_EQUAL(mfts(BLOCK, 0, 2, 0), 0);
	CU_ASSERT_EQUAL(mfts(BLOCK, 0, 511, 0), 0);
	CU_ASSERT_EQUAL(mfts(POSITION, 0, 0, 1), 2);
	CU_ASSERT_EQUAL(mfts(POSITION, 0, 0, 15), 0);
	CU_ASSERT_EQUAL(mfts(BLOCK | POSITION, 0, 1, 1), 1);
	answered(&mft_record_format, 0, &record);
	CU_ASSERT_EQUAL(record.lid, sa.view->topology->switches[S2].lid);
	CU_ASSERT_EQUAL(record.block_num, 1);
	CU_ASSERT_EQUAL(record.position, 1);
	CU_ASSERT_EQUAL(memcmp(record.table.port_mask, some, sizeof(some)), 0);
	/* While a Set() is under way: the entries that stay. Empty blocks at the end are left out.
	 */
	mft_learn(mft, 0, some);
	mft_send(mft, 4, none);
	CU_ASSERT_EQUAL(mfts(BLOCK | POSITION, 0, 0, 0), 1);
	CU_ASSERT_EQUAL(mfts(BLOCK | POSITION, 0, 1, 1), 0);
	end();
	mft_free(mft);
}

static void test_guid_infos(void)
{
	struct guid_info_record wanted = {.lid = 19}, record = {0};

	begin();
	CU_ASSERT_EQUAL(table(RECORD_GUID_INFO, &guid_info_record_format,
			      COMPONENT(TABLE_RECORD_LID), &wanted),
			2);
	answered(&guid_info_record_format, 0, &record);
	CU_ASSERT_EQUAL(record.lid, 16);
	CU_ASSERT_EQUAL(record.block_num, 0);
	CU_ASSERT_EQUAL(record.info.guid[0], PORT_GUID(A)); /* not the stored value */
	CU_ASSERT_EQUAL(record.info.guid[1], ALIAS_GUID);
	CU_ASSERT_EQUAL(record.info.guid[2], 0);
	answered(&guid_info_record_format, 1, &record);
	CU_ASSERT_EQUAL(record.block_num, 1);
	CU_ASSERT_EQUAL(record.info.guid[0], 0);
	/* Not read: number 0 is known all the same. GUIDCap says how many blocks there are. */
	sa.view->topology->ends[C].facts->port[1].info.guid_cap = 9;
	wanted.lid = 24;
	CU_ASSERT_EQUAL(table(RECORD_GUID_INFO, &guid_info_record_format,
			      COMPONENT(TABLE_RECORD_LID), &wanted),
			2);
	answered(&guid_info_record_format, 0, &record);
	CU_ASSERT_EQUAL(record.info.guid[0], PORT_GUID(C));
	CU_ASSERT_EQUAL(record.info.guid[1], 0);
	sa.view->topology->ends[C].facts->port[1].info.guid_cap = 255;
	CU_ASSERT_EQUAL(table(RECORD_GUID_INFO, &guid_info_record_format,
			      COMPONENT(TABLE_RECORD_LID), &wanted),
			32);
	end();
}

static int p_keys(uint64_t sm_key, lid_t from, lid_t lid)
{
	const struct p_key_table_record wanted = {.lid = lid};
	int status = ask(&(struct ask){.method = METHOD_GET_TABLE,
				       .attr_id = RECORD_PKEY_TABLE,
				       .from = from,
				       .sm_key = sm_key,
				       .mask = COMPONENT(TABLE_RECORD_LID),
				       .format = &p_key_table_record_format,
				       .record = &wanted});

	return status ? -status : (int)(sa.size - SUBN_ADM_HEADER_SIZE) / 72;
}

static void test_p_keys(void)
{
	struct p_key_table_record record = {0};

	begin();
	CU_ASSERT_EQUAL(p_keys(SA_KEY, 16, 20), 1);
	answered(&p_key_table_record_format, 0, &record);
	CU_ASSERT_EQUAL(record.lid, 20);
	CU_ASSERT_EQUAL(record.port_num, 1);
	CU_ASSERT_EQUAL(record.block_num, 0);
	CU_ASSERT_EQUAL(record.table.p_key[0], 0);
	CU_ASSERT_EQUAL(record.table.p_key[1], 0x7FFF);
	CU_ASSERT_EQUAL(record.table.p_key[PKEY_BLOCK_KEYS - 1], 0x8001);
	pkey_list_unref(sa.view->topology->ends[D].facts->port[1].pkeys);
	sa.view->topology->ends[D].facts->port[1].pkeys = NULL;
	CU_ASSERT_EQUAL(p_keys(SA_KEY, 16, 28), 0); /* never read */
	/* Without the SA_Key no port sees a P_Key table, not even its own. */
	CU_ASSERT_EQUAL(p_keys(0, 16, 20), -SA_REQ_INVALID);
	CU_ASSERT_EQUAL(p_keys(0, 20, 20), -SA_REQ_INVALID);
	/* All blocks of a longer table. */
	sa.view->topology->ends[D].facts->port[1].pkeys = pkey_list_new(100);
	sa.view->topology->ends[D].facts->port[1].pkeys->key[0] = PKEY_DEFAULT_FULL;
	sa.view->topology->ends[D].facts->port[1].pkeys->key[100] = 0x8123;
	view_publish(&sa.view, view_new(2, snapshot_ref(sa.view->topology),
					routes_ref(sa.view->routes), NULL, 0));
	CU_ASSERT_EQUAL(p_keys(SA_KEY, 16, 28), 4);
	answered(&p_key_table_record_format, 3, &record);
	CU_ASSERT_EQUAL(record.block_num, 3);
	CU_ASSERT_EQUAL(record.table.p_key[4], 0x8123);
	end();
}

/* Mappings of SL 0 by the requested ports; 0xFF: no port is given. */
static const struct {
	lid_t lid;
	uint8_t in, out;
	int found;
	uint8_t first_vl;
} mappings[] = {
	{16, 0xFF, 0xFF, 1, 1}, {16, 0, 1, 1, 1},   {16, 1, 1, 1, 1},	   {1, 0xFF, 1, 5, 1},
	{1, 4, 1, 1, 1},	{1, 4, 3, 1, 5},    {1, 0, 3, 1, 1},	   {1, 5, 3, 0, 0},
	{1, 0xFF, 2, 0, 0},	{1, 2, 0xFF, 2, 1}, {2, 0xFF, 0xFF, 0, 0},
};

static void test_sl_to_vl(void)
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(mappings); i++) {
		const struct sl_to_vl_record wanted = {
			mappings[i].lid, mappings[i].in, mappings[i].out, {{0}}};
		struct sl_to_vl_record record = {0};
		uint64_t mask = 1u | (wanted.input_port_num != 0xFF ? 2u : 0) |
				(wanted.output_port_num != 0xFF ? 4u : 0);

		CU_ASSERT_EQUAL(table(RECORD_SL_TO_VL, &sl_to_vl_record_format, mask, &wanted),
				mappings[i].found);
		if (!mappings[i].found)
			continue;
		answered(&sl_to_vl_record_format, 0, &record);
		CU_ASSERT_EQUAL(record.table.vl[0], mappings[i].first_vl);
	}
	end();
}

static void test_vl_arbitration(void)
{
	struct vl_arbitration_record wanted = {.lid = 16}, record = {0};

	begin();
	CU_ASSERT_EQUAL(table(RECORD_VL_ARBITRATION, &vl_arbitration_record_format, 1, &wanted), 2);
	answered(&vl_arbitration_record_format, 1, &record);
	CU_ASSERT_EQUAL(record.lid, 16);
	CU_ASSERT_EQUAL(record.output_port_num, 1);
	CU_ASSERT_EQUAL(record.block_num, 3);
	CU_ASSERT_EQUAL(record.table.entry[0].weight, 3);
	wanted.block_num = 2; /* not read */
	CU_ASSERT_EQUAL(table(RECORD_VL_ARBITRATION, &vl_arbitration_record_format, 1 | 4, &wanted),
			0);
	wanted.output_port_num = 0; /* an adapter's number counts as little as another */
	wanted.block_num = 3;
	CU_ASSERT_EQUAL(table(RECORD_VL_ARBITRATION, &vl_arbitration_record_format, 7, &wanted), 1);
	wanted.lid = SWITCH_LID;
	CU_ASSERT_EQUAL(table(RECORD_VL_ARBITRATION, &vl_arbitration_record_format, 7, &wanted), 0);
	wanted.block_num = 2;
	CU_ASSERT_EQUAL(table(RECORD_VL_ARBITRATION, &vl_arbitration_record_format, 4, &wanted), 1);
	answered(&vl_arbitration_record_format, 0, &record);
	CU_ASSERT_EQUAL(record.lid, SWITCH_LID);
	CU_ASSERT_EQUAL(record.output_port_num, 3);
	end();
}

/* A port does not see the tables of ports with which it shares no partition. */
static void test_strangers(void)
{
	static const struct {
		uint16_t attr_id;
		const struct format *format;
		int own; /* records of A itself */
	} kinds[] = {
		{RECORD_SL_TO_VL, &sl_to_vl_record_format, 1},
		{RECORD_SWITCH_INFO, &switch_info_record_format, 0},
		{RECORD_LFT, &lft_record_format, 0},
		{RECORD_GUID_INFO, &guid_info_record_format, 2},
		{RECORD_PKEY_TABLE, &p_key_table_record_format, 1},
		{RECORD_VL_ARBITRATION, &vl_arbitration_record_format, 2},
	};

	begin();
	pkey_list_unref(sa.view->topology->ends[A].facts->port[1].pkeys);
	sa.view->topology->ends[A].facts->port[1].pkeys = two_switches_keys((pkey_t[]){0x8005, 0});
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		CU_ASSERT_EQUAL(trusted_table(SA_KEY, kinds[i].attr_id, kinds[i].format, 0, NULL),
				kinds[i].own);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"SwitchInfoRecord", test_switch_infos},
		{"LinearForwardingTableRecord", test_lfts},
		{"MulticastForwardingTableRecord", test_mfts},
		{"GUIDInfoRecord", test_guid_infos},
		{"P_KeyTableRecord", test_p_keys},
		{"SLtoVLMappingTableRecord", test_sl_to_vl},
		{"VLArbitrationTableRecord", test_vl_arbitration},
		{"partitions: strangers", test_strangers},
		CU_TEST_INFO_NULL,
	};

	return unit_main("record_tables", tests);
}

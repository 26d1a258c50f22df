/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Malformed requests, generated from the dispatch table and the tables of fields. Each component of
 * each record gets invalid values. Each method is sent with each attribute, MADs are truncated, and
 * every LID is a requester. Each request gets one answer with a possible status, or is dropped and
 * counted. Sanitizers find memory errors.
 */
#include "tests/unit/fixtures/sa_client.h"

static const struct {
	uint16_t attr_id;
	const struct format *format;
} records[] = {
	{ATTR_CLASS_PORT_INFO, &class_port_info_format},
	{RECORD_NODE, &node_record_format},
	{RECORD_PORT_INFO, &port_info_record_format},
	{RECORD_SL_TO_VL, &sl_to_vl_record_format},
	{RECORD_SWITCH_INFO, &switch_info_record_format},
	{RECORD_LFT, &lft_record_format},
	{RECORD_MFT, &mft_record_format},
	{RECORD_SM_INFO, &sm_info_record_format},
	{RECORD_LINK, &link_record_format},
	{RECORD_GUID_INFO, &guid_info_record_format},
	{RECORD_PKEY_TABLE, &p_key_table_record_format},
	{RECORD_PATH, &path_record_format},
	{RECORD_VL_ARBITRATION, &vl_arbitration_record_format},
	{RECORD_MC_MEMBER, &mc_member_record_format},
	{RECORD_SERVICE, &service_record_format},
	{ATTR_INFORM_INFO, &inform_info_format},
	{RECORD_INFORM_INFO, &inform_info_record_format},
	{RECORD_MULTI_PATH, &multi_path_record_format},
};

static const uint8_t methods[] = {METHOD_GET, METHOD_GET_TABLE, METHOD_GET_MULTI, METHOD_SET,
				  METHOD_DELETE};

/* No row of the dispatch table is without a record here. */
static void test_complete(void)
{
	const struct sa_count *counts;
	size_t num_counts;

	begin();
	num_counts = sa_counts(sa.server, &counts);
	for (size_t i = 0; i < num_counts; i++) {
		bool found = false;

		for (size_t r = 0; r < ARRAY_SIZE(records); r++)
			found |= !strcmp(counts[i].record, records[r].format->name);
		CU_ASSERT_TRUE(found);
	}
	end();
}

/* Sets of statuses. */
enum {
	OK = 1 << 0,
	INVALID = 1 << 1,
	NO_RECORDS = 1 << 2,
	TOO_MANY = 1 << 3,
	INVALID_GID = 1 << 4,
	COMPONENTS = 1 << 5,
	DENIED = 1 << 6,
	UNSUP = 1 << 7,
	QUERY = OK | INVALID | NO_RECORDS | TOO_MANY,
	TABLE = OK | INVALID,
};

static unsigned status_bit(int status)
{
	static const uint16_t statuses[] = {
		STATUS_OK,	     SA_REQ_INVALID,	       SA_NO_RECORDS,
		SA_TOO_MANY_RECORDS, SA_REQ_INVALID_GID,       SA_REQ_INSUFFICIENT_COMPONENTS,
		SA_REQ_DENIED,	     STATUS_UNSUP_METHOD_ATTR,
	};

	for (unsigned i = 0; i < ARRAY_SIZE(statuses); i++)
		if (statuses[i] == status)
			return 1U << i;
	return 0;
}

/* The status of a record for a method, without the SA_Key and with it, where it is not the usual
 * status. Usual are QUERY and TABLE for Get and GetTable, and UNSUP for all other methods. Table
 * 188 of chapter 15.2.5 lists the methods of a record. */
static const struct {
	uint16_t attr_id;
	uint8_t method;
	unsigned plain, trusted;
} answers[] = {
	{ATTR_CLASS_PORT_INFO, METHOD_GET, OK, OK},
	{ATTR_CLASS_PORT_INFO, METHOD_GET_TABLE, UNSUP, UNSUP},
	{ATTR_INFORM_INFO, METHOD_GET, UNSUP, UNSUP},
	{ATTR_INFORM_INFO, METHOD_GET_TABLE, UNSUP, UNSUP},
	{ATTR_INFORM_INFO, METHOD_SET, TABLE, TABLE},
	{RECORD_GUID_INFO, METHOD_SET, OK | INVALID | NO_RECORDS | COMPONENTS | DENIED,
	 OK | INVALID | NO_RECORDS | COMPONENTS | DENIED},
	{RECORD_GUID_INFO, METHOD_DELETE, OK | INVALID | NO_RECORDS | COMPONENTS | DENIED,
	 OK | INVALID | NO_RECORDS | COMPONENTS | DENIED},
	/* 15.2.5.22: P_Key tables are for the trusted. */
	{RECORD_PKEY_TABLE, METHOD_GET, INVALID, QUERY},
	{RECORD_PKEY_TABLE, METHOD_GET_TABLE, INVALID, TABLE},
	{RECORD_PATH, METHOD_GET, INVALID | INVALID_GID | COMPONENTS,
	 INVALID | INVALID_GID | COMPONENTS},
	{RECORD_PATH, METHOD_GET_TABLE, TABLE | INVALID_GID, TABLE | INVALID_GID},
	{RECORD_MULTI_PATH, METHOD_GET, UNSUP, UNSUP},
	{RECORD_MULTI_PATH, METHOD_GET_TABLE, UNSUP, UNSUP},
	{RECORD_MULTI_PATH, METHOD_GET_MULTI, INVALID | COMPONENTS, INVALID | COMPONENTS},
	{RECORD_MC_MEMBER, METHOD_SET, INVALID | INVALID_GID | COMPONENTS,
	 INVALID | INVALID_GID | COMPONENTS},
	{RECORD_MC_MEMBER, METHOD_DELETE, INVALID | INVALID_GID | COMPONENTS,
	 INVALID | INVALID_GID | COMPONENTS},
	{RECORD_SERVICE, METHOD_SET, INVALID | INVALID_GID, OK | INVALID | INVALID_GID},
	{RECORD_SERVICE, METHOD_DELETE, INVALID | NO_RECORDS, OK | INVALID | NO_RECORDS},
};

static bool possible(uint16_t attr_id, uint8_t method, bool trusted, int status)
{
	unsigned bit = status_bit(status);

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		if (answers[i].attr_id == attr_id && answers[i].method == method)
			return bit & (trusted ? answers[i].trusted : answers[i].plain);
	if (method == METHOD_GET)
		return bit & QUERY;
	return bit & (method == METHOD_GET_TABLE ? TABLE : UNSUP);
}

/* Test values of a field. */
enum filling { ZEROS, ONES, TOP_BIT, LOW_BIT, OTHERS_ONES, FILLINGS };

static void fill(const struct field *field, enum filling filling, uint8_t *wire, size_t size)
{
	unsigned end = field->bit + field->width;

	memset(wire, filling == OTHERS_ONES ? 0xFF : 0, size);
	for (unsigned bit = field->bit; bit < end; bit++) {
		bool set = filling == ONES || (filling == TOP_BIT && bit == field->bit) ||
			   (filling == LOW_BIT && bit == end - 1);

		wire[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
		if (set)
			wire[bit / 8] |= 0x80 >> bit % 8;
	}
}

/* As it comes from the wire, with all of the MAD's data. */
static int ask_raw(uint8_t method, uint16_t attr_id, uint64_t sm_key, uint64_t mask,
		   const uint8_t *data)
{
	static const struct format raw = {.name = "raw", .wire_size = 0};

	return ask(&(struct ask){.method = method,
				 .attr_id = attr_id,
				 .sm_key = sm_key,
				 .mask = mask,
				 .format = &raw,
				 .gids = data,
				 .num_gids = SUBN_ADM_DATA_SIZE / GID_SIZE});
}

static void judge_record(uint16_t attr_id, const struct format *format, uint64_t sm_key)
{
	const uint64_t all = record_components(format);
	uint8_t data[SUBN_ADM_DATA_SIZE];
	unsigned wrong = 0;

	for (unsigned row = 0; row < format->count; row++) {
		const uint64_t masks[] = {row < 64 ? COMPONENT(row) : 0, all, UINT64_MAX};

		for (enum filling f = 0; f < FILLINGS; f++) {
			fill(&format->fields[row], f, data, sizeof(data));
			for (size_t m = 0; m < ARRAY_SIZE(methods) * ARRAY_SIZE(masks); m++) {
				uint8_t method = methods[m / ARRAY_SIZE(masks)];
				int status = ask_raw(method, attr_id, sm_key,
						     masks[m % ARRAY_SIZE(masks)], data);

				if (possible(attr_id, method, sm_key, status))
					continue;
				printf("%s, method 0x%02x: status 0x%04x\n", format->name, method,
				       (unsigned)status);
				wrong++;
			}
		}
	}
	CU_ASSERT_EQUAL(wrong, 0);
}

static void test_values(void)
{
	begin();
	for (size_t r = 0; r < ARRAY_SIZE(records); r++) {
		judge_record(records[r].attr_id, records[r].format, 0);
		judge_record(records[r].attr_id, records[r].format, SA_KEY);
	}
	CU_ASSERT_EQUAL(sa_stats(sa.server)->dropped, 0);
	end();
}

static bool is_record(uint16_t attr_id)
{
	for (size_t r = 0; r < ARRAY_SIZE(records); r++)
		if (records[r].attr_id == attr_id)
			return true;
	return false;
}

/* Every method byte and attributes around those that exist. */
static void test_methods(void)
{
	uint64_t asked = 0;

	begin();
	for (unsigned method = 0; method <= UINT8_MAX; method++) {
		for (unsigned attr_id = 0; attr_id <= 0x100; attr_id++) {
			int status = ask(&(struct ask){.method = (uint8_t)method,
						       .attr_id = (uint16_t)attr_id});

			asked++;
			if (status >= 0 && status != STATUS_UNSUP_METHOD &&
			    status != STATUS_UNSUP_METHOD_ATTR) {
				CU_ASSERT_TRUE(is_record((uint16_t)attr_id));
				CU_ASSERT_TRUE(possible((uint16_t)attr_id, (uint8_t)method, false,
							status));
			}
		}
	}
	CU_ASSERT_TRUE(sa_stats(sa.server)->received <= asked);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->received, sa_stats(sa.server)->answered +
							       sa_stats(sa.server)->refused +
							       sa_stats(sa.server)->dropped);
	end();
}

/* MADs that end anywhere are not answered as if they were whole. */
static void test_truncated(void)
{
	begin();
	for (size_t r = 0; r < ARRAY_SIZE(records); r++) {
		for (size_t size = 1; size < MAD_SIZE; size++) {
			int status = ask(&(struct ask){
				.method = METHOD_GET, .attr_id = records[r].attr_id, .size = size});

			CU_ASSERT_TRUE(status == -1 || status == SA_REQ_INVALID);
		}
	}
	end();
}

/* A requester that is not in this fabric gets no answer, not even a status. */
static void test_requesters(void)
{
	unsigned wrong = 0;

	begin();
	for (unsigned lid = 1; lid <= UINT16_MAX; lid++) {
		struct endport port;
		bool known = endport_by_lid(sa.view->topology, (lid_t)lid, &port);
		int status = ask(&(struct ask){
			.from = (lid_t)lid, .method = METHOD_GET, .attr_id = ATTR_CLASS_PORT_INFO});

		wrong += status != (known ? STATUS_OK : -1);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->answered + sa_stats(sa.server)->dropped, UINT16_MAX);
	end();
}

/* Bytes by chance in place of mask and record, from a fixed seed. */
static void test_noise(void)
{
	uint64_t state = 1;
	unsigned wrong = 0;

	begin();
	for (unsigned i = 0; i < 20000; i++) {
		uint8_t data[SUBN_ADM_DATA_SIZE];
		size_t r = i % ARRAY_SIZE(records);
		uint8_t method = methods[i % 3];
		uint64_t mask;

		for (size_t byte = 0; byte < sizeof(data); byte++) {
			state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
			data[byte] = (uint8_t)(state >> 56);
		}
		mask = state & record_components(records[r].format);
		wrong += !possible(records[r].attr_id, method, true,
				   ask_raw(method, records[r].attr_id, SA_KEY,
					   i % 2 ? mask : mask & (mask >> 7), data));
	}
	CU_ASSERT_EQUAL(wrong, 0);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"no row without a record", test_complete},
		{"values of each component", test_values},
		{"methods and attributes", test_methods},
		{"MADs that end anywhere", test_truncated},
		{"requesters", test_requesters},
		{"noise", test_noise},
		CU_TEST_INFO_NULL,
	};

	return unit_main("adm_bad", tests);
}

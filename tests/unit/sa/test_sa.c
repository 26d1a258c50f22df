/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The front of the SA: every row of its dispatch table, every component of every record, refusals,
 * dropped requests, the return path of answers, and long tables.
 */
#include <errno.h>

#include "tests/unit/fixtures/sa_client.h"
#include "tests/unit/fixtures/star.h"

/* Every row of the dispatch table: the answer to A for a request without conditions. */
static const struct {
	uint16_t attr_id;
	const struct format *format;
	uint16_t get; /* status of Get without a mask */
	int all;      /* records of GetTable without one; -1: there is no such row */
	uint64_t sm_key;
} rows[] = {
	{ATTR_CLASS_PORT_INFO, &class_port_info_format, STATUS_OK, -1, 0},
	{RECORD_NODE, &node_record_format, SA_TOO_MANY_RECORDS, SWITCHES + HOSTS, 0},
	{RECORD_PORT_INFO, &port_info_record_format, SA_TOO_MANY_RECORDS,
	 SWITCHES *(SWITCH_PORTS + 1) + HOSTS, 0},
	{RECORD_SM_INFO, &sm_info_record_format, SA_TOO_MANY_RECORDS, 2, 0},
	{RECORD_LINK, &link_record_format, SA_TOO_MANY_RECORDS, 2 * (HOSTS + 2), 0},
	/* By LIDs 1, 1, 4, 4, 2 and 1: 13 + 13 + 24 + 24 + 16 + 13, a port to itself included. */
	{RECORD_PATH, &path_record_format, SA_REQ_INSUFFICIENT_COMPONENTS, 103, 0},
	/* Of A; to the ports 1 and 3 of S1, from each of its ports. */
	{RECORD_SL_TO_VL, &sl_to_vl_record_format, SA_TOO_MANY_RECORDS, 1 + 2 * (SWITCH_PORTS + 1),
	 0},
	{RECORD_SWITCH_INFO, &switch_info_record_format, SA_TOO_MANY_RECORDS, SWITCHES, 0},
	{RECORD_LFT, &lft_record_format, SA_TOO_MANY_RECORDS, SWITCHES, 0},
	{RECORD_MFT, &mft_record_format, SA_NO_RECORDS, 0, 0},
	{RECORD_GUID_INFO, &guid_info_record_format, SA_TOO_MANY_RECORDS, 2, 0},
	/* Of each port of a host, and of port 0 of each switch. */
	{RECORD_PKEY_TABLE, &p_key_table_record_format, SA_TOO_MANY_RECORDS, HOSTS + SWITCHES,
	 SA_KEY},
	{RECORD_VL_ARBITRATION, &vl_arbitration_record_format, SA_TOO_MANY_RECORDS, 3, 0},
	/* The broadcast group. */
	{RECORD_MC_MEMBER, &mc_member_record_format, STATUS_OK, 1, 0},
	/* The registry is empty. */
	{RECORD_SERVICE, &service_record_format, SA_NO_RECORDS, 0, 0},
	{RECORD_INFORM_INFO, &inform_info_record_format, SA_NO_RECORDS, 0, 0},
};

/* Records with Set and Delete: the answer to A for a request without components. */
static const struct {
	uint8_t method;
	uint16_t attr_id;
	uint16_t status;
	uint8_t response;
} changes[] = {
	{METHOD_SET, RECORD_GUID_INFO, SA_REQ_INSUFFICIENT_COMPONENTS, METHOD_GET_RESP},
	{METHOD_DELETE, RECORD_GUID_INFO, SA_REQ_INSUFFICIENT_COMPONENTS, METHOD_DELETE_RESP},
	{METHOD_SET, RECORD_MC_MEMBER, SA_REQ_INSUFFICIENT_COMPONENTS, METHOD_GET_RESP},
	{METHOD_DELETE, RECORD_MC_MEMBER, SA_REQ_INSUFFICIENT_COMPONENTS, METHOD_DELETE_RESP},
	{METHOD_SET, RECORD_SERVICE, SA_REQ_INVALID, METHOD_GET_RESP},
	{METHOD_DELETE, RECORD_SERVICE, SA_NO_RECORDS, METHOD_DELETE_RESP},
	{METHOD_SET, ATTR_INFORM_INFO, SA_REQ_INVALID, METHOD_GET_RESP},
};

/* A refusal is one MAD and has no records. */
static void refused(void)
{
	static const uint8_t nothing[SUBN_ADM_DATA_SIZE];

	CU_ASSERT_EQUAL(sa.size, MAD_SIZE);
	CU_ASSERT_EQUAL(sa.mad[26] & RMPP_ACTIVE, 0);
	CU_ASSERT_EQUAL(sa.sa_header.attr_offset, 0);
	CU_ASSERT_EQUAL(memcmp(sa.mad + SUBN_ADM_HEADER_SIZE, nothing, sizeof(nothing)), 0);
}

/* Whether a request without conditions gets records. */
static bool answers_all(const struct sa_count *count)
{
	if (!strcmp(count->method, "SubnAdmGetTable"))
		return true;
	return !strcmp(count->method, "SubnAdmGet") && (!strcmp(count->record, "ClassPortInfo") ||
							!strcmp(count->record, "MCMemberRecord"));
}

static void test_rows(void)
{
	const struct sa_count *counts;
	size_t num_counts, num_rows = 0;

	begin();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT_EQUAL(ask(&(struct ask){.method = METHOD_GET,
						  .attr_id = rows[i].attr_id,
						  .sm_key = rows[i].sm_key}),
				rows[i].get);
		CU_ASSERT_EQUAL(sa.header.method, METHOD_GET_RESP);
		if (rows[i].get)
			refused();
		num_rows++;
		if (rows[i].all < 0)
			continue;
		CU_ASSERT_EQUAL(
			trusted_table(rows[i].sm_key, rows[i].attr_id, rows[i].format, 0, NULL),
			rows[i].all);
		num_rows++;
	}
	CU_ASSERT_EQUAL(
		ask(&(struct ask){.method = METHOD_GET_MULTI, .attr_id = RECORD_MULTI_PATH}),
		SA_REQ_INSUFFICIENT_COMPONENTS);
	CU_ASSERT_EQUAL(sa.header.attr_id, 0x35); /* a refusal, too, is about PathRecords */
	refused();
	num_rows++;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		CU_ASSERT_EQUAL(ask(&(struct ask){.method = changes[i].method,
						  .attr_id = changes[i].attr_id}),
				changes[i].status);
		CU_ASSERT_EQUAL(sa.header.method, changes[i].response);
		refused();
		num_rows++;
	}
	num_counts = sa_counts(sa.server, &counts);
	CU_ASSERT_EQUAL(num_counts, num_rows); /* no row without a case */
	for (size_t i = 0; i < num_counts; i++) {
		CU_ASSERT_EQUAL(counts[i].requests, 1);
		CU_ASSERT_EQUAL(counts[i].refused, !answers_all(&counts[i]));
	}
	end();
}

/* The LIDs that name a record's port find it by each that the port has; the record has the first.
 */
static bool found_by(const struct format *format, unsigned row, const void *wanted,
		     const void *found)
{
	bool names_port = row == 0 || (format == &link_record_format && row == LINK_RECORD_TO_LID);
	struct endport asked, given;

	if (field_equal(&format->fields[row], wanted, found))
		return true;
	return names_port && format != &path_record_format &&
	       endport_by_lid(sa.view->topology, (lid_t)format_get(format, row, wanted), &asked) &&
	       endport_by_lid(sa.view->topology, (lid_t)format_get(format, row, found), &given) &&
	       endport_same(&asked, &given);
}

/* Each component of each record by itself: records with the first record's value are found by it,
 * and not by another value. */
static void judge_component(uint64_t sm_key, uint16_t attr_id, const struct format *format,
			    unsigned row, const uint8_t *wire)
{
	_Alignas(8) uint8_t wanted[256] = {0}, found[256];
	uint8_t other[SUBN_ADM_DATA_SIZE];
	int count;

	format_decode(format, wire, wanted);
	count = trusted_table(sm_key, attr_id, format, COMPONENT(row), wanted);
	CU_ASSERT_TRUE(count >= 1);
	for (int i = 0; i < count; i++) {
		memset(found, 0, sizeof(found));
		answered(format, i, found);
		CU_ASSERT_TRUE(field_equal(&format->fields[row], wanted, found));
	}
	/* Each of its bits flipped: each record that is found has that value. */
	for (unsigned bit = format->fields[row].bit;
	     bit < format->fields[row].bit + format->fields[row].width; bit++) {
		memcpy(other, wire, format->wire_size);
		other[bit / 8] ^= 0x80 >> bit % 8;
		format_decode(format, other, wanted);
		count = trusted_table(sm_key, attr_id, format, COMPONENT(row), wanted);
		for (int i = 0; i < count; i++) {
			memset(found, 0, sizeof(found));
			answered(format, i, found);
			CU_ASSERT_TRUE(found_by(format, row, wanted, found));
		}
	}
}

static void test_components(void)
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct format *format = rows[i].format;
		uint64_t bits = record_components(format);
		uint8_t wire[SUBN_ADM_DATA_SIZE];

		if (rows[i].all <= 0 || rows[i].attr_id == RECORD_PATH)
			continue; /* paths have rules of their own, below */
		if (rows[i].attr_id == RECORD_MC_MEMBER)
			continue; /* and groups, in test_multicast.c */
		CU_ASSERT_TRUE(trusted_table(rows[i].sm_key, rows[i].attr_id, format, 0, NULL) > 0);
		memcpy(wire, sa.mad + SUBN_ADM_HEADER_SIZE, format->wire_size);
		if (rows[i].attr_id == RECORD_PORT_INFO)
			bits &= ~COMPONENT(PORT_INFO_RECORD_OPTIONS); /* tells of the requester */
		for (unsigned row = 0; row < format->count; row++)
			if (bits >> row & 1)
				judge_component(rows[i].sm_key, rows[i].attr_id, format, row, wire);
	}
	end();
}

/* The answer, from its status on, to a Get with this mask. */
static int got_by(size_t row, uint64_t mask, uint8_t *data)
{
	int status = ask(&(struct ask){.method = METHOD_GET,
				       .attr_id = rows[row].attr_id,
				       .sm_key = rows[row].sm_key,
				       .mask = mask});

	memcpy(data, sa.mad + SUBN_ADM_HEADER_SIZE, SUBN_ADM_DATA_SIZE);
	return status;
}

/* A component that the record does not have changes nothing. */
static void test_unknown_components(void)
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t known = record_components(rows[i].format);
		uint8_t without[SUBN_ADM_DATA_SIZE], with[SUBN_ADM_DATA_SIZE];
		int status = got_by(i, 0, without);

		for (unsigned bit = 0; bit < 64; bit++) {
			if (rows[i].all >= 0 && known >> bit & 1)
				continue;
			CU_ASSERT_EQUAL(got_by(i, COMPONENT(bit), with), status);
			CU_ASSERT_EQUAL(memcmp(with, without, sizeof(with)), 0);
		}
	}
	end();
}

/* Refused requests, and the method of each answer. */
static const struct {
	struct ask ask;
	uint16_t status;
	uint8_t method;
} refusals[] = {
	{{.method = METHOD_GET, .attr_id = RECORD_NODE, .class_version = 1},
	 STATUS_BAD_VERSION,
	 METHOD_GET_RESP},
	{{.method = METHOD_GET_TABLE, .attr_id = RECORD_NODE, .class_version = 3},
	 STATUS_BAD_VERSION,
	 METHOD_GET_TABLE_RESP},
	{{.method = 0x33, .attr_id = RECORD_NODE}, STATUS_UNSUP_METHOD, 0xB3},
	{{.method = METHOD_SET, .attr_id = RECORD_NODE}, STATUS_UNSUP_METHOD_ATTR, METHOD_GET_RESP},
	{{.method = METHOD_DELETE, .attr_id = RECORD_NODE},
	 STATUS_UNSUP_METHOD_ATTR,
	 METHOD_DELETE_RESP},
	{{.method = METHOD_GET_TABLE, .attr_id = ATTR_CLASS_PORT_INFO},
	 STATUS_UNSUP_METHOD_ATTR,
	 METHOD_GET_TABLE_RESP},
	{{.method = METHOD_GET_TABLE, .attr_id = RECORD_MULTI_PATH},
	 STATUS_UNSUP_METHOD_ATTR,
	 METHOD_GET_TABLE_RESP},
	{{.method = METHOD_GET, .attr_id = RECORD_PKEY_TABLE}, SA_REQ_INVALID, METHOD_GET_RESP},
	{{.method = METHOD_GET_MULTI, .attr_id = RECORD_PATH},
	 STATUS_UNSUP_METHOD_ATTR,
	 METHOD_GET_MULTI_RESP},
	{{.method = METHOD_SET, .attr_id = RECORD_INFORM_INFO},
	 STATUS_UNSUP_METHOD_ATTR,
	 METHOD_GET_RESP},
	{{.method = METHOD_GET, .attr_id = ATTR_INFORM_INFO},
	 STATUS_UNSUP_METHOD_ATTR,
	 METHOD_GET_RESP},
	{{.method = METHOD_GET, .attr_id = 0x7777}, STATUS_UNSUP_METHOD_ATTR, METHOD_GET_RESP},
	{{.method = METHOD_GET, .attr_id = RECORD_NODE, .size = 2 * MAD_SIZE},
	 SA_REQ_INVALID,
	 METHOD_GET_RESP},
	{{.method = METHOD_GET_TABLE, .attr_id = RECORD_NODE, .size = MAD_SIZE + 1},
	 SA_REQ_INVALID,
	 METHOD_GET_TABLE_RESP},
};

static void test_refusals(void)
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		CU_ASSERT_EQUAL(ask(&refusals[i].ask), refusals[i].status);
		CU_ASSERT_EQUAL(sa.header.method, refusals[i].method);
		refused();
	}
	CU_ASSERT_EQUAL(sa_stats(sa.server)->refused, ARRAY_SIZE(refusals));
	CU_ASSERT_EQUAL(sa_stats(sa.server)->received, ARRAY_SIZE(refusals));
	CU_ASSERT_EQUAL(sa_stats(sa.server)->answered, 0);
	end();
}

/* Requests that get no answer. */
static const struct ask drops[] = {
	{.method = METHOD_GET, .attr_id = RECORD_NODE, .from = 3},
	{.method = METHOD_GET, .attr_id = ATTR_CLASS_PORT_INFO, .from = 29},
	{.method = METHOD_GET, .attr_id = ATTR_CLASS_PORT_INFO, .from = LID_PERMISSIVE},
	{.method = METHOD_GET, .attr_id = ATTR_CLASS_PORT_INFO, .sm_key = SA_KEY + 1},
	{.method = 0x33, .attr_id = RECORD_NODE, .sm_key = 1},
	{.method = METHOD_SEND, .attr_id = RECORD_NODE},
	{.method = METHOD_TRAP, .attr_id = ATTR_NOTICE},
	{.method = METHOD_REPORT, .attr_id = ATTR_NOTICE},
};

static void test_drops(void)
{
	char log[256];
	struct unit_capture capture;

	begin();
	unit_capture_begin(&capture);
	for (size_t i = 0; i < ARRAY_SIZE(drops); i++)
		CU_ASSERT_EQUAL(ask(&drops[i]), -1);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->dropped, ARRAY_SIZE(drops));
	view_publish(&sa.view, NULL);
	CU_ASSERT_EQUAL(ask(&(struct ask){.method = METHOD_GET, .attr_id = ATTR_CLASS_PORT_INFO}),
			-1);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->dropped, ARRAY_SIZE(drops) + 1);
	/* Answers are not requests: the transactions handle them. */
	view_publish(&sa.view, two_switches_view());
	CU_ASSERT_EQUAL(ask(&(struct ask){.method = METHOD_GET_RESP, .attr_id = RECORD_NODE}), -1);
	CU_ASSERT_EQUAL(ask(&(struct ask){.method = METHOD_REPORT_RESP, .attr_id = ATTR_NOTICE}),
			-1);
	CU_ASSERT_EQUAL(ask(&(struct ask){.method = METHOD_GET, .attr_id = ATTR_CLASS_PORT_INFO}),
			STATUS_OK);
	CU_ASSERT_EQUAL(sa.sent, 1);
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_STRING_EQUAL(log, "");
	end();
}

static void test_way_back(void)
{
	struct mad_addr from = {
		.lid = 17,
		.qpn = 0x000042,
		.sl = 3,
		.path_bits = 2,
		.pkey_index = 5,
		.has_grh = true,
		.grh = {.flow_label = 0xABCDE, .hop_limit = 1, .traffic_class = 7, .sgid_index = 4},
	};
	uint8_t mad[MAD_SIZE] = {[0] = 1, [1] = CLASS_SUBN_ADM, [2] = 2, [3] = METHOD_GET_TABLE};

	begin();
	memset(from.grh.dgid, 0x11, GID_SIZE);
	memset(from.grh.sgid, 0x22, GID_SIZE);
	be64_store(mad + 8, TID);
	be16_store(mad + 16, RECORD_SM_INFO);
	be32_store(mad + 20, 0x12345678);
	be64_store(mad + 36, SA_KEY);
	be64_store(mad + 48, COMPONENT(SM_INFO_RECORD_LID));
	be16_store(mad + 56, 28);
	sa.transport.user.received(sa.transport.user.ctx, &from, mad, sizeof(mad));
	CU_ASSERT_EQUAL(sa.sent, 1);
	CU_ASSERT_EQUAL(sa.to.lid, from.lid);
	CU_ASSERT_EQUAL(sa.to.qpn, from.qpn);
	CU_ASSERT_EQUAL(sa.to.sl, from.sl);
	CU_ASSERT_EQUAL(sa.to.path_bits, from.path_bits);
	CU_ASSERT_EQUAL(sa.to.pkey_index, from.pkey_index);
	CU_ASSERT_TRUE(sa.to.has_grh);
	CU_ASSERT_EQUAL(memcmp(&sa.to.grh, &from.grh, sizeof(from.grh)), 0);
	CU_ASSERT_EQUAL(sa.header.status, STATUS_OK);
	CU_ASSERT_EQUAL(sa.header.tid, TID);
	CU_ASSERT_EQUAL(sa.header.mgmt_class, CLASS_SUBN_ADM);
	CU_ASSERT_EQUAL(sa.header.class_version, 2);
	CU_ASSERT_EQUAL(sa.header.attr_id, RECORD_SM_INFO);
	CU_ASSERT_EQUAL(sa.header.attr_mod, 0x12345678);
	CU_ASSERT_EQUAL(sa.sa_header.sm_key, 0);
	CU_ASSERT_EQUAL(sa.sa_header.component_mask, COMPONENT(SM_INFO_RECORD_LID));
	CU_ASSERT_EQUAL(sa.sa_header.attr_offset, 4);
	CU_ASSERT_EQUAL(sa.size, SUBN_ADM_HEADER_SIZE + 32);
	end();
}

static void test_send_failure(void)
{
	struct unit_capture capture;
	char log[4096];
	unsigned lines = 0;

	begin();
	sa.send_error = -EIO;
	unit_capture_begin(&capture);
	for (unsigned i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(
			ask(&(struct ask){.method = METHOD_GET, .attr_id = ATTR_CLASS_PORT_INFO}),
			-1);
	unit_capture_end(&capture, log, sizeof(log));
	for (const char *at = log; (at = strstr(at, "could not be sent")); at++)
		lines++;
	CU_ASSERT_EQUAL(sa_stats(sa.server)->send_failed, 100);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->answered, 0);
	CU_ASSERT_TRUE(lines >= 1 && lines <= 10);
	end();
}

/* A table that grows: nothing is lost on the way. */
static void test_long_table(void)
{
	enum { STAR_HOSTS = 127, LMC = 4 };
	struct node_record record = {0};
	const struct path_record from_first = {.slid = 1 << LMC};

	begin();
	view_publish(&sa.view, star(STAR_HOSTS, LMC));
	CU_ASSERT_EQUAL(table(RECORD_NODE, &node_record_format, 0, NULL), STAR_HOSTS + 1);
	for (unsigned i = 1; i <= STAR_HOSTS; i++) {
		answered(&node_record_format, i, &record);
		CU_ASSERT_EQUAL(record.lid, i << LMC);
		CU_ASSERT_EQUAL(record.info.port_guid, 99 + i);
	}
	CU_ASSERT_EQUAL(table(RECORD_PATH, &path_record_format, COMPONENT(PATH_SLID), &from_first),
			1 + STAR_HOSTS * (1 << LMC));
	end();
}

/* Too large: known before a record is made (too many pairs), or when the limit is reached. */
static void test_too_large(void)
{
	struct unit_capture capture;
	char log[1024];

	begin();
	unit_capture_begin(&capture);
	view_publish(&sa.view, star(128, 3));
	CU_ASSERT_EQUAL(ask(&(struct ask){.method = METHOD_GET_TABLE,
					  .attr_id = RECORD_PATH,
					  .from = 1 << 3}),
			STATUS_OK);
	CU_ASSERT_EQUAL((sa.size - SUBN_ADM_HEADER_SIZE) / 64, 128 * 128 * 8 + 2 * 128 * 8 + 1);
	view_publish(&sa.view, star(127, LMC_MAX));
	CU_ASSERT_EQUAL(ask(&(struct ask){.method = METHOD_GET_TABLE,
					  .attr_id = RECORD_PATH,
					  .from = 1 << LMC_MAX}),
			SA_NO_RESOURCES);
	CU_ASSERT_EQUAL(sa.size, MAD_SIZE);
	CU_ASSERT_EQUAL(sa.header.method, METHOD_GET_TABLE_RESP);
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_PTR_NOT_NULL(strstr(log, "LID 128 "));
	CU_ASSERT_PTR_NOT_NULL(strstr(log, "PathRecord"));
	/* The next request is answered as usual. */
	view_publish(&sa.view, two_switches_view());
	CU_ASSERT_EQUAL(table(RECORD_NODE, &node_record_format, 0, NULL), 6);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"every row of the dispatch table", test_rows},
		{"every component by itself", test_components},
		{"unknown components", test_unknown_components},
		{"refusals", test_refusals},
		{"requests without answer", test_drops},
		{"the way back", test_way_back},
		{"answers that cannot be sent", test_send_failure},
		{"a long table", test_long_table},
		{"a table that is too large", test_too_large},
		CU_TEST_INFO_NULL,
	};

	return unit_main("adm", tests);
}

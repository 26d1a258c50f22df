/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Headers against libibmad, which reads the same bytes by its own tables, and against bytes written
 * by hand; the names of methods and attributes.
 */
// LIBS: -libmad -libumad
#include <infiniband/mad.h>
#include <string.h>

#include "lib/mem.h"
#include "mad/mad.h"
#include "tests/unit/fixtures/unit.h"

enum { ROUNDS = 5000 };

static uint64_t seed = 0xD1342543DE82EF95;

static uint64_t random64(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545F4914F6CDD1D;
}

static void random_fill(uint8_t *to, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = random64() >> 32;
}

static int header_agrees(const struct mad_header *header, uint8_t *mad)
{
	int agrees = header->base_version == mad_get_field(mad, 0, IB_MAD_BASEVER_F) &&
		     header->mgmt_class == mad_get_field(mad, 0, IB_MAD_MGMTCLASS_F) &&
		     header->class_version == mad_get_field(mad, 0, IB_MAD_CLASSVER_F) &&
		     (header->method & 0x7F) == mad_get_field(mad, 0, IB_MAD_METHOD_F) &&
		     header->method >> 7 == (int)mad_get_field(mad, 0, IB_MAD_RESPONSE_F) &&
		     header->status == mad_get_field(mad, 0, IB_MAD_STATUS_F) &&
		     header->tid == mad_get_field64(mad, 0, IB_MAD_TRID_F) &&
		     header->attr_id == mad_get_field(mad, 0, IB_MAD_ATTRID_F) &&
		     header->attr_mod == mad_get_field(mad, 0, IB_MAD_ATTRMOD_F);

	if (header->mgmt_class != CLASS_SUBN_DIRECTED)
		return agrees && header->hop_pointer == 0 && header->hop_count == 0;
	return agrees && header->hop_pointer == mad_get_field(mad, 0, IB_DRSMP_HOPPTR_F) &&
	       header->hop_count == mad_get_field(mad, 0, IB_DRSMP_HOPCNT_F) &&
	       header->status >> 15 == (int)mad_get_field(mad, 0, IB_DRSMP_DIRECTION_F) &&
	       (header->status & 0x7FFF) == mad_get_field(mad, 0, IB_DRSMP_STATUS_F);
}

static void test_header_as_libibmad(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		uint8_t mad[MAD_HEADER_SIZE + 1], again[MAD_HEADER_SIZE + 1];
		struct mad_header header, back;

		random_fill(mad, sizeof(mad));
		if (round % 2)
			mad[1] = CLASS_SUBN_DIRECTED;
		header_decode(mad, &header);
		CU_ASSERT(header_agrees(&header, mad));

		memset(again, 0xEE, sizeof(again));
		header_encode(&header, again);
		CU_ASSERT(header_agrees(&header, again));
		CU_ASSERT(again[18] == 0 && again[19] == 0 && again[24] == 0xEE);
		header_decode(again, &back);
		CU_ASSERT(header_agrees(&back, again) && back.tid == header.tid);
	}
}

/* Only directed SMPs have hops: bytes 6 and 7 of other classes are neither read nor written. */
static void test_hops_of_other_classes(void)
{
	struct mad_header header = {.mgmt_class = CLASS_SUBN_ADM, .hop_pointer = 1, .hop_count = 2};
	uint8_t mad[MAD_HEADER_SIZE] = {0};

	header_encode(&header, mad);
	CU_ASSERT(mad[6] == 0 && mad[7] == 0);
	mad[6] = mad[7] = 9;
	header_decode(mad, &header);
	CU_ASSERT(header.hop_pointer == 0 && header.hop_count == 0);
}

static const struct {
	uint8_t method, response;
	const char *subn, *server;
} method_cases[] = {
	{0x01, 0x81, "Get", "SubnAdmGet"},
	{0x02, 0x81, "Set", "SubnAdmSet"},
	{0x81, 0, "GetResp", "SubnAdmGetResp"},
	{0x03, 0, "Send", "Send"},
	{0x05, 0x07, "Trap", "Trap"},
	{0x07, 0, "TrapRepress", "TrapRepress"},
	{0x06, 0x86, "Report", "SubnAdmReport"},
	{0x86, 0, "ReportResp", "SubnAdmReportResp"},
	{0x12, 0x92, "GetTable", "SubnAdmGetTable"},
	{0x92, 0, "GetTableResp", "SubnAdmGetTableResp"},
	{0x14, 0x94, "GetMulti", "SubnAdmGetMulti"},
	{0x94, 0, "GetMultiResp", "SubnAdmGetMultiResp"},
	{0x15, 0x95, "Delete", "SubnAdmDelete"},
	{0x95, 0, "DeleteResp", "SubnAdmDeleteResp"},
};

static void test_methods(void)
{
	unsigned known = 0;

	for (size_t i = 0; i < ARRAY_SIZE(method_cases); i++) {
		uint8_t method = method_cases[i].method;

		CU_ASSERT_EQUAL(method_response(method), method_cases[i].response);
		CU_ASSERT_STRING_EQUAL(method_name(CLASS_SUBN_LID, method), method_cases[i].subn);
		CU_ASSERT_STRING_EQUAL(method_name(CLASS_SUBN_DIRECTED, method),
				       method_cases[i].subn);
		CU_ASSERT_STRING_EQUAL(method_name(CLASS_SUBN_ADM, method), method_cases[i].server);
	}
	for (unsigned method = 0; method < 256; method++)
		known += strcmp(method_name(CLASS_SUBN_ADM, method), "unknown") != 0;
	CU_ASSERT_EQUAL(known, ARRAY_SIZE(method_cases));
	CU_ASSERT_EQUAL(method_response(0x33), 0);
}

static const struct {
	uint8_t mgmt_class;
	uint16_t attr_id;
	const char *name;
} attr_cases[] = {
	{CLASS_SUBN_LID, 0x0002, "Notice"},
	{CLASS_SUBN_LID, 0x0015, "PortInfo"},
	{CLASS_SUBN_DIRECTED, 0x0015, "PortInfo"},
	{CLASS_SUBN_DIRECTED, 0x0020, "SMInfo"},
	{CLASS_SUBN_DIRECTED, 0xFF90, "MlnxExtPortInfo"},
	{CLASS_SUBN_DIRECTED, 0x0035, "unknown"},
	{CLASS_SUBN_ADM, 0x0001, "ClassPortInfo"},
	{CLASS_SUBN_ADM, 0x0003, "InformInfo"},
	{CLASS_SUBN_ADM, 0x0015, "LinearForwardingTableRecord"},
	{CLASS_SUBN_ADM, 0x0035, "PathRecord"},
	{CLASS_SUBN_ADM, 0x00F3, "InformInfoRecord"},
	{CLASS_PERF, 0x0001, "ClassPortInfo"},
	{CLASS_PERF, 0x0012, "PortCounters"},
	{CLASS_PERF, 0x001D, "PortCountersExtended"},
	{0x21, 0x0015, "unknown"},
	{CLASS_SUBN_ADM, 0x0000, "unknown"},
	{CLASS_SUBN_ADM, 0xFFFF, "unknown"},
};

static void test_attribute_names(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(attr_cases); i++)
		CU_ASSERT_STRING_EQUAL(attr_name(attr_cases[i].mgmt_class, attr_cases[i].attr_id),
				       attr_cases[i].name);
}

static int all_zero(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i])
			return 0;
	}
	return 1;
}

static void test_directed_smp(void)
{
	struct route_path route = {.hops = 3, .port = {0, 1, 18, 36, 99}};
	static const uint8_t path[64] = {0, 1, 18, 36};
	uint8_t data[SMP_DATA_SIZE], mad[MAD_SIZE], read_path[64];

	random_fill(data, sizeof(data));
	memset(mad, 0xEE, sizeof(mad));
	subn_build(mad, METHOD_SET, ATTR_PORT_INFO, 0x80000005, 0x1122334455667788, &route, data);
	CU_ASSERT_EQUAL(mad_get_field(mad, 0, IB_MAD_BASEVER_F), 1);
	CU_ASSERT_EQUAL(mad_get_field(mad, 0, IB_MAD_MGMTCLASS_F), IB_SMI_DIRECT_CLASS);
	CU_ASSERT_EQUAL(mad_get_field(mad, 0, IB_MAD_CLASSVER_F), 1);
	CU_ASSERT_EQUAL(mad_get_field(mad, 0, IB_MAD_METHOD_F), IB_MAD_METHOD_SET);
	CU_ASSERT_EQUAL(mad_get_field(mad, 0, IB_MAD_RESPONSE_F), 0);
	CU_ASSERT_EQUAL(mad_get_field(mad, 0, IB_MAD_STATUS_F), 0);
	CU_ASSERT_EQUAL(mad_get_field(mad, 0, IB_DRSMP_HOPPTR_F), 0);
	CU_ASSERT_EQUAL(mad_get_field(mad, 0, IB_DRSMP_HOPCNT_F), 3);
	CU_ASSERT_EQUAL(mad_get_field64(mad, 0, IB_MAD_TRID_F), 0);
	CU_ASSERT_EQUAL(mad_get_field(mad, 0, IB_MAD_ATTRID_F), IB_ATTR_PORT_INFO);
	CU_ASSERT_EQUAL(mad_get_field(mad, 0, IB_MAD_ATTRMOD_F), 0x80000005);
	CU_ASSERT_EQUAL(mad_get_field64(mad, 0, IB_MAD_MKEY_F), 0x1122334455667788);
	CU_ASSERT_EQUAL(mad_get_field(mad, 0, IB_DRSMP_DRSLID_F), 0xFFFF);
	CU_ASSERT_EQUAL(mad_get_field(mad, 0, IB_DRSMP_DRDLID_F), 0xFFFF);
	mad_get_array(mad, 0, IB_DRSMP_PATH_F, read_path);
	CU_ASSERT(!memcmp(read_path, path, sizeof(path)));
	CU_ASSERT(!memcmp(mad + IB_SMP_DATA_OFFS, data, sizeof(data)));
	CU_ASSERT(all_zero(mad + 36, 28) && all_zero(mad + SMP_RETURN_PATH_OFFSET, 64));
}

static void test_longest_and_shortest_route(void)
{
	struct route_path route = {.hops = HOPS_MAX};
	uint8_t mad[MAD_SIZE];

	for (unsigned i = 1; i <= HOPS_MAX; i++)
		route.port[i] = i;
	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0, &route, NULL);
	CU_ASSERT(mad[7] == 63 && mad[128] == 0 && mad[128 + 63] == 63 && mad[192] == 0);

	route.hops = 0;
	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0, &route, NULL);
	CU_ASSERT(mad[1] == CLASS_SUBN_DIRECTED && mad[7] == 0);
	CU_ASSERT(all_zero(mad + SMP_DATA_OFFSET, MAD_SIZE - SMP_DATA_OFFSET));
}

static void test_lid_routed_smp(void)
{
	uint8_t mad[MAD_SIZE];

	memset(mad, 0xEE, sizeof(mad));
	subn_build(mad, METHOD_GET, ATTR_SM_INFO, 0, 7, NULL, NULL);
	CU_ASSERT_EQUAL(mad[1], CLASS_SUBN_LID);
	CU_ASSERT_EQUAL(mad_get_field64(mad, 0, IB_MAD_MKEY_F), 7);
	CU_ASSERT(all_zero(mad + 32, MAD_SIZE - 32));
}

static void test_sa_header_as_libibmad(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		uint8_t mad[SUBN_ADM_HEADER_SIZE + 1], again[SUBN_ADM_HEADER_SIZE + 1];
		struct sa_header header;

		random_fill(mad, sizeof(mad));
		sa_header_decode(mad, &header);
		CU_ASSERT_EQUAL(header.sm_key, mad_get_field64(mad, 0, IB_SA_MKEY_F));
		CU_ASSERT_EQUAL(header.attr_offset, mad_get_field(mad, 0, IB_SA_ATTROFFS_F));
		CU_ASSERT_EQUAL(header.component_mask, mad_get_field64(mad, 0, IB_SA_COMPMASK_F));

		memcpy(again, mad, sizeof(mad));
		memset(again + 36, 0xEE, 20);
		mad[46] = mad[47] = 0; /* reserved */
		sa_header_encode(&header, again);
		CU_ASSERT(!memcmp(mad, again, sizeof(mad)));
	}
}

static void test_rmpp_header(void)
{
	uint8_t mad[SUBN_ADM_HEADER_SIZE];

	memset(mad, 0xEE, sizeof(mad));
	rmpp_header_encode(mad, true);
	CU_ASSERT_EQUAL(mad_get_field(mad, 0, IB_SA_RMPP_VERS_F), 1);
	CU_ASSERT_EQUAL(mad_get_field(mad, 0, IB_SA_RMPP_TYPE_F), IB_RMPP_TYPE_DATA);
	CU_ASSERT_EQUAL(mad_get_field(mad, 0, IB_SA_RMPP_FLAGS_F),
			IB_RMPP_FLAG_ACTIVE | IB_RMPP_FLAG_FIRST | IB_RMPP_FLAG_LAST);
	CU_ASSERT_EQUAL(mad_get_field(mad, 0, IB_SA_RMPP_SEGNUM_F), 1);
	CU_ASSERT(mad[27] == 0 && mad[23] == 0xEE && mad[36] == 0xEE);
	rmpp_header_encode(mad, false);
	CU_ASSERT(all_zero(mad + 24, 12) && mad[23] == 0xEE && mad[36] == 0xEE);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"header as libibmad", test_header_as_libibmad},
		{"hops of other classes", test_hops_of_other_classes},
		{"methods", test_methods},
		{"attribute names", test_attribute_names},
		{"directed SMP", test_directed_smp},
		{"longest and shortest route", test_longest_and_shortest_route},
		{"LID-routed SMP", test_lid_routed_smp},
		{"SA header as libibmad", test_sa_header_as_libibmad},
		{"RMPP header", test_rmpp_header},
		CU_TEST_INFO_NULL,
	};

	return unit_main("mad", tests);
}

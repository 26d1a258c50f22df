/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Notices as a whole: made, sent, received, and their details read. Traps 128 and 144 are compared
 * with libibmad, as far as it has them. test_attr.c tests every field of the details.
 */
// LIBS: -libmad -libumad
#include <infiniband/mad.h>
#include <string.h>

#include "lib/mem.h"
#include "mad/notice.h"
#include "tests/unit/fixtures/unit.h"

/* Makes a notice, sends it as an SMP's 64 bytes, and reads those. */
static struct notice travel(uint16_t trap, const union notice_details *details, uint8_t wire[64])
{
	struct notice sent, received = {0};

	notice_fill(&sent, trap, NODE_SWITCH, 0x12, details);
	memset(wire, 0, 64);
	format_encode(&notice_format, &sent, wire);
	format_decode(&notice_format, wire, &received);
	return received;
}

static void test_link_state(void)
{
	union notice_details details = {.link_state = {.lid = 0xBEEF}}, read = {0};
	uint8_t wire[64];
	struct notice notice = travel(TRAP_LINK_STATE, &details, wire);

	CU_ASSERT_EQUAL(mad_get_field(wire, 0, IB_NOTICE_IS_GENERIC_F), 1);
	CU_ASSERT_EQUAL(mad_get_field(wire, 0, IB_NOTICE_TYPE_F), NOTICE_URGENT);
	CU_ASSERT_EQUAL(mad_get_field(wire, 0, IB_NOTICE_PRODUCER_F), IB_NODE_SWITCH);
	CU_ASSERT_EQUAL(mad_get_field(wire, 0, IB_NOTICE_TRAP_NUMBER_F), 128);
	CU_ASSERT_EQUAL(mad_get_field(wire, 0, IB_NOTICE_ISSUER_LID_F), 0x12);
	CU_ASSERT_EQUAL(mad_get_field(wire, 0, IB_NOTICE_DATA_LID_F), 0xBEEF);
	CU_ASSERT(notice_details_decode(&notice, &read));
	CU_ASSERT_EQUAL(read.link_state.lid, 0xBEEF);
}

static void test_local_changes(void)
{
	union notice_details details = {0}, read = {0};
	uint8_t wire[64];
	struct notice notice;

	details.local_changes = (struct notice_local_changes){
		.lid = 0x1234,
		.other_local_changes = 1,
		.capability_mask = 0x02514868,
		.change_flags = CHANGE_NODE_DESCRIPTION | CHANGE_CAPABILITY_MASK2,
		.capability_mask2 = 0x7654,
	};
	notice = travel(TRAP_LOCAL_CHANGES, &details, wire);
	CU_ASSERT_EQUAL(mad_get_field(wire, 0, IB_NOTICE_DATA_144_LID_F), 0x1234);
	CU_ASSERT_EQUAL(mad_get_field(wire, 0, IB_NOTICE_DATA_144_CAPMASK_F), 0x02514868);
	CU_ASSERT(notice_details_decode(&notice, &read));
	CU_ASSERT_EQUAL(read.local_changes.lid, 0x1234);
	CU_ASSERT_EQUAL(read.local_changes.other_local_changes, 1);
	CU_ASSERT_EQUAL(read.local_changes.capability_mask, 0x02514868);
	CU_ASSERT_EQUAL(read.local_changes.change_flags, 0x21);
	CU_ASSERT_EQUAL(read.local_changes.capability_mask2, 0x7654);
}

/* The issuer's GID is in a Report only; the 64 bytes before it are those of the SMP. */
static void test_report(void)
{
	union notice_details details = {.gid = {{0xFF, 0x12, 0x40, 0x1B}}}, read = {0};
	struct notice sent, received = {0};
	uint8_t wire[80] = {0}, smp[80] = {0};

	notice_fill(&sent, TRAP_MC_GROUP_CREATED, NOTICE_PRODUCER_CLASS_MANAGER, 1, &details);
	memset(sent.issuer_gid, 0xAB, GID_SIZE);
	format_encode(&notice_report_format, &sent, wire);
	format_encode(&notice_format, &sent, smp);
	CU_ASSERT(!memcmp(wire, smp, 64));
	for (unsigned i = 64; i < 80; i++)
		CU_ASSERT(wire[i] == 0xAB && smp[i] == 0);

	format_decode(&notice_report_format, wire, &received);
	CU_ASSERT(!memcmp(received.issuer_gid, sent.issuer_gid, GID_SIZE));
	CU_ASSERT_EQUAL(received.producer_type, 4);
	CU_ASSERT_EQUAL(received.type, NOTICE_SUBNET_MANAGEMENT);
	CU_ASSERT(notice_details_decode(&received, &read));
	CU_ASSERT(!memcmp(&read.gid, &details.gid, sizeof(read.gid)));
}

static const struct {
	uint16_t trap;
	int known;
	uint8_t type;
} trap_cases[] = {
	{63, 0, 0},
	{64, 1, NOTICE_SUBNET_MANAGEMENT},
	{67, 1, NOTICE_SUBNET_MANAGEMENT},
	{68, 0, 0},
	{127, 0, 0},
	{128, 1, NOTICE_URGENT},
	{129, 1, NOTICE_URGENT},
	{131, 1, NOTICE_URGENT},
	{132, 0, 0},
	{144, 1, NOTICE_INFORMATIONAL},
	{145, 1, NOTICE_INFORMATIONAL},
	{146, 0, 0},
	{255, 0, 0},
	{256, 1, NOTICE_SECURITY},
	{257, 1, NOTICE_SECURITY},
	{258, 1, NOTICE_SECURITY},
	{259, 1, NOTICE_SECURITY},
	{260, 0, 0},
};

static void test_known_traps(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(trap_cases); i++) {
		uint16_t trap = trap_cases[i].trap;
		struct notice notice = {.is_generic = 1, .trap_number = trap};
		union notice_details details;

		memset(&details, 0xEE, sizeof(details));
		CU_ASSERT_EQUAL(notice_details_format(trap) != NULL, trap_cases[i].known);
		CU_ASSERT_EQUAL(notice_details_decode(&notice, &details), trap_cases[i].known);
		if (trap_cases[i].known) {
			notice_fill(&notice, trap, NODE_CA, 1, &details);
			CU_ASSERT_EQUAL(notice.type, trap_cases[i].type);
		} else {
			CU_ASSERT_EQUAL(details.link_state.lid, 0xEEEE);
		}
	}
}

/* A vendor's notice may have any device ID where the trap number would be. */
static void test_vendor_notice(void)
{
	struct notice notice = {.is_generic = 0, .trap_number = TRAP_LINK_STATE};
	union notice_details details = {.link_state = {.lid = 7}};

	CU_ASSERT(!notice_details_decode(&notice, &details));
	CU_ASSERT_EQUAL(details.link_state.lid, 7);
}

/* The place of the sender's own LID on the wire, as OpenSM's ib_types.h lays the details out. Each
 * place of 16 bits has its number as the LID. */
static void test_own_lid(void)
{
	static const struct {
		uint16_t trap;
		unsigned at; /* byte of the details */
		bool has;
	} cases[] = {
		{128, 0, true}, {129, 2, true},	 {130, 2, true},  {131, 2, true},  {144, 2, true},
		{145, 2, true}, {259, 48, true}, {256, 0, false}, {257, 0, false}, {258, 0, false},
		{64, 0, false}, {65, 0, false},	 {66, 0, false},  {67, 0, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct notice notice = {.is_generic = 1, .trap_number = cases[i].trap};
		union notice_details details = {0};

		for (unsigned at = 0; at < NOTICE_DATA_SIZE; at++)
			notice.data[at] = at & 1 ? 0x10 + (at - 1) : 0;
		CU_ASSERT_TRUE_FATAL(notice_details_decode(&notice, &details));
		CU_ASSERT_EQUAL(notice_own_lid(&notice, &details),
				cases[i].has ? 0x10 + cases[i].at : LID_NONE);
		notice.is_generic = 0;
		CU_ASSERT_EQUAL(notice_own_lid(&notice, &details), LID_NONE);
	}
}

static void test_security(void)
{
	CU_ASSERT_TRUE(notice_is_security(false, NOTICE_SECURITY, 1));
	CU_ASSERT_TRUE(notice_is_security(true, NOTICE_SECURITY, TRAP_LINK_STATE));
	CU_ASSERT_TRUE(notice_is_security(true, 0, TRAP_BAD_M_KEY));
	CU_ASSERT_TRUE(notice_is_security(true, 0, TRAP_SWITCH_BAD_P_KEY));
	CU_ASSERT_FALSE(notice_is_security(false, 0, TRAP_BAD_M_KEY)); /* a device ID */
	CU_ASSERT_FALSE(notice_is_security(true, 0, TRAP_SWITCH_BAD_P_KEY + 1));
	CU_ASSERT_FALSE(notice_is_security(true, 0, TRAP_LINK_STATE));
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"link state", test_link_state},
		{"local changes", test_local_changes},
		{"report", test_report},
		{"known traps", test_known_traps},
		{"vendor notice", test_vendor_notice},
		{"the sender's own LID", test_own_lid},
		{"security", test_security},
		CU_TEST_INFO_NULL,
	};

	return unit_main("notice", tests);
}

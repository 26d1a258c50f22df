/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which writes of a program need the verdict of the server: sim/wire.h. */
#include "sim/wire.h"

#include <string.h>

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

enum { MAD_BYTES = 256, PORT = 2 };

static struct wire_rings rings;

static bool needs(const uint8_t *mad)
{
	return wire_needs_verdict(&rings, false, false, mad, MAD_BYTES);
}

/* A directed SMP over so many hops; Linux accepts it. */
static void fill_directed(uint8_t *mad, uint8_t hops)
{
	memset(mad, 0, MAD_BYTES);
	mad[1] = 0x81;
	mad[7] = hops;
	mad[128 + 1] = PORT;
}

static void test_routes(void)
{
	static const struct {
		const char *name;
		uint8_t at, value;
		bool needs;
	} cases[] = {
		{"as it should be", 0, 1, false},   {"another first port", 129, 1, true},
		{"a hop pointer", 6, 1, true},	    {"63 hops", 7, 63, false},
		{"64 hops", 7, 64, true},	    {"an answer", 4, 0x80, true},
		{"no directed route", 1, 3, false},
	};
	uint8_t mad[MAD_BYTES];

	memset(&rings, 0, sizeof(rings));
	rings.route_port = PORT;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fill_directed(mad, 1);
		mad[cases[i].at] = cases[i].value;
		CU_ASSERT_EQUAL(needs(mad), cases[i].needs);
	}
	fill_directed(mad, 0);
	mad[129] = 0;
	CU_ASSERT_FALSE(needs(mad));
	fill_directed(mad, 1);
	CU_ASSERT_TRUE(wire_needs_verdict(&rings, false, false, mad, 129));
	rings.route_port = 0; /* a switch */
	mad[129] = 7;
	CU_ASSERT_FALSE(needs(mad));
	mad[1] = 3;
	CU_ASSERT_TRUE(wire_needs_verdict(&rings, true, false, mad, MAD_BYTES));
}

static void test_tids(void)
{
	uint8_t mad[MAD_BYTES] = {1, 3, 2, 1};

	memset(&rings, 0, sizeof(rings));
	mad[15] = 7;
	CU_ASSERT_FALSE(wire_needs_verdict(&rings, false, true, mad, MAD_BYTES));
	CU_ASSERT_TRUE(wire_needs_verdict(&rings, false, true, mad, MAD_BYTES));
	CU_ASSERT_FALSE(wire_needs_verdict(&rings, false, false, mad, MAD_BYTES));
	CU_ASSERT_EQUAL(atomic_load(&rings.under_way[7]), 2);
	mad[15] = 8;
	CU_ASSERT_FALSE(wire_needs_verdict(&rings, false, true, mad, MAD_BYTES));
	mad[14] = WIRE_TIDS >> 8;
	CU_ASSERT_TRUE(wire_needs_verdict(&rings, false, true, mad, MAD_BYTES));
	mad[14] = 0xFF;
	mad[15] = 0xFF;
	CU_ASSERT_FALSE(wire_needs_verdict(&rings, false, true, mad, MAD_BYTES));
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"routes", test_routes},
		{"TIDs", test_tids},
		CU_TEST_INFO_NULL,
	};

	return unit_main("wire", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Every role with every event, and the ranking of managers: sm/election/role.h. */
#include "lib/mem.h"
#include "sm/election/role.h"
#include "tests/unit/fixtures/unit.h"

enum { EVENTS = ROLE_CONTROL_DISCOVER + 1, N = SM_NOTACTIVE, D = SM_DISCOVERING };
enum { S = SM_STANDBY, M = SM_MASTER };

static void test_transitions(void)
{
	static const struct {
		enum role_event event;
		uint8_t after[4]; /* from NOTACTIVE, DISCOVERING, STANDBY, MASTER */
	} rows[] = {
		{ROLE_MASTER_FOUND, {N, S, S, M}},     {ROLE_HIGHER_FOUND, {N, S, S, M}},
		{ROLE_NONE_BETTER, {N, M, S, M}},      {ROLE_MASTER_LOST, {N, D, D, M}},
		{ROLE_HANDOVER, {N, M, M, M}},	       {ROLE_HANDED_OVER, {N, D, S, S}},
		{ROLE_CONTROL_DISABLE, {N, D, N, M}},  {ROLE_CONTROL_STANDBY, {S, D, S, M}},
		{ROLE_CONTROL_DISCOVER, {N, D, D, M}}, {ROLE_PORT_DOWN, {N, D, D, D}},
	};
	bool seen[EVENTS] = {false};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		seen[rows[i].event] = true;
		for (unsigned role = SM_NOTACTIVE; role <= SM_MASTER; role++) {
			CU_ASSERT_EQUAL(role_next(role, rows[i].event), rows[i].after[role]);
			if (rows[i].after[role] != role)
				CU_ASSERT_EQUAL(role_after(rows[i].event), rows[i].after[role]);
		}
	}
	for (unsigned event = 0; event < EVENTS; event++)
		CU_ASSERT_TRUE(seen[event]);
}

static void test_names(void)
{
	CU_ASSERT_STRING_EQUAL(sm_state_name(SM_NOTACTIVE), "NOTACTIVE");
	CU_ASSERT_STRING_EQUAL(sm_state_name(SM_DISCOVERING), "DISCOVERING");
	CU_ASSERT_STRING_EQUAL(sm_state_name(SM_STANDBY), "STANDBY");
	CU_ASSERT_STRING_EQUAL(sm_state_name(SM_MASTER), "MASTER");
	CU_ASSERT_STRING_EQUAL(sm_state_name(4), "unknown"); /* from the wire */
	CU_ASSERT_STRING_EQUAL(sm_state_name(15), "unknown");
}

static void test_ranks(void)
{
	static const struct {
		struct sm_info a, b;
		bool outranks;
	} rows[] = {
		{{.priority = 2, .guid = 9}, {.priority = 1, .guid = 1}, true},
		{{.priority = 1, .guid = 1}, {.priority = 2, .guid = 9}, false},
		{{.priority = 1, .guid = 1}, {.priority = 1, .guid = 2}, true},
		{{.priority = 1, .guid = 2}, {.priority = 1, .guid = 1}, false},
		{{.priority = 1, .guid = 1}, {.priority = 1, .guid = 1}, false},
		{{.priority = 0, .guid = UINT64_MAX}, {.priority = 0, .guid = 1}, false},
		{{.priority = 15, .guid = UINT64_MAX}, {.priority = 14, .guid = 1}, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CU_ASSERT_EQUAL(role_outranks(&rows[i].a, &rows[i].b), rows[i].outranks);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"transitions", test_transitions},
		{"names", test_names},
		{"ranks", test_ranks},
		CU_TEST_INFO_NULL,
	};

	return unit_main("role", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How large an answer may become (sa/answer.h), and when it takes no more records. */
#include "sa/answer.h"

#include "tests/unit/fixtures/unit.h"

enum { RECORD_BYTES = 64 };

static const struct format record = {.name = "record", .wire_size = RECORD_BYTES};

/* The estimate before the first record: whether the answer is too long, and its memory. */
static void test_bytes(void)
{
	enum { USUAL = TABLE_BYTES_MAX / RECORD_BYTES, LARGE = TABLE_BYTES_LARGE / RECORD_BYTES };
	static const struct {
		bool table;
		uint64_t most;
		uint16_t status;
		uint64_t bytes;
	} cases[] = {
		{false, 0, STATUS_OK, 2 * RECORD_BYTES + MAD_SIZE},
		{false, UINT64_MAX, STATUS_OK, 2 * RECORD_BYTES + MAD_SIZE},
		{true, 0, STATUS_OK, MAD_SIZE},
		{true, 10, STATUS_OK, 10 * RECORD_BYTES + MAD_SIZE},
		{true, USUAL, STATUS_OK, TABLE_BYTES_MAX + MAD_SIZE},
		{true, USUAL + 1, STATUS_OK, TABLE_BYTES_MAX + RECORD_BYTES + MAD_SIZE},
		{true, LARGE, STATUS_OK, TABLE_BYTES_LARGE + MAD_SIZE},
		{true, LARGE + 1, SA_NO_RESOURCES, TABLE_BYTES_LARGE},
		/* It is not known: as much as any may take. */
		{true, UINT64_MAX, STATUS_OK, TABLE_BYTES_MAX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct answer answer;
		const struct sa_request request = {.format = &record,
						   .table = cases[i].table,
						   .most = cases[i].most,
						   .answer = &answer};

		answer_begin(&answer);
		CU_ASSERT_EQUAL(answer_expect(&request), cases[i].status);
		CU_ASSERT_EQUAL(answer_bytes(&request), cases[i].bytes);
	}
}

/* The record that does not fit any more closes the answer. */
static void test_closed(void)
{
	struct answer answer;
	struct sa_request request = {
		.format = &record, .table = true, .most = UINT64_MAX, .answer = &answer};

	answer_begin(&answer);
	for (unsigned i = 0; i < TABLE_BYTES_MAX / RECORD_BYTES; i++)
		if (!request_place(&request))
			CU_FAIL_FATAL("no place for a record");
	CU_ASSERT_TRUE(request_open(&request));
	CU_ASSERT_EQUAL(answer_status(&request), STATUS_OK);
	CU_ASSERT_PTR_NULL(request_place(&request));
	CU_ASSERT_FALSE(request_open(&request));
	CU_ASSERT_EQUAL(answer_status(&request), SA_NO_RESOURCES);
	answer_drop(&answer);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"bytes", test_bytes},
		{"an answer that is closed", test_closed},
		CU_TEST_INFO_NULL,
	};

	return unit_main("answer", tests);
}

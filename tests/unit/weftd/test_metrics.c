/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The status as metrics (weftd/metrics.h): names, units, and metrics that only a MASTER has. The
 * names contain the unit, so a metric in seconds has seconds, independent of the unit in the
 * status.
 */
#include "weftd/metrics.h"

#include <string.h>

#include "tests/unit/fixtures/unit.h"

static const char status[] =
	"{\"role\":\"%s\",\"priority\":7,"
	"\"sweep\":{\"number\":3,\"duration_us\":1500000,\"started_s\":1700000000,\"smps\":40},"
	"\"planned_links\":{\"missing\":2,\"nodes_missing\":1},"
	"\"counts\":{\"switches\":4},\"routing\":{\"engine\":\"ftree\"},\"version\":\"1.2\","
	"\"ha\":{\"standbys\":2,\"in_sync\":1,\"behind\":30,\"follows\":false},"
	"\"store\":{\"bytes\":3141592653,\"records\":{\"lid\":44}},"
	"\"sa\":{\"received\":9,\"over_limit\":1,\"groups_over_limit\":2,\"no_mlid\":3,"
	"\"requests\":[{\"record\":\"NodeRecord\",\"method\":\"Get\",\"requests\":5}]}}";

static const struct {
	const char *line;
	bool master; /* only a MASTER has it */
} lines[] = {
	{"weft_sm_sweep_duration_seconds 1.5\n", false},
	{"# TYPE weft_sm_sweep_duration_seconds gauge\n", false},
	{"weft_sm_sweep_start_timestamp_seconds 1700000000\n", false},
	{"weft_sm_sweep_smps 40\n", false},
	{"weft_sm_sweeps_total 3\n", false},
	{"weft_sm_priority 7\n", false},
	{"weft_switches 4\n", true},
	{"weft_planned_links_missing 2\n", true},
	{"weft_planned_nodes_missing 1\n", true},
	{"weft_routing_engine{engine=\"ftree\"} 1\n", true},
	{"weft_build_info{version=\"1.2\"} 1\n", false},
	{"weft_ha_standbys 2\n", false},
	{"weft_ha_standbys_in_sync 1\n", false},
	{"weft_ha_changes_behind 30\n", false},
	{"weft_ha_follows 0\n", false},
	{"weft_store_bytes 3141592653\n", false},
	{"weft_lids 44\n", true},
	{"weft_sa_received_total 9\n", false},
	{"weft_sa_over_limit_total 1\n", false},
	{"weft_sa_groups_over_limit_total 2\n", false},
	{"weft_sa_no_mlid_total 3\n", false},
	{"weft_sa_requests_total{record=\"NodeRecord\",method=\"Get\"} 5\n", false},
};

static void test_values(void)
{
	static const char *const roles[] = {"MASTER", "STANDBY"};

	for (size_t r = 0; r < 2; r++) {
		char document[1024], *text;
		json_t *json;

		snprintf(document, sizeof(document), status, roles[r]);
		json = json_loads(document, 0, NULL);
		text = metrics_text(json, NULL);
		for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
			bool there = strstr(text, lines[i].line) != NULL;

			CU_ASSERT_EQUAL(there, !lines[i].master || r == 0);
			if (there != (!lines[i].master || r == 0))
				printf("%s: %s", roles[r], lines[i].line);
		}
		CU_ASSERT_EQUAL(strstr(text, "weft_sm_role{role=\"MASTER\"} 1\n") != NULL, r == 0);
		free(text);
		json_decref(json);
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"values", test_values},
		CU_TEST_INFO_NULL,
	};

	return unit_main("metrics", tests);
}

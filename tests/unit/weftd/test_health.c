/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rules of weftctl health (weftd/health.h): each check in each of its states, from a small
 * status document. A row has the members that differ from a healthy MASTER.
 */
#include "weftd/health.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

static const char healthy[] =
	"{\"role\":\"MASTER\",\"guid\":\"0x1\",\"state\":\"subnet up\",\"condition\":\"up\","
	"\"counts\":{\"switches\":1,\"adapters\":8,\"links\":12},"
	"\"partitions\":{\"source\":\"file\",\"frozen\":false,\"file_bad\":false},"
	"\"routing\":{\"engine\":\"ftree\",\"looping\":0,\"unreached\":0,\"disconnected\":0},"
	"\"unrouted\":[],\"disabled_ports\":[],\"anomalies\":{\"duplicate_guids\":0},"
	"\"lost_links\":{\"count\":0,\"links\":[]},\"refusing\":{\"count\":0,\"ports\":[]},"
	"\"silent_peers\":{\"count\":0,\"ports\":[]},"
	"\"silent_nodes\":{\"count\":0,\"ports\":[]},\"traps\":{\"suppressed_recently\":false},"
	"\"keys\":{\"violated_recently\":false},\"perf\":{\"sweeps\":0}}";

/* text NULL: the check must be absent. */
static const struct {
	const char *change; /* members that replace those above */
	const char *check, *level, *text;
} rows[] = {
	{"{}", "subnet", "healthy", "MASTER; 1 switch, 8 adapters, 12 links"},
	{"{\"condition\":\"no device\",\"state\":\"gone\"}", "subnet", "broken", "gone"},
	{"{\"condition\":\"no fabric\",\"state\":\"down\"}", "subnet", "broken", "down"},
	{"{\"condition\":\"no routes\",\"state\":\"none\"}", "subnet", "broken", "none"},
	{"{\"condition\":\"old routes\",\"state\":\"old\"}", "subnet", "degraded", "old"},
	{"{\"condition\":\"disabled\",\"role\":\"NOTACTIVE\",\"state\":\"off\"}", "subnet",
	 "degraded", "off"},
	{"{\"condition\":\"starting\",\"role\":\"DISCOVERING\"}", "subnet", "degraded",
	 "the first sweep has not ended"},
	{"{\"condition\":\"not up\",\"state\":\"again\"}", "subnet", "degraded", "again"},
	{"{\"condition\":\"up with errors\",\"state\":\"errors\"}", "subnet", "degraded", "errors"},
	{"{\"condition\":\"standby\",\"role\":\"STANDBY\",\"state\":\"STANDBY: x\"}", "subnet",
	 "healthy", "STANDBY: x"},

	{"{}", "standby", "healthy", "none is configured"},
	{"{\"ha\":{\"listens\":true,\"standbys\":0}}", "standby", "degraded",
	 "no standby is connected: a failover would lose registrations"},
	{"{\"ha\":{\"listens\":true,\"standbys\":0,\"refused\":{\"connections\":3}}}", "standby",
	 "degraded",
	 "no standby is connected; since the start of weftd, 3 connections to ha_listen failed or "
	 "had no valid key"},
	{"{\"ha\":{\"listens\":true,\"standbys\":2,\"in_sync\":1,\"out_of_sync\":1}}", "standby",
	 "degraded", "1 of 2 standbys are not in sync"},
	{"{\"ha\":{\"listens\":true,\"standbys\":1,\"in_sync\":1,\"out_of_sync\":0}}", "standby",
	 "healthy", "1 standby in sync"},
	{"{\"role\":\"STANDBY\",\"ha\":{\"has_peers\":true,\"follows\":false}}", "standby",
	 "degraded", "this standby does not receive the registrations of the MASTER"},
	{"{\"role\":\"STANDBY\",\"ha\":{\"has_peers\":true,\"follows\":true}}", "standby",
	 "healthy", "follows the MASTER"},

	{"{\"ha\":{\"inband\":true}}", "standby", "healthy", "none is connected over the fabric"},
	{"{\"ha\":{\"inband\":true,\"keyed\":true}}", "standby", "degraded",
	 "no standby is connected: a failover would lose registrations"},
	{"{\"ha\":{\"inband\":true,\"keyed\":true,\"standbys\":1,\"in_sync\":1}}", "standby",
	 "healthy", "1 standby in sync"},
	{"{\"ha\":{\"inband\":true,\"standbys\":1,\"in_sync\":1,\"without_partitions\":1}}",
	 "standby", "degraded",
	 "1 of 1 standby without the partitions that commands made: a failover would remove their "
	 "P_Keys"},
	{"{\"role\":\"STANDBY\",\"ha\":{\"inband\":true,\"follows\":false}}", "standby", "degraded",
	 "this standby does not receive the registrations of the MASTER"},
	{"{\"role\":\"STANDBY\",\"ha\":{\"inband\":true,\"unserved\":true}}", "standby", "healthy",
	 "the MASTER does not replicate over the fabric: hosts register again after a failover"},

	{"{}", "partitions", "healthy", "file"},
	{"{\"partitions\":{\"frozen\":true,\"fault\":\"lost\"}}", "partitions", "broken", "lost"},
	{"{\"partitions\":{\"file_bad\":true,\"fault\":\"bad\"}}", "partitions", "degraded", "bad"},
	{"{\"partitions\":{\"reload_error\":\"p:1\"}}", "partitions", "degraded",
	 "not reloaded: p:1; the former partitions stay in force"},
	{"{}", "config", "healthy", "as in the files at the last reload"},
	{"{\"reload_error\":\"c:1\"}", "config", "degraded",
	 "not reloaded: c:1; the former values stay in force"},

	{"{}", "store", "healthy", "none"},
	{"{\"store\":{\"path\":\"/s\",\"state\":\"ok\"}}", "store", "healthy", "/s"},
	{"{\"store\":{\"path\":\"/s\",\"reason\":\"disk full\"}}", "store", "degraded",
	 "/s: disk full; new registrations are lost if weftd ends"},

	{"{}", "routes", "healthy", "ftree; every switch reaches every LID"},
	{"{\"routing\":{\"engine\":\"file\",\"looping\":2}}", "routes", "broken",
	 "the routes of 2 pairs of switch and LID loop"},
	{"{\"routing\":{\"engine\":\"file\",\"unreached\":1}}", "routes", "broken",
	 "no route connects 1 pair of switch and LID"},
	{"{\"routing\":{\"engine\":\"ftree\",\"disconnected\":3}}", "routes", "degraded",
	 "the fabric is in several parts: no cables connect 3 pairs of switch and LID"},
	{"{}", "credit_loops", "", NULL}, /* not known yet */
	{"{\"routing\":{\"credit_checked\":true,\"credit_loops\":0}}", "credit_loops", "healthy",
	 "none"},
	{"{\"routing\":{\"engine\":\"minhop\",\"credit_checked\":true,\"credit_loops\":6}}",
	 "credit_loops", "degraded",
	 "routes of minhop: 6 link directions can wait for themselves, and traffic can stop "
	 "forever"},

	{"{}", "switches", "healthy", "all are usable"},
	{"{\"unrouted\":[{\"description\":\"a\",\"why\":\"w\"},{}]}", "switches", "degraded",
	 "2 switches not fully usable: \"a\": w"},
	{"{}", "devices", "healthy", "all answer"},
	{"{\"silent_peers\":{\"count\":1,\"ports\":[{\"description\":\"a\",\"port\":3}]}}",
	 "devices", "degraded",
	 "1 device not answering: the peer of \"a\" port 3 (agent down, or unknown M_Key)"},
	{"{}", "guids", "healthy", "unique"},
	{"{\"anomalies\":{\"duplicate_guids\":1}}", "guids", "degraded",
	 "1 GUID of more than one device"},
	{"{}", "links", "healthy", "all up"},
	{"{\"disabled_ports\":[{},{}]}", "links", "healthy", "all up; disabled by command: 2"},

	{"{}", "drained", "healthy", "none"},
	{"{\"drained\":[{\"description\":\"s1\",\"state\":\"isolated\"}]}", "drained", "healthy",
	 "1 node or port: \"s1\", isolated"},
	{"{\"drained\":[{},{}],\"drained_ports\":{\"by_command\":1,\"by_policy\":1,\"example\":"
	 "{\"description\":\"s1\",\"port\":3,\"reason\":\"r\"}}}",
	 "drained", "degraded", "1 port isolated by policy: \"s1\" port 3, r"},
	{"{\"drained\":[{}],\"drained_ports\":{\"by_command\":1,\"by_policy\":0,\"cut_off\":"
	 "{\"description\":\"l2\",\"target\":\"s1 3\"}}}",
	 "drained", "degraded",
	 "\"l2\" can no longer be reached, and a port or cable between it and drained s1 3 is "
	 "disabled"},
	{"{\"lost_links\":{\"count\":1,\"links\":[{\"from\":{\"description\":\"a\",\"port\":3},"
	 "\"to\":{\"description\":\"b\",\"port\":4}}]}}",
	 "links", "degraded", "1 link down: \"a\" port 3 - \"b\" port 4"},
	{"{\"lost_links\":{\"count\":0,\"planned\":2}}", "links", "healthy",
	 "all up, apart from planned links"},
	{"{}", "planned_links", "", NULL}, /* no plan is configured */
	{"{\"planned_links\":{\"file\":\"p\",\"compared\":false}}", "planned_links", "", NULL},
	{"{\"planned_links\":{\"file\":\"p\",\"compared\":true,\"nodes_missing\":0,\"missing\":0}}",
	 "planned_links", "healthy", "as in p"},
	{"{\"planned_links\":{\"file\":\"p\",\"compared\":true,\"missing\":0,\"by_command\":2}}",
	 "planned_links", "healthy", "as in p; disabled by command: 2"},
	{"{\"planned_links\":{\"compared\":true,\"missing\":1,\"example\":\"a - b\"}}",
	 "planned_links", "degraded", "1 planned link absent or moved: a - b"},
	{"{\"planned_links\":{\"compared\":true,\"nodes_missing\":2,\"missing\":0,\"example\":\"a, "
	 "b\"}}",
	 "planned_links", "degraded", "2 planned nodes absent: a, b"},
	{"{\"planned_links\":{\"compared\":true,\"nodes_missing\":1,\"missing\":3,\"example\":"
	 "\"a\"}}",
	 "planned_links", "degraded",
	 "1 planned node absent, and 3 planned links absent or moved: a"},
	{"{}", "slow_links", "healthy", "none"},
	{"{\"silent_nodes\":{\"count\":1,\"ports\":[{\"description\":\"a\",\"port\":1}]}}",
	 "devices", "degraded", "1 device not answering, but with links: \"a\""},
	{"{\"perf\":{\"sweeps\":1,\"agents\":14,\"silent\":6,\"silent_example\":\"a\"}}", "devices",
	 "degraded", "6 of 14 agents did not answer the last read of the counters: \"a\""},
	{"{\"perf\":{\"sweeps\":1,\"agents\":14,\"silent\":0}}", "devices", "healthy",
	 "all answer"},
	{"{\"perf\":{\"slow_links\":2,\"slow_example\":{\"from\":{\"description\":\"a\",\"port\":3}"
	 ","
	 "\"to\":{\"description\":\"b\",\"port\":4},\"width_speed\":\"1x EDR\",\"could\":\"4x "
	 "EDR\"}}}",
	 "slow_links", "degraded",
	 "2 links slower than both ends support: \"a\" port 3 - \"b\" port 4, 1x EDR instead of 4x "
	 "EDR"},
	{"{}", "errors", "healthy", "no counters were read yet"},
	{"{\"perf\":{\"sweeps\":1,\"ports_above_threshold\":0}}", "errors", "healthy",
	 "below the thresholds"},
	{"{\"perf\":{\"ports_above_threshold\":1,\"threshold_example\":{\"description\":\"a\","
	 "\"port\":3,\"counter\":\"SymbolErrorCounter\"}}}",
	 "errors", "degraded", "1 port above a threshold: \"a\" port 3, SymbolErrorCounter"},
	{"{}", "settings", "healthy", "no device refuses any"},
	{"{\"refusing\":{\"count\":1,\"ports\":[{\"description\":\"a\",\"port\":0,\"what\":"
	 "\"PortInfo\"}]}}",
	 "settings", "degraded", "1 port refusing a setting: \"a\" port 0, PortInfo"},
	{"{}", "traps", "healthy", "none suppressed"},
	{"{\"traps\":{\"suppressed_recently\":true,\"suppressed_from\":\"a\"}}", "traps",
	 "degraded", "too many traps from \"a\": some are not forwarded"},
	{"{\"keys\":{\"held_back\":true}}", "keys", "degraded",
	 "M_Keys are not set yet: a standby would not get them"},
	{"{}", "keys", "healthy", "no wrong M_Keys"},
	{"{\"keys\":{\"violated_recently\":true,\"violated_by\":\"a\",\"violations\":5}}", "keys",
	 "degraded", "wrong M_Keys from \"a\", 5 so far"},

	/* A manager that is not MASTER knows nothing of the fabric, and shows no old figures. */
	{"{\"role\":\"STANDBY\",\"lost_links\":{\"count\":1}}", "links", "", NULL},
	{"{\"role\":\"STANDBY\",\"routing\":{\"looping\":1}}", "routes", "", NULL},
	{"{\"role\":\"STANDBY\",\"planned_links\":{\"compared\":true,\"missing\":1}}",
	 "planned_links", "", NULL},
	{"{\"role\":\"STANDBY\"}", "slow_links", "", NULL},
};

static json_t *judged(const char *change)
{
	json_t *status = json_loads(healthy, 0, NULL), *members = json_loads(change, 0, NULL);
	json_t *result;

	CU_ASSERT_PTR_NOT_NULL_FATAL(status);
	CU_ASSERT_PTR_NOT_NULL_FATAL(members);
	json_object_update(status, members);
	result = health_judge(status);
	json_decref(members);
	json_decref(status);
	return result;
}

static const char *text_of(const json_t *check, const char *member)
{
	const char *text = json_string_value(json_object_get(check, member));

	return text ? text : "";
}

static const json_t *check_of(const json_t *health, const char *name)
{
	const json_t *check;
	size_t i;

	json_array_foreach (json_object_get(health, "checks"), i, check)
		if (!strcmp(text_of(check, "check"), name))
			return check;
	return NULL;
}

static void test_each_state(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *health = judged(rows[i].change);
		const json_t *check = check_of(health, rows[i].check);
		bool is_bad = strcmp(rows[i].level, "healthy") != 0;

		if (!check || !rows[i].text) {
			CU_ASSERT(!check && !rows[i].text);
		} else {
			CU_ASSERT_STRING_EQUAL(text_of(check, "level"), rows[i].level);
			CU_ASSERT_STRING_EQUAL(text_of(check, "text"), rows[i].text);
			CU_ASSERT_EQUAL(json_object_get(check, "remedy") != NULL, is_bad);
			if (strcmp(text_of(check, "text"), rows[i].text) != 0)
				printf("%s: %s\n", rows[i].check, text_of(check, "text"));
		}
		json_decref(health);
	}
}

/* One bad member makes one bad check. */
static void test_only_one(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *health = judged(rows[i].change), *check;
		size_t bad = 0, at;

		json_array_foreach (json_object_get(health, "checks"), at, check)
			bad += strcmp(text_of(check, "level"), "healthy") != 0;
		CU_ASSERT_EQUAL(bad, rows[i].text && strcmp(rows[i].level, "healthy") != 0);
		json_decref(health);
	}
}

/* The remedy of a bad partition file is that of its problem, once. */
static void test_partition_remedy(void)
{
	json_t *health = judged("{\"partitions\":{\"file_bad\":true,\"fault\":\"f:1: bad\","
				"\"remedy\":\"accept it\"}}");

	CU_ASSERT_STRING_EQUAL(text_of(check_of(health, "partitions"), "text"), "f:1: bad");
	CU_ASSERT_STRING_EQUAL(text_of(check_of(health, "partitions"), "remedy"), "accept it");
	json_decref(health);
}

static void test_order(void)
{
	json_t *health = judged("{\"partitions\":{\"frozen\":true,\"fault\":\"lost\"},"
				"\"ha\":{\"listens\":true,\"standbys\":0},"
				"\"traps\":{\"suppressed_recently\":true}}");
	static const char *const first[] = {"partitions", "standby", "traps", "subnet"};

	CU_ASSERT_STRING_EQUAL(text_of(health, "level"), "broken");
	for (size_t i = 0; i < ARRAY_SIZE(first); i++)
		CU_ASSERT_STRING_EQUAL(
			text_of(json_array_get(json_object_get(health, "checks"), i), "check"),
			first[i]);
	json_decref(health);
	health = judged("{}");
	CU_ASSERT_STRING_EQUAL(text_of(health, "level"), "healthy");
	json_decref(health);
	health = judged("{\"unrouted\":[{}]}");
	CU_ASSERT_STRING_EQUAL(text_of(health, "level"), "degraded");
	json_decref(health);
}

/* A document without any member, as from another version, makes no crash. */
static void test_empty(void)
{
	json_t *status = json_object(), *health = health_judge(status);

	CU_ASSERT_STRING_EQUAL(text_of(health, "level"), "healthy");
	CU_ASSERT_PTR_NULL(check_of(health, "links"));
	json_decref(health);
	json_decref(status);
}

static void test_remedy(void)
{
	json_t *health = judged("{\"condition\":\"disabled\",\"role\":\"NOTACTIVE\"}");

	CU_ASSERT_STRING_EQUAL(text_of(check_of(health, "subnet"), "remedy"),
			       "at the MASTER: weftctl ha enable 0x1");
	json_decref(health);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"each check in each state", test_each_state},
		{"one fault, one bad check", test_only_one},
		{"remedy of partitions", test_partition_remedy},
		{"the worst is first", test_order},
		{"an empty document", test_empty},
		{"a remedy with a place", test_remedy},
		CU_TEST_INFO_NULL,
	};

	return unit_main("health", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Records as JSON: each kind there and back, and everything that can be wrong with one. */
#include "store/save.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/fixtures/unit.h"

/* The records of the texts below, member by member. */
static const struct lid_entry lid = {.guid = 0x0002c90300000001,
				     .lid = 1024,
				     .lmc = 2,
				     .gone = 3,
				     .node_guid = 0x0002c90300000009,
				     .port = 3};
static const struct group_entry group = {
	.mgid = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff},
	.mlid = 0xC000,
	.q_key = 2843,
	.mtu = 4,
	.tclass = 7,
	.p_key = 0xFFFF,
	.rate = 3,
	.packet_life_time = 18,
	.sl = 15,
	.flow_label = 1048575,
	.hop_limit = 255,
	.scope = 2,
	.permanent = 1,
	.owner = 0x0002c90300000001};
static const struct member_entry member = {
	.mgid = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff},
	.port_prefix = 0xfe80000000000000,
	.port_guid = 0x0002c90300000001,
	.join_state = 1,
	.owner = 0x0002c90300000003};
static const struct service_entry service_whole = {.service_id = 0x1000000000000007,
						   .gid_prefix = 0xfe80000000000000,
						   .gid_guid = 0x0002c90300000001,
						   .p_key = 0x8001,
						   .expires_s = 77,
						   .key = {0xA0, [15] = 0xAF},
						   .name = "ab",
						   .data = {0xD0, [63] = 0xDF},
						   .owner = 0x0002c90300000002};
static const struct subscription_entry subscription = {.prefix = 0xfe80000000000000,
						       .subscriber = 0x0002c90300000001,
						       .number = 1,
						       .lid = 2,
						       .qpn = 3,
						       .sl = 4,
						       .pkey_index = 5,
						       .gid = {0xFE, [15] = 0xEE},
						       .lid_begin = 6,
						       .lid_end = 7,
						       .is_generic = 1,
						       .type = 8,
						       .trap_number = 9,
						       .resp_time = 10,
						       .producer_type = 11,
						       .trusted = 1};
static const struct alias_entry alias = {
	.port_guid = 0x0002c90300000001, .index = 1, .guid = 0x8000000000000001, .granted = 1};
static const struct setting_entry setting = {.name = "routing", .value = "updn,minhop"};
static const struct partition_entry partition = {
	.p_key = 5, .name = "blue", .ipoib = 1, .mtu = 4, .rate = 3, .scope = 2, .q_key = 2843};
static const struct partition_member_entry partition_member = {
	.p_key = 5, .guid = 0x0002c90300000001, .membership = 2};
static const struct partition_owner_entry partition_owner = {
	.p_key = 5, .guid = 0x0002c90300000001, .owner = "gateway:gw1"};
static const struct drained_entry drained = {.node_guid = 0x0002c90300000009,
					     .port = 7,
					     .of = 0x0002c90300000001,
					     .since_s = 77,
					     .by_policy = 1,
					     .name = "spine-01",
					     .reason = "flaps"};
static const struct lost_link_entry lost_link = {.node_guid = 0x0002c90300000001,
						 .port = 3,
						 .peer_guid = 0x0002c90300000009,
						 .peer_port = 7,
						 .since_s = 77,
						 .name = "leaf-01",
						 .peer_name = "spine-01"};
static const struct disabled_entry disabled = {.node_guid = 0x0002c90300000001, .port = 7};

#define RECORD(name) &(name), sizeof(name)
#define ZEROS_8 "0000000000000000"
#define ZEROS_62 ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8 "000000000000"

/* A record of each kind, with its exact text. */
static const struct {
	enum registry_kind kind;
	const void *record;
	size_t size; /* of record */
	const char *text;
} whole[] = {
	{REGISTRY_LID, RECORD(lid),
	 "{\"GUID\":\"0x0002c90300000001\",\"Gone\":3,\"LID\":1024,\"LMC\":2,"
	 "\"NodeGUID\":\"0x0002c90300000009\",\"Port\":3,\"kind\":\"lid\"}"},
	{REGISTRY_GROUP, RECORD(group),
	 "{\"FlowLabel\":1048575,\"HopLimit\":255,\"MGID\":\"0xff12401bffff000000000000ffffffff\","
	 "\"MLID\":49152,\"MTU\":4,\"Owner\":\"0x0002c90300000001\",\"P_Key\":65535,"
	 "\"PacketLifeTime\":18,\"Permanent\":1,"
	 "\"Q_Key\":2843,\"Rate\":3,\"SL\":15,\"Scope\":2,\"TClass\":7,\"kind\":\"group\"}"},
	{REGISTRY_MEMBER, RECORD(member),
	 "{\"JoinState\":1,\"MGID\":\"0xff12401bffff000000000000ffffffff\",\"Owner\":"
	 "\"0x0002c90300000003\","
	 "\"PortGUID\":\"0x0002c90300000001\",\"PortPrefix\":\"0xfe80000000000000\","
	 "\"ProxyJoin\":0,\"kind\":\"member\"}"},
	{REGISTRY_SERVICE, RECORD(service_whole),
	 "{\"Expires\":\"0x000000000000004d\",\"Owner\":\"0x0002c90300000002\",\"ServiceData\":"
	 "\"0xd0" ZEROS_62
	 "df\",\"ServiceGUID\":\"0x0002c90300000001\",\"ServiceID\":\"0x1000000000000007\","
	 "\"ServiceKey\":\"0xa00000000000000000000000000000af\",\"ServiceName\":\"ab\","
	 "\"ServiceP_Key\":32769,\"ServicePrefix\":\"0xfe80000000000000\",\"kind\":\"service\"}"},
	{REGISTRY_SUBSCRIPTION, RECORD(subscription),
	 "{\"GID\":\"0xfe0000000000000000000000000000ee\",\"IsGeneric\":1,\"LID\":2,"
	 "\"LIDRangeBegin\":6,\"LIDRangeEnd\":7,\"P_KeyIndex\":5,\"ProducerType\":11,\"QPN\":3,"
	 "\"RespTimeValue\":10,\"SL\":4,\"SubscriberEnum\":1,\"SubscriberGUID\":"
	 "\"0x0002c90300000001\",\"SubscriberPrefix\":\"0xfe80000000000000\",\"TrapNumber\":9,"
	 "\"Trusted\":1,\"Type\":8,\"kind\":\"subscription\"}"},
	{REGISTRY_ALIAS, RECORD(alias),
	 "{\"GUID\":\"0x8000000000000001\",\"Granted\":1,\"Index\":1,\"PortGUID\":"
	 "\"0x0002c90300000001\",\"kind\":\"alias\"}"},
	{REGISTRY_SETTING, RECORD(setting),
	 "{\"Name\":\"routing\",\"Value\":\"updn,minhop\",\"kind\":\"setting\"}"},
	{REGISTRY_PARTITION, RECORD(partition),
	 "{\"FlowLabel\":0,\"IPoIB\":1,\"Index0\":0,\"MTU\":4,\"Name\":\"blue\",\"P_Key\":5,"
	 "\"Q_Key\":2843,\"Rate\":3,\"SL\":0,\"Scope\":2,\"TClass\":0,\"kind\":\"partition\"}"},
	{REGISTRY_PARTITION_MEMBER, RECORD(partition_member),
	 "{\"GUID\":\"0x0002c90300000001\",\"Membership\":2,\"P_Key\":5,"
	 "\"kind\":\"partition member\"}"},
	{REGISTRY_PARTITION_OWNER, RECORD(partition_owner),
	 "{\"GUID\":\"0x0002c90300000001\",\"Owner\":\"gateway:gw1\",\"P_Key\":5,"
	 "\"kind\":\"partition owner\"}"},
	{REGISTRY_DISABLED, RECORD(disabled),
	 "{\"NodeGUID\":\"0x0002c90300000001\",\"Port\":7,\"kind\":\"disabled port\"}"},
	{REGISTRY_DRAINED, RECORD(drained),
	 "{\"ByPolicy\":1,\"Ending\":0,\"Forced\":0,\"Name\":\"spine-01\",\"NodeGUID\":"
	 "\"0x0002c90300000009\",\"Port\":7,\"Reason\":\"flaps\",\"Since\":"
	 "\"0x000000000000004d\",\"Target\":\"0x0002c90300000001\",\"TargetPort\":0,"
	 "\"kind\":\"drained port\"}"},
	{REGISTRY_LOST_LINK, RECORD(lost_link),
	 "{\"Name\":\"leaf-01\",\"NodeGUID\":\"0x0002c90300000001\",\"PeerGUID\":"
	 "\"0x0002c90300000009\",\"PeerName\":\"spine-01\",\"PeerPort\":7,\"Port\":3,"
	 "\"Since\":\"0x000000000000004d\",\"kind\":\"lost link\"}"},
};

static void test_there_and_back(void)
{
	uint64_t record[SAVE_RECORD_MAX / sizeof(uint64_t)];

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		json_t *object = json_loads(whole[i].text, 0, NULL), *again;
		char why[SAVE_WHY_SIZE] = "", *text;
		enum registry_kind kind;

		CU_ASSERT_EQUAL(save_parse(object, &kind, record, why), 0);
		CU_ASSERT_STRING_EQUAL(why, "");
		CU_ASSERT_EQUAL(kind, whole[i].kind);
		CU_ASSERT_EQUAL(memcmp(record, whole[i].record, whole[i].size), 0);
		again = save_record(kind, record);
		text = json_dumps(again, JSON_SORT_KEYS | JSON_COMPACT);
		CU_ASSERT_STRING_EQUAL(text, whole[i].text);
		free(text);
		json_decref(again);
		json_decref(object);
		again = save_record(whole[i].kind, whole[i].record);
		text = json_dumps(again, JSON_SORT_KEYS | JSON_COMPACT);
		CU_ASSERT_STRING_EQUAL(text, whole[i].text);
		free(text);
		json_decref(again);
	}
}

/* A document of a version that did not know grants has none. */
static void test_alias_without_grant(void)
{
	json_t *object = json_loads("{\"kind\":\"alias\",\"PortGUID\":\"0x5\",\"Index\":1,"
				    "\"GUID\":\"0xaa\"}",
				    0, NULL);
	struct alias_entry read = {.granted = 1};
	char why[SAVE_WHY_SIZE];
	enum registry_kind kind;

	CU_ASSERT_EQUAL(save_parse(object, &kind, &read, why), 0);
	CU_ASSERT_EQUAL(read.guid, 0xAA);
	CU_ASSERT_EQUAL(read.granted, 0);
	json_decref(object);
}

/* Names are text where possible, with any bytes from a remote node. */
static void test_names(void)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *json;
	} rows[] = {
		{"IPoIB", 5, "\"IPoIB\""},
		{"", 0, "\"\""},
		{"\xc3\xa9\"\\", 4, "\"\xc3\xa9\\\"\\\\\""},
		{"no \xff text", 9, NULL},
		{"a\0b", 3, NULL},
		{"1234567890123456789012345678901234567890123456789012345678901234", 64,
		 "\"1234567890123456789012345678901234567890123456789012345678901234\""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct service_entry service = {.service_id = 5, .p_key = 0xffff, .expires_s = 77};
		uint64_t back[SAVE_RECORD_MAX / sizeof(uint64_t)];
		char why[SAVE_WHY_SIZE] = "", *text;
		enum registry_kind kind;
		json_t *object;

		memcpy(service.name, rows[i].bytes, rows[i].size);
		memset(service.key, 0xa5, sizeof(service.key));
		object = save_record(REGISTRY_SERVICE, &service);
		text = json_dumps(json_object_get(object, "ServiceName"), JSON_ENCODE_ANY);
		if (rows[i].json)
			CU_ASSERT_STRING_EQUAL(text, rows[i].json);
		CU_ASSERT_EQUAL(json_is_object(json_object_get(object, "ServiceName")),
				!rows[i].json);
		CU_ASSERT_EQUAL(save_parse(object, &kind, back, why), 0);
		CU_ASSERT_EQUAL(memcmp(back, &service, sizeof(service)), 0);
		free(text);
		json_decref(object);
	}
}

static const struct {
	const char *text, *why;
} refused[] = {
	{"7", "not an object with a kind"},
	{"{}", "not an object with a kind"},
	{"{\"kind\":7}", "not an object with a kind"},
	{"{\"kind\":\"lids\"}", "unknown kind \"lids\""},
	{"{\"kind\":\"lid\",\"LID\":5}", "GUID: missing"},
	{"{\"kind\":\"lid\",\"GUID\":\"0x1\",\"LID\":5,\"Lid\":5}", "unknown field \"Lid\""},
	{"{\"kind\":\"lid\",\"GUID\":\"0x1\",\"LID\":\"five\"}",
	 "LID: expected a number, or 0x and hexadecimal digits"},
	{"{\"kind\":\"lid\",\"GUID\":\"0x1\",\"LID\":-5}",
	 "LID: expected a number, or 0x and hexadecimal digits"},
	{"{\"kind\":\"lid\",\"GUID\":\"0x1\",\"LID\":5.5}",
	 "LID: expected a number, or 0x and hexadecimal digits"},
	{"{\"kind\":\"lid\",\"GUID\":\"0x12345678901234567\",\"LID\":5}",
	 "GUID: expected a number, or 0x and hexadecimal digits"},
	{"{\"kind\":\"lid\",\"GUID\":\"0x-1\",\"LID\":5}",
	 "GUID: expected a number, or 0x and hexadecimal digits"},
	{"{\"kind\":\"lid\",\"GUID\":\"0x1\",\"LID\":65541}", "LID: more than 16 bits"},
	{"{\"kind\":\"lid\",\"GUID\":\"0x1\"}", "LID: not 1 to 49151"},
	{"{\"kind\":\"lid\",\"GUID\":\"0x1\",\"LID\":49152}", "LID: not 1 to 49151"},
	{"{\"kind\":\"lid\",\"GUID\":\"0x1\",\"LID\":6,\"LMC\":2}", "LID: not a multiple of 2^LMC"},
	{"{\"kind\":\"lid\",\"GUID\":\"0x1\",\"LID\":8,\"LMC\":8}", "LMC: not 0 to 7"},
	{"{\"kind\":\"lid\",\"GUID\":\"0x0\",\"LID\":8}", "GUID: no GUID"},
	{"{\"kind\":\"group\",\"MGID\":\"0xff12\"}", "MGID: expected 0x and 32 hexadecimal digits"},
	{"{\"kind\":\"group\",\"MGID\":\"0xff12401bffff000000000000fffffffg\"}",
	 "MGID: expected 0x and 32 hexadecimal digits"},
	{"{\"kind\":\"group\",\"MGID\":\"0xfe12401bffff000000000000ffffffff\",\"MLID\":49152}",
	 "MGID: not a multicast GID, which begins with ff"},
	{"{\"kind\":\"group\",\"MGID\":\"0xff12401bffff000000000000ffffffff\",\"MLID\":5}",
	 "MLID: not 0xc000 to 0xfffe"},
	{"{\"kind\":\"partition\",\"P_Key\":0,\"Name\":\"x\",\"MTU\":4,\"Rate\":3,\"Scope\":2}",
	 "P_Key: not 0x0001 to 0x7fff"},
	{"{\"kind\":\"partition member\",\"P_Key\":65535,\"GUID\":\"0x1\",\"Membership\":2}",
	 "P_Key: not 0x0001 to 0x7fff"},
	{"{\"kind\":\"partition member\",\"P_Key\":5,\"GUID\":\"0x1\",\"Membership\":4}",
	 "Membership: not 1 to 3"},
	{"{\"kind\":\"alias\",\"PortGUID\":\"0x5\",\"Index\":1,\"GUID\":\"0xaa\","
	 "\"Granted\":3}",
	 "Granted: not 0 to 2"},
	{"{\"kind\":\"drained "
	 "port\",\"NodeGUID\":\"0x1\",\"Port\":0,\"Target\":\"0x2\",\"TargetPort\":0,"
	 "\"Since\":\"0x1\",\"ByPolicy\":0,\"Ending\":0,\"Forced\":0,\"Name\":\"a\",\"Reason\":"
	 "\"\"}",
	 "Port: 0, and the record is not of a whole node"},
	{"{\"kind\":\"drained "
	 "port\",\"NodeGUID\":\"0x1\",\"Port\":1,\"Target\":\"0x2\",\"TargetPort\":0,"
	 "\"Since\":\"0x1\",\"ByPolicy\":0,\"Ending\":0,\"Forced\":0,\"Name\":\"a\","
	 "\"Reason\":\"x\\u001b[2J\"}",
	 "Reason: unprintable"},
	{"{\"kind\":\"lost link\",\"NodeGUID\":\"0x1\",\"Port\":1,\"PeerGUID\":\"0x2\","
	 "\"PeerPort\":1,\"Since\":\"0x1\",\"Name\":\"a\",\"PeerName\":\"b\\nc\"}",
	 "PeerName: unprintable"},
	{"{\"kind\":\"setting\",\"Name\":\"\",\"Value\":\"x\"}", "Name: empty"},
	{"{\"kind\":\"setting\",\"Name\":7,\"Value\":\"x\"}", "Name: no text"},
	{"{\"kind\":\"setting\",\"Name\":\"12345678901234567890123456789012\",\"Value\":\"x\"}",
	 "Name: too long"},
	{"{\"kind\":\"setting\",\"Name\":\"123456789012345678901234567890123\",\"Value\":\"x\"}",
	 "Name: longer than 32 bytes"},
	{"{\"kind\":\"setting\",\"Name\":{\"hex\":\"0x1234\"},\"Value\":\"x\"}", "Name: no text"},
};

static void test_refused(void)
{
	uint64_t record[SAVE_RECORD_MAX / sizeof(uint64_t)];

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		json_t *object = json_loads(refused[i].text, JSON_DECODE_ANY, NULL);
		enum registry_kind kind = REGISTRY_KINDS;
		char why[SAVE_WHY_SIZE] = "";

		CU_ASSERT_PTR_NOT_NULL_FATAL(object);
		CU_ASSERT_EQUAL(save_parse(object, &kind, record, why), -EINVAL);
		CU_ASSERT_STRING_EQUAL(why, refused[i].why);
		if (strcmp(why, refused[i].why) != 0)
			printf("    row %zu: %s\n", i, why);
		CU_ASSERT_EQUAL(kind, REGISTRY_KINDS);
		json_decref(object);
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"there and back", test_there_and_back},
		{"an alias without its grant", test_alias_without_grant},
		{"names", test_names},
		{"refused", test_refused},
		CU_TEST_INFO_NULL,
	};

	return unit_main("save", tests);
}

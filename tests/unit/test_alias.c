/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Alias GUIDs from the wire to the wire: who may set which, what the SM chooses, what is told of
 * them, and that whoever asks for one is led to its port.
 */
// LINK: fabric/registry.o sa/*.o mad/field.o mad/mad.o mad/txn.o sma/attr.o sma/notice.o sma/port.o
// LINK: fabric/mft.o fabric/view.o fabric/walk.o fabric/snapshot.o fabric/facts.o fabric/tables.o
// LINK: fabric/setting.o lib/loop.o lib/timers.o lib/log.o lib/map.o lib/guid.o lib/mem.o
// LIBS: -lsystemd
#include "tests/unit/adm_client.h"

#define LID COMPONENT(GUID_INFO_RECORD_LID)
#define BLOCK COMPONENT(GUID_INFO_RECORD_BLOCK_NUM)
#define PLACE(i) COMPONENT(GUID_INFO_RECORD_GUID0 + (i))
#define PREFIX UINT64_C(0xFEC0000000000001)

static struct guid_info_record told;

/* The answer, if it is one, is in told. */
static int change(uint8_t method, lid_t from, uint64_t sm_key, uint64_t mask, lid_t lid,
		  unsigned block, unsigned place, guid_t guid)
{
	struct guid_info_record wanted = {.lid = lid, .block_num = (uint8_t)block};
	int status;

	wanted.info.guid[place] = guid;
	status = ask(&(struct ask){.from = from,
				   .method = method,
				   .attr_id = RECORD_GUID_INFO,
				   .sm_key = sm_key,
				   .mask = mask,
				   .format = &guid_info_record_format,
				   .record = &wanted});
	if (status == STATUS_OK)
		answered(&guid_info_record_format, 0, &told);
	return status;
}

/* Set() of one GUID. A (LIDs 16-19) has 16 places, of which the second holds ALIAS_GUID already; D
 * (LID 28) has none. */
static const struct {
	lid_t from;
	uint64_t sm_key, mask;
	lid_t lid;
	unsigned block, place;
	guid_t guid;
	int status;
	guid_t then;
} sets[] = {
	{16, 0, LID | BLOCK | PLACE(2), 16, 0, 2, 0xA2, STATUS_OK, 0xA2},
	{16, 0, LID | BLOCK | PLACE(2), 16, 0, 2, 0xA2, STATUS_OK, 0xA2},
	{16, 0, LID | BLOCK | PLACE(2), 18, 0, 2, 0xA3, STATUS_OK, 0xA3}, /* by another LID of it */
	{17, 0, LID | BLOCK | PLACE(7), 16, 1, 7, 0xAF, STATUS_OK, 0xAF},
	/* Not asked to. */
	{16, 0, LID | BLOCK, 16, 1, 6, 0xAE, STATUS_OK, 0},
	{16, 0, BLOCK | PLACE(2), 16, 0, 2, 0xA2, SA_REQ_INSUFFICIENT_COMPONENTS, 0},
	{16, 0, LID | PLACE(2), 16, 0, 2, 0xA2, SA_REQ_INSUFFICIENT_COMPONENTS, 0},
	/* The port's own stays. */
	{16, 0, LID | BLOCK | PLACE(0), 16, 0, 0, 0xA0, STATUS_OK, PORT_GUID(A)},
	/* There is no such place. */
	{16, 0, LID | BLOCK | PLACE(0), 16, 2, 0, 0xA0, SA_REQ_INVALID, 0},
	{16, 0, LID | BLOCK | PLACE(0), 16, 255, 0, 0xA0, SA_REQ_INVALID, 0},
	{28, 0, LID | BLOCK | PLACE(1), 28, 0, 1, 0xD1, SA_REQ_INVALID, 0},
	{16, 0, LID | BLOCK | PLACE(2), 15, 0, 2, 0xA2, SA_NO_RECORDS, 0},
	/* Another's port: for the trusted only, and for who sees it. */
	{24, 0, LID | BLOCK | PLACE(3), 16, 0, 3, 0xC3, SA_REQ_DENIED, 0},
	{24, SA_KEY, LID | BLOCK | PLACE(3), 16, 0, 3, 0xC3, STATUS_OK, 0xC3},
	/* Somebody has it: as his own, as an alias, in another place. */
	{16, 0, LID | BLOCK | PLACE(4), 16, 0, 4, PORT_GUID(C), SA_REQ_INVALID, 0},
	{16, 0, LID | BLOCK | PLACE(4), 16, 0, 4, PORT_GUID(A), SA_REQ_INVALID, 0},
	{16, 0, LID | BLOCK | PLACE(4), 16, 0, 4, 0xAF, SA_REQ_INVALID, 0},
};

static void test_sets(void)
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		uint64_t before = registry_number(sa.registry);

		CU_ASSERT_EQUAL(change(METHOD_SET, sets[i].from, sets[i].sm_key, sets[i].mask,
				       sets[i].lid, sets[i].block, sets[i].place, sets[i].guid),
				sets[i].status);
		CU_ASSERT_EQUAL(sa.header.method, METHOD_GET_RESP);
		if (sets[i].status) {
			CU_ASSERT_EQUAL(registry_number(sa.registry), before);
			continue;
		}
		CU_ASSERT_EQUAL(told.lid, sets[i].lid);
		CU_ASSERT_EQUAL(told.block_num, sets[i].block);
		CU_ASSERT_EQUAL(told.info.guid[sets[i].place], sets[i].then);
		CU_ASSERT_EQUAL(told.info.guid[0], sets[i].block ? 0 : PORT_GUID(A));
		/* What was read there and nobody registered is told as it is. */
		CU_ASSERT_EQUAL(told.info.guid[1], sets[i].block ? 0 : ALIAS_GUID);
	}
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), 3);
	end();
}

/* Who asks for 0 gets a GUID, the same one when he asks again, even of an SA that knows nothing
 * any more. */
static void test_chosen(void)
{
	const uint64_t mask = LID | BLOCK | PLACE(2) | PLACE(3);
	guid_t chosen[2][2];

	for (unsigned round = 0; round < 2; round++) {
		begin();
		for (unsigned again = 0; again < 2; again++) {
			CU_ASSERT_EQUAL(change(METHOD_SET, 16, 0, mask, 16, 0, 7, 0), STATUS_OK);
			CU_ASSERT_EQUAL(told.info.guid[2] >> 56, 0x02);
			CU_ASSERT_EQUAL(told.info.guid[3] >> 56, 0x02);
			CU_ASSERT_NOT_EQUAL(told.info.guid[2], told.info.guid[3]);
			CU_ASSERT_TRUE(!again || chosen[round][0] == told.info.guid[2]);
			memcpy(chosen[round], &told.info.guid[2], sizeof(chosen[round]));
		}
		CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), 2);
		end();
	}
	CU_ASSERT_EQUAL(memcmp(chosen[0], chosen[1], sizeof(chosen[0])), 0);
}

static void join(guid_t guid)
{
	struct member_entry member = {
		.mgid = {0xFF}, .port_prefix = PREFIX, .port_guid = guid, .join_state = 1};

	registry_put(sa.registry, REGISTRY_MEMBER, &member);
}

static void test_deletes(void)
{
	const uint64_t mask = LID | BLOCK | PLACE(2);

	begin();
	CU_ASSERT_EQUAL(change(METHOD_DELETE, 16, 0, mask, 16, 0, 2, 0), STATUS_OK); /* none */
	CU_ASSERT_EQUAL(change(METHOD_SET, 16, 0, mask, 16, 0, 2, 0xA2), STATUS_OK);
	CU_ASSERT_EQUAL(change(METHOD_DELETE, 24, 0, mask, 16, 0, 2, 0), SA_REQ_DENIED);
	join(0xA2);
	CU_ASSERT_EQUAL(change(METHOD_DELETE, 16, 0, mask, 16, 0, 2, 0), SA_REQ_DENIED);
	CU_ASSERT_EQUAL(change(METHOD_SET, 16, 0, mask, 16, 0, 2, 0xA3), SA_REQ_DENIED);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), 1);
	registry_drop(sa.registry, REGISTRY_MEMBER,
		      registry_first(sa.registry, REGISTRY_MEMBER, -1, NULL));
	CU_ASSERT_EQUAL(change(METHOD_DELETE, 16, 0, mask, 16, 0, 2, 0), STATUS_OK);
	CU_ASSERT_EQUAL(sa.header.method, METHOD_DELETE_RESP);
	CU_ASSERT_EQUAL(told.info.guid[2], 0);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), 0);
	end();
}

/* A path to an alias leads to the port and says the alias; NodeRecord knows no aliases. */
static void test_resolved(void)
{
	struct path_record wanted = {0}, record = {0};
	struct node_record node = {.info.port_guid = 0xA2};

	begin();
	CU_ASSERT_EQUAL(change(METHOD_SET, 16, 0, LID | BLOCK | PLACE(2), 16, 0, 2, 0xA2),
			STATUS_OK);
	be64_store(wanted.sgid, PREFIX);
	be64_store(wanted.sgid + 8, PORT_GUID(C));
	be64_store(wanted.dgid, PREFIX);
	be64_store(wanted.dgid + 8, 0xA2);
	CU_ASSERT_EQUAL(ask_path(METHOD_GET, COMPONENT(PATH_SGID) | COMPONENT(PATH_DGID), &wanted),
			STATUS_OK);
	answered(&path_record_format, 0, &record);
	CU_ASSERT_EQUAL(record.dlid, 16);
	CU_ASSERT_EQUAL(record.slid, 24);
	CU_ASSERT_EQUAL(memcmp(record.dgid, wanted.dgid, GID_SIZE), 0);
	CU_ASSERT_EQUAL(memcmp(record.sgid, wanted.sgid, GID_SIZE), 0);
	/* And back, of all destinations. */
	memcpy(wanted.sgid, wanted.dgid, GID_SIZE);
	CU_ASSERT_EQUAL(table(RECORD_PATH, &path_record_format, COMPONENT(PATH_SGID), &wanted), 24);
	answered(&path_record_format, 23, &record);
	CU_ASSERT_EQUAL(memcmp(record.sgid, wanted.sgid, GID_SIZE), 0);
	CU_ASSERT_EQUAL(
		table(RECORD_NODE, &node_record_format, COMPONENT(NODE_RECORD_PORT_GUID), &node),
		0);
	end();
}

/* MultiPathRecord as well. */
static void test_resolved_many(void)
{
	const struct multi_path_record wanted = {.sgid_count = 1, .dgid_count = 2};
	uint8_t gids[3 * GID_SIZE];
	struct path_record record = {0};
	const guid_t guids[] = {PORT_GUID(C), PORT_GUID(B), 0xA2};

	begin();
	CU_ASSERT_EQUAL(change(METHOD_SET, 16, 0, LID | BLOCK | PLACE(2), 16, 0, 2, 0xA2),
			STATUS_OK);
	for (unsigned i = 0; i < 3; i++) {
		be64_store(gids + i * GID_SIZE, PREFIX);
		be64_store(gids + i * GID_SIZE + 8, guids[i]);
	}
	CU_ASSERT_EQUAL(ask(&(struct ask){.method = METHOD_GET_MULTI,
					  .attr_id = RECORD_MULTI_PATH,
					  .mask = COMPONENT(MULTI_PATH_SGID_COUNT) |
						  COMPONENT(MULTI_PATH_DGID_COUNT),
					  .format = &multi_path_record_format,
					  .record = &wanted,
					  .gids = gids,
					  .num_gids = 3}),
			STATUS_OK);
	for (unsigned i = 0; i < 2; i++) {
		answered(&path_record_format, i, &record);
		CU_ASSERT_EQUAL(memcmp(record.dgid, gids + (1 + i) * GID_SIZE, GID_SIZE), 0);
	}
	CU_ASSERT_EQUAL(record.dlid, 16);
	end();
}

static int ask_change(lid_t from, uint16_t attr_id, uint64_t mask, const struct format *format,
		      const void *record)
{
	return ask(&(struct ask){.method = METHOD_SET,
				 .attr_id = attr_id,
				 .from = from,
				 .mask = mask,
				 .format = format,
				 .record = record});
}

/* Under its alias a port is in groups and offers services, as a virtual machine does; nobody else
 * may. What was registered goes when the port is forgotten. */
static void test_registers(void)
{
	const struct event event = {.kind = EVENT_PORT_FORGOTTEN, .guid = PORT_GUID(A)};
	const uint64_t join = COMPONENT(MC_MEMBER_MGID) | COMPONENT(MC_MEMBER_PORT_GID) |
			      COMPONENT(MC_MEMBER_JOIN_STATE);
	const uint64_t offer = COMPONENT(SERVICE_RECORD_SERVICE_ID) |
			       COMPONENT(SERVICE_RECORD_GID) | COMPONENT(SERVICE_RECORD_P_KEY);
	struct mc_member_record member = {.join_state = JOIN_FULL}, told_member = {0};
	struct service_record service = {.service_id = 5, .p_key = PKEY_DEFAULT_FULL};

	begin();
	CU_ASSERT_EQUAL(change(METHOD_SET, 16, 0, LID | BLOCK | PLACE(2), 16, 0, 2, 0xA2),
			STATUS_OK);
	be64_store(member.mgid, UINT64_C(0xFF12401BFFFF0000));
	be64_store(member.mgid + 8, 0xFFFFFFFF);
	be64_store(member.port_gid, PREFIX);
	be64_store(member.port_gid + 8, 0xA2);
	CU_ASSERT_EQUAL(ask_change(16, RECORD_MC_MEMBER, join, &mc_member_record_format, &member),
			STATUS_OK);
	answered(&mc_member_record_format, 0, &told_member);
	CU_ASSERT_EQUAL(be64_load(told_member.port_gid + 8), 0xA2);
	CU_ASSERT_EQUAL(told_member.proxy_join, 0);
	memcpy(service.gid, member.port_gid, GID_SIZE);
	CU_ASSERT_EQUAL(ask_change(24, RECORD_SERVICE, offer, &service_record_format, &service),
			SA_REQ_INVALID);
	CU_ASSERT_EQUAL(ask_change(16, RECORD_SERVICE, offer, &service_record_format, &service),
			STATUS_OK);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_MEMBER), 1);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_SERVICE), 1);
	event_raise(&sa.events, &event);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_MEMBER), 0);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_SERVICE), 0);
	end();
}

/* A port's services count as its own when the alias is gone under which it offered them. */
static void test_limit(void)
{
	const uint64_t offer = COMPONENT(SERVICE_RECORD_SERVICE_ID) | COMPONENT(SERVICE_RECORD_GID);
	struct service_record service = {0};

	begin();
	be64_store(service.gid, PREFIX);
	be64_store(service.gid + 8, 0xA2);
	CU_ASSERT_EQUAL(change(METHOD_SET, 16, 0, LID | BLOCK | PLACE(2), 16, 0, 2, 0xA2),
			STATUS_OK);
	while (++service.service_id < options.registrations_per_port)
		CU_ASSERT_EQUAL(
			ask_change(16, RECORD_SERVICE, offer, &service_record_format, &service),
			STATUS_OK);
	CU_ASSERT_EQUAL(change(METHOD_DELETE, 16, 0, LID | BLOCK | PLACE(2), 16, 0, 2, 0),
			STATUS_OK);
	be64_store(service.gid + 8, PORT_GUID(A));
	CU_ASSERT_EQUAL(ask_change(16, RECORD_SERVICE, offer, &service_record_format, &service),
			STATUS_OK);
	service.service_id++;
	CU_ASSERT_EQUAL(ask_change(16, RECORD_SERVICE, offer, &service_record_format, &service),
			SA_NO_RESOURCES);
	end();
}

/* What a port that will not come back had is free again. */
static void test_forgotten(void)
{
	const struct event event = {.kind = EVENT_PORT_FORGOTTEN, .guid = PORT_GUID(A)};

	begin();
	CU_ASSERT_EQUAL(
		change(METHOD_SET, 16, 0, LID | BLOCK | PLACE(2) | PLACE(3), 16, 0, 2, 0xA2),
		STATUS_OK);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), 2);
	event_raise(&sa.events, &event);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), 0);
	end();
}

/* From a port that is there nobody takes an alias; from one that is not, anybody, and it comes
 * without what was registered under it. The port itself keeps the rest. */
static void test_moves(void)
{
	const struct alias_entry old = {.port_guid = 0xDEAD, .index = 1, .guid = 0xA9},
				 other = {.port_guid = 0xDEAD, .index = 2, .guid = 0xAA};
	const struct service_entry service = {.service_id = 1, .gid_guid = 0xA9},
				   of_port = {.service_id = 1, .gid_guid = 0xDEAD};
	const struct alias_entry *alias;

	begin();
	registry_put(sa.registry, REGISTRY_ALIAS, &old);
	registry_put(sa.registry, REGISTRY_ALIAS, &other);
	registry_put(sa.registry, REGISTRY_SERVICE, &service);
	registry_put(sa.registry, REGISTRY_SERVICE, &of_port);
	join(0xA9);
	join(0xDEAD);
	CU_ASSERT_EQUAL(change(METHOD_SET, 16, 0, LID | BLOCK | PLACE(2), 16, 0, 2, 0xA9),
			STATUS_OK);
	CU_ASSERT_EQUAL(told.info.guid[2], 0xA9);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), 2);
	alias = registry_first(sa.registry, REGISTRY_ALIAS, ALIAS_BY_GUID, &old);
	CU_ASSERT_EQUAL(alias->port_guid, PORT_GUID(A));
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_SERVICE), 1);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_MEMBER), 1);

	/* Now its owner is there. */
	join(0xA9);
	CU_ASSERT_EQUAL(change(METHOD_SET, 24, SA_KEY, LID | BLOCK | PLACE(3), 16, 0, 3, 0xA9),
			SA_REQ_INVALID);
	CU_ASSERT_EQUAL(change(METHOD_SET, 16, 0, LID | BLOCK | PLACE(2), 16, 0, 2, 0xA9),
			STATUS_OK);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_MEMBER), 2);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"Set", test_sets},
		{"GUIDs that the SM chooses", test_chosen},
		{"Delete", test_deletes},
		{"paths to aliases", test_resolved},
		{"groups and services of aliases", test_registers},
		{"services under an alias that is gone", test_limit},
		{"paths to one of many", test_resolved_many},
		{"a port that is forgotten", test_forgotten},
		{"an alias moves", test_moves},
		CU_TEST_INFO_NULL,
	};

	return unit_main("alias", tests);
}

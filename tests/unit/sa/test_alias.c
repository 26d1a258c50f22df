/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Alias GUIDs from the wire to the wire: rights to set a GUID, the GUIDs that the SM chooses, and
 * the content of answers. A refusal gives no information about other ports. A path to an alias
 * leads to its port.
 */
#include "tests/unit/fixtures/sa_client.h"

#define LID COMPONENT(GUID_INFO_RECORD_LID)
#define BLOCK COMPONENT(GUID_INFO_RECORD_BLOCK_NUM)
#define PLACE(i) COMPONENT(GUID_INFO_RECORD_GUID0 + (i))
#define PREFIX UINT64_C(0xFEC0000000000001)

static struct guid_info_record told;

/* Sends a change. An answer with status OK is decoded into `told`. */
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
	/* No GUID bit: nothing changes. */
	{16, 0, LID | BLOCK, 16, 1, 6, 0xAE, STATUS_OK, 0},
	{16, 0, BLOCK | PLACE(2), 16, 0, 2, 0xA2, SA_REQ_INSUFFICIENT_COMPONENTS, 0},
	{16, 0, LID | PLACE(2), 16, 0, 2, 0xA2, SA_REQ_INSUFFICIENT_COMPONENTS, 0},
	/* The port's own stays. */
	{16, 0, LID | BLOCK | PLACE(0), 16, 0, 0, 0xA0, STATUS_OK, PORT_GUID(A)},
	/* There is no such block. */
	{16, 0, LID | BLOCK | PLACE(0), 16, 2, 0, 0xA0, SA_REQ_INVALID, 0},
	{16, 0, LID | BLOCK | PLACE(0), 16, 255, 0, 0xA0, SA_REQ_INVALID, 0},
	{28, 0, LID | BLOCK | PLACE(1), 28, 0, 1, 0xD1, SA_REQ_INVALID, 0},
	{16, 0, LID | BLOCK | PLACE(2), 15, 0, 2, 0xA2, SA_NO_RECORDS, 0},
	/* Of another port: only with the SA_Key, and only for a requester that may see the port. */
	{24, 0, LID | BLOCK | PLACE(3), 16, 0, 3, 0xC3, SA_REQ_DENIED, 0},
	{24, SA_KEY, LID | BLOCK | PLACE(3), 16, 0, 3, 0xC3, STATUS_OK, 0xC3},
	/* A port has it as its own. */
	{16, 0, LID | BLOCK | PLACE(4), 16, 0, 4, PORT_GUID(C), STATUS_OK, 0},
	{16, 0, LID | BLOCK | PLACE(4), 16, 0, 4, PORT_GUID(A), STATUS_OK, 0},
	/* It moves to another place of its port, but not over another alias. */
	{16, 0, LID | BLOCK | PLACE(2), 16, 0, 2, 0xAF, STATUS_OK, 0xA3},
	{16, 0, LID | BLOCK | PLACE(4), 16, 0, 4, 0xAF, STATUS_OK, 0xAF},
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
		/* An alias that was read there and never registered is in the answer unchanged. */
		CU_ASSERT_EQUAL(told.info.guid[1], sets[i].block ? 0 : ALIAS_GUID);
	}
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), 3);
	end();
}

/* Set with GUID 0 gets a GUID of the SM's choice. A second request gets the same GUID, also from an
 * SA without any records. */
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
	CU_ASSERT_EQUAL(sa_stats(sa.server)->aliases_refused, 0);
	CU_ASSERT_EQUAL(change(METHOD_DELETE, 24, 0, mask, 16, 0, 2, 0), SA_REQ_DENIED);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->aliases_refused, 1);
	CU_ASSERT_EQUAL(change(METHOD_SET, 24, 0, mask | PLACE(3), 16, 0, 2, 0xA9), SA_REQ_DENIED);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->aliases_refused, 3);
	join(0xA2);
	CU_ASSERT_EQUAL(change(METHOD_SET, 16, 0, LID | BLOCK | PLACE(3), 16, 0, 3, 0xA3),
			STATUS_OK);
	CU_ASSERT_EQUAL(change(METHOD_DELETE, 16, 0, mask | PLACE(3), 16, 0, 2, 0), SA_REQ_DENIED);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->aliases_refused, 5); /* the whole request */
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), 2);
	CU_ASSERT_EQUAL(change(METHOD_DELETE, 16, 0, LID | BLOCK | PLACE(3), 16, 0, 3, 0),
			STATUS_OK);
	registry_drop(sa.registry, REGISTRY_MEMBER,
		      registry_first(sa.registry, REGISTRY_MEMBER, -1, NULL));
	CU_ASSERT_EQUAL(change(METHOD_DELETE, 16, 0, mask, 16, 0, 2, 0), STATUS_OK);
	CU_ASSERT_EQUAL(sa.header.method, METHOD_DELETE_RESP);
	CU_ASSERT_EQUAL(told.info.guid[2], 0);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), 0);
	end();
}

/* After a crash the driver has new random GUIDs, and has left no group. Nothing of the old GUID
 * stays. */
static void test_replaced(void)
{
	const uint64_t mask = LID | BLOCK | PLACE(2);

	begin();
	CU_ASSERT_EQUAL(change(METHOD_SET, 16, 0, mask, 16, 0, 2, 0xA2), STATUS_OK);
	join(0xA2);
	CU_ASSERT_EQUAL(change(METHOD_SET, 16, 0, mask, 16, 0, 2, 0xA2), STATUS_OK);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_MEMBER), 1);
	CU_ASSERT_EQUAL(change(METHOD_SET, 16, 0, mask, 16, 0, 2, 0xA4), STATUS_OK);
	CU_ASSERT_EQUAL(told.info.guid[2], 0xA4);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), 1);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_MEMBER), 0);
	end();
}

/* Set() of a whole block of A: each GUID by itself, as mlx4 expects it. */
static int set_block(unsigned block, uint8_t places, const guid_t guids[GUID_BLOCK_GUIDS])
{
	struct guid_info_record wanted = {.lid = 16, .block_num = (uint8_t)block};
	int status;

	memcpy(wanted.info.guid, guids, sizeof(wanted.info.guid));
	status = ask(&(struct ask){.method = METHOD_SET,
				   .attr_id = RECORD_GUID_INFO,
				   .mask = LID | BLOCK | (uint64_t)places * PLACE(0),
				   .format = &guid_info_record_format,
				   .record = &wanted});
	if (status == STATUS_OK)
		answered(&guid_info_record_format, 0, &told);
	return status;
}

static void test_each_by_itself(void)
{
	static const guid_t first[GUID_BLOCK_GUIDS] = {[2] = 0xA2, [6] = 0xA6},
			    wanted[] = {0xA0, ALIAS_GUID, 0xB2, PORT_GUID(C), 0xB4, 0xB4, 0xB6, 0},
			    then[] = {PORT_GUID(A), ALIAS_GUID, 0xB2, 0, 0xB4, 0, 0xB6};

	begin();
	CU_ASSERT_EQUAL(set_block(0, 1 << 2 | 1 << 6, first), STATUS_OK);
	join(0xA6);
	CU_ASSERT_EQUAL(set_block(0, 0xFF, wanted), STATUS_OK);
	CU_ASSERT_EQUAL(memcmp(told.info.guid, then, sizeof(then)), 0);
	CU_ASSERT_EQUAL(told.info.guid[7] >> 56, 0x02); /* chosen */
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), 5);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->aliases_refused, 2);
	end();
}

/* GUIDCap counts the port's own GUID. A block that begins beyond it is refused. If it ends within a
 * block, the places beyond it stay empty. */
static void test_cap(void)
{
	for (unsigned cap = 1; cap <= 2 * GUID_BLOCK_GUIDS; cap++) {
		struct endport port;

		begin();
		endport_by_lid(sa.view->topology, 16, &port);
		((struct node_facts *)port.facts)->port[1].info.guid_cap = (uint8_t)cap;
		for (unsigned block = 0; block < 2; block++) {
			unsigned first = block * GUID_BLOCK_GUIDS;
			guid_t guids[GUID_BLOCK_GUIDS];
			int status;

			for (unsigned i = 0; i < GUID_BLOCK_GUIDS; i++)
				guids[i] = 0xC0 + first + i;
			status = set_block(block, 0xFF, guids);
			CU_ASSERT_EQUAL(status, first < cap ? STATUS_OK : SA_REQ_INVALID);
			guids[0] = block ? guids[0] : PORT_GUID(A);
			for (unsigned i = 0; !status && i < GUID_BLOCK_GUIDS; i++)
				CU_ASSERT_EQUAL(told.info.guid[i], first + i < cap ? guids[i] : 0);
		}
		CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), cap - 1);
		end();
	}
}

/* Each GUID of a block counts for what one port may register. */
static void test_quota(void)
{
	static const guid_t guids[] = {0xC0, 0xC1, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6, 0xC7};
	struct sa_options few = options;

	begin();
	few.registrations_per_port = 3;
	sa_set_options(sa.server, &few);
	CU_ASSERT_EQUAL(set_block(1, 0xFF, guids), STATUS_OK);
	for (unsigned i = 0; i < GUID_BLOCK_GUIDS; i++)
		CU_ASSERT_EQUAL(told.info.guid[i], i < 3 ? guids[i] : 0);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), 3);
	CU_ASSERT_EQUAL(sa_stats(sa.server)->over_limit[SA_LIMIT_REGISTRATIONS], 5);
	end();
}

/* The port's table still has the alias that was just deleted; the answer does not. */
static void test_delete_answer(void)
{
	const uint64_t mask = LID | BLOCK | PLACE(1) | PLACE(2);

	begin();
	CU_ASSERT_EQUAL(change(METHOD_SET, 16, 0, LID | BLOCK | PLACE(1), 16, 0, 1, ALIAS_GUID),
			STATUS_OK);
	CU_ASSERT_EQUAL(told.info.guid[1], ALIAS_GUID);
	CU_ASSERT_EQUAL(change(METHOD_DELETE, 16, 0, mask, 16, 0, 1, ALIAS_GUID), STATUS_OK);
	CU_ASSERT_EQUAL(sa.header.method, METHOD_DELETE_RESP);
	CU_ASSERT_EQUAL(told.info.guid[0], PORT_GUID(A));
	CU_ASSERT_EQUAL(told.info.guid[1], 0);
	CU_ASSERT_EQUAL(told.info.guid[2], 0);
	end();
}

/* A path to an alias leads to the port and contains the alias; NodeRecord knows no aliases. */
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

/* A port joins groups and offers services under its alias, as a virtual machine does. No other port
 * may use the alias. The registrations end when the port is forgotten. */
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

/* The aliases of a forgotten port are free again. */
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

/* The answers of the manager about GUIDs, in place of sm_alias_claim(). */
static struct {
	guid_t claimed, listed;
	guid_t listed_port;
} words;

static enum alias_claim claim(const void *ctx, guid_t port_guid, guid_t guid)
{
	CU_ASSERT_PTR_EQUAL(ctx, &words);
	if (words.listed && guid == words.listed && port_guid == words.listed_port)
		return ALIAS_LISTED;
	return words.claimed && guid == words.claimed ? ALIAS_CLAIMED : ALIAS_UNCLAIMED;
}

static void begin_with_words(void)
{
	begin();
	words.claimed = words.listed = words.listed_port = 0;
	sa_set_alias_claim(sa.server, claim, &words);
}

/* B, a limited member of the default partition, gets as many GUIDs as A. */
static void give_places(unsigned host)
{
	struct endport port;

	endport_by_lid(sa.view->topology, two_switches_hosts[host].lid, &port);
	((struct node_facts *)port.facts)->port[1].info.guid_cap = 16;
}

static bool sets_with(uint64_t sm_key, unsigned host, unsigned place, guid_t guid)
{
	lid_t lid = two_switches_hosts[host].lid;

	return !change(METHOD_SET, lid, sm_key, LID | BLOCK | PLACE(place), lid, 0, place, guid) &&
	       told.info.guid[place] == guid;
}

static bool sets_one(unsigned host, unsigned place, guid_t guid)
{
	return sets_with(0, host, place, guid);
}

static const struct alias_entry *alias_of(guid_t guid)
{
	const struct alias_entry key = {.guid = guid};

	return registry_first(sa.registry, REGISTRY_ALIAS, ALIAS_BY_GUID, &key);
}

static void hold(guid_t port_guid, guid_t guid, uint8_t granted)
{
	const struct alias_entry alias = {
		.port_guid = port_guid, .index = 5, .guid = guid, .granted = granted};

	registry_put(sa.registry, REGISTRY_ALIAS, &alias);
}

/* The use of GUID 0xA9 before the request. */
enum before {
	NOTHING,
	CLAIMED,
	HELD_THERE, /* an alias of C, which is there and was not granted it */
	HELD_THERE_BY_KEY,
	HELD_THERE_BY_ADMINISTRATOR,
	HELD_AWAY,
	HELD_AWAY_BY_KEY,
	HELD_AWAY_BY_ADMINISTRATOR,
	SERVICE_OF_OTHER, /* a service of another port has it */
	SERVICE_OF_OWN,
	BEFORES
};

static void make_before(enum before before, guid_t own)
{
	static const uint8_t grants[] = {ALIAS_NOT_GRANTED, ALIAS_BY_SA_KEY,
					 ALIAS_BY_ADMINISTRATOR};
	const struct service_entry service = {.service_id = 1,
					      .gid_guid = 0xA9,
					      .owner = before == SERVICE_OF_OWN ? own
										: (guid_t)0xDEAD};

	words.claimed = before == CLAIMED ? 0xA9 : 0;
	if (before >= HELD_THERE && before <= HELD_AWAY_BY_ADMINISTRATOR)
		hold(before < HELD_AWAY ? PORT_GUID(C) : 0xDEAD, 0xA9,
		     grants[(before - HELD_THERE) % ARRAY_SIZE(grants)]);
	if (before == SERVICE_OF_OTHER || before == SERVICE_OF_OWN)
		registry_put(sa.registry, REGISTRY_SERVICE, &service);
}

enum trust { BY_LIMITED, BY_FULL, BY_LIST, BY_KEY };

/* All except a GUID granted to a present port, and a GUID granted by an administrator. */
#define TRUSTED_GETS                                                                           \
	{                                                                                      \
		[NOTHING] = true, [CLAIMED] = true, [HELD_THERE] = true, [HELD_AWAY] = true,   \
		[HELD_AWAY_BY_KEY] = true, [SERVICE_OF_OTHER] = true, [SERVICE_OF_OWN] = true, \
	}

/* The uses in which each requester gets the GUID, and the grant that it has then. */
static const struct {
	bool gets[BEFORES];
	uint8_t granted;
} trusts[] = {
	[BY_LIMITED] = {{0}, 0},
	[BY_FULL] = {{[NOTHING] = true, [SERVICE_OF_OWN] = true}, ALIAS_NOT_GRANTED},
	[BY_LIST] = {TRUSTED_GETS, ALIAS_NOT_GRANTED},
	[BY_KEY] = {TRUSTED_GETS, ALIAS_BY_SA_KEY},
};

static void test_trust(void)
{
	for (enum trust trust = BY_LIMITED; trust <= BY_KEY; trust++) {
		for (enum before before = NOTHING; before < BEFORES; before++) {
			unsigned host = trust == BY_LIMITED || trust == BY_LIST ? B : A;
			bool gets = trusts[trust].gets[before];
			const struct alias_entry *alias;

			begin_with_words();
			give_places(B);
			make_before(before, PORT_GUID(host));
			if (trust == BY_LIST) {
				words.listed = 0xA9;
				words.listed_port = PORT_GUID(B);
			}
			CU_ASSERT_EQUAL(sets_with(trust == BY_KEY ? SA_KEY : 0, host, 3, 0xA9),
					gets);
			alias = alias_of(0xA9);
			CU_ASSERT_EQUAL(alias && alias->port_guid == PORT_GUID(host), gets);
			if (gets && alias)
				CU_ASSERT_EQUAL(alias->granted, trusts[trust].granted);
			CU_ASSERT_EQUAL(sa_stats(sa.server)->aliases_refused, !gets);
			end();
		}
	}
}

/* The default SA_Key is public, so it gives no grant and no access to the GUIDs of other ports. */
static void test_default_key(void)
{
	struct sa_options known = options;

	known.sa_key = SA_KEY_DEFAULT;
	begin_with_words();
	sa_set_options(sa.server, &known);
	words.claimed = 0xA9;
	CU_ASSERT_FALSE(sets_with(SA_KEY_DEFAULT, A, 3, 0xA9));
	CU_ASSERT_TRUE(sets_with(SA_KEY_DEFAULT, A, 3, 0xA8));
	CU_ASSERT_EQUAL(alias_of(0xA8)->granted, ALIAS_NOT_GRANTED);
	CU_ASSERT_EQUAL(
		change(METHOD_SET, 24, SA_KEY_DEFAULT, LID | BLOCK | PLACE(2), 16, 0, 2, 0xA7),
		SA_REQ_DENIED);
	CU_ASSERT_EQUAL(
		change(METHOD_DELETE, 24, SA_KEY_DEFAULT, LID | BLOCK | PLACE(3), 16, 0, 3, 0),
		SA_REQ_DENIED);
	end();
}

/* A port keeps its alias, even if the GUID has been claimed since. A request with an SA_Key adds
 * the grant. */
static void test_held(void)
{
	begin_with_words();
	give_places(B);
	hold(PORT_GUID(B), 0xA9, ALIAS_NOT_GRANTED);
	words.claimed = 0xA9;
	CU_ASSERT_TRUE(sets_one(B, 5, 0xA9));
	CU_ASSERT_TRUE(sets_one(B, 6, 0xA9)); /* to another place */
	CU_ASSERT_EQUAL(alias_of(0xA9)->granted, ALIAS_NOT_GRANTED);
	CU_ASSERT_TRUE(sets_with(SA_KEY, B, 6, 0xA9));
	CU_ASSERT_EQUAL(alias_of(0xA9)->granted, ALIAS_BY_SA_KEY);
	CU_ASSERT_TRUE(sets_one(B, 7, 0xA9)); /* with its grant */
	CU_ASSERT_EQUAL(alias_of(0xA9)->granted, ALIAS_BY_SA_KEY);
	CU_ASSERT_EQUAL(alias_of(0xA9)->index, 7);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), 1);
	end();
}

/* The table of store/alias.h, written out. */
static void test_ranking(void)
{
	static const struct {
		enum alias_grant held, asked;
		bool moves, moves_if_away;
	} rows[] = {
		{ALIAS_NOT_GRANTED, ALIAS_NOT_GRANTED, false, false},
		{ALIAS_NOT_GRANTED, ALIAS_BY_LIST, true, true},
		{ALIAS_NOT_GRANTED, ALIAS_BY_SA_KEY, true, true},
		{ALIAS_NOT_GRANTED, ALIAS_BY_ADMINISTRATOR, true, true},
		{ALIAS_BY_LIST, ALIAS_NOT_GRANTED, false, false},
		{ALIAS_BY_LIST, ALIAS_BY_LIST, false, true},
		{ALIAS_BY_LIST, ALIAS_BY_SA_KEY, false, true},
		{ALIAS_BY_LIST, ALIAS_BY_ADMINISTRATOR, false, false},
		{ALIAS_BY_SA_KEY, ALIAS_NOT_GRANTED, false, false},
		{ALIAS_BY_SA_KEY, ALIAS_BY_LIST, false, true},
		{ALIAS_BY_SA_KEY, ALIAS_BY_SA_KEY, false, true},
		{ALIAS_BY_SA_KEY, ALIAS_BY_ADMINISTRATOR, false, false},
		{ALIAS_BY_ADMINISTRATOR, ALIAS_NOT_GRANTED, false, false},
		{ALIAS_BY_ADMINISTRATOR, ALIAS_BY_LIST, false, false},
		{ALIAS_BY_ADMINISTRATOR, ALIAS_BY_SA_KEY, false, false},
		{ALIAS_BY_ADMINISTRATOR, ALIAS_BY_ADMINISTRATOR, false, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT_EQUAL(alias_may_move(rows[i].held, rows[i].asked, false), rows[i].moves);
		CU_ASSERT_EQUAL(alias_may_move(rows[i].held, rows[i].asked, true),
				rows[i].moves_if_away);
	}
}

/* A port cannot undo a grant itself. A client with the SA_Key undoes grants by an SA_Key, also for
 * another port, but not grants by an administrator. */
static void test_granted_stays(void)
{
	for (uint8_t granted = ALIAS_BY_ADMINISTRATOR; granted < ALIAS_KEPT_GRANTS; granted++) {
		begin_with_words();
		hold(PORT_GUID(A), 0xA9, granted);
		CU_ASSERT_FALSE(sets_one(A, 5, 0xA8));
		change(METHOD_DELETE, 16, 0, LID | BLOCK | PLACE(5), 16, 0, 5, 0);
		CU_ASSERT_PTR_NOT_NULL(alias_of(0xA9));
		CU_ASSERT_EQUAL(sa_stats(sa.server)->aliases_refused, 2);
		CU_ASSERT_EQUAL(
			change(METHOD_DELETE, 24, SA_KEY, LID | BLOCK | PLACE(5), 16, 0, 5, 0),
			STATUS_OK);
		CU_ASSERT_EQUAL(alias_of(0xA9) != NULL, granted == ALIAS_BY_ADMINISTRATOR);
		CU_ASSERT_EQUAL(sets_with(SA_KEY, A, 5, 0xA8), granted == ALIAS_BY_SA_KEY);
		CU_ASSERT_EQUAL(sa_stats(sa.server)->aliases_refused,
				granted == ALIAS_BY_ADMINISTRATOR ? 4 : 2);
		end();
	}
}

/* A port that may not see all others gets the same answer for each GUID. The GUIDs are of a visible
 * and a hidden port, aliases of visible, hidden and absent ports, a claimed GUID, and an unknown
 * GUID. Only the requested GUID differs, where the answer repeats it. */
static void test_no_oracle(void)
{
	static const guid_t guids[] = {PORT_GUID(A), PORT_GUID(D), SWITCH_GUID(S1), 0xA1, 0xA2,
				       0xA3,	     0xA4,	   0xBBBB};
	const size_t place = SUBN_ADM_HEADER_SIZE + 8 + 3 * sizeof(guid_t);
	uint8_t first[MAD_SIZE];

	begin_with_words();
	give_places(B);
	words.claimed = 0xA1;
	hold(PORT_GUID(A), 0xA2, ALIAS_NOT_GRANTED);
	hold(PORT_GUID(C), 0xA3, ALIAS_BY_ADMINISTRATOR);
	hold(0xDEAD, 0xA4, ALIAS_NOT_GRANTED);
	for (size_t i = 0; i < ARRAY_SIZE(guids); i++) {
		uint64_t before = registry_number(sa.registry);

		CU_ASSERT_FALSE(sets_one(B, 3, guids[i]));
		CU_ASSERT_EQUAL(registry_number(sa.registry), before);
		CU_ASSERT_EQUAL_FATAL(sa.size, MAD_SIZE);
		if (be64_load(sa.mad + place) == guids[i])
			memset(sa.mad + place, 0, sizeof(guid_t));
		if (!i)
			memcpy(first, sa.mad, MAD_SIZE);
		CU_ASSERT_EQUAL(memcmp(first, sa.mad, MAD_SIZE), 0);
	}
	CU_ASSERT_EQUAL(sa_stats(sa.server)->aliases_refused, ARRAY_SIZE(guids));
	/* The SM may choose one: it grants nothing. */
	CU_ASSERT_EQUAL(change(METHOD_SET, 20, 0, LID | BLOCK | PLACE(3), 20, 0, 3, 0), STATUS_OK);
	CU_ASSERT_EQUAL(alias_of(told.info.guid[3])->granted, ALIAS_NOT_GRANTED);
	end();
}

/* Every change is an event, with its port, its place, and how it was granted. */
static struct {
	unsigned count;
	struct event event;
	struct alias_event alias;
	struct alias_entry entry;
} seen, lost; /* the last event, and the event before it */

static void happened(void *ctx, const struct event *event)
{
	(void)ctx;
	if (event->kind != EVENT_ALIAS)
		return;
	lost = seen;
	seen.count++;
	seen.event = *event;
	seen.alias = *event->alias;
	seen.entry = *event->alias->entry;
}

static bool saw(unsigned count, enum alias_change change, unsigned index, enum alias_grant grant)
{
	return seen.count == count && seen.alias.change == change && seen.entry.index == index &&
	       seen.entry.guid == 0xA9 && seen.alias.grant == grant &&
	       seen.event.guid == PORT_GUID(A) && seen.event.lid == 16 && seen.event.num == 1 &&
	       seen.event.facts->info.node_guid == HOST_GUID(A);
}

static void test_events(void)
{
	struct event_reader reader = {.happened = happened};

	begin_with_words();
	seen.count = 0;
	event_read(&sa.events, &reader);
	CU_ASSERT_TRUE(sets_one(A, 3, 0xA9));
	CU_ASSERT_TRUE(saw(1, ALIAS_SET, 3, ALIAS_NOT_GRANTED));
	CU_ASSERT_TRUE(sets_one(A, 3, 0xA9));
	CU_ASSERT_EQUAL(seen.count, 1); /* nothing changed */
	CU_ASSERT_TRUE(sets_with(SA_KEY, A, 3, 0xA9));
	CU_ASSERT_TRUE(saw(2, ALIAS_SET, 3, ALIAS_BY_SA_KEY));
	CU_ASSERT_EQUAL(change(METHOD_DELETE, 16, SA_KEY, LID | BLOCK | PLACE(3), 16, 0, 3, 0),
			STATUS_OK);
	CU_ASSERT_TRUE(saw(3, ALIAS_DELETED, 3, ALIAS_BY_SA_KEY));
	words.listed = 0xA9;
	words.listed_port = PORT_GUID(A);
	CU_ASSERT_TRUE(sets_one(A, 4, 0xA9));
	CU_ASSERT_TRUE(saw(4, ALIAS_SET, 4, ALIAS_BY_LIST));
	/* Another port takes it: the event of the loss names the port that had it. */
	words.listed = 0;
	give_places(B);
	CU_ASSERT_TRUE(sets_with(SA_KEY, B, 1, 0xA9));
	CU_ASSERT_EQUAL(seen.count, 6);
	CU_ASSERT_TRUE(lost.event.guid == PORT_GUID(A) && lost.event.lid == 16 &&
		       lost.alias.change == ALIAS_DELETED);
	event_unread(&reader);
	end();
}

/* Aliases that a store of an older version, or a document, may hold. */
static const struct {
	guid_t guid;
	uint8_t granted;
	bool listed, stays;
} reviewed[] = {
	{0xA9, ALIAS_NOT_GRANTED, false, true},	   /* no other port's */
	{0xAAAA, ALIAS_NOT_GRANTED, false, false}, /* of a port that is remembered */
	{0xAAAA, ALIAS_NOT_GRANTED, true, true},
	{0xAAAA, ALIAS_BY_ADMINISTRATOR, false, true},
	{PORT_GUID(D), ALIAS_NOT_GRANTED, false, false}, /* of a port that is there */
	{PORT_GUID(D), ALIAS_BY_ADMINISTRATOR, false, false},
	{PORT_GUID(D), ALIAS_BY_SA_KEY, true, false},
};

static void test_review(void)
{
	const struct lid_entry away = {.guid = 0xAAAA, .lid = 77};
	struct event_reader reader = {.happened = happened};

	for (size_t i = 0; i < ARRAY_SIZE(reviewed); i++) {
		struct service_entry service = {
			.service_id = 1, .gid_guid = reviewed[i].guid, .owner = PORT_GUID(A)};

		begin_with_words();
		registry_put(sa.registry, REGISTRY_LID, &away);
		hold(PORT_GUID(A), reviewed[i].guid, reviewed[i].granted);
		registry_put(sa.registry, REGISTRY_SERVICE, &service);
		service.service_id = 2;
		service.owner = reviewed[i].guid; /* the true owner's */
		registry_put(sa.registry, REGISTRY_SERVICE, &service);
		if (reviewed[i].listed) {
			words.listed = reviewed[i].guid;
			words.listed_port = PORT_GUID(A);
		}
		seen.count = 0;
		event_read(&sa.events, &reader);
		registry_follow(sa.registry, true); /* it is another manager's to change */
		event_raise(&sa.events, &(struct event){.kind = EVENT_MASTER});
		turn();
		CU_ASSERT_PTR_NOT_NULL(alias_of(reviewed[i].guid));
		registry_follow(sa.registry, false);
		event_raise(&sa.events, &(struct event){.kind = EVENT_MASTER});
		turn();
		CU_ASSERT_EQUAL(alias_of(reviewed[i].guid) != NULL, reviewed[i].stays);
		CU_ASSERT_EQUAL(seen.count, !reviewed[i].stays);
		CU_ASSERT_TRUE(reviewed[i].stays ||
			       (seen.alias.change == ALIAS_MISPLACED &&
				seen.entry.guid == reviewed[i].guid && seen.entry.index == 5 &&
				seen.alias.grant == reviewed[i].granted &&
				seen.event.guid == PORT_GUID(A) && seen.event.lid == 16 &&
				seen.event.num == 1 &&
				seen.event.facts->info.node_guid == HOST_GUID(A)));
		event_unread(&reader);
		CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_SERVICE),
				reviewed[i].stays ? 2 : 1);
		service.service_id = 2;
		CU_ASSERT_PTR_NOT_NULL(registry_find(sa.registry, REGISTRY_SERVICE, &service));
		end();
	}
}

/* The events that start a review. */
static void when_master(void)
{
	event_raise(&sa.events, &(struct event){.kind = EVENT_MASTER});
}

static void when_port_comes(void)
{
	event_raise(&sa.events, &(struct event){.kind = EVENT_PORT_IN, .guid = PORT_GUID(D)});
}

static void when_restored(void)
{
	registry_together(sa.registry, true);
	registry_together(sa.registry, false);
}

static void when_reloaded(void)
{
	sa_set_options(sa.server, &options);
}

static void test_review_begins(void)
{
	static void (*const when[])(void) = {when_master, when_port_comes, when_restored,
					     when_reloaded};

	for (size_t i = 0; i < ARRAY_SIZE(when); i++) {
		begin_with_words();
		turn();
		hold(PORT_GUID(A), PORT_GUID(D), ALIAS_NOT_GRANTED);
		turn();
		CU_ASSERT_PTR_NOT_NULL(alias_of(PORT_GUID(D)));
		when[i]();
		turn();
		CU_ASSERT_PTR_NULL(alias_of(PORT_GUID(D)));
		end();
	}
}

/* An alias that an administrator removes takes the registrations under it with it. */
static void test_removed(void)
{
	const struct alias_entry entry = {.port_guid = PORT_GUID(A), .index = 3, .guid = 0xA9};
	const struct alias_event alias = {ALIAS_REMOVED, &entry, ALIAS_NOT_GRANTED};
	const struct service_entry service = {.service_id = 1, .gid_guid = 0xA9};

	begin();
	join(0xA9);
	join(PORT_GUID(A));
	registry_put(sa.registry, REGISTRY_SERVICE, &service);
	event_raise(&sa.events, &(struct event){.kind = EVENT_ALIAS, .alias = &alias});
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_MEMBER), 1);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_SERVICE), 0);
	end();
}

/* A trusted request takes an alias from an absent port, without the registrations under it. The
 * port keeps its other registrations. */
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
	CU_ASSERT_FALSE(sets_one(A, 2, 0xA9));
	CU_ASSERT_TRUE(sets_with(SA_KEY, A, 2, 0xA9));
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), 2);
	alias = registry_first(sa.registry, REGISTRY_ALIAS, ALIAS_BY_GUID, &old);
	CU_ASSERT_EQUAL(alias->port_guid, PORT_GUID(A));
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_SERVICE), 1);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_MEMBER), 1);

	/* Now its owner is there. */
	join(0xA9);
	give_places(B);
	CU_ASSERT_FALSE(sets_with(SA_KEY, B, 3, 0xA9));
	CU_ASSERT_TRUE(sets_one(A, 2, 0xA9));
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_MEMBER), 2);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"Set", test_sets},
		{"GUIDs that the SM chooses", test_chosen},
		{"Delete", test_deletes},
		{"another GUID in a place", test_replaced},
		{"each GUID by itself", test_each_by_itself},
		{"GUIDCap", test_cap},
		{"each GUID counts", test_quota},
		{"the answer to Delete", test_delete_answer},
		{"paths to aliases", test_resolved},
		{"groups and services of aliases", test_registers},
		{"services under an alias that is gone", test_limit},
		{"paths to one of many", test_resolved_many},
		{"a port that is forgotten", test_forgotten},
		{"an alias moves", test_moves},
		{"trust", test_trust},
		{"the default key", test_default_key},
		{"an alias that a port has", test_held},
		{"the ranking of grants", test_ranking},
		{"grants stay", test_granted_stays},
		{"answers that tell nothing", test_no_oracle},
		{"events", test_events},
		{"the review", test_review},
		{"when the review begins", test_review_begins},
		{"removed by an administrator", test_removed},
		CU_TEST_INFO_NULL,
	};

	return unit_main("alias", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Replication over the fabric: which records a standby gets and accepts with a key, between listed
 * ports, and without either; and the peers that it tries.
 */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o tests/sim/pipe.o
#include "tests/unit/fixtures/replica_bed.h"

#include "fabric/table_cache.h"
#include "ha/copies.h"
#include "ha/wire.h"
#include "lib/guid.h"
#include "store/partition_state.h"
#include "store/setting.h"

enum { TENANT_KEY = 0x8012 };

static struct frame_out out;

/* A record of each kind, and for some kinds a second record that only members of a partition may
 * see. */

static const struct lid_entry lid = {.guid = 0x11, .lid = 7};
static const struct group_entry group = {.mgid = {0xFF, 0x12, [15] = 1},
					 .mlid = 0xC001,
					 .p_key = 0xFFFF},
				tenant_group = {.mgid = {0xFF, 0x12, [15] = 2},
						.mlid = 0xC002,
						.p_key = TENANT_KEY};
static const struct member_entry member = {.mgid = {0xFF, 0x12, [15] = 1},
					   .port_guid = 0x11,
					   .join_state = 1},
				 tenant_member = {.mgid = {0xFF, 0x12, [15] = 2},
						  .port_guid = 0x11,
						  .join_state = 1};
static const struct service_entry service = {.service_id = 5,
					     .gid_guid = 0x11,
					     .key = "the client's key",
					     .name = "name"},
				  tenant_service = {
					  .service_id = 6, .gid_guid = 0x11, .p_key = TENANT_KEY};
static const struct subscription_entry subscription = {.subscriber = 0x11, .number = 1, .lid = 7};
static const struct alias_entry alias = {.port_guid = 0x11, .index = 1, .guid = 0x77};
static const struct setting_entry setting = {.name = "engine", .value = "updn"},
				  leases = {.name = SETTING_LEASE_CLOCK, .value = "1234567"};
static const struct partition_entry partition = {.p_key = TENANT_KEY & 0x7FFF,
						 .name = "tenant",
						 .mtu = 4,
						 .rate = 3,
						 .scope = 2,
						 .q_key = 1};
static const struct m_key_entry m_key = {.guid = 0x11, .m_key = 0x5EC};
static const struct drained_entry drained = {
	.node_guid = 0x55, .port = 1, .of = 0x55, .of_port = 1, .since_s = 1, .name = "leaf"};
static const struct lost_link_entry lost_link = {.node_guid = 0x55,
						 .port = 2,
						 .peer_guid = 0x56,
						 .peer_port = 3,
						 .since_s = 1,
						 .name = "leaf",
						 .peer_name = "spine"};

static const struct {
	enum registry_kind kind;
	const void *record;
	enum ha_copies most; /* the highest value with which a standby gets it */
} records[] = {
	{REGISTRY_LID, &lid, COPY_NO_SECRETS},
	{REGISTRY_GROUP, &group, COPY_REGISTRATIONS},
	{REGISTRY_GROUP, &tenant_group, COPY_NO_SECRETS},
	{REGISTRY_MEMBER, &member, COPY_REGISTRATIONS},
	{REGISTRY_MEMBER, &tenant_member, COPY_NO_SECRETS},
	{REGISTRY_SERVICE, &service, COPY_REGISTRATIONS},
	{REGISTRY_SERVICE, &tenant_service, COPY_NO_SECRETS},
	{REGISTRY_SUBSCRIPTION, &subscription, COPY_REGISTRATIONS},
	{REGISTRY_ALIAS, &alias, COPY_NO_SECRETS},
	{REGISTRY_SETTING, &setting, COPY_NO_SECRETS},
	{REGISTRY_SETTING, &leases, COPY_REGISTRATIONS},
	{REGISTRY_PARTITION, &partition, COPY_NO_SECRETS},
	{REGISTRY_M_KEY, &m_key, COPY_ALL},
	{REGISTRY_DRAINED, &drained, COPY_NO_SECRETS},
	{REGISTRY_LOST_LINK, &lost_link, COPY_NO_SECRETS},
};

static void put_all(struct manager *manager)
{
	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		registry_put(manager->registry, records[i].kind, records[i].record);
}

static void drop_all(struct manager *manager)
{
	for (size_t i = ARRAY_SIZE(records); i--;)
		registry_drop(manager->registry, records[i].kind, records[i].record);
}

static unsigned wrong; /* records that a standby has or lacks by mistake */

static void expect_copies(const struct manager *standby, enum ha_copies copies, bool there)
{
	static const uint8_t no_key[SERVICE_KEY_SIZE];
	const struct service_entry *found =
		registry_find(standby->registry, REGISTRY_SERVICE, &service);

	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		bool has = registry_find(standby->registry, records[i].kind, records[i].record);

		if (has == (there && records[i].most >= copies))
			continue;
		CU_FAIL("a standby has a record that it must not have, or lacks one");
		fprintf(stderr, "record %zu of kind %d, %s\n", i, records[i].kind,
			has ? "there" : "missing");
		wrong++;
	}
	if (there)
		CU_ASSERT_EQUAL(memcmp(found->key, copies == COPY_ALL ? service.key : no_key,
				       SERVICE_KEY_SIZE) != 0,
				0);
}

static bool shows(const struct manager *manager, const char *of, const char *name, const char *text)
{
	json_t *status = replica_status(manager->replica), *part = json_object_get(status, of);
	const char *value;
	bool is;

	if (json_is_array(part))
		part = json_array_get(part, 0);
	value = json_string_value(name ? json_object_get(part, name) : part);
	is = value && !strcmp(value, text);
	json_decref(status);
	return is;
}

static int figure(const struct manager *manager, const char *name)
{
	json_t *summary = replica_summary(manager->replica);
	int value = (int)json_integer_value(json_object_get(summary, name));

	json_decref(summary);
	return value;
}

/* A port that connects and sends nothing. */

static void rogue_opened(void *ctx)
{
	(void)ctx;
}

static void rogue_received(void *ctx, const uint8_t *bytes, size_t size)
{
	(void)ctx;
	(void)bytes;
	(void)size;
}

static void rogue_closed(void *ctx, const char *why)
{
	(void)ctx;
	(void)why;
}

/* A full copy, then changes one by one, then the drops. */
static void copies(bool in_clear, bool listed, enum ha_copies expected)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin_inband(2, in_clear, listed);
	put_all(one);
	replica_bed_pass(5 * S);
	expect_copies(two, expected, true);
	CU_ASSERT(shows(one, "standbys", "state", "in sync"));
	CU_ASSERT(shows(one, "standbys", "copies", copies_name(expected)));
	CU_ASSERT(shows(two, "master", "copies", copies_name(expected)));
	CU_ASSERT(shows(two, "carrier", NULL, "fabric"));
	drop_all(one);
	replica_bed_pass(S);
	expect_copies(two, expected, false);
	put_all(one);
	replica_bed_pass(S);
	expect_copies(two, expected, true);
	CU_ASSERT(shows(one, "standbys", "state", "in sync"));
	/* A standby without a key lacks registrations, so it makes none durable. */
	CU_ASSERT(shows(one, "acknowledged_by", NULL, expected == COPY_ALL ? "standby" : "local"));
	/* The skipped changes count, so the standby continues at its position. */
	pipe_reset(replica_bed.net);
	drop_all(one);
	replica_bed_pass(5 * S);
	expect_copies(two, expected, false);
	CU_ASSERT_EQUAL(replica_has_all(two->replica), expected == COPY_ALL);
	replica_bed_kill(one);
	replica_bed_becomes(two, SM_MASTER);
	replica_bed_end();
}

static void test_copies(void)
{
	copies(true, false, COPY_REGISTRATIONS);
	copies(true, true, COPY_NO_SECRETS);
	copies(false, false, COPY_ALL);
	CU_ASSERT_EQUAL(wrong, 0);
}

/* The SA drops a group, and its members after it. */
static void test_group_ends(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin_inband(2, true, false);
	put_all(one);
	replica_bed_pass(5 * S);
	CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_MEMBER), 1);
	registry_drop(one->registry, REGISTRY_GROUP, &group);
	replica_bed_pass(S);
	registry_drop(one->registry, REGISTRY_MEMBER, &member);
	replica_bed_pass(S);
	CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_GROUP), 0);
	CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_MEMBER), 0);
	replica_bed_end();
}

/* For health: standbys that would remove P_Keys after a failover. */
static void test_without_partitions(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin_inband(2, true, false);
	replica_bed_pass(5 * S);
	CU_ASSERT_EQUAL(figure(one, "standbys"), 1);
	CU_ASSERT_EQUAL(figure(one, "without_partitions"), 0); /* there are none */
	registry_put(one->registry, REGISTRY_PARTITION, &partition);
	CU_ASSERT_EQUAL(figure(one, "without_partitions"), 1);
	CU_ASSERT_FALSE(replica_copies_kind(one->replica, two->guid, REGISTRY_PARTITION));
	replica_bed_end();

	replica_bed_begin_inband(2, true, true);
	registry_put(one->registry, REGISTRY_PARTITION, &partition);
	replica_bed_pass(5 * S);
	CU_ASSERT_EQUAL(figure(one, "standbys"), 1);
	CU_ASSERT_EQUAL(figure(one, "without_partitions"), 0);
	CU_ASSERT_TRUE(replica_copies_kind(one->replica, two->guid, REGISTRY_PARTITION));
	CU_ASSERT_FALSE(replica_copies_kind(one->replica, 0x4711, REGISTRY_PARTITION));
	replica_bed_end();
}

/* The SA shows a port only records of ports with which it shares a partition. A master without a
 * key does the same. */
static void test_hidden(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin_inband(2, true, false);
	replica_bed.hidden = 0x11;
	put_all(one); /* before the full copy, and after it */
	replica_bed_pass(5 * S);
	for (unsigned i = 0; i < 2; i++) {
		CU_ASSERT(shows(one, "standbys", "state", "in sync"));
		CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_GROUP), 1);
		CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_MEMBER), 0);
		CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_SERVICE), 0);
		CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_SUBSCRIPTION), 0);
		drop_all(one);
		put_all(one);
		replica_bed_pass(S);
	}
	replica_bed.hidden = two->guid; /* it is not in the default partition itself */
	drop_all(one);
	put_all(one);
	replica_bed_pass(S);
	CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_GROUP), 0);
	replica_bed_end();
}

/* With another sa_key, not every client may read the members and the subscriptions. */
static void test_sa_key(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin_inband(2, true, false);
	replica_bed_kill(one);
	one->options.sa_public = false;
	replica_bed_start(one);
	replica_bed_becomes(one, SM_MASTER);
	put_all(one);
	replica_bed_pass(5 * S);
	CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_GROUP), 1);
	CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_MEMBER), 0);
	CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_SUBSCRIPTION), 0);
	replica_bed_end();
}

/* The standby keeps its own records, and registrations of other partitions. Its other registrations
 * are those of the master. */
static void test_own_records(void)
{
	static const struct service_entry old = {.service_id = 99, .gid_guid = 0x11};
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin_inband(2, true, false);
	put_all(two);
	registry_put(two->registry, REGISTRY_SERVICE, &old);
	partition_state_put(two->registry, PARTITIONS_LOST, "today", "test");
	replica_bed_pass(5 * S);
	CU_ASSERT(shows(one, "standbys", "state", "in sync"));
	CU_ASSERT_PTR_NULL(registry_find(two->registry, REGISTRY_SERVICE, &old));
	CU_ASSERT_PTR_NULL(registry_find(two->registry, REGISTRY_GROUP, &group));
	CU_ASSERT_PTR_NULL(registry_find(two->registry, REGISTRY_MEMBER, &member));
	CU_ASSERT_PTR_NULL(registry_find(two->registry, REGISTRY_SUBSCRIPTION, &subscription));
	CU_ASSERT_PTR_NOT_NULL(registry_find(two->registry, REGISTRY_GROUP, &tenant_group));
	CU_ASSERT_PTR_NOT_NULL(registry_find(two->registry, REGISTRY_MEMBER, &tenant_member));
	CU_ASSERT_PTR_NOT_NULL(registry_find(two->registry, REGISTRY_SERVICE, &tenant_service));
	CU_ASSERT_PTR_NOT_NULL(registry_find(two->registry, REGISTRY_LID, &lid));
	CU_ASSERT_PTR_NOT_NULL(registry_find(two->registry, REGISTRY_M_KEY, &m_key));
	CU_ASSERT_PTR_NOT_NULL(registry_find(two->registry, REGISTRY_PARTITION, &partition));
	CU_ASSERT_PTR_NOT_NULL(registry_find(two->registry, REGISTRY_SETTING, &setting));
	CU_ASSERT_EQUAL(partition_state(two->registry), PARTITIONS_LOST);
	replica_bed_end();
}

/* A group of the master has the MLID of a group of another partition at the standby: in the full
 * copy, and later. */
static void test_same_mlid(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	struct group_entry taker = group;

	for (unsigned later = 0; later < 2; later++) {
		replica_bed_begin_inband(2, true, false);
		registry_put(two->registry, REGISTRY_GROUP, &tenant_group);
		registry_put(two->registry, REGISTRY_MEMBER, &tenant_member);
		if (later)
			replica_bed_pass(5 * S);
		taker.mlid = tenant_group.mlid;
		registry_put(one->registry, REGISTRY_GROUP, &taker);
		replica_bed_pass(5 * S);
		CU_ASSERT_PTR_NOT_NULL(registry_find(two->registry, REGISTRY_GROUP, &taker));
		CU_ASSERT_PTR_NULL(registry_find(two->registry, REGISTRY_GROUP, &tenant_group));
		CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_MEMBER), 0);
		replica_bed_end();
	}
}

/* More managers than places: a manager with more records takes the place of a manager with fewer. A
 * manager with the same records does not. */
static void test_places(void)
{
	enum { PLACES = 8 };
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	struct stream_carrier *rogue[PLACES];
	static const struct stream_user user = {rogue_opened, rogue_received, rogue_opened,
						rogue_closed, NULL};
	char text[GUID_TEXT], why[STREAM_WHY_SIZE];

	for (unsigned listed = 0; listed < 2; listed++) {
		replica_bed_begin_inband(2, true, false);
		replica_bed.only_listed = listed ? two->guid : 0;
		replica_bed.listed = listed;
		replica_bed_kill(two);
		for (unsigned i = 0; i < PLACES; i++) {
			snprintf(text, sizeof(text), "0x%x", 0x5000 + i);
			rogue[i] = pipe_open(replica_bed.net, text);
			CU_ASSERT_PTR_NOT_NULL(rogue[i]->ops->connect(
				rogue[i], guid_text(one->guid, text), &user, why));
		}
		replica_bed_pass(S);
		replica_bed_start(two);
		replica_bed_becomes(two, SM_STANDBY);
		replica_bed_pass(3 * S);
		CU_ASSERT_EQUAL(shows(two, "master", "state", "follows"), listed);
		for (unsigned i = 0; i < PLACES; i++)
			rogue[i]->ops->free(rogue[i]);
		replica_bed_end();
	}
}

/* A rogue master */

static void inject(struct manager *one)
{
	char text[GUID_TEXT];

	pipe_inject(replica_bed.net, guid_text(one->guid, text), out.bytes, out.size);
}

/* It sends all kinds of records. The standby accepts only records that it may get from a master. */
static void test_rogue_master(void)
{
	static const uint8_t no_key[SERVICE_KEY_SIZE];
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	const struct service_entry *found;
	uint64_t first;

	replica_bed_begin_inband(2, true, false);
	replica_bed_pass(5 * S);
	first = registry_number(one->registry) + 1;
	changes_begin(&out, FRAME_CHANGES, first);
	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		changes_add(&out, &(struct wire_change){records[i].kind, false, records[i].record,
							false});
	changes_end(&out, true);
	inject(one);
	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		CU_ASSERT_EQUAL(registry_find(two->registry, records[i].kind, records[i].record) !=
					NULL,
				records[i].most == COPY_REGISTRATIONS);
	/* Its key would refuse the host of the service. */
	found = registry_find(two->registry, REGISTRY_SERVICE, &service);
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_EQUAL(memcmp(found->key, no_key, SERVICE_KEY_SIZE), 0);
	/* It drops the partitions of the standby. */
	registry_put(two->registry, REGISTRY_PARTITION, &partition);
	registry_put(two->registry, REGISTRY_GROUP, &tenant_group);
	changes_begin(&out, FRAME_CHANGES, first + ARRAY_SIZE(records));
	changes_add(&out, &(struct wire_change){REGISTRY_PARTITION, true, &partition, false});
	changes_add(&out, &(struct wire_change){REGISTRY_GROUP, true, &tenant_group, false});
	changes_end(&out, true);
	inject(one);
	CU_ASSERT_PTR_NOT_NULL(registry_find(two->registry, REGISTRY_PARTITION, &partition));
	CU_ASSERT_PTR_NOT_NULL(registry_find(two->registry, REGISTRY_GROUP, &tenant_group));
	replica_bed_end();
}

/* The election names another MASTER while a standby connects to the former MASTER, or follows it.
 * The former MASTER claims to be the new MASTER, and continues to send. */
static void test_former_master(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	guid_t guid;

	replica_bed_begin_inband(2, true, false);
	guid = one->guid;
	replica_bed_pass(S); /* it connects */
	CU_ASSERT(shows(two, "master", "state", "connects"));
	one->guid = replica_bed_guid(3);
	replica_bed.master = 3;
	replica_bed_pass(S / 2);
	CU_ASSERT_FALSE(shows(two, "master", "state", "follows"));
	one->guid = guid;
	replica_bed.master = 1;
	replica_bed_pass(5 * S);
	CU_ASSERT(shows(two, "master", "state", "follows"));
	replica_bed.master = 3;
	changes_begin(&out, FRAME_CHANGES, registry_number(one->registry) + 1);
	changes_add(&out, &(struct wire_change){REGISTRY_GROUP, false, &group, false});
	changes_end(&out, true);
	inject(one);
	CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_GROUP), 0);
	replica_bed_end();
}

static void inject_change(struct manager *one, enum registry_kind kind, const void *record)
{
	changes_begin(&out, FRAME_CHANGES, registry_number(one->registry) + 1);
	changes_add(&out, &(struct wire_change){kind, false, record, false});
	changes_end(&out, true);
	inject(one);
}

/* It changes a group of another partition, adds a member to it, and drops one. It sets the clock of
 * leases to a time at which all leases have ended. */
static void test_rogue_changes(void)
{
	static const struct setting_entry far = {.name = SETTING_LEASE_CLOCK,
						 .value = "999999999999"},
					  past = {.name = SETTING_LEASE_CLOCK, .value = "12345"},
					  none = {.name = SETTING_LEASE_CLOCK, .value = "12x"};
	static const struct setting_entry *const clocks[] = {&far, &past, &none};
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	struct group_entry taken = tenant_group;
	struct member_entry further = tenant_member;
	const struct group_entry *found;

	replica_bed_begin_inband(2, true, false);
	registry_put(two->registry, REGISTRY_GROUP, &tenant_group);
	registry_put(two->registry, REGISTRY_MEMBER, &tenant_member);
	replica_bed_pass(5 * S);
	taken.p_key = 0xFFFF;
	further.port_guid = 0x66;
	changes_begin(&out, FRAME_CHANGES, registry_number(one->registry) + 1);
	changes_add(&out, &(struct wire_change){REGISTRY_GROUP, false, &taken, false});
	changes_add(&out, &(struct wire_change){REGISTRY_MEMBER, false, &further, false});
	changes_add(&out, &(struct wire_change){REGISTRY_MEMBER, true, &tenant_member, false});
	changes_end(&out, true);
	inject(one);
	found = registry_find(two->registry, REGISTRY_GROUP, &tenant_group);
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_EQUAL(found->p_key, TENANT_KEY);
	CU_ASSERT_PTR_NULL(registry_find(two->registry, REGISTRY_MEMBER, &further));
	CU_ASSERT_PTR_NOT_NULL(registry_find(two->registry, REGISTRY_MEMBER, &tenant_member));
	replica_bed_end();
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		replica_bed_begin_inband(2, true, false);
		replica_bed_pass(5 * S);
		inject_change(one, REGISTRY_SETTING, clocks[i]);
		CU_ASSERT_EQUAL(registry_find(two->registry, REGISTRY_SETTING, clocks[i]) != NULL,
				clocks[i] == &past);
		replica_bed_end();
	}
}

/* It gives the same MLID to several groups. The standby takes the first of them, and groups that
 * may share it. */
static void test_rogue_mlid(void)
{
	static const struct group_entry groups[] = {
		{.mgid = {0xFF, 0x12, [15] = 1}, .mlid = 0xC001, .p_key = 0xFFFF},
		{.mgid = {0xFF, 0x12, [15] = 2}, .mlid = 0xC001, .p_key = 0xFFFF},
		{.mgid = {0xFF, 0x12, 0x60, 0x1B, 0xFF, 0xFF, [11] = 1, 0xFF, 0, 0, 1},
		 .mlid = 0xC002,
		 .p_key = 0xFFFF},
		{.mgid = {0xFF, 0x12, 0x60, 0x1B, 0xFF, 0xFF, [11] = 1, 0xFF, 0, 0, 2},
		 .mlid = 0xC002,
		 .p_key = 0xFFFF},
		{.mgid = {0xFF, 0x12, [15] = 3}, .mlid = 0xC002, .p_key = 0xFFFF},
	};
	static const bool taken[] = {true, false, true, true, false};
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	uint64_t number;

	replica_bed_begin_inband(2, true, false);
	replica_bed_pass(5 * S);
	number = registry_number(one->registry);
	changes_begin(&out, FRAME_CHANGES, number + 1);
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		changes_add(&out, &(struct wire_change){REGISTRY_GROUP, false, &groups[i], false});
	changes_end(&out, true);
	inject(one);
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		CU_ASSERT_EQUAL(registry_find(two->registry, REGISTRY_GROUP, &groups[i]) != NULL,
				taken[i]);
	/* A master may give an MLID to another group later. */
	changes_begin(&out, FRAME_CHANGES, number + ARRAY_SIZE(groups) + 1);
	changes_add(&out, &(struct wire_change){REGISTRY_GROUP, true, &groups[0], false});
	changes_add(&out, &(struct wire_change){REGISTRY_GROUP, false, &groups[1], false});
	changes_add(&out, &(struct wire_change){REGISTRY_GROUP, false, &groups[1], false});
	changes_end(&out, true);
	inject(one);
	CU_ASSERT_PTR_NULL(registry_find(two->registry, REGISTRY_GROUP, &groups[0]));
	CU_ASSERT_PTR_NOT_NULL(registry_find(two->registry, REGISTRY_GROUP, &groups[1]));
	replica_bed_end();
}

/* It requests acknowledgements and reads none: the standby does not keep them all. */
static void test_rogue_silence(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	size_t waiting;

	replica_bed_begin_inband(2, true, false);
	replica_bed_pass(5 * S);
	pipe_cut(replica_bed.net, true);
	frame_begin(&out, FRAME_HEARTBEAT);
	frame_number(&out, registry_number(one->registry));
	frame_number(&out, 0);
	frame_end(&out);
	for (unsigned i = 0; i < 200000; i++)
		inject(one);
	waiting = pipe_waiting(replica_bed.net);
	CU_ASSERT(waiting > STREAM_LOW_BYTES / 2 && waiting < 2 * STREAM_LOW_BYTES);
	pipe_cut(replica_bed.net, false);
	replica_bed_pass(5 * S);
	CU_ASSERT(shows(one, "standbys", "state", "in sync"));
	CU_ASSERT(shows(two, "master", "state", "follows"));
	replica_bed_end();
}

/* A table, and more records than a master without a key may have. */
static void test_rogue_amount(void)
{
	enum { EACH = 500 };
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	struct subscription_entry entry = subscription;
	uint64_t number;
	unsigned sent = 0;

	replica_bed_begin_inband(2, true, false);
	replica_bed_pass(5 * S);
	frame_begin(&out, FRAME_TABLE);
	frame_number(&out, 1);
	frame_end(&out);
	inject(one);
	CU_ASSERT(!shows(two, "master", "state", "follows"));
	replica_bed_pass(5 * S);
	CU_ASSERT(shows(two, "master", "state", "follows"));
	number = registry_number(one->registry);
	while (sent < COPY_RECORDS_MAX + 10 * EACH && shows(two, "master", "state", "follows")) {
		changes_begin(&out, FRAME_CHANGES, number + sent + 1);
		for (unsigned i = 0; i < EACH; i++) {
			entry.subscriber = 1 + sent++;
			changes_add(&out, &(struct wire_change){REGISTRY_SUBSCRIPTION, false,
								&entry, false});
		}
		changes_end(&out, true);
		inject(one);
	}
	CU_ASSERT(sent > COPY_RECORDS_MAX && sent <= COPY_RECORDS_MAX + EACH);
	replica_bed_end();
}

/* At a listed port: more drained ports and tables than any fabric has. */
static void test_listed_amount(void)
{
	enum { EACH = 300, BATCHES = 15, MORE = 100 };
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	struct drained_entry entry = drained;
	struct lft *lft = lft_new(63);
	json_t *status;

	replica_bed_begin_inband(2, true, true);
	replica_bed_pass(5 * S);
	for (unsigned sent = 0; sent < BATCHES * EACH;) {
		changes_begin(&out, FRAME_CHANGES, registry_number(one->registry) + sent + 1);
		for (unsigned i = 0; i < EACH; i++) {
			entry.of = 1 + sent++;
			changes_add(&out,
				    &(struct wire_change){REGISTRY_DRAINED, false, &entry, false});
		}
		changes_end(&out, true);
		inject(one);
	}
	CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_DRAINED),
			copies_most(COPY_NO_SECRETS, REGISTRY_DRAINED));
	for (unsigned i = 0; i < COPY_TABLES_MAX + MORE; i++) {
		frame_begin(&out, FRAME_TABLE);
		table_cache_lft_put(1 + i, lft, frame_room(&out, table_cache_lft_size(lft)));
		frame_end(&out);
		inject(one);
	}
	CU_ASSERT(shows(two, "master", "state", "follows"));
	status = replica_status(two->replica);
	CU_ASSERT_EQUAL(
		json_integer_value(json_object_get(json_object_get(status, "master"), "tables")),
		COPY_TABLES_MAX);
	json_decref(status);
	lft_unref(lft);
	replica_bed_end();
}

/* At a listed port: members without a group, which the standby would have to drop later. */
static void test_listed_members(void)
{
	const struct wire_change changes[] = {
		{REGISTRY_MEMBER, false, &member, false},
		{REGISTRY_GROUP, false, &tenant_group, false},
		{REGISTRY_MEMBER, false, &tenant_member, false},
		{REGISTRY_GROUP, true, &tenant_group, false},
	};
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	uint64_t number;

	replica_bed_begin_inband(2, true, true);
	replica_bed_pass(5 * S);
	number = registry_number(one->registry);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		changes_begin(&out, FRAME_CHANGES, number + i + 1);
		changes_add(&out, &changes[i]);
		changes_end(&out, true);
		inject(one);
		CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_MEMBER), i == 2);
	}
	CU_ASSERT(shows(two, "master", "state", "follows"));
	replica_bed_end();
}

/* A rogue standby */

/* It claims the GUID of another port, and gets nothing. */
static void test_other_guid(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin_inband(2, true, false);
	put_all(one);
	two->guid ^= 0x100;
	replica_bed_pass(5 * S);
	CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_SERVICE), 0);
	CU_ASSERT_FALSE(replica_lacks(one->replica, two->guid));
	replica_bed_end();
}

/* The ports are added to the lists of both managers: the standby gets the other records by a full
 * copy. */
static void test_more_later(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin_inband(2, true, false);
	put_all(one);
	replica_bed_pass(5 * S);
	expect_copies(two, COPY_REGISTRATIONS, true);
	replica_bed.listed = true;
	pipe_reset(replica_bed.net);
	replica_bed_pass(5 * S);
	expect_copies(two, COPY_NO_SECRETS, true);
	replica_bed_end();
}

/* The connection ends during that full copy: it begins again. */
static void test_more_interrupted(void)
{
	enum { LIDS = 20000, PATIENCE_MS = 10000 };
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	unsigned ms = 0;

	replica_bed_begin_inband(2, true, false);
	put_all(one);
	for (unsigned i = 0; i < LIDS; i++)
		replica_bed_put_lid(one, 0x100000 + i, (lid_t)(100 + i));
	replica_bed_pass(5 * S);
	replica_bed.listed = true;
	pipe_reset(replica_bed.net);
	while (!shows(two, "master", "state", "receives the full copy") && ms++ < PATIENCE_MS)
		replica_bed_pass(MS);
	CU_ASSERT(ms < PATIENCE_MS);
	pipe_reset(replica_bed.net);
	replica_bed_pass(20 * S);
	CU_ASSERT(shows(one, "standbys", "state", "in sync"));
	CU_ASSERT(shows(two, "master", "copies", "no secrets"));
	CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_LID), LIDS + 1);
	expect_copies(two, COPY_NO_SECRETS, true);
	replica_bed_end();
}

/* One end has no list, so the other end's list changes nothing: a reload ends no connection. */
static void test_reload(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	for (unsigned unlisting = 1; unlisting <= 2; unlisting++) {
		replica_bed_begin_inband(2, true, true);
		replica_bed.unlisting = unlisting;
		replica_bed_pass(5 * S);
		CU_ASSERT(shows(two, "master", "copies", "registrations"));
		replica_reconsider(one->replica);
		replica_reconsider(two->replica);
		replica_bed_pass(5 * S);
		CU_ASSERT_EQUAL(two->lost, 0);
		CU_ASSERT(shows(two, "master", "state", "follows"));
		replica_bed_end();
	}
}

/* A standby that proves the key has the M_Keys when it is in sync, and not before. */
static void test_has_all(void)
{
	enum { LIDS = 20000, PATIENCE_MS = 10000 };
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	unsigned ms = 0;

	replica_bed_begin_inband(2, false, false);
	for (unsigned i = 0; i < LIDS; i++)
		replica_bed_put_lid(one, 0x100000 + i, (lid_t)(100 + i));
	while (!shows(two, "master", "state", "receives the full copy") && ms++ < PATIENCE_MS)
		replica_bed_pass(MS);
	CU_ASSERT(ms < PATIENCE_MS);
	CU_ASSERT_FALSE(replica_copies_all(one->replica, two->guid));
	replica_bed_pass(10 * S);
	CU_ASSERT(replica_copies_all(one->replica, two->guid));
	CU_ASSERT(replica_copies_kind(one->replica, two->guid, REGISTRY_DRAINED));
	replica_bed_end();
}

/* Which standbys get the records of drains. */
static void test_kinds(void)
{
	for (unsigned listed = 0; listed < 2; listed++) {
		const struct manager *one = &replica_bed.manager[0];

		replica_bed_begin_inband(2, true, listed);
		replica_bed_pass(10 * S);
		CU_ASSERT(replica_copies_kind(one->replica, replica_bed_guid(2), REGISTRY_SERVICE));
		CU_ASSERT_EQUAL(
			replica_copies_kind(one->replica, replica_bed_guid(2), REGISTRY_DRAINED),
			listed);
		CU_ASSERT_FALSE(
			replica_copies_kind(one->replica, replica_bed_guid(2), REGISTRY_M_KEY));
		CU_ASSERT_FALSE(
			replica_copies_kind(one->replica, replica_bed_guid(3), REGISTRY_SERVICE));
		replica_bed_end();
	}
}

/* The lists become shorter while both are connected: from then on, the standby gets fewer
 * records. */
static void test_fewer_later(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];
	struct lid_entry other = {.guid = 0x12, .lid = 8};

	replica_bed_begin_inband(2, true, true);
	put_all(one);
	replica_bed_pass(5 * S);
	expect_copies(two, COPY_NO_SECRETS, true);
	replica_bed.listed = false;
	replica_reconsider(one->replica);
	registry_put(one->registry, REGISTRY_LID, &other);
	replica_bed_pass(5 * S);
	CU_ASSERT(shows(two, "master", "copies", "registrations"));
	CU_ASSERT(shows(two, "master", "state", "follows"));
	CU_ASSERT_PTR_NULL(registry_find(two->registry, REGISTRY_LID, &other));
	replica_bed.listed = true;
	replica_reconsider(two->replica);
	replica_bed_pass(5 * S);
	CU_ASSERT_PTR_NOT_NULL(registry_find(two->registry, REGISTRY_LID, &other));
	replica_bed_end();
}

/* The peer is the MASTER that the election names. A third manager follows a new one. */
static void test_peer(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1],
		       *three = &replica_bed.manager[2];
	char text[GUID_TEXT];

	replica_bed_begin_inband(3, true, false);
	put_all(one);
	replica_bed_pass(5 * S);
	CU_ASSERT(shows(three, "master", "address", guid_text(one->guid, text)));
	replica_bed_kill(one);
	replica_bed_becomes(two, SM_MASTER);
	replica_bed_pass(5 * S);
	CU_ASSERT(shows(three, "master", "address", guid_text(two->guid, text)));
	CU_ASSERT(shows(three, "master", "state", "follows"));
	expect_copies(three, COPY_REGISTRATIONS, true);
	/* The election names a manager that does not answer: it may take over some seconds after
	 * the first offer. */
	replica_bed_kill(two);
	replica_bed_pass(30 * S);
	CU_ASSERT_FALSE(replica_ready(three->replica));
	replica_bed_pass(15 * S);
	CU_ASSERT(replica_ready(three->replica));
	replica_bed.master = 0;
	replica_bed_pass(5 * S);
	CU_ASSERT(replica_ready(three->replica));
	replica_bed_end();
}

/* A standby that has just started has no copy, so it does not accept the offer of its master. It
 * requests the copy at once. */
static void test_offer(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin_inband(2, true, false);
	put_all(one);
	CU_ASSERT_FALSE(replica_ready(two->replica));
	replica_bed_pass(S / 2);
	CU_ASSERT(replica_ready(two->replica));
	expect_copies(two, COPY_REGISTRATIONS, true);
	replica_bed_end();
}

/* A master without standbys keeps no journal after a while, and a standby that comes gets all. */
static void test_alone(void)
{
	struct manager *one = &replica_bed.manager[0], *two = &replica_bed.manager[1];

	replica_bed_begin_inband(2, true, false);
	replica_bed_pass(5 * S);
	replica_bed_kill(two);
	replica_bed_pass(70 * S);
	put_all(one);
	drop_all(one);
	put_all(one);
	CU_ASSERT_FALSE(replica_lacks(one->replica, 0));
	replica_bed_start(two);
	replica_bed_becomes(two, SM_STANDBY);
	replica_bed_pass(5 * S);
	expect_copies(two, COPY_REGISTRATIONS, true);
	CU_ASSERT(shows(one, "standbys", "state", "in sync"));
	replica_bed_change(one, 500);
	replica_bed_pass(5 * S);
	CU_ASSERT(shows(one, "standbys", "state", "in sync"));
	replica_bed_end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"copies", test_copies},
		{"a group ends", test_group_ends},
		{"partitions of commands", test_without_partitions},
		{"hidden ports", test_hidden},
		{"another sa_key", test_sa_key},
		{"records of the standby", test_own_records},
		{"the same MLID", test_same_mlid},
		{"places", test_places},
		{"a rogue master", test_rogue_master},
		{"a rogue master changes", test_rogue_changes},
		{"a rogue master gives an MLID twice", test_rogue_mlid},
		{"a rogue master takes nothing", test_rogue_silence},
		{"a former master", test_former_master},
		{"a rogue master sends too much", test_rogue_amount},
		{"a listed master sends too much", test_listed_amount},
		{"a listed master sends members without groups", test_listed_members},
		{"another GUID", test_other_guid},
		{"more later", test_more_later},
		{"more later, interrupted", test_more_interrupted},
		{"a reload", test_reload},
		{"has all", test_has_all},
		{"kinds of records", test_kinds},
		{"fewer later", test_fewer_later},
		{"the peer", test_peer},
		{"an offer before the copy", test_offer},
		{"alone", test_alone},
		CU_TEST_INFO_NULL,
	};

	return unit_main("replica_inband", tests);
}

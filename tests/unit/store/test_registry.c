/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The registry: look-up of records by keys and by indexes, changes in order, durability. */
#include "store/registry.h"

#include <string.h>

#include "tests/unit/fixtures/unit.h"

enum { CHANGES_MAX = 16 };

struct heard {
	struct registry_reader reader;
	unsigned count;
	struct {
		uint64_t number;
		enum registry_kind kind;
		bool before, after;
	} change[CHANGES_MAX];
};

static void changed(void *ctx, const struct registry_change *change)
{
	struct heard *heard = ctx;

	CU_ASSERT_FATAL(heard->count < CHANGES_MAX);
	heard->change[heard->count].number = change->number;
	heard->change[heard->count].kind = change->kind;
	heard->change[heard->count].before = change->before;
	heard->change[heard->count++].after = change->after;
}

static struct member_entry member(uint8_t group, guid_t guid)
{
	struct member_entry entry = {.port_guid = guid, .join_state = 1};

	memset(entry.mgid, group, sizeof(entry.mgid));
	return entry;
}

static void put_member(struct registry *registry, uint8_t group, guid_t guid)
{
	struct member_entry entry = member(group, guid);

	CU_ASSERT_PTR_NOT_NULL(registry_put(registry, REGISTRY_MEMBER, &entry));
}

static unsigned count_by(struct registry *registry, int index, const struct member_entry *key)
{
	unsigned count = 0;

	for (const void *at = registry_first(registry, REGISTRY_MEMBER, index, key); at;
	     at = registry_next(registry, REGISTRY_MEMBER, index, at))
		count++;
	return count;
}

/* The first members of a record are its key, and the first bytes on the wire. */
static void test_tables(void)
{
	for (unsigned kind = 1; kind < REGISTRY_KINDS; kind++) {
		const struct registry_table *table = &registry_tables[kind];
		const struct format *format = table->format;
		const struct field *last = &format->fields[table->key_rows - 1];
		unsigned end = 0;

		CU_ASSERT_PTR_NOT_NULL_FATAL(table->name);
		CU_ASSERT_EQUAL(last->bit + last->width, 8u * table->key_bytes);
		for (unsigned i = 0; i < format->count; i++) { /* nothing is left out, or twice */
			CU_ASSERT_EQUAL(format->fields[i].bit, end);
			end = format->fields[i].bit + format->fields[i].width;
		}
		CU_ASSERT_EQUAL(end, 8u * format->wire_size);
		for (unsigned i = 0; i < REGISTRY_INDEXES; i++)
			CU_ASSERT_EQUAL(table->by[i] >> format->count, 0);
	}
}

static void test_put_find_drop(void)
{
	struct registry *registry = registry_new();
	struct lid_entry entry = {.guid = 7, .lid = 20, .lmc = 1}, key = {.guid = 7};
	const struct lid_entry *found;

	CU_ASSERT_PTR_NULL(registry_find(registry, REGISTRY_LID, &key));
	CU_ASSERT_FALSE(registry_drop(registry, REGISTRY_LID, &key));
	registry_put(registry, REGISTRY_LID, &entry);
	found = registry_find(registry, REGISTRY_LID, &key);
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_EQUAL(found->lid, 20);
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_LID), 1);

	/* A reference to the old record outlives its replacement. */
	registry_ref(found);
	entry.lid = 30;
	CU_ASSERT_EQUAL(
		((const struct lid_entry *)registry_put(registry, REGISTRY_LID, &entry))->lid, 30);
	CU_ASSERT_EQUAL(found->lid, 20);
	registry_unref(found);
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_LID), 1);

	CU_ASSERT_TRUE(
		registry_drop(registry, REGISTRY_LID, registry_find(registry, REGISTRY_LID, &key)));
	CU_ASSERT_PTR_NULL(registry_find(registry, REGISTRY_LID, &key));
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_LID), 0);
	registry_free(registry);
}

static void test_indexes(void)
{
	struct registry *registry = registry_new();
	struct member_entry key = member(2, 105), gone;

	for (uint8_t group = 1; group <= 3; group++)
		for (guid_t guid = 100; guid < 110; guid++)
			put_member(registry, group, guid);
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_MEMBER), 30);
	CU_ASSERT_EQUAL(count_by(registry, -1, NULL), 30);
	CU_ASSERT_EQUAL(count_by(registry, MEMBER_BY_GROUP, &key), 10);
	CU_ASSERT_EQUAL(count_by(registry, MEMBER_BY_PORT, &key), 3);

	gone = member(2, 100); /* the first of its rings */
	CU_ASSERT_TRUE(registry_drop(registry, REGISTRY_MEMBER, &gone));
	gone = member(2, 105);
	CU_ASSERT_TRUE(registry_drop(registry, REGISTRY_MEMBER, &gone));
	CU_ASSERT_EQUAL(count_by(registry, MEMBER_BY_GROUP, &key), 8);
	CU_ASSERT_EQUAL(count_by(registry, MEMBER_BY_PORT, &key), 2);
	CU_ASSERT_EQUAL(count_by(registry, MEMBER_BY_OWNER, &key), 8);
	gone = member(2, 107); /* it counts for another port now */
	gone.owner = 7;
	registry_put(registry, REGISTRY_MEMBER, &gone);
	CU_ASSERT_EQUAL(count_by(registry, MEMBER_BY_OWNER, &key), 7);
	CU_ASSERT_EQUAL(count_by(registry, MEMBER_BY_OWNER, &gone), 1);
	key = member(9, 999);
	CU_ASSERT_PTR_NULL(registry_first(registry, REGISTRY_MEMBER, MEMBER_BY_GROUP, &key));
	CU_ASSERT_PTR_NULL(registry_first(registry, REGISTRY_MEMBER, MEMBER_BY_PORT, &key));
	registry_free(registry);
}

/* A record that is replaced keeps its place; where a walk stands may be dropped. */
static void test_walk(void)
{
	struct registry *registry = registry_new();
	struct lid_entry entry;
	guid_t expected = 1;

	for (entry = (struct lid_entry){.guid = 1}; entry.guid <= 4; entry.guid++)
		registry_put(registry, REGISTRY_LID, &entry);
	entry = (struct lid_entry){.guid = 2, .lid = 9};
	registry_put(registry, REGISTRY_LID, &entry);
	for (const struct lid_entry *at = registry_first(registry, REGISTRY_LID, -1, NULL), *next;
	     at; at = next) {
		next = registry_next(registry, REGISTRY_LID, -1, at);
		CU_ASSERT_EQUAL(at->guid, expected++);
		CU_ASSERT_TRUE(registry_drop(registry, REGISTRY_LID, at));
	}
	CU_ASSERT_EQUAL(expected, 5);
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_LID), 0);
	registry_free(registry);
}

/* The position of a slow walk: the records that follow, until the end. */
static void cursor_gives(struct registry_cursor *cursor, const guid_t *guids, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const struct member_entry *at = registry_walk_next(cursor);

		CU_ASSERT_PTR_NOT_NULL_FATAL(at);
		CU_ASSERT_EQUAL(at->port_guid, guids[i]);
	}
	CU_ASSERT_PTR_NULL(registry_walk_next(cursor));
}

/* A walk returns each record that exists during all of it exactly once, in its current state. The
 * record at which it stands and its neighbours may change. */
static void judge_cursor(int index)
{
	const struct member_entry key = member(1, 0);
	struct registry *registry = registry_new();
	struct registry_cursor all, first, none;
	struct member_entry entry;
	const struct member_entry *at;

	registry_walk(registry, REGISTRY_MEMBER, index, &key, &none);
	for (guid_t guid = 1; guid <= 6; guid++) {
		put_member(registry, 1, guid);
		if (index == MEMBER_BY_GROUP)
			put_member(registry, 2, guid);
	}
	registry_walk(registry, REGISTRY_MEMBER, index, &key, &all);
	registry_walk(registry, REGISTRY_MEMBER, index, &key, &first);
	entry = member(1, 1);
	registry_drop(registry, REGISTRY_MEMBER, &entry); /* both stand there */
	at = registry_walk_next(&first);
	CU_ASSERT_EQUAL(at->port_guid, 2);
	entry = member(1, 3);
	entry.join_state = 8;
	registry_put(registry, REGISTRY_MEMBER, &entry); /* first stands there */
	at = registry_walk_next(&first);
	CU_ASSERT_EQUAL(at->port_guid, 3);
	CU_ASSERT_EQUAL(at->join_state, 8);
	entry = member(1, 2);
	registry_drop(registry, REGISTRY_MEMBER, &entry); /* all stands there */
	entry = member(1, 6);
	registry_drop(registry, REGISTRY_MEMBER, &entry); /* the last */
	put_member(registry, 1, 7);
	cursor_gives(&first, (guid_t[]){4, 5, 7}, 3);
	registry_walk_end(&first);
	cursor_gives(&all, (guid_t[]){3, 4, 5, 7}, 4);
	cursor_gives(&none, NULL, 0);
	registry_walk_end(&all);
	registry_free(registry);
}

static void test_cursor(void)
{
	judge_cursor(-1);
	judge_cursor(MEMBER_BY_GROUP);
}

/* A put that changes the key of an index moves the record there, and in no other index. */
static void test_moved(void)
{
	struct registry *registry = registry_new();
	struct group_entry entry = {.mlid = 0xC001}, key = {.mlid = 0xC001};
	struct registry_cursor cursor;

	for (uint8_t i = 1; i <= 3; i++) {
		entry.mgid[0] = i;
		registry_put(registry, REGISTRY_GROUP, &entry);
	}
	registry_walk(registry, REGISTRY_GROUP, GROUP_BY_MLID, &key, &cursor);
	entry = (struct group_entry){.mgid = {1}, .mlid = 0xC002};
	registry_put(registry, REGISTRY_GROUP, &entry); /* the cursor stands there */
	CU_ASSERT_EQUAL(((const struct group_entry *)registry_walk_next(&cursor))->mgid[0], 2);
	CU_ASSERT_EQUAL(((const struct group_entry *)registry_walk_next(&cursor))->mgid[0], 3);
	CU_ASSERT_PTR_NULL(registry_walk_next(&cursor));
	registry_walk_end(&cursor);
	key.mlid = 0xC002;
	CU_ASSERT_PTR_EQUAL(registry_first(registry, REGISTRY_GROUP, GROUP_BY_MLID, &key),
			    registry_find(registry, REGISTRY_GROUP, &entry));
	CU_ASSERT_EQUAL(
		((const struct group_entry *)registry_first(registry, REGISTRY_GROUP, -1, NULL))
			->mgid[0],
		1); /* it kept its place among all */
	registry_free(registry);
}

static void test_changes(void)
{
	struct registry *registry = registry_new();
	struct heard heard = {.reader = {.changed = changed, .ctx = &heard}};
	struct lid_entry entry = {.guid = 7, .lid = 20};

	registry_read(registry, &heard.reader);
	registry_put(registry, REGISTRY_LID, &entry);
	registry_put(registry, REGISTRY_LID, &entry); /* no change */
	entry.lid = 21;
	registry_put(registry, REGISTRY_LID, &entry);
	put_member(registry, 1, 7);
	registry_drop(registry, REGISTRY_LID, &entry);
	CU_ASSERT_EQUAL(heard.count, 4);
	for (unsigned i = 0; i < heard.count; i++) {
		CU_ASSERT_EQUAL(heard.change[i].number, i + 1);
		CU_ASSERT_EQUAL(heard.change[i].kind, i == 2 ? REGISTRY_MEMBER : REGISTRY_LID);
		CU_ASSERT_EQUAL(heard.change[i].before, i == 1 || i == 3);
		CU_ASSERT_EQUAL(heard.change[i].after, i != 3);
	}
	CU_ASSERT_EQUAL(registry_number(registry), 4);
	registry_unread(&heard.reader);
	put_member(registry, 2, 7);
	CU_ASSERT_EQUAL(heard.count, 4);
	registry_free(registry);
}

static void count_up(void *ctx)
{
	++*(unsigned *)ctx;
}

static void test_durable(void)
{
	struct registry *registry = registry_new();
	unsigned calls[3] = {0};
	struct registry_waiter waiters[3];

	for (unsigned i = 0; i < 3; i++)
		waiters[i] = (struct registry_waiter){.durable = count_up, .ctx = &calls[i]};
	put_member(registry, 1, 1);
	registry_wait(registry, &waiters[0]); /* neither store nor standby keeps it */
	CU_ASSERT_EQUAL(calls[0], 1);

	registry_keep(registry, KEPT_BY_STORE, true);
	put_member(registry, 1, 2);
	registry_wait(registry, &waiters[0]);
	put_member(registry, 1, 3);
	registry_wait(registry, &waiters[1]);
	registry_wait(registry, &waiters[2]);
	registry_wait_cancel(&waiters[1]);
	CU_ASSERT_EQUAL(calls[0], 1);
	registry_kept(registry, KEPT_BY_STORE, 2);
	CU_ASSERT_EQUAL(calls[0], 2);
	CU_ASSERT_EQUAL(calls[2], 0);
	CU_ASSERT_FALSE(registry_durable(registry, 3));
	registry_keep(registry, KEPT_BY_STORE, false); /* without a store no wait is needed */
	CU_ASSERT_EQUAL(calls[2], 1);
	CU_ASSERT_EQUAL(calls[1], 0);
	CU_ASSERT_TRUE(registry_durable(registry, 3));
	registry_free(registry);
}

/* A change is durable when the store and the standby have it. A store or standby that begins to
 * keep changes has the existing records. */
static void test_store_and_standby(void)
{
	struct registry *registry = registry_new();
	unsigned calls[3] = {0};
	struct registry_waiter waiters[3];

	for (unsigned i = 0; i < 3; i++)
		waiters[i] = (struct registry_waiter){.durable = count_up, .ctx = &calls[i]};
	registry_keep(registry, KEPT_BY_STORE, true);
	put_member(registry, 1, 1);
	registry_wait(registry, &waiters[0]);
	registry_keep(registry, KEPT_BY_STANDBY, true);
	put_member(registry, 1, 2);
	registry_wait(registry, &waiters[1]);
	registry_kept(registry, KEPT_BY_STORE, 1);
	CU_ASSERT_EQUAL(calls[0], 1);
	registry_kept(registry, KEPT_BY_STORE, 2);
	CU_ASSERT_EQUAL(calls[1], 0);
	CU_ASSERT_FALSE(registry_durable(registry, 2));
	registry_kept(registry, KEPT_BY_STANDBY, 2);
	CU_ASSERT_EQUAL(calls[1], 1);
	put_member(registry, 1, 3);
	registry_wait(registry, &waiters[2]);
	registry_kept(registry, KEPT_BY_STANDBY, 3);
	CU_ASSERT_EQUAL(calls[2], 0);
	registry_keep(registry, KEPT_BY_STORE, false); /* the standby has it */
	CU_ASSERT_EQUAL(calls[2], 1);
	put_member(registry, 1, 4);
	CU_ASSERT_FALSE(registry_durable(registry, 4));
	registry_keep(registry, KEPT_BY_STANDBY, false);
	CU_ASSERT_TRUE(registry_durable(registry, 4));
	registry_free(registry);
}

/* Against a plain array, with keys so few that rings and replacements are met often. */
static void test_random(void)
{
	enum { GROUPS = 5, PORTS = 7, STEPS = 20000 };
	struct registry *registry = registry_new();
	uint8_t model[GROUPS][PORTS] = {0};
	uint32_t random = 1;
	unsigned count = 0;

	for (unsigned step = 0; step < STEPS; step++) {
		unsigned group, port;
		struct member_entry key;
		const struct member_entry *found;

		random = random * 1664525 + 1013904223;
		group = (random >> 8) % GROUPS;
		port = (random >> 16) % PORTS;
		key = member(group, port);
		if (random >> 28 & 1) {
			key.join_state = 1 + (random >> 24 & 3);
			count += !model[group][port];
			model[group][port] = key.join_state;
			registry_put(registry, REGISTRY_MEMBER, &key);
		} else {
			CU_ASSERT_EQUAL(registry_drop(registry, REGISTRY_MEMBER, &key),
					model[group][port] != 0);
			count -= model[group][port] != 0;
			model[group][port] = 0;
		}
		found = registry_find(registry, REGISTRY_MEMBER, &key);
		CU_ASSERT_EQUAL(found ? found->join_state : 0, model[group][port]);
		CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_MEMBER), count);
	}
	for (unsigned group = 0; group < GROUPS; group++) {
		struct member_entry key = member(group, 0);
		unsigned expected = 0;

		for (unsigned port = 0; port < PORTS; port++)
			expected += model[group][port] != 0;
		CU_ASSERT_EQUAL(count_by(registry, MEMBER_BY_GROUP, &key), expected);
	}
	registry_free(registry);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"tables", test_tables},
		{"put, find, drop", test_put_find_drop},
		{"indexes", test_indexes},
		{"walk", test_walk},
		{"a walk that outlives changes", test_cursor},
		{"indexes follow changes", test_moved},
		{"changes", test_changes},
		{"durable", test_durable},
		{"two who keep it", test_store_and_standby},
		{"random", test_random},
		CU_TEST_INFO_NULL,
	};

	return unit_main("registry", tests);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The tables of the registry: their rows, and a single implementation for all kinds. Each record is
 * in a list of its kind, in a ring for its key, and in a ring for each index. A ring holds all
 * records whose members have the same hash, oldest first. A map leads from the hash to the oldest
 * record. Different members may share a hash, so callers compare the members.
 */
#include "store/registry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/map.h"
#include "lib/mem.h"

/* The wire formats, on disks and in replication. Rows may be added at the end. */
#define ROW(type, member, text, at, bits) FIELD(struct type, member, text, at, bits)
#define BYTES(type, member, text, at, bits) \
	FIELD_ARRAY(struct type, member, text, FIELD_BYTES, at, bits)

static const struct field lid_rows[] = {
	ROW(lid_entry, guid, "GUID", 0, 64),
	ROW(lid_entry, lid, "LID", 64, 16),
	ROW(lid_entry, lmc, "LMC", 80, 8),
	ROW(lid_entry, gone, "Gone", 88, 32),
	ROW(lid_entry, node_guid, "NodeGUID", 120, 64),
	ROW(lid_entry, port, "Port", 184, 8),
};

static const struct field group_rows[] = {
	BYTES(group_entry, mgid, "MGID", 0, 128),
	ROW(group_entry, mlid, "MLID", 128, 16),
	ROW(group_entry, q_key, "Q_Key", 144, 32),
	ROW(group_entry, mtu, "MTU", 176, 8),
	ROW(group_entry, tclass, "TClass", 184, 8),
	ROW(group_entry, p_key, "P_Key", 192, 16),
	ROW(group_entry, rate, "Rate", 208, 8),
	ROW(group_entry, packet_life_time, "PacketLifeTime", 216, 8),
	ROW(group_entry, sl, "SL", 224, 8),
	ROW(group_entry, flow_label, "FlowLabel", 232, 32),
	ROW(group_entry, hop_limit, "HopLimit", 264, 8),
	ROW(group_entry, scope, "Scope", 272, 8),
	ROW(group_entry, permanent, "Permanent", 280, 8),
	ROW(group_entry, owner, "Owner", 288, 64),
};

static const struct field member_rows[] = {
	BYTES(member_entry, mgid, "MGID", 0, 128),
	ROW(member_entry, port_prefix, "PortPrefix", 128, 64),
	ROW(member_entry, port_guid, "PortGUID", 192, 64),
	ROW(member_entry, join_state, "JoinState", 256, 8),
	ROW(member_entry, proxy_join, "ProxyJoin", 264, 8),
	ROW(member_entry, owner, "Owner", 272, 64),
};

static const struct field service_rows[] = {
	ROW(service_entry, service_id, "ServiceID", 0, 64),
	ROW(service_entry, gid_prefix, "ServicePrefix", 64, 64),
	ROW(service_entry, gid_guid, "ServiceGUID", 128, 64),
	ROW(service_entry, p_key, "ServiceP_Key", 192, 16),
	ROW(service_entry, expires_s, "Expires", 208, 64),
	BYTES(service_entry, key, "ServiceKey", 272, 128),
	BYTES(service_entry, name, "ServiceName", 400, 512),
	BYTES(service_entry, data, "ServiceData", 912, 512),
	ROW(service_entry, owner, "Owner", 1424, 64),
};

static const struct field subscription_rows[] = {
	ROW(subscription_entry, prefix, "SubscriberPrefix", 0, 64),
	ROW(subscription_entry, subscriber, "SubscriberGUID", 64, 64),
	ROW(subscription_entry, number, "SubscriberEnum", 128, 16),
	ROW(subscription_entry, lid, "LID", 144, 16),
	ROW(subscription_entry, qpn, "QPN", 160, 24),
	ROW(subscription_entry, sl, "SL", 184, 8),
	ROW(subscription_entry, pkey_index, "P_KeyIndex", 192, 16),
	BYTES(subscription_entry, gid, "GID", 208, 128),
	ROW(subscription_entry, lid_begin, "LIDRangeBegin", 336, 16),
	ROW(subscription_entry, lid_end, "LIDRangeEnd", 352, 16),
	ROW(subscription_entry, is_generic, "IsGeneric", 368, 8),
	ROW(subscription_entry, type, "Type", 376, 16),
	ROW(subscription_entry, trap_number, "TrapNumber", 392, 16),
	ROW(subscription_entry, resp_time, "RespTimeValue", 408, 8),
	ROW(subscription_entry, producer_type, "ProducerType", 416, 24),
	ROW(subscription_entry, trusted, "Trusted", 440, 8),
};

static const struct field alias_rows[] = {
	ROW(alias_entry, port_guid, "PortGUID", 0, 64),
	ROW(alias_entry, index, "Index", 64, 16),
	ROW(alias_entry, guid, "GUID", 80, 64),
	ROW(alias_entry, granted, "Granted", 144, 8),
};

static const struct field setting_rows[] = {
	BYTES(setting_entry, name, "Name", 0, 256),
	BYTES(setting_entry, value, "Value", 256, 2048),
};

static const struct field partition_rows[] = {
	ROW(partition_entry, p_key, "P_Key", 0, 16),
	BYTES(partition_entry, name, "Name", 16, 512),
	ROW(partition_entry, ipoib, "IPoIB", 528, 8),
	ROW(partition_entry, index0, "Index0", 536, 8),
	ROW(partition_entry, mtu, "MTU", 544, 8),
	ROW(partition_entry, rate, "Rate", 552, 8),
	ROW(partition_entry, sl, "SL", 560, 8),
	ROW(partition_entry, scope, "Scope", 568, 8),
	ROW(partition_entry, tclass, "TClass", 576, 8),
	ROW(partition_entry, q_key, "Q_Key", 584, 32),
	ROW(partition_entry, flow_label, "FlowLabel", 616, 32),
};

static const struct field partition_member_rows[] = {
	ROW(partition_member_entry, p_key, "P_Key", 0, 16),
	ROW(partition_member_entry, guid, "GUID", 16, 64),
	ROW(partition_member_entry, membership, "Membership", 80, 8),
};

static const struct field m_key_rows[] = {
	ROW(m_key_entry, guid, "GUID", 0, 64),
	ROW(m_key_entry, m_key, "M_Key", 64, 64),
	ROW(m_key_entry, previous, "Previous", 128, 64),
	ROW(m_key_entry, older, "Older", 192, 64),
};

static const struct field neighbor_rows[] = {
	ROW(neighbor_entry, node_guid, "NodeGUID", 0, 64),
	ROW(neighbor_entry, port, "Port", 64, 8),
	ROW(neighbor_entry, guid, "GUID", 72, 64),
};

static const struct field disabled_rows[] = {
	ROW(disabled_entry, node_guid, "NodeGUID", 0, 64),
	ROW(disabled_entry, port, "Port", 64, 8),
};

static const struct field drained_rows[] = {
	ROW(drained_entry, node_guid, "NodeGUID", 0, 64),
	ROW(drained_entry, port, "Port", 64, 8),
	ROW(drained_entry, of, "Target", 72, 64),
	ROW(drained_entry, of_port, "TargetPort", 136, 8),
	ROW(drained_entry, since_s, "Since", 144, 64),
	ROW(drained_entry, by_policy, "ByPolicy", 208, 8),
	ROW(drained_entry, forced, "Forced", 216, 8),
	ROW(drained_entry, ending, "Ending", 224, 8),
	BYTES(drained_entry, name, "Name", 232, 520),
	BYTES(drained_entry, reason, "Reason", 752, 768),
};

static const struct field lost_link_rows[] = {
	ROW(lost_link_entry, node_guid, "NodeGUID", 0, 64),
	ROW(lost_link_entry, port, "Port", 64, 8),
	ROW(lost_link_entry, peer_guid, "PeerGUID", 72, 64),
	ROW(lost_link_entry, peer_port, "PeerPort", 136, 8),
	ROW(lost_link_entry, since_s, "Since", 144, 64),
	BYTES(lost_link_entry, name, "Name", 208, 520),
	BYTES(lost_link_entry, peer_name, "PeerName", 728, 520),
};

static const struct field partition_text_rows[] = {
	ROW(partition_text_entry, number, "Number", 0, 32),
	ROW(partition_text_entry, size, "Size", 32, 16),
	BYTES(partition_text_entry, text, "Text", 48, 3840),
};

static const struct field partition_owner_rows[] = {
	ROW(partition_owner_entry, p_key, "P_Key", 0, 16),
	ROW(partition_owner_entry, guid, "GUID", 16, 64),
	BYTES(partition_owner_entry, owner, "Owner", 80, 256),
};

static const struct format
	lid_format = FORMAT(struct lid_entry, "LID", 24, lid_rows),
	group_format = FORMAT(struct group_entry, "Group", 44, group_rows),
	member_format = FORMAT(struct member_entry, "Member", 42, member_rows),
	service_format = FORMAT(struct service_entry, "Service", 186, service_rows),
	subscription_format =
		FORMAT(struct subscription_entry, "Subscription", 56, subscription_rows),
	alias_format = FORMAT(struct alias_entry, "Alias", 19, alias_rows),
	setting_format = FORMAT(struct setting_entry, "Setting", 288, setting_rows),
	partition_format = FORMAT(struct partition_entry, "Partition", 81, partition_rows),
	partition_member_format =
		FORMAT(struct partition_member_entry, "PartitionMember", 11, partition_member_rows),
	m_key_format = FORMAT(struct m_key_entry, "M_Key", 32, m_key_rows),
	neighbor_format = FORMAT(struct neighbor_entry, "Neighbor", 17, neighbor_rows),
	disabled_format = FORMAT(struct disabled_entry, "DisabledPort", 9, disabled_rows),
	partition_text_format =
		FORMAT(struct partition_text_entry, "PartitionText", 486, partition_text_rows),
	partition_owner_format =
		FORMAT(struct partition_owner_entry, "PartitionOwner", 42, partition_owner_rows),
	drained_format = FORMAT(struct drained_entry, "DrainedPort", 190, drained_rows),
	lost_link_format = FORMAT(struct lost_link_entry, "LostLink", 156, lost_link_rows);

#define IN(row) (UINT64_C(1) << (row))

const struct registry_table registry_tables[REGISTRY_KINDS] = {
	[REGISTRY_LID] = {"lid", &lid_format, 1, 8, {IN(4) | IN(5), 0}},
	[REGISTRY_GROUP] = {"group", &group_format, 1, 16, {IN(1), 0}},
	[REGISTRY_MEMBER] = {"member", &member_format, 3, 32, {IN(0), IN(2), IN(0) | IN(5)}},
	[REGISTRY_SERVICE] = {"service", &service_format, 4, 26, {IN(2), IN(0)}},
	[REGISTRY_SUBSCRIPTION] = {"subscription", &subscription_format, 3, 18, {IN(1), 0}},
	[REGISTRY_ALIAS] = {"alias", &alias_format, 2, 10, {IN(0), IN(2)}},
	[REGISTRY_SETTING] = {"setting", &setting_format, 1, 32, {0, 0}},
	[REGISTRY_PARTITION] = {"partition", &partition_format, 1, 2, {0, 0}},
	[REGISTRY_PARTITION_MEMBER] =
		{"partition member", &partition_member_format, 2, 10, {IN(0), IN(1)}},
	[REGISTRY_M_KEY] = {"m_key", &m_key_format, 1, 8, {0, 0}},
	[REGISTRY_NEIGHBOR] = {"neighbor", &neighbor_format, 2, 9, {0, 0}},
	[REGISTRY_DISABLED] = {"disabled port", &disabled_format, 2, 9, {0, 0}},
	[REGISTRY_PARTITION_TEXT] = {"partition text", &partition_text_format, 1, 4, {0, 0}},
	[REGISTRY_PARTITION_OWNER] =
		{"partition owner", &partition_owner_format, 2, 10, {IN(0), 0}},
	[REGISTRY_DRAINED] =
		{"drained port", &drained_format, 4, 18, {IN(0) | IN(1), IN(2) | IN(3)}},
	[REGISTRY_LOST_LINK] =
		{"lost link", &lost_link_format, 4, 18, {IN(0) | IN(1), IN(2) | IN(3)}},
};

/* The ring of the key, then the rings of the indexes. */
enum { RINGS = 1 + REGISTRY_INDEXES };

struct entry {
	struct list all; /* in the list of its kind; in no list after it was replaced or dropped */
	struct list ring[RINGS];
	unsigned refs;
	uint64_t record[]; /* the struct */
};

struct table {
	struct list all;
	size_t count;
	struct map rings[RINGS]; /* hash -> entry */
};

struct registry {
	struct table tables[REGISTRY_KINDS];
	struct list readers, waiters, cursors;
	uint64_t number, durable;
	struct {
		bool keeps;
		uint64_t kept;
	} keepers[REGISTRY_KEEPERS];
	bool together, follows;
};

static struct entry *entry_of(const void *record)
{
	return container_of((uint64_t *)record, struct entry, record);
}

/* The rows that make up a ring's key. */
static uint64_t ring_rows(enum registry_kind kind, unsigned ring)
{
	const struct registry_table *table = &registry_tables[kind];

	return ring ? table->by[ring - 1] : IN(table->key_rows) - 1;
}

static bool rows_equal(const struct format *format, uint64_t rows, const void *a, const void *b)
{
	for (; rows; rows &= rows - 1)
		if (!field_equal(&format->fields[__builtin_ctzll(rows)], a, b))
			return false;
	return true;
}

/* Hashes the bytes of the members. The last line mixes the high bits in, because the map uses the
 * low bits. */
static uint64_t rows_hash(const struct format *format, uint64_t rows, const void *record)
{
	uint64_t hash = HASH_SEED;

	for (; rows; rows &= rows - 1) {
		const struct field *field = &format->fields[__builtin_ctzll(rows)];
		const uint8_t *member = (const uint8_t *)record + field->offset;
		size_t size = field->kind == FIELD_UINT ? field->size : field->width / 8u;

		hash = hash_bytes(hash, member, size);
	}
	return hash ^ hash >> 32;
}

static struct entry *ring_first(const struct registry *registry, enum registry_kind kind,
				unsigned ring, const void *key)
{
	const struct format *format = registry_tables[kind].format;
	uint64_t rows = ring_rows(kind, ring);
	struct entry *first =
		map_get(&registry->tables[kind].rings[ring], rows_hash(format, rows, key));
	struct entry *entry = first;

	if (!first)
		return NULL;
	do {
		if (rows_equal(format, rows, entry->record, key))
			return entry;
		entry = container_of(entry->ring[ring].next, struct entry, ring[ring]);
	} while (entry != first);
	return NULL;
}

static struct entry *ring_next(const struct registry *registry, enum registry_kind kind,
			       unsigned ring, struct entry *entry)
{
	const struct format *format = registry_tables[kind].format;
	uint64_t rows = ring_rows(kind, ring);
	struct entry *first = map_get(&registry->tables[kind].rings[ring],
				      rows_hash(format, rows, entry->record));

	for (struct entry *next = entry;;) {
		next = container_of(next->ring[ring].next, struct entry, ring[ring]);
		if (next == first)
			return NULL;
		if (rows_equal(format, rows, next->record, entry->record))
			return next;
	}
}

static void ring_add(struct registry *registry, enum registry_kind kind, unsigned ring,
		     struct entry *entry)
{
	struct map *map = &registry->tables[kind].rings[ring];
	uint64_t hash =
		rows_hash(registry_tables[kind].format, ring_rows(kind, ring), entry->record);
	struct entry *first = map_get(map, hash);

	list_init(&entry->ring[ring]);
	if (first)
		list_push(&first->ring[ring], &entry->ring[ring]);
	else
		map_put(map, hash, entry);
}

static void ring_remove(struct registry *registry, enum registry_kind kind, unsigned ring,
			struct entry *entry)
{
	struct map *map = &registry->tables[kind].rings[ring];
	uint64_t hash =
		rows_hash(registry_tables[kind].format, ring_rows(kind, ring), entry->record);

	if (map_get(map, hash) == entry) {
		if (list_empty(&entry->ring[ring]))
			map_remove(map, hash);
		else
			map_put(map, hash,
				container_of(entry->ring[ring].next, struct entry, ring[ring]));
	}
	list_del(&entry->ring[ring]);
}

/* Both entries have the same key. */
static void ring_replace(struct registry *registry, enum registry_kind kind, unsigned ring,
			 struct entry *old, struct entry *entry)
{
	struct map *map = &registry->tables[kind].rings[ring];
	uint64_t hash = rows_hash(registry_tables[kind].format, ring_rows(kind, ring), old->record);

	if (map_get(map, hash) == old)
		map_put(map, hash, entry);
	list_push(&old->ring[ring], &entry->ring[ring]);
	list_del(&old->ring[ring]);
}

struct registry *registry_new(void)
{
	struct registry *registry = mem_zalloc(sizeof(*registry));

	for (unsigned kind = 0; kind < REGISTRY_KINDS; kind++) {
		list_init(&registry->tables[kind].all);
		for (unsigned ring = 0; ring < RINGS; ring++)
			map_init(&registry->tables[kind].rings[ring]);
	}
	list_init(&registry->readers);
	list_init(&registry->waiters);
	list_init(&registry->cursors);
	return registry;
}

void registry_free(struct registry *registry)
{
	if (!registry)
		return;
	for (unsigned kind = 0; kind < REGISTRY_KINDS; kind++) {
		list_for_each (item, &registry->tables[kind].all) {
			list_del(item);
			registry_unref(container_of(item, struct entry, all)->record);
		}
		for (unsigned ring = 0; ring < RINGS; ring++)
			map_done(&registry->tables[kind].rings[ring]);
	}
	while (list_pop(&registry->readers))
		;
	while (list_pop(&registry->waiters))
		;
	while (list_pop(&registry->cursors))
		;
	free(registry);
}

const void *registry_find(const struct registry *registry, enum registry_kind kind, const void *key)
{
	struct entry *entry = ring_first(registry, kind, 0, key);

	return entry ? entry->record : NULL;
}

static bool registry_is_kept(const struct registry *registry)
{
	for (unsigned i = 0; i < REGISTRY_KEEPERS; i++)
		if (registry->keepers[i].keeps)
			return true;
	return false;
}

static void registry_notify(struct registry *registry, enum registry_kind kind, const void *before,
			    const void *after)
{
	struct registry_change change = {++registry->number, kind, before, after};

	if (!registry_is_kept(registry))
		registry->durable = registry->number;
	list_for_each (item, &registry->readers) {
		struct registry_reader *reader = container_of(item, struct registry_reader, link);

		if (reader->changed)
			reader->changed(reader->ctx, &change);
	}
}

static void entry_add(struct registry *registry, enum registry_kind kind, struct entry *entry)
{
	registry->tables[kind].count++;
	list_push(&registry->tables[kind].all, &entry->all);
	for (unsigned ring = 0; ring < RINGS; ring++)
		if (ring_rows(kind, ring))
			ring_add(registry, kind, ring, entry);
}

/* Moves walks whose next record is old, which is about to be removed. They continue with its
 * successor if that has the same position, else with the record after old. */
static void cursors_pass(struct registry *registry, enum registry_kind kind,
			 const struct entry *old, const struct entry *successor)
{
	const struct format *format = registry_tables[kind].format;

	list_for_each (item, &registry->cursors) {
		struct registry_cursor *cursor = container_of(item, struct registry_cursor, link);
		uint64_t rows = cursor->index < 0 ? 0 : registry_tables[kind].by[cursor->index];

		if (cursor->kind != kind || cursor->next != old->record)
			continue;
		if (successor && rows_equal(format, rows, old->record, successor->record))
			cursor->next = successor->record;
		else
			cursor->next = registry_next(registry, kind, cursor->index, old->record);
	}
}

/* Puts entry at the positions of old. In a ring whose key has changed, entry is added at the
 * end. */
static void entry_replace(struct registry *registry, enum registry_kind kind, struct entry *old,
			  struct entry *entry)
{
	const struct format *format = registry_tables[kind].format;

	cursors_pass(registry, kind, old, entry);
	list_push(&old->all, &entry->all);
	list_del(&old->all);
	for (unsigned ring = 0; ring < RINGS; ring++) {
		uint64_t rows = ring_rows(kind, ring);

		if (rows && rows_equal(format, rows, old->record, entry->record)) {
			ring_replace(registry, kind, ring, old, entry);
		} else if (rows) {
			ring_remove(registry, kind, ring, old);
			ring_add(registry, kind, ring, entry);
		}
	}
}

static void entry_remove(struct registry *registry, enum registry_kind kind, struct entry *entry)
{
	cursors_pass(registry, kind, entry, NULL);
	registry->tables[kind].count--;
	for (unsigned ring = 0; ring < RINGS; ring++)
		if (ring_rows(kind, ring))
			ring_remove(registry, kind, ring, entry);
	list_del(&entry->all);
}

const void *registry_put(struct registry *registry, enum registry_kind kind, const void *record)
{
	const struct format *format = registry_tables[kind].format;
	struct entry *old = ring_first(registry, kind, 0, record), *entry;

	if (old && rows_equal(format, IN(format->count) - 1, old->record, record))
		return old->record;
	entry = mem_alloc(sizeof(*entry) + format->struct_size);
	entry->refs = 1;
	memcpy(entry->record, record, format->struct_size);
	if (old)
		entry_replace(registry, kind, old, entry);
	else
		entry_add(registry, kind, entry);
	registry_notify(registry, kind, old ? old->record : NULL, entry->record);
	if (old)
		registry_unref(old->record);
	return entry->record;
}

bool registry_drop(struct registry *registry, enum registry_kind kind, const void *key)
{
	struct entry *entry = ring_first(registry, kind, 0, key);

	if (!entry)
		return false;
	entry_remove(registry, kind, entry);
	registry_notify(registry, kind, entry->record, NULL);
	registry_unref(entry->record);
	return true;
}

size_t registry_count(const struct registry *registry, enum registry_kind kind)
{
	return registry->tables[kind].count;
}

const void *registry_first(const struct registry *registry, enum registry_kind kind, int index,
			   const void *key)
{
	const struct list *all = &registry->tables[kind].all;
	struct entry *entry;

	if (index >= 0)
		entry = ring_first(registry, kind, 1 + index, key);
	else
		entry = list_empty(all) ? NULL : container_of(all->next, struct entry, all);
	return entry ? entry->record : NULL;
}

const void *registry_next(const struct registry *registry, enum registry_kind kind, int index,
			  const void *record)
{
	struct entry *entry = entry_of(record);

	if (index >= 0)
		entry = ring_next(registry, kind, 1 + index, entry);
	else if (entry->all.next == &registry->tables[kind].all)
		entry = NULL;
	else
		entry = container_of(entry->all.next, struct entry, all);
	return entry ? entry->record : NULL;
}

void registry_walk(struct registry *registry, enum registry_kind kind, int index, const void *key,
		   struct registry_cursor *cursor)
{
	*cursor = (struct registry_cursor){
		.registry = registry,
		.kind = kind,
		.index = index,
		.next = registry_first(registry, kind, index, key),
	};
	list_push(&registry->cursors, &cursor->link);
}

const void *registry_walk_next(struct registry_cursor *cursor)
{
	const void *record = cursor->next;

	if (record)
		cursor->next = registry_next(cursor->registry, cursor->kind, cursor->index, record);
	return record;
}

void registry_walk_end(struct registry_cursor *cursor)
{
	list_del(&cursor->link);
}

const void *registry_ref(const void *record)
{
	entry_of(record)->refs++;
	return record;
}

void registry_unref(const void *record)
{
	struct entry *entry;

	if (!record)
		return;
	entry = entry_of(record);
	assert(entry->refs);
	if (!--entry->refs)
		free(entry);
}

void registry_read(struct registry *registry, struct registry_reader *reader)
{
	list_push(&registry->readers, &reader->link);
}

void registry_unread(struct registry_reader *reader)
{
	list_del(&reader->link);
}

uint64_t registry_number(const struct registry *registry)
{
	return registry->number;
}

/* Finds the last change that all parts have (enum registry_keeper), and calls its waiters. */
static void find_durable(struct registry *registry)
{
	uint64_t number = registry->number;

	for (unsigned i = 0; i < REGISTRY_KEEPERS; i++)
		if (registry->keepers[i].keeps && registry->keepers[i].kept < number)
			number = registry->keepers[i].kept;
	registry->durable = number;
	while (!list_empty(&registry->waiters)) { /* in the order of their numbers */
		struct registry_waiter *first =
			container_of(registry->waiters.next, struct registry_waiter, link);

		if (first->number > registry->durable)
			break;
		list_del(&first->link);
		first->durable(first->ctx);
	}
}

void registry_keep(struct registry *registry, enum registry_keeper keeper, bool keeps)
{
	registry->keepers[keeper].keeps = keeps;
	registry->keepers[keeper].kept = registry->number;
	find_durable(registry);
}

void registry_kept(struct registry *registry, enum registry_keeper keeper, uint64_t number)
{
	assert(number >= registry->keepers[keeper].kept && number <= registry->number);
	registry->keepers[keeper].kept = number;
	find_durable(registry);
}

bool registry_keeps(const struct registry *registry, enum registry_keeper keeper)
{
	return registry->keepers[keeper].keeps;
}

void registry_follow(struct registry *registry, bool follows)
{
	registry->follows = follows;
}

bool registry_follows(const struct registry *registry)
{
	return registry->follows;
}

void registry_together(struct registry *registry, bool together)
{
	registry->together = together;
	if (together)
		return;
	list_for_each (item, &registry->readers) {
		struct registry_reader *reader = container_of(item, struct registry_reader, link);

		if (reader->whole)
			reader->whole(reader->ctx);
	}
}

bool registry_is_together(const struct registry *registry)
{
	return registry->together;
}

bool registry_durable(const struct registry *registry, uint64_t number)
{
	return number <= registry->durable;
}

void registry_wait(struct registry *registry, struct registry_waiter *waiter)
{
	waiter->number = registry->number;
	if (registry_durable(registry, waiter->number)) {
		list_init(&waiter->link);
		waiter->durable(waiter->ctx);
		return;
	}
	list_push(&registry->waiters, &waiter->link);
}

void registry_wait_cancel(struct registry_waiter *waiter)
{
	list_del(&waiter->link);
}

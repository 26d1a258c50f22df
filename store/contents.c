/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decodes rows into records, and compares totals: store/contents.h. */
#include "store/contents.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "store/registry_check.h"

enum { ROWS_MIN = 64, WIRE_MAX = STORE_KEY_MAX + STORE_VALUE_MAX, STRUCT_MAX = 1024 };

#define VITAL                                                                               \
	(1u << REGISTRY_ALIAS | 1u << REGISTRY_SETTING | 1u << REGISTRY_PARTITION |         \
	 1u << REGISTRY_PARTITION_MEMBER | 1u << REGISTRY_M_KEY | 1u << REGISTRY_DISABLED | \
	 1u << REGISTRY_PARTITION_TEXT | 1u << REGISTRY_PARTITION_OWNER | 1u << REGISTRY_DRAINED)

bool store_kind_is_vital(unsigned kind)
{
	return VITAL >> kind & 1;
}

/* Names of bad rows */

static void name_bytes(const uint8_t *bytes, size_t size, char *out, size_t room)
{
	size_t length = strnlen((const char *)bytes, size), used;
	bool is_text = length > 0;

	for (size_t i = 0; i < length; i++)
		is_text &= bytes[i] >= ' ' && bytes[i] < 0x7f;
	if (is_text) {
		snprintf(out, room, "\"%.*s\"", (int)length, (const char *)bytes);
		return;
	}
	used = (size_t)snprintf(out, room, "0x");
	for (size_t i = 0; i < size && used + 3 <= room; i++)
		used += (size_t)snprintf(out + used, room - used, "%02x", bytes[i]);
}

/* The members that identify a record: "GUID 0x0002c90300000001, Port 1". */
static void name_key(const struct registry_table *table, const uint8_t *key, char *out, size_t room)
{
	uint64_t record[STRUCT_MAX / sizeof(uint64_t)] = {0};
	uint8_t wire[WIRE_MAX] = {0};
	size_t used = 0;

	memcpy(wire, key, table->key_bytes);
	format_decode(table->format, wire, record);
	for (size_t row = 0; row < table->key_rows && used < room; row++) {
		const struct field *field = &table->format->fields[row];
		char value[80];

		if (field->kind == FIELD_BYTES)
			name_bytes((const uint8_t *)record + field->offset, field->width / 8, value,
				   sizeof(value));
		else
			snprintf(value, sizeof(value), "0x%" PRIx64,
				 format_get(table->format, row, record));
		used += (size_t)snprintf(out + used, room - used, "%s%s %s", row ? ", " : "",
					 field->name, value);
	}
}

static const struct registry_table *table_of(unsigned kind)
{
	return kind >= REGISTRY_LID && kind < REGISTRY_KINDS ? &registry_tables[kind] : NULL;
}

/* Formats as much of a damaged row as can be read. */
static void name_row(const struct store_db_row *row, char out[STORE_WHY_SIZE])
{
	const struct registry_table *table = table_of(row->kind);
	char key[STORE_WHY_SIZE - 40] = "an unreadable key";

	if (table && row->key_size == table->key_bytes)
		name_key(table, row->key, key, sizeof(key));
	if (table)
		snprintf(out, STORE_WHY_SIZE, "%s, %s", table->name, key);
	else
		snprintf(out, STORE_WHY_SIZE, "unknown kind %u", row->kind);
}

static void take_bad(void *ctx, const struct store_db_row *row)
{
	struct store_contents *contents = ctx;

	if (contents->bad < STORE_NAMED_MAX)
		name_row(row, contents->named[contents->bad]);
	contents->bad++;
}

/* Good rows */

static void contents_refuse(struct store_contents *contents, const char *table, const char *field,
			    const char *wrong)
{
	if (!contents->refused++)
		snprintf(contents->refused_why, sizeof(contents->refused_why), "%s: %s: %s", table,
			 field, wrong);
}

/* The hash of the key, or the next free number after it. Clients choose keys such as MGIDs, and can
 * choose two keys with the same FNV-1a hash. */
static uint64_t slot_of(const struct map *seen, const struct store_key *key)
{
	uint64_t slot = hash_bytes(HASH_SEED, key, sizeof(*key) + key->size);
	const struct store_key *other;

	while ((other = map_get(seen, slot)) &&
	       (other->kind != key->kind || memcmp(other->bytes, key->bytes, key->size)))
		slot++;
	return slot;
}

static const struct store_key *key_new(struct arena *arena, const struct store_db_row *row)
{
	struct store_key *key = arena_alloc(arena, sizeof(*key) + row->key_size);

	key->kind = (uint8_t)row->kind;
	key->size = (uint8_t)row->key_size;
	memcpy(key->bytes, row->key, row->key_size);
	return key;
}

static void contents_add_record(struct store_contents *contents, const struct store_record *record)
{
	if (contents->count == contents->capacity) {
		contents->capacity = contents->capacity ? 2 * contents->capacity : ROWS_MIN;
		contents->rows =
			mem_resize(contents->rows, contents->capacity, sizeof(*contents->rows));
	}
	contents->rows[contents->count++] = *record;
}

/* Takes a row with a correct checksum. If its kind or size is wrong, another program wrote it. */
static int take_good(void *ctx, const struct store_db_row *row)
{
	struct store_contents *contents = ctx;
	const struct registry_table *table = table_of(row->kind);
	uint8_t wire[WIRE_MAX];
	const char *field = "", *wrong;
	const struct store_key *key;
	void *record;

	if (!table || row->key_size != table->key_bytes ||
	    row->key_size + row->value_size != table->format->wire_size) {
		take_bad(ctx, row);
		return 0;
	}
	key = key_new(contents->arena, row);
	if (map_put(&contents->seen, slot_of(&contents->seen, key), (void *)key))
		return 0;
	store_db_count(&contents->found, row);
	memcpy(wire, row->key, row->key_size);
	if (row->value_size) /* NULL if all fields are in the key */
		memcpy(wire + row->key_size, row->value, row->value_size);
	record = arena_alloc(contents->arena, table->format->struct_size);
	format_decode(table->format, wire, record);
	wrong = registry_check(row->kind, record, &field);
	if (wrong)
		contents_refuse(contents, table->name, field, wrong);
	else
		contents_add_record(contents, &(struct store_record){row->kind, record, key,
								     store_db_row_sum(row)});
	return 0;
}

int store_contents_read(struct store_contents *out, struct store_db *db, char why[STORE_WHY_SIZE])
{
	const struct store_db_sink sink = {take_good, take_bad, out};

	out->arena = arena_new();
	out->said = *store_db_totals(db);
	return store_db_read(db, &sink, why);
}

void store_contents_salvage(struct store_contents *out, const char *path)
{
	const struct store_db_sink sink = {take_good, take_bad, out};

	out->arena = arena_new();
	store_db_salvage(path, &sink, &out->said);
}

void store_contents_release(struct store_contents *contents)
{
	arena_free(contents->arena);
	free(contents->rows);
	map_done(&contents->seen);
	map_init(&contents->seen);
	contents->arena = NULL;
	contents->rows = NULL;
	contents->count = contents->capacity = 0;
}

/* Totals */

static bool total_is(const struct store_db_total *a, const struct store_db_total *b)
{
	return a->count == b->count && a->sum == b->sum;
}

bool store_contents_whole(const struct store_contents *contents, char why[STORE_WHY_SIZE])
{
	if (contents->bad) {
		snprintf(why, STORE_WHY_SIZE, "records with a wrong checksum: %zu", contents->bad);
		return false;
	}
	if (!contents->said.known) {
		snprintf(why, STORE_WHY_SIZE, "the totals are missing");
		return false;
	}
	for (unsigned kind = 1; kind < STORE_DB_KINDS; kind++) {
		if (total_is(&contents->said.kinds[kind], &contents->found.kinds[kind]))
			continue;
		snprintf(why, STORE_WHY_SIZE, "records of kind %u are missing", kind);
		return false;
	}
	return true;
}

uint64_t store_contents_found(const struct store_contents *contents)
{
	uint64_t count = 0;

	for (unsigned kind = 0; kind < STORE_DB_KINDS; kind++)
		count += contents->found.kinds[kind].count;
	return count;
}

uint64_t store_contents_missing(const struct store_contents *contents, unsigned kind)
{
	uint64_t said = contents->said.kinds[kind].count, found = contents->found.kinds[kind].count;

	return contents->said.known && said > found ? said - found : 0;
}

/* Whether the vital rows in found match the totals of the file. */
static bool proves(const struct store_contents *contents, const struct store_db_totals *found)
{
	if (!contents->said.known)
		return false;
	for (unsigned kind = 1; kind < STORE_DB_KINDS; kind++)
		if (store_kind_is_vital(kind) &&
		    !total_is(&contents->said.kinds[kind], &found->kinds[kind]))
			return false;
	return true;
}

static struct store_db_totals found_in_both(const struct store_contents *first,
					    const struct store_contents *more)
{
	struct store_db_totals found = first->found;

	for (size_t i = 0; i < more->count; i++) {
		const struct store_record *row = &more->rows[i];

		if (map_get(&first->seen, slot_of(&first->seen, row->key)))
			continue;
		found.kinds[row->kind].count++;
		found.kinds[row->kind].sum += row->sum;
	}
	return found;
}

static uint64_t generation_of(const struct store_contents *contents)
{
	return contents->said.known ? contents->said.generation : 0;
}

/* Generation 0: the file is new, or has no totals. Such a file proves only that there was no store
 * before, and only if both files are new. */
struct store_choice store_contents_choose(const struct store_contents *main,
					  const struct store_contents *copy)
{
	bool copy_is_newer = generation_of(copy) > generation_of(main);
	const struct store_contents *newer = copy_is_newer ? copy : main;
	const struct store_contents *older = copy_is_newer ? main : copy;
	struct store_db_totals both;

	if (!generation_of(newer))
		return (struct store_choice){
			.vital = newer,
			.more = older,
			.proved = main->said.known && copy->said.known,
		};
	if (proves(newer, &newer->found))
		return (struct store_choice){.vital = newer, .proved = true};
	if (generation_of(older) == generation_of(newer) && proves(older, &older->found))
		return (struct store_choice){.vital = older, .proved = true};
	both = found_in_both(newer, older);
	return (struct store_choice){.vital = newer, .more = older, .proved = proves(newer, &both)};
}

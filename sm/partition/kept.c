/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The partition file's text as records of the registry: sm/partition/kept.h. */
#include "sm/partition/kept.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/hash.h"
#include "lib/mem.h"
#include "store/setting.h"

#define NAME "partition_file"
#define TEXT "partition text" /* "BYTES HASH SECONDS" */

enum { BYTES_MAX = 64 * 1024 * 1024, MARK_SIZE = 64 };

const char *partition_kept_name(const struct registry *registry)
{
	return setting_get(registry, NAME);
}

const char *partition_kept_mark(const struct registry *registry)
{
	return setting_get(registry, TEXT);
}

static void kept_text_drop_from(struct registry *registry, uint32_t number)
{
	struct partition_text_entry key = {.number = number};

	while (registry_drop(registry, REGISTRY_PARTITION_TEXT, &key))
		key.number++;
}

static void put_text(struct registry *registry, const char *text, size_t length)
{
	uint32_t number = 0;

	for (size_t at = 0; at < length; at += PARTITION_TEXT_SIZE) {
		size_t left = length - at;
		struct partition_text_entry entry = {.number = number};

		number++;
		entry.size = (uint16_t)(left < PARTITION_TEXT_SIZE ? left : PARTITION_TEXT_SIZE);
		memcpy(entry.text, text + at, entry.size);
		registry_put(registry, REGISTRY_PARTITION_TEXT, &entry);
	}
	kept_text_drop_from(registry, number);
}

static bool read_mark(const char *mark, size_t *length, uint64_t *hash, uint64_t *when_s)
{
	return mark && sscanf(mark, "%zu %" SCNx64 " %" SCNu64, length, hash, when_s) == 3 &&
	       *length <= BYTES_MAX;
}

/* An unchanged text keeps its date. */
void partition_kept_put(struct registry *registry, const struct partitions *partitions,
			uint64_t now_s)
{
	uint64_t hash, old_hash, when_s;
	char mark[MARK_SIZE];
	size_t old_length;

	setting_put(registry, NAME, partitions->name);
	if (!partitions->text) {
		setting_put(registry, TEXT, NULL);
		kept_text_drop_from(registry, 0);
		return;
	}
	hash = hash_bytes(HASH_SEED, partitions->text, partitions->length);
	if (!read_mark(partition_kept_mark(registry), &old_length, &old_hash, &when_s) ||
	    old_length != partitions->length || old_hash != hash)
		when_s = now_s;
	snprintf(mark, sizeof(mark), "%zu %016" PRIx64 " %" PRIu64, partitions->length, hash,
		 when_s);
	put_text(registry, partitions->text, partitions->length);
	setting_put(registry, TEXT, mark);
}

void partition_kept_clear(struct registry *registry)
{
	setting_put(registry, NAME, NULL);
	setting_put(registry, TEXT, NULL);
	kept_text_drop_from(registry, 0);
}

/* Returns NULL if a part of it is missing. */
static char *kept_text_gather(const struct registry *registry, size_t length, uint64_t hash)
{
	char *text = mem_alloc(length + 1);
	size_t at = 0;

	for (uint32_t number = 0; at < length; number++) {
		const struct partition_text_entry key = {.number = number}, *entry;

		entry = registry_find(registry, REGISTRY_PARTITION_TEXT, &key);
		if (!entry || entry->size > length - at)
			break;
		memcpy(text + at, entry->text, entry->size);
		at += entry->size;
	}
	if (at == length && hash_bytes(HASH_SEED, text, length) == hash)
		return text;
	free(text);
	return NULL;
}

struct partitions *partition_kept_get(const struct registry *registry, bool allow_both,
				      char when[KEPT_WHEN_SIZE])
{
	const char *name = partition_kept_name(registry);
	struct partitions *partitions = NULL;
	char *text, *error = NULL;
	uint64_t hash, when_s;
	struct tm calendar;
	size_t length;
	time_t time_s;

	if (!name || !read_mark(partition_kept_mark(registry), &length, &hash, &when_s))
		return NULL;
	text = kept_text_gather(registry, length, hash);
	if (text && !partitions_parse(name, text, length, allow_both, &partitions, &error)) {
		time_s = (time_t)when_s;
		strftime(when, KEPT_WHEN_SIZE, "%Y-%m-%d %H:%M:%S",
			 localtime_r(&time_s, &calendar));
	}
	free(error);
	free(text);
	return partitions;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The text of the last partition file in force. It is in the registry, so the store and each
 * standby have it. It takes effect when the file itself is bad or missing
 * (sm/partition/partitions.h). The text is stored in pieces; a setting has its length, hash and
 * date. Loop thread only.
 */
#ifndef SM_PARTITION_KEPT_H
#define SM_PARTITION_KEPT_H

#include "formats/partitions.h"
#include "store/registry.h"

enum { KEPT_WHEN_SIZE = 32 };

/* The path of the last file in force; NULL: there was none, or the configuration names none now.
 * Borrowed until the registry changes. */
const char *partition_kept_name(const struct registry *registry);
/* An identifier of the text; NULL: no text is kept. Borrowed until the registry changes. */
const char *partition_kept_mark(const struct registry *registry);

/* Keeps the name and the text of partitions (text NULL: only the name). now_s: wall clock. */
void partition_kept_put(struct registry *registry, const struct partitions *partitions,
			uint64_t now_s);
/* Drops the name and the text. */
void partition_kept_clear(struct registry *registry);

/* Parses the text; when gets its date as text. The result is for partitions_free(). NULL: no text
 * or only a part of it is kept, or it is refused now, for example because of allow_both. */
struct partitions *partition_kept_get(const struct registry *registry, bool allow_both,
				      char when[KEPT_WHEN_SIZE]);

#endif

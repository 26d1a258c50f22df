/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The text of the partition file that was in force last, in the registry: so the store has it, and
 * each standby. It takes effect when the file itself is bad or missing (sm/partitions.h). The text
 * is in pieces; a setting says how long it is, what its hash is, and when it was put there. Loop
 * thread only.
 */
#ifndef SM_PARTITION_KEPT_H
#define SM_PARTITION_KEPT_H

#include "fabric/registry.h"
#include "formats/partitions.h"

enum { KEPT_WHEN_SIZE = 32 };

/* The path of the file that was in force; NULL: none was, or it was given up. Borrowed until the
 * registry changes. */
const char *partition_kept_name(const struct registry *registry);
/* What identifies the text; NULL: none is kept. Borrowed, too. */
const char *partition_kept_mark(const struct registry *registry);

/* Keeps the name and the text of partitions (text NULL: only the name). now_s: wall clock. */
void partition_kept_put(struct registry *registry, const struct partitions *partitions,
			uint64_t now_s);
void partition_kept_clear(struct registry *registry);

/* Parses the text. NULL: none is kept, or not all of it, or it is refused now, as with another
 * allow_both. Else for partitions_free(), and when: the date, for people. */
struct partitions *partition_kept_get(const struct registry *registry, bool allow_both,
				      char when[KEPT_WHEN_SIZE]);

#endif

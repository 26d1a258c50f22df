/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Walks over both registries, kind by kind: first over the present records, to drop, then over the
 * new records, to put. Drops are first, so that no LID or MLID has two owners in between.
 */
#include "store/registry_replace.h"

#include <limits.h>

static void replace_begin_walk(struct registry_replace *replace)
{
	registry_walk(replace->dropping ? replace->to : replace->from, replace->kind, -1, NULL,
		      &replace->cursor);
}

/* Returns false after the last walk. */
static bool next_walk(struct registry_replace *replace)
{
	registry_walk_end(&replace->cursor);
	if (++replace->kind == REGISTRY_KINDS) {
		if (!replace->dropping)
			return false;
		replace->dropping = false;
		replace->kind = REGISTRY_LID;
	}
	replace_begin_walk(replace);
	return true;
}

static bool is_spared(const struct registry_replace *replace)
{
	return replace->spared >> replace->kind & 1 &&
	       !registry_count(replace->from, replace->kind);
}

static void replace_take(struct registry_replace *replace, const void *record)
{
	uint64_t number = registry_number(replace->to);

	if (replace->keeps && replace->keeps(replace->ctx, replace->kind, record))
		return;
	if (!replace->dropping)
		registry_put(replace->to, replace->kind, record);
	else if (!is_spared(replace) && !registry_find(replace->from, replace->kind, record))
		replace->dropped += registry_drop(replace->to, replace->kind, record);
	replace->changed += registry_number(replace->to) != number;
}

void registry_replace_begin(struct registry_replace *replace, struct registry *to,
			    struct registry *from, uint64_t spared)
{
	*replace = (struct registry_replace){.to = to,
					     .from = from,
					     .spared = spared,
					     .kind = REGISTRY_LID,
					     .dropping = true,
					     .runs = true};
	registry_together(to, true);
	replace_begin_walk(replace);
}

void registry_replace_keep(struct registry_replace *replace,
			   bool (*keeps)(void *ctx, enum registry_kind kind, const void *record),
			   void *ctx)
{
	replace->keeps = keeps;
	replace->ctx = ctx;
}

bool registry_replace_some(struct registry_replace *replace, unsigned records)
{
	while (records--) {
		const void *record = registry_walk_next(&replace->cursor);

		if (record) {
			replace_take(replace, record);
		} else if (!next_walk(replace)) {
			replace->runs = false;
			registry_together(replace->to, false);
			return false;
		}
	}
	return true;
}

void registry_replace_end(struct registry_replace *replace)
{
	while (replace->runs && registry_replace_some(replace, UINT_MAX))
		;
}

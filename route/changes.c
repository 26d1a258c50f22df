/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares two sets of tables: route/changes.h. */
#include "route/changes.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

/* More differing entries than one in so many count as too many. */
enum { WORTHWHILE = 64, FEW = 1024 };

static bool comparable(const struct snapshot *was, const struct snapshot *is)
{
	if (was->num_switches != is->num_switches)
		return false;
	for (uint32_t s = 0; s < is->num_switches; s++) {
		const struct snap_switch *a = &was->switches[s], *b = &is->switches[s];

		if (a->guid != b->guid || a->num_ports != b->num_ports ||
		    a->first_link != b->first_link)
			return false;
	}
	return true;
}

guid_t route_end_guid(const struct snapshot *snapshot, int32_t end)
{
	return end >= 0 ? snapshot->ends[end].guid : 0;
}

static bool changes_same_link(const struct snapshot *was, const struct snapshot *is, uint32_t link)
{
	const struct snap_link *a = &was->links[link], *b = &is->links[link];

	return a->sw == b->sw && route_end_guid(was, a->end) == route_end_guid(is, b->end);
}

/* Adds the changed entries of a switch; false: the list is full. */
static bool changes_add_switch(const struct snapshot *was, const struct lft *before,
			       const struct snapshot *is, const struct lft *after, uint32_t s,
			       size_t room, struct route_changes *changes)
{
	const struct snap_switch *sw = &is->switches[s];
	bool moved[UINT8_MAX + 1] = {false}, any = false;
	uint16_t blocks = before ? before->blocks : 0;

	if (after && after->blocks > blocks)
		blocks = after->blocks;
	for (unsigned p = 1; p <= sw->num_ports; p++) {
		moved[p] = !changes_same_link(was, is, sw->first_link + p);
		any = any || moved[p];
	}
	for (uint16_t b = 0; b < blocks; b++) {
		const uint8_t *old = lft_block(before, b), *new = lft_block(after, b);

		if (!any && !memcmp(old, new, LFT_BLOCK_LIDS))
			continue;
		for (unsigned e = 0; e < LFT_BLOCK_LIDS; e++) {
			if (old[e] == new[e] && !moved[new[e]])
				continue;
			if (changes->count == room)
				return false;
			changes->list[changes->count++] =
				(struct route_change){s, (lid_t)(b * LFT_BLOCK_LIDS + e)};
		}
	}
	return true;
}

bool route_changes_find(const struct snapshot *was, const struct routes *before,
			const struct snapshot *is, const struct routes *after,
			struct route_changes *out)
{
	size_t room = (size_t)is->num_switches * (is->lid_top + 1u) / WORTHWHILE + FEW;
	struct route_changes changes = {0};

	if (!comparable(was, is))
		return false;
	changes.list = mem_array(room, sizeof(*changes.list));
	for (uint32_t s = 0; s < is->num_switches; s++) {
		if (changes_add_switch(was, before->lft[s], is, after->lft[s], s, room, &changes))
			continue;
		free(changes.list);
		return false;
	}
	*out = changes;
	return true;
}

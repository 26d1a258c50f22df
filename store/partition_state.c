/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The text of the state in the store, "lost since WHEN: WHY": store/partition_state.h. */
#include "store/partition_state.h"

#include <stdio.h>
#include <string.h>

#include "store/setting.h"

#define NAME "partition state" /* in the store: never change this name or the words */

static const char *const words[] = {
	[PARTITIONS_LOST] = "lost",
	[PARTITIONS_UNREAD] = "unread",
};

const char *partition_state_text(const struct registry *registry)
{
	return setting_get(registry, NAME);
}

/* An unknown text opens nothing. */
enum partition_state partition_state(const struct registry *registry)
{
	const char *text = partition_state_text(registry);
	const char *unread = words[PARTITIONS_UNREAD];

	if (!text)
		return PARTITIONS_COMPLETE;
	return strncmp(text, unread, strlen(unread)) == 0 ? PARTITIONS_UNREAD : PARTITIONS_LOST;
}

void partition_state_put(struct registry *registry, enum partition_state state, const char *since,
			 const char *why)
{
	char text[SETTING_VALUE_SIZE];

	if (state == PARTITIONS_COMPLETE) {
		setting_put(registry, NAME, NULL);
		return;
	}
	snprintf(text, sizeof(text), "%s since %s: %.120s", words[state], since, why);
	setting_put(registry, NAME, text);
}

bool is_partition_state(unsigned kind, const void *record)
{
	const struct setting_entry *entry = record;

	return kind == REGISTRY_SETTING && !strcmp((const char *)entry->name, NAME);
}

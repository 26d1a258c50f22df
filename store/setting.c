/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settings as records of the registry: store/setting.h. */
#include "store/setting.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static struct setting_entry setting_key(const char *name)
{
	struct setting_entry key = {0};

	snprintf((char *)key.name, sizeof(key.name), "%s", name);
	return key;
}

const char *setting_get(const struct registry *registry, const char *name)
{
	const struct setting_entry key = setting_key(name), *entry;

	entry = registry_find(registry, REGISTRY_SETTING, &key);
	return entry ? (const char *)entry->value : NULL;
}

void setting_put(struct registry *registry, const char *name, const char *text)
{
	struct setting_entry entry = setting_key(name);

	if (!text) {
		registry_drop(registry, REGISTRY_SETTING, &entry);
		return;
	}
	assert(strlen(text) < sizeof(entry.value));
	memcpy(entry.value, text, strlen(text));
	registry_put(registry, REGISTRY_SETTING, &entry);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The owners as records of the registry: sm/partition/owner.h. */
#include "sm/partition/owner.h"

#include <string.h>

static const char admin[] = "admin", gateway[] = "gateway:";

const char *partition_owner(const struct registry *registry, pkey_t p_key, guid_t guid)
{
	const struct partition_owner_entry key = {.p_key = p_key, .guid = guid}, *entry;

	entry = registry_find(registry, REGISTRY_PARTITION_OWNER, &key);
	return entry ? (const char *)entry->owner : admin;
}

void partition_owner_put(struct registry *registry, pkey_t p_key, guid_t guid, const char *owner)
{
	struct partition_owner_entry entry = {.p_key = p_key, .guid = guid};

	if (!owner || !strcmp(owner, admin)) {
		registry_drop(registry, REGISTRY_PARTITION_OWNER, &entry);
		return;
	}
	memcpy(entry.owner, owner, strnlen(owner, PARTITION_OWNER_SIZE - 1));
	registry_put(registry, REGISTRY_PARTITION_OWNER, &entry);
}

bool partition_owner_is_valid(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";
	size_t lead = sizeof(gateway) - 1, length = strlen(text);

	if (!strcmp(text, admin) || !strcmp(text, "site"))
		return true;
	return length < PARTITION_OWNER_SIZE && length > lead && !strncmp(text, gateway, lead) &&
	       strspn(text + lead, letters) == length - lead;
}

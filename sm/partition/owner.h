/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The owners of the partitions and members that were made at run time: "admin", "site" or
 * "gateway:NAME". A program that manages some members applies a file under its own name, and never
 * changes the members of other owners. "admin" is the owner of everything without a record, as in
 * stores of earlier versions, and of everything that a command about single members changes. The
 * owner "file" is the partition file. Loop thread only.
 */
#ifndef SM_PARTITION_OWNER_H
#define SM_PARTITION_OWNER_H

#include "store/registry.h"

/* The owner of the member with this GUID, or with GUID 0 of the partition. Borrowed until the
 * registry changes. */
const char *partition_owner(const struct registry *registry, pkey_t p_key, guid_t guid);
/* Sets it. NULL: "admin"; so too when the member or the partition is dropped. */
void partition_owner_put(struct registry *registry, pkey_t p_key, guid_t guid, const char *owner);
/* Whether this text can be an owner. */
bool partition_owner_is_valid(const char *text);

#endif

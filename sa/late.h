/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a store may bring that could be read only after the SA had begun without it (store/store.h):
 * its records were true of each other, but others have been made since. Called through sa.h by the
 * store's merge, a record at a time, groups before their members. Loop thread only.
 */
#ifndef SA_LATE_H
#define SA_LATE_H

#include "store/registry.h"

struct aliases;
struct groups;
struct services;

struct late {
	struct registry *registry;
	struct groups *groups;
	struct services *services;
	struct aliases *aliases;
};

/* known: the registry has another with the same key, which stays unless the rule drops it. Else
 * record is about to be put there, and may be changed; false: it is left out. Settings come first.
 */
bool late_fits(const struct late *late, enum registry_kind kind, void *record, bool known);

#endif

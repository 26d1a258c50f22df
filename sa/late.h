/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Decides about records of a store that could be read only after the SA had started without it
 * (store/store.h). The records are consistent with each other, but may conflict with newer records.
 * The merge of the store calls it through sa.h for each record, groups before their members. Loop
 * thread only.
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

/* Decides about one record. known: the registry has another record with the same key, which
 * stays unless this function drops it. Otherwise the caller stores record, which may be changed
 * here, unless the result is false. Settings come first. */
bool late_fits(const struct late *late, enum registry_kind kind, void *record, bool known);

#endif

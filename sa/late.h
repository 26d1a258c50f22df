/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a store may bring that could be read only after the SA had begun without it (sm/store.h):
 * its records were true of each other, but others have been made since. Called through adm.h by the
 * store's merge, a record at a time, groups before their members. Loop thread only.
 */
#ifndef SA_LATE_H
#define SA_LATE_H

#include "fabric/registry.h"

struct groups;

/* record is about to be put where the registry has none with its key; it may be changed. False: it
 * is left out. */
bool late_fits(struct registry *registry, struct groups *groups, enum registry_kind kind,
	       void *record);

#endif

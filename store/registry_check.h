/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Checks records from a file or a stream: the ranges on which the rest of the program relies. Pure
 * functions over a table, any thread.
 */
#ifndef STORE_REGISTRY_CHECK_H
#define STORE_REGISTRY_CHECK_H

#include "store/registry.h"

/* Returns NULL if record, a struct of this kind, can be put. Otherwise the fault, such as "not 1 to
 * 7", with the name of the field in *field. */
const char *registry_check(enum registry_kind kind, const void *record, const char **field);

/* The kind whose table has this name; 0: there is none. */
enum registry_kind registry_kind_of(const char *name);

#endif

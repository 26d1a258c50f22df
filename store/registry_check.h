/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Checks records from a file or a stream: the ranges on which the rest of the program relies. Pure
 * functions over a table, any thread.
 */
#ifndef STORE_REGISTRY_CHECK_H
#define STORE_REGISTRY_CHECK_H

#include "store/registry.h"

/* NULL when record, a struct of its kind, can be put. Otherwise what is wrong, as "not 1 to 7", and
 * in *field the name of the member, as its format has it. */
const char *registry_check(enum registry_kind kind, const void *record, const char **field);

/* The kind whose table has this name; 0: none has. */
enum registry_kind registry_kind_of(const char *name);

#endif

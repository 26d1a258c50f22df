/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Lists of host names as Slurm writes them: "host-[0003-0040,7],login[1-2]-ib0". Commas separate
 * names. Brackets hold numbers and ranges; a name may have several brackets. A number keeps the
 * leading zeros with which its range begins. Source of the rules: scontrol(1), "show hostnames".
 * Pure; any thread.
 */
#ifndef LIB_HOSTLIST_H
#define LIB_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>

enum { HOSTLIST_NAME_SIZE = 256, HOSTLIST_ERROR_SIZE = 160 };

/* Whether text has brackets or commas, so that it is not a single name. */
bool hostlist_is_list(const char *text);
/* Calls take(ctx, name) for each name of text, in the order of the list, until it returns false.
 * name is borrowed, at most HOSTLIST_NAME_SIZE - 1 bytes long. Returns 0, or -EINVAL if text is not
 * a list of 1 to most names, with the reason in error; take() has been called for the names before
 * the mistake. Returns -ECANCELED after take() returned false. */
int hostlist_expand(const char *text, size_t most, bool (*take)(void *ctx, const char *name),
		    void *ctx, char error[HOSTLIST_ERROR_SIZE]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Settings of the registry by name and as text, for whoever keeps one. A name with a blank in it is
 * of something that the daemon keeps for itself; the others tell what somebody has set. Loop thread
 * only.
 */
#ifndef STORE_SETTING_H
#define STORE_SETTING_H

#include "store/registry.h"

/* The registry's own text, until it is changed; NULL: it is not set. */
const char *setting_get(const struct registry *registry, const char *name);
/* text NULL clears it. Shorter than SETTING_VALUE_SIZE; it is durable when the registry says so. */
void setting_put(struct registry *registry, const char *name, const char *text);

#endif

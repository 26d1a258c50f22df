/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rows of the control socket about what is registered with the SA: multicast list, multicast
 * show. Used by the manager; loop thread only.
 */
#ifndef WEFTD_REGISTERED_H
#define WEFTD_REGISTERED_H

#include "fabric/registry.h"
#include "fabric/view.h"
#include "lib/control.h"

struct registered {
	struct registry *registry;
	struct view *const *view; /* names of ports come from there, while it is not NULL */
};

/* registered outlives control. */
void registered_commands(struct registered *registered, struct control *control);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands that list registrations with the SA: multicast list, multicast show, service list,
 * inform list. Used by the manager; loop thread only.
 */
#ifndef WEFTD_CONTROL_GROUPS_H
#define WEFTD_CONTROL_GROUPS_H

#include "fabric/view.h"
#include "lib/control.h"
#include "sa/endport.h"
#include "sa/sa.h"
#include "sm/sm.h"
#include "store/registry.h"

struct control_groups {
	struct registry *registry;
	struct view *const *view; /* names of ports are read from it, if it is not NULL */
	const struct sa *sa;
	const struct sm *sm;
};

/* Registers the commands. lists must outlive control. */
void control_groups_commands(struct control_groups *lists, struct control *control);

/* The same for services and subscriptions: weftd/control_services.c. */
void control_services_commands(struct control_groups *lists, struct control *control);
/* Adds the LID and the node description of a port to a row; LID 0 and "" if the port is absent. */
void control_groups_where(const struct control_groups *lists, guid_t guid, struct buffer *out);
/* Adds a GID to a row, as text. */
void control_groups_gid(uint64_t prefix, guid_t guid, const char *name, struct buffer *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rows of the control socket about what is registered with the SA: multicast list, multicast
 * show, service list, inform list. Used by the manager; loop thread only.
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
	struct view *const *view; /* names of ports come from there, while it is not NULL */
	const struct sa *sa;
	const struct sm *sm;
};

/* registered outlives control. */
void control_groups_commands(struct control_groups *lists, struct control *control);

/* Part of these: weftd/control_services.c. */
void control_services_commands(struct control_groups *lists, struct control *control);
/* Members of a row: where a port is and what its node is called; of one that is not there, LID 0
 * and "". */
void control_groups_where(const struct control_groups *lists, guid_t guid, struct buffer *out);
/* A GID by its halves, as text. */
void control_groups_gid(uint64_t prefix, guid_t guid, const char *name, struct buffer *out);

#endif

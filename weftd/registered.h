/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rows of the control socket about what is registered with the SA: multicast list, multicast
 * show, service list, inform list. Used by the manager; loop thread only.
 */
#ifndef WEFTD_REGISTERED_H
#define WEFTD_REGISTERED_H

#include "fabric/view.h"
#include "lib/control.h"
#include "sa/endport.h"
#include "sa/sa.h"
#include "sm/sm.h"
#include "store/registry.h"

struct registered {
	struct registry *registry;
	struct view *const *view; /* names of ports come from there, while it is not NULL */
	const struct adm *adm;
	const struct sm *sm;
};

/* registered outlives control. */
void registered_commands(struct registered *registered, struct control *control);

/* Part of these: weftd/offered.c. */
void offered_commands(struct registered *registered, struct control *control);
/* Writes the part that a list begins with where it may be old (sm_standing()), the first time that
 * it is asked for; false: there is none. */
bool registered_note(const struct registered *registered, bool *noted, struct buffer *part);
/* Members of a row: where a port is and what its node is called; of one that is not there, LID 0
 * and "". */
void registered_where(const struct registered *registered, guid_t guid, struct buffer *out);
/* A GID by its halves, as text. */
void registered_gid(uint64_t prefix, guid_t guid, const char *name, struct buffer *out);

#endif

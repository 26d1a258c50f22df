/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rows of the control socket about what is registered with the SA: multicast list, multicast
 * show, service list, inform list. Used by the manager; loop thread only.
 */
#ifndef WEFTD_REGISTERED_H
#define WEFTD_REGISTERED_H

#include "fabric/registry.h"
#include "fabric/view.h"
#include "lib/control.h"
#include "sa/adm.h"
#include "sa/endport.h"
#include "sm/sm.h"

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
/* The part that a list begins with where it may be old (sm_standing()), the first time that it is
 * asked for; NULL: none. */
json_t *registered_note(const struct registered *registered, bool *noted);
/* Puts into row where a port is and what its node is called; of one that is not there, LID 0 and
 * "". */
void registered_put_port(const struct registered *registered, guid_t guid, json_t *row);
/* A GID by its halves, as text; a new reference. */
json_t *registered_gid(uint64_t prefix, guid_t guid);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Alias GUIDs in the ports' GUIDInfo: what the registry has should be there, and what was taken out
 * of it should not. Entries that nobody registered are left as they were found: another manager has
 * written them, or the device itself. The difference is written as everything else, by programming;
 * what makes one asks for a sweep of the node. Loop thread only.
 */
#ifndef SM_PROGRAM_GUIDS_H
#define SM_PROGRAM_GUIDS_H

#include "fabric/fabric.h"
#include "sm/options.h"
#include "sm/trigger.h"
#include "store/registry.h"

struct taken_back { /* an alias that may still be in a port's table */
	guid_t port_guid, guid;
	uint16_t index;
};

struct guids {
	struct registry *registry;
	struct registry_reader reader;
	struct fabric *fabric;
	struct trigger *trigger;
	const struct sm_options *options;
	struct taken_back *taken_back;
	size_t num_taken_back, room;
};

void guids_init(struct guids *guids, struct registry *registry, struct fabric *fabric,
		struct trigger *trigger, const struct sm_options *options);
void guids_done(struct guids *guids);

/* The first block of this end port's GUIDs that differs from what it should be, and its content;
 * false when none does, or when it is not known yet what it has. */
bool guids_differ(const struct guids *guids, const struct port *port, unsigned *block,
		  struct guid_info *want);
/* A Set() of a block was answered with what the port now has; want: as it was sent. */
void guids_were_set(struct guids *guids, struct port *port, unsigned block,
		    const struct guid_info *want, const struct guid_info *held);
/* The port's table was read: it may have to be written. */
void guids_were_read(struct guids *guids, const struct port *port);

#endif

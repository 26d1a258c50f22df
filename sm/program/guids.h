/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Alias GUIDs in the GUIDInfo of ports. The registry has the wanted entries and the removed
 * entries. Other entries are not changed: another manager or the device has written them.
 * A change of the wanted entries triggers a sweep of the node, and programming writes the
 * difference. Loop thread only.
 */
#ifndef SM_PROGRAM_GUIDS_H
#define SM_PROGRAM_GUIDS_H

#include "fabric/fabric.h"
#include "sm/options.h"
#include "sm/trigger.h"
#include "store/registry.h"

struct taken_back { /* a removed alias that a port may still have */
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

/* Starts to follow the registry; the parameters are borrowed. */
void guids_init(struct guids *guids, struct registry *registry, struct fabric *fabric,
		struct trigger *trigger, const struct sm_options *options);
/* Frees the state, not guids itself. */
void guids_done(struct guids *guids);

/* The first block of GUIDs of this end port that differs from the wanted block, and the wanted
 * content; false: none differs, or the present content is unknown. */
bool guids_differ(const struct guids *guids, const struct port *port, unsigned *block,
		  struct guid_info *want);
/* A Set() of a block was answered. want: as sent; held: the answer. */
void guids_were_set(struct guids *guids, struct port *port, unsigned block,
		    const struct guid_info *want, const struct guid_info *held);
/* The table of the port was read: a difference triggers a sweep. */
void guids_were_read(struct guids *guids, const struct port *port);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Switches' ports that somebody has disabled by command: weftctl port disable. The registry says
 * which; each sweep takes down the links of those that are not Disabled, so that it survives a
 * restart of the manager, and of the switch. Ports that others have disabled are left alone. Loop
 * thread only.
 */
#ifndef SM_DISCOVERY_DISABLED_H
#define SM_DISCOVERY_DISABLED_H

#include "fabric/fabric.h"
#include "lib/control.h"
#include "store/registry.h"

bool port_is_disabled(const struct registry *registry, guid_t node_guid, uint8_t port);
/* Before programming: asks for the links of those that are there to be taken down. */
void disabled_apply(struct fabric *fabric, const struct registry *registry);
/* Whether this switch would still be reached from our port if the cable at its port were not there,
 * nor those that are to go already; else nobody could enable the port again. */
bool disabled_leaves_way(const struct fabric *fabric, const struct registry *registry,
			 const struct port *port);
/* For weftctl status: an array of objects; a new reference. */
json_t *disabled_json(const struct fabric *fabric, const struct registry *registry);

#endif

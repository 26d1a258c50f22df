/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Switch ports that the administrator has disabled with weftctl port disable. They are stored in
 * the registry. Each sweep disables those that are up, so that the command survives a restart of
 * the manager or of the switch. Ports that other programs have disabled are not changed. Loop
 * thread only.
 */
#ifndef SM_DISCOVERY_DISABLED_H
#define SM_DISCOVERY_DISABLED_H

#include "fabric/fabric.h"
#include "lib/control.h"
#include "store/registry.h"

bool port_is_disabled(const struct registry *registry, guid_t node_guid, uint8_t port);
/* Requests that the links of disabled ports are taken down. Called before programming. */
void disabled_apply(struct fabric *fabric, const struct registry *registry);
/* The same for one port, unless it did not go down after an earlier request. */
void disabled_keep_down(struct port *port);
/* Whether the manager reaches the switch of this port by cables that routes may use, without the
 * cable at this port, and without disabled and drained ones. Otherwise the port could not be
 * enabled again. */
bool disabled_leaves_way(const struct fabric *fabric, const struct registry *registry,
			 const struct port *port);
/* An array of objects for weftctl status; a new reference. */
json_t *disabled_json(const struct fabric *fabric, const struct registry *registry);

#endif

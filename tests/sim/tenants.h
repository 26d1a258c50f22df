/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tenants of a simulated fabric: programs at its ports that join and leave groups by requests to
 * the SA of the master. In a quiet fabric a packet of a group must reach each member that the SA
 * lists, once, and no other port, from any sender. Nothing is stored here: the tables of the
 * switches are compared with the answers of the SA.
 */
#ifndef TESTS_SIM_TENANTS_H
#define TESTS_SIM_TENANTS_H

#include "sim/world.h"

struct mc_member_record;
struct sim_manager;

enum { TENANT_GROUPS = 6 }; /* the last is the broadcast group of the default partition */

/* Full membership, or none. A join creates a missing group. False: the SA refused, or did not
 * answer. */
bool tenant_joins(struct sim_manager *master, const struct device_port *port, unsigned group);
bool tenant_leaves(struct sim_manager *master, const struct device_port *port, unsigned group);

/* The same with a time limit for the answer, for an SA that waits for a standby. False may also
 * mean that the answer has not come yet. */
bool tenant_joins_within(struct sim_manager *master, const struct device_port *port, unsigned group,
			 uint64_t us);
bool tenant_leaves_within(struct sim_manager *master, const struct device_port *port,
			  unsigned group, uint64_t us);
/* The MLID that the SA returns for a member of the group; 0: no member. */
lid_t tenant_mlid(struct sim_manager *master, const struct device_port *port, unsigned group);

/* Any other membership: a request to the SA (Set, Delete, or a trusted Get) with the components
 * that it takes. PortGID is the port's. Returns the TID. The answer, if any, is
 * master->sa_answer. */
uint64_t tenant_sends(struct sim_manager *master, const struct device_port *port, uint8_t method,
		      const struct mc_member_record *record);

/* ports: all reachable ports of a part of the fabric, and no others. */
void tenants_check(struct sim_manager *master, const struct device_port *const *ports,
		   size_t count);

#endif

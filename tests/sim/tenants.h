/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tenants of a simulated fabric: programs at its ports that join groups and leave them, as the SA
 * of the master is asked to, and what must be so of them once all is quiet: a packet for a group
 * comes to exactly those whom the SA names as members, whoever sends it, and once. Nothing is
 * remembered here: the SA's own answers are what is held against the switches' tables.
 */
#ifndef TESTS_SIM_TENANTS_H
#define TESTS_SIM_TENANTS_H

#include "sim/world.h"

struct mc_member_record;
struct sim_manager;

enum { TENANT_GROUPS = 6 }; /* the last is the broadcast group of the default partition */

/* Full membership, or none any more; a group that is not there is created. False: the SA refused,
 * or did not answer. */
bool tenant_joins(struct sim_manager *master, const struct device_port *port, unsigned group);
bool tenant_leaves(struct sim_manager *master, const struct device_port *port, unsigned group);

/* The same for who waits so long for the answer, as where the SA waits for a standby; false may
 * mean that it has not come yet. */
bool tenant_joins_within(struct sim_manager *master, const struct device_port *port, unsigned group,
			 uint64_t us);
bool tenant_leaves_within(struct sim_manager *master, const struct device_port *port,
			  unsigned group, uint64_t us);
/* The MLID that the SA names for a member of the group; 0: it is none. */
lid_t tenant_mlid(struct sim_manager *master, const struct device_port *port, unsigned group);

/* Any other membership: a request to the SA (Set, Delete, or Get by who is trusted) with the
 * components that it takes. PortGID is the port's. Its TID is returned; the answer, where one
 * comes, is master->sa_answer. */
uint64_t tenant_sends(struct sim_manager *master, const struct device_port *port, uint8_t method,
		      const struct mc_member_record *record);

/* The ports of a part of the fabric whose links are up: those that can be reached, and no other. */
void tenants_check(struct sim_manager *master, const struct device_port *const *ports,
		   size_t count);

#endif

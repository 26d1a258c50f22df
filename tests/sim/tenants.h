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

struct sim_manager;

enum { TENANT_GROUPS = 6 }; /* the last is the broadcast group of the default partition */

/* Full membership, or none any more; a group that is not there is created. False: the SA refused,
 * or did not answer. */
bool tenant_joins(struct sim_manager *master, const struct device_port *port, unsigned group);
bool tenant_leaves(struct sim_manager *master, const struct device_port *port, unsigned group);

/* The ports of a part of the fabric whose links are up: those that can be reached, and no other. */
void tenants_check(struct sim_manager *master, const struct device_port *const *ports,
		   size_t count);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Hosts of a simulated fabric that register, and what they were told: a manager that takes over
 * later has to know the same of them. The fabric is one of REGISTERED_HOSTS hosts, "host-0001" and
 * so on. Used by the scenarios with several managers.
 */
#ifndef TESTS_SIM_REGISTERED_H
#define TESTS_SIM_REGISTERED_H

#include "tests/sim/sim.h"
#include "tests/sim/tenants.h"

enum { REGISTERED_HOSTS = 32 };

/* What hosts were told: who is a member of which group. */
enum told { NOTHING, JOINED, LEFT };

struct registered {
	enum told told[REGISTERED_HOSTS + 1][TENANT_GROUPS];
	lid_t mlid[TENANT_GROUPS]; /* 0: not known */
	lid_t lid[REGISTERED_HOSTS + 1];
	unsigned acknowledged;
};

struct device_port *registered_port(struct sim *sim, unsigned host);
/* One host asks for one thing, and what the answer promises is written down; where. NULL: there was
 * nothing to ask for. */
enum told *registered_ask(struct sim_manager *master, struct registered *registered,
			  uint64_t patience_us);
void registered_note_lids(struct sim *sim, struct registered *registered);
/* Groups that were empty meanwhile may have got another MLID, where nobody was told so. */
void registered_note_mlids(struct sim_manager *master, struct registered *registered);
/* Fails where the master, or a host, does not have what was written down. */
void registered_compare(struct sim_manager *master, const struct registered *registered);

#endif

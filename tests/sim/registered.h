/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Hosts of a simulated fabric that register, and the acknowledgements that they got: a manager that
 * takes over later must have the same registrations. The fabric has REGISTERED_HOSTS hosts,
 * "host-0001" and so on. Used by the scenarios with several managers.
 */
#ifndef TESTS_SIM_REGISTERED_H
#define TESTS_SIM_REGISTERED_H

#include "tests/sim/sim.h"
#include "tests/sim/tenants.h"

enum { REGISTERED_HOSTS = 32 };

/* The last acknowledged state of a host in a group. */
enum told { NOTHING, JOINED, LEFT };

struct registered {
	enum told told[REGISTERED_HOSTS + 1][TENANT_GROUPS];
	lid_t mlid[TENANT_GROUPS]; /* 0: not known */
	lid_t lid[REGISTERED_HOSTS + 1];
	unsigned acknowledged;
};

struct device_port *registered_port(struct sim *sim, unsigned host);
/* A random host sends a random request, and the result is recorded. Returns the record; NULL: there
 * was nothing to request. */
enum told *registered_ask(struct sim_manager *master, struct registered *registered,
			  uint64_t patience_us);
void registered_note_lids(struct sim *sim, struct registered *registered);
/* A group without members in the meantime may have got another MLID without a notification. */
void registered_note_mlids(struct sim_manager *master, struct registered *registered);
/* Fails if the state of the master or of a host differs from the record. */
void registered_compare(struct sim_manager *master, const struct registered *registered);

#endif

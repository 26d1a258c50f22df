/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Random registrations, and the check that they still exist. See registered.h. */
#include "tests/sim/registered.h"

#include <stdio.h>
#include <string.h>

struct device_port *registered_port(struct sim *sim, unsigned host)
{
	char name[16];

	snprintf(name, sizeof(name), "host-%04u", host);
	return sim_port(sim, name, 1);
}

enum told *registered_ask(struct sim_manager *master, struct registered *registered,
			  uint64_t patience_us)
{
	struct sim *sim = master->sim;
	unsigned host = 1 + (unsigned)sim_random(sim, REGISTERED_HOSTS);
	unsigned group = (unsigned)sim_random(sim, TENANT_GROUPS);
	struct device_port *port = registered_port(sim, host);
	enum told *told = &registered->told[host][group];
	bool joins = sim_random(sim, 3);

	if (!port || (!joins && *told != JOINED))
		return NULL;
	*told = NOTHING; /* without an answer both states are right */
	if (joins && tenant_joins_within(master, port, group, patience_us))
		*told = JOINED;
	else if (!joins && tenant_leaves_within(master, port, group, patience_us))
		*told = LEFT;
	registered->acknowledged += *told != NOTHING;
	return told;
}

void registered_note_lids(struct sim *sim, struct registered *registered)
{
	for (unsigned host = 1; host <= REGISTERED_HOSTS; host++)
		registered->lid[host] = registered_port(sim, host)->info.lid;
}

void registered_note_mlids(struct sim_manager *master, struct registered *registered)
{
	memset(registered->mlid, 0, sizeof(registered->mlid));
	for (unsigned group = 0; group < TENANT_GROUPS; group++)
		for (unsigned host = 1; host <= REGISTERED_HOSTS && !registered->mlid[group];
		     host++)
			if (registered->told[host][group] == JOINED)
				registered->mlid[group] = tenant_mlid(
					master, registered_port(master->sim, host), group);
}

static void compare_groups(struct sim_manager *master, const struct registered *registered,
			   unsigned host)
{
	for (unsigned group = 0; group < TENANT_GROUPS; group++) {
		enum told told = registered->told[host][group];
		lid_t mlid =
			told ? tenant_mlid(master, registered_port(master->sim, host), group) : 0;

		if (told == JOINED && !mlid)
			sim_fail(master->sim,
				 "host %u got the answer that it joined group %u: it is no member",
				 host, group);
		else if (told == LEFT && mlid)
			sim_fail(master->sim,
				 "host %u got the answer that it left group %u: it is a member",
				 host, group);
		else if (mlid && registered->mlid[group] && mlid != registered->mlid[group])
			sim_fail(master->sim, "group %u had MLID 0x%x and has 0x%x", group,
				 registered->mlid[group], mlid);
	}
}

void registered_compare(struct sim_manager *master, const struct registered *registered)
{
	for (unsigned host = 1; host <= REGISTERED_HOSTS && !master->sim->failed; host++) {
		lid_t lid = registered_port(master->sim, host)->info.lid;

		if (lid != registered->lid[host])
			sim_fail(master->sim, "host %u had LID %u and has %u", host,
				 registered->lid[host], lid);
		compare_groups(master, registered, host);
	}
}

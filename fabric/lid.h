/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The assignment of LIDs. A port keeps its LID if it is free and fits its LMC. New LIDs are chosen
 * so that a change affects few blocks of forwarding tables. Switches have blocks of 64 LIDs of
 * their own, and the ports at one leaf switch share a block if it has room for all of them. Leaves
 * are served in the order of their GUIDs, ports in the order of their numbers, so the same fabric
 * gets the same LIDs for any order of discovery. Loop thread only.
 *
 * The registry stores the LIDs of ports, also of absent ports and, with a store, across restarts.
 * So connections, caches and forwarding tables with these LIDs are valid again when the ports
 * return. The LID on a port comes first, if it is free; then that of the registry; then a new LID.
 * A LID of an absent port is given to another port only if no other LID is left; ports that are
 * absent longest lose theirs first.
 *
 * A switch holds LIDs below its LinearFDBCap. A switch with a small table must not limit all
 * others. If its table does not hold the LIDs in use or needed, routes avoid it, and hosts behind
 * it are lost. It limits the LIDs of the fabric only if that costs less.
 */
#ifndef FABRIC_LID_H
#define FABRIC_LID_H

#include "fabric/fabric.h"
#include "lib/slices.h"

struct lid_report {
	unsigned kept;	    /* LIDs found on ports and kept now */
	unsigned given;	    /* new ones */
	unsigned conflicts; /* found, but invalid or of another port */
	unsigned resized;   /* valid and the port's own, but they do not fit this LMC */
	unsigned exhausted; /* ports for which no LID was left */
	/* Why the manager's port did not get sm_lid; NULL: it did, or sm_lid is not set. */
	const char *sm_lid_why;
	unsigned recorded; /* ports whose entry in the registry changed */
	const struct port *conflict_example, *exhausted_example; /* or NULL */
	lid_t conflict_lid;
};

/* A plan of slices that gives every reachable end port a LID; ports with a LID keep it. It records
 * the result in fabric->registry: these records must be durable before the ports receive their
 * LIDs. lmc applies to adapter and router ports, and with lmc_esp0 to enhanced ports 0; other
 * switches get one LID. sm_lid is the LID of the MASTER's port; 0: there is no such LID. If it is
 * set, our port gets it. The earlier LID of our port stays routed, because the port uses it again
 * when another manager is MASTER. lid_plan's argument is a lid_work. No LID may change while the
 * plan runs. */
struct lid_work;
extern const struct slice_plan lid_plan;
/* Parameters as above; fabric must outlive it. Free it with lid_work_free() after the plan, or
 * after slices_cancel(). */
struct lid_work *lid_work_new(struct fabric *fabric, uint8_t lmc, bool lmc_esp0, lid_t sm_lid);
/* When the plan is done; borrowed. */
const struct lid_report *lid_work_report(const struct lid_work *work);
void lid_work_free(struct lid_work *work); /* NULL is harmless */

/* Whether the switch's table holds the LIDs in use, as lid_plan last found. Routes leave out other
 * switches. */
static inline bool lid_fits_switch(const struct fabric *fabric, const struct node *node)
{
	unsigned cap = node->sw ? node->facts->sw.linear_fdb_cap : 0;

	return !cap || cap >= fabric->lid_limit;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Who gets which LID. A LID that a port has is kept when it is free and fits its LMC. New ones are
 * given so that a change touches few blocks of forwarding tables: switches have blocks of 64 LIDs
 * of their own, and the ports cabled to one leaf switch share a block where there is room for all
 * of them. Leaves are taken in the order of their GUIDs, ports in the order of their numbers, so
 * the same fabric gets the same LIDs whatever the order of discovery. Loop thread only.
 *
 * The registry remembers who was given which LID, also of ports that are gone and, where there is a
 * store, over restarts: connections, caches and forwarding tables that name them are right again
 * when they are back. What a port holds comes first, if it is free; then what the registry says;
 * then a new one. A LID of a port that is gone is given to another only when no other is left, that
 * of the longest gone first.
 *
 * A switch holds LIDs below its LinearFDBCap. One with a small table must not take the LIDs of all
 * the others: where its table does not hold what is in use or needed, it is routed around, and what
 * is behind it is lost. It bounds the LIDs of the fabric only where that costs less.
 */
#ifndef FABRIC_LID_H
#define FABRIC_LID_H

#include "fabric/fabric.h"
#include "lib/slices.h"

struct lid_report {
	unsigned kept;	    /* LIDs found on ports and kept now */
	unsigned given;	    /* new ones */
	unsigned conflicts; /* found, but another port has them, or they are none */
	unsigned resized;   /* found and the port's own, but they do not fit this LMC */
	unsigned exhausted; /* ports for which no LID was left */
	const char
		*sm_lid_why; /* the manager's port did not get sm_lid; NULL: it did, or need not */
	unsigned recorded;   /* ports of which the registry has now what it had not before */
	const struct port *conflict_example, *exhausted_example; /* or NULL */
	lid_t conflict_lid;
};

/* In slices: gives every reachable end port a LID, those that have one already keep it, and puts
 * what it did into fabric->registry: what is recorded of ports must be durable before they are
 * told. lmc applies to adapter and router ports, and with lmc_esp0 to enhanced ports 0; other
 * switches get one LID. sm_lid is the LID of the MASTER's port; 0: there is no such LID. If it is
 * set, our port gets it. The earlier LID of our port stays routed, because the port uses it again
 * when another manager is MASTER. lid_plan's argument is a lid_work. No LID may change while the
 * plan runs. */
struct lid_work;
extern const struct slice_plan lid_plan;
struct lid_work *lid_work_new(struct fabric *fabric, uint8_t lmc, bool lmc_esp0, lid_t sm_lid);
const struct lid_report *lid_work_report(const struct lid_work *work); /* when it is done */
void lid_work_free(struct lid_work *work);			       /* NULL is harmless */

/* Whether the switch's table holds the LIDs that are used, as lid_plan last found. Routes leave
 * out one whose does not. */
static inline bool lid_fits_switch(const struct fabric *fabric, const struct node *node)
{
	unsigned cap = node->sw ? node->facts->sw.linear_fdb_cap : 0;

	return !cap || cap >= fabric->lid_limit;
}

#endif

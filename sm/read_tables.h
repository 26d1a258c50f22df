/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads the tables of a port that no bring-up needs: its GUIDs, SLtoVL mappings and VL arbitration.
 * With an end port it also reads the P_Keys of the switch port at the other end of its cable. The
 * first partition needs these of all ports (sm/program/pkeys.c). All requests for one port enter
 * its agent's queue together. The tables are stored together when the last answer has arrived, so
 * that no query sees half of them. The port remembers refused tables until it passes INIT. Used by
 * readback.c alone; loop thread only.
 */
#ifndef SM_READ_TABLES_H
#define SM_READ_TABLES_H

#include "fabric/fabric.h"

struct sm;

/* Number of SMPs to read the tables of this port; 0: it has none, or refuses them. Ports with a
 * single VL have no mapping and no arbitration (chapter 7.6.6, 7.6.9). */
unsigned tables_cost(const struct port *port);

/* Begins to read the tables; the cost must not be 0. Calls done(sm) at the end, also if the tables
 * were not kept, and never from within this call. */
void tables_read(struct sm *sm, struct port *port, void (*done)(struct sm *sm));

#endif

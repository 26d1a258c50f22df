/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a port should hold, as one full PortInfo record, and whether it holds it. Pure functions
 * over the live model: the record is built anew each time, from the options and from both ends of
 * the cable. Fields that the manager does not govern are written as they were read; those with a
 * value for "no change" carry it.
 */
#ifndef SM_PROGRAM_WANT_H
#define SM_PROGRAM_WANT_H

#include "fabric/fabric.h"
#include "sm/options.h"

/* The record for a Set(PortInfo). PortState is PORT_NO_CHANGE; the caller may ask for a state. */
void port_want(const struct fabric *fabric, const struct sm_options *options,
	       const struct port *port, struct port_info *want);

/* Whether want has a forced width or speed. A port can refuse a value though it is of those that it
 * supports, and with it all else. */
bool want_is_forced(const struct port_info *want);

/* Whether what was read differs from want in a field that the manager governs at this port, apart
 * from what the device is known not to take. */
bool port_differs(const struct port *port, const struct port_info *want);

/* Whether shown, a newer report of the port, is as the one before in each field that the manager
 * governs at this port. */
bool port_governed_is_same(const struct port *port, const struct port_info *shown);

/* After an acknowledged Set(want) that the device answered with held: remembers what it did not
 * take. */
void port_note_echo(struct port *port, const struct port_info *want, const struct port_info *held);

/* On an ACTIVE link MTU and VLs are not changed, since that may take the link down: whether they
 * should be. When its two ends hold different MTUs, port_want() corrects them all the same. */
bool port_link_mismatch(const struct sm_options *options, const struct port *port, uint8_t *mtu,
			uint8_t *vls);

/*
 * Whether a link is to go through Down, for its adapter runs with an MTU or with VLs that have to
 * change: a port takes these in INIT, and later only by going back there (7.2.7; OpenSM's
 * osm_lid_mgr.c). Then want gets both values. OpenSM does it with any link; here it is done only
 * where no host can be using the link:
 *   - neither end is ACTIVE: another manager has ARMED it and got no further; or
 *   - the adapter has no LID or knows no manager, so that nothing can be sent to it or by it.
 * So a takeover never does: what runs has both. Nor is it done to the manager's own link, to a port
 * that this manager has ARMED, which did not take the values in INIT, or twice.
 */
bool port_link_restarts(const struct fabric *fabric, const struct sm_options *options,
			const struct port *port, struct port_info *want);

#endif

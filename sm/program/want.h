/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The wanted PortInfo of a port, and its comparison with the PortInfo that was read. Pure functions
 * over the live model: the record is built at each call from the options and both ends of the
 * cable. Fields that the manager does not govern keep the value that was read, or have the value
 * for "no change".
 */
#ifndef SM_PROGRAM_WANT_H
#define SM_PROGRAM_WANT_H

#include "fabric/fabric.h"
#include "sm/options.h"

/* The record for a Set(PortInfo). PortState is PORT_NO_CHANGE; the caller may ask for a state. */
void port_want(const struct fabric *fabric, const struct sm_options *options,
	       const struct port *port, struct port_info *want);

/* Whether want has a forced width or speed. A port can refuse a supported value, and with it the
 * whole Set(). */
bool want_is_forced(const struct port_info *want);

/* Whether the PortInfo that was read differs from want in a governed field, except for values
 * that the device is known to refuse. */
bool port_differs(const struct port *port, const struct port_info *want);

/* Whether shown, a newer report, equals the earlier report in each governed field. */
bool port_governed_is_same(const struct port *port, const struct port_info *shown);

/* Records the values that the device did not accept: it answered Set(want) with held. */
void port_note_echo(struct port *port, const struct port_info *want, const struct port_info *held);

/* Whether MTU or VLs of an ACTIVE link should differ; the wanted values go to mtu and vls. They
 * are not changed, because a change may take the link down. But if the two ends have different
 * MTUs, port_want() corrects them. */
bool port_link_mismatch(const struct sm_options *options, const struct port *port, uint8_t *mtu,
			uint8_t *vls);

/*
 * Whether a link has to go through Down to change the MTU or the VLs of its adapter. A port accepts
 * them in INIT, and later only after a return to INIT (7.2.7; OpenSM's osm_lid_mgr.c). If so, want
 * gets both values. OpenSM does this on any link. weftd does it only where no host can use the
 * link, in two cases. - Neither end is ACTIVE: another manager has ARMED it and got no further. -
 * The adapter has no LID or knows no manager, so that no packets can pass. So a takeover never
 * restarts a link in use. weftd restarts neither its own link, nor a port that it has ARMED itself,
 * because such a port refused the values in INIT, and no link twice.
 */
bool port_link_restarts(const struct fabric *fabric, const struct sm_options *options,
			const struct port *port, struct port_info *want);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The table of personalities. A comment at each row names the source of the habit. Rows without a
 * public source say so: they are habits that violate no rule on which other devices depend.
 */
#include "sma/personality.h"

#include <string.h>

#define MS 1000

const struct personality personalities[] = {
	{"truthful", "does what the specification says", {0}},

	/* Linux, drivers/infiniband/hw/qib: subn_set_portinfo() answers with the state that
	 * subn_get_portinfo() reads from the last interrupt, and ignores the result of
	 * qib_set_linkstate(), which waits 10 ms at most. OpenSM sends Set(ACTIVE) for any answer
	 * to Set(ARMED): osm_state_mgr.c, do_sweep(). */
	{"late-state",
	 "answers Set(PortState) with the old state, and has the new one right after",
	 {.state_lag_us = 10}},
	{"later-state",
	 "answers Set(PortState) with the old state, and has the new one 60 ms later",
	 {.state_lag_us = 60 * MS}},

	/* Linux, drivers/infiniband/hw/qib/qib_mad.c: subn_set_portinfo() takes the link down,
	 * waits 10 ms for its return, and sends the answer over it. */
	{"down-trains",
	 "trains a link again that is set Down, and loses the answer",
	 {.down_trains = true}},

	/* OpenSM's text for force_link_speed: 2, 4 and 6 are reserved. Linux, qib_mad.c,
	 * subn_set_portinfo(): 1.2.1 allows them. */
	{"old-speeds", "refuses 2, 4 and 6 for LinkSpeedEnabled", {.old_speeds = true}},

	/* OpenSM takes a Set(ACTIVE) that is refused with status 7 as done: osm_port_info_rcv.c,
	 * pi_rcv_process_set(). */
	{"strict-state", "refuses to go to the state where it is", {.strict_states = true}},

	/* OpenSM and libibmad match answers by their transaction ID; of the modifier OpenSM uses
	 * the low byte: osm_port_info_rcv.c, osm_pi_rcv_process(). */
	{"no-bit-31",
	 "answers about PortInfo without bit 31 of the AttributeModifier",
	 {.clears_bit_31 = true}},

	/* OpenSM: d2312af6, "Fix sending PortInfo(Set) with AM SMSupportExtendedSpeeds". */
	{"no-extended-speeds",
	 "knows no extended speeds, and takes bit 31 of the AttributeModifier for a port",
	 {.no_extended_speeds = true}},

	/* OpenSM gives port 0 its LID in any state (osm_lid_mgr.c, lid_mgr_set_physp_pi()), and
	 * writes NeighborMTU there ("Configure Enh. SP0"), which may have had another value. */
	{"bare-port0",
	 "after a reset, an enhanced port 0 is Down and has a NeighborMTU of 256",
	 {.bare_port0 = true}},

	/* Links of 50 and 100 Gbit/s a lane equalise and choose a forward error correction before
	 * they come up. No public source has the rate of failures; the times are chosen. */
	{"bouncing-links",
	 "its links train for 3 s and are lost twice before they stay",
	 {.training_us = 3000 * MS, .bounces = 2}},

	/* Counters of violations: qib and hfi1 show them, subn_get_portinfo(). LinkErrorRecovery:
	 * the specification, 5.3.6. A bit of the CapabilityMask: the kernel's core/cm.c sets
	 * IB_PORT_CM_SUP when its module is loaded, and clears it. */
	{"restless",
	 "shows other counters, capability bits and PortPhysicalState each time",
	 {.restless = true}},

	/* The agents of qib, hfi1 and mthca are functions of the host's kernel, which a workqueue
	 * runs after other work: qib_process_mad(), mthca_process_mad(). OpenSM waits for 200 ms
	 * (OSM_DEFAULT_TRANS_TIMEOUT_MILLISEC), three times. No public source has the delay of a
	 * busy host; the time is chosen. */
	{"busy-driver",
	 "takes 100 to 400 ms for each SMP",
	 {.service_us = 100 * MS, .service_spread_us = 300 * MS}},

	/* OpenSM: "Hack for bad value in Mellanox switch", osm_sw_info_rcv.c,
	 * osm_si_rcv_process(), which takes such a top for 0. */
	{"wild-top", "after a reset, its LinearFDBTop is 0xFFFF", {.wild_top = true}},
	{"wild-top-refused",
	 "after a reset, its LinearFDBTop is 0xFFFF, which it refuses when it is written back",
	 {.wild_top = true, .refuses_wild_top = true}},

	/* No other manager is known to write 255 there: OpenSM writes back what it has read
	 * (osm_ucast_mgr.c, ucast_mgr_set_fwd_top()). The specification, 14.2.5.4, has 255 for no
	 * port. */
	{"port-255-refused",
	 "refuses 255, no port, for its default multicast ports",
	 {.refuses_no_port = true}},
	{"port-255-ignored",
	 "keeps its default multicast ports, and ignores new values",
	 {.keeps_default_ports = true}},

	/* No public source: a device may support a smaller range of values than the specification
	 * allows. OpenSM does not compare its Set() with the answer. */
	{"clamping",
	 "limits LifeTimeValue, and has a constant SubnetTimeOut",
	 {.life_time_max = 16, .subnet_timeout_fixed = 31}},
	{0},
};

const struct personality *personality_find(const char *name)
{
	for (const struct personality *row = personalities; row->name; row++) {
		if (!strcmp(row->name, name))
			return row;
	}
	return NULL;
}

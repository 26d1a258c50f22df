/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * VL arbitration of an output port (7.6.9): a table for high and a table for low priority, each a
 * list of VL and weight in units of 64 bytes, served in weighted turns. An entry is served until
 * its weight is used up or its VL has nothing to send. LimitOfHighPriority, in units of 4096 bytes,
 * is the number of bytes of high priority after which a packet of low priority gets a chance: 255
 * is no limit, 0 is one packet. Entries with weight 0 and of VL15 are skipped. Without any usable
 * entry, as after a reset, all VLs take turns, packet by packet. Pure.
 */
#ifndef SIM_FLOW_ARBITER_H
#define SIM_FLOW_ARBITER_H

#include <stdint.h>

enum { FLOW_HIGH_UNLIMITED = 255, FLOW_HIGH_UNIT = 4096 };

struct flow_weights {
	const uint8_t *entry; /* pairs of VL and weight; borrowed */
	uint8_t count, at;
	int16_t left; /* of the entry at which the turn is, in blocks */
	uint16_t vls; /* with an entry, a bit each */
};

struct flow_arbiter {
	struct flow_weights high, low;
	uint8_t limit;
	uint8_t last_vl;     /* without tables */
	uint32_t high_bytes; /* sent since low priority had its chance */
};

/* The tables are borrowed; NULL with count 0: none. */
void flow_arbiter_init(struct flow_arbiter *arbiter, const uint8_t *low, uint8_t low_count,
		       const uint8_t *high, uint8_t high_count, uint8_t limit);
/* The VLs that can ever be chosen, a bit each. */
uint16_t flow_arbiter_vls(const struct flow_arbiter *arbiter);
/* Chooses among VLs whose first packet can leave now: at least one of flow_arbiter_vls(). blocks is
 * the size of that packet of each VL, in units of 64 bytes. */
uint8_t flow_arbiter_choose(struct flow_arbiter *arbiter, uint16_t can_send,
			    const uint16_t blocks[16]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by lid.c, which assigns LIDs, lid_limit.c, which finds their limit, lid_own.c, and
 * lid_memory.c, which uses the registry. Private to these.
 */
#ifndef FABRIC_LID_PARTS_H
#define FABRIC_LID_PARTS_H

#include "fabric/lid.h"
#include "store/registry.h"

/* The search for the limit. */
struct lid_limit {
	unsigned *caps; /* the different LinearFDBCaps, in ascending order */
	size_t kinds;
	/* The price so far of the cap under examination. */
	uint32_t working, others, need;
	uint64_t least; /* the price of the best limit so far */
};

struct lid_block {
	uint8_t switches, others; /* its LIDs in use */
	uint8_t room, room_for;	  /* number of free ranges of LMC room_for - 1; 0: unknown */
};

/* The LIDs of ports without a LID now; from lid_give_back() on only of absent ports. */
struct lid_memory {
	struct registry_cursor cursor;
	struct lid_entry *entries; /* absent longest first */
	size_t count, room;
	size_t gone;	    /* number of absent ports so far */
	size_t taken;	    /* the first so many have lost their LIDs */
	uint32_t last_gone; /* the highest number so far */
	bool is_known;	    /* the registry knows a present port of a node other than ours */
};

struct lid_work {
	struct fabric *fabric;
	uint8_t lmc;
	bool lmc_esp0; /* enhanced ports 0 have the LMC, too */
	lid_t sm_lid;  /* of the MASTER's port; 0: none */
	/* The LID that our own port keeps in addition; lid 0: not yet known. */
	struct lid_entry own;
	struct lid_report report;
	unsigned limit; /* LIDs below this may be used */
	struct lid_limit caps;
	uint64_t members;    /* of the fabric, at the start */
	struct port **ports; /* all end ports that are present, in the order of their GUIDs */
	/* Left: while ports are left out, the number of remaining ports so far. */
	size_t count, left;
	struct lid_block block[LFT_BLOCKS_MAX];
	struct lid_memory memory;
	bool kept[LID_UNICAST_MAX + 1]; /* for absent ports */
};

/* lid_limit.c: stages that find the limit, and leave out ports that routes then do not reach. */
slice_fn lid_find_caps, lid_find_price, lid_take_limit, lid_leave_out;

/* lid_own.c: the stage that gives our own port the LID of the MASTER. */
slice_fn lid_take_sm_lid;
/* Whether lid is in the range of sm_lid. */
static inline bool lid_is_sm_lid(const struct lid_work *work, unsigned lid)
{
	return lid >= work->sm_lid && lid < work->sm_lid + (1u << work->lmc);
}

/* lid_memory.c: stages that look up the LIDs of ports, return them, and record the present LIDs. */
slice_fn lid_recall, lid_keep_all, lid_give_back, lid_remember_gone, lid_remember_ports;
/* If no other LID is free: LIDs of the ports that are absent longest; LID_NONE: there are none. */
lid_t lid_take_from_gone(struct lid_work *work, uint8_t lmc);

/* The LMC of a port. An enhanced port 0 of a switch is an end port with an LMC of its own; a base
 * port 0 has none (table 146, and OpenSM's osm_lid_mgr.c). */
static inline uint8_t lid_lmc_of(const struct lid_work *work, const struct port *port)
{
	bool one =
		port_of_switch(port) && !(work->lmc_esp0 && port->node->facts->sw.enhanced_port0);

	return one ? 0 : work->lmc;
}

/* lid.c: whether 1 << lmc LIDs from lid on are in range, aligned and free. */
bool lid_fits(const struct lid_work *work, unsigned lid, uint8_t lmc);
/* Assigns a range for which lid_fits() is true, and counts it in its block. */
void lid_give(struct lid_work *work, struct port *port, lid_t lid, uint8_t lmc);
/* Frees the port's range; it has none afterwards. */
void lid_take_back(struct lid_work *work, struct port *port);
/* A block with room for count ports; LFT_BLOCKS_MAX: there is none. */
unsigned lid_choose_block(struct lid_work *work, bool for_switch, unsigned count, uint8_t lmc);
/* The first free range in a block; LID_NONE: there is none. */
lid_t lid_first_fit_in(const struct lid_work *work, unsigned block, uint8_t lmc);
/* Marks LIDs as kept for the absent port that had them, or as free. */
void lid_keep(struct lid_work *work, const struct lid_entry *entry, bool kept);

#endif

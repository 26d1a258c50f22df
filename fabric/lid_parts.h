/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What lid.c, which gives LIDs, lid_limit.c, which finds how large they may be, and lid_memory.c,
 * which asks the registry, share. Private to these.
 */
#ifndef FABRIC_LID_PARTS_H
#define FABRIC_LID_PARTS_H

#include "fabric/lid.h"
#include "store/registry.h"

/* The search for the limit. */
struct lid_limit {
	unsigned *caps; /* the different LinearFDBCaps, from the smallest */
	size_t kinds;
	/* What the one that is being looked at costs so far. */
	uint32_t working, others, need;
	uint64_t least; /* what the limit found so far costs */
};

struct lid_block {
	uint8_t switches, others; /* LIDs taken in it */
	uint8_t room, room_for;	  /* for so many ranges of LMC room_for - 1; 0: not known */
};

/* What ports had that have no LID now; from lid_give_back() on only of those that are gone. */
struct lid_memory {
	struct registry_cursor cursor;
	struct lid_entry *entries; /* the longest gone first */
	size_t count, room;
	size_t gone;	    /* how many are, so far */
	size_t taken;	    /* the first so many keep their LIDs no longer */
	uint32_t last_gone; /* the highest number so far */
};

struct lid_work {
	struct fabric *fabric;
	uint8_t lmc;
	bool lmc_esp0;	      /* enhanced ports 0 have it, too */
	lid_t sm_lid;	      /* of the MASTER's port; 0: none */
	struct lid_entry own; /* what our own port keeps beside it; lid 0: it has not got that */
	struct lid_report report;
	unsigned limit; /* LIDs below this may be used */
	struct lid_limit caps;
	uint64_t members;    /* the fabric's, when it began */
	struct port **ports; /* all end ports that are there, in the order of their GUIDs */
	size_t count, left;  /* and while some are left out, how many are not, so far */
	struct lid_block block[LFT_BLOCKS_MAX];
	struct lid_memory memory;
	bool kept[LID_UNICAST_MAX + 1]; /* for ports that are gone */
};

/* lid_limit.c: stages that find the limit, and leave out ports that no route will reach then. */
slice_fn lid_find_caps, lid_find_price, lid_take_limit, lid_leave_out;

/* lid_own.c: the stage that gives our own port the LID of the MASTER. */
slice_fn lid_take_sm_lid;
/* Whether it is one of those, from sm_lid on. */
static inline bool lid_is_sm_lid(const struct lid_work *work, unsigned lid)
{
	return lid >= work->sm_lid && lid < work->sm_lid + (1u << work->lmc);
}

/* lid_memory.c: stages that look up what ports had, give it back, and write down what they have. */
slice_fn lid_recall, lid_keep_all, lid_give_back, lid_remember_gone, lid_remember_ports;
/* Where nothing else is free: LIDs of who has been gone for longest; LID_NONE: there are none. */
lid_t lid_take_from_gone(struct lid_work *work, uint8_t lmc);

/* How many LIDs a port gets, as a power of two. An enhanced port 0 of a switch is an end port with
 * an LMC of its own; a base port 0 has none (table 146, and OpenSM's osm_lid_mgr.c). */
static inline uint8_t lid_lmc_of(const struct lid_work *work, const struct port *port)
{
	bool one =
		port_of_switch(port) && !(work->lmc_esp0 && port->node->facts->sw.enhanced_port0);

	return one ? 0 : work->lmc;
}

/* lid.c: whether 1 << lmc LIDs from lid on are in range, aligned and free. */
bool lid_fits(const struct lid_work *work, unsigned lid, uint8_t lmc);
void lid_give(struct lid_work *work, struct port *port, lid_t lid, uint8_t lmc);
void lid_take_back(struct lid_work *work, struct port *port);
/* A block with room for count ports, LFT_BLOCKS_MAX when there is none, and the first range in it
 * that is free, LID_NONE when none is. */
unsigned lid_choose_block(struct lid_work *work, bool for_switch, unsigned count, uint8_t lmc);
lid_t lid_first_fit_in(const struct lid_work *work, unsigned block, uint8_t lmc);
/* They are kept for the port that had them, or are not any more. */
void lid_keep(struct lid_work *work, const struct lid_entry *entry, bool kept);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What lid.c, which gives LIDs, and lid_limit.c, which finds how large they may be, share. Private
 * to these.
 */
#ifndef FABRIC_LID_PARTS_H
#define FABRIC_LID_PARTS_H

#include "fabric/lid.h"

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

struct lid_work {
	struct fabric *fabric;
	uint8_t lmc;
	struct lid_report report;
	bool scarce;	/* those that are kept for ports that are gone are given, too */
	unsigned limit; /* LIDs below this may be used */
	struct lid_limit caps;
	uint64_t members;    /* the fabric's, when it began */
	struct port **ports; /* all end ports that are there, in the order of their GUIDs */
	size_t count, left;  /* and while some are left out, how many are not, so far */
	struct lid_block block[LFT_BLOCKS_MAX];
	bool kept[LID_UNICAST_MAX + 1];
};

/* lid_limit.c: stages that find the limit, and leave out ports that no route will reach then. */
slice_fn lid_find_caps, lid_find_price, lid_take_limit, lid_leave_out;

#endif

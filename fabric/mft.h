/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A switch's multicast forwarding table as the manager sees it: what it should hold, what it holds,
 * and what it may hold while a Set() is under way or was not answered. A table is cells: a block of
 * 32 MLIDs and a position of 16 ports, as Sets write it; cells in which there is nothing have no
 * memory. The live model owns one for each switch (switch_state), sm/program/mcast.c says what it
 * should hold, sm/program/mft.c writes. Loop thread only; a row, which never changes, may be read
 * on any.
 */
#ifndef FABRIC_MFT_H
#define FABRIC_MFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/iba.h"

enum { MFT_NOTHING_TOP = LID_MULTICAST_MIN - 1 };

struct mft_cell {
	uint16_t want[MFT_BLOCK_LIDS];
	uint16_t have[MFT_BLOCK_LIDS];	/* it sends to these ports for certain */
	uint16_t maybe[MFT_BLOCK_LIDS]; /* and to no others than these */
	uint64_t set_us;		/* when its last Set() ended */
	uint64_t waits_us;		/* since then some of it may not be written; 0: none */
	uint8_t unheard;		/* Gets that were not answered, since it was known */
	bool known;			/* else have and maybe say nothing */
	bool busy;			/* a Get or Set is under way */
	bool unsure;			/* its last Set() had no answer */
	bool untold;			/* it refuses to tell: taken to be empty */
	bool cached; /* what is known was believed: it is read before it is written */
};

struct mft_row_cell {
	uint32_t index;
	uint16_t ports[MFT_BLOCK_LIDS];
};

/* What a switch holds for certain in its first blocks: immutable, and counted on the loop. */
struct mft_row {
	unsigned refs;
	uint16_t blocks; /* of these, cells that are not listed hold nothing */
	uint8_t positions;
	uint32_t count;
	struct mft_row_cell cell[]; /* in ascending order */
};

struct mft {
	uint16_t blocks;
	uint8_t positions, num_ports;
	lid_t top_max;	       /* the last MLID for which it has an entry */
	uint16_t known_blocks; /* in these, cells without memory hold nothing; else that is not
				  known */
	/* It had been reset when it was forgotten: what is unknown is taken to be empty, and
	 * written before it counts. */
	bool blank;
	uint16_t cached_blocks; /* of known_blocks, so many from 0 on were believed */
	struct mft_row *row;	/* as it is now, if it was asked for; or NULL */
	/* What it may hold, being looked at, and how many samples were asked for:
	 * sm/program/cached_mft.c; or NULL. */
	struct mft_row *cached;
	uint8_t samples_asked;
	bool touched;		 /* something may have to be written */
	bool failed;		 /* something was not taken in this run */
	bool topless;		 /* it did not take MulticastFDBTop */
	uint8_t unheard;	 /* Gets in a row without an answer, in this run */
	unsigned pending;	 /* cells that are busy */
	uint32_t search;	 /* the last one that came here: sm/program/mft.c */
	uint64_t *dirty;	 /* by cell: it is to be looked at */
	struct mft_cell **cells; /* [block * positions + position], or NULL */
};

/* For the ports 0 .. num_ports and so many MLIDs, of which nothing is known. */
struct mft *mft_new(uint8_t num_ports, uint16_t cap);
void mft_free(struct mft *mft); /* NULL is harmless */

/* Nothing is known any more of what it holds. */
void mft_forget(struct mft *mft, bool blank);

static inline size_t mft_index(const struct mft *mft, uint16_t block, uint8_t position)
{
	return (size_t)block * mft->positions + position;
}

static inline size_t mft_cells(const struct mft *mft)
{
	return (size_t)mft->blocks * mft->positions;
}

/* With memory, made now if it has none. */
struct mft_cell *mft_cell(struct mft *mft, size_t index);

/* Ports of a position that the switch has. */
uint16_t mft_valid(const struct mft *mft, uint8_t position);

/* Adds ports to what it should send to for an MLID, or takes them away. Harmless where its table is
 * too small. */
void mft_want(struct mft *mft, lid_t mlid, uint8_t position, uint16_t ports, bool wanted);

uint16_t mft_wanted(const struct mft *mft, lid_t mlid, uint8_t position);
/* For certain: of what is not known, or only believed, nothing. */
uint16_t mft_has(const struct mft *mft, lid_t mlid, uint8_t position);
/* Perhaps: what is not known is everything. */
uint16_t mft_maybe(const struct mft *mft, lid_t mlid, uint8_t position);
/* It holds for this MLID what it should. */
bool mft_is_settled(const struct mft *mft, lid_t mlid);
/* The last MLID of the last block in which it should hold something; MFT_NOTHING_TOP: none. */
lid_t mft_want_top(const struct mft *mft);

/* A cell: it was read, or told by the answer to a Set(); a Set() of these ports is sent; it was not
 * answered. */
void mft_learn(struct mft *mft, size_t index, const uint16_t ports[MFT_BLOCK_LIDS]);
void mft_send(struct mft *mft, size_t index, const uint16_t ports[MFT_BLOCK_LIDS]);
void mft_doubt(struct mft *mft, size_t index, const uint16_t ports[MFT_BLOCK_LIDS]);
bool mft_differs(const struct mft_cell *cell); /* it is unknown, or holds not what it should */

static inline bool mft_is_dirty(const struct mft *mft, size_t index)
{
	return mft->dirty[index / 64] >> index % 64 & 1;
}

/* All of these blocks has been read: gives back memory in which nothing is. */
void mft_tidy(struct mft *mft, uint16_t blocks);
bool mft_is_known(const struct mft *mft, size_t index);

void mft_set_dirty(struct mft *mft, size_t index, bool dirty);

/* What a cell surely sends to, or NULL when that is not known. */
const uint16_t *mft_held(const struct mft *mft, size_t index);
/* The blocks up to the last that holds something; 0: none does. */
uint16_t mft_held_blocks(const struct mft *mft);

/* A reference to what it holds, the same row as long as that does not change; NULL while it is
 * about to. */
struct mft_row *mft_row(struct mft *mft);
struct mft_row *mft_row_new(uint16_t blocks, uint8_t positions, uint32_t count); /* cells 0 */
void mft_row_unref(struct mft_row *row); /* NULL is harmless */
/* What a row says of a cell. */
const uint16_t *mft_row_cell(const struct mft_row *row, uint32_t index);
/* It is taken to hold this row, which fits it. */
void mft_believe(struct mft *mft, const struct mft_row *row);

#endif

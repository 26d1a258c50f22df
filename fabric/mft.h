/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A switch's multicast forwarding table in the manager: the wanted content, the known content, and
 * the possible content while a Set() is under way or was not answered. A table is cells: a block of
 * 32 MLIDs and a position of 16 ports, as in a Set(); empty cells have no memory. The live model
 * owns a table for each switch (switch_state), sm/program/mcast.c sets the wanted content,
 * sm/program/mft.c writes. Loop thread only; any thread may read a row, which never changes.
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
	uint16_t have[MFT_BLOCK_LIDS];	/* it certainly sends to these ports */
	uint16_t maybe[MFT_BLOCK_LIDS]; /* it sends to no other ports */
	uint64_t set_us;		/* when its last Set() ended */
	uint64_t waits_us;		/* since then a part of it may not be written; 0: none */
	uint8_t unheard;		/* Gets without an answer, or refused, since it was known */
	bool known;			/* else have and maybe are invalid */
	bool busy;			/* a Get or Set is under way */
	bool unsure;			/* its last Set() had no answer */
	bool cached; /* its content is from the cache: it is read before it is written */
};

struct mft_row_cell {
	uint32_t index;
	uint16_t ports[MFT_BLOCK_LIDS];
};

/* The certain content of a switch's first blocks: immutable, and counted on the loop. */
struct mft_row {
	unsigned refs;
	uint16_t blocks; /* in these, cells that are not listed are empty */
	uint8_t positions;
	uint32_t count;
	struct mft_row_cell cell[]; /* in ascending order */
};

struct mft {
	uint16_t blocks;
	uint8_t positions, num_ports;
	lid_t top_max; /* the last MLID with an entry */
	/* In these, cells without memory are empty; in others they are unknown. */
	uint16_t known_blocks;
	/* The table was reset when its content became unknown: unknown cells that were never set
	 * are taken as empty, but are written before they count. */
	bool blank;
	uint16_t cached_blocks; /* of known_blocks, the first so many are from the cache */
	struct mft_row *row;	/* its present content, if requested; or NULL */
	/* Content from the cache that is being checked, and the number of samples that were read:
	 * sm/program/cached.c; or NULL. */
	struct mft_row *cached;
	uint8_t samples_asked;
	bool touched;		 /* cells may have to be written */
	bool failed;		 /* a Set() was refused in this run */
	bool topless;		 /* it refused MulticastFDBTop */
	bool tableless;		 /* it refused a Get and then a Set: it counts as empty */
	uint8_t unheard;	 /* successive Gets without an answer, in this run */
	unsigned pending;	 /* cells that are busy */
	uint32_t search;	 /* number of the last search that visited it: sm/program/mft.c */
	uint64_t *dirty;	 /* by cell: it is to be checked */
	struct mft_cell **cells; /* [block * positions + position], or NULL */
};

/* A table for ports 0 to num_ports and cap MLIDs, with unknown content. */
struct mft *mft_new(uint8_t num_ports, uint16_t cap);
void mft_free(struct mft *mft); /* NULL is harmless */

/* Makes its whole content unknown. blank: it was reset; see above. */
void mft_forget(struct mft *mft, bool blank);

static inline size_t mft_index(const struct mft *mft, uint16_t block, uint8_t position)
{
	return (size_t)block * mft->positions + position;
}

/* The AttributeModifier of MulticastForwardingTable for a cell (14.2.5.12), and back. */
static inline uint32_t mft_modifier(const struct mft *mft, size_t index)
{
	return (uint32_t)(index % mft->positions) << 28 | (uint32_t)(index / mft->positions);
}

static inline size_t mft_index_of(const struct mft *mft, uint32_t modifier)
{
	return mft_index(mft, (uint16_t)modifier, (uint8_t)(modifier >> 28));
}

static inline size_t mft_cells(const struct mft *mft)
{
	return (size_t)mft->blocks * mft->positions;
}

/* Gives the cell memory if it has none. */
struct mft_cell *mft_cell(struct mft *mft, size_t index);

/* The existing ports in a position of the switch. */
uint16_t mft_valid(const struct mft *mft, uint8_t position);

/* Adds ports to the wanted ports of an MLID, or removes them. Harmless if the table is too
 * small. */
void mft_want(struct mft *mft, lid_t mlid, uint8_t position, uint16_t ports, bool wanted);

/* The wanted ports of an MLID in a position. */
uint16_t mft_wanted(const struct mft *mft, lid_t mlid, uint8_t position);
/* The ports to which it certainly sends: unknown or cached content gives none. */
uint16_t mft_has(const struct mft *mft, lid_t mlid, uint8_t position);
/* The ports to which it may send: unknown content gives all. */
uint16_t mft_maybe(const struct mft *mft, lid_t mlid, uint8_t position);
/* Whether it certainly holds the wanted ports of this MLID. */
bool mft_is_settled(const struct mft *mft, lid_t mlid);
/* The last MLID of the last block with wanted ports; MFT_NOTHING_TOP: none. */
lid_t mft_want_top(const struct mft *mft);

/* A cell was read, or an answer to a Set() shows it. */
void mft_learn(struct mft *mft, size_t index, const uint16_t ports[MFT_BLOCK_LIDS]);
/* A Set() of these ports is sent. */
void mft_send(struct mft *mft, size_t index, const uint16_t ports[MFT_BLOCK_LIDS]);
/* That Set() was not answered: it may be applied or not. */
void mft_doubt(struct mft *mft, size_t index, const uint16_t ports[MFT_BLOCK_LIDS]);
/* It is unknown, or differs from the wanted content. */
bool mft_differs(const struct mft_cell *cell);

static inline bool mft_is_dirty(const struct mft *mft, size_t index)
{
	return mft->dirty[index / 64] >> index % 64 & 1;
}

/* All of these blocks were read: frees the memory of empty cells. */
void mft_tidy(struct mft *mft, uint16_t blocks);
/* Whether the content of a cell is known, also if it has no memory. */
bool mft_is_known(const struct mft *mft, size_t index);

/* Marks a cell to be checked, or clears the mark. */
void mft_set_dirty(struct mft *mft, size_t index, bool dirty);

/* The certain content of a cell; NULL: unknown. */
const uint16_t *mft_held(const struct mft *mft, size_t index);
/* The number of blocks up to the last that is not empty; 0: all are empty. */
uint16_t mft_held_blocks(const struct mft *mft);

/* A reference to its content, the same row while that does not change; NULL while it is
 * changing. */
struct mft_row *mft_row(struct mft *mft);
/* All cells empty. */
struct mft_row *mft_row_new(uint16_t blocks, uint8_t positions, uint32_t count);
void mft_row_unref(struct mft_row *row); /* NULL is harmless */
/* The content of a cell in a row. */
const uint16_t *mft_row_cell(const struct mft_row *row, uint32_t index);
/* Takes a row of the cache, which fits it, as its content. */
void mft_believe(struct mft *mft, const struct mft_row *row);

#endif

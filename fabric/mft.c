/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The actual ports of a switch for an MLID are between two masks: have, to which it certainly
 * sends, and maybe, beyond which it certainly does not send. A Set() makes the two differ until it
 * is answered. So the loop check needs no list of Sets under way.
 */
#include "fabric/mft.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

static const uint16_t nothing[MFT_BLOCK_LIDS];

static size_t words(const struct mft *mft)
{
	return mft_cells(mft) / 64 + 1;
}

struct mft *mft_new(uint8_t num_ports, uint16_t cap)
{
	unsigned most = LID_MULTICAST_MAX - LID_MULTICAST_MIN + 1;
	struct mft *mft = mem_zalloc(sizeof(*mft));

	mft->blocks = (uint16_t)(((cap < most ? cap : most) + MFT_BLOCK_LIDS - 1) / MFT_BLOCK_LIDS);
	mft->top_max = (lid_t)(LID_MULTICAST_MIN + (cap < most ? cap : most) - 1);
	mft->positions = num_ports / MFT_POSITION_PORTS + 1;
	mft->num_ports = num_ports;
	mft->cells = mem_array(mft_cells(mft) + 1, sizeof(*mft->cells));
	mft->dirty = mem_array(words(mft), sizeof(*mft->dirty));
	mft_forget(mft, false);
	return mft;
}

void mft_free(struct mft *mft)
{
	if (!mft)
		return;
	for (size_t i = 0; i < mft_cells(mft); i++)
		free(mft->cells[i]);
	mft_row_unref(mft->row);
	mft_row_unref(mft->cached);
	free(mft->cells);
	free(mft->dirty);
	free(mft);
}

/* Its content will change, or has changed. */
static void row_is_over(struct mft *mft)
{
	mft_row_unref(mft->row);
	mft->row = NULL;
}

void mft_forget(struct mft *mft, bool blank)
{
	row_is_over(mft);
	mft_row_unref(mft->cached);
	mft->cached = NULL;
	mft->blank = blank;
	mft->topless = mft->failed = false;
	mft->known_blocks = mft->cached_blocks = 0;
	mft->touched = true;
	for (size_t i = 0; i < mft_cells(mft); i++) {
		if (mft->cells[i]) {
			mft->cells[i]->known = false;
			mft->cells[i]->unheard = 0;
		}
		mft_set_dirty(mft, i, true);
	}
}

void mft_set_dirty(struct mft *mft, size_t index, bool dirty)
{
	uint64_t bit = UINT64_C(1) << index % 64;

	mft->dirty[index / 64] = (mft->dirty[index / 64] & ~bit) | (dirty ? bit : 0);
	if (!dirty && mft->cells[index])
		mft->cells[index]->waits_us = 0;
}

bool mft_is_known(const struct mft *mft, size_t index)
{
	const struct mft_cell *cell = mft->cells[index];

	return cell ? cell->known : index / mft->positions < mft->known_blocks;
}

struct mft_cell *mft_cell(struct mft *mft, size_t index)
{
	if (!mft->cells[index]) {
		bool known = mft_is_known(mft, index);

		mft->cells[index] = mem_zalloc(sizeof(struct mft_cell));
		mft->cells[index]->known = known;
		mft->cells[index]->cached = index / mft->positions < mft->cached_blocks;
	}
	return mft->cells[index];
}

uint16_t mft_valid(const struct mft *mft, uint8_t position)
{
	unsigned above = mft->num_ports + 1u - position * MFT_POSITION_PORTS;

	return above >= MFT_POSITION_PORTS ? UINT16_MAX : (uint16_t)((1u << above) - 1);
}

/* The place of an MLID's ports in a position; false: there is none. */
static bool mft_find_cell(const struct mft *mft, lid_t mlid, uint8_t position, size_t *index,
			  unsigned *entry)
{
	unsigned place = mlid - LID_MULTICAST_MIN;

	if (mlid < LID_MULTICAST_MIN || place / MFT_BLOCK_LIDS >= mft->blocks ||
	    position >= mft->positions)
		return false;
	*index = mft_index(mft, (uint16_t)(place / MFT_BLOCK_LIDS), position);
	*entry = place % MFT_BLOCK_LIDS;
	return true;
}

void mft_want(struct mft *mft, lid_t mlid, uint8_t position, uint16_t ports, bool wanted)
{
	struct mft_cell *cell;
	unsigned entry;
	size_t index;

	if (!mft_find_cell(mft, mlid, position, &index, &entry))
		return;
	cell = mft_cell(mft, index);
	ports &= mft_valid(mft, position);
	if (wanted)
		cell->want[entry] |= ports;
	else
		cell->want[entry] &= (uint16_t)~ports;
	mft_set_dirty(mft, index, true);
	mft->touched = true;
}

uint16_t mft_wanted(const struct mft *mft, lid_t mlid, uint8_t position)
{
	unsigned entry;
	size_t index;

	if (!mft_find_cell(mft, mlid, position, &index, &entry) || !mft->cells[index])
		return 0;
	return mft->cells[index]->want[entry];
}

uint16_t mft_has(const struct mft *mft, lid_t mlid, uint8_t position)
{
	const struct mft_cell *cell;
	unsigned entry;
	size_t index;

	if (!mft_find_cell(mft, mlid, position, &index, &entry))
		return 0;
	cell = mft->cells[index];
	return cell && cell->known && !cell->cached ? cell->have[entry] : 0;
}

uint16_t mft_maybe(const struct mft *mft, lid_t mlid, uint8_t position)
{
	const struct mft_cell *cell;
	unsigned entry;
	size_t index;

	if (!mft_find_cell(mft, mlid, position, &index, &entry))
		return 0;
	cell = mft->cells[index];
	if (!mft_is_known(mft, index))
		return mft_valid(mft, position);
	return cell ? cell->maybe[entry] : 0;
}

bool mft_is_settled(const struct mft *mft, lid_t mlid)
{
	for (uint8_t position = 0; position < mft->positions; position++) {
		const struct mft_cell *cell;
		unsigned entry;
		size_t index;

		if (!mft_find_cell(mft, mlid, position, &index, &entry))
			continue;
		cell = mft->cells[index];
		if (cell && cell->want[entry] &&
		    (!cell->known || cell->want[entry] != cell->have[entry] ||
		     cell->want[entry] != cell->maybe[entry]))
			return false;
		if (cell && !cell->want[entry] && cell->known && cell->maybe[entry])
			return false;
	}
	return true;
}

static bool mft_cell_wants_nothing(const struct mft_cell *cell)
{
	return memcmp(cell->want, nothing, sizeof(nothing)) == 0;
}

void mft_tidy(struct mft *mft, uint16_t blocks)
{
	mft->known_blocks = blocks;
	for (size_t i = 0; i < (size_t)blocks * mft->positions; i++) {
		struct mft_cell *cell = mft->cells[i];

		if (!cell || cell->busy || mft_differs(cell) || !mft_cell_wants_nothing(cell))
			continue;
		free(cell);
		mft->cells[i] = NULL;
	}
}

lid_t mft_want_top(const struct mft *mft)
{
	for (size_t i = mft_cells(mft); i > 0; i--) {
		const struct mft_cell *cell = mft->cells[i - 1];
		size_t block = (i - 1) / mft->positions;

		size_t top = LID_MULTICAST_MIN + (block + 1) * MFT_BLOCK_LIDS - 1;

		if (cell && !mft_cell_wants_nothing(cell))
			return top < mft->top_max ? (lid_t)top : mft->top_max;
	}
	return MFT_NOTHING_TOP;
}

bool mft_differs(const struct mft_cell *cell)
{
	return !cell->known || cell->unsure ||
	       memcmp(cell->want, cell->have, sizeof(cell->want)) != 0 ||
	       memcmp(cell->want, cell->maybe, sizeof(cell->want)) != 0;
}

void mft_learn(struct mft *mft, size_t index, const uint16_t ports[MFT_BLOCK_LIDS])
{
	struct mft_cell *cell = mft_cell(mft, index);
	uint16_t valid = mft_valid(mft, (uint8_t)(index % mft->positions));

	for (unsigned i = 0; i < MFT_BLOCK_LIDS; i++)
		cell->have[i] = cell->maybe[i] = ports[i] & valid;
	cell->known = true;
	cell->unsure = cell->cached = mft->tableless = false;
	cell->unheard = 0;
	row_is_over(mft);
	mft_set_dirty(mft, index, mft_differs(cell));
}

/* An unknown cell has forwarded nothing, otherwise it would have been read. But if its Gets had no
 * answer, it may hold any ports. */
void mft_send(struct mft *mft, size_t index, const uint16_t ports[MFT_BLOCK_LIDS])
{
	struct mft_cell *cell = mft_cell(mft, index);
	uint16_t unknown = cell->unheard ? mft_valid(mft, (uint8_t)(index % mft->positions)) : 0;

	for (unsigned i = 0; i < MFT_BLOCK_LIDS; i++) {
		if (!cell->known) {
			cell->have[i] = 0;
			cell->maybe[i] = unknown;
		}
		cell->have[i] &= ports[i];
		cell->maybe[i] |= ports[i];
	}
	cell->known = true;
	row_is_over(mft);
}

/* It may have the old or the new content. */
void mft_doubt(struct mft *mft, size_t index, const uint16_t ports[MFT_BLOCK_LIDS])
{
	struct mft_cell *cell = mft_cell(mft, index);

	if (cell->unheard)
		cell->known = false; /* as before the Set() */
	for (unsigned i = 0; i < MFT_BLOCK_LIDS; i++) {
		cell->have[i] &= ports[i];
		cell->maybe[i] |= ports[i];
	}
	cell->unsure = true;
	row_is_over(mft);
	mft_set_dirty(mft, index, true);
}

/* Rows */

const uint16_t *mft_held(const struct mft *mft, size_t index)
{
	if (index >= mft_cells(mft) || !mft_is_known(mft, index))
		return NULL;
	return mft->cells[index] ? mft->cells[index]->have : nothing;
}

static bool holds_something(const struct mft_cell *cell)
{
	return cell && cell->known && memcmp(cell->have, nothing, sizeof(nothing)) != 0;
}

uint16_t mft_held_blocks(const struct mft *mft)
{
	for (size_t i = mft_cells(mft); i > 0; i--)
		if (holds_something(mft->cells[i - 1]))
			return (uint16_t)((i - 1) / mft->positions + 1);
	return 0;
}

struct mft_row *mft_row_new(uint16_t blocks, uint8_t positions, uint32_t count)
{
	struct mft_row *row = mem_zalloc(sizeof(*row) + count * sizeof(row->cell[0]));

	row->refs = 1;
	row->blocks = blocks;
	row->positions = positions;
	row->count = count;
	return row;
}

void mft_row_unref(struct mft_row *row)
{
	if (row && !--row->refs)
		free(row);
}

const uint16_t *mft_row_cell(const struct mft_row *row, uint32_t index)
{
	uint32_t low = 0, high = row->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (row->cell[middle].index == index)
			return row->cell[middle].ports;
		if (row->cell[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return nothing;
}

static struct mft_row *mft_make_row(const struct mft *mft)
{
	struct mft_row *row;
	uint32_t count = 0;
	size_t known = 0;

	while (known < mft_cells(mft) && mft_is_known(mft, known)) {
		const struct mft_cell *cell = mft->cells[known++];

		if (cell && (cell->busy || cell->unsure))
			return NULL;
		count += holds_something(cell);
	}
	known -= known % mft->positions;
	row = mft_row_new((uint16_t)(known / mft->positions), mft->positions, count);
	row->count = 0;
	for (uint32_t i = 0; i < known; i++) {
		if (!holds_something(mft->cells[i]))
			continue;
		row->cell[row->count].index = i;
		memcpy(row->cell[row->count++].ports, mft->cells[i]->have, sizeof(nothing));
	}
	return row;
}

struct mft_row *mft_row(struct mft *mft)
{
	if (!mft->row)
		mft->row = mft_make_row(mft);
	if (mft->row)
		mft->row->refs++;
	return mft->row;
}

void mft_believe(struct mft *mft, const struct mft_row *row)
{
	for (uint32_t i = 0; i < row->count; i++) {
		mft_learn(mft, row->cell[i].index, row->cell[i].ports);
		mft->cells[row->cell[i].index]->cached = true;
	}
	for (uint32_t i = 0; i < (uint32_t)row->blocks * mft->positions; i++) {
		struct mft_cell *cell = mft->cells[i];

		if (cell && !cell->known) {
			mft_learn(mft, i, nothing);
			cell->cached = true;
		}
	}
	mft->cached_blocks = row->blocks;
	mft_tidy(mft, row->blocks);
}

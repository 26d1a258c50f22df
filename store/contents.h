/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The contents of the store's files: the records of one file, with its damaged and missing records.
 * Of both files: the records that count, and whether all vital records are present. Used by
 * store/store.c, before the loop runs or on the store's worker. Nothing here logs.
 *
 * Vital records decide which ports may communicate, and with which M_Key: partitions, their
 * members, the partition file, settings, aliases, M_Keys, disabled ports, drained ports. Both files
 * have them. The totals of a file prove that it has all of them (store/db.h). If both files have
 * this proof, the higher generation counts. If neither has it, the union of both counts, provided
 * that the totals of one file prove the union. Else an unknown part of the vital records is lost.
 */
#ifndef STORE_CONTENTS_H
#define STORE_CONTENTS_H

#include "lib/map.h"
#include "lib/mem.h"
#include "store/db.h"
#include "store/registry.h"

enum { STORE_NAMED_MAX = 10 };

struct store_key {
	uint8_t kind, size;
	uint8_t bytes[];
};

struct store_record {
	enum registry_kind kind;
	void *record;
	const struct store_key *key;
	uint64_t sum; /* of the row */
};

struct store_contents {
	struct arena *arena; /* NULL: nothing was read */
	struct store_record *rows;
	size_t count, capacity;
	struct map seen;			     /* keys of the rows, by slot */
	struct store_db_totals said, found;	     /* as stored in the file; of the good rows */
	size_t bad;				     /* damaged rows */
	char named[STORE_NAMED_MAX][STORE_WHY_SIZE]; /* the first of these, as text */
	size_t refused;				     /* records with invalid values */
	char refused_why[STORE_WHY_SIZE];
};

/* Whether records of this kind are in both files of the store. */
bool store_kind_is_vital(unsigned kind);

/* Fills *out, which must be empty. Returns 0, or -errno as store_db_read(). */
int store_contents_read(struct store_contents *out, struct store_db *db, char why[STORE_WHY_SIZE]);
/* Fills *out, which must be empty, with all records of a damaged file that can be read. */
void store_contents_salvage(struct store_contents *out, const char *path);
/* Frees the records; the totals and counts of the file stay. */
void store_contents_release(struct store_contents *contents);

/* Whether the file has all rows that were written to it. If not, why has the reason. */
bool store_contents_whole(const struct store_contents *contents, char why[STORE_WHY_SIZE]);
/* Number of undamaged rows. */
uint64_t store_contents_found(const struct store_contents *contents);
/* Number of rows of a kind that the totals of the file have and the file lacks; 0 without
 * totals. */
uint64_t store_contents_missing(const struct store_contents *contents, unsigned kind);

/* Which records count. */
struct store_choice {
	const struct store_contents *vital; /* NULL: none */
	const struct store_contents *more;  /* vital records that the first file lacks; or NULL */
	bool proved;			    /* all vital records are present */
};
/* Chooses the file whose vital records count; both arguments stay the caller's. */
struct store_choice store_contents_choose(const struct store_contents *main,
					  const struct store_contents *copy);

#endif

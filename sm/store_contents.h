/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the files of the store held: the records of one file, what of it is damaged or missing, and,
 * of both files, which records count and whether the vital ones are all there. Used by sm/store.c,
 * before the loop runs or on the store's worker; nothing here logs.
 *
 * Vital are the records that decide who may talk to whom and with which M_Key: partitions, their
 * members, the partition file, settings, aliases, M_Keys, disabled ports. Both files have them. A
 * file proves that it has all of them by its totals (sm/store_db.h); of two that do, the one with
 * the higher generation counts. Where neither does, what both have together counts if the totals of
 * one of them prove that. Else vital records are lost, and it is not known which.
 */
#ifndef SM_STORE_CONTENTS_H
#define SM_STORE_CONTENTS_H

#include "fabric/registry.h"
#include "lib/map.h"
#include "lib/mem.h"
#include "sm/store_db.h"

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
	struct store_db_totals said, found;	     /* by the file; by the rows that are good */
	size_t bad;				     /* rows that are damaged */
	char named[STORE_NAMED_MAX][STORE_WHY_SIZE]; /* the first of these, as text */
	size_t refused;				     /* records with values that cannot be used */
	char refused_why[STORE_WHY_SIZE];
};

bool store_kind_is_vital(unsigned kind);

/* Fill *out, which is to be empty. 0, or -errno as store_db_read(). */
int store_contents_read(struct store_contents *out, struct store_db *db, char why[STORE_WHY_SIZE]);
void store_contents_salvage(struct store_contents *out, const char *path);
/* Frees the records; what is known of the file stays. */
void store_contents_release(struct store_contents *contents);

/* Whether the file has all rows that were written to it. Else what is wrong is in why. */
bool store_contents_whole(const struct store_contents *contents, char why[STORE_WHY_SIZE]);
/* How many rows are good. */
uint64_t store_contents_found(const struct store_contents *contents);
/* How many rows of a kind are not there that the file says it has; 0 where it says nothing. */
uint64_t store_contents_missing(const struct store_contents *contents, unsigned kind);

/* Which records count. */
struct store_choice {
	const struct store_contents *vital; /* NULL: none */
	const struct store_contents *more;  /* vital ones that the first lacks; or NULL */
	bool proved;			    /* all vital ones are there */
};
struct store_choice store_contents_choose(const struct store_contents *main,
					  const struct store_contents *copy);

#endif

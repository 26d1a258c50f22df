/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Nearness is the number of characters to insert, remove, replace, or swap with their neighbour
 * (the restricted Damerau-Levenshtein distance). Upper and lower case are equal. A name is worth
 * suggesting when no more than one character in three of the word is wrong.
 */
#include "lib/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { SUGGEST_WORD_MAX = 63 }; /* longer words get no suggestion */

static unsigned min(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static bool is_same(char one, char other)
{
	return tolower((unsigned char)one) == tolower((unsigned char)other);
}

/* Row i of the table holds the distances of word's first i characters to each beginning of name;
 * three rows are enough, since a swap looks two rows back. Two rows without a distance below
 * `below` are the end: the result is then at least `below`. */
static unsigned distance(const char *word, size_t word_size, const char *name, size_t name_size,
			 unsigned below)
{
	unsigned rows[3][SUGGEST_WORD_MAX + 1], least_before = 0;

	for (size_t j = 0; j <= name_size; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= word_size; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *before = rows[(i - 1) % 3], *earlier = rows[(i + 1) % 3];
		unsigned least = i;

		row[0] = i;
		for (size_t j = 1; j <= name_size; j++) {
			row[j] = min(before[j], row[j - 1]) + 1;
			row[j] = min(row[j], before[j - 1] + !is_same(word[i - 1], name[j - 1]));
			if (i > 1 && j > 1 && is_same(word[i - 1], name[j - 2]) &&
			    is_same(word[i - 2], name[j - 1]))
				row[j] = min(row[j], earlier[j - 2] + 1);
			least = min(least, row[j]);
		}
		if (least >= below && least_before >= below)
			return below;
		least_before = least;
	}
	return rows[word_size % 3][name_size];
}

struct suggest suggest_for(const char *word)
{
	return (struct suggest){.word = word, .distance = strlen(word) / 3 + 1};
}

/* The beginning and the end that both have in common cost nothing. Without them, names of one
 * pattern are compared in a few steps, so that tens of thousands of node names can be tried. */
void suggest_try(struct suggest *suggest, const char *name)
{
	const char *word = suggest->word, *rest = name;
	size_t word_size = strlen(word), name_size = strlen(name);
	unsigned found;

	if (word_size > SUGGEST_WORD_MAX || name_size > SUGGEST_WORD_MAX ||
	    (word_size > name_size ? word_size - name_size : name_size - word_size) >=
		    suggest->distance)
		return;
	while (word_size && name_size && is_same(*word, *rest)) {
		word++;
		rest++;
		word_size--;
		name_size--;
	}
	while (word_size && name_size && is_same(word[word_size - 1], rest[name_size - 1])) {
		word_size--;
		name_size--;
	}
	found = distance(word, word_size, rest, name_size, suggest->distance);
	if (found < suggest->distance) {
		suggest->distance = found;
		suggest->best = name;
	}
}

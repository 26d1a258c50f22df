/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * "Did you mean ...?": the nearest known word to one that somebody mistyped. Used for the names of
 * options and commands. Pure; any thread.
 *
 *	struct suggest suggest = suggest_for("sm_prority");
 *
 *	for (each name)
 *		suggest_try(&suggest, name);
 *	if (suggest.best)
 *		...
 */
#ifndef LIB_SUGGEST_H
#define LIB_SUGGEST_H

struct suggest {
	const char *word; /* borrowed, as are the names */
	const char *best; /* NULL as long as no name was near enough to be worth a word */
	unsigned distance;
};

struct suggest suggest_for(const char *word);
void suggest_try(struct suggest *suggest, const char *name);

#endif

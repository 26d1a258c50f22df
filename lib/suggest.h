/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * "Did you mean ...?": the known name that is most similar to a mistyped word, for options and
 * commands. Pure; any thread.
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
	const char *best; /* NULL while no name is similar enough */
	unsigned distance;
};

/* Starts a search for word, which must outlive the result. */
struct suggest suggest_for(const char *word);
/* Keeps name as best if it is more similar than all before; the first of two equal names wins. */
void suggest_try(struct suggest *suggest, const char *name);

#endif

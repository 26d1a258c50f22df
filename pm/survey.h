/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Problems in the fabric, gathered in slices: links that are slower than both ends support, from
 * the view, and ports with errors, from the last reads. For perf errors and perf metrics. The
 * results are keys and indexes of a view that it holds, so they stay valid through later changes.
 */
#ifndef PM_SURVEY_H
#define PM_SURVEY_H

#include "pm/context.h"

struct pm_slow_link { /* a port of a switch in the view */
	uint32_t sw;
	uint8_t port;
};

struct pm_survey {
	struct list link; /* in pm->surveys, while it is under way */
	struct pm *pm;
	struct slices slices;
	struct view *view; /* a reference; NULL: there is none, and no links */
	struct pm_slow_link *links;
	/* Ports with errors: those whose counters rose at the last read, and the others. */
	struct pm_key *rose, *rest;
	struct pm_key *clean; /* ports that were read and have no errors */
	size_t num_links, num_rose, num_rest, num_clean;
	size_t num_over; /* ports of which a counter rose by its threshold or more */
	struct pm_key first_over;
	size_t num_full; /* ports with a counter that stopped at its largest value */
	uint64_t merges;
	void (*done)(void *arg, struct pm_survey *survey); /* survey NULL: pm stops */
	void *arg;
};

/* Calls done(arg, survey) in a later turn; the caller then frees survey. */
void pm_survey_begin(struct pm *pm, void (*done)(void *arg, struct pm_survey *survey), void *arg);
/* Also cancels a survey under way, without done(). NULL is harmless. */
void pm_survey_free(struct pm_survey *survey);
/* Ends all surveys under way without a result: done(arg, NULL). */
void pm_surveys_end(struct pm *pm);

#endif

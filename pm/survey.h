/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What is wrong in the fabric, gathered in slices: links that are slower than both ends can, from
 * the view, and ports that have counted errors, from the last reads. For perf errors and perf
 * metrics. What it gathers are keys and places in a view that it holds, so it lives as long as its
 * reader needs, whatever changes meanwhile.
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
	/* Ports with errors: those that rose at the last read, and the others. */
	struct pm_key *rose, *rest;
	size_t num_links, num_rose, num_rest;
	uint64_t merges;
	void (*done)(void *arg, struct pm_survey *survey); /* survey NULL: pm stops */
	void *arg;
};

/* Calls done(arg, survey) in a turn that follows; survey is then the caller's to free. */
void pm_survey_begin(struct pm *pm, void (*done)(void *arg, struct pm_survey *survey), void *arg);
void pm_survey_free(struct pm_survey *survey);
/* All that are under way end without a result. */
void pm_surveys_end(struct pm *pm);

#endif

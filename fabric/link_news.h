/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Links that came up or went down since the list was last emptied, for the log
 * (sm/discovery/links.h). The live model records each change: in fabric_link(), fabric_unlink(),
 * and in port_set_info() if a port reports that its link was lost. Names are copied, because nodes
 * may be dropped before the list is read. A link has one entry for all of its changes; beyond
 * LINK_NEWS_MAX entries changes are only counted. Before link_news_begin() nothing is recorded: a
 * bring-up is no change. Loop thread only.
 */
#ifndef FABRIC_LINK_NEWS_H
#define FABRIC_LINK_NEWS_H

#include <stdbool.h>

#include "include/iba.h"
#include "mad/attr.h"

struct port;

enum { LINK_NEWS_MAX = 256 };

struct link_end {
	guid_t guid;
	uint8_t num;
	char name[NODE_DESC_SIZE + 1];
};

/* A bit each for the state before and after, so that changes can be combined. */
enum link_fate {
	LINK_FLEETING = 0, /* it came up and went down again */
	LINK_CAME = 1,
	LINK_WENT = 2,
	LINK_BLINKED = 3, /* it was lost and returned */
	LINK_FATES,
};

struct link_change {
	struct link_end end[2]; /* the lower GUID first */
	enum link_fate fate;	/* all changes together */
};

struct link_news {
	struct link_change *change; /* NULL before the first change */
	unsigned count;
	unsigned more[LINK_FATES]; /* changes beyond the limit */
	bool begun;
};

void link_news_begin(struct link_news *news); /* starts recording; empties the list */
/* Stops recording; empties the list and frees its memory. */
void link_news_end(struct link_news *news);

/* Records that the link between a and b came up, went down or blinked. */
void link_news_note(struct link_news *news, const struct port *a, const struct port *b,
		    enum link_fate fate);

#endif

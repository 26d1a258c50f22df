/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which links came and went since this was emptied last, for the log (sm/discovery/links.h). The
 * live model notes each change where it makes it: fabric_link(), fabric_unlink(), and
 * port_set_info() when a port tells that its link was lost. Names are copied, for nodes may be
 * dropped before anybody reads them. What becomes of one link is one entry, however often it
 * changes; beyond LINK_NEWS_MAX entries changes are only counted. Until link_news_begin() nothing
 * is noted: a bring-up is no news. Loop thread only.
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

/* Whether the link was there before, and is after: a bit each, so that changes add up. */
enum link_fate {
	LINK_FLEETING = 0, /* it came and went again */
	LINK_CAME = 1,
	LINK_WENT = 2,
	LINK_BLINKED = 3, /* it was lost and came back */
	LINK_FATES,
};

struct link_change {
	struct link_end end[2]; /* the lower GUID first */
	enum link_fate fate;	/* of all changes together */
};

struct link_news {
	struct link_change *change; /* NULL until something is noted */
	unsigned count;
	unsigned more[LINK_FATES]; /* changes that found no room */
	bool begun;
};

void link_news_begin(struct link_news *news); /* from now on; empties it */
void link_news_end(struct link_news *news);   /* no more; empties it and frees what it took */

/* The link between a and b came, went or blinked. */
void link_news_note(struct link_news *news, const struct port *a, const struct port *b,
		    enum link_fate fate);

#endif

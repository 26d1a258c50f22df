/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Links that were lost and did not return, for `weftctl health`. The live model records each loss
 * in fabric_unlink() and each return in fabric_link(). Names are copied, because nodes may be
 * dropped before the list is read. A link that came up and was lost within one sweep is not
 * recorded: discovery finds a duplicate cable in this way. A link whose two ends have other cables
 * now was moved, and leaves the list at the end of the sweep. Nothing is recorded before the first
 * lost_links_settle(), because in a bring-up the model changes for other reasons.
 *
 * The registry has the list, so it survives a restart, and a failover to a standby that copies it
 * (ha/copies.h). The first settling of a
 * MASTER reads it. Hosts that were lost while no weftd was MASTER are found by their LIDs: the
 * registry has the switch port of each. Loop thread only.
 */
#ifndef FABRIC_LOST_LINKS_H
#define FABRIC_LOST_LINKS_H

#include "fabric/link_news.h"
#include "lib/map.h"

enum { LOST_LINKS_MAX = 4096 };

struct lost_link {
	struct link_end end[2]; /* the lower GUID first */
	uint64_t since_s;	/* wall clock, of the end of the sweep; 0: the sweep still runs */
	bool is_stored;
};

struct lost_links {
	struct map lost; /* struct lost_link, by a hash of both ends */
	struct map came; /* the links that came up in the present sweep, by the same hash */
	uint64_t more;	 /* losses beyond LOST_LINKS_MAX, which are only counted */
	bool begun;
};

struct fabric;
struct lid_entry;

/* Records that the link between a and b was lost, or came up. */
void lost_links_went(struct lost_links *links, const struct port *a, const struct port *b);
void lost_links_came(struct lost_links *links, const struct port *a, const struct port *b);
/* A sweep of a MASTER has ended at this time. Starts recording with the list of the registry, drops
 * links that were moved, and stores the list. */
void lost_links_settle(struct fabric *fabric, uint64_t now_s);
/* Stores the link of an end port that was present when this weftd or another was last MASTER, and
 * is absent in the first sweep of a MASTER. No effect after the first sweep, nor for a port without
 * a known switch. */
void lost_links_missing(struct fabric *fabric, const struct lid_entry *entry);
/* Empties the list: the present links are the state to compare with. Recording goes on. */
void lost_links_accept(struct fabric *fabric);
/* Stops recording and frees the list; the registry keeps it. */
void lost_links_end(struct lost_links *links);

#endif

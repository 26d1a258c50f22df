/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A snapshot: the fabric at one moment, immutable, in flat arrays. Routing, checking, differences
 * and the SA's answers are computed from it on any thread; snapshots are made and released on the
 * loop alone. Switches are sorted by GUID and end ports by port GUID, so that results do not depend
 * on the order of discovery. Only links whose two ends are known and physically up are in it.
 */
#ifndef FABRIC_SNAPSHOT_H
#define FABRIC_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/facts.h"
#include "include/iba.h"

/* A switch whose multicast table has fewer entries does not limit others: IPoIB alone needs some
 * for each partition, and one for each IPv6 address. */
enum { MULTICAST_ENTRIES_FEW = 1024 };

/* The peer of a switch's port. At most one of sw and end is not negative. */
struct snap_link {
	int32_t sw;   /* index of a switch, or -1 */
	int32_t end;  /* index of an end port, or -1 */
	uint8_t port; /* the port's number at the other end */
};

/* The last peer of a switch's port. It outlives the link and the peer, because engines number
 * places, and a place whose link is missing for an hour has to keep its number. */
enum cable_kind { CABLE_NONE, CABLE_HOST, CABLE_SWITCH };

struct snap_cable {
	guid_t guid; /* of the end port or switch */
	uint8_t kind;
	uint8_t port;  /* the port's number at the other end */
	uint8_t hosts; /* CABLE_SWITCH: ports of that switch that led to end ports */
	/* CABLE_HOST, of an end port that is absent, or has the LID of the MASTER: the LIDs that
	 * are kept for it and that no port has. They stay routed, so that no table changes when it
	 * disappears or returns, or another manager becomes MASTER. */
	lid_t lid; /* LID_NONE: none */
	uint8_t lmc;
};

struct snap_switch {
	guid_t guid;
	lid_t lid;	     /* of port 0; LID_NONE: it has none yet */
	uint8_t lmc;	     /* of port 0: 0 for a base port 0 */
	uint8_t num_ports;   /* external ports 1 .. num_ports */
	uint16_t lft_cap;    /* LinearFDBCap: LIDs the table can hold */
	uint32_t first_link; /* links[first_link + p] is port p; that of port 0 leads nowhere */
	uint32_t hosts;	     /* end ports cabled to it */
	struct node_facts *facts;
};

struct snap_end {	 /* a port of an adapter or router */
	guid_t guid;	 /* PortGUID */
	lid_t lid;	 /* base LID; LID_NONE: it has none yet */
	uint8_t lmc;	 /* 1 << lmc LIDs */
	uint8_t port;	 /* its number on its node */
	int32_t sw;	 /* the switch it is cabled to, or -1 */
	uint8_t sw_port; /* that switch's port */
	int32_t peer;	 /* the end port it is cabled to without a switch, or -1 */
	struct node_facts *facts;
};

/* The owner of a LID. */
struct snap_owner {
	int32_t sw;  /* or -1 */
	int32_t end; /* or -1 */
};

/* GUIDs from a file, in its order. */
struct guid_list {
	guid_t *guid;
	uint32_t count;
};

/* A forwarding table from a file, for the engine file. */
struct given_table {
	guid_t sw;
	uint32_t lids; /* entries, from LID 0 on */
	uint8_t *port;
};

/* A line of a file about a switch or a port, with its numbers in their order. */
struct guid_note {
	guid_t guid;
	uint8_t count; /* of numbers */
	uint8_t number[UINT8_MAX];
};

struct guid_notes {
	struct guid_note *note;
	uint32_t count;
};

/* The router for other subnets; the first match applies. */
struct prefix_route {
	uint64_t prefix;
	guid_t router; /* PortGUID */
	bool any_prefix, any_router;
};

struct prefix_routes {
	struct prefix_route *route;
	uint32_t count;
};

/* Options for engines from an administrator's files, and routers for the SA. Counted on the loop,
 * and never written once shared. */
struct route_options {
	unsigned refs;
	struct guid_list roots;	   /* switches (node GUIDs) at the top of the tree */
	struct guid_list compute;  /* hosts whose traffic is balanced first; none: every host */
	struct guid_list io;	   /* hosts that are balanced separately */
	struct guid_list order;	   /* hosts in the order in which places are assigned */
	struct guid_notes weights; /* port and weight: the hops that the port counts, else 1 */
	struct guid_notes ports;   /* ports of a switch in the order in which ways are counted */
	struct guid_notes ignored; /* a node's port: the host there is balanced separately */
	struct given_table *tables;
	uint32_t num_tables;
	struct prefix_routes prefixes;
};

struct route_options *route_options_new(void); /* no options; one reference */
struct route_options *route_options_ref(struct route_options *options); /* NULL is passed on */
/* Whether engines get the same from both; NULL: no options. */
bool route_options_are_equal(const struct route_options *a, const struct route_options *b);
/* Also frees the arrays; NULL is harmless. */
void route_options_unref(struct route_options *options);

struct snapshot {
	unsigned refs;
	uint64_t generation; /* rises with each freeze */
	uint32_t num_switches, num_ends, num_links /* slots */;
	struct snap_switch *switches;
	struct snap_end *ends;
	struct snap_link *links;
	struct snap_cable *cables;     /* as links */
	struct route_options *options; /* a reference; NULL: none */
	lid_t lid_top;		       /* highest LID in use or kept; LID_NONE: there is none */
	struct snap_owner *owners;     /* by LID, 0 .. lid_top */
	int32_t sm_end, sm_switch;     /* the port of this manager: one of them, the other is -1 */
};

/* Memory for the given counts, with every index -1. The caller fills it; then snapshot_index() sets
 * hosts, lid_top, owners and the cables of links that are up, and leaves the other cables as the
 * caller set them. Facts pointers may be NULL (tests, generators). One reference. */
struct snapshot *snapshot_new(uint32_t switches, uint32_t ends, uint32_t links);
/* The same in slices: memory whose indexes are valid only after the stage snapshot_clear_step(). */
struct snapshot *snapshot_alloc(uint32_t switches, uint32_t ends, uint32_t links);
/* A stage of slices, after snapshot_alloc(). */
unsigned snapshot_clear_step(struct snapshot *snapshot, size_t *at);
/* See snapshot_new(). All at once. */
void snapshot_index(struct snapshot *snapshot);
/* The same as a stage of slices. */
unsigned snapshot_index_step(struct snapshot *snapshot, size_t *at);
struct snapshot *snapshot_ref(struct snapshot *snapshot);
void snapshot_unref(struct snapshot *snapshot); /* NULL is harmless */
/* The long part of freeing a snapshot with one reference, as a stage of slices; snapshot_unref()
 * then does the rest. */
unsigned snapshot_empty_step(struct snapshot *snapshot, size_t *at);

static inline const struct snap_link *snap_link(const struct snapshot *snapshot, uint32_t sw,
						uint8_t port)
{
	return &snapshot->links[snapshot->switches[sw].first_link + port];
}

static inline const struct snap_cable *snap_cable(const struct snapshot *snapshot, uint32_t sw,
						  uint8_t port)
{
	return &snapshot->cables[snapshot->switches[sw].first_link + port];
}

static inline struct snap_owner snap_owner(const struct snapshot *snapshot, lid_t lid)
{
	return lid <= snapshot->lid_top ? snapshot->owners[lid] : (struct snap_owner){-1, -1};
}

/* The switch that an owner is, or to which it is cabled; -1: none. */
static inline int32_t snap_owner_switch(const struct snapshot *snapshot, struct snap_owner owner)
{
	return owner.end >= 0 ? snapshot->ends[owner.end].sw : owner.sw;
}

/* Index of a switch by node GUID, binary search; -1: not in the snapshot. */
int32_t snapshot_find_switch(const struct snapshot *snapshot, guid_t guid);
/* Index of an end port by port GUID, likewise. */
int32_t snapshot_find_end(const struct snapshot *snapshot, guid_t port_guid);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The live model of the subnet: nodes with their ports, the cables between them, and the owner of
 * each LID. For each switch and port it has the state that it *has* and the state that it *should
 * have* (tables.h, port_want in sm/). Discovery fills the model, sm/ reads it and changes it, and
 * snapshot.h copies it for other threads. Loop thread only.
 *
 * A directed route to an agent follows parent pointers: each switch has the port of a node nearer
 * to the manager that leads to this switch (uplink). fabric_tree_step() makes this a breadth-first
 * tree of the cables.
 *
 * Implemented in fabric.c, tree.c (roster and tree), detour.c (routes) and have.c (lft_have_*).
 */
#ifndef FABRIC_FABRIC_H
#define FABRIC_FABRIC_H

#include "fabric/facts.h"
#include "fabric/gone.h"
#include "fabric/link_news.h"
#include "fabric/lost_links.h"
#include "fabric/m_key.h"
#include "fabric/mft.h"
#include "fabric/port_notes.h"
#include "fabric/snapshot.h"
#include "fabric/tables.h"
#include "lib/list.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/rate.h"
#include "mad/window.h"

struct node;
struct port;
struct registry;

/* What surveys and polls of managers know about a port with IsSM: sm/election/peers.c. */
struct survey_state {
	uint64_t muted_us, mute_until_us; /* surveys do not query it between, because it did not
					     answer; 0: they do */
	unsigned mutes;			  /* surveys in a row that it did not answer */
	struct rate news;		  /* limit of the surveys that its answers to polls cause */
};

/* A subnet management agent: one for each switch (its port 0) and each port of an adapter or
 * router. */
struct agent {
	struct window_target target;
	struct fabric *fabric;
	struct port *port;
	struct m_key_have m_key;
	struct list todo;	/* ports to process: sm/program/program.c */
	uint64_t trap_tid;	/* TID of its last trap; 0: none, or the agent sends no TIDs */
	struct rate trap_rate;	/* limit on its forwarded traps and events: sm/traps.c */
	struct rate epoch_rate; /* limit on verifications that its traps cause: sm/traps.c */
	struct survey_state survey;
	int32_t index;	  /* during a freeze: adapter port in the snapshot, or -1 */
	struct list mute; /* link in discovery's list of agents that do not delay the pass */
	size_t asked;	  /* unanswered reads of this pass */
	bool route_lost;  /* since a lost read, no NodeInfo over the tree's route has come */
};

/* A Set(PortInfo) that the device answered with other values. It is not repeated until wanted or
 * held changes. */
struct port_echo {
	struct port_info wanted, held;
};

/* A Set(P_KeyTable) that the device answered with other values: digests of the wanted keys and of
 * the block that the port holds. It is not repeated until a digest changes. There are two pairs,
 * because the first Set() of a block may only remove keys, and the second adds keys. */
struct pkeys_echo {
	struct pkeys_echo *next;
	uint16_t block;
	uint64_t wanted[2], held[2]; /* [1: the Set() only removes keys] */
};

/* Recent link losses and error traps of a port: sm/discovery/damping.c. */
struct flap_history {
	uint64_t last_us, hold_us; /* time of the last link loss; length of the hold after it */
	unsigned losses;
};

struct babble_history {
	uint64_t began_us;
	unsigned count;
	uint16_t unconfirmed; /* number of the last trap, until the port is read; or 0: none */
	uint64_t read_pass;   /* discovery.read_pass of the port at that trap */
};

struct port_trouble {
	struct list link; /* in fabric->troubled */
	struct port *port;
	struct flap_history flaps;
	struct babble_history babble;
	uint64_t held_until_us; /* 0: its cable is not held */
	bool lost;		/* its link was lost since the last hold_judge() */
};

/* Whether a cable may have changed since a probe verified it. */
enum link_trust {
	LINK_VERIFIED,
	LINK_UNVERIFIED, /* our Set(ARMED) may have hidden a link loss */
	LINK_LOST,	 /* the link was down since then */
};

/* Result of the last probe through a port. */
enum far_end {
	FAR_END_SOUND,	   /* no known error */
	FAR_END_SILENT,	   /* no answer */
	FAR_END_DUPLICATE, /* a heavy pass found the GUID of another device */
};

struct port_discovery {
	uint64_t read_pass;   /* the pass that read its PortInfo */
	uint64_t link_pass;   /* the pass that verified its cable */
	guid_t led_to;	      /* the node at the other end of its last cable; 0: none yet */
	unsigned patience_ms; /* of the last probe through it: mad/window.h */
	uint8_t link;	      /* enum link_trust */
	uint8_t far_end;      /* enum far_end */
	uint8_t m_key_turn;   /* M_Keys already tried at the far end: fabric/m_key.h */
	bool seen_once;	      /* link_pass found its cable, no later pass has seen it yet */
	bool logged;	      /* the error at the far end is in the log */
	/* A read of its PortInfo had no answer, so its facts may be old. Port 0: a read of
	 * SwitchInfo had no answer, so the facts of all ports may be old. */
	bool unread;
	bool pkeys_unread; /* a P_Key block had no answer: the earlier table is kept */
};

/* Set(PortInfo): sm/program/ports.c. failed and busy are independent: a port that failed can still
 * be disabled. */
struct port_program {
	struct list todo;	/* link in agent->todo of the node's agent */
	struct list waiting;	/* link in a switch's waits */
	struct port_echo *echo; /* NULL: it accepted its last Set() as sent */
	uint32_t failure;	/* last logged reason: program_is_logged(); or 0 */
	bool busy;		/* a request is under way */
	bool failed;		/* a request failed in the last run */
	bool no_bringup;	/* bring-up failed: no route uses it before it is ACTIVE */
	bool armed;		/* we sent Set(ARMED) since its cable was verified */
	bool restarted;		/* it was Set Down to change MTU or VLs; at most once */
	bool keeps_link;	/* its answer to Set(Disabled) did not show Disabled */
	bool drained;		/* no route uses it: sm/discovery/drained.h */
	uint8_t link_asked;  /* PHYS_DISABLED or PHYS_POLLING to Set once; 0: none: port_ask_link()
			      */
	uint8_t asked_state; /* requested PortState that no answer has confirmed; 0: none */
	uint8_t state_reads; /* reads left to confirm it */
};

/* P_Keys, of both ends of a cable to an end port: sm/program/pkeys.c. */
struct port_partition {
	struct pkeys_echo *echo; /* blocks that were not accepted as sent; owned */
	uint64_t wanted;	 /* digest for the Set(P_KeyTable) that is under way */
	uint64_t good;		 /* partition state in which nothing is left to write; or 0 */
	uint64_t full;		 /* digest of the keys that do not fit in the table; 0: none */
	bool busy;		 /* a request is under way */
	bool failed;		 /* a request had no answer */
	bool refused;		 /* it keeps a table that differs from the wanted table */
	bool rests;		 /* good, except at a switch that gets no Sets now */
	bool narrowing;		 /* the Set() under way only removes keys: struct pkeys_echo */
	uint8_t enforce;	 /* want, of switches' ports: bit 0 inbound, bit 1 outbound */
};

struct port {
	struct node *node;
	struct port *peer;	      /* the other end of the cable; NULL: none, or not known */
	struct agent *agent;	      /* end ports (adapter, router, switch port 0); else NULL */
	struct port_trouble *trouble; /* NULL: none */
	struct snap_cable cable;      /* switches: the cable at the time of the last link */
	/* fabric->rereg_epoch in which an end port was last notified to re-register, once in each
	 * epoch. 0: the port is new, or its link was lost. */
	uint32_t rereg_epoch;
	lid_t lid;   /* want, of end ports; LID_NONE: not assigned yet */
	uint8_t lmc; /* want; the port has 1 << lmc LIDs */
	uint8_t num;
	uint8_t refuses; /* PORT_REFUSES_... */
	struct port_discovery discovery;
	struct port_program program;
	struct port_partition partition;
};

/* Attributes that a device refuses. They are not requested again until its port passes INIT. */
enum {
	PORT_REFUSES_GUIDS = 1 << 0,
	PORT_REFUSES_SL_TO_VL = 1 << 1,
	PORT_REFUSES_VL_ARBITRATION = 1 << 2,
	PORT_REFUSES_SET_GUIDS = 1 << 3, /* it did not accept the alias GUIDs */
	PORT_REFUSES_EXT_INFO = 1 << 4,
	PORT_REFUSES_SET_EXT_INFO = 1 << 5,
	PORT_REFUSES_FORCED = 1 << 6, /* a Set(PortInfo) with a forced speed or width */
};

/* The known content of a switch's LFT. A block is unknown if doubtful is set or base lacks it.
 * Otherwise its content is in next if acknowledged is set, and in base if not. */
struct lft_have {
	struct lft *base, *next;
	uint64_t acknowledged[LFT_BLOCKS_MAX / 64];
	uint64_t doubtful[LFT_BLOCKS_MAX / 64];
};

/* Why no route passes through a present switch: no_transit.h. */
enum no_transit { TRANSIT_ALLOWED, NO_TRANSIT_SILENT, NO_TRANSIT_REFUSES };

/* State of a switch that refuses Sets, or that no route uses. */
struct switch_trouble {
	uint8_t refusals;  /* consecutive sweeps in which it refused its table */
	uint8_t mute_sets; /* consecutive unanswered Sets of its ports in this sweep */
	bool logged;	   /* the log says that no route uses it: sm/unrouted.h */
	/* NO_TRANSIT_REFUSES */
	uint16_t refused_attr, refused_status; /* status 0: no answer */
	uint64_t retry_us, retry_pause_us;     /* it gets no Sets before that time */
};

/* Forwarding table: sm/program/switch.c. */
struct switch_lft {
	struct lft *want; /* NULL until the first routing */
	struct lft_have have;
	uint64_t dirty[LFT_BLOCKS_MAX / 64];  /* blocks to write that are not under way */
	uint64_t recent[LFT_BLOCKS_MAX / 64]; /* blocks with a recent Set(): recent_us */
	uint64_t recent_us;		      /* time of the last answer to such a Set() */
	uint16_t pending;		      /* block requests under way */
	lid_t top_set;			      /* last acknowledged LinearFDBTop; LID_NONE: none */
	bool compared;			      /* dirty is up to date */
	bool settled;			      /* have equals want, and the top is acknowledged */
	bool stale; /* in a run: entries of an earlier table may still forward */
};

/* A cached table that is checked by samples: sm/program/cached.c. */
struct switch_cache {
	struct lft *row; /* NULL: none */
	uint8_t samples; /* samples requested */
};

/* Identity check before Sets: sm/program/verify.c. */
struct switch_verify {
	uint64_t epoch;	      /* the identity is verified up to this epoch; 0: unknown */
	uint64_t asked_epoch; /* value of epoch after the pending answer */
	uint8_t asked;	      /* attempts so far */
	uint8_t way;	      /* attempt whose route the Sets use */
	uint8_t unanswered;   /* consecutive unanswered Sets or table reads */
	bool set_lost;	      /* a Set is among them: only an answer to a Set resets the count */
	bool due;	      /* send a request before the next Set() */
	bool under_way;	      /* a request is pending; another may be due */
};

/* Lists of the objects that wait for a switch, and its own links in such lists. */
struct switch_waits {
	struct list ports;	/* ports that go ACTIVE after this switch has settled */
	struct list woken;	/* the part of ports that is not yet processed again */
	struct list cables;	/* ports to other switches that wait for the table of this switch */
	struct list tables;	/* switches whose blocks wait for a block of this switch */
	struct list table_link; /* in waits.tables of another switch */
	struct list mfts;	/* switches whose multicast cells wait for this switch */
	struct list mft_link;	/* in waits.mfts of another switch */
};

struct switch_state {
	struct list link;  /* in fabric->switches */
	struct node *node; /* its owner */
	struct switch_lft lft;
	struct switch_cache cache;
	struct switch_verify verify;
	struct switch_waits waits;
	struct mft *mft;		/* NULL: not needed yet */
	struct switch_trouble *trouble; /* NULL: none; never NULL if NO_TRANSIT_REFUSES */
	uint8_t no_transit;		/* enum no_transit */
	bool drained;			/* no route uses it: sm/discovery/drained.h */
	bool lost;			/* its tables count as unread: switch_lose_tables() */
	bool mft_lost;		  /* the same, until a run has begun with its multicast table */
	bool tops_unread;	  /* another manager may have raised the tops since the read */
	bool changed;		  /* a port changed in this sweep and must be read again */
	bool links_changed;	  /* it reported changed links and was not read since */
	bool pkeys_known;	  /* external ports may have partition.good or known P_Keys */
	bool links_asked;	  /* program.link_asked of a port may be set */
	bool failed;		  /* a Set failed since the last sweep began */
	bool busy;		  /* a Set(SwitchInfo) is under way */
	bool port0_is_stateless;  /* its enhanced port 0 refused a PortState */
	bool keeps_default_ports; /* it refused to clear its multicast default ports */
	uint8_t life_wanted, life_held; /* a LifeTimeValue that it did not accept; 0: none */
	uint32_t failure;		/* last logged reason, as in struct port_program */
	uint64_t set_in_report;		/* the last report that counts one of its blocks */
	uint64_t changed_pass; /* the last discovery pass that read it after links_changed */
};

struct node {
	struct node_facts *facts;
	guid_t guid;
	enum node_type type;
	uint8_t num_ports;
	uint8_t hops;	     /* hops from the manager's port to this switch */
	struct port *uplink; /* switches: the port of the nearer node that leads here */
	struct port *detour; /* its port towards the target of search detour_search */
	uint32_t detour_search;
	uint32_t tree_search; /* the last tree search that reached it: tree.c */
	uint64_t pass;	      /* the last discovery pass that reached it */
	uint64_t target_pass; /* discovery pass that its trap triggered */
	uint64_t mute_pass;   /* the last discovery pass with an unanswered request to it */
	uint64_t silent_us;   /* start of its silence; 0: not silent */
	uint64_t revision;    /* rises when a read finds a change */
	bool silent;	      /* no answer in a heavy pass, but its links are up: kept unchanged */
	int32_t index;	      /* during a freeze: its switch in the snapshot, or -1 */
	struct switch_state *sw; /* switches only */
	struct port port[];	 /* 0 .. num_ports; port 0 of adapters is unused */
};

/* All nodes and end ports in the order of GUIDs, for walks over several turns of the loop. */
struct roster {
	struct node **nodes;	/* all */
	struct node **switches; /* the switches among the nodes */
	struct port **ends;	/* end ports, including switches' ports 0 */
	size_t num_nodes, num_switches, num_ends;
	size_t looked;	  /* during its construction: nodes that were searched for switches */
	uint64_t members; /* fabric->members at its construction */
};

/* An entry in the queue of a breadth-first search. */
struct tree_place {
	struct node *node;
	struct port *uplink;
	uint8_t hops;
};

/* A breadth-first search that is under way. */
struct tree {
	struct tree_place *queue; /* NULL: no search is under way */
	size_t tail;
	size_t others; /* index of the first entry behind a silent switch or drained cable; 0: none
			*/
	uint64_t members; /* fabric->members at its begin */
	bool has_drained; /* a drained cable was left for the second part */
};

struct fabric {
	struct map nodes;			/* by NodeGUID */
	struct map ports;			/* end ports by PortGUID */
	struct list troubled;			/* struct port_trouble */
	struct list switches;			/* struct switch_state, in the order of discovery */
	struct port *lids[LID_UNICAST_MAX + 1]; /* the owner of each LID; NULL: free */
	lid_t lid_top;	   /* upper bound of the assigned LIDs; fabric_lid_top() lowers it */
	lid_t sm_kept_lid; /* LID of our own port in addition to sm_lid: lid.h; or LID_NONE */
	uint8_t sm_kept_lmc;
	unsigned lid_limit;	   /* LIDs below it are used: lid.h; 0: none assigned yet */
	struct registry *registry; /* the assigned LIDs, borrowed; NULL: they are not stored */
	guid_t own_guid;	   /* PortGUID of the local port, from the transport */
	const struct m_key_source *m_keys; /* borrowed; NULL: no M_Keys */
	struct port *sm_port;		   /* the local port; NULL until discovered */
	bool sm_link_lost;		   /* its link was down; sm/ clears this */
	uint64_t topology;		   /* rises when links, nodes or LIDs change */
	uint64_t facts;			   /* rises when any reported value changed */
	uint64_t members;     /* rises when a node or an end port is added or removed */
	uint32_t rereg_epoch; /* rises when all ports must re-register; from 1 */
	struct roster roster;
	struct tree tree;
	struct link_news link_news;
	struct gone_nodes gone;
	struct lost_links lost_links;
	struct port_notes refusing; /* ports that refused a setting: sm/program/refusals.h */
	struct port_notes mute;	    /* switch ports whose peer did not answer a probe */
	struct port_notes silent;   /* a port of each silent node */
	uint64_t forgotten; /* rises when the tables (facts.h) of a port may become unknown */
	uint64_t freezes;
	uint32_t detour_searches, tree_searches;
	uint64_t trusted_pass; /* detours use only cables verified in this pass or later */
	struct map *names;     /* the administrator's node names by NodeGUID; or NULL */
	struct route_options *route_options;  /* for later snapshots, a reference; or NULL */
	unsigned num_switches, num_adapters;  /* nodes; routers count as adapters */
	unsigned num_ports, num_links;	      /* external switch ports and end ports; cables */
	unsigned num_active;		      /* ACTIVE ports, except switches' ports 0 */
	unsigned switch_limit, adapter_limit; /* most SMPs under way per agent */
	struct window *window;
};

/* An empty model. The window must outlive it; limits as in fabric_set_limits(). */
struct fabric *fabric_new(struct window *window, unsigned switch_limit, unsigned adapter_limit);
/* Frees the model with all nodes, and cancels their requests. */
void fabric_free(struct fabric *fabric);
/* The most SMPs under way per agent of a switch, and per agent of an adapter or router. */
void fabric_set_limits(struct fabric *fabric, unsigned switch_limit, unsigned adapter_limit);

/* Adds a node with its facts. A switch gets its agent here, an adapter port by fabric_add_agent().
 * The GUID must be unknown, and num_ports at most PORT_MAX. */
struct node *fabric_add_node(struct fabric *fabric, const struct node_info *info);
/* Gives an adapter or router port its agent and its PortGUID. */
void fabric_add_agent(struct fabric *fabric, struct port *port, guid_t port_guid);
/* Removes the node's cables, frees its LIDs, cancels its requests, and frees the node. */
void fabric_drop_node(struct fabric *fabric, struct node *node);
/* The node with this NodeGUID, or NULL. */
struct node *fabric_find_node(const struct fabric *fabric, guid_t guid);

/* Connects two ports by a cable, and removes their earlier cables. */
void fabric_link(struct fabric *fabric, struct port *a, struct port *b);
/* Removes the cable of a port, if there is one. */
void fabric_unlink(struct fabric *fabric, struct port *port);

/* All nodes and end ports, sorted. Valid until a node or an end port is added or removed. */
const struct roster *fabric_roster(struct fabric *fabric);
/* Builds the roster in slices (lib/slices.h), because a large roster takes long. Stages that walk
 * over the roster come after this stage. */
unsigned fabric_roster_step(struct fabric *fabric, size_t *at);
/* The node of the roster at *at, which advances; NULL at the end. */
struct node *fabric_next_node(struct fabric *fabric, size_t *at);
/* As fabric_next_node(), for switches. */
struct node *fabric_next_switch(struct fabric *fabric, size_t *at);
/* As fabric_next_node(), for end ports. */
struct port *fabric_next_end(struct fabric *fabric, size_t *at);
/* The highest assigned base LID. */
lid_t fabric_lid_top(struct fabric *fabric);

/* Whether the last heavy pass of discovery saw each cable on the tree's route to a node. A cable
 * behind a switch that was silent in that pass may have been moved. */
bool fabric_way_is_seen(const struct fabric *fabric, const struct node *node);
/* Computes the uplinks breadth-first from sm_port. A route passes a silent switch or a drained
 * cable only if there is no other route. An unreached switch gets no uplink. A stage of slices: the
 * last slice changes all uplinks at once. If cables change before the last slice, the caller must
 * restart the stage. */
unsigned fabric_tree_step(struct fabric *fabric, size_t *at);
/* Frees the roster and the state of an unfinished search. */
void fabric_walks_done(struct fabric *fabric);
/* Whether the manager's own link is down, so that the state of the fabric is unknown. */
bool fabric_is_cut_off(const struct fabric *fabric);
/* The switch of the manager, or the switch at its port; NULL: there is none. */
struct node *fabric_first_switch(const struct fabric *fabric);
/* A port of a switch, from 1 on; NULL: it is not in the fabric. */
struct port *fabric_switch_port(const struct fabric *fabric, guid_t guid, uint8_t num);
/* Whether the manager has a route to this node. */
bool fabric_reaches(const struct fabric *fabric, const struct node *node);

/* The agent that answers for a port: port 0 of a switch, or the adapter port itself. */
struct agent *port_agent(const struct port *port);
/* The directed route along the tree to the agent of a port; false: there is none. */
bool port_route(const struct fabric *fabric, const struct port *port, struct route_path *out);
/* The port at which a directed route from the manager's node arrives at its last node; NULL if the
 * route leaves the known cables. */
const struct port *fabric_way_ends(const struct fabric *fabric, const struct route_path *path);
/* The route of attempt 0, 1, ... to a switch: detour.c. Attempt 0 follows the tree if the tree has
 * a route. Later attempts alternate between the tree and other routes. */
bool fabric_way(struct fabric *fabric, struct node *node, unsigned attempt, struct route_path *out);
/* The same, to the device at the far end of a port. */
bool port_route_beyond(struct fabric *fabric, const struct port *port, unsigned attempt,
		       struct route_path *out);
/* Whether the answer over a route may come from another device than the node. This is so if the
 * model has no such route to the node. It is so, too, if the route leaves the tree by a cable that
 * may have been moved: one of its links was lost, or its switch has reported changed links, and the
 * port has not been read since. */
bool fabric_way_is_doubtful(const struct fabric *fabric, const struct route_path *path,
			    const struct node *to);
/* The egress port of a route at its first switch; 0: the route ends there. */
uint8_t fabric_subtree(const struct fabric *fabric, const struct route_path *path);

/* The AttributeModifier of its PortInfo: the port number, and bit 31 if the port supports extended
 * speeds. */
uint32_t port_info_modifier(const struct port *port);

/* Whether this is a port of a switch, port 0 included. */
static inline bool port_of_switch(const struct port *port)
{
	return port->node->type == NODE_SWITCH;
}

/* Whether the known state of a switch port may be old: its read failed, although the switch
 * answers. A silent switch is assumed to be unchanged. */
static inline bool port_is_stale(const struct port *port)
{
	return port_of_switch(port) && !port->node->silent &&
	       (port->discovery.unread || port->node->port[0].discovery.unread);
}

/* The values that were read from a port; never NULL. */
const struct port_facts *port_facts(const struct port *port);
/* Its PortInfo; all zero before the first read. */
const struct port_info *port_info(const struct port *port);
/* Its PortState; PORT_DOWN before the first read. */
uint8_t port_state_of(const struct port *port);
/* The trouble history of a port; created if there is none. */
struct port_trouble *port_trouble(struct fabric *fabric, struct port *port);
/* The trouble state of a switch; created if there is none. */
struct switch_trouble *switch_trouble(struct node *node);
/* Frees the trouble state of a switch if it is empty. */
void switch_trouble_over(struct node *node);

/* Whether one end of the port's cable is held. Such a cable is not brought up, and no route uses it
 * between switches. */
static inline bool port_held(const struct port *port)
{
	const struct port *peer = port->peer;

	return (port->trouble && port->trouble->held_until_us) ||
	       (peer && peer->trouble && peer->trouble->held_until_us);
}

/* Whether one end of the port's cable is drained. Such a cable is not brought up. If it is between
 * switches, no route uses it. */
static inline bool port_drained(const struct port *port)
{
	return port->program.drained || (port->peer && port->peer->program.drained);
}

/* Whether a cable connects the port to another port, and both are up. */
bool port_cabled(const struct port *port);
/* Stores a reported PortInfo. fabric->topology and fabric->facts rise if it differs. When the state
 * falls to DOWN or INIT, the port loses its record of acknowledged writes. */
void port_set_info(struct fabric *fabric, struct port *port, const struct port_info *info);
/* Stores a reported NodeDescription. The administrator's name, if any, replaces it in output. */
void node_set_description(struct fabric *fabric, struct node *node, const char *text);
/* Sets the names that replace the NodeDescriptions: texts by NodeGUID, at most NODE_DESC_SIZE bytes
 * each. Takes ownership of the map and its texts; NULL: no names. */
void fabric_set_names(struct fabric *fabric, struct map *names);
/* Frees such a map; it may be NULL. */
void node_names_free(struct map *names);
/* Stores a reported SwitchInfo. */
void node_set_switch_info(struct fabric *fabric, struct node *node, const struct switch_info *info);
/* Marks the cables that may have changed as unverified, because PortStateChange of the switch was
 * set. If a link bounced between its read and Set(ARMED), there is no other sign of it. */
void switch_changed(struct node *node);
/* Stores the P_Key table and takes over the reference to pkeys, which may be NULL. The table is
 * compared with the wanted table again. */
void port_set_pkeys(struct fabric *fabric, struct port *port, struct pkey_list *pkeys);
/* Stores one block of the P_Key table and keeps the others. Blocks must come in order, from 0. */
void port_set_pkey_block(struct fabric *fabric, struct port *port, unsigned block,
			 const struct p_key_table *table);
/* Stores the ExtendedPortInfo of the port; NULL: unknown. */
void port_set_ext_info(struct fabric *fabric, struct port *port, const struct ext_port_info *ext);
/* Stores the other tables of a port and takes over the reference, which may be NULL. */
void port_set_tables(struct fabric *fabric, struct port *port, struct port_tables *tables);

/* Sets the wanted LID and LMC of a port; LID_NONE: none. The LIDs must be free. */
void port_set_lid(struct fabric *fabric, struct port *port, lid_t lid, uint8_t lmc);

/* Marks the tables of a switch as unknown, because it was reset, or was written by another. The
 * next run reads them. */
static inline void switch_lose_tables(struct switch_state *sw)
{
	sw->lost = sw->mft_lost = true;
}

/* Marks the tables of all switches as unknown, because another manager may have written them. */
void fabric_forget_tables(struct fabric *fabric);
/* Requests that a switch port disables its link (PHYS_DISABLED) or retries it (PHYS_POLLING). */
void port_ask_link(struct port *port, uint8_t physical);
/* Drops all such requests, because they were made to an earlier MASTER. */
void fabric_forget_asked_links(struct fabric *fabric);
/* Clears all wanted LIDs, so that the LIDs found on the ports are adopted. */
void fabric_forget_lids(struct fabric *fabric);
/* Marks all ports that are up as registered in this epoch, so that they are not notified. */
void fabric_mark_reregistered(struct fabric *fabric);
/* Starts an epoch: all ports are notified to re-register, because the SA may lack registrations. */
void fabric_new_rereg_epoch(struct fabric *fabric);
/* Whether a port was not yet notified to re-register in this epoch. */
static inline bool port_needs_rereg(const struct fabric *fabric, const struct port *port)
{
	return port->rereg_epoch != fabric->rereg_epoch;
}

/* Whether this port is a default multicast port of the switch, for MLIDs without an entry. */
bool node_sends_by_default(const struct node *node, unsigned port);
/* Whether the switch has a default multicast port. */
bool node_has_default_ports(const struct node *node);
/* The multicast table of a switch, created if there is none; NULL: it has no entries. */
struct mft *node_mft(struct node *node);

/* The known content of a block; NULL: unknown. */
const uint8_t *lft_have_block(const struct lft_have *have, uint16_t block);
/* Marks all blocks as unknown. */
void lft_have_forget(struct lft_have *have);
/* Starts a sequence of Sets of the blocks of want. */
void lft_have_begin(struct lft_have *have, struct lft *want);
/* Records an acknowledged Set() of a block of want. */
void lft_have_acknowledge(struct lft_have *have, uint16_t block);
/* Records the content of a block from a Get(), or from an acknowledged Set() of entries that are
 * not all wanted. blocks: size of the table. */
void lft_have_learn(struct lft_have *have, uint16_t block, uint16_t blocks,
		    const uint8_t entries[LFT_BLOCK_LIDS]);
/* Marks a block as unknown after an unanswered Set(). */
void lft_have_doubt(struct lft_have *have, uint16_t block);
/* Records that the switch holds all of row. */
void lft_have_believe(struct lft_have *have, struct lft *row);
/* Records that the switch holds all of want. */
void lft_have_settle(struct lft_have *have);

#endif

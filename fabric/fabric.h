/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The live model: what the manager believes the subnet is. Nodes with their ports, the cables
 * between them, who owns which LID, and for each switch and port what it *has* and what it *should
 * have* (tables.h, port_want in sm/). Discovery fills it, sm/ decides over it, freezing
 * (snapshot.h) takes a snapshot of it. It belongs to the loop thread, and no other thread sees any
 * of it.
 *
 * A directed route to an agent follows parent pointers: each switch knows the port of a nearer node
 * that leads to it (uplink). fabric_tree_step() makes this a breadth-first tree of the cables.
 */
#ifndef FABRIC_FABRIC_H
#define FABRIC_FABRIC_H

#include "fabric/facts.h"
#include "fabric/link_news.h"
#include "fabric/m_key.h"
#include "fabric/mft.h"
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

/* A subnet management agent: one for each switch (its port 0) and each port of an adapter or
 * router. */
struct agent {
	struct window_target target;
	struct fabric *fabric;
	struct port *port;
	struct m_key_have m_key;
	struct list todo;      /* ports to look at: sm/program/program.c */
	uint64_t trap_tid;     /* of the last trap that it sent; 0: none, or it numbers none */
	struct rate trap_rate; /* of its traps to subscribers and events: sm/traps.c */
	int32_t index;	       /* during a freeze: of an adapter port in the snapshot, or -1 */
	struct list mute;      /* discovery: in the list of agents that do not hold up the pass */
	size_t asked;	       /* reads of this pass without an answer so far */
};

/* What a device made of a Set(PortInfo) when it did not take it as it was: not sent again while
 * wanted and held are still so. */
struct port_echo {
	struct port_info wanted, held;
};

/* What a device made of a Set() of a block of its P_Key table when it did not take it as it was:
 * digests of the keys that the port should have and of the block that it has. Not sent again while
 * both are still so. There are two, for a block may first be told to lose keys and then to get
 * some. */
struct pkeys_echo {
	struct pkeys_echo *next;
	uint16_t block;
	uint64_t wanted[2], held[2]; /* [whether it was only to lose some] */
};

/* What a port did lately, judged by sm/discovery/damping.c. */
struct flap_history {
	uint64_t last_us, hold_us; /* the last loss of the link, and what was held for it */
	unsigned losses;
};

struct babble_history {
	uint64_t began_us;
	unsigned count;
	uint16_t unconfirmed; /* number of the last trap, until the port is read; or 0 */
	uint64_t read_pass;   /* the read pass of the port at that trap */
};

struct port_trouble {
	struct list link; /* in fabric->troubled */
	struct port *port;
	struct flap_history flaps;
	struct babble_history babble;
	uint64_t held_until_us; /* 0: its cable is not held */
	bool lost;		/* its link was lost since the last judgement */
};

/* Whether a cable is still as the probe that verified it found it. */
enum link_trust {
	LINK_VERIFIED,
	LINK_UNVERIFIED, /* Sets of ours that armed it may have hidden that it was down */
	LINK_LOST,	 /* its link was down since then */
};

/* What a probe out of a port found last. */
enum far_end {
	FAR_END_SOUND,	   /* nothing is known to be wrong there */
	FAR_END_SILENT,	   /* no answer */
	FAR_END_DUPLICATE, /* in a heavy pass, a GUID that another device has */
};

struct port_discovery {
	uint64_t read_pass;   /* in which its PortInfo came */
	uint64_t link_pass;   /* in which its cable was verified */
	unsigned patience_ms; /* of the last probe out of it: mad/window.h */
	uint8_t link;	      /* enum link_trust */
	uint8_t far_end;      /* enum far_end */
	uint8_t m_key_turn;   /* M_Keys already tried at the far end: fabric/m_key.h */
	bool logged;	      /* what is wrong at the far end */
	/* A read of its PortInfo had no answer, or of port 0 a read of SwitchInfo: what is known of
	 * the port, or of port 0 what is known of all ports, may be old. */
	bool unread;
	bool pkeys_unread; /* a block of its P_Key table was lost: the earlier table is kept */
};

/* Set(PortInfo): sm/program/ports.c. Failed and busy are independent: a port that failed can still
 * be disabled. */
struct port_program {
	struct list todo;	/* link in agent->todo of the node's agent */
	struct list waiting;	/* link in a switch's waits */
	struct port_echo *echo; /* NULL: it took its last Set() as sent */
	uint32_t failure;	/* last reason that was logged: program_is_logged(); or 0 */
	bool busy;		/* a request is under way */
	bool failed;		/* in the last run */
	bool no_bringup;	/* no route uses it before it is ACTIVE, because bring-up failed */
	bool armed;		/* by us, since its cable was verified */
	bool restarted;		/* it was Set Down to change MTU or VLs: this happens once */
	bool keeps_link;	/* it was Set Disabled, and has not followed */
	uint8_t link_asked;  /* PHYS_DISABLED or PHYS_POLLING is to be Set once; 0: port_ask_link()
			      */
	uint8_t asked_state; /* requested PortState that no answer has shown yet; 0: none */
	uint8_t state_reads; /* reads that remain to see it */
};

/* P_Keys, of both ends of a cable to an end port: sm/program/pkeys.c. */
struct port_partition {
	struct pkeys_echo *echo; /* of the blocks that were not taken; owned */
	uint64_t wanted;	 /* digest for the Set(P_KeyTable) that is under way */
	uint64_t good;	 /* in this state of the partitions nothing is left to write; or 0 */
	uint64_t full;	 /* digest of the keys that find no room in the table; 0: all do */
	bool busy;	 /* a request is under way */
	bool failed;	 /* a request had no answer */
	bool refused;	 /* it keeps a table that is not the wanted one */
	bool rests;	 /* good, except for a switch that is not written now */
	bool narrowing;	 /* the Set() under way only removes keys: struct pkeys_echo */
	uint8_t enforce; /* want, of switches' ports: bit 0 inbound, bit 1 outbound */
};

struct port {
	struct node *node;
	struct port *peer;	      /* the other end of the cable; NULL: none, or not known */
	struct agent *agent;	      /* end ports (adapter, router, switch port 0); else NULL */
	struct port_trouble *trouble; /* NULL: it has made none */
	struct snap_cable cable;      /* switches: what it led to when it last had a link */
	/* The epoch of fabric->rereg_epoch in which an end port was notified to re-register; it is
	 * notified once in each. 0: nothing was known of it, or its link was lost. */
	uint32_t rereg_epoch;
	lid_t lid;   /* want: end ports; LID_NONE: not given yet */
	uint8_t lmc; /* want: 1 << lmc LIDs */
	uint8_t num;
	uint8_t refuses; /* PORT_REFUSES_... */
	struct port_discovery discovery;
	struct port_program program;
	struct port_partition partition;
};

/* Tables that a device does not tell or take; it is left alone until its port passes INIT. */
enum {
	PORT_REFUSES_GUIDS = 1 << 0,
	PORT_REFUSES_SL_TO_VL = 1 << 1,
	PORT_REFUSES_VL_ARBITRATION = 1 << 2,
	PORT_REFUSES_SET_GUIDS = 1 << 3, /* it did not take those that it was told */
	PORT_REFUSES_EXT_INFO = 1 << 4,
	PORT_REFUSES_SET_EXT_INFO = 1 << 5,
	PORT_REFUSES_FORCED = 1 << 6, /* a Set(PortInfo) with a forced speed or width */
};

/* What a switch's LFT is known to hold, block by block: unknown where doubtful is set or base has
 * nothing, else next where acknowledged is set, else base. */
struct lft_have {
	struct lft *base, *next;
	uint64_t acknowledged[LFT_BLOCKS_MAX / 64];
	uint64_t doubtful[LFT_BLOCKS_MAX / 64];
};

/* Why no route passes a switch that is there: no_transit.h. */
enum no_transit { TRANSIT_ALLOWED, NO_TRANSIT_SILENT, NO_TRANSIT_REFUSES };

/* Of a switch that does not take what it is told, or that no route uses. */
struct switch_trouble {
	uint8_t refusals;  /* sweeps in a row in which it did not take its table */
	uint8_t mute_sets; /* Sets of ports in a row that had no answer, in this sweep */
	bool logged;	   /* that no route uses it: sm/unrouted.h */
	/* NO_TRANSIT_REFUSES */
	uint16_t refused_attr, refused_status; /* what, and how; 0: it does not answer */
	uint64_t retry_us, retry_pause_us;     /* it is not written before that */
};

/* Its forwarding table: sm/program/switch.c. */
struct switch_lft {
	struct lft *want; /* NULL until the first routing */
	struct lft_have have;
	uint64_t dirty[LFT_BLOCKS_MAX / 64];  /* blocks that differ and are not under way */
	uint64_t recent[LFT_BLOCKS_MAX / 64]; /* blocks that were Set lately: recent_us */
	uint64_t recent_us;		      /* when the last Set of one of them was answered */
	uint16_t pending;		      /* requests for blocks that are under way */
	lid_t top_set; /* LinearFDBTop that was acknowledged last; LID_NONE: none */
	bool compared; /* dirty is up to date */
	bool settled;  /* have equals want, and the top is acknowledged */
	bool stale;    /* in a run: entries of an earlier table may still forward */
};

/* A table that it may hold, of which samples are read: sm/program/cached_lft.c. */
struct switch_cache {
	struct lft *row; /* NULL: none */
	uint8_t samples; /* requested so far */
};

/* Which switch answers on its route: sm/program/verify.c. */
struct switch_verify {
	uint64_t epoch;	      /* up to which this is known; 0: unknown */
	uint64_t asked_epoch; /* up to which it is known after the answer */
	uint8_t asked;	      /* attempts of the request */
	uint8_t way;	      /* Sets take the route of this attempt */
	uint8_t unanswered;   /* Sets, or reads of its table, in a row without an answer */
	bool set_lost;	      /* a Set is among them: an answer to a read does not end the row */
	bool due;	      /* a request is to be sent before the next Set() */
	bool under_way;	      /* a request; it may be due again */
};

/* What waits for a switch, and what it waits for. */
struct switch_waits {
	struct list ports;	/* ports that go ACTIVE when this switch has settled */
	struct list woken;	/* those of them that it has not let look again yet */
	struct list cables;	/* ports to other switches that wait for this one's table */
	struct list tables;	/* switches whose blocks wait for one of this switch */
	struct list table_link; /* in the tables of another switch */
	struct list mfts;	/* the same of multicast tables */
	struct list mft_link;
};

struct switch_state {
	struct list link;  /* in fabric->switches */
	struct node *node; /* its owner */
	struct switch_lft lft;
	struct switch_cache cache;
	struct switch_verify verify;
	struct switch_waits waits;
	struct mft *mft;		/* NULL: nothing of it matters yet */
	struct switch_trouble *trouble; /* NULL: it makes none; not when NO_TRANSIT_REFUSES */
	uint8_t no_transit;		/* enum no_transit */
	bool lost;			/* a report showed that it was reset, and lost its tables */
	bool tops_unread;   /* another manager may have raised the tops since the read */
	bool changed;	    /* a port of it did, in this sweep, and is to be read again */
	bool links_changed; /* it reported that links changed, and was not read since */
	bool pkeys_known;   /* P_Keys of its external ports may be known, or found to be good */
	bool links_asked;   /* program.link_asked of some of its ports may be set */
	bool failed;	    /* a Set failed since the last sweep began */
	bool busy;	    /* a Set(SwitchInfo) is under way */
	bool port0_is_stateless;	/* its enhanced port 0 refused a PortState */
	bool keeps_default_ports;	/* for multicast; it did not accept that there are none */
	uint8_t life_wanted, life_held; /* LifeTimeValue that was not accepted; 0: none */
	uint32_t failure;		/* why it was not written, as in struct port_program */
	uint64_t set_in_report;		/* the last report that counts a block of it */
};

struct node {
	struct node_facts *facts;
	guid_t guid;
	enum node_type type;
	uint8_t num_ports;
	uint8_t hops;	     /* from the manager's port to this switch */
	struct port *uplink; /* switches: the port of a nearer node that leads here */
	struct port *detour; /* of it, towards the target of the search numbered detour_search */
	uint32_t detour_search;
	uint32_t tree_search; /* the last one that reached it: tree.c */
	uint64_t pass;	      /* discovery pass in which it was last reached */
	uint64_t target_pass; /* discovery pass that a trap of it asked for */
	uint64_t mute_pass;   /* discovery pass in which a request to it had no answer */
	uint64_t silent_us;   /* since when it is silent; 0: it is not */
	uint64_t revision;    /* rises when a read shows something new */
	bool silent;   /* it did not answer a heavy pass, though its links are up: kept as it was */
	int32_t index; /* while freezing: of its switch in the snapshot, or -1 */
	struct switch_state *sw; /* switches only */
	struct port port[];	 /* 0 .. num_ports; port 0 of adapters is unused */
};

/* Everything there is, in the order of GUIDs, for walks that are to go on in another turn. */
struct roster {
	struct node **nodes;	/* all */
	struct node **switches; /* those among them */
	struct port **ends;	/* end ports, switches' ports 0 among them */
	size_t num_nodes, num_switches, num_ends;
	size_t looked;	  /* while it is made: for switches, at so many nodes; in the end at all */
	uint64_t members; /* the fabric's, when it was made */
};

/* A breadth-first search that is under way. */
struct tree_place {
	struct node *node;
	struct port *uplink;
	uint8_t hops;
};

struct tree {
	struct tree_place *queue; /* NULL: none is under way */
	size_t tail;
	size_t others;	  /* from this place on they are behind silent switches; 0: not known yet */
	uint64_t members; /* the fabric's, when it began */
};

struct fabric {
	struct map nodes;     /* by NodeGUID */
	struct map ports;     /* end ports by PortGUID */
	struct list troubled; /* the histories of ports that have made trouble */
	struct list switches; /* their struct switch_state, in the order in which they were found */
	struct port *lids[LID_UNICAST_MAX + 1];
	lid_t lid_top;	   /* none above it is given; fabric_lid_top() lowers it */
	lid_t sm_kept_lid; /* what our own port has beside sm_lid: lid.h; LID_NONE: nothing */
	uint8_t sm_kept_lmc;
	unsigned lid_limit;	   /* LIDs below it are used: lid.h; 0: none was given yet */
	struct registry *registry; /* who was given which LID; NULL: nobody remembers */
	guid_t own_guid; /* of the port on which this manager runs, as the transport has it */
	const struct m_key_source *m_keys; /* borrowed; NULL: nobody knows any */
	struct port *sm_port; /* the port this manager runs on; NULL until discovered */
	bool sm_link_lost;    /* its link was found to have been down; for sm/ to clear */
	uint64_t
		topology; /* rises when a snapshot taken now would differ in links, nodes or LIDs */
	uint64_t facts;	  /* rises when any reported value changed */
	uint64_t members; /* rises when a node or an end port comes or goes */
	uint32_t rereg_epoch; /* rises when all ports are to be told to register anew; from 1 on */
	struct roster roster;
	struct tree tree;
	struct link_news link_news;
	uint64_t forgotten; /* rises when a port may have no tables (facts.h) any more, or yet */
	uint64_t freezes;
	uint32_t detour_searches, tree_searches;
	uint64_t trusted_pass; /* cables verified before this pass are not used for detours */
	struct map *names;     /* of nodes by NodeGUID, text: the administrator's; or NULL */
	struct route_options *route_options;  /* a reference for snapshots to come, or NULL */
	unsigned num_switches, num_adapters;  /* nodes; routers count as adapters */
	unsigned num_ports, num_links;	      /* switches' external ports and end ports; cables */
	unsigned num_active;		      /* ports, without switches' ports 0 */
	unsigned switch_limit, adapter_limit; /* SMPs under way at one agent */
	struct window *window;
};

struct fabric *fabric_new(struct window *window, unsigned switch_limit, unsigned adapter_limit);
void fabric_free(struct fabric *fabric);
/* How many SMPs may be under way at one agent of a switch, of an adapter or router. */
void fabric_set_limits(struct fabric *fabric, unsigned switch_limit, unsigned adapter_limit);

/* A new node with its facts; agents of a switch exist at once, those of adapter ports with
 * fabric_add_agent(). The GUID must be unknown, num_ports at most PORT_MAX. */
struct node *fabric_add_node(struct fabric *fabric, const struct node_info *info);
void fabric_add_agent(struct fabric *fabric, struct port *port, guid_t port_guid);
/* Cuts its cables, frees its LIDs, cancels what is under way to it, and frees it. */
void fabric_drop_node(struct fabric *fabric, struct node *node);
struct node *fabric_find_node(const struct fabric *fabric, guid_t guid);

void fabric_link(struct fabric *fabric, struct port *a, struct port *b); /* cuts earlier cables */
void fabric_unlink(struct fabric *fabric, struct port *port); /* harmless without a cable */

/* All that is there, sorted; good until a node or an end port comes or goes. */
const struct roster *fabric_roster(struct fabric *fabric);
/* A stage of slices that makes it, for what then walks over it: with many nodes it is a long turn.
 */
unsigned fabric_roster_step(struct fabric *fabric, size_t *at);
/* One after the other, for stages that walk over it; NULL: there are no more. */
struct node *fabric_next_node(struct fabric *fabric, size_t *at);
struct node *fabric_next_switch(struct fabric *fabric, size_t *at);
struct port *fabric_next_end(struct fabric *fabric, size_t *at);
/* The highest base LID that was given. */
lid_t fabric_lid_top(struct fabric *fabric);

/* Whether the last heavy pass of discovery has seen each cable of the tree's way to a node again. A
 * cable behind a switch that was silent then may lead elsewhere now. */
bool fabric_way_is_seen(const struct fabric *fabric, const struct node *node);
/* Breadth-first uplinks from sm_port over the cables, by silent switches only where there is no
 * other way. Switches that are not reached get no uplink. A stage of slices (lib/slices.h): uplinks
 * change with its last piece, all at once. When cables change before that it has to begin anew. */
unsigned fabric_tree_step(struct fabric *fabric, size_t *at);
void fabric_walks_done(struct fabric *fabric); /* frees the roster and what a search left */
/* Whether the manager's own link is down: nothing tells then what is beyond it. */
bool fabric_is_cut_off(const struct fabric *fabric);
/* Whether the manager has a way to this node. */
bool fabric_reaches(const struct fabric *fabric, const struct node *node);

/* The agent that answers for a port: of a switch that of port 0, of others the port's own. */
struct agent *port_agent(const struct port *port);
/* The directed route to a node's agent, along the tree. */
bool port_route(const struct fabric *fabric, const struct port *port, struct route_path *out);
/* The port by which a directed route from the manager's node comes in where it ends; NULL when it
 * goes where no cable is known. */
const struct port *fabric_way_ends(const struct fabric *fabric, const struct route_path *path);
/* detour.c: attempt number 0, 1, ... to reach a switch, and what is beyond a port (out of it). The
 * first goes along the tree where that has a way, the others alternate between it and other ways.
 */
bool fabric_way(struct fabric *fabric, struct node *node, unsigned attempt, struct route_path *out);
bool port_route_beyond(struct fabric *fabric, const struct port *port, unsigned attempt,
		       struct route_path *out);
/* By which port of the first switch it goes on; 0: it ends there. */
uint8_t fabric_subtree(const struct fabric *fabric, const struct route_path *path);

/* The AttributeModifier of its PortInfo: the port's number, and bit 31 where it has extended
 * speeds. */
uint32_t port_info_modifier(const struct port *port);

static inline bool port_of_switch(const struct port *port)
{
	return port->node->type == NODE_SWITCH;
}

/* Whether a port of a switch may be in another state than it is known to be: when it was to be read
 * it did not tell, though the switch answers. One that is silent is taken to be as it was. */
static inline bool port_is_stale(const struct port *port)
{
	return port_of_switch(port) && !port->node->silent &&
	       (port->discovery.unread || port->node->port[0].discovery.unread);
}

/* What is known of a port; info is all zero before it was read. */
const struct port_facts *port_facts(const struct port *port);
const struct port_info *port_info(const struct port *port);
uint8_t port_state_of(const struct port *port); /* PORT_DOWN when it was not read */
struct port_trouble *port_trouble(struct fabric *fabric,
				  struct port *port); /* its history, begun now if it has none */
struct switch_trouble *switch_trouble(struct node *node); /* begun now if it makes none yet */
void switch_trouble_over(struct node *node);		  /* frees it when nothing is left of it */

/* A cable one end of which is held: it is not brought up, and between switches no route uses it. */
static inline bool port_held(const struct port *port)
{
	const struct port *peer = port->peer;

	return (port->trouble && port->trouble->held_until_us) ||
	       (peer && peer->trouble && peer->trouble->held_until_us);
}

bool port_cabled(const struct port *port); /* to a port that is up, as this one is */
/* Stores what an agent reported; topology and facts rise when it tells something new. A port that
 * is DOWN or INIT and was not before loses what was known of what was written to it. */
void port_set_info(struct fabric *fabric, struct port *port, const struct port_info *info);
/* What the node reports; people see the administrator's name in its stead, if there is one. */
void node_set_description(struct fabric *fabric, struct node *node, const char *text);
/* Names that stand before what nodes report, from now on: texts by NodeGUID, at most NODE_DESC_SIZE
 * bytes each. Takes the map with all that is in it; NULL: none. */
void fabric_set_names(struct fabric *fabric, struct map *names);
void node_names_free(struct map *names); /* NULL is harmless */
void node_set_switch_info(struct fabric *fabric, struct node *node, const struct switch_info *info);
/* Its PortStateChange was found set. A link that went and came back, perhaps with another cable,
 * between the look at it and the Set() that armed it shows nothing else: such cables become
 * doubtful. */
void switch_changed(struct node *node);
/* Takes over the reference to pkeys, which may be NULL. What is to be written there is judged anew.
 */
void port_set_pkeys(struct fabric *fabric, struct port *port, struct pkey_list *pkeys);
/* One block of its table is known, others as before: blocks come one after the other from 0 on. */
void port_set_pkey_block(struct fabric *fabric, struct port *port, unsigned block,
			 const struct p_key_table *table);
/* Stores the ExtendedPortInfo of the port; NULL: not known. */
void port_set_ext_info(struct fabric *fabric, struct port *port, const struct ext_port_info *ext);
/* Takes over the reference to tables, which may be NULL. */
void port_set_tables(struct fabric *fabric, struct port *port, struct port_tables *tables);

/* The want side of LIDs: moves port to lid (LID_NONE: takes it away). The LIDs must be free. */
void port_set_lid(struct fabric *fabric, struct port *port, lid_t lid, uint8_t lmc);

/* Nothing is known any more of what any switch's tables hold: somebody else may have written. */
void fabric_forget_tables(struct fabric *fabric);
/* The link of a switch's port is to be taken down (PHYS_DISABLED) or tried again (PHYS_POLLING). */
void port_ask_link(struct port *port, uint8_t physical);
/* No link is to be taken down or tried again: who asked for it asked an earlier MASTER. */
void fabric_forget_asked_links(struct fabric *fabric);
/* No port should have a LID any more: those found on the ports count. */
void fabric_forget_lids(struct fabric *fabric);
/* What all that are up have registered is known here. */
void fabric_mark_reregistered(struct fabric *fabric);
/* What any port has registered need not be what the SA knows: all are to be told once more. */
void fabric_new_rereg_epoch(struct fabric *fabric);
static inline bool port_needs_rereg(const struct fabric *fabric, const struct port *port)
{
	return port->rereg_epoch != fabric->rereg_epoch;
}

/* Whether the switch sends what its multicast table does not cover to this port, by default. */
bool node_sends_by_default(const struct node *node, unsigned port);
/* To any port. */
bool node_has_default_ports(const struct node *node);
/* The switch's multicast table, made now if it has none; NULL: it can hold no entry. */
struct mft *node_mft(struct node *node);

/* lft_have: what a block holds (NULL: unknown), and what Sets make of it. */
const uint8_t *lft_have_block(const struct lft_have *have, uint16_t block);
void lft_have_forget(struct lft_have *have);
void lft_have_begin(struct lft_have *have, struct lft *want);	  /* Sets of want's blocks follow */
void lft_have_acknowledge(struct lft_have *have, uint16_t block); /* it holds want's block */
/* A Get of this block gave these entries, or a Set of them, which are not all wanted ones, was
 * acknowledged; blocks: how many the table will have. */
void lft_have_learn(struct lft_have *have, uint16_t block, uint16_t blocks,
		    const uint8_t entries[LFT_BLOCK_LIDS]);
void lft_have_doubt(struct lft_have *have, uint16_t block);    /* a Set of it had no answer */
void lft_have_believe(struct lft_have *have, struct lft *row); /* it holds all of this */
void lft_have_settle(struct lft_have *have);		       /* all of want is held */

#endif

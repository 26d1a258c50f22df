/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Interfaces between the files of a pass. discover.c begins and ends it, and wait.c decides how
 * long it waits for answers. read.c reads nodes, probe.c probes the far ends of cables, and
 * far_end.c evaluates the answers of probes. tidy.c updates the model at the end. Private to these
 * files.
 */
#ifndef SM_DISCOVERY_PARTS_H
#define SM_DISCOVERY_PARTS_H

#include "lib/log.h"
#include "lib/map.h"
#include "lib/slices.h"
#include "sm/discovery/discover.h"

/* How far the end of a pass depends on the answer to a request. */
enum wait_class {
	WAIT_NOT,	     /* not sent yet, or completed */
	WAIT_ANSWER,	     /* the pass waits until it is completed */
	WAIT_SILENT,	     /* a probe after PROBE_PATIENCE timeouts */
	WAIT_RETRIED_SILENT, /* the single attempt of a probe that had no answer before */
	WAIT_MUTE,	     /* a read of a mute agent */
	WAIT_CLASSES
};

struct discover {
	struct loop *loop;
	struct window *window;
	struct fabric *fabric;
	const struct sm_options *options;
	enum discover_kind kind;
	bool may_write;
	bool finished; /* no pass is under way */
	uint64_t pass;
	uint64_t unsound_pass; /* the last that requested a heavy pass; 0: none yet */
	size_t waits[WAIT_CLASSES];
	bool awaited;	  /* new requests wait for the end of the pass */
	struct list mute; /* agents whose reads are WAIT_MUTE */
	bool dropping;	  /* the reads of a mute agent are being cancelled */
	struct {
		uint64_t topology, recovered, completed; /* window: the last two */
	} before;					 /* values at the begin of the pass */
	struct window_gate unknown;			 /* probes on the wire */
	struct window_target local; /* our own port, before it is in the model */
	struct port **claims;	    /* ports whose cables are probed again at the end of the pass */
	size_t num_claims;
	struct list probes; /* probes under way */
	struct map slow;    /* struct slow by node GUID: the probes of a slow agent */
	struct discover_target {
		guid_t guid;
		uint8_t what; /* enum discover_look */
	} * targets;	      /* targets of the next pass */
	size_t num_targets;
	struct loop_deferred finish;
	struct slices asking, tidying; /* first stages of a light pass; end of each pass */
	uint64_t members, topology;    /* of the fabric, at the begin of these stages */
	struct node **lost;
	size_t num_lost;
	loop_fn *done;
	void *done_arg;
	struct discover_report report;
	struct discover_anomalies anomalies;
	struct log_limit duplicate_limit, silent_limit, odd_limit;
};

static inline bool discover_is_partial(const struct discover *discover)
{
	return discover->kind != DISCOVER_HEAVY;
}

static inline bool port_node_is_silent(const struct port *port)
{
	return port && port->node->silent;
}

/* wait.c */

enum { PROBE_PATIENCE = 2 }; /* attempts after which a probe, or an agent, counts as silent */

/* Moves requests from one class to another. When WAIT_ANSWER is empty, the pass may end. */
void discover_wait(struct discover *discover, size_t count, enum wait_class from,
		   enum wait_class to);
/* A request of WAIT_ANSWER is completed; arg is the struct discover. */
void discover_landed(void *arg);
/* Whether the pass can end without the missing answers. */
bool discover_may_end(const struct discover *discover);
/* Sends a read to an agent. Its end calls discover_returned() first, then, if the agent answered,
 * discover_agent_answered(), and last discover_landed(). */
void discover_submit(struct discover *discover, struct agent *agent,
		     const struct smp_request *request);
void discover_returned(struct discover *discover, struct agent *agent);
void discover_agent_answered(struct discover *discover, struct agent *agent);
/* For smp_request.again of such a read; subject: the port. */
void discover_asked_again(void *owner, void *subject, unsigned attempt);
/* Ends the reads of mute agents, because the pass ends without them. */
void discover_give_up_mute(struct discover *discover);

/* read.c */

/* Reads a node that was reached at this port, once in a pass. */
void discover_visit(struct discover *discover, struct node *node, struct port *arrival);
/* Reads one attribute from the agent of a port, if there is an agent. */
void discover_get(struct discover *discover, struct port *port, uint16_t attr_id,
		  uint32_t attr_mod);
/* Reads PortInfo of a port, by the agent that answers for it. */
void discover_get_port_info(struct discover *discover, struct port *port);
/* Reads the P_Key table if it is unknown, and in each heavy pass. */
void discover_get_pkeys(struct discover *discover, struct port *port);

/* probe.c */

/* Probes the far end of the cable of a port. second_look: all other reads of the pass are
 * done. */
void discover_probe(struct discover *discover, struct port *from, bool second_look);
/* Cancels the probes through ports of this node; NULL: of all nodes. */
void discover_drop_probes(struct discover *discover, const struct node *node);
/* Ends all remaining probes, because the pass ends without them. */
void discover_give_up_probes(struct discover *discover);

/* far_end.c */

/* A port of the node with a cable; NULL: there is none. */
struct port *node_any_cabled(struct node *node);
/* A node with this NodeInfo has answered a probe out of this port. */
void discover_arrived(struct discover *discover, struct port *from, const struct node_info *info,
		      bool second_look);
/* Drops a node during a pass, with the probes through its ports. */
void discover_drop_node(struct discover *discover, struct node *node);
/* Gives the port an agent with its PortGUID, if it has none or another PortGUID. */
void discover_give_agent(struct discover *discover, struct port *port, guid_t port_guid);
/* Probes again where a device may have moved, or two devices may have one GUID. */
void discover_look_at_claims(struct discover *discover);
/* Logs an error behind a port when it first occurs, not in each light pass that finds it. */
void discover_log_once(struct log_limit *limit, struct port *from,
		       const struct log_subject *subject, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The device behind from has the GUID of a device that is known at another place. */
void discover_duplicate(struct discover *discover, struct port *from, guid_t guid,
			const struct port *known);
/* Whether this pass has already reached the node at its old place. */
bool discover_seen_again(const struct discover *discover, const struct node *node);

extern const struct slice_plan discover_tidying; /* of a struct discover */

#endif

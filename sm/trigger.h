/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * All requests for sweeps: by traps, timers, commands, other managers and failures. The first
 * request acts at once. Requests during a sweep are held and merged into the next sweep, so a
 * storm costs one sweep at a time. Loop thread only.
 */
#ifndef SM_TRIGGER_H
#define SM_TRIGGER_H

#include <stdbool.h>

#include "include/iba.h"
#include "lib/loop.h"
#include "lib/rate.h"

enum discover_kind { DISCOVER_TARGETED, DISCOVER_LIGHT, DISCOVER_HEAVY };

/* Which data of a named node or port to read. */
enum discover_look {
	LOOK_NODE = 1,	      /* all of it; the GUID is the node's */
	LOOK_PORT = 2,	      /* its PortInfo; the GUID is an end port's */
	LOOK_DESCRIPTION = 4, /* of the node of that end port */
};

/* A switch that disappears is reported by as many neighbours as it has ports; more requests are
 * a storm. Nodes without a request of their own show by PortStateChange, for which a light sweep
 * reads every switch: one SMP each, where a heavy sweep reads the whole fabric. */
enum { TRIGGER_NODES_MAX = PORT_MAX + 2, TRIGGER_REASON_SIZE = 96 };

/* The requests since the last sweep began. */
struct trigger {
	struct loop_deferred fire;
	bool wanted;
	bool held; /* a sweep is running */
	bool reroute;
	enum discover_kind kind;
	struct {
		guid_t guid;
		uint8_t what;	      /* enum discover_look */
	} targets[TRIGGER_NODES_MAX]; /* with more, the sweep is at least a light sweep */
	unsigned num_targets;
	char reason[TRIGGER_REASON_SIZE]; /* of the first */
	unsigned merged;		  /* how many came after it */
};

/* Calls fn(arg), deferred, when a sweep should begin; fn calls trigger_take(). */
void trigger_init(struct trigger *trigger, struct loop *loop, loop_fn *fn, void *arg);
/* Drops all requests. */
void trigger_done(struct trigger *trigger);

/* Requests a light sweep. All requests until trigger_take() are merged; the reason of the first
 * request counts; it is copied. */
void trigger_light(struct trigger *trigger, const char *reason);
/* Requests a heavy sweep, which reads everything. */
void trigger_heavy(struct trigger *trigger, const char *reason);
/* The same, no more often than rate allows at now_us (microseconds of the loop's clock). A request
 * that a heavy sweep already fulfils that has not begun takes nothing from the rate. False: not
 * requested. */
bool trigger_heavy_paced(struct trigger *trigger, struct rate *rate, uint64_t now_us,
			 const char *reason);
/* Requests a sweep that reads this node. */
void trigger_node(struct trigger *trigger, guid_t guid, const char *reason);
/* Requests a sweep that reads this end port; what: LOOK_PORT, LOOK_DESCRIPTION or both. */
void trigger_port(struct trigger *trigger, guid_t port_guid, uint8_t what, const char *reason);
/* Requests a sweep that computes all routes again. */
void trigger_reroute(struct trigger *trigger, const char *reason);

/* Moves the requests to *out; holds later requests until trigger_release(). */
void trigger_take(struct trigger *trigger, struct trigger *out);
/* A sweep has ended: acts on the requests that were held. */
void trigger_release(struct trigger *trigger);

#endif

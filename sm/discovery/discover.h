/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Discovery: reads agents and fills the live model. There are three kinds of pass:
 *   heavy     begins at our own port and verifies every cable and every port.
 *   light     reads SwitchInfo of each switch, continues where PortStateChange is set, and reads
 *             the targets.
 *   targeted  begins at the targets, and continues where a port came up or bounced.
 * A cable is probed from one end only, because the answer to NodeInfo names the port at the far
 * end. Discovery only reads, with one exception: a MASTER clears PortStateChange before it reads
 * the ports of the switch, so that a later change is visible again. Loop thread only.
 */
#ifndef SM_DISCOVERY_DISCOVER_H
#define SM_DISCOVERY_DISCOVER_H

#include "fabric/fabric.h"
#include "lib/loop.h"
#include "mad/window.h"
#include "sm/options.h"
#include "sm/trigger.h"

struct discover;

struct discover_report {
	unsigned failed;  /* reads without an answer, or refused */
	bool recabled;	  /* a cable was moved */
	bool overwritten; /* another manager has overwritten our settings */
	bool no_local;	  /* our own port did not answer, so the model is unchanged */
	bool want_heavy;  /* it found a case that only a heavy pass can resolve */
};

struct discover_anomalies { /* since the start */
	uint64_t duplicate_guids, self_links, unresponsive, malformed;
};

/* The parameters are borrowed and must outlive the result. */
struct discover *discover_new(struct loop *loop, struct window *window, struct fabric *fabric,
			      const struct sm_options *options);
/* Ends the pass without a call of done(), and frees discover. */
void discover_free(struct discover *discover);

/* Starts a pass; one pass at a time. may_write: this manager is MASTER. done(arg) is called
 * once, deferred, after all answers. By then the model has been updated: missing cables and
 * unreachable nodes are removed, and the tree of routes is built. While our own link is down the
 * model is not changed. */
void discover_start(struct discover *discover, enum discover_kind kind, bool may_write,
		    loop_fn *done, void *arg);
/* Adds a target for the next light or targeted pass, with bits of enum discover_look. Unknown GUIDs
 * are ignored. */
void discover_add(struct discover *discover, guid_t guid, uint8_t what);
/* Lets the pass end without waiting for agents that were silent before. Harmless between
 * passes. */
void discover_hurry(struct discover *discover);
/* The results of the last pass. */
const struct discover_report *discover_report(const struct discover *discover);
/* Counts of anomalies. */
const struct discover_anomalies *discover_anomalies(const struct discover *discover);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Discovery: asks agents what they are and fills the live model. One engine serves every kind of
 * sweep; they differ in where it begins and in what it takes on trust:
 *   full     begins at our own port and verifies every cable and every port;
 *   light    asks each switch for its SwitchInfo, and goes on where PortStateChange is set, and
 *            reads what is named;
 *   named    begins at the nodes and ports named, and goes on where a port came up or bounced.
 * A cable is seen from one end only: the NodeInfo that comes back names the port at the other end.
 * Reads only, but for PortStateChange, which a MASTER clears before it reads the switch's ports, so
 * that a change after that shows again. Loop thread only.
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
	unsigned failed;  /* reads that got no answer, or a refusal */
	bool recabled;	  /* a cable was found to lead elsewhere */
	bool overwritten; /* another manager has written to what we had written */
	bool no_local;	  /* our own port did not answer: nothing was learned or tidied */
	bool want_heavy;  /* it met what only another heavy pass can tell */
};

struct discover_anomalies { /* since the start */
	uint64_t duplicate_guids, self_links, unresponsive, malformed;
};

/* options stay the caller's. */
struct discover *discover_new(struct loop *loop, struct window *window, struct fabric *fabric,
			      const struct sm_options *options);
void discover_free(struct discover *discover);

/* Starts a pass; may_write: we are MASTER. done(arg) is called once, deferred, when all answers are
 * in and the model has been tidied: cables that are gone are cut, nodes out of reach are dropped,
 * the tree of routes is built. While our own link is down it stays as it was. One pass at a time.
 */
void discover_start(struct discover *discover, enum discover_kind kind, bool may_write,
		    loop_fn *done, void *arg);
/* Something for the next pass that is not full to read; unknown GUIDs are left out. what: enum
 * discover_look. */
void discover_add(struct discover *discover, guid_t guid, uint8_t what);
/* Something waits for the end of the pass: it comes without what was silent before and may answer
 * yet. Harmless between passes. */
void discover_hurry(struct discover *discover);
const struct discover_report *discover_report(const struct discover *discover);
const struct discover_anomalies *discover_anomalies(const struct discover *discover);

#endif

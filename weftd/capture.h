/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * `weftctl capture`: streams the MADs that one manager sends and receives, without keys, to clients
 * of the control socket. The queue of each client is limited. Packets that do not fit are dropped
 * and counted, and the client gets their number. Of a message longer than a MAD, the first MAD_SIZE
 * bytes are sent once, because the kernel divides and reassembles it. The manager creates it. Loop
 * thread only.
 */
#ifndef WEFTD_CAPTURE_H
#define WEFTD_CAPTURE_H

#include "lib/control.h"
#include "lib/loop.h"
#include "mad/txn.h"

enum {
	CAPTURES_MAX = 4,	 /* at one time */
	CAPTURE_WAITING = 16384, /* packets that wait for one client */
	CAPTURE_SECONDS_MAX = 86400,
};

struct capture {
	struct loop *loop;
	struct txn_table *txns;
	lid_t (*lid)(const void *ctx); /* of the local port */
	const void *ctx;
	struct list clients;
	unsigned count;
};

/* txns must outlive it. Without clients no MAD is inspected. */
void capture_init(struct capture *capture, struct loop *loop, struct txn_table *txns,
		  lid_t (*lid)(const void *ctx), const void *ctx);
/* Adds the command capture to the control socket. */
void capture_register(struct capture *capture, struct control *control);

#endif

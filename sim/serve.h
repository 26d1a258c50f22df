/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * `weftsim serve`: a world in real time behind a socket. Called by sim/main.c.
 */
#ifndef SIM_SERVE_H
#define SIM_SERVE_H

#include "formats/net.h"
#include "sim/world.h"

struct serve_options {
	const char *socket; /* NULL: where socket_default() says */
	struct world_options world;
};

/* Serves until SIGTERM, SIGINT or SIGHUP; takes over the net and frees it. Returns the exit status;
 * errors are reported on stderr. */
int serve(const struct serve_options *options, struct net *net);

#endif

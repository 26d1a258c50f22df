/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A transport (mad/transport.h) at a port of a simulated world: what umad and the kernel are to a
 * manager on a real machine.
 */
#ifndef TESTS_SIM_TRANSPORT_WORLD_H
#define TESTS_SIM_TRANSPORT_WORLD_H

#include "lib/loop.h"
#include "mad/transport.h"
#include "sim/world.h"

/* Sees each MAD that leaves for the world or comes from it; may be NULL. */
typedef void transport_tap_fn(void *ctx, bool sent, const struct mad_addr *peer, const uint8_t *mad,
			      size_t size);

/* port is copied; its number is that of device's port, 0 for a switch's own. One transport at a
 * port. Closed by transport_close(), before loop and world are freed. */
struct transport *transport_open_world(struct loop *loop, struct world *world,
				       struct device *device, const struct transport_port *port,
				       transport_tap_fn *tap, void *tap_ctx);

/* The device is taken from under it: what is under way never ends. */
void transport_world_remove(struct transport *transport);
/* There is one again, at the same port or another. */
void transport_world_return(struct transport *transport, struct device *device,
			    const struct transport_port *port);

#endif

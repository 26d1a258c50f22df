/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A transport (mad/transport.h) at a port of a simulated world: the counterpart of umad and the
 * kernel on a real machine.
 */
#ifndef TESTS_SIM_TRANSPORT_WORLD_H
#define TESTS_SIM_TRANSPORT_WORLD_H

#include "lib/loop.h"
#include "mad/transport.h"
#include "sim/world.h"

/* Gets each MAD that leaves for the world or comes from it; may be NULL. */
typedef void transport_tap_fn(void *ctx, bool sent, const struct mad_addr *peer, const uint8_t *mad,
			      size_t size);

/* port is copied. Its number is that of a port of device, 0 for a switch's own. One transport at a
 * port. Closed by transport_close(), before loop and world are freed. */
struct transport *transport_open_world(struct loop *loop, struct world *world,
				       struct device *device, const struct transport_port *port,
				       transport_tap_fn *tap, void *tap_ctx);

/* Removes the device: requests under way never end. */
void transport_world_remove(struct transport *transport);
/* Gives it a device again, at the same port or another. */
void transport_world_return(struct transport *transport, struct device *device,
			    const struct transport_port *port);

#endif

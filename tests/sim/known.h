/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Who could have known what, and when: for the watch over circles, which must not blame a manager
 * for what nobody had told it. Three things cannot be known at once. A cable that was moved: until
 * something arrives that shows it, directed routes over it lead to other switches, and what the
 * manager thinks is behind it is not. What another MASTER writes after this one has read it. And
 * what a switch holds whose agent was dead already when this one read all: to become MASTER, or
 * because it was cut off from that switch.
 */
#ifndef TESTS_SIM_KNOWN_H
#define TESTS_SIM_KNOWN_H

#include "sim/world.h"

struct known;

/* Of a Set() that was applied. */
struct origin {
	unsigned manager; /* who sent it, from 1; 0: nobody */
	uint64_t sent_us, applied_us;
	const struct device_port *moved; /* on its way, which nobody had shown then; NULL: none */
};

struct known *known_new(void);
void known_free(struct known *known);

/* What happens: a manager starts (its numbers are from 1) and runs at that device; it sends or
 * receives a MAD; the cable of a port is about to be moved. */
void known_starts(struct known *known, unsigned manager, const struct device *at);
void known_sends(struct known *known, unsigned manager, const uint8_t *mad, uint64_t now_us);
void known_receives(struct known *known, unsigned manager, const uint8_t *mad, uint64_t now_us);
void known_moves(struct known *known, const struct device_port *port);

/* Where the Set() comes from that an agent has just applied; mad: as the agent has it. */
void known_origin(struct known *known, const uint8_t *mad, uint64_t now_us, struct origin *out);
/* Whether the cable of a port was moved and the sender of set could not know it when it sent. */
bool known_is_hidden(const struct known *known, const struct origin *set,
		     const struct device_port *port);
/* Whether what the sender of set read of a device, or told it, was answered by another one, because
 * a cable was moved of which it could not know when it sent. */
bool known_is_misled(const struct known *known, const struct origin *set,
		     const struct device *device);
/* Whether a device has told the sender of set nothing since that read all to become MASTER, or
 * since that read all and no cables led to the device. */
bool known_is_unheard(const struct known *known, const struct origin *set,
		      const struct device *device);
/* Whether set's sender could not know of another Set(), or that it went astray: it is to know what
 * it was told of its own Sets, and what it could read; not what another manager wrote when it was
 * MASTER already. */
bool known_is_unforeseen(const struct known *known, const struct origin *set,
			 const struct origin *other);

#endif

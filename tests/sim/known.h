/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which facts each manager could know, and when. The watch over loops uses this to excuse a manager
 * that no MAD had informed. Three things cannot be known at once:
 * - A moved cable. Until a MAD shows the move, directed routes over the cable lead to other
 *   switches, and the manager takes those for the former switches.
 * - Writes of another MASTER, after this manager has read the fabric.
 * - Tables of a switch whose agent was dead when this manager read the fabric to become MASTER, or
 *   while it was cut off from that switch.
 */
#ifndef TESTS_SIM_KNOWN_H
#define TESTS_SIM_KNOWN_H

#include "sim/world.h"

struct known;

/* Of an applied Set(). */
struct origin {
	unsigned manager; /* the sender, from 1; 0: none */
	uint64_t sent_us, applied_us;
	const struct device_port *moved; /* a moved cable on its route, unknown then; NULL: none */
};

struct known *known_new(void);
void known_free(struct known *known);

/* Events: a manager (numbers begin with 1) starts at a device, sends a MAD or receives a MAD; the
 * cable of a port is about to be moved. */
void known_starts(struct known *known, unsigned manager, const struct device *at);
void known_sends(struct known *known, unsigned manager, const uint8_t *mad, uint64_t now_us);
void known_receives(struct known *known, unsigned manager, const uint8_t *mad, uint64_t now_us);
void known_moves(struct known *known, const struct device_port *port);

/* The origin of the Set() that an agent has just applied; mad: as the agent received it. */
void known_origin(struct known *known, const uint8_t *mad, uint64_t now_us, struct origin *out);
/* Whether the cable of a port was moved, and the sender of set did not know of it when it sent. */
bool known_is_hidden(const struct known *known, const struct origin *set,
		     const struct device_port *port);
/* Whether another device answered requests that the sender of set meant for device, because of a
 * moved cable that the sender did not know of when it sent. */
bool known_is_misled(const struct known *known, const struct origin *set,
		     const struct device *device);
/* Whether the sender of set has neither read nor written the multicast table of device since it
 * began to read the fabric, to become MASTER, or since no cables led to the device. */
bool known_is_unread(const struct known *known, const struct origin *set,
		     const struct device *device);
/* Whether a manager has links to device. Otherwise no manager can repair its tables. */
bool known_is_reached(const struct known *known, const struct device *device);
/* Whether the sender of set could not know of another Set(), or that it reached another switch. It
 * must know the answers to its own Sets, and everything it could read. It need not know a Set() of
 * another manager that was applied after it began to read as MASTER. */
bool known_is_unforeseen(const struct known *known, const struct origin *set,
			 const struct origin *other);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The server's end of the rings that it shares with the program of an open umad device
 * (sim/wire.h). The program can write anything anywhere in them at any time: so places that are the
 * server's are kept here, and what is taken is copied before it is looked at.
 */
#ifndef SIM_RINGS_H
#define SIM_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/wire.h"

struct rings {
	struct wire_rings *shared; /* NULL: there are none */
	uint32_t head;		   /* of to_server */
	uint32_t tail;		   /* of to_program; what is put is seen when it is published */
};

/* Makes rings and the sealed file for the program, which is the caller's; -errno. */
int rings_init(struct rings *rings, int *file);
void rings_done(struct rings *rings);

/* For the program, as one record of size bytes that announces whole ones: 0, or -EAGAIN when there
 * is no room, for which the program then sends a token; -EPROTO when the program spoils its rings.
 */
int rings_put(struct rings *rings, const uint8_t *umad, size_t size, size_t whole);
/* Shows the program what was put: whether it needs a token. */
bool rings_publish(struct rings *rings);

/* From the program, a copy into room bytes: its size, -EAGAIN: nothing is there, or -EPROTO. */
int rings_take(struct rings *rings, uint8_t *umad, size_t room);
/* Gives back the room of what was taken. */
void rings_give_back(struct rings *rings);
/* To be called when nothing was left and the room was given back: what comes after this is
 * announced by a token. Whether something has come before it: then no token does. */
bool rings_rest(struct rings *rings);

#endif

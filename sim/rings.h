/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The server's end of the rings that it shares with the program of an open umad device
 * (sim/wire.h). The program can write to any part of them at any time. So the server's positions
 * are kept here, and records are copied before they are checked.
 */
#ifndef SIM_RINGS_H
#define SIM_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/wire.h"

struct rings {
	struct wire_rings *shared; /* NULL: none */
	uint32_t head;		   /* of to_server */
	/* Of to_program; records become visible when they are published. */
	uint32_t tail;
};

/* Makes rings, and the sealed file for the program, which the caller owns. route_port: as in struct
 * wire_rings. Returns 0 or -errno. */
int rings_init(struct rings *rings, uint8_t route_port, int *file);
/* Unmaps the rings; harmless if there are none. */
void rings_done(struct rings *rings);

/* A MAD with this TID has ended, or was refused: wire_needs_verdict(). */
void rings_tid_ended(struct rings *rings, uint32_t tid);

/* Writes a record of size bytes for the program, which announces whole bytes. Returns 0; -EAGAIN:
 * there is no room, and the program sends a token when there is; -EPROTO: the program damaged its
 * rings. */
int rings_put(struct rings *rings, const uint8_t *umad, size_t size, size_t whole);
/* Shows the program all records. True: it needs a token. */
bool rings_publish(struct rings *rings);

/* Copies a record of the program into room bytes. Returns its size, -EAGAIN: there is none, or
 * -EPROTO. */
int rings_take(struct rings *rings, uint8_t *umad, size_t room);
/* Frees the room of the records that were taken. */
void rings_give_back(struct rings *rings);
/* Call it when no record was left and the room was freed. False: the next record is announced by a
 * token. True: a record arrived before this call, and has no token. */
bool rings_rest(struct rings *rings);

#endif

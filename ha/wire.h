/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The protocol between a master and its standby (ha/replica.h): frames on a stream. A frame is a
 * head (the body's size and a type, 4 bytes each) and a body; numbers are big-endian. Records are
 * the bytes that the store keeps, by the formats of store/registry.h; rows of tables are those of
 * fabric/table_cache.h.
 *
 *	standby				master
 *	HELLO  its position ->
 *			    <-		HELLO  its identity, or REFUSE  reason
 *			    <-		SNAPSHOT, RECORDS..., CHANGES..., WHOLE: a full copy
 *			    <-		CHANGES: in order, from its position on
 *			    <-		TABLE: a forwarding table of a switch
 *			    <-		HEARTBEAT: no changes, and whether changes wait for an ACK
 *	ACK    its position ->
 *
 * All checks that need no state are here. Pure functions, any thread.
 */
#ifndef HA_WIRE_H
#define HA_WIRE_H

#include "lib/mem.h"
#include "store/registry.h"

enum {
	FRAME_VERSION = 6,
	FRAME_HEAD_SIZE = 8,
	FRAME_BODY_MAX = 64 * 1024,
	FRAME_CONFIG_MAX = 4096,
	FRAME_WHY_SIZE = 256,
	FRAME_CHANGES_MAX = 1024, /* of one batch: as many as are put in one turn of the loop */
};

enum frame_type {
	FRAME_HELLO = 1,
	FRAME_REFUSE,
	FRAME_SNAPSHOT,
	FRAME_RECORDS,
	FRAME_CHANGES,
	FRAME_WHOLE,
	FRAME_TABLE,
	FRAME_HEARTBEAT,
	FRAME_ACK,
	FRAME_TYPES, /* one more than the highest */
};

struct frame {
	enum frame_type type;
	const uint8_t *body; /* borrowed */
	size_t size;
};

/* Writing: begin a frame, fill it, end it; then bytes and size are ready to send. */
struct frame_out {
	size_t size;
	uint8_t bytes[FRAME_HEAD_SIZE + FRAME_BODY_MAX];
};

/* Begins a frame of this type in an empty buffer. */
void frame_begin(struct frame_out *out, enum frame_type type);
/* Appends a number of 8 bytes to the body. */
void frame_number(struct frame_out *out, uint64_t number);
/* Appends bytes to the body; the sum must fit FRAME_BODY_MAX. */
void frame_bytes(struct frame_out *out, const void *bytes, size_t size);
/* Extends the body by size bytes, which the caller must fill now. */
uint8_t *frame_room(struct frame_out *out, size_t size);
/* Completes the head: out->bytes and out->size are ready to send. */
void frame_end(struct frame_out *out);

/* Reading: what has come of a frame that is not whole yet. */
struct frame_in {
	size_t have;
	uint8_t bytes[FRAME_HEAD_SIZE + FRAME_BODY_MAX];
};

/* Takes received bytes and calls take() for each complete frame, until take() returns false. A
 * body has a size that is valid for its type, and is never empty. -EPROTO: a head has an invalid
 * type or size; the rest of the stream is then lost. */
int frame_take(struct frame_in *in, const uint8_t *bytes, size_t size,
	       bool (*take)(void *ctx, const struct frame *frame), void *ctx);

/* HELLO: the sender, its history, and its position in it. */
struct hello {
	uint8_t role;	      /* enum sm_state */
	uint8_t copies;	      /* enum ha_copies: what the sender accepts or sends */
	guid_t guid;	      /* of its port */
	uint64_t incarnation; /* of the registry's history; 0: none */
	uint64_t number;      /* of the last change of it */
	/* Options on which managers of a subnet should agree: lines "NAME = VALUE;". Lines that
	 * begin with "!" must be equal. */
	char config[FRAME_CONFIG_MAX];
};

/* Writes a whole HELLO frame to out. */
void hello_put(struct frame_out *out, const struct hello *hello);
/* Returns 0, or -errno with the reason in why: -EPROTONOSUPPORT for another version, -EPROTO if
 * the peer is not a weftd. */
int hello_get(const struct frame *frame, struct hello *hello, char why[FRAME_WHY_SIZE]);
/* Replaces bytes that cannot be printed in a text from another manager. */
void wire_clean(char *text);
/* Finds the first difference of two configurations; a line that must agree has precedence
 * (must). False: they are equal. */
bool hello_differs(const char *ours, const char *theirs, bool *must, char why[FRAME_WHY_SIZE]);

/* RECORDS and CHANGES */

struct wire_change {
	enum registry_kind kind;
	bool drop;
	const void *record; /* of which a drop has only the members that identify it */
	/* A change whose record this standby does not get: only its number counts. No other member
	 * is valid. */
	bool skipped;
};

/* first: the number of its first change. */
void changes_begin(struct frame_out *out, enum frame_type type, uint64_t first);
/* False when there is no room for it: then it belongs into the next frame. */
bool changes_add(struct frame_out *out, const struct wire_change *change);
/* ends: the batch ends with it. */
void changes_end(struct frame_out *out, bool ends);

struct wire_changes {
	uint64_t first;
	uint32_t count;
	bool ends;
	const struct frame *frame; /* borrowed */
	size_t at;
};

/* 0, or -EPROTO. */
int changes_open(const struct frame *frame, struct wire_changes *changes);
/* Decodes the next change, count times; its record is in the arena. 0, or -EPROTO with the
 * reason in why: the rest cannot be read. */
int changes_next(struct wire_changes *changes, struct arena *arena, struct wire_change *out,
		 char why[FRAME_WHY_SIZE]);

/* SNAPSHOT, WHOLE, BEAT and ACK: so many numbers. False: the frame has another size. */
bool frame_numbers(const struct frame *frame, size_t count, uint64_t *numbers);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A queue of records in memory that two processes share: one puts, the other takes. The server and
 * the preload library have one each way for an open umad device (sim/wire.h), so that most MADs
 * cost no system call; both are built from this header, which needs libc alone.
 *
 * Who takes may sleep, or have others wait with poll() on a socket: a token, which is a message on
 * that socket, is there exactly while the queue is not empty. The tail has a bit which says that
 * the token was sent, or is about to be: who puts sends one when it sets the bit, who finds the
 * queue empty clears the bit in the same step and takes the token back. So a busy queue passes no
 * tokens.
 *
 * Neither end believes the other: places and sizes are checked, and what the other end might still
 * change is for the reader to copy before it looks at it. Each end keeps the place that it owns
 * where the other cannot write, if it has to do with a stranger.
 */
#ifndef SIM_RING_H
#define SIM_RING_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RING_BYTES = 1 << 18, /* a power of 2 */
	RING_ALIGNMENT = 8,
	RING_RECORD_MAX = RING_BYTES / 4, /* fits whatever is where */
	RING_TOLD = 1,			  /* in the tail, whose place is a multiple of 8 */
};

/* Places count bytes for ever; their remainder is where in bytes[] they are. */
struct ring {
	_Alignas(64) atomic_uint tail;	     /* of who puts: the end of what is to be taken */
	_Alignas(64) atomic_uint head;	     /* of who takes: its begin */
	_Alignas(64) atomic_uint wants_room; /* who puts waits for head to move */
	_Alignas(64) uint8_t bytes[RING_BYTES];
};

/* Before the bytes of each record. Size 0: what follows up to the end of bytes[] is not used. */
struct ring_record {
	uint32_t size;
	uint32_t whole; /* as who puts has it; not looked at here */
};

static inline uint32_t ring_need(uint32_t size)
{
	return (sizeof(struct ring_record) + size + RING_ALIGNMENT - 1) & ~(RING_ALIGNMENT - 1u);
}

/* Where the bytes of a next record may be put, with its head written and *tail behind it: nothing
 * is to be seen of it before ring_publish(). -EAGAIN: no room now; -EPROTO: the other end's place
 * cannot be. size is at most RING_RECORD_MAX. */
static inline int ring_reserve(struct ring *ring, uint32_t *tail, struct ring_record record,
			       uint8_t **bytes)
{
	uint32_t head = atomic_load(&ring->head);
	uint32_t at = *tail % RING_BYTES, need = ring_need(record.size);
	uint32_t skipped = at + need > RING_BYTES ? RING_BYTES - at : 0;

	if (*tail - head > RING_BYTES)
		return -EPROTO;
	if (RING_BYTES - (*tail - head) < skipped + need)
		return -EAGAIN;
	if (skipped)
		*(struct ring_record *)(ring->bytes + at) = (struct ring_record){0};
	*tail += skipped;
	at = *tail % RING_BYTES;
	*(struct ring_record *)(ring->bytes + at) = record;
	*bytes = ring->bytes + at + sizeof(record);
	*tail += need;
	return 0;
}

/* For an end that keeps no tail of its own. */
static inline uint32_t ring_tail(struct ring *ring)
{
	return atomic_load_explicit(&ring->tail, memory_order_relaxed) & ~RING_TOLD;
}

/* Lets the other end see what is before tail. Whether it has to be sent a token. */
static inline bool ring_publish(struct ring *ring, uint32_t tail)
{
	return !(atomic_exchange(&ring->tail, tail | RING_TOLD) & RING_TOLD);
}

/* The record at *head and where its bytes are, with *head behind it; it is the taker's until
 * ring_release(). -EAGAIN: there is none; -EPROTO: what is there cannot be. */
static inline int ring_take(struct ring *ring, uint32_t *head, struct ring_record *record,
			    const uint8_t **bytes)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire) & ~RING_TOLD;
	uint32_t left, at, need;

	for (;;) {
		left = tail - *head;
		at = *head % RING_BYTES;
		if (!left)
			return -EAGAIN;
		if (left > RING_BYTES || left % RING_ALIGNMENT || at % RING_ALIGNMENT)
			return -EPROTO;
		*record = *(const volatile struct ring_record *)(ring->bytes + at);
		if (record->size)
			break;
		if (left < RING_BYTES - at)
			return -EPROTO;
		*head += RING_BYTES - at;
	}
	if (record->size > RING_RECORD_MAX)
		return -EPROTO;
	need = ring_need(record->size);
	if (need > left || need > RING_BYTES - at)
		return -EPROTO;
	*bytes = ring->bytes + at + sizeof(*record);
	*head += need;
	return 0;
}

/* Gives the room before head back. Whether who puts has asked to be told: it is answered once, and
 * not before there is plenty. */
static inline bool ring_release(struct ring *ring, uint32_t head)
{
	uint32_t tail = ring_tail(ring);

	atomic_store(&ring->head, head);
	return atomic_load(&ring->wants_room) && tail - head <= RING_BYTES / 2 &&
	       atomic_exchange(&ring->wants_room, 0);
}

/* To be told when there is room; what was published before may have been taken meanwhile, so try
 * once more after this. */
static inline void ring_want_room(struct ring *ring)
{
	atomic_store(&ring->wants_room, 1);
}

/* To be called when everything before head was taken: whether there is nothing behind, and a token
 * to be taken back, which may still be on its way. */
static inline bool ring_rest(struct ring *ring, uint32_t head)
{
	uint32_t tail = head | RING_TOLD;

	return atomic_compare_exchange_strong(&ring->tail, &tail, head);
}

#endif

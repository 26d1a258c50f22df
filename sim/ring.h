/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A queue of records in memory that two processes share: a writer and a reader. The server and the
 * preload library have a queue in each direction for an open umad device (sim/wire.h), so that most
 * MADs cost no system call. Both are built from this header, which needs only libc.
 *
 * The reader may sleep, or its program may use poll() on a socket: a token, which is a message on
 * that socket, exists exactly while the queue is not empty. A bit in the tail says that the token
 * was sent, or will be. The writer sends a token when it sets the bit; a reader that finds the
 * queue empty clears the bit in the same step and takes the token back. So a busy queue exchanges
 * no tokens.
 *
 * Neither end trusts the other: positions and sizes are checked, and a reader copies data that the
 * other end could still change before it checks them. If the other end is not trusted, each end
 * keeps its own position in private memory.
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
	RING_RECORD_MAX = RING_BYTES / 4, /* larger than any record in use */
	/* A bit of the tail, whose position is a multiple of 8: the token was sent. */
	RING_TOLD = 1,
};

/* Positions count bytes without limit; modulo RING_BYTES they are indexes of bytes[]. */
struct ring {
	_Alignas(64) atomic_uint tail;	     /* written by the writer: the end of the records */
	_Alignas(64) atomic_uint head;	     /* written by the reader: the start of the records */
	_Alignas(64) atomic_uint wants_room; /* the writer waits until head moves */
	_Alignas(64) uint8_t bytes[RING_BYTES];
};

/* Before the bytes of each record. Size 0: the rest of bytes[] is not used. */
struct ring_record {
	uint32_t size;
	uint32_t whole; /* the writer's value; not interpreted here */
};

static inline uint32_t ring_need(uint32_t size)
{
	return (sizeof(struct ring_record) + size + RING_ALIGNMENT - 1) & ~(RING_ALIGNMENT - 1u);
}

/* Reserves room for a record, writes its header and moves *tail behind it; the reader sees nothing
 * before ring_publish(). -EAGAIN: no room now; -EPROTO: the other end's position is invalid. size
 * is at most RING_RECORD_MAX. */
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

/* For a writer that keeps no tail of its own. */
static inline uint32_t ring_tail(struct ring *ring)
{
	return atomic_load_explicit(&ring->tail, memory_order_relaxed) & ~RING_TOLD;
}

/* Shows the reader all records before tail. True: a token must be sent. */
static inline bool ring_publish(struct ring *ring, uint32_t tail)
{
	return !(atomic_exchange(&ring->tail, tail | RING_TOLD) & RING_TOLD);
}

/* Returns the record at *head and its bytes, and moves *head behind it; it belongs to the reader
 * until ring_release(). -EAGAIN: there is none; -EPROTO: the ring is invalid. */
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

/* Frees the room before head. True: the writer waits for room and must be notified; returned once
 * per request, and only when half of the ring is free. */
static inline bool ring_release(struct ring *ring, uint32_t head)
{
	uint32_t tail = ring_tail(ring);

	atomic_store(&ring->head, head);
	return atomic_load(&ring->wants_room) && tail - head <= RING_BYTES / 2 &&
	       atomic_exchange(&ring->wants_room, 0);
}

/* Requests a notice when there is room. The reader may have freed room just before, so try again
 * after this. */
static inline void ring_want_room(struct ring *ring)
{
	atomic_store(&ring->wants_room, 1);
}

/* Call it after all records before head were read. True: there are no more, and a token must be
 * taken back, which may still be on its way. */
static inline bool ring_rest(struct ring *ring, uint32_t head)
{
	uint32_t tail = head | RING_TOLD;

	return atomic_compare_exchange_strong(&ring->tail, &tail, head);
}

#endif

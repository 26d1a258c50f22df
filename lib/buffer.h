/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A byte queue: bytes are appended at the end and consumed from the front. It holds output that
 * waits to be sent, and input that is not complete yet. The owner of the struct frees bytes.
 */
#ifndef LIB_BUFFER_H
#define LIB_BUFFER_H

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

/* All zero is an empty buffer. */
struct buffer {
	char *bytes;
	size_t begin, end, capacity;
	size_t scanned; /* no newline before this place: buffer_line() */
};

static inline size_t buffer_length(const struct buffer *buffer)
{
	return buffer->end - buffer->begin;
}

/* Makes room for size bytes at the end and returns it. The caller then adds to end the bytes that
 * it wrote. */
static inline char *buffer_reserve(struct buffer *buffer, size_t size)
{
	size_t length = buffer_length(buffer);

	if (buffer->capacity - buffer->end >= size)
		return buffer->bytes + buffer->end;
	if (buffer->begin) {
		memmove(buffer->bytes, buffer->bytes + buffer->begin, length);
		buffer->scanned -= buffer->begin;
		buffer->begin = 0;
		buffer->end = length;
	}
	if (buffer->capacity - length < size) {
		buffer->capacity = 2 * length + size;
		buffer->bytes = mem_resize(buffer->bytes, buffer->capacity, 1);
	}
	return buffer->bytes + buffer->end;
}

static inline void buffer_append(struct buffer *buffer, const char *bytes, size_t size)
{
	memcpy(buffer_reserve(buffer, size), bytes, size);
	buffer->end += size;
}

/* Frees the memory with the last byte, because most buffers are empty most of the time. */
static inline void buffer_consume(struct buffer *buffer, size_t size)
{
	buffer->begin += size;
	if (buffer->scanned < buffer->begin)
		buffer->scanned = buffer->begin;
	if (buffer->begin < buffer->end)
		return;
	free(buffer->bytes);
	*buffer = (struct buffer){0};
}

/* The first whole line and its length without the newline, or NULL. Consume length + 1 bytes. */
static inline char *buffer_line(struct buffer *buffer, size_t *length)
{
	char *newline = NULL;

	if (buffer->end > buffer->scanned)
		newline = memchr(buffer->bytes + buffer->scanned, '\n',
				 buffer->end - buffer->scanned);
	if (!newline) {
		buffer->scanned = buffer->end;
		return NULL;
	}
	buffer->scanned = (size_t)(newline - buffer->bytes);
	*length = buffer->scanned - buffer->begin;
	return buffer->bytes + buffer->begin;
}

#endif

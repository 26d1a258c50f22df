/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Outgoing messages in blocks: a block is a row of (size, bytes), read from its front and written
 * at its end. A message longer than a block has a block of its own. Called by the connections of
 * sim/serve.c, on its one thread.
 */
#include "sim/outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/mem.h"

enum { BLOCK_SIZE = 64 << 10, BATCH = 64, ALIGNMENT = 8 };

struct outbox_block {
	struct outbox_block *next;
	size_t begin, end, size;
	_Alignas(ALIGNMENT) uint8_t bytes[];
};

struct message {
	size_t size;
	uint8_t bytes[];
};

static size_t room_for(size_t size)
{
	return (sizeof(struct message) + size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static struct outbox_block *block_add(struct outbox *outbox, size_t need)
{
	size_t room = BLOCK_SIZE - sizeof(struct outbox_block);
	struct outbox_block *block;

	if (room < need)
		room = need;
	block = mem_alloc(sizeof(*block) + room);
	block->next = NULL;
	block->begin = block->end = 0;
	block->size = room;
	if (outbox->last)
		outbox->last->next = block;
	else
		outbox->first = block;
	outbox->last = block;
	return block;
}

void outbox_put(struct outbox *outbox, const void *bytes, size_t size)
{
	struct outbox_block *block = outbox->last;
	size_t need = room_for(size);
	struct message *message;

	if (!block || block->size - block->end < need)
		block = block_add(outbox, need);
	message = (struct message *)(block->bytes + block->end);
	message->size = size;
	memcpy(message->bytes, bytes, size);
	block->end += need;
	outbox->count++;
	outbox->bytes += size;
}

static void block_drop(struct outbox *outbox)
{
	struct outbox_block *block = outbox->first;

	outbox->first = block->next;
	if (!outbox->first)
		outbox->last = NULL;
	free(block);
}

void outbox_done(struct outbox *outbox)
{
	while (outbox->first)
		block_drop(outbox);
	outbox->count = 0;
	outbox->bytes = 0;
}

static struct message *message_at(const struct outbox_block *block, size_t place)
{
	return place < block->end ? (struct message *)(block->bytes + place) : NULL;
}

/* Takes out the first messages. */
static void outbox_remove(struct outbox *outbox, unsigned messages)
{
	outbox->count -= messages;
	while (messages--) {
		struct outbox_block *block = outbox->first;
		size_t size = message_at(block, block->begin)->size;

		outbox->bytes -= size;
		block->begin += room_for(size);
		if (block->begin == block->end)
			block_drop(outbox);
	}
}

/* Returns the number of sent messages, or -errno. A batch ends with its block. */
static int send_batch(struct outbox *outbox, int fd)
{
	const struct outbox_block *block = outbox->first;
	size_t place = block->begin;
	struct mmsghdr headers[BATCH];
	struct iovec parts[BATCH];
	struct message *message;
	unsigned count = 0;
	int sent;

	for (; count < BATCH && (message = message_at(block, place)); count++) {
		parts[count] = (struct iovec){message->bytes, message->size};
		headers[count] =
			(struct mmsghdr){.msg_hdr = {.msg_iov = &parts[count], .msg_iovlen = 1}};
		place += room_for(message->size);
	}
	sent = sendmmsg(fd, headers, count, MSG_DONTWAIT | MSG_NOSIGNAL);
	return sent < 0 ? -errno : sent;
}

int outbox_flush(struct outbox *outbox, int fd)
{
	while (outbox->first) {
		int sent = send_batch(outbox, fd);

		if (sent < 0)
			return sent;
		outbox_remove(outbox, sent);
	}
	return 0;
}

const uint8_t *outbox_first(const struct outbox *outbox, size_t *size)
{
	const struct message *message;

	if (!outbox->first)
		return NULL;
	message = message_at(outbox->first, outbox->first->begin);
	*size = message->size;
	return message->bytes;
}

void outbox_drop_first(struct outbox *outbox)
{
	outbox_remove(outbox, 1);
}

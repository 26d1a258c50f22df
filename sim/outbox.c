/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Outgoing messages in blocks: a block is a row of (size, bytes), read from its begin and written
 * at its end; a message longer than a block's room has a block of its own. Called by the
 * connections of sim/serve.c, on its one thread.
 */
#include "sim/outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "include/iba.h"
#include "lib/mem.h"
#include "sim/kernel.h"
#include "sim/wire.h"

enum {
	BLOCK_SIZE = 64 << 10,
	BATCH = 64,
	ALIGNMENT = 8,
	BEGINNING = KERNEL_HEADER_SIZE + MAD_SIZE
};

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
}

static struct message *message_at(const struct outbox_block *block, size_t place)
{
	return place < block->end ? (struct message *)(block->bytes + place) : NULL;
}

static bool is_long(const struct message *message)
{
	return message->size > KERNEL_HEADER_SIZE + WIRE_INLINE_MAX;
}

/* Takes out the first messages. */
static void take(struct outbox *outbox, unsigned messages)
{
	outbox->count -= messages;
	while (messages--) {
		struct outbox_block *block = outbox->first;

		block->begin += room_for(message_at(block, block->begin)->size);
		if (block->begin == block->end)
			block_drop(outbox);
	}
}

/* How many were sent, or -errno. The batch ends with the block, or before a long message. */
static int send_short(struct outbox *outbox, int fd)
{
	const struct outbox_block *block = outbox->first;
	size_t place = block->begin;
	struct mmsghdr headers[BATCH];
	struct iovec parts[BATCH];
	struct message *message;
	unsigned count = 0;
	int sent;

	for (; count < BATCH && (message = message_at(block, place)) && !is_long(message);
	     count++) {
		parts[count] = (struct iovec){message->bytes, message->size};
		headers[count] =
			(struct mmsghdr){.msg_hdr = {.msg_iov = &parts[count], .msg_iovlen = 1}};
		place += room_for(message->size);
	}
	sent = sendmmsg(fd, headers, count, MSG_DONTWAIT | MSG_NOSIGNAL);
	return sent < 0 ? -errno : sent;
}

/* The MAD without the header as a file that nobody can change; -1 when there is none to be had. */
static int sealed_file(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("mad", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	for (size_t done = 0; fd >= 0 && done < size;) {
		ssize_t wrote = write(fd, bytes + done, size - done);

		if (wrote > 0) {
			done += wrote;
			continue;
		}
		close(fd);
		fd = -1;
	}
	if (fd >= 0)
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
	return fd;
}

/* As send_short(). Without descriptors to spare the message is lost, as one is in a full queue. */
static int send_long(struct outbox *outbox, int fd)
{
	struct message *message = message_at(outbox->first, outbox->first->begin);
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec part = {message->bytes, BEGINNING};
	const struct msghdr header = {.msg_iov = &part,
				      .msg_iovlen = 1,
				      .msg_control = &control,
				      .msg_controllen = sizeof(control)};
	int file = sealed_file(message->bytes + KERNEL_HEADER_SIZE,
			       message->size - KERNEL_HEADER_SIZE);
	int r = 1;

	if (file < 0)
		return r;
	control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
					  .cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
	if (sendmsg(fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno != ETOOMANYREFS)
		r = -errno;
	close(file);
	return r;
}

int outbox_flush(struct outbox *outbox, int fd)
{
	while (outbox->first) {
		bool long_first = is_long(message_at(outbox->first, outbox->first->begin));
		int sent = long_first ? send_long(outbox, fd) : send_short(outbox, fd);

		if (sent < 0)
			return sent;
		take(outbox, sent);
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * read() and write() of an open umad device, over the connection that it is: a message each, with
 * the sizes and refusals of Linux (drivers/infiniband/core/user_mad.c). A message is 64 bytes of
 * header and the MAD; programs that did not ask for pkey_index see the first 56 of them. MADs that
 * are too long for a message come and go in memory files.
 *
 * A read() must know how long the next message is before it takes it, for one that does not fit
 * stays in the queue. So looking and taking are one step, under the device's lock; neither blocks,
 * and the wait for a first message is outside.
 */
#include <errno.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "preload/device.h"
#include "preload/next.h"

enum {
	HEADER_SIZE = sizeof(struct ib_user_mad_hdr),
	SHORT_HEADER_SIZE = sizeof(struct ib_user_mad_hdr_old),
	MAD_SIZE = 256,
	RMPP_HEADER_SIZE = 36, /* with the header of the MAD; less cannot be written */
	CLASS_OFFSET = 1,
	RMPP_FLAGS_OFFSET = 26,
	RMPP_ACTIVE = 1,
	LONG_MAX = 64 << 20, /* of a MAD in a memory file */
};

/* Room for one descriptor beside a message. */
union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

static int fails(int err)
{
	errno = -err;
	return -1;
}

static size_t header_size(struct device *device)
{
	return atomic_load_explicit(&device->has_pkey, memory_order_relaxed) ? HEADER_SIZE
									     : SHORT_HEADER_SIZE;
}

/* Reading */

/* What the next message is, as looked at without taking it. */
struct waiting {
	struct ib_user_mad_hdr header;
	size_t mad_size; /* all of it */
	bool in_file;
};

/* 0; -EAGAIN: nothing there; -EIO: the server is gone, as a device that was pulled. */
static int look(int fd, struct waiting *waiting)
{
	ssize_t size = recv(fd, &waiting->header, HEADER_SIZE, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);

	if (size < 0)
		return errno == EAGAIN ? -EAGAIN : -EIO;
	if (size < HEADER_SIZE)
		return -EIO;
	waiting->mad_size = size - HEADER_SIZE;
	/* A time-out brings back the header as it was written, whatever it says of length. */
	waiting->in_file = !waiting->header.status && waiting->mad_size == MAD_SIZE &&
			   waiting->header.length > HEADER_SIZE + WIRE_INLINE_MAX;
	if (waiting->in_file)
		waiting->mad_size = waiting->header.length - HEADER_SIZE;
	return waiting->mad_size > LONG_MAX ? -EIO : 0;
}

/* A header as this program knows it, which differs in how long it is. */
static void put_header(struct ib_user_mad_hdr *header, size_t header_size, void *buf)
{
	if (!header->status)
		header->length -= HEADER_SIZE - header_size;
	memcpy(buf, header, header_size);
}

static int file_of(struct msghdr *message)
{
	struct cmsghdr *part = CMSG_FIRSTHDR(message);
	int fd;

	if (!part || part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS ||
	    part->cmsg_len != CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&fd, CMSG_DATA(part), sizeof(fd));
	return fd;
}

static int read_file(int file, char *mad, size_t size)
{
	size_t done = 0;
	ssize_t got;

	while (done < size) {
		got = pread(file, mad + done, size - done, done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 && errno == EFAULT ? -EFAULT : -EIO;
		done += got;
	}
	return 0;
}

/* Takes the message that was looked at; its MAD fits into buf behind the header. */
static int take(int fd, struct waiting *waiting, size_t header_size, char *buf)
{
	size_t here = waiting->in_file ? MAD_SIZE : waiting->mad_size;
	struct iovec parts[] = {{&waiting->header, HEADER_SIZE}, {buf + header_size, here}};
	union control control;
	struct msghdr message = {.msg_iov = parts,
				 .msg_iovlen = 2,
				 .msg_control = waiting->in_file ? &control : NULL,
				 .msg_controllen = waiting->in_file ? sizeof(control) : 0};
	int err = 0, file = -1;

	if (recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return errno == EFAULT ? -EFAULT : -EIO;
	if (waiting->in_file) {
		file = file_of(&message);
		err = file < 0 ? -EIO : read_file(file, buf + header_size, waiting->mad_size);
	}
	if (file >= 0)
		next()->close(file);
	if (!err)
		put_header(&waiting->header, header_size, buf);
	return err;
}

/* Gives what fits of a message that does not, which stays: the header, which says how much it
 * needs, and the first segment. */
static int show(int fd, struct waiting *waiting, size_t header_size, char *buf)
{
	struct iovec parts[] = {{&waiting->header, HEADER_SIZE}, {buf + header_size, MAD_SIZE}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	if (recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT) < 0)
		return errno == EFAULT ? -EFAULT : -EIO;
	put_header(&waiting->header, header_size, buf);
	return -ENOSPC;
}

/* The bytes read, or -errno; -EAGAIN when nothing is there. */
static ssize_t read_one(int fd, size_t header_size, char *buf, size_t count)
{
	struct waiting waiting;
	size_t first;
	int err = look(fd, &waiting);

	if (err)
		return err;
	first = waiting.mad_size < MAD_SIZE ? waiting.mad_size : MAD_SIZE;
	if (count < header_size + first)
		return -EINVAL;
	if (count < header_size + waiting.mad_size)
		return show(fd, &waiting, header_size, buf);
	err = take(fd, &waiting, header_size, buf);
	return err ? err : (ssize_t)(header_size + waiting.mad_size);
}

/* Waits for a message unless the descriptor is not to block: -EAGAIN then. */
static int wait_readable(int fd)
{
	int flags = next()->fcntl(fd, F_GETFL);
	char byte;

	if (flags < 0)
		return -errno;
	if (flags & O_NONBLOCK)
		return -EAGAIN;
	return recv(fd, &byte, 1, MSG_PEEK) < 0 && errno != EAGAIN ? -errno : 0;
}

ssize_t device_read(struct device *device, int fd, void *buf, size_t count)
{
	size_t size = header_size(device);
	int before = errno;
	ssize_t got;

	if (device->kind != WIRE_UMAD || count < size)
		return fails(-EINVAL);
	for (;;) {
		pthread_mutex_lock(&device->reading);
		got = read_one(fd, size, buf, count);
		pthread_mutex_unlock(&device->reading);
		if (got == -EAGAIN)
			got = wait_readable(fd);
		if (got < 0)
			return fails(got);
		if (got > 0)
			break;
	}
	errno = before;
	return got;
}

/* Writing */

static bool class_has_rmpp(uint8_t mgmt_class)
{
	return mgmt_class == 0x03 || mgmt_class == 0x06 || mgmt_class == 0x10 ||
	       mgmt_class == 0x12 || (mgmt_class >= 0x30 && mgmt_class <= 0x4f);
}

/* What can be refused without asking: the rest the server counts, for a message has no answer. */
static int may_write(struct device *device, const struct ib_user_mad_hdr *header,
		     const uint8_t *mad, size_t mad_size)
{
	bool by_kernel, active;

	if (header->id >= DEVICE_AGENTS_MAX || !(atomic_load(&device->agents) & 1u << header->id))
		return -EINVAL;
	by_kernel = atomic_load(&device->rmpp_agents) & 1u << header->id;
	active = by_kernel && class_has_rmpp(mad[CLASS_OFFSET]) &&
		 (mad[RMPP_FLAGS_OFFSET] & RMPP_ACTIVE);
	if (!active)
		return mad_size > MAD_SIZE ? -EINVAL : 0;
	return mad_size > LONG_MAX ? -ENOMEM : 0;
}

/* A sealed memory file with the MAD, or -errno. */
static int make_file(const uint8_t *mad, size_t size)
{
	int fd = memfd_create("weftsim-mad", MFD_CLOEXEC | MFD_ALLOW_SEALING), err = 0;
	size_t done = 0;
	ssize_t put;

	if (fd < 0)
		return -ENOMEM;
	while (done < size && !err) {
		put = pwrite(fd, mad + done, size - done, done);
		if (put > 0)
			done += put;
		else if (errno != EINTR)
			err = errno == EFAULT ? -EFAULT : -ENOMEM;
	}
	if (!err && next()->fcntl(fd, F_ADD_SEALS,
				  F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE))
		err = -ENOMEM;
	if (err) {
		next()->close(fd);
		return err;
	}
	return fd;
}

/* A write() to a device never waits for a reader and never fails for want of room: while the server
 * is behind, neither does this return. */
static int send_message(int fd, const struct msghdr *message)
{
	struct pollfd ready = {.fd = fd, .events = POLLOUT};

	while (sendmsg(fd, message, MSG_NOSIGNAL) < 0) {
		if (errno == EFAULT)
			return -EFAULT;
		if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS)
			return -EIO;
		poll(&ready, 1, 1000);
	}
	return 0;
}

static int send_mad(int fd, const struct ib_user_mad_hdr *header, const uint8_t *mad, size_t size)
{
	bool in_file = size > WIRE_INLINE_MAX;
	struct iovec parts[] = {{(void *)header, HEADER_SIZE},
				{(void *)mad, in_file ? MAD_SIZE : size}};
	union control control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
					    .cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	int file, err;

	if (!in_file)
		return send_message(fd, &message);
	file = make_file(mad, size);
	if (file < 0)
		return file;
	memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
	message.msg_control = &control;
	message.msg_controllen = sizeof(control);
	err = send_message(fd, &message);
	next()->close(file);
	return err;
}

ssize_t device_write(struct device *device, int fd, const void *buf, size_t count)
{
	size_t size = header_size(device);
	const uint8_t *mad = (const uint8_t *)buf + size;
	struct ib_user_mad_hdr header = {0};
	int before = errno, err;

	if (device->kind != WIRE_UMAD || count < size + RMPP_HEADER_SIZE)
		return fails(-EINVAL);
	memcpy(&header, buf, size);
	err = may_write(device, &header, mad, count - size);
	if (!err)
		err = send_mad(fd, &header, mad, count - size);
	if (err)
		return fails(err);
	errno = before;
	return count;
}

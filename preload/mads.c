/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * read() and write() of an open umad device, over the rings that it shares with the server: a
 * record each, with the sizes and refusals of Linux (drivers/infiniband/core/user_mad.c). A record
 * is 64 bytes of header and the MAD; programs that did not enable pkey_index see the first 56 bytes
 * of the header. MADs that are too long for a record are sent in memory files, by calls.
 *
 * A token on the connection means "there are records to read" (sim/ring.h), so that poll() and
 * similar calls work. No call blocks while it holds a lock, except for a token on its way.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include "preload/device.h"
#include "preload/next.h"
#include "preload/server.h"

enum {
	HEADER_SIZE = sizeof(struct ib_user_mad_hdr),
	SHORT_HEADER_SIZE = sizeof(struct ib_user_mad_hdr_old),
	MAD_SIZE = 256,
	MAD_HEADER_SIZE = 24,
	RMPP_HEADER_SIZE = 36, /* with the header of the MAD; shorter writes are refused */
	CLASS_OFFSET = 1,
	RMPP_FLAGS_OFFSET = 26,
	RMPP_ACTIVE = 1,
	GONE_AT_ONCE = 8,
};

static int mads_fail(int err)
{
	errno = -err;
	return -1;
}

/* The error of a device whose server has ended. Linux returns it each time without delay. But some
 * programs retry without end; OpenSM's receiver also logs a line each time. After the end of a
 * simulation this would fill the disk. So after some errors each further error takes a second. */
static int fails_gone(struct device *device)
{
	const struct timespec pause = {.tv_sec = 1};

	if (atomic_fetch_add(&device->gone, 1) >= GONE_AT_ONCE)
		nanosleep(&pause, NULL);
	return mads_fail(-EIO);
}

static size_t header_size(struct device *device)
{
	return atomic_load_explicit(&device->has_pkey, memory_order_relaxed) ? HEADER_SIZE
									     : SHORT_HEADER_SIZE;
}

/* A process that died with the lock left the rings consistent, before or after its single step. */
static void ring_lock(pthread_mutex_t *mutex)
{
	if (pthread_mutex_lock(mutex) == EOWNERDEAD)
		pthread_mutex_consistent(mutex);
}

static int send_token(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLOUT};

	while (send(fd, "", 1, MSG_NOSIGNAL) < 0) {
		if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS)
			return -EIO;
		poll(&ready, 1, 1000);
	}
	return 0;
}

/* Takes the token, and waits for it if needed, because it was announced. At the end of the
 * connection it does not arrive. */
static void take_token(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	char token;

	while (recv(fd, &token, 1, MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR))
		poll(&ready, 1, 1000);
}

/* Reading */

/* A header in the program's form, which may be shorter. */
static void put_header(const uint8_t *from, size_t header_size, char *buf)
{
	struct ib_user_mad_hdr header;

	memcpy(&header, from, HEADER_SIZE);
	if (!header.status)
		header.length -= HEADER_SIZE - header_size;
	memcpy(buf, &header, header_size);
}

/* Reads the part after the header from a file, and closes it. */
static int mads_read_file(int file, char *mad, size_t size)
{
	size_t done = 0;
	ssize_t got = 1;

	while (done < size && got > 0) {
		got = pread(file, mad + done, size - done, HEADER_SIZE + done);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0)
			done += got;
	}
	next()->close(file);
	return done == size ? 0 : -EIO;
}

/* The oldest of the device's long MADs, which this record announces. */
static int fetch(struct device *device, char *mad, size_t size)
{
	struct wire_call call = {.function = WIRE_FETCH, .id = device->id};
	struct wire_return answer = {0};
	int file = -1, err = server_call(&call, -1, &answer, &file);

	if (!err && !answer.error && file >= 0)
		return mads_read_file(file, mad, size);
	if (file >= 0)
		next()->close(file);
	return -EIO;
}

/* Copies a record to buf. If it does not fit, it stays, and buf gets its header with the needed
 * size, and the first segment. */
static ssize_t mads_give(struct device *device, struct ring_record record, const uint8_t *bytes,
			 char *buf, size_t count)
{
	size_t header = header_size(device), size, first;
	int err;

	if (record.size < HEADER_SIZE || record.whole < record.size ||
	    record.whole > HEADER_SIZE + WIRE_LONG_MAX)
		return -EIO;
	size = record.whole - HEADER_SIZE;
	first = size < MAD_SIZE ? size : MAD_SIZE;
	if (count < header + first)
		return -EINVAL;
	put_header(bytes, header, buf);
	if (count < header + size) {
		memcpy(buf + header, bytes + HEADER_SIZE, first);
		return -ENOSPC;
	}
	if (record.whole > record.size) {
		err = fetch(device, buf + header, size);
		if (err)
			return err;
	} else {
		memcpy(buf + header, bytes + HEADER_SIZE, size);
	}
	return header + size;
}

/* The bytes read, or -errno; -EAGAIN: there is no record. */
static ssize_t read_one(struct device *device, int fd, char *buf, size_t count)
{
	struct ring *ring = &device->rings->to_program;
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	struct ring_record record;
	const uint8_t *bytes;
	ssize_t got = ring_take(ring, &head, &record, &bytes);

	if (got)
		return got;
	got = mads_give(device, record, bytes, buf, count);
	if (got == -EINVAL || got == -ENOSPC)
		return got;
	if (ring_release(ring, head) && send_token(fd))
		return -EIO;
	if (ring_rest(ring, head))
		take_token(fd);
	return got;
}

/* Waits for a record; -EAGAIN for a non-blocking descriptor. -EIO at the end of the connection, as
 * for a device that was pulled. It uses poll(), because of several threads in recv() for a token
 * that they do not take, only one would wake. */
static int wait_readable(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	int flags = next()->fcntl(fd, F_GETFL);
	ssize_t got;
	char token;

	if (flags < 0)
		return -errno;
	if (!(flags & O_NONBLOCK) && poll(&ready, 1, -1) < 0)
		return -errno;
	got = recv(fd, &token, 1, MSG_PEEK | MSG_DONTWAIT);
	if (got == 0 || (got < 0 && errno != EAGAIN))
		return -EIO;
	return got < 0 && (flags & O_NONBLOCK) ? -EAGAIN : 0;
}

ssize_t device_read(struct device *device, int fd, void *buf, size_t count)
{
	int before = errno;
	ssize_t got;

	if (device->kind != WIRE_UMAD || count < header_size(device))
		return mads_fail(-EINVAL);
	do {
		ring_lock(&device_locks(device)->reading);
		got = read_one(device, fd, buf, count);
		pthread_mutex_unlock(&device_locks(device)->reading);
		if (got == -EAGAIN)
			got = wait_readable(fd);
	} while (got == 0);
	if (got == -EIO || got == -EPROTO)
		return fails_gone(device);
	if (got < 0)
		return mads_fail(got);
	errno = before;
	return got;
}

/* Writing */

/* The size of the headers of a class; those that are longer than the header of a MAD have RMPP. */
static size_t class_header_size(uint8_t mgmt_class)
{
	switch (mgmt_class) {
	case 0x03:
		return 56;
	case 0x06:
	case 0x10:
	case 0x12:
		return 64;
	default:
		return mgmt_class >= 0x30 && mgmt_class <= 0x4f ? 40 : MAD_HEADER_SIZE;
	}
}

/* Refusals that need no request; the server counts the others, because a record has no answer. */
static int may_write(struct device *device, const struct ib_user_mad_hdr *header,
		     const uint8_t *mad, size_t mad_size)
{
	size_t header_size = class_header_size(mad[CLASS_OFFSET]);
	bool by_kernel, active;

	if (header->id >= DEVICE_AGENTS_MAX)
		return -EINVAL;
	if (!(atomic_load(&device->agents) & 1u << header->id))
		return -EIO;
	if (mad_size < header_size)
		return -EINVAL;
	if (header_size == MAD_HEADER_SIZE && atomic_load(&device->with_rmpp) & 1u << header->id)
		return -EINVAL; /* a class without RMPP, by an agent with it */
	by_kernel = atomic_load(&device->rmpp_agents) & 1u << header->id;
	active = by_kernel && header_size > MAD_HEADER_SIZE &&
		 (mad[RMPP_FLAGS_OFFSET] & RMPP_ACTIVE);
	if (!active)
		return mad_size > MAD_SIZE ? -EINVAL : 0;
	return mad_size > WIRE_LONG_MAX ? -ENOMEM : 0;
}

static int append(int file, const void *bytes, size_t size)
{
	size_t done = 0;
	ssize_t put;

	while (done < size) {
		put = next()->write(file, (const char *)bytes + done, size - done);
		if (put < 0 && errno != EINTR)
			return -ENOMEM;
		done += put > 0 ? put : 0;
	}
	return 0;
}

static int send_long(struct device *device, const struct ib_user_mad_hdr *header,
		     const uint8_t *mad, size_t size)
{
	struct wire_call call = {.function = WIRE_SEND, .id = device->id};
	struct wire_return answer = {0};
	int file = memfd_create("weftsim-mad", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (file < 0)
		return -ENOMEM;
	err = append(file, header, HEADER_SIZE);
	if (!err)
		err = append(file, mad, size);
	if (!err && next()->fcntl(file, F_ADD_SEALS,
				  F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE))
		err = -ENOMEM;
	if (!err)
		err = server_call(&call, file, &answer, NULL);
	next()->close(file);
	return err ? err : -(int)answer.error;
}

/* Returns 0 when the reader has taken some records, so that another attempt may succeed. */
static int wait_for_room(struct ring *ring, uint32_t head, int fd)
{
	const struct timespec patience = {.tv_sec = 1};
	struct pollfd ready = {.fd = fd};

	syscall(SYS_futex, &ring->head, FUTEX_WAIT, head, &patience, NULL, 0);
	return poll(&ready, 1, 0) > 0 && (ready.revents & (POLLHUP | POLLERR)) ? -EIO : 0;
}

/* A write() to a device never fails for lack of room: it blocks while the server is behind. Returns
 * -EAGAIN if there is no room now. */
static int put_record(struct device *device, int fd, const struct ib_user_mad_hdr *header,
		      const uint8_t *mad, size_t size)
{
	struct ring *ring = &device->rings->to_server;
	struct ring_record record = {.size = HEADER_SIZE + size, .whole = HEADER_SIZE + size};
	uint32_t tail = ring_tail(ring);
	uint8_t *bytes;
	int err = ring_reserve(ring, &tail, record, &bytes);

	if (err)
		return err;
	memcpy(bytes, header, HEADER_SIZE);
	memcpy(bytes + HEADER_SIZE, mad, size);
	return ring_publish(ring, tail) ? send_token(fd) : 0;
}

static int send_short(struct device *device, int fd, const struct ib_user_mad_hdr *header,
		      const uint8_t *mad, size_t size)
{
	struct ring *ring = &device->rings->to_server;
	uint32_t head;
	int err;

	for (;;) {
		head = atomic_load(&ring->head);
		ring_lock(&device_locks(device)->writing);
		err = put_record(device, fd, header, mad, size);
		pthread_mutex_unlock(&device_locks(device)->writing);
		if (err != -EAGAIN)
			return err;
		ring_want_room(ring);
		if (head == atomic_load(&ring->head))
			err = wait_for_room(ring, head, fd);
		if (err && err != -EAGAIN)
			return err;
	}
}

static int send_record(struct device *device, int fd, const struct ib_user_mad_hdr *header,
		       const uint8_t *mad, size_t size)
{
	if (wire_needs_verdict(device->rings, header->grh_present, header->timeout_ms, mad, size) ||
	    size > WIRE_INLINE_MAX)
		return send_long(device, header, mad, size);
	return send_short(device, fd, header, mad, size);
}

ssize_t device_write(struct device *device, int fd, const void *buf, size_t count)
{
	size_t size = header_size(device);
	const uint8_t *mad = (const uint8_t *)buf + size;
	struct ib_user_mad_hdr header = {0};
	int before = errno, err;

	if (device->kind != WIRE_UMAD || count < size + RMPP_HEADER_SIZE)
		return mads_fail(-EINVAL);
	/* The ring has room for it. */
	if (atomic_load_explicit(&device->gone, memory_order_relaxed))
		return fails_gone(device);
	memcpy(&header, buf, size);
	count -= size;
	err = may_write(device, &header, mad, count);
	if (err)
		return mads_fail(err);
	err = send_record(device, fd, &header, mad, count);
	if (err == -EIO || err == -EPROTO)
		return fails_gone(device);
	if (err)
		return mads_fail(err);
	errno = before;
	return size + count;
}

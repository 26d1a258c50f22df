/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory shared with a program, for the server, on its one thread. sim/ring.h explains layout and
 * tokens. The file is sealed against shrinking: a program that could shrink it would crash the
 * server at the next access.
 */
#include "sim/rings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int make_file(size_t size)
{
	int file = memfd_create("weftsim-rings", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r;

	if (file < 0)
		return -errno;
	if (!ftruncate(file, size) &&
	    !fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return file;
	r = -errno;
	close(file);
	return r;
}

int rings_init(struct rings *rings, uint8_t route_port, int *file)
{
	int fd = make_file(sizeof(*rings->shared));
	void *at;

	if (fd < 0)
		return fd;
	at = mmap(NULL, sizeof(*rings->shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		close(fd);
		return -ENOMEM;
	}
	*rings = (struct rings){.shared = at};
	rings->shared->route_port = route_port;
	*file = fd;
	return 0;
}

void rings_done(struct rings *rings)
{
	if (rings->shared)
		munmap(rings->shared, sizeof(*rings->shared));
	rings->shared = NULL;
}

void rings_tid_ended(struct rings *rings, uint32_t tid)
{
	atomic_fetch_sub(&rings->shared->under_way[tid % WIRE_TIDS], 1);
}

int rings_put(struct rings *rings, const uint8_t *umad, size_t size, size_t whole)
{
	struct ring *ring = &rings->shared->to_program;
	struct ring_record record = {.size = size, .whole = whole};
	uint8_t *bytes;
	int r = ring_reserve(ring, &rings->tail, record, &bytes);

	if (r == -EAGAIN) {
		ring_want_room(ring);
		r = ring_reserve(ring, &rings->tail, record, &bytes);
	}
	if (!r)
		memcpy(bytes, umad, size);
	return r;
}

bool rings_publish(struct rings *rings)
{
	struct ring *ring = &rings->shared->to_program;

	return ring_tail(ring) != rings->tail && ring_publish(ring, rings->tail);
}

int rings_take(struct rings *rings, uint8_t *umad, size_t room)
{
	struct ring_record record;
	const uint8_t *bytes;
	int r = ring_take(&rings->shared->to_server, &rings->head, &record, &bytes);

	if (r)
		return r;
	if (record.size > room)
		return -EPROTO;
	memcpy(umad, bytes, record.size);
	return record.size;
}

void rings_give_back(struct rings *rings)
{
	struct ring *ring = &rings->shared->to_server;

	if (ring_release(ring, rings->head))
		syscall(SYS_futex, &ring->head, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool rings_rest(struct rings *rings)
{
	struct ring *ring = &rings->shared->to_server;

	return !ring_rest(ring, rings->head) && ring_tail(ring) != rings->head;
}

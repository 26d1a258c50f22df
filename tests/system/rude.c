/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A badly behaved client of a weftsim server, for tests/system/weftsim.sh. It speaks the protocol
 * of sim/wire.h without libibumad. `rude SOCKET BEHAVIOUR` prints "done" at the end, or exits with
 * 1 and a reason after a wrong answer of the server.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sim/wire.h"

enum { LONGEST = 64 + WIRE_INLINE_MAX };

static const char *path;

static void fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static int reach(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	strncpy(name.sun_path, path, sizeof(name.sun_path) - 1);
	if (connect(fd, (struct sockaddr *)&name, sizeof(name)))
		fail("connect");
	return fd;
}

static struct wire_hello hello_of(enum wire_kind kind)
{
	return (struct wire_hello){
		.magic = WIRE_MAGIC, .version = WIRE_VERSION, .kind = kind, .node = "host-0002"};
}

/* A connection of a kind; id and file of its welcome, if not NULL. */
static int open_kind(enum wire_kind kind, uint32_t *id, int *file)
{
	struct wire_hello hello = hello_of(kind);
	struct wire_welcome welcome;
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {&welcome, sizeof(welcome)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	int fd = reach();

	send(fd, &hello, sizeof(hello), MSG_NOSIGNAL);
	if (recvmsg(fd, &message, 0) != sizeof(welcome) || welcome.error)
		fail("no welcome");
	if (id)
		*id = welcome.id;
	if (file && !CMSG_FIRSTHDR(&message))
		fail("no file with the welcome");
	if (file)
		memcpy(file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(*file));
	return fd;
}

static struct wire_return call(const struct wire_call *what)
{
	struct wire_return answer = {.error = EIO};
	int fd = open_kind(WIRE_CALL, NULL, NULL);

	send(fd, what, sizeof(*what), MSG_NOSIGNAL);
	recv(fd, &answer, sizeof(answer), 0);
	close(fd);
	return answer;
}

/* An open umad device with an agent of a class. */
struct umad_device {
	int fd, file;
	uint32_t id, agent;
	struct wire_rings *rings;
};

static struct umad_device open_agent(unsigned mgmt_class, unsigned qpn, unsigned rmpp_version)
{
	struct wire_call what = {.function = WIRE_REGISTER,
				 .qpn = qpn,
				 .mgmt_class = mgmt_class,
				 .mgmt_class_version = mgmt_class == 3 ? 2 : 1,
				 .rmpp_version = rmpp_version};
	struct umad_device device;
	struct wire_return answer;

	device.fd = open_kind(WIRE_UMAD, &what.id, &device.file);
	device.id = what.id;
	device.rings = mmap(NULL, sizeof(*device.rings), PROT_READ | PROT_WRITE, MAP_SHARED,
			    device.file, 0);
	if (device.rings == MAP_FAILED)
		fail("mmap");
	answer = call(&what);
	if (answer.error)
		fail("no agent");
	device.agent = answer.agent;
	return device;
}

static void close_device(struct umad_device *device)
{
	munmap(device->rings, sizeof(*device->rings));
	close(device->file);
	close(device->fd);
}

/* As the preload library does; a full ring only means that the server is behind. */
static void write_device(struct umad_device *device, const void *bytes, uint32_t size)
{
	struct ring *ring = &device->rings->to_server;
	const struct ring_record record = {.size = size, .whole = size};
	uint32_t tail = ring_tail(ring);
	uint8_t *place;

	while (ring_reserve(ring, &tail, record, &place)) {
		struct pollfd ready = {.fd = device->fd};

		if (poll(&ready, 1, 1) && ready.revents & POLLHUP)
			fail("the server closed the device");
	}
	memcpy(place, bytes, size);
	if (ring_publish(ring, tail) && send(device->fd, "", 1, MSG_NOSIGNAL) < 0)
		fail("the server closed the device");
}

/* The server closes the connection; before that it may send a welcome with the reason. */
static void expect_end(int fd, const char *what)
{
	struct wire_welcome welcome = {0};
	ssize_t size = recv(fd, &welcome, sizeof(welcome), 0);

	if (size > 0 && !welcome.error)
		fail(what);
	if (size > 0 && recv(fd, &welcome, sizeof(welcome), 0) > 0)
		fail(what);
	close(fd);
}

/* The same for a device, whose connection may still have a token. */
static void expect_closed(struct umad_device *device, const char *what)
{
	struct pollfd ready = {.fd = device->fd};

	if (poll(&ready, 1, 20000) != 1)
		fail(what);
	close_device(device);
}

/* A hello with two files; at most one is allowed. */
static void greet_with_files(int fd)
{
	struct wire_hello hello = hello_of(WIRE_FILES);
	const int files[] = {STDIN_FILENO, STDOUT_FILENO};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(files))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(files)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS}};
	struct iovec part = {&hello, sizeof(hello)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.header), files, sizeof(files));
	sendmsg(fd, &message, MSG_NOSIGNAL);
}

static void greet_badly(void)
{
	static char noise[LONGEST + 1000];
	static const size_t sizes[] = {1,
				       4,
				       sizeof(struct wire_hello) - 1,
				       sizeof(struct wire_hello),
				       sizeof(struct wire_hello) + 1,
				       sizeof(noise)};
	struct wire_hello hellos[5];

	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(i * 167 + 13);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		int fd = reach();

		send(fd, noise, sizes[i], MSG_NOSIGNAL);
		expect_end(fd, "random bytes were accepted as a hello");
	}
	for (size_t i = 0; i < 5; i++)
		hellos[i] = hello_of(WIRE_UMAD);
	hellos[0].version++;
	hellos[1].kind = 77;
	hellos[2].minor = 9;
	memset(hellos[3].node, 'x', sizeof(hellos[3].node));
	strcpy(hellos[4].node, "host-0002:9");
	for (size_t i = 0; i < 5; i++) {
		int fd = reach();

		send(fd, &hellos[i], sizeof(hellos[i]), MSG_NOSIGNAL);
		expect_end(fd, "an impossible hello was accepted");
	}
	for (size_t i = 0; i < 10; i++) {
		int fd = reach();

		greet_with_files(fd);
		expect_end(fd, "two files were accepted");
	}
}

/* A MAD of 256 bytes that expects an answer within a second. */
struct umad {
	struct ib_user_mad_hdr header;
	unsigned char mad[256];
};

static void make_mad(struct umad *umad, uint32_t agent, uint32_t tid, unsigned mgmt_class,
		     unsigned version, unsigned method)
{
	memset(umad, 0, sizeof(*umad));
	umad->header.id = agent;
	umad->header.timeout_ms = 1000;
	umad->mad[0] = 1;
	umad->mad[1] = mgmt_class;
	umad->mad[2] = version;
	umad->mad[3] = method;
	memcpy(umad->mad + 12, &tid, sizeof(tid));
	umad->mad[17] = 0x11; /* NodeInfo, NodeRecord */
}

/* Get(NodeInfo) of the own port. */
static void make_smp(struct umad *umad, const struct umad_device *device, uint32_t tid)
{
	make_mad(umad, device->agent, tid, 0x81, 1, 1);
	umad->header.lid = 0xFFFF;
	memset(umad->mad + 32, 0xFF, 4); /* no part of the path is by LID */
}

/* Waits for the answer to one of these. */
static void expect_answer(struct umad_device *device)
{
	struct pollfd ready = {.fd = device->fd, .events = POLLIN};
	struct umad umad;

	make_smp(&umad, device, 77);
	write_device(device, &umad, sizeof(umad));
	if (poll(&ready, 1, 20000) != 1 || ready.revents & POLLHUP)
		fail("a device that was not closed does not answer");
}

/* Sends a file as a MAD, and closes it. Returns the error of the server. */
static uint32_t send_long(uint32_t id, int file)
{
	struct wire_call what = {.function = WIRE_SEND, .id = id};
	struct wire_return answer = {0};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS}};
	struct iovec part = {&what, sizeof(what)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	int fd = open_kind(WIRE_CALL, NULL, NULL);

	if (file >= 0) {
		memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	sendmsg(fd, &message, MSG_NOSIGNAL);
	if (recv(fd, &answer, sizeof(answer), 0) != sizeof(answer))
		fail("no answer to a MAD in a file");
	close(fd);
	close(file);
	return answer.error;
}

/* A read of a file that is not in memory might block the server. */
static void must_refuse(uint32_t id, int file)
{
	if (!send_long(id, file))
		fail("a file that is not in memory was accepted as a MAD");
}

/* The server maps a long MAD. If its file could change or shrink, so could the MAD. */
static void send_with_seals(struct umad_device *device)
{
	static const int seals[] = {0, F_SEAL_WRITE, F_SEAL_SHRINK, F_SEAL_WRITE | F_SEAL_SHRINK};
	const int all = F_SEAL_WRITE | F_SEAL_SHRINK;
	struct umad umad;

	make_smp(&umad, device, 78);
	for (size_t i = 0; i < sizeof(seals) / sizeof(*seals); i++) {
		int file = memfd_create("mad", MFD_ALLOW_SEALING);

		if (write(file, &umad, sizeof(umad)) != sizeof(umad) ||
		    fcntl(file, F_ADD_SEALS, seals[i]))
			fail("memfd_create");
		if (!send_long(device->id, file) != (seals[i] == all))
			fail(seals[i] == all ? "a sealed file was refused as a MAD"
					     : "a file that can change was accepted as a MAD");
	}
}

/* The server refuses invalid records, and the device stays open. */
static void write_wrong(void)
{
	static const uint32_t sizes[] = {1, 63, 64, 65, 99, 100, 319, 321, 4000, LONGEST};
	static const char bytes[LONGEST];
	struct wire_call nonsense = {.function = 99};
	struct umad_device device = open_agent(0x81, 0, 0);
	int ends[2];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		write_device(&device, bytes, sizes[i]);
	nonsense.id = device.id;
	if (!call(&nonsense).error)
		fail("a call of an unknown function succeeded");
	if (pipe(ends))
		fail("pipe");
	must_refuse(device.id, ends[0]);
	must_refuse(device.id, open("/dev/zero", O_RDONLY));
	must_refuse(device.id, memfd_create("empty", MFD_ALLOW_SEALING));
	must_refuse(device.id, -1);
	if (!ftruncate(device.file, 0))
		fail("the memory that the server reads can be truncated");
	expect_answer(&device);
	send_with_seals(&device);
	close_device(&device);
}

/* Records that no library of weft sends end the connection. */
static void write_impossible(void)
{
	static const struct {
		uint32_t tail, size;
		const char *what;
	} cases[] = {
		{8 * RING_BYTES, 320, "a position beyond the ring was accepted"},
		{4096 + 4, 320, "an unaligned position was accepted"},
		{64, 320, "a record beyond its ring's tail was accepted"},
		{4096, RING_BYTES, "a record that is too long was accepted"},
		{4096, 0xFFFFFFF0, "a record of a negative size was accepted"},
		{4096, 0, "a gap without an end was accepted"},
	};
	static char noise[4000];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct umad_device device = open_agent(0x81, 0, 0);
		struct ring *ring = &device.rings->to_server;

		*(struct ring_record *)ring->bytes = (struct ring_record){.size = cases[i].size};
		atomic_store(&ring->tail, cases[i].tail);
		send(device.fd, "", 1, MSG_NOSIGNAL);
		expect_closed(&device, cases[i].what);
	}
	for (size_t size = 2; size <= sizeof(noise); size *= 40) {
		struct umad_device device = open_agent(0x81, 0, 0);

		send(device.fd, noise, size, MSG_NOSIGNAL);
		expect_closed(&device, "an invalid token was accepted");
	}
}

static void write_badly(void)
{
	write_wrong();
	write_impossible();
}

/* More MADs than the server keeps for a client that does not read. */
static void flood(void)
{
	struct umad_device device = open_agent(0x81, 0, 0);
	struct umad umad;

	for (uint32_t tid = 1; tid <= 300000; tid++) {
		make_smp(&umad, &device, tid);
		write_device(&device, &umad, sizeof(umad));
	}
}

/* Takes more descriptors than the server has, and keeps them. */
static void crowd(void)
{
	for (unsigned i = 0; i < 200; i++)
		reach();
}

/* GetTable of all NodeRecords from the SA at LID 1. No program waits for the answer. */
static void vanish(void)
{
	for (unsigned i = 0; i < 20; i++) {
		struct umad_device device = open_agent(0x03, 1, 1);
		struct umad umad;

		make_mad(&umad, device.agent, i + 1, 0x03, 2, 0x12);
		umad.header.qpn = htobe32(1);
		umad.header.qkey = htobe32(0x80010000);
		umad.header.lid = htobe16(1);
		umad.mad[24] = 1; /* RMPP's version */
		write_device(&device, &umad, sizeof(umad));
		usleep(i * 1000);
		close_device(&device);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} behaviours[] = {{"greet", greet_badly},
			  {"write", write_badly},
			  {"flood", flood},
			  {"crowd", crowd},
			  {"vanish", vanish}};

	if (argc != 3)
		return 2;
	path = argv[1];
	for (size_t i = 0; i < sizeof(behaviours) / sizeof(*behaviours); i++) {
		if (strcmp(behaviours[i].name, argv[2]))
			continue;
		behaviours[i].run();
		puts("done");
		fflush(stdout);
		if (behaviours[i].run == flood || behaviours[i].run == crowd)
			pause(); /* keeps all connections open and reads nothing */
		return 0;
	}
	return 2;
}

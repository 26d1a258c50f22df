/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A badly behaved client of a weftsim server, for tests/system/weftsim.sh: it speaks the protocol
 * of sim/wire.h by hand, as no libibumad does. `rude SOCKET BEHAVIOUR`; prints "done" when it has
 * done its worst, and exits with 1 and a reason when the server did not answer as it should.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_mad.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sim/wire.h"

enum { UMAD_SIZE = 64 + 256, LONGEST = 64 + WIRE_INLINE_MAX };

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

static int open_kind(enum wire_kind kind, uint32_t *id)
{
	struct wire_hello hello = hello_of(kind);
	struct wire_welcome welcome;
	int fd = reach();

	send(fd, &hello, sizeof(hello), MSG_NOSIGNAL);
	if (recv(fd, &welcome, sizeof(welcome), 0) != sizeof(welcome) || welcome.error)
		fail("no welcome");
	if (id)
		*id = welcome.id;
	return fd;
}

static struct wire_return call(const struct wire_call *what)
{
	struct wire_return answer = {.error = EIO};
	int fd = open_kind(WIRE_CALL, NULL);

	send(fd, what, sizeof(*what), MSG_NOSIGNAL);
	recv(fd, &answer, sizeof(answer), 0);
	close(fd);
	return answer;
}

/* A umad device with an agent of a class. */
static int open_agent(unsigned mgmt_class, unsigned qpn, unsigned rmpp_version, uint32_t *agent)
{
	struct wire_call what = {.function = WIRE_REGISTER,
				 .qpn = qpn,
				 .mgmt_class = mgmt_class,
				 .mgmt_class_version = mgmt_class == 3 ? 2 : 1,
				 .rmpp_version = rmpp_version};
	int fd = open_kind(WIRE_UMAD, &what.id);
	struct wire_return answer = call(&what);

	if (answer.error)
		fail("no agent");
	*agent = answer.agent;
	return fd;
}

/* The server ends the connection; a welcome that says why may come before. */
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
		expect_end(fd, "noise was taken for a hello");
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
		expect_end(fd, "a hello that cannot be was taken");
	}
}

static void send_with(int fd, int file)
{
	char bytes[UMAD_SIZE] = {0};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS}};
	struct iovec part = {bytes, sizeof(bytes)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
	sendmsg(fd, &message, MSG_NOSIGNAL);
}

static void write_badly(void)
{
	static const size_t sizes[] = {1, 63, 64, 65, 99, 100, 319, 321, 4000, LONGEST};
	static char bytes[LONGEST + 1000];
	struct wire_call nonsense = {.function = 99};
	uint32_t agent;
	int fd = open_agent(0x81, 0, 0, &agent), pipe_fds[2];

	/* What is merely wrong is refused; the device stays open. */
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (send(fd, bytes, sizes[i], MSG_NOSIGNAL) < 0)
			fail("a write that Linux refuses closed the device");
	}
	if (!call(&nonsense).error)
		fail("a call that there is not was carried out");
	/* What no library of ours does ends the connection. */
	send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
	expect_end(fd, "a message that is too long was taken");
	if (pipe(pipe_fds))
		fail("pipe");
	fd = open_agent(0x81, 0, 0, &agent);
	send_with(fd, pipe_fds[0]);
	expect_end(fd, "a pipe was taken for a MAD");
	fd = open_agent(0x81, 0, 0, &agent);
	send_with(fd, open("/dev/zero", O_RDONLY));
	expect_end(fd, "a device was taken for a MAD");
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

/* More than the server keeps for who reads nothing; a full socket only means that it is behind. */
static void flood(void)
{
	struct umad umad;
	uint32_t agent;
	int fd = open_agent(0x81, 0, 0, &agent);

	for (uint32_t tid = 1; tid <= 300000; tid++) {
		make_mad(&umad, agent, tid, 0x81, 1, 1);
		umad.header.lid = 0xFFFF;
		memset(umad.mad + 32, 0xFF, 4); /* no part of the way goes by LID */
		if (send(fd, &umad, sizeof(umad), MSG_NOSIGNAL) < 0)
			fail("send");
	}
}

/* GetTable of all NodeRecords from the SA at LID 1, whose answer nobody waits for. */
static void vanish(void)
{
	for (unsigned i = 0; i < 20; i++) {
		struct umad umad;
		uint32_t agent;
		int fd = open_agent(0x03, 1, 1, &agent);

		make_mad(&umad, agent, i + 1, 0x03, 2, 0x12);
		umad.header.qpn = htobe32(1);
		umad.header.qkey = htobe32(0x80010000);
		umad.header.lid = htobe16(1);
		umad.mad[24] = 1; /* RMPP's version */
		send(fd, &umad, sizeof(umad), MSG_NOSIGNAL);
		usleep(i * 1000);
		close(fd);
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
		if (behaviours[i].run == flood)
			pause(); /* with everything unread */
		return 0;
	}
	return 2;
}

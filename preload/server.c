/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Connections to the simulator: hello, welcome, and calls for a device. Called from any thread. The
 * only state is whether a failure was reported: a program without a server gets one message and
 * then sees a machine without InfiniBand.
 */
#include "preload/server.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "preload/next.h"

/* A listening server answers when it has finished its present work; without an answer within this
 * time it is stuck. */
enum { ANSWER_MS = 10000 };

static void server_complain(const char *socket_path, const char *what, const char *remedy)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	char line[512];
	int size;

	if (atomic_flag_test_and_set(&said))
		return;
	size = snprintf(line, sizeof(line), "weftsim: %s at %s%s\n", what, socket_path, remedy);
	if (size >= (int)sizeof(line))
		size = sizeof(line) - 1;
	if (next()->write(STDERR_FILENO, line, size) < 0)
		return; /* no output for a message */
}

/* Room for one descriptor beside a message. */
union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

static int send_message(int fd, const void *bytes, size_t size, int file)
{
	struct iovec part = {(void *)bytes, size};
	union control control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
					    .cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS}};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (file >= 0) {
		memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -EIO;
}

static int message_file(struct msghdr *message)
{
	struct cmsghdr *part = CMSG_FIRSTHDR(message);
	int file = -1;

	if (part && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS &&
	    part->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&file, CMSG_DATA(part), sizeof(file));
	return file;
}

static int wait_for_message(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	int count;

	do
		count = poll(&ready, 1, ANSWER_MS);
	while (count < 0 && errno == EINTR);
	return count ? 0 : -ETIMEDOUT;
}

/* Receives a message of this size and, if requested, the file with it (else -1). Only a wait for an
 * issm device may last long, and be interrupted, as in Linux. */
static int server_receive(int fd, void *bytes, size_t size, bool may_last, int *file)
{
	struct iovec part = {bytes, size};
	union control control;
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = file ? &control : NULL,
				 .msg_controllen = file ? sizeof(control) : 0};
	int err = may_last ? 0 : wait_for_message(fd);
	ssize_t got;

	if (err)
		return err;
	do
		got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR && !may_last);
	if (got < 0)
		return -errno;
	if (file)
		*file = message_file(&message);
	return got == (ssize_t)size ? 0 : -EPROTO;
}

static int server_greet(int fd, const struct wire_hello *hello, struct wire_welcome *welcome,
			int *file)
{
	bool may_wait = hello->kind == WIRE_ISSM && !hello->nonblock;
	int err;

	err = send_message(fd, hello, sizeof(*hello), -1);
	if (!err)
		err = server_receive(fd, welcome, sizeof(*welcome), may_wait, file);
	if (err)
		return err;
	if (welcome->magic != WIRE_MAGIC || welcome->version != WIRE_VERSION)
		return -EPROTO;
	welcome->text[sizeof(welcome->text) - 1] = '\0';
	welcome->folder[sizeof(welcome->folder) - 1] = '\0';
	return 0;
}

/* Connects and exchanges hello and welcome; reports an error of the server. */
static int server_reach(int fd, const struct wire_hello *hello, struct wire_welcome *welcome,
			int *file)
{
	struct timeval patience = {.tv_sec = ANSWER_MS / 1000};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int err = 0;

	if (wire_socket_path(address.sun_path, sizeof(address.sun_path)) >=
	    (int)sizeof(address.sun_path))
		err = -ENAMETOOLONG;

	/* Prevents connect() from blocking forever; no send needs to block. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!err && connect(fd, (struct sockaddr *)&address, sizeof(address)))
		err = -errno;
	if (err && err != -EAGAIN) {
		server_complain(address.sun_path, "no server", "; start one with `weftsim serve`");
		return -ENOENT;
	}
	if (!err)
		err = server_greet(fd, hello, welcome, file);
	if (err == -EINTR)
		return err;
	if (err == -EAGAIN || err == -ETIMEDOUT) {
		server_complain(address.sun_path, "no answer from the server", "");
		return -ENOENT;
	}
	if (err) {
		server_complain(address.sun_path, "no server of this version",
				"; use the library and the server of one installation");
		return -ENOENT;
	}
	/* The caller reports errors of a device file. */
	if (welcome->error && hello->kind == WIRE_FILES) {
		server_complain(address.sun_path, welcome->text, "");
		return -ENOENT;
	}
	return -(int)welcome->error;
}

int server_connect(enum wire_kind kind, unsigned minor, bool nonblock, struct wire_welcome *welcome,
		   int *file)
{
	struct wire_hello hello = {.magic = WIRE_MAGIC,
				   .version = WIRE_VERSION,
				   .kind = kind,
				   .minor = minor,
				   .nonblock = nonblock};
	const char *node = getenv("WEFTSIM_NODE");
	int fd, err, came = -1;

	if (node && strlen(node) >= sizeof(hello.node))
		return -ENAMETOOLONG;
	memcpy(hello.node, node ? node : "", node ? strlen(node) + 1 : 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = server_reach(fd, &hello, welcome, file ? &came : NULL);
	if (err) {
		if (came >= 0)
			next()->close(came);
		next()->close(fd);
		return err;
	}
	if (file)
		*file = came;
	return fd;
}

int server_call(const struct wire_call *call, int given, struct wire_return *answer, int *taken)
{
	struct wire_welcome welcome = {0};
	int fd = server_connect(WIRE_CALL, 0, false, &welcome, NULL), err;

	if (fd < 0)
		return fd == -ENOENT ? -EIO : fd;
	err = send_message(fd, call, sizeof(*call), given);
	if (!err && server_receive(fd, answer, sizeof(*answer), false, taken))
		err = -EIO;
	next()->close(fd);
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Both ends of the server's socket. A lock on the folder beside it decides which server runs. The
 * lock always ends with its process. So two servers that start at the same time never share a
 * folder, and the next server may remove socket and folder of a server that was killed.
 */
#include "sim/socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MS = 10000, FOLDER_DEPTH = 8, PASSING_MS = 5000, LOOK_MS = 10 };

/* The longest suffix of the folder for a node after the socket's name: ".d/", a number, a port. */
#define LONGEST_BEHIND ".d/+999999:254"

static int socket_failed(char *error, int code, const char *path, const char *reason)
{
	snprintf(error, SOCKET_ERROR_SIZE, "%s: %s", path, reason);
	return -code;
}

int socket_default(char *path, size_t size, char *error)
{
	int length = wire_socket_path(path, size);

	return (size_t)length < size
		       ? 0
		       : socket_failed(error, ENAMETOOLONG, path,
				       "the socket's name is too long; choose one with -s");
}

static int socket_address(const char *path, struct sockaddr_un *out, char *error)
{
	*out = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (!*path || strlen(path) >= sizeof(out->sun_path))
		return socket_failed(
			error, ENAMETOOLONG, path,
			"a socket's name has 1 to 107 characters; choose another with -s");
	strcpy(out->sun_path, path);
	return 0;
}

/* Listening */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status;
	if (where->level)
		return kind == FTW_DP ? rmdir(path) : unlink(path);
	return 0;
}

static void folder_empty(const char *folder)
{
	nftw(folder, remove_one, FOLDER_DEPTH, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Takes the lock. A process that holds it without a socket has just started, or is ending and may
 * have thousands of files to remove: wait for it. */
static bool socket_lock(int fd, const char *socket_path)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000 * 1000};
	struct stat status;

	for (unsigned waited_ms = 0; flock(fd, LOCK_EX | LOCK_NB); waited_ms += LOOK_MS) {
		if (!lstat(socket_path, &status) || waited_ms >= PASSING_MS)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* The lock; -EAGAIN if an ending server removed the folder in the meantime. */
static int folder_lock(struct socket_place *place, char *error)
{
	struct stat status;
	int fd;

	if (mkdir(place->folder, 0755) && errno != EEXIST)
		return socket_failed(error, errno, place->folder, strerror(errno));
	fd = open(place->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return socket_failed(error, errno, place->folder, strerror(errno));
	if (!socket_lock(fd, place->path)) {
		close(fd);
		return socket_failed(
			error, EADDRINUSE, place->path,
			"another weftsim serves here; stop it or choose another socket with -s");
	}
	if (fstat(fd, &status) || !status.st_nlink || status.st_uid != geteuid()) {
		close(fd);
		return status.st_nlink
			       ? socket_failed(error, EPERM, place->folder,
					       "this folder belongs to another user; choose another"
					       "socket with -s")
			       : -EAGAIN;
	}
	place->folder_fd = fd;
	return 0;
}

/* The holder of the lock may remove a socket without a listener, and no other file. */
static int path_free(const struct sockaddr_un *name, char *error)
{
	const char *path = name->sun_path;
	struct stat status;
	bool alive;
	int fd;

	if (lstat(path, &status))
		return errno == ENOENT ? 0 : socket_failed(error, errno, path, strerror(errno));
	if (!S_ISSOCK(status.st_mode))
		return socket_failed(error, EEXIST, path,
				     "this is no socket; choose another name with -s");
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	alive = !connect(fd, (const struct sockaddr *)name, sizeof(*name)) || errno != ECONNREFUSED;
	close(fd);
	if (alive)
		return socket_failed(error, EADDRINUSE, path,
				     "another program listens here; choose another socket with -s");
	return unlink(path) ? socket_failed(error, errno, path, strerror(errno)) : 0;
}

static int start_listening(struct socket_place *place, char *error)
{
	struct sockaddr_un name;
	int r = socket_address(place->path, &name, error);

	if (!r)
		r = path_free(&name, error);
	if (r)
		return r;
	place->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (place->listen_fd < 0)
		return socket_failed(error, errno, place->path, strerror(errno));
	if (!bind(place->listen_fd, (const struct sockaddr *)&name, sizeof(name)) &&
	    !listen(place->listen_fd, SOMAXCONN))
		return 0;
	r = socket_failed(error, errno, place->path, strerror(errno));
	close(place->listen_fd);
	return r;
}

/* Programs get the folder's name, and may have another working directory. */
static int absolute(const char *path, char *out, size_t size, char *error)
{
	char here[PATH_MAX] = "";
	char whole[2 * PATH_MAX];

	if (*path != '/' && !getcwd(here, sizeof(here)))
		return socket_failed(error, errno, path, strerror(errno));
	snprintf(whole, sizeof(whole), "%s%s%s", here, *path == '/' ? "" : "/", path);
	if (!*path || strlen(whole) + sizeof(LONGEST_BEHIND) > size)
		return socket_failed(error, ENAMETOOLONG, whole,
				     "the socket's name is too long for a folder beside it (94 "
				     "characters); choose another with -s");
	strcpy(out, whole);
	return 0;
}

int socket_listen(struct socket_place *place, const char *path, char *error)
{
	int r = absolute(path, place->path, sizeof(place->path), error);

	if (r)
		return r;
	snprintf(place->folder, sizeof(place->folder), "%.*s.d",
		 (int)(sizeof(place->folder) - sizeof(".d")), place->path);
	do {
		r = folder_lock(place, error);
	} while (r == -EAGAIN);
	if (r)
		return r;
	r = start_listening(place, error);
	if (!r) {
		folder_empty(place->folder);
		return 0;
	}
	rmdir(place->folder); /* unless it existed before and is not empty */
	close(place->folder_fd);
	return r;
}

void socket_close(struct socket_place *place)
{
	unlink(place->path);
	close(place->listen_fd);
	folder_empty(place->folder);
	rmdir(place->folder);
	close(place->folder_fd);
}

/* Connecting */

/* Without file there is no room for a descriptor, and the kernel closes it. */
static ssize_t receive_welcome(int fd, struct wire_welcome *welcome, int *file)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {welcome, sizeof(*welcome)};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t size;

	if (file) {
		*file = -1;
		header.msg_control = &control;
		header.msg_controllen = CMSG_LEN(sizeof(int));
	}
	size = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
	if (file && size >= 0 && CMSG_FIRSTHDR(&header) &&
	    CMSG_FIRSTHDR(&header)->cmsg_type == SCM_RIGHTS)
		memcpy(file, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof(*file));
	return size;
}

/* Returns 0 for a complete welcome, or -errno. */
static int read_welcome(int fd, struct wire_welcome *welcome, int *file)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	ssize_t size;

	if (poll(&poll_fd, 1, ANSWER_MS) == 0)
		return -ETIMEDOUT;
	size = receive_welcome(fd, welcome, file);
	if (size != sizeof(*welcome) || welcome->magic != WIRE_MAGIC)
		return size < 0 ? -errno : -EPROTO;
	welcome->text[sizeof(welcome->text) - 1] = '\0';
	welcome->folder[sizeof(welcome->folder) - 1] = '\0';
	return 0;
}

static int say_hello(int fd, const char *path, struct wire_hello *hello,
		     struct wire_welcome *welcome, int *file, char *error)
{
	int r;

	hello->magic = WIRE_MAGIC;
	hello->version = WIRE_VERSION;
	if (send(fd, hello, sizeof(*hello), MSG_NOSIGNAL) < 0)
		return socket_failed(error, errno, path, strerror(errno));
	r = read_welcome(fd, welcome, file);
	if (r)
		return socket_failed(
			error, -r, path,
			r == -ETIMEDOUT ? "the server does not answer"
					: "the program that listens here is no weftsim server");
	if (welcome->error)
		return socket_failed(error, welcome->error, path, welcome->text);
	return 0;
}

int socket_connect(const char *path, struct wire_hello *hello, struct wire_welcome *welcome,
		   int *file, char *error)
{
	struct sockaddr_un name;
	int r = socket_address(path, &name, error), fd;

	if (r)
		return r;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return socket_failed(error, errno, path, strerror(errno));
	if (connect(fd, (const struct sockaddr *)&name, sizeof(name))) {
		r = errno;
		snprintf(error, SOCKET_ERROR_SIZE,
			 "no server at %s (%s); start one with `weftsim serve`", path, strerror(r));
		close(fd);
		return -r;
	}
	r = say_hello(fd, path, hello, welcome, file, error);
	if (r) {
		close(fd);
		return r;
	}
	return fd;
}

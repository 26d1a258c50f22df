/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * `weftsim run`, `weftsim vm` and `weftsim do`, on the client's side of the socket. The preload
 * library is in the folder of this program, as in a build folder, or in its installed folder.
 */
#include "sim/user.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/mem.h"
#include "sim/do.h"
#include "sim/socket.h"
#include "vhca/frame.h"

enum { PATIENCE_MS = 5000, PAUSE_MS = 20, VM_WORDS = 4 };

static int user_fail(const char *what)
{
	fprintf(stderr, "weftsim: %s\n", what);
	return EXIT_FAILURE;
}

/* Retries while there is no listener: scripts start the server in the background and continue. */
static int connect_in(unsigned patience_ms, const char *path, struct wire_hello *hello, int *file,
		      char *error)
{
	struct wire_welcome welcome;
	int fd = socket_connect(path, hello, &welcome, file, error);

	for (unsigned ms = 0; ms < patience_ms && (fd == -ENOENT || fd == -ECONNREFUSED);
	     ms += PAUSE_MS) {
		usleep(PAUSE_MS * 1000);
		fd = socket_connect(path, hello, &welcome, file, error);
	}
	return fd;
}

/* A connection of a kind, or -errno after an error was reported. file: see socket_connect(). */
static int user_connect(const char *socket, const char *node, enum wire_kind kind,
			unsigned patience_ms, char *path, size_t path_size, int *file)
{
	struct wire_hello hello = {.kind = kind};
	char error[SOCKET_ERROR_SIZE];
	int fd = 0;

	if (socket)
		snprintf(path, path_size, "%s", socket);
	else
		fd = socket_default(path, path_size, error);
	if (node && strlen(node) >= sizeof(hello.node)) {
		snprintf(error, sizeof(error), "the node's name is too long: %.40s...", node);
		fd = -ENAMETOOLONG;
	}
	if (!fd) {
		snprintf(hello.node, sizeof(hello.node), "%s", node ? node : "");
		fd = connect_in(patience_ms, path, &hello, file, error);
	}
	if (fd < 0)
		user_fail(error);
	return fd;
}

/* run */

/* The library's path, for free(); NULL: not found. */
static char *find_library(void)
{
	static const char *const places[] = {"libweftsim.so", "../lib/weft/libweftsim.so"};
	char here[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", here, sizeof(here) - 1);

	if (length <= 0)
		return NULL;
	here[length] = '\0';
	*(strrchr(here, '/') + 1) = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char *path = mem_printf("%s%s", here, places[i]);

		if (!access(path, R_OK))
			return path;
		free(path);
	}
	fprintf(stderr, "weftsim: libweftsim.so is neither in %s nor in %s../lib/weft\n", here,
		here);
	return NULL;
}

/* Other preloaded libraries stay in front. */
static void preload(const char *library)
{
	const char *before = getenv("LD_PRELOAD");
	char *all =
		mem_printf("%s%s%s", before ? before : "", before && *before ? ":" : "", library);

	setenv("LD_PRELOAD", all, true);
	free(all);
}

int user_run(const char *socket, const char *node, char **argv)
{
	char path[PATH_MAX], absolute[PATH_MAX];
	const char *known = getenv("WEFTSIM_NODE");
	int fd = user_connect(socket, node ? node : known, WIRE_FILES, PATIENCE_MS, path,
			      sizeof(path), NULL);
	char *library;

	if (fd < 0)
		return EXIT_FAILURE;
	library = find_library();
	if (!library)
		return EXIT_FAILURE;
	preload(library);
	free(library);
	setenv("WEFTSIM_SOCKET", realpath(path, absolute) ? absolute : path, true);
	if (node)
		setenv("WEFTSIM_NODE", node, true);
	execvp(argv[0], argv);
	fprintf(stderr, "weftsim: cannot execute %s: %s\n", argv[0], strerror(errno));
	return EXIT_FAILURE;
}

/* vm */

/* The end of the node's stream that qemu inherits; -1 after an error was reported. */
static int vm_stream(const char *socket, const char *node)
{
	char path[PATH_MAX];
	int stream = -1;
	int fd = user_connect(socket, node, WIRE_HCA, PATIENCE_MS, path, sizeof(path), &stream);

	if (fd < 0)
		return -1;
	close(fd); /* the stream takes its place */
	if (stream < 0 || fcntl(stream, F_SETFD, 0)) {
		user_fail("the server sent no stream for the virtual machine");
		return -1;
	}
	return stream;
}

int user_vm(const char *socket, const char *const *nodes, unsigned count, char **argv)
{
	unsigned words = 0;
	char **all;

	while (argv[words])
		words++;
	all = mem_array(words + VM_WORDS * count + 1, sizeof(*all));
	memcpy(all, argv, words * sizeof(*all));
	for (unsigned i = 0; i < count; i++) {
		int stream = vm_stream(socket, nodes[i] ? nodes[i] : getenv("WEFTSIM_NODE"));

		if (stream < 0)
			return EXIT_FAILURE;
		all[words++] = "-netdev";
		all[words++] = mem_printf("socket,id=weft%u,fd=%d", i + 1, stream);
		all[words++] = "-device";
		all[words++] = mem_printf("virtio-net-pci,netdev=weft%u,mac=02:77:65:66:74:%02x,"
					  "host_mtu=%d",
					  i + 1, i + 1, VHCA_FRAME_MTU);
	}
	execvp(all[0], all);
	fprintf(stderr, "weftsim: cannot execute %s: %s\n", argv[0], strerror(errno));
	return EXIT_FAILURE;
}

/* do */

/* 0, or the exit status. */
static int check_words(char *const *commands, int count)
{
	struct do_call call = {0};

	for (int i = 0; i < count; i++) {
		if (do_parse(&call, commands[i])) {
			user_fail(call.error);
			return USER_EXIT_USAGE;
		}
	}
	return 0;
}

/* The file of a command that writes one; -1: it has none. Returns 0, or the exit status. */
static int open_file(const char *command, int *file)
{
	struct do_call call = {0};
	const char *path;

	*file = -1;
	if (do_parse(&call, command))
		return user_fail(call.error);
	path = do_file(&call);
	if (!path)
		return 0;
	*file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (*file >= 0)
		return 0;
	fprintf(stderr, "weftsim: cannot write %s: %s\n", path, strerror(errno));
	return EXIT_FAILURE;
}

/* Sends the command with its file, which it closes. */
static int send_command(int fd, const char *command, int file)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(file)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS}};
	struct iovec part = {(void *)command, strlen(command)};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t sent;

	if (file >= 0) {
		memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
		header.msg_control = &control;
		header.msg_controllen = sizeof(control);
	}
	sent = sendmsg(fd, &header, MSG_NOSIGNAL);
	if (file >= 0)
		close(file);
	return sent < 0 ? user_fail("the server is gone") : 0;
}

/* Prints the answer; 0, or the exit status. */
static int carry_out(int fd, const char *command)
{
	char message[WIRE_INLINE_MAX];
	int file, status = open_file(command, &file);

	if (!status)
		status = send_command(fd, command, file);
	if (status)
		return status;
	for (;;) {
		ssize_t size = recv(fd, message, sizeof(message) - 1, 0);

		if (size <= 0)
			return user_fail("the server is gone");
		message[size] = '\0';
		switch (message[0]) {
		case '+':
			fwrite(message + 1, 1, size - 1, stdout);
			break;
		case '.':
			return 0;
		default:
			fflush(stdout);
			return user_fail(message + 1);
		}
	}
}

int user_do(const char *socket, char *const *commands, int count)
{
	char path[PATH_MAX];
	int status = check_words(commands, count), fd;

	if (status)
		return status;
	fd = user_connect(socket, NULL, WIRE_DO, 0, path, sizeof(path), NULL);
	if (fd < 0)
		return EXIT_FAILURE;
	for (int i = 0; i < count && !status; i++)
		status = carry_out(fd, commands[i]);
	close(fd);
	return status;
}

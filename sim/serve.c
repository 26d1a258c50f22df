/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The server's loop: real time for a world and its kernels, one epoll for the socket, the signals
 * and all connections. It does not use lib/loop.h, whose accounting for each callback costs more
 * than a MAD takes here.
 *
 * Time is read once a turn, and the world is advanced before and after messages are read. So a
 * request begins when it arrived, and its answer, if agents take no time, leaves in the same turn.
 * Kernels are advanced last: a received answer comes before its own time-out. Folders are written
 * before answers leave, so that a program finds a new LID in the file.
 */
#include "sim/serve.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/mem.h"
#include "sim/capture.h"
#include "sim/folder.h"
#include "sim/server.h"

enum { READY = 64, US_PER_S = 1000000, NS_PER_US = 1000 };

#define FOREVER_US (UINT64_MAX / 2)

static uint64_t server_clock_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * US_PER_S + (uint64_t)time.tv_nsec / NS_PER_US;
}

/* Time */

static uint64_t next_us(const struct server *server)
{
	uint64_t world_us = world_next_us(server->world);
	uint64_t kernel_us = kernel_next_us(server->kernel);

	return world_us < kernel_us ? world_us : kernel_us;
}

/* Activity in a kernel may cause activity in the world at once, and the reverse. */
static void server_advance(struct server *server, uint64_t now_us)
{
	do {
		world_advance(server->world, now_us);
		kernel_advance(server->kernel, now_us);
	} while (next_us(server) <= now_us);
}

/* The world's time begins with the server. */
static int wait_for_events(struct server *server, uint64_t start_us, struct epoll_event *events)
{
	uint64_t due_us = next_us(server), now_us = server_clock_us() - start_us;
	uint64_t left_us = due_us > now_us ? due_us - now_us : 0;
	struct timespec left;
	int count;

	if (!list_empty(&server->working))
		left_us = 0;
	if (server->full && left_us > US_PER_S)
		left_us = US_PER_S;
	left = (struct timespec){.tv_sec = left_us / US_PER_S,
				 .tv_nsec = left_us % US_PER_S * NS_PER_US};
	count = epoll_pwait2(server->epoll_fd, events, READY, left_us > FOREVER_US ? NULL : &left,
			     NULL);
	/* The process was stopped and continued, or traced. */
	if (count < 0)
		return errno == EINTR ? 0 : -errno;
	return count;
}

static void server_handle(struct server *server, const struct epoll_event *event)
{
	if (event->data.ptr == &server->place)
		connections_accept(server);
	else if (event->data.ptr == &server->signal_fd)
		server->stop = true;
	else
		connection_ready(event->data.ptr, event->events);
}

static int server_loop(struct server *server)
{
	uint64_t start_us = server_clock_us();
	struct epoll_event events[READY];

	while (!server->stop) {
		int count = wait_for_events(server, start_us, events);

		if (count < 0)
			return count;
		server->now_us = server_clock_us() - start_us;
		world_advance(server->world, server->now_us);
		for (int i = 0; i < count; i++)
			server_handle(server, &events[i]);
		if (server->full)
			connections_accept(server);
		connections_work(server);
		server_advance(server, server->now_us);
		folders_refresh(server->folders);
		world_capture_flush(server->world);
		connections_flush(server);
		connections_free_ended(server);
	}
	return 0;
}

/* Beginning and end */

/* Attributes that the files of a node show. */
static void server_on_set(void *ctx, struct device *device, uint8_t port, uint16_t attr_id,
			  uint32_t attr_mod)
{
	struct server *server = ctx;

	(void)port;
	(void)attr_mod;
	if (attr_id == ATTR_PORT_INFO || attr_id == ATTR_PKEY_TABLE || attr_id == ATTR_GUID_INFO ||
	    attr_id == ATTR_NODE_DESCRIPTION) {
		folders_touch(server->folders, device);
		connection_device_changed(device);
	}
}

static void on_port(void *ctx, struct device *device, uint8_t port)
{
	struct server *server = ctx;

	(void)port;
	folders_touch(server->folders, device);
	connection_device_changed(device);
}

/* Each program has several connections, and there may be many programs. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int server_watch(struct server *server, int fd, void *what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};

	return fd < 0 || epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int open_descriptors(struct server *server)
{
	sigset_t set;
	int r;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	server->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (server->epoll_fd < 0)
		return -errno;
	r = server_watch(server, server->signal_fd, &server->signal_fd);
	return r ? r : server_watch(server, server->place.listen_fd, &server->place);
}

static int server_fail(const char *what)
{
	fprintf(stderr, "weftsim: %s\n", what);
	return EXIT_FAILURE;
}

static int serve_world(struct server *server, const struct net_counts *counts)
{
	int r = open_descriptors(server);

	if (!r) {
		server->kernel = kernel_new(server->world);
		server->folders =
			folders_new(server->place.folder, server->place.folder_fd, server->kernel);
		world_on_set(server->world, server_on_set, server);
		world_on_port(server->world, on_port, server);
		connections_init(server);
		printf("ready %s nodes=%u switches=%u links=%u\n", server->place.path,
		       counts->switches + counts->adapters + counts->routers, counts->switches,
		       counts->links);
		fflush(stdout);
		r = server_loop(server);
		connections_done(server);
		folders_free(server->folders);
		kernel_free(server->kernel);
	}
	close(server->epoll_fd);
	close(server->signal_fd);
	return r ? server_fail(strerror(-r)) : EXIT_SUCCESS;
}

int serve(const struct serve_options *options, struct net *net)
{
	struct server server = {.epoll_fd = -1, .signal_fd = -1};
	char error[SOCKET_ERROR_SIZE], path[sizeof(server.place.path)];
	struct net_counts counts;
	int r = options->socket ? 0 : socket_default(path, sizeof(path), error);

	net_count(net, &counts);
	if (!r)
		r = socket_listen(&server.place, options->socket ? options->socket : path, error);
	if (r) {
		net_free(net);
		return server_fail(error);
	}
	r = world_new(net, &options->world, &server.world, error, sizeof(error));
	net_free(net);
	if (r) {
		server_fail(error);
	} else {
		raise_limit();
		r = serve_world(&server, &counts);
		world_free(server.world);
	}
	socket_close(&server.place);
	return r ? EXIT_FAILURE : EXIT_SUCCESS;
}

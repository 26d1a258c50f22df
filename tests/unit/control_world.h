/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A manager on a fabric of fake agents (sm_world.h) with its control socket, and clients on that in
 * the same thread: for tests of commands. A test has one such world at a time.
 */
#ifndef TESTS_UNIT_CONTROL_WORLD_H
#define TESTS_UNIT_CONTROL_WORLD_H

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "lib/control.h"
#include "sm/context.h"
#include "tests/unit/sm_world.h"

enum { CLIENTS = 5, TEXT = 64 << 10 };

static struct {
	struct control *control;
	char folder[32], path[64];
	struct client {
		int fd; /* -1: gone, or none */
		char text[TEXT];
		size_t length;
	} clients[CLIENTS];
} bed;

/* The manager is on host-0001, and its first sweep is over. */
static inline struct world *start(const char *spec)
{
	struct sm_options options = world_options();
	struct net *net = NULL;
	char *error = NULL;
	struct world *world;

	memset(options.engines, 0, sizeof(options.engines));
	strcpy(options.engines[0], "updn");
	CU_ASSERT_EQUAL_FATAL(spec_build(spec, &net, &error), 0);
	world = world_new(net, net_find(net, "host-0001"), 1, &options);
	strcpy(bed.folder, "/tmp/weft-control-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(bed.folder));
	snprintf(bed.path, sizeof(bed.path), "%s/sock", bed.folder);
	CU_ASSERT_EQUAL_FATAL(control_listen(world->loop, bed.path, &bed.control), 0);
	sm_register_commands(world->sm, bed.control);
	for (int i = 0; i < CLIENTS; i++)
		bed.clients[i].fd = -1;
	world_up(world);
	return world;
}

static inline void end(struct world *world)
{
	for (int i = 0; i < CLIENTS; i++)
		if (bed.clients[i].fd >= 0)
			close(bed.clients[i].fd);
	sm_stop(world->sm);
	control_free(bed.control);
	world_free(world);
	rmdir(bed.folder);
}

static inline void say(int i, const char *request)
{
	struct client *client = &bed.clients[i];
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	client->length = 0;
	client->text[0] = '\0';
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", bed.path);
	CU_ASSERT_EQUAL_FATAL(connect(client->fd, (struct sockaddr *)&address, sizeof(address)), 0);
	CU_ASSERT_EQUAL_FATAL(send(client->fd, request, strlen(request), 0),
			      (ssize_t)strlen(request));
}

/* Whether the reply has come to its end. */
static inline bool answered(int i)
{
	struct client *client = &bed.clients[i];
	ssize_t got = recv(client->fd, client->text + client->length, TEXT - client->length - 1,
			   MSG_DONTWAIT);

	if (got > 0)
		client->length += (size_t)got;
	client->text[client->length] = '\0';
	return strstr(client->text, "\"ok\":");
}

static inline bool all_answered(const struct world *world)
{
	bool all = true;

	(void)world;
	for (int i = 0; i < CLIENTS; i++)
		all = (bed.clients[i].fd < 0 || answered(i)) && all;
	return all;
}

static inline bool has(int i, const char *words)
{
	bool found = strstr(bed.clients[i].text, words);

	if (!found)
		printf("\nno %s in %s\n", words, bed.clients[i].text);
	return found;
}

/* Asks one thing; the answer is that of client 0. */
static inline void ask(struct world *world, const char *request)
{
	say(0, request);
	world_run(world, all_answered);
	close(bed.clients[0].fd);
	bed.clients[0].fd = -1;
}

#endif

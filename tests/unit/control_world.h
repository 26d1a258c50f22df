/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A manager on a fabric of fake agents (sm_world.h) with its control socket and some clients on it
 * (control_client.h). A test has one such world at a time.
 */
#ifndef TESTS_UNIT_CONTROL_WORLD_H
#define TESTS_UNIT_CONTROL_WORLD_H

#include "sm/context.h"
#include "tests/unit/control_client.h"
#include "tests/unit/sm_world.h"

enum { CLIENTS = 5 };

static struct {
	struct control_socket socket;
	struct control_client clients[CLIENTS];
} bed;

/* The manager is on host-0001, and its first sweep is over. */
static inline struct world *start_with(const char *spec, struct sm_options options)
{
	struct net *net = NULL;
	char *error = NULL;
	struct world *world;

	memset(options.engines, 0, sizeof(options.engines));
	strcpy(options.engines[0], "updn");
	CU_ASSERT_EQUAL_FATAL(spec_build(spec, &net, &error), 0);
	world = world_new(net, net_find(net, "host-0001"), 1, &options);
	socket_begin(&bed.socket, world->loop);
	sm_commands_begin(world->sm, bed.socket.control);
	for (int i = 0; i < CLIENTS; i++)
		client_begin(&bed.clients[i], &bed.socket);
	world_up(world);
	return world;
}

static inline struct world *start(const char *spec)
{
	return start_with(spec, world_options());
}

static inline void end(struct world *world)
{
	for (int i = 0; i < CLIENTS; i++)
		client_hang_up(&bed.clients[i]);
	world_stop(world);
	socket_end(&bed.socket);
	world_free(world);
}

static inline void say(int i, const char *request)
{
	client_say(&bed.clients[i], request);
}

/* Whether the reply has come to its end. */
static inline bool answered(int i)
{
	struct control_client *client = &bed.clients[i];

	client_take(client);
	return client->text && strstr(client->text, "\"ok\":");
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
	const char *text = bed.clients[i].text;
	bool found = text && strstr(text, words);

	if (!found)
		printf("\nno %s in %s\n", words, text ? text : "nothing");
	return found;
}

/* Asks one thing; the answer is that of client 0. */
static inline void ask(struct world *world, const char *request)
{
	say(0, request);
	world_run(world, all_answered);
}

#endif

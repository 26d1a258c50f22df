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
} control_bed;

/* The manager is on host-0001, and its first sweep is over. */
static inline struct world *control_start_with(const char *spec, struct sm_options options)
{
	struct net *net = NULL;
	char *error = NULL;
	struct world *world;

	memset(options.engines, 0, sizeof(options.engines));
	strcpy(options.engines[0], "updn");
	CU_ASSERT_EQUAL_FATAL(spec_build(spec, &net, &error), 0);
	world = sm_world_new(net, net_find(net, "host-0001"), 1, &options);
	socket_begin(&control_bed.socket, world->loop);
	sm_commands_begin(world->sm, control_bed.socket.control);
	for (int i = 0; i < CLIENTS; i++)
		client_begin(&control_bed.clients[i], &control_bed.socket);
	sm_world_up(world);
	return world;
}

static inline struct world *control_start(const char *spec)
{
	return control_start_with(spec, sm_world_options());
}

static inline void control_end(struct world *world)
{
	for (int i = 0; i < CLIENTS; i++)
		client_hang_up(&control_bed.clients[i]);
	sm_world_stop(world);
	socket_end(&control_bed.socket);
	sm_world_free(world);
}

static inline void control_say(int i, const char *request)
{
	client_say(&control_bed.clients[i], request);
}

/* Whether the reply has come to its end. */
static inline bool control_answered(int i)
{
	struct control_client *client = &control_bed.clients[i];

	client_take(client);
	return client->text && strstr(client->text, "\"ok\":");
}

static inline bool control_all_answered(const struct world *world)
{
	bool all = true;

	(void)world;
	for (int i = 0; i < CLIENTS; i++)
		all = (control_bed.clients[i].fd < 0 || control_answered(i)) && all;
	return all;
}

static inline bool control_has(int i, const char *words)
{
	const char *text = control_bed.clients[i].text;
	bool found = text && strstr(text, words);

	if (!found)
		printf("\nno %s in %s\n", words, text ? text : "nothing");
	return found;
}

/* Asks one thing; the answer is that of client 0. */
static inline void control_ask(struct world *world, const char *request)
{
	control_say(0, request);
	sm_world_run(world, control_all_answered);
}

#endif

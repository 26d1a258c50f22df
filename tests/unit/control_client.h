/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A control socket in a folder of its own, and clients on it in the thread of the loop that serves
 * it: for tests of commands. What came for a client is kept until it asks anew.
 */
#ifndef TESTS_UNIT_CONTROL_CLIENT_H
#define TESTS_UNIT_CONTROL_CLIENT_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/control.h"
#include "lib/mem.h"
#include "tests/unit/unit.h"

enum { AWAITED_MAX = 128 };

struct control_socket {
	struct loop *loop;
	struct control *control;
	char folder[32], path[64];
};

struct control_client {
	const struct control_socket *socket;
	int fd;		       /* -1: none */
	char *text;	       /* all that has come, NULL: nothing */
	size_t length, looked; /* so much of it was looked at for what is awaited */
	const char *awaited;
	struct loop_timer turn;
};

static inline void socket_begin(struct control_socket *at, struct loop *loop)
{
	*at = (struct control_socket){.loop = loop};
	strcpy(at->folder, "/tmp/weft-control-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(at->folder));
	snprintf(at->path, sizeof(at->path), "%s/sock", at->folder);
	CU_ASSERT_EQUAL_FATAL(control_listen(loop, at->path, &at->control), 0);
}

/* The loop stays, and so do clients. */
static inline void socket_end(struct control_socket *at)
{
	control_free(at->control);
	rmdir(at->folder);
}

static inline void client_begin(struct control_client *client, const struct control_socket *at)
{
	*client = (struct control_client){.socket = at, .fd = -1};
}

static inline void client_hang_up(struct control_client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	client->fd = -1;
	free(client->text);
	client->text = NULL;
	client->length = 0;
}

/* A connection on which a request was made; the caller's. */
static inline int client_connect(const struct control_socket *at, const char *request)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", at->path);
	CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	CU_ASSERT_EQUAL_FATAL(send(fd, request, strlen(request), 0), (ssize_t)strlen(request));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/* Asks anew; what came before is forgotten. */
static inline void client_say(struct control_client *client, const char *request)
{
	client_hang_up(client);
	client->fd = client_connect(client->socket, request);
}

/* Takes what has come until now. */
static inline void client_take(struct control_client *client)
{
	char bytes[65536];
	ssize_t got;

	while ((got = recv(client->fd, bytes, sizeof(bytes), 0)) > 0) {
		client->text = mem_resize(client->text, client->length + (size_t)got + 1, 1);
		memcpy(client->text + client->length, bytes, (size_t)got);
		client->length += (size_t)got;
		client->text[client->length] = '\0';
	}
}

static inline void client_look(void *arg)
{
	struct control_client *client = arg;
	size_t seen = client->looked > AWAITED_MAX ? client->looked - AWAITED_MAX : 0;

	client_take(client);
	client->looked = client->length;
	if (client->text && strstr(client->text + seen, client->awaited))
		loop_stop(client->socket->loop, 0);
	else
		loop_timer_arm(&client->turn, 500);
}

/* Runs the loop until a text, shorter than AWAITED_MAX, has come. */
static inline void client_await(struct control_client *client, const char *text)
{
	client->awaited = text;
	client->looked = 0;
	loop_timer_init(&client->turn, client->socket->loop, "client", client_look, client);
	loop_timer_arm(&client->turn, 0);
	loop_run(client->socket->loop);
}

#endif

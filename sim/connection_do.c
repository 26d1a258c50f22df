/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Connections of `weftsim do`: one command at a time. While a command runs, or its answer is not
 * yet sent, the next command stays in the socket: so a client that does not read uses no memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "sim/do.h"
#include "sim/folder.h"
#include "sim/server.h"

enum { PIECE = 16384 };

_Static_assert(DO_TEXT_SIZE - 1 <= CONNECTION_MESSAGE_MAX, "room");

static int do_start(struct connection *connection, const struct wire_hello *hello,
		    struct wire_welcome *welcome)
{
	(void)connection;
	(void)hello;
	(void)welcome;
	return 0;
}

static void send_text(struct connection *connection, char kind, const char *text, size_t size)
{
	char message[1 + PIECE];

	message[0] = kind;
	memcpy(message + 1, text, size);
	connection_send(connection, message, 1 + size);
}

/* Runs a command's function once; its output is sent in pieces. */
static int run_once(struct connection *connection, struct do_call *call)
{
	char *text = NULL;
	size_t size = 0;
	int r;

	call->out = open_memstream(&text, &size);
	if (!call->out)
		return do_fail(call, "the server is out of memory");
	r = call->command->run(call);
	fclose(call->out);
	for (size_t done = 0; done < size; done += PIECE)
		send_text(connection, '+', text + done, size - done < PIECE ? size - done : PIECE);
	free(text);
	return r;
}

static void call_end(struct connection *connection)
{
	struct do_call *call = connection->call;

	if (!call)
		return;
	do_done(call);
	free(call);
	connection->call = NULL;
	list_del(&connection->working);
}

static void do_drained(struct connection *connection)
{
	if (!connection->call)
		connection_pause(connection, false);
}

static void work(struct connection *connection)
{
	struct do_call *call = connection->call;
	int r = run_once(connection, call);

	if (r == DO_AGAIN)
		return;
	connections_of_removed(connection->server);
	folders_touch_all(connection->server->folders);
	send_text(connection, r ? '!' : '.', call->error, r ? strlen(call->error) : 0);
	call_end(connection);
}

static bool do_message(struct connection *connection, const uint8_t *bytes, size_t size, int file)
{
	struct server *server = connection->server;
	struct do_call *call = mem_zalloc(sizeof(*call));
	char text[DO_TEXT_SIZE];

	memcpy(text, bytes, size);
	text[size] = '\0';
	call->world = server->world;
	call->kernel = server->kernel;
	connection->call = call;
	connection_pause(connection, true);
	if (do_parse(call, text)) {
		send_text(connection, '!', call->error, strlen(call->error));
		call_end(connection);
		return true;
	}
	if (file >= 0)
		call->file = fcntl(file, F_DUPFD_CLOEXEC, 0);
	list_push(&server->working, &connection->working);
	return true;
}

void connections_work(struct server *server)
{
	struct list *link = list_pop(&server->working);

	if (!link)
		return;
	list_push(&server->working, link);
	work(container_of(link, struct connection, working));
}

const struct connection_kind connection_do = {
	.start = do_start,
	.message = do_message,
	.drained = do_drained,
	.end = call_end,
	.longest = DO_TEXT_SIZE - 1,
};

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The server of the control socket, on the loop thread. It owns the socket file, the clients and
 * their buffers; a request under way belongs to its handler until the handler ends it.
 *
 * All work for a client happens in client_pump(): the functions that handlers call only fill the
 * output, mark finished requests and defer the pump. So no client disappears under a handler, and
 * no call chain grows with the number of requests in a buffer. A client has one request at a time;
 * while it is under way nothing more is read. A client is dropped when it closes the connection or
 * when another user needs its place. The same happens when it reads nothing for a minute, when a
 * request is still incomplete after a minute, or when its unsent output exceeds a limit. There are
 * two sockets: the first accepts all commands, the second only those that change nothing.
 */
#include "lib/control.h"

#include <endian.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/control_audit.h"
#include "lib/control_wire.h"
#include "lib/log.h"
#include "lib/suggest.h"

enum {
	CLIENTS_MAX = 64,
	REQUEST_MAX_BYTES = 4 << 20,  /* 100,000 GUIDs in one request */
	READONLY_MAX_BYTES = 4 << 10, /* of a request on the read-only socket */
	READ_BYTES = 64 << 10,
	SEND_BYTES = 256 << 10,
	OUTPUT_LOW_BYTES = 64 << 10, /* below it, the next request begins */
	STREAM_LOW_BYTES = 8 << 10,  /* below it, a stream is pulled, */
	/* At most so often in a turn, because some steps write nothing. */
	STREAM_PARTS = 8,
	OUTPUT_MAX_BYTES = 32 << 20, /* above it, a client counts as not reading */
	/* Of an unknown command, as far as an error message repeats it. */
	NAME_MAX_CHARS = 63,
	STALL_US = 60 * 1000000,
	REQUEST_US = 60 * 1000000, /* time from the first byte of a request to its last */
	ACCEPT_PAUSE_US = 1000000, /* when the process has no free descriptor */
};

struct registration {
	const struct control_command *rows;
	size_t count;
	void *ctx;
};

/* A socket and its clients. Clients of one socket do not take places of the other. */
struct door {
	struct control *control;
	bool readonly;
	size_t request_max_bytes;
	char *path;   /* NULL: the socket does not exist */
	dev_t device; /* of the socket file, so that only our own file is removed */
	ino_t inode;
	int fd;
	struct loop_fd *watch;
	struct loop_timer accept_again;
	struct list clients; /* in the order in which their last requests ended */
	unsigned client_count;
};

struct control {
	struct loop *loop;
	struct door full, readonly;
	struct registration *registrations;
	size_t registration_count;
	size_t output_max_bytes;
	uint64_t stall_us;
	uint64_t dropped; /* dropped clients that did not read, or did not complete a request */
	struct log_limit limit;
};

struct client {
	struct list link;
	struct door *door;
	struct ucred peer;
	int fd;
	struct loop_fd *watch;
	struct loop_deferred pump;
	struct loop_timer stall; /* armed while output waits */
	struct loop_timer half;	 /* armed while a request is incomplete */
	struct buffer in, out;
	struct control_request *request; /* under way, or NULL */
	bool skipping;			 /* the rest of a line that was too long */
	bool ended;			 /* no more input; the client may still read */
	bool gone;			 /* the next run of the pump frees it */
};

struct control_request {
	struct client *client; /* NULL: the client is gone */
	enum stream_step (*next)(void *source, struct buffer *part);
	void (*finish)(void *source);
	void *source;
	bool resting;		     /* next() returned STREAM_LATER */
	struct control_audit *audit; /* NULL: the command changes nothing */
};

/* Leaves the client to the pump, which frees it. */
static void client_leave(struct client *client)
{
	client->gone = true;
	loop_defer(&client->pump);
}

static void client_drop(struct client *client, const char *why)
{
	struct control *control = client->door->control;

	if (client->gone)
		return;
	control->dropped++;
	log_limited(&control->limit, LOG_WARNING, NULL,
		    "a client of the control socket was dropped: it %s (%" PRIu64 " so far)", why,
		    control->dropped);
	client_leave(client);
}

static void client_stalled(void *arg)
{
	client_drop(arg, "did not read");
}

static void client_is_half(void *arg)
{
	client_drop(arg, "did not send the rest of its request");
}

/* Where the members of one more line are written; NULL: the client is gone. One answer may exceed
 * the limit, but no line is appended after it. */
static struct buffer *line_begin(struct client *client)
{
	if (!client || client->gone)
		return NULL;
	if (buffer_length(&client->out) > client->door->control->output_max_bytes) {
		client_drop(client, "did not read what it asked for");
		return NULL;
	}
	row_begin(&client->out, NULL, '{');
	return &client->out;
}

static void line_end(struct client *client)
{
	row_string(&client->out, "version", WEFT_VERSION);
	row_end(&client->out, '}');
	buffer_append(&client->out, "\n", 1);
	loop_defer(&client->pump);
}

/* An error may contain names of users and remote nodes, so it may not be UTF-8. */
static void write_error(struct client *client, const char *text)
{
	struct buffer *line = line_begin(client);

	if (!line)
		return;
	row_boolean(line, "ok", false);
	row_string(line, "error", text);
	line_end(client);
}

static void __attribute__((format(printf, 2, 3)))
client_refuse(struct client *client, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	write_error(client, text);
}

int control_gone(const struct control_request *request)
{
	return !request->client || request->client->gone;
}

/* Its last line is complete. refusal: NULL: it was done. */
static void request_end(struct control_request *request, const char *refusal)
{
	struct client *client = request->client;

	control_audit_end(request->audit, refusal);

	if (client) {
		client->request = NULL;
		list_del(&client->link);
		list_push(&client->door->clients, &client->link);
	}
	free(request);
}

void control_part(struct control_request *request, json_t *part)
{
	struct buffer *line = line_begin(request->client);

	if (!line) {
		json_decref(part);
		return;
	}
	row_json(line, "part", part);
	line_end(request->client);
}

void control_reply(struct control_request *request, json_t *result)
{
	struct buffer *line = line_begin(request->client);

	if (line) {
		row_boolean(line, "ok", true);
		row_json(line, "result", result);
		line_end(request->client);
	} else {
		json_decref(result);
	}
	request_end(request, NULL);
}

void control_reply_row(struct control_request *request, const struct buffer *result)
{
	struct buffer *line = line_begin(request->client);

	if (line) {
		row_boolean(line, "ok", true);
		row_copy(line, "result", result);
		line_end(request->client);
	}
	request_end(request, NULL);
}

void control_fail(struct control_request *request, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort(); /* out of memory */
	va_end(args);
	write_error(request->client, text);
	request_end(request, text);
	free(text);
}

void control_stream(struct control_request *request,
		    enum stream_step (*next)(void *source, struct buffer *part),
		    void (*finish)(void *source), void *source)
{
	if (control_gone(request)) {
		finish(source);
		control_reply(request, NULL);
		return;
	}
	request->next = next;
	request->finish = finish;
	request->source = source;
	loop_defer(&request->client->pump);
}

void control_resume(struct control_request *request)
{
	request->resting = false;
	if (request->client)
		loop_defer(&request->client->pump);
}

static bool is_streaming(const struct client *client)
{
	return client->request && client->request->next && !client->request->resting;
}

/* Appends one complete line, or nothing. */
static enum stream_step stream_line(struct client *client)
{
	struct control_request *request = client->request;
	struct buffer *line = &client->out;
	size_t before = buffer_length(line);
	enum stream_step step;

	row_begin(line, NULL, '{');
	row_begin(line, "part", '{');
	step = request->next(request->source, line);
	row_end(line, '}');
	if (step == STREAM_PART)
		line_end(client);
	else
		line->end = line->begin + before;
	return step;
}

static void stream_pull(struct client *client)
{
	struct control_request *request = client->request;

	for (unsigned parts = 0; parts < STREAM_PARTS && !client->gone &&
				 buffer_length(&client->out) < STREAM_LOW_BYTES;
	     parts++) {
		switch (stream_line(client)) {
		case STREAM_PART:
			break;
		case STREAM_LATER:
			request->resting = true;
			return;
		case STREAM_END:
			request->finish(request->source);
			control_reply(request, NULL);
			return;
		}
	}
}

/* The row of that name, and the context with which it was registered; else NULL, and the most
 * similar name. */
static const struct control_command *command_find(const struct control *control, const char *name,
						  void **ctx, struct suggest *suggest)
{
	*suggest = suggest_for(name);
	for (size_t i = 0; i < control->registration_count; i++) {
		const struct registration *registration = &control->registrations[i];

		for (size_t k = 0; k < registration->count; k++) {
			const struct control_command *row = &registration->rows[k];

			if (!strcmp(row->name, name)) {
				*ctx = registration->ctx;
				return row;
			}
			suggest_try(suggest, row->name);
		}
	}
	return NULL;
}

static void request_start(struct client *client, const json_t *args)
{
	const char *name = json_string_value(json_object_get(args, "command"));
	const struct control_command *command;
	struct suggest suggest;
	void *ctx;

	if (!name) {
		client_refuse(client, "the request names no command; it is a JSON object with at "
				      "least {\"command\":\"...\"}");
		return;
	}
	command = command_find(client->door->control, name, &ctx, &suggest);
	if (command && client->door->readonly && command->does != CONTROL_LOOKS) {
		client_refuse(
			client,
			"\"%s\" is not available on the read-only socket: use %s, which needs "
			"more rights",
			command->name, client->door->control->full.path);
	} else if (command) {
		client->request = mem_zalloc(sizeof(*client->request));
		client->request->client = client;
		/* A document or file in pieces is one command: its last piece. */
		if (command->does == CONTROL_CHANGES &&
		    !json_is_true(json_object_get(args, "more")))
			client->request->audit =
				control_audit_begin(command->name, &client->peer, args);
		command->handle(ctx, client->request, args);
	} else if (suggest.best) {
		client_refuse(client, "there is no command \"%.*s\"; did you mean \"%s\"?",
			      NAME_MAX_CHARS, name, suggest.best);
	} else {
		client_refuse(client, "there is no command \"%.*s\"", NAME_MAX_CHARS, name);
	}
}

static void request_parse(struct client *client, const char *line, size_t length)
{
	json_error_t error;
	json_t *args = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);

	if (!args)
		client_refuse(client, "the request is not JSON: %s, column %d", error.text,
			      error.column);
	else
		request_start(client, args);
	json_decref(args);
}

static void refuse_long(struct client *client)
{
	client_refuse(client, "the request is longer than %zu bytes; send it in smaller ones",
		      client->door->request_max_bytes);
}

/* Begins the next request if the input has a complete one. The pump runs again, because more may
 * follow. */
static void client_next_request(struct client *client)
{
	size_t length, max_bytes = client->door->request_max_bytes;
	const char *line = buffer_line(&client->in, &length);

	if (line) {
		loop_timer_disarm(&client->half);
		if (client->skipping)
			client->skipping = false;
		else if (length > max_bytes)
			refuse_long(client);
		else
			request_parse(client, line, length);
		buffer_consume(&client->in, length + 1);
		loop_defer(&client->pump);
	} else if (client->skipping || buffer_length(&client->in) > max_bytes) {
		if (!client->skipping)
			refuse_long(client);
		client->skipping = true;
		buffer_consume(&client->in, buffer_length(&client->in));
	}
}

static void client_free(struct client *client)
{
	struct control_request *request = client->request;

	if (request) {
		request->client = NULL;
		if (request->next) {
			request->finish(request->source);
			free(request);
		}
	}
	loop_defer_cancel(&client->pump);
	loop_timer_disarm(&client->stall);
	loop_timer_disarm(&client->half);
	loop_fd_remove(client->watch);
	close(client->fd);
	free(client->in.bytes);
	free(client->out.bytes);
	list_del(&client->link);
	client->door->client_count--;
	free(client);
}

/* One send() per call, so that a fast reader does not hold the loop. */
static void client_flush(struct client *client)
{
	size_t length = buffer_length(&client->out);
	ssize_t sent;

	if (!length || client->gone)
		return;
	sent = send(client->fd, client->out.bytes + client->out.begin,
		    length < SEND_BYTES ? length : SEND_BYTES, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent < 0) {
		if (errno != EAGAIN && errno != EINTR)
			client_leave(client);
	} else {
		buffer_consume(&client->out, (size_t)sent);
		loop_timer_disarm(&client->stall);
	}
	if (buffer_length(&client->out) && !loop_timer_armed(&client->stall))
		loop_timer_arm(&client->stall, client->door->control->stall_us);
}

static void client_watch(struct client *client)
{
	size_t waiting = buffer_length(&client->out);
	/* All output may have been sent since a stream was pulled, and no other event would pull it
	 * again. */
	uint32_t events = waiting || is_streaming(client) ? EPOLLOUT : 0;

	if (!client->ended && !client->request && waiting < OUTPUT_LOW_BYTES &&
	    buffer_length(&client->in) <= client->door->request_max_bytes)
		events |= EPOLLIN;
	if (!(events & EPOLLIN) || !(client->skipping || buffer_length(&client->in)))
		loop_timer_disarm(&client->half);
	else if (!loop_timer_armed(&client->half))
		loop_timer_arm(&client->half, REQUEST_US);
	if (loop_fd_events(client->watch, events))
		client_leave(client);
}

static bool client_done(const struct client *client)
{
	return client->ended && !client->request && !buffer_length(&client->in) &&
	       !buffer_length(&client->out);
}

static void client_pump(void *arg)
{
	struct client *client = arg;

	client_flush(client);
	if (!client->gone && buffer_length(&client->out) < OUTPUT_LOW_BYTES) {
		if (!client->request)
			client_next_request(client);
		if (is_streaming(client))
			stream_pull(client);
		client_flush(client);
	}
	if (client->gone || client_done(client))
		client_free(client);
	else
		client_watch(client);
}

/* A last line without its newline counts as one. */
static void client_read(struct client *client)
{
	char *to = buffer_reserve(&client->in, READ_BYTES);
	ssize_t got = recv(client->fd, to, READ_BYTES, MSG_DONTWAIT);

	if (got > 0) {
		client->in.end += (size_t)got;
	} else if (got == 0) {
		client->ended = true;
		if (buffer_length(&client->in) && client->in.bytes[client->in.end - 1] != '\n')
			buffer_append(&client->in, "\n", 1);
	} else if (errno != EAGAIN && errno != EINTR) {
		client_leave(client);
	}
}

/* EPOLLHUP: the client has closed its reading side too, so an answer would have no reader. */
static void client_ready(void *arg, uint32_t events)
{
	struct client *client = arg;

	if (events & (EPOLLHUP | EPOLLERR))
		client_leave(client);
	else if (events & EPOLLIN)
		client_read(client);
	loop_defer(&client->pump);
}

static void client_new(struct door *door, int fd, const struct ucred *peer)
{
	struct loop *loop = door->control->loop;
	struct client *client = mem_zalloc(sizeof(*client));

	if (loop_fd_add(loop, fd, EPOLLIN, LOOP_LATER, "control client", client_ready, client,
			&client->watch)) {
		close(fd);
		free(client);
		return;
	}
	client->door = door;
	client->peer = *peer;
	client->fd = fd;
	loop_deferred_init(&client->pump, loop, "control client", client_pump, client);
	loop_timer_init(&client->stall, loop, "control client stalled", client_stalled, client);
	loop_timer_init(&client->half, loop, "half a request", client_is_half, client);
	list_push(&door->clients, &client->link);
	door->client_count++;
}

/* unix(7): the process that called connect(), and its user. A user namespace shows all users that
 * it does not map as one, so the units do not set PrivateUsers=. */
static struct ucred peer_of(int fd)
{
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t size = sizeof(peer);

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	return peer;
}

static unsigned clients_of(const struct door *door, uid_t user)
{
	unsigned count = 0;

	list_for_each (item, &door->clients)
		count += container_of(item, struct client, link)->peer.uid == user;
	return count;
}

static uid_t user_with_most(const struct door *door)
{
	unsigned most = 0;
	uid_t found = 0;

	list_for_each (item, &door->clients) {
		uid_t user = container_of(item, struct client, link)->peer.uid;
		unsigned count = clients_of(door, user);

		if (count > most) {
			most = count;
			found = user;
		}
	}
	return found;
}

/* The client of this user that is idle longest; else, if busy, the first. */
static struct client *client_of(const struct door *door, uid_t user, bool busy)
{
	list_for_each (item, &door->clients) {
		struct client *client = container_of(item, struct client, link);

		if (client->peer.uid == user && (busy || !client->request))
			return client;
	}
	return NULL;
}

/* All users may have the same number of clients. The user with the most clients loses one to a user
 * that has fewer clients even after the change, so two users do not displace each other in turn.
 * Otherwise an idle client of the same user is dropped. NULL: no client can be dropped. */
static struct client *client_to_drop(const struct door *door, uid_t user)
{
	uid_t most = user_with_most(door);
	struct client *idle;

	if (clients_of(door, most) < clients_of(door, user) + 2)
		return client_of(door, user, false);
	idle = client_of(door, most, false);
	return idle ? idle : client_of(door, most, true);
}

static bool door_has_place(struct door *door, uid_t user)
{
	struct client *client;

	if (door->client_count < CLIENTS_MAX)
		return true;
	client = client_to_drop(door, user);
	if (!client)
		return false;
	client_drop(client, "its place was given to another client");
	client_free(client);
	return true;
}

static void refuse_connection(int fd)
{
	static const char line[] = "{\"ok\":false,\"error\":\"too many clients of the control "
				   "socket; try again later\",\"version\":\"" WEFT_VERSION "\"}\n";

	(void)!send(fd, line, sizeof(line) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

/* Without free descriptors the socket would stay readable and keep the loop busy: pause
 * accepting. */
static void accept_pause(struct door *door, int error)
{
	log_limited(
		&door->control->limit, LOG_WARNING, NULL,
		"cannot accept a client on %s: %s; raise the limit of open files (LimitNOFILE=)",
		door->path, strerror(error));
	loop_fd_events(door->watch, 0);
	loop_timer_arm(&door->accept_again, ACCEPT_PAUSE_US);
}

static void accept_resume(void *arg)
{
	struct door *door = arg;

	loop_fd_events(door->watch, EPOLLIN);
}

static void door_ready(void *arg, uint32_t events)
{
	struct door *door = arg;
	int fd = accept4(door->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	struct ucred peer;

	(void)events;
	if (fd >= 0) {
		peer = peer_of(fd);
		if (door_has_place(door, peer.uid))
			client_new(door, fd, &peer);
		else
			refuse_connection(fd);
	} else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
		accept_pause(door, errno);
	}
}

/* Why the address cannot be bound: a daemon answers there (-EADDRINUSE), or the file is no socket
 * (-EEXIST). A stale socket file is removed; then, and if there is no file, 0. */
static int clear_path(const struct sockaddr_un *address)
{
	struct stat status;
	int fd, error;

	if (lstat(address->sun_path, &status))
		return -errno;
	if (!S_ISSOCK(status.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	error = connect(fd, (const struct sockaddr *)address, sizeof(*address)) ? errno : 0;
	close(fd);
	if (error != ECONNREFUSED)
		return -EADDRINUSE;
	return unlink(address->sun_path) ? -errno : 0;
}

static int bind_path(int fd, const struct sockaddr_un *address)
{
	const struct sockaddr *generic = (const struct sockaddr *)address;
	int rc;

	if (!bind(fd, generic, sizeof(*address)))
		return 0;
	if (errno != EADDRINUSE)
		return -errno;
	rc = clear_path(address);
	if (rc)
		return rc;
	return bind(fd, generic, sizeof(*address)) ? -errno : 0;
}

/* acl(5): the file's owner may name any group in its access list. So this needs neither membership
 * in the group nor chown(), which the units' SystemCallFilter= denies. The mode becomes 0660. */
static int share_with_group(const char *path, gid_t group)
{
	enum { MAY_USE = ACL_READ | ACL_WRITE };
	const struct {
		struct posix_acl_xattr_header header;
		struct posix_acl_xattr_entry entries[5];
	} list = {
		{htole32(POSIX_ACL_XATTR_VERSION)},
		{{htole16(ACL_USER_OBJ), htole16(MAY_USE), htole32((uint32_t)ACL_UNDEFINED_ID)},
		 {htole16(ACL_GROUP_OBJ), htole16(MAY_USE), htole32((uint32_t)ACL_UNDEFINED_ID)},
		 {htole16(ACL_GROUP), htole16(MAY_USE), htole32(group)},
		 {htole16(ACL_MASK), htole16(MAY_USE), htole32((uint32_t)ACL_UNDEFINED_ID)},
		 {htole16(ACL_OTHER), 0, htole32((uint32_t)ACL_UNDEFINED_ID)}},
	};

	return setxattr(path, "system.posix_acl_access", &list, sizeof(list), 0) ? -errno : 0;
}

/* Gives access to the group of that name; NULL: to all users. */
static int share_file(const char *path, const char *group)
{
	const struct group *found = group ? getgrnam(group) : NULL;

	if (!group)
		return chmod(path, 0666) ? -errno : 0;
	return found ? share_with_group(path, found->gr_gid) : -ESRCH;
}

/* No client can connect before listen(), so the mode is in force before the first connection. */
static int door_open(struct door *door, const struct sockaddr_un *address, const char *group)
{
	struct stat status;
	int rc;

	door->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (door->fd < 0)
		return -errno;
	rc = bind_path(door->fd, address);
	if (rc)
		goto close;
	if (door->readonly)
		rc = share_file(address->sun_path, group);
	else
		rc = chmod(address->sun_path, 0660) ? -errno : 0;
	if (rc)
		goto unlink;
	if (stat(address->sun_path, &status) || listen(door->fd, CLIENTS_MAX)) {
		rc = -errno;
		goto unlink;
	}
	door->device = status.st_dev;
	door->inode = status.st_ino;
	rc = loop_fd_add(door->control->loop, door->fd, EPOLLIN, LOOP_LATER, "control socket",
			 door_ready, door, &door->watch);
	if (!rc)
		return 0;
unlink:
	unlink(address->sun_path);
close:
	close(door->fd);
	return rc;
}

static int door_listen(struct door *door, const char *path, const char *group)
{
	struct sockaddr_un address;
	int rc = control_address(path, &address);

	if (!rc)
		rc = door_open(door, &address, group);
	if (rc)
		return rc;
	door->path = mem_strdup(path);
	return 0;
}

static void door_init(struct door *door, struct control *control, bool readonly)
{
	door->control = control;
	door->readonly = readonly;
	door->request_max_bytes = readonly ? READONLY_MAX_BYTES : REQUEST_MAX_BYTES;
	list_init(&door->clients);
	loop_timer_init(&door->accept_again, control->loop, "control accept", accept_resume, door);
}

static void door_close(struct door *door)
{
	struct stat status;

	if (!door->path)
		return;
	list_for_each (item, &door->clients)
		client_free(container_of(item, struct client, link));
	loop_timer_disarm(&door->accept_again);
	loop_fd_remove(door->watch);
	close(door->fd);
	if (!lstat(door->path, &status) && status.st_dev == door->device &&
	    status.st_ino == door->inode)
		unlink(door->path);
	free(door->path);
}

int control_listen(struct loop *loop, const char *path, struct control **out)
{
	struct control *control = mem_zalloc(sizeof(*control));
	int rc;

	json_set_alloc_funcs(mem_alloc, free);
	control->loop = loop;
	control->output_max_bytes = OUTPUT_MAX_BYTES;
	control->stall_us = STALL_US;
	control->limit = (struct log_limit){.burst = 5, .interval_us = 10000000};
	door_init(&control->full, control, false);
	door_init(&control->readonly, control, true);
	rc = door_listen(&control->full, path, NULL);
	if (rc)
		free(control);
	else
		*out = control;
	return rc;
}

int control_listen_readonly(struct control *control, const char *path, const char *group)
{
	return door_listen(&control->readonly, path, group);
}

void control_free(struct control *control)
{
	if (!control)
		return;
	door_close(&control->full);
	door_close(&control->readonly);
	free(control->registrations);
	free(control);
}

void control_register(struct control *control, const struct control_command *rows, size_t count,
		      void *ctx)
{
	size_t place = control->registration_count++;

	control->registrations = mem_resize(control->registrations, control->registration_count,
					    sizeof(*control->registrations));
	control->registrations[place] =
		(struct registration){.rows = rows, .count = count, .ctx = ctx};
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The control socket: requests and replies are JSON objects, one a line (see weftctl(8)). A request
 * is {"command":"node list", ...arguments}; a reply is any number of {"part":...} and at the end
 * {"ok":true,"result":...} or {"ok":false,"error":"..."}; each line has "version". This header is
 * the only one that exposes jansson. Modules register rows of commands; a handler answers at once,
 * later, or piece by piece. Loop thread only.
 */
#ifndef LIB_CONTROL_H
#define LIB_CONTROL_H

#include <jansson.h>
#include <stddef.h>

#include "include/iba.h"
#include "lib/loop.h"
#include "lib/row.h"

struct control;
/* A request under way; freed by the reply that ends it, also if the client is gone. */
struct control_request;

struct control_command {
	const char *name; /* "node list" */
	/* args is the whole request object, borrowed until the handler returns. The handler, now or
	 * later, ends the request with exactly one of control_reply, control_fail, control_stream.
	 */
	void (*handle)(void *ctx, struct control_request *request, const json_t *args);
	/* CONTROL_LOOKS: also on the read-only socket. Such a command changes nothing, shows no
	 * secret, and takes no long turn of the loop, such as reading a file. CONTROL_CHANGES: it
	 * changes the fabric, the configuration or the store, and is logged with its user. */
	enum { CONTROL_ACTS, CONTROL_LOOKS, CONTROL_CHANGES } does;
};

/* Binds path (mode 0660), which is copied. -EADDRINUSE: another daemon answers there. -EEXIST:
 * another kind of file has this name. A stale socket file is replaced. */
int control_listen(struct loop *loop, const char *path, struct control **out);
/* A second socket, for commands that change nothing. It has its own places for clients, and
 * requests of at most 4 KB. group NULL: all users may connect; else root, the group of that name
 * and the group of this process. Errors as above; -ESRCH: no such group, -EOPNOTSUPP: the file
 * system has no access lists, -EINVAL: the user namespace does not map the group. */
int control_listen_readonly(struct control *control, const char *path, const char *group);
/* Drops clients; removes the socket files. Not from a handler. Requests under way are still to be
 * ended. */
void control_free(struct control *control);
/* rows must outlive control; ctx is handed to each handler. */
void control_register(struct control *control, const struct control_command *rows, size_t count,
		      void *ctx);

/* Sends one part; takes the reference to it. Parts wait in memory, and a client with too much
 * unsent output is dropped: use control_stream() for long answers. */
void control_part(struct control_request *request, json_t *part);
/* Ends the request with this result. Takes the reference; NULL is null. */
void control_reply(struct control_request *request, json_t *result);
/* Ends the request with a refusal, whose text has the object, the reason and the remedy. */
void control_fail(struct control_request *request, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* As control_reply(), with one value that lib/row.h wrote; borrowed. */
void control_reply_row(struct control_request *request, const struct buffer *result);

/* The result of a stream's next(). */
enum stream_step {
	STREAM_PART,  /* a part was written */
	STREAM_END,   /* no more parts: the request ends with the result null */
	STREAM_LATER, /* no part now: control_resume() continues */
};

/* Pulls parts as fast as the client reads. next() does a small piece of work and writes the members
 * of a part by lib/row.h, which are dropped unless it returns STREAM_PART. finish(source) is called
 * at the end, also if the client is gone. */
void control_stream(struct control_request *request,
		    enum stream_step (*next)(void *source, struct buffer *part),
		    void (*finish)(void *source), void *source);
/* Calls next() again after STREAM_LATER. Harmless if the stream is not paused. */
void control_resume(struct control_request *request);
/* True if the client is gone: work for it may stop, but the request must still be ended. */
int control_gone(const struct control_request *request);

/* The lines of a text as an array of texts, a new reference. NULL: an empty array. */
json_t *control_lines(const char *text);
/* A port as answers name it: {"guid", "description", "port"}; a new reference. guid: of the node.
 */
json_t *control_port_json(guid_t guid, const char *description, unsigned port);

/* The client's side, blocking, for weftctl. Sends request (borrowed), calls part() for each part,
 * and returns 0 with *result (new reference) or, for a refusal, -EREMOTEIO with *error (to be
 * freed). -ENOENT, -ECONNREFUSED: no daemon there. -ECONNRESET: the connection closed before the
 * end. -EPROTO: the answer is not of this protocol. part() borrows its argument; part NULL ignores
 * the parts. */
int control_call(const char *path, const json_t *request, void (*part)(void *ctx, json_t *part),
		 void *ctx, json_t **result, char **error);

#endif

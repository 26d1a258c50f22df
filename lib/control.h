/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The control socket: requests and replies are JSON objects, one a line (see weftctl(8)). A request
 * is {"command":"node list", ...arguments}; a reply is any number of {"part":...} and at the end
 * {"ok":true,"result":...} or {"ok":false,"error":"..."}; each line has "version". This header is
 * the only door to jansson. Rooms register rows of commands; a handler answers at once, later, or
 * piece by piece. Loop thread only.
 */
#ifndef LIB_CONTROL_H
#define LIB_CONTROL_H

#include <jansson.h>
#include <stddef.h>

#include "lib/loop.h"
#include "lib/row.h"

struct control;
struct control_request; /* one under way; freed by the reply that ends it, whatever the client did
			 */

struct control_command {
	const char *name; /* "node list" */
	/* args is the whole request object, borrowed until the handler returns. The handler, now or
	 * later, ends the request with exactly one of control_reply, control_fail, control_stream.
	 */
	void (*handle)(void *ctx, struct control_request *request, const json_t *args);
	/* CONTROL_LOOKS: also on the socket for those who may only look: it changes nothing, shows
	 * nothing that is secret, and takes no long turn of the loop, such as reading a file. */
	enum { CONTROL_ACTS, CONTROL_LOOKS } does;
};

/* Binds path (mode 0660). -EADDRINUSE when another daemon answers there; a socket file that nobody
 * serves is replaced; -EEXIST when something else has that name. The path is copied. */
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

/* Takes the reference. Parts wait in memory, and a client with too much waiting is dropped: what
 * may be long is streamed. */
void control_part(struct control_request *request, json_t *part);
/* Both end the request; the first takes the reference, NULL is null. */
void control_reply(struct control_request *request, json_t *result);
void control_fail(struct control_request *request, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The same where the result was written by lib/row.h, as one value; borrowed. */
void control_reply_row(struct control_request *request, const struct buffer *result);

/* What next() of a stream has to say. */
enum stream_step {
	STREAM_PART,  /* a part was written */
	STREAM_END,   /* there is none any more: the request ends with a result that is null */
	STREAM_LATER, /* none for now: it is asked again after control_resume() */
};

/* Pulls parts as fast as the client reads. next() does a small piece of work and writes the
 * members of a part by lib/row.h, which are dropped unless it says that there is one.
 * finish(source) is called at the end, also when the client has gone. */
void control_stream(struct control_request *request,
		    enum stream_step (*next)(void *source, struct buffer *part),
		    void (*finish)(void *source), void *source);
void control_resume(struct control_request *request);
/* True when the client has gone: work for it may stop, the request must still be ended. */
int control_gone(const struct control_request *request);

/* The client's side, blocking, for weftctl. Sends request (borrowed), calls part() for each part,
 * and returns 0 with *result (new reference) or, for a refusal, -EREMOTEIO with *error (to be
 * freed). -ENOENT, -ECONNREFUSED: no daemon there. -ECONNRESET: it closed before the end. -EPROTO:
 * it said something else. part() borrows its argument; part NULL ignores them. */
int control_call(const char *path, const json_t *request, void (*part)(void *ctx, json_t *part),
		 void *ctx, json_t **result, char **error);

#endif

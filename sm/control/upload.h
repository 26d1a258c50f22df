/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A text that a client sends in pieces, because a request has a limit. The first piece has the
 * token 0; the answer to each piece but the last has the token for the next piece. One text at a
 * time: a second client replaces the first. Loop thread only.
 */
#ifndef SM_CONTROL_UPLOAD_H
#define SM_CONTROL_UPLOAD_H

#include "lib/control.h"

/* All zero: no text. */
struct upload {
	long long token;
	char *text; /* so far, not ended by 0 */
	size_t length;
};

/* Adds the piece of a request: its members text, token and name. what: for messages, as in "check
 * of a partition file". False: the request has ended with an error. */
bool upload_take(struct upload *upload, struct control_request *request, const json_t *args,
		 const char *what);
/* Whether more pieces follow; then the request has been answered. */
bool upload_continues(const struct upload *upload, struct control_request *request,
		      const json_t *args);
/* Drops the text. */
void upload_forget(struct upload *upload);

#endif

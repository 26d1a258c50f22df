/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The audit line of a command that changes something: who gave it, by the credentials of the
 * socket, with which arguments, and how it ended. Private to lib/control.c. Loop thread only.
 */
#ifndef LIB_CONTROL_AUDIT_H
#define LIB_CONTROL_AUDIT_H

#include <jansson.h>
#include <sys/socket.h>
#include <sys/types.h>

struct control_audit;

/* Begins the line of a command. command is borrowed. peer: unix(7), SO_PEERCRED. Of args, the
 * request, only members that are known to have no secrets are shown, and only the beginning of
 * long ones. Never NULL. */
struct control_audit *control_audit_begin(const char *command, const struct ucred *peer,
					  const json_t *args);
/* Logs the line with MESSAGE_COMMAND, and frees it. refusal: NULL: the command was done. NULL is
 * harmless. */
void control_audit_end(struct control_audit *audit, const char *refusal);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The journal's fields for a log line about a port or a node of the live model. */
#ifndef FABRIC_SUBJECT_H
#define FABRIC_SUBJECT_H

#include "fabric/fabric.h"
#include "lib/log.h"

/* message_id may be NULL. The subject borrows the node's description. */
static inline struct log_subject node_subject(const struct node *node, const char *message_id)
{
	return (struct log_subject){.message_id = message_id,
				    .node_guid = node->guid,
				    .node_desc = node->facts->description,
				    .port = -1,
				    .lid = node->port[0].lid};
}

/* An external port of a switch has the switch's LID. */
static inline struct log_subject port_subject(const struct port *port, const char *message_id)
{
	struct log_subject subject = node_subject(port->node, message_id);

	subject.port = port->num;
	if (!port_of_switch(port))
		subject.lid = port->lid;
	return subject;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * End ports by the texts that administrators use for them, for lists of thousands of members. Each
 * text names one or more ports:
 *
 *	host-0003		the node with this description, if it has one port
 *	host-0003/2		its port 2
 *	host-[0003-0040]	a hostlist (lib/hostlist.h) of such names
 *	0x0002c90300a1b2c3	a port GUID, with or without 0x if it has 16 digits; a node GUID, if
 *				the node has one port; or the GUID of an absent port
 *	0x10-0x1f		a range of GUIDs, present or absent
 *	ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS	the end ports that are present
 *
 * Commas separate several of these. After each "=full", "=limited" or "=both" may follow. The end
 *port of a switch is its port 0.
 *
 * Descriptions come from the nodes, so a node may try to pass for another. GUIDs are therefore
 *never compared with descriptions, and a text is refused if a description matches it as a whole and
 *it has another meaning, too, or if several nodes have the name. Pure; one thread.
 */
#ifndef SM_CONTROL_PORT_NAMES_H
#define SM_CONTROL_PORT_NAMES_H

#include "fabric/snapshot.h"

struct fabric;

enum { PORT_NAMES_ERROR_SIZE = 600 };

struct named_port {
	guid_t guid;
	uint8_t membership; /* enum membership; MEMBERSHIP_NONE: not in the text */
};

struct port_names;

/* An index of the end ports of a snapshot, which is borrowed until port_names_free(). NULL: no
 * fabric is known, and only GUIDs are accepted. At most `most` ports are found. */
struct port_names *port_names_new(const struct snapshot *snapshot, size_t most);
/* So that an error tells that a node is gone; fabric must outlive names. */
void port_names_set_fabric(struct port_names *names, const struct fabric *fabric);
/* Adds the ports that a text names. False: it names none, or could mean several nodes or ports; the
 * reason is port_names_error(), and what was added before may be more than the earlier texts. */
bool port_names_take(struct port_names *names, const char *text);
/* Why the last port_names_take() was false; borrowed. */
const char *port_names_error(const struct port_names *names);
/* The ports in the order of the texts; a port that was named twice is there twice. Borrowed. */
const struct named_port *port_names_found(const struct port_names *names, size_t *count);
void port_names_free(struct port_names *names); /* NULL is harmless */

#endif

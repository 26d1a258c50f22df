/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A short list of ports with some fault, for `weftctl health`: a walk over all ports would take too
 * long. A port is noted when the fault is found. Before the list is shown, ports that no longer
 * have the fault leave it. Ports are identified by NodeGUID and number, because nodes may be
 * dropped. Loop thread only.
 */
#ifndef FABRIC_PORT_NOTES_H
#define FABRIC_PORT_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "include/iba.h"

enum { PORT_NOTES_MAX = 64 };

struct fabric;
struct port;

struct port_note {
	guid_t guid;
	uint8_t num;
};

struct port_notes {
	struct port_note row[PORT_NOTES_MAX];
	unsigned count;
	bool more; /* some ports found no place since the list was last empty */
};

/* Notes a port, unless it is noted already. */
void port_notes_add(struct port_notes *notes, const struct port *port);
/* Drops ports that have disappeared, and those for which has_fault() is false. */
void port_notes_keep(struct port_notes *notes, const struct fabric *fabric,
		     bool (*has_fault)(const struct port *port));
/* The port of a note; NULL: it has disappeared. */
const struct port *port_notes_port(const struct port_note *note, const struct fabric *fabric);

#endif

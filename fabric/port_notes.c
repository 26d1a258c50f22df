/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A short list of ports with some fault: port_notes.h. */
#include "fabric/port_notes.h"

#include "fabric/fabric.h"

void port_notes_add(struct port_notes *notes, const struct port *port)
{
	for (unsigned i = 0; i < notes->count; i++)
		if (notes->row[i].guid == port->node->guid && notes->row[i].num == port->num)
			return;
	if (notes->count == PORT_NOTES_MAX)
		notes->more = true;
	else
		notes->row[notes->count++] = (struct port_note){port->node->guid, port->num};
}

const struct port *port_notes_port(const struct port_note *note, const struct fabric *fabric)
{
	const struct node *node = fabric_find_node(fabric, note->guid);

	return node && note->num <= node->num_ports ? &node->port[note->num] : NULL;
}

void port_notes_keep(struct port_notes *notes, const struct fabric *fabric,
		     bool (*has_fault)(const struct port *port))
{
	unsigned kept = 0;

	for (unsigned i = 0; i < notes->count; i++) {
		const struct port *port = port_notes_port(&notes->row[i], fabric);

		if (port && has_fault(port))
			notes->row[kept++] = notes->row[i];
	}
	notes->count = kept;
	notes->more = notes->more && kept;
}

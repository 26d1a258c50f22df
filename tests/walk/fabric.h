/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The input of `walk`: a fabric and the forwarding tables of its switches, read from texts that
 * other programs wrote. It deliberately shares no code with fabric/ and route/, so that a bug there
 * is not repeated here. The program that reads the texts owns it; one thread.
 */
#ifndef TESTS_WALK_FABRIC_H
#define TESTS_WALK_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/iba.h"
#include "lib/map.h"

enum { WALK_NO_PEER = -1, WALK_ERROR_SIZE = 256 };

struct walk_port {
	int peer; /* index of the node at the other end, or WALK_NO_PEER */
	uint8_t peer_port;
	lid_t lid; /* LID_NONE: none; of a switch: the LID of port 0 only */
	uint8_t lmc;
};

struct walk_node {
	guid_t guid;
	bool is_switch;
	unsigned num_ports;
	char name[NODE_DESC_SIZE + 1];
	struct walk_port *port; /* port[0..num_ports] */
	uint8_t *lft;		/* of a switch: the first lft_size LIDs; NULL: no table was read */
	unsigned lft_size;
};

struct walk_fabric {
	struct walk_node *nodes;
	unsigned count;
	struct map by_guid; /* index + 1 */
};

void walk_fabric_init(struct walk_fabric *fabric);
void walk_fabric_done(struct walk_fabric *fabric);

/* Each of these reads one text. Returns -EINVAL and "name:line: reason" if it cannot be used; the
 * fabric may then have a part of it. */

/* opensm-subnet.lst, or output of ibnetdiscover. The former has no LMC: all ports get lmc. Links
 * that are not ACTIVE there are ignored. */
int walk_read_topology(struct walk_fabric *fabric, const char *name, const char *text,
		       size_t length, uint8_t lmc, char error[WALK_ERROR_SIZE]);
/* opensm.fdbs, or output of dump_lfts and ibroute. Multicast tables are ignored. */
int walk_read_tables(struct walk_fabric *fabric, const char *name, const char *text, size_t length,
		     char error[WALK_ERROR_SIZE]);

/* NULL: not in the fabric. */
struct walk_node *walk_node_by_guid(const struct walk_fabric *fabric, guid_t guid);
/* Returns the index of the node, a new index or that of an equal node. -EEXIST: it differs. */
int walk_add_node(struct walk_fabric *fabric, guid_t guid, bool is_switch, unsigned num_ports,
		  const char *name, size_t name_length);
/* Cables two ports; repeating it is fine. -EBUSY: a port has another cable; -EINVAL: no such
 * port. */
int walk_connect(struct walk_fabric *fabric, int node, unsigned port, int peer, unsigned peer_port);

#endif

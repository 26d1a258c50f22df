/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What `walk` judges: a fabric and the forwarding tables of its switches, read from texts that
 * other programs wrote. On purpose it shares nothing with fabric/ and route/, so that a mistake
 * there is not repeated here. Owned by whoever read it; one thread.
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
	lid_t lid; /* LID_NONE: none; of a switch that of port 0 alone */
	uint8_t lmc;
};

struct walk_node {
	guid_t guid;
	bool is_switch;
	unsigned num_ports;
	char name[NODE_DESC_SIZE + 1];
	struct walk_port *port; /* port[0..num_ports] */
	uint8_t *lft;		/* of a switch: the first lft_size LIDs; NULL: none was read */
	unsigned lft_size;
};

struct walk_fabric {
	struct walk_node *nodes;
	unsigned count;
	struct map by_guid; /* index + 1 */
};

void walk_fabric_init(struct walk_fabric *fabric);
void walk_fabric_done(struct walk_fabric *fabric);

/* Each of these reads one text. -EINVAL and "name:line: reason" when it cannot be used; then the
 * fabric may hold a part of it. */

/* opensm-subnet.lst, or what ibnetdiscover prints. The former says no LMC: it is lmc for all. Links
 * that are not ACTIVE there are none. */
int walk_read_topology(struct walk_fabric *fabric, const char *name, const char *text,
		       size_t length, uint8_t lmc, char error[WALK_ERROR_SIZE]);
/* opensm.fdbs, or what dump_lfts and ibroute print. Multicast tables are passed over. */
int walk_read_tables(struct walk_fabric *fabric, const char *name, const char *text, size_t length,
		     char error[WALK_ERROR_SIZE]);

/* NULL: not in the fabric. */
struct walk_node *walk_node_by_guid(const struct walk_fabric *fabric, guid_t guid);
/* The node's index: a new one, or the one that is there, which has to be alike. -EEXIST */
int walk_add_node(struct walk_fabric *fabric, guid_t guid, bool is_switch, unsigned num_ports,
		  const char *name, size_t name_length);
/* Cables two ports; again is fine. -EBUSY: one of them is cabled to another; -EINVAL: no such. */
int walk_connect(struct walk_fabric *fabric, int node, unsigned port, int peer, unsigned peer_port);

#endif

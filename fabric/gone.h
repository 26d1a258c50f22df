/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Nodes that were in the fabric and are gone: their names, the time, and the port to which each was
 * cabled. So a command can explain a node that it does not find. Only the latest GONE_NODES_MAX
 * nodes are kept, in memory. After a restart, the registry still has the LID and the place of a
 * port, but no name. Loop thread only.
 */
#ifndef FABRIC_GONE_H
#define FABRIC_GONE_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/named.h"
#include "include/iba.h"
#include "lib/list.h"
#include "lib/map.h"
#include "mad/attr.h"

struct fabric;
struct node;
struct port;

enum { GONE_NODES_MAX = 1024, GONE_NAME_SIZE = NODE_DESC_SIZE + 1 };

struct gone_node {
	struct list link; /* oldest first */
	guid_t node_guid; /* 0: not known */
	char description[GONE_NAME_SIZE];
	uint64_t gone_s; /* wall clock; 0: before weftd started */
	/* The port at the cable below; else its first end port. 0: not known. */
	guid_t port_guid;
	lid_t lid; /* LID_NONE: it had none */
	/* The other end of its cable: a port of another node, and the name of that node; GUID 0:
	 * not known. */
	guid_t peer_guid;
	char peer[GONE_NAME_SIZE];
	uint8_t peer_port;
};

struct gone_nodes {
	struct list nodes;
	struct map by_guid; /* by NodeGUID */
};

/* No nodes. */
void gone_init(struct gone_nodes *gone);
/* Frees all. */
void gone_done(struct gone_nodes *gone);
/* Records a node that is about to be dropped from the fabric. now_s: wall clock. */
void gone_note(struct fabric *fabric, const struct node *node, uint64_t now_s);
/* Finds an absent node by its description, one of its GUIDs or its LID, and copies what is known
 * of it. False: it is not known, or it is in the fabric. */
bool gone_recall(const struct fabric *fabric, const char *name, struct gone_node *out);

/* The port to which a port is cabled, or was cabled last, if its node is in the fabric; or NULL. */
const struct port *port_last_peer(const struct fabric *fabric, const struct port *port);
/* The other end of the cable of a node that is gone, likewise. */
const struct port *gone_peer(const struct fabric *fabric, const struct gone_node *gone);

enum { GONE_TEXT_SIZE = 400 };
/* Writes "host-0100 is gone since 2026-11-27 01:18:50; it was at leaf-04 port 4, LID 227 is
 * reserved", in local time. Returns text. */
const char *gone_text(const struct fabric *fabric, const struct gone_node *gone,
		      char text[GONE_TEXT_SIZE]);
/* Why a NODE argument names no node: that it is gone, or named->error. fabric NULL: no absent node
 * is known. Returns text. */
const char *gone_explain(const struct fabric *fabric, const struct snap_named *named,
			 const char *name, char text[GONE_TEXT_SIZE]);
/* Whether no port has its LID now. */
bool gone_lid_is_free(const struct fabric *fabric, const struct gone_node *gone);

#endif

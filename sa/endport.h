/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * End ports: ports with LIDs and a P_Key table, which are the ports of adapters and routers and
 * port 0 of switches. Requesters, the ends of paths and the subjects of records are end ports.
 * These functions find them in a snapshot by LID or GUID, and compare them by partition. Pure
 * functions, any thread.
 */
#ifndef SA_ENDPORT_H
#define SA_ENDPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/snapshot.h"

struct endport {
	struct snap_owner at; /* its place in the snapshot */
	guid_t guid;	      /* PortGUID */
	lid_t lid;	      /* base LID; LID_NONE if it has none yet */
	uint8_t lmc;
	uint8_t num; /* port number; 0 for a switch */
	const struct node_facts *facts;
};

/* End ports are numbered for walks over all of them: switches first, then adapters' ports. */
uint32_t endport_count(const struct snapshot *snapshot);
/* The end port with this number. */
struct endport endport_at(const struct snapshot *snapshot, uint32_t number);
/* The number of an end port. */
uint32_t endport_number(const struct snapshot *snapshot, const struct endport *port);

/* Finds the end port with this LID. False, and out unchanged, if there is none. */
bool endport_by_lid(const struct snapshot *snapshot, lid_t lid, struct endport *out);

/* Whether both are the same port of one snapshot. */
bool endport_same(const struct endport *a, const struct endport *b);
/* The last port that the end port represents: port 0 of a switch represents all ports of the
 * switch. */
uint8_t endport_last_num(const struct snapshot *snapshot, const struct endport *port);
/* Follows the cable at port num of the end port's node: *peer is the end port that represents
 * the far end, *peer_num the port number there. False, and both unchanged, if there is no cable,
 * as at port 0. */
bool endport_cable(const struct snapshot *snapshot, const struct endport *port, uint8_t num,
		   struct endport *peer, uint8_t *peer_num);
/* Returns the PortInfo of a node's port; NULL if it was not read, or facts is NULL. */
const struct port_info *facts_port_info(const struct node_facts *facts, uint8_t num);

/* Returns a P_Key with which both ports can communicate, as the table of a holds it; 0 if there is
 * none. The low 15 bits must be equal, and at least one port must be a full member (chapter
 * 10.9.3). The default partition is preferred, then the order of a's table. A table that was not
 * read means no membership; for port 0 of a switch it means limited membership of the default
 * partition. */
pkey_t endports_share(const struct endport *a, const struct endport *b);
/* The P_Key at this index of the port's table; the key of the default partition if the entry is
 * empty. */
pkey_t endport_key_at(const struct endport *port, unsigned index);
/* Whether both P_Key tables are equal, so that one port may replace the other in the functions
 * above. */
bool endports_same_keys(const struct endport *a, const struct endport *b);
/* Whether two P_Keys are of one partition and at least one is of a full member. */
bool pkeys_meet(pkey_t a, pkey_t b);
/* Whether the port is a member, full or limited, of the partition of this P_Key. */
bool endport_in_partition(const struct endport *port, pkey_t p_key);
/* Whether the port is a full member of the partition of this P_Key. */
bool endport_is_full_member(const struct endport *port, pkey_t p_key);
/* Whether both ports can communicate with this P_Key; its membership bit does not matter. */
bool endports_share_key(const struct endport *a, const struct endport *b, pkey_t p_key);

#endif

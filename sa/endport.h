/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * End ports: what has LIDs and a P_Key table, so a port of an adapter or router, or port 0 of a
 * switch. Requesters, the ends of paths and the subjects of records are end ports; here they are
 * found in a snapshot by LID or GUID, and compared by partition. Pure functions, any thread.
 */
#ifndef SA_ENDPORT_H
#define SA_ENDPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/snapshot.h"

struct endport {
	struct snap_owner at; /* where it is in the snapshot */
	guid_t guid;	      /* PortGUID */
	lid_t lid;	      /* base LID; LID_NONE when it has none yet */
	uint8_t lmc;
	uint8_t num; /* its number on its node; 0 of a switch */
	const struct node_facts *facts;
};

/* End ports are numbered for walks over all of them: switches first, then adapters' ports. */
uint32_t endport_count(const struct snapshot *snapshot);
struct endport endport_at(const struct snapshot *snapshot, uint32_t number);
uint32_t endport_number(const struct snapshot *snapshot, const struct endport *port);

/* False, and out untouched, when nobody has this LID or GUID. */
bool endport_by_lid(const struct snapshot *snapshot, lid_t lid, struct endport *out);

bool endport_same(const struct endport *a, const struct endport *b);
/* An end port stands for the ports num .. last of its node: a switch's port 0 for all of them. */
uint8_t endport_last_num(const struct snapshot *snapshot, const struct endport *port);
/* What the cable at port num of an end port's node leads to: the end port that stands for the other
 * side, and the number there. False, and both untouched, where there is none, as at port 0. */
bool endport_cable(const struct snapshot *snapshot, const struct endport *port, uint8_t num,
		   struct endport *peer, uint8_t *peer_num);
/* What is known of a node's port; NULL when it was not read, or facts is NULL. */
const struct port_info *facts_port_info(const struct node_facts *facts, uint8_t num);

/* A P_Key by which both may talk (chapter 10.9.3: the low 15 bits are equal and one of the two is a
 * full member), as a's table holds it; 0 when there is none. The default partition is preferred,
 * then the order of a's table. A table that was not read is no membership; of a switch's port 0 it
 * is a limited one of the default partition. */
pkey_t endports_share(const struct endport *a, const struct endport *b);
/* What its table holds at this index; the default partition's key where that is nothing. */
pkey_t endport_key_at(const struct endport *port, unsigned index);
/* Whether both P_Key tables read the same, so that either may stand for the other in the above. */
bool endports_same_keys(const struct endport *a, const struct endport *b);
/* Whether two P_Keys are of one partition, and not both a limited member's. */
bool pkeys_meet(pkey_t a, pkey_t b);
/* Whether it is a member, full or limited, of the partition of this P_Key. */
bool endport_in_partition(const struct endport *port, pkey_t p_key);
bool endport_is_full_member(const struct endport *port, pkey_t p_key);
/* Whether they may talk by this P_Key; its membership bit does not matter. */
bool endports_share_key(const struct endport *a, const struct endport *b, pkey_t p_key);

#endif

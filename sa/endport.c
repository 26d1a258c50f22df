/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Finds end ports in a snapshot, and decides by partition which ports may see each other. This rule
 * is in one function because it applies to every record that is sent.
 */
#include "sa/endport.h"

#include <stddef.h>
#include <string.h>

#include "lib/mem.h"

static struct endport endport_of_switch(const struct snapshot *snapshot, uint32_t index)
{
	const struct snap_switch *sw = &snapshot->switches[index];
	guid_t port_guid = sw->facts ? sw->facts->port[0].guid : 0;

	return (struct endport){
		.at = {.sw = (int32_t)index, .end = -1},
		.guid = port_guid ? port_guid : sw->guid,
		.lid = sw->lid,
		.lmc = sw->lmc,
		.num = 0,
		.facts = sw->facts,
	};
}

static struct endport endport_of_end(const struct snapshot *snapshot, uint32_t index)
{
	const struct snap_end *end = &snapshot->ends[index];

	return (struct endport){
		.at = {.sw = -1, .end = (int32_t)index},
		.guid = end->guid,
		.lid = end->lid,
		.lmc = end->lmc,
		.num = end->port,
		.facts = end->facts,
	};
}

uint32_t endport_count(const struct snapshot *snapshot)
{
	return snapshot->num_switches + snapshot->num_ends;
}

struct endport endport_at(const struct snapshot *snapshot, uint32_t number)
{
	if (number < snapshot->num_switches)
		return endport_of_switch(snapshot, number);
	return endport_of_end(snapshot, number - snapshot->num_switches);
}

uint32_t endport_number(const struct snapshot *snapshot, const struct endport *port)
{
	if (port->at.sw >= 0)
		return (uint32_t)port->at.sw;
	return snapshot->num_switches + (uint32_t)port->at.end;
}

bool endport_by_lid(const struct snapshot *snapshot, lid_t lid, struct endport *out)
{
	struct snap_owner owner = snap_owner(snapshot, lid);

	if (owner.sw < 0 && owner.end < 0)
		return false;
	*out = owner.sw >= 0 ? endport_of_switch(snapshot, (uint32_t)owner.sw)
			     : endport_of_end(snapshot, (uint32_t)owner.end);
	return true;
}

bool endport_same(const struct endport *a, const struct endport *b)
{
	return a->at.sw == b->at.sw && a->at.end == b->at.end;
}

uint8_t endport_last_num(const struct snapshot *snapshot, const struct endport *port)
{
	return port->at.sw >= 0 ? snapshot->switches[port->at.sw].num_ports : port->num;
}

static struct snap_link cable_of_end(const struct snap_end *end)
{
	return end->sw >= 0 ? (struct snap_link){.sw = end->sw, .end = -1, .port = end->sw_port}
			    : (struct snap_link){.sw = -1, .end = end->peer};
}

bool endport_cable(const struct snapshot *snapshot, const struct endport *port, uint8_t num,
		   struct endport *peer, uint8_t *peer_num)
{
	struct snap_link link = port->at.sw >= 0 ? *snap_link(snapshot, (uint32_t)port->at.sw, num)
						 : cable_of_end(&snapshot->ends[port->at.end]);

	if (link.sw >= 0) {
		*peer = endport_of_switch(snapshot, (uint32_t)link.sw);
		*peer_num = link.port;
	} else if (link.end >= 0) {
		*peer = endport_of_end(snapshot, (uint32_t)link.end);
		*peer_num = peer->num;
	}
	return link.sw >= 0 || link.end >= 0;
}

const struct port_info *facts_port_info(const struct node_facts *facts, uint8_t num)
{
	if (!facts || num > facts->info.num_ports || !facts->port[num].known)
		return NULL;
	return &facts->port[num].info;
}

struct keys {
	const pkey_t *key;
	size_t count;
};

/* A port whose P_Key table was not read has no membership until discovery has read it. OpenSM
 * shares everything with such a port (osm_physp_share_pkey). A switch is not a tenant, and some
 * switches refuse to report the table of port 0. As a limited member of the default partition it
 * stays visible to the full members, which manage the fabric. */
static struct keys keys_unread(const struct endport *port)
{
	static const pkey_t default_limited[] = {PKEY_DEFAULT_FULL & ~PKEY_FULL_MEMBER};

	return (struct keys){default_limited, port->at.sw >= 0 ? 1 : 0};
}

static struct keys keys_of(const struct endport *port)
{
	const struct pkey_list *list = NULL;

	if (port->facts && port->num <= port->facts->info.num_ports)
		list = port->facts->port[port->num].pkeys;
	return list ? (struct keys){list->key, list->count} : keys_unread(port);
}

static pkey_t partition(pkey_t p_key)
{
	return p_key & ~PKEY_FULL_MEMBER;
}

/* The P_Key of this partition, of full membership if both are there; 0 if there is none. */
static pkey_t key_in(struct keys keys, pkey_t p_key)
{
	pkey_t found = 0;

	for (size_t i = 0; i < keys.count; i++)
		if (partition(keys.key[i]) == partition(p_key))
			found |= keys.key[i];
	return found;
}

/* a's P_Key if both are in the partition of p_key and at least one is a full member. P_Key 0
 * marks an empty entry, not a partition. */
static pkey_t share_in(struct keys a, struct keys b, pkey_t p_key)
{
	pkey_t mine = key_in(a, p_key), theirs = key_in(b, p_key);

	return partition(mine) && partition(theirs) && (mine | theirs) & PKEY_FULL_MEMBER ? mine
											  : 0;
}

/* The number of P_Keys to compare in a table without the default partition; no known device has
 * more. The comparison is quadratic, and the device reports the count. */
enum { KEYS_MAX = 256 };

pkey_t endports_share(const struct endport *a, const struct endport *b)
{
	struct keys mine = keys_of(a), theirs = keys_of(b);
	pkey_t shared = share_in(mine, theirs, PKEY_DEFAULT_FULL);

	if (theirs.count > KEYS_MAX)
		theirs.count = KEYS_MAX;
	for (size_t i = 0; i < mine.count && i < KEYS_MAX && !shared; i++)
		if (partition(mine.key[i]))
			shared = share_in(mine, theirs, mine.key[i]);
	return shared;
}

bool endports_same_keys(const struct endport *a, const struct endport *b)
{
	struct keys x = keys_of(a), y = keys_of(b);

	return x.count == y.count && !memcmp(x.key, y.key, x.count * sizeof(*x.key));
}

pkey_t endport_key_at(const struct endport *port, unsigned index)
{
	struct keys keys = keys_of(port);

	return index < keys.count && partition(keys.key[index]) ? keys.key[index]
								: PKEY_DEFAULT_FULL;
}

bool endport_in_partition(const struct endport *port, pkey_t p_key)
{
	return partition(key_in(keys_of(port), p_key)) != 0;
}

bool endport_is_full_member(const struct endport *port, pkey_t p_key)
{
	return endport_in_partition(port, p_key) && key_in(keys_of(port), p_key) & PKEY_FULL_MEMBER;
}

bool endports_share_key(const struct endport *a, const struct endport *b, pkey_t p_key)
{
	return share_in(keys_of(a), keys_of(b), p_key) != 0;
}

bool pkeys_meet(pkey_t a, pkey_t b)
{
	return partition(a) == partition(b) && (a | b) & PKEY_FULL_MEMBER;
}

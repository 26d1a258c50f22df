/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Counted blocks of nodes' reports (facts.h): made by discovery, shared by the live model and the
 * snapshots frozen from it. Counts are plain numbers, changed on the loop thread alone. A copied
 * block shares the P_Key lists and tables of the original, because these have counts of their own.
 */
#include "fabric/facts.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/pkeys.h"
#include "lib/mem.h"

struct pkey_list *pkey_list_new(uint16_t count)
{
	/* As many whole blocks as a uint16_t can count: PartitionCap is from the wire. */
	unsigned blocks = (count + PKEY_BLOCK_KEYS - 1u) / PKEY_BLOCK_KEYS;
	unsigned most = UINT16_MAX / PKEY_BLOCK_KEYS;
	unsigned slots = (blocks < most ? blocks : most) * PKEY_BLOCK_KEYS;
	struct pkey_list *list = mem_zalloc(sizeof(*list) + slots * sizeof(list->key[0]));

	list->refs = 1;
	list->count = (uint16_t)slots;
	return list;
}

struct pkey_list *pkey_list_ref(struct pkey_list *list)
{
	if (list)
		list->refs++;
	return list;
}

void pkey_list_unref(struct pkey_list *list)
{
	if (list && --list->refs == 0)
		free(list);
}

int pkey_list_index(const struct pkey_list *list, pkey_t p_key)
{
	pkey_t partition = pkey_partition(p_key);

	for (int i = 0; list && i < list->count; i++)
		if (pkey_partition(list->key[i]) == partition)
			return i;
	return partition == PKEY_DEFAULT_LIMITED ? 0 : -1;
}

struct port_tables *port_tables_new(uint16_t num_guids, uint16_t num_sl_to_vl)
{
	struct port_tables *tables = mem_zalloc(sizeof(*tables));

	tables->refs = 1;
	tables->num_guids = num_guids;
	tables->guid = mem_array(num_guids, sizeof(*tables->guid));
	tables->num_sl_to_vl = num_sl_to_vl;
	tables->sl_to_vl = mem_array(num_sl_to_vl, sizeof(*tables->sl_to_vl));
	return tables;
}

struct port_tables *port_tables_ref(struct port_tables *tables)
{
	if (tables)
		tables->refs++;
	return tables;
}

void port_tables_unref(struct port_tables *tables)
{
	if (!tables || --tables->refs > 0)
		return;
	free(tables->guid);
	free(tables->sl_to_vl);
	free(tables);
}

static size_t facts_size(unsigned num_ports)
{
	return sizeof(struct node_facts) + (num_ports + 1) * sizeof(struct port_facts);
}

struct node_facts *facts_new(const struct node_info *info)
{
	struct node_facts *facts = mem_zalloc(facts_size(info->num_ports));

	facts->refs = 1;
	facts->info = *info;
	return facts;
}

struct node_facts *facts_ref(struct node_facts *facts)
{
	if (facts)
		facts->refs++;
	return facts;
}

void facts_unref(struct node_facts *facts)
{
	if (!facts || --facts->refs > 0)
		return;
	for (unsigned p = 0; p <= facts->info.num_ports; p++) {
		pkey_list_unref(facts->port[p].pkeys);
		port_tables_unref(facts->port[p].tables);
	}
	free(facts);
}

struct node_facts *facts_own(struct node_facts **facts)
{
	struct node_facts *shared = *facts;
	size_t size = facts_size(shared->info.num_ports);

	if (shared->refs == 1)
		return shared;
	*facts = memcpy(mem_alloc(size), shared, size);
	(*facts)->refs = 1;
	for (unsigned p = 0; p <= shared->info.num_ports; p++) {
		pkey_list_ref((*facts)->port[p].pkeys);
		port_tables_ref((*facts)->port[p].tables);
	}
	facts_unref(shared);
	return *facts;
}

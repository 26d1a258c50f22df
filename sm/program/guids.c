/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The difference between registry and GUIDInfo (guids.h). A removed alias is stored with port,
 * index and value until the index has another value. A port that passes INIT has lost it. The first
 * GUID of a port is fixed and never differs.
 */
#include "sm/program/guids.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

static struct port *guids_find_port(const struct guids *guids, guid_t port_guid)
{
	return map_get(&guids->fabric->ports, port_guid);
}

static void ask_for_sweep(struct guids *guids, const struct port *port)
{
	trigger_node(guids->trigger, port->node->guid, "alias GUIDs");
}

static void take_back(struct guids *guids, const struct alias_entry *alias)
{
	if (guids->num_taken_back == guids->room)
		guids->taken_back = mem_resize(guids->taken_back,
					       guids->room = guids->room ? 2 * guids->room : 16,
					       sizeof(*guids->taken_back));
	guids->taken_back[guids->num_taken_back++] =
		(struct taken_back){alias->port_guid, alias->guid, alias->index};
}

/* The index has, or shall have, another value. */
static void forget_taken_back(struct guids *guids, guid_t port_guid, unsigned index)
{
	size_t kept = 0;

	for (size_t i = 0; i < guids->num_taken_back; i++) {
		const struct taken_back *old = &guids->taken_back[i];

		if (old->port_guid != port_guid || old->index != index)
			guids->taken_back[kept++] = *old;
	}
	guids->num_taken_back = kept;
}

static void guids_registry_changed(void *ctx, const struct registry_change *change)
{
	struct guids *guids = ctx;
	const struct alias_entry *before = change->before, *after = change->after;
	struct port *port;

	if (change->kind != REGISTRY_ALIAS || registry_follows(guids->registry))
		return;
	if (after)
		forget_taken_back(guids, after->port_guid, after->index);
	else
		take_back(guids, before);
	port = guids_find_port(guids, after ? after->port_guid : before->port_guid);
	if (!port)
		return;
	port->refuses &= (uint8_t)~PORT_REFUSES_SET_GUIDS; /* another value is wanted */
	ask_for_sweep(guids, port);
}

void guids_init(struct guids *guids, struct registry *registry, struct fabric *fabric,
		struct trigger *trigger, const struct sm_options *options)
{
	*guids = (struct guids){.registry = registry,
				.reader = {.changed = guids_registry_changed, .ctx = guids},
				.fabric = fabric,
				.trigger = trigger,
				.options = options};
	registry_read(registry, &guids->reader);
}

void guids_done(struct guids *guids)
{
	registry_unread(&guids->reader);
	free(guids->taken_back);
	guids->taken_back = NULL;
	guids->num_taken_back = guids->room = 0;
}

/* The known value at an index. */
static guid_t held_at(const struct port_tables *tables, unsigned index)
{
	return tables && index < tables->num_guids ? tables->guid[index] : 0;
}

static void want_block(const struct guids *guids, const struct port *port, unsigned block,
		       struct guid_info *want)
{
	const struct port_tables *tables = port_facts(port)->tables;
	const struct alias_entry key = {.port_guid = port_facts(port)->guid};
	unsigned first = block * GUID_BLOCK_GUIDS;

	for (unsigned i = 0; i < GUID_BLOCK_GUIDS; i++)
		want->guid[i] = held_at(tables, first + i);
	for (size_t i = 0; i < guids->num_taken_back; i++) {
		const struct taken_back *old = &guids->taken_back[i];

		if (old->port_guid == key.port_guid && old->index / GUID_BLOCK_GUIDS == block &&
		    held_at(tables, old->index) == old->guid)
			want->guid[old->index % GUID_BLOCK_GUIDS] = 0;
	}
	for (const struct alias_entry *alias =
		     registry_first(guids->registry, REGISTRY_ALIAS, ALIAS_BY_PORT, &key);
	     alias; alias = registry_next(guids->registry, REGISTRY_ALIAS, ALIAS_BY_PORT, alias))
		if (alias->index / GUID_BLOCK_GUIDS == block)
			want->guid[alias->index % GUID_BLOCK_GUIDS] = alias->guid;
	if (!block)
		want->guid[0] = key.port_guid; /* read-only: 14.2.5.5 */
}

bool guids_differ(const struct guids *guids, const struct port *port, unsigned *block,
		  struct guid_info *want)
{
	const struct port_tables *tables = port_facts(port)->tables;
	const uint8_t never = PORT_REFUSES_GUIDS | PORT_REFUSES_SET_GUIDS;
	unsigned cap = port_info(port)->guid_cap;

	if ((!guids->num_taken_back && !registry_count(guids->registry, REGISTRY_ALIAS)) ||
	    !port->agent || port->refuses & never)
		return false;
	/* Without readback the value stays unknown. */
	if (!tables && guids->options->readback_s)
		return false;
	for (unsigned b = 0; b * GUID_BLOCK_GUIDS < cap; b++) {
		struct guid_info wanted;

		want_block(guids, port, b, &wanted);
		for (unsigned i = b ? 0 : 1; i < GUID_BLOCK_GUIDS; i++) {
			if (wanted.guid[i] == held_at(tables, b * GUID_BLOCK_GUIDS + i))
				continue;
			*block = b;
			*want = wanted;
			return true;
		}
	}
	return false;
}

/* The tables of a port with one block replaced; the fixed first GUID is not stored (facts.h). */
static struct port_tables *with_block(const struct port *port, unsigned block,
				      const struct guid_info *held)
{
	const struct port_tables *old = port_facts(port)->tables;
	unsigned blocks = (port_info(port)->guid_cap + GUID_BLOCK_GUIDS - 1u) / GUID_BLOCK_GUIDS;
	struct port_tables *tables =
		port_tables_new((uint16_t)(blocks * GUID_BLOCK_GUIDS), old ? old->num_sl_to_vl : 0);

	for (unsigned i = 0; i < tables->num_guids; i++)
		tables->guid[i] = held_at(old, i);
	for (unsigned i = 0; i < GUID_BLOCK_GUIDS; i++)
		if (block * GUID_BLOCK_GUIDS + i > 0)
			tables->guid[block * GUID_BLOCK_GUIDS + i] = held->guid[i];
	if (!old)
		return tables;
	memcpy(tables->sl_to_vl, old->sl_to_vl, old->num_sl_to_vl * sizeof(*old->sl_to_vl));
	tables->vl_arbitration_known = old->vl_arbitration_known;
	memcpy(tables->vl_arbitration, old->vl_arbitration, sizeof(old->vl_arbitration));
	return tables;
}

void guids_were_set(struct guids *guids, struct port *port, unsigned block,
		    const struct guid_info *want, const struct guid_info *held)
{
	guid_t port_guid = port_facts(port)->guid;

	for (unsigned i = 0; i < GUID_BLOCK_GUIDS; i++) {
		unsigned index = block * GUID_BLOCK_GUIDS + i;

		if (index && held->guid[i] != want->guid[i])
			port->refuses |= PORT_REFUSES_SET_GUIDS;
		if (!held->guid[i])
			forget_taken_back(guids, port_guid, index);
	}
	port_set_tables(guids->fabric, port, with_block(port, block, held));
}

void guids_were_read(struct guids *guids, const struct port *port)
{
	struct guid_info want;
	unsigned block;

	if (guids_differ(guids, port, &block, &want))
		ask_for_sweep(guids, port);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Checks the disabled ports of the registry: sm/discovery/disabled.h. */
#include "sm/discovery/disabled.h"

#include "lib/guid.h"
#include "sm/discovery/reach.h"

bool port_is_disabled(const struct registry *registry, guid_t node_guid, uint8_t port)
{
	const struct disabled_entry key = {.node_guid = node_guid, .port = port};

	/* Searches of the fabric call this for each port: the count makes the usual case fast. */
	return registry_count(registry, REGISTRY_DISABLED) &&
	       registry_find(registry, REGISTRY_DISABLED, &key) != NULL;
}

void disabled_keep_down(struct port *port)
{
	if (!port_facts(port)->known)
		return;
	if (port_info(port)->port_physical_state == PHYS_DISABLED)
		port->program.keeps_link = false;
	else if (!port->program.keeps_link)
		port_ask_link(port, PHYS_DISABLED);
}

void disabled_apply(struct fabric *fabric, const struct registry *registry)
{
	const struct disabled_entry *entry = registry_first(registry, REGISTRY_DISABLED, -1, NULL);

	for (; entry; entry = registry_next(registry, REGISTRY_DISABLED, -1, entry)) {
		struct port *port = fabric_switch_port(fabric, entry->node_guid, entry->port);

		if (port)
			disabled_keep_down(port);
	}
}

bool disabled_leaves_way(const struct fabric *fabric, const struct registry *registry,
			 const struct port *port)
{
	struct reach reach;
	bool finds;

	reach_begin(&reach, fabric, registry, true);
	reach_take_down(&reach, port);
	finds = port->peer != fabric->sm_port && reach_finds(&reach, port->node);
	reach_end(&reach);
	return finds;
}

json_t *disabled_json(const struct fabric *fabric, const struct registry *registry)
{
	const struct disabled_entry *entry = registry_first(registry, REGISTRY_DISABLED, -1, NULL);
	json_t *array = json_array();
	char guid[GUID_TEXT];

	for (; entry; entry = registry_next(registry, REGISTRY_DISABLED, -1, entry)) {
		const struct node *node = fabric_find_node(fabric, entry->node_guid);

		json_array_append_new(array,
				      json_pack("{s:s,s:s*,s:i}", "guid",
						guid_text(entry->node_guid, guid), "description",
						node ? node->facts->description : NULL, "port",
						entry->port));
	}
	return array;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Drained nodes and ports, and disabled ports, in a document that is restored. Drains that the
 * document adds are judged together, as one drain. Drains and disabled ports that are not in the
 * document end as with weftctl undrain and port enable: without a record, no later sweep would
 * enable their ports. Loop thread only.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/mem.h"
#include "sm/context.h"
#include "sm/drain.h"

/* The drains that a document adds. */
struct drain_added {
	struct drained_entry *places;
	size_t count;
	const struct node **targets; /* for each place */
};

/* A drain that becomes a drain by force counts as new, because it may cut off hosts. */
static bool is_added(const struct sm *sm, const struct drained_entry *entry)
{
	const struct drained_entry *present = registry_find(sm->registry, REGISTRY_DRAINED, entry);

	return entry->port && (!present || present->ending || (entry->forced && !present->forced));
}

static void gather_added(const struct sm *sm, const struct registry *document,
			 struct drain_added *added)
{
	const struct drained_entry *entry = drained_first(document);

	for (; entry; entry = drained_next(document, -1, entry)) {
		if (!is_added(sm, entry) || drained_is_own(sm->fabric, entry))
			continue;
		added->places = mem_grow(added->places, added->count, sizeof(*added->places));
		added->targets = mem_grow(added->targets, added->count, sizeof(*added->targets));
		added->places[added->count] = *entry;
		added->targets[added->count++] = fabric_find_node(sm->fabric, entry->of);
	}
}

/* Whether all places are of one target. */
static bool is_one_target(const struct drain_added *added)
{
	for (size_t i = 1; i < added->count; i++)
		if (added->places[i].of != added->places[0].of)
			return false;
	return true;
}

char *drain_judge_document(const struct sm *sm, const struct registry *document)
{
	struct drain_added added = {.count = 0};
	struct drained_losses losses;
	const struct port *manager;
	char *danger = NULL;

	gather_added(sm, document, &added);
	losses = drained_judge_all(sm->fabric, sm->registry, added.targets, added.count,
				   added.places, added.count);
	manager = drain_manager_among(sm, added.places, added.count);
	if (losses.ports) {
		char *text = drained_losses_text(&losses);

		danger = mem_printf("drains \"%s\"%s, which %s", (const char *)added.places[0].name,
				    is_one_target(&added) ? "" : " and others", text);
		free(text);
	} else if (manager) {
		danger = mem_printf("drains the link of the other subnet manager at \"%s\" port "
				    "%u, so that it could not take over",
				    manager->node->facts->description, manager->num);
	}
	free(added.places);
	free(added.targets);
	return danger;
}

/* A port that stays disabled only because of weftctl port disable. */
static void end_disabled(struct sm *sm, struct registry *document,
			 const struct disabled_entry *entry)
{
	const struct node *node = fabric_find_node(sm->fabric, entry->node_guid);
	struct drained_entry ending = {.node_guid = entry->node_guid,
				       .port = entry->port,
				       .of = entry->node_guid,
				       .of_port = entry->port};

	if (registry_find(document, REGISTRY_DRAINED, &ending))
		return;
	if (node)
		snprintf((char *)ending.name, sizeof(ending.name), "%s", node->facts->description);
	drain_end_put(sm, document, &ending);
}

void drain_complete_document(struct sm *sm, struct registry *document)
{
	const struct registry *present = sm->registry;
	const struct drained_entry *drained = registry_first(present, REGISTRY_DRAINED, -1, NULL);
	const struct disabled_entry *disabled =
		registry_first(present, REGISTRY_DISABLED, -1, NULL);

	for (; drained; drained = registry_next(present, REGISTRY_DRAINED, -1, drained))
		if (drained->port && !registry_find(document, REGISTRY_DRAINED, drained))
			drain_end_put(sm, document, drained);
	for (; disabled; disabled = registry_next(present, REGISTRY_DISABLED, -1, disabled))
		if (!registry_find(document, REGISTRY_DISABLED, disabled))
			end_disabled(sm, document, disabled);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A walk over the end ports in one stage, and a line in the log: sm/partition/unmanaged_pkeys.h. */
#include "sm/partition/unmanaged_pkeys.h"

#include <stdio.h>
#include <string.h>

#include "include/message_id.h"
#include "lib/log.h"
#include "lib/mem.h"

/* Finds the P_Keys that weftd removes without partitions: all except full membership of the default
 * partition. */
static unsigned find_unmanaged(const struct pkey_list *list, pkey_t *found)
{
	unsigned count = 0;

	for (unsigned i = 0; list && i < list->count; i++)
		if (pkey_partition(list->key[i]) && list->key[i] != PKEY_DEFAULT_FULL)
			found[count++] = list->key[i];
	return count;
}

static bool is_first_bring_up(const struct unmanaged_pkeys *unmanaged)
{
	return !unmanaged->policy->live && !policy_is_closed(unmanaged->policy);
}

static unsigned count_port(void *arg, size_t *at)
{
	static pkey_t found[UINT16_MAX + 1];
	struct unmanaged_pkeys *unmanaged = arg;
	const struct pkey_list *list;
	const struct port *port;
	char keys[PKEYS_TEXT];
	unsigned count;

	if (*at == 0) {
		unmanaged->ports = unmanaged->keys = 0;
		memset(unmanaged->seen, 0, sizeof(unmanaged->seen));
	}
	port = fabric_next_end(unmanaged->fabric, at);
	if (!port)
		return 0;
	list = port_facts(port)->pkeys;
	count = find_unmanaged(list, found);
	if (count && !unmanaged->ports++) {
		pkeys_text(found, count, keys);
		snprintf(unmanaged->example, sizeof(unmanaged->example), "\"%s\" port %u: %s",
			 port->node->facts->description, port->num, keys);
	}
	for (unsigned i = 0; i < count; i++) {
		uint64_t *word = &unmanaged->seen[found[i] / 64], bit = UINT64_C(1)
									<< found[i] % 64;

		unmanaged->keys += !(*word & bit);
		*word |= bit;
	}
	return 1 + (list ? list->count / PKEY_BLOCK_KEYS : 0);
}

static slice_fn *const stages[] = {count_port, NULL};
static const struct slice_plan plan = {"P_Keys of other managers", stages, NULL};

static void counted(void *arg)
{
	const struct log_subject subject = {.message_id = MESSAGE_PKEYS_FOREIGN, .port = -1};
	struct unmanaged_pkeys *unmanaged = arg;
	const char *former = policy_former_file(unmanaged->policy);

	if (!is_first_bring_up(unmanaged)) /* partitions were defined in the meantime */
		unmanaged->ports = unmanaged->keys = 0;
	unmanaged->told = true;
	if (unmanaged->ports)
		log_about(LOG_WARNING, &subject,
			  "%u port%s hold%s P_Keys that this configuration does not contain, %u "
			  "different key%s (%s), and there is no partition file: weftd REMOVES "
			  "THESE P_KEYS NOW, and all ports become full members of the default "
			  "partition; to keep them %s%s",
			  unmanaged->ports, unmanaged->ports == 1 ? "" : "s",
			  unmanaged->ports == 1 ? "s" : "", unmanaged->keys,
			  unmanaged->keys == 1 ? "" : "s", unmanaged->example,
			  former ? "set partition_config_file to the file that was in force here, "
				 : "use the partitions.conf of the manager that assigned them "
				   "(weftctl import opensm, docs/partitions.md)",
			  former ? former : "");
	unmanaged->done(unmanaged->done_arg);
}

void unmanaged_pkeys_log(struct unmanaged_pkeys *unmanaged, loop_fn *done, void *arg)
{
	if (!is_first_bring_up(unmanaged) || unmanaged->told) {
		done(arg);
		return;
	}
	unmanaged->done = done;
	unmanaged->done_arg = arg;
	slices_begin(&unmanaged->walk);
}

void unmanaged_pkeys_init(struct unmanaged_pkeys *unmanaged, struct loop *loop,
			  struct fabric *fabric, const struct policy *policy)
{
	*unmanaged = (struct unmanaged_pkeys){.fabric = fabric, .policy = policy};
	slices_init(&unmanaged->walk, loop, &plan, unmanaged, counted, unmanaged);
}

void unmanaged_pkeys_done(struct unmanaged_pkeys *unmanaged)
{
	slices_cancel(&unmanaged->walk);
}

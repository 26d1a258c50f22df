/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One stage over the end ports, and a line in the log: sm/partition/unmanaged_pkeys.h. */
#include "sm/partition/unmanaged_pkeys.h"

#include <stdio.h>
#include <string.h>

#include "include/message_id.h"
#include "lib/log.h"
#include "lib/mem.h"

/* What an open subnet takes away: all but full membership of the default partition. */
static unsigned find_foreign(const struct pkey_list *list, pkey_t *found)
{
	unsigned count = 0;

	for (unsigned i = 0; list && i < list->count; i++)
		if (pkey_partition(list->key[i]) && list->key[i] != PKEY_DEFAULT_FULL)
			found[count++] = list->key[i];
	return count;
}

static bool is_first_bring_up(const struct foreign_keys *foreign)
{
	return !foreign->policy->live && !policy_is_closed(foreign->policy);
}

static unsigned count_port(void *arg, size_t *at)
{
	static pkey_t found[UINT16_MAX + 1];
	struct foreign_keys *foreign = arg;
	const struct pkey_list *list;
	const struct port *port;
	char keys[PKEYS_TEXT];
	unsigned count;

	if (*at == 0) {
		foreign->ports = foreign->keys = 0;
		memset(foreign->seen, 0, sizeof(foreign->seen));
	}
	port = fabric_next_end(foreign->fabric, at);
	if (!port)
		return 0;
	list = port_facts(port)->pkeys;
	count = find_foreign(list, found);
	if (count && !foreign->ports++) {
		pkeys_text(found, count, keys);
		snprintf(foreign->example, sizeof(foreign->example), "\"%s\" port %u: %s",
			 port->node->facts->description, port->num, keys);
	}
	for (unsigned i = 0; i < count; i++) {
		uint64_t *word = &foreign->seen[found[i] / 64], bit = UINT64_C(1) << found[i] % 64;

		foreign->keys += !(*word & bit);
		*word |= bit;
	}
	return 1 + (list ? list->count / PKEY_BLOCK_KEYS : 0);
}

static slice_fn *const stages[] = {count_port, NULL};
static const struct slice_plan plan = {"P_Keys of other managers", stages, NULL};

static void counted(void *arg)
{
	const struct log_subject subject = {.message_id = MESSAGE_PKEYS_FOREIGN, .port = -1};
	struct foreign_keys *foreign = arg;
	const char *former = policy_former_file(foreign->policy);

	if (!is_first_bring_up(foreign)) /* somebody has defined partitions meanwhile */
		foreign->ports = foreign->keys = 0;
	foreign->told = true;
	if (foreign->ports)
		log_about(LOG_WARNING, &subject,
			  "%u port%s of this fabric hold%s P_Keys that this configuration does not "
			  "give, %u different one%s (%s), and there is no partition file: THEY ARE "
			  "TAKEN AWAY NOW, and everybody becomes a full member of the default "
			  "partition; to have them back %s%s",
			  foreign->ports, foreign->ports == 1 ? "" : "s",
			  foreign->ports == 1 ? "s" : "", foreign->keys,
			  foreign->keys == 1 ? "" : "s", foreign->example,
			  former ? "set partition_config_file to the file that was in force here, "
				 : "bring the partitions.conf of the manager that gave them "
				   "(weftctl import opensm, docs/partitions.md)",
			  former ? former : "");
	foreign->done(foreign->done_arg);
}

void foreign_keys_tell(struct foreign_keys *foreign, loop_fn *done, void *arg)
{
	if (!is_first_bring_up(foreign) || foreign->told) {
		done(arg);
		return;
	}
	foreign->done = done;
	foreign->done_arg = arg;
	slices_begin(&foreign->walk);
}

void foreign_keys_init(struct foreign_keys *foreign, struct loop *loop, struct fabric *fabric,
		       const struct policy *policy)
{
	*foreign = (struct foreign_keys){.fabric = fabric, .policy = policy};
	slices_init(&foreign->walk, loop, &plan, foreign, counted, foreign);
}

void foreign_keys_done(struct foreign_keys *foreign)
{
	slices_cancel(&foreign->walk);
}

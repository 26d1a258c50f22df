/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A list without order; it is short, and looked at only when LIDs are given: fabric/grace.h. */
#include "fabric/grace.h"

#include <stdlib.h>

#include "lib/mem.h"

void grace_keep(struct fabric *fabric, const struct node *node, uint64_t until_us)
{
	for (unsigned i = 0; i <= node->num_ports; i++) {
		const struct port *port = &node->port[i];

		if (!port->agent || !port->lid)
			continue;
		fabric->kept =
			mem_resize(fabric->kept, fabric->num_kept + 1, sizeof(*fabric->kept));
		fabric->kept[fabric->num_kept++] =
			(struct kept_lids){.guid = port_facts(port)->guid,
					   .until_us = until_us,
					   .lid = port->lid,
					   .lmc = port->lmc};
	}
}

/* Keeps those for which over() is false. */
static void sieve(struct fabric *fabric, uint64_t now_us,
		  bool (*over)(const struct fabric *fabric, const struct kept_lids *kept,
			       uint64_t now_us))
{
	size_t count = 0;

	for (size_t i = 0; i < fabric->num_kept; i++) {
		if (!over(fabric, &fabric->kept[i], now_us))
			fabric->kept[count++] = fabric->kept[i];
	}
	fabric->num_kept = count;
}

static bool is_late(const struct fabric *fabric, const struct kept_lids *kept, uint64_t now_us)
{
	(void)fabric;
	return kept->until_us <= now_us;
}

static bool is_given(const struct fabric *fabric, const struct kept_lids *kept, uint64_t now_us)
{
	const struct port *port = map_get(&fabric->ports, kept->guid);

	(void)now_us;
	for (unsigned i = 0; i < 1u << kept->lmc; i++) {
		if (fabric->lids[kept->lid + i])
			return true;
	}
	return port && port->lid;
}

void grace_expire(struct fabric *fabric, uint64_t now_us)
{
	sieve(fabric, now_us, is_late);
}

void grace_settle(struct fabric *fabric)
{
	sieve(fabric, 0, is_given);
}

void grace_forget(struct fabric *fabric)
{
	free(fabric->kept);
	fabric->kept = NULL;
	fabric->num_kept = 0;
}

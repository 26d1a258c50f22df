/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Follows a packet through the tables that switches are known to hold: why.h. route show follows
 * the computed tables of the view. Here the entries of the live model count, because a switch that
 * refuses its table is what this search is for.
 */
#include "sm/control/why.h"

/* Whether the last Set() of the block had no answer. */
static bool walk_is_doubtful(const struct lft_have *have, lid_t lid)
{
	unsigned block = lid / LFT_BLOCK_LIDS;

	return have->doubtful[block / 64] >> block % 64 & 1;
}

/* The entry that the switch is known to hold. If the last Set() had no answer, the entry before it;
 * if the table was not read yet, the computed entry. */
static uint8_t held_entry(const struct node *node, lid_t lid, bool *differs)
{
	const struct switch_lft *lft = &node->sw->lft;
	const uint8_t *block = lft_have_block(&lft->have, lid / LFT_BLOCK_LIDS);
	uint8_t want = lft_port(lft->want, lid), before = lft_port(lft->have.base, lid);

	*differs = block ? block[lid % LFT_BLOCK_LIDS] != want
			 : walk_is_doubtful(&lft->have, lid) && before != want;
	return block ? block[lid % LFT_BLOCK_LIDS] : *differs ? before : want;
}

/* The value of a link that uses less than the links before it. */
static void note_least(uint8_t value, unsigned size, unsigned least_size, const struct port *port,
		       uint8_t *least, uint8_t *most, unsigned most_size, const struct port **at)
{
	if (!value)
		return;
	if (!*least || size < least_size) {
		*least = value;
		*at = port;
	}
	if (!*most || size > most_size)
		*most = value;
}

static void note_link(const struct port *port, struct why_walk *out)
{
	const struct port_info *info = port_info(port);
	uint8_t mtu = info->neighbor_mtu, rate = port_rate(info);

	if (!port_facts(port)->known)
		return;
	note_least(mtu, mtu, out->mtu, port, &out->mtu, &out->mtu_most, out->mtu_most,
		   &out->mtu_at);
	note_least(rate, rate_deci_gbps(rate), rate_deci_gbps(out->rate), port, &out->rate,
		   &out->rate_most, rate_deci_gbps(out->rate_most), &out->rate_at);
}

static bool walk_is_active(const struct port *port)
{
	return port_state_of(port) == PORT_ACTIVE;
}

/* One switch. False: the walk has ended. */
static bool walk_step(const struct port **in, const struct port *to, struct why_walk *out)
{
	const struct node *node = (*in)->node;
	struct why_hop *hop = &out->hop[out->hops];
	const struct port *leaves;
	bool differs;
	uint8_t entry = held_entry(node, to->lid, &differs);

	*hop = (struct why_hop){.node = node, .in_port = (*in)->num, .out_port = entry};
	out->hops++;
	out->result = differs ? WHY_NOT_HELD : WHY_NO_ROUTE;
	if (!entry && to->node == node)
		out->result = WHY_ARRIVES;
	if (!entry || entry > node->num_ports)
		return false;
	leaves = &node->port[entry];
	if (!leaves->peer || (leaves->peer->node->type != NODE_SWITCH && leaves->peer != to))
		return false;
	if (!walk_is_active(leaves) || (leaves->peer->agent && !walk_is_active(leaves->peer))) {
		out->result = WHY_LINK_DOWN;
		return false;
	}
	note_link(leaves, out);
	*in = leaves->peer;
	if (leaves->peer != to)
		return true;
	note_link(leaves->peer, out);
	out->result = WHY_ARRIVES;
	return false;
}

void why_walk(const struct port *from, const struct port *to, struct why_walk *out)
{
	const struct port *in = from;

	*out = (struct why_walk){.result = WHY_NO_ROUTE};
	if (from == to || from->node == to->node || (from->num && from->peer == to)) {
		note_link(from, out);
		out->result = WHY_ARRIVES;
		return;
	}
	if (!to->lid)
		return;
	if (!port_of_switch(from)) {
		in = from->peer;
		if (!in || !port_of_switch(in))
			return;
		note_link(from, out);
		note_link(in, out);
	}
	while (out->hops < WHY_HOPS_MAX)
		if (!walk_step(&in, to, out))
			return;
	out->result = WHY_LOOP;
}

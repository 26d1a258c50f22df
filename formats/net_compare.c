/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Compares two nets (net_compare.h). First each node of the plan is matched with a node found, then
 * each planned cable is looked up between the matches of its ends, then unplanned cables are
 * reported. Pure.
 */
#include "formats/net_compare.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

enum { NONE = -1, TEXT_SIZE = 640, NAME_SIZE = 128 };

struct comparison {
	const struct net *planned, *found;
	int32_t *found_of;   /* by planned node */
	int32_t *planned_of; /* by found node */
	net_difference_fn *fn;
	void *ctx;
	unsigned differences;
};

static void report_loss(struct comparison *c, const struct net_difference *loss, const char *format,
			...) __attribute__((format(printf, 3, 4)));
static void report_loss(struct comparison *c, const struct net_difference *loss, const char *format,
			...)
{
	struct net_difference difference = *loss;
	char text[TEXT_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	difference.text = text;
	difference.found_of = c->found_of;
	c->differences++;
	c->fn(c->ctx, &difference);
}

/* A difference by which nothing is lost. */
#define report_difference(c, what, ...) \
	report_loss(c, &(const struct net_difference){.kind = (what)}, __VA_ARGS__)

static const char *type_name(const struct net_node *node)
{
	static const char *const names[] = {
		[NODE_CA] = "adapter", [NODE_SWITCH] = "switch", [NODE_ROUTER] = "router"};

	return names[node->type];
}

/* "leaf-01 (0x0002c90300fed671)", without missing parts. */
static const char *compared_name(const struct net_node *node, char name[NAME_SIZE])
{
	if (node->guid)
		snprintf(name, NAME_SIZE, "%s (0x%016" PRIx64 ")", node->description, node->guid);
	else
		snprintf(name, NAME_SIZE, "%s", node->description);
	return name;
}

/* Matching nodes */

static void pair(struct comparison *c, uint32_t planned, uint32_t found)
{
	c->found_of[planned] = (int32_t)found;
	c->planned_of[found] = (int32_t)planned;
}

static void match_guids(struct comparison *c)
{
	struct map by_guid; /* index + 1 */

	map_init(&by_guid);
	for (uint32_t i = 0; i < c->found->count; i++)
		if (c->found->nodes[i].guid)
			map_put(&by_guid, c->found->nodes[i].guid, (void *)(uintptr_t)(i + 1));
	for (uint32_t i = 0; i < c->planned->count; i++) {
		guid_t guid = c->planned->nodes[i].guid;
		uintptr_t place = guid ? (uintptr_t)map_get(&by_guid, guid) : 0;

		if (place && c->planned_of[place - 1] == NONE)
			pair(c, i, (uint32_t)(place - 1));
	}
	map_done(&by_guid);
}

struct named {
	const char *name;
	enum node_type type;
	uint32_t index;
};

static int compared_name_order(const void *left, const void *right)
{
	const struct named *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : (a->type > b->type) - (a->type < b->type);
}

/* Matches the remaining nodes by name. */
static struct named *unmatched(const struct net *net, const int32_t *matched, size_t *count)
{
	struct named *list = mem_array(net->count + 1, sizeof(*list));

	*count = 0;
	for (uint32_t i = 0; i < net->count; i++)
		if (matched[i] == NONE)
			list[(*count)++] =
				(struct named){net->nodes[i].description, net->nodes[i].type, i};
	qsort(list, *count, sizeof(*list), compared_name_order);
	return list;
}

static bool is_single(const struct named *list, size_t count, size_t i)
{
	return (i == 0 || compared_name_order(&list[i - 1], &list[i])) &&
	       (i + 1 == count || compared_name_order(&list[i + 1], &list[i]));
}

/* Only names that are unique on each side. */
static void match_names(struct comparison *c)
{
	size_t planned_count, found_count, f = 0;
	struct named *planned = unmatched(c->planned, c->found_of, &planned_count);
	struct named *found = unmatched(c->found, c->planned_of, &found_count);

	for (size_t p = 0; p < planned_count; p++) {
		while (f < found_count && compared_name_order(&found[f], &planned[p]) < 0)
			f++;
		if (f < found_count && !compared_name_order(&found[f], &planned[p]) &&
		    is_single(planned, planned_count, p) && is_single(found, found_count, f))
			pair(c, planned[p].index, found[f].index);
	}
	free(found);
	free(planned);
}

/* "1 cable", "4 cables". */
static const char *cables(const struct net_node *node, char text[24])
{
	unsigned count = 0;

	for (unsigned p = 1; p <= node->ports; p++)
		count += node->port[p].peer != NET_NO_PEER;
	snprintf(text, 24, "%u cable%s", count, count == 1 ? "" : "s");
	return text;
}

static void compare_node(struct comparison *c, const struct net_node *planned,
			 const struct net_node *found)
{
	char name[NAME_SIZE];

	compared_name(planned, name);
	if (planned->guid && found->guid && planned->guid != found->guid)
		report_difference(c, "replaced node",
				  "%s %s is another device: its GUID is 0x%016" PRIx64,
				  type_name(planned), name, found->guid);
	if (planned->type != found->type)
		report_difference(c, "other node", "%s %s is a %s", type_name(planned), name,
				  type_name(found));
	else if (planned->ports != found->ports)
		report_difference(c, "other node", "%s %s has %u ports, not %u", type_name(planned),
				  name, found->ports, planned->ports);
	if (strcmp(planned->description, found->description) != 0)
		report_difference(c, "renamed node", "%s %s is called \"%s\"", type_name(planned),
				  name, found->description);
}

static void net_compare_nodes(struct comparison *c)
{
	char name[NAME_SIZE], its[24];

	for (uint32_t i = 0; i < c->planned->count; i++) {
		const struct net_node *node = &c->planned->nodes[i];

		if (c->found_of[i] == NONE)
			report_loss(c,
				    &(const struct net_difference){.kind = "missing node",
								   .loss = NET_NODE_MISSING,
								   .planned = {{node, 0}}},
				    "%s %s is not there, nor its %s", type_name(node),
				    compared_name(node, name), cables(node, its));
		else
			compare_node(c, node, &c->found->nodes[c->found_of[i]]);
	}
	for (uint32_t i = 0; i < c->found->count; i++) {
		const struct net_node *node = &c->found->nodes[i];

		if (c->planned_of[i] == NONE)
			report_difference(c, "unplanned node",
					  "%s %s is not in the plan, nor its %s", type_name(node),
					  compared_name(node, name), cables(node, its));
	}
}

/* Cables */

static const struct net_port *port_at(struct net_end end)
{
	return end.node && end.port <= end.node->ports ? &end.node->port[end.port] : NULL;
}

static struct net_end far_end(const struct net *net, struct net_end end)
{
	const struct net_port *port = port_at(end);

	if (!port || port->peer == NET_NO_PEER)
		return (struct net_end){NULL, 0};
	return (struct net_end){&net->nodes[port->peer], port->peer_port};
}

static struct net_end counterpart(const struct comparison *c, struct net_end planned)
{
	int32_t found = c->found_of[planned.node - c->planned->nodes];

	return (struct net_end){found == NONE ? NULL : &c->found->nodes[found], planned.port};
}

static const char *where(struct net_end end, char text[NAME_SIZE])
{
	if (end.node)
		snprintf(text, NAME_SIZE, "%s port %u", end.node->description, end.port);
	else
		snprintf(text, NAME_SIZE, "nowhere");
	return text;
}

static bool same_rate(const struct net_rate *a, const struct net_rate *b)
{
	return a->width == b->width && a->speed == b->speed && a->speed_ext == b->speed_ext &&
	       a->fdr10 == b->fdr10;
}

static void compare_rate(struct comparison *c, struct net_end planned, struct net_end found)
{
	const struct net_port *want = port_at(planned), *have = port_at(found);
	char wanted[16], is[16], near[NAME_SIZE], far[NAME_SIZE];

	if (!want->rated || !have->rated || same_rate(&want->rate, &have->rate) ||
	    !net_rate_name(&want->rate, wanted, sizeof(wanted)) ||
	    !net_rate_name(&have->rate, is, sizeof(is)))
		return;
	report_difference(c, "other rate", "%s - %s: runs at %s, not %s", where(found, near),
			  where(far_end(c->found, found), far), is, wanted);
}

/* Checks a planned cable, from one of its ends; both of its nodes were found. */
static void compare_cable(struct comparison *c, struct net_end planned, struct net_end planned_far)
{
	struct net_end near = counterpart(c, planned), far = counterpart(c, planned_far);
	struct net_end leads = far_end(c->found, near), back = far_end(c->found, far);
	struct net_difference loss = {.planned = {planned, planned_far}};
	char a[NAME_SIZE], b[NAME_SIZE], x[NAME_SIZE], y[NAME_SIZE];

	where(planned, a);
	where(planned_far, b);
	if (leads.node == far.node && leads.port == far.port) {
		compare_rate(c, planned, near);
	} else if (!leads.node && !back.node) {
		loss.kind = "missing cable";
		loss.loss = NET_CABLE_MISSING;
		report_loss(c, &loss, "%s - %s: there is no link", a, b);
	} else {
		loss.kind = "moved cable";
		loss.loss = NET_CABLE_MOVED;
		report_loss(c, &loss, "%s - %s: %s leads to %s, %s to %s", a, b, a, where(leads, x),
			    b, where(back, y));
	}
}

/* Whether the plan has a cable at a port that was found; then that cable's line reports it. */
static bool is_planned(const struct comparison *c, struct net_end found)
{
	int32_t planned = c->planned_of[found.node - c->found->nodes];
	struct net_end end = {&c->planned->nodes[planned], found.port};
	const struct net_port *port = port_at(end);

	return port && port->peer != NET_NO_PEER;
}

static void check_unplanned(struct comparison *c, struct net_end near, struct net_end far)
{
	char a[NAME_SIZE], b[NAME_SIZE];

	if (!is_planned(c, near) && !is_planned(c, far))
		report_difference(c, "unplanned cable", "%s - %s: is not in the plan",
				  where(near, a), where(far, b));
}

/* Checks each cable of a net whose nodes have both a match in the other net. */
static void compare_cables(struct comparison *c, const struct net *net, const int32_t *matched,
			   void (*check)(struct comparison *c, struct net_end near,
					 struct net_end far))
{
	for (uint32_t i = 0; i < net->count; i++) {
		for (unsigned p = 1; p <= net->nodes[i].ports; p++) {
			struct net_end near = {&net->nodes[i], p}, far = far_end(net, near);

			if (net_is_first_end(net, i, p) && matched[i] != NONE &&
			    matched[far.node - net->nodes] != NONE)
				check(c, near, far);
		}
	}
}

static int32_t *all_none(uint32_t count)
{
	int32_t *list = mem_array(count + 1, sizeof(*list));

	for (uint32_t i = 0; i < count; i++)
		list[i] = NONE;
	return list;
}

unsigned net_compare(const struct net *planned, const struct net *found, net_difference_fn *fn,
		     void *ctx)
{
	struct comparison c = {
		.planned = planned,
		.found = found,
		.found_of = all_none(planned->count),
		.planned_of = all_none(found->count),
		.fn = fn,
		.ctx = ctx,
	};

	match_guids(&c);
	match_names(&c);
	net_compare_nodes(&c);
	compare_cables(&c, planned, c.found_of, compare_cable);
	compare_cables(&c, found, c.planned_of, check_unplanned);
	free(c.planned_of);
	free(c.found_of);
	return c.differences;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Evaluates the answer to a probe: the device and the port at the far end of the cable, and whether
 * another device has the same GUID.
 */
#include "sm/discovery/parts.h"

#include <stdarg.h>
#include <stdio.h>

#include "fabric/subject.h"
#include "include/message_id.h"
#include "lib/mem.h"

struct port *node_any_cabled(struct node *node)
{
	for (unsigned i = 1; i <= node->num_ports; i++) {
		if (node->port[i].peer)
			return &node->port[i];
	}
	return NULL;
}

static const char *place(const struct port *port, char text[NODE_DESC_SIZE + 48])
{
	snprintf(text, NODE_DESC_SIZE + 48, "0x%016llx \"%s\" port %u",
		 (unsigned long long)port->node->guid, port->node->facts->description, port->num);
	return text;
}

void discover_log_once(struct log_limit *limit, struct port *from,
		       const struct log_subject *subject, const char *format, ...)
{
	char text[320];
	va_list arguments;

	if (from->discovery.logged || !log_allowed(limit))
		return;
	from->discovery.logged = true;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	log_about(LOG_WARNING, subject, "%s", text);
}

void discover_drop_node(struct discover *discover, struct node *node)
{
	discover_drop_probes(discover, node);
	for (size_t i = 0; i < discover->num_claims;) {
		if (discover->claims[i]->node == node)
			discover->claims[i] = discover->claims[--discover->num_claims];
		else
			i++;
	}
	fabric_drop_node(discover->fabric, node);
}

void discover_duplicate(struct discover *discover, struct port *from, guid_t guid,
			const struct port *known)
{
	char here[NODE_DESC_SIZE + 48], there[NODE_DESC_SIZE + 48];
	struct log_subject subject = port_subject(known, MESSAGE_DUPLICATE);

	/* Only a heavy pass can distinguish two devices from swapped cables. It confirms the
	 * result in a second heavy pass, because cables may have been swapped during the first. */
	if (discover->kind != DISCOVER_HEAVY || from->discovery.far_end != FAR_END_DUPLICATE) {
		discover->report.want_heavy = true;
		if (discover->kind == DISCOVER_HEAVY)
			from->discovery.far_end = FAR_END_DUPLICATE;
		return;
	}
	from->discovery.link = LINK_VERIFIED;
	discover->anomalies.duplicate_guids++;
	log_limited(&discover->duplicate_limit, LOG_ERR, &subject,
		    "duplicate GUID 0x%016llx, %s %s and behind %s: the second device is not used "
		    "(change the GUID of one device)",
		    (unsigned long long)guid, known->peer ? "behind" : "as",
		    place(known->peer ? known->peer : known, there), place(from, here));
}

/* Either the device was moved here, or two devices have one GUID. A heavy pass also visits the
 * old place, so this cable is probed again at the end of the pass. Other passes do not read enough
 * to decide. */
static void discover_claim_guid(struct discover *discover, struct port *from)
{
	if (discover->kind != DISCOVER_HEAVY) {
		discover->report.want_heavy = true;
		return;
	}
	discover->claims =
		mem_resize(discover->claims, discover->num_claims + 1, sizeof(*discover->claims));
	discover->claims[discover->num_claims++] = from;
}

void discover_look_at_claims(struct discover *discover)
{
	size_t count = discover->num_claims;

	discover->num_claims = 0;
	for (size_t i = 0; i < count; i++)
		discover_probe(discover, discover->claims[i], true);
}

bool discover_seen_again(const struct discover *discover, const struct node *node)
{
	bool seen = node == discover->fabric->sm_port->node;

	for (unsigned i = 1; i <= node->num_ports; i++)
		seen = seen || node->port[i].discovery.link_pass == discover->pass;
	return seen;
}

/* The node with this NodeInfo: known, or added now. NULL: the GUID is, or may be, that of
 * another device. */
static struct node *discover_identify(struct discover *discover, struct port *from,
				      const struct node_info *info, bool second_look)
{
	struct node *node = fabric_find_node(discover->fabric, info->node_guid);

	if (node && !node_info_same_device(&node->facts->info, info)) {
		struct port *old = node_any_cabled(node);

		if (discover_seen_again(discover, node) || node == from->node) {
			discover_duplicate(discover, from, info->node_guid,
					   old ? old : &node->port[0]);
			return NULL;
		}
		if (!second_look) {
			discover_claim_guid(discover, from);
			return NULL;
		}
		discover_drop_node(discover, node); /* replaced by another device */
		node = NULL;
	}
	if (!node)
		node = fabric_add_node(discover->fabric, info);
	return node;
}

void discover_give_agent(struct discover *discover, struct port *port, guid_t port_guid)
{
	if (!port->agent || port_facts(port)->guid != port_guid)
		fabric_add_agent(discover->fabric, port, port_guid);
}

/* Whether a port that leads to this port now led to another device before, also if its link was
 * down in between. */
static bool led_elsewhere(const struct port *port, const struct port *to)
{
	if (port->peer)
		return port->peer != to;
	return port->discovery.led_to && port->discovery.led_to != to->node->guid;
}

/* Whether a switch on the route to a port has reported changed links since it was read. The route
 * may lead elsewhere now. */
static bool route_is_doubtful(const struct port *port)
{
	const struct node *node = port->node;

	for (unsigned hops = 0; node && node->sw && hops <= HOPS_MAX; hops++) {
		if (node->sw->links_changed)
			return true;
		node = node->uplink ? node->uplink->node : NULL;
	}
	return false;
}

static void note_self_link(struct discover *discover, struct port *from, struct port *arrival)
{
	struct log_subject subject = port_subject(from, NULL);

	discover->anomalies.self_links++;
	from->discovery.link_pass = arrival->discovery.link_pass = discover->pass;
	discover_log_once(
		&discover->odd_limit, from, &subject,
		"port %u of \"%s\" is cabled to port %u of the same device: the cable is not used "
		"(if these are two devices, change the GUID of one)",
		from->num, from->node->facts->description, arrival->num);
	arrival->discovery.logged = from->discovery.logged;
}

/* The far end has answered: the link is verified, and may begin a route. */
static void accept_cable(struct discover *discover, struct port *from, struct port *arrival)
{
	struct node *node = arrival->node;
	/* Only the link was unverified: the node needs no other read. */
	bool only_cable = !node->silent && from->peer == arrival &&
			  from->discovery.read_pass != discover->pass && port_facts(arrival)->known;

	if (node->silent) { /* events in between are unknown */
		node->silent = false;
		node->target_pass = discover->pass;
	}
	from->discovery.logged = arrival->discovery.logged = false;
	from->discovery.far_end = arrival->discovery.far_end = FAR_END_SOUND;
	from->discovery.link = arrival->discovery.link = LINK_VERIFIED;
	from->program.armed = arrival->program.armed = false;
	from->discovery.seen_once = arrival->discovery.seen_once =
		from->peer != arrival ||
		(from->discovery.seen_once && from->discovery.link_pass == discover->pass);
	fabric_link(discover->fabric, from, arrival);
	from->discovery.led_to = node->guid;
	arrival->discovery.led_to = from->node->guid;
	from->discovery.link_pass = arrival->discovery.link_pass = discover->pass;
	/* A heavy pass builds all routes again. Other passes begin in the middle of the tree and
	 * keep it. */
	if (node->type == NODE_SWITCH && node != discover->fabric->sm_port->node &&
	    (!node->uplink || (discover->kind == DISCOVER_HEAVY && node->pass != discover->pass))) {
		node->uplink = from;
		node->hops = from->node->hops + 1;
	}
	if (!only_cable)
		discover_visit(discover, node, arrival);
}

void discover_arrived(struct discover *discover, struct port *from, const struct node_info *info,
		      bool second_look)
{
	const struct port *holder = map_get(&discover->fabric->ports, info->port_guid);
	struct node *node;
	struct port *arrival;
	bool moved; /* one of the ports led elsewhere */

	if (holder && (holder->node->guid != info->node_guid ||
		       (holder->num && holder->num != info->local_port_num))) {
		discover_duplicate(discover, from, info->port_guid, holder);
		return;
	}
	node = discover_identify(discover, from, info, second_look);
	if (!node)
		return;
	arrival = &node->port[info->local_port_num];
	if (node == from->node) {
		note_self_link(discover, from, arrival);
		return;
	}
	if (arrival->peer && arrival->peer != from) {
		if (arrival->discovery.link_pass == discover->pass) {
			discover_duplicate(discover, from, info->node_guid, arrival);
			return;
		}
		if (!second_look) {
			discover_claim_guid(discover, from);
			return;
		}
	}
	moved = led_elsewhere(arrival, from) || led_elsewhere(from, arrival);
	if (moved && route_is_doubtful(from)) {
		from->discovery.far_end = FAR_END_SILENT;
		port_notes_add(&discover->fabric->mute, from);
		discover->report.want_heavy = true;
		return;
	}
	if (node->type != NODE_SWITCH)
		discover_give_agent(discover, arrival, info->port_guid);
	if (!port_agent(arrival)->target.answered)
		port_agent(arrival)->target.patience_ms = from->discovery.patience_ms;
	if (node->type == NODE_SWITCH && moved) {
		/* Requests on a route over the moved cable were lost, or another device answered
		 * them. */
		discover->report.recabled = true;
		discover->report.want_heavy |= discover->kind != DISCOVER_HEAVY;
	}
	accept_cable(discover, from, arrival);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The checks of `weftctl why`, in the order from the physical layer up: why.h. Each check looks at
 * one end, or at both, and describes the obstacle if it finds one. The first obstacle counts,
 * because it often causes those above it: a host behind a disabled port has no route, either.
 */
#include "sm/control/why.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fabric/pkeys.h"
#include "sm/control/partition.h"
#include "sm/discovery/disabled.h"
#include "sm/discovery/drained.h"

enum { PORT_NAME_SIZE = 96, KEYS_MAX = 256, SHARED_MAX = 64 };

/* Texts */

static void say(char text[OBSTACLE_TEXT_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void say(char text[OBSTACLE_TEXT_SIZE], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, OBSTACLE_TEXT_SIZE, format, args);
	va_end(args);
}

/* Sets the kind of obstacle; the caller adds text and remedy. Returns true. */
static bool is_obstacle(struct obstacle *out, const char *code, const char *layer)
{
	*out = (struct obstacle){.code = code, .layer = layer};
	return true;
}

const char *why_end_name(const struct why_end *end)
{
	return end->is_gone ? end->gone.description : end->port->node->facts->description;
}

/* "leaf-04 port 4" */
static const char *port_name(const struct port *port, char text[PORT_NAME_SIZE])
{
	snprintf(text, PORT_NAME_SIZE, "%s port %u", port->node->facts->description, port->num);
	return text;
}

/* A device as an argument of a command. Its name comes from the device: it counts if a shell takes
 * it as one word, and if it can be neither an option nor a GUID nor a LID. Else the GUID is used.
 */
static const char *argument_of(const char *name, guid_t guid, char text[PORT_NAME_SIZE])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char digits[GUID_TEXT];
	size_t plain = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_.:");

	snprintf(text, PORT_NAME_SIZE, "%s",
		 *name && strchr(letters, *name) && !name[plain] ? name : guid_text(guid, digits));
	return text;
}

static const char *node_word(const struct node *node, char text[PORT_NAME_SIZE])
{
	return argument_of(node->facts->description, node->guid, text);
}

/* An end port as a member of a partition, where a name could be a keyword such as ALL. */
static const char *member_word(const struct port *end, char text[PORT_NAME_SIZE])
{
	return guid_text(port_facts(end)->guid, text);
}

static const char *state_of(const struct port *port)
{
	return port_state_text(port_info(port));
}

/* Physical layer */

const struct port *why_cable(const struct fabric *fabric, const struct why_end *end)
{
	return end->is_gone ? gone_peer(fabric, &end->gone) : port_last_peer(fabric, end->port);
}

static bool why_is_drained(const struct why *why, const struct port *port, const char *to,
			   struct obstacle *out)
{
	const struct drained_entry *entry =
		drained_of_port(why->sm->registry, port->node->guid, port->num);
	char name[PORT_NAME_SIZE], target[PORT_NAME_SIZE];

	if (!entry)
		return false;
	snprintf(target, sizeof(target), "%s", (const char *)entry->name);
	if (entry->of_port)
		snprintf(target, sizeof(target), "%s %u", (const char *)entry->name,
			 entry->of_port);
	is_obstacle(out, "drained", "link");
	say(out->text, "%s%s%s%s is disabled: \"%s\" is drained%s%s", port_name(port, name),
	    *to ? " (to " : "", to, *to ? ")" : "", (const char *)entry->name,
	    entry->reason[0] ? ": " : "", (const char *)entry->reason);
	say(out->remedy, "weftctl undrain %s", target);
	return true;
}

static bool port_disabled(const struct why *why, const struct port *port, const char *to,
			  struct obstacle *out)
{
	char name[PORT_NAME_SIZE], word[PORT_NAME_SIZE];
	bool by_command;

	if (!port || !port->num || !port_of_switch(port))
		return false;
	if (why_is_drained(why, port, to, out))
		return true;
	by_command = port_is_disabled(why->sm->registry, port->node->guid, port->num);
	if (!by_command && port_info(port)->port_physical_state != PHYS_DISABLED)
		return false;
	is_obstacle(out, "disabled", "link");
	say(out->text, "%s%s%s%s is disabled by %s", port_name(port, name), *to ? " (to " : "", to,
	    *to ? ")" : "", by_command ? "a command (weftctl port disable)" : "another program");
	say(out->remedy, "weftctl port enable %s %u", node_word(port->node, word), port->num);
	return true;
}

/* A disabled port at either end of the cable. */
static bool check_disabled(const struct why *why, const struct why_end *end, struct obstacle *out)
{
	const struct port *cable = why_cable(why->sm->fabric, end);

	return port_disabled(why, cable, why_end_name(end), out) ||
	       (!end->is_gone &&
		port_disabled(why, end->port, cable ? cable->node->facts->description : "", out));
}

static void say_no_link(const struct why_end *end, const struct port *at, struct obstacle *out)
{
	bool is_own = !end->is_gone && at == end->port;
	const char *device = is_own ? "the device at the other end" : why_end_name(end);
	char name[PORT_NAME_SIZE], word[PORT_NAME_SIZE];

	is_obstacle(out, "link_down", "link");
	say(out->text, "no link at %s, which is %s: the cable is pulled or broken, or %s is off",
	    port_name(at, name), state_of(at), device);
	say(out->remedy,
	    "check the cable at %s and the power of %s; then weftctl port show %s %u shows ACTIVE",
	    name, device, node_word(at->node, word), at->num);
}

static void say_gone(const struct fabric *fabric, const struct why_end *end, struct obstacle *out)
{
	char text[GONE_TEXT_SIZE], word[PORT_NAME_SIZE];

	is_obstacle(out, "gone", "link");
	say(out->text, "%s", gone_text(fabric, &end->gone, text));
	if (end->gone.peer_guid && !fabric_find_node(fabric, end->gone.peer_guid))
		say(out->remedy, "weftctl why %s",
		    argument_of(end->gone.peer, end->gone.peer_guid, word));
	else
		say(out->remedy, "check the power and the cables of %s; weftctl events --node %s",
		    why_end_name(end), argument_of(why_end_name(end), end->gone.port_guid, word));
}

static bool check_link(const struct why *why, const struct why_end *end, struct obstacle *out)
{
	const struct port *cable = why_cable(why->sm->fabric, end);
	bool is_silent = end->is_gone && cable && port_state_of(cable) > PORT_DOWN;

	if (is_silent || (!end->is_gone && !end->port->num))
		return false;
	if (end->is_gone && !cable) {
		say_gone(why->sm->fabric, end, out);
		return true;
	}
	if (cable && port_facts(cable)->known && port_state_of(cable) == PORT_DOWN)
		say_no_link(end, cable, out);
	else if (!end->is_gone && port_state_of(end->port) == PORT_DOWN)
		say_no_link(end, end->port, out);
	else
		return false;
	return true;
}

/* Agent */

static bool check_agent(const struct why *why, const struct why_end *end, struct obstacle *out)
{
	const struct port *cable = why_cable(why->sm->fabric, end);
	char name[PORT_NAME_SIZE];

	if (!end->is_gone && !end->no_answer && !end->port->node->silent)
		return false;
	is_obstacle(out, "silent", "agent");
	if (cable && (end->is_gone || end->port->num))
		say(out->text,
		    "the management agent of %s does not answer, but its link at %s is %s",
		    why_end_name(end), port_name(cable, name), state_of(cable));
	else
		say(out->text, "the management agent of %s does not answer", why_end_name(end));
	if (!end->is_gone && port_of_switch(end->port))
		say(out->remedy, "reboot %s; then weftctl sweep heavy", why_end_name(end));
	else
		say(out->remedy,
		    "restart the driver of %s, or reset the device (firmware); then weftctl sweep "
		    "heavy",
		    why_end_name(end));
	return true;
}

/* Link states, and devices that refuse their settings */

/* A heavy sweep tries again; without success, the switch itself has a fault. */
static void say_switch_remedy(const struct node *node, struct obstacle *out)
{
	char word[PORT_NAME_SIZE];

	say(out->remedy, "weftctl sweep heavy; if that does not help, weftctl why %s",
	    node_word(node, word));
}

static void say_refuses(const struct node *node, struct obstacle *out)
{
	const struct switch_trouble *trouble = node->sw->trouble;
	const char *attribute = attr_name(CLASS_SUBN_DIRECTED, trouble->refused_attr);

	is_obstacle(out, "switch_refuses", "route");
	if (trouble->refused_status)
		say(out->text, "%s refuses Set(%s) with status 0x%04x", node->facts->description,
		    attribute, trouble->refused_status);
	else
		say(out->text, "%s answers no Set(%s), as if another manager's M_Key protected it",
		    node->facts->description, attribute);
	say(out->remedy, "reboot %s or update its firmware; then weftctl sweep heavy",
	    node->facts->description);
}

/* A link goes ACTIVE when the switches between the manager and the end hold their entries. */
static bool why_waits_for_tables(const struct why *why, const struct why_end *end,
				 const struct port *at, struct obstacle *out)
{
	const struct node *node;
	struct why_walk walk;

	if (!why->sm->fabric->sm_port)
		return false;
	why_walk(why->sm->fabric->sm_port, end->end, &walk);
	if (walk.result != WHY_NOT_HELD)
		return false;
	node = walk.hop[walk.hops - 1].node;
	if (node->sw->no_transit == NO_TRANSIT_REFUSES) {
		say_refuses(node, out);
		return true;
	}
	is_obstacle(out, "not_held", "route");
	say(out->text,
	    "the link of %s stays %s, because %s has not acknowledged its route to LID %u",
	    why_end_name(end), state_of(at), node->facts->description, end->end->lid);
	say_switch_remedy(node, out);
	return true;
}

/* A link that is up, but not ACTIVE. */
static bool state_obstacle(const struct why *why, const struct why_end *end, const struct port *at,
			   struct obstacle *out)
{
	char name[PORT_NAME_SIZE];
	bool refuses;

	if (!at || !at->num || !port_facts(at)->known || port_state_of(at) == PORT_ACTIVE)
		return false;
	refuses = at->program.failed || at->program.no_bringup;
	if (!refuses && why_waits_for_tables(why, end, at, out))
		return true;
	is_obstacle(out, refuses ? "refused" : "not_active", "link");
	if (refuses)
		say(out->text,
		    "%s refuses its settings (Set(PortInfo)): the link is %s, not ACTIVE",
		    port_name(at, name), state_of(at));
	else
		say(out->text, "the link of %s is %s at %s, not ACTIVE", why_end_name(end),
		    state_of(at), port_name(at, name));
	if (refuses)
		say(out->remedy, "update the firmware of %s or reset it; then weftctl sweep heavy",
		    at->node->facts->description);
	else
		say(out->remedy, "weftctl sweep heavy");
	return true;
}

static bool check_held(const struct why *why, const struct why_end *end, struct obstacle *out)
{
	char name[PORT_NAME_SIZE];

	(void)why;
	if (end->is_gone || !end->port->num || !port_held(end->port))
		return false;
	is_obstacle(out, "held", "link");
	say(out->text, "the link of %s at %s is held back, because it was lost too often",
	    why_end_name(end), port_name(end->port->peer ? end->port->peer : end->port, name));
	say(out->remedy, "replace the cable; weftctl events --kind link shows the losses");
	return true;
}

static bool check_active(const struct why *why, const struct why_end *end, struct obstacle *out)
{
	const struct port *cable = why_cable(why->sm->fabric, end);
	const struct port *first = end->port, *second = cable;

	if (end->is_gone || !end->port->num)
		return false;
	/* The end that refuses is named, not the end that waits for it. */
	if (cable && (cable->program.failed || cable->program.no_bringup) &&
	    !end->port->program.failed) {
		first = cable;
		second = end->port;
	}
	return state_obstacle(why, end, first, out) || state_obstacle(why, end, second, out);
}

/* LIDs */

static bool why_check_lid(const struct why *why, const struct why_end *end, struct obstacle *out)
{
	const struct port *at = end->end, *owner;
	lid_t held;

	if (end->is_gone)
		return false;
	held = port_info(at)->lid;
	owner = held <= LID_UNICAST_MAX ? why->sm->fabric->lids[held] : NULL;
	if (!at->lid || (port_facts(at)->known && !held)) {
		is_obstacle(out, "lid_missing", "LID");
		say(out->text, "%s has no LID", why_end_name(end));
	} else if (port_facts(at)->known && held != at->lid) {
		is_obstacle(out, owner && owner != at ? "lid_conflict" : "lid_refused", "LID");
		say(out->text, "%s keeps LID %u%s%s instead of its LID %u", why_end_name(end), held,
		    owner && owner != at ? ", which is the LID of " : "",
		    owner && owner != at ? owner->node->facts->description : "", at->lid);
	} else {
		return false;
	}
	say(out->remedy,
	    "weftctl sweep heavy; if the obstacle stays, update the firmware of %s or reset it",
	    why_end_name(end));
	return true;
}

/* Routes */

static void say_route(const struct why *why, unsigned from, const struct why_walk *walk,
		      struct obstacle *out)
{
	static const struct {
		const char *code, *text, *remedy;
	} rows[] = {
		[WHY_NO_ROUTE] = {"no_route", "has no route to it", "weftctl route check"},
		[WHY_NOT_HELD] = {"not_held", "has not acknowledged the computed entry for it",
				  NULL},
		[WHY_LOOP] = {"loop", "is part of a loop", "weftctl reroute"},
		[WHY_LINK_DOWN] = {"way_down", "forwards it to a link that is not ACTIVE",
				   "weftctl sweep heavy"},
	};
	const struct why_hop *last = walk->hops ? &walk->hop[walk->hops - 1] : NULL;
	const struct node *at = last ? last->node : NULL;
	const char *to = why_end_name(&why->end[1 - from]);

	if (at && walk->result != WHY_LOOP && at->sw->no_transit == NO_TRANSIT_REFUSES) {
		say_refuses(at, out);
		return;
	}
	is_obstacle(out, rows[walk->result].code, "route");
	if (at)
		say(out->text, "no route from %s to %s: %s (LID %u), after %u hops, %s",
		    why_end_name(&why->end[from]), to, at->facts->description, at->port[0].lid,
		    walk->hops, rows[walk->result].text);
	else
		say(out->text, "no route from %s to %s: no switch connects them",
		    why_end_name(&why->end[from]), to);
	if (at && walk->result == WHY_NOT_HELD)
		say_switch_remedy(at, out);
	else
		say(out->remedy, "%s", rows[walk->result].remedy);
}

static bool check_routes(const struct why *why, const struct why_end *end, struct obstacle *out)
{
	struct why_walk walk;

	if (end != &why->end[0] || why->ends < 2) {
		if (end->port->node->sw && end->port->node->sw->no_transit == NO_TRANSIT_REFUSES) {
			say_refuses(end->port->node, out);
			return true;
		}
		return false;
	}
	for (unsigned from = 0; from < 2; from++) {
		why_walk(why->end[from].end, why->end[1 - from].end, &walk);
		if (walk.result == WHY_ARRIVES)
			continue;
		say_route(why, from, &walk, out);
		return true;
	}
	return false;
}

/* Partitions */

struct key_set {
	pkey_t key[KEYS_MAX];
	unsigned count;
};

static void keys_take(struct key_set *set, const pkey_t *key, unsigned count)
{
	for (unsigned i = 0; i < count && set->count < KEYS_MAX; i++)
		if (pkey_partition(key[i]))
			set->key[set->count++] = key[i];
}

/* The table that was read or acknowledged. Without it, the wanted P_Keys; of a switch, which may
 * keep its table to itself, limited membership of the default partition (sa/endport.h). */
static void keys_of_end(struct sm *sm, const struct port *end, struct key_set *set)
{
	const struct pkey_list *held = port_facts(end)->pkeys;
	const pkey_t limited = PKEY_DEFAULT_LIMITED;
	struct port_keys wanted;

	set->count = 0;
	if (held) {
		keys_take(set, held->key, held->count);
	} else if (port_of_switch(end)) {
		keys_take(set, &limited, 1);
	} else {
		wanted = policy_port_keys(&sm->policy, end);
		keys_take(set, wanted.key, wanted.count);
	}
}

static uint8_t membership_of(const struct key_set *set, pkey_t partition)
{
	return partition_membership_in((struct port_keys){set->key, set->count, 0}, partition);
}

static bool is_listed(const struct why_shared *list, unsigned count, pkey_t partition)
{
	while (count--)
		if (list[count].p_key == partition)
			return true;
	return false;
}

static unsigned shared_partitions(const struct key_set set[2], bool communicates,
				  struct why_shared *out, unsigned count, unsigned most)
{
	for (unsigned i = 0; i < set[0].count && count < most; i++) {
		struct why_shared row = {.p_key = pkey_partition(set[0].key[i])};

		row.membership[0] = membership_of(&set[0], row.p_key);
		row.membership[1] = membership_of(&set[1], row.p_key);
		row.communicates = (row.membership[0] | row.membership[1]) & MEMBERSHIP_FULL;
		if (row.membership[1] && row.communicates == communicates &&
		    !is_listed(out, count, row.p_key))
			out[count++] = row;
	}
	return count;
}

unsigned why_shared_partitions(const struct why *why, struct why_shared *out, unsigned most)
{
	struct key_set set[2];
	unsigned count;

	for (unsigned i = 0; i < 2; i++)
		keys_of_end(why->sm, why->end[i].end, &set[i]);
	count = shared_partitions(set, true, out, 0, most);
	return shared_partitions(set, false, out, count, most);
}

/* The partitions should connect the ends, but a port does not hold its P_Keys. */
static bool keys_not_held(const struct why *why, struct obstacle *out)
{
	struct key_set wanted[2] = {0};
	struct why_shared row;
	struct key_set held;

	for (unsigned i = 0; i < 2; i++) {
		struct port_keys keys = policy_port_keys(&why->sm->policy, why->end[i].end);

		keys_take(&wanted[i], keys.key, keys.count);
	}
	if (!shared_partitions(wanted, true, &row, 0, 1))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		struct port *end = why->end[i].end;

		keys_of_end(why->sm, end, &held);
		if (membership_of(&held, row.p_key) == row.membership[i])
			continue;
		is_obstacle(out, "p_key_not_held", "partition");
		say(out->text, "%s does not hold its P_Key of partition 0x%04x: %s",
		    why_end_name(&why->end[i]), row.p_key,
		    partition_status_name(why->sm, end, row.p_key));
		say(out->remedy, "weftctl sweep heavy; weftctl partition show 0x%04x", row.p_key);
		return true;
	}
	return false;
}

/* The partition of one end to which the other can be added, as a limited member where that
 * suffices: tenants are kept apart on purpose. Never the default partition, in which a full member
 * communicates with all hosts. */
static bool say_add(const struct why *why, struct obstacle *out)
{
	struct key_set set;
	char word[PORT_NAME_SIZE];

	for (unsigned i = 0; i < 2; i++) {
		keys_of_end(why->sm, why->end[i].end, &set);
		for (unsigned k = 0; k < set.count; k++) {
			pkey_t partition = pkey_partition(set.key[k]);

			if (partition == PKEY_DEFAULT_LIMITED)
				continue;
			say(out->remedy,
			    "if they should communicate: weftctl partition member add 0x%04x %s%s",
			    partition, member_word(why->end[1 - i].end, word),
			    set.key[k] & PKEY_FULL_MEMBER ? " --limited" : "");
			return true;
		}
	}
	say(out->remedy, "if they should communicate: add both to a partition, with weftctl "
			 "partition add and weftctl partition member add");
	return true;
}

/* Limited members of the default partition only: that is how hosts of different partitions look, so
 * it does not count as a partition in common. */
static bool why_check_partitions(const struct why *why, const struct why_end *end,
				 struct obstacle *out)
{
	struct why_shared rows[SHARED_MAX];
	unsigned count, i;
	char word[PORT_NAME_SIZE];

	if (end != &why->end[0] || why->ends < 2 || why->end[0].end == why->end[1].end)
		return false;
	count = why_shared_partitions(why, rows, SHARED_MAX);
	if (count && rows[0].communicates)
		return false;
	if (keys_not_held(why, out))
		return true;
	for (i = 0; i < count && rows[i].p_key == PKEY_DEFAULT_LIMITED; i++)
		continue;
	if (i == count) {
		is_obstacle(out, "p_key", "partition");
		say(out->text, "%s and %s have no partition in common%s",
		    why_end_name(&why->end[0]), why_end_name(&why->end[1]),
		    count ? ", except the default partition 0x7fff, in which both are limited "
			    "members"
			  : "");
		return say_add(why, out);
	}
	is_obstacle(out, "limited", "partition");
	say(out->text,
	    "%s and %s are both limited members of partition 0x%04x, and limited members do not "
	    "communicate with each other",
	    why_end_name(&why->end[0]), why_end_name(&why->end[1]), rows[i].p_key);
	say(out->remedy,
	    "if they should communicate: weftctl partition member add 0x%04x %s --full",
	    rows[i].p_key, member_word(why->end[1].end, word));
	return true;
}

/* Whether the switch port at one end passes packets of a partition in both directions. Its table is
 * a copy of the table of the end, also in OpenSM, so a key passes packets with and without the
 * membership bit: a limited member could otherwise send nothing. */
static bool is_passed(const struct port *cable, const struct key_set *table, pkey_t p_key)
{
	const struct port_info *info = port_info(cable);

	return membership_of(table, p_key) ||
	       !(info->partition_enforcement_inbound || info->partition_enforcement_outbound);
}

/* The partitions in which the ends communicate, at the switch ports that enforce partitions. */
static bool check_enforced(const struct why *why, const struct why_end *end, struct obstacle *out)
{
	const struct port *cable = end->port->num ? end->port->peer : NULL;
	const struct pkey_list *list = cable ? port_facts(cable)->pkeys : NULL;
	struct why_shared rows[SHARED_MAX];
	struct key_set set = {0};
	char name[PORT_NAME_SIZE];
	unsigned count;

	if (why->ends < 2 || !list || !port_of_switch(cable))
		return false;
	count = why_shared_partitions(why, rows, SHARED_MAX);
	keys_take(&set, list->key, list->count);
	for (unsigned i = 0; i < count && rows[i].communicates; i++)
		if (is_passed(cable, &set, rows[i].p_key))
			return false;
	if (!count || !rows[0].communicates)
		return false;
	is_obstacle(out, "enforced", "partition");
	say(out->text, "%s, at the cable of %s, drops packets of partition 0x%04x",
	    port_name(cable, name), why_end_name(end), rows[0].p_key);
	say(out->remedy, "weftctl sweep heavy");
	return true;
}

/* The checks in their order. From the routes on, both ends are present. */
static bool (*const checks[])(const struct why *why, const struct why_end *end,
			      struct obstacle *out) = {
	check_disabled, check_link,   check_agent,	    check_held,	    check_active,
	why_check_lid,	check_routes, why_check_partitions, check_enforced,
};

bool why_find_obstacle(const struct why *why, struct obstacle *out)
{
	struct obstacle found;

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		for (unsigned e = 0; e < why->ends; e++) {
			if (!checks[i](why, &why->end[e], &found))
				continue;
			*out = found;
			return true;
		}
	}
	return false;
}

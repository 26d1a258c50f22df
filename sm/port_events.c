/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Merges two sorted lists, and has a queue of absent ports: sm/port_events.h. */
#include "sm/port_events.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

enum { SEARCHED_IN_TURN = 1024 };

struct absentee {
	struct list link;
	guid_t guid;
	uint64_t since_us;
};

/* An end port, as in events; LID_NONE: absent. */
struct found {
	guid_t guid;
	lid_t lid;
	struct node_facts *facts;
	uint8_t num;
};

static void port_events_raise(const struct port_events *port_events, enum event_kind kind,
			      struct found port)
{
	const struct event event = {.kind = kind,
				    .guid = port.guid,
				    .lid = port.lid,
				    .facts = port.facts,
				    .num = port.num};

	event_raise(port_events->events, &event);
}

/* Absent ports */

static void absentee_free(struct port_events *port_events, struct absentee *absentee)
{
	map_remove(&port_events->absent, absentee->guid);
	list_del(&absentee->link);
	free(absentee);
}

static uint64_t grace_end_us(const struct port_events *port_events)
{
	const struct absentee *first =
		container_of(port_events->leaving.next, struct absentee, link);

	return first->since_us + port_events->options->grace_s * UINT64_C(1000000);
}

static void grace_over(void *arg)
{
	struct port_events *port_events = arg;

	while (!list_empty(&port_events->leaving) &&
	       grace_end_us(port_events) <= loop_now_us(port_events->loop)) {
		struct absentee *first =
			container_of(port_events->leaving.next, struct absentee, link);
		struct found port = {.guid = first->guid};

		absentee_free(port_events, first);
		port_events_raise(port_events, EVENT_PORT_FORGOTTEN, port);
	}
	if (!list_empty(&port_events->leaving))
		loop_timer_arm_at(&port_events->timer, grace_end_us(port_events));
}

static void leaves(struct port_events *port_events, guid_t guid)
{
	struct absentee *absentee;

	if (map_get(&port_events->absent, guid))
		return;
	absentee = mem_alloc(sizeof(*absentee));
	*absentee = (struct absentee){.guid = guid, .since_us = loop_now_us(port_events->loop)};
	map_put(&port_events->absent, guid, absentee);
	list_init(&absentee->link);
	list_push(&port_events->leaving, &absentee->link);
}

static void returns(struct port_events *port_events, guid_t guid)
{
	struct absentee *absentee = map_get(&port_events->absent, guid);

	if (absentee)
		absentee_free(port_events, absentee);
}

/* Views */

static struct found found_end(const struct snapshot *snapshot, uint32_t index)
{
	const struct snap_end *end = &snapshot->ends[index];

	return (struct found){end->guid, end->lid, end->facts, end->port};
}

static struct found found_switch(const struct snapshot *snapshot, uint32_t index)
{
	const struct snap_switch *sw = &snapshot->switches[index];
	guid_t port0 = sw->facts ? sw->facts->port[0].guid : 0;

	return (struct found){port0 ? port0 : sw->guid, sw->lid, sw->facts, 0};
}

static guid_t switch_order(const struct snapshot *snapshot, uint32_t index)
{
	return snapshot->switches[index].guid;
}

static guid_t end_order(const struct snapshot *snapshot, uint32_t index)
{
	return snapshot->ends[index].guid;
}

/* One of the two sorted arrays of a snapshot. */
struct array {
	uint32_t (*count)(const struct snapshot *snapshot);
	guid_t (*order)(const struct snapshot *snapshot, uint32_t index);
	struct found (*found)(const struct snapshot *snapshot, uint32_t index);
};

static uint32_t count_switches(const struct snapshot *snapshot)
{
	return snapshot->num_switches;
}

static uint32_t count_ends(const struct snapshot *snapshot)
{
	return snapshot->num_ends;
}

static const struct array arrays[] = {
	{count_switches, switch_order, found_switch},
	{count_ends, end_order, found_end},
};

static void not_before(struct port_events *port_events, guid_t guid)
{
	registry_unref(map_remove(&port_events->before, guid));
}

static void comes(struct port_events *port_events, guid_t guid)
{
	guid_t *coming = mem_alloc(sizeof(*coming));

	*coming = guid;
	free(map_put(&port_events->coming, guid, coming));
}

static void port_events_compare(struct port_events *port_events, struct found before,
				struct found after)
{
	guid_t *coming;

	if (before.lid && !after.lid) {
		not_before(port_events, before.guid);
		leaves(port_events, before.guid);
		coming = map_remove(&port_events->coming, before.guid);
		if (!coming) /* else no event has reported the port yet */
			port_events_raise(port_events, EVENT_PORT_OUT, before);
		free(coming);
	} else if (!before.lid && after.lid) {
		returns(port_events, after.guid);
		comes(port_events, after.guid);
	}
}

/* A base port 0 has no state (table 146): it is present if it has a LID. */
static bool end_port_is_up(const struct port *port)
{
	return port->lid && (port_of_switch(port) || port_state_of(port) == PORT_ACTIVE);
}

/* Changes while weftd was not running */

static void forget_before(struct port_events *port_events)
{
	size_t position = 0;
	void *entry;

	while ((entry = map_next(&port_events->before, &position)))
		registry_unref(entry);
	map_done(&port_events->before);
	map_init(&port_events->before);
}

static void find_before(struct port_events *port_events)
{
	const struct lid_entry *entry =
		registry_first(port_events->registry, REGISTRY_LID, -1, NULL);

	for (; entry; entry = registry_next(port_events->registry, REGISTRY_LID, -1, entry))
		if (!entry->gone)
			map_put(&port_events->before, entry->guid, (void *)registry_ref(entry));
}

/* The local adapter may have moved to another fabric: only GUIDs of other ports identify the
 * fabric. */
static bool is_others(const struct fabric *fabric, guid_t guid)
{
	const struct port *port = map_get(&fabric->ports, guid);

	return port && fabric->sm_port && port->node != fabric->sm_port->node;
}

static bool same_fabric(const struct port_events *port_events, const struct fabric *fabric)
{
	const struct snapshot *topology = port_events->topology;

	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
		for (uint32_t k = 0; k < arrays[i].count(topology); k++) {
			guid_t guid = arrays[i].found(topology, k).guid;

			if (map_get(&port_events->before, guid) && is_others(fabric, guid))
				return true;
		}
	}
	return false;
}

/* The ports left in before have disappeared. */
static void find_unseen(struct port_events *port_events)
{
	const struct snapshot *topology = port_events->topology;

	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
		for (uint32_t k = 0; k < arrays[i].count(topology); k++) {
			struct found port = arrays[i].found(topology, k);

			if (!port.lid)
				continue;
			if (!map_get(&port_events->before, port.guid))
				comes(port_events, port.guid);
			not_before(port_events, port.guid);
		}
	}
}

static void tell_unseen(struct port_events *port_events, const struct fabric *fabric)
{
	void **gone;

	if (!port_events->before.count || !port_events->topology)
		return;
	if (same_fabric(port_events, fabric)) {
		find_unseen(port_events);
		gone = mem_array(port_events->before.count, sizeof(*gone));
		map_sorted(&port_events->before, gone);
		for (size_t i = 0; i < port_events->before.count; i++) {
			const struct lid_entry *entry = gone[i];

			port_events_raise(port_events, EVENT_PORT_OUT,
					  (struct found){.guid = entry->guid, .lid = entry->lid});
		}
		free(gone);
	}
	forget_before(port_events);
}

void port_events_settled(struct port_events *port_events, const struct fabric *fabric)
{
	size_t count;
	void **guids;

	tell_unseen(port_events, fabric);
	count = port_events->coming.count;
	guids = mem_array(count, sizeof(*guids));
	map_sorted(&port_events->coming, guids);
	for (size_t i = 0; i < count; i++) {
		guid_t guid = *(guid_t *)guids[i];
		const struct port *port = map_get(&fabric->ports, guid);

		if (!port || !end_port_is_up(port))
			continue;
		free(map_remove(&port_events->coming, guid));
		port_events_raise(port_events, EVENT_PORT_IN,
				  (struct found){guid, port->lid, port->node->facts, port->num});
	}
	free(guids);
}

static void forget_coming(struct port_events *port_events)
{
	size_t position = 0;
	guid_t *guid;

	while ((guid = map_next(&port_events->coming, &position)))
		free(guid);
	map_done(&port_events->coming);
	map_init(&port_events->coming);
}

static void port_events_merge(struct port_events *port_events, const struct array *array,
			      const struct snapshot *before, const struct snapshot *after)
{
	uint32_t old = 0, new = 0, olds = array->count(before), news = array->count(after);

	while (old < olds || new < news) {
		guid_t a = old < olds ? array->order(before, old) : UINT64_MAX;
		guid_t b = new < news ? array->order(after, new) : UINT64_MAX;
		struct found was = {0}, is = {0};

		if (a <= b && old < olds)
			was = array->found(before, old++);
		if (b <= a && new < news)
			is = array->found(after, new ++);
		port_events_compare(port_events, was, is);
	}
}

/* Ports that disappeared unseen: a walk over all ports that the registry knows */

static const struct {
	enum registry_kind kind;
	size_t guid_at;
} known_by[] = {
	{REGISTRY_LID, offsetof(struct lid_entry, guid)},
	{REGISTRY_ALIAS, offsetof(struct alias_entry, port_guid)},
	{REGISTRY_MEMBER, offsetof(struct member_entry, port_guid)},
	{REGISTRY_SERVICE, offsetof(struct service_entry, gid_guid)},
	{REGISTRY_SUBSCRIPTION, offsetof(struct subscription_entry, subscriber)},
};

/* A switch is known by its port 0, whose GUID need not be its own. */
static bool switch_has(const struct snapshot *snapshot, guid_t guid)
{
	int32_t sw = snapshot_find_switch(snapshot, guid);

	if (sw >= 0 && found_switch(snapshot, (uint32_t)sw).guid == guid)
		return true;
	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		if (found_switch(snapshot, s).guid == guid)
			return true;
	return false;
}

/* Registrations under an alias are deleted with those of its port. */
static bool port_events_is_present(const struct port_events *port_events, guid_t guid)
{
	const struct alias_entry key = {.guid = guid};

	return snapshot_find_end(port_events->topology, guid) >= 0 ||
	       map_get(&port_events->absent, guid) || switch_has(port_events->topology, guid) ||
	       registry_first(port_events->registry, REGISTRY_ALIAS, ALIAS_BY_GUID, &key);
}

static void search_end(struct port_events *port_events)
{
	loop_defer_cancel(&port_events->search);
	if (port_events->searched < ARRAY_SIZE(known_by))
		registry_walk_end(&port_events->cursor);
	port_events->searched = ARRAY_SIZE(known_by);
}

static void search_kind(struct port_events *port_events, size_t row)
{
	port_events->searched = row;
	if (row < ARRAY_SIZE(known_by))
		registry_walk(port_events->registry, known_by[row].kind, -1, NULL,
			      &port_events->cursor);
}

static void port_events_search(void *arg)
{
	struct port_events *port_events = arg;

	for (unsigned i = 0; i < SEARCHED_IN_TURN && port_events->searched < ARRAY_SIZE(known_by);
	     i++) {
		const char *record = registry_walk_next(&port_events->cursor);
		guid_t guid;

		if (!record) {
			registry_walk_end(&port_events->cursor);
			search_kind(port_events, port_events->searched + 1);
			continue;
		}
		memcpy(&guid, record + known_by[port_events->searched].guid_at, sizeof(guid));
		if (!port_events_is_present(port_events, guid))
			leaves(port_events, guid);
	}
	if (port_events->searched < ARRAY_SIZE(known_by))
		loop_defer(&port_events->search);
	else if (!list_empty(&port_events->leaving))
		grace_over(port_events);
}

static void first_view(struct port_events *port_events)
{
	search_kind(port_events, 0);
	loop_defer(&port_events->search);
	port_events_raise(port_events, EVENT_MASTER, (struct found){0});
}

/* Another master handles them now. */
static void last_view(struct port_events *port_events)
{
	search_end(port_events);
	while (!list_empty(&port_events->leaving))
		absentee_free(port_events,
			      container_of(port_events->leaving.next, struct absentee, link));
	loop_timer_disarm(&port_events->timer);
	forget_coming(port_events);
	port_events_raise(port_events, EVENT_NOT_MASTER, (struct found){0});
}

void port_events_published(struct port_events *port_events, const struct view *before,
			   const struct view *after)
{
	if (!after)
		forget_before(port_events);
	if (!before && !after)
		return;
	if (!after) {
		last_view(port_events);
		return;
	}
	port_events->topology = after->topology;
	if (!before) {
		first_view(port_events);
	} else if (before->topology != after->topology) {
		for (size_t i = 0; i < ARRAY_SIZE(arrays); i++)
			port_events_merge(port_events, &arrays[i], before->topology,
					  after->topology);
	}
	if (!list_empty(&port_events->leaving))
		grace_over(port_events);
}

void port_events_init(struct port_events *port_events, struct loop *loop, struct event_hub *events,
		      struct registry *registry, const struct sm_options *options)
{
	*port_events = (struct port_events){
		.loop = loop, .events = events, .registry = registry, .options = options};
	map_init(&port_events->absent);
	map_init(&port_events->coming);
	map_init(&port_events->before);
	find_before(port_events);
	list_init(&port_events->leaving);
	port_events->searched = ARRAY_SIZE(known_by);
	loop_deferred_init(&port_events->search, loop, "ports that disappeared unseen",
			   port_events_search, port_events);
	loop_timer_init(&port_events->timer, loop, "registration grace of ports", grace_over,
			port_events);
}

void port_events_done(struct port_events *port_events)
{
	search_end(port_events);
	while (!list_empty(&port_events->leaving))
		absentee_free(port_events,
			      container_of(port_events->leaving.next, struct absentee, link));
	loop_timer_disarm(&port_events->timer);
	map_done(&port_events->absent);
	forget_before(port_events);
	forget_coming(port_events);
}

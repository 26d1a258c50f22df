/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * User names of nodes: named.h. It checks every node of the snapshot, so that an ambiguous name is
 * detected; 13,000 nodes take less than a millisecond. Pure.
 */
#include "fabric/named.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/guid.h"
#include "lib/hash.h"
#include "lib/hostlist.h"
#include "lib/suggest.h"

const struct node_facts *facts_at(const struct snapshot *snapshot, uint32_t place)
{
	return place < snapshot->num_switches
		       ? snapshot->switches[place].facts
		       : snapshot->ends[place - snapshot->num_switches].facts;
}

uint32_t node_count(const struct snapshot *snapshot)
{
	return snapshot->num_switches + snapshot->num_ends;
}

enum { CANDIDATES_MAX = 5, LISTED_MAX = 131072 };

/* The possible meanings of a name. */
struct sought {
	const char *name;
	guid_t guid; /* 0: it is none */
	unsigned lid;
};

static struct sought seek(const char *name)
{
	bool hex = strncmp(name, "0x", 2) == 0;
	struct sought sought = {.name = name};
	char *rest;
	uint64_t number = strtoull(name, &rest, hex ? 16 : 10);

	if (guid_parse_digits(name, &sought.guid) || *rest || rest == name)
		return sought;
	if (hex)
		sought.guid = number;
	else if (number <= LID_UNICAST_MAX)
		sought.lid = (unsigned)number;
	return sought;
}

static bool node_matches(const struct snapshot *snapshot, uint32_t place,
			 const struct sought *sought)
{
	const struct node_facts *facts = facts_at(snapshot, place);
	const struct snap_end *end = place < snapshot->num_switches
					     ? NULL
					     : &snapshot->ends[place - snapshot->num_switches];

	if (strcmp(facts->description, sought->name) == 0)
		return true;
	if (sought->guid)
		return sought->guid == facts->info.node_guid || (end && sought->guid == end->guid);
	if (!sought->lid)
		return false;
	return end ? sought->lid >= end->lid && sought->lid < end->lid + (1u << end->lmc)
		   : sought->lid == snapshot->switches[place].lid;
}

const char *snapshot_suggest(const struct snapshot *snapshot, const char *name)
{
	struct suggest suggest = suggest_for(name);

	for (uint32_t place = 0; place < node_count(snapshot); place++)
		suggest_try(&suggest, facts_at(snapshot, place)->description);
	return suggest.best;
}

/* Explains that there is no node of this name. */
static void refuse_node(const struct snapshot *snapshot, const char *name,
			char error[SNAP_NAMED_ERROR_SIZE])
{
	const char *similar = snapshot_suggest(snapshot, name);

	if (similar)
		snprintf(error, SNAP_NAMED_ERROR_SIZE,
			 "there is no node \"%.64s\"; did you mean \"%.64s\"?", name, similar);
	else
		snprintf(error, SNAP_NAMED_ERROR_SIZE,
			 "there is no node \"%.64s\": expected a name, a GUID or a LID; weftctl "
			 "node list shows them",
			 name);
}

/* Lists of nodes */

bool snapshot_is_hostlist(const struct snapshot *snapshot, const char *text)
{
	if (!hostlist_is_list(text))
		return false;
	for (uint32_t place = 0; place < node_count(snapshot); place++)
		if (!strcmp(facts_at(snapshot, place)->description, text))
			return false;
	return true;
}

struct listed {
	struct map *names; /* places plus 1 by the hash of the description */
	struct map *guids; /* the same by node GUID */
	struct map *nodes; /* result */
	const struct snapshot *snapshot;
	char *error;
};

static uint64_t hash_of(const char *name)
{
	return hash_bytes(HASH_SEED, name, strlen(name));
}

static bool take_listed(void *ctx, const char *name)
{
	struct listed *listed = ctx;
	guid_t guid;
	bool is_guid = guid_read(name, &guid);
	size_t found = is_guid ? map_counted(listed->guids, guid)
			       : map_counted(listed->names, hash_of(name));

	if (!found) {
		refuse_node(listed->snapshot, name, listed->error);
		return false;
	}
	guid = facts_at(listed->snapshot, (uint32_t)found - 1)->info.node_guid;
	map_put(listed->nodes, is_guid ? guid : hash_of(name), (void *)(uintptr_t)found);
	return true;
}

/* The names of the list lead to all nodes with these names. */
static void nodes_of_names(const struct snapshot *snapshot, const struct map *wanted,
			   struct map *nodes)
{
	for (uint32_t place = 0; place < node_count(snapshot); place++) {
		const struct node_facts *facts = facts_at(snapshot, place);

		if ((map_get(wanted, hash_of(facts->description)) ||
		     map_get(wanted, facts->info.node_guid)) &&
		    !map_get(nodes, facts->info.node_guid))
			map_put(nodes, facts->info.node_guid, (void *)(uintptr_t)(place + 1));
	}
}

bool snapshot_find_listed(const struct snapshot *snapshot, const char *text, struct map *nodes,
			  char error[SNAP_NAMED_ERROR_SIZE])
{
	struct map names = {0}, guids = {0}, wanted = {0};
	struct listed listed = {&names, &guids, &wanted, snapshot, error};
	char reason[HOSTLIST_ERROR_SIZE];
	int result;

	for (uint32_t place = 0; place < node_count(snapshot); place++) {
		const struct node_facts *facts = facts_at(snapshot, place);

		map_put(&names, hash_of(facts->description), (void *)(uintptr_t)(place + 1));
		map_put(&guids, facts->info.node_guid, (void *)(uintptr_t)(place + 1));
	}
	result = hostlist_expand(text, LISTED_MAX, take_listed, &listed, reason);
	if (result == -EINVAL)
		snprintf(error, SNAP_NAMED_ERROR_SIZE, "\"%.64s\": %s", text, reason);
	if (!result)
		nodes_of_names(snapshot, &wanted, nodes);
	map_done(&names);
	map_done(&guids);
	map_done(&wanted);
	return !result;
}

/* A hostlist where one node is needed: its only node, or the reason. */
static struct snap_named find_listed(const struct snapshot *snapshot, const char *text)
{
	struct snap_named named = {.place = -1};
	struct map nodes = {0};
	size_t position = 0;

	if (snapshot_find_listed(snapshot, text, &nodes, named.error) && nodes.count > 1)
		snprintf(named.error, sizeof(named.error),
			 "\"%.64s\" names %zu nodes: this command needs one node", text,
			 nodes.count);
	if (!named.error[0])
		named.place = (int64_t)(uintptr_t)map_next(&nodes, &position) - 1;
	map_done(&nodes);
	return named;
}

/* One node */

struct snap_named snapshot_find_named(const struct snapshot *snapshot, const char *name)
{
	struct snap_named named = {.place = -1};
	struct sought sought = seek(name);
	char candidates[SNAP_CANDIDATES_SIZE] = "", guid[GUID_TEXT];
	unsigned found = 0;
	size_t used = 0;

	for (uint32_t place = 0; place < node_count(snapshot); place++) {
		if (!node_matches(snapshot, place, &sought))
			continue;
		if (named.place >= 0 &&
		    facts_at(snapshot, place)->info.node_guid ==
			    facts_at(snapshot, (uint32_t)named.place)->info.node_guid)
			continue;
		named.place = place;
		if (found++ < CANDIDATES_MAX)
			used += (size_t)snprintf(
				candidates + used, sizeof(candidates) - used, "%s%s",
				used ? ", " : "",
				guid_text(facts_at(snapshot, place)->info.node_guid, guid));
	}
	if (found > 1) {
		snprintf(named.error, sizeof(named.error),
			 "\"%.64s\" could mean %u nodes (%s%s): use a GUID", name, found,
			 candidates, found > CANDIDATES_MAX ? ", ..." : "");
		named.place = -1;
		named.ambiguous = true;
	} else if (!found && hostlist_is_list(name)) {
		named = find_listed(snapshot, name);
	} else if (!found) {
		refuse_node(snapshot, name, named.error);
	}
	return named;
}

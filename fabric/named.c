/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * User names of nodes: named.h. It checks every node of the snapshot, so that an ambiguous name is
 * detected; 43,000 nodes take about a millisecond, and 4 ms if a similar name is to be found. Pure.
 */
#include "fabric/named.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/guid.h"
#include "lib/hash.h"
#include "lib/hostlist.h"
#include "lib/mem.h"
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

enum {
	CANDIDATES_MAX = 5,
	LISTED_MAX = 131072,
	NAMES_OF_ONE = 8, /* that a hostlist may have where one node is meant */
};

/* The possible meanings of a name. */
struct sought {
	const char *name;
	guid_t guid;  /* 0: it is none */
	bool is_guid; /* there is a node or an end port with this GUID */
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

static bool has_guid(const struct snapshot *snapshot, uint32_t place, guid_t guid)
{
	return guid && (guid == facts_at(snapshot, place)->info.node_guid ||
			(place >= snapshot->num_switches &&
			 guid == snapshot->ends[place - snapshot->num_switches].guid));
}

/* A GUID that exists is no name: otherwise a host could take the GUID of another as its
 * description, and make it ambiguous. */
static void seek_guid(const struct snapshot *snapshot, struct sought *sought)
{
	for (uint32_t place = 0; sought->guid && !sought->is_guid && place < node_count(snapshot);
	     place++)
		sought->is_guid = has_guid(snapshot, place, sought->guid);
}

static bool node_matches(const struct snapshot *snapshot, uint32_t place,
			 const struct sought *sought)
{
	const struct node_facts *facts = facts_at(snapshot, place);
	const struct snap_end *end = place < snapshot->num_switches
					     ? NULL
					     : &snapshot->ends[place - snapshot->num_switches];

	if (has_guid(snapshot, place, sought->guid))
		return true;
	if (!sought->is_guid && strcmp(facts->description, sought->name) == 0)
		return true;
	if (!sought->lid)
		return false;
	return end ? sought->lid >= end->lid && sought->lid < end->lid + (1u << end->lmc)
		   : sought->lid == snapshot->switches[place].lid;
}

/* Whether name is NODE/PORT of the node with this description. */
static bool is_port_of(const char *name, const char *description)
{
	size_t length = strlen(description);

	return !strncmp(name, description, length) && name[length] == '/' && name[length + 1] &&
	       strspn(name + length + 1, "0123456789") == strlen(name + length + 1);
}

const char *snapshot_suggest(const struct snapshot *snapshot, const char *name)
{
	struct suggest suggest = suggest_for(name);

	for (uint32_t place = 0; place < node_count(snapshot); place++) {
		const struct node_facts *facts = facts_at(snapshot, place);

		if (*name && !strcmp(facts->reported, name))
			return facts->description;
		if (suggest.distance > 1 && is_port_of(name, facts->description))
			suggest = (struct suggest){name, facts->description, 2};
		suggest_try(&suggest, facts->description);
	}
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

/* Names and GUIDs of a hostlist, by the key of each: a GUID, or the hash of a description. */
struct listed {
	struct map wanted, found; /* no values, but not NULL */
	size_t most;
	const struct snapshot *snapshot;
	char *error;
};

static uint64_t name_hash(const char *name)
{
	return hash_bytes(HASH_SEED, name, strlen(name));
}

static uint64_t listed_key(const char *name)
{
	guid_t guid;

	return guid_read(name, &guid) ? guid : name_hash(name);
}

/* False: the list has too many names. */
static bool want_listed(void *ctx, const char *name)
{
	struct listed *listed = ctx;

	map_put(&listed->wanted, listed_key(name), listed);
	return listed->wanted.count <= listed->most;
}

/* False, with the reason: no node has the name. */
static bool check_listed(void *ctx, const char *name)
{
	const struct listed *listed = ctx;

	if (map_get(&listed->found, listed_key(name)))
		return true;
	refuse_node(listed->snapshot, name, listed->error);
	return false;
}

/* The names of the list lead to all nodes with these names. */
static void nodes_of_names(struct listed *listed, struct map *nodes)
{
	for (uint32_t place = 0; place < node_count(listed->snapshot); place++) {
		const struct node_facts *facts = facts_at(listed->snapshot, place);
		guid_t guid = facts->info.node_guid;
		uint64_t keys[] = {name_hash(facts->description), guid};

		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			if (!map_get(&listed->wanted, keys[i]))
				continue;
			map_put(&listed->found, keys[i], listed);
			if (!map_get(nodes, guid))
				map_put(nodes, guid, (void *)(uintptr_t)(place + 1));
		}
	}
}

/* The nodes of a list of at most so many names: one walk over the nodes. */
static bool find_nodes(const struct snapshot *snapshot, const char *text, size_t most,
		       struct map *nodes, char error[SNAP_NAMED_ERROR_SIZE])
{
	struct listed listed = {.most = most, .snapshot = snapshot, .error = error};
	char reason[HOSTLIST_ERROR_SIZE];
	int result = hostlist_expand(text, LISTED_MAX, want_listed, &listed, reason);

	if (result == -EINVAL) {
		snprintf(error, SNAP_NAMED_ERROR_SIZE, "\"%.64s\": %s", text, reason);
	} else if (result) {
		snprintf(error, SNAP_NAMED_ERROR_SIZE,
			 "\"%.64s\" names more than %zu nodes: this command needs one node", text,
			 most);
	} else {
		nodes_of_names(&listed, nodes);
		if (listed.found.count < listed.wanted.count)
			result = hostlist_expand(text, LISTED_MAX, check_listed, &listed, reason);
	}
	map_done(&listed.wanted);
	map_done(&listed.found);
	return !result;
}

bool snapshot_find_listed(const struct snapshot *snapshot, const char *text, struct map *nodes,
			  char error[SNAP_NAMED_ERROR_SIZE])
{
	return find_nodes(snapshot, text, LISTED_MAX, nodes, error);
}

/* A hostlist where one node is needed: its only node, or the reason. A long list is refused before
 * its names are looked up. */
static struct snap_named find_listed(const struct snapshot *snapshot, const char *text)
{
	struct snap_named named = {.place = -1};
	struct map nodes = {0};
	size_t position = 0;

	if (find_nodes(snapshot, text, NAMES_OF_ONE, &nodes, named.error) && nodes.count > 1)
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

	seek_guid(snapshot, &sought);
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

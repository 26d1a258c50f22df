/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * User names of nodes: named.h. It checks every node of the snapshot, so that an ambiguous name is
 * detected; 13,000 nodes take less than a millisecond. Pure.
 */
#include "fabric/named.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/guid.h"
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

enum { CANDIDATES_MAX = 5 };

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

/* NODE is a name, a GUID or a LID; an adapter with two ports gives its first port. */
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
	} else if (!found) {
		refuse_node(snapshot, name, named.error);
	}
	return named;
}

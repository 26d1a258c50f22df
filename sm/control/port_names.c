/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Two maps lead from the hash of a description, and from a GUID, to the first place of the
 * snapshot (fabric/named.h); `next` leads from each place to the next with the same key.
 */
#include "sm/control/port_names.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fabric/gone.h"
#include "fabric/named.h"
#include "formats/partitions.h"
#include "lib/guid.h"
#include "lib/hash.h"
#include "lib/hostlist.h"
#include "lib/map.h"
#include "lib/mem.h"

enum { ANY_PORT = -1, CANDIDATES_SHOWN = 4, NAME_SHOWN = 64 };

/* Places by a key. A value of the map is a place plus 1, since NULL is no value. */
struct place_index {
	struct map first;
	uint32_t *next; /* by place: the next with the same key, plus 1 */
};

struct port_names {
	const struct snapshot *snapshot;
	const struct fabric *fabric; /* NULL: gone nodes are not known */
	uint32_t places;
	struct place_index by_name, by_port_guid, by_node_guid;
	size_t most, count, room;
	struct named_port *found;
	uint8_t membership; /* of the text at hand */
	char error[PORT_NAMES_ERROR_SIZE];
};

/* The index */

static uint64_t port_name_key(const char *name)
{
	return hash_bytes(HASH_SEED, name, strlen(name));
}

static guid_t port_guid_at(const struct snapshot *snapshot, uint32_t place)
{
	return place < snapshot->num_switches ? facts_at(snapshot, place)->info.node_guid
					      : snapshot->ends[place - snapshot->num_switches].guid;
}

static unsigned port_num_at(const struct snapshot *snapshot, uint32_t place)
{
	return place < snapshot->num_switches ? 0
					      : snapshot->ends[place - snapshot->num_switches].port;
}

/* Places are put from the last to the first, so that each list has them in order. */
static void place_put(struct place_index *index, uint64_t key, uint32_t place)
{
	void *before = map_put(&index->first, key, (void *)(uintptr_t)(place + 1));

	index->next[place] = (uint32_t)(uintptr_t)before;
}

/* The first place with the key, plus 1; 0: none. */
static uint32_t place_get(const struct place_index *index, uint64_t key)
{
	return (uint32_t)(uintptr_t)map_get(&index->first, key);
}

struct port_names *port_names_new(const struct snapshot *snapshot, size_t most)
{
	struct port_names *names = mem_zalloc(sizeof(*names));

	names->snapshot = snapshot;
	names->most = most;
	names->places = snapshot ? node_count(snapshot) : 0;
	names->by_name.next = mem_array(names->places + 1, sizeof(uint32_t));
	names->by_port_guid.next = mem_array(names->places + 1, sizeof(uint32_t));
	names->by_node_guid.next = mem_array(names->places + 1, sizeof(uint32_t));
	for (uint32_t place = names->places; place--;) {
		const struct node_facts *facts = facts_at(snapshot, place);

		place_put(&names->by_name, port_name_key(facts->description), place);
		place_put(&names->by_port_guid, port_guid_at(snapshot, place), place);
		place_put(&names->by_node_guid, facts->info.node_guid, place);
	}
	return names;
}

void port_names_set_fabric(struct port_names *names, const struct fabric *fabric)
{
	names->fabric = fabric;
}

static void place_index_done(struct place_index *index)
{
	map_done(&index->first);
	free(index->next);
}

void port_names_free(struct port_names *names)
{
	if (!names)
		return;
	place_index_done(&names->by_name);
	place_index_done(&names->by_port_guid);
	place_index_done(&names->by_node_guid);
	free(names->found);
	free(names);
}

const char *port_names_error(const struct port_names *names)
{
	return names->error;
}

const struct named_port *port_names_found(const struct port_names *names, size_t *count)
{
	*count = names->count;
	return names->found;
}

/* Meanings */

static bool names_refuse(struct port_names *names, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static bool names_refuse(struct port_names *names, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(names->error, sizeof(names->error), format, args);
	va_end(args);
	return false;
}

static bool add_guid(struct port_names *names, guid_t guid)
{
	if (names->count == names->most)
		return names_refuse(names, "more than %zu ports", names->most);
	if (names->count == names->room) {
		names->room = names->room ? 2 * names->room : 16;
		names->found = mem_resize(names->found, names->room, sizeof(*names->found));
	}
	names->found[names->count++] = (struct named_port){guid, names->membership};
	return true;
}

/* Appends a port to a list of candidates. */
static void list_candidate(const struct port_names *names, uint32_t place, unsigned count,
			   char list[PORT_NAMES_ERROR_SIZE / 2])
{
	size_t used = strlen(list), room = PORT_NAMES_ERROR_SIZE / 2 - used;
	char guid[GUID_TEXT];

	if (count == CANDIDATES_SHOWN)
		snprintf(list + used, room, ", ...");
	else if (count < CANDIDATES_SHOWN)
		snprintf(list + used, room, "%sport %u %s", count ? ", " : "",
			 port_num_at(names->snapshot, place),
			 guid_text(port_guid_at(names->snapshot, place), guid));
}

/* Finds the port of the nodes with this description; port: its number, or ANY_PORT. Returns 1 if
 * there is one, with *place; 0 if there is none; -1 if there are several, with the error. */
static int port_names_find(struct port_names *names, const char *name, int port, uint32_t *place)
{
	char list[PORT_NAMES_ERROR_SIZE / 2] = "";
	unsigned count = 0;

	for (uint32_t at = place_get(&names->by_name, port_name_key(name)); at;
	     at = names->by_name.next[at - 1]) {
		if (strcmp(facts_at(names->snapshot, at - 1)->description, name) != 0 ||
		    (port != ANY_PORT && port_num_at(names->snapshot, at - 1) != (unsigned)port))
			continue;
		list_candidate(names, at - 1, count++, list);
		*place = at - 1;
	}
	if (count > 1)
		names_refuse(names, "\"%.*s\" could mean %u ports (%s): use %s", NAME_SHOWN, name,
			     count, list,
			     port == ANY_PORT ? "NAME/PORT or a port GUID" : "a port GUID");
	return count > 1 ? -1 : (int)count;
}

/* A gone host has a similar name as present hosts, so a suggestion would mislead. */
static bool refuse_gone(struct port_names *names, const char *name)
{
	char text[GONE_TEXT_SIZE], guid[GUID_TEXT];
	struct gone_node gone;

	if (!names->fabric || !gone_recall(names->fabric, name, &gone))
		return false;
	names_refuse(names, "%s%s%s", gone_text(names->fabric, &gone, text),
		     gone.port_guid ? "; use its port GUID " : "",
		     gone.port_guid ? guid_text(gone.port_guid, guid) : "");
	return true;
}

/* "all", "self": words of partition files that mean something else here, or nothing. */
static bool refuse_word(struct port_names *names, const char *name)
{
	static const char *const words[] = {"ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS"};

	if (!strcasecmp(name, "SELF")) {
		names_refuse(names,
			     "\"%s\" is only for partition files: name the host of the "
			     "manager",
			     name);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcasecmp(name, words[i]) != 0)
			continue;
		names_refuse(names, "there is no node \"%s\"; did you mean \"%s\"?", name,
			     words[i]);
		return true;
	}
	return false;
}

static bool refuse_unknown(struct port_names *names, const char *name)
{
	const char *similar;

	if (!names->snapshot)
		return names_refuse(names,
				    "\"%.*s\": this manager has no view of the fabric yet, so it "
				    "accepts only GUIDs",
				    NAME_SHOWN, name);
	if (refuse_gone(names, name) || refuse_word(names, name))
		return false;
	similar = snapshot_suggest(names->snapshot, name);
	if (similar)
		return names_refuse(names, "there is no node \"%.*s\"; did you mean \"%.*s\"?",
				    NAME_SHOWN, name, NAME_SHOWN, similar);
	return names_refuse(names,
			    "there is no node \"%.*s\": expected a node's description, "
			    "NODE/PORT, a hostlist, a port GUID, or ALL",
			    NAME_SHOWN, name);
}

/* "host-0003", "host-0003/2" */
static bool take_name(struct port_names *names, const char *name)
{
	const char *slash = strrchr(name, '/');
	char node[HOSTLIST_NAME_SIZE];
	uint32_t place, place_of_port;
	int as_node = port_names_find(names, name, ANY_PORT, &place), as_port = 0;

	if (slash && slash[1] && strlen(slash + 1) <= 3 &&
	    strspn(slash + 1, "0123456789") == strlen(slash + 1) &&
	    (size_t)(slash - name) < sizeof(node)) {
		snprintf(node, sizeof(node), "%.*s", (int)(slash - name), name);
		as_port = port_names_find(names, node, atoi(slash + 1), &place_of_port);
	}
	if (as_node < 0 || as_port < 0)
		return false;
	if (as_node && as_port)
		return names_refuse(names,
				    "\"%.*s\" is the description of a node, and port %s of "
				    "another node: use a port GUID",
				    NAME_SHOWN, name, slash + 1);
	if (!as_node && !as_port)
		return refuse_unknown(names, name);
	return add_guid(names, port_guid_at(names->snapshot, as_node ? place : place_of_port));
}

/* A port GUID, also of an absent port, or a node GUID. */
static bool port_names_take_guid(struct port_names *names, guid_t guid)
{
	uint32_t first = place_get(&names->by_node_guid, guid);
	char list[PORT_NAMES_ERROR_SIZE / 2] = "", text[GUID_TEXT];
	unsigned count = 0;

	if (!first || place_get(&names->by_port_guid, guid))
		return add_guid(names, guid);
	for (uint32_t at = first; at; at = names->by_node_guid.next[at - 1])
		list_candidate(names, at - 1, count++, list);
	if (count > 1)
		return names_refuse(names,
				    "%s is the GUID of node \"%.*s\", which has %u ports (%s): use "
				    "a port GUID",
				    guid_text(guid, text), NAME_SHOWN,
				    facts_at(names->snapshot, first - 1)->description, count, list);
	return add_guid(names, port_guid_at(names->snapshot, first - 1));
}

static bool port_names_take_guids(struct port_names *names, guid_t first, guid_t last)
{
	if (last < first || last - first >= names->most)
		return names_refuse(names, "a range of GUIDs has 1 to %zu GUIDs", names->most);
	for (guid_t guid = first; guid - first <= last - first; guid++)
		if (!port_names_take_guid(names, guid))
			return false;
	return true;
}

/* "0x10", "0x10-0x1f", or 16 digits. */
static bool is_guid(const char *text, guid_t *first, guid_t *last)
{
	const char *rest = guid_parse_digits(text, first) ? "" : guid_scan(text, first);

	if (!rest)
		return false;
	*last = *first;
	return !*rest || (*rest == '-' && guid_parse(rest + 1, last));
}

static bool take_all(struct port_names *names, int type)
{
	for (uint32_t place = 0; place < names->places; place++)
		if ((!type || facts_at(names->snapshot, place)->info.node_type == type) &&
		    !add_guid(names, port_guid_at(names->snapshot, place)))
			return false;
	return true;
}

static bool take_one(struct port_names *names, const char *text)
{
	static const struct {
		const char *word;
		int type;
	} words[] = {
		{"ALL", 0},
		{"ALL_CAS", NODE_CA},
		{"ALL_SWITCHES", NODE_SWITCH},
		{"ALL_ROUTERS", NODE_ROUTER},
	};
	guid_t first, last;

	if (is_guid(text, &first, &last))
		return port_names_take_guids(names, first, last);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(text, words[i].word))
			return take_all(names, words[i].type);
	return take_name(names, text);
}

static bool take_listed(void *ctx, const char *name)
{
	return take_one(ctx, name);
}

/* Cuts "=full" and so on off the text. Returns false if there is none. */
static bool cut_membership(char *text, uint8_t *out)
{
	static const struct {
		const char *suffix;
		uint8_t membership;
	} rows[] = {
		{"=full", MEMBERSHIP_FULL},
		{"=limited", MEMBERSHIP_LIMITED},
		{"=both", MEMBERSHIP_BOTH},
	};
	size_t length = strlen(text);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t size = strlen(rows[i].suffix);

		if (length <= size || strcmp(text + length - size, rows[i].suffix) != 0)
			continue;
		text[length - size] = '\0';
		*out = rows[i].membership;
		return true;
	}
	return false;
}

/* Cuts the first part of a list off *rest: up to a comma outside brackets. */
static char *next_part(char **rest)
{
	char *part = *rest, *at = part;
	bool in_brackets = false;

	for (; *at && (*at != ',' || in_brackets); at++)
		in_brackets = *at == '[' || (in_brackets && *at != ']');
	*rest = *at ? at + 1 : NULL;
	*at = '\0';
	return part;
}

/* A part of a list; its suffix is of this part alone. */
static bool take_part(struct port_names *names, char *part)
{
	char reason[HOSTLIST_ERROR_SIZE];
	int error;

	names->membership = MEMBERSHIP_NONE;
	cut_membership(part, &names->membership);
	if (!hostlist_is_list(part))
		return take_one(names, part);
	error = hostlist_expand(part, names->most, take_listed, names, reason);
	return error == -EINVAL ? names_refuse(names, "\"%.*s\": %s", NAME_SHOWN, part, reason)
				: !error;
}

bool port_names_take(struct port_names *names, const char *text)
{
	char *plain = mem_strdup(text), *rest = plain;
	uint32_t place;
	uint8_t membership;
	bool taken = true, is_more;

	is_more = cut_membership(plain, &membership) || hostlist_is_list(plain);
	memcpy(plain, text, strlen(text) + 1);
	if (is_more && port_names_find(names, text, ANY_PORT, &place))
		taken = names_refuse(names,
				     "\"%.*s\" is the description of a node, and has another "
				     "meaning, too: use a port GUID",
				     NAME_SHOWN, text);
	while (taken && rest) {
		char *part = next_part(&rest);

		taken = *part || !*text ? take_part(names, part)
					: names_refuse(names, "\"%.*s\": a name is empty",
						       NAME_SHOWN, text);
	}
	free(plain);
	return taken;
}

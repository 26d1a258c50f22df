/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The requests by which the shell completes names of the fabric: complete node, port, partition,
 * engine and manager. Each answer has only words with the wanted beginning, and is written in parts
 * from one snapshot, so a fabric of any size delays no other request. Loop thread only.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/complete.h"
#include "lib/mem.h"
#include "sm/control/partition.h"

enum {
	ENGINES_MAX = 32,
	LOOKS_A_PART = 512, /* places that are compared */
	WORDS_A_PART = 64,
	PARTITION_LOOKS_A_PART = 64,
};

struct completing {
	struct sm *sm;
	struct control_request *request;
	struct snapshot_waiter snapshot_wait;
	struct snapshot *snapshot;
	char *prefix;
	char *node;	    /* whose ports are wanted; NULL: nodes are wanted */
	uint32_t at, until; /* places (fabric/named.h), or ports of the node */
	struct partition_walk partitions;
};

static struct completing *completing_new(struct sm *sm, struct control_request *request,
					 const json_t *args)
{
	struct completing *completing = mem_zalloc(sizeof(*completing));

	completing->sm = sm;
	completing->request = request;
	completing->prefix = mem_strdup(complete_prefix(args));
	return completing;
}

static void completing_free(void *source)
{
	struct completing *completing = source;

	snapshot_unref(completing->snapshot);
	free(completing->prefix);
	free(completing->node);
	free(completing);
}

static unsigned put_word(const struct completing *completing, const char *word, struct buffer *part)
{
	if (!complete_fits(word, completing->prefix))
		return 0;
	row_string(part, NULL, word);
	return 1;
}

/* Nodes by description; by GUID if the beginning is that of a GUID. */

static enum stream_step nodes_next(void *source, struct buffer *part)
{
	struct completing *completing = source;
	const struct snapshot *snapshot = completing->snapshot;
	bool is_guid = !strncmp(completing->prefix, "0x", 2);
	unsigned words = 0, looks = 0;
	char guid[GUID_TEXT];

	if (completing->at == completing->until)
		return STREAM_END;
	row_begin(part, "words", '[');
	for (; completing->at < completing->until && looks < LOOKS_A_PART && words < WORDS_A_PART;
	     looks++, completing->at++) {
		const struct node_facts *facts = facts_at(snapshot, completing->at);

		if (place_is_listed_before(snapshot, completing->at))
			continue;
		words += put_word(completing, facts->description, part);
		if (is_guid)
			words += put_word(completing, guid_text(facts->info.node_guid, guid), part);
	}
	row_end(part, ']');
	return STREAM_PART;
}

/* Ports of a node: all of a switch, of an adapter those in the snapshot. */

static bool has_port(const struct completing *completing, unsigned port)
{
	const struct snapshot *snapshot = completing->snapshot;
	const struct node_facts *facts = facts_at(snapshot, completing->at);

	return completing->at < snapshot->num_switches ||
	       (facts->port[port].guid && snapshot_find_end(snapshot, facts->port[port].guid) >= 0);
}

static enum stream_step ports_next(void *source, struct buffer *part)
{
	struct completing *completing = source;
	const struct node_facts *facts = facts_at(completing->snapshot, completing->at);
	char number[12];

	if (completing->until)
		return STREAM_END;
	completing->until = 1;
	row_begin(part, "words", '[');
	for (unsigned port = 1; port <= facts->info.num_ports; port++) {
		snprintf(number, sizeof(number), "%u", port);
		if (has_port(completing, port))
			put_word(completing, number, part);
	}
	row_end(part, ']');
	return STREAM_PART;
}

static void complete_from(void *ctx, struct snapshot *snapshot)
{
	struct completing *completing = ctx;
	struct snap_named named = {.place = 0};

	completing->snapshot = snapshot;
	if (snapshot && completing->node)
		named = snapshot_find_named(snapshot, completing->node);
	if (!snapshot || named.place < 0) { /* nothing to offer */
		control_reply(completing->request, NULL);
		completing_free(completing);
		return;
	}
	completing->at = (uint32_t)named.place;
	completing->until = completing->node ? 0 : node_count(snapshot);
	control_stream(completing->request, completing->node ? ports_next : nodes_next,
		       completing_free, completing);
}

static void complete_begin(struct completing *completing)
{
	struct sm *sm = completing->sm;

	if (sm->view)
		complete_from(completing, snapshot_ref(sm->view->topology));
	else
		snapshot_request_take(&sm->snapshot_request, &completing->snapshot_wait,
				      peers_role(sm->peers) != SM_MASTER, complete_from,
				      completing);
}

static void command_complete_node(void *ctx, struct control_request *request, const json_t *args)
{
	complete_begin(completing_new(ctx, request, args));
}

static void command_complete_port(void *ctx, struct control_request *request, const json_t *args)
{
	const char *node = json_string_value(json_object_get(args, "node"));
	struct completing *completing;

	if (!node) {
		control_fail(request, "complete port needs a node");
		return;
	}
	completing = completing_new(ctx, request, args);
	completing->node = mem_strdup(node);
	complete_begin(completing);
}

/* Partitions by name and by P_Key */

static enum stream_step partitions_next(void *source, struct buffer *part)
{
	struct completing *completing = source;
	unsigned looks = 0;
	pkey_t p_key;

	row_begin(part, "words", '[');
	for (; looks < PARTITION_LOOKS_A_PART &&
	       partition_walk_next(completing->sm, &completing->partitions, &p_key);
	     looks++) {
		char text[8];

		snprintf(text, sizeof(text), "0x%04x", p_key);
		put_word(completing, partition_name(completing->sm, p_key), part);
		put_word(completing, text, part);
	}
	row_end(part, ']');
	return looks ? STREAM_PART : STREAM_END;
}

static void partitions_finish(void *source)
{
	struct completing *completing = source;

	partition_walk_end(&completing->partitions);
	completing_free(completing);
}

static void command_complete_partition(void *ctx, struct control_request *request,
				       const json_t *args)
{
	struct completing *completing = completing_new(ctx, request, args);

	partition_walk_begin(completing->sm, &completing->partitions);
	control_stream(request, partitions_next, partitions_finish, completing);
}

/* Routing engines, and other managers by port GUID */

static void command_complete_engine(void *ctx, struct control_request *request, const json_t *args)
{
	const char *words[ENGINES_MAX + 2] = {"default"};
	size_t count = 1;

	(void)ctx;
	for (const struct route_engine *engine = route_engines;
	     engine->name && count <= ENGINES_MAX; engine++)
		words[count++] = engine->name;
	complete_reply(request, args, words);
}

static void command_complete_manager(void *ctx, struct control_request *request, const json_t *args)
{
	const struct sm *sm = ctx;
	const struct peer *list;
	size_t count = peers_list(sm->peers, &list);
	json_t *words = json_array();
	char guid[GUID_TEXT];

	for (size_t i = 0; i < count; i++)
		if (complete_fits(guid_text(list[i].info.guid, guid), complete_prefix(args)))
			json_array_append_new(words, json_string(guid));
	control_part(request, json_pack("{s:o}", "words", words));
	control_reply(request, NULL);
}

const struct control_command complete_commands[NUM_COMPLETE_COMMANDS] = {
	{"complete node", command_complete_node, CONTROL_LOOKS},
	{"complete port", command_complete_port, CONTROL_LOOKS},
	{"complete partition", command_complete_partition, CONTROL_LOOKS},
	{"complete engine", command_complete_engine, CONTROL_LOOKS},
	{"complete manager", command_complete_manager, CONTROL_LOOKS},
};

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * GUIDs of the options that are not in the fabric (absent.h). The device may be off, or the GUID
 * mistyped: engines continue without it, but the log names it. Hosts are named by the GUID of their
 * port or of their node.
 */
#include "route/absent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/mem.h"

enum { NAMED_MAX = 8 };

struct searching {
	const struct snapshot *snapshot;
	guid_t *node; /* of end ports, sorted */
	FILE *out;
	bool said;
};

static int absent_guid_order(const void *left, const void *right)
{
	guid_t a = *(const guid_t *)left, b = *(const guid_t *)right;

	return (a > b) - (a < b);
}

static bool absent_is_switch(const struct searching *s, guid_t guid)
{
	return snapshot_find_switch(s->snapshot, guid) >= 0;
}

static bool absent_is_host(const struct searching *s, guid_t guid)
{
	return snapshot_find_end(s->snapshot, guid) >= 0 ||
	       bsearch(&guid, s->node, s->snapshot->num_ends, sizeof(guid), absent_guid_order);
}

static bool is_node(const struct searching *s, guid_t guid)
{
	return absent_is_switch(s, guid) || absent_is_host(s, guid);
}

/* GUIDs are step bytes apart. */
static void absent_look(struct searching *s, const char *option, const char *kind,
			const guid_t *guids, size_t step, uint32_t count,
			bool (*there)(const struct searching *s, guid_t guid))
{
	uint32_t missing = 0;

	for (uint32_t i = 0; i < count; i++)
		missing += !there(s, *(const guid_t *)((const char *)guids + i * step));
	if (!missing)
		return;
	fprintf(s->out, "%s%s: %u of %u GUIDs are no %s of this fabric:", s->said ? "; " : "",
		option, missing, count, kind);
	s->said = true;
	for (uint32_t i = 0, named = 0; i < count && named < NAMED_MAX; i++) {
		guid_t guid = *(const guid_t *)((const char *)guids + i * step);

		if (!there(s, guid))
			fprintf(s->out, "%s 0x%016" PRIx64, named++ ? "," : "", guid);
	}
	if (missing > NAMED_MAX)
		fprintf(s->out, " and %u more", missing - NAMED_MAX);
}

static void look_for_all(struct searching *s, const struct route_options *options)
{
	const struct {
		const char *option;
		const struct guid_list *list;
		bool roots;
	} lists[] = {
		{"root_guid_file", &options->roots, true},
		{"cn_guid_file", &options->compute, false},
		{"io_guid_file", &options->io, false},
		{"guid_routing_order_file", &options->order, false},
	};
	const struct {
		const char *option, *kind;
		const struct guid_notes *notes;
		bool (*there)(const struct searching *s, guid_t guid);
	} notes[] = {
		{"hop_weights_file", "switch", &options->weights, absent_is_switch},
		{"port_search_ordering_file", "switch", &options->ports, absent_is_switch},
		{"port_prof_ignore_file", "node", &options->ignored, is_node},
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		absent_look(s, lists[i].option, lists[i].roots ? "switch" : "host",
			    lists[i].list->guid, sizeof(guid_t), lists[i].list->count,
			    lists[i].roots ? absent_is_switch : absent_is_host);
	for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
		if (notes[i].notes->count)
			absent_look(s, notes[i].option, notes[i].kind,
				    &notes[i].notes->note[0].guid, sizeof(struct guid_note),
				    notes[i].notes->count, notes[i].there);
	if (options->num_tables)
		absent_look(s, "lfts_file", "switch", &options->tables[0].sw,
			    sizeof(struct given_table), options->num_tables, absent_is_switch);
}

char *route_absent(const struct snapshot *snapshot)
{
	struct searching s = {.snapshot = snapshot};
	char *text = NULL;
	size_t size;

	if (!snapshot->options)
		return NULL;
	s.node = mem_array(snapshot->num_ends + (size_t)1, sizeof(*s.node));
	for (uint32_t e = 0; e < snapshot->num_ends; e++)
		if (snapshot->ends[e].facts)
			s.node[e] = snapshot->ends[e].facts->info.node_guid;
	qsort(s.node, snapshot->num_ends, sizeof(*s.node), absent_guid_order);
	s.out = open_memstream(&text, &size);
	if (!s.out)
		abort(); /* out of memory */
	look_for_all(&s, snapshot->options);
	fclose(s.out);
	free(s.node);
	if (s.said)
		return text;
	free(text);
	return NULL;
}

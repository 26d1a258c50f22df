/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An array for each kind, used as a ring: weftd/event_ring.h. */
#include "weftd/event_ring.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

struct event_class {
	const char *name;
	struct event_note *note; /* room elements; event i of the kind, from 0, is at i % room */
	uint64_t added;
};

void event_ring_init(struct event_ring *ring, size_t room, uint64_t next)
{
	*ring = (struct event_ring){.room = room, .next = next};
}

static void texts_free(struct event_note *note)
{
	free((char *)note->text);
	free((char *)note->node);
}

void event_ring_done(struct event_ring *ring)
{
	for (size_t kind = 0; kind < ring->num_kinds; kind++) {
		for (size_t i = 0; i < ring->room; i++)
			texts_free(&ring->kinds[kind].note[i]);
		free(ring->kinds[kind].note);
	}
	free(ring->kinds);
}

static struct event_class *event_ring_kind(struct event_ring *ring, const char *name)
{
	for (size_t i = 0; i < ring->num_kinds; i++)
		if (!strcmp(ring->kinds[i].name, name))
			return &ring->kinds[i];
	ring->kinds = mem_resize(ring->kinds, ring->num_kinds + 1, sizeof(*ring->kinds));
	ring->kinds[ring->num_kinds] = (struct event_class){
		.name = name, .note = mem_array(ring->room, sizeof(*ring->kinds->note))};
	return &ring->kinds[ring->num_kinds++];
}

/* Numbers rise within a kind, so this is a binary search. */
static const struct event_note *kind_from(const struct event_class *kind, size_t room,
					  uint64_t number)
{
	uint64_t low = kind->added > room ? kind->added - room : 0, high = kind->added;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (kind->note[middle % room].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < kind->added ? &kind->note[low % room] : NULL;
}

const struct event_note *event_ring_from(const struct event_ring *ring, uint64_t number)
{
	const struct event_note *first = NULL;

	for (size_t i = 0; i < ring->num_kinds; i++) {
		const struct event_note *note = kind_from(&ring->kinds[i], ring->room, number);

		if (note && (!first || note->number < first->number))
			first = note;
	}
	return first;
}

void event_ring_add(struct event_ring *ring, const struct event_note *note)
{
	struct event_class *kind = event_ring_kind(ring, note->kind);
	struct event_note *place = &kind->note[kind->added++ % ring->room];

	texts_free(place);
	*place = *note;
	place->number = ring->next++;
	place->text = note->text ? mem_strdup(note->text) : NULL;
	place->node = note->node ? mem_strdup(note->node) : NULL;
}

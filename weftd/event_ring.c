/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An array that is filled round and round: weftd/event_ring.h. */
#include "weftd/event_ring.h"

#include <stdlib.h>

#include "lib/mem.h"

void event_ring_init(struct event_ring *ring, size_t room)
{
	*ring = (struct event_ring){
		.note = mem_array(room, sizeof(*ring->note)), .room = room, .next = 1};
}

static struct event_note *place_of(const struct event_ring *ring, uint64_t number)
{
	return &ring->note[number % ring->room];
}

static void texts_free(struct event_note *note)
{
	free((char *)note->text);
	free((char *)note->node);
}

void event_ring_done(struct event_ring *ring)
{
	for (size_t i = 0; i < ring->room; i++)
		texts_free(&ring->note[i]);
	free(ring->note);
}

uint64_t event_ring_first(const struct event_ring *ring)
{
	return ring->next > ring->room ? ring->next - ring->room : 1;
}

const struct event_note *event_ring_at(const struct event_ring *ring, uint64_t number)
{
	return number >= event_ring_first(ring) && number < ring->next ? place_of(ring, number)
								       : NULL;
}

void event_ring_add(struct event_ring *ring, const struct event_note *note)
{
	struct event_note *place = place_of(ring, ring->next);

	texts_free(place);
	*place = *note;
	place->number = ring->next++;
	place->text = note->text ? mem_strdup(note->text) : NULL;
	place->node = note->node ? mem_strdup(note->node) : NULL;
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Rings of readings: history.h. The port has the place of its ring. A port that disappeared leaves
 * its ring behind, which is then the first to be used for another port; so the key in the ring
 * decides whether a place is still valid.
 */
#include "pm/history.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

void pm_histories_init(struct pm_histories *histories)
{
	*histories = (struct pm_histories){.limit = PM_HISTORIES};
	list_init(&histories->shown);
	list_init(&histories->used);
}

void pm_histories_done(struct pm_histories *histories)
{
	for (size_t i = 0; i < histories->count; i++)
		free(histories->list[i]);
	free(histories->list);
	pm_histories_init(histories);
}

static bool is_same_key(const struct pm_key *a, const struct pm_key *b)
{
	return a->guid == b->guid && a->is_switch == b->is_switch && a->num == b->num;
}

struct pm_history *pm_history_of(const struct pm_histories *histories, const struct pm_key *key,
				 const struct pm_port *port)
{
	struct pm_history *history;

	if (!port->history || port->history > histories->count)
		return NULL;
	history = histories->list[port->history - 1];
	return is_same_key(&history->key, key) ? history : NULL;
}

/* A new ring or, at the limit, the one to be dropped first. */
static struct pm_history *history_take(struct pm_histories *histories)
{
	struct list *dropped = list_empty(&histories->shown) ? &histories->used : &histories->shown;
	struct pm_history *history;

	if (histories->count == histories->limit)
		return container_of(list_pop(dropped), struct pm_history, link);
	history = mem_zalloc(sizeof(*history));
	histories->list = mem_grow(histories->list, histories->count, sizeof(struct pm_history *));
	histories->list[histories->count++] = history;
	history->place = (uint16_t)histories->count;
	list_init(&history->link);
	return history;
}

static struct pm_history *history_begin(struct pm_histories *histories, const struct pm_key *key,
					struct pm_port *port)
{
	struct pm_history *history = history_take(histories);

	history->key = *key;
	history->count = history->next = 0;
	port->history = history->place;
	return history;
}

void pm_history_keep(struct pm_histories *histories, const struct pm_key *key, struct pm_port *port)
{
	struct pm_history *history = pm_history_of(histories, key, port);

	if (history)
		list_del(&history->link);
	else
		history = history_begin(histories, key, port);
	list_push(&histories->used, &history->link);
}

void pm_history_offer(struct pm_histories *histories, const struct pm_key *key,
		      struct pm_port *port)
{
	bool is_to_spare = histories->count < histories->limit || !list_empty(&histories->shown);

	if (!pm_history_of(histories, key, port) && is_to_spare)
		list_push(&histories->shown, &history_begin(histories, key, port)->link);
}

void pm_history_add(struct pm_histories *histories, const struct pm_key *key,
		    const struct pm_port *port, const struct pm_news *news, uint64_t time_s)
{
	struct pm_history *history = pm_history_of(histories, key, port);
	struct pm_reading *reading;
	uint64_t span_ms = news->span_us / 1000;

	if (!history)
		return;
	reading = &history->reading[history->next];
	history->next = (uint8_t)((history->next + 1) % PM_READINGS);
	history->count += history->count < PM_READINGS;
	reading->time_s = time_s;
	reading->span_ms = span_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)span_ms;
	for (unsigned i = 0; i < PM_HISTORY_COUNTERS; i++) {
		uint64_t rose = news->gained[pm_history_bit(i)];

		reading->rose[i] = rose > UINT32_MAX ? UINT32_MAX : (uint32_t)rose;
	}
	for (unsigned i = 0; i < TRAFFIC_SHORT; i++)
		reading->rate[i] = -1;
}

void pm_history_add_traffic(struct pm_histories *histories, const struct pm_key *key,
			    const struct pm_port *port)
{
	struct pm_history *history = pm_history_of(histories, key, port);

	if (history && history->count)
		memcpy(history->reading[(history->next + PM_READINGS - 1) % PM_READINGS].rate,
		       port->rate, sizeof(port->rate));
}

const struct pm_reading *pm_reading_at(const struct pm_history *history, unsigned place)
{
	return &history->reading[(history->next + PM_READINGS - history->count + place) %
				 PM_READINGS];
}

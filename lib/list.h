/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Intrusive doubly linked list with a sentinel head. An element is in at most one list through one
 * link; a link that is in no list points to itself, so list_del may be called twice.
 */
#ifndef LIB_LIST_H
#define LIB_LIST_H

#include <stdbool.h>

#include "lib/mem.h"

struct list {
	struct list *next, *prev;
};

static inline void list_init(struct list *list)
{
	list->next = list->prev = list;
}

static inline bool list_empty(const struct list *list)
{
	return list->next == list;
}

static inline void list_insert_(struct list *item, struct list *before, struct list *after)
{
	before->next = item;
	item->prev = before;
	item->next = after;
	after->prev = item;
}

static inline void list_push(struct list *head, struct list *item) /* at the end */
{
	list_insert_(item, head->prev, head);
}

static inline void list_push_front(struct list *head, struct list *item)
{
	list_insert_(item, head, head->next);
}

static inline void list_del(struct list *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	list_init(item);
}

/* Removes and returns the first element's link, NULL when the list is empty. */
static inline struct list *list_pop(struct list *head)
{
	struct list *item = head->next;

	if (item == head)
		return NULL;
	list_del(item);
	return item;
}

/* All items of from, to the end of head. */
static inline void list_splice(struct list *head, struct list *from)
{
	if (list_empty(from))
		return;
	from->next->prev = head->prev;
	head->prev->next = from->next;
	from->prev->next = head;
	head->prev = from->prev;
	list_init(from);
}

/* The loop variable may be deleted from the list inside the body, others may not. */
#define list_for_each(item, head)                                                         \
	for (struct list *item = (head)->next, *item##_next = item->next; item != (head); \
	     item = item##_next, item##_next = item->next)

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The list of links that came up or went down: link_news.h. */
#include "fabric/link_news.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "lib/mem.h"

void link_news_end(struct link_news *news)
{
	free(news->change);
	*news = (struct link_news){.begun = false};
}

void link_news_begin(struct link_news *news)
{
	link_news_end(news);
	news->begun = true;
}

static bool is_at(const struct link_end *end, const struct port *port)
{
	return end->guid == port->node->guid && end->num == port->num;
}

static void link_end_fill(struct link_end *end, const struct port *port)
{
	end->guid = port->node->guid;
	end->num = port->num;
	memcpy(end->name, port->node->facts->description, sizeof(end->name));
}

/* The entry of this cable, new if needed; NULL: there is no room. */
static struct link_change *entry(struct link_news *news, const struct port *a, const struct port *b,
				 enum link_fate fate)
{
	struct link_change *change;

	if (!news->change)
		news->change = mem_array(LINK_NEWS_MAX, sizeof(*news->change));
	for (unsigned i = 0; i < news->count; i++) {
		change = &news->change[i];
		if (is_at(&change->end[0], a) && is_at(&change->end[1], b))
			return change;
	}
	if (news->count == LINK_NEWS_MAX)
		return NULL;
	change = &news->change[news->count++];
	link_end_fill(&change->end[0], a);
	link_end_fill(&change->end[1], b);
	change->fate = fate;
	return change;
}

static bool is_first(const struct port *a, const struct port *b)
{
	if (a->node->guid != b->node->guid)
		return a->node->guid < b->node->guid;
	return a->num < b->num;
}

void link_news_note(struct link_news *news, const struct port *a, const struct port *b,
		    enum link_fate fate)
{
	struct link_change *change;

	if (!news->begun)
		return;
	if (!is_first(a, b)) {
		const struct port *other = a;

		a = b;
		b = other;
	}
	change = entry(news, a, b, fate);
	if (change) /* the state before the first change, and after the last */
		change->fate = (change->fate & LINK_WENT) | (fate & LINK_CAME);
	else
		news->more[fate]++;
}

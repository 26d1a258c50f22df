/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Link changes in the log: links.h. A link that went down and came up again within one sweep is not
 * logged. A duplicate cable, which each heavy pass finds and removes from the model, looks like
 * such a link. A flapping link has its own log line (sm/discovery/hold.h).
 */
#include "sm/discovery/links.h"

#include <string.h>

#include "include/message_id.h"
#include "lib/mem.h"

/* With more links the log has counts only. */
enum { NAMED_MAX = 8 };

static const char *const words[LINK_FATES] = {
	[LINK_CAME] = "up",
	[LINK_WENT] = "down",
	[LINK_BLINKED] = "down for a moment",
};

/* The name of a node. A new node had no name when its link was recorded. For a removed node the
 * recorded name remains. */
static const char *link_end_name(const struct fabric *fabric, const struct link_end *end)
{
	const struct node *node = fabric_find_node(fabric, end->guid);

	return node ? node->facts->description : end->name;
}

static struct log_subject subject_of(const struct fabric *fabric, const struct link_end *end)
{
	return (struct log_subject){.message_id = MESSAGE_LINK,
				    .node_guid = end->guid,
				    .node_desc = link_end_name(fabric, end),
				    .port = -1};
}

static void tell_each(const struct fabric *fabric, struct log_limit *limit)
{
	const struct link_news *news = &fabric->link_news;

	for (unsigned i = 0; i < news->count; i++) {
		const char *word = words[news->change[i].fate];
		const struct link_end *end = news->change[i].end;
		struct log_subject subject = subject_of(fabric, &end[0]);

		subject.port = end[0].num;
		if (word)
			log_limited(limit, LOG_NOTICE, &subject,
				    "link %s: \"%s\" port %u - \"%s\" port %u", word,
				    subject.node_desc, end[0].num, link_end_name(fabric, &end[1]),
				    end[1].num);
	}
}

static unsigned links_at(const struct link_news *news, guid_t guid)
{
	unsigned links = 0;

	for (unsigned i = 0; i < news->count; i++) {
		const struct link_change *change = &news->change[i];

		links += words[change->fate] &&
			 (change->end[0].guid == guid || change->end[1].guid == guid);
	}
	return links;
}

/* The node with the most of these links: after the loss of a switch, that switch. */
static const struct link_end *busiest(const struct link_news *news, unsigned *links)
{
	const struct link_end *found = &news->change[0].end[0];

	*links = links_at(news, found->guid);
	for (unsigned i = 0; i < news->count * 2; i++) {
		const struct link_end *end = &news->change[i / 2].end[i % 2];
		unsigned here = links_at(news, end->guid);

		if (here > *links) {
			*links = here;
			found = end;
		}
	}
	return found;
}

static void tell_all(const struct fabric *fabric, const unsigned counts[LINK_FATES],
		     struct log_limit *limit)
{
	const struct link_news *news = &fabric->link_news;
	unsigned links;
	const struct link_end *end = busiest(news, &links);
	struct log_subject subject = subject_of(fabric, end);

	log_limited(limit, LOG_NOTICE, &subject,
		    "links: %u %s, %u %s, %u %s; %s%u of them at \"%s\"", counts[LINK_WENT],
		    words[LINK_WENT], counts[LINK_CAME], words[LINK_CAME], counts[LINK_BLINKED],
		    words[LINK_BLINKED], news->count == LINK_NEWS_MAX ? "at least " : "", links,
		    subject.node_desc);
}

void links_tell(struct fabric *fabric, struct log_limit *limit)
{
	struct link_news *news = &fabric->link_news;
	unsigned counts[LINK_FATES], total = 0;

	memcpy(counts, news->more, sizeof(counts));
	for (unsigned i = 0; i < news->count; i++)
		counts[news->change[i].fate]++;
	for (unsigned fate = 0; fate < LINK_FATES; fate++)
		total += words[fate] ? counts[fate] : 0;
	if (total > NAMED_MAX)
		tell_all(fabric, counts, limit);
	else
		tell_each(fabric, limit);
	link_news_begin(news);
}

void links_forget(struct fabric *fabric)
{
	link_news_end(&fabric->link_news);
}

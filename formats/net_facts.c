/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads the comments of a net file, which have much of its contents: ibnetdiscover writes
 * descriptions, LIDs and link rates behind a #. They are read as words, and unknown words are
 * ignored; but a LID or LMC outside the valid range is an error.
 */
#include "formats/net_parse.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/mem.h"

/* Some adapters show 0xFFFF for a port that no manager has configured. */
static int add_lid(struct net_parser *parser, struct net_facts *facts, uint64_t value)
{
	if (value == LID_PERMISSIVE)
		value = LID_NONE;
	if (value > LID_UNICAST_MAX)
		return net_fail(parser, "LID %" PRIu64 " is not a unicast LID (1 to %u)", value,
				LID_UNICAST_MAX);
	if (facts->lid_count < ARRAY_SIZE(facts->lids))
		facts->lids[facts->lid_count++] = value;
	return 0;
}

static int add_lmc(struct net_parser *parser, struct net_facts *facts, uint64_t value)
{
	if (value > LMC_MAX)
		return net_fail(parser, "LMC %" PRIu64 " is above %u", value, LMC_MAX);
	facts->lmc = value;
	facts->lmc_given = true;
	return 0;
}

int net_read_facts(struct net_parser *parser, struct cursor c, struct net_facts *facts)
{
	struct piece before = {"", 0}, word;
	uint64_t value;
	int r = 0;

	while (!r && (word = cursor_word(&c)).length > 0) {
		struct cursor number = {word.text, word.text + word.length};
		bool is_number = cursor_number(&number, 10, &value) && cursor_at_end(&number);

		if (is_number && piece_is(before, "lid"))
			r = add_lid(parser, facts, value);
		else if (is_number && piece_is(before, "lmc"))
			r = add_lmc(parser, facts, value);
		else if (piece_is(before, "enhanced") && piece_is(word, "port"))
			facts->enhanced_port0 = true;
		else if (net_rate_parse(word.text, word.length, &facts->rate))
			facts->rate_given = true;
		before = word;
	}
	return r;
}

bool net_split_comment(struct cursor comment, struct cursor *before, struct piece *quoted,
		       struct cursor *after)
{
	const char *open = memchr(comment.at, '"', comment.end - comment.at);
	const char *close = open ? memrchr(open + 1, '"', comment.end - open - 1) : NULL;

	*before = comment;
	*after = (struct cursor){comment.end, comment.end};
	*quoted = (struct piece){"", 0};
	if (!close)
		return false;
	before->end = open;
	*quoted = (struct piece){open + 1, close - open - 1};
	after->at = close + 1;
	return true;
}

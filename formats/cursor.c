/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Walking a line of untrusted text; see cursor.h. Pure functions of their arguments.
 */
#include "formats/cursor.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "lib/mem.h"

bool cursor_at_end(const struct cursor *c)
{
	return c->at == c->end;
}

void cursor_skip_blanks(struct cursor *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
		c->at++;
}

bool cursor_accept(struct cursor *c, char wanted)
{
	if (cursor_at_end(c) || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

bool cursor_number(struct cursor *c, unsigned base, uint64_t *value)
{
	const char *at = c->at;
	const char *digits;
	uint64_t sum = 0;

	if (c->end - at >= 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
		base = 16;
		at += 2;
	}
	for (digits = at; at < c->end && digit_value(*at) < (int)base; at++)
		if (__builtin_mul_overflow(sum, base, &sum) ||
		    __builtin_add_overflow(sum, digit_value(*at), &sum))
			return false;
	if (at == digits)
		return false;
	c->at = at;
	*value = sum;
	return true;
}

bool cursor_quoted(struct cursor *c, struct piece *piece)
{
	const char *open = c->at, *close;

	if (cursor_at_end(c) || *open != '"')
		return false;
	close = memchr(open + 1, '"', c->end - open - 1);
	if (!close)
		return false;
	*piece = (struct piece){open + 1, close - open - 1};
	c->at = close + 1;
	return true;
}

struct piece cursor_word(struct cursor *c)
{
	struct piece word;

	cursor_skip_blanks(c);
	word = (struct piece){c->at, 0};
	while (c->at < c->end && *c->at != ' ' && *c->at != '\t')
		c->at++;
	word.length = c->at - word.text;
	return word;
}

bool piece_is(struct piece piece, const char *word)
{
	return (size_t)piece.length == strlen(word) && !memcmp(piece.text, word, piece.length);
}

struct piece cursor_rest(const struct cursor *c)
{
	ptrdiff_t length = c->end - c->at;

	return (struct piece){c->at, length > 60 ? 60 : length};
}

bool lines_next(struct lines *lines, struct cursor *line)
{
	const char *stop;

	if (lines->next >= lines->end)
		return false;
	stop = memchr(lines->next, '\n', (size_t)(lines->end - lines->next));
	*line = (struct cursor){lines->next, stop ? stop : lines->end};
	lines->next = stop ? stop + 1 : lines->end;
	lines->number++;
	if (line->end > line->at && line->end[-1] == '\r')
		line->end--;
	return true;
}

int lines_refuse(const struct lines *lines, const struct cursor *line, const char *wanted,
		 char **error)
{
	struct piece rest = cursor_rest(line);

	*error = mem_printf("%s:%u: %s expected, not \"%.*s\"", lines->name, lines->number, wanted,
			    rest.length, rest.text);
	return -EINVAL;
}

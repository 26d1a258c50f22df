/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A name is expanded from left to right: each bracket appends its numbers in turn, and the rest of
 * the name is expanded after each of them.
 */
#include "lib/hostlist.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS_MAX = 18 };

struct expansion {
	char name[HOSTLIST_NAME_SIZE]; /* the part before the rest that is expanded */
	size_t most, count;
	bool (*take)(void *ctx, const char *name);
	void *ctx;
	char *error;
};

/* Numbers first to last, with leading zeros up to width. */
struct range {
	unsigned long long first, last;
	int width;
};

static int hostlist_refuse(const struct expansion *expansion, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static int hostlist_refuse(const struct expansion *expansion, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(expansion->error, HOSTLIST_ERROR_SIZE, format, args);
	va_end(args);
	return -EINVAL;
}

bool hostlist_is_list(const char *text)
{
	return strpbrk(text, "[],");
}

/* Reads a number at *at, and moves *at behind it. Returns the count of its digits; 0: there is no
 * number, or it is too long. */
static int hostlist_number(const char **at, unsigned long long *out)
{
	int digits = (int)strspn(*at, "0123456789");

	*out = 0;
	if (digits > DIGITS_MAX)
		return 0;
	for (int i = 0; i < digits; i++)
		*out = *out * 10 + (unsigned)((*at)[i] - '0');
	*at += digits;
	return digits;
}

/* Reads "7" or "03-40" at *at, which ends at a comma or a bracket. */
static int read_range(const struct expansion *expansion, const char **at, struct range *range)
{
	const char *begin = *at;

	range->width = hostlist_number(at, &range->first);
	range->last = range->first;
	if (range->width && **at == '-') {
		++*at;
		if (!hostlist_number(at, &range->last))
			range->width = 0;
	}
	if (!range->width || (**at != ',' && **at != ']'))
		return hostlist_refuse(expansion,
				       "\"%.40s\" is not a number or a range, such as 1-16, that "
				       "ends with \",\" or \"]\"",
				       begin);
	if (range->last < range->first)
		return hostlist_refuse(expansion, "the range %.*s runs backwards",
				       (int)(*at - begin), begin);
	return 0;
}

/* Expands rest, up to its end, behind the first length bytes of the name. */
static int expand_rest(struct expansion *expansion, size_t length, const char *rest,
		       const char *end);

static int expand_range(struct expansion *expansion, size_t length, const struct range *range,
			const char *rest, const char *end)
{
	for (unsigned long long number = range->first; number <= range->last; number++) {
		size_t room = sizeof(expansion->name) - length;
		int size = snprintf(expansion->name + length, room, "%0*llu", range->width, number);
		int error;

		if ((size_t)size >= room)
			return hostlist_refuse(expansion, "a name is longer than %d bytes",
					       HOSTLIST_NAME_SIZE - 1);
		error = expand_rest(expansion, length + (size_t)size, rest, end);
		if (error)
			return error;
	}
	return 0;
}

/* at is behind the opening bracket. */
static int expand_bracket(struct expansion *expansion, size_t length, const char *at,
			  const char *end)
{
	const char *close = memchr(at, ']', (size_t)(end - at));
	int error = 0;

	if (!close)
		return hostlist_refuse(expansion, "\"[%.40s\" has no closing \"]\"", at);
	while (!error) {
		struct range range;

		error = read_range(expansion, &at, &range);
		if (!error)
			error = expand_range(expansion, length, &range, close + 1, end);
		if (at++ == close)
			break;
	}
	return error;
}

static int expand_rest(struct expansion *expansion, size_t length, const char *rest,
		       const char *end)
{
	size_t plain = strcspn(rest, "[]");

	if (plain > (size_t)(end - rest))
		plain = (size_t)(end - rest);
	if (length + plain >= sizeof(expansion->name))
		return hostlist_refuse(expansion, "a name is longer than %d bytes",
				       HOSTLIST_NAME_SIZE - 1);
	memcpy(expansion->name + length, rest, plain);
	length += plain;
	rest += plain;
	if (rest < end && *rest == ']')
		return hostlist_refuse(expansion, "\"%.40s\" has no opening \"[\"", rest);
	if (rest < end)
		return expand_bracket(expansion, length, rest + 1, end);
	expansion->name[length] = '\0';
	if (!length)
		return hostlist_refuse(expansion, "a name is empty");
	if (++expansion->count > expansion->most)
		return hostlist_refuse(expansion, "more than %zu names", expansion->most);
	return expansion->take(expansion->ctx, expansion->name) ? 0 : -ECANCELED;
}

/* The end of the first name of a list: a comma outside of brackets, or the end of the text. */
static const char *end_of_name(const char *text)
{
	bool inside = false;

	while (*text && (inside || *text != ',')) {
		inside = *text == '[' || (inside && *text != ']');
		text++;
	}
	return text;
}

int hostlist_expand(const char *text, size_t most, bool (*take)(void *ctx, const char *name),
		    void *ctx, char error[HOSTLIST_ERROR_SIZE])
{
	struct expansion expansion = {.most = most, .take = take, .ctx = ctx, .error = error};

	for (;;) {
		const char *end = end_of_name(text);
		int result = expand_rest(&expansion, 0, text, end);

		if (result || !*end)
			return result;
		text = end + 1;
	}
}

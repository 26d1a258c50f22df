/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Converts between JSON and text: pure functions. */
#include "ctl/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/utf8.h"

const char *text_member(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "-";
}

long long number_member(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

bool flag_member(const json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}

const char *text_name(const json_t *node)
{
	const char *description = json_string_value(json_object_get(node, "description"));

	return description && *description ? description : text_member(node, "guid");
}

const char *text_span(long long span_us, char buffer[TEXT_SPAN_SIZE])
{
	if (span_us < 1000)
		snprintf(buffer, TEXT_SPAN_SIZE, "%lld us", span_us);
	else if (span_us < 1000000)
		snprintf(buffer, TEXT_SPAN_SIZE, "%.1f ms", (double)span_us / 1e3);
	else
		snprintf(buffer, TEXT_SPAN_SIZE, "%.2f s", (double)span_us / 1e6);
	return buffer;
}

const char *text_plural(long long number, const char *ending)
{
	return number == 1 ? "" : ending;
}

void text_clean(char *text)
{
	char *to = text;

	while (*text) {
		size_t size = utf8_printable((unsigned char *)text, SIZE_MAX);

		if (size) {
			memmove(to, text, size);
			to += size;
			text += size;
		} else {
			*to++ = '?';
			/* Skip the second byte of this control character. */
			for (text++; (*text & 0xC0) == 0x80; text++)
				continue;
		}
	}
	*to = '\0';
}

unsigned text_width(const char *text)
{
	unsigned width = 0;

	for (; *text; text++)
		width += (*text & 0xC0) != 0x80;
	return width;
}

unsigned text_terminal_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	long width = columns ? strtol(columns, NULL, 10) : 0;
	struct winsize size;

	if (!isatty(fileno(out)))
		return UINT_MAX;
	if (width > 0 && width < UINT16_MAX)
		return (unsigned)width;
	return ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col ? UINT_MAX : size.ws_col;
}

static void clean_string(json_t *string)
{
	char *text = mem_strdup(json_string_value(string));

	text_clean(text);
	json_string_set(string, text);
	free(text);
}

void text_make_printable(json_t *value)
{
	const char *name;
	json_t *member;
	size_t i;

	if (json_is_string(value))
		clean_string(value);
	json_array_foreach (value, i, member) {
		text_make_printable(member);
	}
	json_object_foreach (value, name, member) {
		text_make_printable(member);
	}
}

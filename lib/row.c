/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* JSON as text: row.h. */
#include "lib/row.h"

#include <jansson.h>

#include "lib/guid.h"

static void put_char(struct buffer *out, char c)
{
	*buffer_reserve(out, 1) = c;
	out->end++;
}

/* Writes a comma if the open object or array has a value before. The last byte of a value is a
 * quote, a digit, a letter or a closing bracket; a line feed ends an earlier line. */
static void row_put_name(struct buffer *out, const char *name)
{
	char last = buffer_length(out) ? out->bytes[out->end - 1] : '\n';

	if (last != '{' && last != '[' && last != '\n')
		put_char(out, ',');
	if (!name)
		return;
	put_char(out, '"');
	buffer_append(out, name, strlen(name));
	buffer_append(out, "\":", 2);
}

void row_begin(struct buffer *out, const char *name, char bracket)
{
	row_put_name(out, name);
	put_char(out, bracket);
}

void row_end(struct buffer *out, char bracket)
{
	put_char(out, bracket);
}

static bool must_escape(char c)
{
	return (unsigned char)c < ' ' || c == '"' || c == '\\';
}

static void put_escape(struct buffer *out, char c)
{
	static const char digits[] = "0123456789ABCDEF", from[] = "\"\\\b\f\n\r\t",
			  to[] = "\"\\bfnrt";
	const char *at = c ? strchr(from, c) : NULL;
	const char brief[] = {'\\', at ? to[at - from] : 'u'};

	buffer_append(out, brief, sizeof(brief));
	if (!at)
		buffer_append(out, (const char[]){'0', '0', digits[c >> 4], digits[c & 15]}, 4);
}

static bool is_ascii(const char *text)
{
	while (*text && !(*text & 0x80))
		text++;
	return !*text;
}

static bool is_utf8(const char *text)
{
	json_t *string = json_string(text);

	json_decref(string);
	return string;
}

void row_string(struct buffer *out, const char *name, const char *value)
{
	bool spoilt;

	row_put_name(out, name);
	if (!value) {
		buffer_append(out, "null", 4);
		return;
	}
	spoilt = !is_ascii(value) && !is_utf8(value);
	put_char(out, '"');
	while (*value) {
		const char *from = value;

		while (*value && !must_escape(*value) && !(spoilt && *value & 0x80))
			value++;
		buffer_append(out, from, (size_t)(value - from));
		if (*value & 0x80)
			put_char(out, '?');
		else if (*value)
			put_escape(out, *value);
		value += *value != '\0';
	}
	put_char(out, '"');
}

void row_integer(struct buffer *out, const char *name, int64_t value)
{
	char text[24], *at = text + sizeof(text);
	uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;

	row_put_name(out, name);
	do {
		*--at = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (value < 0)
		*--at = '-';
	buffer_append(out, at, (size_t)(text + sizeof(text) - at));
}

void row_boolean(struct buffer *out, const char *name, bool value)
{
	row_put_name(out, name);
	buffer_append(out, value ? "true" : "false", value ? 4 : 5);
}

void row_guid(struct buffer *out, const char *name, guid_t guid)
{
	char text[GUID_TEXT];

	row_string(out, name, guid_text(guid, text));
}

static int put_piece(const char *bytes, size_t size, void *out)
{
	buffer_append(out, bytes, size);
	return 0;
}

void row_json(struct buffer *out, const char *name, json_t *value)
{
	row_put_name(out, name);
	if (!value)
		buffer_append(out, "null", 4);
	else
		json_dump_callback(value, put_piece, out, JSON_COMPACT | JSON_ENCODE_ANY);
	json_decref(value);
}

void row_copy(struct buffer *out, const char *name, const struct buffer *value)
{
	row_put_name(out, name);
	buffer_append(out, value->bytes + value->begin, buffer_length(value));
}

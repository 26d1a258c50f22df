/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Converts a record to JSON and back, by the rows of its format: store/save.h. Pure. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "store/registry_check.h"
#include "store/save.h"

enum { BYTES_MAX = PARTITION_TEXT_SIZE, HEX_SIZE = 2 + 2 * BYTES_MAX + 1, BIG = 64 };

/* Whether the bytes are text that ends with zeros. */
static bool is_text(const struct field *field)
{
	static const char *const names[] = {"ServiceName", "Name",   "Value",	"Text",
					    "Owner",	   "Reason", "PeerName"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(field->name, names[i]))
			return true;
	return false;
}

static bool only_zeros(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

static json_t *hex_of(const uint8_t *bytes, size_t size)
{
	char text[HEX_SIZE] = "0x";

	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 + 2 * i, 3, "%02x", bytes[i]);
	return json_string(text);
}

/* Invalid text is shown as {"hex": ...}. */
static json_t *text_of(const uint8_t *bytes, size_t size)
{
	size_t length = strnlen((const char *)bytes, size);
	json_t *text = NULL;

	if (only_zeros(bytes + length, size - length))
		text = json_stringn((const char *)bytes, length);
	return text ? text : json_pack("{s:o}", "hex", hex_of(bytes, size));
}

static json_t *save_value(const struct format *format, size_t row, const void *record)
{
	const struct field *field = &format->fields[row];
	const uint8_t *member = (const uint8_t *)record + field->offset;
	char text[24];

	if (field->kind == FIELD_BYTES)
		return is_text(field) ? text_of(member, field->width / 8)
				      : hex_of(member, field->width / 8);
	if (field->width < BIG)
		return json_integer((json_int_t)format_get(format, row, record));
	snprintf(text, sizeof(text), "0x%016" PRIx64, format_get(format, row, record));
	return json_string(text);
}

json_t *save_record(enum registry_kind kind, const void *record)
{
	const struct format *format = registry_tables[kind].format;
	json_t *object = json_pack("{s:s}", "kind", registry_tables[kind].name);

	for (size_t row = 0; row < format->count; row++)
		json_object_set_new(object, format->fields[row].name,
				    save_value(format, row, record));
	return object;
}

/* From JSON */

static int wrong(char why[SAVE_WHY_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static int wrong(char why[SAVE_WHY_SIZE], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, SAVE_WHY_SIZE, format, args);
	va_end(args);
	return -EINVAL;
}

static int save_hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c | 0x20) : NULL;

	return at && (c < 'A' || c > 'Z' || c <= 'F') ? (int)(at - digits) : -1;
}

/* The text must have exactly this number of bytes. */
static bool take_hex(const json_t *value, uint8_t *bytes, size_t size)
{
	const char *text = json_string_value(value);

	if (!text || strlen(text) != 2 + 2 * size || strncmp(text, "0x", 2) != 0)
		return false;
	for (size_t i = 0; i < size; i++) {
		int high = save_hex_digit(text[2 + 2 * i]), low = save_hex_digit(text[3 + 2 * i]);

		if (high < 0 || low < 0)
			return false;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static bool save_take_number(const json_t *value, uint64_t *out)
{
	const char *text = json_string_value(value);
	char *end;

	if (json_is_integer(value)) {
		*out = (uint64_t)json_integer_value(value);
		return json_integer_value(value) >= 0;
	}
	if (!text || strncmp(text, "0x", 2) != 0 || save_hex_digit(text[2]) < 0 ||
	    strlen(text) > 18)
		return false;
	*out = strtoull(text, &end, 16);
	return !*end;
}

static int take_text(const struct field *field, const json_t *value, uint8_t *bytes,
		     char why[SAVE_WHY_SIZE])
{
	size_t size = field->width / 8, length = json_string_length(value);

	if (json_is_object(value) && take_hex(json_object_get(value, "hex"), bytes, size))
		return 0;
	if (!json_is_string(value))
		return wrong(why, "%s: no text", field->name);
	if (length > size)
		return wrong(why, "%s: longer than %zu bytes", field->name, size);
	memcpy(bytes, json_string_value(value), length);
	return 0;
}

static int save_take_value(const struct format *format, size_t row, const json_t *value,
			   void *record, char why[SAVE_WHY_SIZE])
{
	const struct field *field = &format->fields[row];
	uint8_t *member = (uint8_t *)record + field->offset;
	uint64_t number;

	if (field->kind == FIELD_BYTES) {
		if (is_text(field))
			return take_text(field, value, member, why);
		if (take_hex(value, member, field->width / 8))
			return 0;
		return wrong(why, "%s: expected 0x and %u hexadecimal digits", field->name,
			     field->width / 4u);
	}
	if (!save_take_number(value, &number))
		return wrong(why, "%s: expected a number, or 0x and hexadecimal digits",
			     field->name);
	if (field->width < BIG && number >> field->width)
		return wrong(why, "%s: more than %u bits", field->name, field->width);
	format_put(format, row, record, number);
	return 0;
}

static bool save_member_is_known(const struct format *format, const char *name)
{
	for (size_t row = 0; row < format->count; row++)
		if (!strcmp(format->fields[row].name, name))
			return true;
	return !strcmp(name, "kind");
}

static int take_fields(enum registry_kind kind, const json_t *object, void *record,
		       char why[SAVE_WHY_SIZE])
{
	const struct registry_table *table = &registry_tables[kind];

	for (size_t row = 0; row < table->format->count; row++) {
		const char *name = table->format->fields[row].name;
		const json_t *value = json_object_get(object, name);

		if (!value && row < table->key_rows)
			return wrong(why, "%s: missing", name);
		if (value && save_take_value(table->format, row, value, record, why))
			return -EINVAL;
	}
	return 0;
}

int save_parse(const json_t *object, enum registry_kind *kind, void *record,
	       char why[SAVE_WHY_SIZE])
{
	const char *name = json_string_value(json_object_get(object, "kind")), *field, *text;
	enum registry_kind found = name ? registry_kind_of(name) : 0;
	json_t *value;

	if (!json_is_object(object) || !name)
		return wrong(why, "not an object with a kind");
	if (!found)
		return wrong(why, "unknown kind \"%.40s\"", name);
	json_object_foreach ((json_t *)object, field, value) {
		if (!save_member_is_known(registry_tables[found].format, field))
			return wrong(why, "unknown field \"%.40s\"", field);
	}
	memset(record, 0, registry_tables[found].format->struct_size);
	if (take_fields(found, object, record, why))
		return -EINVAL;
	text = registry_check(found, record, &field);
	if (text)
		return wrong(why, "%s: %s", field, text);
	*kind = found;
	return 0;
}

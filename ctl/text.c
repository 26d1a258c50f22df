/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Converts between JSON and text: pure functions. */
#include "ctl/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
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

const json_t *text_at(const json_t *object, const char *path, size_t size)
{
	while (size) {
		const char *dot = memchr(path, '.', size);
		size_t length = dot ? (size_t)(dot - path) : size;

		object = json_object_getn(object, path, length);
		path += length + !!dot;
		size -= length + !!dot;
	}
	return object;
}

/* Writes one of two texts with a bar between them. */
static void put_choice(FILE *out, const char *texts, bool first)
{
	size_t size = strcspn(texts, "|");

	if (first)
		fwrite(texts, 1, size, out);
	else if (texts[size])
		fputs(texts + size + 1, out);
}

static void put_number(FILE *out, const json_t *value, const char *otherwise)
{
	if (json_is_integer(value) || !*otherwise)
		fprintf(out, "%lld", (long long)json_integer_value(value));
	else
		fputs(otherwise + 1, out);
}

static void put_rate(FILE *out, const json_t *value, const char *unit)
{
	static const char *const steps[] = {"", "k", "M", "G", "T"};
	double rate = json_number_value(value);
	size_t step = 0;

	for (; rate >= 1000 && step + 1 < ARRAY_SIZE(steps); step++)
		rate /= 1000;
	if (json_is_number(value))
		fprintf(out, "%.3g %s%s", rate, steps[step], unit);
	else
		putc('-', out);
}

static void put_time(FILE *out, time_t when_s)
{
	struct tm calendar;
	char text[32];

	if (when_s && localtime_r(&when_s, &calendar) &&
	    strftime(text, sizeof(text), "%F %T", &calendar))
		fputs(text, out);
	else
		putc('-', out);
}

static void put_member(FILE *out, const json_t *value, const char *form)
{
	long long number = json_integer_value(value);
	const char *text = json_string_value(value);
	char span[TEXT_SPAN_SIZE];

	switch (*form) {
	case 'd':
		put_number(out, value, form + 1);
		break;
	case 'g':
		fprintf(out, "%g", json_number_value(value));
		break;
	case 'x':
		fprintf(out, "0x%0*llx", form[1] - '0', number);
		break;
	case 'u':
		fputs(text_span(number, span), out);
		break;
	case 'm':
		fputs(text_span(1000 * number, span), out);
		break;
	case 'r':
		put_rate(out, value, form + 1);
		break;
	case 't':
		put_time(out, number);
		break;
	case 'n':
		fputs(text_name(value), out);
		break;
	case '#':
		put_choice(out, form + 1, number == 1);
		break;
	case '?':
		put_choice(out, form + 1, json_is_true(value));
		break;
	default:
		fputs(text ? text : "-", out);
	}
}

void text_put(FILE *out, const json_t *object, const char *format)
{
	char form[128];

	while (*format) {
		size_t plain = strcspn(format, "{"), size, path;

		fwrite(format, 1, plain, out);
		format += plain;
		if (!*format)
			return;
		size = strcspn(++format, "}");
		path = strcspn(format, ":}");
		snprintf(form, sizeof(form), "%.*s", path < size ? (int)(size - path - 1) : 0,
			 format + path + 1);
		put_member(out, text_at(object, format, path), form);
		format += size + 1;
	}
}

void text_put_list(FILE *out, const json_t *array, const char *format, const char *between)
{
	const json_t *item;
	size_t i;

	json_array_foreach (array, i, item) {
		fputs(i ? between : "", out);
		text_put(out, item, format);
	}
}

FILE *text_stream(char **text, size_t *size)
{
	FILE *out = open_memstream(text, size);

	if (!out)
		abort(); /* out of memory */
	return out;
}

char *text_filled(const json_t *object, const char *format)
{
	char *text;
	size_t size;
	FILE *out = text_stream(&text, &size);

	text_put(out, object, format);
	fclose(out);
	return text;
}

char *text_filled_list(const json_t *array, const char *format, const char *between)
{
	char *text;
	size_t size;
	FILE *out = text_stream(&text, &size);

	text_put_list(out, array, format, between);
	fclose(out);
	return text;
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

static bool is_wide;

void text_set_wide(void)
{
	is_wide = true;
}

unsigned text_terminal_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	long width = columns ? strtol(columns, NULL, 10) : 0;
	struct winsize size;

	if (is_wide || !isatty(fileno(out)))
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

/* Returns the bytes up to the next punctuation mark, or of one word if these do not fit into the
 * room. */
static size_t piece_size(const char *text, unsigned room)
{
	size_t size = 0;

	do {
		size += strcspn(text + size, " ");
	} while (text[size] && size && !strchr(",;:", text[size - 1]) && ++size);
	return size <= room ? size : strcspn(text, " ");
}

void text_put_folded(FILE *out, const char *text, unsigned indent)
{
	unsigned whole = text_terminal_width(out), room = whole > 2 * indent ? whole : UINT_MAX;
	unsigned column = indent;

	while (*text) {
		size_t size = piece_size(text, room - indent);
		unsigned width = 0;

		for (size_t i = 0; i < size; i++)
			width += (text[i] & 0xC0) != 0x80;
		if (column > indent && column + 1 + width > room) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			column += fprintf(out, " ");
		}
		fwrite(text, 1, size, out);
		column += width;
		text += size + (text[size] == ' ');
	}
	fputc('\n', out);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Escapes, code and lines of the forms: formats/markup.h. */
#include "formats/markup.h"

#include <stdbool.h>
#include <string.h>

const struct markup markup_man = {
	.line_start = "",
	.new_line = ".br\n",
	.code = {"\\fB", "\\fR"},
	.escapes = {{'\\', "\\e"},
		    {'-', "\\-"},
		    {'"', "\\(dq"},
		    {'\'', "\\(aq"},
		    {'^', "\\(ha"},
		    {0, NULL}},
};
const struct markup markup_markdown = {
	.line_start = "",
	.new_line = "",
	.code = {"`", "`"},
	.escapes = {{'|', "\\|"}, {0, NULL}},
};

void markup_put(const struct markup *markup, const char *text, size_t size, FILE *out)
{
	bool is_code = false;

	for (const char *end = text + size; text < end; text++) {
		unsigned i = 0;

		if (*text == '`') {
			fputs(markup->code[is_code], out);
			is_code = !is_code;
			continue;
		}
		while (markup->escapes[i].plain && markup->escapes[i].plain != *text)
			i++;
		if (markup->escapes[i].plain)
			fputs(markup->escapes[i].written, out);
		else
			fputc(*text, out);
	}
}

void markup_put_all(const struct markup *markup, const char *text, FILE *out)
{
	markup_put(markup, text, strlen(text), out);
}

/* The length of the first word. A space inside backquotes does not end a word. */
static size_t word_length(const char *text)
{
	bool is_code = false;
	size_t i;

	for (i = 0; text[i] && (is_code || text[i] != ' '); i++)
		is_code ^= text[i] == '`';
	return i;
}

void markup_put_lines(const struct markup *markup, const char *text, size_t width, FILE *out)
{
	size_t column = 0;

	while (*text) {
		size_t length = word_length(text);

		if (column && column + 1 + length > width) {
			fputc('\n', out);
			column = 0;
		}
		fputs(column ? " " : markup->line_start, out);
		column += column ? 1 : strlen(markup->line_start);
		markup_put(markup, text, length, out);
		column += length;
		text += length;
		text += *text == ' ';
	}
	fputc('\n', out);
}

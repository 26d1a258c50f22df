/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The option table as text: weftd/conf_reference.h. */
#include "weftd/conf_reference.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "formats/opensm_conf.h"
#include "lib/mem.h"
#include "weftd/conf.h"

enum { LINE_WIDTH = 100 };

/* How a form writes the texts of the table. */
struct markup {
	const char *line_start;
	const char *new_line; /* to begin a line that is not filled into the one before */
	const char *code[2];  /* for the first and the second backquote of a pair */
	struct {
		char plain;
		const char *written;
	} escapes[6]; /* ended by plain 0 */
};

static const struct markup sample = {.line_start = "# ", .new_line = "", .code = {"", ""}};
static const struct markup man = {
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
static const struct markup markdown = {
	.line_start = "",
	.new_line = "",
	.code = {"`", "`"},
	.escapes = {{'|', "\\|"}, {0, NULL}},
};

static void put(const struct markup *markup, const char *text, size_t size, FILE *out)
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

static void put_all(const struct markup *markup, const char *text, FILE *out)
{
	put(markup, text, strlen(text), out);
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

/* Writes the text as lines of at most LINE_WIDTH bytes, as far as its words allow. */
static void put_lines(const struct markup *markup, const char *text, FILE *out)
{
	size_t column = 0;

	while (*text) {
		size_t length = word_length(text);

		if (column && column + 1 + length > LINE_WIDTH) {
			fputc('\n', out);
			column = 0;
		}
		fputs(column ? " " : markup->line_start, out);
		column += column ? 1 : strlen(markup->line_start);
		put(markup, text, length, out);
		column += length;
		text += length;
		text += *text == ' ';
	}
	fputc('\n', out);
}

static void put_texts(const struct markup *markup, const struct conf_row *row, FILE *out)
{
	char *text = mem_printf("%s%s%s", row->summary, row->details ? " " : "",
				row->details ? row->details : "");
	char range[CONF_RANGE_SIZE];

	put_lines(markup, text, out);
	free(text);
	fputs(markup->new_line, out);
	conf_row_range(row, range);
	text = mem_printf("Range: %s.%s", range,
			  row->fixed ? " Takes effect after a restart." : "");
	put_lines(markup, text, out);
	free(text);
}

static void print_sample(const struct conf_row *row, FILE *out)
{
	if (row->section)
		fprintf(out, "\n\n# %s\n", row->section);
	fputc('\n', out);
	put_texts(&sample, row, out);
	fprintf(out, "#%s = %s;\n", row->name, row->preset);
}

static void print_man(const struct conf_row *row, FILE *out)
{
	if (row->section) {
		fputs(".SS ", out);
		put_all(&man, row->section, out);
		fputc('\n', out);
	}
	fprintf(out, ".TP\n\\fB%s\\fR = ", row->name);
	put_all(&man, row->preset, out);
	fputc('\n', out);
	put_texts(&man, row, out);
}

static void print_table(const struct conf_row *row, FILE *out)
{
	char range[CONF_RANGE_SIZE];

	if (row->section)
		fprintf(out,
			"\n### %s\n\n"
			"| option | default | range | effect | description |\n"
			"|---|---|---|---|---|\n",
			row->section);
	conf_row_range(row, range);
	fprintf(out, "| `%s` | `%s` | ", row->name, row->preset);
	put_all(&markdown, range, out);
	fprintf(out, " | %s | ", conf_row_effect(row));
	put_all(&markdown, row->summary, out);
	fputs(" |\n", out);
}

static void print_opensm_table(FILE *out)
{
	fputs("\n| OpenSM | weft | |\n|---|---|---|\n", out);
	for (const struct opensm_row *row = opensm_rows; row->name; row++) {
		fprintf(out, "| %s | %s | ", row->name, row->ours ? row->ours : "-");
		put_all(&markdown, row->note, out);
		fputs(" |\n", out);
	}
	fputc('\n', out);
}

bool conf_reference_print(const char *form, FILE *out)
{
	static const struct {
		const char *form;
		void (*print)(const struct conf_row *row, FILE *out);
		const char *end;
	} forms[] = {
		{"file", print_sample, "\n"},
		{"man", print_man, ""},
		{"table", print_table, "\n"},
	};

	if (!strcmp(form, "opensm")) {
		print_opensm_table(out);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (strcmp(form, forms[i].form) != 0)
			continue;
		for (const struct conf_row *row = conf_rows; row->name; row++)
			forms[i].print(row, out);
		fputs(forms[i].end, out);
		return true;
	}
	return false;
}

void conf_reference_summary(const char *name, FILE *out)
{
	const struct conf_row *row = conf_rows;

	while (row->name && strcmp(row->name, name) != 0)
		row++;
	assert(row->name);
	put_all(&sample, row->summary, out);
}

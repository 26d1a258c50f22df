/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The option table as text: weftd/conf_reference.h. */
#include "weftd/conf_reference.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "formats/markup.h"
#include "formats/opensm_conf.h"
#include "lib/mem.h"
#include "weftd/conf.h"

enum { LINE_WIDTH = 100 };

static const struct markup sample = {.line_start = "# ", .new_line = "", .code = {"", ""}};

static void put_texts(const struct markup *markup, const struct conf_row *row, FILE *out)
{
	char *text = mem_printf("%s%s%s", row->summary, row->details ? " " : "",
				row->details ? row->details : "");
	char range[CONF_RANGE_SIZE];

	markup_put_lines(markup, text, LINE_WIDTH, out);
	free(text);
	fputs(markup->new_line, out);
	conf_row_range(row, range);
	text = mem_printf("Range: %s.%s", range,
			  row->fixed ? " Takes effect after a restart." : "");
	markup_put_lines(markup, text, LINE_WIDTH, out);
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
		markup_put_all(&markup_man, row->section, out);
		fputc('\n', out);
	}
	fprintf(out, ".TP\n\\fB%s\\fR = ", row->name);
	markup_put_all(&markup_man, row->preset, out);
	fputc('\n', out);
	put_texts(&markup_man, row, out);
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
	markup_put_all(&markup_markdown, range, out);
	fprintf(out, " | %s | ", conf_row_effect(row, NULL));
	markup_put_all(&markup_markdown, row->summary, out);
	fputs(" |\n", out);
}

static void print_opensm_table(FILE *out)
{
	fputs("\n| OpenSM | weft | |\n|---|---|---|\n", out);
	for (const struct opensm_row *row = opensm_rows; row->name; row++) {
		fprintf(out, "| %s | %s | ", row->name, row->ours ? row->ours : "-");
		markup_put_all(&markup_markdown, row->note, out);
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
	markup_put_all(&sample, row->summary, out);
}

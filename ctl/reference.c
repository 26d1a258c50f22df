/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes summaries, details and columns of commands. */
#include "ctl/reference.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "formats/markup.h"
#include "lib/mem.h"

enum { HELP_WIDTH = 80, MAN_WIDTH = 100, USAGE_WIDTH = 22 };

static const struct markup help = {.line_start = "  ", .new_line = "", .code = {"", ""}};

/* Writes a text whose paragraphs end with a line end; between is a line between two of them. */
static void put_paragraphs(const struct markup *markup, const char *text, size_t width,
			   const char *between, FILE *out)
{
	char *copy = mem_strdup(text), *rest = copy, *paragraph;

	while ((paragraph = strsep(&rest, "\n"))) {
		markup_put_lines(markup, paragraph, width, out);
		fputs(rest ? between : "", out);
	}
	free(copy);
}

static void help_details(const struct ctl_command *command, FILE *out)
{
	if (command->details) {
		fputc('\n', out);
		put_paragraphs(&help, command->details, HELP_WIDTH, "\n", out);
	}
	if (command->columns) {
		fputs("\n  Columns: ", out);
		columns_list(command->columns, ", ", out);
		fputc('\n', out);
	}
}

void reference_help(int count, char *const *words, FILE *out)
{
	const struct ctl_command *only = NULL;
	unsigned concerned = 0;

	for (const struct ctl_command *command = ctl_commands; command->words; command++) {
		char usage[CTL_ERROR_SIZE];
		size_t length;

		if (command->hidden || !ctl_concerns(command, count, words))
			continue;
		concerned++;
		only = command;
		ctl_usage(command, usage, sizeof(usage));
		length = strlen(usage);
		fprintf(out, length > USAGE_WIDTH ? "  %s\n%*s" : "  %s%*s", usage,
			length > USAGE_WIDTH ? USAGE_WIDTH + 3 : USAGE_WIDTH + 1 - (int)length, "");
		markup_put_all(&help, command->summary, out);
		fputc('\n', out);
	}
	if (concerned == 1)
		help_details(only, out);
}

/* Writes a usage: literal words are bold, words in upper case are italic. */
static void man_usage(const char *usage, FILE *out)
{
	while (*usage) {
		size_t length = strcspn(usage, " []|,.");
		bool is_typed = false;

		for (size_t i = 0; i < length; i++)
			is_typed |= islower((unsigned char)usage[i]) || usage[i] == '-';
		if (length) {
			fputs(is_typed ? "\\fB" : "\\fI", out);
			markup_put(&markup_man, usage, length, out);
			fputs("\\fR", out);
		}
		usage += length;
		for (; *usage && strchr(" []|,.", *usage); usage++)
			fputc(*usage, out);
	}
}

void reference_man(FILE *out)
{
	for (const struct ctl_command *command = ctl_commands; command->words; command++) {
		char usage[CTL_ERROR_SIZE];

		if (command->hidden)
			continue;
		if (command->section)
			fprintf(out, ".SS %s\n", command->section);
		ctl_usage(command, usage, sizeof(usage));
		fputs(".TP\n", out);
		man_usage(usage, out);
		fputc('\n', out);
		markup_put_lines(&markup_man, command->summary, MAN_WIDTH, out);
		if (command->details)
			put_paragraphs(&markup_man, command->details, MAN_WIDTH, ".IP\n", out);
		if (command->columns) {
			fputs(".IP\nColumns: ", out);
			columns_list(command->columns, ", ", out);
			fputs(".\n", out);
		}
	}
}

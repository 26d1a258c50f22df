/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Prints a line for each event when it arrives, so the columns have fixed widths. On a terminal the
 * text is shortened in the middle, so that the end names the node or port.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/fit.h"
#include "ctl/handlers.h"
#include "ctl/text.h"

enum {
	WIDTH_FOR_YEAR = 100, /* a narrower terminal shows times without the year */
	TEXT_LEAST = 20,      /* characters: in a narrower space the text is not shortened */
};

/* Local time, as journalctl shows it; JSON has seconds since 1970. */
static void print_time(long long time_s, unsigned terminal, FILE *out)
{
	time_t seconds = (time_t)time_s;
	struct tm parts;
	char text[32];

	if (!localtime_r(&seconds, &parts) ||
	    !strftime(text, sizeof(text), terminal < WIDTH_FOR_YEAR ? "%m-%d %T" : "%F %T", &parts))
		text[0] = '\0';
	fprintf(out, "%-*s", terminal < WIDTH_FOR_YEAR ? 14 : 19, text);
}

/* " [leaf-01 port 3, port GUID 0x..., LID 5]": the known ones of these. */
static void print_subject(const json_t *row, FILE *out)
{
	const char *before = " [", *next = ", ";
	bool named = json_object_get(row, "node") || json_object_get(row, "node_guid");

	if (named) {
		fprintf(out, "%s%s", before,
			text_member(row, json_object_get(row, "node") ? "node" : "node_guid"));
		if (json_object_get(row, "port"))
			fprintf(out, " port %lld", number_member(row, "port"));
		before = next;
	}
	if (json_object_get(row, "port_guid")) {
		fprintf(out, "%sport GUID %s", before, text_member(row, "port_guid"));
		before = next;
	}
	if (json_object_get(row, "lid")) {
		fprintf(out, "%sLID %lld", before, number_member(row, "lid"));
		before = next;
	}
	if (before == next)
		fputc(']', out);
}

/* Writes the text and the subject in the space that is left. */
static void print_rest(const json_t *row, unsigned space, FILE *out)
{
	char *text = NULL, *fitting;
	size_t size;
	FILE *rest = text_stream(&text, &size);

	fputs(text_member(row, "text"), rest);
	print_subject(row, rest);
	fclose(rest);
	fitting = fit_text(text, space);
	fprintf(out, "%s\n", fitting);
	free(fitting);
	free(text);
}

void print_event(const json_t *row, FILE *out)
{
	const json_t *number = json_object_get(row, "number");
	unsigned terminal = text_terminal_width(out), used = 9;

	if (number) {
		fprintf(out, "%7lld  ", (long long)json_integer_value(number));
		print_time(number_member(row, "time_s"), terminal, out);
		fprintf(out, "  %-9s  ", text_member(row, "kind"));
		used += (terminal < WIDTH_FOR_YEAR ? 14 : 19) + 13;
	} else {
		fputs("         ", out);
	}
	print_rest(row, terminal < used + TEXT_LEAST ? UINT_MAX : terminal - used, out);
}

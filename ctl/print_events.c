/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints a line for each event when it arrives, so the columns have fixed widths. */
#include <time.h>

#include "ctl/handlers.h"
#include "ctl/text.h"

/* Local time, as journalctl shows it; JSON has seconds since 1970. */
static void print_time(long long time_s, FILE *out)
{
	time_t seconds = (time_t)time_s;
	struct tm parts;
	char text[32];

	if (!localtime_r(&seconds, &parts) || !strftime(text, sizeof(text), "%F %T", &parts))
		text[0] = '\0';
	fprintf(out, "%-19s", text);
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

void print_event(const json_t *row, FILE *out)
{
	const json_t *number = json_object_get(row, "number");

	if (number) {
		fprintf(out, "%7lld  ", (long long)json_integer_value(number));
		print_time(number_member(row, "time_s"), out);
		fprintf(out, "  %-9s  ", text_member(row, "kind"));
	} else {
		fputs("         ", out);
	}
	fputs(text_member(row, "text"), out);
	print_subject(row, out);
	fputc('\n', out);
}

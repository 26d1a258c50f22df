/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Prints `weftctl health`: a line for each check, worst first, and below a bad check its remedy.
 * The exit status is for scripts and monitoring.
 */
#include <stdlib.h>
#include <string.h>

#include "ctl/handlers.h"
#include "ctl/text.h"

enum { LEVEL_WIDTH = 10, CHECK_WIDTH = 14, EXIT_DEGRADED = 4, EXIT_BROKEN = 5 };

static void print_remedy(const json_t *check, FILE *out)
{
	char *text;

	if (!json_object_get(check, "remedy"))
		return;
	text = text_filled(check, "remedy: {remedy}");
	fprintf(out, "%-*s", LEVEL_WIDTH + CHECK_WIDTH, "");
	text_put_folded(out, text, LEVEL_WIDTH + CHECK_WIDTH);
	free(text);
}

void print_health(const json_t *data, FILE *out)
{
	const json_t *check;
	size_t i;

	json_array_foreach (json_object_get(data, "checks"), i, check) {
		fprintf(out, "%-*s%-*s", LEVEL_WIDTH, text_member(check, "level"), CHECK_WIDTH,
			text_member(check, "check"));
		text_put_folded(out, text_member(check, "text"), LEVEL_WIDTH + CHECK_WIDTH);
		print_remedy(check, out);
	}
}

int health_exit_status(const json_t *data)
{
	const char *level = text_member(data, "level");

	if (!strcmp(level, "healthy"))
		return EXIT_SUCCESS;
	return !strcmp(level, "degraded") ? EXIT_DEGRADED : EXIT_BROKEN;
}

void print_health_accepted(const json_t *data, FILE *out)
{
	text_put(out, data,
		 "{forgotten:d} lost link{forgotten:#|s} forgotten; {links:d} link{links:#|s} are "
		 "the state to compare with\n");
}

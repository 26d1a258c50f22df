/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Points in time: lib/when.h. */
#include "lib/when.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

/* The start of the day that is this number of days before now. */
static time_t day_before(time_t now, int days)
{
	struct tm parts;

	localtime_r(&now, &parts);
	parts.tm_mday -= days;
	parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
	parts.tm_isdst = -1;
	return mktime(&parts);
}

/* "30m", "30m ago" */
static bool parse_ago(const char *text, time_t now, time_t *when)
{
	static const struct {
		const char *unit;
		time_t seconds;
	} units[] = {{"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}};
	size_t digits = strspn(text, "0123456789"), length;

	if (!digits || digits > 9)
		return false;
	length = strcspn(text + digits, " ");
	if (text[digits + length] && strcmp(text + digits + length, " ago") != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strlen(units[i].unit) != length ||
		    strncmp(text + digits, units[i].unit, length) != 0)
			continue;
		*when = now - (time_t)atoll(text) * units[i].seconds;
		return true;
	}
	return false;
}

static bool parse_date(const char *text, time_t now, time_t *when)
{
	static const char *const forms[] = {"%Y-%m-%d %H:%M:%S",
					    "%Y-%m-%d %H:%M",
					    "%Y-%m-%dT%H:%M:%S",
					    "%Y-%m-%dT%H:%M",
					    "%Y-%m-%d",
					    "%H:%M:%S",
					    "%H:%M"};

	time_t today = day_before(now, 0);

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct tm parts;
		const char *end;

		localtime_r(&today, &parts);
		end = strptime(text, forms[i], &parts);
		if (!end || *end)
			continue;
		parts.tm_isdst = -1;
		*when = mktime(&parts);
		return true;
	}
	return false;
}

bool when_parse(const char *text, time_t now, time_t *when)
{
	if (!strcmp(text, "today") || !strcmp(text, "yesterday")) {
		*when = day_before(now, *text == 'y');
		return true;
	}
	return parse_ago(text, now, when) || parse_date(text, now, when);
}

char *when_since(const char *text)
{
	size_t length = strlen(text);
	time_t when;

	if (length && length <= 19 && strspn(text, "0123456789") == length)
		return mem_strdup(text);
	if (!when_parse(text, time(NULL), &when) || when < 0)
		return NULL;
	return mem_printf("@%lld", (long long)when);
}

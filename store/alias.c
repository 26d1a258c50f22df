/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Grants of alias GUIDs, and the rows of alias_guids: store/alias.h. */
#include "store/alias.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/guid.h"
#include "lib/mem.h"

const char *alias_grant_text(enum alias_grant grant)
{
	static const char *const texts[] = {
		[ALIAS_NOT_GRANTED] = "none",
		[ALIAS_BY_ADMINISTRATOR] = "administrator",
		[ALIAS_BY_SA_KEY] = "SA_Key",
		[ALIAS_BY_LIST] = "alias_guids",
	};

	return grant < ARRAY_SIZE(texts) ? texts[grant] : "none";
}

static const char *skip_space(const char *at)
{
	return at + strspn(at, " \t");
}

static const char *take_guid(const char *at, guid_t *out)
{
	at = guid_scan(skip_space(at), out);
	return at ? skip_space(at) : NULL;
}

static const char *take_range(const char *at, guid_t *first, guid_t *last)
{
	at = take_guid(at, first);
	*last = *first;
	return at && *at == '-' ? take_guid(at + 1, last) : at;
}

const char *alias_range_parse(const char *text, struct alias_range *out)
{
	struct alias_range range = {0};
	const char *at = take_range(text, &range.first_port, &range.last_port);

	if (!at)
		return "expected a port GUID first, such as 0x2c903000e0b72, or two with \"-\" "
		       "between them";
	if (*at != ':')
		return "expected \":\" after the port GUIDs";
	at = take_range(at + 1, &range.first, &range.last);
	if (!at || *at)
		return "expected a GUID after \":\", or two with \"-\" between them";
	if (range.last_port < range.first_port || range.last < range.first)
		return "the last GUID of a range is below the first";
	*out = range;
	return NULL;
}

const char *alias_range_text(const struct alias_range *range, char text[ALIAS_RANGE_TEXT])
{
	int used = snprintf(text, ALIAS_RANGE_TEXT, "0x%" PRIx64, range->first_port);

	if (range->last_port != range->first_port)
		used += snprintf(text + used, ALIAS_RANGE_TEXT - (size_t)used, "-0x%" PRIx64,
				 range->last_port);
	used += snprintf(text + used, ALIAS_RANGE_TEXT - (size_t)used, ": 0x%" PRIx64,
			 range->first);
	if (range->last != range->first)
		snprintf(text + used, ALIAS_RANGE_TEXT - (size_t)used, "-0x%" PRIx64, range->last);
	return text;
}

bool alias_is_listed(const struct alias_range ranges[ALIAS_RANGES_MAX], guid_t port_guid,
		     guid_t guid)
{
	for (size_t i = 0; i < ALIAS_RANGES_MAX && ranges[i].first_port; i++)
		if (port_guid >= ranges[i].first_port && port_guid <= ranges[i].last_port &&
		    guid >= ranges[i].first && guid <= ranges[i].last)
			return true;
	return false;
}

enum alias_grant alias_granted(const struct alias_range ranges[ALIAS_RANGES_MAX],
			       const struct alias_entry *alias)
{
	if (alias->granted != ALIAS_NOT_GRANTED)
		return alias->granted;
	return alias_is_listed(ranges, alias->port_guid, alias->guid) ? ALIAS_BY_LIST
								      : ALIAS_NOT_GRANTED;
}

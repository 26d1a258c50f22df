/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Grants of alias GUIDs. A host may register any alias for its own port without an SA_Key, as
 * Linux's mlx4 does for each virtual function. So only a granted alias counts for partitions. The
 * grant comes from an administrator, an SA_Key that is not the default, or alias_guids. Functions
 * without state.
 */
#ifndef STORE_ALIAS_H
#define STORE_ALIAS_H

#include <stdbool.h>
#include <stddef.h>

#include "store/registry.h"

/* The registry stores the first values, so they must not change. */
enum alias_grant {
	ALIAS_NOT_GRANTED = 0,
	ALIAS_BY_ADMINISTRATOR = 1, /* weftctl alias set */
	ALIAS_BY_SA_KEY = 2,	    /* not the default SA_Key */
	ALIAS_KEPT_GRANTS,	    /* number of stored values */
	/* Never stored: computed from the option at each use, so a reload takes effect at once. */
	ALIAS_BY_LIST = ALIAS_KEPT_GRANTS,
};

/* "administrator", "SA_Key", "alias_guids", or "none". */
const char *alias_grant_text(enum alias_grant grant);

/* A row of the option alias_guids: each of these ports may have each of these GUIDs. */
struct alias_range {
	guid_t first_port, last_port; /* by port GUID; 0: the row is not used, nor are later ones */
	guid_t first, last;
};

enum { ALIAS_RANGES_MAX = 1024, ALIAS_RANGE_TEXT = 80 };

/* "PORT[-PORT]: GUID[-GUID]", GUIDs in hexadecimal with 0x. NULL, or what is wrong; out is then
 * untouched. */
const char *alias_range_parse(const char *text, struct alias_range *out);
/* The same text; returns it. */
const char *alias_range_text(const struct alias_range *range, char text[ALIAS_RANGE_TEXT]);

/* How this alias of the port is granted; ranges: the rows of alias_guids. */
enum alias_grant alias_granted(const struct alias_range ranges[ALIAS_RANGES_MAX],
			       const struct alias_entry *alias);
/* Whether a row of alias_guids grants guid as an alias to this port. */
bool alias_is_listed(const struct alias_range ranges[ALIAS_RANGES_MAX], guid_t port_guid,
		     guid_t guid);

/* Whether the alias has no stored grant, and its GUID is that of a port that is present or still
 * has a LID in the registry. */
static inline bool alias_is_usurped(const struct registry *registry,
				    const struct alias_entry *alias)
{
	const struct lid_entry owner = {.guid = alias->guid};

	return alias->granted == ALIAS_NOT_GRANTED && registry_find(registry, REGISTRY_LID, &owner);
}

/*
 * The ranking of grants: whether another port may take the alias of a port.
 *
 *   port has it by    another port requests it by
 *                     none     alias_guids, SA_Key    administrator
 *   none              no       yes                    yes
 *   alias_guids       no       if the port is away    no
 *   SA_Key            no       if the port is away    no
 *   administrator     no       no                     no
 *
 * A virtual machine takes its alias along when its hypervisor is away. An administrator removes a
 * granted alias from its port first, so no grant ends unseen.
 *
 * held, asked: the grants of the port that has the alias, and of the port that wants it. is_away:
 * the port that has the alias is not in the fabric.
 */
static inline bool alias_may_move(enum alias_grant held, enum alias_grant asked, bool is_away)
{
	if (asked == ALIAS_NOT_GRANTED || held == ALIAS_BY_ADMINISTRATOR)
		return false;
	return held == ALIAS_NOT_GRANTED || (is_away && asked != ALIAS_BY_ADMINISTRATOR);
}

/* Whether a request from the fabric may delete an alias, or put another GUID in its place. held:
 * the grant that the registry keeps. has_key: the request carries an SA_Key that counts. */
static inline bool alias_may_end(enum alias_grant held, bool has_key)
{
	return held == ALIAS_NOT_GRANTED || (held == ALIAS_BY_SA_KEY && has_key);
}

/* Reasons for or against a GUID as an alias of a port; other aliases do not count here. */
enum alias_claim {
	ALIAS_UNCLAIMED,
	ALIAS_CLAIMED, /* the GUID of a known port or node, or a GUID that partitions name */
	ALIAS_LISTED,  /* alias_guids grants it to this port */
};

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* GUIDs and GIDs as text: lib/guid.h. */
#include "lib/guid.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(GID_TEXT == INET6_ADDRSTRLEN, "a GID is as long as an IPv6 address");

const char *guid_text(guid_t guid, char text[GUID_TEXT])
{
	static const char digits[] = "0123456789abcdef";

	memcpy(text, "0x0123456789abcdef", GUID_TEXT);
	for (unsigned i = GUID_TEXT - 2; i > 1; i--, guid >>= 4)
		text[i] = digits[guid & 15];
	return text;
}

const char *guid_scan(const char *text, guid_t *out)
{
	unsigned long long guid;
	char *end;

	if (text[0] != '0' || tolower((unsigned char)text[1]) != 'x' ||
	    !isxdigit((unsigned char)text[2]))
		return NULL;
	errno = 0;
	guid = strtoull(text, &end, 16);
	if (errno || !guid)
		return NULL;
	*out = guid;
	return end;
}

bool guid_parse(const char *text, guid_t *out)
{
	guid_t guid;
	const char *end = text ? guid_scan(text, &guid) : NULL;

	if (!end || *end)
		return false;
	*out = guid;
	return true;
}

bool guid_parse_digits(const char *text, guid_t *out)
{
	enum { DIGITS = GUID_TEXT - sizeof("0x") };
	char prefixed[GUID_TEXT] = "0x";

	if (strlen(text) != DIGITS || strspn(text, "0123456789abcdefABCDEF") != DIGITS)
		return false;
	strcat(prefixed, text);
	return guid_parse(prefixed, out);
}

bool guid_read(const char *text, guid_t *out)
{
	return text && (guid_parse(text, out) || guid_parse_digits(text, out));
}

const char *gid_text(const uint8_t gid[GID_SIZE], char text[GID_TEXT])
{
	return inet_ntop(AF_INET6, gid, text, GID_TEXT);
}

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The checks of arguments: ctl/arguments.h. */
#include "ctl/arguments.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "formats/partitions.h"
#include "lib/log.h"

bool argument_is_level(const char *value)
{
	const char *const *level = log_level_words;

	while (*level && strcmp(*level, value) != 0)
		level++;
	return *level || !strcmp(value, "default");
}

bool argument_is_mgid(const char *value)
{
	struct in6_addr gid;

	return inet_pton(AF_INET6, value, &gid) == 1 && gid.s6_addr[0] == 0xff;
}

bool argument_is_p_key(const char *value)
{
	pkey_t p_key;

	return partition_key_parse(value, &p_key);
}

bool argument_meant_p_key(const char *value, char *text, size_t size)
{
	char *end;
	unsigned long number = strtoul(value, &end, 16);
	unsigned p_key = number & PKEY_DEFAULT_LIMITED;

	snprintf(text, size, "0x%04x", p_key);
	return isxdigit((unsigned char)*value) && !*end && number <= UINT16_MAX && p_key;
}

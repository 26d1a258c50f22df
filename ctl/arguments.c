/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The checks of arguments: ctl/arguments.h. */
#include "ctl/arguments.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "formats/partition_option.h"
#include "formats/partitions.h"
#include "include/event_kind.h"
#include "lib/log.h"
#include "lib/mem.h"

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

bool argument_is_mtu(const char *value)
{
	return partition_option_is_good("mtu", value);
}

bool argument_is_rate(const char *value)
{
	return partition_option_is_good("rate", value);
}

bool argument_is_scope(const char *value)
{
	return partition_option_is_good("scope", value);
}

bool argument_is_q_key(const char *value)
{
	return partition_option_is_good("q_key", value);
}

bool argument_is_event_kinds(const char *value)
{
	static const char *const kinds[] = {EVENT_KINDS};
	size_t size, i;

	for (;; value += size + 1) {
		size = strcspn(value, ",");
		for (i = 0; i < ARRAY_SIZE(kinds); i++)
			if (strlen(kinds[i]) == size && !memcmp(kinds[i], value, size))
				break;
		if (i == ARRAY_SIZE(kinds))
			return false;
		if (!value[size])
			return true;
	}
}

bool argument_is_owner(const char *value)
{
	static const char gateway[] = "gateway:",
			  letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";
	size_t lead = sizeof(gateway) - 1;

	if (!strcmp(value, "admin") || !strcmp(value, "site"))
		return true;
	return !strncmp(value, gateway, lead) && value[lead] &&
	       !value[lead + strspn(value + lead, letters)];
}

bool argument_meant_p_key(const char *value, char *text, size_t size)
{
	char *end;
	unsigned long number = strtoul(value, &end, 16);
	unsigned p_key = number & PKEY_DEFAULT_LIMITED;

	snprintf(text, size, "0x%04x", p_key);
	return isxdigit((unsigned char)*value) && !*end && number <= UINT16_MAX && p_key;
}

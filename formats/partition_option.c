/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The numbers in the options of the partition commands: partition_option.h. */
#include "formats/partition_option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

const struct partition_option partition_options[] = {
	{"mtu", 1, 5,
	 ", a code (4 is 2048 bytes), or a number of bytes: 256, 512, 1024, 2048 or 4096"},
	{"rate", 2, 24,
	 ", a code (3 is 10 Gb/s; weft-partitions.conf(5) has them all), or from 25 a number of "
	 "Gb/s, such as 100"},
	{"scope", 1, 15, ""},
	{"q_key", 0, UINT32_MAX, ""},
	{"tclass", 0, UINT8_MAX, ""},
	{"flow_label", 0, 0xFFFFF, ""},
	{.name = NULL},
};

/* Bytes of an MTU, and Gb/s of a rate, for which InfiniBand has codes. */
static const struct {
	const char *option;
	unsigned value, code;
} option_codes[] = {
	{"mtu", 256, 1},   {"mtu", 512, 2},   {"mtu", 1024, 3},	  {"mtu", 2048, 4},
	{"mtu", 4096, 5},  {"rate", 25, 15},  {"rate", 28, 19},	  {"rate", 30, 4},
	{"rate", 40, 7},   {"rate", 50, 20},  {"rate", 56, 12},	  {"rate", 60, 8},
	{"rate", 80, 9},   {"rate", 100, 16}, {"rate", 112, 13},  {"rate", 120, 10},
	{"rate", 168, 14}, {"rate", 200, 17}, {"rate", 300, 18},  {"rate", 400, 21},
	{"rate", 600, 22}, {"rate", 800, 23}, {"rate", 1200, 24},
};

const struct partition_option *partition_option_named(const char *name)
{
	for (const struct partition_option *option = partition_options; option->name; option++)
		if (!strcmp(option->name, name))
			return option;
	return NULL;
}

bool partition_option_value(const struct partition_option *option, uint64_t number, uint32_t *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(option_codes); i++)
		if (!strcmp(option_codes[i].option, option->name) &&
		    option_codes[i].value == number)
			number = option_codes[i].code;
	if (number < option->least || number > option->most)
		return false;
	*out = (uint32_t)number;
	return true;
}

bool partition_option_number(const char *text, uint64_t *out)
{
	unsigned long long number;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoull(text, &end, 0);
	if (*end || errno)
		return false;
	*out = number;
	return true;
}

bool partition_option_is_good(const char *name, const char *text)
{
	const struct partition_option *option = partition_option_named(name);
	uint64_t number;
	uint32_t value;

	return option && partition_option_number(text, &number) &&
	       partition_option_value(option, number, &value);
}

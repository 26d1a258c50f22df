/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The numbers in the options of the partition commands: their ranges, and values that stand for an
 * InfiniBand code, such as 4096 bytes for MTU code 5. Pure, any thread.
 */
#ifndef FORMATS_PARTITION_OPTION_H
#define FORMATS_PARTITION_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct partition_option {
	const char *name; /* as in "partition add --mtu" */
	uint32_t least, most;
	const char *meaning; /* of the numbers, for messages; "": the number itself */
};

/* The table, ended by a row whose name is NULL. */
extern const struct partition_option partition_options[];

/* The option with this name; NULL: none. */
const struct partition_option *partition_option_named(const char *name);
/* The value of the option for a number: a code, or the number of bytes or Gb/s that it stands for.
 * False: the number is out of range. */
bool partition_option_value(const struct partition_option *option, uint64_t number, uint32_t *out);
/* Reads a number: decimal, or hexadecimal with 0x. False: the text is not a number. */
bool partition_option_number(const char *text, uint64_t *out);
/* Both: whether the text is a value of the option with this name. */
bool partition_option_is_good(const char *name, const char *text);

#endif

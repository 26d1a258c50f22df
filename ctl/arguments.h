/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Arguments that several rows of the command table have (ctl/commands.c), and the checks of their
 * values.
 */
#ifndef CTL_ARGUMENTS_H
#define CTL_ARGUMENTS_H

#include "ctl/commands.h"

/* Whether it is a level of the log, or "default". */
bool argument_is_level(const char *value);
/* Whether it is an MGID. */
bool argument_is_mgid(const char *value);
/* Whether it is a P_Key without the membership bit. */
bool argument_is_p_key(const char *value);
/* Accepts hexadecimal digits without 0x, and a P_Key with the membership bit. */
bool argument_meant_p_key(const char *value, char *text, size_t size);

/* The highest number of an event that has 18 digits. */
#define EVENT_MOST 999999999999999999

#define P_KEY_ARGUMENT                                                                   \
	{                                                                                \
		.member = "p_key", .label = "PKEY", .good = argument_is_p_key,           \
		.what = "a P_Key, 0x0001 to 0x7fff (the membership bit does not count)", \
		.meant = argument_meant_p_key                                            \
	}

/* The daemon knows the names. */
#define PARTITION_ARGUMENT                                                        \
	{                                                                         \
		.member = "p_key", .label = "PARTITION", .completes = "partition" \
	}

#define PORT_ARGUMENT                                                                            \
	{                                                                                        \
		.member = "port", .label = "PORT", .least = 1, .most = 254, .completes = "port", \
		.what = "a port: a number from 1 to 254"                                         \
	}

#define ANY_PORT_ARGUMENT(...)                                                       \
	{                                                                            \
		.member = "port", .label = "PORT", .most = 254, .completes = "port", \
		.what = "a port: a number from 0 to 254", __VA_ARGS__                \
	}

/* An option without a value, and one with a value. */
#define FLAG(name)                                                             \
	{                                                                      \
		.member = name, .optional = true, .option = true, .flag = true \
	}

#define OPTION(name, ...)                                                              \
	{                                                                              \
		.member = name, .optional = true, .option = true, .label = __VA_ARGS__ \
	}

/* A request by which the completion gets words from weftd; it gives up after a second. */
#define COMPLETE(kind, ...)                                                                     \
	{                                                                                       \
		.words = "complete " kind, .hidden = true, .limit_s = 1, .list = "words",       \
		.each = print_word, .summary = "Words for the completion of the command line.", \
		.arguments = {                                                                  \
			__VA_ARGS__{.member = "prefix", .label = "PREFIX", .optional = true}    \
		}                                                                               \
	}

#endif

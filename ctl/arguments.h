/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Arguments that several rows of the command table (ctl/commands.c) share, and the checks of their
 * values.
 */
#ifndef CTL_ARGUMENTS_H
#define CTL_ARGUMENTS_H

#include "ctl/commands.h"

/* Whether the value is a level of the log, or "default". */
bool argument_is_level(const char *value);
/* Whether the value is an MGID. */
bool argument_is_mgid(const char *value);
/* Whether the value is a P_Key without the membership bit. */
bool argument_is_p_key(const char *value);
/* Writes the P_Key that is meant to text: digits without 0x, or a P_Key with the membership bit.
 * False: it is none. */
bool argument_meant_p_key(const char *value, char *text, size_t size);

/* Whether the value is an MTU, a rate, a scope or a Q_Key of a partition
 * (formats/partition_option.h). */
bool argument_is_mtu(const char *value);
bool argument_is_rate(const char *value);
bool argument_is_scope(const char *value);
bool argument_is_q_key(const char *value);
/* Whether the value is a list of kinds of events, separated by commas. */
bool argument_is_event_kinds(const char *value);
/* Whether the value can be an owner of members of partitions. */
bool argument_is_owner(const char *value);

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

/* The parameters of the groups of a partition. */
#define PARTITION_OPTIONS                                                                         \
	OPTION("mtu", "N", .good = argument_is_mtu,                                               \
	       .what = "an MTU: 256, 512, 1024, 2048 or 4096 bytes, or a code from 1 to 5"),      \
		OPTION("rate", "N", .good = argument_is_rate,                                     \
		       .what = "a rate: a code from 2 to 24 (3 is 10 Gb/s), or from 25 a number " \
			       "of Gb/s, such as 100"),                                           \
		OPTION("scope", "N", .good = argument_is_scope,                                   \
		       .what = "a scope: a number from 1 to 15"),                                 \
		OPTION("q_key", "N", .good = argument_is_q_key,                                   \
		       .what = "a Q_Key: a number from 0 to 0xffffffff")

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

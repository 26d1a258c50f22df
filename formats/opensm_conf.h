/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * OpenSM's configuration (opensm.conf), the settings of its service and its file of LIDs
 * (guid2lid), for `weftctl import opensm` and `export opensm`: texts in, calls out. A table has all
 * options of OpenSM 3.3.23, and the option of weft that replaces each. Pure; the caller reads and
 * writes files.
 */
#ifndef FORMATS_OPENSM_CONF_H
#define FORMATS_OPENSM_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "include/iba.h"

enum { OPENSM_VALUE_SIZE = 1024 }; /* of a value of ours, with room for OpenSM's own limit */

/* How the value of an option is translated. */
enum opensm_how {
	OPENSM_LOST,	    /* not at all: weft has no such function */
	OPENSM_NOT_NEEDED,  /* not at all: weft does the same without an option, or differently */
	OPENSM_NUMBER,	    /* unchanged */
	OPENSM_TEXT,	    /* in quotes */
	OPENSM_FLAG,	    /* TRUE, FALSE to true, false */
	OPENSM_ENGINES,	    /* names between commas to a list of the engines that weft has */
	OPENSM_PARTITIONS,  /* a file that the caller copies */
	OPENSM_PREFIXES,    /* a file that the caller uses if it exists */
	OPENSM_ENFORCEMENT, /* both, in, out or off, in quotes */
	OPENSM_NO_ENFORCEMENT,
	OPENSM_M_KEY, /* a number; 0: no key */
	OPENSM_BABBLE,
	OPENSM_NO_REREG,
	OPENSM_PERFMGR, /* on: the value of perfmgr_sweep_time_s */
};

struct opensm_row {
	const char *name;
	const char *preset; /* OpenSM's default; "" for (null) */
	enum opensm_how how;
	const char *ours; /* the option of weft; NULL: none */
	const char *note; /* the consequence, why there is none, or the difference; "": none */
};

/* All options; the last row has no name. */
extern const struct opensm_row opensm_rows[];
const struct opensm_row *opensm_row_find(const char *name); /* NULL: no such option */
/* The numbers that an option of weft accepts: first to last, and more_first to more_last (1 to 0:
 * no further numbers). A test compares them with the option table of weftd. */
struct opensm_range {
	const char *ours;
	unsigned long long first, last, more_first, more_last;
};
/* NULL: all 64-bit numbers. */
const struct opensm_range *opensm_range_of(const char *ours);
/* The name of the flag without which OpenSM ignores the option, such as qos; NULL: none. */
const char *opensm_row_switch(const struct opensm_row *row);

/* Receives an option of opensm.conf: (null) is "", quotes are removed. Each name and value is at
 * most OPENSM_VALUE_SIZE - 1 bytes. */
typedef void opensm_option_fn(void *ctx, unsigned line, const char *name, const char *value);
/* Calls option for each option of the text, in its order. Returns 0, or -EINVAL: *error is
 * "name:line: reason", for free(). */
int opensm_conf_parse(const char *name, const char *text, size_t length, opensm_option_fn *option,
		      void *ctx, char **error);

/* As opensm_conf_parse(), for the settings of a shell, NAME=VALUE, which start OpenSM:
 * /etc/sysconfig/opensm and /etc/default/opensm. */
int opensm_service_parse(const char *name, const char *text, size_t length,
			 opensm_option_fn *option, void *ctx, char **error);

/* Whether two values mean the same: numbers by value, words without regard to case. */
bool opensm_value_same(const char *one, const char *other);

/* Translates a value of OpenSM into libconfig's form. sweep_time: the value of
 * perfmgr_sweep_time_s. -EINVAL: the option does not allow this value; -ERANGE: the option of weft
 * does not allow this number; -ENOENT: nothing is left of
 * it, such as of a list of engines that weft does not have. On success value is filled, and lost
 * has the omitted parts between commas, or is empty. updn takes the place of engines that use
 * virtual lanes against credit loops, and of minhop behind them. Not for OPENSM_LOST and
 * OPENSM_NOT_NEEDED. */
int opensm_translate(const struct opensm_row *row, const char *theirs, const char *sweep_time,
		     char value[OPENSM_VALUE_SIZE], char lost[OPENSM_VALUE_SIZE]);

/* The reverse, for an export: ours is a value of the option of weft in libconfig's form. -EINVAL:
 * OpenSM has no such value; -ENOENT: the row says nothing about this value. On success value is
 * filled, and lost has engines that OpenSM does not have between commas, or is empty. */
int opensm_untranslate(const struct opensm_row *row, const char *ours,
		       char value[OPENSM_VALUE_SIZE], char lost[OPENSM_VALUE_SIZE]);

/* A line of guid2lid: a port's GUID and its range of 2^lmc LIDs. */
typedef void opensm_lid_fn(void *ctx, guid_t guid, lid_t lid, unsigned lmc);
/* Calls lid for each line. An invalid line, or a LID for the second time, is an error, as above. */
int opensm_lids_parse(const char *name, const char *text, size_t length, opensm_lid_fn *lid,
		      void *ctx, char **error);

#endif

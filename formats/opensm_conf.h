/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * OpenSM's configuration (opensm.conf) and its file of LIDs (guid2lid), for `weftctl import
 * opensm`: texts in, calls out. Options are told by a table of all that OpenSM 3.3.23 has, with
 * what becomes of each. Pure; the caller reads and writes files.
 */
#ifndef FORMATS_OPENSM_CONF_H
#define FORMATS_OPENSM_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "include/iba.h"

enum { OPENSM_VALUE_SIZE = 1024 }; /* of a line of ours, with room for OpenSM's own limit */

/* How the value of an option becomes ours. */
enum opensm_how {
	OPENSM_NONE,	   /* it does not */
	OPENSM_NUMBER,	   /* as it is */
	OPENSM_TEXT,	   /* between quotes */
	OPENSM_FLAG,	   /* TRUE, FALSE to true, false */
	OPENSM_ENGINES,	   /* names between commas to a list of those that we have */
	OPENSM_PARTITIONS, /* a file that is copied: the caller's */
	OPENSM_PREFIXES,   /* a file that counts where it is there: the caller's */
	OPENSM_NO_ENFORCEMENT,
	OPENSM_M_KEY, /* a number; 0 is none */
	OPENSM_BABBLE,
	OPENSM_NO_REREG,
	OPENSM_PERFMGR, /* on: the value of perfmgr_sweep_time_s */
};

struct opensm_row {
	const char *name;
	const char *preset; /* OpenSM's default; "" for (null) */
	enum opensm_how how;
	const char *ours; /* our option; NULL: none */
	const char *note; /* why there is none, or what is different; "": nothing */
};

/* All options, ended by a row without name. */
extern const struct opensm_row opensm_rows[];
const struct opensm_row *opensm_row_find(const char *name); /* NULL: no such option */

/* A line of opensm.conf: (null) is "", quotes are gone. Each name and value is at most
 * OPENSM_VALUE_SIZE - 1 bytes. */
typedef void opensm_option_fn(void *ctx, unsigned line, const char *name, const char *value);
/* Calls for each option of the text, in its order. 0, or -EINVAL: *error is "name:line: reason",
 * for free(). */
int opensm_conf_parse(const char *name, const char *text, size_t length, opensm_option_fn *option,
		      void *ctx, char **error);

/* Whether two values mean the same: numbers by what they are, words without regard to case. */
bool opensm_value_same(const char *one, const char *other);

/* Our value for one of OpenSM's in libconfig's form. sweep_time: the value of perfmgr_sweep_time_s.
 * -EINVAL: it is none that the option may have; -ENOENT: nothing of it is left, such as of engines
 * that we do not have. On success value is filled, and lost has what was left out, between commas,
 * or is empty. Not for OPENSM_NONE. */
int opensm_translate(const struct opensm_row *row, const char *theirs, const char *sweep_time,
		     char value[OPENSM_VALUE_SIZE], char lost[OPENSM_VALUE_SIZE]);

/* A line of guid2lid: a port's GUID and its range of 2^lmc LIDs. */
typedef void opensm_lid_fn(void *ctx, guid_t guid, lid_t lid, unsigned lmc);
/* A line that makes no sense or gives a LID a second time is an error, as above. */
int opensm_lids_parse(const char *name, const char *text, size_t length, opensm_lid_fn *lid,
		      void *ctx, char **error);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The daemon's configuration: weftd.conf (libconfig), -o NAME=VALUE on the command line, and the
 * defaults. Every option is one row of one table: name, type, range, default, where it goes, and
 * the sentence that the example file and the manual page print too. The only door to libconfig.
 * Loop thread, or before there is one.
 */
#ifndef WEFTD_CONF_H
#define WEFTD_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ha/options.h"
#include "include/iba.h"
#include "mad/umad.h"
#include "pm/pm.h"
#include "sa/sa.h"
#include "sm/options.h"

/* Who may look where the configuration does not say; the package makes this group. */
#define CONF_READONLY_GROUP "weft-read"

enum { CONF_ERROR_SIZE = 512, CONF_RANGE_SIZE = 128, CONF_NAMES_SIZE = 128 };

/* Paths of files for routing engines and the SA (weftd/route_files.h); empty: none. */
struct route_files {
	char roots[256], compute[256], io[256], order[256];
	char weights[256], ports[256], ignored[256], tables[256], prefixes[256];
};

struct conf {
	char ca[32];	  /* empty: any */
	int port;	  /* 0: any */
	guid_t port_guid; /* 0: any */
	guid_t failover_ports[UMAD_OTHERS_MAX];
	char state_dir[256], runtime_dir[256];
	char readonly_socket[64]; /* a group, or "*"; empty: there is none */
	unsigned workers;	  /* 0: one for each processor */
	uint8_t log_level;	  /* as syslog(3): LOG_ERR, LOG_INFO, ... */
	struct route_files route_files;
	char node_name_map[256];     /* empty: none */
	char partition_file[256];    /* empty: none */
	char m_key_secret_file[256]; /* empty: none */
	struct sm_options sm;
	struct replica_options replica;
	char ha_psk_file[256];
	struct adm_options adm;
	struct pm_options pm;
};

void conf_defaults(struct conf *conf);
/* Reads a file over what conf holds. required: a file that is missing is an error. 0, or -errno
 * with one line "file:line: option: reason" in error; conf is then untouched. */
int conf_read(struct conf *conf, const char *path, bool required, char error[CONF_ERROR_SIZE]);
/* One NAME=VALUE of -o, VALUE in libconfig's form. Errors as above, without file and line. */
int conf_set(struct conf *conf, const char *assignment, char error[CONF_ERROR_SIZE]);
/* One option from plain text, as other command line options and the environment give it: a string
 * needs no quotes. */
int conf_set_text(struct conf *conf, const char *name, const char *text,
		  char error[CONF_ERROR_SIZE]);
/* What managers of a subnet should agree on: lines as those of a file that conf_read accepts, but
 * of alias_guids only a digest; of those that begin with "!" they have to. */
void conf_print_agreed(const struct conf *conf, char text[FRAME_CONFIG_MAX]);
/* Puts back into next what takes effect only when the daemon starts. Returns how many of these
 * options differed, and their names: "lmc, port". */
unsigned conf_keep_fixed(struct conf *next, const struct conf *present,
			 char names[CONF_NAMES_SIZE]);

enum conf_type {
	CONF_NUMBER,  /* an unsigned integer of size bytes from min to max */
	CONF_HEX,     /* the same, shown in hexadecimal */
	CONF_TEXT,    /* a string of at least min and at most max bytes */
	CONF_CHOICE,  /* one of some words; its index is kept, in one byte */
	CONF_BOOL,    /* true or false, in one byte */
	CONF_ENGINES, /* names of routing engines, in the order in which they are tried */
	CONF_GUIDS,   /* a list of at most max GUIDs; what is not used of it is 0 */
	CONF_ALIASES, /* a list of at most max rows of alias_guids; what is not used of it is 0 */
};

/* Whether a standby has to have the same as its master: fabrics would change at a takeover, or what
 * the other one keeps could not be used. */
enum conf_agree { AGREE_NOT, AGREE_SHOULD, AGREE_MUST };

/* Numbers from first to last. */
struct conf_span {
	uint8_t first, last;
};

/* An option. */
struct conf_row {
	const char *name;
	const char *was; /* the name in the previous release, accepted with a warning; or NULL */
	enum conf_type type;
	size_t offset, size; /* of its field in struct conf */
	size_t copy;	     /* offset of another field that holds the same; 0: there is none */
	uint64_t min, max;
	const char *const *choices; /* NULL terminated */
	/* Of a choice: words of earlier versions, NULL terminated. Each is taken as the default,
	 * with a warning, so that an upgrade stops no manager. NULL: none */
	const char *const *former;
	/* Of a number, where not all from min to max make sense: those that do, ended by one whose
	 * last is max. NULL: all. */
	const struct conf_span *spans;
	const char *preset; /* the default, in libconfig's form */
	const char *unit;   /* "ms"; NULL: none */
	const char *text;   /* what it is, in a sentence or two */
	bool fixed;	    /* takes effect only when the daemon starts */
	bool secret;	    /* never printed */
	uint8_t agree;	    /* enum conf_agree */
};

/* The table; ended by a row whose name is NULL. */
extern const struct conf_row conf_rows[];
/* Its value, in libconfig's form. */
void conf_row_print(const struct conf *conf, const struct conf_row *row, FILE *out);
bool conf_row_differs(const struct conf_row *row, const struct conf *one, const struct conf *other);
/* The range for people, as the documents give it: "0..15", "10..10000 ms", "normal | standby-only".
 */
void conf_row_range(const struct conf_row *row, char range[CONF_RANGE_SIZE]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The daemon's configuration: weftd.conf (libconfig), -o NAME=VALUE on the command line, and the
 * defaults. Every option is a row of the option table (conf_rows.c), with its type, range, default,
 * field and texts. The pages are generated from this table (conf_reference.h). Only conf.c includes
 * libconfig. Loop thread, or before the loop starts.
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

/* The default of readonly_socket. The package creates this group. */
#define CONF_READONLY_GROUP "weft-read"

enum { CONF_ERROR_SIZE = 512, CONF_RANGE_SIZE = 128, CONF_NAMES_SIZE = 128 };

/* Paths of files for routing engines and the SA (weftd/route_files.h); empty: no file. */
struct route_files {
	char roots[256], compute[256], io[256], order[256];
	char weights[256], ports[256], ignored[256], tables[256], prefixes[256];
};

struct conf {
	bool is_replicating; /* no option: the replication was configured at the start */
	char ca[32];	     /* empty: any */
	int port;	     /* 0: any */
	guid_t port_guid;    /* 0: any */
	guid_t failover_ports[UMAD_OTHERS_MAX];
	char state_dir[256], runtime_dir[256];
	char readonly_socket[64]; /* a group, or "*"; empty: no such socket */
	unsigned workers;	  /* 0: a thread for each processor */
	uint8_t log_level;	  /* as syslog(3): LOG_ERR, LOG_INFO, ... */
	struct route_files route_files;
	char node_name_map[256];     /* empty: none */
	char planned_topology[256];  /* empty: none */
	char partition_file[256];    /* empty: none */
	char m_key_secret_file[256]; /* empty: none */
	struct sm_options sm;
	struct replica_options replica;
	char ha_psk_file[256];
	struct sa_options sa;
	struct pm_options pm;
};

/* Sets all options to their defaults. */
void conf_defaults(struct conf *conf);
/* Reads a file and replaces the options in conf that it sets. required: a missing file is an error.
 * Returns 0, or -errno with a line "file:line: option: reason" in error; conf is then unchanged.
 * With all, it continues after an error of an option, prints each error as a line to all, sets the
 * valid options, and leaves error empty. */
int conf_read(struct conf *conf, const char *path, bool required, FILE *all,
	      char error[CONF_ERROR_SIZE]);
/* Sets one option from an argument of -o: NAME=VALUE, VALUE in libconfig's form. Errors as above,
 * without file and line. */
int conf_set(struct conf *conf, const char *assignment, char error[CONF_ERROR_SIZE]);
/* Sets one option from plain text, in which a string has no quotes: from other options of the
 * command line, and from the environment. */
int conf_set_text(struct conf *conf, const char *name, const char *text,
		  char error[CONF_ERROR_SIZE]);
/* Prints the options that managers of a subnet should have in common, as lines of a configuration
 * file. A line begins with "!" if they must have it in common. Of alias_guids it has a digest. */
void conf_print_agreed(const struct conf *conf, char text[FRAME_CONFIG_MAX]);
/* Sets the options in next that take effect only after a restart to their values in present.
 * Returns the number of options that differed, and their names: "lmc, port". */
unsigned conf_keep_fixed(struct conf *next, const struct conf *present,
			 char names[CONF_NAMES_SIZE]);

enum conf_type {
	CONF_NUMBER,  /* an unsigned integer of size bytes from min to max */
	CONF_HEX,     /* the same, shown in hexadecimal */
	CONF_TEXT,    /* a string of at least min and at most max bytes */
	CONF_CHOICE,  /* a word of a list; its index is stored, in one byte */
	CONF_BOOL,    /* true or false, in one byte */
	CONF_ENGINES, /* names of routing engines, in the order in which they are tried */
	CONF_GUIDS,   /* a list of at most max GUIDs; unused elements are 0 */
	CONF_ALIASES, /* a list of at most max rows of alias_guids; unused elements are 0 */
};

/* Whether a standby must have the same value as its master. Otherwise the fabric would change at a
 * failover, or the standby could not use its copy of the master's registrations. */
enum conf_agree { AGREE_NOT, AGREE_SHOULD, AGREE_MUST };

/* Numbers from first to last. */
struct conf_span {
	uint8_t first, last;
};

/* An option. Its texts are complete sentences; names and values in them are in backquotes. */
struct conf_row {
	const char *name;
	const char *was; /* the name in the previous release, accepted with a warning; or NULL */
	const char *section; /* the heading of the section that begins here; NULL: none does */
	enum conf_type type;
	size_t offset, size; /* of its field in struct conf */
	size_t copy;	     /* offset of another field that holds the same; 0: there is none */
	uint64_t min, max;
	const char *const *choices; /* NULL terminated */
	/* Of a choice: words of earlier versions, NULL terminated. Each is taken as the default,
	 * with a warning, so that an upgrade stops no manager. NULL: none */
	const char *const *former;
	/* Of a number, if not all values from min to max make sense: the allowed ones. The last
	 * span ends with max. NULL: all. */
	const struct conf_span *spans;
	const char *preset;  /* the default, in libconfig's form */
	const char *unit;    /* "ms"; NULL: none */
	const char *summary; /* the purpose of the option, in one sentence */
	const char *details; /* values, consequences, when to change it; NULL: nothing to add */
	bool fixed;	     /* takes effect after a restart, not at a reload */
	bool with_ha;	     /* fixed, too, if there was no replication at the start */
	bool secret;	     /* never printed */
	uint8_t agree;	     /* enum conf_agree */
};

/* The option table, ended by a row whose name is NULL. */
extern const struct conf_row conf_rows[];
/* Prints the value of an option, in libconfig's form. */
void conf_row_print(const struct conf *conf, const struct conf_row *row, FILE *out);
/* Whether the option has different values in the two configurations. */
bool conf_row_differs(const struct conf_row *row, const struct conf *one, const struct conf *other);
/* The range as the pages show it: "0..15", "10..10000 ms", "normal | standby-only". */
void conf_row_range(const struct conf_row *row, char range[CONF_RANGE_SIZE]);
/* Whether the replication uses the fabric. A standby-only manager does not, because it is not
 * visible on the fabric. */
bool ha_is_inband(const struct conf *conf);
/* Whether the replication over TCP is configured. */
bool ha_is_wanted(const struct conf *conf);
/* When a change takes effect, while this configuration is in force: at the next "reload" or
 * "restart". present NULL: usually. */
const char *conf_row_effect(const struct conf_row *row, const struct conf *present);

#endif

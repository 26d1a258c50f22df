/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads the configuration and the files that it names, for a start, a reload and --check-config.
 * The sources of options override each other in this order: defaults, environment, file, command
 * line. Loop thread, or before the loop starts.
 */
#ifndef WEFTD_READING_H
#define WEFTD_READING_H

#include "fabric/snapshot.h"
#include "formats/net.h"
#include "lib/map.h"
#include "lib/psk_file.h"
#include "weftd/conf.h"
#include "weftd/partition_file.h"

/* The exit status for a wrong command line. */
enum { READING_USAGE = 2 };

/* A setting of the command line: an option by its name with plain text, or, with name NULL, an
 * assignment of -o. Later settings override earlier settings. */
struct setting {
	const char *name, *text;
};

struct conf_sources {
	const char *path; /* NULL: the default file, which may be missing */
	struct setting *settings;
	size_t num_settings;
};

/* The results. The caller takes what it uses, and sets the member to NULL. */
struct reading {
	struct conf conf;
	struct route_options *options; /* NULL: no file is named */
	struct map *names;	       /* the same */
	bool has_plan; /* plan_fd is open: the planned topology, which is still to be read */
	int plan_fd;
	struct net *plan;    /* NULL: no file is named, or it is still to be read */
	char *names_warning; /* about names that several nodes have; NULL: none */
	/* After reading_reload() only: */
	struct partition_file partitions;
	struct psk_list ha_keys;
};

/* The file that is read, for messages. */
const char *reading_path(const struct conf_sources *sources);
/* Reads all but the partition file and the keys. Returns 0, or the exit status with one line in
 * error; reading is then empty. */
int reading_start(const struct conf_sources *sources, struct reading *reading,
		  char error[CONF_ERROR_SIZE]);
/* Reads everything. present: the configuration in force. had_file: a partition file was in force:
 * if it is missing now, it is refused, because its loss by mistake would open all partitions.
 * Returns as above, or -EBADMSG: it is the partition file that is refused. */
int reading_reload(const struct conf_sources *sources, const struct conf *present, bool had_file,
		   struct reading *reading, char error[CONF_ERROR_SIZE]);
/* After reading_reload(), if has_plan is set: reads the planned topology, which takes long. On a
 * worker. Returns 0, or the exit status with one line in error. */
int reading_read_plan(struct reading *reading, char error[CONF_ERROR_SIZE]);
void reading_done(struct reading *reading);

/* Reads everything, and also looks up groups and adapters. Prints each error as a line to errors,
 * and each point that could not be checked to warnings. Returns the exit status. */
int reading_check(const struct conf_sources *sources, FILE *errors, FILE *warnings);

#endif

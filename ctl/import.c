/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Makes weft's files from OpenSM's. An option that has OpenSM's default is not imported, because a
 * different default of weft is intended. All files are read before the first file is written. An
 * existing file is not overwritten.
 *
 * Each setting or file of OpenSM has one of three outcomes. It is taken over; or weft works without
 * it, so it is not needed; or it is lost, and the note has the reason or the consequence.
 */
#include "ctl/handlers.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/file.h"
#include "ctl/text.h"
#include "formats/opensm_conf.h"
#include "formats/partitions.h"
#include "lib/mem.h"

static const char default_cache[] = "/var/cache/opensm", default_to[] = "weft-import";
static const char service_group[] = "weft"; /* Group= of systemd/weftd.service */

/* Debian, SUSE and the vendor's packages use the first directory, Red Hat the second. */
static const char *const default_dirs[] = {"/etc/opensm", "/etc/rdma"};
static const char *const service_files[] = {"/etc/sysconfig/opensm", "/etc/default/opensm"};

enum outcome { OUTCOME_LOST, OUTCOME_TAKEN, OUTCOME_NOT_NEEDED };
static const char *const outcome_names[] = {"lost", "taken", "not needed"};

struct import {
	const char *root; /* in front of each path; "": none */
	char *dir, *cache;
	const char *to;
	bool found;		     /* a file of OpenSM */
	bool has_guids;		     /* Red Hat's service then ignores numbered files */
	unsigned errors;	     /* in the partition file */
	const struct group *readers; /* may read the new files; NULL: only their owner */
	json_t *values;	 /* of OpenSM's options, by name: the last line of each counts */
	json_t *options; /* the results for those that are not the default: the answer */
	json_t *files;	 /* names of the written files */
	json_t *ours;	 /* options of weftd.conf: name to value */
	json_t *records; /* of LIDs, for restore */
	char *partitions;
	size_t partitions_size;
	char **refusal;
};

/* Reads a file into *text, which the caller frees. If it does not exist, *text is NULL, and the
 * result is 0 too. */
static int import_read_file(const struct import *import, const char *path, char **text,
			    size_t *size)
{
	*size = 0;
	*text = file_read(path, size);
	if (!*text && errno != ENOENT)
		return file_refuse(import->refusal, path, strerror(errno));
	return 0;
}

/* The path under the root; for free(). */
static char *rooted(const struct import *import, const char *path)
{
	return mem_printf("%s%s", import->root, path);
}

static bool is_key(const char *name)
{
	size_t size = strlen(name);

	return size > 4 && !strcmp(name + size - 4, "_key");
}

/* ours is the option of weft; "": none. */
static void import_report(struct import *import, enum outcome outcome, const char *name,
			  const char *theirs, const char *ours, const char *note)
{
	json_t *value = json_string(is_key(name) ? "(not shown)" : *theirs ? theirs : "(null)");
	char *clean_name = mem_strdup(name), *clean_note = mem_strdup(note);

	text_clean(clean_name);
	text_clean(clean_note);
	json_array_append_new(import->options,
			      json_pack("{s:s,s:o,s:s,s:b,s:s,s:s}", "name", clean_name, "value",
					value ? value : json_string("(not UTF-8)"), "outcome",
					outcome_names[outcome], "taken", outcome == OUTCOME_TAKEN,
					"ours", ours, "note", clean_note));
	free(clean_name);
	free(clean_note);
}

static void import_lose(struct import *import, const char *name, const char *theirs,
			const char *note)
{
	import_report(import, OUTCOME_LOST, name, theirs, "", note);
}

static void import_take(struct import *import, const struct opensm_row *row, const char *theirs,
			const char *value)
{
	char *ours = mem_printf("%s = %s", row->ours, is_key(row->ours) ? "..." : value);

	json_object_set_new(import->ours, row->ours, json_string(value));
	import_report(import, OUTCOME_TAKEN, row->name, theirs, ours, row->note);
	free(ours);
}

/* Whether it is the default of an OpenSM whose files are in /etc/rdma, as Red Hat builds it. */
static bool is_red_hat_preset(const struct opensm_row *row, const char *value)
{
	static const char theirs[] = "/etc/rdma/", usual[] = "/etc/opensm/";

	return !strncmp(value, theirs, sizeof(theirs) - 1) &&
	       !strncmp(row->preset, usual, sizeof(usual) - 1) &&
	       !strcmp(value + sizeof(theirs) - 1, row->preset + sizeof(usual) - 1);
}

static void option_read(void *ctx, unsigned line, const char *name, const char *value)
{
	const struct opensm_row *row = opensm_row_find(name);
	struct import *import = ctx;

	if (row && is_red_hat_preset(row, value))
		value = row->preset;
	(void)line;
	if (!row)
		import_lose(import, name, value, "not an option of OpenSM 3.3.23");
	else if (json_object_set_new(import->values, name, json_string(value)))
		import_lose(import, name, value,
			    "the value is not UTF-8: rename the file, and set the option in "
			    "weftd.conf");
}

static const char *import_value(const struct import *import, const char *name)
{
	const char *value = json_string_value(json_object_get(import->values, name));

	return value ? value : opensm_row_find(name)->preset;
}

static bool is_on(const struct import *import, const char *name)
{
	return !strcasecmp(import_value(import, name), "TRUE");
}

/* Returns the path of a file, which the caller frees. OpenSM's default path means the file in the
 * imported folder. */
static char *path_of(const struct import *import, const struct opensm_row *row)
{
	const char *path = import_value(import, row->name), *base = strrchr(path, '/');

	if (!strcmp(path, row->preset) && base)
		return mem_printf("%s%s", import->dir, base);
	return *path ? rooted(import, path) : mem_strdup("");
}

/* Reports each error of the text, and each item that weft interprets differently. */
static void check_partitions(struct import *import, const struct opensm_row *row, const char *path)
{
	struct partitions *partitions = NULL;
	char *lines = NULL, *rest, *line;

	if (!partitions_parse_all(path, import->partitions, import->partitions_size,
				  is_on(import, "allow_both_pkeys"), &partitions, &lines) &&
	    partitions->notes)
		lines = mem_strdup(partitions->notes);
	for (rest = lines; (line = strsep(&rest, "\n"));) {
		char *note = mem_printf("%s%s", line,
					partitions ? "" : " (weftd does not start with this file)");

		import->errors += !partitions;
		/* Without QoS, OpenSM ignores the SL of a partition, too. */
		import_report(import,
			      partitions && !is_on(import, "qos") ? OUTCOME_NOT_NEEDED
								  : OUTCOME_LOST,
			      row->name, path, "", note);
		free(note);
	}
	partitions_free(partitions);
	free(lines);
}

static int take_partitions(struct import *import, const struct opensm_row *row)
{
	char *path = path_of(import, row);
	int error = 0;

	if (*path)
		error = import_read_file(import, path, &import->partitions,
					 &import->partitions_size);
	if (import->partitions) {
		import->found = true;
		import_report(import, OUTCOME_TAKEN, row->name, path, "partitions.conf", "copied");
		check_partitions(import, row, path);
	} else if (!error && *path && !strcmp(import_value(import, row->name), row->preset)) {
		import_report(import, OUTCOME_NOT_NEEDED, row->name, path, "",
			      "there is no such file: as with OpenSM, every port is a full member "
			      "of the default partition, and other P_Keys are removed");
	} else if (!error && *path) {
		import_lose(import, row->name, path,
			    "there is no such file: every port becomes a full member of the "
			    "default partition, and other P_Keys are removed");
	}
	free(path);
	return error;
}

static void import_take_prefixes(struct import *import, const struct opensm_row *row)
{
	char value[OPENSM_VALUE_SIZE], lost[OPENSM_VALUE_SIZE];
	char *path = path_of(import, row), *whole = realpath(path, NULL);
	/* The host that has the files under another root will have them without it. */
	const char *there = *import->root ? path + strlen(import->root) : whole;

	if (whole && !opensm_translate(row, there, "", value, lost))
		import_take(import, row, path, value);
	else if (*path && !opensm_value_same(import_value(import, row->name), row->preset))
		import_lose(import, row->name, path,
			    "there is no such file: routes to other subnets are missing");
	free(whole);
	free(path);
}

/* The protection level is imported with the key, even if it is the default: weft's default level is
 * higher, so tools without the key would get no answers any more. */
static void take_key_policy(struct import *import)
{
	const struct opensm_row *row = opensm_row_find("m_key_protection_level");
	char value[OPENSM_VALUE_SIZE], lost[OPENSM_VALUE_SIZE];

	json_object_set_new(import->ours, "m_key_mode", json_string("\"subnet\""));
	if (!opensm_translate(row, import_value(import, row->name), "", value, lost))
		json_object_set_new(import->ours, row->ours, json_string(value));
}

/* An option without an equivalent. */
static void leave_option(struct import *import, const struct opensm_row *row)
{
	const char *theirs = import_value(import, row->name), *flag = opensm_row_switch(row);
	char *note;

	if (row->how == OPENSM_LOST && flag && !is_on(import, flag)) {
		note = mem_printf("OpenSM ignores it, because %s is FALSE", flag);
		import_report(import, OUTCOME_NOT_NEEDED, row->name, theirs, "", note);
		free(note);
	} else {
		import_report(import, row->how == OPENSM_LOST ? OUTCOME_LOST : OUTCOME_NOT_NEEDED,
			      row->name, theirs, "", row->note);
	}
}

static void lose_engines(struct import *import, const struct opensm_row *row, const char *lost,
			 const char *instead)
{
	char *note =
		mem_printf("not used: %s; routing is %s%s", lost, instead,
			   strstr(instead, "\"updn\"")
				   ? ". updn has no credit loops, but it loads fewer links than "
				     "engines that use several VLs"
				   : "");

	import_lose(import, row->name, import_value(import, row->name), note);
	free(note);
}

/* A number that weftd would refuse. */
static void lose_number(struct import *import, const struct opensm_row *row, const char *theirs)
{
	const struct opensm_range *range = opensm_range_of(row->ours);
	char *more = range->more_first > range->more_last ? mem_strdup("")
		     : range->more_first == range->more_last
			     ? mem_printf(" or %llu", range->more_last)
			     : mem_printf(" or %llu to %llu", range->more_first, range->more_last);
	char *note = mem_printf("out of range: %s is a number from %llu to %llu%s, and its default "
				"is used",
				row->ours, range->first, range->last, more);

	import_lose(import, row->name, theirs, note);
	free(note);
	free(more);
}

/* An option with an equivalent. */
static void take_value(struct import *import, const struct opensm_row *row)
{
	const char *theirs = import_value(import, row->name);
	char value[OPENSM_VALUE_SIZE], lost[OPENSM_VALUE_SIZE];

	switch (opensm_translate(row, theirs, import_value(import, "perfmgr_sweep_time_s"), value,
				 lost)) {
	case 0:
		import_take(import, row, theirs, value);
		if (*lost)
			lose_engines(import, row, lost, value);
		if (row->how == OPENSM_M_KEY)
			take_key_policy(import);
		break;
	case -ENOENT:
		if (*lost)
			lose_engines(import, row, lost, "the default of weft");
		else
			import_report(import, OUTCOME_NOT_NEEDED, row->name, theirs, "", row->note);
		break;
	case -ERANGE:
		lose_number(import, row, theirs);
		break;
	default:
		import_lose(import, row->name, theirs,
			    "not a valid value: the default of weft is used");
	}
}

static void import_take_option(struct import *import, const struct opensm_row *row)
{
	if (opensm_value_same(import_value(import, row->name), row->preset))
		return;
	if (row->ours)
		take_value(import, row);
	else
		leave_option(import, row);
}

/* The service of OpenSM */

/* Ports by GUID: weftd manages the port of one. */
static void take_ports(struct import *import, const char *name, const char *value)
{
	size_t first = strcspn(value, " \t");
	char *guid = mem_printf("%.*s", (int)first, value);

	if (!strcasecmp(value, "NONE"))
		import_report(import, OUTCOME_NOT_NEEDED, name, value, "",
			      "OpenSM was not started at boot: weftd starts only if you enable it");
	else if (!strcasecmp(value, "ALL"))
		import_report(
			import, OUTCOME_NOT_NEEDED, name, value, "",
			"OpenSM ran on each port, weftd manages the first port with a link: if "
			"the ports are on several fabrics, enable weftd@CA:PORT for each");
	else if (*value)
		option_read(import, 0, "guid", guid);
	if (value[first + strspn(value + first, " \t")])
		import_lose(import, name, value,
			    "weftd manages one port: each other fabric has no manager until "
			    "weftd@CA:PORT manages it, with the subnet_prefix that the service "
			    "of OpenSM gave it");
	import->has_guids |= !strcmp(name, "GUIDS");
	free(guid);
}

static void setting_read(void *ctx, unsigned line, const char *name, const char *value)
{
	struct import *import = ctx;

	(void)line;
	if (!*value)
		return;
	if (!strcmp(name, "GUIDS") || !strcmp(name, "PORTS"))
		take_ports(import, name, value);
	else if (!strcmp(name, "PRIORITY"))
		option_read(import, 0, "sm_priority", value);
	else
		import_lose(import, name, value,
			    "the import does not know this setting of the service");
}

/* Their settings become options of OpenSM's command line, which override opensm.conf. */
static int read_service(struct import *import)
{
	int error = 0;

	for (size_t i = 0; i < ARRAY_SIZE(service_files) && !error; i++) {
		char *path = rooted(import, service_files[i]), *text = NULL;
		size_t size;

		error = import_read_file(import, path, &text, &size);
		if (text &&
		    opensm_service_parse(path, text, size, setting_read, import, import->refusal))
			error = -EREMOTEIO;
		free(text);
		free(path);
	}
	return error;
}

/* with_service: the settings of the service override the options. */
static int import_read_options(struct import *import, bool with_service)
{
	char *path = mem_printf("%s/opensm.conf", import->dir), *text = NULL;
	size_t size;
	int error = import_read_file(import, path, &text, &size);

	import->found |= text != NULL;
	if (!error && !text)
		import_report(import, OUTCOME_NOT_NEEDED, "opensm.conf", path, "",
			      "there is no such file: weft's defaults are used");
	if (!error && text &&
	    opensm_conf_parse(path, text, size, option_read, import, import->refusal))
		error = -EREMOTEIO;
	if (!error && with_service)
		error = read_service(import);
	for (const struct opensm_row *row = opensm_rows; row->name && !error; row++) {
		if (row->how == OPENSM_PARTITIONS)
			error = take_partitions(import, row);
		else if (row->how == OPENSM_PREFIXES)
			import_take_prefixes(import, row);
		else
			import_take_option(import, row);
	}
	free(text);
	free(path);
	return error;
}

/* Finding the files */

static bool has_files(const char *dir)
{
	static const char *const names[] = {"opensm.conf", "partitions.conf", "prefix-routes.conf"};
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(names) && !found; i++) {
		char *path = mem_printf("%s/%s", dir, names[i]);

		found = !access(path, F_OK);
		free(path);
	}
	return found;
}

/* Chooses the first default directory that has files, and reports the others. */
static void choose_dir(struct import *import)
{
	for (size_t i = 0; i < ARRAY_SIZE(default_dirs); i++) {
		char *dir = rooted(import, default_dirs[i]), *note;

		if (!has_files(dir)) {
			free(dir);
			continue;
		}
		if (!import->dir) {
			import->dir = dir;
			continue;
		}
		note = mem_printf("not read, because %s has files, too: compare them, and name "
				  "the directory in the command",
				  import->dir);
		import_lose(import, "directory", dir, note);
		free(note);
		free(dir);
	}
	if (!import->dir)
		import->dir = rooted(import, default_dirs[0]);
}

/* Red Hat's service starts one OpenSM for each of these files. */
static void report_numbered(struct import *import)
{
	char *pattern = mem_printf("%s/opensm.conf.[0-9]*", import->dir);
	glob_t paths = {0};

	if (!glob(pattern, 0, NULL, &paths)) {
		for (size_t i = 0; i < paths.gl_pathc; i++)
			import_lose(import, strrchr(paths.gl_pathv[i], '/') + 1, paths.gl_pathv[i],
				    "not read: the configuration of another port, which needs a "
				    "weftd@CA:PORT of its own; Red Hat's service uses such files "
				    "in place of opensm.conf");
	}
	globfree(&paths);
	free(pattern);
}

/* is_named: the user named the directory. */
static int refuse_nothing(const struct import *import, bool is_named)
{
	char *dirs = is_named ? mem_printf("%s has", import->dir)
			      : mem_printf("%s and %s%s have", import->dir, import->root,
					   default_dirs[1]);

	*import->refusal = mem_printf("no file of OpenSM found: %s no opensm.conf and no partition "
				      "file, and %s has no guid2lid; name the directories: weftctl "
				      "import opensm DIR --cache DIR",
				      dirs, import->cache);
	free(dirs);
	return -EREMOTEIO;
}

static void lid_read(void *ctx, guid_t guid, lid_t lid, unsigned lmc)
{
	struct import *import = ctx;
	char text[24];

	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)guid);
	json_array_append_new(import->records,
			      json_pack("{s:s,s:s,s:i,s:i,s:i}", "kind", "lid", "GUID", text, "LID",
					lid, "LMC", (int)lmc, "Gone", 0));
}

static int read_lids(struct import *import)
{
	char *path = mem_printf("%s/guid2lid", import->cache), *text = NULL;
	size_t size;
	int error = import_read_file(import, path, &text, &size);

	import->found |= text != NULL;
	if (!error && !text)
		import_lose(import, "guid2lid", path,
			    "there is no such file: ports that are off get new LIDs");
	if (!error && text &&
	    opensm_lids_parse(path, text, size, lid_read, import, import->refusal))
		error = -EREMOTEIO;
	free(text);
	free(path);
	return error;
}

/* Reports the other files in OpenSM's cache. */
static void report_others(struct import *import)
{
	static const struct {
		const char *name;
		enum outcome outcome;
		const char *note;
	} others[] = {
		{"guid2mkey", OUTCOME_LOST,
		 "this command does not read it: run weftctl keys import, or ports with other "
		 "M_Keys do not answer"},
		{"neighbors", OUTCOME_NOT_NEEDED,
		 "not needed: if a wrong M_Key hides the far end of a cable, weftd tries "
		 "the keys of the missing ports"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		char *path = mem_printf("%s/%s", import->cache, others[i].name);

		if (!access(path, F_OK))
			import_report(import, others[i].outcome, others[i].name, path, "",
				      others[i].note);
		free(path);
	}
}

/* Files may contain keys, so only their owner reads them. If root runs the command, the group of
 * the service also does. */
static bool allow_readers(const struct import *import, int fd, mode_t mode)
{
	return !import->readers ||
	       (!fchown(fd, (uid_t)-1, import->readers->gr_gid) && !fchmod(fd, mode));
}

static int import_write_file(struct import *import, const char *name,
			     void (*print)(struct import *, FILE *))
{
	char *path = mem_printf("%s/%s", import->to, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), error = 0;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out) {
		error = file_refuse(import->refusal, path,
				    errno == EEXIST
					    ? "exists already; choose another directory with --to"
					    : strerror(errno));
	} else {
		print(import, out);
		error = ferror(out) || !allow_readers(import, fd, 0640) ? -EIO : 0;
		if (fclose(out) || error)
			error = file_refuse(import->refusal, path, strerror(errno ? errno : EIO));
	}
	if (!error)
		json_array_append_new(import->files, json_string(name));
	free(path);
	return error;
}

static void print_conf(struct import *import, FILE *out)
{
	const char *name;
	json_t *value;

	fputs("# Made by weftctl import opensm; see weftd.conf(5). Other options have weft's "
	      "defaults.\n",
	      out);
	json_object_foreach (import->ours, name, value) {
		fprintf(out, "%s = %s;\n", name, json_string_value(value));
	}
}

static void print_partition_file(struct import *import, FILE *out)
{
	fwrite(import->partitions, 1, import->partitions_size, out);
}

/* Prints a document like that of `weftctl save`. */
static void print_lids(struct import *import, FILE *out)
{
	const json_t *record;
	size_t i;

	fputs("{\"version\": 1, \"records\": [\n", out);
	json_array_foreach (import->records, i, record) {
		json_dumpf(record, out, JSON_SORT_KEYS | JSON_ENSURE_ASCII);
		fputs(i + 1 < json_array_size(import->records) ? ",\n" : "\n", out);
	}
	fputs("]}\n", out);
}

/* Makes the folder; an existing folder does not change. */
static int make_folder(struct import *import)
{
	bool made = !mkdir(import->to, 0700);
	int fd;

	if (!made)
		return errno == EEXIST ? 0
				       : file_refuse(import->refusal, import->to, strerror(errno));
	fd = open(import->to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	made = fd >= 0 && allow_readers(import, fd, 0750);
	if (fd >= 0)
		close(fd);
	return made ? 0 : file_refuse(import->refusal, import->to, strerror(errno));
}

static int write_files(struct import *import)
{
	int error = make_folder(import);

	if (!error)
		error = import_write_file(import, "weftd.conf", print_conf);
	if (!error && import->partitions)
		error = import_write_file(import, "partitions.conf", print_partition_file);
	if (!error && json_array_size(import->records))
		error = import_write_file(import, "lids.json", print_lids);
	return error;
}

/* Returns 0 if dir is a folder that can be read; else refuses. */
static int check_folder(const struct import *import, const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int error = fd < 0 || faccessat(fd, ".", X_OK, 0)
			    ? file_refuse(import->refusal, dir, strerror(errno))
			    : 0;

	if (fd >= 0)
		close(fd);
	return error;
}

static const char *named(const json_t *request, const char *member, const char *otherwise)
{
	const char *name = json_string_value(json_object_get(request, member));

	return name ? name : otherwise;
}

static unsigned num_lost(const struct import *import)
{
	json_t *option;
	unsigned count = 0;
	size_t i;

	json_array_foreach (import->options, i, option) {
		count += !strcmp(text_member(option, "outcome"), outcome_names[OUTCOME_LOST]);
	}
	return count;
}

/* Reads OpenSM's files. dir: the directory that was named; NULL: the default directories. */
static int read_all(struct import *import, const char *dir, bool cache_is_named)
{
	int error = 0;

	if (dir) {
		import->dir = rooted(import, dir);
		error = check_folder(import, import->dir);
	} else {
		choose_dir(import);
	}
	if (!error && cache_is_named)
		error = check_folder(import, import->cache);
	if (!error)
		error = import_read_options(import, !dir);
	if (!error)
		error = read_lids(import);
	if (error)
		return error;
	if (!import->found)
		return refuse_nothing(import, dir != NULL);
	if (!import->has_guids)
		report_numbered(import);
	report_others(import);
	return 0;
}

int import_opensm(const char *socket, const json_t *request, json_t **result, char **refusal)
{
	const char *cache = named(request, "cache", NULL);
	struct import import = {
		.root = named(request, "root", ""),
		.to = named(request, "to", default_to),
		.readers = geteuid() ? NULL : getgrnam(service_group),
		.values = json_object(),
		.options = json_array(),
		.files = json_array(),
		.ours = json_object(),
		.records = json_array(),
		.refusal = refusal,
	};
	int error;

	(void)socket;
	import.cache = rooted(&import, cache ? cache : default_cache);
	error = read_all(&import, named(request, "dir", NULL), cache != NULL);
	if (!error)
		error = write_files(&import);
	if (!error)
		*result = json_pack("{s:s,s:O,s:s,s:O,s:I,s:i,s:i,s:b}", "to", import.to, "files",
				    import.files, "readers", import.readers ? service_group : "",
				    "options", import.options, "lids",
				    (json_int_t)json_array_size(import.records), "lost",
				    (int)num_lost(&import), "errors", (int)import.errors, "strict",
				    json_is_true(json_object_get(request, "strict")));
	free(import.partitions);
	free(import.dir);
	free(import.cache);
	json_decref(import.records);
	json_decref(import.ours);
	json_decref(import.files);
	json_decref(import.options);
	json_decref(import.values);
	return error;
}

bool import_failed(const json_t *data)
{
	return number_member(data, "errors") ||
	       (flag_member(data, "strict") && number_member(data, "lost"));
}

static void print_outcome(const json_t *data, enum outcome outcome, const char *heading,
			  const struct column *columns, FILE *out)
{
	json_t *rows = json_array(), *option;
	size_t i;

	json_array_foreach (json_object_get(data, "options"), i, option) {
		if (!strcmp(text_member(option, "outcome"), outcome_names[outcome]))
			json_array_append(rows, option);
	}
	if (json_array_size(rows)) {
		fprintf(out, "%s\n", heading);
		columns_print(columns, NULL, rows, out);
		fputc('\n', out);
	}
	json_decref(rows);
}

static bool has_partition_file(const json_t *data)
{
	const json_t *name;
	size_t i;

	json_array_foreach (json_object_get(data, "files"), i, name)
		if (!strcmp(json_string_value(name), "partitions.conf"))
			return true;
	return false;
}

void print_opensm(const json_t *data, FILE *out)
{
	static const struct column lost[] = {
		COLUMN("OPENSM", "name", COLUMN_TEXT),
		COLUMN("VALUE", "value", COLUMN_NAME),
		COLUMN("CONSEQUENCE", "note", COLUMN_TEXT),
		{.name = NULL},
	};
	static const struct column taken[] = {
		COLUMN("OPENSM", "name", COLUMN_TEXT),
		COLUMN("VALUE", "value", COLUMN_NAME),
		COLUMN("WEFT", "ours", COLUMN_TEXT),
		COLUMN("NOTE", "note", COLUMN_TEXT),
		{.name = NULL},
	};
	static const struct column not_needed[] = {
		COLUMN("OPENSM", "name", COLUMN_TEXT),
		COLUMN("VALUE", "value", COLUMN_NAME),
		COLUMN("REASON", "note", COLUMN_TEXT),
		{.name = NULL},
	};
	const char *readers = text_member(data, "readers");

	print_outcome(data, OUTCOME_LOST, "LOST, read this first:", lost, out);
	print_outcome(data, OUTCOME_TAKEN, "Taken over:", taken, out);
	print_outcome(data, OUTCOME_NOT_NEEDED, "No longer needed:", not_needed, out);
	text_put(out, data, "Options that have OpenSM's default are not listed.\nIn {to}:");
	text_put_list(out, json_object_get(data, "files"), " {}", ",");
	if (*readers)
		fprintf(out, ", readable only by the owner and the group %s", readers);
	if (number_member(data, "errors"))
		fputs("\nThe partition file has errors: correct it before weftd starts.", out);
	text_put(out, data, "\nCheck: weftd -c {to}/weftd.conf");
	if (has_partition_file(data))
		text_put(out, data, " -o 'partition_config_file=\"{to}/partitions.conf\"'");
	text_put(out, data, " --check-config\nThen: cp -p {to}/*.conf /etc/weft\n");
	if (number_member(data, "lids"))
		text_put(out, data,
			 "A new weftd gets the LIDs with: weftctl restore {to}/lids.json\n");
}

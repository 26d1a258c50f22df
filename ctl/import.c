/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Makes weft's files from OpenSM's. An option that has OpenSM's default is not imported, because a
 * different default of weft is intended. All files are read before the first file is written. An
 * existing file is not overwritten.
 */
#include "ctl/handlers.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/file.h"
#include "ctl/text.h"
#include "formats/opensm_conf.h"
#include "lib/mem.h"

static const char default_dir[] = "/etc/opensm", default_cache[] = "/var/cache/opensm";
static const char default_to[] = "weft-import";
static const char service_group[] = "weft"; /* Group= of systemd/weftd.service */

struct import {
	const char *dir, *cache, *to;
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

static bool is_key(const char *name)
{
	size_t size = strlen(name);

	return size > 4 && !strcmp(name + size - 4, "_key");
}

/* ours is NULL if the option was not taken over. */
static void import_report(struct import *import, const char *name, const char *theirs,
			  const char *ours, const char *note)
{
	json_t *value = json_string(is_key(name) ? "(not shown)" : *theirs ? theirs : "(null)");

	json_array_append_new(import->options,
			      json_pack("{s:s,s:o,s:b,s:s,s:s}", "name", name, "value",
					value ? value : json_string("(not UTF-8)"), "taken",
					ours != NULL, "ours", ours ? ours : "", "note", note));
}

static void import_take(struct import *import, const struct opensm_row *row, const char *theirs,
			const char *value, const char *note)
{
	char *ours = mem_printf("%s = %s", row->ours, is_key(row->ours) ? "..." : value);

	json_object_set_new(import->ours, row->ours, json_string(value));
	import_report(import, row->name, theirs, ours, note);
	free(ours);
}

static void option_read(void *ctx, unsigned line, const char *name, const char *value)
{
	struct import *import = ctx;

	(void)line;
	if (!opensm_row_find(name))
		import_report(import, name, value, NULL, "not an option of OpenSM 3.3.23");
	else if (json_object_set_new(import->values, name, json_string(value)))
		import_report(import, name, value, NULL,
			      "the value is not UTF-8: rename the file, and set the option in "
			      "weftd.conf");
}

static const char *import_value(const struct import *import, const char *name)
{
	const char *value = json_string_value(json_object_get(import->values, name));

	return value ? value : opensm_row_find(name)->preset;
}

/* Returns the path of a file, which the caller frees. OpenSM's default path means the file in the
 * imported folder. */
static char *path_of(const struct import *import, const struct opensm_row *row)
{
	const char *path = import_value(import, row->name), *base = strrchr(path, '/');

	if (strcmp(path, row->preset) != 0 || !base)
		return mem_strdup(path);
	return mem_printf("%s%s", import->dir, base);
}

static int take_partitions(struct import *import, const struct opensm_row *row)
{
	char *path = path_of(import, row);
	int error = 0;

	if (*path)
		error = import_read_file(import, path, &import->partitions,
					 &import->partitions_size);
	if (import->partitions)
		import_report(import, row->name, path, "partitions.conf", "copied");
	else if (!error && *path)
		import_report(import, row->name, path, NULL,
			      "there is no such file: every port becomes a full member of the "
			      "default partition, and other P_Keys are removed");
	free(path);
	return error;
}

static void import_take_prefixes(struct import *import, const struct opensm_row *row)
{
	char value[OPENSM_VALUE_SIZE], lost[OPENSM_VALUE_SIZE];
	char *path = path_of(import, row), *whole = realpath(path, NULL);

	if (whole && !opensm_translate(row, whole, "", value, lost))
		import_take(import, row, path, value, row->note);
	else if (*path && !opensm_value_same(import_value(import, row->name), row->preset))
		import_report(import, row->name, path, NULL, "there is no such file");
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

static void import_take_option(struct import *import, const struct opensm_row *row)
{
	const char *theirs = import_value(import, row->name);
	char value[OPENSM_VALUE_SIZE], lost[OPENSM_VALUE_SIZE], *note;

	if (opensm_value_same(theirs, row->preset))
		return;
	if (row->how == OPENSM_NONE) {
		import_report(import, row->name, theirs, NULL, row->note);
		return;
	}
	switch (opensm_translate(row, theirs, import_value(import, "perfmgr_sweep_time_s"), value,
				 lost)) {
	case 0:
		note = *lost ? mem_printf("omitted, weft has no such engine: %s", lost)
			     : mem_strdup(row->note);
		import_take(import, row, theirs, value, note);
		if (row->how == OPENSM_M_KEY)
			take_key_policy(import);
		free(note);
		break;
	case -ENOENT:
		import_report(import, row->name, theirs, NULL,
			      *lost ? "weft has no such engine; its default is used" : row->note);
		break;
	default:
		import_report(import, row->name, theirs, NULL, "not a valid value");
	}
}

static int import_read_options(struct import *import)
{
	char *path = mem_printf("%s/opensm.conf", import->dir), *text = NULL;
	size_t size;
	int error = import_read_file(import, path, &text, &size);

	if (!error && !text)
		import_report(import, "opensm.conf", path, NULL,
			      "there is no such file: weft's defaults are used");
	if (!error && text &&
	    opensm_conf_parse(path, text, size, option_read, import, import->refusal))
		error = -EREMOTEIO;
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

	if (!error && !text)
		import_report(import, "guid2lid", path, NULL,
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
		const char *name, *note;
	} others[] = {
		{"guid2mkey", "not by this command: use weftctl keys import"},
		{"neighbors",
		 "not needed: if a wrong M_Key hides the far end of a cable, weftd tries "
		 "the keys of the missing ports"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		char *path = mem_printf("%s/%s", import->cache, others[i].name);

		if (!access(path, F_OK))
			import_report(import, others[i].name, path, NULL, others[i].note);
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

int import_opensm(const char *socket, const json_t *request, json_t **result, char **refusal)
{
	struct import import = {
		.dir = named(request, "dir", default_dir),
		.cache = named(request, "cache", default_cache),
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
	error = check_folder(&import, import.dir);
	if (!error && json_object_get(request, "cache"))
		error = check_folder(&import, import.cache);
	if (!error)
		error = import_read_options(&import);
	if (!error)
		error = read_lids(&import);
	if (!error)
		report_others(&import);
	if (!error)
		error = write_files(&import);
	if (!error)
		*result = json_pack("{s:s,s:O,s:s,s:O,s:I}", "to", import.to, "files", import.files,
				    "readers", import.readers ? service_group : "", "options",
				    import.options, "lids",
				    (json_int_t)json_array_size(import.records));
	free(import.partitions);
	json_decref(import.records);
	json_decref(import.ours);
	json_decref(import.files);
	json_decref(import.options);
	json_decref(import.values);
	return error;
}

/* Prints the options that were taken over, or those that were not. */
static void print_options(const json_t *data, bool taken, FILE *out)
{
	static const struct column taken_columns[] = {
		COLUMN("OPENSM", "name", COLUMN_TEXT),
		COLUMN("VALUE", "value", COLUMN_NAME),
		COLUMN("WEFT", "ours", COLUMN_TEXT),
		COLUMN("NOTE", "note", COLUMN_TEXT),
		{.name = NULL},
	};
	static const struct column left_columns[] = {
		COLUMN("OPENSM", "name", COLUMN_TEXT),
		COLUMN("VALUE", "value", COLUMN_NAME),
		COLUMN("REASON", "note", COLUMN_TEXT),
		{.name = NULL},
	};
	json_t *rows = json_array(), *option;
	size_t i;

	json_array_foreach (json_object_get(data, "options"), i, option) {
		if (flag_member(option, "taken") == taken)
			json_array_append(rows, option);
	}
	fputs(taken ? "Options that were taken over:\n" : "\nOptions that were not taken over:\n",
	      out);
	columns_print(taken ? taken_columns : left_columns, NULL, rows, out);
	json_decref(rows);
}

void print_opensm(const json_t *data, FILE *out)
{
	const char *readers = text_member(data, "readers");

	print_options(data, true, out);
	print_options(data, false, out);
	text_put(out, data, "\nOptions that have OpenSM's default are not listed.\nIn {to}:");
	text_put_list(out, json_object_get(data, "files"), " {}", ",");
	if (*readers)
		fprintf(out, ", readable only by the owner and the group %s", readers);
	fprintf(out,
		"\nCheck weftd.conf with weftd -c FILE --check-config, then copy it to "
		"/etc/weft%s%s.\n",
		*readers ? " with cp -p, so that the service can read it" : "",
		number_member(data, "lids")
			? ";\nweftctl restore lids.json gives a new weftd the LIDs"
			: "");
}

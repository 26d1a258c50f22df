/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * `weftctl export opensm DIR`: files with which OpenSM continues where weftd ended: the LIDs, the
 * partitions and the options that have an equivalent. The table of options is that of the import.
 * The daemon sends its options and the records of its store; the files get the user's rights. No
 * key is exported, and no file is overwritten.
 */
#include "ctl/handlers.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/file.h"
#include "ctl/text.h"
#include "formats/opensm_conf.h"
#include "formats/partitions.h"
#include "lib/mem.h"

enum { KEY_DEFAULT = 0x7fff, NAME_SIZE = 64 };

struct export
{
	const char *dir;
	json_t *options; /* of weftd, as config show has them */
	json_t *records; /* of LIDs, partitions and members */
	json_t *results; /* a row for each option that is set */
	json_t *files;
	json_t *written; /* OpenSM's options: name to value */
	char *text;	 /* of the partition file in force; empty: there is none */
	/* The members that commands added, in the order of P_Keys, and the end of the members of
	 * each P_Key. Owned array of borrowed records. */
	const json_t **members;
	size_t end[KEY_DEFAULT + 1];
	bool is_made[KEY_DEFAULT + 1]; /* by P_Key: a command made the partition */
	unsigned lids;
	char **refusal;
};

/* Collecting */

static void take_record(struct export *export, json_t *record)
{
	const char *kind = text_member(record, "kind");
	char *longer;

	if (!strcmp(kind, "partition text")) {
		longer = mem_printf("%s%s", export->text, text_member(record, "Text"));
		free(export->text);
		export->text = longer;
	} else if (!strcmp(kind, "lid") || !strcmp(kind, "partition") ||
		   !strcmp(kind, "partition member")) {
		json_array_append(export->records, record);
	}
}

static void export_take_records(void *ctx, json_t *part)
{
	json_t *record;
	size_t i;

	json_array_foreach (json_object_get(part, "records"), i, record)
		take_record(ctx, record);
}

static int collect(struct export *export, const char *socket)
{
	int error = file_running_options(socket, &export->options, export->refusal);
	json_t *request, *result = NULL;

	if (error)
		return error;
	request = json_pack("{s:s}", "command", "save");
	error = control_call(socket, request, export_take_records, export, &result,
			     export->refusal);
	json_decref(result);
	json_decref(request);
	return error;
}

/* Options */

static void report(struct export *export, const json_t *option, const char *theirs,
		   const char *note)
{
	json_array_append_new(export->results, json_pack("{s:s,s:s,s:s,s:b,s:s}", "name",
							 text_member(option, "name"), "value",
							 text_member(option, "value"), "theirs",
							 theirs, "lost", !*theirs, "note", note));
}

static void write_option(struct export *export, const json_t *option, const char *name,
			 const char *value)
{
	char *theirs = mem_printf("%s %s", name, value);

	json_object_set_new(export->written, name, json_string(value));
	report(export, option, theirs, "");
	free(theirs);
}

/* Returns false if the row says nothing about this value. */
static bool export_option(struct export *export, const struct opensm_row *row, const json_t *option)
{
	const char *ours = text_member(option, "value");
	char value[OPENSM_VALUE_SIZE], lost[OPENSM_VALUE_SIZE];
	int error = opensm_untranslate(row, ours, value, lost);

	if (error == -ENOENT)
		return false;
	if (error) {
		report(export, option, "", "OpenSM has no such value");
		return true;
	}
	write_option(export, option, row->name, value);
	if (*lost)
		report(export, option, "", "OpenSM does not have all of these engines");
	if (row->how == OPENSM_PERFMGR && strcmp(ours, "0") != 0)
		write_option(export, option, "perfmgr_sweep_time_s", ours);
	return true;
}

static void export_set_option(struct export *export, const json_t *option)
{
	const char *name = text_member(option, "name");
	bool is_known = false, is_written = false;

	if (!strcmp(text_member(option, "value"), "(not shown)")) {
		report(export, option, "", "keys are not exported: copy it from weftd.conf");
		return;
	}
	for (const struct opensm_row *row = opensm_rows; row->name && !is_written; row++) {
		if (!row->ours || strcmp(row->ours, name) != 0)
			continue;
		is_known = true;
		is_written = row->how != OPENSM_PARTITIONS && export_option(export, row, option);
	}
	if (!is_known)
		report(export, option, "", "OpenSM has no such option");
}

/* The default of weft is not OpenSM's: minhop may have credit loops. */
static bool is_always_written(const char *name)
{
	return !strcmp(name, "routing");
}

static void export_options(struct export *export)
{
	const json_t *option;
	size_t i;

	json_array_foreach (export->options, i, option)
		if (!flag_member(option, "is_default") ||
		    is_always_written(text_member(option, "name")))
			export_set_option(export, option);
}

/* Files */

static void export_print_options(struct export *export, FILE *out)
{
	const char *name;
	json_t *value;

	fputs("# Made by weftctl export opensm. Other options have OpenSM's defaults.\n", out);
	json_object_foreach (export->written, name, value)
		fprintf(out, "%s %s\n", name, json_string_value(value));
}

/* An empty line ends a record of OpenSM. */
static void print_guid2lid(struct export *export, FILE *out)
{
	const json_t *record;
	size_t i;

	json_array_foreach (export->records, i, record) {
		long long lid = number_member(record, "LID");

		if (strcmp(text_member(record, "kind"), "lid") != 0)
			continue;
		fprintf(out, "%s 0x%04llx 0x%04llx\n\n", text_member(record, "GUID"), lid,
			lid + (1LL << (number_member(record, "LMC") & LMC_MAX)) - 1);
		export->lids++;
	}
}

/* OpenSM reads names without blanks and punctuation. */
static void plain_name(const char *text, long long p_key, char name[NAME_SIZE])
{
	size_t used = 0;

	for (; *text && used + 1 < NAME_SIZE; text++)
		name[used++] = isalnum((unsigned char)*text) || strchr("_-.", *text) ? *text : '_';
	name[used] = '\0';
	if (!used)
		snprintf(name, NAME_SIZE, p_key == KEY_DEFAULT ? "Default" : "P%04llx", p_key);
}

static pkey_t record_p_key(const json_t *record)
{
	return number_member(record, "P_Key") & KEY_DEFAULT;
}

static bool is_member(const json_t *record)
{
	return !strcmp(text_member(record, "kind"), "partition member");
}

/* The run-time members by P_Key, in one pass over the records. */
static void index_members(struct export *export)
{
	const json_t *record;
	size_t i, first = 0;

	json_array_foreach (export->records, i, record) {
		pkey_t p_key = record_p_key(record);

		if (!strcmp(text_member(record, "kind"), "partition"))
			export->is_made[p_key] = true;
		export->end[p_key] += is_member(record);
	}
	for (size_t key = 0; key < ARRAY_SIZE(export->end); key++) {
		size_t count = export->end[key];

		export->end[key] = first;
		first += count;
	}
	export->members = mem_array(first + 1, sizeof(*export->members));
	json_array_foreach (export->records, i, record)
		if (is_member(record))
			export->members[export->end[record_p_key(record)]++] = record;
}

static void print_members(const struct export *export, pkey_t p_key, const char *before, FILE *out)
{
	static const char *const memberships[] = {"limited", "limited", "full", "both"};

	for (size_t i = p_key ? export->end[p_key - 1] : 0; i < export->end[p_key]; i++) {
		const json_t *record = export->members[i];

		fprintf(out, "%s\t%s=%s", before, text_member(record, "GUID"),
			memberships[number_member(record, "Membership") & MEMBERSHIP_BOTH]);
		before = ",\n";
	}
	fputs(" ;\n", out);
}

/* A partition that commands made. A port that is not named in the default partition is a limited
 * member of it. */
static void print_made(const struct export *export, const json_t *record, FILE *out)
{
	pkey_t p_key = record_p_key(record);
	bool others = p_key == KEY_DEFAULT && !*export->text;
	char name[NAME_SIZE];

	plain_name(text_member(record, "Name"), p_key, name);
	fprintf(out, "%s=0x%04x", name, p_key);
	if (number_member(record, "Index0"))
		fputs(", indx0", out);
	if (number_member(record, "IPoIB"))
		fprintf(out, ", ipoib, rate=%lld, mtu=%lld, sl=%lld, scope=%lld",
			number_member(record, "Rate"), number_member(record, "MTU"),
			number_member(record, "SL"), number_member(record, "Scope"));
	if (number_member(record, "IPoIB") && number_member(record, "Q_Key"))
		fprintf(out, ", Q_Key=0x%llx", number_member(record, "Q_Key"));
	fputs(" :\n", out);
	print_members(export, p_key, others ? "\tALL=limited, SELF=full,\n" : "", out);
}

/* Members that commands added to partitions of the file. */
static void print_added(const struct export *export, FILE *out)
{
	char name[NAME_SIZE];

	for (unsigned p_key = 1; p_key < ARRAY_SIZE(export->end); p_key++) {
		if (export->is_made[p_key] || export->end[p_key] == export->end[p_key - 1])
			continue;
		plain_name("", p_key, name);
		fprintf(out, "%s=0x%04x :\n", name, p_key);
		print_members(export, (pkey_t)p_key, "", out);
	}
}

static void write_partitions(struct export *export, FILE *out)
{
	const json_t *record;
	size_t i, length = strlen(export->text);

	index_members(export);
	if (length)
		fprintf(out, "%s%s", export->text, export->text[length - 1] == '\n' ? "" : "\n");
	else if (!export->is_made[KEY_DEFAULT])
		fputs("Default=0x7fff, ipoib : ALL=full, SELF=full ;\n", out);
	fputs("# Made by commands of weftctl:\n", out);
	json_array_foreach (export->records, i, record)
		if (!strcmp(text_member(record, "kind"), "partition"))
			print_made(export, record, out);
	print_added(export, out);
}

static int write_file(struct export *export, const char *name,
		      void (*print)(struct export *, FILE *))
{
	char *path = mem_printf("%s/%s", export->dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), error = 0;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out) {
		error = file_refuse(export->refusal, path,
				    errno == EEXIST ? "exists already; choose another directory"
						    : strerror(errno));
	} else {
		print(export, out);
		error = ferror(out) ? -EIO : 0;
		if (fclose(out) || error)
			error = file_refuse(export->refusal, path, strerror(errno ? errno : EIO));
	}
	if (!error)
		json_array_append_new(export->files, json_string(name));
	free(path);
	return error;
}

static int write_all(struct export *export)
{
	int error = 0;

	if (mkdir(export->dir, 0755) && errno != EEXIST)
		return file_refuse(export->refusal, export->dir, strerror(errno));
	error = write_file(export, "opensm.conf", export_print_options);
	if (!error)
		error = write_file(export, "partitions.conf", write_partitions);
	if (!error)
		error = write_file(export, "guid2lid", print_guid2lid);
	return error;
}

int export_opensm(const char *socket, const json_t *request, json_t **result, char **refusal)
{
	struct export export = {
		.dir = text_member(request, "dir"),
		.records = json_array(),
		.results = json_array(),
		.files = json_array(),
		.written = json_object(),
		.text = mem_strdup(""),
		.refusal = refusal,
	};
	int error = collect(&export, socket);

	if (!error) {
		export_options(&export);
		error = write_all(&export);
	}
	if (!error)
		*result = json_pack("{s:s,s:O,s:O,s:i}", "to", export.dir, "files", export.files,
				    "options", export.results, "lids", (int)export.lids);
	json_decref(export.options);
	json_decref(export.records);
	json_decref(export.results);
	json_decref(export.files);
	json_decref(export.written);
	free(export.members);
	free(export.text);
	return error;
}

static void print_results(const json_t *data, bool lost, const char *heading,
			  const struct column *columns, FILE *out)
{
	json_t *rows = json_array(), *row;
	size_t i;

	json_array_foreach (json_object_get(data, "options"), i, row)
		if (flag_member(row, "lost") == lost)
			json_array_append(rows, row);
	if (json_array_size(rows)) {
		fprintf(out, "%s\n", heading);
		columns_print(columns, NULL, rows, out);
		fputc('\n', out);
	}
	json_decref(rows);
}

void print_exported(const json_t *data, FILE *out)
{
	static const struct column lost[] = {
		COLUMN("WEFT", "name", COLUMN_TEXT),
		COLUMN("VALUE", "value", COLUMN_NAME),
		COLUMN("REASON", "note", COLUMN_NAME),
		{.name = NULL},
	};
	static const struct column exported[] = {
		COLUMN("WEFT", "name", COLUMN_TEXT),
		COLUMN("VALUE", "value", COLUMN_NAME),
		COLUMN("OPENSM", "theirs", COLUMN_NAME),
		{.name = NULL},
	};

	print_results(data, true, "Not exported:", lost, out);
	print_results(data, false, "Exported:", exported, out);
	text_put(out, data, "In {to}:");
	text_put_list(out, json_object_get(data, "files"), " {}", ",");
	text_put(out, data,
		 "; {lids:d} LID{lids:#|s}\nStop weftd, copy opensm.conf and partitions.conf to "
		 "/etc/opensm and guid2lid to /var/cache/opensm, then start OpenSM.\n");
}

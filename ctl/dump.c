/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Writes the files of a dump. An existing file is replaced only when the new file is complete. The
 * names are fixed here: the daemon only selects from them.
 */
#include "ctl/handlers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/file.h"
#include "ctl/text.h"
#include "lib/mem.h"

static const char *const file_names[] = {"opensm-subnet.lst", "opensm.fdbs", "opensm.mcfdbs"};

struct dump {
	char *dir;
	int dir_fd;
	FILE *stream[ARRAY_SIZE(file_names)]; /* of file_names[i].part; NULL: not begun */
	unsigned long long bytes[ARRAY_SIZE(file_names)];
	int error; /* the first error, or 0 */
};

static void dump_part_name(size_t i, char name[64])
{
	snprintf(name, 64, "%s.part", file_names[i]);
}

static void *dump_open(const json_t *request, char error[CTL_ERROR_SIZE])
{
	const char *dir = text_member(request, "dir");
	struct dump *dump;
	int fd;

	if (mkdir(dir, 0777) && errno != EEXIST) {
		snprintf(error, CTL_ERROR_SIZE, "cannot make %s: %s", dir, strerror(errno));
		return NULL;
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		snprintf(error, CTL_ERROR_SIZE, "cannot open %s: %s", dir, strerror(errno));
		return NULL;
	}
	dump = mem_zalloc(sizeof(*dump));
	dump->dir = mem_strdup(dir);
	dump->dir_fd = fd;
	return dump;
}

static void begin_file(struct dump *dump, size_t i)
{
	char name[64];
	int fd;

	dump_part_name(i, name);
	fd = openat(dump->dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0666);
	if (fd >= 0)
		dump->stream[i] = fdopen(fd, "w");
	if (!dump->stream[i])
		file_note_error(&dump->error);
	if (fd >= 0 && !dump->stream[i])
		close(fd);
}

static void dump_part(void *sink, const json_t *part)
{
	const char *file = text_member(part, "file"), *text = text_member(part, "text");
	struct dump *dump = sink;

	for (size_t i = 0; i < ARRAY_SIZE(file_names); i++) {
		if (dump->error || strcmp(file_names[i], file) != 0)
			continue;
		if (!dump->stream[i])
			begin_file(dump, i);
		if (dump->stream[i] && fputs(text, dump->stream[i]) == EOF)
			file_note_error(&dump->error);
		dump->bytes[i] += strlen(text);
	}
}

/* All files must be complete before the first gets its name. */
static void dump_close_files(struct dump *dump)
{
	for (size_t i = 0; i < ARRAY_SIZE(file_names); i++)
		if (dump->stream[i] && fclose(dump->stream[i]))
			file_note_error(&dump->error);
}

static json_t *name_files(struct dump *dump, bool whole)
{
	json_t *list = json_array();
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(file_names); i++) {
		if (!dump->stream[i])
			continue;
		dump_part_name(i, name);
		if (!whole || dump->error)
			unlinkat(dump->dir_fd, name, 0);
		else if (renameat(dump->dir_fd, name, dump->dir_fd, file_names[i]))
			file_note_error(&dump->error);
		else
			json_array_append_new(list, json_pack("{s:s,s:I}", "file", file_names[i],
							      "bytes", (json_int_t)dump->bytes[i]));
	}
	return list;
}

static int dump_close(void *sink, bool whole, json_t **data, char error[CTL_ERROR_SIZE])
{
	struct dump *dump = sink;
	json_t *files;
	int result;

	dump_close_files(dump);
	files = name_files(dump, whole);
	result = dump->error;
	if (result) {
		snprintf(error, CTL_ERROR_SIZE, "cannot write into %s: %s", dump->dir,
			 strerror(-result));
		json_decref(files);
	} else {
		*data = json_pack("{s:s,s:o}", "dir", dump->dir, "files", files);
	}
	close(dump->dir_fd);
	free(dump->dir);
	free(dump);
	return result;
}

const struct ctl_sink dump_sink = {.open = dump_open, .part = dump_part, .close = dump_close};

void print_dump(const json_t *data, FILE *out)
{
	const json_t *file;
	size_t i;

	json_array_foreach (json_object_get(data, "files"), i, file) {
		fprintf(out, "%s/%s: %lld bytes\n", text_member(data, "dir"),
			text_member(file, "file"), number_member(file, "bytes"));
	}
}

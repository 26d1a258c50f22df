/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the partition file: weftd/partition_file.h. */
#include "weftd/partition_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "weftd/file_text.h"

enum { FILE_MAX_BYTES = 64 * 1024 * 1024 };

static void log_notes(const char *notes)
{
	while (notes && *notes) {
		size_t length = strcspn(notes, "\n");

		log_notice("%.*s", (int)length, notes);
		notes += length + (notes[length] == '\n');
	}
}

void partition_file_read(const struct conf *conf, struct partition_file *out, FILE *all,
			 char error[CONF_ERROR_SIZE])
{
	const char *path = conf->partition_file;
	char *text = NULL, *reason = NULL;
	size_t length;
	int rc;

	*out = (struct partition_file){.source = *path ? PARTITIONS_NO_FILE : PARTITIONS_UNWANTED};
	error[0] = '\0';
	if (!*path)
		return;
	rc = file_read_text("partition_config_file", path, FILE_MAX_BYTES, &text, &length, error);
	if (rc == -ENOENT)
		return;
	if (!rc) {
		rc = (all ? partitions_parse_all : partitions_parse)(
			path, text, length, conf->sm.allow_both, &out->partitions, &reason);
		snprintf(error, CONF_ERROR_SIZE, "%.*s", CONF_ERROR_SIZE - 1, rc ? reason : "");
	}
	if (rc && all) {
		fprintf(all, "%s\n", reason ? reason : error);
		error[0] = '\0';
	}
	out->source = rc ? PARTITIONS_BAD_FILE : PARTITIONS_FILE;
	log_notes(out->partitions ? out->partitions->notes : NULL);
	free(reason);
	free(text);
}

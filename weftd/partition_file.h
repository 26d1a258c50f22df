/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads the partition file that the configuration names. Called when the daemon starts and at a
 * reload, on the calling thread.
 */
#ifndef WEFTD_PARTITION_FILE_H
#define WEFTD_PARTITION_FILE_H

#include "sm/partition/partitions.h"
#include "weftd/conf.h"

struct partition_file {
	enum partition_source source;
	struct partitions *partitions; /* for partitions_free(); NULL without a valid file */
};

/* Reads the configured file, if any. out->source has the result. If the file is invalid or cannot
 * be read, error has a line "file:line: reason". With all, all gets a line for each error, and
 * error is empty. */
void partition_file_read(const struct conf *conf, struct partition_file *out, FILE *all,
			 char error[CONF_ERROR_SIZE]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The partition file as the configuration names it: whether it is there, and whether it is good.
 * Called when the daemon starts and when it reads its configuration again, on the calling thread.
 */
#ifndef WEFTD_PARTITION_FILE_H
#define WEFTD_PARTITION_FILE_H

#include "sm/partition/partitions.h"
#include "weftd/conf.h"

struct partition_file {
	enum partition_source source;
	struct partitions *partitions; /* for partitions_free(); NULL unless there is a good file */
};

/* out->source says how it stands. One that cannot be read, or is bad, leaves a line "file:line:
 * reason" in error. */
void partition_file_read(const struct conf *conf, struct partition_file *out,
			 char error[CONF_ERROR_SIZE]);

#endif

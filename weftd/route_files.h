/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads the files with input for routing engines, in OpenSM's formats (formats/guid_file.h), and
 * makes an immutable set of options. Called when the daemon starts and at a reload, on the calling
 * thread.
 */
#ifndef WEFTD_ROUTE_FILES_H
#define WEFTD_ROUTE_FILES_H

#include "fabric/snapshot.h"
#include "weftd/conf.h"

/* Returns 0 with *out, a reference of the caller, NULL if no file is named. Or -errno with one line
 * in error: file, line and reason, or the option whose file cannot be read. *out is then
 * unchanged. With all, it continues after a bad file, prints the line of each to all, and leaves
 * error empty. */
int route_files_read(const struct route_files *files, struct route_options **out, FILE *all,
		     char error[CONF_ERROR_SIZE]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The files that tell routing engines about a fabric, in OpenSM's formats (formats/guid_file.h):
 * reads those that the configuration names and makes one immutable set of options of them. Called
 * when the daemon starts and after SIGHUP; the files are read on the calling thread.
 */
#ifndef WEFTD_ROUTE_FILES_H
#define WEFTD_ROUTE_FILES_H

#include "fabric/snapshot.h"
#include "weftd/conf.h"

/* 0: *out is the caller's reference, NULL when no file is named. -errno: one line in error, with
 * file, line and reason, or with the option whose file cannot be read; *out is then untouched. */
int route_files_read(const struct route_files *files, struct route_options **out,
		     char error[CONF_ERROR_SIZE]);

#endif

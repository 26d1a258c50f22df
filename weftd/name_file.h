/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The file of names that an administrator gives to nodes (node_name_map_name), in the form of
 * infiniband-diags (formats/guid_file.h). Called by main.c when the configuration is read, on its
 * thread; no state.
 */
#ifndef WEFTD_NAME_FILE_H
#define WEFTD_NAME_FILE_H

#include "lib/map.h"
#include "weftd/conf.h"

/* 0: *out is for fabric_set_names() or node_names_free(), NULL when no file is named. -errno: one
 * line in error, with file, line and reason; *out is then untouched. */
int name_file_read(const struct conf *conf, struct map **out, char error[CONF_ERROR_SIZE]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads the file of names that an administrator gives to nodes (node_name_map_name), in the format
 * of infiniband-diags (formats/guid_file.h). Called by main.c when the configuration is read, on
 * its thread. No state.
 */
#ifndef WEFTD_NAME_FILE_H
#define WEFTD_NAME_FILE_H

#include "lib/map.h"
#include "weftd/conf.h"

/* Returns 0 with *out for fabric_set_names() or node_names_free(), NULL if no file is named.
 * *warning, for free(), is then one line about names that several nodes have, or NULL. Or -errno
 * with file, line and reason as one line in error; *out and *warning are then unchanged. */
int name_file_read(const struct conf *conf, struct map **out, char **warning,
		   char error[CONF_ERROR_SIZE]);

#endif

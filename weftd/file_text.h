/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads a text file that the configuration names, up to a maximum size. Blocks. */
#ifndef WEFTD_FILE_TEXT_H
#define WEFTD_FILE_TEXT_H

#include <stddef.h>

#include "weftd/conf.h"

/* Reads the whole file into *text; the caller frees it. Returns 0, or -errno with "option: path:
 * reason" in error (option NULL: "path: reason"): -ENOENT, -EFBIG for more than most_bytes, -EINVAL
 * for a pipe, ... */
int file_read_text(const char *option, const char *path, size_t most_bytes, char **text,
		   size_t *length, char error[CONF_ERROR_SIZE]);

#endif

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

/* The same in two steps, for a worker that reads a large file. Opens the file: returns its
 * descriptor, or -errno as above. Not on a worker, because it may look up users and groups. */
int file_open_text(const char *option, const char *path, char error[CONF_ERROR_SIZE]);
/* Reads the rest of the file, and closes it. Returns as above. Any thread. */
int file_read_opened(int fd, const char *option, const char *path, size_t most_bytes, char **text,
		     size_t *length, char error[CONF_ERROR_SIZE]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files that the configuration names, as text, up to a size. Blocks: not for the loop's turns. */
#ifndef WEFTD_FILE_TEXT_H
#define WEFTD_FILE_TEXT_H

#include <stddef.h>

#include "weftd/conf.h"

/* The whole file, for free(). -errno with "option: path: reason" in error, or "path: reason" where
 * option is NULL: -ENOENT, -EFBIG when it has more than most_bytes, -EINVAL for a pipe, ... */
int file_read_text(const char *option, const char *path, size_t most_bytes, char **text,
		   size_t *length, char error[CONF_ERROR_SIZE]);

#endif

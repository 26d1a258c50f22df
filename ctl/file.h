/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files of the user that are read whole. */
#ifndef CTL_FILE_H
#define CTL_FILE_H

#include <stddef.h>

/* Returns the contents of a file, which the caller frees. NULL and errno on failure, also if the
 * file is too large. */
char *file_read(const char *path, size_t *size);

#endif

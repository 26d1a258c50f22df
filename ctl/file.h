/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files of the user that are read whole. */
#ifndef CTL_FILE_H
#define CTL_FILE_H

#include <stddef.h>

/* The whole of a file, for free(); NULL and errno, also when it is too large to be one of ours. */
char *file_read(const char *path, size_t *size);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Files that hold a secret. A file is refused if others than its owner may read or write it, or if
 * its owner is neither root nor the user of this process. No state, any thread.
 */
#ifndef LIB_SECRET_FILE_H
#define LIB_SECRET_FILE_H

#include <stddef.h>

/* Reads the whole file, which must be shorter than room, into text; the caller wipes text after
 * use. Returns 0, or -errno: then *size is 0, and why has the file's name, the reason and the
 * remedy, but none of its content. -EFBIG: the file is too long. */
int secret_file_read(const char *path, size_t room, char *text, size_t *size, size_t why_size,
		     char *why);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Files that hold a secret. One that others than its owner may read or write is refused, and so is
 * one whose owner is neither root nor who runs this. No state, any thread.
 */
#ifndef LIB_SECRET_FILE_H
#define LIB_SECRET_FILE_H

#include <stddef.h>

/* Reads all of the file, which is shorter than room, into text; who has taken what he needs wipes
 * it. 0, or -errno and in why the file's name, what is wrong with it and what to do, but nothing
 * of what is in it; *size is then 0. -EFBIG: it is not shorter than room. */
int secret_file_read(const char *path, size_t room, char *text, size_t *size, size_t why_size,
		     char *why);

#endif

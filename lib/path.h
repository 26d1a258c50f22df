/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Finds out why an existing file cannot be opened, for messages with a remedy. No state, any
 * thread.
 */
#ifndef LIB_PATH_H
#define LIB_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* After EACCES: true if the effective user may not pass a folder on the way to path; the name of
 * this folder, cut to size, is then in folder. False: the file itself is not accessible. */
bool path_is_barred(const char *path, size_t size, char *folder);

#endif

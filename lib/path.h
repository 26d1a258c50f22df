/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Why a file that is there cannot be opened: for those whose message says what to do. No state, any
 * thread.
 */
#ifndef LIB_PATH_H
#define LIB_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* After EACCES: whether a folder on the way to path is what may not be passed by who runs this (its
 * effective user); its name, cut to size, is then in folder. Else it is the file itself. */
bool path_is_barred(const char *path, size_t size, char *folder);

#endif

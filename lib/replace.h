/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A file that is replaced as a whole: the new content is written under another name and synced to
 * the disk, then renamed. So there is always a complete file, with the old or the new content. It
 * blocks on the disk: only for jobs and for the end of a program. Any thread.
 */
#ifndef LIB_REPLACE_H
#define LIB_REPLACE_H

#include <stdio.h>

/* Replaces path with the output of write(), by way of part in the same folder; write() returns 0 or
 * -errno. Returns 0, or -errno: then the old file is unchanged. Only the owner can read the new
 * file. */
int file_replace(const char *path, const char *part, int (*write)(FILE *file, const void *what),
		 const void *what);

/* Syncs the folder of path. Until this has returned 0, a crash may bring back the old file; else
 * -errno. */
int file_sync_name(const char *path);

#endif

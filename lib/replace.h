/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A file that is replaced as a whole: what is new is written under another name, and on the disk
 * before it takes the file's. So there is always a whole one, the one of before or the new one. It
 * waits for the disk: for jobs and for the end of a program. Any thread.
 */
#ifndef LIB_REPLACE_H
#define LIB_REPLACE_H

#include <stdio.h>

/* Replaces path, by way of part in the same folder, with what write() prints; write() returns 0 or
 * -errno. 0 or -errno: then the file of before is there. Nobody but the owner may read the new one.
 */
int file_replace(const char *path, const char *part, int (*write)(FILE *file, const void *what),
		 const void *what);

/* After a crash the file of before may be there again until this has returned 0; else -errno. */
int file_sync_name(const char *path);

#endif

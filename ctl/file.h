/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files of the user that are read whole, and requests with their contents. */
#ifndef CTL_FILE_H
#define CTL_FILE_H

#include <stddef.h>

#include "lib/control.h"

/* Returns the contents of a file, which the caller frees; "-" is standard input. NULL and errno on
 * failure, also if the file is too large. */
char *file_read(const char *path, size_t *size);
/* Keeps errno as -errno in *error, unless that has an earlier error. */
void file_note_error(int *error);
/* Writes "PATH: WHY" into *refusal, for free(), and returns -EREMOTEIO. */
int file_refuse(char **refusal, const char *path, const char *why);
/* The options of a running daemon, as config show has them; a new reference. Errors as those of
 * control_call(), and *out is empty. */
int file_running_options(const char *socket, json_t **out, char **refusal);
/* As control_call() without parts; takes the reference to the request. */
int file_call(const char *socket, json_t *request, json_t **result, char **refusal);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Checks the folders of a path: lib/path.h. Links are followed as open() does, but their own
 * folders are not checked. */
#include "lib/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"

bool path_is_barred(const char *path, size_t size, char *folder)
{
	char *way = mem_strdup(path);
	bool barred = false;

	for (char *end = strchr(way + 1, '/'); *way && end && !barred; end = strchr(end + 1, '/')) {
		*end = '\0';
		barred = euidaccess(way, X_OK) && errno == EACCES;
		if (barred)
			snprintf(folder, size, "%s", way);
		*end = '/';
	}
	free(way);
	return barred;
}

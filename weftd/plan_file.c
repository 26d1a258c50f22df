/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the planned topology: weftd/plan_file.h. */
#include "weftd/plan_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "weftd/file_text.h"

enum { PLAN_FILE_MAX_BYTES = 64 * 1024 * 1024 };

static const char option[] = "planned_topology";

int plan_file_open(const struct conf *conf, int *fd, char error[CONF_ERROR_SIZE])
{
	*fd = conf->planned_topology[0] ? file_open_text(option, conf->planned_topology, error)
					: -1;
	return conf->planned_topology[0] && *fd < 0 ? *fd : 0;
}

int plan_file_read(int fd, const char *path, struct net **out, char error[CONF_ERROR_SIZE])
{
	struct net_error reason;
	size_t length;
	char *text;
	int rc = file_read_opened(fd, option, path, PLAN_FILE_MAX_BYTES, &text, &length, error);

	if (rc)
		return rc;
	rc = net_parse(path, text, length, out, &reason);
	free(text);
	if (rc)
		snprintf(error, CONF_ERROR_SIZE, "%.*s", CONF_ERROR_SIZE - 1, reason.text);
	return rc;
}

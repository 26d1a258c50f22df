/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the planned topology: weftd/plan_file.h. */
#include "weftd/plan_file.h"

#include <stdio.h>

#include "weftd/file_text.h"

enum { PLAN_FILE_MAX_BYTES = 64 * 1024 * 1024 };

int plan_file_read(const struct conf *conf, char **text, size_t *length,
		   char error[CONF_ERROR_SIZE])
{
	*text = NULL;
	*length = 0;
	return conf->planned_topology[0]
		       ? file_read_text("planned_topology", conf->planned_topology,
					PLAN_FILE_MAX_BYTES, text, length, error)
		       : 0;
}

int plan_file_parse(const char *path, const char *text, size_t length, struct net **out,
		    char error[CONF_ERROR_SIZE])
{
	struct net_error reason;
	int rc = net_parse(path, text, length, out, &reason);

	if (rc)
		snprintf(error, CONF_ERROR_SIZE, "%.*s", CONF_ERROR_SIZE - 1, reason.text);
	return rc;
}

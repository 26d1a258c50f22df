/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Metrics of the subnet manager, of routing and of the SA, in the text format of Prometheus. */
#ifndef WEFTD_METRICS_H
#define WEFTD_METRICS_H

#include "lib/control.h"

/* Converts the output of weftctl status and of weftctl health (NULL: none). The caller frees the
 * text. */
char *metrics_text(const json_t *status, const json_t *health);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The figures of the subnet manager, of routing and of the SA in Prometheus' text format. */
#ifndef WEFTD_METRICS_H
#define WEFTD_METRICS_H

#include "lib/control.h"

/* From what weftctl status shows; to be freed. */
char *metrics_text(const json_t *status);

#endif

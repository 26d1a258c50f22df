/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The health of a manager and its subnet: a table of rules over the status document, so that
 * `weftctl health`, `weftctl status` and the metrics always agree. Pure: the result depends on the
 * document alone.
 */
#ifndef WEFTD_HEALTH_H
#define WEFTD_HEALTH_H

#include "lib/control.h"

enum health_level { HEALTH_HEALTHY, HEALTH_DEGRADED, HEALTH_BROKEN, HEALTH_LEVELS };

/* As in JSON: "healthy", "degraded", "broken". */
extern const char *const health_level_names[HEALTH_LEVELS];

/* {"level", "checks": [{"check", "level", "text", "remedy"}]}, worst first; a healthy check has no
 * remedy. A check that this manager cannot know, because it is not MASTER, is absent. status is the
 * document of weftctl status; borrowed. A new reference. */
json_t *health_judge(const json_t *status);

#endif

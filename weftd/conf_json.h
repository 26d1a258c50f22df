/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The configuration as JSON, for the requests `config show`, `config check` and `config reload`.
 * Values are in libconfig's form, as in the file. Keys are listed if they differ, without their
 * values. Pure; weftd/main.c calls it on the loop.
 */
#ifndef WEFTD_CONF_JSON_H
#define WEFTD_CONF_JSON_H

#include "lib/control.h"
#include "weftd/conf.h"

/* All options: name, value, default, range, and effect ("reload" or "restart"). Returns a new
 * reference. */
json_t *conf_options_json(const struct conf *conf);
/* The options whose values in next and present differ: name, now, next, effect. Returns a new
 * reference. */
json_t *conf_changes_json(const struct conf *present, const struct conf *next);

#endif

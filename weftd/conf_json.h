/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The configuration as the control socket tells it: `config show`, `config check` and `config
 * reload`. Values are in libconfig's form, as they would stand in the file; keys are told to
 * differ, but not what they are. Pure; weftd/main.c calls it on the loop.
 */
#ifndef WEFTD_CONF_JSON_H
#define WEFTD_CONF_JSON_H

#include "lib/control.h"
#include "weftd/conf.h"

/* All options: name, value, default, range, and effect: "reload" or "restart", by which a change
 * is taken. A new reference. */
json_t *conf_options_json(const struct conf *conf);
/* Those that next has otherwise than present: name, now, next, effect. A new reference. */
json_t *conf_changes_json(const struct conf *present, const struct conf *next);

#endif

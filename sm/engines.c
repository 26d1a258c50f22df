/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Converts chains of engines to text and back, and decides which chain is in force:
 * sm/engines.h. */
#include "sm/engines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/suggest.h"
#include "sm/context.h"

_Static_assert(SM_ENGINES_MAX *SM_ENGINE_NAME <= SETTING_VALUE_SIZE,
	       "any chain, with commas for the ends of names, is a setting");

static const char setting_name[] = "routing";

/* Chains as text */

bool engine_is_known(const char *name, char why[SETTING_WHY_SIZE])
{
	struct suggest suggest = suggest_for(name);
	size_t used;

	if (route_engine_find(name))
		return true;
	for (const struct route_engine *engine = route_engines; engine->name; engine++)
		suggest_try(&suggest, engine->name);
	if (suggest.best) {
		snprintf(why, SETTING_WHY_SIZE, "no routing engine \"%.60s\"; did you mean \"%s\"?",
			 name, suggest.best);
		return false;
	}
	used = (size_t)snprintf(why, SETTING_WHY_SIZE,
				"no routing engine \"%.60s\"; the engines are", name);
	for (const struct route_engine *engine = route_engines;
	     engine->name && used < SETTING_WHY_SIZE; engine++)
		used += (size_t)snprintf(why + used, SETTING_WHY_SIZE - used, "%s %s",
					 engine == route_engines ? "" : ",", engine->name);
	return false;
}

static bool has_engine(char engines[SM_ENGINES_MAX][SM_ENGINE_NAME], unsigned number,
		       const char *name)
{
	for (unsigned i = 0; i < number; i++)
		if (!strcmp(engines[i], name))
			return true;
	return false;
}

/* Around it, in place. */
static char *without_spaces(char *name)
{
	size_t length;

	name += strspn(name, " \t");
	length = strlen(name);
	while (length && strchr(" \t", name[length - 1]))
		length--;
	name[length] = '\0';
	return name;
}

static bool may_add(char engines[SM_ENGINES_MAX][SM_ENGINE_NAME], unsigned number, const char *name,
		    char why[SETTING_WHY_SIZE])
{
	if (!engine_is_known(name, why))
		return false;
	if (has_engine(engines, number, name))
		snprintf(why, SETTING_WHY_SIZE, "engine %s is in the list twice", name);
	else if (number == SM_ENGINES_MAX)
		snprintf(why, SETTING_WHY_SIZE, "the list has more than %d engines",
			 SM_ENGINES_MAX);
	else
		return true;
	return false;
}

/* Parses a chain such as "ftree,updn"; spaces around names are ignored. Returns false, with the
 * reason in why, if it is invalid; out is then unchanged. */
static bool engines_parse(const char *text, char out[SM_ENGINES_MAX][SM_ENGINE_NAME],
			  char why[SETTING_WHY_SIZE])
{
	char engines[SM_ENGINES_MAX][SM_ENGINE_NAME] = {0};
	char *copy = mem_strdup(text), *rest = copy, *name;
	unsigned number = 0;
	bool good = true;

	while (good && (name = strsep(&rest, ","))) {
		name = without_spaces(name);
		good = may_add(engines, number, name, why);
		if (good)
			snprintf(engines[number++], SM_ENGINE_NAME, "%s", name);
	}
	free(copy);
	if (good)
		memcpy(out, engines, sizeof(engines));
	return good;
}

static void engines_print(const char engines[SM_ENGINES_MAX][SM_ENGINE_NAME],
			  char text[SETTING_VALUE_SIZE])
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < SM_ENGINES_MAX && engines[i][0]; i++)
		used += (size_t)snprintf(text + used, SETTING_VALUE_SIZE - used, "%s%s",
					 i ? "," : "", engines[i]);
}

/* The chain in force */

static bool engines_settle(struct sm *sm, char why[SETTING_WHY_SIZE])
{
	const char *text = setting_get(sm->registry, setting_name);
	char engines[SM_ENGINES_MAX][SM_ENGINE_NAME];
	bool good;

	memcpy(engines, sm->engines.configured, sizeof(engines));
	good = !text || engines_parse(text, engines, why);
	if (sm->engines.trying)
		memcpy(engines, sm->engines.tried, sizeof(engines));
	if (!memcmp(engines, sm->options.engines, sizeof(engines)))
		return good;
	memcpy(sm->options.engines, engines, sizeof(engines));
	sm->routed_topology = 0; /* the new engines have not computed routes yet */
	if (sm->routed && sm_is_master(sm))
		trigger_light(&sm->trigger, "other routing engines");
	return good;
}

static bool engines_apply(void *ctx, const char *text, char why[SETTING_WHY_SIZE])
{
	(void)text;
	return engines_settle(ctx, why);
}

static const struct setting_row rows[] = {
	{setting_name, "route engine default", engines_apply},
	{.name = NULL},
};

void engines_init(struct sm *sm)
{
	memcpy(sm->engines.configured, sm->options.engines, sizeof(sm->engines.configured));
	settings_init(&sm->engines.settings, sm->loop, sm->registry, rows, sm);
}

void engines_done(struct sm *sm)
{
	settings_done(&sm->engines.settings);
}

void engines_configured(struct sm *sm)
{
	char why[SETTING_WHY_SIZE]; /* not used: a bad setting was logged before */

	memcpy(sm->engines.configured, sm->options.engines, sizeof(sm->engines.configured));
	engines_settle(sm, why);
}

bool engines_named(const struct sm *sm, const char *text, char out[SM_ENGINES_MAX][SM_ENGINE_NAME],
		   char why[SETTING_WHY_SIZE])
{
	if (strcmp(text, "default") != 0)
		return engines_parse(text, out, why);
	memcpy(out, sm->engines.configured, sizeof(sm->engines.configured));
	return true;
}

bool engines_would_change(const struct sm *sm, const struct sm_options *options)
{
	return !setting_get(sm->registry, setting_name) && !sm->engines.trying &&
	       memcmp(options->engines, sm->engines.configured, sizeof(options->engines)) != 0;
}

bool engines_try(struct sm *sm, const char *text, char why[SETTING_WHY_SIZE])
{
	struct engines *engines = &sm->engines;

	if (!engines_named(sm, text, engines->tried, why))
		return false;
	engines->clears = !strcmp(text, "default");
	engines->trying = true;
	trigger_reroute(&sm->trigger, "weftctl route engine");
	engines_settle(sm, why);
	return true;
}

void engines_tried(struct sm *sm, bool stays)
{
	char text[SETTING_VALUE_SIZE], why[SETTING_WHY_SIZE];

	sm->engines.trying = false;
	engines_print((const char(*)[SM_ENGINE_NAME])sm->engines.tried, text);
	if (stays)
		setting_put(sm->registry, setting_name, sm->engines.clears ? NULL : text);
	engines_settle(sm, why);
}

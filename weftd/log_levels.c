/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The stored setting is a list with commas, such as "notice,sm=debug": a level for all components,
 * and COMPONENT=LEVEL at most once for each component. In earlier versions sma was a part of mad;
 * settings with sma are still accepted.
 */
#include "weftd/log_levels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/complete.h"
#include "lib/log.h"
#include "lib/mem.h"

enum { COMPONENTS = 11, UNSET = -1 };

_Static_assert(sizeof("warning") + COMPONENTS * sizeof(",formats=warning") <= SETTING_VALUE_SIZE,
	       "any choice is a setting");

static const char setting_name[] = "log_level";

/* The components of the daemon. */
static const char *const components[COMPONENTS + 1] = {
	"lib", "formats", "mad", "store", "fabric", "route", "ha", "sm", "pm", "sa", "weftd"};

struct chosen {
	int all;
	int component[COMPONENTS];
};

static const struct chosen nothing = {UNSET, {[0 ... COMPONENTS - 1] = UNSET}};

/* The index of a word in such a list, or -1. */
static int word_index(const char *word, size_t length, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strlen(words[i]) == length && !memcmp(words[i], word, length))
			return i;
	return -1;
}

static bool take_level(const char *word, size_t length, int *level, char why[SETTING_WHY_SIZE])
{
	int found = word_index(word, length, log_level_words);

	if (found < 0) {
		snprintf(why, SETTING_WHY_SIZE,
			 "unknown level \"%.*s\": use emerg, alert, crit, err, warning, notice, "
			 "info or debug",
			 (int)(length < 40 ? length : 40), word);
		return false;
	}
	*level = found;
	return true;
}

static int *level_of_component(struct chosen *chosen, const char *word, size_t length,
			       char why[SETTING_WHY_SIZE])
{
	bool former = length == strlen("sma") && !memcmp(word, "sma", length);
	int component = former ? word_index("mad", strlen("mad"), components)
			       : word_index(word, length, components);

	if (component >= 0)
		return &chosen->component[component];
	snprintf(why, SETTING_WHY_SIZE,
		 "unknown component \"%.*s\": use lib, formats, mad, store, fabric, route, ha, sm, "
		 "pm, sa or weftd",
		 (int)(length < 40 ? length : 40), word);
	return NULL;
}

static bool log_levels_parse(const char *text, struct chosen *chosen, char why[SETTING_WHY_SIZE])
{
	bool good = true;

	*chosen = nothing;
	while (good) {
		size_t length = strcspn(text, ","), component = strcspn(text, "=,");
		int *level = component < length ? level_of_component(chosen, text, component, why)
						: &chosen->all;
		size_t skip = component < length ? component + 1 : 0;

		good = level && take_level(text + skip, length - skip, level, why);
		if (!text[length])
			return good;
		text += length + 1;
	}
	return false;
}

static void log_levels_print(const struct chosen *chosen, char text[SETTING_VALUE_SIZE])
{
	size_t used = 0;

	text[0] = '\0';
	if (chosen->all != UNSET)
		used = (size_t)snprintf(text, SETTING_VALUE_SIZE, "%s",
					log_level_words[chosen->all]);
	for (int i = 0; i < COMPONENTS; i++)
		if (chosen->component[i] != UNSET)
			used += (size_t)snprintf(text + used, SETTING_VALUE_SIZE - used, "%s%s=%s",
						 used ? "," : "", components[i],
						 log_level_words[chosen->component[i]]);
}

static bool log_levels_apply(void *ctx, const char *text, char why[SETTING_WHY_SIZE])
{
	const struct log_levels *levels = ctx;
	struct chosen chosen = nothing;
	bool good = !text || log_levels_parse(text, &chosen, why);

	if (!good)
		chosen = nothing;
	log_set_level(NULL, chosen.all == UNSET ? levels->configured : chosen.all);
	for (int i = 0; i < COMPONENTS; i++)
		if (chosen.component[i] != UNSET)
			log_set_level(components[i], chosen.component[i]);
	return good;
}

static const struct setting_row rows[] = {
	{setting_name, "log level default", log_levels_apply},
	{.name = NULL},
};

void log_levels_init(struct log_levels *levels, struct loop *loop, struct registry *registry,
		     int configured)
{
	levels->configured = configured;
	settings_init(&levels->settings, loop, registry, rows, levels);
}

void log_levels_done(struct log_levels *levels)
{
	settings_done(&levels->settings);
}

void log_levels_configure(struct log_levels *levels, int configured)
{
	char why[SETTING_WHY_SIZE]; /* not used: a bad setting was logged before */

	levels->configured = configured;
	log_levels_apply(levels, setting_get(levels->settings.registry, setting_name), why);
}

/* A level for all components removes the levels of single components. */
static bool log_levels_change(struct chosen *chosen, const char *component, const char *word,
			      char why[SETTING_WHY_SIZE])
{
	int level = UNSET, *of = &chosen->all;

	if (strcmp(word, "default") != 0 && !take_level(word, strlen(word), &level, why))
		return false;
	if (component)
		of = level_of_component(chosen, component, strlen(component), why);
	else
		*chosen = nothing;
	if (!of)
		return false;
	*of = level;
	return true;
}

static json_t *levels_json(void)
{
	json_t *array = json_array();

	/* room and rooms: the former names of component and components, for one release. */
	for (const char *const *component = components; *component; component++)
		json_array_append_new(array, json_pack("{s:s,s:s,s:s}", "component", *component,
						       "room", *component, "level",
						       log_level_words[log_level(*component)]));
	return json_pack("{s:O,s:o}", "components", array, "rooms", array);
}

static const char *component_argument(const json_t *args)
{
	const char *former = json_string_value(json_object_get(args, "room"));
	const char *component = json_string_value(json_object_get(args, "component"));

	if (former && !component)
		log_warning(
			"log level request: the member \"room\" is renamed to \"component\": use "
			"the new name, because the next release will refuse the former name");
	return component ? component : former;
}

static void command_log_level(void *ctx, struct control_request *request, const json_t *args)
{
	struct log_levels *levels = ctx;
	struct registry *registry = levels->settings.registry;
	const char *component = component_argument(args);
	const char *level = json_string_value(json_object_get(args, "level"));
	const char *before = setting_get(registry, setting_name);
	char why[SETTING_WHY_SIZE], text[SETTING_VALUE_SIZE];
	struct chosen chosen;

	if (!component && !level) {
		control_reply(request, levels_json());
		return;
	}
	if (!before || !log_levels_parse(before, &chosen, why))
		chosen = nothing;
	if (!log_levels_change(&chosen, component, level ? level : "", why)) {
		control_fail(request, "%s", why);
		return;
	}
	log_levels_print(&chosen, text);
	setting_put(registry, setting_name, text[0] ? text : NULL);
	log_levels_apply(levels, text[0] ? text : NULL, why);
	settings_answer(&levels->settings, request, levels_json());
}

static void command_complete_component(void *ctx, struct control_request *request,
				       const json_t *args)
{
	(void)ctx;
	complete_reply(request, args, components);
}

static const struct control_command commands[] = {
	{"log level", command_log_level, CONTROL_CHANGES},
	{"complete component", command_complete_component, CONTROL_LOOKS},
};

void log_levels_register(struct log_levels *levels, struct control *control)
{
	control_register(control, commands, ARRAY_SIZE(commands), levels);
}

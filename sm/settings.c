/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A reader of the registry that notes which rows changed and tells them in a turn of their own,
 * since a reader may not change the registry and rows may want to: sm/settings.h.
 */
#include "sm/settings.h"

#include <assert.h>
#include <string.h>

#include "lib/log.h"

static void tell(struct settings *settings, unsigned i)
{
	const struct setting_row *row = &settings->rows[i];
	const char *text = setting_get(settings->registry, row->name);

	settings->why[i][0] = '\0';
	if (!row->apply(settings->ctx, text, settings->why[i]))
		log_warning("the setting %s = \"%s\" in the store is ignored: %s; weftctl %s "
			    "clears it",
			    row->name, text, settings->why[i], row->clear);
}

static void tell_changed(void *arg)
{
	struct settings *settings = arg;

	if (registry_is_together(settings->registry))
		return; /* whole() comes */
	for (unsigned i = 0; settings->rows[i].name; i++)
		if (settings->changed & 1u << i)
			tell(settings, i);
	settings->changed = 0;
}

static void changed(void *ctx, const struct registry_change *change)
{
	struct settings *settings = ctx;
	const struct setting_entry *entry = change->after ? change->after : change->before;

	if (change->kind != REGISTRY_SETTING)
		return;
	for (unsigned i = 0; settings->rows[i].name; i++)
		if (!strcmp(settings->rows[i].name, (const char *)entry->name))
			settings->changed |= 1u << i;
	loop_defer(&settings->later);
}

static void whole(void *ctx)
{
	struct settings *settings = ctx;

	loop_defer(&settings->later);
}

void settings_init(struct settings *settings, struct loop *loop, struct registry *registry,
		   const struct setting_row *rows, void *ctx)
{
	*settings = (struct settings){
		.registry = registry,
		.rows = rows,
		.ctx = ctx,
		.reader = {.changed = changed, .whole = whole, .ctx = settings},
	};
	loop_deferred_init(&settings->later, loop, "settings", tell_changed, settings);
	for (unsigned i = 0; rows[i].name; i++) {
		assert(i < SETTINGS_MAX);
		tell(settings, i);
	}
	registry_read(registry, &settings->reader);
}

void settings_done(struct settings *settings)
{
	registry_unread(&settings->reader);
	loop_defer_cancel(&settings->later);
}

/* A text that came from a file need not be one that JSON takes. */
void settings_status(const struct settings *settings, json_t *array)
{
	for (unsigned i = 0; settings->rows[i].name; i++) {
		const struct setting_row *row = &settings->rows[i];
		const char *text = setting_get(settings->registry, row->name);
		json_t *value = text ? json_string(text) : NULL;

		if (!text)
			continue;
		json_array_append_new(
			array, json_pack("{s:s,s:o,s:s,s:s*}", "name", row->name, "value",
					 value ? value : json_string("?"), "clear", row->clear,
					 "ignored", settings->why[i][0] ? settings->why[i] : NULL));
	}
}

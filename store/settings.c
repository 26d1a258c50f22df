/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads changes of the registry and notes which rows they concern: store/settings.h. The rows are
 * called in a later turn, because a reader must not change the registry, and a row may.
 */
#include "store/settings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/mem.h"

static void setting_apply(struct settings *settings, unsigned i)
{
	const struct setting_row *row = &settings->rows[i];
	const char *text = setting_get(settings->registry, row->name);

	settings->why[i][0] = '\0';
	if (!row->apply(settings->ctx, text, settings->why[i]))
		log_warning("setting %s = \"%s\" in the store ignored: %s (weftctl %s clears it)",
			    row->name, text, settings->why[i], row->clear);
}

static void tell_changed(void *arg)
{
	struct settings *settings = arg;

	if (registry_is_together(settings->registry))
		return; /* settings_registry_whole() follows */
	for (unsigned i = 0; settings->rows[i].name; i++)
		if (settings->changed & 1u << i)
			setting_apply(settings, i);
	settings->changed = 0;
}

static void settings_registry_changed(void *ctx, const struct registry_change *change)
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

static void settings_registry_whole(void *ctx)
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
		.reader = {.changed = settings_registry_changed,
			   .whole = settings_registry_whole,
			   .ctx = settings},
	};
	list_init(&settings->answers);
	loop_deferred_init(&settings->later, loop, "settings", tell_changed, settings);
	for (unsigned i = 0; rows[i].name; i++) {
		assert(i < SETTINGS_MAX);
		setting_apply(settings, i);
	}
	registry_read(registry, &settings->reader);
}

struct answer {
	struct list link;
	struct control_request *request;
	json_t *json;
	struct registry_waiter waiter;
};

static void answer_free(struct answer *answer)
{
	registry_wait_cancel(&answer->waiter);
	list_del(&answer->link);
	free(answer);
}

static void setting_durable(void *ctx)
{
	struct answer *answer = ctx;

	control_reply(answer->request, answer->json);
	answer_free(answer);
}

void settings_answer(struct settings *settings, struct control_request *request, json_t *json)
{
	struct answer *answer = mem_zalloc(sizeof(*answer));

	answer->request = request;
	answer->json = json;
	list_init(&answer->link);
	list_push(&settings->answers, &answer->link);
	answer->waiter = (struct registry_waiter){.durable = setting_durable, .ctx = answer};
	registry_wait(settings->registry, &answer->waiter);
}

void settings_done(struct settings *settings)
{
	registry_unread(&settings->reader);
	loop_defer_cancel(&settings->later);
	list_for_each (link, &settings->answers) {
		struct answer *answer = container_of(link, struct answer, link);

		control_fail(answer->request, "the daemon is stopping; the setting is kept");
		json_decref(answer->json);
		answer_free(answer);
	}
}

/* A text from a file may be invalid in JSON. */
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

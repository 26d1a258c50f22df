/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Run-time settings: text by name, kept in the registry and so in the store, which replaces the
 * configured value until it is cleared. The owner of some settings has a table of rows, one for
 * each. A row is called with the stored text at the start, and after a command, a restored
 * document, or a store that was read late. Only the registry has the settings; a text that its row
 * refuses is logged, shown by status, and has no effect. Loop thread only.
 */
#ifndef STORE_SETTINGS_H
#define STORE_SETTINGS_H

#include "lib/control.h"
#include "lib/loop.h"
#include "store/registry.h"
#include "store/setting.h"

enum { SETTING_WHY_SIZE = 160, SETTINGS_MAX = 8 };

struct setting_row {
	const char *name;  /* in the store: it never changes its meaning */
	const char *clear; /* the command that restores the configured value, for log lines */
	/* text NULL: no setting, the configured value counts. A repeated call has no effect.
	 * Returns false, with the reason in why, if the text is invalid: the configured value
	 * counts. */
	bool (*apply)(void *ctx, const char *text, char why[SETTING_WHY_SIZE]);
};

struct settings {
	struct registry *registry;
	const struct setting_row *rows; /* the last row has no name */
	void *ctx;
	struct registry_reader reader;
	struct loop_deferred later;
	unsigned changed; /* bit i: row i must be called */
	struct list answers;
	char why[SETTINGS_MAX][SETTING_WHY_SIZE]; /* of rows whose text is ignored; else empty */
};

/* Calls each row with its setting. The registry must outlive settings_done(). */
void settings_init(struct settings *settings, struct loop *loop, struct registry *registry,
		   const struct setting_row *rows, void *ctx);
void settings_done(struct settings *settings); /* waiting clients get an error: the daemon ends */

/* Answers the request with json when all settings made until now are durable. Takes over json. */
void settings_answer(struct settings *settings, struct control_request *request, json_t *json);

/* Appends the settings of the table that are set to an array of objects, for weftctl status. */
void settings_status(const struct settings *settings, json_t *array);

#endif

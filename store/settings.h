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
	const char *clear; /* the command that goes back to the configuration, for people */
	/* text NULL: no setting, the configured value counts. A repeated call does nothing.
	 * False, with the reason in why: the text is invalid, and the configured value counts. */
	bool (*apply)(void *ctx, const char *text, char why[SETTING_WHY_SIZE]);
};

struct settings {
	struct registry *registry;
	const struct setting_row *rows; /* ended by one without a name */
	void *ctx;
	struct registry_reader reader;
	struct loop_deferred later;
	unsigned changed; /* bit i: row i is to be called */
	struct list answers;
	char why[SETTINGS_MAX][SETTING_WHY_SIZE]; /* of those that are ignored; else empty */
};

/* Tells each row what is set. The registry outlives settings_done(). */
void settings_init(struct settings *settings, struct loop *loop, struct registry *registry,
		   const struct setting_row *rows, void *ctx);
void settings_done(struct settings *settings); /* who waits is told that the daemon ends */

/* Ends the request, takes the answer json: when what has been set up to now is durable. */
void settings_answer(struct settings *settings, struct control_request *request, json_t *json);

/* Those of the table that are set, appended to an array of objects, for weftctl status. */
void settings_status(const struct settings *settings, json_t *array);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The commands about M_Keys (sm/partition/m_keys.h). None of them answers with a key. Loop thread
 * only. */
#include "sm/control/commands.h"

#include "sm/context.h"

static void command_keys_status(void *ctx, struct control_request *request, const json_t *args)
{
	const struct sm *sm = ctx;

	(void)args;
	control_reply(request, keys_status(&sm->keys));
}

/* Ports that did not respond so far are tried again with the new keys. The answer waits until
 * the keys are durable, because the administrator may then remove the other manager. */
static void command_keys_import(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	const json_t *rows = json_object_get(args, "rows");
	const char *why = "no rows";
	unsigned taken;

	if (!json_is_array(rows) || keys_import(&sm->keys, rows, &taken, &why)) {
		control_fail(request, "%s", why);
		return;
	}
	trigger_heavy(&sm->trigger, "keys were imported");
	settings_answer(&sm->engines.settings, request,
			json_pack("{s:I}", "taken", (json_int_t)taken));
}

const struct control_command keys_commands[NUM_KEYS_COMMANDS] = {
	{"keys status", command_keys_status, CONTROL_LOOKS},
	{"keys import", command_keys_import, CONTROL_CHANGES},
};

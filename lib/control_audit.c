/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Names of users come from /etc/passwd alone: a directory service could hold up the loop for
 * seconds. So users of a directory service are shown by their number.
 */
#include "lib/control_audit.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/message_id.h"
#include "lib/log.h"
#include "lib/mem.h"

enum { VALUE_SHOWN = 64, ELEMENTS_SHOWN = 4, TEXT_SIZE = 512 };

struct control_audit {
	const char *command;
	char client[128];     /* "user root (uid 0), process 17 (weftctl)" */
	char text[TEXT_SIZE]; /* " p_key=0x5 name=storage" */
};

static void user_name(uid_t uid, char *name, size_t size)
{
	FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *user;

	*name = '\0';
	while (file && (user = fgetpwent(file)))
		if (user->pw_uid == uid) {
			snprintf(name, size, "%s", user->pw_name);
			break;
		}
	if (file)
		fclose(file);
}

/* The name of a process, which may have ended. */
static void process_name(pid_t pid, char *name, size_t size)
{
	char path[40];
	FILE *file;

	*name = '\0';
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(name, (int)size, file))
		name[strcspn(name, "\n")] = '\0';
	fclose(file);
}

static void describe_client(const struct ucred *peer, char *text, size_t size)
{
	char user[40], process[20];

	user_name(peer->uid, user, sizeof(user));
	process_name(peer->pid, process, sizeof(process));
	snprintf(text, size, "user %s%s(uid %u), process %d%s%s%s", user, *user ? " " : "",
		 (unsigned)peer->uid, (int)peer->pid, *process ? " (" : "", process,
		 *process ? ")" : "");
}

static void add(struct control_audit *audit, const char *text, int length)
{
	size_t used = strlen(audit->text);

	snprintf(audit->text + used, sizeof(audit->text) - used, "%.*s", length, text);
}

static void add_value(struct control_audit *audit, const json_t *value)
{
	char number[24];
	const json_t *element;
	size_t i;

	if (json_is_string(value))
		add(audit, json_string_value(value), VALUE_SHOWN);
	if (json_is_integer(value)) {
		snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(value));
		add(audit, number, VALUE_SHOWN);
	}
	json_array_foreach (value, i, element) {
		if (i == ELEMENTS_SHOWN) {
			snprintf(number, sizeof(number), ",... (%zu)", json_array_size(value));
			add(audit, number, VALUE_SHOWN);
			break;
		}
		add(audit, ",", i > 0);
		add_value(audit, element);
	}
}

struct control_audit *control_audit_begin(const char *command, const struct ucred *peer,
					  const json_t *args)
{
	static const char *const shown[] = {
		"node",	   "port",	"p_key", "name",     "members", "guids",    "guid",
		"engines", "component", "level", "mtu",	     "rate",	"scope",    "full",
		"limited", "both",	"ipoib", "no-ipoib", "indx0",	"no-indx0", "force",
	};
	struct control_audit *audit = mem_zalloc(sizeof(*audit));

	audit->command = command;
	describe_client(peer, audit->client, sizeof(audit->client));
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		const json_t *value = json_object_get(args, shown[i]);

		if (!value || json_is_false(value))
			continue;
		add(audit, " ", 1);
		add(audit, shown[i], VALUE_SHOWN);
		add(audit, "=", !json_is_true(value));
		add_value(audit, value);
	}
	return audit;
}

void control_audit_end(struct control_audit *audit, const char *refusal)
{
	static const struct log_subject subject = {.message_id = MESSAGE_COMMAND};

	if (!audit)
		return;
	log_about(LOG_NOTICE, &subject, "%s: %s%s: %s%s", audit->client, audit->command,
		  audit->text, refusal ? "refused: " : "done", refusal ? refusal : "");
	free(audit);
}

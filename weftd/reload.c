/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads the configuration again: by SIGHUP, or by weftctl config reload. All changes take effect,
 * or none. A dangerous change needs a confirmation: weftd/daemon.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "include/message_id.h"
#include "lib/control.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/tls.h"
#include "sm/control/control.h"
#include "sm/sm.h"
#include "weftd/conf_json.h"
#include "weftd/daemon.h"
#include "weftd/ha.h"
#include "weftd/route_files.h"

static void set_route_options(struct daemon *daemon, struct route_options *options)
{
	manager_set_route_options(daemon->manager, options);
	route_options_unref(daemon->route_options);
	daemon->route_options = options;
}

int daemon_log_level(const struct daemon *daemon)
{
	int level = daemon->conf.log_level + daemon->verbosity;

	return level < LOG_DEBUG ? level : LOG_DEBUG;
}

static int read_again(const struct daemon *daemon, struct reading *reading,
		      char error[CONF_ERROR_SIZE])
{
	bool had_file = sm_knows_partition_file(manager_sm(daemon->manager));

	return reading_reload(&daemon->sources, &daemon->conf, had_file, reading, error);
}

/* Why the partitions that were read need a confirmation; for free(), or NULL. */
static char *partitions_danger(const struct daemon *daemon, const struct reading *reading)
{
	const struct partition_file *file = &reading->partitions;

	return file->source == PARTITIONS_NO_FILE
		       ? NULL
		       : sm_partitions_danger(manager_sm(daemon->manager), file->partitions,
					      reading->conf.sm.partition_confirm_ports);
}

/* A reload, which may have to wait until the new routing engines have been judged. */
struct reload {
	struct daemon *daemon;
	struct control_request *request; /* NULL: SIGHUP */
	struct reading reading;
	struct policy_comparison *comparison; /* of the partition files, under way; or NULL */
};

static void reload_begin(struct daemon *daemon, struct control_request *request, bool force);

static void reload_end(struct reload *reload)
{
	struct daemon *daemon = reload->daemon;
	bool again = daemon->reload_again;

	policy_judge_cancel(reload->comparison);
	reading_done(&reload->reading);
	free(reload);
	daemon->reload = NULL;
	daemon->reload_again = false;
	if (again && !daemon->is_stopping)
		reload_begin(daemon, NULL, false);
}

/* id: of the log line; NULL: none. */
static void reload_fail(struct reload *reload, const char *id, const char *reason)
{
	const struct log_subject subject = {.message_id = id};

	log_about(LOG_ERR, id ? &subject : NULL,
		  "configuration not reloaded, nothing has changed: %s", reason);
	manager_reload_refused(reload->daemon->manager, reason, id != NULL);
	if (reload->request)
		control_fail(reload->request, "not reloaded, nothing has changed: %s", reason);
	reload_end(reload);
}

/* Puts everything that was read in force. Returns the changes, a new reference. */
static json_t *apply_reading(struct daemon *daemon, struct reading *reading)
{
	json_t *changes = conf_changes_json(&daemon->conf, &reading->conf);
	bool partitions_changed = false;
	char names[CONF_NAMES_SIZE];
	unsigned fixed = conf_keep_fixed(&reading->conf, &daemon->conf, names);

	if (fixed)
		log_warning("%s take%s effect after a restart of weftd", names,
			    fixed == 1 ? "s" : "");
	daemon->conf = reading->conf;
	log_levels_configure(&daemon->log_levels, daemon_log_level(daemon));
	set_route_options(daemon, reading->options);
	manager_set_node_names(daemon->manager, reading->names);
	if (reading->partitions.source != PARTITIONS_NO_FILE) {
		partitions_changed =
			manager_set_partitions(daemon->manager, reading->partitions.source,
					       reading->partitions.partitions);
	}
	manager_reload_refused(daemon->manager, NULL, false);
	manager_set_conf(daemon->manager, &daemon->conf);
	if (daemon->carrier) {
		tls_set_keys(daemon->carrier, &reading->ha_keys);
		ha_expect_peers(daemon->carrier, &daemon->conf);
	}
	explicit_bzero(&reading->ha_keys, sizeof(reading->ha_keys));
	reading->options = NULL;
	reading->names = NULL;
	reading->partitions.partitions = NULL;
	return json_pack("{s:o,s:b}", "changes", changes, "partitions_changed", partitions_changed);
}

/* Answers after the new configuration is in force; P_Keys are written from then on. */
static void reload_apply(struct reload *reload)
{
	struct daemon *daemon = reload->daemon;
	json_t *result = apply_reading(daemon, &reload->reading);

	log_notice("configuration reloaded");
	if (reload->request)
		settings_answer(&daemon->log_levels.settings, reload->request, result);
	else
		json_decref(result);
	reload_end(reload);
}

static void reload_is_judged(void *ctx, const char *danger, const char *error)
{
	struct reload *reload = ctx;
	char *reason;

	if (error) {
		reload_fail(reload, NULL, error);
		return;
	}
	if (!danger) {
		reload_apply(reload);
		return;
	}
	reason = mem_printf("routing: %s: name another engine, or run weftctl config reload "
			    "--force",
			    danger);
	reload_fail(reload, NULL, reason);
	free(reason);
}

static void judge_engines_of(struct reload *reload)
{
	sm_judge_options(manager_sm(reload->daemon->manager), &reload->reading.conf.sm,
			 reload_is_judged, reload);
}

static void partitions_are_judged(void *ctx, char *danger)
{
	struct reload *reload = ctx;
	char *reason;

	reload->comparison = NULL;
	if (!danger) {
		judge_engines_of(reload);
		return;
	}
	reason = mem_printf("%s: correct it, or accept it with weftctl config reload --force",
			    danger);
	reload_fail(reload, MESSAGE_PARTITIONS, reason);
	free(reason);
	free(danger);
}

/* Applies all changes, or none with a logged error. */
static void reload_begin(struct daemon *daemon, struct control_request *request, bool force)
{
	struct reload *reload = mem_zalloc(sizeof(*reload));
	char error[CONF_ERROR_SIZE];
	int rc;

	daemon->reload = reload;
	reload->daemon = daemon;
	reload->request = request;
	rc = read_again(daemon, &reload->reading, error);
	if (rc) {
		reload_fail(reload, rc == -EBADMSG ? MESSAGE_PARTITIONS : NULL, error);
		return;
	}
	if (force) {
		reload_apply(reload);
		return;
	}
	if (reload->reading.partitions.source == PARTITIONS_NO_FILE)
		judge_engines_of(reload);
	else
		reload->comparison = sm_judge_partitions(
			manager_sm(daemon->manager), reload->reading.partitions.partitions,
			reload->reading.conf.sm.partition_confirm_ports, partitions_are_judged,
			reload);
}

void daemon_stop_reload(struct daemon *daemon)
{
	if (daemon->reload && daemon->reload->comparison)
		reload_fail(daemon->reload, NULL, "the daemon is stopping");
}

/* Only an administrator at weftctl can confirm dangerous changes. */
void daemon_hang_up(void *arg)
{
	struct daemon *daemon = arg;

	if (daemon->reload)
		daemon->reload_again = true;
	else
		reload_begin(daemon, NULL, false);
}

static void command_reload(void *ctx, struct control_request *request, const json_t *args)
{
	struct daemon *daemon = ctx;

	if (daemon->reload)
		control_fail(request, "another reload is running: try again when it has ended");
	else
		reload_begin(daemon, request, json_is_true(json_object_get(args, "force")));
}

/* Shows what a reload would change, from the same files and arguments. */
static void command_check(void *ctx, struct control_request *request, const json_t *args)
{
	const struct daemon *daemon = ctx;
	char error[CONF_ERROR_SIZE], *danger;
	struct reading reading;

	(void)args;
	if (read_again(daemon, &reading, error)) {
		control_fail(request, "a reload would refuse it: %s", error);
		return;
	}
	danger = partitions_danger(daemon, &reading);
	if (danger) {
		control_fail(request, "a reload without --force would refuse it: %s", danger);
		free(danger);
		reading_done(&reading);
		return;
	}
	control_reply(request, json_pack("{s:o}", "changes",
					 conf_changes_json(&daemon->conf, &reading.conf)));
	reading_done(&reading);
}

static void command_config_show(void *ctx, struct control_request *request, const json_t *args)
{
	const struct daemon *daemon = ctx;

	(void)args;
	control_part(request, json_pack("{s:o}", "options", conf_options_json(&daemon->conf)));
	control_reply(request, NULL);
}

static const struct control_command commands[] = {
	{"config show", command_config_show, CONTROL_LOOKS},
	{"config check", command_check, CONTROL_ACTS},
	{"config reload", command_reload, CONTROL_CHANGES},
};

void daemon_register_config(struct daemon *daemon)
{
	control_register(daemon->control, commands, ARRAY_SIZE(commands), daemon);
}

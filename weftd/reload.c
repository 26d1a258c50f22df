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
#include "lib/psk_file.h"
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

enum danger_of { OF_M_KEYS, OF_PARTITIONS, OF_ENGINES, DANGERS };

/* A reload, which waits until those before it have ended, and until its dangers are known. */
struct reload {
	struct list link; /* in daemon->reloads; the first runs */
	struct daemon *daemon;
	struct control_request *request; /* NULL: SIGHUP */
	bool force, is_check;		 /* is_check: config check, which changes nothing */
	struct reading reading;
	struct policy_comparison *comparison; /* of the partition files, under way; or NULL */
	char *dangers[DANGERS];		      /* NULL: none */
	struct work_job plan_job;	      /* reads the planned topology */
	bool is_reading_plan;		      /* this job is under way */
	int plan_result;
	char plan_error[CONF_ERROR_SIZE];
};

static void reload_begin(struct reload *reload);
static void reload_fail(struct reload *reload, const char *id, const char *reason);

static struct reload *first_reload(const struct daemon *daemon)
{
	return list_empty(&daemon->reloads)
		       ? NULL
		       : container_of(daemon->reloads.next, struct reload, link);
}

static void reload_free(struct reload *reload)
{
	reading_done(&reload->reading);
	for (size_t i = 0; i < DANGERS; i++)
		free(reload->dangers[i]);
	list_del(&reload->link);
	free(reload);
}

static void reload_end(struct reload *reload)
{
	struct daemon *daemon = reload->daemon;
	struct reload *next;

	policy_judge_cancel(reload->comparison);
	reload_free(reload);
	next = first_reload(daemon);
	if (next && daemon->is_stopping)
		reload_fail(next, NULL, "the daemon is stopping");
	else if (next)
		reload_begin(next);
}

static unsigned count_dangers(const struct reload *reload)
{
	unsigned count = 0;

	for (size_t i = 0; i < DANGERS; i++)
		count += reload->dangers[i] != NULL;
	return count;
}

/* id: of the log line; NULL: none. */
static void reload_fail(struct reload *reload, const char *id, const char *reason)
{
	const struct log_subject subject = {.message_id = id};

	if (reload->is_check) {
		control_fail(reload->request, "a reload%s would refuse it: %s",
			     count_dangers(reload) ? " without --force" : "", reason);
		reload_end(reload);
		return;
	}
	log_about(LOG_ERR, id ? &subject : NULL,
		  "configuration not reloaded, nothing has changed: %s", reason);
	manager_reload_refused(reload->daemon->manager, reason, id != NULL);
	if (reload->request)
		control_fail(reload->request, "not reloaded, nothing has changed: %s", reason);
	reload_end(reload);
}

static bool same_secrets(const struct sm_options *a, const struct sm_options *b)
{
	return a->num_secrets == b->num_secrets &&
	       !memcmp(a->secret, b->secret, a->num_secrets * sizeof(a->secret[0]));
}

/* The key files that were read, and whether their keys changed; a new reference. */
static json_t *key_files_json(const struct daemon *daemon, const struct reading *reading)
{
	const struct conf *conf = &reading->conf;
	const struct {
		const char *option;
		bool is_read, has_changed;
	} files[] = {
		{"ha_psk_file", reading->ha_keys.count > 0,
		 psk_digest(&reading->ha_keys) != daemon->ha_keys_digest},
		{"m_key_secret_file", conf->m_key_secret_file[0] != '\0',
		 !same_secrets(&conf->sm, &daemon->conf.sm)},
	};
	json_t *array = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (files[i].is_read)
			json_array_append_new(array,
					      json_pack("{s:s,s:b}", "option", files[i].option,
							"changed", files[i].has_changed));
	return array;
}

/* Puts everything that was read in force. Returns the changes, a new reference. */
static json_t *apply_reading(struct daemon *daemon, struct reading *reading)
{
	json_t *changes = conf_changes_json(&daemon->conf, &reading->conf);
	json_t *key_files = key_files_json(daemon, reading), *warnings = json_array();
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
	manager_set_plan(daemon->manager, reading->plan, daemon->conf.planned_topology);
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
	manager_set_ha_keys(daemon->manager, &reading->ha_keys);
	daemon->ha_keys_digest = psk_digest(&reading->ha_keys);
	if (reading->names_warning) {
		log_warning("%s", reading->names_warning);
		json_array_append_new(warnings, json_string(reading->names_warning));
	}
	explicit_bzero(&reading->ha_keys, sizeof(reading->ha_keys));
	reading->options = NULL;
	reading->names = NULL;
	reading->plan = NULL;
	reading->partitions.partitions = NULL;
	return json_pack("{s:o,s:b,s:o,s:o}", "changes", changes, "partitions_changed",
			 partitions_changed, "key_files", key_files, "warnings", warnings);
}

/* What --force has accepted; a new reference. */
static json_t *accepted_dangers(const struct reload *reload)
{
	json_t *accepted = json_array();

	for (size_t i = 0; i < DANGERS; i++) {
		if (!reload->dangers[i])
			continue;
		log_warning("config reload --force accepts: %s", reload->dangers[i]);
		json_array_append_new(accepted, json_string(reload->dangers[i]));
	}
	return accepted;
}

/* Answers after the new configuration is in force; P_Keys are written from then on. */
static void reload_apply(struct reload *reload)
{
	struct daemon *daemon = reload->daemon;
	json_t *result = apply_reading(daemon, &reload->reading);

	json_object_set_new(result, "accepted", accepted_dangers(reload));
	log_notice("configuration reloaded");
	if (reload->request)
		settings_answer(&daemon->log_levels.settings, reload->request, result);
	else
		json_decref(result);
	reload_end(reload);
}

static void reload_check_ends(struct reload *reload)
{
	control_reply(reload->request,
		      json_pack("{s:o}", "changes",
				conf_changes_json(&reload->daemon->conf, &reload->reading.conf)));
	reload_end(reload);
}

/* To be freed. */
static char *list_dangers(const struct reload *reload)
{
	char *list = NULL, *longer;

	for (size_t i = 0; i < DANGERS; i++) {
		if (!reload->dangers[i])
			continue;
		longer = mem_printf("%s%s%s", list ? list : "", list ? "; and " : "",
				    reload->dangers[i]);
		free(list);
		list = longer;
	}
	return list;
}

/* All dangers are in one refusal, so that --force accepts none that was not listed. */
static void reload_refuse(struct reload *reload)
{
	unsigned count = count_dangers(reload);
	const char *all = count == 2 ? "both" : "all";
	char *list = list_dangers(reload), *reason;

	if (count > 1)
		reason = mem_printf("%u dangers: %s: correct %s, or accept %s with weftctl config "
				    "reload --force",
				    count, list, all, all);
	else
		reason = mem_printf("%s: %s weftctl config reload --force", list,
				    reload->dangers[OF_ENGINES] ? "name another engine, or run"
								: "correct it, or accept it with");
	reload_fail(reload, reload->dangers[OF_PARTITIONS] ? MESSAGE_PARTITIONS : NULL, reason);
	free(reason);
	free(list);
}

static void engines_of_reload_judged(void *ctx, const char *danger, const char *error)
{
	struct reload *reload = ctx;

	if (error) {
		reload_fail(reload, NULL, error);
		return;
	}
	if (danger)
		reload->dangers[OF_ENGINES] = mem_printf("routing: %s", danger);
	if (count_dangers(reload) && !reload->force)
		reload_refuse(reload);
	else if (reload->is_check)
		reload_check_ends(reload);
	else
		reload_apply(reload);
}

static void partitions_are_judged(void *ctx, char *danger)
{
	struct reload *reload = ctx;

	reload->comparison = NULL;
	reload->dangers[OF_PARTITIONS] = danger;
	sm_judge_options(manager_sm(reload->daemon->manager), &reload->reading.conf.sm,
			 reload->reading.options, engines_of_reload_judged, reload);
}

static void judge_partition_files(struct reload *reload)
{
	struct sm *sm = manager_sm(reload->daemon->manager);
	struct reading *reading = &reload->reading;

	if (reading->partitions.source == PARTITIONS_NO_FILE)
		partitions_are_judged(reload, NULL);
	else
		reload->comparison = sm_judge_partitions(sm, reading->partitions.partitions,
							 reading->conf.sm.partition_confirm_ports,
							 partitions_are_judged, reload);
}

static void read_plan_in_job(struct work_job *job)
{
	struct reload *reload = container_of(job, struct reload, plan_job);

	reload->plan_result = reading_read_plan(&reload->reading, reload->plan_error);
}

static void plan_is_read(struct work_job *job)
{
	struct reload *reload = container_of(job, struct reload, plan_job);

	reload->is_reading_plan = false;
	if (reload->plan_result)
		reload_fail(reload, NULL, reload->plan_error);
	else
		judge_partition_files(reload);
}

static void begin_plan(struct reload *reload)
{
	reload->is_reading_plan = true;
	reload->plan_job = (struct work_job){
		.name = "read planned_topology", .run = read_plan_in_job, .done = plan_is_read};
	list_init(&reload->plan_job.link);
	work_submit(reload->daemon->pool, &reload->plan_job);
}

/* Applies all changes, or none with a logged error. */
static void reload_begin(struct reload *reload)
{
	struct daemon *daemon = reload->daemon;
	struct reading *reading = &reload->reading;
	bool had_file = sm_knows_partition_file(manager_sm(daemon->manager));
	char error[CONF_ERROR_SIZE];
	int rc = reading_reload(&daemon->sources, &daemon->conf, had_file, reading, error);

	if (rc) {
		reload_fail(reload, rc == -EBADMSG ? MESSAGE_PARTITIONS : NULL, error);
		return;
	}
	reload->dangers[OF_M_KEYS] =
		sm_m_keys_danger(manager_sm(daemon->manager), &reading->conf.sm);
	if (reading->has_plan)
		begin_plan(reload);
	else
		judge_partition_files(reload);
}

static void reload_add(struct daemon *daemon, const struct reload *what)
{
	struct reload *reload = mem_zalloc(sizeof(*reload));
	bool is_first = list_empty(&daemon->reloads);

	*reload = *what;
	reload->daemon = daemon;
	list_push(&daemon->reloads, &reload->link);
	if (is_first)
		reload_begin(reload);
}

void daemon_stop_reload(struct daemon *daemon)
{
	struct reload *reload = first_reload(daemon);

	if (reload && reload->comparison)
		reload_fail(reload, NULL, "the daemon is stopping");
	if (!reload || !reload->is_reading_plan)
		return;
	list_for_each (link, &daemon->reloads) {
		reload = container_of(link, struct reload, link);
		if (reload->request)
			control_fail(reload->request, "the daemon is stopping");
		reload->request = NULL;
	}
}

/* No job runs any more. */
void daemon_drop_reloads(struct daemon *daemon)
{
	struct reload *reload;

	while ((reload = first_reload(daemon)))
		reload_free(reload);
}

/* Only an administrator at weftctl can confirm dangerous changes. A reload that has not begun will
 * read the same files. */
void daemon_hang_up(void *arg)
{
	struct daemon *daemon = arg;

	list_for_each (link, &daemon->reloads)
		if (link != daemon->reloads.next &&
		    !container_of(link, struct reload, link)->request)
			return;
	reload_add(daemon, &(struct reload){0});
}

static void command_reload(void *ctx, struct control_request *request, const json_t *args)
{
	bool force = json_is_true(json_object_get(args, "force"));

	reload_add(ctx, &(struct reload){.request = request, .force = force});
}

/* Shows what a reload would change, from the same files and arguments. */
static void command_check(void *ctx, struct control_request *request, const json_t *args)
{
	(void)args;
	reload_add(ctx, &(struct reload){.request = request, .is_check = true});
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

/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads the configuration in steps (weftd/reading.h). A start and a reload end at the first error.
 * --check-config runs all steps, and each step reports all errors that it finds.
 */
#include "weftd/reading.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"
#include "mad/umad.h"
#include "weftd/file_text.h"
#include "weftd/ha.h"
#include "weftd/m_key_file.h"
#include "weftd/name_file.h"
#include "weftd/plan_file.h"
#include "weftd/route_files.h"

static const char default_conf_path[] = "/etc/weft/weftd.conf";

const char *reading_path(const struct conf_sources *sources)
{
	return sources->path ? sources->path : default_conf_path;
}

/* A run of steps. */
struct steps {
	const struct conf_sources *sources;
	struct reading *reading;
	const struct conf *present; /* of a reload; else NULL */
	bool had_file;		    /* see reading_reload() */
	FILE *errors;		    /* of a check: a line for each error; else NULL */
	FILE *warnings;
};

/* Returns 0, or the exit status with a line in error. In a check, a step may print its errors
 * itself; error is then empty. */
typedef int step_fn(struct steps *steps, char error[CONF_ERROR_SIZE]);

static int run(struct steps *steps, step_fn *const *functions, char error[CONF_ERROR_SIZE])
{
	int status = 0;

	for (; *functions && !(status && !steps->errors); functions++) {
		int result;

		error[0] = '\0';
		result = (*functions)(steps, error);
		if (result && steps->errors && *error)
			fprintf(steps->errors, "%s\n", error);
		status = status ? status : result;
	}
	return status;
}

/* Options */

/* The directory from systemd replaces the default; of several, between colons, the first. */
static int take_environment(struct conf *conf, const char *variable, const char *name,
			    char error[CONF_ERROR_SIZE])
{
	const char *value = getenv(variable);
	char *first;
	int result;

	if (!value || !*value)
		return 0;
	first = mem_strdup(value);
	first[strcspn(first, ":")] = '\0';
	result = conf_set_text(conf, name, first, error);
	free(first);
	return result;
}

static int read_environment(struct steps *steps, char error[CONF_ERROR_SIZE])
{
	struct conf *conf = &steps->reading->conf;

	conf_defaults(conf);
	return take_environment(conf, "STATE_DIRECTORY", "state_dir", error) ||
			       take_environment(conf, "RUNTIME_DIRECTORY", "runtime_dir", error)
		       ? EXIT_FAILURE
		       : 0;
}

static int read_file(struct steps *steps, char error[CONF_ERROR_SIZE])
{
	const struct conf_sources *sources = steps->sources;

	return conf_read(&steps->reading->conf, reading_path(sources), sources->path != NULL,
			 steps->errors, error)
		       ? EXIT_FAILURE
		       : 0;
}

static int read_settings(struct steps *steps, char error[CONF_ERROR_SIZE])
{
	const struct conf_sources *sources = steps->sources;
	struct conf *conf = &steps->reading->conf;

	for (size_t i = 0; i < sources->num_settings; i++) {
		const struct setting *setting = &sources->settings[i];

		if (setting->name ? conf_set_text(conf, setting->name, setting->text, error)
				  : conf_set(conf, setting->text, error))
			return READING_USAGE;
	}
	return 0;
}

static int check_ha(struct steps *steps, char error[CONF_ERROR_SIZE])
{
	return ha_check(&steps->reading->conf, error) ? EXIT_FAILURE : 0;
}

/* Files */

static int read_m_keys(struct steps *steps, char error[CONF_ERROR_SIZE])
{
	return m_key_file_read(&steps->reading->conf, error) ? EXIT_FAILURE : 0;
}

static int read_names(struct steps *steps, char error[CONF_ERROR_SIZE])
{
	struct reading *reading = steps->reading;

	if (name_file_read(&reading->conf, &reading->names, &reading->names_warning, error))
		return EXIT_FAILURE;
	if (steps->warnings && reading->names_warning)
		fprintf(steps->warnings, "%s\n", reading->names_warning);
	return 0;
}

int reading_read_plan(struct reading *reading, char error[CONF_ERROR_SIZE])
{
	reading->has_plan = false;
	return plan_file_read(reading->plan_fd, reading->conf.planned_topology, &reading->plan,
			      error)
		       ? EXIT_FAILURE
		       : 0;
}

static int read_plan(struct steps *steps, char error[CONF_ERROR_SIZE])
{
	struct reading *reading = steps->reading;
	int fd;

	if (plan_file_open(&reading->conf, &fd, error))
		return EXIT_FAILURE;
	reading->has_plan = fd >= 0;
	reading->plan_fd = fd;
	return !reading->has_plan || steps->present ? 0 : reading_read_plan(reading, error);
}

static int read_route_files(struct steps *steps, char error[CONF_ERROR_SIZE])
{
	const struct route_files *files = &steps->reading->conf.route_files;

	return route_files_read(files, &steps->reading->options, steps->errors, error)
		       ? EXIT_FAILURE
		       : 0;
}

static int read_partitions(struct steps *steps, char error[CONF_ERROR_SIZE])
{
	const struct conf *conf = &steps->reading->conf;
	struct partition_file *out = &steps->reading->partitions;

	partition_file_read(conf, out, NULL, error);
	if (out->source == PARTITIONS_BAD_FILE)
		return -EBADMSG;
	if (out->source != PARTITIONS_NO_FILE || !steps->had_file)
		return 0;
	snprintf(error, CONF_ERROR_SIZE,
		 "%.255s: the file is missing; to use none, set partition_config_file to \"\"",
		 conf->partition_file);
	return -EBADMSG;
}

/* Options of the replication are fixed, so the keys are those of the present file. */
static int read_ha_keys(struct steps *steps, char error[CONF_ERROR_SIZE])
{
	return ha_read_keys(steps->present, &steps->reading->ha_keys, error) ? EXIT_FAILURE : 0;
}

/* Checks */

static int check_partitions(struct steps *steps, char error[CONF_ERROR_SIZE])
{
	const struct conf *conf = &steps->reading->conf;
	struct partition_file *out = &steps->reading->partitions;
	struct conf preset;

	partition_file_read(conf, out, steps->errors, error);
	if (out->source != PARTITIONS_NO_FILE)
		return out->source == PARTITIONS_BAD_FILE ? EXIT_FAILURE : 0;
	conf_defaults(&preset);
	if (!strcmp(conf->partition_file, preset.partition_file))
		return 0;
	snprintf(error, CONF_ERROR_SIZE,
		 "partition_config_file: %.255s: No such file or directory (without it every port "
		 "is a full member of the default partition)",
		 conf->partition_file);
	return EXIT_FAILURE;
}

static int check_group(struct steps *steps, char error[CONF_ERROR_SIZE])
{
	const char *group = steps->reading->conf.readonly_socket;

	if (!*group || !strcmp(group, "*") || !strcmp(group, CONF_READONLY_GROUP) ||
	    getgrnam(group))
		return 0;
	snprintf(error, CONF_ERROR_SIZE,
		 "readonly_socket: no group \"%s\" (create it, or set * for all users)", group);
	return EXIT_FAILURE;
}

/* The configuration of another machine may be checked, so a machine without adapters is no error.
 */
static int check_port(struct steps *steps, char error[CONF_ERROR_SIZE])
{
	const struct conf *conf = &steps->reading->conf;
	struct umad_choice choice = {
		.ca = conf->ca[0] ? conf->ca : NULL,
		.port = conf->port,
		.port_guid = conf->port_guid,
	};

	memcpy(choice.others, conf->failover_ports, sizeof(choice.others));
	if (!choice.ca && !choice.port && !choice.port_guid)
		return 0;
	if (!transport_has_adapters()) {
		fputs("ca, port and port_guid were not checked: no InfiniBand adapter on this "
		      "machine\n",
		      steps->warnings);
		return 0;
	}
	return transport_check_umad(&choice, error, CONF_ERROR_SIZE) ? EXIT_FAILURE : 0;
}

/* Beginnings and ends */

static step_fn *const start_steps[] = {read_environment, read_file,	   read_settings,
				       check_ha,	 read_m_keys,	   read_names,
				       read_plan,	 read_route_files, NULL};
static step_fn *const reload_steps[] = {read_partitions, read_ha_keys, NULL};
static step_fn *const check_steps[] = {check_partitions, check_group, check_port, NULL};

static int read_all(struct steps *steps, char error[CONF_ERROR_SIZE])
{
	int status;

	*steps->reading = (struct reading){0};
	status = run(steps, start_steps, error);
	if (!status && steps->present)
		status = run(steps, reload_steps, error);
	if (status)
		reading_done(steps->reading);
	return status;
}

int reading_start(const struct conf_sources *sources, struct reading *reading,
		  char error[CONF_ERROR_SIZE])
{
	struct steps steps = {.sources = sources, .reading = reading};

	return read_all(&steps, error);
}

int reading_reload(const struct conf_sources *sources, const struct conf *present, bool had_file,
		   struct reading *reading, char error[CONF_ERROR_SIZE])
{
	struct steps steps = {
		.sources = sources, .reading = reading, .present = present, .had_file = had_file};

	return read_all(&steps, error);
}

int reading_check(const struct conf_sources *sources, FILE *errors, FILE *warnings)
{
	char error[CONF_ERROR_SIZE];
	struct reading reading = {0};
	struct steps steps = {
		.sources = sources, .reading = &reading, .errors = errors, .warnings = warnings};
	int status = run(&steps, start_steps, error), more = 0;

	/* After a wrong command line, the options are not those that the user wants to check. */
	if (status != READING_USAGE)
		more = run(&steps, check_steps, error);

	reading_done(&reading);
	return status ? status : more;
}

void reading_done(struct reading *reading)
{
	route_options_unref(reading->options);
	node_names_free(reading->names);
	if (reading->has_plan)
		close(reading->plan_fd);
	net_free(reading->plan);
	free(reading->names_warning);
	partitions_free(reading->partitions.partitions);
	reading->options = NULL;
	reading->names = NULL;
	reading->has_plan = false;
	reading->plan = NULL;
	reading->names_warning = NULL;
	reading->partitions.partitions = NULL;
	explicit_bzero(&reading->ha_keys, sizeof(reading->ha_keys));
}

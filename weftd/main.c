/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * weftd: reads its command line and configuration, opens the port, and runs one manager on one
 * loop. A signal ends it, or with --once or --preview the first report. start() opens everything,
 * and daemon_stop() closes it in the opposite order. Errors before the log is open go to stderr;
 * each failure is one line.
 *
 * Exit status: 0 after a signal or a successful --once or --preview, 2 for a wrong command line, 1
 * otherwise.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/preview_text.h"
#include "include/message_id.h"
#include "lib/control.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "lib/mem.h"
#include "lib/work.h"
#include "mad/preview.h"
#include "mad/umad.h"
#include "sm/control/control.h"
#include "sm/sm.h"
#include "store/settings.h"
#include "weftd/conf.h"
#include "weftd/conf_reference.h"
#include "weftd/daemon.h"
#include "weftd/events.h"
#include "weftd/ha.h"
#include "weftd/log_levels.h"
#include "weftd/manager.h"
#include "weftd/partition_file.h"
#include "weftd/preview_report.h"
#include "weftd/preview_state.h"
#include "weftd/reading.h"
#include "weftd/route_files.h"

enum { EXIT_USAGE = READING_USAGE, STATUS_SIZE = 512, ONCE_SWEEPS_MAX = 3 };
enum { PREVIEW_SWEEPS_MAX = 5 }; /* each tries other known M_Keys of silent devices */

static const char unit_user[] = "weft"; /* User= of systemd/weftd.service */

/* The command line */

enum {
	OPT_STATE_DIR = 256,
	OPT_RUNTIME_DIR,
	OPT_ONCE,
	OPT_PREVIEW,
	OPT_LIST,
	OPT_JSON,
	OPT_CHECK_CONFIG,
	OPT_PRINT_OPTIONS,
	OPT_VERSION,
	OPT_HELP,
};

static const struct option long_options[] = {
	{"state-dir", required_argument, NULL, OPT_STATE_DIR},
	{"runtime-dir", required_argument, NULL, OPT_RUNTIME_DIR},
	{"once", no_argument, NULL, OPT_ONCE},
	{"preview", no_argument, NULL, OPT_PREVIEW},
	{"list", no_argument, NULL, OPT_LIST},
	{"json", no_argument, NULL, OPT_JSON},
	{"check-config", no_argument, NULL, OPT_CHECK_CONFIG},
	{"print-options", required_argument, NULL, OPT_PRINT_OPTIONS},
	{"version", no_argument, NULL, OPT_VERSION},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0},
};

static void weftd_print_help(void)
{
	static const struct {
		const char *form;
		const char *option; /* of the configuration, if it sets one; it has the text */
		const char *text;
	} rows[] = {
		{"-c FILE", NULL, "Configuration to read, instead of /etc/weft/weftd.conf."},
		{"-o NAME=VALUE", NULL, "Sets an option of weftd.conf(5), as in -o sm_priority=5."},
		{"-d CA[:PORT]", "ca", NULL},
		{"-p PORT", "port", NULL},
		{"-g PORT_GUID", "port_guid", NULL},
		{"--state-dir DIR", "state_dir", NULL},
		{"--runtime-dir DIR", "runtime_dir", NULL},
		{"--once", NULL, "Brings the subnet up, then exits and leaves it up."},
		{"--preview", NULL, "Prints what a takeover would write, writes nothing, exits."},
		{"--list", NULL, "With --preview, also prints each changed value."},
		{"--json", NULL, "With --preview, prints JSON."},
		{"--check-config", NULL, "Reads the configuration, prints its errors, exits."},
		{"--print-options FORM", NULL,
		 "With FORM file, prints a configuration file with all options, exits."},
		{"-v", NULL, "Logs more."},
		{"--version", NULL, "Prints the version, exits."},
		{"--help", NULL, "Prints this, exits."},
	};

	puts("Usage: weftd [OPTION]...\n"
	     "Manages the InfiniBand subnet of one port.\n");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		printf("  %-22s", rows[i].form);
		if (rows[i].option)
			conf_reference_summary(rows[i].option, stdout);
		else
			fputs(rows[i].text, stdout);
		putchar('\n');
	}
}

/* Returns the exit status. */
static int print_options(const char *form)
{
	if (conf_reference_print(form, stdout))
		return EXIT_SUCCESS;
	fprintf(stderr, "weftd: cannot print options as \"%s\": use file, man, table or opensm\n",
		form);
	return EXIT_USAGE;
}

static void add_setting(struct daemon *daemon, const char *name, const char *text)
{
	daemon->sources.settings[daemon->sources.num_settings++] = (struct setting){name, text};
}

/* CA or CA:PORT, which is how units are named; cut in two in place. */
static void add_adapter(struct daemon *daemon, char *text)
{
	char *colon = strchr(text, ':');

	add_setting(daemon, "ca", text);
	if (colon) {
		*colon = '\0';
		add_setting(daemon, "port", colon + 1);
	}
}

/* Returns -1 to go on, or the status to exit with. */
static int weftd_parse_command_line(struct daemon *daemon, int argc, char **argv)
{
	int option;

	daemon->sources.settings = mem_array(2 * (size_t)argc, sizeof(*daemon->sources.settings));
	while ((option = getopt_long(argc, argv, "hc:o:d:p:g:v", long_options, NULL)) != -1) {
		switch (option) {
		case 'c':
			daemon->sources.path = optarg;
			break;
		case 'o':
			add_setting(daemon, NULL, optarg);
			break;
		case 'd':
			add_adapter(daemon, optarg);
			break;
		case 'p':
			add_setting(daemon, "port", optarg);
			break;
		case 'g':
			add_setting(daemon, "port_guid", optarg);
			break;
		case OPT_STATE_DIR:
			add_setting(daemon, "state_dir", optarg);
			break;
		case OPT_RUNTIME_DIR:
			add_setting(daemon, "runtime_dir", optarg);
			break;
		case OPT_ONCE:
			daemon->once = true;
			break;
		case OPT_PREVIEW:
			daemon->preview = true;
			break;
		case OPT_LIST:
			daemon->list = true;
			break;
		case OPT_JSON:
			daemon->json = true;
			break;
		case OPT_CHECK_CONFIG:
			daemon->check_config = true;
			break;
		case OPT_PRINT_OPTIONS:
			return print_options(optarg);
		case 'v':
			daemon->verbosity++;
			break;
		case OPT_VERSION:
			puts("weftd " WEFT_VERSION);
			return EXIT_SUCCESS;
		case 'h':
		case OPT_HELP:
			weftd_print_help();
			return EXIT_SUCCESS;
		default: /* getopt has said what is wrong */
			fputs("weftd: --help lists the options\n", stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "weftd: unexpected argument \"%s\"; --help lists the options\n",
			argv[optind]);
		return EXIT_USAGE;
	}
	if ((daemon->list || daemon->json) && !daemon->preview) {
		fprintf(stderr, "weftd: --%s is for --preview only\n",
			daemon->list ? "list" : "json");
		return EXIT_USAGE;
	}
	return -1;
}

/* The configuration */

/* For a start. Returns 0, or the exit status with one line in error. */
static int load(struct daemon *daemon, char error[CONF_ERROR_SIZE])
{
	struct reading reading;
	int status = reading_start(&daemon->sources, &reading, error);

	if (status)
		return status;
	daemon->conf = reading.conf;
	daemon->route_options = reading.options;
	daemon->names = reading.names;
	daemon->plan = reading.plan;
	daemon->names_warning = reading.names_warning;
	return 0;
}

/* The preview */

/* What the preview does not need, or must not wait for. All hosts are notified within the sweep, so
 * that the report has them. */
static void configure_preview(struct conf *conf)
{
	enum { AT_ONCE = 1000000 };

	conf->sm.preview = true;
	conf->sm.standby_only = false;
	conf->sm.readback_s = 0;
	conf->sm.rereg_rate = conf->sm.rereg_rate ? AT_ONCE : 0;
	conf->pm.interval_s = 0;
	if (conf->log_level > LOG_WARNING)
		conf->log_level = LOG_WARNING;
}

/* complete: the fabric was read in full; otherwise result has the reason. Returns a new reference.
 */
static json_t *preview_document(const struct daemon *daemon, bool complete, const char *result)
{
	json_t *status = sm_status(manager_sm(daemon->manager));
	json_t *report = preview_report(daemon->shown, daemon->list), *problems = json_array();
	char *problem = sm_partition_problem(manager_sm(daemon->manager));
	const char *engine =
		json_string_value(json_object_get(json_object_get(status, "routing"), "engine"));

	if (problem)
		json_array_append_new(problems, json_string(problem));
	json_object_set_new(report, "problems", problems);
	json_object_set_new(report, "complete", json_boolean(complete));
	json_object_set_new(report, "result", json_string(result));
	json_object_set_new(report, "engine", json_string(engine ? engine : "none"));
	json_object_set(report, "managers", json_object_get(status, "peers"));
	json_object_set(report, "ca", json_object_get(status, "ca"));
	json_object_set(report, "port", json_object_get(status, "port"));
	json_decref(status);
	free(problem);
	return report;
}

static json_int_t failed_requests(const struct daemon *daemon)
{
	json_t *status = sm_status(manager_sm(daemon->manager));
	json_int_t failed =
		json_integer_value(json_object_get(json_object_get(status, "sweep"), "failed"));

	json_decref(status);
	return failed;
}

static void end_preview(struct daemon *daemon, int error, const char *text)
{
	bool complete = !error && !failed_requests(daemon);
	json_t *report = preview_document(daemon, complete, text);

	if (daemon->json) {
		json_dumpf(report, stdout, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
		putchar('\n');
	} else {
		preview_text_print(report, stdout);
	}
	json_decref(report);
	if (!complete)
		log_error("the preview is incomplete: %s", text);
	if (fflush(stdout)) {
		log_error("cannot write the report: %s", strerror(errno));
		complete = false;
	}
	loop_stop(daemon->loop, complete ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Reports of the loop and the manager */

static void end_by(struct daemon *daemon, const char *name)
{
	if (daemon->once)
		log_error("ended by %s before the subnet was up", name);
	else if (daemon->preview)
		log_error("ended by %s before the preview was complete", name);
	else
		log_notice("ends: %s", name);
	loop_stop(daemon->loop, daemon->once || daemon->preview ? EXIT_FAILURE : EXIT_SUCCESS);
}

static void terminate(void *arg)
{
	end_by(arg, "SIGTERM");
}

static void interrupt(void *arg)
{
	end_by(arg, "SIGINT");
}

/* Names from the fabric are part of text: they must not add a line to the message for systemd. */
static void tell_systemd(struct daemon *daemon, const char *before, const char *text)
{
	char state[STATUS_SIZE];
	int start = snprintf(state, sizeof(state), "%s", before);

	snprintf(state + start, sizeof(state) - (size_t)start, "STATUS=%s", text);
	for (char *at = state + start; *at; at++) {
		if (iscntrl((unsigned char)*at))
			*at = ' ';
	}
	loop_notify(daemon->loop, state);
}

static void reported(void *ctx, int error, bool again, const char *text)
{
	struct daemon *daemon = ctx;

	bool ends = daemon->once || daemon->preview;
	unsigned most = daemon->preview ? PREVIEW_SWEEPS_MAX : ONCE_SWEEPS_MAX;

	tell_systemd(daemon, daemon->reported ? "" : "READY=1\n", text);
	daemon->reported = true;
	/* After a failure, or a change during a sweep, a few more sweeps follow. A preview also
	 * repeats a sweep that has ended with an error: the next sweep tries other known M_Keys. */
	if (ends && (!error || daemon->preview) && again && ++daemon->sweeps <= most)
		return;
	if (daemon->preview)
		end_preview(daemon, error, text);
	if (daemon->once) {
		if (error)
			log_error("cannot bring up the subnet: %s", text);
		loop_stop(daemon->loop, error ? EXIT_FAILURE : EXIT_SUCCESS);
	}
}

/* Start and stop */

/* Before any thread: signals are blocked in each thread by inheritance. */
static int watch_signals(struct daemon *daemon)
{
	static const struct {
		int number;
		const char *name;
		loop_fn *fn;
	} signals[] = {
		{SIGTERM, "SIGTERM", terminate},
		{SIGINT, "SIGINT", interrupt},
		{SIGHUP, "SIGHUP", daemon_hang_up},
	};

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ,
	       SIG_IGN); /* so that a write beyond the limit of file size returns an error */
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		int error = loop_signal(daemon->loop, signals[i].number, signals[i].name,
					signals[i].fn, daemon);

		if (error) {
			log_error("cannot watch %s: %s", signals[i].name, strerror(-error));
			return error;
		}
	}
	return 0;
}

/* A run with --once needs no control socket: it ends soon. */
static int open_control(struct daemon *daemon)
{
	const char *dir = daemon->conf.runtime_dir;
	char *path = mem_printf("%s/control.sock", dir);
	int error;

	if (mkdir(dir, 0755) && errno != EEXIST)
		error = -errno;
	else
		error = control_listen(daemon->loop, path, &daemon->control);
	if (error == -EADDRINUSE) {
		log_error("%s: another weftd serves this socket (stop it, or set another "
			  "--runtime-dir)",
			  path);
	} else if (error && daemon->once) {
		log_debug("%s: no control socket: %s", path, strerror(-error));
		error = 0;
	} else if (error) {
		log_error("%s: no control socket: %s (set --runtime-dir to a directory that weftd "
			  "can write to%s)",
			  path, strerror(-error),
			  error == -ENAMETOOLONG ? ", of at most 94 bytes" : "");
	}
	free(path);
	return error;
}

/* A socket that is on by default must not keep the manager from starting. */
static int open_readonly_control(struct daemon *daemon)
{
	const char *who = daemon->conf.readonly_socket;
	bool preset = strcmp(who, CONF_READONLY_GROUP) == 0;
	char *path;
	int error;

	if (!daemon->control || !*who)
		return 0;
	path = mem_printf("%s/control-ro.sock", daemon->conf.runtime_dir);
	error = control_listen_readonly(daemon->control, path, strcmp(who, "*") != 0 ? who : NULL);
	if (error == -ESRCH && preset) {
		log_debug("no group \"%s\", so %s is not created", who, path);
	} else if (error == -ESRCH) {
		log_error("readonly_socket: no group \"%s\" (create it, or set * for all users)",
			  who);
	} else if (error == -EOPNOTSUPP) {
		log_error("readonly_socket: %s: the file system has no access lists (set * for all "
			  "users, or set --runtime-dir to a directory on another file system)",
			  path);
	} else if (error == -EINVAL) {
		log_error("readonly_socket: %s: weftd cannot give it to group \"%s\" from a user "
			  "namespace without that group (systemd: PrivateUsers=no)",
			  path, who);
	} else if (error) {
		log_error("%s: no read-only control socket: %s (set --runtime-dir to a directory "
			  "that weftd can write to%s)",
			  path, strerror(-error),
			  error == -ENAMETOOLONG ? ", here of at most 91 bytes" : "");
	}
	free(path);
	return preset ? 0 : error;
}

static int open_port(struct daemon *daemon)
{
	const struct conf *conf = &daemon->conf;
	struct umad_choice choice = {
		.ca = conf->ca[0] ? conf->ca : NULL,
		.port = conf->port,
		.port_guid = conf->port_guid,
		.sends_only = daemon->preview,
	};
	char why[STATUS_SIZE];
	int error;

	memcpy(choice.others, conf->failover_ports, sizeof(choice.others));
	error = transport_open_umad(daemon->loop, &choice, &daemon->transport, why, sizeof(why));
	if (error)
		log_error("%s", why);
	if (!error && daemon->preview) {
		daemon->shown = preview_new(daemon->transport);
		daemon->transport = preview_transport(daemon->shown);
	}
	return error;
}

static int open_store(struct daemon *daemon)
{
	char why[STORE_WHY_SIZE];
	int error = store_open(daemon->loop, daemon->conf.state_dir, &daemon->store, why);

	if (error)
		log_error("%s", why);
	return error;
}

/* Call it when everything is open: a start that fails before logs only one line. */
static void log_begin(const struct daemon *daemon)
{
	const struct transport_port *port = &daemon->transport->port;
	const char *path = reading_path(&daemon->sources);

	log_notice("weftd " WEFT_VERSION " started on %s port %u, GUID 0x%016" PRIx64
		   "; configuration %s%s, state in %s%s%s",
		   port->ca, port->port, port->port_guid, path,
		   access(path, F_OK) ? " (missing: defaults)" : "", daemon->conf.state_dir,
		   daemon->conf.sm.standby_only ? ", standby-only" : "",
		   daemon->once ? ", once" : "");
}

/* A bad file must neither open nor change the partitions: the last good file stays in force. */
static int start_partitions(struct daemon *daemon)
{
	const struct log_subject subject = {.message_id = MESSAGE_PARTITIONS_BAD};
	struct sm *sm = manager_sm(daemon->manager);
	char error[CONF_ERROR_SIZE];
	struct partition_file file;
	char *danger = NULL;

	partition_file_read(&daemon->conf, &file, NULL, error);
	if (file.source == PARTITIONS_FILE && sm_has_last_partitions(sm))
		danger = sm_partitions_danger(sm, file.partitions,
					      daemon->conf.sm.partition_confirm_ports);
	if (danger && sm_set_unconfirmed_partitions(sm, danger)) {
		partitions_free(file.partitions);
		free(danger);
		return 0;
	}
	free(danger);
	if (file.source != PARTITIONS_BAD_FILE) {
		sm_set_partitions(sm, file.source, file.partitions);
		return 0;
	}
	if (sm_set_bad_partitions(sm, error))
		return 0;
	log_about(LOG_ERR, &subject,
		  "%s; the partition file is bad, and the store in %s has no last good file: "
		  "correct the file, then start weftd again",
		  error, daemon->conf.state_dir);
	return -EINVAL;
}

static void register_commands(struct daemon *daemon)
{
	manager_register_commands(daemon->manager, daemon->control);
	daemon_register_config(daemon);
	log_levels_register(&daemon->log_levels, daemon->control);
	events_register(daemon->events, daemon->control);
}

static int daemon_open_carrier(struct daemon *daemon)
{
	char error[CONF_ERROR_SIZE];
	int result = ha_open(daemon->loop, &daemon->conf, &daemon->carrier, error);

	daemon->conf.is_replicating = daemon->carrier != NULL;
	if (result)
		log_error("%s", error);
	return result;
}

static const struct node_facts *port_node(void *ctx, guid_t port_guid, unsigned *port)
{
	const struct daemon *daemon = ctx;

	return sm_port_node(manager_sm(daemon->manager), port_guid, port);
}

static int daemon_replicate(struct daemon *daemon)
{
	char why[STREAM_WHY_SIZE], error[CONF_ERROR_SIZE];
	struct psk_list keys;
	int result = ha_read_keys(&daemon->conf, &keys, error);

	if (result) {
		log_error("%s", error);
		return result;
	}
	daemon->ha_keys_digest = psk_digest(&keys);
	result = manager_replicate(daemon->manager, daemon->carrier, &keys, &daemon->conf, why);
	if (result)
		log_error("ha_listen: %s", why);
	explicit_bzero(&keys, sizeof(keys));
	return result;
}

static int start_manager(struct daemon *daemon)
{
	daemon->pool = work_pool_new(daemon->loop, daemon->conf.workers);
	daemon->manager = manager_new(daemon->loop, daemon->pool, daemon->transport, daemon->store,
				      &daemon->conf);
	daemon->events = events_new(daemon->loop, manager_events(daemon->manager),
				    manager_registry(daemon->manager), store_dir(daemon->store),
				    store_worker(daemon->store));
	events_name_ports(daemon->events, port_node, daemon);
	manager_set_route_options(daemon->manager, daemon->route_options);
	manager_set_node_names(daemon->manager, daemon->names);
	daemon->names = NULL;
	manager_set_plan(daemon->manager, daemon->plan, daemon->conf.planned_topology);
	daemon->plan = NULL;
	if (daemon->names_warning)
		log_warning("%s", daemon->names_warning);
	free(daemon->names_warning);
	daemon->names_warning = NULL;
	manager_on_report(daemon->manager, reported, daemon);
	log_levels_init(&daemon->log_levels, daemon->loop, manager_registry(daemon->manager),
			daemon_log_level(daemon));
	manager_show_settings(daemon->manager, &daemon->log_levels.settings);
	if (start_partitions(daemon))
		return -1;
	if (!daemon->preview && daemon_replicate(daemon))
		return -1;
	if (daemon->control)
		register_commands(daemon);
	manager_start(daemon->manager);
	return 0;
}

/* Opens the control socket before the port, so that a second weftd fails without touching the port.
 * Opens the store last: a daemon without a port leaves no files behind. */
static int start(struct daemon *daemon)
{
	daemon->loop = loop_new();
	if (watch_signals(daemon))
		return -1;
	if (daemon->preview) {
		if (open_port(daemon) || open_store(daemon))
			return -1;
		return start_manager(daemon);
	}
	if (open_control(daemon) || open_readonly_control(daemon) || open_port(daemon) ||
	    daemon_open_carrier(daemon) || open_store(daemon))
		return -1;
	log_begin(daemon);
	return start_manager(daemon);
}

static void daemon_stop(struct daemon *daemon)
{
	daemon->is_stopping = true;
	if (daemon->manager) {
		loop_notify(daemon->loop, "STOPPING=1");
		daemon_stop_reload(daemon);
		manager_stop(daemon->manager);
	}
	control_free(daemon->control); /* before the manager: its clients hold requests of it */
	if (daemon->pool)
		work_pool_free(daemon->pool);
	daemon_drop_reloads(daemon);
	events_free(daemon->events);
	if (daemon->manager) {
		log_levels_done(&daemon->log_levels);
		manager_free(daemon->manager);
	}
	store_free(daemon->store);
	if (daemon->carrier)
		daemon->carrier->ops->free(daemon->carrier);
	transport_close(daemon->transport);
	loop_free(daemon->loop);
}

static int daemon_run(struct daemon *daemon)
{
	int status = EXIT_FAILURE;

	log_open();
	log_set_level(NULL, daemon_log_level(daemon));
	if (start(daemon) == 0) {
		status = loop_run(daemon->loop);
		if (status < 0) {
			log_error("the event loop failed: %s", strerror(-status));
			status = EXIT_FAILURE;
		}
	}
	/* Between two starts `systemctl status` shows no log line, but it shows this text. */
	if (status == EXIT_FAILURE)
		tell_systemd(daemon, "", log_last_error());
	daemon_stop(daemon);
	return status;
}

/* Runs a preview on a copy of the state. Returns the exit status. */
static int preview_run(struct daemon *daemon)
{
	char *copy = daemon->conf.state_dir, why[STATUS_SIZE];
	char dir[sizeof(daemon->conf.state_dir)];
	int status = EXIT_FAILURE;

	configure_preview(&daemon->conf);
	memcpy(dir, copy, sizeof(dir));
	if (preview_state_copy(dir, copy, sizeof(dir), why, sizeof(why)))
		fprintf(stderr, "weftd: %s\n", why);
	else
		status = daemon_run(daemon);
	preview_state_remove(copy);
	return status;
}

/* --check-config */

/* Checks configuration and files as a start does. Returns the exit status; the texts are lines of
 * errors and of warnings, for free(). */
static int config_check(const struct daemon *daemon, char **errors, char **warnings)
{
	size_t size;
	FILE *bad = open_memstream(errors, &size), *doubtful = open_memstream(warnings, &size);
	int status;

	if (!bad || !doubtful)
		abort(); /* out of memory */
	status = reading_check(&daemon->sources, bad, doubtful);
	fclose(bad);
	fclose(doubtful);
	return status;
}

/* Changes to this user permanently and repeats the check, because root can read files that the user
 * cannot. Returns the lines of errors. */
static char *check_as(const struct passwd *user, const struct daemon *daemon)
{
	char *errors, *warnings;

	if (initgroups(user->pw_name, user->pw_gid) || setgid(user->pw_gid) || setuid(user->pw_uid))
		return mem_printf("this process cannot change to that user: %s\n", strerror(errno));
	config_check(daemon, &errors, &warnings);
	free(warnings);
	return errors;
}

/* Prints the lines of a text that are not among the known lines. */
static void print_lines(const char *lead, const char *lines, const char *known)
{
	while (*lines) {
		char *line = mem_printf("%.*s\n", (int)strcspn(lines, "\n"), lines);

		if (!strstr(known, line))
			fprintf(stderr, "weftd: %s%s", lead, line);
		lines += strlen(line);
		free(line);
	}
}

/* If root runs this, and the user of the units exists, the check runs as that user: a key file
 * of that user would be refused to root. A file that only this user cannot read is a warning,
 * because root may run weftd directly, or move the files first. */
static int check_config(const struct daemon *daemon)
{
	const struct passwd *user = geteuid() ? NULL : getpwnam(unit_user);
	char *errors, *warnings, *refused, *lead;
	int status = config_check(daemon, &errors, &warnings);

	refused = user && status != EXIT_USAGE ? check_as(user, daemon) : mem_strdup("");
	if (user && !*refused && status != EXIT_USAGE)
		status = EXIT_SUCCESS;
	if (status)
		print_lines("", errors, "");
	else
		puts("configuration ok");
	print_lines("warning: ", warnings, "");
	lead = mem_printf(
		"%sas the user %s of the service: ", status ? "" : "warning: ", unit_user);
	print_lines(lead, refused, errors);
	free(lead);
	free(refused);
	free(warnings);
	free(errors);
	return status;
}

int main(int argc, char **argv)
{
	struct daemon daemon = {0};
	char error[CONF_ERROR_SIZE];
	int status = weftd_parse_command_line(&daemon, argc, argv);

	list_init(&daemon.reloads);
	mem_give_back();
	if (status < 0 && daemon.check_config) {
		status = check_config(&daemon);
	} else if (status < 0) {
		status = load(&daemon, error);
		if (status) {
			fprintf(stderr, "weftd: %s\n", error);
			tell_systemd(&daemon, "", error);
		} else {
			status = daemon.preview ? preview_run(&daemon) : daemon_run(&daemon);
		}
	}
	route_options_unref(daemon.route_options);
	node_names_free(daemon.names);
	net_free(daemon.plan);
	free(daemon.names_warning);
	free(daemon.sources.settings);
	return status;
}

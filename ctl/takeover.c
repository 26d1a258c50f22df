/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * takeover preview: runs `weftd --preview --json` with the user's rights, and reads its report.
 * weftd logs to stderr, which both programs share. A daemon of another port or of this port may
 * run: if it answers, its options are used, except keys, which it does not show. The preview reads
 * those from the configuration file.
 */
#include "ctl/handlers.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/file.h"
#include "ctl/text.h"
#include "formats/preview_text.h"
#include "lib/mem.h"

enum { FIXED_ARGUMENTS = 8, NO_WEFTD = 127 };

/* The daemon does not show this value. */
static bool is_hidden(const char *value)
{
	return *value == '(';
}

/* The caller frees the elements from first_setting on, and the array. */
static char **arguments_of(const json_t *request, const json_t *options, int *first_setting)
{
	const char *config = json_string_value(json_object_get(request, "config"));
	char **argv = mem_array(2 * json_array_size(options) + FIXED_ARGUMENTS, sizeof(*argv));
	int count = 0;
	json_t *option;
	size_t i;

	argv[count++] = "weftd";
	argv[count++] = "--preview";
	argv[count++] = "--json";
	if (json_is_true(json_object_get(request, "list")))
		argv[count++] = "--list";
	*first_setting = count;
	if (config) {
		argv[count++] = mem_strdup("-c");
		argv[count++] = mem_strdup(config);
	}
	json_array_foreach (options, i, option) {
		const char *value = text_member(option, "value");

		if (config || json_is_true(json_object_get(option, "is_default")) ||
		    is_hidden(value))
			continue;
		argv[count++] = mem_strdup("-o");
		argv[count++] = mem_printf("%s=%s", text_member(option, "name"), value);
	}
	argv[count] = NULL;
	return argv;
}

/* Beside weftctl, as in the build folder; in ../sbin, as installed; or in $PATH. */
static void exec_weftd(char **argv)
{
	char self[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *path;

	if (size > 0) {
		self[size] = '\0';
		path = mem_printf("%s/weftd", dirname(self));
		execv(path, argv);
		free(path);
		path = mem_printf("%s/../sbin/weftd", self); /* dirname() has cut it */
		execv(path, argv);
		free(path);
	}
	execvp("weftd", argv);
	_exit(NO_WEFTD);
}

/* Returns the report, a new reference; NULL: weftd printed none. *status: its exit status. */
static json_t *run_weftd(char **argv, int *status)
{
	json_t *report = NULL;
	int ends[2];
	FILE *in;
	pid_t pid;

	*status = EXIT_FAILURE;
	if (pipe(ends))
		return NULL;
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		exec_weftd(argv);
	}
	close(ends[1]);
	in = fdopen(ends[0], "r");
	if (in) {
		report = json_loadf(in, 0, NULL);
		fclose(in);
	}
	if (pid > 0 && waitpid(pid, status, 0) == pid)
		*status = WIFEXITED(*status) ? WEXITSTATUS(*status) : EXIT_FAILURE;
	return report;
}

int takeover_preview(const char *socket, const json_t *request, json_t **result, char **refusal)
{
	json_t *options;
	int first_setting, status;
	char **argv, *no_daemon = NULL;

	file_running_options(socket, &options, &no_daemon);
	free(no_daemon);
	argv = arguments_of(request, options, &first_setting);
	*result = run_weftd(argv, &status);
	for (char **argument = argv + first_setting; *argument; argument++)
		free(*argument);
	free(argv);
	json_decref(options);
	if (*result)
		return 0;
	*refusal = mem_strdup(status == NO_WEFTD
				      ? "cannot run weftd: it is neither beside weftctl nor in "
					"$PATH (install it, or set PATH)"
				      : "weftd --preview failed; its error is in the line before");
	return -EREMOTEIO;
}

void print_preview(const json_t *data, FILE *out)
{
	preview_text_print(data, out);
}

bool preview_failed(const json_t *data)
{
	return !json_is_true(json_object_get(data, "complete"));
}

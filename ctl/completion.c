/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Both scripts are a table and some lines that read it. A line of the table has a command, and
 * behind a bar what may follow: choices of its arguments and names of its options. What stands on
 * the command line before the cursor, without our own options, is either the beginning of commands,
 * whose next words are offered, or has a command before it. Where nothing is offered the shell
 * offers files.
 */
#include "ctl/completion.h"

#include <stdlib.h>
#include <string.h>

static const char bash_begin[] =
	"# Completion of weftctl for bash; made by `weftctl completion bash`.\n"
	"_weftctl() {\n"
	"\tlocal offered='' typed='' skip='' word words rest\n"
	"\n"
	"\tfor word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
	"\t\tif [[ $skip ]]; then\n"
	"\t\t\tskip=''\n"
	"\t\telif [[ $word == -s ]]; then\n"
	"\t\t\tskip=1\n"
	"\t\telif [[ $word != -* ]]; then\n"
	"\t\t\ttyped+=\"$word \"\n"
	"\t\tfi\n"
	"\tdone\n"
	"\tCOMPREPLY=()\n"
	"\t[[ ! $skip ]] || return 0\n"
	"\twhile IFS='|' read -r words rest; do\n"
	"\t\tif [[ $typed == \"$words \"* ]]; then\n"
	"\t\t\toffered+=\" $rest\"\n"
	"\t\telif [[ \"$words \" == \"$typed\"* ]]; then\n"
	"\t\t\twords=${words#\"$typed\"}\n"
	"\t\t\toffered+=\" ${words%% *}\"\n"
	"\t\tfi\n"
	"\tdone <<'END'\n";
static const char bash_end[] = "END\n"
			       "\t[[ $typed ]] || offered+=' --json --help --version -s'\n"
			       "\tmapfile -t COMPREPLY < <(compgen -W \"$offered\" -- "
			       "\"${COMP_WORDS[COMP_CWORD]}\" | sort -u)\n"
			       "}\n"
			       "complete -o default -F _weftctl weftctl\n";

static const char zsh_begin[] =
	"#compdef weftctl\n"
	"# Completion of weftctl for zsh; made by `weftctl completion zsh`.\n"
	"local typed='' skip='' word line rest\n"
	"local -aU offered\n"
	"\n"
	"for word in ${words[2,CURRENT-1]}; do\n"
	"\tif [[ -n $skip ]]; then\n"
	"\t\tskip=''\n"
	"\telif [[ $word == -s ]]; then\n"
	"\t\tskip=1\n"
	"\telif [[ $word != -* ]]; then\n"
	"\t\ttyped+=\"$word \"\n"
	"\tfi\n"
	"done\n"
	"if [[ -n $skip ]]; then\n"
	"\t_files\n"
	"\treturn\n"
	"fi\n"
	"while IFS='|' read -r line rest; do\n"
	"\tif [[ $typed == \"$line \"* ]]; then\n"
	"\t\toffered+=(${=rest})\n"
	"\telif [[ \"$line \" == \"$typed\"* ]]; then\n"
	"\t\tline=${line#\"$typed\"}\n"
	"\t\toffered+=(${line%% *})\n"
	"\tfi\n"
	"done <<'END'\n";
static const char zsh_end[] = "END\n"
			      "[[ -n $typed ]] || offered+=(--json --help --version -s)\n"
			      "compadd -a offered || _files\n";

/* What may stand behind the words of a command. */
static void completion_print_command(const struct ctl_command *command, FILE *out)
{
	fprintf(out, "%s|", command->words);
	for (int i = 0; i < CTL_ARGUMENTS_MAX && command->arguments[i].member; i++) {
		const struct ctl_argument *argument = &command->arguments[i];

		if (argument->option)
			fprintf(out, " --%s", argument->member);
		for (const char *const *choice = argument->choices; choice && *choice; choice++)
			fprintf(out, " %s", *choice);
	}
	fputc('\n', out);
}

int completion_perform(const char *socket, const json_t *request, json_t **result, char **refusal)
{
	(void)socket;
	(void)request;
	(void)refusal;
	*result = json_null();
	return 0;
}

int completion_digest(const json_t *request, json_t **data, char error[CTL_ERROR_SIZE])
{
	const char *shell = json_string_value(json_object_get(request, "shell"));
	bool zsh = shell && !strcmp(shell, "zsh");
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)error;
	if (!out)
		abort();
	fputs(zsh ? zsh_begin : bash_begin, out);
	for (const struct ctl_command *command = ctl_commands; command->words; command++)
		completion_print_command(command, out);
	fputs(zsh ? zsh_end : bash_end, out);
	fclose(out);
	json_decref(*data);
	*data = json_string(text);
	free(text);
	return 0;
}

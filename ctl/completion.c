/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * `weftctl completion bash|zsh`. Both scripts are a table and some lines that read it. A line of
 * the table is a command, the words that may follow it (choices of its arguments, names of its
 * options), and its columns, with bars between them. The scripts skip the options of
 * weftctl itself. If the words before the cursor begin a command, the next words of the command are
 * offered; after a whole command, the words that may follow it. After -o the columns are offered,
 * also after a comma. Otherwise the shell offers files.
 */
#include "ctl/handlers.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/text.h"

static const char bash_begin[] =
	"# Completion of weftctl for bash; made by `weftctl completion bash`.\n"
	"_weftctl() {\n"
	"\tlocal offered='' typed='' skip='' list='' word words rest columns\n"
	"\n"
	"\tfor word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
	"\t\tif [[ $skip ]]; then\n"
	"\t\t\tskip=''\n"
	"\t\telif [[ $word == -s || $word == -o || $word == --output ]]; then\n"
	"\t\t\tskip=$word\n"
	"\t\telif [[ $word != -* ]]; then\n"
	"\t\t\ttyped+=\"$word \"\n"
	"\t\tfi\n"
	"\tdone\n"
	"\tCOMPREPLY=()\n"
	"\t[[ $skip != -s ]] || return 0\n"
	"\tword=${COMP_WORDS[COMP_CWORD]}\n"
	"\t[[ ! $skip || $word != *,* ]] || list=${word%,*},\n"
	"\twhile IFS='|' read -r words rest columns; do\n"
	"\t\tif [[ $typed == \"$words \"* && $skip ]]; then\n"
	"\t\t\toffered=$columns\n"
	"\t\telif [[ $typed == \"$words \"* ]]; then\n"
	"\t\t\toffered+=\" $rest\"\n"
	"\t\telif [[ \"$words \" == \"$typed\"* ]]; then\n"
	"\t\t\twords=${words#\"$typed\"}\n"
	"\t\t\toffered+=\" ${words%% *}\"\n"
	"\t\tfi\n"
	"\tdone <<'END'\n";
static const char bash_end[] = "END\n"
			       "\t[[ $typed ]] || offered+=' --json --help --version -s'\n"
			       "\tmapfile -t COMPREPLY < <(compgen -P \"$list\" -W \"$offered\" -- "
			       "\"${word##*,}\" | sort -u)\n"
			       "}\n"
			       "complete -o default -F _weftctl weftctl\n";

static const char zsh_begin[] =
	"#compdef weftctl\n"
	"# Completion of weftctl for zsh; made by `weftctl completion zsh`.\n"
	"local typed='' skip='' word line rest columns\n"
	"local -aU offered\n"
	"\n"
	"for word in ${words[2,CURRENT-1]}; do\n"
	"\tif [[ -n $skip ]]; then\n"
	"\t\tskip=''\n"
	"\telif [[ $word == -s || $word == -o || $word == --output ]]; then\n"
	"\t\tskip=$word\n"
	"\telif [[ $word != -* ]]; then\n"
	"\t\ttyped+=\"$word \"\n"
	"\tfi\n"
	"done\n"
	"if [[ $skip == -s ]]; then\n"
	"\t_files\n"
	"\treturn\n"
	"fi\n"
	"while IFS='|' read -r line rest columns; do\n"
	"\tif [[ $typed == \"$line \"* && -n $skip ]]; then\n"
	"\t\toffered=(${=columns})\n"
	"\telif [[ $typed == \"$line \"* ]]; then\n"
	"\t\toffered+=(${=rest})\n"
	"\telif [[ \"$line \" == \"$typed\"* ]]; then\n"
	"\t\tline=${line#\"$typed\"}\n"
	"\t\toffered+=(${line%% *})\n"
	"\tfi\n"
	"done <<'END'\n";
static const char zsh_end[] = "END\n"
			      "[[ -n $typed ]] || offered+=(--json --help --version -s)\n"
			      "[[ -z $skip ]] || compset -P '*,'\n"
			      "compadd -a offered || _files\n";

/* Writes the line of a command. */
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
	if (command->columns) {
		fputs(" -o --output --noheadings|", out);
		columns_list(command->columns, " ", out);
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
	FILE *out = text_stream(&text, &size);

	(void)error;
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

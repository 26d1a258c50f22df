/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * `weftctl completion bash|zsh`. Both scripts are a table and some lines that read it. A line of
 * the table is a command, the words that may follow it (choices of its arguments, names of its
 * options), its columns, the requests for the words of its arguments ("complete node"), and the
 * values of its options, with bars between them. The scripts skip the options of weftctl itself. If
 * the words before the cursor begin a command, the next words of the command are offered; after a
 * whole command, the words that may follow it. After -o the columns are offered, also after a
 * comma. Otherwise the shell offers files.
 *
 * The scripts get names from weftd by weftctl, which gives up after a second. Nodes choose their
 * names, so the scripts quote each name, and never let the shell expand it.
 */
#include "ctl/handlers.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/text.h"
#include "lib/hash.h"
#include "lib/map.h"

static const char bash_begin[] =
	"# Completion of weftctl for bash; made by `weftctl completion bash`.\n"
	"_weftctl() {\n"
	"\tlocal offered='' typed='' skip='' list='' word name plain place valued\n"
	"\tlocal words rest columns kinds values kind='' value=''\n"
	"\tlocal given=() socket=() found=() parts=() sorts=()\n";
static const char bash_reader[] = "\n"
				  "\tfor word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
				  "\t\tif [[ $skip && $word == = ]]; then\n"
				  "\t\t\tcontinue\n"
				  "\t\telif [[ $skip ]]; then\n"
				  "\t\t\t[[ $skip != -s ]] || socket=(-s \"$word\")\n"
				  "\t\t\tskip=''\n"
				  "\t\telif [[ $valued == *\" $word \"* ]]; then\n"
				  "\t\t\tskip=$word\n"
				  "\t\telif [[ $word != -* ]]; then\n"
				  "\t\t\ttyped+=\"${word// /_} \"\n"
				  "\t\t\tgiven+=(\"$word\")\n"
				  "\t\tfi\n"
				  "\tdone\n"
				  "\tCOMPREPLY=()\n"
				  "\t[[ $skip != -s ]] || return 0\n"
				  "\tword=${COMP_WORDS[COMP_CWORD]}\n"
				  "\t[[ ! $skip || $word != = ]] || word=''\n"
				  "\twhile IFS='|' read -r words rest columns kinds values; do\n"
				  "\t\tif [[ $typed != \"$words \"* ]]; then\n"
				  "\t\t\t[[ \"$words \" == \"$typed\"* && ! $skip ]] || continue\n"
				  "\t\t\twords=${words#\"$typed\"}\n"
				  "\t\t\toffered+=\" ${words%% *}\"\n"
				  "\t\telif [[ $skip == -o || $skip == --output ]]; then\n"
				  "\t\t\toffered=$columns\n"
				  "\t\telif [[ $skip && $values == *\" $skip=\"* ]]; then\n"
				  "\t\t\tvalue=${values#*\" $skip=\"}\n"
				  "\t\t\tvalue=${value%% *}\n"
				  "\t\t\t[[ $value != @* ]] || kind=${value#@}\n"
				  "\t\t\t[[ $value == @* ]] || offered=${value//,/ }\n"
				  "\t\telif [[ ! $skip ]]; then\n"
				  "\t\t\toffered+=\" $rest\"\n"
				  "\t\t\tread -ra parts <<<\"$words\"\n"
				  "\t\t\tread -ra sorts <<<\"$kinds\"\n"
				  "\t\t\tplace=$((${#given[@]} - ${#parts[@]}))\n"
				  "\t\t\tif ((place >= ${#sorts[@]})) && [[ $kinds == *+ ]]; then\n"
				  "\t\t\t\tplace=$((${#sorts[@]} - 1))\n"
				  "\t\t\tfi\n"
				  "\t\t\tkind=${sorts[place]:-}\n"
				  "\t\t\tkind=${kind%+}\n"
				  "\t\tfi\n"
				  "\tdone <<'END'\n";
static const char bash_end[] =
	"END\n"
	"\t[[ $typed || $skip ]] || offered+=' --json --wide --help --version -s'\n"
	"\tif [[ $word == *,* && ($kind == e* || ! $kind && $skip) ]]; then\n"
	"\t\tlist=${word%,*},\n"
	"\tfi\n"
	"\tmapfile -t COMPREPLY < <(compgen -P \"$list\" -W \"$offered\" -- \"${word##*,}\" | sort "
	"-u)\n"
	"\t[[ $kind && $kind != - && $word != -* ]] || return 0\n"
	"\n"
	"\t# Names that weftd has, after a limited time. The shell must not expand them.\n"
	"\tplain=${word#\"$list\"}\n"
	"\tcase $plain in\n"
	"\t\\$[\\\"\\']*) plain=${plain:2} ;;\n"
	"\t[\\\"\\']*) plain=${plain:1} ;;\n"
	"\t*) plain=${plain//\\\\/} ;;\n"
	"\tesac\n"
	"\tname=${given[-1]}\n"
	"\t[[ $name != \\$[\\\"\\']* ]] || name=${name:1}\n"
	"\tname=${name//[\\\\\\\"\\']/}\n"
	"\tif [[ $kind == port ]]; then\n"
	"\t\tfound=(\"$name\" \"$plain\")\n"
	"\telse\n"
	"\t\tfound=(\"$plain\")\n"
	"\tfi\n"
	"\tmapfile -t found < <(\"$1\" \"${socket[@]}\" complete \"$kind\" -- \"${found[@]}\" "
	"2>/dev/null |\n"
	"\t\tsort -u)\n"
	"\t((${#found[@]})) || return 0\n"
	"\tcase $word in\n"
	"\t\\$\\'*) mapfile -t found < <(printf '%s\\n' \"${found[@]}\" | grep -v \"[\\\\\\\\']\") "
	";;\n"
	"\t\\\"* | \\$\\\"*) mapfile -t found < <(printf '%s\\n' \"${found[@]}\" | grep -v "
	"'[$`\"\\\\!]') ;;\n"
	"\t\\'*) mapfile -t found < <(printf '%s\\n' \"${found[@]}\" | grep -v \"'\") ;;\n"
	"\t*)\n"
	"\t\tmapfile -t found < <(printf '%q\\n' \"${found[@]}\" | sed 's/[=:]/\\\\&/g')\n"
	"\t\tfound=(\"${found[@]/#/$list}\")\n"
	"\t\t;;\n"
	"\tesac\n"
	"\tCOMPREPLY+=(\"${found[@]}\")\n"
	"}\n"
	"complete -o default -F _weftctl weftctl\n";

static const char zsh_begin[] =
	"#compdef weftctl\n"
	"# Completion of weftctl for zsh; made by `weftctl completion zsh`.\n"
	"local typed='' skip='' word line rest columns kinds values kind='' value='' valued place\n"
	"local -aU offered\n"
	"local -a given socket parts sorts found asked\n";
static const char zsh_reader[] = "\n"
				 "for word in ${words[2,CURRENT-1]}; do\n"
				 "\tif [[ -n $skip ]]; then\n"
				 "\t\t[[ $skip != -s ]] || socket=(-s \"${(Q)word}\")\n"
				 "\t\tskip=''\n"
				 "\telif [[ $valued == *\" $word \"* ]]; then\n"
				 "\t\tskip=$word\n"
				 "\telif [[ $word != -* ]]; then\n"
				 "\t\tgiven+=(\"${(Q)word}\")\n"
				 "\t\ttyped+=\"${given[-1]// /_} \"\n"
				 "\tfi\n"
				 "done\n"
				 "if [[ $skip == -s ]]; then\n"
				 "\t_files\n"
				 "\treturn\n"
				 "fi\n"
				 "while IFS='|' read -r line rest columns kinds values; do\n"
				 "\tif [[ $typed != \"$line \"* ]]; then\n"
				 "\t\t[[ \"$line \" == \"$typed\"* && -z $skip ]] || continue\n"
				 "\t\tline=${line#\"$typed\"}\n"
				 "\t\toffered+=(${line%% *})\n"
				 "\telif [[ $skip == -o || $skip == --output ]]; then\n"
				 "\t\toffered=(${=columns})\n"
				 "\telif [[ -n $skip && $values == *\" $skip=\"* ]]; then\n"
				 "\t\tvalue=${values#*\" $skip=\"}\n"
				 "\t\tvalue=${value%% *}\n"
				 "\t\t[[ $value != @* ]] || kind=${value#@}\n"
				 "\t\t[[ $value == @* ]] || offered=(${(s:,:)value})\n"
				 "\telif [[ -z $skip ]]; then\n"
				 "\t\toffered+=(${=rest})\n"
				 "\t\tparts=(${=line})\n"
				 "\t\tsorts=(${=kinds})\n"
				 "\t\tplace=$(($#given - $#parts + 1))\n"
				 "\t\t[[ $place -le $#sorts || $kinds != *+ ]] || place=$#sorts\n"
				 "\t\tkind=${sorts[place]:-}\n"
				 "\t\tkind=${kind%+}\n"
				 "\tfi\n"
				 "done <<'END'\n";
static const char zsh_end[] =
	"END\n"
	"[[ -n $typed || -n $skip ]] || offered+=(--json --wide --help --version -s)\n"
	"[[ $kind != e* && ( -n $kind || -z $skip ) ]] || compset -P '*,'\n"
	"\n"
	"# Names that weftd has, after a limited time. compadd quotes them.\n"
	"if [[ -n $kind && $kind != - && $PREFIX != -* ]]; then\n"
	"\tasked=(\"${(Q)PREFIX}\")\n"
	"\t[[ $kind != port ]] || asked=(\"${given[-1]}\" $asked)\n"
	"\tfound=(\"${(@f)$(\"${(Q)words[1]}\" $socket complete $kind -- \"${asked[@]}\" "
	"2>/dev/null)}\")\n"
	"\t[[ -z ${found[1]:-} ]] || offered+=(\"${found[@]}\")\n"
	"fi\n"
	"compadd -a offered || _files\n";

/* Writes the requests for the words of each argument that is no option; "-": there is none, "+" at
 * the end: it may come more than once. */
static void print_kinds(const struct ctl_command *command, FILE *out)
{
	const char *before = "";

	for (int i = 0; i < CTL_ARGUMENTS_MAX && command->arguments[i].member; i++) {
		const struct ctl_argument *argument = &command->arguments[i];

		if (argument->option)
			continue;
		fprintf(out, "%s%s%s", before, argument->completes ? argument->completes : "-",
			argument->many ? "+" : "");
		before = " ";
	}
}

/* Writes the values of options: "--by=data,wait" are choices, "--node=@node" the request for its
 * words. */
static void print_values(const struct ctl_command *command, FILE *out)
{
	for (int i = 0; i < CTL_ARGUMENTS_MAX && command->arguments[i].member; i++) {
		const struct ctl_argument *argument = &command->arguments[i];
		const char *before = "";

		if (!argument->option || (!argument->completes && !argument->choices))
			continue;
		fprintf(out, " --%s=", argument->member);
		if (argument->completes)
			fprintf(out, "@%s", argument->completes);
		for (const char *const *choice = argument->choices; choice && *choice; choice++) {
			fprintf(out, "%s%s", before, *choice);
			before = ",";
		}
	}
	fputs(" ", out);
}

/* Writes the names of all options with a value. */
static void print_valued(FILE *out)
{
	struct map written = {0};

	fputs("\tvalued=' -s -o -n --output ", out);
	for (const struct ctl_command *command = ctl_commands; command->words; command++) {
		for (int i = 0; i < CTL_ARGUMENTS_MAX && command->arguments[i].member; i++) {
			const struct ctl_argument *argument = &command->arguments[i];
			uint64_t key =
				hash_bytes(HASH_SEED, argument->member, strlen(argument->member));

			if (argument->option && !argument->flag &&
			    !map_put(&written, key, (void *)(uintptr_t)argument->member))
				fprintf(out, "--%s ", argument->member);
		}
	}
	map_done(&written);
	fputs("'\n", out);
}

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
	if (command->columns)
		fputs(" -o --output --noheadings", out);
	fputc('|', out);
	if (command->columns)
		columns_list(command->columns, " ", out);
	fputc('|', out);
	print_kinds(command, out);
	fputc('|', out);
	print_values(command, out);
	fputc('\n', out);
}

void print_word(const json_t *row, FILE *out)
{
	fprintf(out, "%s\n", json_is_string(row) ? json_string_value(row) : "");
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
	print_valued(out);
	fputs(zsh ? zsh_reader : bash_reader, out);
	for (const struct ctl_command *command = ctl_commands; command->words; command++)
		if (!command->hidden)
			completion_print_command(command, out);
	fputs(zsh ? zsh_end : bash_end, out);
	fclose(out);
	json_decref(*data);
	*data = json_string(text);
	free(text);
	return 0;
}

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The completion of weftctl in bash and, when the tabulator key is pressed at its prompt, in zsh; and that it has all
# commands.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

# offers WANTED WORD...: for the last of the words, which may be empty.
offers() {
	local wanted=$1

	shift
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_weftctl
	equal "the completions" "${COMPREPLY[*]}" "$wanted"
}

# Each command of --help can be typed by completion.
has_all() {
	local words word typed

	while read -r words; do
		typed=(weftctl)
		for word in $words; do
			offers "$word" "${typed[@]}" "$word" || [[ " ${COMPREPLY[*]} " == *" $word "* ]] ||
				because "\"$word\" of \"$words\" is not offered" || return 1
			typed+=("$word")
		done
	done < <("$BUILD/weftctl" --help | sed -n '/^Commands:/,$ s/^  \([a-z][a-z]*\( [a-z][a-z]*\)*\).*/\1/p' | grep -vx help)
	[ ${#typed[@]} -gt 1 ] || because "--help lists no command"
}

# The usage of a command in --help is complete.
help_is_whole() {
	"$BUILD/weftctl" --help >help.txt
	matches '--q_key N\]$' help.txt || because "it lacks the last option of partition add"
}

# The manual's list of commands is generated: tests/system/generated.sh compares it.
help_and_completion_agree() {
	local words

	"$BUILD/weftctl" --help | sed -n '/^Commands:/,/^$/ s/^  \([a-z][^ ].*\)/\1/p' | sed 's/   *.*//' | grep -v '^help' | sort >usages.txt
	"$BUILD/weftctl" completion bash | sed -n "/<<'END'/,/^END/ s/^\([a-z ]*\)|.*/\1/p" >commands.txt
	[ "$(wc -l <usages.txt)" -gt 40 ] || because "--help lists $(wc -l <usages.txt) commands" || return 1
	equal "the number of commands that are completed" "$(wc -l <commands.txt)" "$(wc -l <usages.txt)" || return 1
	for words in --json --help --version '-s'; do
		grep -q -- "^  $words " <("$BUILD/weftctl" --help) && grep -qE "^\.BI? .*${words//-/\\\\-}" "$root/man/weftctl.8" &&
			grep -q -- " $words" <("$BUILD/weftctl" completion bash) && grep -q -- "[( ]$words" <("$BUILD/weftctl" completion zsh) ||
			because "$words is not everywhere" || return 1
	done
}

# The --help of a command has it, and otherwise only commands that begin with it; its options are completed.
helps() {
	local usage words option

	while read -r words; do
		# shellcheck disable=SC2086 # words are meant
		"$BUILD/weftctl" $words --help >help.txt || because "weftctl $words --help fails" || return 1
		usage=$(awk -v words="$words" 'index($0 " ", words " ") == 1 { print; exit }' usages.txt)
		grep -qF "  $usage" help.txt || because "weftctl $words --help lacks: $usage" || return 1
		[ "$(sed -n '/^Commands:/,/^$/p' help.txt | grep -c '^  [a-z]')" = "$(awk -v words="$words" 'index($0 " ", words " ") == 1' usages.txt | wc -l)" ] ||
			because "weftctl $words --help: $(cat help.txt)" || return 1
		for option in $(grep -oE -- '--[a-z_0-9-]+' <<<"$usage"); do
			grep -qE "^$words\|.* $option( |$)" <("$BUILD/weftctl" completion bash) || because "$option of $words is not completed" ||
				return 1
		done
	done <commands.txt
	"$BUILD/weftctl" help port disable | diff - <("$BUILD/weftctl" port disable --help) >difference.txt ||
		because "help and --help differ: $(head -n 3 difference.txt)" || return 1
	"$BUILD/weftctl" prot --help >help.txt 2>&1
	equal "the status for an unknown command" $? 2
}

# offered.zsh LINE [TEXT]: a shell at a terminal, with the script where compinit finds it, prints the completions of a
# line; it waits for TEXT.
zsh_begins() {
	"$BUILD/weftctl" completion zsh >_weftctl && matches '^#compdef weftctl' _weftctl ||
		because "zsh would not know whose the script is" || return 1
	cat >offered.zsh <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
for line in 'PROMPT=; fpath=('$PWD' $fpath); autoload -Uz compinit; compinit -u -D' \
	'compadd() { local -a hits; builtin compadd -O hits "$@"; print -r -- "<${(j: :)hits}>"; builtin compadd "$@" }' \
	'print READY'; do
	zpty -w shell $line
done
zpty -r shell out $'*\nREADY*'
zpty -w -n shell "$1"$'\t'
zpty -r shell out "*${2:-<*>}*"
print -r -- $out
zpty -d shell
END
}

# zsh_offers WANTED LINE
zsh_offers() {
	local offered

	timeout 20 zsh -f offered.zsh "$2" >offered.txt 2>&1 || because "zsh: $(tail -n 1 offered.txt)" || return 1
	offered=$(sed -n 's/.*<\(.*\)>.*/\1/p' offered.txt | tr ' ' '\n' | sort | xargs)
	equal "the completions" "$offered" "$1"
}

check "a script for bash" eval "$("$BUILD/weftctl" completion bash)" || finish
check "all commands" has_all
check "the second word" offers "check reload show" weftctl config ''
check "its beginning" offers "reload" weftctl config r
check "the choices of an argument" offers "heavy light" weftctl sweep ''
check "an option" offers "--engine" weftctl route plan --
check "the options of a list" offers "--noheadings --output -o" weftctl node list -
check "a column of a list" offers "LEVEL" weftctl log level --output L
check "a second column" offers "FROM-LID,TO-LID" weftctl link list -o FROM-LID,TO-L
check "behind other options" offers "add remove" weftctl --json -s /some/socket partition member ''
check "a file for -s" offers "" weftctl -s ''
check "files where nothing else fits" offers "" weftctl topology check ''
check "our own options" offers "--help --json --version" weftctl --
check "--help has the longest command" help_is_whole
check "--help and the completion have the same commands and options" help_and_completion_agree
check "the help of each command" helps
# zsh_completes LINE TEXT: by completions that are not the script's.
zsh_completes() {
	timeout 20 zsh -f offered.zsh "$1" "$2" >offered.txt 2>&1 || because "nothing is completed"
}

if ! command -v zsh >/dev/null; then
	echo "skip zsh: no zsh here"
	finish
fi
check "a script for zsh" zsh_begins || finish
check "zsh: the second word" zsh_offers "check reload show" 'weftctl config '
check "zsh: its beginning" zsh_offers "reload" 'weftctl config r'
check "zsh: the choices of an argument" zsh_offers "heavy light" 'weftctl sweep '
check "zsh: an option" zsh_offers "--engine" 'weftctl route plan --'
check "zsh: a column of a list" zsh_offers "TO-GUID TO-LID TO-PORT" 'weftctl link list -o LID,TO-'
check "zsh: behind other options" zsh_offers "add remove" 'weftctl --json -s /some/socket partition member '
check "zsh: files where nothing else fits" zsh_completes 'weftctl topology check off' offered.zsh
check "zsh: our own options" zsh_offers "--help --json --version" 'weftctl --'
finish

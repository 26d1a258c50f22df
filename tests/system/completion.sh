#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# What the completion of weftctl offers in bash, and that all its commands are in it. Where there is a zsh
# it reads its script, too.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

# offers WANTED WORD...: for the last of the words, which may be empty.
offers() {
	local wanted=$1

	shift
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_weftctl
	equal "what is offered" "${COMPREPLY[*]}" "$wanted"
}

# Each command of --help can be typed by what is offered.
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

# What --help says of a command is all of it.
help_is_whole() {
	"$BUILD/weftctl" --help >help.txt
	matches '--q_key N\]$' help.txt || because "it lacks the last option of partition add"
}

zsh_reads_it() {
	"$BUILD/weftctl" completion zsh >_weftctl || because "no script" || return 1
	matches '^#compdef weftctl' _weftctl || because "zsh would not know whose it is" || return 1
	if command -v zsh >/dev/null; then
		zsh -n _weftctl 2>zsh.txt || because "$(head -n 1 zsh.txt)"
	fi
}

check "a script for bash" eval "$("$BUILD/weftctl" completion bash)" || finish
check "all commands" has_all
check "the second word" offers "check reload show" weftctl config ''
check "its beginning" offers "reload" weftctl config r
check "the choices of an argument" offers "full light" weftctl sweep ''
check "an option" offers "--engine" weftctl route plan --
check "behind other options" offers "add remove" weftctl --json -s /some/socket partition member ''
check "a file for -s" offers "" weftctl -s ''
check "files where nothing else fits" offers "" weftctl topology check ''
check "our own options" offers "--help --json --version" weftctl --
check "--help has the longest command" help_is_whole
check "a script for zsh" zsh_reads_it
finish

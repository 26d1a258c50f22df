#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The completion of weftctl in bash and, when the tabulator key is pressed at its prompt, in zsh; that it has all
# commands; and that bash completes the names of a fabric, which nodes choose, as the shell reads them.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

# offers WANTED WORD...: for the last of the words, which may be empty.
offers() {
	local wanted=$1

	shift
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_weftctl "$BUILD/weftctl"
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
	for words in --json --wide --help --version '-s'; do
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
			grep -qE "^${words}\|.* ${option}[ |]" <("$BUILD/weftctl" completion bash) || because "$option of $words is not completed" ||
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
check "our own options" offers "--help --json --version --wide" weftctl --
check "--help has the longest command" help_is_whole
check "--help and the completion have the same commands and options" help_and_completion_agree
check "the help of each command" helps
fabric_runs() {
	"$BUILD/weftsim" topology fattree:radix=4,levels=2 | sed "s/# \"host-0003/# \"host-0003 mlx5_0/
		s/# \"host-0004/# \"MF0;sw:MSB\$(touch made)/" >net.txt
	start_weftsim net.txt || return 1
	start_weftd daemon host-0001 || return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)" || return 1
	ctl daemon partition add 0x0021 storage >done.txt && ctl daemon partition add 0x0022 'stock two' >done.txt ||
		because "no partition: $(cat done.txt)"
	export WEFT_SOCKET=$work/daemon.run/control.sock
}

# shell_reads WORD...: bash reads the completion as the last word, and runs nothing.
shell_reads() {
	local wanted=$1 word

	shift
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_weftctl "$BUILD/weftctl"
	[ ${#COMPREPLY[@]} -eq 1 ] || because "the completions are ${COMPREPLY[*]:-none}" || return 1
	word=$(eval "printf '%s' ${COMPREPLY[0]}")
	[ ! -e made ] || because "a name was run" || return 1
	equal "the word that the shell reads" "$word" "$wanted"
}

# A daemon that reads nothing delays the prompt for a second, and one that does not run not at all.
stays_silent() {
	local started=$SECONDS

	kill -STOP "${pids[daemon]}"
	offers '' weftctl node show leaf 2>said.txt || return 1
	kill -CONT "${pids[daemon]}"
	[ $((SECONDS - started)) -le 3 ] || because "it took $((SECONDS - started)) s" || return 1
	offers '' weftctl -s "$work/none" node show leaf 2>>said.txt || return 1
	[ ! -s said.txt ] || because "it says: $(cat said.txt)"
}

only_matches() {
	"$BUILD/weftctl" complete node "$1" >words.txt || because "the request fails" || return 1
	[ -s words.txt ] && ! grep -qv "^$1" words.txt || because "the answer: $(head -n 3 words.txt)"
}

hidden() {
	! "$BUILD/weftctl" --help | grep -q '^  complete ' || because "--help has the request" || return 1
	! "$BUILD/weftctl" cmplete 2>&1 | grep -q '"complete' || because "an error suggests the request" || return 1
	! grep -q 'fBcomplete\\fR' "$root/man/weftctl.8" || because "the page has the request"
}

# zsh_completes LINE TEXT: by completions that are not the script's.
zsh_completes() {
	timeout 20 zsh -f offered.zsh "$1" "$2" >offered.txt 2>&1 || because "nothing is completed"
}

check "the request of the completion is in no list of commands" hidden
if [ -n "${SANITIZE:-}" ]; then
	echo "skip completion of names: weftsim's preload library and sanitizers do not go together"
else
	check "a fabric" fabric_runs || finish
	check "nodes" offers "leaf-01 leaf-02 leaf-03 leaf-04" weftctl node show leaf
	check "nodes, behind -s" offers "spine-01 spine-02" weftctl -s "$WEFT_SOCKET" route show leaf-01 sp
	check "a node that another shell word follows" offers "leaf-03" weftctl partition member add 0x21 leaf-01 leaf-03
	guid=$(ctl daemon node list | json 'map { $_->{guid} } grep { $_->{description} eq "leaf-02" } @$_')
	check "a node by its GUID" offers "$guid" weftctl node show "${guid:0:17}"
	check "a name with a blank" shell_reads "host-0003 mlx5_0" weftctl node show 'host-0003\ ml'
	check "a name that is a command" shell_reads 'MF0;sw:MSB$(touch made)' weftctl node show 'MF0'
	check "a name that is a command, between quotes" offers '' weftctl node show '"MF0'
	check "the same between other quotes" offers 'MF0;sw:MSB$(touch made)' weftctl node show "'MF0"
	check "the same between quotes for escapes" offers 'MF0;sw:MSB$(touch made)' weftctl node show "\$'MF0"
	check "a name with a blank between such quotes" offers 'host-0003 mlx5_0' weftctl node show "\$'host-0003 m"
	check "the ports of a node between such quotes" offers "1" weftctl perf show "\$'host-0003 mlx5_0'" ''
	check "the ports of a switch" offers "1 2 3 4" weftctl port show leaf-01 ''
	check "the ports of an adapter with a blank in its name" offers "1" weftctl perf show 'host-0003\ mlx5_0' ''
	check "partitions by name" shell_reads storage weftctl partition show stor
	check "a partition whose name has a blank" shell_reads 'stock two' weftctl partition show stoc
	check "the second node of why" offers "leaf-03" weftctl why leaf-01 leaf-03
	check "a partition whose members change" offers "storage" weftctl partition member remove stor
	check "partitions by P_Key" offers "0x0021 0x0022" weftctl partition rename 0x002
	check "engines" offers "updn" weftctl route plan --engine up
	check "a second engine" offers "ftree,minhop" weftctl route engine ftree,m
	check "log components" offers "sa sm store" weftctl log level s
	check "the nodes of why" offers "leaf-03" weftctl why leaf-01 leaf-03
	check "event kinds" offers "partition port" weftctl events --kind p
	check "a second event kind" offers "link,trap" weftctl events --kind link,t
	check "the node of events" offers "spine-01 spine-02" weftctl events --node sp
	check "the answer has only matches" only_matches host-000
	check "nothing where no daemon answers" stays_silent
fi
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
if [ -n "${WEFT_SOCKET:-}" ]; then
	PATH=$BUILD:$PATH
	check "zsh: nodes" zsh_offers "leaf-01 leaf-02 leaf-03 leaf-04" 'weftctl node show leaf'
	check "zsh: a node behind another word" zsh_offers "spine-01 spine-02" 'weftctl route show leaf-01 sp'
	check "zsh: a name with a blank" zsh_offers "host-0003 mlx5_0" 'weftctl node show host-0003\ m'
	check "zsh: a name that is a command" zsh_offers 'MF0;sw:MSB$(touch made)' 'weftctl node show MF0'
	check "zsh: a name that is a command was not run" test ! -e made
	check "zsh: the ports of an adapter with a blank in its name" zsh_offers "1" 'weftctl perf show host-0003\ mlx5_0 '
	check "zsh: the second node of why" zsh_offers "leaf-03" 'weftctl why leaf-01 leaf-03'
	check "zsh: partitions" zsh_offers "storage" 'weftctl partition show stor'
	check "zsh: engines" zsh_offers "updn" 'weftctl route plan --engine up'
	check "zsh: the node of events" zsh_offers "spine-01 spine-02" 'weftctl events --node sp'
fi
check "zsh: our own options" zsh_offers "--help --json --version --wide" 'weftctl --'
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The tables of weftctl on a terminal, with script(1) as the terminal and node names of the greatest length. Names are
# cut until the row fits, numbers and GUIDs never. In a pipe every cell is complete.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip terminal: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

# Tables that fit 80 columns with names of 10 characters, and those that fit 60.
fit_80=(status 'node list' 'port list' 'port list leaf-02' 'port list host-0001' 'config show' 'route show 0x1 0x2'
	'perf errors' 'perf top' 'multicast list' 'partition list' 'partition show 0x7fff' 'node show leaf-02'
	'node show host-0001')
fit_60=(status 'node list' 'route show 0x1 0x2')

daemon_runs() {
	"$BUILD/weftsim" topology fattree:radix=4,levels=2 |
		sed 's/# "host-0002/& mlx5_0 in the second row, rack 17, café de la gare/
			s/# "spine-01/& with a name that goes on for long, up to the end/' >long.net
	start_weftsim long.net || return 1
	start_weftd daemon host-0001 || return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)" || return 1
	ctl daemon perf sweep >done.txt && ctl daemon perf sweep >done.txt || because "no counters are read" || return 1
	ctl daemon node list >nodes.json
	matches 'rack 17, caf' nodes.json || because "no node has a long name"
}

typed() {
	"$BUILD/weftctl" -s "$work/daemon.run/control.sock" "$@"
}

# on_terminal COLUMNS COMMAND: the output on a terminal of this width, in shown.txt.
on_terminal() {
	script -qec "stty cols $1; '$BUILD/weftctl' -s '$work/daemon.run/control.sock' $2" /dev/null </dev/null |
		tr -d '\r' >shown.txt
}

widest() {
	LC_ALL=C.UTF-8 awk '{ gsub(/[\x80-\xbf]/, "") } length > most { most = length } END { print most + 0 }' "$1"
}

# whole FILE: its numbers and GUIDs, one a line, without those in names and headings.
whole() {
	grep -oE '\<0x[0-9a-f]{4,16}\>' "$1" | sort
}

# fits COLUMNS COMMAND...: no line is wider.
fits() {
	local command

	for command in "${@:2}"; do
		command=${command/0x1 0x2/$first $second}
		is_whole "$1" "$command" || return 1
		[ "$(widest shown.txt)" -le "$1" ] || because "weftctl $command: $(sort shown.txt | tail -n 1)" || return 1
	done
}

# is_whole COLUMNS COMMAND: a terminal shows the GUIDs and P_Keys that a pipe gets.
is_whole() {
	# shellcheck disable=SC2086 # words are meant
	typed $2 >piped.txt || because "weftctl $2 fails" || return 1
	on_terminal "$1" "$2"
	[ -s shown.txt ] || because "weftctl $2 shows nothing" || return 1
	equal "the GUIDs and P_Keys of weftctl $2" "$(whole shown.txt)" "$(whole piped.txt)"
}

names_are_cut() {
	on_terminal 60 'node list'
	grep -qE '^0x[0-9a-f]{16} [a-zA-Z]+ +[0-9]+ +1 +1 host-0002 mlx5_0$' shown.txt ||
		because "node list: $(grep host-0002 shown.txt)" || return 1
	equal "the widest line" "$(widest shown.txt)" 60 || return 1
	grep -qE ' host-0003$' shown.txt || because "a name that fits is cut: $(grep host-0003 shown.txt)"
}

# A row that does not fit is complete except for its names, of which 10 characters stay.
wide_rows_stay() {
	is_whole 60 'link list' || return 1
	equal "the number of lines" "$(wc -l <shown.txt)" "$(wc -l <piped.txt)" || return 1
	grep -qE '^0x[0-9a-f]{16} leaf-01 .* 0x[0-9a-f]{16} spine-01 w +[0-9]+ +[0-9]+ ACTIVE 4x EDR 4096$' shown.txt ||
		because "the last link: $(tail -n 1 shown.txt)"
}

columns_are_chosen() {
	on_terminal 30 'node list -o description,LID --noheadings'
	equal "the number of lines" "$(wc -l <shown.txt)" "$(ctl daemon node list | json 'scalar @$_')" || return 1
	equal "the widest line" "$(widest shown.txt)" 30 || return 1
	grep -qE '^leaf-01 +1$' shown.txt || because "it says: $(cat shown.txt)"
}

columns_says() {
	COLUMNS=56 on_terminal 80 'node list'
	equal "the widest line" "$(widest shown.txt)" 56 || return 1
	COLUMNS=nonsense on_terminal 60 'node list'
	equal "the widest line" "$(widest shown.txt)" 60
}

pipe_is_whole() {
	COLUMNS=60 typed node list >piped.txt
	matches ' host-0002 mlx5_0 in the second row, rack 17, café de la gare$' piped.txt ||
		because "it says: $(grep host-0002 piped.txt)" || return 1
	on_terminal 200 'node list'
	diff piped.txt shown.txt >difference.txt || because "a wide terminal: $(head -n 2 difference.txt)"
}

check "a daemon, and long names" daemon_runs || finish
first=$(json '$_->[0]{guid}' <nodes.json) second=$(json '$_->[-1]{guid}' <nodes.json)
check "tables fit 80 columns" fits 80 "${fit_80[@]}"
check "tables fit 60 columns" fits 60 "${fit_60[@]}"
check "names are cut, and only those that have to be" names_are_cut
check "a row without room has every number and GUID" wide_rows_stay
check "-o and --noheadings on a terminal" columns_are_chosen
check "\$COLUMNS says how wide it is" columns_says
check "all is whole in a pipe, and where there is room" pipe_is_whole
finish

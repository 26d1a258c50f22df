#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# What weftctl's tables look like on a terminal, with script(1) as one, where nodes have names as long as names can
# be: no line is wider, and what could be typed again is whole. In a pipe all is whole.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip terminal: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

tables=(status 'node list' 'port list' 'port list leaf-02' 'port list host-0001' 'link list' 'config show'
	'route show 0x1 0x2' 'perf errors'
	'perf top' 'multicast list' 'partition list' 'partition show 0x7fff')

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

# on_terminal COLUMNS COMMAND: as a terminal of this width shows it, in shown.txt.
on_terminal() {
	script -qec "stty cols $1; '$BUILD/weftctl' -s '$work/daemon.run/control.sock' $2" /dev/null </dev/null |
		tr -d '\r' >shown.txt
}

widest() {
	LC_ALL=C.UTF-8 awk '{ gsub(/[\x80-\xbf]/, "") } length > most { most = length } END { print most + 0 }' "$1"
}

# whole FILE: its numbers and GUIDs, one a line, those in names and headings left out.
whole() {
	grep -oE '\<0x[0-9a-f]{4,16}\>' "$1" | sort
}

# fits COLUMNS COMMAND...: what each shows
fits() {
	local command

	for command in "${@:2}"; do
		command=${command/0x1 0x2/$first $second}
		# shellcheck disable=SC2086 # words are meant
		typed $command >piped.txt || because "weftctl $command fails" || return 1
		on_terminal "$1" "$command"
		[ -s shown.txt ] || because "weftctl $command shows nothing" || return 1
		[ "$(widest shown.txt)" -le "$1" ] || because "weftctl $command: $(sort shown.txt | tail -n 1)" || return 1
		equal "what weftctl $command says of GUIDs and P_Keys" "$(whole shown.txt)" "$(whole piped.txt)" || return 1
	done
}

names_are_cut() {
	on_terminal 60 'node list'
	grep -qE '^0x[0-9a-f]{16}  [a-zA-Z]+ +[0-9]+ +1 +1  host-0002[^~]*~$' shown.txt ||
		because "node list: $(grep host-0002 shown.txt)" || return 1
	grep -qE '  host-0003$' shown.txt || because "a name that fits is cut: $(grep host-0003 shown.txt)"
}

lines_go_on() {
	on_terminal 60 'link list'
	grep -qE '^0x[0-9a-f]{16}  leaf-01 +[0-9]+ +[0-9]+  0x[0-9a-f]{16}$' shown.txt &&
		grep -qE '^    spine-01 [^~]*~ +[0-9]+ +[0-9]+  ACTIVE  4x EDR  4096$' shown.txt ||
		because "the last link: $(tail -n 2 shown.txt)"
}

# What has nothing to say takes no line; headings have theirs.
no_line_is_blank() {
	mkdir -p opensm && printf 'sm_priority 7\nroot_guid_file /etc/opensm/%060d\n' 1 >opensm/opensm.conf
	on_terminal 60 "import opensm $work/opensm --cache $work/opensm --to $work/imported"
	matches '^    sm_priority = 7$' shown.txt || because "it says: $(cat shown.txt)" || return 1
	! grep -qE '^ +$' shown.txt || because "a line of blanks: $(cat -A shown.txt)"
}

columns_says() {
	COLUMNS=50 on_terminal 80 'node list'
	[ "$(widest shown.txt)" -le 50 ] && grep -q '~$' shown.txt || because "it is wider: $(grep host-0002 shown.txt)" ||
		return 1
	COLUMNS=nonsense on_terminal 60 'node list'
	equal "the widest line" "$(widest shown.txt)" 60
}

pipe_is_whole() {
	COLUMNS=60 typed node list >piped.txt
	matches '  host-0002 mlx5_0 in the second row, rack 17, café de la gare$' piped.txt ||
		because "it says: $(grep host-0002 piped.txt)" || return 1
	on_terminal 200 'node list'
	diff piped.txt shown.txt >difference.txt || because "a wide terminal: $(head -n 2 difference.txt)"
}

check "a daemon, and long names" daemon_runs || finish
first=$(json '$_->[0]{guid}' <nodes.json) second=$(json '$_->[-1]{guid}' <nodes.json)
check "tables fit 80 columns" fits 80 "${tables[@]}" 'node show leaf-02' 'node show host-0001'
check "tables fit 60 columns" fits 60 "${tables[@]}"
check "names are cut, and only those that have to be" names_are_cut
check "columns without room go on below" lines_go_on
check "no line is blank" no_line_is_blank
check "\$COLUMNS says how wide it is" columns_says
check "all is whole in a pipe, and where there is room" pipe_is_whole
finish

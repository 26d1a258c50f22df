#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Long turns of weftd's loop: it counts the CPU time of each callback, and the callbacks of more than 2 ms. For each
# name it prints the longest turn: after the bring-up; after heavy sweeps, cables pulled and put back, reroutes and all
# lists; and after that while clients request the largest tables from the SA. It also prints the cost of commands. A
# name without a figure never used more than 1 ms. With QUICK the fabric is smaller.
#
#	turns.sh [SPEC]
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"

[ -n "${QUICK:-}" ] && spec=fattree:radix=24,levels=3 || spec=fattree:radix=36,levels=3
spec=${1:-$spec}

is_quiet() {
	[ "$(status sm 'join " ", $_->{role}, $_->{sweeping} ? 1 : 0, $_->{sweep}{number} >= '"$1"' ? 1 : 0' 2>/dev/null)" = "MASTER 0 1" ]
}

sweeps() {
	status sm '$_->{sweep}{number}'
}

# cable WAY: a link of a leaf goes down or up, and a sweep follows.
cable() {
	local before

	before=$(sweeps)
	"$BUILD/weftsim" 'do' "link $1 $leaf $port" >"$work/do.out" || fail "$(cat "$work/do.out")"
	wait_for 60 is_quiet $((before + 1)) || fail "no sweep after link $1"
}

every_list() {
	local command

	for command in status 'node list' 'link list' 'topology export --format json' 'route check' 'route quality' \
		'route plan --engine minhop' "route show $host $leaf"; do
		# shellcheck disable=SC2086 # words are meant
		ctl sm $command >list.out 2>&1 || fail "$command: $(tail -n 1 list.out)"
	done
}

all_of_it() {

	for _ in 1 2 3; do
		ctl sm sweep heavy >sweep.out || fail "$(tail -n 1 sweep.out)"
	done
	cable down
	cable up
	ctl sm reroute >sweep.out || fail "$(tail -n 1 sweep.out)"
	ctl sm sweep light >sweep.out || fail "$(tail -n 1 sweep.out)"
	every_list
}

cpu_ticks() {
	awk '{ print $14 + $15 }' "/proc/${pids[sm]}/stat"
}

# cost COMMAND...: CPU time of weftd for one of these.
cost() {
	local before runs=50 i

	before=$(cpu_ticks)
	for ((i = 0; i < runs; i++)); do
		ctl sm "$@" >list.out || fail "$*: $(tail -n 1 list.out)"
	done
	printf '%s: CPU of weftd\t%s ms\n' "$*" \
		"$(awk "BEGIN { printf \"%.1f\", ($(cpu_ticks) - $before) * 1000 / $(getconf CLK_TCK) / $runs }")"
}

# report WHEN: the callbacks with the longest turns, and how many turns were too long.
report() {
	status sm 'map { sprintf "%s\t%.1f ms\t%d above 2 ms\n", "'"$1"': \"$_->{name}\"", $_->{worst_us} / 1000, $_->{slow} }
		sort { $b->{worst_us} <=> $a->{worst_us} } @{$_->{turns}}' | sed 's/^ //; /^$/d'
	printf '%s: turns above 2 ms\t%s\n' "$1" "$(status sm '$_->{slow_turns}')"
}

start_weftsim "$spec" || fail "$reason"
"$BUILD/weftsim" topology "$spec" >net || fail "no topology of $spec"
read -r leaf port <<<"$(awk '/^Switch/ { name = $3; gsub("\"", "", name) }
	name ~ /^leaf/ && $2 ~ /^"agg/ { gsub(/[][]/, "", $1); print name, $1; exit }' net)"
read -r host other <<<"$(awk '/^Ca/ { gsub("\"", "", $3); print $3 }' net | head -n 2 | tr '\n' ' ')"
[ -n "$leaf" ] && [ -n "$other" ] || fail "$spec is no fat tree of three levels"
start_weftd sm "$host" || fail "$reason"
wait_for 60 is_quiet 1 || fail "the subnet does not come up: $(tail -n 1 sm.log)"
report "bring-up"
all_of_it
report "sweeps"
cost status
cost route show "$host" "$leaf"
cost node list
{
	while :; do
		look nodes "$other" saquery NR
		look paths "$other" saquery PR --slid 1
	done
} >load.out 2>&1 &
pids[load]=$!
all_of_it
report "SA load"
kill_now load
stop sm || fail "$reason"
finish

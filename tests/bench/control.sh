#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The cost of read-only commands for weftd, on a large fabric: for each such command of weftctl the CPU time of the loop
# thread, by the kernel's count in nanoseconds, and its turns of more than 2 ms. Status, and queries about one object,
# should cost 5 ms at most. The cost of a list or a judgement may grow with the fabric, but no turn may take more than 2
# ms. The commands are those of --help that the read-only socket answers; a command that is missing here is a failure.
# The manager is otherwise idle: it neither sweeps nor reads back. The lowest of several runs is shown, because other
# programs share the processor and its caches. With QUICK the fabric is smaller.
#
#	control.sh [SPEC]
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"

[ -n "${QUICK:-}" ] && spec=fattree:radix=24,levels=3 || spec=fattree:radix=36,levels=3
spec=${1:-$spec}

# The goal of a command, in milliseconds of CPU; 0: in proportion to the fabric.
declare -A goals=(
	['status']=5 ['node list']=0 ["node show LEAF"]=5 ['port list']=0 ['port list LEAF']=5 ['port show LEAF 1']=5
	['link list']=0 ['partition list']=5 ['partition show 0x7fff']=0 ['config show']=5 ['multicast list']=5
	['multicast show ff12:401b:ffff::ffff:ffff']=5 ['alias list']=5 ['service list']=5 ['inform list']=5 ['topology export --format json']=0
	['route show HOST LEAF']=5 ['why HOST LEAF']=5 ['route check']=0 ['route quality']=0 ['route plan --engine minhop']=0 ['route dump --format opensm dumped']=0
	['events']=0 ['events --since 1000000000']=5 ['perf top']=5 ['perf errors']=0 ['perf show LEAF 1']=5 ['perf metrics']=0
	['keys status']=5 ['ha status']=5
)

# The number of runs of commands without a goal, if it is not three.
declare -A often=(['route dump --format opensm dumped']=1 ['route plan --engine minhop']=1)

is_quiet() {
	[ "$(status sm 'join " ", $_->{role}, $_->{sweeping} ? 1 : 0, $_->{sweep}{number} >= 1 ? 1 : 0' 2>/dev/null)" = "MASTER 0 1" ]
}

# Nanoseconds of the loop thread.
used_ns() {
	cut -d ' ' -f 1 "/proc/${pids[sm]}/schedstat"
}

# No work is left from the bring-up: the loop uses next to no CPU time in a second.
is_idle() {
	local before

	before=$(used_ns)
	sleep 1
	(($(used_ns) - before < 5000000))
}

# A line each, because names are words.
slow_turns() {
	status sm 'map { "\n$_->{name}=$_->{slow}:" . int($_->{worst_us} / 100) / 10 } @{$_->{turns}}'
}

# rose BEFORE AFTER: number and names of turns that used too much, and the longest turn of each name since the start.
rose() {
	awk -F '[=:]' 'NR == FNR { before[$1] = $2; next } $2 > before[$1] { printf " %d of %s (worst %s ms)", $2 - before[$1], $1, $3 }' \
		<(echo "$1") <(echo "$2")
}

# cost COMMAND: a line about it. Only the command runs between the two readings of the clock.
cost() {
	local words runs=$((goals[$1] ? 7 : ${often[$1]:-3})) before after least=0 ns start i above

	words=${1/HOST/$host}
	words=${words/LEAF/$leaf}
	before=$(slow_turns)
	for ((i = 0; i < runs; i++)); do
		start=$(used_ns)
		# shellcheck disable=SC2086 # words are meant
		"$BUILD/weftctl" -s "$work/sm.run/control-ro.sock" --json $words >list.out 2>list.err ||
			[[ $1 == "route check" ]] || fail "$words: $(tail -n 1 list.err)"
		ns=$(($(used_ns) - start))
		((least && least < ns)) || least=$ns
	done
	after=$(slow_turns)
	above=$(rose "$before" "$after")
	awk -v what="$1" -v ms="$((least / 1000))" -v goal="${goals[$1]}" -v bytes="$(wc -c <list.out)" -v above="$above" 'BEGIN {
		ms /= 1000
		printf("%s\t%.2f ms\t%s, %d KB%s%s\n", what, ms, (goal > 0 ? "goal " goal " ms" : "in proportion"), bytes / 1000,
			(goal > 0 && ms > goal ? ": TOO MUCH" : ""), (above != "" ? "; TURNS ABOVE 2 ms:" above : ""))
	}'
}

# The list above has every command that this socket answers. The socket refuses the others.
all_are_known() {
	local words
	local -A known=()

	for words in "${!goals[@]}"; do
		known["$(cut -d ' ' -f 1 <<<"$words")"]=1
		known["$(cut -d ' ' -f 1,2 <<<"$words")"]=1
	done
	while read -r words; do
		[ -z "${known[$words]:-}" ] || continue
		printf '{"command":"%s"}\n' "$words" | perl -MIO::Socket::UNIX -e '
			my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die; print $s <STDIN>; $s->flush; print scalar <$s>' \
			"$work/sm.run/control-ro.sock" >asked.out
		grep -qE 'read-only socket|unknown command|no command' asked.out || fail "$words has no goal here: $(cut -c 1-200 asked.out)"
	done < <("$BUILD/weftctl" --help | sed -n '/^Commands:/,$ s/^  \([a-z][a-z]*\( [a-z][a-z]*\)*\).*/\1/p' | grep -vxE 'help|completion|import opensm')
}

start_weftsim "$spec" || fail "$reason"
"$BUILD/weftsim" topology "$spec" >net || fail "no topology of $spec"
leaf=$(awk -F '"' '/^Switch/ && $2 ~ /^leaf/ { print $2; exit }' net)
host=$(awk -F '"' '/^Ca/ { print $2; exit }' net)
[ -n "$leaf" ] && [ -n "$host" ] || fail "$spec has no leaf"
start_weftd sm "$host" -o 'readonly_socket="*"' -o sweep_interval=0 -o readback_interval=0 || fail "$reason"
wait_for 120 is_quiet || fail "the subnet does not come up: $(tail -n 1 sm.log)"
all_are_known
ctl sm perf sweep >list.out && ctl sm perf sweep >list.out || fail "no counters are read"
wait_for 100 is_idle || fail "weftd does not come to rest"
while read -r words; do
	cost "$words"
done < <(printf '%s\n' "${!goals[@]}" | sort)
stop sm || fail "$reason"
finish

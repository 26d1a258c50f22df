#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The cost of reading the counters of a whole fabric for weftd, with 500 requests under way: CPU time and wall time of a
# sweep, memory for the values of each port, and the longest turns of the loop. Then the same while 1 % of all ports
# have errors, with the size of perf metrics and the cost of that and of perf errors. With QUICK the fabric is smaller.
# Goals are printed beside the figures: 2 s of CPU for a sweep of 1,620 switches and 11,664 hosts, and 1,000,000 bytes.
#
#	perf.sh [SPEC]
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"

[ -n "${QUICK:-}" ] && spec=fattree:radix=24,levels=3 || spec=fattree:radix=36,levels=3
spec=${1:-$spec} runs=5

is_quiet() {
	has_status sm '$_->{role}, $_->{sweeping} ? 1 : 0, $_->{counts}{active_ports} >= $_->{counts}{links} ? 1 : 0' 'MASTER 0 1'
}

cpu_ms() {
	awk -v tick="$(getconf CLK_TCK)" '{ print ($14 + $15) * 1000 / tick }' "/proc/${pids[sm]}/stat"
}

memory_kib() {
	awk '/^VmRSS/ { print $2 }' "/proc/${pids[sm]}/status"
}

# cost RUNS COMMAND...: CPU time of weftd for one of these.
cost() {
	local before count=$1 i

	shift
	before=$(cpu_ms)
	for ((i = 0; i < count; i++)); do
		ctl sm "$@" >out.json || fail "$*: $(tail -n 1 out.json)"
	done
	awk "BEGIN { printf \"%.1f\", ($(cpu_ms) - $before) / $count }"
}

sweep_figures() {
	json 'sprintf("%d ports of %d agents, %d requests, %d timed out, %.0f ms", @$_{qw(ports agents requests timed_out)},
		$_->{duration_us} / 1000)' <out.json
}

turns() {
	status sm 'map { sprintf "%s\t%.1f ms\t%d above 2 ms\n", "turn \"$_->{name}\"", $_->{worst_us} / 1000, $_->{slow} }
		grep { $_->{name} =~ /counter|control/ } @{$_->{turns}}' | sed 's/^ //; /^$/d'
}

# Every hundredth port of switches has counted some errors of each kind.
errors() {
	"$BUILD/weftsim" topology "$spec" | awk '/^Switch/ { name = $3; gsub("\"", "", name); ports = $2 }
		/^\[[0-9]+\]/ && name != "" { gsub(/[][]/, "", $1); if (++n % 100 == 0) print name, $1 }
		/^$/ { name = "" }' | sed 's/\[.*//' | head -n 700 >ports
	while read -r name port; do
		for counter in SymbolErrorCounter LinkDownedCounter PortRcvErrors PortXmitDiscards; do
			echo "count $name $port $counter 3"
		done
	done <ports | xargs -d '\n' "$BUILD/weftsim" "do" >do.out || fail "$(tail -n 1 do.out)"
}

start_weftsim "$spec" || fail "$reason"
start_weftd sm host-0001 || start_weftd sm host-00001 || fail "$reason"
wait_for 120 is_quiet || fail "the subnet does not come up: $(tail -n 1 sm.log)"
before=$(memory_kib)
first=$(cost 1 perf sweep)
printf 'first sweep: CPU of weftd\t%s ms\tgoal 2000 ms; %s\n' "$first" "$(sweep_figures)"
ports=$(json '$_->{ports}' <out.json)
printf 'memory for %s ports\t%d KiB\n' "$ports" $(($(memory_kib) - before))
each=$(cost "$runs" perf sweep)
printf 'further sweeps: CPU of weftd each\t%s ms\tgoal 2000 ms; %s\n' "$each" "$(sweep_figures)"
errors
ctl sm perf sweep >out.json || fail "$(tail -n 1 out.json)"
printf 'perf errors: CPU of weftd\t%s ms\t%s ports with errors\n' "$(cost "$runs" perf errors)" "$(wc -l <ports)"
printf 'perf metrics: CPU of weftd\t%s ms\t%s bytes, goal 1000000\n' "$(cost "$runs" perf metrics)" "$(wc -c <out.json)"
printf 'perf top: CPU of weftd\t%s ms\n' "$(cost 20 perf top)"
turns
stop sm || fail "$reason"
finish

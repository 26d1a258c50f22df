#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The permanent cost of perf_interval: CPU time of weftd in a steady state, with the default of 60 s and with 0, as a
# share of a core. The difference is the cost of the counters; with 0, light sweeps remain. The goal is 1 % of a core at
# 11,664 hosts. CPU time is that of /proc/PID/stat, so other programs on the machine matter little. SECONDS is the time
# of each of the two measurements. With QUICK the fabric is smaller and the time shorter.
#
#	counters.sh [SPEC [SECONDS]]
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"

[ -n "${QUICK:-}" ] && spec=fattree:radix=24,levels=3 span=60 || spec=fattree:radix=36,levels=3 span=240
spec=${1:-$spec} span=${2:-$span}

is_quiet() {
	has_status sm '$_->{role}, $_->{sweeping} ? 1 : 0, $_->{counts}{active_ports} >= $_->{counts}{links} ? 1 : 0' 'MASTER 0 1'
}

cpu_ms() {
	awk -v tick="$(getconf CLK_TCK)" '{ print ($14 + $15) * 1000 / tick }' "/proc/${pids[sm]}/stat"
}

swept() {
	[ "$(status sm '$_->{perf}{sweeps}')" -ge "$1" ]
}

interval_is() {
	[ "$(status sm '$_->{perf}{interval_s}')" = "$1" ]
}

# measure INTERVAL: the share of a core, in percent, in $share. With an interval it begins after the first sweep, which
# is dearer because memory is new.
measure() {
	local before sweeps

	echo "perf_interval = $1;" >weftd.conf
	kill -HUP "${pids[sm]}"
	wait_for 60 interval_is "$1" || fail "the reload did not take effect"
	[ "$1" = 0 ] || wait_for 300 swept 1 || fail "no counters were read"
	wait_for 60 is_quiet || fail "the subnet is not quiet"
	sweeps=$(status sm '$_->{perf}{sweeps}, $_->{sweep}{number}')
	before=$(cpu_ms)
	sleep "$span"
	share=$(awk "BEGIN { printf \"%.3f\", ($(cpu_ms) - $before) / $span / 10 }")
	printf 'perf_interval = %d: CPU of weftd\t%s %% of a core\tin %d s, with sweeps of counters and of the fabric up to %s (before: %s)\n' \
		"$1" "$share" "$span" "$(status sm '$_->{perf}{sweeps}, $_->{sweep}{number}')" "$sweeps"
}

start_weftsim "$spec" || fail "$reason"
echo 'perf_interval = 0;' >weftd.conf
conf=weftd.conf
start_weftd sm host-0001 || start_weftd sm host-00001 || fail "$reason"
wait_for 400 is_quiet || fail "the subnet does not come up: $(tail -n 1 sm.log)"
measure 0
without=$share
measure 60
printf 'counters alone\t%s %% of a core\tgoal 1 %%; %s\n' "$(awk "BEGIN { printf \"%.3f\", $share - $without }")" \
	"$(status sm 'sprintf("%d ports, %d requests in %.1f s", @{$_->{perf}}{qw(ports requests)}, $_->{perf}{duration_us} / 1e6)')"
stop sm || fail "$reason"
finish

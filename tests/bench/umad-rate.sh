#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# SMP round trips from one client with 64 under way, on weftsim and on Debian's ibsim, by the same program on the same
# fabric. The two take turns, and the median of each counts, because single runs on a busy machine vary. Prints one line
# for scripts/bench. With QUICK fewer runs.
#
#	umad-rate.sh [RUNS [ROUND_TRIPS]]
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"

[ -n "${QUICK:-}" ] && runs=3 || runs=7
runs=${1:-$runs} round_trips=${2:-200000} spec=fattree:radix=8,levels=2
rate=$BUILD/tests/bench/umad_rate

median() {
	sort -n "$1" | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

start_fabric "$spec" || fail "$reason"
"$BUILD/weftsim" serve -s "$work/socket" "$spec" >weftsim.out 2>weftsim.log &
pids[weftsim]=$!
wait_for 20 matches '^ready ' weftsim.out || fail "no weftsim: $(cat weftsim.log)"
for ((i = 0; i < runs; i++)); do
	on host-0001 "$rate" "$round_trips" >>ibsim.rates 2>>ibsim.log || fail "$(tail -n 1 ibsim.log)"
	"$BUILD/weftsim" run -s "$work/socket" -n host-0001 -- "$rate" "$round_trips" >>weftsim.rates ||
		fail "under weftsim it fails"
done
awk -v ours="$(median weftsim.rates)" -v theirs="$(median ibsim.rates)" 'BEGIN {
	printf "SMP round trips, 64 under way\t%d/s\tibsim %d/s, ratio %.2f\n", ours, theirs, ours / theirs }'

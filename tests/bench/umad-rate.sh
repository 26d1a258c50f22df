#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# SMP round trips from one client with 64 under way, on weftsim and on Debian's ibsim, by the same
# program on the same fabric. The two take turns, and each one's median counts, for on a busy machine
# single runs mean little. One line: "umad_rate: weftsim N/s ibsim N/s ratio R".
#
#	umad-rate.sh [RUNS [ROUND_TRIPS]]
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"

runs=${1:-5} round_trips=${2:-200000} spec=fattree:radix=8,levels=2
bench=$BUILD/tests/bench/bench_umad

median() {
	sort -n "$1" | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

start_fabric "$spec" || { echo "umad_rate: $reason" >&2; exit 1; }
"$BUILD/weftsim" serve -s "$work/socket" "$spec" >weftsim.out 2>weftsim.log &
pids[weftsim]=$!
wait_for 20 matches '^ready ' weftsim.out || { echo "umad_rate: no weftsim" >&2; exit 1; }

for ((i = 0; i < runs; i++)); do
	on host-0001 "$bench" "$round_trips" >>ibsim.rates 2>>ibsim.log || exit 1
	"$BUILD/weftsim" run -s "$work/socket" -n host-0001 -- "$bench" "$round_trips" >>weftsim.rates || exit 1
done
awk -v ours="$(median weftsim.rates)" -v theirs="$(median ibsim.rates)" \
	'BEGIN { printf "umad_rate: weftsim %d/s ibsim %d/s ratio %.2f\n", ours, theirs, ours / theirs }'

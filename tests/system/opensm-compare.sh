#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# weftd and OpenSM bring the same fabric of 3,456 hosts up, one after the other, each on a new simulator. weftd must
# need at most half of OpenSM's time and at most as many SMPs, both counted by the same preload library. The simulator
# is half of the work, and the same for both.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

spec=fattree:radix=24,levels=3

if ! command -v opensm >/dev/null; then
	echo "skip opensm-compare: no opensm here"
	exit 0
fi
counter=$(preload_library count_mads) || exit 1

# timed NAME COMMAND...: counts its MADs in NAME.mads and its time in NAME.time, as "wall user system" in seconds.
timed() {
	local name=$1 TIMEFORMAT='%R %U %S' preload=$counter

	shift
	{ time COUNT_MADS=$work/$name.mads "$@" >"$name.out" 2>&1; } 2>"$name.time"
}

with_opensm() {
	start_fabric "$spec" || return 1
	mkdir -p osm.d
	OSM_TMP_DIR=$work/osm.d OSM_CACHE_DIR=$work/osm.d timed opensm on host-0001 opensm -o -R minhop -e -f "$work/opensm.log" ||
		because "opensm: status $?" || return 1
	links_active host-0001 "$(cabled_ports "$fabric.net")" || return 1
	stop_fabric
}

with_weftd() {
	start_fabric "$spec" || return 1
	timed weftd weftd once host-0001 --once || because "weftd --once: status $?" || return 1
	links_active host-0001 "$(cabled_ports "$fabric.net")" || return 1
	stop_fabric
}

# smps NAME: how many SMPs with an answer it has sent (Get and Set of classes 0x01 and 0x81).
smps() {
	awk '($1 == "0x01" || $1 == "0x81") && ($2 == "0x01" || $2 == "0x02") { sum += $4 }
		END { print sum + 0 }' "$1.mads"
}

table() {
	local name

	printf '%-8s %8s %8s %8s %10s\n' "" wall/s user/s system/s SMPs
	for name in weftd opensm; do
		# shellcheck disable=SC2046 # words are meant
		printf '%-8s %8s %8s %8s %10s\n' $name $(cat $name.time) "$(smps $name)"
	done
}

# seconds NAME COLUMN...: the sum of these columns of NAME.time.
seconds() {
	cut -d ' ' -f "$(tr ' ' , <<<"${*:2}")" "$1.time" | tr ' ' '\n' | awk '{ sum += $1 } END { print sum }'
}

# half_of COLUMN...: in the sum of these columns weftd needs at most half of OpenSM's time.
half_of() {
	local weftd opensm

	weftd=$(seconds weftd "$@") opensm=$(seconds opensm "$@")
	awk -v a="$weftd" -v b="$opensm" 'BEGIN { exit !(a <= b / 2) }' ||
		because "weftd needed $weftd s, OpenSM $opensm s"
}

half_by_the_clock() {
	local pair

	for ((pair = 1; pair < 3; pair++)); do
		! half_of 1 || return 0
		with_opensm && with_weftd && table || return 1
	done
	half_of 1
}

at_most_as_many_smps() {
	[ "$(smps weftd)" -gt 4176 ] || because "the MADs were not counted: $(smps weftd)" || return 1
	[ "$(smps weftd)" -le "$(smps opensm)" ] ||
		because "weftd sent $(smps weftd) SMPs, OpenSM $(smps opensm)"
}

check "$spec: opensm -o -R minhop" with_opensm || finish
check "$spec: weftd --once" with_weftd || finish
mkdir -p "$BUILD/log"
table | tee "$BUILD/log/opensm-compare.table"
check "$spec: at most as many SMPs as OpenSM" at_most_as_many_smps
if [ -n "${SANITIZE:-}" ]; then
	echo "skip $spec: the time, of an instrumented program"
else
	check "$spec: at most half of OpenSM's CPU time" half_of 2 3
	check "$spec: at most half of OpenSM's time" half_by_the_clock
fi
finish
